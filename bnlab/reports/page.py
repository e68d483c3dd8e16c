"""`write_page`: an analysis as one HTML file that opens anywhere, without a network."""

import base64
import os
from contextlib import suppress
from pathlib import Path

from markupsafe import Markup

from bnlab.data.reader import Reading, in_python
from bnlab.files import write_whole
from bnlab.pages import Cell, embedded, render
from bnlab.priors import Fair, Uniform
from bnlab.reports import assumptions, pictures, sections
from bnlab.reports.analysis import Analysis
from bnlab.reports.exports import TEXTS
from bnlab.reports.sensitivity import Sensitivity, averaged_cuts, sensitivity
from bnlab.running import Progress, Stopped
from bnlab.sampling.cutting import Cuts

SETTINGS = {
    "max_parents": "most parents of a variable",
    "prior": "prior over DAGs",
    "draws": "draws (of each chain), or restarts",
    "burn_in": "first moves left out",
    "thin": "moves from draw to draw",
}


def write_page(
    analysis: Analysis,
    reading: Reading,
    path: str | os.PathLike[str],
    /,
    *,
    command: str,
    progress: Progress | None = None,
) -> None:
    """Write the report of an analysis: one HTML file that loads nothing and opens offline.

    It is written whole or not at all, 1.3 MB of it BokehJS, and prints the `command` that makes it
    again. Where the comparison of priors is stopped, by `progress` or Ctrl-C, it says so instead.
    """
    write_whole(path, page(analysis, reading, command=command, progress=progress).encode())


def page(
    analysis: Analysis, reading: Reading, /, *, command: str, progress: Progress | None = None
) -> str:
    """Return the HTML that `write_page` writes."""
    run = analysis.run
    threshold = pictures.drawn_from(analysis)
    places = pictures.layout(analysis, least=threshold)
    found = _compared(analysis, progress)
    cut = any(each is not None for each in analysis.data.intervals)
    recut = assumptions.of_cuts(analysis, _recut(analysis, reading, progress)) if cut else None
    figures = {"heat": pictures.heat_picture(analysis)}
    if found is not None:
        compared = pictures.comparison(found)
        if compared.chosen():
            figures["priors"] = compared.picture(analysis.data.names)
    script, drawn = embedded(figures)
    name = Path(str(reading.source)).name if reading.lasts else "The table"
    path = repr(str(reading.source)) if reading.lasts else "path"
    settings: list[tuple[Cell, ...]] = [
        *((SETTINGS.get(name, name), str(value)) for name, value in run.settings.items()),
        ("seconds of the analysis", f"{run.seconds:.3g}"),
        *((f"version of {name}", version) for name, version in run.versions.items()),
    ]
    of_columns = {column.note for column in reading.columns}
    return render(
        "report.html",
        title=f"{name}: which variables depend on which?",
        analysis=analysis,
        reading=reading,
        assumptions=assumptions,
        pictures=pictures,
        sections=sections,
        found=found,
        recut=recut,
        network=pictures.pairs_picture(analysis, places, threshold=threshold),
        threshold=threshold,
        alone=analysis.data.n - len(places.shown),
        cut=cut,
        drawn=drawn,
        best_picture=pictures.best_picture(analysis, places),
        notes=[note for note in reading.notes if note not in of_columns],
        command=command,
        code=f"bn.read_csv({path}{in_python(reading.options)})",
        settings=settings,
        files=files(analysis),
        script=script,
    )


def _compared(analysis: Analysis, progress: Progress | None) -> Sensitivity | None:
    own = () if isinstance(analysis.prior, Uniform | Fair) else (analysis.prior,)
    priors = (*own, Uniform(), Fair())
    with suppress(Stopped, KeyboardInterrupt):
        return sensitivity(analysis, priors=priors, crossed=False, progress=progress)
    return None


def _recut(analysis: Analysis, reading: Reading, progress: Progress | None) -> Cuts | None:
    if reading.uncut is None or reading.uncut.missing.any() or analysis.plan.posterior is None:
        return None
    with suppress(Stopped, KeyboardInterrupt):
        return averaged_cuts(analysis, reading.uncut, progress=progress)
    return None


def files(analysis: Analysis) -> list[Markup]:
    """Links to files that a page carries with it; those that a format cannot write are left out."""
    kinds = (
        ("edges.csv", "text/csv", "all edges with their intervals"),
        ("edges.graphml", "application/xml", "credible edges, for Gephi, yEd, ..."),
        ("network.bif", "text/plain", f"{analysis.best_is}, with its parameters"),
        ("network.xdsl", "application/xml", "for GeNIe"),
        ("network.net", "text/plain", "for Hugin"),
    )
    out: list[Markup] = []
    for name, kind, what in kinds:
        try:
            packed = base64.b64encode(TEXTS[name.partition(".")[2]](analysis).encode()).decode()
        except ValueError as error:
            out.append(Markup.escape(f"{name} is left out: {error}."))
            continue
        link = Markup('<a download="{0}" href="data:{1};base64,{2}">{0}</a>: {3}')
        out.append(link.format(name, kind, packed, what))
    return out
