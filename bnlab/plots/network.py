"""Edge probabilities as a network: each arrow is as wide as its edge is probable."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.plots.canvas import diagram, hover, write
from bnlab.plots.drawing import Columns, Size, data_source, from_rows, square
from bnlab.plots.gallery import PLAIN
from bnlab.plots.looks import BOX, WIDTH

WIDEST = 8.0  # pixels, of an edge with probability 1
WIDEST_PAIR = 5.0  # pixels, of a pair that is joined with probability 1, in pictures of many pairs
LONGEST_LINE = 15  # characters
LINE_HEIGHT = 16.0  # pixels
ROW_HEIGHT = 52  # pixels, at least
LETTER = 7.2  # pixels, mean width of a character at the label's size
BOW = 0.09  # how far a link bends to its left, as a share of its length
PAIR_BOWS = [sign * step * BOW for step in range(5) for sign in (1, -1)]  # to choose from
BENT = np.array([[(1 - t) ** 2, 2 * t * (1 - t), t**2] for t in np.linspace(0, 1, 101)])
"""How much start, bend and end of a link weigh along it."""
HEAD = 7.0  # pixels, least length of an arrow head
CROWDED = np.array([0.33, 0.07])  # boxes and links nearer than this, across and up, crowd a box
WIDEST_ROW = 3  # boxes
GAP = 6.0  # pixels, between neighbours in a row
LANES = np.linspace(0, 1, 9)  # places across the drawing that a node may take
SWEEPS = 4


def network_positions(edges: ArrayLike, /) -> Floats:
    """Place each variable for a drawing, (n, 2) in [0, 1], causes above their effects.

    Compute it once, from the posterior of all the data, and keep it while a slider moves: nodes
    then stay where they are and only the arrows change. The likeliest edges are taken one by one
    unless they close a cycle; the layers of that DAG, cut to at most three nodes, are the rows of
    the drawing. Within its row each node in turn moves to where it crowds least: away
    from its neighbours in the row and from the links that pass it by.

    Parameters
    ----------
    edges : (n, n) floats; entry [u, v] is the probability of the edge u -> v
    """
    values = np.asarray(edges, np.float64)
    n = len(values)
    layer, width = graphs.layers(_consensus(values)), 2 if n < 6 else WIDEST_ROW
    rows: list[Ints] = []
    for depth in range(layer.max() + 1):
        nodes = np.flatnonzero(layer == depth)
        rows += np.array_split(nodes, -(-len(nodes) // width))
    out = np.empty((n, 2))
    for depth, row in enumerate(rows):
        out[row, 0] = (np.arange(len(row)) + 0.5) / len(row)
        out[row, 1] = 1 - depth / max(1, len(rows) - 1)
    ties = np.triu(values + values.T, 1)
    starts, ends = np.nonzero(ties >= 0.1)
    strength = ties[starts, ends]
    for _ in range(SWEEPS):
        for v in range(n):
            costs = []
            for out[v, 0] in LANES:
                costs.append(_clutter(out, starts, ends, strength))
            out[v, 0] = LANES[int(np.argmin(costs))]
    return out


def link_data(
    edges: ArrayLike,
    names: Sequence[str],
    positions: ArrayLike,
    /,
    *,
    threshold: float,
    joined: bool = False,
    sure: float = 0.0,
    size: Size | None = None,
) -> Columns:
    """The columns of `network`, weak links first: a bent one for each edge, or one for each pair.

    Pairs are `joined`, straight if possible, by an edge either way; parent and child are those of
    the likelier one. An arrow head is empty unless its edge has a probability of at least `sure`.
    """
    values = square(edges, names, "edges")
    shown, widest, bows = values, WIDEST, [BOW]
    if joined:
        shown, widest, bows = np.minimum(1.0, values + values.T), WIDEST_PAIR, PAIR_BOWS
    pairs = [(u, v) for u, v in np.argwhere(shown >= threshold).tolist() if u != v]
    if joined:
        pairs = [(u, v) if values[u, v] >= values[v, u] else (v, u) for u, v in pairs if u < v]
    centres, boxes = _pixels(positions, names, size)
    rows = []
    for u, v in sorted(pairs, key=lambda pair: shown[pair]):
        p = float(shown[u, v])
        length = (HEAD + 1.4 * p * widest) * (values[u, v] >= sure)
        each = [_link(centres[[u, v]], boxes[[u, v]], length, bow) for bow in bows]
        if joined:
            others = np.delete(np.arange(len(names)), [u, v])
            each.sort(key=lambda link: _crossed(link[0], centres[others], boxes[others]))
        line, tip = each[0]
        row = [names[u], names[v], p, widest * p, 0.25 + 0.75 * p]
        rows.append([*row, *line.T.round(1).tolist(), *tip.T.round(1).tolist()])
    return from_rows("parent child probability width alpha xs ys head_xs head_ys", rows)


def node_data(names: Sequence[str], positions: ArrayLike, /, size: Size | None = None) -> Columns:
    """Columns of the source `nodes` of `network`: name, label, and the box in pixels."""
    centres, boxes = _pixels(positions, names, size)
    (x, y), (width, height) = centres.T.tolist(), (2 * boxes).T.tolist()
    said = {"name": list(names), "label": [_label(name) for name in names]}
    return {**said, "x": x, "y": y, "width": width, "height": height}


def network_height(positions: ArrayLike, width: int = WIDTH, /) -> int:
    """Height of a drawing of this width, pixels: square, or taller where many rows need it."""
    places = np.asarray(positions, np.float64)
    return max(width, ROW_HEIGHT * len(np.unique(places[:, 1])))


def network(
    edges: ArrayLike,
    names: Sequence[str],
    positions: ArrayLike,
    /,
    *,
    threshold: float = 0.1,
    width: int = WIDTH,
    height: int = 0,
    name: str = "links",
    title: str = "Network: the wider, the more probable",
    alt: str = "Network of the variables; the wider an arrow, the more probable its edge",
) -> figure:
    """Draw a network, with an arrow for each edge at least `threshold`.

    The source `name` has the columns `parent`, `child`, `probability`, `width` (pixels), `alpha`,
    the bent line `xs`, `ys` and the arrow head `head_xs`, `head_ys` (pixels). Weak edges come
    first, so that strong ones are drawn over them. The source `nodes` is as of `node_data`.

    Parameters
    ----------
    edges, names : (n, n) probabilities of u -> v, and the n variable names
    positions : (n, 2) in [0, 1], from `network_positions`
    threshold : edges less probable than this are left out
    width, height : of the drawing, pixels; a height of `network_height` if 0
    """
    size = width, height or network_height(positions, width)
    columns = link_data(edges, names, positions, threshold=threshold, size=size)
    picture = diagram(title=title, alt=alt, width=size[0], height=size[1])
    source = data_source(columns, name=name)
    look: dict[str, Any] = {"line_width": "width", "line_alpha": "alpha", "line_cap": "butt"}
    lines = picture.multi_line("xs", "ys", source=source, line_color=PLAIN, **look)
    look = {"fill_color": PLAIN, "fill_alpha": "alpha", "line_color": None}
    heads = picture.patches("head_xs", "head_ys", source=source, **look)
    nodes = data_source(node_data(names, positions, size), name="nodes")
    look = {"source": nodes, "border_radius": 8}
    boxes = picture.rect("x", "y", width="width", height="height", **BOX, **look)
    write(picture, "x", "y", "label", source=nodes, size=13)
    hover(picture, [boxes], ("", "@name"), outlined=[boxes])
    told = ("edge", "@parent → @child"), ("probability", "@probability{0.000}")
    hover(picture, [lines], *told, outlined=[lines, heads], line_policy="interp")
    return picture


def _consensus(values: Floats) -> Ints:
    """The DAG that takes edges from the most probable down, skipping those that close a cycle."""
    n = len(values)
    dag = np.zeros(n, np.int64)
    ranked = sorted(np.argwhere(values >= 0.2).tolist(), key=lambda e: -values[e[0], e[1]])
    for u, v in ranked:
        if u != v and not (int(graphs.ancestors(dag)[u]) >> v) & 1:
            dag[v] |= np.int64(1) << np.int64(u)
    return dag


def _clutter(places: Floats, starts: Ints, ends: Ints, strength: Floats) -> float:
    """How much boxes crowd each other and links run over boxes, plus a little for long links."""
    scaled = places / CROWDED
    apart = np.abs(scaled[:, None] - scaled[None])
    touching = np.triu((apart[..., 1] < 1) * np.clip(1 - apart[..., 0], 0, 1), 1).sum()
    along = scaled[ends] - scaled[starts]
    length = np.maximum((along**2).sum(axis=1), 1e-9)
    to_node = scaled[:, None] - scaled[starts]
    share = np.clip((to_node * along).sum(axis=2) / length, 0, 1)
    distance = np.linalg.norm(to_node - share[..., None] * along, axis=2)
    distance[starts, np.arange(len(starts))] = np.inf
    distance[ends, np.arange(len(ends))] = np.inf
    crossed = (np.clip(1 - distance, 0, 1) * strength).sum()
    return float(20 * touching + 4 * crossed + 0.05 * (strength * np.sqrt(length)).sum())


def _pixels(positions: ArrayLike, names: Sequence[str], size: Size | None) -> tuple[Floats, Floats]:
    """Centres (n, 2) and half sizes (n, 2) of the label boxes, in pixels of the frame."""
    places = np.asarray(positions, np.float64)
    lines = [_label(name).split("\n") for name in names]
    widths = [LETTER * max(3, *map(len, row)) + 14 for row in lines]
    boxes = np.column_stack([widths, [LINE_HEIGHT * len(row) + 10 for row in lines]])
    margin = boxes.max(axis=0) / 2 + (4, 10)
    size = size or (WIDTH, network_height(places))
    centres = margin + places * (size - 2 * margin)
    for level in np.unique(places[:, 1]):
        row = np.flatnonzero(places[:, 1] == level)
        row = row[np.argsort(centres[row, 0], kind="stable")]
        centres[row, 0] = _apart(centres[row, 0], boxes[row, 0] / 2, size[0])
    return centres, boxes / 2


def _apart(centres: Floats, halves: Floats, width: int) -> Floats:
    """Centres from left to right, moved as little as keeps boxes apart and on the drawing."""
    gaps = halves[1:] + halves[:-1] + GAP
    out = centres.copy()
    for i in range(1, len(out)):
        out[i] = max(out[i], out[i - 1] + gaps[i - 1])
    out[-1] = min(out[-1], width - halves[-1] - 2)
    for i in reversed(range(len(out) - 1)):
        out[i] = min(out[i], out[i + 1] - gaps[i])
    return out


def _crossed(line: Floats, centres: Floats, boxes: Floats) -> int:
    """How many boxes a line runs over; leaving the drawing counts as one more."""
    inside = np.all(np.abs(line[:, None] - centres) <= boxes + 2, axis=2)
    return int(inside.any(axis=0).sum() + np.any((line[:, 0] < 4) | (line[:, 0] > WIDTH - 4)))


def _link(centres: Floats, boxes: Floats, length: float, bow: float) -> tuple[Floats, Floats]:
    """The line (16, 2) from box to box, and a head (3, 2) of this length, (0, 2) if that is 0."""
    start, end = centres
    along = end - start
    bend = (start + end) / 2 + bow * np.array([-along[1], along[0]])
    curve = BENT @ [start, bend, end]
    curve = curve[np.any(np.abs(curve[:, None] - centres) > boxes + 2, axis=2).all(axis=1)]
    if len(curve) < 3:
        curve = np.stack([start, bend, end])
    tip, head = curve[-1], np.empty((0, 2))
    if length:
        shaft = curve[np.hypot(*(curve - tip).T) >= length * 0.8]
        base = shaft[-1] if len(shaft) else curve[0]
        ahead = (tip - base) / max(math.dist(tip, base), 1e-9)
        side = 0.5 * length * np.array([-ahead[1], ahead[0]])
        head = np.array([tip, tip - length * ahead + side, tip - length * ahead - side])
        curve = np.vstack([shaft if len(shaft) else curve[:1], base])
    return curve[np.arange(16) * (len(curve) - 1) // 15], head


def _label(name: str) -> str:
    """The name on one line, or broken after the separator nearest its middle, cut if need be."""
    breaks = [i + 1 for i, letter in enumerate(name) if letter in "-_ ." and 0 < i < len(name) - 1]
    if len(name) <= LONGEST_LINE or not breaks:
        return _cut(name)
    middle = min(breaks, key=lambda i: abs(2 * i - len(name)))
    return _cut(name[:middle]) + "\n" + _cut(name[middle:])


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
