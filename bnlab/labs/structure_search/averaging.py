"""What the k best networks say together, beside the best alone and the exact average."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.structure_search.targets import data, scored, table

COUNTS = (1, 3, 10, 30, 100, 300, 1000)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Average:
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
def exact(name: str) -> bn.DagPosterior:
    """The exact structure-modular posterior of one of `DATASETS`.

    Examples
    --------
    >>> exact("coronary").edges.shape
    (6, 6)
    """
    return bn.dag_posterior(table(name))


@cache
def _listed(name: str) -> bn.BestDags:
    return bn.k_best_dags(table(name), COUNTS[-1])


@cache
def average(name: str, k: int) -> Average:
    """The k best networks of one of `DATASETS`, weighed by their probabilities.

    Examples
    --------
    >>> set(average("coronary", 1).edges.ravel().tolist())
    {0.0, 1.0}
    """
    full = _listed(name)
    first = bn.BestDags(
        full.dags[:k], full.log_target[:k], full.log_weight[:k], full.prior, full.names, full.run
    )
    draws = first.as_draws(log_z=exact(name).log_z)
    edges: Floats = bn.features.edges(draws)
    return Average(edges, float(draws.stats["mass"][0]), count_classes(first.dags))


def count_classes(dags: Ints, /) -> int:
    """How many Markov equivalence classes DAGs (k, n) are of.

    Examples
    --------
    >>> count_classes(np.array([[0, 1, 2], [2, 4, 0], [0, 5, 0]]))
    2
    """
    return len(np.unique(bn.graphs.cpdag(dags).reshape(len(dags), -1), axis=0))


def close_calls(name: str, score: bn.Score, factor: float = 3.0, most: int = 250) -> bn.BestDags:
    """All DAGs within a Bayes factor of the best one, under a score of one of `DATASETS`.

    Raises
    ------
    ValueError
        If there are more than `most`.

    Examples
    --------
    >>> len(close_calls("wine", bn.BIC()).dags)
    52
    """
    listed = bn.k_best_dags(scored(data(name), score), most)
    count = int((listed.log_target > listed.log_target[0] - np.log(factor)).sum())
    if count == most:
        raise ValueError(f"more than {most} DAGs within a factor of {factor:g}: raise most")
    return bn.BestDags(
        listed.dags[:count],
        listed.log_target[:count],
        listed.log_weight[:count],
        listed.prior,
        listed.names,
        listed.run,
    )
