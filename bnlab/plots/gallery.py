"""Galleries: DAGs or networks side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.graphs import check_matrix, to_edges
from bnlab.plots.canvas import diagram, write
from bnlab.plots.drawing import Columns, data_source, from_rows
from bnlab.plots.looks import BOX, CYCLE

ACROSS = 4  # DAGs in a row of `dag_gallery`
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
    width, height = DAG_CELL
    picture, corners = _grid(title, alt, len(masks), ACROSS, width, height + HEADING)
    middle = width / 2, height - DAG_RADIUS - NODE - 8
    nodes, arrows = _circles(np.add(corners, middle), masks.shape[1], DAG_RADIUS), []
    for places, dag in zip(nodes, masks, strict=True):
        for u, v in to_edges(dag):
            ahead = _ahead(places[u], places[v])
            start, tip = places[u] + NODE * ahead, places[v] - (NODE + 1) * ahead
            arrows.append(_arrow(start, tip, PLAIN))
    values = np.asarray(ratios, np.float64).tolist()
    x, y = np.add(corners, (width / 2, 50)).T.tolist()
    labels = [
        f"× {_short(ratio)}\n{count:,} DAG{'s' if count != 1 else ''}"
        for ratio, count in zip(values, alike, strict=True)
    ]
    shapes: Columns = {"x": x, "y": y, "ratio": list(values), "label": labels}
    _draw_arrows(picture, arrows, "arrows")
    picture.scatter(*nodes.reshape(-1, 2).T.tolist(), size=2 * NODE, **BOX)
    source = data_source(shapes, name="shapes")
    write(picture, "x", "y", "label", source=source, baseline="top")
    heads, heights = ["most probable", "least probable"], corners[::ACROSS, 1] + height + 4
    write(picture, [4, 4], heights.tolist(), heads, bold=True, align="left", baseline="bottom")
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
    width, height = NETWORK_CELL
    picture, corners = _grid(title, alt, count, across, width, height)
    nodes = _circles(np.add(corners, (width / 2, height / 2 + 12)), len(names), RADIUS)
    letter, around, least = NAME_BOX
    boxes = np.array([(max(least, letter * len(name) + around), least) for name in names])
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
    _draw_arrows(picture, arrows, name)
    x, y = nodes.reshape(-1, 2).T.tolist()
    wide, high = np.tile(boxes, (count, 1)).T.tolist()
    every = list(names) * count
    source = data_source({"x": x, "y": y, "name": every, "width": wide, "height": high})
    look = {"source": source, "border_radius": 6}
    picture.rect("x", "y", width="width", height="height", **BOX, **look)
    write(picture, "x", "y", "name", source=source, size=11)
    x, y = np.add(corners, (width / 2, 8)).T.tolist()
    write(picture, x, y, list(labels), baseline="bottom")
    return picture


def _grid(
    title: str, alt: str, count: int, across: int, width: float, height: float
) -> tuple[figure, Floats]:
    """An empty picture of cells in rows, and their lower left corners (count, 2), pixels."""
    rows, place = -(-count // across), np.arange(count)
    corners = np.column_stack([place % across * width, (rows - 1 - place // across) * height])
    size = round(min(count, across) * width), round(rows * height)
    return diagram(title=title, alt=alt, width=size[0], height=size[1]), corners


def _circles(centres: Floats, n: int, radius: float) -> Floats:
    """Places (k, n, 2) on circles around k centres, the first on top, clockwise."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    on_circle = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(centres[:, None] + on_circle)


def _ahead(start: Floats, end: Floats) -> Floats:
    """The direction from one place to another, of length 1."""
    along = end - start
    return np.asarray(along / np.linalg.norm(along))


def _leaves(half: Floats, ahead: Floats) -> float:
    """How far from the middle of a box of these half sizes a ray leaves it, pixels."""
    return float(min(half / np.maximum(np.abs(ahead), 1e-9)))


def _arrow(start: Floats, tip: Floats, colour: str, *, headless: bool = False) -> list[Any]:
    """A row of `_draw_arrows`: the line, the head, a point where there is none, and the colour."""
    line, head = np.stack([start, tip]), np.stack([tip] * 3)
    if not headless:
        ahead = _ahead(start, tip)
        side = 0.5 * HEAD * np.array([-ahead[1], ahead[0]])
        line[1] = tip - 0.8 * HEAD * ahead
        head[1:] = tip - HEAD * ahead + side, tip - HEAD * ahead - side
    return [*line.T.tolist(), *head.T.tolist(), colour]


def _draw_arrows(picture: figure, arrows: Sequence[Sequence[Any]], name: str) -> None:
    source = data_source(from_rows("xs ys head_xs head_ys color", arrows), name=name)
    look: dict[str, Any] = {"source": source, "line_color": "color"}
    picture.multi_line("xs", "ys", line_width=2.5, **look)
    picture.patches("head_xs", "head_ys", fill_color="color", **look)
