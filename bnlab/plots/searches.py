"""Searches over networks: a gallery of networks or classes, and what each next move gains."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, LinearColorMapper
from bokeh.palettes import PuOr11
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.graphs import check_matrix
from bnlab.plots.canvas import CYCLE, INK, RULE, SMALL_FONT_SIZE, canvas, diagram
from bnlab.plots.edges import FRAME, LETTER, MAX_NUMBERED, Columns, square

Floats = NDArray[np.float64]

CELL = (206.0, 216.0)  # pixels, of one network of the gallery with its line of text
RADIUS = 72.0  # pixels, of the circle of nodes
BOX = (6.4, 8.0, 20.0)  # pixels: a letter of a name, the room around it, the height
HEAD = 9.0  # pixels
MARKED, PLAIN = CYCLE[5], CYCLE[0]
SHADES = 7.0  # ln of 1 + nats, the strongest colour
IMPOSSIBLE = "#f0f0f0"


def graph_gallery_links(
    graphs: ArrayLike, names: Sequence[str], marked: ArrayLike | None = None, /, *, across: int = 4
) -> Columns:
    """Columns of the source of the lines of `graph_gallery`: one row an edge of one graph.

    Parameters
    ----------
    graphs : (k, n, n) of 0 and 1, edges u -> v; both ways is one edge without a direction
    names : n short names
    marked : (k, n, n), true for pairs in another colour; all alike by default
    across : graphs in a row

    Returns
    -------
    dict
        Columns `xs`, `ys` (the line), `head_xs`, `head_ys` (its arrow head, a point where there is
        no direction), pixels, and `color`.

    Examples
    --------
    >>> len(graph_gallery_links([[[0, 1], [0, 0]], [[0, 1], [1, 0]]], ["a", "b"])["xs"])
    2
    """
    matrices, marks = _checked(graphs, names, marked)
    half = _boxes(names) / 2
    columns: Columns = {key: [] for key in ("xs", "ys", "head_xs", "head_ys", "color")}
    for place, (graph, mark) in enumerate(zip(matrices, marks, strict=True)):
        nodes = _nodes(place, len(names), len(matrices), across)
        for u, v in np.argwhere(graph):
            if graph[v, u] and v < u:
                continue
            ahead = (nodes[v] - nodes[u]) / np.linalg.norm(nodes[v] - nodes[u])
            start, tip = (
                nodes[w] + sign * ahead * (_leaves(half[w], ahead) + 2)
                for w, sign in ((u, 1), (v, -1))
            )
            side = 0.45 * HEAD * np.array([-ahead[1], ahead[0]])
            head = np.stack([tip, tip - HEAD * ahead + side, tip - HEAD * ahead - side])
            end = tip - 0.8 * HEAD * ahead
            if graph[v, u]:
                head, end = np.stack([tip] * 3), tip
            line = np.stack([start, end])
            for key, values in (("xs", line[:, 0]), ("ys", line[:, 1])):
                columns[key].append(values.tolist())
                columns[f"head_{key}"].append(head[:, int(key == "ys")].tolist())
            columns["color"].append(MARKED if mark[u, v] or mark[v, u] else PLAIN)
    return columns


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
    """Small networks side by side, nodes on a circle, a line of text under each.

    The source `name` holds `graph_gallery_links`.

    Parameters
    ----------
    graphs, names, marked, across : as in `graph_gallery_links`
    labels : k lines of text

    Examples
    --------
    >>> picture = graph_gallery([[[0, 1], [1, 0]]], ["a", "b"], ["one class"], title="Class",
    ...     alt="Two nodes joined by a line")
    >>> len(picture.select_one({"name": "gallery"}).data["xs"])
    1
    """
    columns = graph_gallery_links(graphs, names, marked, across=across)
    count = len(labels)
    if len(np.asarray(graphs)) != count:
        raise ValueError(f"{len(np.asarray(graphs))} graphs, but {count} labels")
    rows = -(-count // across)
    size = round(min(count, across) * CELL[0]), round(rows * CELL[1])
    picture = diagram(title=title, alt=alt, width=size[0], height=size[1])
    source = ColumnDataSource(data=columns, name=name)
    picture.multi_line("xs", "ys", source=source, line_width=2.5, line_color="color")
    picture.patches("head_xs", "head_ys", source=source, fill_color="color", line_color="color")
    nodes = np.concatenate([_nodes(place, len(names), count, across) for place in range(count)])
    boxes = np.tile(_boxes(names), (count, 1))
    drawn = {"x": nodes[:, 0].tolist(), "y": nodes[:, 1].tolist(), "name": list(names) * count}
    drawn |= {"width": boxes[:, 0].tolist(), "height": boxes[:, 1].tolist()}
    places = ColumnDataSource(data=drawn)
    look = {"fill_color": "#ffffff", "line_color": RULE, "line_width": 1.5, "border_radius": 6}
    picture.rect("x", "y", width="width", height="height", source=places, **look)
    text = {"text_align": "center", "text_color": INK}
    picture.text(
        "x", "y", text="name", source=places, text_baseline="middle", text_font_size="11px", **text
    )
    corners = [_corner(place, count, across) for place in range(count)]
    picture.text(
        x=[x + CELL[0] / 2 for x, _ in corners],
        y=[y + 8 for _, y in corners],
        text=list(labels),
        text_font_size=SMALL_FONT_SIZE,
        **text,
    )
    return picture


def move_gains_data(gains: ArrayLike, names: Sequence[str], /) -> Columns:
    """Columns of the source of `move_gains`: one row an ordered pair of variables.

    Parameters
    ----------
    gains : (n, n) nats; [u, v] of the move that brings the edge u -> v, or takes it away where it
        is there; nan where there is no such move
    names : the n variable names

    Returns
    -------
    dict
        Columns `parent`, `child`, `gain` (0 where there is no move), `shade` (the sign times
        ln(1 + |gain|), nan for no move), `label`, `ink` and `edge` (the colour of the frame: of the
        move that gains most, if it gains).

    Examples
    --------
    >>> move_gains_data([[np.nan, 12.3], [12.3, np.nan]], ["a", "b"])["label"]
    ['+12', '+12']
    """
    values = square(gains, names, "gains")
    n = len(names)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    chosen = [float(values[pair]) for pair in pairs]
    shade = np.sign(chosen) * np.log1p(np.abs(chosen))
    best = int(np.nanargmax(chosen)) if np.isfinite(chosen).any() else -1
    gaining = best >= 0 and chosen[best] > 1e-7
    return {
        "parent": [names[u] for u, _ in pairs],
        "child": [names[v] for _, v in pairs],
        "gain": [0.0 if np.isnan(gain) else gain for gain in chosen],
        "shade": shade.tolist(),
        "label": ["" if n > MAX_NUMBERED else _short(gain) for gain in chosen],
        "ink": ["#ffffff" if abs(x) > 0.72 * SHADES else INK for x in shade],
        "edge": [INK if i == best and gaining else "#ffffff" for i in range(len(pairs))],
    }


def move_gains(
    gains: ArrayLike,
    names: Sequence[str],
    /,
    *,
    name: str = "gains",
    title: str = "What the move at each pair gains (nats)",
    alt: str = "Heat map of the gain of every next move; the best one has a frame",
) -> figure:
    """Heat map of the gains of all next moves; the best is framed. Grey: no such move.

    The source `name` holds `move_gains_data`.

    Examples
    --------
    >>> picture = move_gains([[np.nan, 2], [1, np.nan]], ["a", "b"])
    >>> picture.select_one({"name": "gains"}).data["gain"]
    [2.0, 1.0]
    """
    n = len(names)
    room = round(LETTER * max(map(len, names)))
    picture = canvas(
        title=title,
        x_label="child",
        y_label="parent",
        alt=alt,
        width=FRAME + 60 + room,
        height=FRAME + 85 + round(0.8 * room),
        x_range=list(names),
        y_range=list(reversed(names)),
    )
    picture.frame_width = picture.frame_height = FRAME
    source = ColumnDataSource(data=move_gains_data(gains, names), name=name)
    # Purple to the eye is a gain, orange a loss: told apart with any colour vision.
    palette = tuple(reversed(PuOr11))
    mapper = LinearColorMapper(palette=palette, low=-SHADES, high=SHADES, nan_color=IMPOSSIBLE)
    cells = picture.rect(
        "child",
        "parent",
        width=0.94,
        height=0.94,
        source=source,
        fill_color={"field": "shade", "transform": mapper},
        line_color="edge",
        line_width=2.5,
    )
    picture.text(
        "child",
        "parent",
        text="label",
        text_color="ink",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_font_size="13px" if n <= 8 else "9px",
    )
    picture.add_tools(
        HoverTool(
            renderers=[cells],
            tooltips=[("pair", "@parent → @child"), ("gain", "@gain{0.000} nats")],
        )
    )
    picture.grid.grid_line_color = None
    picture.axis.axis_line_color = None
    picture.axis.major_tick_line_color = None
    picture.xaxis.major_label_orientation = 0.9
    return picture


def _checked(
    graphs: ArrayLike, names: Sequence[str], marked: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    matrices = np.asarray(graphs)
    if matrices.ndim != 3 or matrices.shape[1:] != (len(names), len(names)):
        raise ValueError(f"graphs have shape {matrices.shape}, but there are {len(names)} names")
    found = np.array([check_matrix(matrix) for matrix in matrices], bool)
    marks = np.zeros(found.shape, bool) if marked is None else np.asarray(marked, bool)
    if marks.shape != found.shape:
        raise ValueError(f"marks of shape {marks.shape} for graphs of shape {found.shape}")
    return found, marks


def _short(gain: float) -> str:
    if np.isnan(gain):
        return ""
    if abs(gain) < 0.05:
        return "0"
    return f"{gain:+.1f}" if abs(gain) < 9.95 else f"{gain:+.0f}"


def _boxes(names: Sequence[str]) -> Floats:
    """Sizes (n, 2) of the boxes of the names, pixels."""
    letter, around, height = BOX
    return np.array([(max(height, letter * len(name) + around), height) for name in names])


def _leaves(half: Floats, ahead: Floats) -> float:
    """How far from the middle of a box of these half sizes a ray leaves it, pixels."""
    return float(min(half / np.maximum(np.abs(ahead), 1e-9)))


def _corner(place: int, count: int, across: int) -> tuple[float, float]:
    """Lower left corner of the cell of graph number `place`, pixels."""
    row = -(-count // across) - 1 - place // across
    return (place % across) * CELL[0], row * CELL[1]


def _nodes(place: int, n: int, count: int, across: int) -> Floats:
    """Where the nodes of graph number `place` are, (n, 2), pixels: the first on top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    x, y = _corner(place, count, across)
    centre = np.array([x + CELL[0] / 2, y + CELL[1] / 2 + 12])
    nodes: Floats = centre + RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])
    return nodes
