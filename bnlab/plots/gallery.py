"""Galleries: DAGs or networks side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.graphs import check_matrix, to_edges
from bnlab.plots.canvas import CYCLE, RULE, Columns, data_source, diagram, write

ACROSS = 4
"""DAGs in a row of `dag_gallery`."""

DAG_CELL = (135.0, 168.0)  # pixels, of one DAG with its two lines of text
HEADING = 26.0  # pixels, over each row
DAG_RADIUS, NODE = 46.0, 7.0  # pixels, of the circle of nodes and of a node
NETWORK_CELL = (206.0, 216.0)  # pixels, of one network with its line of text
RADIUS = 72.0  # pixels, of its circle of nodes
NAME_BOX = (6.4, 8.0, 20.0)  # pixels: a letter of a name, the room around it, the height
HEAD = 9.0  # pixels, of an arrow head
MARKED, PLAIN = CYCLE[5], CYCLE[0]


def dag_gallery(dags: ArrayLike, ratios: ArrayLike, alike: Sequence[int], /) -> figure:
    """Draw eight small DAGs, the four most probable shapes over the four least probable.

    The source `arrows` has a row for each arrow: `xs`, `ys`, `head_xs` and `head_ys` (pixels). The
    source `shapes` has a row for each DAG: `x`, `y` (pixels, where the text hangs), `ratio` and
    `label` (the two lines of text).

    Parameters
    ----------
    dags : (8, n) parent masks; the first four stand in the upper row
    ratios : how many times as probable as under the uniform prior, one number a DAG
    alike : how many DAGs have this shape, one number a DAG
    """
    title = "What the prior favours (×: against the uniform prior)"
    alt = "Drawings of the four most and the four least probable shapes of DAGs"
    masks = np.asarray(dags, np.int64)
    if masks.ndim != 2 or len(masks) != 2 * ACROSS:
        raise ValueError(f"dags has shape {masks.shape}: the gallery holds {2 * ACROSS} DAGs")
    n = masks.shape[1]
    corners = [
        (i % ACROSS * DAG_CELL[0], (1 - i // ACROSS) * (DAG_CELL[1] + HEADING)) for i in range(8)
    ]
    middle = np.array([DAG_CELL[0] / 2, DAG_CELL[1] - DAG_RADIUS - NODE - 8])
    nodes = np.stack([_circle(middle + corner, n, DAG_RADIUS) for corner in corners])
    arrows = []
    for places, dag in zip(nodes, masks, strict=True):
        for u, v in to_edges(dag):
            ahead = _ahead(places[u], places[v])
            start, tip = places[u] + NODE * ahead, places[v] - (NODE + 1) * ahead
            arrows.append(_arrow(start, tip, PLAIN))
    values = np.asarray(ratios, np.float64).tolist()
    shapes: Columns = {
        "x": [x + DAG_CELL[0] / 2 for x, _ in corners],
        "y": [y + 50.0 for _, y in corners],
        "ratio": list(values),
        "label": [
            f"× {_short(ratio)}\n{count:,} DAG{'s' if count != 1 else ''}"
            for ratio, count in zip(values, alike, strict=True)
        ],
    }
    size = round(ACROSS * DAG_CELL[0]), round(2 * (DAG_CELL[1] + HEADING))
    picture = diagram(title=title, alt=alt, width=size[0], height=size[1])
    _draw_arrows(picture, arrows, "arrows")
    look = {"size": 2 * NODE, "fill_color": "#ffffff", "line_color": RULE, "line_width": 1.5}
    picture.scatter(nodes[..., 0].ravel().tolist(), nodes[..., 1].ravel().tolist(), **look)
    source = data_source(shapes, name="shapes")
    write(picture, "x", "y", "label", source=source, baseline="top")
    heights = [corners[i][1] + DAG_CELL[1] + 4 for i in (0, ACROSS)]
    heads = ["most probable", "least probable"]
    write(picture, [4, 4], heights, heads, bold=True, align="left", baseline="bottom")
    return picture


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:.3g}"


def graph_gallery(
    graphs: ArrayLike,
    names: Sequence[str],
    labels: Sequence[str],
    marked: ArrayLike | None = None,
    /,
    *,
    across: int = 4,
    name: str = "gallery",
    title: str,
    alt: str,
) -> figure:
    """Draw small networks side by side, nodes on a circle, a line of text under each.

    The source `name` has a row for each edge, in pixels: `xs`, `ys` (the line), `head_xs` and
    `head_ys` (its arrow head, a point where there is no direction), and `color`.

    Parameters
    ----------
    graphs : (k, n, n) of 0 and 1, edges u -> v; both ways is one edge without a direction
    names : n short names
    labels : k lines of text
    marked : (k, n, n), true for pairs in another colour; all alike by default
    across : graphs in a row
    """
    given, count = np.asarray(graphs), len(labels)
    if given.ndim != 3 or given.shape[1:] != (len(names), len(names)):
        raise ValueError(f"graphs have shape {given.shape}, but there are {len(names)} names")
    matrices = np.array([check_matrix(matrix) for matrix in given], bool)
    marks = np.zeros(matrices.shape, bool) if marked is None else np.asarray(marked, bool)
    if marks.shape != matrices.shape:
        raise ValueError(f"marks of shape {marks.shape} for graphs of shape {matrices.shape}")
    if len(matrices) != count:
        raise ValueError(f"{len(matrices)} graphs, but {count} labels")
    rows = -(-count // across)
    corners = [
        (i % across * NETWORK_CELL[0], (rows - 1 - i // across) * NETWORK_CELL[1])
        for i in range(count)
    ]
    middle = np.array([NETWORK_CELL[0] / 2, NETWORK_CELL[1] / 2 + 12])
    nodes = np.stack([_circle(middle + corner, len(names), RADIUS) for corner in corners])
    letter, around, height = NAME_BOX
    boxes = np.array([(max(height, letter * len(name) + around), height) for name in names])
    arrows = []
    for places, graph, mark in zip(nodes, matrices, marks, strict=True):
        for u, v in np.argwhere(graph):
            both = bool(graph[v, u])
            if both and v < u:
                continue
            ahead = _ahead(places[u], places[v])
            start = places[u] + ahead * (_leaves(boxes[u] / 2, ahead) + 2)
            tip = places[v] - ahead * (_leaves(boxes[v] / 2, ahead) + 2)
            colour = MARKED if mark[u, v] or mark[v, u] else PLAIN
            arrows.append(_arrow(start, tip, colour, headless=both))
    size = round(min(count, across) * NETWORK_CELL[0]), round(rows * NETWORK_CELL[1])
    picture = diagram(title=title, alt=alt, width=size[0], height=size[1])
    _draw_arrows(picture, arrows, name)
    drawn: Columns = {"x": nodes[..., 0].ravel().tolist(), "y": nodes[..., 1].ravel().tolist()}
    drawn["name"] = list(names) * count
    wide, high = np.tile(boxes, (count, 1)).T.tolist()
    source = data_source({**drawn, "width": wide, "height": high})
    look = {"fill_color": "#ffffff", "line_color": RULE, "line_width": 1.5, "border_radius": 6}
    picture.rect("x", "y", width="width", height="height", source=source, **look)
    write(picture, "x", "y", "name", source=source, size=11)
    x, y = [x + NETWORK_CELL[0] / 2 for x, _ in corners], [y + 8 for _, y in corners]
    write(picture, x, y, list(labels), baseline="bottom")
    return picture


def _circle(centre: Floats, n: int, radius: float) -> Floats:
    """Places (n, 2) on a circle, the first on top, clockwise."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    return np.asarray(centre + radius * np.column_stack([np.cos(angle), np.sin(angle)]))


def _ahead(start: Floats, end: Floats) -> Floats:
    """The direction from one place to another, of length 1."""
    along = end - start
    return np.asarray(along / np.linalg.norm(along))


def _leaves(half: Floats, ahead: Floats) -> float:
    """How far from the middle of a box of these half sizes a ray leaves it, pixels."""
    return float(min(half / np.maximum(np.abs(ahead), 1e-9)))


def _arrow(
    start: Floats, tip: Floats, colour: str, *, headless: bool = False
) -> tuple[Floats, Floats, str]:
    """The line (2, 2) of an arrow, its head (3, 2), a point where it has none, and its colour."""
    ahead = _ahead(start, tip)
    if headless:
        return np.stack([start, tip]), np.stack([tip] * 3), colour
    side = 0.5 * HEAD * np.array([-ahead[1], ahead[0]])
    head = np.stack([tip, tip - HEAD * ahead + side, tip - HEAD * ahead - side])
    return np.stack([start, tip - 0.8 * HEAD * ahead]), head, colour


def _draw_arrows(picture: figure, arrows: Sequence[tuple[Floats, Floats, str]], name: str) -> None:
    columns: Columns = {
        "xs": [line[:, 0].tolist() for line, _, _ in arrows],
        "ys": [line[:, 1].tolist() for line, _, _ in arrows],
        "head_xs": [head[:, 0].tolist() for _, head, _ in arrows],
        "head_ys": [head[:, 1].tolist() for _, head, _ in arrows],
        "color": [colour for *_, colour in arrows],
    }
    look: dict[str, Any] = {"source": data_source(columns, name=name)}
    picture.multi_line("xs", "ys", line_width=2.5, line_color="color", **look)
    picture.patches("head_xs", "head_ys", fill_color="color", line_color="color", **look)
