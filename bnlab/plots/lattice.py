"""The lattice of subsets, as boxes and links, and all orders, as the corners of a polygon or solid.

A box is a set S of variables with two cells, g(S) and b(S). A link from S up to
S + v carries alpha_v(S). A path from the empty set to the full one is an order of the variables.

Two corners of the hexagon (three variables) or truncated octahedron (four) are joined if a swap of
neighbours leads from one order to the other. Without crossing edges, the latter is four rings of
six: the angle is the order of the first three variables, and the ring is the place of the last one,
which stands last on the innermost ring.
"""

import math
from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise, permutations
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.plots.canvas import diagram, entries, hover, legend, write
from bnlab.plots.drawing import Columns, data_source, from_rows, vector
from bnlab.plots.looks import CYCLE, INK, PALE, RULE

Link = tuple[int, int]  # (v, S): the link from S to S + v

LARGEST = 4  # variables: more have more sets than a page has room for

WIDTH, HEIGHT = 740, 400  # pixels of the frame
BOX = (108, 48)  # pixels: name above, two cells below
CELL = (54, 25)  # pixels
SET_BOX = (100, 28)  # pixels, of a set without cells
LETTER, LABEL_HEIGHT = 7.4, 18  # pixels of the numbers on links
EDGE_OF_PAGE = 4  # pixels
ALPHA, NOW = CYCLE[3], CYCLE[5]
FORWARD_FILL, BACKWARD_FILL, EMPTY = "#d3e8f5", "#fbe8bd", "#f3f3f3"
WIDEST = 14.0  # pixels, of a link that every order takes

Order = tuple[int, ...]

ACROSS = 480  # pixels of the frame of all orders, as high as that of the lattice
RINGS = {3: (150.0,) * 3, 4: (61.0, 104.0, 147.0, 190.0)}  # pixels, radii
TWIST = 7.0  # degrees, by which the corners of the middle rings lean to their neighbours
DISC = 64.0  # pixels, radius of a disc of area 1
ROOM, LINE = 17.0, 7.0  # pixels: the name of an order stands below a smaller disc
LETTERS = "ABCD"
AROUND = ((0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0), (1, 2, 0), (1, 0, 2))
"""The orders of three variables, each a swap of neighbours from the next."""
TRAIL, REJECTED = CYCLE[5], CYCLE[6]


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
    alt = "Lattice of subsets: the empty set below, the full set above, and in each box the "
    alt += "values of g and b; links carry alpha"
    places = _places(len(names))
    alpha = _values(weights, (len(names), len(places)), names)
    g, b = (_values(values, (len(places),), names) for values in (forward, backward))
    share = None if shares is None else _values(shares, alpha.shape, names)
    picture = diagram(title=title, alt=alt, width=WIDTH, height=HEIGHT)
    _draw_links(picture, names, places, alpha, links, share)
    cells = ("g", FORWARD_FILL, g), ("b", BACKWARD_FILL, b)
    _draw_boxes(picture, names, places, _outline(places, now, used), cells)
    # The free corner below the singletons says what the colours mean.
    key = (
        (12, CELL[1] / 2, BACKWARD_FILL, "b: set to top"),
        (32, CELL[1] / 2, FORWARD_FILL, "g: bottom to set"),
        (52, CELL[1] / 6, ALPHA, "α: adds a variable"),
    )
    for y, height, colour, text in key:
        picture.rect(x=14, y=y, width=20, height=height, fill_color=colour, line_color=RULE)
        write(picture, 30, y, [text], align="left")
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
    ends, `color`, `width`, and the `label` of those that lead on from where the walk stands.

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
    sets = _sets(names, places) | {"fill": ["#ffffff"] * len(places)}
    if counts is not None:
        told = zip(sets["set"], counts, strict=True)
        sets["set"] = [name + f": {count}" * (count > 0) for name, count in told]
        sets["fill"] = ["#ffffff" if count else EMPTY for count in counts]
    boxes = data_source(sets | _outline(places, walked[-1], walked), name="sets")
    look = {"fill_color": "fill", "line_color": "outline", "line_width": "outline_width"}
    picture.rect("x", "y", width=SET_BOX[0], height=SET_BOX[1], source=boxes, **look)
    write(picture, "x", "y", "set", source=boxes, bold=True)
    hover(picture, [lines], ("link", "@link"), ("probability", "@chance{0.0000}"))
    return picture


def _draw_links(
    picture: figure,
    names: Sequence[str],
    places: Floats,
    alpha: Floats,
    now: Collection[Link],
    share: Floats | None,
) -> None:
    """Draw the links; what is drawn bold comes last, over the rest."""
    rows: list[list[object]] = []
    place = 0.5  # how far up numbers stand: away from the set where all links meet
    if len(now) > 1 and len({s for _, s in now}) == 1:
        place = 0.64
    elif len(now) > 1 and len({s | 1 << v for v, s in now}) == 1:
        place = 0.36
    every = [(v, s) for s in range(len(places)) for v in range(len(names)) if not s >> v & 1]
    for v, s in sorted(every, key=lambda link: link in now):
        above, known = s | 1 << v, not math.isnan(alpha[v, s])
        bold = known and (v, s) in now
        start, end = places[s] + (0, BOX[1] / 2), places[above] - (0, BOX[1] / 2)
        at = start + place * (end - start)
        value = short(alpha[v, s])
        label = f"{names[v]}: {value}" if bold else ""
        part, width = "", 4.0 if bold else 1.5
        if share is not None:
            part, width = f"{share[v, s]:.3f}", max(0.5, WIDEST * share[v, s])
        colour = NOW if bold else ALPHA if known else "#d9d9d9"
        link = f"{set_name(s, names)} → {set_name(above, names)}"
        row = [link, f"α_{names[v]} = {value}", part, *start, *end, colour, width]
        rows.append([*row, label, LETTER * len(label) + 6, *at, float(bold)])
    columns = "link alpha share x0 y0 x1 y1 color width "
    columns += "label label_width label_x label_y label_alpha"
    source = data_source(from_rows(columns, rows), name="links")
    look = {"source": source, "line_color": "color", "line_width": "width"}
    lines = picture.segment("x0", "y0", "x1", "y1", **look)
    look = {"width": "label_width", "height": LABEL_HEIGHT, "fill_alpha": "label_alpha"}
    look |= {"source": source, "fill_color": "#ffffff", "line_color": None}
    picture.rect("label_x", "label_y", **look)
    write(picture, "label_x", "label_y", "label", source=source, bold=True)
    hover(picture, [lines], ("link", "@link"), ("weight", "@alpha"), ("share of orders", "@share"))


def _draw_boxes(
    picture: figure,
    names: Sequence[str],
    places: Floats,
    outline: Columns,
    values: Sequence[tuple[str, str, Floats]],
) -> None:
    """Draw a box for each set, with a cell for each of its values: column, colour, numbers."""
    x, y = places.T
    columns = _sets(names, places) | {"name_y": (y + CELL[1] / 2).tolist()}
    columns["cell_y"] = (y - (BOX[1] - CELL[1]) / 2).tolist()
    for (cell, *_), side in zip(values, (-1, 1), strict=True):
        columns[f"{cell}_x"] = (x + side * CELL[0] / 2).tolist()
    columns |= {cell: [short(value) for value in found] for cell, _, found in values}
    for cell, fill, found in values:
        columns[f"{cell}_fill"] = [EMPTY if math.isnan(value) else fill for value in found]
    source = data_source(columns | outline, name="cells")
    box: dict[str, Any] = {"x": "x", "y": "y", "width": BOX[0], "height": BOX[1], "source": source}
    picture.rect(**box, fill_color="#ffffff", line_color=None)
    for cell, *_ in values:
        look = {"width": CELL[0], "height": CELL[1], "fill_color": f"{cell}_fill"}
        picture.rect(f"{cell}_x", "cell_y", source=source, line_color="#ffffff", **look)
        write(picture, f"{cell}_x", "cell_y", cell, source=source)
    write(picture, "x", "name_y", "set", source=source, bold=True)
    look = {"fill_color": None, "line_color": "outline", "line_width": "outline_width"}
    picture.rect(**box, **look, border_radius=3)


def _sets(names: Sequence[str], places: Floats) -> Columns:
    """The names of the sets, and their places."""
    x, y = places.T.tolist()
    return {"set": [set_name(s, names) for s in range(len(places))], "x": x, "y": y}


def _outline(places: Floats, now: int | None, used: Collection[int]) -> Columns:
    """Colour and width of outlines: wider where a set is worked on, or used for that."""
    width = [3.0 if s == now else 2.0 if s in used else 1.0 for s in range(len(places))]
    return {"outline": [NOW if w > 1 else RULE for w in width], "outline_width": list(width)}


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


def order_name(order: Sequence[int], /) -> str:
    """An order in letters: A is variable 0."""
    return "".join(LETTERS[v] for v in order)


@cache
def corners(n: int, /) -> dict[Order, tuple[float, float]]:
    """Where each order of n = 3 or 4 variables stands, in pixels of the frame."""
    if n not in RINGS:
        raise ValueError(f"{n} variables: the orders are drawn of 3 or 4 of them")
    out = {}
    for order in permutations(range(n)):
        rest, behind = tuple(v for v in order if v < 3), n - 1 - order.index(n - 1)
        turn = AROUND.index(rest)
        lean = 0.0 if n == 3 or behind in (0, 3) else TWIST * (-1) ** (turn + behind)
        angle, radius = np.deg2rad(60 * turn + lean), RINGS[n][behind]
        out[order] = ACROSS / 2 + radius * np.cos(angle), HEIGHT / 2 + radius * np.sin(angle)
    return out


@cache
def neighbours(n: int, /) -> list[tuple[Order, Order]]:
    """The pairs of orders of n variables that differ by a swap of neighbours."""
    orders, places = permutations(range(n)), range(n - 1)
    pairs = ((a, (*a[:i], a[i + 1], a[i], *a[i + 2 :])) for a in orders for i in places)
    return sorted((a, b) for a, b in pairs if a < b)


def order_landscape(
    n: int,
    chances: ArrayLike,
    shares: ArrayLike,
    trail: Sequence[Order],
    proposed: Order | None = None,
    /,
    *,
    title: str,
) -> figure:
    """Draw all orders of n variables: a disc for each, a chain's way, and a ring for its visits.

    The source "orders" has a row for each order, in lexicographic order: `order` (letters), `x`,
    `y`, `chance`, `disc` (radius), `share`, `ring` (radius) and `label_y`; areas stand for
    probabilities. The source "trail" has the ends of each move on the way, the earliest first,
    and its `alpha`; "walker" is where the chain stands, and "proposed" has the ends of a proposal
    that was rejected.

    Parameters
    ----------
    n : 3 or 4
    chances : (n!,) probabilities of the orders, in lexicographic order
    shares : (n!,) how much of the visits each has had
    trail : the last orders of the chain, the present one last
    proposed : the order to which the last move would have led, had it been accepted
    """
    places, every = corners(n), list(permutations(range(n)))
    chance, share = vector(chances, len(every), "chances"), vector(shares, len(every), "shares")
    alt = f"All {len(every)} orders of {n} variables as discs whose areas are probabilities"
    alt += ", joined by swaps of neighbours; a chain's last moves, and rings for its visits"
    picture = diagram(title=title, alt=alt, width=ACROSS, height=HEIGHT)
    picture.height = HEIGHT + 67
    lines = [(*places[a], *places[b]) for a, b in neighbours(n)]
    picture.segment(*(list(ends) for ends in zip(*lines, strict=True)), line_color=RULE)
    x, y = np.array([places[order] for order in every]).T
    disc, ring = DISC * np.sqrt(chance), DISC * np.sqrt(share)
    reach = np.maximum(disc, ring)
    below = np.where(reach < ROOM, reach + LINE, 0)
    numbers = np.column_stack([x, y, chance, disc, share, ring, y - below]).tolist()
    rows = [(order_name(order), *row) for order, row in zip(every, numbers, strict=True)]
    source = data_source(from_rows("order x y chance disc share ring label_y", rows), name="orders")
    at: dict[str, Any] = {"x": "x", "y": "y", "source": source}
    look = {"fill_color": PALE, "line_color": CYCLE[0], "line_width": 1}
    discs = picture.circle(**at, radius="disc", **look)
    rings = picture.circle(**at, radius="ring", fill_color=None, line_color=INK, line_width=2)
    moved = [
        (*places[a], *places[b], 0.15 + 0.85 * (i + 1) / (len(trail) - 1))
        for i, (a, b) in enumerate(pairwise(trail))
        if a != b
    ]
    way = data_source(from_rows("x0 y0 x1 y1 alpha", moved), name="trail")
    ends = "x0", "y0", "x1", "y1"
    look = {"line_color": TRAIL, "line_width": 4, "line_alpha": "alpha"}
    trails = picture.segment(*ends, source=way, **look)
    refused = (math.nan,) * 4 if proposed is None else (*places[trail[-1]], *places[proposed])
    tried = data_source(from_rows(" ".join(ends), [refused]), name="proposed")
    look = {"line_color": REJECTED, "line_width": 3, "line_dash": "dashed"}
    dashed = picture.segment(*ends, source=tried, **look)
    write(picture, "x", "label_y", "order", source=source, size=11, bold=True)
    now = data_source(from_rows("x y", [places[trail[-1]]]), name="walker")
    look = {"marker": "square", "size": 32, "fill_color": None, "line_color": TRAIL}
    walker = picture.scatter("x", "y", source=now, line_width=3, **look)
    drawn = {"exact": discs, "share of visits": rings, "chain": [walker, trails]}
    legend(picture, entries({**drawn, "rejected": dashed}), columns=4)
    tips = ("exact", "@chance{0.0000}"), ("share of the visits", "@share{0.0000}")
    hover(picture, [discs], ("order", "@order"), *tips, outlined=[discs])
    return picture
