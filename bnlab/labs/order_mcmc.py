"""The views and the checks of notebooks/04_order_mcmc.ipynb.

Metropolis chains on node orders: two beside each other at any number of rows, and two at one
inverse temperature. One chain, move by move, is in `bnlab.labs.landscape`.
"""

from collections.abc import Callable
from functools import cache, partial
from itertools import permutations, product
from math import log
from typing import Any

import numpy as np
from bokeh.plotting import figure

import bnlab as bn
from bnlab import diagnostics, features, graphs, plots
from bnlab.checks import Floats, Ints
from bnlab.labs import board
from bnlab.labs.board import Told, exercise, setup as setup, size_slider
from bnlab.labs.landscape import Landscape as Landscape
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.papers.page import chain as chain
from bnlab.sampling.order_target import OrderWalker

SEED = 2003
MOST_PARENTS = 2
LONG = 10_000  # draws of each long chain
TEMPERED = 5000  # draws of each chain at one temperature
CHAIN_STOPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, LONG)
ROW_STOPS = (100, 200, 400, 700, 958, 1916)
BETA_STOPS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1)
BUDGET = 100_000  # moves

posterior = partial(board.order_posterior, most=MOST_PARENTS)

Pair = tuple[Floats, Floats]  # the (n, n) edge probabilities of two chains
Target = Callable[[tuple[int, ...]], float]


@cache
def boards(rows: int) -> bn.Data:
    """Return so many final boards of tic-tac-toe, in random order; beyond 958 each comes again."""
    once = bn.load_dataset("tic_tac_toe").shuffled(np.random.default_rng(SEED))
    names = [name.removesuffix("-square") for name in once.names]
    values = np.tile(once.values, (2, 1))
    return bn.Data.from_arrays(values, names=names, levels=once.levels).prefix(rows)


@cache
def usual(data: bn.Data) -> tuple[float, float]:
    """Mean and standard deviation of the log target under the posterior, by independent draws."""
    draws = bn.sample_orders(posterior(data), draws=LONG, rng=np.random.default_rng(SEED))
    return float(draws.log_target.mean()), float(draws.log_target.std())


@cache
def long_chains(data: bn.Data) -> bn.Draws:
    """Two chains of 10,000 draws, n moves apart, without burn-in."""
    table, rng = posterior(data).table, np.random.default_rng(SEED)
    return bn.sample_orders(table, draws=LONG, chains=2, burn_in=0, rng=rng)


@cache
def tempered(data: bn.Data, beta: float, draws: int = TEMPERED, chains: int = 2) -> bn.Draws:
    """Chains at one inverse temperature, begun as `long_chains`; log_target is of beta = 1."""
    table = posterior(data).table
    walker, found = OrderWalker.of(table), []
    for rng in np.random.default_rng(SEED).spawn(chains):
        betas, start = np.full(draws, beta), rng.permutation(table.n)
        found.append(walker.walk(start, betas, table.n, bn.Moves(), rng))
    tries = np.array([walk.tally.sum(axis=(0, 1)) for walk in found])
    return bn.Draws(
        np.array([walk.orders for walk in found]),
        np.zeros((chains, draws)),
        np.array([walk.log_weights for walk in found]),
        "orders",
        "order-modular",
        table.names,
        stats={"acceptance": tries[:, 1] / tries[:, 0]},
    )


@cache
def pair(data: bn.Data, length: int, beta: float | None = None) -> Pair:
    """Return the edges by so many draws of each of two chains, the long ones or those at β."""
    draws = long_chains(data) if beta is None else tempered(data, beta)
    table = posterior(data).table
    first, second = (features.edges(chain(draws.prefix(length), c), table=table) for c in (0, 1))
    return first, second


def edge_given_orders(draws: bn.Draws, table: bn.ScoreTable, u: int, v: int, /) -> Floats:
    """p(u -> v | order, data) of each drawn order, (chains, draws)."""
    before = graphs.predecessor_masks(draws.values.reshape(-1, table.n))[:, v]
    sets, which = np.unique(before, return_inverse=True)
    within = (table.parents[v] & ~sets[:, None]) == 0
    log_phi = np.where(within, table.log_phi[v], -np.inf)
    phi = np.exp(log_phi - log_phi.max(axis=1, keepdims=True))
    given: Floats = phi @ (table.parents[v] >> u & 1) / phi.sum(axis=1)
    return given[which].reshape(draws.values.shape[:2])


class TwoChains(View):
    """Two chains on tic-tac-toe from two random orders: their traces, and whether edges agree."""

    def __init__(self, data: bn.Data | None = None) -> None:
        own = () if data is None else sorted({max(1, data.m // part) for part in (4, 2, 1)})
        stops = tuple(own) or ROW_STOPS
        self._of = boards if data is None else cache(data.prefix)
        for size in stops:  # now, so that the controls answer at once
            pair(self._of(size), LONG)
        super().__init__(
            rows=size_slider("rows", stops, stops[-1]),
            length=size_slider("draws of each chain", CHAIN_STOPS, 200),
        )

    def draw(self, rows: int, length: int) -> Board:
        """The traces of both chains, and the edges of one against those of the other."""
        data = self._of(rows)
        (mean, sd), exact, edges = usual(data), posterior(data), pair(data, length)
        draws = long_chains(data).prefix(length)
        u, v = divmod(int(np.abs(edges[0] - edges[1]).argmax()), data.n)
        of_target = diagnostics.rhat(draws)
        of_edge = diagnostics.rhat(edge_given_orders(draws, exact.table, u, v))
        ends = mean - 9 * sd, mean + 5 * sd
        alt = "Log targets of the orders of two chains, with the range of exact draws shaded"
        return {
            "trace": (
                _traces(data, draws, ends, alt=alt),
                f"{length:,} draws of each chain, {data.n} moves apart. Shaded: mean ± 2 standard "
                f"deviations of exact draws. R-hat of the log target: {of_target:.3f}.",
            ),
            "scatter": (
                plots.agreement(*edges, exact.table.names),
                f"R-hat of {data.names[u]} → {data.names[v]}, about which they differ most: "
                f"{of_edge:.3f}. SAD between the chains: {_sads(edges, exact.edges)}",
            ),
        }


class Temperature(View):
    """Two chains at one inverse temperature, on tic-tac-toe with each board twice, or your own."""

    def __init__(self, data: bn.Data | None = None) -> None:
        self._data = boards(ROW_STOPS[-1]) if data is None else data
        for beta in BETA_STOPS:
            pair(self._data, TEMPERED, beta)
        super().__init__(beta=size_slider("inverse temperature β", BETA_STOPS, 1))

    def draw(self, beta: float) -> Board:
        """The traces of both chains, and the edges of one against those of the other."""
        draws, exact = tempered(self._data, beta), posterior(self._data)
        (mean, _), edges = usual(self._data), pair(self._data, TEMPERED, beta)
        lowest = np.quantile(tempered(self._data, 0).log_target, 0.01)
        ends, title = (lowest - 10, mean + 15), "Trace of each chain at this temperature"
        alt = "Log targets of the orders of two chains at one temperature, usual range shaded"
        scatter = plots.agreement(*edges, exact.table.names, name="hot_agreement")
        below = max(mean - draws.log_target.mean(), 0.0)
        return {
            "trace": (
                _traces(self._data, draws, ends, name="hot_trace", title=title, alt=alt),
                f"β = {beta}: {draws.stats['acceptance'].mean():.3f} of the moves accepted. On "
                f"average the log target is {below:.1f} nats below that of draws from the "
                "posterior (shaded).",
            ),
            "scatter": (scatter, f"SAD between the chains: {_sads(edges, exact.edges)}"),
        }


def _traces(data: bn.Data, draws: bn.Draws, ends: tuple[float, float], **text: Any) -> figure:
    """Return the traces of two chains, with the usual range of the log target shaded."""
    (mean, sd), (size, n) = usual(data), draws.values.shape[1:]
    lines = {f"chain {c}": line for c, line in enumerate(draws.log_target, start=1)}
    band, y = (mean - 2 * sd, mean + 2 * sd), plots.Axis("log target (nats)", ends)
    return plots.traces(n * np.arange(1.0, size + 1), lines, band=band, y=y, **text)


def _sads(edges: Pair, exact: Floats) -> str:
    """Return how far two chains are from each other and from the exact edges, in words."""
    first, second = (diagnostics.sad(each, exact) for each in edges)
    return f"{diagnostics.sad(*edges):.2f}. From the exact edges: {first:.2f} and {second:.2f}."


@exercise(properties=6)
def check_places(function: Callable[[tuple[int, ...], int, Target], Any]) -> Told:
    """Exercise 1: `function(order, v, log_target)` has the probabilities of the places of v."""
    orders = list(permutations(range(4)))
    height = dict(zip(orders, 3 * np.random.default_rng(SEED).normal(size=24), strict=True))
    p = np.exp(list(height.values()))

    def places(order: tuple[int, ...], v: int, target: Target = height.__getitem__) -> Floats:
        return np.asarray(function(order, v, target), np.float64)

    def doubling(less: float) -> Floats:
        return 15 * places((2, 0, 3, 1), 2, lambda order: order.index(2) * log(2) - less)

    yield "return as many probabilities as there are places, which add up to 1"
    yield places(orders[0], 1).shape == (4,) and np.isclose(places(orders[0], 1).sum(), 1)
    yield "where all orders have the same target, all places have the same probability"
    yield np.allclose(places((3, 0, 2, 1), 0, lambda order: -7.0), 1 / 4)
    yield "if each place further back doubles the target: 1/15, 2/15, 4/15, 8/15"
    yield np.allclose(doubling(0), [1, 2, 4, 8])
    yield "exp(-9000) is 0 to the computer: subtract the largest log target first"
    yield np.allclose(doubling(9000), [1, 2, 4, 8])
    yield "it must not matter where v stands now"
    yield np.allclose(places((1, 0, 2, 3), 1), places((0, 2, 3, 1), 1))
    yield "with v chosen at random, p K = p must hold on the 24 orders of four nodes"
    kernel = np.zeros((24, 24))
    for (a, order), v in product(enumerate(orders), range(4)):
        others = [u for u in order if u != v]
        for k, chance in enumerate(places(order, v)):
            kernel[a, orders.index((*others[:k], v, *others[k:]))] += chance / 4
    yield np.allclose(p @ kernel, p)


@exercise(properties=5)
def check_reversal(function: Callable[[Ints, np.random.Generator], Any]) -> Told:
    """Exercise 2: `function(order, rng)` reverses a random segment, symmetrically."""
    orders = np.array(list(permutations(range(4))))
    eight = np.arange(8)

    def segment(order: Ints, proposed: Ints) -> bool:
        differ = np.flatnonzero(order != proposed)
        part = slice(differ[0], differ[-1] + 1) if differ.size else slice(0)
        return bool(np.array_equal(proposed[part], order[part][::-1]))

    yield "return an order of the same nodes"
    proposals = [np.asarray(function(eight, np.random.default_rng(seed))) for seed in range(20)]
    yield all((np.sort(order) == range(8)).all() for order in proposals)
    yield "do not change the order that you are given: copy it"
    yield (eight == range(8)).all()
    yield "a segment must be reversed, and nothing else"
    rng, place = np.random.default_rng(SEED), {tuple(o): i for i, o in enumerate(orders)}
    counts = np.zeros((24, 24))  # [a, b]: how often order a proposes order b
    for a in np.repeat(np.arange(24), 1500):
        counts[a, place[tuple(int(v) for v in function(orders[a].copy(), rng))]] += 1
    yield all(segment(orders[a], orders[b]) for a, b in np.argwhere(counts > 0))
    yield "segments of every length (2, 3, 4 of four nodes) and at every place must come: "
    yield "6 different orders can follow each"
    yield np.all((counts > 0).sum(axis=1) - (np.diag(counts) > 0) == 6)
    yield "it must propose b from a as often as a from b"
    yield np.all(abs(counts - counts.T) <= 5 * np.sqrt(counts + counts.T + 1))


@exercise(properties=4)
def check_spend(function: Callable[[bn.ScoreTable, np.random.Generator], bn.Draws]) -> Told:
    """Exercise 3: `function(table, rng)` spends 100,000 moves, hot ones too, on more modes."""
    cases = {"boards": boards(ROW_STOPS[-1]), "wine": board.rows("wine")}

    @cache
    def run(name: str, seed: int) -> bn.Draws:
        return function(posterior(cases[name]).table, np.random.default_rng(seed))

    def moves(draws: bn.Draws) -> int:
        keys = ("chains", "burn_in", "draws", "thin")
        chains, burn_in, each, thin = (int(str(draws.run.settings[key])) for key in keys)
        temperatures = draws.stats["beta"].size if "beta" in draws.stats else 1
        return temperatures * chains * (burn_in + each * thin)

    def error(name: str) -> float:
        exact, runs = posterior(cases[name]), [run(name, seed) for seed in range(3)]
        every = [features.edges(draws, table=exact.table) for draws in runs]
        return float(np.mean([diagnostics.sad(edges, exact.edges) for edges in every]))

    yield "return what bn.sample_orders(table, ...) returns"
    yield run("boards", 0).run.method in ("order-MCMC", "MC3")
    yield "100,000 moves in all: chains x (burn_in + draws x thin), times the number of "
    yield "temperatures if coupled, must not be more"
    yield all(moves(run(name, 0)) <= BUDGET for name in cases)
    yield "on tic-tac-toe, each board twice, the mean SAD from the exact edges must be under 4"
    yield error("boards") < 4
    yield "on wine, where one chain does well, it must stay under 0.5: the burn-in of many chains "
    yield "must not use up the moves, nor be left out"
    yield error("wine") < 0.5
