"""The checks of the exercises of notebooks/11_structure_mcmc.ipynb."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.labs.board import DATASETS, check
from bnlab.labs.structure_mcmc.chains import SEED, target
from bnlab.sampling import partition_mcmc, structure_mcmc

MOST_DAGS = 5000
MOST_PARTITIONS = 75  # of four nodes
Sampler = Callable[[bn.ScoreTable, np.random.Generator], Any]
Partition = tuple[frozenset[int], ...]


def check_repair(function: Callable[[list[Any], Callable[[Any], int]], Any]) -> bool:
    """Exercise 1: `function(visited, neighbours)` is DAG -> probability, of uncorrected visits."""
    w = {"centre": 3.0, "a": 1.0, "b": 0.5, "c": 2.0}  # a star of four states
    degree = {"centre": 3, "a": 1, "b": 1, "c": 1}.__getitem__

    def result(visited: Sequence[str], neighbours: Any = degree) -> dict[str, float]:
        return {state: float(p) for state, p in dict(function(list(visited), neighbours)).items()}

    def exact() -> bool:
        rng, here, visited = np.random.default_rng(SEED), "centre", []
        for _ in range(40_000):
            new = str(rng.choice(["a", "b", "c"])) if here == "centre" else "centre"
            here = new if rng.random() < w[new] / w[here] else here
            visited.append(here)
        found = result(visited)
        return all(abs(found[state] - w[state] / sum(w.values())) < 0.02 for state in w)

    return check(
        "Exercise 1",
        "return a dict, DAG -> probability",
        lambda: set(result(["a", "a", "b"])) == {"a", "b"},
        "the probabilities add up to 1",
        lambda: np.isclose(sum(result(["a", "centre", "b", "a"]).values()), 1),
        "all with equally many neighbours: each has its share of the visits",
        lambda: np.isclose(result(["a", "a", "a", "b"])["a"], 3 / 4),
        "where the numbers of neighbours differ, the shares must change; which way?",
        lambda: result(["centre", "a"])["centre"] < 1 / 2,
        "on a star of four states, whose centre has three neighbours, the answer must be exact",
        exact,
    )


def check_relocate(function: Callable[[Partition], Any]) -> bool:
    """Exercise 2: `function(A)` is partition -> chance of the moves of one node."""

    @cache
    def result(*layers: frozenset[int]) -> dict[Partition, float]:
        return {tuple(map(frozenset, B)): p for B, p in dict(function(layers)).items()}

    @cache
    def reached() -> list[Partition]:
        found: list[Partition] = [(frozenset(range(4)),)]
        for here in found:
            found += [B for B in result(*here) if B not in found]
            if len(found) > MOST_PARTITIONS:
                break
        return found

    def apart(A: Partition, B: Partition) -> bool:  # by the place of one node
        rests = [[[layer - {v} for layer in C if layer - {v}] for v in range(4)] for C in (A, B)]
        return A != B and any(map(list.__eq__, *rests))

    pair, zero, one, two = frozenset([0, 1]), frozenset([0]), frozenset([1]), frozenset([2])
    return check(
        "Exercise 2",
        "return a dict, partition -> chance; the chances add up to 1",
        lambda: np.isclose(sum(result(pair, two).values()), 1),
        "all chances are equal",
        lambda: len({round(chance, 9) for chance in result(pair, two).values()}) == 1,
        "({0, 1}) leads to ({0}, {1}) and to ({1}, {0}), and nowhere else",
        lambda: set(result(pair)) == {(zero, one), (one, zero)},
        "on four nodes all 75 partitions are reached",
        lambda: len(reached()) == MOST_PARTITIONS,
        "from each it leads wherever one node can go, and nowhere that takes two moves",
        lambda: all((B in result(*A)) == apart(A, B) for A in reached() for B in reached()),
    )


def check_sampler(function: Sampler) -> bool:
    """Exercise 3: `function(table, rng)` draws well by chains, and keeps at most 5,000 DAGs."""

    @cache
    def run(name: str) -> Any:
        return function(target(name).table, np.random.default_rng(SEED))

    def near(name: str) -> bool:
        return target(name).sad(bn.features.edges(run(name))) <= 1

    return check(
        "Exercise 3",
        "return Draws over DAGs",
        lambda: run("coronary").over == "dags",
        "they must belong to the structure-modular posterior (see .prior)",
        lambda: run("coronary").prior == "structure-modular",
        "they must be drawn by chains (see .run.method)",
        lambda: run("coronary").run.method in (partition_mcmc.METHOD, structure_mcmc.METHOD),
        f"keep at most {MOST_DAGS:,} DAGs",
        lambda: all(run(name).log_weight.size <= MOST_DAGS for name in DATASETS),
        "coronary: the SAD must be at most 1",
        lambda: near("coronary"),
        "wine: the SAD must be at most 1",
        lambda: near("wine"),
        "tic-tac-toe: the SAD must be at most 1",
        lambda: near("tic-tac-toe"),
    )
