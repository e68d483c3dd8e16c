"""The landscape of orders, a view of lab 04: all orders of a few variables, and a chain.

The table is made up so that two modes with a deep valley between them are easy to explain.
"""

from functools import cache
from itertools import permutations
from math import exp
from random import Random

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import bdeu_table, choice, size_slider, stops
from bnlab.labs.view import Board, View
from bnlab.plots.lattice import Order, order_name
from bnlab.sampling.order_target import OrderWalker

SEED = 126
MOST = 2  # parents of a variable
ROW_STOPS = (50, 100, 200, 400, 800)
BETA_STOPS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1)
STEP_STOPS = (*range(1, 41), 50, 100, 200, 500, 1000, 2000)
KINDS = ("any two", "neighbours")  # the first is lab 04's
SEEN = 12  # moves of the trail
WIDTHS = (150, 200, 280, 380)  # pixels, of the controls above Step and Play
ENDS = (0.1, 0.2, 0.3, 0.5, 1.0)  # of the axis of shares


@cache
def copies(rows: int) -> bn.Data:
    """Return the tosses of A, B, C, D, two coins each, 0 to 3.

    A and B toss theirs; coin by coin, C copies A's or B's at random, and D copies A's or reverses
    B's. As C and D are independent too, C and D tossing, with A and B copying from them, explains
    the rows as well.
    """
    rng, tosses = np.random.default_rng(SEED), np.zeros((ROW_STOPS[-1], 4), np.int64)
    for _ in range(2):
        a, b = rng.integers(0, 2, (2, len(tosses)))
        first, second = rng.random((2, len(tosses))) < 0.5
        tosses = 2 * tosses + np.stack([a, b, np.where(first, a, b), np.where(second, a, 1 - b)], 1)
    return bn.Data.from_arrays(tosses, arities=[4] * 4, names=[*"ABCD"]).prefix(rows)


@cache
def log_targets(data: bn.Data) -> dict[Order, float]:
    """Return ln p̃ of each order in lexicographic order: BDeu, ess 1, two parents at most."""
    table = bdeu_table(data, most=MOST)
    orders = list(permutations(range(data.n)))
    found = OrderWalker.of(table).log_weights(np.array(orders))
    return dict(zip(orders, found.tolist(), strict=True))


def chances(log_target: dict[Order, float], beta: float, /) -> Floats:
    """Return the probability of each order, in proportion to exp(beta * log target)."""
    powers = beta * np.array(list(log_target.values()))
    return np.asarray(np.exp(powers - np.logaddexp.reduce(powers)))


@cache
def walk(data: bn.Data, kind: str, beta: float) -> tuple[list[Order], list[Order]]:
    """Return where a chain of lab 04 stands, at first at random, and what its moves propose."""
    log_target, rng = log_targets(data), Random(SEED)
    here, proposals = [tuple(rng.sample(range(data.n), data.n))], []
    for _ in range(STEP_STOPS[-1]):
        if kind == "neighbours":
            i = rng.randrange(data.n - 1)
            j = i + 1
        else:
            i, j = rng.sample(range(data.n), 2)
        order = list(here[-1])
        order[i], order[j] = order[j], order[i]
        proposals.append(tuple(order))
        gain = log_target[proposals[-1]] - log_target[here[-1]]
        accepted = rng.random() < exp(min(0, beta * gain))
        here.append(proposals[-1] if accepted else here[-1])
    return here, proposals


class Landscape(View):
    """All orders of three or four variables, their probabilities, and a chain that visits them.

    Parameters
    ----------
    data : a table of your own, whose first variables are taken
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._data = copies(ROW_STOPS[-1]) if data is None else data
        controls = {
            "variables": choice("variables", ["4", "3"][-max(self._data.n - 2, 1) :]),
            "kind": choice("swap", KINDS),
            "rows": size_slider("rows", stops(ROW_STOPS, self._data.m), self._data.m),
            "beta": size_slider("inverse temperature β", BETA_STOPS, 1),
        }
        for control, width in zip(controls.values(), WIDTHS, strict=True):
            control.layout.width = f"{width}px"
        super().__init__(**controls, step=size_slider("move number", STEP_STOPS, 1))

    def draw(self, variables: str, kind: str, rows: int, beta: float, step: int) -> Board:
        """The orders with the chain among them, and its visits beside the exact probabilities."""
        names = self._data.names[: int(variables)]
        data = _part(self._data, names, rows)
        letters = order_name(range(len(names)))
        log_target = log_targets(data)
        here, proposals = walk(data, kind, beta)
        exact, every = chances(log_target, beta), list(log_target)
        visits, trail = here[1 : step + 1], here[max(0, step - SEEN) : step + 1]
        shares = np.array([visits.count(order) for order in every]) / step
        before, proposed = here[step - 1], proposals[step - 1]
        gain, accepted = log_target[proposed] - log_target[before], here[step] == proposed
        rejected = None if accepted else proposed
        title = f"All orders of {', '.join(letters)} at β = {beta}: areas are probabilities"
        picture = plots.order_landscape(len(names), exact, shares, trail, rejected, title=title)
        labels = [order_name(order) for order in every]
        end = next(end for end in ENDS if end >= max(*shares, *exact))
        title = "Share of the visits (bar), exact (diamond)"
        alt = "Bars of the share of visits to each order, diamonds at its exact probability"
        bars = plots.share_bars(shares, exact, labels, largest=end, row=15, title=title, alt=alt)
        key = "".join(f" {letter}: {name}." for letter, name in zip(letters, names, strict=True))
        met = shares > 0
        return {
            "orders": (
                picture,
                f"{rows:,} rows. Move {step:,}, {order_name(before)} to "
                f"{order_name(proposed)}: ln p̃ changes by {gain:+.2f} nats; at this β it is "
                f"accepted with probability {exp(min(0, beta * gain)):.2g}: "
                f"{'accepted' if accepted else 'rejected'}." + key * (letters != "".join(names)),
            ),
            "shares": (
                bars,
                f"{met.sum()} of {len(every)} orders visited; their probability at this β is "
                f"{exact[met].sum():.3f}. A rejected move counts the order where it stays again.",
            ),
        }


@cache
def _part(data: bn.Data, names: tuple[str, ...], rows: int) -> bn.Data:
    return data.prefix(rows).select(names)
