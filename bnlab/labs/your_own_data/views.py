"""What an analysis says: its credible edges, its dependence on priors, predictions, files."""

import warnings
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
from bokeh.models import HoverTool
from numpy.typing import NDArray

from bnlab import plots
from bnlab.data import Intervals
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.your_own_data.study import Study
from bnlab.reports import Analysis, Credible
from bnlab.reports.exports import write_bif, write_csv, write_graphml
from bnlab.reports.page import write_page
from bnlab.reports.pictures import layout, network_picture, shown_names

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
MOST_LISTED = 12
UNKNOWN = "(not known)"

Floats = NDArray[np.float64]


class Network:
    """The edges of at least some probability, drawn and listed with their intervals.

    Attributes
    ----------
    widget : what to display
    threshold : the slider
    panel : the `Panel`, with source "links"
    """

    def __init__(self, study: Study, /) -> None:
        self._analysis = study.done()
        self._layout = layout(self._analysis, least=THRESHOLDS[0])
        self.threshold = size_slider("least probability", THRESHOLDS, 0.3)
        self.panel = Panel(self._picture(), self._caption())
        self._listed = widgets.HTML(self._list())
        self.threshold.observe(self._move, "value")
        self.widget = stacked(self.threshold, side_by_side(self.panel, self._listed))
        study.watch(self._renew)

    def _picture(self) -> Any:
        return network_picture(self._analysis, self._layout, threshold=self.threshold.value)

    def _caption(self) -> str:
        edges = self._analysis.edges.probability
        count = int((edges >= self.threshold.value).sum())
        return (
            f"{count} of {edges.size - len(edges)} edges have a probability of "
            f"{self.threshold.value:g} or more; {edges.sum():.1f} are expected."
        )

    def _list(self) -> str:
        return edges_html(self._analysis.edges, self._analysis.data.names, self.threshold.value)

    def _move(self, change: Any) -> None:
        picture = self._picture()
        links = picture.select_one({"name": "links"}).data
        self.panel.update(self._caption(), links=dict(links))
        self._listed.value = self._list()

    def _renew(self, analysis: Analysis) -> None:
        if analysis is not self._analysis:
            self._analysis = analysis
            self._layout = layout(analysis, least=THRESHOLDS[0])
            self.panel.show(self._picture(), self._caption())
            self._listed.value = self._list()


def edges_html(credible: Credible, names: tuple[str, ...], threshold: float, /) -> str:
    """A table of the likeliest edges from the threshold up, with their intervals."""
    values, n = credible.probability, len(names)
    order = [divmod(int(i), n) for i in np.argsort(-values, axis=None, kind="stable")]
    pairs = [(u, v) for u, v in order if u != v and values[u, v] >= threshold]
    body = "".join(
        f'<tr><th scope="row" style="{_CELL}">{escape(names[u])} → {escape(names[v])}</th>'
        f'<td style="{_CELL}">{values[u, v]:.3f}</td><td style="{_CELL}">'
        f"{_interval(credible, u, v)}</td></tr>"
        for u, v in pairs[:MOST_LISTED]
    )
    hidden = len(pairs) - MOST_LISTED
    more = f"<p>and {hidden} more</p>" if hidden > 0 else ""
    heads = "".join(
        f'<th scope="col" style="{_CELL}">{text}</th>'
        for text in ("edge", "probability", "interval")
    )
    return (
        f'<table style="border-collapse:collapse"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>{more}"
    )


def _interval(credible: Credible, u: int, v: int) -> str:
    if credible.kind == "exact":
        return "exact"
    return f"{credible.low[u, v]:.3f} to {credible.high[u, v]:.3f} ({credible.kind})"


_CELL = "text-align:left;padding:1px 14px 1px 0;font-weight:normal"


class Predictor:
    """What we would expect of one variable, knowing some of the others.

    Attributes
    ----------
    widget : what to display
    target : the list of variables to predict
    known : by variable the list of its levels, "(not known)" first; a field for the number where
        measurements were cut
    panel : the `Panel`, with source "prediction"
    probabilities : (levels of the target,); nan where the caption says why they are not there
    """

    def __init__(self, study: Study, /) -> None:
        self._analysis = study.done()
        self._box = widgets.VBox()
        self._controls()
        self._compute()
        self.panel = Panel(self._picture(), self._caption())
        self.widget = stacked(self._box, self.panel)
        study.watch(self._renew)

    def _controls(self) -> None:
        data = self._analysis.data
        self.target = choice("predict", data.names, data.names[-1])
        self.known: dict[str, Any] = {
            name: choice(name, [UNKNOWN, *levels]) if cut is None else number_field(name, cut)
            for name, levels, cut in zip(data.names, data.levels, data.intervals, strict=True)
        }
        for control in (self.target, *self.known.values()):
            control.observe(self._move, "value")
        self._box.children = [self.target, side_by_side(*self.known.values())]

    def _row(self) -> dict[str, str]:
        return {
            name: control.value
            for name, control in self.known.items()
            if control.value not in ("", UNKNOWN) and name != self.target.value
        }

    def _compute(self) -> None:
        for name, control in self.known.items():
            control.disabled = name == self.target.value
        self._problem = ""
        with warnings.catch_warnings(record=True) as beyond:
            warnings.simplefilter("always")
            try:
                self.probabilities: Floats = self._analysis.predict(self._row(), self.target.value)
            except ValueError as error:  # no such number, or too many cells to sum out
                self._problem = str(error)
                levels = self._analysis.data.arities[self._analysis.data.index(self.target.value)]
                self.probabilities = np.full(int(levels), np.nan)
        self._beware = "".join(f" {warning.message}." for warning in beyond)

    def _picture(self) -> Any:
        data, target = self._analysis.data, self.target.value
        v = data.index(target)
        shares = np.bincount(data.values[:, v], minlength=int(data.arities[v])) / max(1, data.m)
        picture = plots.share_bars(
            self.probabilities,
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
        return picture

    def _caption(self) -> str:
        if self._problem:
            return self._problem
        row = self._row()
        given = ", ".join(f"{name} = {label}" for name, label in row.items()) or "nothing"
        best = int(self.probabilities.argmax())
        levels = self._analysis.data.levels[self._analysis.data.index(self.target.value)]
        return (
            f"Known: {given}. Most probable {self.target.value}: {levels[best]}, "
            f"{self.probabilities[best]:.2f}. Bar: predicted; diamond: share of all rows."
            f"{self._beware}"
        )

    def _move(self, change: Any) -> None:
        self._compute()
        self.panel.show(self._picture(), self._caption())

    def _renew(self, analysis: Analysis) -> None:
        if analysis is not self._analysis:
            self._analysis = analysis
            self._controls()
            self._compute()
            self.panel.show(self._picture(), self._caption())


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
        self.widget = stacked(self.folder, side_by_side(*self.buttons.values()), self.status)

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
