"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable, Iterable
from math import factorial
from numbers import Integral
from typing import Any

import numpy as np

from bnlab import graphs
from bnlab.checks import Bools, Ints
from bnlab.labs.board import check
from bnlab.labs.modular_priors.space import count_orders, equivalence_classes, space

Edges = Iterable[tuple[int, int]]


def check_corrected(function: Callable[[Bools, Ints], Any]) -> bool:
    """Exercise 1: `function(has, orders)` turns order-modular draws to the uniform prior."""
    everything = space(4)
    # Every DAG as often as the order-modular prior has it: the draws of a perfect sampler.
    drawn = np.repeat(np.arange(len(everything.dags)), everything.orders)
    edge = everything.edges[:, 0, 1]

    def result(has: Any, orders: Any) -> float:
        return float(function(np.array(has, bool), np.array(orders, np.int64)))

    return check(
        "Exercise 1",
        "return one number between 0 and 1",
        lambda: 0 <= result([1, 0, 1], [2, 1, 1]) <= 1,
        "where all DAGs have as many orders, nothing is to be corrected: the share of hits",
        lambda: np.isclose(result([1, 0, 0, 0], [6, 6, 6, 6]), 0.25),
        "weights must add up to 1: an event and its contrary have the answers p and 1 - p",
        lambda: np.isclose(result([1, 0, 1], [2, 1, 6]) + result([0, 1, 0], [2, 1, 6]), 1),
        "a fork (2 orders) is drawn twice as often as a chain (1 order), so one draw of it "
        "counts half: [True, False] with orders [2, 1] gives 1/3",
        lambda: np.isclose(result([1, 0], [2, 1]), 1 / 3),
        "from perfect order-modular draws of all DAGs on 4 nodes it must find the share of "
        "DAGs with the edge 0 → 1",
        lambda: np.isclose(result(edge[drawn], everything.orders[drawn]), edge.mean()),
    )


def check_count(function: Callable[[Ints], Any]) -> bool:
    """Exercise 2: `function(dag)` counts the orders of a DAG, given as parent masks."""
    everything = space(4)

    def result(dag: Any) -> int:
        return int(function(np.array(dag, np.int64)))

    return check(
        "Exercise 2",
        "return a whole number, at least 1",
        lambda: isinstance(function(np.array([0, 1])), Integral) and result([0, 1]) >= 1,
        "the chain 0 → 1 → 2 → 3 has one order",
        lambda: result([0, 1, 2, 4]) == 1,
        "the fork 0 ← 1 → 2 has two",
        lambda: result([2, 0, 2]) == 2,
        "four nodes without arrows have 4! orders",
        lambda: result([0] * 4) == factorial(4),
        "over all DAGs on 4 nodes the counts add up to 4! · 2⁶ = 1,536",
        lambda: sum(result(dag) for dag in everything.dags) == 1536,
        "some DAG on 4 nodes has another count",
        lambda: [result(dag) for dag in everything.dags] == everything.orders.tolist(),
        "ten nodes without arrows have 10! orders (do not list them: add up over sets)",
        lambda: result([0] * 10) == factorial(10),
    )


def check_pair(first: Edges, second: Edges) -> bool:
    """Exercise 3: two equivalent DAGs on 6 nodes with odds of at least 10; prints the odds."""

    def both() -> Ints:
        return np.stack([graphs.from_edges(6, list(edges)) for edges in (first, second)])

    def odds() -> float:
        counts = count_orders(both())
        return float(counts[0] / counts[1])

    solved = check(
        "Exercise 3",
        "give two lists of arrows (u, v) between the nodes 0 to 5, both without a cycle",
        lambda: both().shape == (2, 6),
        "the two are not equivalent: they need the same neighbours, and arrows that meet at "
        "the same nodes where their tails are no neighbours",
        lambda: len(set(equivalence_classes(both()))) == 1,
        "the first should be the more probable one",
        lambda: odds() > 1,
        "reach odds of at least 10: a star gets to 5; how many orders has a path, if its "
        "arrows leave from the middle?",
        lambda: odds() >= 10,
    )
    if solved:
        print(f"Odds {odds():.4g}, whatever the data say.")
    return solved
