"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bnlab.checks import Floats, Ints
from bnlab.labs.board import check
from bnlab.labs.hidden_variables.scores import causes_of, structures


def check_causes(function: Callable[[Floats, Sequence[int], bool], Any]) -> bool:
    """Exercise 1: `function(log_evidence, causes, fair)` is the posterior of 0, 1 and 2 causes."""
    causes = [causes_of(i) for i in range(len(structures()))]
    flat = np.zeros(len(causes))
    some = np.random.default_rng(1).normal(0, 3, len(causes))

    def result(values: Floats, fair: bool) -> Floats:
        return np.asarray(function(values.copy(), causes, fair), np.float64)

    def one_by_one(fair: bool) -> list[float]:
        groups = [np.exp(some[[c == k for c in causes]]) for k in range(3)]
        sums = [sum(group) / (len(group) if fair else 1) for group in groups]
        return [float(total / sum(sums)) for total in sums]

    return check(
        "Exercise 1",
        "return three numbers",
        lambda: result(flat, False).shape == (3,),
        "they must sum to 1",
        lambda: np.isclose(result(some, False).sum(), 1),
        "with equal evidence and fair=False: 1, 15 and 120 structures of 136",
        lambda: np.allclose(result(flat, False), np.array([1, 15, 120]) / 136),
        "with fair=True equal evidence gives a third each: share each third among the "
        "structures with that many causes",
        lambda: np.allclose(result(flat, True), 1 / 3),
        "with other evidence: sum it over the structures with that many causes",
        lambda: np.allclose(result(some, False), one_by_one(False)),
        "and with fair=True",
        lambda: np.allclose(result(some, True), one_by_one(True)),
        "a common term of -60,000 nats changes nothing: take it out before exp",
        lambda: np.allclose(result(some - 60_000, True), one_by_one(True)),
    )


def check_best_rank(function: Callable[[Floats], Any]) -> bool:
    """Exercise 2: `function(log_evidence)` is the posterior mean of the rank by evidence."""
    some = np.random.default_rng(2).normal(0, 2, 12)

    def result(values: Any) -> float:
        return float(function(np.array(values, np.float64)))

    def by_drawing() -> float:
        p = np.exp(some) / np.exp(some).sum()
        ranks = [1 + int((some > value).sum()) for value in some]
        return float(p @ ranks)

    return check(
        "Exercise 2",
        "return one number",
        lambda: function(some.copy()) is not None,
        "one structure: rank 1",
        lambda: np.isclose(result([-7.0]), 1),
        "probabilities 0.8 and 0.2: 0.8 times rank 1 and 0.2 times rank 2",
        lambda: np.isclose(result(np.log([0.2, 0.8])), 1.2),
        "only structures without evidence (-inf) behind the first: rank 1",
        lambda: np.isclose(result([-np.inf, 0.0, -np.inf]), 1),
        "each structure's rank, times its posterior probability, summed",
        lambda: np.isclose(result(some), by_drawing()),
        "a common term of -60,000 nats changes nothing",
        lambda: np.isclose(result(some - 60_000), by_drawing()),
    )


def check_noisy_ranks(
    function: Callable[[Floats, int, float, int, np.random.Generator], Any],
) -> bool:
    """Exercise 3: `function(log_evidence, number, sd, repeats, rng)` are ranks under noise."""
    some = np.linspace(0, -20, 21)
    tied = np.zeros(21)
    far = np.concatenate([[0.0], np.full(20, -1000.0)])

    def result(values: Floats, number: int, sd: float, seed: int = 1) -> Ints:
        rng = np.random.default_rng(seed)
        return np.asarray(function(values.copy(), number, sd, 2000, rng))

    def against_one() -> bool:
        """Of two structures 3 nats apart, noise of 2 nats turns Phi(-3 / (2 sqrt 2)) = 14.4 %."""
        ranks = result(np.array([0.0, -3.0]), 0, 2.0)
        return bool(0.11 < (ranks == 2).mean() < 0.18)

    return check(
        "Exercise 3",
        "return one rank for each repeat",
        lambda: result(some, 4, 1.0).shape == (2000,),
        "without noise all of them are the rank by evidence",
        lambda: (result(some, 4, 0) == 5).all(),
        "ranks begin at 1",
        lambda: result(some, 0, 3.0).min() == 1,
        "a lead of 1,000 nats survives noise of 10",
        lambda: (result(far, 0, 10.0) == 1).all(),
        "equal evidence: any rank from 1 to 21, 11 on average",
        lambda: abs(result(tied, 3, 5.0).mean() - 11) < 0.7,
        "every structure has noise of its own, the true one too: of two structures 3 nats "
        "apart, noise of 2 nats turns about 14 of 100",
        against_one,
        "other seeds, other ranks: take all noise from rng",
        lambda: not np.array_equal(result(some, 4, 5.0), result(some, 4, 5.0, seed=2)),
    )
