"""The most probable directed paths, as bars beside the probability of the edge alone."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, INK, PALE, RULE, WIDTH, canvas
from bnlab.plots.edges import Columns, square


def path_bars_data(
    paths: ArrayLike,
    edges: ArrayLike,
    names: Sequence[str],
    /,
    *,
    top: int = 8,
    margin: float = 0.0,
) -> Columns:
    """Columns of the source of `path_bars`: the `top` most probable paths, best first.

    Parameters
    ----------
    paths, edges
        (n, n) probabilities of a directed path u ~> v of any length, and of the edge u -> v.
    names
        The n variable names.
    margin
        Half width of the interval around each path probability, as from Hoeffding's inequality;
        the interval is cut to [0, 1].

    Returns
    -------
    dict
        Columns `label`, `start`, `end` (names), `path`, `edge`, `low`, `high` (probabilities) and
        the heights of bar and label, `place` and `label_place`.

    Examples
    --------
    >>> path_bars_data([[0, 0.9], [0.1, 0]], [[0, 0.8], [0.1, 0]], ["rain", "wet"])["label"]
    ['rain ⇝ wet', 'wet ⇝ rain']
    """
    reach = square(paths, names, "paths")
    direct = square(edges, names, "edges")
    n = len(names)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    best = sorted(pairs, key=lambda pair: (-reach[pair], pair))[:top]
    chosen = np.array([reach[pair] for pair in best])
    return {
        "place": [top - i - 0.16 for i in range(len(best))],
        "label_place": [top - i + 0.26 for i in range(len(best))],
        "label": [f"{names[u]} ⇝ {names[v]}" for u, v in best],
        "start": [names[u] for u, _ in best],
        "end": [names[v] for _, v in best],
        "path": chosen.tolist(),
        "edge": [float(direct[pair]) for pair in best],
        "low": np.clip(chosen - margin, 0, 1).tolist(),
        "high": np.clip(chosen + margin, 0, 1).tolist(),
    }


def path_bars(
    paths: ArrayLike,
    edges: ArrayLike,
    names: Sequence[str],
    /,
    *,
    top: int = 8,
    margin: float = 0.0,
    name: str = "paths",
    title: str = "Most probable paths",
    alt: str = "Bars of the most probable directed paths, with the probability of the edge alone",
) -> figure:
    """Bars of path probabilities; the source is called `name` and holds `path_bars_data`.

    A bar is the probability of a path by any route, its whisker the interval, and the diamond the
    probability of the direct edge. Labels stand over the bars, so they change with the source.

    Examples
    --------
    >>> picture = path_bars([[0, 0.9], [0.1, 0]], [[0, 0.8], [0.1, 0]], ["rain", "wet"])
    >>> picture.select_one({"name": "paths"}).data["path"]
    [0.9, 0.1]
    """
    picture = canvas(
        title=title,
        x_label="probability (bar: any route; diamond: the edge alone)",
        y_label="",
        alt=alt,
        width=WIDTH - 30,
        height=46 * min(top, len(names) * (len(names) - 1)) + 80,
        x_range=Range1d(0, 1.02),
        y_range=Range1d(max(top - len(names) * (len(names) - 1), 0) + 0.4, top + 0.6),
    )
    source = ColumnDataSource(
        data=path_bars_data(paths, edges, names, top=top, margin=margin), name=name
    )
    bars = picture.hbar(
        y="place", right="path", height=0.4, source=source, fill_color=PALE, line_color=None
    )
    picture.segment("low", "place", "high", "place", source=source, line_color=INK, line_width=1.5)
    picture.scatter(
        "edge",
        "place",
        source=source,
        marker="diamond",
        size=12,
        fill_color=CYCLE[3],
        line_color=INK,
    )
    picture.text(
        x=0.006,
        y="label_place",
        text="label",
        source=source,
        text_color=INK,
        text_baseline="middle",
        text_font_size="13px",
    )
    picture.add_tools(
        HoverTool(
            renderers=[bars],
            tooltips=[
                ("path", "@label"),
                ("any route", "@path{0.000} (@low{0.00} to @high{0.00})"),
                ("edge alone", "@edge{0.000}"),
            ],
        )
    )
    picture.yaxis.visible = False
    picture.ygrid.grid_line_color = None
    picture.xaxis.axis_line_color = RULE
    return picture
