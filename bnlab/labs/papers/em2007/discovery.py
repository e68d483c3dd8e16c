"""Figures 4 and 5: which edges and paths of a known network of 20 nodes are found."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.em2007.cases import ESS, child, stream
from bnlab.labs.papers.em2007.walks import SAMPLERS, walk

Floats = NDArray[np.float64]

MAX_PARENTS = 3
RUNS = 10
DIRECT = 5000  # independent DAGs
KINDS = ("edges", "paths")
THIN = {"Local": 2500, "Gibbs": 500, "Hybrid": 50, "Global": 50, "Order": 350}
"""Moves before a draw: all samplers take about the same time, a quarter of a second for 2,000
draws of one chain."""


class Found(NamedTuple):
    """Areas under the ROC curve on one data set: for edges, then for paths (KINDS).

    Attributes
    ----------
    by_chain : (samplers, runs, 2), in the order of SAMPLERS
    dp : (), of edges by the exact dynamic program, order-modular
    direct : (2,), of independent DAGs under that posterior, 5,000 of them
    distinct : (2,), of the same DAGs, each once with its own weight, structure-modular
    seconds : (samplers,), processor time of one chain, with the DP where it proposes
    """

    by_chain: Floats
    dp: Floats
    direct: Floats
    distinct: Floats
    seconds: Floats


def discover(number: int, /, *, draws: int, runs: int = RUNS) -> Found:
    """All methods on data set `number` of the child structure; chains drop their first half.

    Examples
    --------
    >>> discover(0, draws=4, runs=2).by_chain.shape
    (5, 2, 2)
    """
    network, data = child(number)
    table = bn.score_families(data, bn.BDeu(ESS), max_parents=MAX_PARENTS)
    by_chain, seconds = [], []
    for sampler in SAMPLERS:
        walked = walk(table, sampler, draws=draws, chains=runs, thin=THIN[sampler], key=number)
        kept = walked.draws.values[:, draws // 2 :]
        by_chain.append([areas(dags, network.dag) for dags in kept])
        seconds.append(walked.setup + walked.seconds)
    posterior = bn.order_posterior(table)
    direct = bn.sample_dags(posterior, draws=DIRECT, rng=stream(5, number))
    distinct = bn.reweight_unique(direct)
    weights = np.exp(distinct.log_weight[0] - distinct.log_weight.max())
    return Found(
        np.array(by_chain),
        np.array(skeleton_auc(posterior.edges, network.dag)),
        areas(direct.values[0], network.dag),
        areas(distinct.values[0], network.dag, weights),
        np.array(seconds),
    )


def areas(dags: ArrayLike, truth: ArrayLike, weights: ArrayLike | None = None, /) -> Floats:
    """Areas for edges and for paths (2,), from DAGs (T, n) and their weights (T,).

    Examples
    --------
    >>> areas([[0, 1, 0], [0, 1, 0], [2, 0, 0]], [0, 1, 0])
    array([1., 1.])
    """
    edges, paths = edges_and_paths(dags, weights)
    leads = graphs.to_adjacency(graphs.ancestors(truth))
    return np.array([skeleton_auc(edges, truth), bn.diagnostics.auc(paths, leads)])


def edges_and_paths(dags: ArrayLike, weights: ArrayLike | None = None, /) -> tuple[Floats, Floats]:
    """Probabilities of edges and of paths, (n, n) each, by DAGs (T, n) and their weights (T,).

    Examples
    --------
    >>> edges, paths = edges_and_paths([[0, 1, 2], [0, 1, 0]])
    >>> edges[0].tolist(), paths[0].tolist()
    ([0.0, 1.0, 0.0], [0.0, 1.0, 0.5])
    """
    masks = np.asarray(dags)
    given = np.ones(len(masks)) if weights is None else np.asarray(weights)
    shares = given / given.sum()
    edges, paths = (
        np.tensordot(shares, graphs.to_adjacency(each), axes=1)
        for each in (masks, graphs.ancestors(masks))
    )
    return edges, paths


def skeleton_auc(edges: Floats, truth: ArrayLike, /) -> float:
    """The area for edges in either direction, as the paper has it.

    Examples
    --------
    >>> skeleton_auc(np.array([[0, 0, 0.1], [0.9, 0, 0], [0, 0, 0]]), [0, 1, 0])
    1.0
    """
    joined = graphs.to_adjacency(truth)
    return bn.diagnostics.auc(np.minimum(edges + edges.T, 1.0), joined | joined.T)
