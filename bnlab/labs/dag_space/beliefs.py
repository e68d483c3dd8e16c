"""Five variables, all 29,281 DAGs, and what each prior makes of the same data."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.modular_priors import normalised, space

SIZES = (0, 20, 50, 100, 200, 500, 1000, 1841)
CAUSE, EFFECT = 1, 0  # M. Work and Smoking
PATH_NATS = 5.0
MOST_EDGES = 4

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@cache
def five() -> bn.Data:
    """The first five variables of the coronary data, in a random order of the rows.

    Examples
    --------
    >>> five().n
    5
    """
    data = bn.load_dataset("coronary")
    return data.select(data.names[:5]).shuffled(np.random.default_rng(2007))


def no_path(dag: Ints, /) -> float:
    """ln of a prior factor: 5 nats against any path from M. Work to Smoking.

    Examples
    --------
    >>> no_path(np.array([4, 0, 2, 0, 0]))  # M. Work -> P. Work -> Smoking
    -5.0
    """
    return float(-PATH_NATS * (bn.graphs.ancestors(dag)[EFFECT] >> CAUSE & 1))


def few_edges(dag: Ints, /) -> float:
    """ln of a prior factor: at most four edges.

    Examples
    --------
    >>> few_edges(np.array([0, 1, 3, 7, 0]))
    -inf
    """
    return 0.0 if np.bitwise_count(dag).sum() <= MOST_EDGES else -np.inf


def _of_each(log_prior: Callable[[Ints], float]) -> Callable[[], Floats]:
    return lambda: np.array([log_prior(dag) for dag in space(5).dags])


PRIORS: Mapping[str, Callable[[], Floats]] = MappingProxyType(
    {
        "each DAG alike": lambda: np.zeros(len(space(5).dags)),
        "order-modular": lambda: np.log(space(5).orders),
        "Fair": lambda: _log_factor(bn.Fair()),
        "at most 4 edges": _of_each(few_edges),
        "no path M. Work → Smoking": _of_each(no_path),
    }
)
"""Priors on the DAGs: name -> function that gives ln of the factor of each DAG, (29281,)."""


@cache
def log_factors(prior: str) -> Floats:
    """ln of the prior factor of each of the 29,281 DAGs, up to a constant.

    Examples
    --------
    >>> log_factors("each DAG alike").any()
    np.False_
    """
    return PRIORS[prior]()


@cache
def log_likelihoods(rows: int) -> Floats:
    """ln p(D | G) of each DAG for the first rows of `five()`, nats.

    Examples
    --------
    >>> log_likelihoods(0).round(9).any()
    np.False_
    """
    return five_table(rows).log_target(space(5).dags)


def five_table(rows: int, /) -> bn.ScoreTable:
    """BDeu scores of the first rows of `five()`, up to four parents, q = 1.

    Examples
    --------
    >>> five_table(20).n
    5
    """
    return bn.score_families(five().prefix(rows), bn.BDeu(1.0), max_parents=4)


@cache
def believed(prior: str, rows: int) -> Floats:
    """(5, 5) edge probabilities by the sum over all DAGs.

    Examples
    --------
    >>> believed("each DAG alike", 0)[0, 1].round(3)
    np.float64(0.301)
    """
    p = normalised(log_factors(prior) + log_likelihoods(rows))
    edges: Floats = np.tensordot(p, _adjacency(), axes=1)
    return edges


@cache
def _adjacency() -> Floats:
    return bn.graphs.to_adjacency(space(5).dags).astype(np.float64)


def _log_factor(prior: bn.Prior) -> Floats:
    dags = space(5).dags
    factors: Floats = np.sum([prior.log_factor(5, v, dags[:, v]) for v in range(5)], axis=0)
    return factors
