"""What the order-modular prior does inside a class of equivalent DAGs, whatever the data say."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.linear_extensions import log_count
from bnlab.papers.stat521a.search import BDEU, stream
from bnlab.papers.store import normalised

Class = tuple[tuple[bool, ...], ...]

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DATA_SETS = 10


@cache
def everything() -> tuple[Ints, Floats]:
    """Return all DAGs of five nodes (29281, 5), and ln of the number of orders of each."""
    dags = graphs.all_dags(5)
    return dags, log_count(dags)


@cache
def true_class() -> Ints:
    """Return which of them are equivalent to the cancer network, by the number of their orders."""
    dags, log_orders = everything()
    found = np.flatnonzero(graphs.markov_equivalent(bn.load_network("cancer").dag, dags))
    return np.asarray(found[np.argsort(log_orders[found], kind="stable")])


def orders() -> list[int]:
    """Return the number of orders of each member of the true class."""
    return [int(count) for count in np.exp(everything()[1][true_class()]).round()]


class Bias(NamedTuple):
    """Exact posteriors of one data set, by sums over all DAGs; the last axis is the members."""

    alike: Floats  # (sizes, 4), p(G | D) of each member of the true class, each DAG alike
    modular: Floats  # (sizes, 4), the same under the order-modular prior
    sad: Floats  # (sizes,), edge probabilities of one from those of the other


def bias(number: int, /) -> Bias:
    """Return the posteriors for growing parts of data set `number` of the cancer network."""
    rows = bn.load_network("cancer").sample(SIZES[-1], stream(1, number))
    dags, log_orders = everything()
    edges, members = graphs.to_adjacency(dags), true_class()
    alike, modular, sad = [], [], []
    for m in SIZES:
        table = bn.score_families(rows.prefix(m), BDEU, max_parents=4)
        log_p = table.log_target(dags)
        both = [normalised(log_p), normalised(log_p + log_orders)]
        alike.append(both[0][members])
        modular.append(both[1][members])
        sad.append(np.abs(np.tensordot(both[0] - both[1], edges, axes=1)).sum())
    return Bias(np.array(alike), np.array(modular), np.array(sad))


@cache
def biases() -> Bias:
    """Return the means over data sets."""
    found = [bias(number) for number in range(DATA_SETS)]
    return Bias(*(np.mean(part, axis=0) for part in zip(*found, strict=True)))


def limits() -> tuple[Floats, float]:
    """Return shares of the members (4,) as rows grow without end, and the SAD of the edges then.

    Members have equal scores, so their shares are those of their numbers of orders.
    """
    dags, log_orders = everything()
    members = true_class()
    shares = normalised(log_orders[members])
    edges = graphs.to_adjacency(dags[members])
    return shares, float(np.abs(np.tensordot(shares - 1 / len(shares), edges, axes=1)).sum())


def neighbours(dags: ArrayLike, /) -> set[Class]:
    """Return the classes, as CPDAGs, of DAGs that differ from DAGs (k, n) by one edge."""
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
    """Return mean and largest share of neighbouring classes that one member misses, and classes."""
    dags = graphs.all_dags(n)
    _, which = np.unique(graphs.cpdag(dags).reshape(len(dags), -1), axis=0, return_inverse=True)
    shares = []
    for c in range(which.max() + 1):
        members = dags[which == c]
        shares.append(1 - len(neighbours(members[:1])) / len(neighbours(members)))
    return float(np.mean(shares)), max(shares), len(shares)
