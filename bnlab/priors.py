"""Modular structure priors: a factor rho_v(P) for every node v and parent set P.

A prior over DAGs is proportional to the product of the factors (structure-modular), or to that
product times the number of node orders that the DAG is consistent with (order-modular): the
method, not the factor, decides which, and every result says it.
"""

import math
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checks import Floats, Ints, Range, frozen, shown
from bnlab.graphs import MAX_NODES
from bnlab.results import Record

LARGEST_LOG = 1e8
"""The largest magnitude of ln of a prior factor or of a score, in nats.

The log weight of a DAG of n <= 63 nodes adds n sums of a log prior and a score, each below 2e8, so
in float64 it is off by at most (n + 2) n 1e8 2**-53 < 5e-5 nats. At 1e16 it would be off by
thousands of nats, and no digit of a posterior would be left.
"""

INSTEAD = "; for edges that must or may not be, use required= and forbidden= of score_families"


class Prior(Protocol):
    """What a structure prior offers: the logarithm of its factor for families of one node.

    Examples
    --------
    >>> prior: Prior = Uniform()
    >>> prior.log_factor(3, 0, np.array([0, 2, 4, 6]))
    array([0., 0., 0., 0.])
    """

    def log_factor(self, n: int, v: int, parents: Ints, /) -> Floats:
        """Return ln rho_v(P), shape (F,), nats, for parent masks `parents` (F,) of node v out of n.

        -inf forbids a family; other values lie within -1e8..1e8. Factors need not be normalised.
        """
        ...


@frozen(eq=True)
class Uniform:
    """rho = 1: all DAGs alike (structure-modular), or all pairs of order and DAG (order-modular).

    Examples
    --------
    >>> Uniform().log_factor(3, 0, np.array([0, 6]))
    array([0., 0.])
    """

    def log_factor(self, n: int, v: int, parents: Ints, /) -> Floats:
        """Return zeros (F,)."""
        return np.zeros(_check_masks(n, v, parents).shape)


@frozen(eq=True)
class Fair:
    """rho = 1 / C(n - 1, k), k parents: all k alike [KoivistoSood2004, FriedmanKoller2003].

    Examples
    --------
    >>> np.exp(Fair().log_factor(4, 0, np.array([0, 2, 6]))).round(4)
    array([1.    , 0.3333, 0.3333])
    """

    def log_factor(self, n: int, v: int, parents: Ints, /) -> Floats:
        """Return -ln C(n - 1, |P|), shape (F,), nats."""
        masks = _check_masks(n, v, parents)
        by_size = np.array([-math.log(math.comb(n - 1, size)) for size in range(n)])
        return by_size[np.bitwise_count(masks)]


@frozen(eq=True)
class EdgePenalty:
    """rho = exp(-nats k) for k parents: each edge costs `nats`; negative values favour edges.

    Examples
    --------
    >>> EdgePenalty(nats=2.0).log_factor(3, 0, np.array([0, 2, 6]))
    array([-0., -2., -4.])
    """

    nats: Annotated[float, Range(-LARGEST_LOG, LARGEST_LOG, "[]", INSTEAD)]

    def log_factor(self, n: int, v: int, parents: Ints, /) -> Floats:
        """Return -nats |P|, shape (F,)."""
        return -float(self.nats) * np.bitwise_count(_check_masks(n, v, parents))


@frozen()
class EdgeBeliefs(Record):
    """rho = exp(-strength E_v(P)), E_v(P) = sum over u != v of abs(B[u, v] - [u in P]).

    `beliefs` B (n, n) holds degrees of belief in u -> v between 0 and 1 (0.5 says nothing); the
    diagonal is not read. The energy summed over nodes is that of [WerhliHusmeier2007, eq. 5].

    Raises
    ------
    ValueError
        If B is not square, an off-diagonal entry is outside [0, 1], or `strength` is negative.

    Examples
    --------
    >>> beliefs = EdgeBeliefs([[0, 0.9], [0.5, 0]], strength=10.0)
    >>> beliefs.log_factor(2, 1, np.array([0, 1])).round(12)
    array([-9., -1.])
    """

    beliefs: ArrayLike
    strength: Annotated[float, Range(0, LARGEST_LOG, "[]", INSTEAD)] = 1.0

    def __post_init__(self) -> None:
        matrix = np.array(self.beliefs, float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"beliefs are an (n, n) matrix; got shape {matrix.shape}")
        np.fill_diagonal(matrix, 0.0)
        for u, v in np.argwhere(~((matrix >= 0) & (matrix <= 1))):
            raise ValueError(f"beliefs[{u}, {v}] = {matrix[u, v]} is outside [0, 1]")
        self._set(beliefs=matrix)

    def __repr__(self) -> str:
        return f"EdgeBeliefs({len(np.asarray(self.beliefs))} variables, strength={self.strength:g})"

    def log_factor(self, n: int, v: int, parents: Ints, /) -> Floats:
        """Return -strength E_v(P), shape (F,), nats."""
        masks = _check_masks(n, v, parents)
        matrix = np.asarray(self.beliefs)
        if matrix.shape != (n, n):
            raise ValueError(f"beliefs have shape {matrix.shape}; the data have {n} variables")
        column = matrix[:, v]
        nodes = np.arange(n, dtype=np.int64)
        chosen = (masks[:, None] >> nodes) & 1
        energy: Floats = column.sum() + (chosen * (1.0 - 2.0 * column)).sum(axis=1)
        return -float(self.strength) * energy


def _check_masks(n: int, v: int, parents: Ints) -> Ints:
    if not 0 <= v < n <= MAX_NODES:
        raise ValueError(f"v={v}, n={n}: give a node 0..n-1, of n <= {MAX_NODES}")
    if parents.ndim != 1 or ((parents < 0) | (parents >> n > 0)).any():
        raise ValueError(f"parents={shown(parents)}: give masks (F,) of nodes 0..{n - 1}")
    return parents
