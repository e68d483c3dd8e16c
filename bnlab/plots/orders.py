"""All orders of three or four variables, as the corners of a hexagon or a truncated octahedron.

Two corners are joined if a swap of neighbours leads from one order to the other. Without crossing
edges, the truncated octahedron is four rings of six: the angle is the order of the first three
variables, and the ring is the place of the last one, which stands last on the innermost ring.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import (
    CYCLE,
    INK,
    PALE,
    RULE,
    Columns,
    data_source,
    diagram,
    entries,
    from_rows,
    hover,
    legend_below,
    vector,
    write,
)

Order = tuple[int, ...]

WIDTH, HEIGHT = 480, 400  # pixels of the frame
RINGS = {3: (150.0,), 4: (61.0, 104.0, 147.0, 190.0)}  # pixels, radii
TWIST = 7.0  # degrees, by which the corners of the middle rings lean to their neighbours
LARGEST = 64.0  # pixels, radius of a disc of area 1
ROOM, LINE = 17.0, 7.0  # pixels: the name of an order stands below a smaller disc
LETTERS = "ABCD"
AROUND = ((0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0), (1, 2, 0), (1, 0, 2))
"""The orders of three variables, each a swap of neighbours from the next."""
TRAIL, REJECTED = CYCLE[5], CYCLE[6]


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
        if n == 3:
            behind = 0
        angle, radius = np.deg2rad(60 * turn + lean), RINGS[n][behind]
        out[order] = WIDTH / 2 + radius * np.cos(angle), HEIGHT / 2 + radius * np.sin(angle)
    return out


@cache
def neighbours(n: int, /) -> list[tuple[Order, Order]]:
    """The pairs of orders of n variables that differ by a swap of neighbours."""
    pairs = combinations(permutations(range(n)), 2)
    return [(a, b) for a, b in pairs if _differ(a, b)]


def _differ(a: Order, b: Order) -> bool:
    apart = [i for i in range(len(a)) if a[i] != b[i]]
    return len(apart) == 2 and apart[1] == apart[0] + 1


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
    chance, share = (
        vector(values, len(every), what)
        for values, what in ((chances, "chances"), (shares, "shares"))
    )
    alt = f"All {len(every)} orders of {n} variables as discs whose areas are probabilities"
    alt += ", joined by swaps of neighbours; a chain's last moves, and rings for its visits"
    picture = diagram(title=title, alt=alt, width=WIDTH, height=HEIGHT)
    picture.height = HEIGHT + 67
    lines = [(*places[a], *places[b]) for a, b in neighbours(n)]
    picture.segment(*(list(ends) for ends in zip(*lines, strict=True)), line_color=RULE)
    columns: Columns = {
        "order": [order_name(order) for order in every],
        "x": [places[order][0] for order in every],
        "y": [places[order][1] for order in every],
        "chance": chance.tolist(),
        "disc": (LARGEST * np.sqrt(chance)).tolist(),
        "share": share.tolist(),
        "ring": (LARGEST * np.sqrt(share)).tolist(),
    }
    reach = np.maximum(columns["disc"], columns["ring"])
    below = np.where(reach < ROOM, reach + LINE, 0)
    columns["label_y"] = (np.array(columns["y"]) - below).tolist()
    source = data_source(columns, name="orders")
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
    legend_below(picture, entries({**drawn, "rejected": dashed}), columns=4)
    tips = ("exact", "@chance{0.0000}"), ("share of the visits", "@share{0.0000}")
    hover(picture, [discs], ("order", "@order"), *tips, outlined=[discs])
    return picture
