"""Chains of the samplers of [EatonMurphy2007], and their distances from the exact edges."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.graphs import predecessor_masks
from bnlab.linear_extensions import log_count
from bnlab.papers.em2007.cases import stream
from bnlab.papers.store import random_dag

SAMPLERS = ("Local", "Gibbs", "Hybrid", "Global", "Order")
"""beta = 1, Gibbs, beta = 0.1 and beta = 0 walk on DAGs; the last walks on orders."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Chains of one sampler, all from different starts, nothing left out."""

    sampler: str  # one of SAMPLERS
    # over "dags", values (chains, T, n); of the order sampler one DAG given each order
    draws: bn.Draws
    orders: bn.Draws | None  # over "orders", values (chains, T, n), of the order sampler alone
    thin: int  # moves before each draw
    setup: float  # processor time before the first move: the dynamic program, where it proposes
    seconds: float  # processor time of the moves of one chain on one core

    @property
    def size(self) -> int:
        """Return T, the number of draws of a chain."""
        return int(self.draws.values.shape[1])

    def seconds_at(self, stops: Sequence[int], /) -> list[float]:
        """Return time after so many draws: `setup`, and `seconds` in proportion."""
        return [self.setup + self.seconds * stop / self.size for stop in stops]


def walk(
    table: bn.ScoreTable, sampler: str, /, *, draws: int, chains: int, thin: int = 1, key: int = 0
) -> Walk:
    """Return chains of one of SAMPLERS from random DAGs, or from random orders."""
    if sampler not in SAMPLERS:
        raise ValueError(f"no sampler {sampler!r}; there are {', '.join(SAMPLERS)}")
    rng, begun = stream(1, SAMPLERS.index(sampler), key), time.process_time()
    kernel = None if sampler == "Order" else _kernel(table, sampler)
    setup, orders = time.process_time() - begun, None
    if kernel is None:
        orders = bn.sample_orders(table, draws=draws, rng=rng, chains=chains, burn_in=0, thin=thin)
        found = bn.sample_dags(orders, draws=1, table=table, rng=rng)
    else:
        starts = [random_dag(table.n, rng, table.max_parents) for _ in range(chains)]
        found = bn.sample_structures(
            table,
            draws=draws,
            rng=rng,
            kernel=kernel,
            chains=chains,
            burn_in=0,
            thin=thin,
            start=starts,
        )
    seconds = (time.process_time() - begun - setup) / chains
    return Walk(sampler, found, orders, thin, setup, seconds)


def _kernel(table: bn.ScoreTable, sampler: str) -> bn.Local | bn.Gibbs | bn.Hybrid | bn.Global:
    if sampler == "Local":
        return bn.Local()
    if sampler == "Gibbs":
        return bn.Gibbs()
    edges = bn.order_posterior(table).edges
    return bn.Hybrid(edges, local=0.1) if sampler == "Hybrid" else bn.Global(edges)


STOPS = tuple(2**power for power in range(5, 16))
"""Moves at which the curves are read: 32 to 32,768."""


def edges_at(walk: Walk, stops: Sequence[int], /) -> Floats:
    """Return edge probabilities (chains, stops, n, n) from the first draws of each chain."""
    return _weighted(walk, stops, lambda dags: np.ones(len(dags)))


def counted_edges_at(walk: Walk, stops: Sequence[int], /) -> Floats:
    """Return `edges_at`, each draw weighed by one over the number of its orders."""
    return _weighted(walk, stops, lambda dags: np.exp(-log_count(dags)))


def ellis_edges_at(walk: Walk, stops: Sequence[int], /) -> Floats:
    """Return `edges_at`, each draw weighed by one over the number of its *sampled* orders.

    That is the paper's display of Ellis and Wong's correction [EatonMurphy2007, sec. 3]. The
    sampled orders follow the posterior and are not all orders, so a bias stays.
    """
    if walk.orders is None:
        raise ValueError(f"the {walk.sampler} sampler has no orders: pass a walk of Order")
    chains = zip(walk.draws.values, walk.orders.values, strict=True)
    return np.array([_ellis(dags, orders, stops) for dags, orders in chains])


def sad(edges: ArrayLike, exact: ArrayLike, /) -> Floats:
    """Return sums of absolute differences, (..., n, n) and (n, n) to (...)."""
    return np.asarray(np.abs(np.asarray(edges) - np.asarray(exact)).sum(axis=(-2, -1)))


def _weighted(walk: Walk, stops: Sequence[int], weigh: Callable[[Ints], Floats]) -> Floats:
    out = []
    for dags in walk.draws.values[:, : stops[-1]]:
        distinct, which = _distinct(dags)
        out.append(_edges(_counts(which, stops) * weigh(distinct), distinct))
    return np.array(out)


def _ellis(dags: Ints, orders: Ints, stops: Sequence[int]) -> Floats:
    dags, orders = dags[: stops[-1]], orders[: stops[-1]]
    distinct, which = _distinct(dags)
    kinds, of_kind = _distinct(orders)
    drawn = _counts(which, stops)
    agreeing = _counts(of_kind, stops) @ _agree(distinct, kinds).T
    return _edges(np.divide(drawn, agreeing, out=np.zeros_like(drawn), where=drawn > 0), distinct)


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """Return rows (T, n) without repetition, and which of them each is; n is 7 at most."""
    n = rows.shape[1]
    _, first, which = np.unique(
        rows @ (np.int64(1) << n * np.arange(n)), return_index=True, return_inverse=True
    )
    return rows[first], which


def _agree(dags: Ints, orders: Ints) -> Floats:
    """Return (U, K): 1 where all parents in a DAG come before their child in an order."""
    before = predecessor_masks(orders)
    fits = np.ones((len(dags), len(orders)), bool)
    for v in range(dags.shape[1]):
        fits &= dags[:, v, None] & ~before[None, :, v] == 0
    return fits.astype(np.float64)


def _counts(which: Ints, stops: Sequence[int]) -> Floats:
    """Return how often each kind came up to every stop, (stops, kinds)."""
    kinds = which.max() + 1
    return np.array([np.bincount(which[:stop], minlength=kinds) for stop in stops], np.float64)


def _edges(shares: Floats, dags: Ints) -> Floats:
    """Return weighted shares of the edges, (stops, U) and (U, n) to (stops, n, n)."""
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.tensordot(shares, graphs.to_adjacency(dags), axes=1)
