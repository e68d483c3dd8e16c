"""The chains of notebooks/11_structure_mcmc.ipynb, and the posteriors that they walk towards."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.checks import Bools, Floats
from bnlab.graphs import predecessor_masks
from bnlab.labs.board import Case, rows as rows_of
from bnlab.papers.store import chain, taken
from bnlab.sampling import partition_mcmc
from bnlab.sampling.partition_mcmc import PartitionWalker, partition_of
from bnlab.sampling.structure_kernels import StructureKernel

SEED = 2007
MIXED = 0.9  # share of local moves of the mixture in the race
WALKS = 64  # chains whose errors are compared
SIZES = (20, 50, 100)  # rows, and all of them
RACES = (("wine", 178), ("wine", 20), ("tic-tac-toe", 958))
RUNS, KEPT = 16, 4000  # of each kind in the race, and the DAGs that each keeps
LONGER = 20  # times the moves of the local chains in the race
MODES = np.array([(side, middle) for side in (7, 73, 292, 448) for middle in (769, 580)])
"""Of tic-tac-toe: parents of class (a side of the board) and of the middle (class, 2 corners)."""

Dag = Sequence[frozenset[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A data set with its exact posteriors: BDeu with ess 1, at most three parents, ρ = 1."""

    table: bn.ScoreTable
    orders: bn.OrderPosterior  # order-modular
    dags: bn.DagPosterior  # structure-modular: what the chains of the lab walk towards

    def sad(self, edges: Floats, /) -> float:
        """Sum of absolute differences from the exact structure-modular edges."""
        return bn.diagnostics.sad(edges, self.dags.edges)


@cache
def target(case: Case, m: int | None = None) -> Target:
    """Return a data set, or a table of your own: all rows, or the first m in a random order."""
    data = rows_of(case).shuffled(np.random.default_rng(SEED))
    table = bn.score_families(data.prefix(data.m if m is None else m), bn.BDeu(1.0), max_parents=3)
    return Target(table, bn.order_posterior(table), bn.dag_posterior(table))


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

    100 `times` draws, n (n - 1) moves apart; the errors are those of the second half.
    """
    where, rng = target(case, m), np.random.default_rng(1)
    n = where.table.n
    how: Any = {"kernel": bn.Hybrid(where.orders.edges, share), "burn_in": 0, "rng": rng}
    draws = bn.sample_structures(
        where.table, draws=100 * times, thin=n * (n - 1), chains=WALKS, **how
    )
    return draws, tuple(chain_errors(draws, where))


def exact_errors(where: Target, draws: int, /) -> list[float]:
    """Return the SAD of the shares of edges in so many exact draws, sixteen times."""
    rng = np.random.default_rng(1)
    drawn = bn.sample_dags(where.dags, draws=draws * RUNS, rng=rng).values[0]
    return [where.sad(bn.graphs.to_adjacency(part).mean(axis=0)) for part in np.split(drawn, RUNS)]


@cache
def band(case: Case, m: int) -> tuple[float, float]:
    """Return the range of log targets that holds 95 % of exact draws, nats."""
    rng = np.random.default_rng(SEED)
    exact = bn.sample_dags(target(case, m).dags, draws=1000, rng=rng)
    low, high = np.quantile(exact.log_target, (0.025, 0.975))
    return float(low), float(high)


def refused(kernel: bn.Global, /) -> tuple[float, float]:
    """Return the shares of jumps to a cycle, and to that or to more than three parents."""
    p, pick = kernel.chances, np.random.default_rng(1).random((10_000, *kernel.chances.shape))
    ahead, back = pick < p, (pick >= p) & (pick < p + p.T)
    edges = np.triu(ahead, 1) | np.triu(back, 1).transpose(0, 2, 1)
    cyclic = np.linalg.matrix_power(edges.astype(float), len(p)).any(axis=(1, 2))
    return float(cyclic.mean()), float((cyclic | (edges.sum(axis=1) > 3).any(axis=1)).mean())


def kernels(where: Target, /) -> dict[str, StructureKernel]:
    """Return what walks on DAGs: name -> kernel."""
    edges = where.orders.edges
    return {"local": bn.Local(), "global": bn.Global(edges), "mixture": bn.Hybrid(edges, MIXED)}


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
        walker.walk(partition_of(np.zeros(table.n, np.int64)), burn_in, draws, thin, child, shares)
        for child in rng.spawn(chains)
    ]
    dags, log_targets, *_ = (np.array(each) for each in zip(*walks, strict=True))
    even = np.zeros_like(log_targets)
    return bn.Draws(dags, even, log_targets, "dags", "structure-modular", table.names)


@cache
def raced(case: Case, m: int) -> dict[str, tuple[bn.Draws, float]]:
    """Return sixteen chains of each kind, from the start on, and a chain's seconds of processor.

    A chain makes 48,000 moves and leaves 8,000 draws, twice as many as it keeps.
    """
    where, made = target(case, m), {}
    how: Any = {"draws": 2 * KEPT, "thin": 6, "chains": RUNS, "burn_in": 0}
    on_dags = partial(bn.sample_structures, where.table, **how)
    walks: dict[str, Callable[..., bn.Draws]] = {
        kind: partial(on_dags, kernel=kernel) for kind, kernel in kernels(where).items()
    }
    walks[f"local, {LONGER} times the moves"] = partial(on_dags, thin=6 * LONGER)
    walks["local, with reversals"] = partial(on_dags, kernel=bn.EdgeReversal(share=0.1))
    walks["partitions"] = partial(partitions, where, **how)
    walks["partitions, no reversals"] = partial(partitions, where, reversals=False, **how)
    walks["orders"] = partial(bn.sample_orders, where.table, **how)
    for kind, walk in walks.items():
        walk(draws=2, rng=np.random.default_rng(1))  # loads what it needs, off the clock
        begun = time.process_time()
        draws = walk(rng=np.random.default_rng(1))
        made[kind] = draws, (time.process_time() - begun) / RUNS
    return made


def standings(weighted: Callable[[Target, np.random.Generator], bn.Draws], /) -> tuple[str, str]:
    """Return tables of the race: the mean SAD of sixteen, and the worst, and seconds of a chain."""
    columns, clocks = [], []
    for case, m in RACES:
        where, runs, head = target(case, m), raced(case, m), {"": f"{case}, {m} rows"}
        drawn = [weighted(where, rng) for rng in np.random.default_rng(1).spawn(RUNS)]
        errors = {kind: chain_errors(run, where) for kind, (run, _) in runs.items()}
        weighed = [bn.features.edges(each) for each in drawn]
        errors["weighted draws"] = [*map(where.sad, weighed)]
        errors["exact draws"] = exact_errors(where, KEPT)
        told = {kind: f"{np.mean(each):.2f} ({max(each):.1f})" for kind, each in errors.items()}
        told["order-modular, exact"] = f"{where.sad(where.orders.edges):.2f}"
        told["no edges"] = f"{where.sad(np.zeros_like(where.dags.edges)):.2f}"
        apart = np.mean([bn.diagnostics.sad(*pair) for pair in pairwise(weighed)])
        biased = np.mean([bn.diagnostics.sad(each, where.orders.edges) for each in weighed])
        told["weights: between repeats"] = f"{apart:.2f}"
        told["weights: from order-modular"] = f"{biased:.2f}"
        sizes = [each.stats["effective_sample_size"].item() for each in drawn]
        told["effective size of weights"] = f"{min(sizes):.0f} to {max(sizes):.0f}"
        columns.append(head | told)
        clocks.append(head | {kind: f"{seconds:.3f}" for kind, (_, seconds) in runs.items()})
    return in_columns(columns), in_columns(clocks)


def in_columns(columns: Sequence[Mapping[str, str]], /) -> str:
    """Return a table of columns with the same labels, as text."""
    rows = {label: [column[label] for column in columns] for label in columns[0]}
    return "\n".join(
        f"{label:28}" + "".join(map("{:>23}".format, row)) for label, row in rows.items()
    )


def in_modes(draws: bn.Draws, /) -> Bools:
    """Return (chains, draws, 8): which DAGs are in which mode, or which orders allow it."""
    fits: Bools
    if draws.over == "dags":
        fits = (draws.values[:, :, None, [9, 4]] == MODES).all(axis=3)
    else:
        before = predecessor_masks(draws.values)[:, :, None, [9, 4]]
        fits = (MODES & ~before == 0).all(axis=3)
    return fits


def gap(table: bn.ScoreTable, kernel: StructureKernel, dags: Sequence[Dag], K: Floats, /) -> str:
    """Compare 50,000 moves of the package with K, at DAGs that it leaves over 1,000 times."""
    how: Any = {"draws": 50_000, "chains": 1, "burn_in": 0, "thin": 1}
    walk = bn.sample_structures(table, kernel=kernel, rng=np.random.default_rng(1), **how)
    place = {tuple(sum(1 << u for u in P) for P in dag): i for i, dag in enumerate(dags)}
    at, counts = [place[tuple(dag)] for dag in walk.values[0].tolist()], np.zeros_like(K)
    np.add.at(counts, (at[:-1], at[1:]), 1)
    visits = counts.sum(axis=1)
    often = visits > 1000
    off = np.abs(counts[often] / visits[often, None] - K[often])
    return f"package and K differ by at most {off.max():.3f}, at {often.sum()} DAGs"
