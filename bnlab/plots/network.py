"""Edge probabilities as a network: each arrow is as wide as its edge is probable."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.plots.canvas import CYCLE, INK, RULE, WIDTH, canvas
from bnlab.plots.edges import Columns, square

Floats = NDArray[np.float64]

WIDEST = 8.0  # pixels, of an edge with probability 1
LONGEST_LABEL = 13  # characters
BOX_HEIGHT = 26.0  # pixels
LETTER = 7.2  # pixels, mean width of a character at the label's size
BOW = 0.09  # how far a link bends to its left, as a share of its length
HEAD = 11.0  # pixels, least length of an arrow head


def network_positions(edges: ArrayLike, /) -> Floats:
    """Where to draw each variable, (n, 2) in [0, 1], causes above their effects.

    Compute it once, from the posterior of all the data, and keep it while a slider moves: nodes
    then stay where they are and only the arrows change. The likeliest edges are taken one by one
    unless they close a cycle; the layers of that DAG, cut to a width of about sqrt(n), are the
    rows of the drawing.

    Parameters
    ----------
    edges
        (n, n) floats; entry [u, v] is the probability of the edge u -> v.

    Examples
    --------
    >>> network_positions([[0, 0.9], [0.1, 0]])[:, 1]
    array([1., 0.])
    """
    values = np.asarray(edges, np.float64)
    n = len(values)
    dag = _consensus(values)
    rows = _rows(graphs.layers(dag), max(2, round(np.sqrt(n))))
    out = np.full((n, 2), 0.5)
    ties = values + values.T
    for depth, row in enumerate(rows):
        if depth:
            row.sort(key=lambda v: _pull(v, [u for r in rows[:depth] for u in r], ties, out))
        for place, v in enumerate(row):
            out[v] = (place + 0.5) / len(row), 1 - depth / max(1, len(rows) - 1)
            if len(row) == 1 and len(rows) > 2:
                out[v, 0] = 0.3 if depth % 2 else 0.7
    return out


def network_data(
    edges: ArrayLike, names: Sequence[str], positions: ArrayLike, /, *, threshold: float = 0.05
) -> Columns:
    """Columns of the source `links` of `network`: one row for each edge at least `threshold`.

    Parameters
    ----------
    edges, names
        (n, n) probabilities of u -> v, and the n variable names.
    positions
        (n, 2) in [0, 1], from `network_positions`.
    threshold
        Edges less probable than this are left out.

    Returns
    -------
    dict
        Columns `parent`, `child`, `probability`, `width` (pixels), `alpha`, the bent line `xs`,
        `ys` and the arrow head `head_xs`, `head_ys` (pixels). Weak edges come first, so that
        strong ones are drawn over them.

    Examples
    --------
    >>> places = network_positions([[0, 0.9], [0.1, 0]])
    >>> network_data([[0, 0.9], [0.1, 0]], ["rain", "wet"], places)["parent"]
    ['wet', 'rain']
    """
    values = square(edges, names, "edges")
    centres, boxes = _pixels(positions, names)
    pairs = [(int(u), int(v)) for u, v in np.argwhere(values >= threshold) if u != v]
    pairs.sort(key=lambda pair: values[pair])
    links = [_link(centres, boxes, u, v, float(values[u, v])) for u, v in pairs]
    chosen = [float(values[pair]) for pair in pairs]
    return {
        "parent": [names[u] for u, _ in pairs],
        "child": [names[v] for _, v in pairs],
        "probability": list(chosen),
        "width": [WIDEST * p for p in chosen],
        "alpha": [0.25 + 0.75 * p for p in chosen],
        "xs": [line[:, 0].tolist() for line, _ in links],
        "ys": [line[:, 1].tolist() for line, _ in links],
        "head_xs": [head[:, 0].tolist() for _, head in links],
        "head_ys": [head[:, 1].tolist() for _, head in links],
    }


def network(
    edges: ArrayLike,
    names: Sequence[str],
    positions: ArrayLike,
    /,
    *,
    threshold: float = 0.05,
    name: str = "links",
    title: str = "Network: the wider, the more probable",
    alt: str = "Network of the variables; the wider an arrow, the more probable its edge",
) -> figure:
    """Drawing of a network; its source of arrows is called `name` and holds `network_data`.

    Examples
    --------
    >>> places = network_positions([[0, 0.9], [0.1, 0]])
    >>> picture = network([[0, 0.9], [0.1, 0]], ["rain", "wet"], places)
    >>> picture.select_one({"name": "links"}).data["probability"]
    [0.1, 0.9]
    """
    picture = canvas(
        title=title,
        x_label="",
        y_label="",
        alt=alt,
        width=WIDTH,
        height=WIDTH,
        x_range=Range1d(0, WIDTH),
        y_range=Range1d(0, WIDTH),
    )
    picture.frame_width = picture.frame_height = WIDTH - 10
    picture.axis.visible = False
    picture.grid.grid_line_color = None
    source = ColumnDataSource(
        data=network_data(edges, names, positions, threshold=threshold), name=name
    )
    lines = picture.multi_line(
        "xs",
        "ys",
        source=source,
        line_width="width",
        line_alpha="alpha",
        line_color=CYCLE[0],
        line_cap="butt",
    )
    picture.patches(
        "head_xs",
        "head_ys",
        source=source,
        fill_color=CYCLE[0],
        fill_alpha="alpha",
        line_color=None,
    )
    _draw_nodes(picture, names, positions)
    picture.add_tools(
        HoverTool(
            renderers=[lines],
            line_policy="interp",
            tooltips=[("edge", "@parent → @child"), ("probability", "@probability{0.000}")],
        )
    )
    return picture


def _draw_nodes(picture: figure, names: Sequence[str], positions: ArrayLike) -> None:
    centres, boxes = _pixels(positions, names)
    nodes = ColumnDataSource(
        data={
            "name": list(names),
            "label": [_short(name) for name in names],
            "x": centres[:, 0].tolist(),
            "y": centres[:, 1].tolist(),
            "width": (2 * boxes[:, 0]).tolist(),
            "height": (2 * boxes[:, 1]).tolist(),
        },
        name="nodes",
    )
    drawn = picture.rect(
        "x",
        "y",
        width="width",
        height="height",
        source=nodes,
        fill_color="#ffffff",
        line_color=RULE,
        line_width=1.5,
        border_radius=8,
    )
    picture.text(
        "x",
        "y",
        text="label",
        source=nodes,
        text_color=INK,
        text_align="center",
        text_baseline="middle",
        text_font_size="13px",
    )
    picture.add_tools(HoverTool(renderers=[drawn], tooltips="@name"))


def _consensus(values: Floats) -> NDArray[np.int64]:
    """The DAG that takes edges from the most probable down, skipping those that close a cycle."""
    n = len(values)
    dag = np.zeros(n, np.int64)
    ranked = sorted(np.argwhere(values >= 0.2).tolist(), key=lambda e: -values[e[0], e[1]])
    for u, v in ranked:
        if u != v and not (int(graphs.ancestors(dag)[u]) >> v) & 1:
            dag[v] |= np.int64(1) << np.int64(u)
    return dag


def _rows(layer: NDArray[np.int64], width: int) -> list[list[int]]:
    """Nodes layer by layer, each layer cut into rows of at most `width`, as even as can be."""
    rows: list[list[int]] = []
    for depth in range(int(layer.max()) + 1):
        row = np.flatnonzero(layer == depth)
        parts = np.array_split(row, -(-len(row) // width))
        rows.extend([int(v) for v in part] for part in parts)
    return rows


def _pull(v: int, placed: Sequence[int], ties: Floats, out: Floats) -> float:
    """The mean x of what v is tied to among the nodes placed so far."""
    weight = ties[v, placed]
    return float(weight @ out[placed, 0] / weight.sum()) if weight.sum() > 0 else 0.5


def _pixels(positions: ArrayLike, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Centres (n, 2) and half sizes (n, 2) of the label boxes, in pixels of the frame."""
    places = np.asarray(positions, np.float64)
    half_width = [0.5 * LETTER * max(3, len(_short(name))) + 7 for name in names]
    boxes = np.column_stack([half_width, np.full(len(names), BOX_HEIGHT / 2)])
    margin = np.array([max(half_width) + 4, BOX_HEIGHT])
    return margin + places * (WIDTH - 2 * margin), boxes


def _link(
    centres: Floats, boxes: Floats, u: int, v: int, probability: float
) -> tuple[Floats, Floats]:
    """The bent line (16, 2) from box u to box v and its arrow head (3, 2)."""
    start, end = centres[u], centres[v]
    along = end - start
    bend = (start + end) / 2 + BOW * np.array([-along[1], along[0]])
    t = np.linspace(0, 1, 101)[:, None]
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end
    outside = [np.any(np.abs(curve - centres[w]) > boxes[w] + 2, axis=1) for w in (u, v)]
    curve = curve[outside[0] & outside[1]]
    if len(curve) < 3:
        curve = np.stack([start, bend, end])
    tip = curve[-1]
    length = HEAD + probability * WIDEST
    shaft = curve[np.linalg.norm(curve - tip, axis=1) >= length * 0.8]
    base = shaft[-1] if len(shaft) else curve[0]
    ahead = (tip - base) / max(float(np.linalg.norm(tip - base)), 1e-9)
    side = 0.5 * length * np.array([-ahead[1], ahead[0]])
    head = np.stack([tip, tip - length * ahead + side, tip - length * ahead - side])
    line = np.vstack([shaft if len(shaft) else curve[:1], base[None]])
    return line[np.linspace(0, len(line) - 1, 16).astype(int)], head


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"
