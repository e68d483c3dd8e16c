"""Samplers of very different kinds race towards the same edges, on the same clock; their views.

The posteriors are exact under both readings of the prior; chains walk towards them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import DATASETS, Case, bdeu_table, dataset_choice, size_slider, title
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.em2007.cases import proposal
from bnlab.papers.store import chain, normalised, taken
from bnlab.sampling import StructureKernel
from bnlab.sampling.chains import ChainSampler
from bnlab.sampling.partition_mcmc import PartitionWalker, first_partition
from bnlab.sampling.structure_mcmc import StructureWalker

SEED = 2007
USUAL_DRAWS = 4000
SHARES = (0.0, 0.1, 0.3, 0.6, 0.9, 0.97, 1.0)
SHOWN_CHAINS = 4
DEPTH = {"coronary": 20, "wine": 40, "tic-tac-toe": 300}  # nats shown below the exact draws


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A data set with its exact posteriors: BDeu with ess 1, at most three parents, q = 1."""

    table: bn.ScoreTable
    orders: bn.OrderPosterior  # order-modular
    dags: bn.DagPosterior  # structure-modular: what the samplers of the lab walk towards

    def sad(self, edges: Floats, /) -> float:
        """Sum of absolute differences from the exact structure-modular edges."""
        return bn.diagnostics.sad(edges, self.dags.edges)


@cache
def target(case: Case) -> Target:
    """Return a data set, or a table of your own, with its posteriors."""
    table = bdeu_table(case)
    return Target(table, bn.order_posterior(table), bn.dag_posterior(table))


@cache
def usual_targets(case: Case) -> tuple[float, float]:
    """Mean and standard deviation of ln p(G, D) over the structure-modular posterior, nats.

    From the distinct DAGs of independent draws, which hold nearly all of it.
    """
    found = distinct(case)
    weight = normalised(found.log_weight[0])
    mean = weight @ found.log_target[0]
    return float(mean), float(np.sqrt(weight @ (found.log_target[0] - mean) ** 2))


@cache
def distinct(case: Case) -> bn.Draws:
    """The distinct DAGs of 4,000 independent draws, each with its own weight (IW-DDS)."""
    where, rng = target(case), np.random.default_rng(SEED)
    draws = bn.sample_dags(where.orders, draws=USUAL_DRAWS, rng=rng)
    return bn.reweight_unique(draws, log_z=where.dags.log_z)


def chain_sads(draws: bn.Draws, where: Target, /) -> list[float]:
    """The SAD of each chain alone from the exact edges."""
    chains = [chain(draws, c) for c in range(len(draws.values))]
    return [where.sad(bn.features.edges(alone)) for alone in chains]


def stays(case: Case, parts: Sequence[float], /) -> list[float]:
    """How long a chain of global moves stays, for these parts of the posterior.

    A global move leaves a DAG G with probability about q(G) / p(G | D), less if most proposals are
    bad; so it stays for about p(G | D) / q(G) moves, if that is above 1.

    Returns
    -------
    list of float
        For each part, the number of moves that DAGs with so much of the probability do not exceed.
    """
    where, found = target(case), distinct(case)
    log_p = found.log_weight[0] - where.dags.log_z
    chances = bn.Global(where.orders.edges).chances
    stay = np.exp(log_p - proposal(found.values[0], chances, absent=True))
    rising = np.argsort(stay)
    share = np.cumsum(np.exp(log_p[rising])) / np.exp(log_p).sum()
    return [float(stay[rising][np.searchsorted(share, part)]) for part in parts]


@cache
def hybrid(case: Case, share: float, *, chains: int = 8, draws: int = 100) -> bn.Draws:
    """Chains from the empty graph with this share of local moves, n (n - 1) moves a draw.

    Nothing is left out as burn-in.
    """
    where = target(case)
    how: Any = {"kernel": bn.Hybrid(where.orders.edges, share), "rng": np.random.default_rng(SEED)}
    return bn.sample_structures(where.table, draws=draws, chains=chains, burn_in=0, **how)


def second_half(draws: bn.Draws, /) -> bn.Draws:
    """Draws without the first half of each chain, the burn-in."""
    return taken(draws, np.s_[:, draws.values.shape[1] // 2 :])


def mean_sads(
    case: Case, kernels: Mapping[str, StructureKernel], moves: Sequence[int], /
) -> dict[str, list[float]]:
    """Mean SAD of 8 chains after each number of moves, the first half of them left out."""
    where = target(case)
    thin, out = where.table.n * (where.table.n - 1), {}
    walk: Any = {"draws": max(moves) // thin, "chains": 8, "burn_in": 0, "thin": thin}
    for label, kernel in kernels.items():
        rng = np.random.default_rng(SEED)
        draws = bn.sample_structures(where.table, kernel=kernel, rng=rng, **walk)
        halves = [second_half(draws.prefix(max(2, count // thin))) for count in moves]
        out[label] = [float(np.mean(chain_sads(half, where))) for half in halves]
    return out


STOPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # seconds of computing of each sampler
CHAINS = 4
ROUND_SECONDS = 0.005
FIRST_DRAWS, MOST_DRAWS = 100, 10_000  # independent draws between looks at the clock

Found = dict[str, list[tuple[float, list[float]]]]
"""Sampler -> (seconds, SAD of each of its chains from the exact edges) so far."""

Racer = Iterator[Callable[[], list[Floats]]]
"""A sampler that computes for some milliseconds whenever it is asked for its next item.

The item is a function that gives the (n, n) edge probabilities, by each of its chains alone.
"""


def chains(walker: ChainSampler, starts: Sequence[Ints], thin: int) -> Racer:
    """Chains that walk on, of any kind; the first half of each, up to a round, is burn-in.

    In a round all chains make moves; rounds grow until one takes some milliseconds.
    """
    rngs, records = np.random.default_rng(SEED).spawn(len(starts)), 1  # of each chain in a round
    fresh: list[Ints] = []  # (chains, records, n) DAGs of rounds not yet added up
    sums: list[Floats] = []  # (chains, n, n) edges of the DAGs of each round
    counts: list[int] = []  # records of each round

    def edges() -> list[Floats]:
        sums.extend(bn.graphs.to_adjacency(dags).sum(axis=1) for dags in fresh)
        counts.extend(dags.shape[1] for dags in fresh)
        fresh.clear()
        done = np.cumsum(counts)
        late = int(np.searchsorted(done, done[-1] / 2, side="right"))
        return list(np.sum(sums[late:], axis=0) / sum(counts[late:]))

    while True:
        begun, each = time.perf_counter(), zip(starts, rngs, strict=True)
        fresh.append(np.array([walker.walk(s, 0, records, thin, rng)[0] for s, rng in each]))
        if time.perf_counter() - begun < ROUND_SECONDS / 2:
            records *= 2
        yield edges


def exact_draws(where: Target, /) -> Racer:
    """Independent draws from the structure-modular posterior, averaged: there are no chains.

    A hundred draws more, later as many as there are, at most 10,000.
    """
    rng, total, draws = np.random.default_rng(SEED), np.zeros(where.dags.edges.shape), 0

    def edges() -> list[Floats]:
        return [total / draws]

    while True:
        more = min(max(FIRST_DRAWS, draws), MOST_DRAWS)
        dags = bn.sample_dags(where.dags, draws=more, rng=rng).values[0]
        total += bn.graphs.to_adjacency(dags).sum(axis=0)
        draws += more
        yield edges


def distinct_draws(where: Target, /) -> Racer:
    """Independent order-modular draws, the distinct ones weighted: IW-DDS.

    As many draws more as there are distinct DAGs, 100 to 10,000.
    """
    rng, found = np.random.default_rng(SEED), np.empty((0, where.table.n), np.int64)

    def edges() -> list[Floats]:
        weight = normalised(where.table.log_target(found))
        return [np.tensordot(weight, bn.graphs.to_adjacency(found), axes=1)]

    while True:
        more = min(max(FIRST_DRAWS, len(found)), MOST_DRAWS)
        dags = bn.sample_dags(where.orders, draws=more, rng=rng).values[0]
        found = np.unique(np.concatenate([found, dags]), axis=0)
        yield edges


def structure_chains(where: Target, kernel: StructureKernel, /) -> Racer:
    """Four chains on DAGs from the empty graph, n (n - 1) moves between records."""
    n = where.table.n
    starts = [np.append(np.zeros(n, np.int64), -1) for _ in range(CHAINS)]  # no stay drawn yet
    return chains(StructureWalker.of(where.table, kernel), starts, n * (n - 1))


def partition_chains(where: Target, /) -> Racer:
    """Four chains on partitions, each from the best DAG of a random order."""
    rngs = np.random.default_rng(SEED).spawn(CHAINS)
    starts = [first_partition(where.table, rng) for rng in rngs]
    return chains(PartitionWalker.of(where.table), starts, where.table.n)


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
        "IW-DDS": lambda where, share: distinct_draws(where),
        "exact draws": lambda where, share: exact_draws(where),
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
    it needs, if any. Reading off the edges, at so many seconds of it, is not on the clock.
    `share` is of local moves of the hybrid; `progress` counts milliseconds.
    """
    where = target(case)
    found: Found = {label: [] for label in samplers}
    order_seconds, dag_seconds = heads(case)
    for label in samplers:
        next(RACERS[label](where, share))  # compiled kernels are loaded off the clock
    racers = {label: RACERS[label](where, share) for label in samplers}
    clock = {
        label: order_seconds * (label in NEEDS_ORDERS) + dag_seconds * (label in NEEDS_DAGS)
        for label in samplers
    }
    total, edges = round(1000 * stops[-1] * len(samplers)), {}
    for stop in stops:
        for label, racer in racers.items():
            while clock[label] < stop:
                begun = time.perf_counter()
                edges[label] = next(racer)
                clock[label] += time.perf_counter() - begun
                done = round(1000 * sum(min(seconds, stops[-1]) for seconds in clock.values()))
                if progress is not None and not progress(done, total, found):
                    return found
            if label in edges:
                point = clock[label], [where.sad(p) for p in edges[label]()]
                found = {**found, label: [*found[label], point]}
    return found


class Race(Experiment):
    """Eight samplers towards the same edges, each with its own clock.

    Controls `dataset` and `share` of local moves of the hybrid; panel `panel`; `found` is sampler
    -> [(seconds, SAD of each chain)].

    Parameters
    ----------
    data : a table of your own, in the place of the data sets
    stops : seconds at which errors are taken, rising
    """

    def __init__(self, data: bn.Data | None = None, *, stops: Sequence[float] = STOPS) -> None:
        self._stops = stops
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "wine"),
            share=size_slider("local moves of the hybrid", SHARES, 0.1),
            nothing={label: [] for label in RACERS},
            unit="ms",
        )

    def compute(self, progress: Progress, /, dataset: Case, share: float) -> Found:
        """Return the errors of all samplers on the way."""
        return race(dataset, share=share, stops=self._stops, progress=progress)

    def draw(self, found: Found, dataset: Case, share: float) -> Board:
        """The errors against the clock of each sampler."""
        caption = "Press Run. Each sampler gets the same time; its own clock counts."
        last = {label: points[-1] for label, points in found.items() if points}
        if last:
            best = min(last, key=lambda label: float(np.mean(last[label][1])))
            caption = (
                f"{title(dataset)}. Line: mean over chains; bar: best to worst chain. Least error "
                f"so far: {best}, {np.mean(last[best][1]):.2f} after {last[best][0]:.2g} s. For "
                f"comparison: the exact edges themselves took {1000 * heads(dataset)[1]:.2g} ms, "
                f"which is on the clock of {NEEDS_DAGS[0]}."
            )
        return {"panel": (plots.race(found, (self._stops[0], self._stops[-1])), caption)}


class Shares(View):
    """Hybrid chains by their share of local moves: 8 chains each, n (n - 1) x 100 moves.

    Controls `dataset` and `share`, beta in the paper; panels `errors` and `trace`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        cases = DATASETS if data is None else (data,)
        for case, share in product(cases, SHARES):  # now, so that the slider answers at once
            hybrid(case, share)
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "wine"),
            share=size_slider("share of local moves", SHARES, 1.0),
        )

    def draw(self, dataset: Case, share: float) -> Board:
        """The error of each chain at all shares, and some chains at this one."""
        draws, (mean, sd) = hybrid(dataset, share), usual_targets(dataset)
        errors, n = share_errors(dataset), draws.values.shape[2]
        lowest = draws.log_target[:SHOWN_CHAINS].min()
        depth = DEPTH[dataset] if isinstance(dataset, str) else mean + 6 - lowest
        trace = plots.traces(
            n * (n - 1) * np.arange(1.0, draws.values.shape[1] + 1),
            {f"chain {c}": line for c, line in enumerate(draws.log_target[:SHOWN_CHAINS], 1)},
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - depth, mean + 6),
            y_label="ln p(G, D) (nats)",
            name="hybrid_trace",
            title="Four of the chains",
            alt="Log target of the DAGs of four chains, with the range of exact draws shaded",
        )
        here = errors[SHARES.index(share)]
        rates = [
            f"{draws.stats[key].mean():.2%} of the {kind} moves accepted"
            for kind in ("local", "global")
            if (key := f"acceptance_{kind}") in draws.stats
        ]
        return {
            "errors": (
                plots.chain_errors(
                    SHARES,
                    errors,
                    share,
                    x_label="share of local moves, β",
                    y_range=(0.1, 50.0),
                    title="Error of each of 8 chains, second half",
                ),
                f"{title(dataset)}, β = {share:g}: SAD {here.min():.2f} to {here.max():.2f}, mean "
                f"{here.mean():.2f}.",
            ),
            "trace": (
                trace,
                f"{', '.join(rates)}. Shaded: mean ± 2 standard deviations of the exact posterior.",
            ),
        }


@cache
def share_errors(case: Case) -> Floats:
    """Return the SAD of the second half of each chain of `hybrid`, (shares, 8)."""
    where = target(case)
    return np.array([chain_sads(second_half(hybrid(case, share)), where) for share in SHARES])
