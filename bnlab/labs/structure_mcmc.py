"""The views and the checks of notebooks/11_structure_mcmc.ipynb.

Chains on DAGs and on partitions: where they get stuck, and how far they come in the same time.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import (
    DATASETS as DATASETS,
    Case,
    check,
    dataset_choice,
    rows as rows_of,
    setup as setup,
    size_slider,
    title,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.store import chain, taken
from bnlab.sampling import StructureKernel, partition_mcmc, structure_mcmc
from bnlab.sampling.chains import ChainSampler
from bnlab.sampling.order_mcmc import CoupledWalker
from bnlab.sampling.order_target import OrderWalker
from bnlab.sampling.partition_mcmc import PartitionWalker, partition_of
from bnlab.sampling.structure_mcmc import StructureWalker

SEED = 2007
SHARES = (0.0, 0.1, 0.9, 1.0)  # of local moves
MIXED = 0.9  # that of the mixture in the race
WALKS = 64  # chains whose errors are compared
SIZES = (20, 50, 100)  # rows, and all of them
SHOWN_CHAINS = 4
DEPTH = 60.0  # nats shown below the exact draws


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
def walked(case: Case, m: int, share: float) -> tuple[bn.Draws, tuple[float, ...]]:
    """Return 64 chains from the empty graph with this share of local moves, and their errors.

    100 draws, n (n - 1) moves apart; the errors are those of the second half.
    """
    where, rng = target(case, m), np.random.default_rng(1)
    how: Any = {"kernel": bn.Hybrid(where.orders.edges, share), "burn_in": 0, "rng": rng}
    draws = bn.sample_structures(where.table, draws=100, chains=WALKS, **how)
    return draws, tuple(chain_errors(draws, where))


@cache
def band(case: Case, m: int) -> tuple[float, float]:
    """Return the range of log targets that holds 95 % of exact draws, nats."""
    rng = np.random.default_rng(SEED)
    exact = bn.sample_dags(target(case, m).dags, draws=1000, rng=rng)
    low, high = np.quantile(exact.log_target, (0.025, 0.975))
    return float(low), float(high)


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
            "trace": (trace, f"{', '.join(rates)}. Shaded: 95 % of exact draws."),
        }


def kernels(where: Target, /) -> dict[str, StructureKernel]:
    """Return what walks on DAGs: name -> kernel."""
    edges = where.orders.edges
    return {
        "local": bn.Local(),
        "global": bn.Global(edges),
        "mixture": bn.Hybrid(edges, MIXED),
    }


RACERS = ("local", "global", "mixture", "partitions", "orders")
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


def racer(label: str, where: Target, /) -> Racer:
    """Return four chains of a kind, one of `RACERS`: from no edges, or from random orders."""
    table, n = where.table, where.table.n

    def of_dags(dags: Ints) -> Floats:
        shares: Floats = bn.graphs.to_adjacency(dags).mean(axis=0)
        return shares

    def of_orders(orders: Ints) -> Floats:
        even = np.zeros((1, len(orders)))
        draws = bn.Draws(orders[None], even, even, "orders", "order-modular", table.names)
        return bn.features.edges(draws, table=table)

    if label == "partitions":
        starts = [one_layer(n) for _ in range(CHAINS)]
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
    clock = {label: head_start(case) * (label in ("global", "mixture")) for label in samplers}
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
    """Walks on DAGs, partitions and orders, each with its own clock, and how far off they are.

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
        return {"panel": (plots.race(found, (self._stops[0], self._stops[-1])), caption)}


MOST_DAGS = 5000
MOST_PARTITIONS = 75  # of four nodes
Sampler = Callable[[bn.ScoreTable, np.random.Generator], Any]
Partition = tuple[frozenset[int], ...]


def check_repair(function: Callable[[list[Any], Callable[[Any], int]], Any]) -> bool:
    """Exercise 1: `function(visited, neighbours)` is DAG -> probability, of uncorrected visits."""
    w = {"centre": 3.0, "a": 1.0, "b": 0.5, "c": 2.0}  # a star of four states
    degree = {"centre": 3, "a": 1, "b": 1, "c": 1}.__getitem__

    def result(visited: Sequence[str], neighbours: Any = degree) -> dict[str, float]:
        return {state: float(p) for state, p in dict(function(list(visited), neighbours)).items()}

    def exact() -> bool:
        rng, here, visited = np.random.default_rng(SEED), "centre", []
        for _ in range(40_000):
            new = str(rng.choice(["a", "b", "c"])) if here == "centre" else "centre"
            here = new if rng.random() < w[new] / w[here] else here
            visited.append(here)
        found = result(visited)
        return all(abs(found[state] - w[state] / sum(w.values())) < 0.02 for state in w)

    return check(
        "Exercise 1",
        "return a dict, DAG -> probability",
        lambda: set(result(["a", "a", "b"])) == {"a", "b"},
        "the probabilities add up to 1",
        lambda: np.isclose(sum(result(["a", "centre", "b", "a"]).values()), 1),
        "all with equally many neighbours: each has its share of the visits",
        lambda: np.isclose(result(["a", "a", "a", "b"])["a"], 3 / 4),
        "where the numbers of neighbours differ, the shares must change; which way?",
        lambda: result(["centre", "a"])["centre"] < 1 / 2,
        "on a star of four states, whose centre has three neighbours, the answer must be exact",
        exact,
    )


def check_relocate(function: Callable[[Partition], Any]) -> bool:
    """Exercise 2: `function(A)` is partition -> chance of the moves of one node."""

    @cache
    def result(*layers: frozenset[int]) -> dict[Partition, float]:
        return {tuple(map(frozenset, B)): p for B, p in dict(function(layers)).items()}

    @cache
    def reached() -> list[Partition]:
        found: list[Partition] = [(frozenset(range(4)),)]
        for here in found:
            found += [B for B in result(*here) if B not in found]
            if len(found) > MOST_PARTITIONS:
                break
        return found

    def apart(A: Partition, B: Partition) -> bool:  # by the place of one node
        rests = [[[layer - {v} for layer in C if layer - {v}] for v in range(4)] for C in (A, B)]
        return A != B and any(map(list.__eq__, *rests))

    pair, zero, one, two = frozenset([0, 1]), frozenset([0]), frozenset([1]), frozenset([2])
    return check(
        "Exercise 2",
        "return a dict, partition -> chance; the chances add up to 1",
        lambda: np.isclose(sum(result(pair, two).values()), 1),
        "all chances are equal",
        lambda: len({round(chance, 9) for chance in result(pair, two).values()}) == 1,
        "({0, 1}) leads to ({0}, {1}) and to ({1}, {0}), and nowhere else",
        lambda: set(result(pair)) == {(zero, one), (one, zero)},
        "on four nodes all 75 partitions are reached",
        lambda: len(reached()) == MOST_PARTITIONS,
        "from each it leads wherever one node can go, and nowhere that takes two moves",
        lambda: all((B in result(*A)) == apart(A, B) for A in reached() for B in reached()),
    )


def check_sampler(function: Sampler) -> bool:
    """Exercise 3: `function(table, rng)` draws well by chains, and keeps at most 5,000 DAGs."""

    @cache
    def run(name: str) -> Any:
        return function(target(name).table, np.random.default_rng(SEED))

    def near(name: str) -> bool:
        return target(name).sad(bn.features.edges(run(name))) <= 1

    return check(
        "Exercise 3",
        "return Draws over DAGs",
        lambda: run("coronary").over == "dags",
        "they must belong to the structure-modular posterior (see .prior)",
        lambda: run("coronary").prior == "structure-modular",
        "they must be drawn by chains (see .run.method)",
        lambda: run("coronary").run.method in (partition_mcmc.METHOD, structure_mcmc.METHOD),
        f"keep at most {MOST_DAGS:,} DAGs",
        lambda: all(run(name).log_weight.size <= MOST_DAGS for name in DATASETS),
        "coronary: the SAD must be at most 1",
        lambda: near("coronary"),
        "wine: the SAD must be at most 1",
        lambda: near("wine"),
        "tic-tac-toe: the SAD must be at most 1",
        lambda: near("tic-tac-toe"),
    )
