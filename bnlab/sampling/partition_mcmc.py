"""`sample_partitions`: DAGs by way of Markov chains on ordered partitions of the variables."""

import math
import os
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import Kept, alike, dags_of, nats
from bnlab.checks import Floats, Ints, Range, checked
from bnlab.kernels import partition_walks
from bnlab.results import Draws
from bnlab.running import Executor, Progress
from bnlab.sampling.chains import Chains, ChainSettings, Layout, acceptance, blank
from bnlab.sampling.order_target import OrderWalker, walker_bytes
from bnlab.scores import ScoreTable, allowed_order, array_bytes
from bnlab.scores.table import log_phi_within

METHOD = "partition MCMC"
KINDS = ("split_or_join", "swap", "adjacent", "relocate", "reverse")
EQUALLY = np.array([0.25, 0.5, 0.75, 1.0])  # cumulative, of all kinds but the last
REVERSALS = 0.1  # share of the last
BLOCK_TERMS = 40_000_000  # family weights read in about 100 ms


@checked
def sample_partitions(
    table: ScoreTable,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    chains: int | None = None,
    burn_in: int | None = None,
    thin: int | None = None,
    reversals: Annotated[float, Range(0, 1, "[)")] = REVERSALS,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Draw DAGs along Markov chains on ordered partitions (partition MCMC), for n <= 63.

    A DAG has one partition only: its roots, then the roots of what is left, and so on. The
    chains walk on partitions, each weighed by the sum over its DAGs of prior factor times
    likelihood, and each kept partition gives one of its DAGs, drawn exactly [KuipersMoffa2017]. So
    DAGs with many orders gain nothing. Structure-modular: p(DAG | D) is proportional to prior
    factor times likelihood.

    A move splits a layer or joins two; swaps two nodes of any two layers, or of adjacent ones; or
    puts one node into another or a new layer: these four equally often. A share of the moves
    draws a DAG of the partition instead, and reverses one of its edges, with new parents for both
    ends [GrzegorczykHusmeier2008].

    Parameters
    ----------
    table : ScoreTable
    draws : number of DAGs of each chain, at least 1
    chains : number of chains, each from the partition of a good DAG of its own random order, with
        its own random stream; 4 by default
    reversals : share of the moves that reverse an edge, at least 0 and below 1
    rng, burn_in, thin, checkpoint, progress, executor : as in `sample_orders`

    Returns
    -------
    Draws
        over "dags": values (chains, draws, n) parent masks; log_target (chains, draws) is ln of
        prior factor times likelihood of the DAG, nats. stats: "acceptance_split_or_join",
        "acceptance_swap", "acceptance_adjacent", "acceptance_relocate" and "acceptance_reverse"
        (chains,), accepted fractions. traces: "log_partition" (chains, draws), ln weight of the
        partition, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, memory is short, the constraints leave no DAG, or
        the checkpoint is damaged or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> sample_partitions(table, draws=5, rng=np.random.default_rng(1))
    Draws(4 x 5 dags of 2 variables, structure-modular)
    """
    plan = ChainSettings.of(draws, burn_in, thin, chains, table.n)
    walking = partition_walker_bytes(table.n, table.max_parents)
    plan.require(walking, (table.n, 2), checkpoint, table.n, "draws: walking on partitions")
    run = Chains(METHOD, plan, rng, executor, max_parents=table.max_parents, reversals=reversals)
    starts = [partition_of(first_dag(table, child)) for child in run.rngs]
    layout, target = _layout(table), {"table": table}
    dags, log_target, log_weights, tally = run.walk(
        lambda: PartitionWalker.of(table, reversals), starts, layout, target, checkpoint, progress
    )
    stats = {f"acceptance_{kind}": acceptance(tally[:, i]) for i, kind in enumerate(KINDS)}
    traces = {"log_partition": log_weights}
    return run.draws(dags, log_target, "dags", table.names, stats=stats, traces=traces)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionWalker:
    """The families of walks on orders, by weight, too, and cumulative shares of kinds of moves."""

    orders: OrderWalker
    source: partition_walks.Families
    shares: Floats

    def __reduce__(self) -> tuple[object, ...]:
        return _ranked, (self.orders, self.shares)

    @classmethod
    def of(cls, table: ScoreTable, /, reversals: float = REVERSALS) -> "PartitionWalker":
        """Lay out a table, as in `kernels.partition_walks.score`."""
        return _ranked(OrderWalker.of(table, dense=False), EQUALLY * (1 - reversals))

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Dags (T, n), ln of their targets and of their partitions' weights (T,), tally (5, 2)."""
        record = blank(records, self.orders.n, 2, len(KINDS), 2)
        here, fresh = (_partition(layers) for layers in (state, state.copy()))
        lists = np.zeros((5, state.size + 4), np.uint64)
        plan = lead, thin, self.shares
        partition_walks.walk(here, fresh, lists, self.source, plan, rng, record)
        return record

    @property
    def block_moves(self) -> int:
        return block_moves(self.orders.n, self.orders.max_parents)


def _partition(layers: Ints) -> partition_walks.Partition:
    """A partition of which nothing is known but the layers."""
    unknown = np.full(layers.size, -1)
    return partition_walks.Partition(layers, unknown, unknown.copy(), np.zeros(layers.size))


def block_moves(n: int, max_parents: int, /) -> int:
    """Moves on partitions of n variables that take about 100 ms."""
    a_node = 100.0 + math.comb(n, max_parents + 1) / (3 * n)
    return max(1, int(BLOCK_TERMS / (a_node * (1 + n / 3))))


def _ranked(orders: OrderWalker, shares: Floats) -> PartitionWalker:
    *laid_out, log_phi, parents = orders.source
    ranking = np.argsort(-orders.log_phi, axis=1, kind="stable")
    by_weight = (np.take_along_axis(a, ranking, axis=1) for a in (log_phi, parents))
    return PartitionWalker(orders, partition_walks.Families(*laid_out, *by_weight), shares)


def partition_walker_bytes(n: int, max_parents: int, /) -> int:
    """Bytes that `PartitionWalker.of` takes for n variables, at most."""
    return walker_bytes(n, max_parents, dense=False) + 3 * array_bytes(n, max_parents)


def _layout(table: ScoreTable) -> Layout:
    """What chains on partitions hold."""

    def divide(layers: Ints) -> bool:
        """Whether each node is in one layer, and the empty layers come last."""
        sizes = np.bitwise_count(layers)
        all_nodes = np.bitwise_or.reduce(layers, axis=-1) == (1 << table.n) - 1
        return bool(
            all_nodes.all()
            and (sizes.sum(axis=-1) == table.n).all()
            and (np.diff((sizes > 0).astype(int)) <= 0).all()
        )

    return Layout(
        Kept(np.int64, (table.n,), 0, holds=divide),
        (dags_of(table.n), nats(), nats()),
        (len(KINDS), 2),
        lambda dags, log_targets, _: alike(log_targets, table.log_target(dags)),
    )


def partition_of(dag: Ints, /) -> Ints:
    """Layer masks (n,) of the partition of a DAG (n,), the empty ones last."""
    layers = np.empty(dag.size, np.int64)
    partition_walks.divide(dag, layers)
    return layers


def first_dag(table: ScoreTable, rng: np.random.Generator, /) -> Ints:
    """Return the best DAG (n,) consistent with a random order."""
    best = log_phi_within(table, allowed_order(table, rng=rng)).argmax(axis=1)
    return np.asarray(table.parents[np.arange(table.n), best])
