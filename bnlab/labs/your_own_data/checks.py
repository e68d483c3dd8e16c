"""Checks of the exercises of notebooks/14_your_own_data.ipynb: properties, not stored numbers."""

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.labs.board import check
from bnlab.labs.your_own_data.study import write_garden

MOST_LEVELS = 3
Pairs = set[tuple[int, int]]


def check_undecided(function: Callable[[Floats, float], Any]) -> bool:
    """Exercise 1: `function(edges, sure)` lists the pairs surely joined, direction unsure."""
    chain = np.array([[0, 0.5, 0.0], [0.5, 0, 0.97], [0.0, 0.02, 0]])

    def result(edges: Floats, sure: float) -> Pairs:
        pairs = [tuple(int(i) for i in pair) for pair in function(edges.copy(), sure)]
        return {(min(pair), max(pair)) for pair in pairs if len(pair) == 2}

    def random_agrees() -> bool:
        rng = np.random.default_rng(1)
        for _ in range(50):
            joined = rng.choice([0.3, 0.96, 1.0], (5, 5))
            share = rng.choice([0.01, 0.4, 0.97], (5, 5))
            edges = np.triu(joined * share, 1) + np.triu(joined * (1 - share), 1).T
            expected = {
                (u, v)
                for u, v in combinations(range(5), 2)
                if edges[u, v] + edges[v, u] >= 0.95 and max(edges[u, v], edges[v, u]) < 0.95
            }
            if result(edges, 0.95) != expected:
                return False
        return True

    return check(
        "Exercise 1",
        "return a list of pairs (u, v)",
        lambda: result(chain, 0.9) is not None,
        "0 and 1 are joined for certain, half and half",
        lambda: (0, 1) in result(chain, 0.9),
        "1 -> 2 has 0.97: that direction is decided",
        lambda: (1, 2) not in result(chain, 0.9),
        "0 and 2 are not joined",
        lambda: result(chain, 0.9) == {(0, 1)},
        "name each pair once",
        lambda: len(function(chain.copy(), 0.9)) == 1,
        "with sure = 0.98 the pair 1, 2 is undecided",
        lambda: (1, 2) in result(chain, 0.98),
        "random matrices of five variables",
        random_agrees,
    )


def check_blanket(function: Callable[[Ints, int], int]) -> bool:
    """Exercise 2: `function(dag, v)` is the mask of the Markov blanket of v."""
    collider = np.array([0, 0, 3])  # 0 -> 2 <- 1

    def all_agree() -> bool:
        return all(
            [int(function(dag.copy(), v)) for v in range(4)] == graphs.markov_blankets(dag).tolist()
            for dag in graphs.all_dags(4)[::7]
        )

    return check(
        "Exercise 2",
        "without edges nothing is in a blanket",
        lambda: int(function(np.zeros(3, int), 0)) == 0,
        "parents are in it",
        lambda: int(function(collider.copy(), 2)) == 0b011,
        "children are in it",
        lambda: bool(int(function(collider.copy(), 0)) & 0b100),
        "the other parents of a child are in it: knowing the child makes them informative",
        lambda: int(function(collider.copy(), 0)) == 0b110,
        "a variable is not in its own blanket",
        lambda: not int(function(collider.copy(), 1)) & 2,
        "a DAG of four variables differs from graphs.markov_blankets",
        all_agree,
    )


def check_cuts(points: Sequence[float]) -> bool:
    """Exercise 3: cut points of `water` that show what it does to `growth`, in new gardens too."""

    def joined(seed: int, rows: int = 240) -> float:
        with TemporaryDirectory() as folder:
            path = write_garden(Path(folder), rows=rows, seed=seed)
            rules: Any = {"water": bn.CutPoints(points), "growth": bn.EqualFrequency(3)}
            unused = ["plot", "bees", "soil", "slugs"]
            data = bn.read_csv(path, drop=unused, missing="drop", discretize=rules)
        edges = bn.dag_posterior(bn.score_families(data, bn.BDeu())).edges
        u, v = data.index("water"), data.index("growth")
        return float(edges[u, v] + edges[v, u])

    return check(
        "Exercise 3",
        "give a list of rising numbers",
        lambda: bn.CutPoints(points) is not None,
        f"at most {MOST_LEVELS} levels, so at most {MOST_LEVELS - 1} cut points",
        lambda: len(points) <= MOST_LEVELS - 1,
        "the litres go from 0 to 10",
        lambda: 0 < min(points) and max(points) < 10,
        "water and growth should be joined with probability 0.95 or more",
        lambda: joined(9) >= 0.95,
        "and in other gardens of the same kind as well",
        lambda: min(joined(seed) for seed in (1, 2, 3)) >= 0.95,
        "half of the plots should mostly be enough",
        lambda: float(np.mean([joined(seed, 120) for seed in range(4, 9)])) >= 0.9,
    )
