"""What the order-modular prior does inside a class of equivalent DAGs, whatever the data say."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.stat521a.world import BDEU, stream
from bnlab.linear_extensions import log_count

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Class = tuple[tuple[bool, ...], ...]

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DATA_SETS = 10


@cache
def everything() -> tuple[Ints, Floats]:
    """All DAGs of five nodes (29281, 5), and ln of the number of orders of each.

    Examples
    --------
    >>> dags, log_orders = everything()
    >>> round(float(np.exp(log_orders).sum()))
    122880
    """
    dags = graphs.all_dags(5)
    return dags, log_count(dags)


@cache
def true_class() -> Ints:
    """Which of them are equivalent to the cancer network, by the number of their orders.

    Examples
    --------
    >>> np.exp(everything()[1][true_class()]).round().astype(int).tolist()
    [1, 2, 4, 5]
    """
    dags, log_orders = everything()
    found = np.flatnonzero(graphs.markov_equivalent(bn.load_network("cancer").dag, dags))
    ranked: Ints = found[np.argsort(log_orders[found], kind="stable")]
    return ranked


class Bias(NamedTuple):
    """Exact posteriors of one data set, by sums over all DAGs; the last axis is the members.

    Attributes
    ----------
    alike : (sizes, 4), p(G | D) of each member of the true class, each DAG alike
    modular : (sizes, 4), the same under the order-modular prior
    sad : (sizes,), edge probabilities of one from those of the other
    """

    alike: Floats
    modular: Floats
    sad: Floats


def bias(number: int, /, sizes: tuple[int, ...] = SIZES) -> Bias:
    """The posteriors for growing parts of data set `number` of the cancer network.

    Examples
    --------
    >>> bias(0, (10, 100)).modular.shape
    (2, 4)
    """
    rows = bn.load_network("cancer").sample(max(sizes), stream(1, number))
    dags, log_orders = everything()
    edges, members = graphs.to_adjacency(dags), true_class()
    alike, modular, sad = [], [], []
    for m in sizes:
        table = bn.score_families(rows.prefix(m), BDEU, max_parents=4)
        log_p = table.log_target(dags)
        both = [_normalised(log_p), _normalised(log_p + log_orders)]
        alike.append(both[0][members])
        modular.append(both[1][members])
        sad.append(np.abs(np.tensordot(both[0] - both[1], edges, axes=1)).sum())
    return Bias(np.array(alike), np.array(modular), np.array(sad))


def biases(sizes: tuple[int, ...] = SIZES, data_sets: int = DATA_SETS) -> Bias:
    """The means over data sets.

    Examples
    --------
    >>> biases((10,), 2).sad.shape
    (1,)
    """
    found = [bias(number, sizes) for number in range(data_sets)]
    return Bias(*(np.mean(part, axis=0) for part in zip(*found, strict=True)))


def limits() -> tuple[Floats, float]:
    """Shares of the members (4,) as rows grow without end, and the SAD of the edges then.

    Members have equal scores, so their shares under the order-modular prior are those of their
    numbers of orders, with any data.

    Examples
    --------
    >>> shares, sad = limits()
    >>> shares.round(4).tolist(), round(sad, 4)
    ([0.0833, 0.1667, 0.3333, 0.4167], 0.6667)
    """
    dags, log_orders = everything()
    members = true_class()
    shares = _normalised(log_orders[members])
    edges = graphs.to_adjacency(dags[members])
    return shares, float(np.abs(np.tensordot(shares - 1 / len(shares), edges, axes=1)).sum())


def neighbours(dags: ArrayLike, /) -> set[Class]:
    """Classes of the DAGs that one edge more or less makes of DAGs (k, n), as their CPDAGs.

    Examples
    --------
    >>> len(neighbours([[0, 1, 2]]))  # 0 -> 1 -> 2: two deletions, one addition
    3
    """
    near = []
    for dag in np.asarray(dags, np.int64):
        for u, v in np.argwhere(~np.eye(dag.size, dtype=bool)):
            other = dag.copy()
            other[v] ^= np.int64(1) << u
            if other[v] < dag[v] or not graphs.ancestors(dag)[u] >> v & 1:
                near.append(other)
    matrices = np.unique(graphs.cpdag(np.array(near)), axis=0)
    return {tuple(map(tuple, matrix.tolist())) for matrix in matrices}


def missed(n: int, /) -> tuple[float, float, int]:
    """What is missed by going on from one DAG of a class, the first in the list of all DAGs.

    Returns
    -------
    tuple
        Mean share of the neighbouring classes missed, largest share, and number of classes.

    Examples
    --------
    >>> missed(2)
    (0.0, 0.0, 2)
    """
    dags = graphs.all_dags(n)
    _, which = np.unique(graphs.cpdag(dags).reshape(len(dags), -1), axis=0, return_inverse=True)
    shares = []
    for c in range(which.max() + 1):
        members = dags[which == c]
        shares.append(1 - len(neighbours(members[:1])) / len(neighbours(members)))
    return float(np.mean(shares)), max(shares), len(shares)


def _normalised(log_p: Floats) -> Floats:
    p = np.exp(log_p - log_p.max())
    out: Floats = p / p.sum()
    return out
