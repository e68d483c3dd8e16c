"""Five variables, all 29,281 DAGs, and what each prior makes of the same data."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.datasets import rows as rows_of
from bnlab.labs.modular_priors.space import log_factor, normalised, space

SIZES = (0, 20, 50, 100, 200, 500, 1000, 1841)
CAUSE, EFFECT = 1, 0  # M. Work and Smoking
PATH_NATS = 5.0
MOST_EDGES = 4

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@cache
def five(data: bn.Data | None = None) -> bn.Data:
    """Return five variables of the coronary data, or of a table, in a random order of the rows."""
    data = rows_of("coronary") if data is None else data
    return data.select(data.names[:5]).shuffled(np.random.default_rng(2007))


def sizes(data: bn.Data | None = None) -> tuple[int, ...]:
    """Return the stops of the slider of rows for the coronary data, or for a table."""
    m = five(data).m
    return (*(size for size in SIZES if size < m), m)


def no_path(dag: Ints, /) -> float:
    """ln of a prior factor: 5 nats against any path from M. Work to Smoking."""
    return float(-PATH_NATS * (bn.graphs.ancestors(dag)[EFFECT] >> CAUSE & 1))


def few_edges(dag: Ints, /) -> float:
    """ln of a prior factor: at most four edges."""
    return 0.0 if np.bitwise_count(dag).sum() <= MOST_EDGES else -np.inf


def _of_each(log_prior: Callable[[Ints], float]) -> Callable[[], Floats]:
    return lambda: np.array([log_prior(dag) for dag in space(5).dags])


PRIORS: Mapping[str, Callable[[], Floats]] = MappingProxyType(
    {
        "each DAG alike": lambda: np.zeros(len(space(5).dags)),
        "order-modular": lambda: np.log(space(5).orders),
        "Fair": lambda: log_factor(bn.Fair(), space(5).dags),
        "at most 4 edges": _of_each(few_edges),
        "no path M. Work → Smoking": _of_each(no_path),
    }
)
"""Priors on the DAGs: name -> function that gives ln of the factor of each DAG, (29281,)."""


@cache
def log_factors(prior: str) -> Floats:
    """ln of the prior factor of each of the 29,281 DAGs, up to a constant."""
    return PRIORS[prior]()


def five_table(m: int, data: bn.Data | None = None, /) -> bn.ScoreTable:
    """Return the BDeu scores of the first rows of `five(data)`, up to four parents, q = 1."""
    return bn.score_families(five(data).prefix(m), bn.BDeu(1.0), max_parents=4)


@cache
def log_likelihoods(m: int, data: bn.Data | None = None) -> Floats:
    """Return ln p(D | G) of each DAG for the first rows of `five(data)`, nats."""
    return five_table(m, data).log_target(space(5).dags)


@cache
def believed(prior: str, rows: int, data: bn.Data | None = None) -> Floats:
    """Return (5, 5) edge probabilities by the sum over all DAGs."""
    p = normalised(log_factors(prior) + log_likelihoods(rows, data))
    edges: Floats = np.tensordot(p, _adjacency(), axes=1)
    return edges


@cache
def _adjacency() -> Floats:
    return bn.graphs.to_adjacency(space(5).dags).astype(np.float64)
