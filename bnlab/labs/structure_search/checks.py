"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.checks import Ints
from bnlab.labs.board import check
from bnlab.labs.structure_search.surface import MARGIN, SEED, below, table

Score = Callable[[int, frozenset[int]], float]
Gain = Callable[[Score, Any, str, int, int], Any]
Search = Callable[[bn.ScoreTable, np.random.Generator], Any]

SEEDS = 3
ALARM_ROWS = 1000


def _changed(dag: Ints, kind: str, u: int, v: int) -> Ints:
    new = dag.copy()
    new[v] ^= np.int64(1) << u  # there now, or gone
    new[u] |= np.int64(kind == "reverse") << v
    return new


def _some_dags(count: int) -> Ints:
    dags = bn.graphs.all_dags(4)
    return dags[np.random.default_rng(SEED).permutation(len(dags))[:count]]


@cache
def _four() -> bn.ScoreTable:
    rows = bn.load_dataset("coronary")
    return bn.score_families(rows.select(rows.names[:4]), bn.BDeu(1.0))


def check_gain(function: Gain) -> bool:
    """Exercise 1: `function(score, parents, kind, u, v)` is what the move gains."""
    chain = np.array([0, 1, 2, 0])  # 0 -> 1 -> 2, and 3

    def result(kind: str, u: int, v: int, dag: Ints = chain) -> tuple[float, int]:
        asked = []  # the nodes whose scores the answer needs

        def score(w: int, parents: frozenset[int]) -> float:
            asked.append(w)
            place = np.flatnonzero(_four().parents[w] == sum(1 << x for x in parents))
            return float(_four().log_phi[w, place[0]])

        parents = [frozenset(bn.graphs.members(int(mask))) for mask in dag]
        return float(function(score, parents, kind, u, v)), len(asked)

    def right(kind: str, u: int, v: int, dag: Ints = chain) -> bool:
        before, after = _four().log_target([dag, _changed(dag, kind, u, v)])
        return bool(np.isclose(result(kind, u, v, dag)[0], after - before))

    def everywhere() -> bool:
        edges = ((u, v, dag) for dag in _some_dags(60) for u, v in bn.graphs.to_edges(dag))
        return all(right("delete", *edge) for edge in edges)

    return check(
        "Exercise 1",
        "return a number, for adding 0 -> 3",
        lambda: np.isfinite(result("add", 0, 3)[0]),
        "adding 0 -> 3: the new score of 3 less the old one",
        lambda: right("add", 0, 3),
        "adding 0 -> 2, which has a parent already",
        lambda: right("add", 0, 2),
        "deleting 1 -> 2",
        lambda: right("delete", 1, 2),
        "reversing 1 -> 2 changes two families",
        lambda: right("reverse", 1, 2),
        "ask for two scores to add or delete: all other families cancel",
        lambda: result("add", 0, 2)[1] <= 2 and result("delete", 1, 2)[1] <= 2,
        "ask for four scores to reverse",
        lambda: result("reverse", 1, 2)[1] <= 4,
        "any edge of any network must do",
        everywhere,
    )


def check_covered(function: Callable[[Ints], Any]) -> bool:
    """Exercise 2: `function(dag)` are the covered edges, those to reverse within the class."""

    def result(*parents: int) -> set[tuple[int, int]]:
        return {(int(u), int(v)) for u, v in function(np.array(parents))}

    def turns() -> bool:
        for dag in _some_dags(200):
            mine = result(*dag)
            for u, v in bn.graphs.to_edges(dag):
                try:
                    alike = bool(bn.graphs.markov_equivalent(dag, _changed(dag, "reverse", u, v)))
                except ValueError:  # a cycle
                    alike = False
                if alike != ((u, v) in mine):
                    return False
        return True

    return check(
        "Exercise 2",
        "no edges, none covered",
        lambda: result(0, 0, 0) == set(),
        "0 -> 1 alone is covered",
        lambda: result(0, 1, 0) == {(0, 1)},
        "of 0 -> 1 -> 2 the first is: 2 has a parent that 1 has not",
        lambda: result(0, 1, 2) == {(0, 1)},
        "of 0 -> 2 <- 1 none is",
        lambda: result(0, 0, 3) == set(),
        "of 0 -> 1, 0 -> 2, 1 -> 2 two are",
        lambda: result(0, 1, 3) == {(0, 1), (1, 2)},
        "reversals stay in the class exactly for covered edges",
        turns,
    )


def check_search(function: Search) -> bool:
    """Exercise 3: `function(table, rng)` finds the best network, and good ones of 37 variables."""

    @cache
    def gap(name: str) -> float:
        gaps = []
        for seed in range(SEEDS):
            dag = np.asarray(function(table(name), np.random.default_rng(seed)), np.int64)
            gaps.append(below(name, table(name).log_target(dag[None])[0]))
        return max(gaps)

    def large() -> bool:
        scores = alarm_table()
        plain = bn.hill_climb(scores, restarts=20, rng=np.random.default_rng(SEED))
        dag = np.asarray(function(scores, np.random.default_rng(SEED)), np.int64)
        return bool(scores.log_target(dag[None])[0] > plain.log_target + MARGIN)

    best = f"the best network, for {SEEDS} seeds of 3"
    return check(
        "Exercise 3",
        "return the parent masks of a DAG",
        lambda: np.isfinite(gap("wine")),
        f"wine: {best}",
        lambda: gap("wine") == 0,
        f"coronary: {best}",
        lambda: gap("coronary") == 0,
        f"tic-tac-toe: {best}",
        lambda: gap("tic-tac-toe") == 0,
        "37 variables, where nothing is exact: better than 20 restarts of the plain climb",
        large,
    )


@cache
def alarm_table() -> bn.ScoreTable:
    """1,000 rows from the structure of alarm with random tables, up to two parents."""
    net = bn.random_network("alarm", np.random.default_rng(SEED))
    rows = net.sample(ALARM_ROWS, np.random.default_rng(SEED))
    return bn.score_families(rows, bn.BDeu(1.0), max_parents=2)
