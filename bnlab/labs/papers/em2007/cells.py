"""Figure 8: signalling in T-cells, 5,400 cells of which 3,600 had a protein set from outside."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.em2007.cases import ESS, stream
from bnlab.labs.papers.em2007.forecasts import EXACT_DRAWS, FOLDS, MAX_PARENTS, split

Floats = NDArray[np.float64]

EDGE_PARENTS = 5
NAMES = ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
READINGS = ("used", "used, by orders", "ignored")
"""What is done with the interventions: used under the uniform prior over DAGs, used under the
order-modular one, and taken for observations, uniform over DAGs."""


def edges(data: bn.Data, /) -> Floats:
    """Exact edge probabilities (3, n, n), in the order of READINGS.

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> edges(replace(data, intervened=np.zeros((60, 5), bool))).shape
    (3, 5, 5)
    """
    used, ignored = (
        bn.score_families(each, bn.BDeu(ESS), max_parents=min(data.n - 1, EDGE_PARENTS))
        for each in (data, replace(data, intervened=None))
    )
    return np.array(
        [
            bn.dag_posterior(used).edges,
            bn.order_posterior(used).edges,
            bn.dag_posterior(ignored).edges,
        ]
    )


def consensus() -> NDArray[np.int64]:
    """The network that biologists agree on, parent masks (11,) by the places of NAMES.

    Raises
    ------
    FileNotFoundError
        If the network is neither kept in a folder nor can be downloaded; see `load_network`.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.kept import saved
    >>> int(np.bitwise_count(saved().arrays["cells network"]).sum())  # of this function
    17
    """
    network = bn.load_network("sachs")
    places = [NAMES.index(name) for name in network.names]
    edges = [(places[u], places[v]) for u, v in graphs.to_edges(network.dag)]
    return graphs.from_edges(len(NAMES), edges)


def ignoring(data: bn.Data, fold: int, key: int, /) -> float:
    """Mean ln p of a held-out row if what was set from outside is taken for observed in training.

    The held-out rows are judged as always: a protein that was set is no part of the prediction.
    DAGs are independent draws of the exact structure-modular posterior.

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> ignoring(data, 0, 1) < 0
    True
    """
    train, test = split(data, fold, key)
    train = replace(train, intervened=None)
    table = bn.score_families(train, bn.BDeu(ESS), max_parents=MAX_PARENTS)
    draws = bn.sample_dags(bn.dag_posterior(table), draws=EXACT_DRAWS, rng=stream(9, key, fold))
    return float(bn.predict.log_density(draws, train, test, score=bn.BDeu(ESS)).mean())


def every_fold_ignoring(data: bn.Data, key: int, /) -> Floats:
    """`ignoring` for all ten folds, (10,).

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> every_fold_ignoring(data, 1).shape
    (10,)
    """
    return np.array([ignoring(data, fold, key) for fold in range(FOLDS)])
