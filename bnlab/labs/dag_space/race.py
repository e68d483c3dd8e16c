"""The race: samplers of very different kinds towards the same edges, on the same clock."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.dag_space.targets import SEED, Target, target
from bnlab.labs.datasets import Case
from bnlab.labs.running import Progress
from bnlab.sampling import StructureKernel
from bnlab.sampling.chains import ChainSampler
from bnlab.sampling.partition_mcmc import PartitionWalker, first_partition
from bnlab.sampling.structure_mcmc import StructureWalker

STOPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # seconds of computing of each sampler
CHAINS = 4
ROUND_SECONDS = 0.005
FIRST_DRAWS, MOST_DRAWS = 100, 10_000  # independent draws between looks at the clock

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Found = dict[str, list[tuple[float, list[float]]]]
"""Sampler -> (seconds, SAD of each of its chains from the exact edges) so far."""


class Racer(Protocol):
    """A sampler that computes a little more whenever it is asked to."""

    def advance(self) -> None:
        """Some milliseconds of work."""
        ...

    def edges(self) -> list[Floats]:
        """(n, n) edge probabilities, by each of its chains alone."""
        ...


class Chains:
    """Chains that walk on, of any kind; the first half of each is burn-in."""

    def __init__(self, walker: ChainSampler, starts: Sequence[Ints], thin: int) -> None:
        self._walker, self._states, self._thin = walker, list(starts), thin
        self._rngs = np.random.default_rng(SEED).spawn(len(starts))
        self._records = 1  # of each chain in a round
        self._fresh: list[Ints] = []  # (chains, records, n) DAGs of rounds not yet added up
        self._sums: list[Floats] = []  # (chains, n, n) edges of the DAGs of each round
        self._counts: list[int] = []  # records of each round

    def advance(self) -> None:
        """A round of moves of all chains; rounds grow until one takes some milliseconds."""
        plan, begun = (0, self._records, self._thin), time.perf_counter()
        chains = zip(self._states, self._rngs, strict=True)
        self._fresh.append(np.array([self._walker.walk(s, *plan, rng)[0] for s, rng in chains]))
        if time.perf_counter() - begun < ROUND_SECONDS / 2:
            self._records *= 2

    def edges(self) -> list[Floats]:
        """Means over the second half of each chain, up to a round."""
        self._sums += [bn.graphs.to_adjacency(dags).sum(axis=1) for dags in self._fresh]
        self._counts += [dags.shape[1] for dags in self._fresh]
        self._fresh.clear()
        done = np.cumsum(self._counts)
        late = int(np.searchsorted(done, done[-1] / 2, side="right"))
        return list(np.sum(self._sums[late:], axis=0) / sum(self._counts[late:]))


class Exact:
    """Independent draws from the structure-modular posterior, averaged."""

    def __init__(self, where: Target, /) -> None:
        self._posterior, self._rng = where.dags, np.random.default_rng(SEED)
        self._sum, self._draws = np.zeros(where.edges.shape), 0

    def advance(self) -> None:
        """A hundred draws more, later as many as there are, at most 10,000."""
        more = min(max(FIRST_DRAWS, self._draws), MOST_DRAWS)
        dags = bn.sample_dags(self._posterior, draws=more, rng=self._rng).values[0]
        self._sum += bn.graphs.to_adjacency(dags).sum(axis=0)
        self._draws += more

    def edges(self) -> list[Floats]:
        """By all draws so far: there are no chains."""
        return [self._sum / self._draws]


class Distinct:
    """Independent order-modular draws, the distinct ones weighted: IW-DDS."""

    def __init__(self, where: Target, /) -> None:
        self._where, self._rng = where, np.random.default_rng(SEED)
        self._dags = np.empty((0, where.table.n), np.int64)

    def advance(self) -> None:
        """As many draws more as there are distinct DAGs, 100 to 10,000."""
        more = min(max(FIRST_DRAWS, len(self._dags)), MOST_DRAWS)
        dags = bn.sample_dags(self._where.orders, draws=more, rng=self._rng).values[0]
        self._dags = np.unique(np.concatenate([self._dags, dags]), axis=0)

    def edges(self) -> list[Floats]:
        """By the weights of all distinct DAGs so far."""
        log_w = self._where.table.log_target(self._dags)
        weight = np.exp(log_w - log_w.max())
        return [np.tensordot(weight / weight.sum(), bn.graphs.to_adjacency(self._dags), axes=1)]


def structure_chains(where: Target, kernel: StructureKernel, /) -> Chains:
    """Four chains on DAGs from the empty graph, n (n - 1) moves between records."""
    n = where.table.n
    starts = [np.append(np.zeros(n, np.int64), -1) for _ in range(CHAINS)]  # no stay drawn yet
    return Chains(StructureWalker.of(where.table, kernel), starts, n * (n - 1))


def partition_chains(where: Target, /) -> Chains:
    """Four chains on partitions, each from the best DAG of a random order."""
    rngs = np.random.default_rng(SEED).spawn(CHAINS)
    starts = [first_partition(where.table, rng) for rng in rngs]
    return Chains(PartitionWalker.of(where.table), starts, where.table.n)


RACERS: Mapping[str, Callable[[Target, float], Racer]] = MappingProxyType(
    {
        "local": lambda where, share: structure_chains(where, bn.Local()),
        "Gibbs": lambda where, share: structure_chains(where, bn.Gibbs()),
        "edge reversal": lambda where, share: structure_chains(where, bn.EdgeReversal()),
        "global": lambda where, share: structure_chains(where, bn.Global(where.orders.edges)),
        "hybrid": lambda where, share: structure_chains(
            where, bn.Hybrid(where.orders.edges, share)
        ),
        "partition MCMC": lambda where, share: partition_chains(where),
        "IW-DDS": lambda where, share: Distinct(where),
        "exact draws": lambda where, share: Exact(where),
    }
)
"""What races: name -> function(target, share of local moves of the hybrid)."""

NEEDS_ORDERS = ("global", "hybrid", "IW-DDS")
NEEDS_DAGS = ("exact draws",)


@cache
def heads(case: Case) -> tuple[float, float]:
    """Seconds that the exact posteriors take, order-modular and structure-modular."""
    table = target(case).table
    return bn.order_posterior(table).run.seconds, bn.dag_posterior(table).run.seconds


def race(
    case: Case,
    *,
    share: float = 0.1,
    stops: Sequence[float] = STOPS,
    samplers: Sequence[str] = tuple(RACERS),
    progress: Progress | None = None,
) -> Found:
    """Let samplers compute for the same time, in turns, and compare them on the way.

    The clock of a sampler runs while it draws, and begins at the time of the exact posterior that
    it needs, if any. Reading off the edges is not on the clock.

    Parameters
    ----------
    case : a data set, or a table of your own
    share : of local moves of the hybrid
    stops : seconds of each sampler's clock, rising, at which errors are taken
    samplers : names in `RACERS`
    progress : progress(ms done, ms in all, found so far); False stops, and what is found remains

    Returns
    -------
    dict
        Sampler -> [(seconds, SAD of each chain from the exact structure-modular edges)].
    """
    where = target(case)
    found: Found = {label: [] for label in samplers}
    order_seconds, dag_seconds = heads(case)
    for label in samplers:
        RACERS[label](where, share).advance()  # compiled kernels are loaded off the clock
    racers = {label: RACERS[label](where, share) for label in samplers}
    clock = dict.fromkeys(samplers, 0.0)
    clock |= {label: order_seconds for label in NEEDS_ORDERS if label in racers}
    clock |= {label: dag_seconds for label in NEEDS_DAGS if label in racers}
    total, started = round(1000 * stops[-1] * len(samplers)), set[str]()
    for stop in stops:
        for label, racer in racers.items():
            while clock[label] < stop:
                begun = time.perf_counter()
                racer.advance()
                started.add(label)
                clock[label] += time.perf_counter() - begun
                done = round(1000 * sum(min(seconds, stops[-1]) for seconds in clock.values()))
                if progress is not None and not progress(done, total, found):
                    return found
            if label in started:
                point = clock[label], [where.sad(p) for p in racer.edges()]
                found = {**found, label: [*found[label], point]}
    return found
