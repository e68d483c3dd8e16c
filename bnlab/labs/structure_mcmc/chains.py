"""The chains of notebooks/11_structure_mcmc.ipynb, and the posteriors that they walk towards."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.checks import Bools, Floats, Ints
from bnlab.graphs import predecessor_masks
from bnlab.labs.board import Case, rows as rows_of
from bnlab.papers.store import chain, taken
from bnlab.sampling import StructureKernel, partition_mcmc
from bnlab.sampling.partition_mcmc import PartitionWalker, partition_of

SEED = 2007
MIXED = 0.9  # share of local moves of the mixture in the race
WALKS = 64  # chains whose errors are compared
SIZES = (20, 50, 100)  # rows, and all of them
MODES = np.array([(side, middle) for side in (7, 73, 292, 448) for middle in (769, 580)])
"""Of tic-tac-toe: parents of class (a side of the board) and of the middle (class, 2 corners)."""

Dag = Sequence[frozenset[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A data set with its exact posteriors: BDeu with ess 1, at most three parents, ρ = 1."""

    table: bn.ScoreTable
    orders: bn.OrderPosterior  # order-modular
    dags: bn.DagPosterior  # structure-modular: what the chains of the lab walk towards

    @classmethod
    def of(cls, table: bn.ScoreTable, /) -> "Target":
        """Compute both posteriors."""
        return cls(table, bn.order_posterior(table), bn.dag_posterior(table))

    def sad(self, edges: Floats, /) -> float:
        """Sum of absolute differences from the exact structure-modular edges."""
        return bn.diagnostics.sad(edges, self.dags.edges)


@cache
def target(case: Case, m: int | None = None) -> Target:
    """Return a data set, or a table of your own: all rows, or the first m in a random order."""
    data = rows_of(case).shuffled(np.random.default_rng(SEED))
    table = bn.score_families(data.prefix(data.m if m is None else m), bn.BDeu(1.0), max_parents=3)
    return Target.of(table)


def sizes(case: Case) -> tuple[int, ...]:
    """Return the stops of the slider of rows."""
    m = rows_of(case).m
    return (*(size for size in SIZES if size < m), m)


def chain_errors(draws: bn.Draws, where: Target, /) -> list[float]:
    """Return the SAD of the second half of each chain, of DAGs or orders, from the exact edges."""
    table = where.table if draws.over == "orders" else None
    late = taken(draws, np.s_[:, draws.values.shape[1] // 2 :])
    chains = [chain(late, c) for c in range(len(late.values))]
    return [where.sad(bn.features.edges(alone, table=table)) for alone in chains]


@cache
def walked(case: Case, m: int, share: float, times: int = 1) -> tuple[bn.Draws, tuple[float, ...]]:
    """Return 64 chains from the empty graph with this share of local moves, and their errors.

    100 draws, `times` n (n - 1) moves apart; the errors are those of the second half.
    """
    where, rng = target(case, m), np.random.default_rng(1)
    n = where.table.n
    how: Any = {"kernel": bn.Hybrid(where.orders.edges, share), "burn_in": 0, "rng": rng}
    draws = bn.sample_structures(
        where.table, draws=100, thin=times * n * (n - 1), chains=WALKS, **how
    )
    return draws, tuple(chain_errors(draws, where))


def exact_errors(where: Target, draws: int, /) -> list[float]:
    """Return the SAD of the shares of edges in so many exact draws, 64 times."""
    rng = np.random.default_rng(1)
    drawn = bn.sample_dags(where.dags, draws=draws * WALKS, rng=rng).values[0]
    each = np.split(bn.graphs.to_adjacency(drawn), WALKS)
    return [where.sad(dags.mean(axis=0)) for dags in each]


@cache
def band(case: Case, m: int) -> tuple[float, float]:
    """Return the range of log targets that holds 95 % of exact draws, nats."""
    rng = np.random.default_rng(SEED)
    exact = bn.sample_dags(target(case, m).dags, draws=1000, rng=rng)
    low, high = np.quantile(exact.log_target, (0.025, 0.975))
    return float(low), float(high)


def kernels(where: Target, /) -> dict[str, StructureKernel]:
    """Return what walks on DAGs: name -> kernel."""
    edges = where.orders.edges
    return {
        "local": bn.Local(),
        "global": bn.Global(edges),
        "mixture": bn.Hybrid(edges, MIXED),
    }


def partitions(
    where: Target,
    rng: np.random.Generator,
    *,
    draws: int,
    thin: int,
    chains: int,
    burn_in: int = 0,
    reversals: bool = True,
) -> bn.Draws:
    """Walk as `sample_partitions` does, but from a single layer, and without reversals if asked."""
    table, walker = where.table, PartitionWalker.of(where.table)
    shares = partition_mcmc.SHARES / (1.0 if reversals else partition_mcmc.SHARES[-1])
    walks = [
        walker.walk(one_layer(table.n), burn_in, draws, thin, child, shares)
        for child in rng.spawn(chains)
    ]
    dags, log_targets, *_ = (np.array(each) for each in zip(*walks, strict=True))
    even = np.zeros_like(log_targets)
    return bn.Draws(dags, even, log_targets, "dags", "structure-modular", table.names)


def one_layer(n: int) -> Ints:
    """Return the partition of the DAG without edges."""
    return partition_of(np.zeros(n, np.int64))


@cache
def sixteen_chains(case: Case, m: int) -> dict[str, bn.Draws]:
    """Return 16 chains of 50,000 moves of each kind of walk: name -> draws, from the start on."""
    where = target(case, m)
    thin = where.table.n * (where.table.n - 1)
    how: Any = {"draws": 50_000 // thin, "thin": thin, "chains": 16, "burn_in": 0}
    runs = {
        kind: bn.sample_structures(where.table, kernel=kernel, rng=np.random.default_rng(1), **how)
        for kind, kernel in kernels(where).items()
    }
    for kind, reversals in {"partitions": True, "partitions without reversals": False}.items():
        runs[kind] = partitions(where, np.random.default_rng(1), reversals=reversals, **how)
    orders = bn.sample_orders(where.table, rng=np.random.default_rng(1), **how)
    return {**runs, "orders": orders}


def in_modes(draws: bn.Draws, /) -> Bools:
    """Return (chains, draws, 8): which DAGs are in which mode, or which orders allow it."""
    fits: Bools
    if draws.over == "dags":
        fits = (draws.values[:, :, None, [9, 4]] == MODES).all(axis=3)
    else:
        before = predecessor_masks(draws.values)[:, :, None, [9, 4]]
        fits = (MODES & ~before == 0).all(axis=3)
    return fits


def places(draws: bn.Draws, dags: Sequence[Dag], /) -> Ints:
    """Return the place in a list of DAGs, given as parent sets, of each draw of the first chain."""
    place = {tuple(sum(1 << u for u in P) for P in dag): i for i, dag in enumerate(dags)}
    return np.array([place[tuple(dag)] for dag in draws.values[0].tolist()])


def gap(
    table: bn.ScoreTable, kernel: StructureKernel, dags: Sequence[Dag], K: Floats, /
) -> tuple[float, int]:
    """Compare 50,000 moves of the package with K, at DAGs that it leaves over 1,000 times.

    Returns the largest difference from a probability of K, and the number of these DAGs.
    """
    how: Any = {"draws": 50_000, "chains": 1, "burn_in": 0, "thin": 1}
    walk = bn.sample_structures(table, kernel=kernel, rng=np.random.default_rng(1), **how)
    at, counts = places(walk, dags), np.zeros_like(K)
    np.add.at(counts, (at[:-1], at[1:]), 1)
    visits = counts.sum(axis=1)
    often = visits > 1000
    off = np.abs(counts[often] / visits[often, None] - K[often])
    return float(off.max()), int(often.sum())
