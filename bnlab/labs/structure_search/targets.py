"""Score tables, their best networks, what each next move gains, and averages of the k best."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

import bnlab as bn
from bnlab.labs.datasets import Bools, Case, Floats, Ints, bdeu_table, rows

SEED = 2022
MAX_PARENTS = 3
BDEU = bn.BDeu(1.0)
MARGIN = 1e-6  # nats; scores nearer than this are one score, summed in another order
COUNTS = (1, 3, 10, 30, 100, 300, 1000)  # the k best networks
SQUARES = ("a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1", "won")


data, table = rows, bdeu_table
"""As the lab calls them: all rows of a case, and its BDeu scores with up to three parents."""


def scored(chosen: bn.Data, score: bn.Score = BDEU, /) -> bn.ScoreTable:
    """The scores of families of up to three parents, BDeu with ess 1 by default; each DAG alike."""
    return bn.score_families(chosen, score, max_parents=MAX_PARENTS)


@cache
def best(case: Case) -> bn.BestDags:
    """The network of highest score of a case, by the exact dynamic program."""
    return bn.map_dag(table(case))


def below(case: Case, log_target: float, /) -> float:
    """How many nats a score is below the best there is; 0 within rounding."""
    gap = float(best(case).log_target[0] - log_target)
    return gap if gap > MARGIN else 0.0


def names(case: Case, /) -> tuple[str, ...]:
    """Return the names of the variables, squares of the board as in chess."""
    return SQUARES if case == "tic-tac-toe" else data(case).names


def move_gains(scores: bn.ScoreTable, dag: Ints, /) -> Floats:
    """What each next move gains, (n, n) nats: [u, v] is for the pair u, v.

    Where u -> v is there, of taking it away; where v -> u is there, of turning it round; else of
    adding u -> v. nan where that closes a cycle or makes too many parents, and for u = v.
    """
    gains = np.full((dag.size, dag.size), np.nan)
    now = scores.log_target(dag[None])[0]
    for u, v in np.argwhere(~np.eye(dag.size, dtype=bool)):
        after = dag.copy()
        after[u] &= ~(np.int64(1) << v)
        closes = bn.graphs.ancestors(after)[u] >> v & 1  # a path from v to u
        if dag[v] >> u & 1 or not closes:
            after[v] ^= np.int64(1) << u
            gains[u, v] = scores.log_target(after[None])[0] - now
    gains[np.isinf(gains)] = np.nan
    return gains


@cache
def classes(case: Case, first: int = 4) -> tuple[Floats, tuple[Ints, ...]]:
    """The Markov equivalence classes of the first variables, best first: scores and members.

    Returns
    -------
    tuple
        (C,) nats, and C arrays (members, n).
    """
    few = data(case).select(data(case).names[:first])
    dags = bn.graphs.all_dags(first)
    log_target = bn.score_families(few, bn.BDeu(1.0)).log_target(dags)
    _, number = np.unique(bn.graphs.cpdag(dags), axis=0, return_inverse=True)
    groups = [np.flatnonzero(number == c) for c in range(number.max() + 1)]
    groups.sort(key=lambda group: (-round(float(log_target[group[0]]), 6), group[0]))
    return log_target[[group[0] for group in groups]], tuple(dags[group] for group in groups)


def apart(first: Bools, second: Bools, /) -> int:
    """Structural Hamming distance of two CPDAGs (n, n): pairs of nodes joined in another way."""
    other = first != second
    return int(np.triu(other | other.T).sum())


class Average(NamedTuple):
    """An average over the k best networks.

    Attributes
    ----------
    edges : (n, n) probabilities
    mass : the posterior probability of the k networks together
    classes : how many Markov equivalence classes they are of
    """

    edges: Floats
    mass: float
    classes: int


@cache
def exact(case: Case) -> bn.DagPosterior:
    """The exact structure-modular posterior of a case."""
    return bn.dag_posterior(table(case))


@cache
def _listed(case: Case) -> bn.BestDags:
    return bn.k_best_dags(table(case), COUNTS[-1])


@cache
def average(case: Case, k: int) -> Average:
    """The k best networks of a case, weighed by their probabilities."""
    first = _first(_listed(case), k)
    draws = first.as_draws(log_z=exact(case).log_z)
    edges: Floats = bn.features.edges(draws)
    return Average(edges, float(draws.stats["mass"][0]), count_classes(first.dags))


def count_classes(dags: Ints, /) -> int:
    """How many Markov equivalence classes DAGs (k, n) are of."""
    return len(np.unique(bn.graphs.cpdag(dags), axis=0))


def close_calls(case: Case, score: bn.Score, factor: float = 3.0, most: int = 250) -> bn.BestDags:
    """All DAGs within a Bayes factor of the best one, under a score of a case.

    Raises
    ------
    ValueError
        If there are more than `most`.
    """
    listed = bn.k_best_dags(scored(data(case), score), most)
    count = int((listed.log_target > listed.log_target[0] - np.log(factor)).sum())
    if count == most:
        raise ValueError(f"more than {most} DAGs within a factor of {factor:g}: raise most")
    return _first(listed, count)


def _first(listed: bn.BestDags, count: int) -> bn.BestDags:
    columns = ("dags", "log_target", "log_weight")
    return replace(listed, **{name: getattr(listed, name)[:count] for name in columns})
