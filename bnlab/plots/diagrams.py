"""Diagrams of boxes and links: the lattice of subsets; DAGs or networks side by side.

In the lattice a box is a set S of variables with two cells, g(S) and b(S). A link from S up to
S + v carries alpha_v(S). A path from the empty set to the full one is an order of the variables.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Floats
from bnlab.graphs import check_matrix, to_edges
from bnlab.plots.canvas import CYCLE, RULE, Columns, diagram, from_rows, hover, write

Link = tuple[int, int]
"""(v, S): the link from S to S + v."""

LARGEST = 4
"""More variables than this have more sets than a page has room for."""

WIDTH, HEIGHT = 740, 440  # pixels of the frame
BOX = (108, 48)  # pixels: name above, two cells below
CELL = (54, 25)  # pixels
SET_BOX = (100, 28)  # pixels, of a set without cells
LETTER, LABEL_HEIGHT = 7.4, 18  # pixels of the numbers on links
EDGE_OF_PAGE = 4  # pixels
ALPHA, FORWARD, BACKWARD, NOW = CYCLE[3], CYCLE[0], CYCLE[1], CYCLE[5]
FORWARD_FILL, BACKWARD_FILL, EMPTY = "#d3e8f5", "#fbe8bd", "#f3f3f3"
WIDEST = 14.0  # pixels, of a link that every order takes

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


def set_name(mask: int, names: Sequence[str], /) -> str:
    """The set with this bit mask, written out."""
    inside = [name for v, name in enumerate(names) if mask >> v & 1]
    return "{" + ",".join(inside) + "}" if inside else "∅"


def short(value: float, /) -> str:
    """A number of three digits in as few letters as it takes; a dot for nan."""
    if math.isnan(value):
        return "·"
    if abs(value) < 1e4 and (value == round(value) or abs(value) >= 100):
        return str(round(value))
    return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def lattice(
    names: Sequence[str],
    weights: ArrayLike | None = None,
    forward: ArrayLike | None = None,
    backward: ArrayLike | None = None,
    /,
    *,
    now: int | None = None,
    used: Collection[int] = (),
    links: Collection[Link] = (),
    shares: ArrayLike | None = None,
) -> figure:
    """Draw the lattice of n <= 4 variables, filled in as far as there are values.

    The source `cells` has a row for each set, by bit mask: `set`, `x`, `y` (pixels), `g`, `b`
    (text), their fills and places, and the outline. The source `links` has a row for each link
    (v, S), v outside S: `link`, `alpha`, `share` (text), its ends, colour, width and label.

    Parameters
    ----------
    names : the n variable names; bit v of a mask stands for names[v]
    weights : (n, 2**n) values of alpha_v(S); nan where there is none yet, as everywhere if None
    forward, backward : (2**n,) values of g and b, likewise
    now : the set that is being worked on, or None
    used : the sets whose values go into it
    links : the links that are being worked on; they are drawn bold, with their numbers
    shares : (n, 2**n) probabilities that an order takes the link, drawn as its width; None for none
    """
    title = "The lattice of subsets"
    alt = (
        "Lattice of subsets: the empty set below, the full set above, and in each box the "
        "values of g and b; links carry alpha"
    )
    places = _places(len(names))
    alpha = _values(weights, (len(names), len(places)), names)
    g, b = (_values(values, (len(places),), names) for values in (forward, backward))
    share = None if shares is None else _values(shares, alpha.shape, names)
    picture = diagram(title=title, alt=alt, width=WIDTH, height=HEIGHT)
    drawn = _links(names, places, alpha, links, share)
    _draw_links(picture, ColumnDataSource(data=drawn, name="links"))
    boxes = _cells(names, places, g, b, now, used)
    _draw_boxes(picture, ColumnDataSource(data=boxes, name="cells"))
    _draw_key(picture)
    return picture


def walk_down(
    names: Sequence[str],
    chances: ArrayLike,
    walked: Sequence[int],
    /,
    *,
    counts: Sequence[int] | None = None,
    title: str,
) -> figure:
    """Draw the lattice of n <= 4 variables and a walk on it, from the full set down.

    The source `sets` has a row for each set, by bit mask: `set`, `x`, `y` (pixels), `fill`,
    `outline` and `outline_width`. The source `down` has a row for each link: `link`, `chance`, its
    ends, `color`,
    `width`, and the `label` of those that lead on from where the walk stands.

    Parameters
    ----------
    names : the n variable names, short; bit v of a mask stands for names[v]
    chances : (n, 2**n) probabilities that v is the last of the set S + v
    walked : the sets visited so far, the full one first
    counts : (2**n,) a number to stand in each box, 0 for a set that no walk visits; none by default
    """
    alt = "Lattice of subsets, the full set on top: the walk so far, and where it can go next"
    places, n = _places(len(names)), len(names)
    values = _values(chances, (n, len(places)), names)
    picture = diagram(title=title, alt=alt, width=WIDTH, height=HEIGHT)
    rows: list[list[object]] = []
    for v, s in ((v, s) for s in range(len(places)) for v in range(n) if not s >> v & 1):
        above, chance = s | 1 << v, float(values[v, s])
        here = above == walked[-1] and not math.isnan(chance)
        taken = s in walked and above in walked
        start, end = places[above] - (0, SET_BOX[1] / 2), places[s] + (0, SET_BOX[1] / 2)
        at = start + 0.6 * (end - start)
        label = f"{names[v]} {chance:.4f}" if here else ""
        colour, width = (NOW, 4.0) if taken else (ALPHA, 1 + 12 * chance) if here else (RULE, 0.5)
        link = f"{set_name(above, names)} to {set_name(s, names)}: {names[v]} last"
        rows.append([link, chance, *start, *end, colour, width, label, *at, LETTER * len(label)])
    columns = from_rows("link chance x0 y0 x1 y1 color width label x y label_width", rows)
    source = ColumnDataSource(data=columns, name="down")
    look: dict[str, Any] = {"line_color": "color", "line_width": "width"}
    lines = picture.segment("x0", "y0", "x1", "y1", source=source, **look)
    look = {"width": "label_width", "height": LABEL_HEIGHT, "fill_color": "#ffffff"}
    picture.rect("x", "y", source=source, line_color=None, **look)
    write(picture, "x", "y", "label", source=source, bold=True)
    outline = [3.0 if s == walked[-1] else 2.0 if s in walked else 1.0 for s in range(len(places))]
    sets: Columns = {
        "set": [
            set_name(s, names) + (f": {counts[s]}" if counts is not None and counts[s] else "")
            for s in range(len(places))
        ],
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "fill": [EMPTY if counts is not None and not counts[s] else "#ffffff" for s in range(2**n)],
        "outline": [NOW if w > 1 else RULE for w in outline],
        "outline_width": list(outline),
    }
    boxes = ColumnDataSource(data=sets, name="sets")
    look = {"fill_color": "fill", "line_color": "outline", "line_width": "outline_width"}
    picture.rect("x", "y", width=SET_BOX[0], height=SET_BOX[1], source=boxes, **look)
    write(picture, "x", "y", "set", source=boxes, bold=True)
    hover(picture, [lines], ("link", "@link"), ("probability", "@chance{0.0000}"))
    return picture


def _cells(
    names: Sequence[str],
    places: Floats,
    g: Floats,
    b: Floats,
    now: int | None,
    used: Collection[int],
) -> Columns:
    """The columns of the boxes, one row a set."""
    width = [3.0 if s == now else 2.0 if s in used else 1.0 for s in range(len(places))]
    return {
        "set": [set_name(s, names) for s in range(len(places))],
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "name_y": (places[:, 1] + CELL[1] / 2).tolist(),
        "cell_y": (places[:, 1] - (BOX[1] - CELL[1]) / 2).tolist(),
        "g_x": (places[:, 0] - CELL[0] / 2).tolist(),
        "b_x": (places[:, 0] + CELL[0] / 2).tolist(),
        "g": [short(value) for value in g],
        "b": [short(value) for value in b],
        "g_fill": [EMPTY if math.isnan(value) else FORWARD_FILL for value in g],
        "b_fill": [EMPTY if math.isnan(value) else BACKWARD_FILL for value in b],
        "outline": [NOW if w > 1 else RULE for w in width],
        "outline_width": list(width),
    }


def _links(
    names: Sequence[str],
    places: Floats,
    alpha: Floats,
    now: Collection[Link],
    share: Floats | None,
) -> Columns:
    """The columns of the links, one row a link; what is drawn bold comes last, over the rest."""
    n = len(names)
    links = [(v, s) for s in range(len(places)) for v in range(n) if not s >> v & 1]
    links.sort(key=lambda link: link in now)
    starts = np.array([places[s] + (0, BOX[1] / 2) for _, s in links])
    ends = np.array([places[s | 1 << v] - (0, BOX[1] / 2) for v, s in links])
    middles = starts + _label_place(now) * (ends - starts)
    known = [not math.isnan(alpha[link]) for link in links]
    bold = [link in now and yes for link, yes in zip(links, known, strict=True)]
    labels = [
        f"{names[v]}: {short(alpha[v, s])}" if strong else ""
        for (v, s), strong in zip(links, bold, strict=True)
    ]
    return {
        "link": [f"{set_name(s, names)} → {set_name(s | 1 << v, names)}" for v, s in links],
        "alpha": [f"α_{names[v]} = {short(alpha[v, s])}" for v, s in links],
        "share": ["" if share is None else f"{share[link]:.3f}" for link in links],
        "x0": starts[:, 0].tolist(),
        "y0": starts[:, 1].tolist(),
        "x1": ends[:, 0].tolist(),
        "y1": ends[:, 1].tolist(),
        "color": [
            NOW if strong else ALPHA if yes else "#d9d9d9"
            for strong, yes in zip(bold, known, strict=True)
        ],
        "width": [
            max(0.5, WIDEST * share[link]) if share is not None else 4.0 if strong else 1.5
            for link, strong in zip(links, bold, strict=True)
        ],
        "label": list(labels),
        "label_width": [LETTER * len(label) + 6 for label in labels],
        "label_x": middles[:, 0].tolist(),
        "label_y": middles[:, 1].tolist(),
        "label_alpha": [float(strong) for strong in bold],
    }


def _draw_links(picture: figure, source: ColumnDataSource) -> None:
    look = {"source": source, "line_color": "color", "line_width": "width"}
    lines = picture.segment("x0", "y0", "x1", "y1", **look)
    look = {"width": "label_width", "height": LABEL_HEIGHT, "fill_alpha": "label_alpha"}
    look |= {"source": source, "fill_color": "#ffffff", "line_color": None}
    picture.rect("label_x", "label_y", **look)
    write(picture, "label_x", "label_y", "label", source=source, bold=True)
    hover(picture, [lines], ("link", "@link"), ("weight", "@alpha"), ("share of orders", "@share"))


def _draw_boxes(picture: figure, source: ColumnDataSource) -> None:
    box: dict[str, Any] = {"x": "x", "y": "y", "width": BOX[0], "height": BOX[1], "source": source}
    picture.rect(**box, fill_color="#ffffff", line_color=None)
    for cell in ("g", "b"):
        look = {"width": CELL[0], "height": CELL[1], "fill_color": f"{cell}_fill"}
        picture.rect(f"{cell}_x", "cell_y", source=source, line_color="#ffffff", **look)
        write(picture, f"{cell}_x", "cell_y", cell, source=source)
    write(picture, "x", "name_y", "set", source=source, bold=True)
    look = {"fill_color": None, "line_color": "outline", "line_width": "outline_width"}
    picture.rect(**box, **look, border_radius=3)


def _draw_key(picture: figure) -> None:
    """Say what the colours mean, in the free corner below the singletons."""
    entries = [
        (BACKWARD_FILL, CELL[1] / 2, "b: set to top"),
        (FORWARD_FILL, CELL[1] / 2, "g: bottom to set"),
        (ALPHA, CELL[1] / 6, "α: adds a variable"),
    ]
    for y, (color, height, text) in zip((12, 32, 52), entries, strict=True):
        picture.rect(x=14, y=y, width=20, height=height, fill_color=color, line_color=RULE)
        write(picture, 30, y, [text], align="left")


def _label_place(now: Collection[Link]) -> float:
    """How far up the links their numbers stand: away from the set where all of them meet."""
    if len(now) > 1 and len({s for _, s in now}) == 1:
        return 0.64
    return 0.36 if len(now) > 1 and len({s | 1 << v for v, s in now}) == 1 else 0.5


def _places(n: int) -> Floats:
    """Centres of the boxes (2**n, 2), in pixels of the frame: a row for each size of set."""
    if not 1 <= n <= LARGEST:
        raise ValueError(f"{n} variables: the lattice is drawn for 1 to {LARGEST} of them")
    sizes = np.bitwise_count(np.arange(1 << n))
    out = np.empty((1 << n, 2))
    for size in range(n + 1):
        row = np.flatnonzero(sizes == size)
        gap = min((WIDTH - 2 * EDGE_OF_PAGE - BOX[0]) / max(1, len(row) - 1), 2.0 * BOX[0])
        out[row, 0] = WIDTH / 2 + gap * (np.arange(len(row)) - (len(row) - 1) / 2)
        out[row, 1] = BOX[1] / 2 + EDGE_OF_PAGE + size * (HEIGHT - BOX[1] - 2 * EDGE_OF_PAGE) / n
    return out


def _values(values: ArrayLike | None, shape: tuple[int, ...], names: Sequence[str]) -> Floats:
    """The values as floats of this shape, all nan for None."""
    out = np.full(shape, math.nan) if values is None else np.asarray(values, np.float64)
    if out.shape != shape:
        raise ValueError(
            f"values of shape {out.shape} for {len(names)} variables: the lattice needs {shape}"
        )
    return out


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
    source = ColumnDataSource(data=shapes, name="shapes")
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
    matrices, marks = _checked(graphs, names, marked)
    count = len(labels)
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
    source = ColumnDataSource(data={**drawn, "width": wide, "height": high})
    look = {"fill_color": "#ffffff", "line_color": RULE, "line_width": 1.5, "border_radius": 6}
    picture.rect("x", "y", width="width", height="height", source=source, **look)
    write(picture, "x", "y", "name", source=source, size=11)
    x, y = [x + NETWORK_CELL[0] / 2 for x, _ in corners], [y + 8 for _, y in corners]
    write(picture, x, y, list(labels), baseline="bottom")
    return picture


def _checked(
    graphs: ArrayLike, names: Sequence[str], marked: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The graphs and their marks, or a ValueError that says which has another shape."""
    matrices = np.asarray(graphs)
    if matrices.ndim != 3 or matrices.shape[1:] != (len(names), len(names)):
        raise ValueError(f"graphs have shape {matrices.shape}, but there are {len(names)} names")
    found = np.array([check_matrix(matrix) for matrix in matrices], bool)
    marks = np.zeros(found.shape, bool) if marked is None else np.asarray(marked, bool)
    if marks.shape != found.shape:
        raise ValueError(f"marks of shape {marks.shape} for graphs of shape {found.shape}")
    return found, marks


def _circle(centre: Floats, n: int, radius: float) -> Floats:
    """Places (n, 2) on a circle, the first on top, clockwise."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    places: Floats = centre + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return places


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
    look: dict[str, Any] = {"source": ColumnDataSource(data=columns, name=name)}
    picture.multi_line("xs", "ys", line_width=2.5, line_color="color", **look)
    picture.patches("head_xs", "head_ys", fill_color="color", line_color="color", **look)
