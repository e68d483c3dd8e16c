"""The pictures of a report: the figures of `bnlab.plots`, with intervals where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bokeh.models import HoverTool
from numpy.typing import NDArray

from bnlab import graphs, plots
from bnlab.reports.analysis import Analysis
from bnlab.reports.credible import Credible
from bnlab.reports.exports import CREDIBLE

Floats = NDArray[np.float64]

ALL_SHOWN = 12  # variables
MOST_DRAWN, EVEN_ODDS = 40, 0.5  # edges, and the probability from which they are drawn if more
EVEN = 0.4  # the width of an arrow where all are equally wide, as a share of the widest
CROWD = 24  # edges; of more, arrows are that much thinner, to be told apart
CELL = 13  # pixels, the least side of a cell of the heat map, so that its names can be read


def shown_names(names: Sequence[str], /) -> list[str]:
    """The names as BokehJS may draw them: it takes text between $$ for mathematics.

    Examples
    --------
    >>> shown_names(["price in $", "$$x$$"])[0]
    'price in $'
    """
    return [name.replace("$$", "$\u200b$") for name in names]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which variables a network drawing shows, and where. Make it with `layout`.

    Attributes
    ----------
    shown : int64 (k,), numbers of the variables drawn, rising
    places : float64 (k, 2) in [0, 1], as of `plots.network_positions`
    """

    shown: NDArray[np.int64]
    places: Floats

    def of(self, credible: Credible, names: Sequence[str], /) -> tuple[Credible, list[str]]:
        """The probabilities and the names of the variables drawn."""
        part = np.ix_(self.shown, self.shown)
        few = replace(
            credible,
            probability=credible.probability[part],
            low=credible.low[part],
            high=credible.high[part],
        )
        return few, shown_names([names[v] for v in self.shown])


def layout(analysis: Analysis, /, *, least: float = CREDIBLE) -> Layout:
    """Places for all variables, or if they are many, for those with an edge to draw.

    An edge to draw has a probability of at least `least`, or belongs to the best DAG.
    """
    probability = analysis.edges.probability
    linked = (probability >= least) | (graphs.to_adjacency(analysis.best) > 0)
    shown = np.flatnonzero(linked.any(axis=0) | linked.any(axis=1))
    if len(probability) <= ALL_SHOWN or len(shown) < 2:
        shown = np.arange(len(probability))
    return Layout(shown, plots.network_positions(probability[np.ix_(shown, shown)]))


def drawn_from(analysis: Analysis, /) -> float:
    """The probability from which edges are drawn: higher where too many would cross each other.

    All of them are in the heat map and in the table.
    """
    many = int((analysis.edges.probability >= CREDIBLE).sum())
    return CREDIBLE if many <= MOST_DRAWN else EVEN_ODDS


def network_picture(analysis: Analysis, drawn: Layout, /, *, threshold: float = CREDIBLE) -> Any:
    """The network of the edges that are credible, their intervals in the hover."""
    edges, names = drawn.of(analysis.edges, analysis.data.names)
    share = EVEN if (edges.probability >= threshold).sum() > CROWD else 1.0
    picture = plots.network(
        share * edges.probability,
        names,
        drawn.places,
        threshold=share * threshold,
        title=f"Edges of probability {threshold:g} or more"
        if analysis.plan.posterior
        else f"Edges of {analysis.best_is}",
        alt=f"Network of {len(names)} variables; the wider an arrow, the more probable its edge. "
        f"Most probable: {_strongest(edges, names)}. The table of edges has the numbers",
    )
    return with_intervals(picture, "links", edges, names)


def heat_picture(analysis: Analysis, /) -> Any:
    """The heat map of all edge probabilities, their intervals in the hover."""
    names = shown_names(analysis.data.names)
    strongest = _strongest(analysis.edges, names)
    picture = plots.heat_map(
        analysis.edges.probability,
        names,
        title="Probability of each edge" if analysis.plan.posterior else "Edges",
        alt=f"Heat map of edge probabilities, {len(names)} parents by {len(names)} children. "
        f"Most probable: {strongest}. The table of edges has the numbers",
    )
    wider = CELL * len(names) - picture.frame_width
    if wider > 0:
        picture.frame_width = picture.frame_height = CELL * len(names)
        picture.width += wider
        picture.height += wider
        picture.axis.major_label_text_font_size = "11px"
    return with_intervals(picture, "edges", analysis.edges, names)


def best_picture(analysis: Analysis, drawn: Layout, /) -> Any:
    """The best DAG, at the places of the network of credible edges."""
    edges, names = drawn.of(analysis.edges, analysis.data.names)
    dag = graphs.to_adjacency(analysis.best)[np.ix_(drawn.shown, drawn.shown)]
    picture = plots.network(
        EVEN * dag,
        names,
        drawn.places,
        name="best",
        title=f"{analysis.best_is[0].upper()}{analysis.best_is[1:]}",
        alt=f"Drawing of {analysis.best_is}: {int(dag.sum())} edges, listed in the table of "
        "parents",
    )
    return with_intervals(picture, "best", edges, names)


def with_intervals(picture: Any, source: str, credible: Credible, names: Sequence[str], /) -> Any:
    """Let the source and its hover tell the probabilities, and intervals that are not points."""
    data = picture.select_one({"name": source}).data
    number = {name: v for v, name in enumerate(names)}
    u = [number[parent] for parent in data["parent"]]
    v = [number[child] for child in data["child"]]
    data["probability"] = credible.probability[u, v].tolist()
    if credible.kind in ("exact", "none"):
        return picture
    data["low"] = credible.low[u, v].tolist()
    data["high"] = credible.high[u, v].tolist()
    for tool in picture.select(HoverTool):
        if isinstance(tool.tooltips, list):
            tool.tooltips = [*tool.tooltips, ("interval", "@low{0.000} to @high{0.000}")]
    return picture


def _strongest(credible: Credible, names: Sequence[str]) -> str:
    """The three likeliest edges in words."""
    values = np.asarray(credible.probability)
    n = len(names)
    best = [divmod(int(i), n) for i in np.argsort(-values, axis=None, kind="stable")[:3]]
    return ", ".join(f"{names[u]} to {names[v]} {values[u, v]:.2f}" for u, v in best)
