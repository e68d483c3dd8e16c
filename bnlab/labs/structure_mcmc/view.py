"""Chains on DAGs and on partitions: where they get stuck, how far they come in the same time."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import DATASETS, Case, dataset_choice, size_slider, title
from bnlab.labs.structure_mcmc.chains import (
    SEED,
    WALKS,
    Target,
    band,
    kernels,
    sizes,
    target,
    walked,
)
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.sampling.chains import ChainSampler
from bnlab.sampling.order_mcmc import CoupledWalker
from bnlab.sampling.order_target import OrderWalker
from bnlab.sampling.partition_mcmc import PartitionWalker, partition_of
from bnlab.sampling.structure_mcmc import StructureWalker

SHARES = (0.0, 0.1, 0.9, 1.0)  # of local moves
SHOWN_CHAINS = 4
DEPTH = 60.0  # nats shown below the exact draws


class Stuck(View):
    """64 chains on DAGs by rows and by their share of local moves.

    Controls `share` and `rows`; panels `errors` and `trace`.

    Parameters
    ----------
    data : a table of your own, in the place of wine
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "wine" if data is None else data
        self._sizes = sizes(self._case)
        for m, share in product(self._sizes, SHARES):  # now, so that the controls answer at once
            walked(self._case, m, share)
        super().__init__(
            share=size_slider("share of local moves η", SHARES, 1.0),
            rows=size_slider("rows", self._sizes, self._sizes[-1]),
        )

    def draw(self, share: float, rows: int) -> Board:
        """The error of each chain for all numbers of rows, and four of the chains for this one."""
        draws, found = walked(self._case, rows, share)
        errors = np.array([walked(self._case, m, share)[1] for m in self._sizes])
        low, high = band(self._case, rows)
        n, made = draws.values.shape[2], draws.values.shape[1]
        trace = plots.traces(
            n * (n - 1) * np.arange(1.0, made + 1),
            {f"chain {c}": line for c, line in enumerate(draws.log_target[:SHOWN_CHAINS], 1)},
            band=(low, high),
            y_range=(low - DEPTH, high + 8),
            y_label="log target (nats)",
            name="stuck",
            title="Four of the chains",
            alt="Log target of the DAGs of four chains, with the range of exact draws shaded",
        )
        rhat = bn.diagnostics.rhat(draws.log_target[:SHOWN_CHAINS, made // 2 :])
        rates = [
            f"{draws.stats[key].mean():.2%} of the {kind} moves accepted"
            for kind in ("local", "global")
            if (key := f"acceptance_{kind}") in draws.stats
        ]
        said = f"η = {share:g}, {rows:,} rows: SAD {min(found):.2f} to {max(found):.2f}, mean "
        return {
            "errors": (
                plots.chain_errors(
                    self._sizes,
                    errors,
                    rows,
                    x_label="rows",
                    y_range=(0.5, 50.0),
                    title=f"Error of each of {WALKS} chains, second half",
                ),
                f"{said}{np.mean(found):.2f}.",
            ),
            "trace": (
                trace,
                f"{', '.join(rates)}. Shaded: 95 % of exact draws. R-hat of the second halves of "
                f"the four: {rhat:.2f}.",
            ),
        }


RACERS = ("local", "global", "mixture", "partitions", "orders", "weighted draws")
NEED_EDGES = ("global", "mixture", "weighted draws")  # or all of the order-modular posterior
STOPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # seconds of computing of each sampler
CHAINS = 4
ROUND_SECONDS = 0.005

Found = dict[str, list[tuple[float, list[float]]]]
"""Sampler -> (seconds, SAD of each of its chains from the exact edges) so far."""

Racer = Iterator[Callable[[], list[Floats]]]
"""A sampler that computes for some milliseconds whenever it is asked for its next item.

The item is a function that gives the (n, n) edge probabilities, by each of its chains alone.
"""


def chains(
    walker: ChainSampler, starts: Sequence[Ints], thin: int, edges_of: Callable[[Ints], Floats]
) -> Racer:
    """Chains that walk on, of any kind; the first half of each is burn-in.

    In a round all chains make moves; rounds grow until one takes some milliseconds. `edges_of`
    takes records (T, n) of a chain.
    """
    rngs, records = np.random.default_rng(SEED).spawn(len(starts)), 1  # of each chain in a round
    rounds: list[Ints] = []  # (chains, records, n)

    def edges() -> list[Floats]:
        met = np.concatenate(rounds, axis=1)
        return [edges_of(late) for late in met[:, met.shape[1] // 2 :]]

    while True:
        begun, each = time.perf_counter(), zip(starts, rngs, strict=True)
        rounds.append(np.array([walker.walk(s, 0, records, thin, rng)[0] for s, rng in each]))
        if time.perf_counter() - begun < ROUND_SECONDS / 2:
            records *= 2
        yield edges


def weighted(where: Target, /) -> Racer:
    """Independent order-modular draws weighted by 1 / ℓ(G), in four parts."""
    rngs, n = np.random.default_rng(SEED).spawn(CHAINS), where.table.n
    sums, weights = np.zeros((CHAINS, n, n)), np.zeros((CHAINS, 1, 1))
    while True:
        for c, rng in enumerate(rngs):
            drawn = bn.reweight_by_extensions(bn.sample_dags(where.orders, draws=200, rng=rng))
            each = np.exp(drawn.log_weight[0])
            sums[c] += np.tensordot(each, bn.graphs.to_adjacency(drawn.values[0]), axes=1)
            weights[c] += each.sum()
        yield lambda: list(sums / weights)


def racer(label: str, where: Target, /) -> Racer:
    """Return four chains of a kind, one of `RACERS`: from no edges, or from random orders."""
    if label == "weighted draws":
        return weighted(where)
    table, n = where.table, where.table.n

    def of_dags(dags: Ints) -> Floats:
        shares: Floats = bn.graphs.to_adjacency(dags).mean(axis=0)
        return shares

    def of_orders(orders: Ints) -> Floats:
        even = np.zeros((1, len(orders)))
        draws = bn.Draws(orders[None], even, even, "orders", "order-modular", table.names)
        return bn.features.edges(draws, table=table)

    if label == "partitions":
        starts = [partition_of(np.zeros(n, np.int64)) for _ in range(CHAINS)]
        return chains(PartitionWalker.of(table), starts, n, of_dags)
    if label == "orders":
        starts = list(np.random.default_rng(SEED).permuted([[np.arange(n)]] * CHAINS, axis=-1))
        on_orders = CoupledWalker(OrderWalker.of(table), np.ones(1), bn.Moves())
        return chains(on_orders, starts, n, of_orders)
    starts = [np.append(np.zeros(n, np.int64), -1) for _ in range(CHAINS)]  # no stay drawn yet
    walker = StructureWalker.of(table, kernels(where)[label])
    return chains(walker, starts, n * (n - 1), of_dags)


@cache
def head_start(case: Case) -> float:
    """Return the seconds that the exact order-modular edges take."""
    return bn.order_posterior(target(case).table).run.seconds


def race(
    case: Case,
    *,
    stops: Sequence[float] = STOPS,
    samplers: Sequence[str] = RACERS,
    progress: Progress | None = None,
) -> Found:
    """Let samplers compute for the same time, in turns, and compare them on the way.

    The clock of a sampler runs while it draws, and begins at the time of the exact posterior that
    it needs, if any. Reading off the edges, at so many seconds of it, is not on the clock.
    `progress` counts milliseconds.
    """
    where = target(case)
    found: Found = {label: [] for label in samplers}
    for label in samplers:
        next(racer(label, where))  # compiled kernels are loaded off the clock
    racers = {label: racer(label, where) for label in samplers}
    clock = {label: head_start(case) * (label in NEED_EDGES) for label in samplers}
    total, edges = round(1000 * stops[-1] * len(samplers)), {}
    for stop in stops:
        for label, steps in racers.items():
            while clock[label] < stop:
                begun = time.perf_counter()
                edges[label] = next(steps)
                clock[label] += time.perf_counter() - begun
                done = round(1000 * sum(min(seconds, stops[-1]) for seconds in clock.values()))
                if progress is not None and not progress(done, total, found):
                    return found
            if label in edges:
                point = clock[label], [where.sad(p) for p in edges[label]()]
                found = {**found, label: [*found[label], point]}
    return found


class Race(Experiment):
    """Walks and weighted draws, each with its own clock, and how far off they are.

    A broken line is the error of the exact order-modular edges.

    Control `dataset`; panel `panel`; `found` is sampler -> [(seconds, SAD of each chain)].

    Parameters
    ----------
    data : a table of your own, in the place of the data sets
    stops : seconds at which errors are taken, rising
    """

    def __init__(self, data: bn.Data | None = None, *, stops: Sequence[float] = STOPS) -> None:
        self._stops = stops
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "tic-tac-toe"),
            nothing={label: [] for label in RACERS},
            unit="ms",
        )

    def compute(self, progress: Progress, /, dataset: Case) -> Found:
        """Return the errors of all samplers on the way."""
        return race(dataset, stops=self._stops, progress=progress)

    def draw(self, found: Found, dataset: Case) -> Board:
        """The errors against the clock of each sampler."""
        caption = "Press Run. Each sampler gets the same time; its own clock counts."
        last = {label: points[-1] for label, points in found.items() if points}
        if last:
            best = min(last, key=lambda label: float(np.mean(last[label][1])))
            caption = (
                f"{title(dataset)}. Line: mean over four chains; bar: best to worst chain. Least "
                f"error so far: {best}, {np.mean(last[best][1]):.2f} after {last[best][0]:.2g} s."
            )
        where, ends = target(dataset), (self._stops[0], self._stops[-1])
        level = {"order-modular, exact": where.sad(where.orders.edges)}
        return {"panel": (plots.race(found, ends, levels=level), caption)}
