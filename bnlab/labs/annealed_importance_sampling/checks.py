"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.checks import Floats
from bnlab.labs.board import check
from bnlab.labs.datasets import k2_posterior

Kernel = Callable[[float], Floats]

STEPS = 300
RUNS = 100
SEEDS = 4


def check_effective_runs(function: Callable[[Floats], Any]) -> bool:
    """Exercise 1: `function(log_weights)` is (sum w)**2 / sum w**2."""
    some = np.random.default_rng(1).normal(0, 2, 50)

    def result(log_weights: Any) -> float:
        return float(function(np.array(log_weights, np.float64)))

    def untouched() -> bool:
        given = some.copy()
        function(given)
        return bool(np.array_equal(given, some))

    return check(
        "Exercise 1",
        "return one number",
        lambda: function(some.copy()) is not None,
        "make it a finite one",
        lambda: np.isfinite(result(some)),
        "7 equal weights are worth 7 runs",
        lambda: np.isclose(result([0.0] * 7), 7),
        "weights 1, 1, 2 are worth 16 / 6 runs",
        lambda: np.isclose(result(np.log([1.0, 1.0, 2.0])), 16 / 6),
        "a weight of 0 (ln w = -inf) adds nothing: weights 1, 1, 0 are worth 2 runs",
        lambda: np.isclose(result([0.0, 0.0, -np.inf]), 2),
        "a common factor changes nothing, not even exp(-9000): take it out before exp",
        lambda: np.isclose(result(some - 9000), result(some)),
        "nor does exp(+9000)",
        lambda: np.isclose(result(some + 9000), result(some)),
        "do not change the weights that you are given",
        untouched,
    )


def check_reverse_mean(function: Callable[[Floats, Kernel, Sequence[float]], Any]) -> bool:
    """Exercise 2: `function(w, kernel, betas)` is the mean of 1/weight over all reverse runs."""
    rng = np.random.default_rng(2)
    w = rng.uniform(0.2, 5, 3)
    betas = (0.0, 0.25, 0.5, 1.0)

    def metropolis(beta: float) -> Floats:
        proposed = np.minimum(1, (w[None, :] / w[:, None]) ** beta) / 3
        np.fill_diagonal(proposed, 0)
        moves: Floats = proposed + np.diag(1 - proposed.sum(axis=1))
        return moves

    @cache
    def anything(beta: float) -> Floats:
        return np.random.default_rng(round(100 * beta)).dirichlet(np.ones(3), size=3)

    def result(kernel: Kernel, steps: Sequence[float] = betas) -> float:
        return float(function(w.copy(), kernel, steps))

    def one_by_one(kernel: Kernel) -> float:
        """Every reverse run on three states, with its probability."""
        falling = betas[::-1]
        total = 0.0
        for run in product(range(3), repeat=len(betas)):
            p, inverse = w[run[0]] / w.sum(), 1 / 3
            for (high, low), a, b in zip(pairwise(falling), run, run[1:], strict=False):
                p *= kernel(high)[a, b]
                inverse *= w[b] ** (low - high)
            total += p * inverse
        return total

    return check(
        "Exercise 2",
        "return one number",
        lambda: function(w.copy(), metropolis, betas) is not None,
        "make it positive",
        lambda: result(metropolis) > 0,
        "one step, from 1 to 0, with Metropolis moves: the mean of 1 / weight is 1 / Z, where "
        "Z is the sum of w",
        lambda: np.isclose(result(metropolis, (0.0, 1.0)), 1 / w.sum()),
        "so it is with more steps",
        lambda: np.isclose(result(metropolis), 1 / w.sum()),
        "with moves that do not keep w**beta it is not 1 / Z: start from w / Z, let beta fall, "
        "move at the higher beta of each step, then multiply by w**(lower - higher)",
        lambda: np.isclose(result(anything), one_by_one(anything)),
    )


def check_schedule(function: Callable[[int], Any]) -> bool:
    """Exercise 3: `function(steps)` are betas that leave less spread than even ones."""

    @cache
    def spread(name: str, own: bool) -> float:
        schedule = bn.Betas(tuple(map(float, function(STEPS)))) if own else bn.Linear(STEPS)
        table, method = k2_posterior(name).table, bn.AIS(schedule)
        found = [
            bn.anneal_orders(table, runs=RUNS, rng=np.random.default_rng(seed), method=method)
            for seed in range(SEEDS)
        ]
        return float(np.mean([draws.log_weight.std() for draws in found]))

    def ratio(name: str) -> float:
        return spread(name, True) / spread(name, False)

    return check(
        "Exercise 3",
        f"function({STEPS}) must be {STEPS + 1} numbers",
        lambda: np.shape(function(STEPS)) == (STEPS + 1,),
        "bn.Betas must accept them: from 0 to 1, never falling",
        lambda: bn.Betas(tuple(map(float, function(STEPS)))).betas.size == STEPS + 1,
        f"wine, {STEPS} steps: the standard deviation of ln w must be at most 0.8 times that "
        f"of Linear({STEPS}), mean of {SEEDS} seeds",
        lambda: ratio("wine") <= 0.8,
        "tic-tac-toe: it must not be more than 1.05 times that of Linear",
        lambda: ratio("tic-tac-toe") <= 1.05,
        "coronary: it must not be more than 1.25 times that of Linear",
        lambda: ratio("coronary") <= 1.25,
    )
