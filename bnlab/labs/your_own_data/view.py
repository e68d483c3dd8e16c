"""What an analysis says: its credible edges, its dependence on priors, predictions, files."""

import warnings
from collections.abc import Callable
from functools import cache, partial
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
from bokeh.models import HoverTool

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.data import Intervals
from bnlab.labs.board import choice, side_by_side, size_slider, stacked
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.labs.your_own_data.study import Study, table_html
from bnlab.reports import Analysis, Credible, sensitivity
from bnlab.reports.exports import write_bif, write_csv, write_graphml
from bnlab.reports.page import write_page
from bnlab.reports.pictures import layout, network_picture, shown_names

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
MOST_LISTED = 12
UNKNOWN = "(not known)"
ESS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
NATS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
AT_ONCE = 14  # variables: up to so many, a prior takes less than 0.1 s
SAME = 0.005  # a difference of probabilities that nobody sees

Found = dict[tuple[float, float], tuple[Floats, float]]


class Network(View):
    """The edges of at least some probability, drawn and listed with their intervals.

    Control `threshold`; panel `panel`.
    """

    def __init__(self, study: Study, /) -> None:
        self._study, self._listed = study, widgets.HTML()
        super().__init__(threshold=size_slider("least probability", THRESHOLDS, 0.3))
        study.watch(lambda analysis: self.show(anew=True))

    def arrange(self) -> list[Any]:
        """Return what to display: the list stands beside the network."""
        controls, panels = super().arrange()
        return [self._study.notice, controls, side_by_side(*panels.children, self._listed)]

    def draw(self, threshold: float) -> Board:
        """The network, at the same places for any threshold."""
        analysis = self._study.done()
        edges = analysis.edges.probability
        count = int((edges >= threshold).sum())
        return {
            "panel": (
                network_picture(analysis, _layout(analysis), threshold=threshold),
                f"{count} of {edges.size - len(edges)} edges have a probability of {threshold:g} "
                f"or more; {edges.sum():.1f} are expected.",
            )
        }

    def show(self, *, anew: bool = False) -> None:
        """Bring the list up to date as well."""
        super().show(anew=anew)
        edges, names = self._study.done().edges, self._study.done().data.names
        self._listed.value = edges_html(edges, names, self.controls["threshold"].value)


_layout = cache(partial(layout, least=THRESHOLDS[0]))


class Priors(Experiment):
    """The same rows under another prior: how strong it is, and what it asks for an edge.

    Up to 14 variables the sliders answer at once. For more, Run goes through all their stops, and
    those that are done can be looked at.

    Controls `ess`, the equivalent sample size of BDeu, and `nats`, the price of an edge; panel
    `panel`; `found` is (ess, nats) -> edges and what they are worth.
    """

    def __init__(self, study: Study, /) -> None:
        self._study, self._analysis = study, study.done()
        super().__init__(
            ess=size_slider("equivalent sample size", ESS, 1.0),
            nats=size_slider("price of an edge (nats)", NATS, 0.0),
            nothing={},
            label="All priors",
        )
        study.watch(self._renew)

    @property
    def edges(self) -> Floats | None:
        """The edge probabilities under the prior of the sliders, if they are there."""
        known = self._known(self.found, *self.values().values())
        return None if known is None else known[0]

    def setting(self) -> Analysis:
        """Return what the results belong to: the analysis."""
        return self._analysis

    def arrange(self) -> list[Any]:
        """Return what to display; no runner where the sliders answer at once."""
        self._hide()
        return [self._study.notice, *super().arrange()]

    def compute(self, progress: Progress, /, ess: float, nats: float) -> Found:
        """Return the edges under all priors, with those that are there."""
        analysis, found = self._analysis, dict(self.found)
        stops = list(product(ESS, NATS))
        for done, stop in enumerate(stops):
            if stop not in found:
                if not progress(done, len(stops), found):
                    return found
                found = {**found, stop: under(analysis, *stop)}
        progress(len(stops), len(stops), found)
        return found

    def draw(self, found: Found, ess: float, nats: float) -> Board:
        """The edges under this prior, or those of the analysis."""
        known, analysis = self._known(found, ess, nats), self._analysis
        names, usual = analysis.data.names, analysis.edges.probability
        title, edges = "Edges of the analysis", usual
        caption = "This prior is not computed yet: press All priors. Shown is the analysis."
        if known is not None:
            title, (edges, worth) = "Edges under this prior", known
            moved = np.abs(edges - usual)
            u, v = divmod(int(moved.argmax()), len(names))
            caption = f"{edges.sum():.1f} edges are expected, as in the analysis."
            if moved.max() >= SAME:
                caption = (
                    f"{edges.sum():.1f} edges are expected. Farthest from the analysis: "
                    f"{names[u]} → {names[v]}, {usual[u, v]:.2f} there and {edges[u, v]:.2f} here."
                )
                if np.isfinite(worth):
                    caption += f" From draws worth {worth:,.0f} independent ones."
        picture = plots.heat_map(edges, shown_names(names), name="prior_edges", title=title)
        return {"panel": (picture, caption)}

    def follow(self) -> None:
        """Show another prior; what runs goes on."""
        self.show()

    def _known(self, found: Found, ess: float, nats: float) -> tuple[Floats, float] | None:
        if self._analysis.data.n <= AT_ONCE:
            return under(self._analysis, ess, nats)
        return found.get((ess, nats))

    def _hide(self) -> None:
        self.runner.layout.display = "none" if self._analysis.data.n <= AT_ONCE else ""

    def _renew(self, analysis: Analysis) -> None:
        if analysis is not self._analysis:
            if self.runner.run_button.disabled:
                self.runner.stop()
            self._analysis, self.found = analysis, {}
            self.runner.turn()
            self._hide()
            self.show(anew=True)


@cache
def under(analysis: Analysis, ess: float, nats: float, /) -> tuple[Floats, float]:
    """Return edges (n, n) under this prior, and how many independent draws they are worth."""
    prior = bn.EdgePenalty(nats) if nats else bn.Uniform()
    found = sensitivity(analysis, ess=(ess,), priors=(prior,))
    return found.edges[0, 0], float(found.effective[0, 0])


def edges_html(credible: Credible, names: tuple[str, ...], threshold: float, /) -> str:
    """A table of the likeliest edges from the threshold up, with their intervals."""
    values, n = credible.probability, len(names)
    order = [divmod(int(i), n) for i in np.argsort(-values, axis=None, kind="stable")]
    pairs = [(u, v) for u, v in order if u != v and values[u, v] >= threshold]
    rows = [
        (f"{names[u]} → {names[v]}", float(values[u, v]), _interval(credible, u, v))
        for u, v in pairs[:MOST_LISTED]
    ]
    hidden = len(pairs) - MOST_LISTED
    more = f"<p>and {hidden} more</p>" if hidden > 0 else ""
    return table_html(("edge", "probability", "interval"), rows, _CELL) + more


def _interval(credible: Credible, u: int, v: int) -> str:
    if credible.kind == "exact":
        return "exact"
    told: str = credible.kind
    if credible.rhat is not None and credible.ess is not None:
        told += f", R-hat {credible.rhat[u, v]:.3f}, ESS {credible.ess[u, v]:.0f}"
        told += "" if credible.trusted[u, v] else ": not to be trusted, run longer"
    return f"{credible.low[u, v]:.3f} to {credible.high[u, v]:.3f} ({told})"


_CELL = "text-align:left;padding:1px 14px 1px 0;font-weight:normal"


class Predictor(View):
    """What we would expect of one variable, knowing some of the others.

    Control `target`; by variable in `known` the list of its levels, "(not known)" first, or a field
    for the number where measurements were cut; panel `panel`.
    """

    def __init__(self, study: Study, /) -> None:
        self._study, self._shown, self._box = study, study.done(), widgets.VBox()
        self.known: dict[str, Any] = {}
        super().__init__(**self._fields())
        study.watch(self._renew)

    def _fields(self) -> dict[str, Any]:
        data = self._shown.data
        self.known = {
            name: choice(name, [UNKNOWN, *levels]) if cut is None else number_field(name, cut)
            for name, levels, cut in zip(data.names, data.levels, data.intervals, strict=True)
        }
        target = choice("predict", data.names, data.names[-1])
        self._box.children = [target, side_by_side(*self.known.values())]
        self.known[target.value].disabled = True
        return {"target": target, **{f"known {name}": each for name, each in self.known.items()}}

    def arrange(self) -> list[Any]:
        """Return what to display; the fields change with the table."""
        return [self._study.notice, self._box, *super().arrange()[1:]]

    def values(self) -> dict[str, Any]:
        """Return the target, and what is known of the others."""
        target = self.controls["target"].value
        known = {
            name: control.value
            for name, control in self.known.items()
            if control.value not in ("", UNKNOWN) and name != target
        }
        return {"target": target, "known": known}

    def settle(self, moved: str) -> None:
        """Let nothing be said of the target."""
        for name, control in self.known.items():
            control.disabled = name == self.controls["target"].value

    @property
    def probabilities(self) -> Floats:
        """Those on display, (levels of the target,); nan where the caption says why."""
        return self._predict(**self.values())[0]

    def _predict(self, target: str, known: dict[str, str]) -> tuple[Floats, str, str]:
        """Return the probabilities, why they are not there, and what to beware of."""
        with warnings.catch_warnings(record=True) as beyond:
            warnings.simplefilter("always")
            try:
                found, problem = self._shown.predict(known, target), ""
            except ValueError as error:  # no such number, or too many cells to sum out
                data = self._shown.data
                found, problem = np.full(data.arities[data.index(target)], np.nan), str(error)
        return found, problem, "".join(f" {warning.message}." for warning in beyond)

    def draw(self, target: str, known: dict[str, str]) -> Board:
        """The prediction beside the shares of all rows."""
        data, (found, problem, beware) = self._shown.data, self._predict(target, known)
        v = data.index(target)
        shares = np.bincount(data.values[:, v], minlength=int(data.arities[v])) / max(1, data.m)
        picture = plots.share_bars(
            found,
            shares,
            shown_names(data.levels[v]),
            name="prediction",
            title=f"Predicted: {shown_names([target])[0]}",
            alt=f"Bars of the predicted probability of each level of {target}",
        )
        picture.select_one(HoverTool).tooltips = [
            ("", "@label"),
            ("predicted", "@share{0.000}"),
            ("share of all rows", "@exact{0.000}"),
        ]
        if not problem:
            given = ", ".join(f"{name} = {label}" for name, label in known.items()) or "nothing"
            best = int(found.argmax())
            problem = (
                f"Known: {given}. Most probable {target}: {data.levels[v][best]}, "
                f"{found[best]:.2f}. Bar: predicted; diamond: share of all rows.{beware}"
            )
        return {"panel": (picture, problem)}

    def _renew(self, analysis: Analysis) -> None:
        if analysis is not self._shown:
            self._shown = analysis
            self.use(**self._fields())
            self.show(anew=True)


def number_field(name: str, cut: Intervals, /) -> widgets.Text:
    """A field for a number of a column that was cut, with the range that was seen."""
    return widgets.Text(
        description=name,
        placeholder=f"{cut.low:g} to {cut.high:g}",
        continuous_update=False,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="260px", max_width="100%"),
    )


class Exports:
    """Buttons that write the results to a folder.

    Attributes
    ----------
    widget : what to display
    folder : the field with the folder
    buttons : "edges.csv", "edges.graphml", "network.bif" and "report.html", each a button
    status : what was written, or why not
    """

    def __init__(self, study: Study, folder: str | Path, /) -> None:
        self._study = study
        study.done()
        self.folder = widgets.Text(
            str(folder), description="folder", layout=widgets.Layout(width="460px")
        )
        self.buttons = {
            name: widgets.Button(description=name, icon="download") for name in self._writers()
        }
        for name, button in self.buttons.items():
            button.on_click(lambda _, name=name: self.write(name))
        self.status = widgets.HTML()
        self.widget = stacked(
            study.notice, self.folder, side_by_side(*self.buttons.values()), self.status
        )

    def write(self, name: str, /) -> Path | None:
        """Write one of the files; None, with the reason in `status`, if that cannot be."""
        path = Path(self.folder.value, name)
        try:
            self._writers()[name](path)
        except (ValueError, OSError) as error:
            self.status.value = f'<p role="alert">Not written: {escape(str(error))}</p>'
            return None
        size = f"{path.stat().st_size / 1000:,.0f} kB"
        self.status.value = f'<p role="status">Written: {escape(str(path))}, {size}.</p>'
        return path

    def _writers(self) -> dict[str, Callable[[Path], None]]:
        analysis, reading = self._study.done(), self._study.reading
        assert reading is not None
        command = (
            f"{self._study.code}\nfrom bnlab.reports.page import write_page\n"
            'write_page(analysis, reading, "report.html", command="see above")'
        )
        return {
            "edges.csv": lambda path: write_csv(analysis, path),
            "edges.graphml": lambda path: write_graphml(analysis, path),
            "network.bif": lambda path: write_bif(analysis, path),
            "report.html": lambda path: write_page(analysis, reading, path, command=command),
        }
