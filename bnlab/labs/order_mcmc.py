"""The hot chains and the checks of notebooks/04_order_mcmc.ipynb.

Its view, of a chain move by move, is in `bnlab.labs.landscape`.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import permutations, product
from math import exp, log
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import diagnostics, features, graphs
from bnlab.checks import Floats
from bnlab.labs import board
from bnlab.labs.board import Told, exercise, if_right, setup as setup
from bnlab.labs.landscape import Landscape as Landscape
from bnlab.labs.predict import predict as predict, review as review
from bnlab.papers.page import chain as chain
from bnlab.sampling.order_target import OrderWalker

SEED = 2003
TWICE = 1916  # rows: each board of tic-tac-toe twice
BUDGET = 100_000  # moves

posterior = partial(board.order_posterior, most=2)  # parents

Target = Callable[[tuple[int, ...]], float]
Chance = Callable[[float, float, float, float], float]


@cache
def boards(rows: int) -> bn.Data:
    """Return so many final boards of tic-tac-toe, in random order; beyond 958 each comes again."""
    once = bn.load_dataset("tic_tac_toe").shuffled(np.random.default_rng(SEED))
    names = [name.removesuffix("-square") for name in once.names]
    values = np.tile(once.values, (2, 1))
    return bn.Data.from_arrays(values, names=names, levels=once.levels).prefix(rows)


def tempered(
    table: bn.ScoreTable, beta: float, draws: int, chains: int, burn_in: int = 0, thin: int = 10
) -> bn.Draws:
    """Chains at one inverse temperature, `thin` moves a draw; log_target is of beta = 1."""
    walker, found = OrderWalker.of(table), []
    for rng in np.random.default_rng(SEED).spawn(chains):
        start = rng.permutation(table.n)
        if burn_in:
            start = walker.walk(start, np.full(1, beta), burn_in, bn.Moves(), rng).orders[-1]
        found.append(walker.walk(start, np.full(draws, beta), thin, bn.Moves(), rng))
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


def four_runs(table: bn.ScoreTable, betas: Sequence[float], moves: int) -> bn.Draws:
    """Four runs of so many moves in all: of a chain at one β, or of coupled chains.

    A tenth of the moves is burn-in; every n-th order is kept, at one β every 5n-th.
    """
    n, each = table.n, moves // len(betas)
    draws, burn_in = each * 9 // (10 * n), each // 10
    if len(betas) == 1:
        return tempered(table, betas[0], draws // 5, 4, burn_in, 5 * n)
    schedule, rng = bn.Betas(tuple(betas)), np.random.default_rng(1)
    return bn.sample_orders(table, draws=draws, burn_in=burn_in, thin=n, rng=rng, schedule=schedule)


def edges_into(draws: bn.Draws, table: bn.ScoreTable, v: int, /, every: int = 1) -> Floats:
    """p(u -> v | order, data) of every so-manyth drawn order, (chains, draws, n)."""
    orders = draws.values[:, ::every]
    before = graphs.predecessor_masks(orders.reshape(-1, table.n))[:, v]
    sets, which = np.unique(before, return_inverse=True)
    within = (table.parents[v] & ~sets[:, None]) == 0
    log_phi = np.where(within, table.log_phi[v], -np.inf)
    phi = np.exp(log_phi - log_phi.max(axis=1, keepdims=True))
    present = table.parents[v][:, None] >> np.arange(table.n) & 1
    given: Floats = phi @ present / phi.sum(axis=1, keepdims=True)
    return given[which].reshape(orders.shape)


def worst_rhat(draws: bn.Draws, table: bn.ScoreTable, /) -> float:
    """The largest R-hat of an edge, from at most 22,500 / n draws of each chain."""
    every, nodes = -(-draws.values.shape[1] * table.n // 22_500), range(table.n)
    given = np.stack([edges_into(draws, table, v, every) for v in nodes])
    return max(diagnostics.rhat(given[v, ..., u]) for v in nodes for u in nodes if u != v)


def sads(draws: bn.Draws, exact: bn.OrderPosterior) -> list[float]:
    """For each chain, the sum of absolute differences from the exact probabilities of edges."""
    every = [chain(draws, c) for c in range(len(draws.values))]
    return [diagnostics.sad(features.edges(c, table=exact.table), exact.edges) for c in every]


def exchange_chance(log_i: float, log_j: float, beta_i: float, beta_j: float) -> float:
    """The probability that two chains exchange their orders: Metropolis' rule for their product."""
    return exp(min(0.0, (beta_i - beta_j) * (log_j - log_i)))


def right_exchange(function: Chance) -> Chance:
    """The student's function if it is right, else the lab's."""
    return if_right(function, _is_chance, exchange_chance)


def _is_chance(function: Chance) -> bool:
    """Whether the function gives the probabilities, whatever the orders and temperatures."""
    cases = np.random.default_rng(SEED).uniform([-9, -9, 0, 0], 1, size=(50, 4)).tolist()
    return all(np.isclose(function(*case), exchange_chance(*case)) for case in cases)


@exercise(properties=4)
def check_exchange(function: Chance) -> Told:
    """Exercise 1: `function(log_i, log_j, beta_i, beta_j)` is the probability of an exchange."""
    yield "return one number"
    yield np.isscalar(function(-100.0, -120.0, 0.1, 1.0))
    yield "from -112 back to -130 the log of the product falls by 18: exp(-18)"
    yield np.isclose(function(-120.0, -100.0, 0.1, 1.0), exp(-18), atol=0)
    yield "exp(2000) is too large for the computer: take the smaller of 0 and the log first"
    yield function(0.0, -2000.0, 0.0, 1.0) == 1
    yield "it must hold for any orders and temperatures"
    yield _is_chance(function)


@exercise(properties=6)
def check_places(function: Callable[[tuple[int, ...], int, Target], Any]) -> Told:
    """Exercise 2: `function(order, v, log_p)` has the probabilities of the places of v."""
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


@exercise(properties=4)
def check_spend(function: Callable[[bn.ScoreTable, np.random.Generator], bn.Draws]) -> Told:
    """Exercise 3: `function(table, rng)` spends 100,000 moves, hot ones too, on more modes."""
    cases = {"boards": boards(TWICE), "wine": board.rows("wine")}

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
