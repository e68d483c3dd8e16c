"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.checks import Ints
from bnlab.labs.board import DATASETS, check
from bnlab.labs.dag_space.race import SEED, target
from bnlab.labs.modular_priors import space
from bnlab.papers.store import normalised

LogPrior = Callable[[Ints], Any]
Sampler = Callable[[bn.DagPosterior, bn.OrderPosterior, np.random.Generator], Any]

MOST_DAGS = 5000
MOST_ERROR = 1.0


def check_acceptance(function: Callable[[float, float, int, int], Any]) -> bool:
    """Exercise 1: `function(log_w, log_w_new, neighbours, neighbours_new)` is the chance to go."""

    def result(*given: float) -> float:
        return float(function(*given))  # type: ignore[arg-type]

    def balanced() -> bool:
        log_w, n = np.array([-2.0, 0.0, 1.0, 3.0]), np.array([3, 1, 1, 1])  # a star of four states
        w = np.exp(log_w)
        return all(
            np.isclose(
                w[a] / n[a] * result(log_w[a], log_w[b], n[a], n[b]),
                w[b] / n[b] * result(log_w[b], log_w[a], n[b], n[a]),
            )
            for a, b in permutations(range(4), 2)
            if 0 in (a, b)
        )

    return check(
        "Exercise 1",
        "return one number between 0 and 1",
        lambda: 0 <= result(-4.0, -3.0, 5, 6) <= 1,
        "as heavy and as many neighbours: go",
        lambda: np.isclose(result(-3.0, -3.0, 6, 6), 1),
        "2 nats lighter, as many neighbours: exp(-2)",
        lambda: np.isclose(result(-3.0, -5.0, 6, 6), np.exp(-2)),
        "as heavy, 5 neighbours now and 6 there: 5/6, since the way back is chosen less often",
        lambda: np.isclose(result(-3.0, -3.0, 5, 6), 5 / 6),
        "the other way round it is certain: 1, not 6/5",
        lambda: np.isclose(result(-3.0, -3.0, 6, 5), 1),
        "weights such as exp(-9000) are 0 to the computer: subtract ln weights, then exp",
        lambda: np.isclose(result(-9000.0, -9001.0, 6, 6), np.exp(-1)),
        "a DAG that is 900 nats heavier must not overflow",
        lambda: np.isclose(result(-9000.0, -8100.0, 6, 6), 1),
        "over a star of four states it must keep their weights",
        balanced,
    )


def check_detours(function: LogPrior) -> bool:
    """Exercise 2: `function(dag)` is minus the number of pairs with a path but no edge."""

    def result(*parents: int) -> float:
        return float(function(np.array(parents)))

    def renamed() -> bool:
        edges = [(0, 2), (2, 3), (1, 3)]
        names = [[(p[u], p[v]) for u, v in edges] for p in permutations(range(4))]
        return {float(function(bn.graphs.from_edges(4, each))) for each in names} == {-1.0}

    def untouched() -> bool:
        dag = np.array([0, 1, 2])
        function(dag)
        return bool(np.array_equal(dag, [0, 1, 2]))

    def enumerated() -> bool:
        # Four variables: a walk with this prior against the sum over all 543 DAGs.
        data = bn.load_dataset("coronary")
        table = bn.score_families(data.select(data.names[:4]).prefix(100), bn.BDeu(1.0))
        dags = space(4).dags
        log_p = table.log_target(dags) + [float(function(dag.copy())) for dag in dags]
        exact = np.tensordot(normalised(log_p), bn.graphs.to_adjacency(dags), axes=1)
        walk: Any = {"draws": 2000, "burn_in": 500, "thin": 20, "log_prior": function}
        draws = bn.sample_structures(table, rng=np.random.default_rng(SEED), **walk)
        return bool(bn.diagnostics.max_error(bn.features.edges(draws), exact) < 0.06)

    return check(
        "Exercise 2",
        "no edges, nothing to pay: 0",
        lambda: result(0, 0, 0) == 0,
        "0 -> 1 -> 2 has one such pair: -1",
        lambda: result(0, 1, 2) == -1,
        "with 0 -> 2 as well it has none: 0",
        lambda: result(0, 1, 3) == 0,
        "0 -> 1 -> 2 -> 3 has three: -3",
        lambda: result(0, 1, 2, 4) == -3,
        "the names of the nodes must not matter",
        renamed,
        "do not change the DAG that you are given",
        untouched,
        "a walk with it must agree with the sum over all DAGs of four variables",
        enumerated,
    )


def check_sampler(function: Sampler) -> bool:
    """Exercise 3: `function(dags, orders, rng)` draws well, with at most 5,000 DAGs."""

    @cache
    def run(name: str, seed: int) -> bn.Draws:
        where = target(name)
        found = function(where.dags, where.orders, np.random.default_rng(seed))
        if not isinstance(found, bn.Draws):
            raise ValueError(f"got a {type(found).__name__}")
        return found

    def error(name: str) -> float:
        sads = [target(name).sad(bn.features.edges(run(name, seed))) for seed in range(3)]
        return float(np.mean(sads))

    def hint(name: str) -> str:
        return f"{name}: the mean SAD of three seeds must be at most {MOST_ERROR:g}"

    return check(
        "Exercise 3",
        "return Draws over DAGs",
        lambda: run("coronary", 0).over == "dags",
        "they must belong to the structure-modular posterior (see .prior)",
        lambda: run("coronary", 0).prior == "structure-modular",
        f"keep at most {MOST_DAGS:,} DAGs",
        lambda: all(
            run(name, seed).log_weight.size <= MOST_DAGS for name in DATASETS for seed in range(3)
        ),
        hint("coronary"),
        lambda: error("coronary") <= MOST_ERROR,
        hint("wine"),
        lambda: error("wine") <= MOST_ERROR,
        hint("tic-tac-toe"),
        lambda: error("tic-tac-toe") <= MOST_ERROR,
    )
