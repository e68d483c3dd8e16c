"""`write_page`: an analysis as one HTML file that opens anywhere, without a network."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bnlab.files import write_whole
from bnlab.reports import pictures, sections
from bnlab.reports.analysis import Analysis
from bnlab.reports.dressing import SCRIPT, document
from bnlab.reports.embedding import embedded
from bnlab.reports.exports import bif_text, csv_text, graphml_text
from bnlab.reports.markup import (
    Cell,
    Html,
    bullets,
    download,
    figure,
    html,
    paragraph,
    section,
    table,
)
from bnlab.reports.reading import Reading
from bnlab.reports.sensitivity import Sensitivity, sensitivity
from bnlab.reports.settings import comparisons, sensitivity_section
from bnlab.reports.words import meaning
from bnlab.runs import Progress, Stopped

CONTENTS = {
    "glance": "At a glance",
    "meaning": "How to read it",
    "edges": "Edges",
    "paths": "Paths",
    "blankets": "Markov blankets",
    "best": "Best DAG",
    "sensitivity": "Sensitivity",
    "read": "What was read",
    "method": "How it was computed",
    "evidence": "Evidence",
    "again": "Do it again",
}

WITHOUT_SCRIPT = "The figures and the sorting need JavaScript; all numbers are in tables as well."
SETTINGS = {
    "max_parents": "most parents of a variable",
    "prior": "prior over DAGs",
    "draws": "draws (of each chain), or restarts",
    "burn_in": "first moves left out",
    "thin": "moves from draw to draw",
}
COLOPHON = "Made with bnlab. This file holds all that it shows and loads nothing."

STOPPED = section(
    "sensitivity", "Sensitivity", paragraph("Stopped before other priors were compared.", "warning")
)


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

    BokehJS is in the file, which makes up 1.3 MB of it. The file is written whole or not at all.

    Parameters
    ----------
    analysis
        What `analyse` returned.
    reading
        What `read_table` returned, for the section on the table.
    path
        Where to write.
    command
        The command or the code that makes this page again; it is printed on the page.
    progress
        Told how far the comparison of priors is, which takes seconds for a wide table. When that
        is stopped, by Ctrl-C too, the page is written without it and says so.
    """
    write_whole(path, page(analysis, reading, command=command, progress=progress).encode())


def page(
    analysis: Analysis, reading: Reading, /, *, command: str, progress: Progress | None = None
) -> str:
    """The HTML that `write_page` writes."""
    data, names = analysis.data, analysis.data.names
    threshold = pictures.drawn_from(analysis)
    drawn = pictures.layout(analysis, least=threshold)
    found = _compared(analysis, progress)
    figures = {
        "network": pictures.network_picture(analysis, drawn, threshold=threshold),
        "heat": pictures.heat_picture(analysis),
        "best": pictures.best_picture(analysis, drawn),
    }
    if found is not None:
        by_ess, by_prior = comparisons(found)
        if by_ess.chosen():
            figures["ess"] = by_ess.picture(names, "ess", "Equivalent sample size")
        if by_prior.chosen():
            figures["priors"] = by_prior.picture(names, "priors", "Prior over DAGs")
    script, parts = embedded(figures)
    title = f"{Path(str(reading.source)).name}: which variables depend on which?"
    cut = any(c.kind == "measurements" and c.role == "variable" for c in reading.columns)
    body = [
        sections.glance(analysis, found),
        meaning(cut=cut),
        _edges(analysis, parts, len(drawn.shown)),
        sections.paths_table(analysis),
        sections.blankets_table(analysis),
        _best(analysis, parts),
        STOPPED if found is None else sensitivity_section(found, names, parts),
        sections.was_read(reading),
        sections.how(analysis),
        sections.evidence(analysis),
        _again(analysis, reading, command),
    ]
    method = sections.METHODS[analysis.plan.method]
    lead = f"{data.n} variables, {data.m:,} rows; {method}."
    return document(
        title,
        head=[paragraph(lead, "lead"), f"<noscript>{paragraph(WITHOUT_SCRIPT)}</noscript>"],
        contents=list(CONTENTS.items()),
        body="".join(body),
        foot=paragraph(COLOPHON),
        scripts=[script, f"<script>{SCRIPT}</script>"],
    )


def _compared(analysis: Analysis, progress: Progress | None) -> Sensitivity | None:
    try:
        return sensitivity(analysis, crossed=False, progress=progress)
    except (Stopped, KeyboardInterrupt):
        return None


def _edges(analysis: Analysis, parts: dict[str, str], drawn: int) -> str:
    alone = analysis.data.n - drawn
    hidden = f" Not drawn: {alone} without such an edge." if alone else ""
    return section(
        "edges",
        "Edges",
        '<div class="side">',
        figure(
            parts["network"],
            "The wider and darker an arrow, the more probable its edge. Point at an arrow for its "
            f"numbers.{hidden}",
        ),
        figure(
            parts["heat"],
            "All pairs. Row: parent; column: child; the darker, the more probable.",
        ),
        "</div>",
        sections.edges_table(analysis),
    )


def _best(analysis: Analysis, parts: dict[str, str]) -> str:
    return section(
        "best",
        "Best DAG",
        paragraph(
            "One DAG, even the best, is one of many that explain the table about as well: believe "
            "the probabilities above rather than this drawing."
        ),
        '<div class="side">',
        figure(parts["best"], f"This is {analysis.best_is}; all its arrows are equally wide."),
        sections.best_table(analysis),
        "</div>",
    )


def _again(analysis: Analysis, reading: Reading, command: str) -> str:
    """The files that the page carries, and what it takes to make it again."""
    run = analysis.run
    rows: list[list[Cell]] = [
        [SETTINGS.get(name, name), str(value)] for name, value in run.settings.items()
    ]
    rows += [["seconds of the analysis", f"{run.seconds:.3g}"]]
    rows += [[f"version of {name}", version] for name, version in run.versions.items()]
    rows += [["state of the random generator", str(analysis.seed)]]
    options = ", ".join(f"{name}={value!r}" for name, value in reading.options.items())
    options = re.sub(r"\b(CutPoints|EqualWidth|EqualFrequency)\(", r"bn.\1(", options)
    code = f"bn.read_csv({str(reading.source)!r}{', ' if options else ''}{options})"
    return section(
        "again",
        "Do it again",
        paragraph("This command makes the page again:"),
        f"<pre><code>{html(command)}</code></pre>",
        paragraph("This reads the same table in Python:"),
        f"<pre><code>{html(code)}</code></pre>",
        table("Settings, seed and versions.", ["name", "value"], rows),
        '<div class="screen"><h3>The results as files</h3>',
        bullets(_files(analysis)),
        "</div>",
    )


def _files(analysis: Analysis) -> list[Html]:
    """Links to the files that the page carries; those that a format cannot write are left out."""
    kinds = (
        ("edges.csv", "text/csv", csv_text, "all edges with their intervals"),
        ("edges.graphml", "application/xml", graphml_text, "credible edges, for Gephi, yEd, ..."),
        ("network.bif", "text/plain", bif_text, f"{analysis.best_is}, with its parameters"),
    )
    out = []
    for name, kind, text, what in kinds:
        try:
            out.append(download(name, kind, text(analysis), what))
        except ValueError as error:
            out.append(Html(html(f"{name} is left out: {error}.")))
    return out
