"""All DAGs of a few variables, with the number of their orders and their equivalence classes."""

from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Bools, Floats, Ints
from bnlab.linear_extensions import log_count
from bnlab.papers.em2007.cases import GraphPrior


@dataclass(frozen=True, slots=True, eq=False)
class DagSpace:
    """All N DAGs of n variables.

    Attributes
    ----------
    dags : int64 (N, n), parent masks
    orders : int64 (N,), l(G), the number of orders that G is consistent with
    classes : int64 (N,), equal numbers for Markov-equivalent DAGs
    shapes : int64 (N,), equal numbers for DAGs that differ in the names of their nodes only
    """

    dags: Ints
    orders: Ints
    classes: Ints
    shapes: Ints

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.dags.shape[1])

    @property
    def edges(self) -> Bools:
        """Adjacency matrices (N, n, n), [:, u, v] where u -> v."""
        return graphs.to_adjacency(self.dags)


@cache
def space(n: int, /) -> DagSpace:
    """All DAGs of n <= 5 variables."""
    if not 1 <= n <= 5:
        raise ValueError(f"n={n}: listing all DAGs is for 1 to 5 variables (29,281 DAGs)")
    dags = graphs.all_dags(n)
    arrays = dags, count_orders(dags), equivalence_classes(dags), _shapes(dags)
    for array in arrays:
        array.setflags(write=False)
    return DagSpace(*arrays)


def count_orders(dags: ArrayLike, /) -> Ints:
    """l(G) of small DAGs (..., n), the number of orders consistent with each: int64 (...)."""
    return np.asarray(np.rint(np.exp(log_count(dags))), np.int64)


def equivalence_classes(dags: ArrayLike, /) -> Ints:
    """A number for each DAG (N, n), equal where skeletons and v-structures are: int64 (N,)."""
    arrows = graphs.to_adjacency(dags)
    joined = arrows | arrows.swapaxes(1, 2)
    columns = [np.zeros(len(arrows), bool)]  # a single variable has no pairs
    for u in range(arrows.shape[-1]):
        for w in range(u):
            meet = arrows[:, u] & arrows[:, w] & ~joined[:, u, w, None]
            columns += [joined[:, u, w], *meet.T]
    keys = np.packbits(np.stack(columns, axis=1), axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(len(keys))


def log_factor(prior: bn.Prior, dags: Ints, /) -> Floats:
    """ln of the product of the prior factors of DAGs (N, n): (N,), nats."""
    n = dags.shape[1]
    return np.asarray(np.sum([prior.log_factor(n, v, dags[:, v]) for v in range(n)], axis=0))


def log_prior(prior: GraphPrior, everything: DagSpace, /, *, nats: float = 0.0) -> Floats:
    """ln p(G) of all DAGs, (N,), in nats, up to a constant; each arrow costs `nats` on top."""
    out = log_factor(prior.factor, everything.dags)
    out = out + log_factor(bn.EdgePenalty(nats), everything.dags)
    return out + np.log(everything.orders) if prior.by_orders else out


def _shapes(dags: Ints) -> Ints:
    """A number for each DAG (N, n), equal where a renaming of the nodes makes them equal: (N,)."""
    n = dags.shape[1]
    arrows = graphs.to_adjacency(dags)
    bits = np.int64(1) << np.arange(n * n, dtype=np.int64).reshape(n, n)
    index = {int(key): i for i, key in enumerate((arrows * bits).sum(axis=(1, 2)))}
    renamings = np.array(list(permutations(range(n))))
    shapes = np.full(len(dags), -1, np.int64)
    for i, one in enumerate(arrows):
        if shapes[i] < 0:
            renamed = one[renamings[:, :, None], renamings[:, None, :]]
            same = {index[int(key)] for key in (renamed * bits).sum(axis=(1, 2))}
            shapes[list(same)] = shapes.max() + 1
    return shapes
