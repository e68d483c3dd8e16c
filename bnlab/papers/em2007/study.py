"""Chains of the samplers, and figures 2 to 8: edges and paths found, predictions, T-cells."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.data.table import rows_of
from bnlab.graphs import predecessor_masks
from bnlab.linear_extensions import log_count
from bnlab.papers.em2007.cases import ESS, child, stream, synthetic
from bnlab.papers.page import chain, random_dag, stored

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


def walk(
    table: bn.ScoreTable, sampler: str, /, *, draws: int, chains: int, thin: int = 1, key: int = 0
) -> Walk:
    """Return chains of one of SAMPLERS from random DAGs, or from random orders."""
    if sampler not in SAMPLERS:
        raise ValueError(f"no sampler {sampler!r}; there are {', '.join(SAMPLERS)}")
    rng, begun = stream(1, SAMPLERS.index(sampler), key), time.process_time()
    how: Any = {"draws": draws, "rng": rng, "chains": chains, "burn_in": 0, "thin": thin}
    kernel = None if sampler == "Order" else _kernel(table, sampler)
    setup, orders = time.process_time() - begun, None
    if kernel is None:
        orders = bn.sample_orders(table, **how)
        found = bn.sample_dags(orders, draws=1, table=table, rng=rng)
    else:
        starts = [random_dag(table.n, rng, table.max_parents) for _ in range(chains)]
        found = bn.sample_structures(table, kernel=kernel, start=starts, **how)
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
    codes = rows @ (np.int64(1) << n * np.arange(n))
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
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


MAX_PARENTS = 3
CHILD_RUNS = 10
DIRECT = 5000  # independent DAGs
KINDS = ("edges", "paths")
CHILD_THIN = {"Local": 2500, "Gibbs": 500, "Hybrid": 50, "Global": 50, "Order": 350}
"""Moves before a draw: all samplers take about the same time, a quarter of a second for 2,000
draws of one chain."""


class Found(NamedTuple):
    """Areas under the ROC curve on one data set: for edges, then for paths (KINDS)."""

    by_chain: Floats  # (samplers, runs, 2), in the order of SAMPLERS
    dp: Floats  # (), of edges by the exact dynamic program, order-modular
    direct: Floats  # (2,), of independent DAGs under that posterior, 5,000 of them
    distinct: Floats  # (2,), of the same DAGs, each once with its own weight, structure-modular
    seconds: Floats  # (samplers,), processor time of one chain, with the DP where it proposes


def discover(number: int, /, *, draws: int, runs: int = CHILD_RUNS) -> Found:
    """Run all methods on data set `number` of the child structure; chains drop their first half."""
    network, data = child(number)
    table = bn.score_families(data, bn.BDeu(ESS), max_parents=MAX_PARENTS)
    by_chain, seconds = [], []
    for sampler in SAMPLERS:
        thin = CHILD_THIN[sampler]
        walked = walk(table, sampler, draws=draws, chains=runs, thin=thin, key=number)
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


def areas(
    dags: ArrayLike, truth: ArrayLike, weights: ArrayLike | None = None, /, directed: bool = False
) -> Floats:
    """Return areas (2,) for edges, `directed` or not, and for paths, from weighted DAGs (T, n)."""
    masks = np.asarray(dags)
    given = np.ones(len(masks)) if weights is None else np.asarray(weights)
    shares = given / given.sum()
    edges, paths = (
        np.tensordot(shares, graphs.to_adjacency(each), axes=1)
        for each in (masks, graphs.ancestors(masks))
    )
    true, leads = (graphs.to_adjacency(each) for each in (truth, graphs.ancestors(truth)))
    of_edges = bn.diagnostics.auc(edges, true) if directed else skeleton_auc(edges, truth)
    return np.array([of_edges, bn.diagnostics.auc(paths, leads)])


def skeleton_auc(edges: Floats, truth: ArrayLike, /) -> float:
    """Return the area for edges in either direction, as the paper has it."""
    joined = graphs.to_adjacency(truth)
    return bn.diagnostics.auc(np.minimum(edges + edges.T, 1.0), joined | joined.T)


FOLDS = 10
THIN = 20  # moves before a draw
EARLY = 100  # draws
DRAWN = (1, 3, 10, 30, 100, 300, 1000)
"""Draws of a chain at which its curve is read: 20 to 20,000 moves."""

EXACT_DRAWS = 5000
PLAIN = ("DAGs", "MAP", "tree", "factored")
"""Means over independent draws of the exact structure-modular posterior, and three plug-ins: the
best DAG, the Chow-Liu tree and no edges at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Mean ln p of a held-out row, nats, by fold."""

    curves: Floats  # (folds, samplers, runs, stops), in the order of SAMPLERS and DRAWN
    plain: Floats  # (folds, methods), in the order of PLAIN
    dp: Floats  # (folds,), the exact order-modular p(x, D) / p(D); nan where it was not asked for
    setup: Floats  # (samplers,), processor time before the first move
    seconds: Floats  # (samplers,), processor time of one chain from there to the last stop


def forecast(
    data: bn.Data, folds: Sequence[int], /, *, runs: int, key: int, dp: Sequence[int] = ()
) -> Forecast:
    """Predict some of the ten folds by all methods, those of `dp` also by the dynamic program."""
    parts = [_fold(*split(data, fold, key), runs, 100 * key + fold) for fold in folds]
    exact = [_dp(*split(data, fold, key)) if fold in dp else np.nan for fold in folds]
    curves, alone, times = (np.array(part) for part in zip(*parts, strict=True))
    return Forecast(curves, alone, np.array(exact), *times.mean(axis=0).T)


def split(data: bn.Data, fold: int, key: int, /) -> tuple[bn.Data, bn.Data]:
    """Return rows to learn from, and the rows of one of ten folds."""
    held_out = stream(7, key).permutation(data.m) % FOLDS == fold
    train, test = (rows_of(data, which) for which in (~held_out, held_out))
    return train, test


def _fold(
    train: bn.Data, test: bn.Data, runs: int, key: int
) -> tuple[list[list[list[float]]], list[float], list[tuple[float, float]]]:
    table = bn.score_families(train, bn.BDeu(ESS), max_parents=MAX_PARENTS)
    curves, times = [], []
    for sampler in SAMPLERS:
        walked = walk(table, sampler, draws=DRAWN[-1], chains=runs, thin=THIN, key=key)
        chains = [chain(walked.draws, c) for c in range(runs)]
        curves.append(
            [[_mean(each.prefix(stop), train, test) for stop in DRAWN] for each in chains]
        )
        times.append((walked.setup, walked.seconds))
    return curves, plain(table, train, test, key), times


def plain(table: bn.ScoreTable, train: bn.Data, test: bn.Data, key: int) -> list[float]:
    """Return mean ln p of a held-out row by the methods of PLAIN."""
    exact = bn.sample_dags(bn.dag_posterior(table), draws=EXACT_DRAWS, rng=stream(8, key))
    best = bn.map_dag(table).dags[0]
    tree = bn.chow_liu(replace(train, intervened=None))
    plug_ins = (best, tree, np.zeros(table.n, np.int64))
    one = partial(bn.predict.plug_in_log_density, score=bn.BDeu(ESS))
    alone = (float(one(dag, train, test).mean()) for dag in plug_ins)
    return [_mean(exact, train, test), *alone]


def late_orders(data: bn.Data, key: int, /, *, runs: int = 5) -> Floats:
    """Return what orders predict without their first 100 draws, (10,); chains as in `forecast`."""
    out = []
    for fold in range(FOLDS):
        train, test = split(data, fold, key)
        table = bn.score_families(train, bn.BDeu(ESS), max_parents=MAX_PARENTS)
        chains = walk(table, "Order", draws=DRAWN[-1], chains=runs, thin=THIN, key=100 * key + fold)
        late = [chain(chains.draws, c, EARLY) for c in range(runs)]
        out.append(np.mean([_mean(each, train, test) for each in late]))
    return np.array(out)


def _mean(draws: bn.Draws, train: bn.Data, test: bn.Data) -> float:
    return float(bn.predict.log_density(draws, train, test, score=bn.BDeu(ESS)).mean())


def _dp(train: bn.Data, test: bn.Data) -> float:
    exact = bn.predict.exact_log_density
    return float(exact(train, test, score=bn.BDeu(ESS), max_parents=MAX_PARENTS).mean())


def margin(one: Floats, other: Floats, /) -> tuple[float, float]:
    """Return the mean over folds (folds,) of a difference, and its standard error, nats."""
    difference = one - other
    return float(difference.mean()), float(difference.std(ddof=1) / len(difference) ** 0.5)


PROTEINS = ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
READINGS = ("used", "used, by orders", "ignored")
"""What is done with the interventions: used under the uniform prior over DAGs, used under the
order-modular one, and taken for observations, uniform over DAGs."""


KEYS = {"synthetic": 6, "tic-tac-toe": 7, "cells": 8}
"""Data sets of the predictions: figures 6, 7 (a stand-in) and 8."""


def stored_found() -> Found:
    """Return the stored areas of figures 4 and 5, each array with the data sets in front."""
    return Found(*(_stored(f"child {part}") for part in Found._fields))


def stored_forecast(name: str, /) -> Forecast:
    """Return all ten stored folds of one of KEYS."""
    return Forecast(*(_stored(f"{name} {part.name}") for part in fields(Forecast)))


def stored_networks() -> Floats:
    """Return predictions without chains of ten networks, (10, folds, methods of PLAIN)."""
    return _stored("networks plain")


def stored_cells() -> tuple[Floats, Floats]:
    """Return edges (3, 11, 11), in the order of READINGS, and means by fold as if all observed."""
    return _stored("cells edges"), _stored("cells ignored")


def cell_network() -> Ints:
    """Return the network that biologists agree on, parent masks (11,), nodes as PROTEINS."""
    return np.asarray(stored("em2007")["cells network"])


def _stored(name: str) -> Floats:
    return stored("em2007")[name].astype(np.float64)


def rows(part: str, /) -> bn.Data:
    """Return the data of one of KEYS; those of the cells are a file, see `load_dataset`."""
    if part == "synthetic":
        return synthetic(0)[1]
    return bn.load_dataset({"tic-tac-toe": "tic_tac_toe", "cells": "sachs"}[part])
