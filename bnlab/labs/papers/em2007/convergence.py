"""Figures 2 and 3: how far edge probabilities are from the exact ones, move by move.

For up to 7 variables.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.graphs import predecessor_masks
from bnlab.labs.papers.em2007.walks import Walk
from bnlab.linear_extensions import log_count

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STOPS = tuple(2**power for power in range(5, 16))
"""Moves at which the curves are read: 32 to 32,768."""


def edges_at(walk: Walk, stops: Sequence[int], /) -> Floats:
    """Edge probabilities (chains, stops, n, n) from the first draws of each chain.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.walks import example, walk
    >>> edges_at(walk(example(), "Local", draws=8, chains=2), [2, 8]).shape
    (2, 2, 2, 2)
    """
    return _weighted(walk, stops, lambda dags: np.ones(len(dags)))


def counted_edges_at(walk: Walk, stops: Sequence[int], /) -> Floats:
    """As `edges_at`, each draw weighed by one over the number of all orders that agree with it.

    This turns draws of the order sampler from the order-modular to the structure-modular posterior.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.walks import example, walk
    >>> counted_edges_at(walk(example(), "Order", draws=8, chains=2), [2, 8]).shape
    (2, 2, 2, 2)
    """
    return _weighted(walk, stops, lambda dags: np.exp(-log_count(dags)))


def ellis_edges_at(walk: Walk, stops: Sequence[int], /) -> Floats:
    """As `edges_at`, each draw weighed by one over the number of *sampled* orders that agree.

    That is the paper's display of Ellis and Wong's correction [EatonMurphy2007, sec. 3]. The
    sampled orders follow the posterior and are not all orders, so a bias stays.

    Parameters
    ----------
    walk : of the order sampler

    Raises
    ------
    ValueError
        If the walk is not on orders.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.walks import example, walk
    >>> ellis_edges_at(walk(example(), "Order", draws=8, chains=2), [2, 8]).shape
    (2, 2, 2, 2)
    """
    if walk.orders is None:
        raise ValueError(f"the {walk.sampler} sampler has no orders: pass a walk of Order")
    chains = zip(walk.draws.values, walk.orders.values, strict=True)
    return np.array([_ellis(dags, orders, stops) for dags, orders in chains])


def sad(edges: ArrayLike, exact: ArrayLike, /) -> Floats:
    """Sums of absolute differences, (..., n, n) and (n, n) to (...).

    Examples
    --------
    >>> sad(np.zeros((3, 2, 2)), [[0, 0.5], [0.25, 0]])
    array([0.75, 0.75, 0.75])
    """
    out: Floats = np.abs(np.asarray(edges) - np.asarray(exact)).sum(axis=(-2, -1))
    return out


def _weighted(walk: Walk, stops: Sequence[int], weigh: Callable[[Ints], Floats]) -> Floats:
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int64)
    out = []
    for dags in walk.draws.values[:, : stops[-1]]:
        distinct, which = _distinct(dags)
        shares = _sums(which, starts, len(distinct)) * weigh(distinct)
        out.append(_edges(shares, distinct))
    return np.array(out)


def _ellis(dags: Ints, orders: Ints, stops: Sequence[int]) -> Floats:
    dags, orders = dags[: stops[-1]], orders[: stops[-1]]
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int64)
    distinct, which = _distinct(dags)
    kinds, of_kind = _distinct(orders)
    drawn = _sums(which, starts, len(distinct))
    agreeing = _sums(of_kind, starts, len(kinds)) @ _agree(distinct, kinds).T
    return _edges(np.divide(drawn, agreeing, out=np.zeros_like(drawn), where=drawn > 0), distinct)


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """Rows (T, n) without repetition, and which of them each is; n is 7 at most."""
    n = rows.shape[1]
    _, first, which = np.unique(
        rows @ (1 << n * np.arange(n)), return_index=True, return_inverse=True
    )
    return rows[first], which


def _agree(dags: Ints, orders: Ints) -> Floats:
    """(U, K): 1 where all parents in a DAG come before their child in an order."""
    before = predecessor_masks(orders)
    fits = np.ones((len(dags), len(orders)), bool)
    for v in range(dags.shape[1]):
        fits &= dags[:, v, None] & ~before[None, :, v] == 0
    return fits.astype(np.float64)


def _sums(which: Ints, starts: Ints, count: int) -> Floats:
    """How often each of `count` kinds came up to every stop, (stops, count)."""
    ends = [*starts[1:], len(which)]
    parts = [np.bincount(which[a:b], minlength=count) for a, b in zip(starts, ends, strict=True)]
    return np.cumsum(parts, axis=0).astype(np.float64)


def _edges(shares: Floats, dags: Ints) -> Floats:
    """Weighted shares of the edges, (stops, U) and (U, n) to (stops, n, n)."""
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.tensordot(shares, graphs.to_adjacency(dags), axes=1)
