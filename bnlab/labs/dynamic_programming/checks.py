"""The checks of the lab's exercises: they test properties of an answer, not stored numbers."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.checks import Floats
from bnlab.labs.board import check

SEED = 2016


class _Counted(float):
    """A number that counts the additions it takes part in."""

    additions = 0

    def __add__(self, other: Any) -> "_Counted":
        _Counted.additions += 1
        return _Counted(float(self) + float(other))

    __radd__ = __add__


def check_subset_sums(function: Callable[[list[float]], Sequence[float]]) -> bool:
    """Exercise 1: `function(beta)` turns 2**n numbers into their sums over subsets, quickly."""
    beta = np.random.default_rng(SEED).random(64).tolist()

    def result(values: list[float]) -> list[float]:
        return [float(value) for value in function(list(values))]

    def subsets_by_brute_force(s: int) -> float:
        return sum((weight for mask, weight in enumerate(beta) if mask & ~s == 0), 0.0)

    def additions() -> int:
        _Counted.additions = 0
        function([_Counted(1)] * 1024)
        return _Counted.additions

    return check(
        "Exercise 1",
        "return as many numbers as you are given",
        lambda: len(result(beta)) == 64,
        "the only subset of the empty set is itself, so alpha[0] is beta[0]",
        lambda: np.isclose(result(beta)[0], beta[0]),
        "every set is a subset of the full one, so the last number is the sum of all",
        lambda: np.isclose(result(beta)[-1], sum(beta)),
        "a family G counts in alpha[S] exactly when G & ~S is 0; yours differs from that",
        lambda: np.allclose(result(beta), [subsets_by_brute_force(s) for s in range(64)]),
        "right, but slow: for 10 variables, 10 * 2**9 = 5,120 additions are enough (leave "
        "room for as many zeros). Take one variable after the other, and let the sets with it "
        "add what the sets without it have",
        lambda: additions() <= 10_240,
    )


def check_best_order(function: Callable[[Floats], Sequence[int]]) -> bool:
    """Exercise 2: `function(log_alpha)` is the order of the largest weight, first node first."""
    cancer = bn.load_network("cancer").sample(40, np.random.default_rng(SEED))
    lattices = [
        bn.order_lattice(bn.score_families(data, bn.BDeu(ess=1.0), max_parents=3)).log_alpha
        for data in (cancer, bn.load_dataset("coronary"))
    ]

    def weight(log_alpha: Floats, order: Sequence[int]) -> float:
        total, before = 0.0, 0
        for v in order:
            total += float(log_alpha[v, before])
            before |= 1 << v
        return total

    def result(log_alpha: Floats) -> list[int]:
        return [int(v) for v in function(log_alpha.copy())]

    def best(log_alpha: Floats) -> float:
        return max(weight(log_alpha, order) for order in permutations(range(len(log_alpha))))

    return check(
        "Exercise 2",
        "return each of the numbers 0 to n-1 once, as a list",
        lambda: all(sorted(result(a)) == list(range(len(a))) for a in lattices),
        "the reverse of your order should not weigh more: is the first node first?",
        lambda: all(weight(a, result(a)) >= weight(a, result(a)[::-1]) for a in lattices),
        "some of the 120 orders of 5 variables, or of the 720 of 6, weighs more than yours",
        lambda: all(weight(a, result(a)) > best(a) - 1e-9 for a in lattices),
    )


def check_blocked_edge(pair: Sequence[str], blocker: str) -> bool:
    """Exercise 3: the pair of coronary variables whose link `max_parents` changes most, and why."""
    data = bn.load_dataset("coronary")

    def linked(chosen: bn.Data, k: int) -> Floats:
        edges = bn.order_posterior(bn.score_families(chosen, bn.BDeu(ess=1.0), max_parents=k)).edges
        return edges + edges.T

    def change() -> Floats:
        return np.asarray(np.ptp([linked(data, k) for k in range(1, 5)], axis=0))

    def without() -> float:
        rest = data.select([name for name in data.names if name != blocker])
        return float(linked(rest, 1)[rest.index(pair[0]), rest.index(pair[1])])

    return check(
        "Exercise 3",
        f"name two of {', '.join(data.names)}",
        lambda: len(set(pair)) == 2 and set(pair) <= set(data.names),
        "some pair changes more between max_parents = 1 and 4. Add the two directions: "
        "edges + edges.T",
        lambda: change()[data.index(pair[0]), data.index(pair[1])] >= change().max() - 1e-9,
        "the blocker is a third variable",
        lambda: blocker in data.names and blocker not in pair,
        "leave your blocker out of the table: with one parent each, the link should be there "
        "now. With one parent each, a graph has no triangle. Which triangle was it?",
        lambda: without() > 0.9,
    )
