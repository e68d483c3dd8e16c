"""Linear extensions counted, and data sets, samplers and estimates of [NiinimakiKoivisto2013]."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import diagnostics, features, graphs
from bnlab.checks import Floats, Ints
from bnlab.linear_extensions import ideal_lattice
from bnlab.linear_extensions.counting import solve
from bnlab.papers.page import normalised, random_dag
from bnlab.results import with_arrays

SEED = 2013
NAMES = ("MUSHROOM", "ALARM", "PROMOTERS")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A data set with its scores: BDeu, equivalent sample size 1, prior factor 1."""

    name: str  # as the paper calls it
    real: bool  # whether it is the paper's source, and not a stand-in
    source: str  # where the rows come from, or which file is missing and where to put it
    data: bn.Data
    table: bn.ScoreTable

    @property
    def label(self) -> str:
        """Return the name, and whether it is a stand-in, for titles."""
        return self.name if self.real else f"{self.name} (stand-in)"

    def __repr__(self) -> str:
        kind = "" if self.real else ", a stand-in"
        size = f"n={self.table.n}, m={self.data.m}, k={self.table.max_parents}"
        return f"{self.name}{kind}: {size}. {self.source}"


@cache
def case(name: str, /) -> Case:
    """Return one of the paper's data sets, scored; a stand-in where its file cannot be had."""
    if name not in NAMES:
        raise ValueError(f"no data set {name!r}; there are {', '.join(NAMES)}")
    try:
        (data, source), real = _rows(name), True
    except (FileNotFoundError, ModuleNotFoundError) as error:
        (data, source), real = _stand_in(name), False
        source += f" Why: {error}"
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=4 if name == "MUSHROOM" else 3)
    return Case(name, real, source, data, table)


def _rows(name: str) -> tuple[bn.Data, str]:
    """Return rows of the paper's source, and what they are."""
    rng = np.random.default_rng(SEED)
    if name == "MUSHROOM":
        data = bn.load_dataset("mushroom").subsample(1000, rng)
        return data, "1,000 of the 8,124 rows of UCI 73, drawn with a seed."
    if name == "ALARM":
        return bn.load_network("alarm").sample(100, rng), "100 rows from the published network."
    return bn.load_dataset("promoters"), "All rows of UCI 67."


def _stand_in(name: str) -> tuple[bn.Data, str]:
    """Return as many rows as of the paper's source, of about as many variables."""
    rng = np.random.default_rng(SEED)
    if name == "PROMOTERS":
        values = np.column_stack([rng.integers(0, 2, 106), rng.integers(0, 4, (106, 57))])
        return bn.Data.from_arrays(values, arities=[2] + [4] * 57), "106 rows of random letters."
    network, m = ("child", 1000) if name == "MUSHROOM" else ("alarm", 100)
    data = bn.random_network(network, rng).sample(m, np.random.default_rng(SEED))
    return data, f"{m:,} rows from the structure of the network {network} with random tables."


RUNS = 9
LADDERS = (4, 16, 64)
EACH = {"MUSHROOM": 10, "ALARM": 1, "PROMOTERS": 1}  # DAGs given each order, as in the paper


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What the samplers may spend."""

    # data set -> the three r of AIS, in units of n m
    multiples: Mapping[str, tuple[float, float, float]]
    moves: Mapping[str, int]  # data set -> moves of one run of a sampler
    thin: Mapping[str, int]  # data set -> moves of each chain of MC3 before a draw
    max_states: int  # sets that a count of figure 1 may keep


LAB = Plan(
    multiples={
        "MUSHROOM": (1 / 4, 1, 4),
        "ALARM": (1 / 8, 1 / 2, 2),
        "PROMOTERS": (1 / 64, 1 / 16, 1 / 4),
    },
    moves={"MUSHROOM": 88_000, "ALARM": 14_800, "PROMOTERS": 1540},
    thin={"MUSHROOM": 10, "ALARM": 10, "PROMOTERS": 5},
    max_states=100_000,
)
"""A minute on two cores for the whole page."""

LONG = Plan(
    multiples=dict.fromkeys(("MUSHROOM", "ALARM", "PROMOTERS"), (1, 4, 16)),
    moves={"MUSHROOM": 1_056_000, "ALARM": 296_000, "PROMOTERS": 98_368},
    thin={"MUSHROOM": 100, "ALARM": 100, "PROMOTERS": 10},
    max_states=2_000_000,
)
"""The paper's r and thinning: about ten minutes on two cores, where the paper took 200 hours a
sampler."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """One of the six: nine runs of T orders each, or of DAGs given these orders."""

    method: str  # "AIS" or "MC3"
    r: int  # int, steps of the schedule: of annealing, or between the chains
    draws: bn.Draws  # bn.Draws, values (RUNS, T * each, n): chain i is run i
    each: int  # int, draws that come of one order: 1 for orders, one or more for DAGs
    seconds: float  # float, time of one core for one run

    @property
    def size(self) -> int:
        """Return T, the number of orders of a run."""
        return int(self.draws.values.shape[1]) // self.each

    def kept(self, count: int, runs: Sequence[int] = range(RUNS)) -> bn.Draws:
        """Return draws for estimates of runs after `count` orders: of MC3, the second half."""
        first = count // 2 if self.method == "MC3" else 0
        where = np.s_[list(runs), first * self.each : count * self.each]
        return with_arrays(self.draws, lambda array: array[where])


def annealed(table: bn.ScoreTable, r: int, moves: int) -> Sampler:
    """Run AIS with r linear steps: as many orders as `moves` allow in each of nine runs."""
    start, size = time.process_time(), moves // r
    rng, method = np.random.default_rng([SEED, r]), bn.AIS(bn.Linear(r))
    found = bn.anneal_orders(table, runs=RUNS * size, rng=rng, method=method)
    draws = with_arrays(found, lambda array: array.reshape(RUNS, size, *array.shape[2:]))
    return Sampler("AIS", r, draws, 1, _each(start))


def coupled(table: bn.ScoreTable, r: int, moves: int, thin: int) -> Sampler:
    """Run MC3 with r + 1 chains: as many draws as `moves` allow, burn-in included."""
    start = time.process_time()
    draws = bn.sample_orders(
        table,
        draws=moves // (thin * (r + 1)),
        rng=np.random.default_rng([SEED, r]),
        chains=RUNS,
        burn_in=0,
        thin=thin,
        schedule=bn.Linear(r),
    )
    return Sampler("MC3", r, draws, 1, _each(start))


@cache
def race(case: Case, plan: Plan, /) -> list[Sampler]:
    """Run the six samplers on a data set, AIS and then MC3, for equally many moves each."""
    table, moves = case.table, plan.moves[case.name]
    steps = [math.ceil(multiple * table.n * case.data.m) for multiple in plan.multiples[case.name]]
    thin = plan.thin[case.name]
    return [
        *(annealed(table, r, moves) for r in steps if r <= moves),
        *(coupled(table, r, moves, thin) for r in LADDERS),
    ]


def corrected(sampler: Sampler, table: bn.ScoreTable, *, each: int = 1) -> Sampler:
    """Draw `each` DAGs given every order, weighted by 1 / ℓ(G); the time of both is added."""
    start, rng = time.process_time(), np.random.default_rng([SEED, sampler.r, each])
    dags = bn.sample_dags(sampler.draws, draws=each, table=table, rng=rng)
    draws = bn.reweight_by_extensions(dags)
    return Sampler(sampler.method, sampler.r, draws, each, sampler.seconds + _each(start))


@cache
def without_bias(case: Case, plan: Plan, /) -> list[Sampler]:
    """Return AIS with DAGs given the orders, weighted by 1 / ℓ(G), for each r of a plan."""
    each = EACH[case.name]
    return [corrected(s, case.table, each=each) for s in race(case, plan) if s.method == "AIS"]


def medium(samplers: Sequence[Sampler], /) -> Sampler:
    """Return AIS with the middle number of steps, of which the paper shows the lower bound."""
    steps = [sampler for sampler in samplers if sampler.method == "AIS"]
    return steps[(len(steps) - 1) // 2 if len(steps) < 3 else 1]


def _each(start: float) -> float:
    """Return processor time of one of the runs since `start`."""
    return (time.process_time() - start) / RUNS


POINTS, EDGE_POINTS = 10, 5
SPAN = 50  # the first estimate is made of no less than this part of the orders


def counts(sampler: Sampler, points: int = POINTS, /) -> list[int]:
    """Return up to so many numbers of orders in a geometric row, the last of them all."""
    least = max(2 if sampler.method == "MC3" else 1, sampler.size // SPAN)
    spaced = np.geomspace(least, max(sampler.size, least), points).round().astype(int)
    return [int(count) for count in np.unique(spaced)]


def seconds(sampler: Sampler, points: int = POINTS, /) -> Floats:
    """Return time of one run on one core up to each of the `counts`."""
    return np.asarray(np.array(counts(sampler, points)) * sampler.seconds / sampler.size)


@cache
def evidence(sampler: Sampler, table: bn.ScoreTable, /) -> Floats:
    """Return ln p(D) (RUNS, counts), nats, order-modular or corrected for DAGs.

    AIS: the mean weight [NiinimakiKoivisto2013, sec. 3.1, 3.2]. MC3: the telescoping product of
    the ratios of neighbouring chains, from the second half of the draws [sec. 2.3].
    """
    kept = [[sampler.kept(count, [run]) for count in counts(sampler)] for run in range(RUNS)]
    return np.array([[bn.evidence_from(k, table=table).log_value for k in row] for row in kept])


@cache
def lower_bounds(sampler: Sampler, table: bn.ScoreTable, /) -> Floats:
    """Return the 0.95 lower bound (counts,) on ln p(D), nats; the nine runs are its bins."""
    kept = [sampler.kept(count) for count in counts(sampler)]
    return np.array([bn.lower_bound_from(k, table=table, bins=RUNS).log_value for k in kept])


@cache
def edges(sampler: Sampler, table: bn.ScoreTable, count: int, /) -> Floats:
    """Return edge probabilities (RUNS, n, n) after so many orders of each run."""
    kept = (sampler.kept(count, [run]) for run in range(RUNS))
    return np.stack([features.edges(draws, table=table) for draws in kept])


def edge_errors(sampler: Sampler, table: bn.ScoreTable, reference: Floats, /) -> Floats:
    """Return the largest absolute error (RUNS, counts) of an edge, against (n, n) or one a run."""
    each = np.broadcast_to(reference, (RUNS, table.n, table.n))
    found = [edges(sampler, table, count) for count in counts(sampler, EDGE_POINTS)]
    return np.array([list(map(diagnostics.max_error, runs, each)) for runs in found]).T


def disagreement(sampler: Sampler, table: bn.ScoreTable, /) -> Floats:
    """Return the largest difference (RUNS, counts) of an edge between a run and the others' end."""
    others = [[other for other in range(RUNS) if other != run] for run in range(RUNS)]
    pools = [features.edges(sampler.kept(sampler.size, runs), table=table) for runs in others]
    return edge_errors(sampler, table, np.array(pools))


def best(errors: Sequence[Floats], /) -> int:
    """Return whose errors (RUNS, counts) have the least median in the end."""
    return int(np.argmin([np.median(error[:, -1]) for error in errors]))


TIC_TAC_TOE_LOG_Z = -9418.28913983628
"""ln of the sum over all DAGs with in-degree at most 5 of their likelihood (BDeu, equivalent sample
size 1), nats: what the structure-modular sums of [HeTianWu2016] rest on."""


@dataclass(frozen=True, slots=True, eq=False)
class Few:
    """The first five variables of a data set, and their exact edges by enumeration."""

    table: bn.ScoreTable
    edges: Floats  # structure-modular, (5, 5): each DAG counts once
    edges_by_orders: Floats  # order-modular, (5, 5): each DAG counts ℓ(G) times


def few(case: Case, /, size: int = 5) -> Few:
    """Return the first variables of a data set, with all their DAGs added up."""
    data = case.data.select(case.data.names[:size])
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=size - 1)
    dags = graphs.all_dags(size)
    weight = normalised(table.log_target(dags))
    edges: Floats = np.tensordot(weight, graphs.to_adjacency(dags), axes=1)
    return Few(table, edges, bn.order_posterior(table).edges)


def tic_tac_toe() -> bn.ScoreTable:
    """Return the scores of tic-tac-toe under which TIC_TAC_TOE_LOG_Z was computed."""
    return bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu(1.0), max_parents=5)


SIZES = (10, 16, 22, 28, 34, 40, 46, 52, 58, 63)
"""Numbers of nodes; the paper's axis ends at 60 or so, and masks of 64 bits hold 63 nodes."""

DAGS = 9
IDEALS, COMPONENTS = "ideals", "components"
METHODS = (IDEALS, COMPONENTS)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Exact counts for DAGS random DAGs of each size."""

    max_states: int  # the cap, in sets
    # method -> (sizes, DAGS), processor time of each count, also of refused ones
    seconds: dict[str, Floats]
    # method -> (sizes, DAGS), sets kept in the table; inf where there were too many
    states: dict[str, Floats]

    def refused(self, method: str) -> NDArray[np.int64]:
        """Return how many of the DAGs of each size were refused, int64 (sizes,)."""
        return np.asarray(np.isinf(self.states[method]).sum(axis=1))

    def median_states(self, method: str) -> Floats:
        """Return median number of sets (sizes,); inf where more than half were refused."""
        return np.asarray(np.sort(self.states[method], axis=1)[:, DAGS // 2])

    def median_seconds(self, method: str) -> Floats:
        """Return median time of a count (sizes,); inf where more than half were refused."""
        counted = np.where(np.isinf(self.states[method]), np.inf, self.seconds[method])
        return np.asarray(np.sort(counted, axis=1)[:, DAGS // 2])


@cache
def count(max_parents: int, *, max_states: int, sizes: tuple[int, ...] = SIZES) -> Counts:
    """Count the linear extensions of DAGS random DAGs of each size, each with both methods."""
    works: dict[str, Callable[[Ints], int]] = {
        IDEALS: lambda dag: ideal_lattice(dag, max_ideals=max_states).size,
        COMPONENTS: lambda dag: solve(graphs.ancestors(dag), max_states).states,
    }
    seconds = {method: np.zeros((len(sizes), DAGS)) for method in works}
    states = {method: np.zeros((len(sizes), DAGS)) for method in works}
    for method, work in works.items():
        _timed(work, np.zeros(3, np.int64))  # compiles
        for i, n in enumerate(sizes):
            rng = np.random.default_rng([SEED, n, max_parents])
            for j in range(DAGS):
                dag = random_dag(n, rng, max_parents)
                seconds[method][i, j], states[method][i, j] = _timed(work, dag)
    return Counts(max_states, seconds, states)


def _timed(work: Callable[[Ints], int], dag: Ints) -> tuple[float, float]:
    start = time.process_time()
    try:
        states = float(work(dag))
    except ValueError:  # too many sets for the cap
        states = float("inf")
    return time.process_time() - start, states
