"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import features
from bnlab.checks import Floats, Ints
from bnlab.labs.board import check, k2_posterior

SEED = 2003
BUDGET = 100_000  # moves


def check_exchange(function: Callable[[float, float, float, float], Any]) -> bool:
    """Exercise 1: `function(beta_i, beta_j, log_w_i, log_w_j)` is the chance of an exchange."""

    def result(*given: float) -> float:
        return float(function(*given))

    def balanced() -> bool:
        # Three orders under two temperatures: as many exchanges one way as the other.
        log_w, betas = np.array([-3.0, 0.0, 1.5]), (0.3, 0.8)
        hot, cold = (np.exp(beta * log_w) / np.exp(beta * log_w).sum() for beta in betas)
        return all(
            np.isclose(
                hot[a] * cold[b] * result(*betas, log_w[a], log_w[b]),
                hot[b] * cold[a] * result(*betas, log_w[b], log_w[a]),
            )
            for a, b in permutations(range(3), 2)
        )

    return check(
        "Exercise 1",
        "return one number between 0 and 1",
        lambda: 0 <= result(0.2, 0.7, -4.0, -3.0) <= 1,
        "chains at the same temperature can always exchange: nothing tells them apart",
        lambda: np.isclose(result(0.5, 0.5, -40.0, -3.0), 1),
        "if the hotter chain (the smaller beta) holds the heavier order, always exchange",
        lambda: np.isclose(result(0.5, 1.0, -3.0, -40.0), 1),
        "betas 0.5 and 1, and the colder order is 4 nats heavier: exp(-2)",
        lambda: np.isclose(result(0.5, 1.0, -4.0, 0.0), np.exp(-2)),
        "which of the two you name first must not matter",
        lambda: np.isclose(result(1.0, 0.5, 0.0, -4.0), np.exp(-2)),
        "weights such as exp(-9000) are 0 to the computer: subtract ln weights, then exp",
        lambda: np.isclose(result(0.5, 1.0, -9002.0, -9000.0), np.exp(-1)),
        "over three orders it must keep w**beta of both chains",
        balanced,
    )


def check_reversal(function: Callable[[Ints, np.random.Generator], Any]) -> bool:
    """Exercise 2: `function(order, rng)` reverses a random segment, symmetrically."""
    tries = 1500
    orders = np.array(list(permutations(range(4))))

    @cache
    def counts() -> Floats:
        """[a, b]: how often order a proposes order b."""
        rng, place = np.random.default_rng(SEED), {tuple(o): i for i, o in enumerate(orders)}
        out = np.zeros((24, 24))
        for a, order in enumerate(orders):
            for _ in range(tries):
                out[a, place[tuple(int(v) for v in function(order.copy(), rng))]] += 1
        return out

    def propose(order: Ints) -> Ints:
        return np.asarray(function(order, np.random.default_rng(SEED)))

    def untouched() -> bool:
        order = np.arange(8)
        for seed in range(20):
            function(order, np.random.default_rng(seed))
        return bool(np.array_equal(order, np.arange(8)))

    def segment(order: Ints, proposed: Ints) -> bool:
        differ = np.flatnonzero(order != proposed)
        if not differ.size:
            return True
        part = slice(differ[0], differ[-1] + 1)
        return bool(np.array_equal(proposed[part], order[part][::-1]))

    def symmetric() -> bool:
        table = counts()
        return bool(np.all(np.abs(table - table.T) <= 5 * np.sqrt(table + table.T + 1)))

    return check(
        "Exercise 2",
        "return an order of the same nodes",
        lambda: np.array_equal(np.sort(propose(np.arange(8))), np.arange(8)),
        "do not change the order that you are given: copy it",
        untouched,
        "a segment must be reversed, and nothing else",
        lambda: all(segment(orders[a], orders[b]) for a, b in np.argwhere(counts() > 0)),
        "segments of every length (2, 3, 4 of four nodes) and at every place must come: "
        "6 different orders can follow each",
        lambda: np.all((counts() > 0).sum(axis=1) - (np.diag(counts()) > 0) == 6),
        "it must propose b from a as often as a from b",
        symmetric,
    )


def check_many_starts(function: Callable[[bn.ScoreTable, np.random.Generator], bn.Draws]) -> bool:
    """Exercise 3: `function(table, rng)` spends 100,000 moves better than one long chain.

    A move of any chain counts, hot or cold.
    """

    @cache
    def run(name: str, seed: int) -> bn.Draws:
        return function(k2_posterior(name).table, np.random.default_rng(seed))

    def moves(draws: bn.Draws) -> int:
        keys = ("chains", "burn_in", "draws", "thin")
        chains, burn_in, each, thin = (int(str(draws.run.settings[key])) for key in keys)
        temperatures = draws.stats["beta"].size if "beta" in draws.stats else 1
        return temperatures * chains * (burn_in + each * thin)

    def sad(name: str, draws: bn.Draws) -> float:
        exact = k2_posterior(name)
        return bn.diagnostics.sad(features.edges(draws, table=exact.table), exact.edges)

    def error(name: str) -> float:
        return float(np.mean([sad(name, run(name, seed)) for seed in range(3)]))

    def one_chain() -> float:
        table, rng = k2_posterior("tic-tac-toe").table, np.random.default_rng(SEED)
        return sad("tic-tac-toe", bn.sample_orders(table, draws=9000, chains=1, rng=rng))

    return check(
        "Exercise 3",
        "return what bn.sample_orders(table, ...) returns",
        lambda: run("tic-tac-toe", 0).run.method in ("order-MCMC", "MC3"),
        "100,000 moves in all: chains x (burn_in + draws x thin), times the number of "
        "temperatures if coupled, must not be more",
        lambda: moves(run("tic-tac-toe", 0)) <= BUDGET,
        "on tic-tac-toe the SAD from the exact edges must be under a third of that of one "
        "chain (mean of 3 seeds)",
        lambda: error("tic-tac-toe") < one_chain() / 3,
        "on wine, where one chain does well (SAD about 0.15), it must stay under 0.5: the "
        "burn-in of many chains must not use up the moves, nor be left out",
        lambda: error("wine") < 0.5,
    )
