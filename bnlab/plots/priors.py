"""Priors on DAGs: the probabilities of all of them, and those that a prior favours."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.plots.canvas import CYCLE, INK, RULE, SMALL_FONT_SIZE, canvas
from bnlab.plots.edges import Columns

Floats = NDArray[np.float64]

COLOURS = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[7])
DASHES = ("solid", "dashed", "dotdash", "dotted")
ACROSS = 4
"""DAGs in a row of the gallery."""

CELL = (135.0, 168.0)  # pixels, of one DAG of the gallery with its two lines of text
HEADING = 26.0  # pixels, over each row
RADIUS = 46.0  # pixels, of the circle of nodes
NODE = 7.0  # pixels
HEAD = 9.0  # pixels


def prior_curve_data(probabilities: ArrayLike, /) -> Columns:
    """Columns of the source of `prior_curve`: the steps of all probabilities, largest first.

    Parameters
    ----------
    probabilities
        (N,) positive floats, one a DAG.

    Returns
    -------
    dict
        Columns `rank` (1 to N) and `probability`; a step has its first and its last rank only.

    Examples
    --------
    >>> prior_curve_data([0.25, 0.5, 0.25])["rank"]
    [1.0, 1.0, 2.0, 3.0]
    """
    p = -np.sort(-np.asarray(probabilities, np.float64))
    if p.ndim != 1 or not p.size or not p[-1] > 0:
        raise ValueError("probabilities are (N,) positive numbers: a log axis shows no others")
    # Sums in another order differ in their last digits; that is not a step.
    last = np.append(np.flatnonzero(np.diff(np.log(p)) < -1e-9), p.size - 1)
    first = np.append(0, last[:-1] + 1)
    return {
        "rank": (np.column_stack([first, last]).ravel() + 1.0).tolist(),
        "probability": np.column_stack([p[first], p[last]]).ravel().tolist(),
    }


def prior_curve(
    probabilities: ArrayLike,
    others: Mapping[str, ArrayLike],
    /,
    *,
    y_range: tuple[float, float],
    name: str = "curve",
    title: str = "All DAGs, from the most to the least probable",
    alt: str = "Probability of every DAG, largest first, with four known priors for comparison",
) -> figure:
    """The sorted probabilities of all DAGs, on two log axes, over those of known priors.

    Its source is called `name` and holds `prior_curve_data`.

    Parameters
    ----------
    probabilities
        (N,), the wide curve, which moves.
    others
        Name -> (N,): at most four thin curves, which stay.
    y_range
        Ends of the axis of probabilities, so that a moving curve does not move it.

    Examples
    --------
    >>> picture = prior_curve([0.5, 0.25, 0.25], {"uniform": [1 / 3] * 3}, y_range=(0.1, 1))
    >>> picture.select_one({"name": "curve"}).data["probability"]
    [0.5, 0.5, 0.25, 0.25]
    """
    if len(others) > len(COLOURS):
        raise ValueError(f"{len(others)} known priors, but colours for {len(COLOURS)}")
    count = np.asarray(probabilities).size
    picture = canvas(
        title=title,
        x_label="rank of the DAG",
        y_label="prior probability",
        alt=alt,
        height=420,
        x_axis_type="log",
        y_axis_type="log",
        x_range=Range1d(0.8, 1.25 * count),
        y_range=Range1d(*y_range),
    )
    source = ColumnDataSource(data=prior_curve_data(probabilities), name=name)
    wide = picture.line(
        "rank", "probability", source=source, line_width=7, line_color=CYCLE[4], line_alpha=0.65
    )
    for i, (label, values) in enumerate(others.items()):
        picture.line(
            "rank",
            "probability",
            source=ColumnDataSource(data=prior_curve_data(values)),
            line_width=2,
            line_color=COLOURS[i],
            line_dash=DASHES[i],
            legend_label=label,
        )
    picture.add_tools(
        HoverTool(
            renderers=[wide],
            mode="vline",
            tooltips=[("rank", "@rank{0,0}"), ("probability", "@probability{0.00e+0}")],
        )
    )
    picture.axis.minor_tick_line_color = None
    picture.legend.location = "bottom_left"
    picture.legend.label_text_font_size = SMALL_FONT_SIZE
    picture.legend.background_fill_alpha = 0.8
    picture.legend.border_line_color = None
    return picture


def dag_gallery_arrows(dags: ArrayLike, /) -> Columns:
    """Columns of the source `arrows` of `dag_gallery`: one row an arrow of one of the DAGs.

    Parameters
    ----------
    dags
        (at most 8, n) parent masks; the first four stand in the upper row.

    Returns
    -------
    dict
        Columns `xs`, `ys` (the line) and `head_xs`, `head_ys` (the arrow head), pixels.

    Examples
    --------
    >>> len(dag_gallery_arrows([[0, 1, 2], [0, 0, 0]])["xs"])
    2
    """
    lines, heads = [], []
    for place, dag in enumerate(np.asarray(dags, np.int64)):
        nodes = _nodes(place, len(dag))
        for u, v in graphs.to_edges(dag):
            ahead = (nodes[v] - nodes[u]) / np.linalg.norm(nodes[v] - nodes[u])
            side = 0.5 * HEAD * np.array([-ahead[1], ahead[0]])
            start, tip = nodes[u] + NODE * ahead, nodes[v] - (NODE + 1) * ahead
            lines.append(np.stack([start, tip - 0.8 * HEAD * ahead]))
            heads.append(np.stack([tip, tip - HEAD * ahead + side, tip - HEAD * ahead - side]))
    return {
        "xs": [line[:, 0].tolist() for line in lines],
        "ys": [line[:, 1].tolist() for line in lines],
        "head_xs": [head[:, 0].tolist() for head in heads],
        "head_ys": [head[:, 1].tolist() for head in heads],
    }


def dag_gallery_labels(ratios: ArrayLike, alike: Sequence[int], /) -> Columns:
    """Columns of the source `shapes` of `dag_gallery`: one row a DAG.

    Parameters
    ----------
    ratios
        How many times as probable as under the uniform prior, one number a DAG.
    alike
        How many DAGs have this shape, one number a DAG.

    Returns
    -------
    dict
        Columns `x`, `y` (pixels, where the text hangs), `ratio`, `label` (the two lines of text).

    Examples
    --------
    >>> dag_gallery_labels([1124.4, 0.2383], [1, 120])["label"]
    ['× 1,124\\n1 DAG', '× 0.238\\n120 DAGs']
    """
    values = np.asarray(ratios, np.float64).tolist()
    corners = [_corner(place) for place in range(len(values))]
    return {
        "x": [x + CELL[0] / 2 for x, _ in corners],
        "y": [y + 50.0 for _, y in corners],
        "ratio": list(values),
        "label": [
            f"× {_short(ratio)}\n{count:,} DAG{'s' if count != 1 else ''}"
            for ratio, count in zip(values, alike, strict=True)
        ],
    }


def dag_gallery(
    dags: ArrayLike,
    ratios: ArrayLike,
    alike: Sequence[int],
    /,
    *,
    title: str = "What the prior favours (×: against the uniform prior)",
    alt: str = "Drawings of the four most and the four least probable shapes of DAGs",
) -> figure:
    """Eight small DAGs, the four most probable shapes over the four least probable.

    Its sources are called `arrows` and `shapes` and take `dag_gallery_arrows` and
    `dag_gallery_labels`.

    Examples
    --------
    >>> picture = dag_gallery([[0, 0, 0]] * 8, [6.0] * 8, [1] * 8)
    >>> picture.select_one({"name": "shapes"}).data["label"][0]
    '× 6\\n1 DAG'
    """
    masks = np.asarray(dags, np.int64)
    if masks.ndim != 2 or len(masks) != 2 * ACROSS:
        raise ValueError(f"dags has shape {masks.shape}: the gallery holds {2 * ACROSS} DAGs")
    width, height = round(ACROSS * CELL[0]), round(2 * (CELL[1] + HEADING))
    picture = canvas(
        title=title,
        x_label="",
        y_label="",
        alt=alt,
        width=width + 10,
        height=height + 30,
        x_range=Range1d(0, width),
        y_range=Range1d(0, height),
    )
    picture.frame_width, picture.frame_height = width, height
    picture.axis.visible = False
    picture.grid.grid_line_color = None
    arrows = ColumnDataSource(data=dag_gallery_arrows(masks), name="arrows")
    shapes = ColumnDataSource(data=dag_gallery_labels(ratios, alike), name="shapes")
    nodes = np.concatenate([_nodes(place, masks.shape[1]) for place in range(len(masks))])
    picture.multi_line("xs", "ys", source=arrows, line_width=2, line_color=CYCLE[0])
    picture.patches("head_xs", "head_ys", source=arrows, fill_color=CYCLE[0], line_color=None)
    picture.scatter(
        nodes[:, 0].tolist(),
        nodes[:, 1].tolist(),
        size=2 * NODE,
        fill_color="#ffffff",
        line_color=RULE,
        line_width=1.5,
    )
    picture.text(
        "x",
        "y",
        text="label",
        source=shapes,
        text_align="center",
        text_baseline="top",
        text_color=INK,
        text_font_size=SMALL_FONT_SIZE,
    )
    picture.text(
        x=[4, 4],
        y=[_corner(place)[1] + CELL[1] + 4 for place in (0, ACROSS)],
        text=["most probable", "least probable"],
        text_color=INK,
        text_font_size=SMALL_FONT_SIZE,
        text_font_style="bold",
    )
    return picture


def _corner(place: int) -> tuple[float, float]:
    """Lower left corner of the cell of DAG number `place`, in pixels."""
    row = 1 - place // ACROSS
    return (place % ACROSS) * CELL[0], row * (CELL[1] + HEADING)


def _nodes(place: int, n: int) -> Floats:
    """Where the nodes of DAG number `place` are, (n, 2), pixels: on a circle, the first on top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    x, y = _corner(place)
    centre = np.array([x + CELL[0] / 2, y + CELL[1] - RADIUS - NODE - 8])
    return centre + RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:.3g}"
