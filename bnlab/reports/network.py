"""The network of one DAG, its tables averaged over what the data leave open."""

import math

import numpy as np
from numpy.typing import NDArray

from bnlab.data import Data
from bnlab.graphs import members
from bnlab.networks import BayesNet
from bnlab.prediction.tables import posterior_tables
from bnlab.scores import Score

Ints = NDArray[np.int64]


def mean_network(dag: Ints, data: Data, score: Score, /) -> BayesNet:
    """The Bayesian network of a DAG with posterior mean parameters, (a_jk + N_jk) / (a_j + N_j).

    Raises
    ------
    ValueError
        If the score has no pseudo-counts, as BIC.

    Examples
    --------
    >>> from bnlab import BDeu
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]])
    >>> mean_network(np.array([0, 1]), data, BDeu()).tables[0].round(3)
    array([[0.625, 0.375]])
    """
    tables, out = posterior_tables(data, score), []
    for v in range(data.n):
        family = [*members(dag[v]), v]
        sizes = [int(data.arities[u]) for u in family]
        cells = math.prod(sizes)
        rows = np.zeros((data.n, cells), np.int32)
        rows[family] = np.indices(sizes).reshape(len(sizes), cells)
        log_means = tables.log_means(v, dag[v : v + 1], rows)[0]
        out.append(np.exp(log_means).reshape(-1, sizes[-1]))
    return BayesNet(dag, data.arities, data.names, data.levels, tuple(out))
