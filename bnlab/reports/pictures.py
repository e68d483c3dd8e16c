"""The pictures of a report: the figures of `bnlab.plots`, with intervals where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import HoverTool
from numpy.typing import NDArray

from bnlab import graphs, plots
from bnlab.reports.analysis import Analysis
from bnlab.reports.credible import Credible
from bnlab.reports.exports import CREDIBLE

Floats = NDArray[np.float64]

CELL = 13  # pixels, the least side of a cell of the heat map, so that its names can be read


def shown_names(names: Sequence[str], /) -> list[str]:
    """The names as BokehJS may draw them: it takes text between $$ for mathematics.

    Examples
    --------
    >>> shown_names(["price in $", "$$x$$"])[0]
    'price in $'
    """
    return [name.replace("$$", "$\u200b$") for name in names]


def network_picture(analysis: Analysis, places: Floats, /, threshold: float = CREDIBLE) -> Any:
    """The network of the edges that are credible, their intervals in the hover."""
    names = shown_names(analysis.data.names)
    probability = analysis.edges.probability
    strongest = _strongest(analysis.edges, names)
    picture = plots.network(
        probability,
        names,
        places,
        threshold=threshold,
        title=f"Edges of probability {threshold:g} or more",
        alt=f"Network of {len(names)} variables; the wider an arrow, the more probable its edge. "
        f"Most probable: {strongest}. The table of edges has the numbers",
    )
    return with_intervals(picture, "links", analysis.edges, names)


def heat_picture(analysis: Analysis, /) -> Any:
    """The heat map of all edge probabilities, their intervals in the hover."""
    names = shown_names(analysis.data.names)
    strongest = _strongest(analysis.edges, names)
    picture = plots.heat_map(
        analysis.edges.probability,
        names,
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


def best_picture(analysis: Analysis, places: Floats, /) -> Any:
    """The best DAG, at the places of the network of credible edges."""
    names = shown_names(analysis.data.names)
    dag = graphs.to_adjacency(analysis.best).astype(np.float64)
    count = int(dag.sum())
    picture = plots.network(
        0.4 * dag,
        names,
        places,
        name="best",
        title=f"{analysis.best_is[0].upper()}{analysis.best_is[1:]}",
        alt=f"Drawing of {analysis.best_is}: {count} edges, listed in the table of parents",
    )
    return with_intervals(picture, "best", analysis.edges, names)


def with_intervals(picture: Any, source: str, credible: Credible, names: Sequence[str], /) -> Any:
    """Let the source and its hover tell the probabilities, and intervals that are not points."""
    data = picture.select_one({"name": source}).data
    number = {name: v for v, name in enumerate(names)}
    u = [number[parent] for parent in data["parent"]]
    v = [number[child] for child in data["child"]]
    data["probability"] = credible.probability[u, v].tolist()
    if credible.kind == "exact":
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
