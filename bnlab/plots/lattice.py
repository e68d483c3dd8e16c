"""The lattice of subsets, as boxes and links.

A box is a set S of variables with two cells, g(S) and b(S). A link from S up to
S + v carries alpha_v(S). A path from the empty set to the full one is an order of the variables.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.plots.canvas import CYCLE, RULE, Columns, data_source, diagram, from_rows, hover, write

Link = tuple[int, int]
"""(v, S): the link from S to S + v."""

LARGEST = 4
"""More variables than this have more sets than a page has room for."""

WIDTH, HEIGHT = 740, 400  # pixels of the frame
BOX = (108, 48)  # pixels: name above, two cells below
CELL = (54, 25)  # pixels
SET_BOX = (100, 28)  # pixels, of a set without cells
LETTER, LABEL_HEIGHT = 7.4, 18  # pixels of the numbers on links
EDGE_OF_PAGE = 4  # pixels
ALPHA, FORWARD, BACKWARD, NOW = CYCLE[3], CYCLE[0], CYCLE[1], CYCLE[5]
FORWARD_FILL, BACKWARD_FILL, EMPTY = "#d3e8f5", "#fbe8bd", "#f3f3f3"
WIDEST = 14.0  # pixels, of a link that every order takes


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
    _draw_links(picture, data_source(drawn, name="links"))
    boxes = _cells(names, places, g, b, now, used)
    _draw_boxes(picture, data_source(boxes, name="cells"))
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
    source = data_source(columns, name="down")
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
    boxes = data_source(sets, name="sets")
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
    names: Sequence[str], places: Floats, alpha: Floats, now: Collection[Link], share: Floats | None
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
