"""The views and the checks of notebooks/15_scaling_out.ipynb.

What calls send to workers; what more cores bring and cost; plans for ten thousand annealing runs
and for the exact sum past 27 variables.
"""

import hashlib
import math
import pickle
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from bokeh.plotting import figure

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import Told, bdeu_table, exercise, setup as setup, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.memory import sized as sized
from bnlab.running import BYTES_A_SECOND, Executor, job_size, spoken as spoken

LEAST_RUNS = 20
LEAST_USE = 0.8  # of a budget
BASE_BYTES = 200e6  # of a worker that has loaded Python, NumPy, numba and bnlab
ROWS, MAX_PARENTS = 106, 3
MEGABYTES = (0.0, 0.03, 0.3, 2.3, 14.0, 44.0, 369.0)
CORES = tuple(2**i for i in range(13))
WORK = 3600.0  # seconds of computing, in the first widget
SIZES = (24, 30, 37, 45, 50, 58, 63)
RUNS = (100, 1000, 10_000, 100_000)
START = 30.0  # seconds until workers are up and the families are scored
PRICE = 0.05  # of a core for an hour: set your own
MOST = 45
wine = partial(bdeu_table, "wine")  # BDeu scores of 13 variables
MEMORIES = {"laptop": 16e9, "server": 1e12, "largest to rent": 32e12, "supercomputer": 5e15}


@dataclass(frozen=True, slots=True)
class Load:
    """Work in jobs that cannot be divided."""

    jobs: int  # how many
    seconds: float  # of each
    once: float = 0.0  # seconds before and after, for which all but one core wait
    send: float = 0.0  # seconds to send a job; one follows the other, while the workers work

    def wall(self, cores: int, /) -> float:
        """Seconds by the clock on the wall."""
        sending = self.jobs * self.send + self.seconds
        return self.once + max(sending, math.ceil(self.jobs / cores) * self.seconds)

    def speed_up(self, cores: int, /) -> float:
        """How many times faster than one core that need not send anything."""
        return (self.once + self.jobs * self.seconds) / self.wall(cores)

    def cost(self, cores: int, /) -> float:
        """Core-seconds that are paid for, those of waiting cores among them."""
        return cores * self.wall(cores)


def amdahl(serial: float, cores: float, /) -> float:
    """Speed-up if a share of the work is for one core and the rest divides evenly [Amdahl1967]."""
    return 1 / (serial + (1 - serial) / cores)


def annealing_steps(n: int, factor: int = 16, rows: int = ROWS) -> int:
    """Steps of a run of AIS: factor * n * m, to 16 in [NiinimakiKoivisto2013]."""
    return factor * n * rows


def move_terms(n: int) -> float:
    """What a move on orders of n > 22 variables costs, in family weights read, roughly."""
    return (20.0 + math.comb(n, MAX_PARENTS + 1) / n) * (1 + n / 3)


def parcel_bytes(n: int) -> int:
    """Bytes that a job brings along: ln of each family's weight."""
    return 8 * n * sum(math.comb(n - 1, size) for size in range(MAX_PARENTS + 1))


def worker_bytes(n: int) -> float:
    """Bytes that a worker takes for n > 22: itself, the parcel, and what it lays out from it."""
    return BASE_BYTES + 4 * parcel_bytes(n) + 8 * n * math.comb(n - 1, 2)


def annealing_seconds(n: int, seconds_a_term: float, /) -> float:
    """Seconds of a run of AIS of 16 n m steps, n > 22, at so many for each weight that is read."""
    return annealing_steps(n) * move_terms(n) * seconds_a_term


class SpeedUp(View):
    """An hour of computing, in jobs that cannot be divided, on 1 to 4,096 cores."""

    def __init__(self) -> None:
        super().__init__(
            jobs=size_slider("jobs", (4, 20, 100, 500, 2000, 10_000), 500),
            serial=size_slider("share for one core only", (0.0, 0.001, 0.01, 0.05, 0.2), 0.01),
            parcel=size_slider("megabytes sent with a job", MEGABYTES, 0.3),
        )

    def draw(self, jobs: int, serial: float, parcel: float) -> Board:
        """Speed-up and cost by the number of cores."""
        load = Load(jobs, (1 - serial) * WORK / jobs, serial * WORK, 1e6 * parcel / BYTES_A_SECOND)
        # The most cores at which at least half of the time paid for is spent on the work.
        worth = max(p for p in CORES if p == 1 or 2 * load.speed_up(p) >= p)
        speeds = {
            "ideal": np.array(CORES),
            "Amdahl's law": np.array([amdahl(serial, p) for p in CORES]),
            "these jobs": np.array([load.speed_up(p) for p in CORES]),
        }
        costs = {label: CORES / times for label, times in speeds.items()}
        half, faster = "at least half is work", "times faster than one core"
        point = half, worth, load.speed_up(worth)
        speed = _by_cores(speeds, point, faster, name="speed", title="Speed-up")
        paid = "core-hours paid for an hour of work"
        point = half, worth, load.cost(worth) / WORK
        cost = _by_cores(costs, point, paid, name="cost", title="Cost")
        return {
            "speed": (
                speed,
                f"{load.jobs:,} jobs of {load.seconds:.2g} s, {spoken(load.once)} for one core "
                f"only, {spoken(load.jobs * load.send)} of sending: never more than "
                f"{max(load.speed_up(p) for p in CORES):.3g} times faster.",
            ),
            "cost": (cost, f"Up to {worth:,} cores, at least half of what you pay for is work."),
        }


def _by_cores(
    curves: dict[str, Floats], point: tuple[str, int, float], label: str, **text: str
) -> figure:
    """Draw curves on the usual vertical axis, longer where one would leave it."""
    values = np.concatenate([*curves.values()])
    ends = min(0.5, 0.8 * float(values.min())), max(5000.0, 1.25 * float(values.max()))
    return plots.core_curves(CORES, curves, point, y=plots.Axis(label, ends), **text)


class AnnealingPlan(View):
    """Runs of AIS, each of 16 n m steps for m = 106 rows: hours, memory and money.

    Parameters
    ----------
    seconds_a_move : of a move on orders of 58 variables, measured
    price : of a core for an hour, in a currency of your choice
    """

    def __init__(self, seconds_a_move: float, price: float = PRICE) -> None:
        self._a_term, self._price = seconds_a_move / move_terms(58), price
        super().__init__(
            n=size_slider("variables", SIZES, 58),
            runs=size_slider("runs", RUNS, 10_000),
            cores=size_slider("cores", CORES[:11], 2),
        )

    def load(self, n: int, runs: int) -> Load:
        """The jobs that `anneal_orders` makes of the runs."""
        seconds, parcel = annealing_seconds(n, self._a_term), parcel_bytes(n)
        size = job_size(runs, seconds, parcel)
        return Load(math.ceil(runs / size), size * seconds, START, parcel / BYTES_A_SECOND)

    def draw(self, n: int, runs: int, cores: int) -> Board:
        """Hours and cost by the number of cores, and those of yours."""
        load, seconds = self.load(n, runs), annealing_seconds(n, self._a_term)
        parcel, worker = parcel_bytes(n), worker_bytes(n)
        evenly, offered = runs * seconds / 3600, np.array(CORES[:11])
        walls = np.array([load.wall(p) for p in CORES[:11]]) / 3600
        money = self._price * load.cost(cores) / 3600
        waits = {"divided evenly": evenly / offered, "in these jobs": walls}
        costs = {label: self._price * offered * each for label, each in waits.items()}
        point = "your cores", cores, load.wall(cores) / 3600
        y, title = plots.Axis("time (hours)", (0.001, 10_000)), "Hours until the last run is done"
        hours = plots.core_curves(offered, waits, point, y=y, name="hours", title=title)
        point, title = ("your cores", cores, money), "Cost of all cores until then"
        y = plots.Axis(f"cost, at {self._price:g} for a core-hour", (0.001, 1000))
        return {
            "time": (
                hours,
                f"{runs:,} runs of {annealing_steps(n):,} steps, {spoken(seconds)} each. "
                f"On {cores:,} cores: {spoken(load.wall(cores))}.",
            ),
            "money": (
                plots.core_curves(offered, costs, point, y=y, name="money", title=title),
                f"{load.jobs:,} jobs of {math.ceil(runs / load.jobs):,} runs bring "
                f"{sized(parcel)} each, {sized(load.jobs * parcel)} in all; a worker takes "
                f"{sized(worker)}, all of them {sized(cores * worker)}. Cost {money:,.3g}.",
            ),
        }


class ExactPlan(View):
    """The exact sum over orders beyond what fits here: memory, and time on one core.

    Parameters
    ----------
    seconds_a_term : for each of its n 2**n terms, measured
    seconds_a_move : of a move on orders of 58 variables, measured; for comparison
    """

    def __init__(self, seconds_a_term: float, seconds_a_move: float) -> None:
        self._a_term, self._a_move_term = seconds_a_term, seconds_a_move / move_terms(58)
        super().__init__(n=size_slider("variables", range(15, MOST + 1), 27))

    def draw(self, n: int) -> Board:
        """Memory beside that of computers, and time beside that of 10,000 annealing runs."""
        ns, level = list(range(15, MOST + 1)), [MOST, 15, 23]  # across, and back to its name
        named = [*ns, *range(MOST, 27, -1)]
        large = [*range(SIZES[0], MOST + 1), *range(MOST, 31, -1)]
        needs = {k: bn.exact.order_posterior_bytes(k) for k in ns}
        memory = {"exact sum": (ns, [needs[k] / 1e9 for k in ns])}
        memory |= {name: (level, [size / 1e9] * 3) for name, size in MEMORIES.items()}
        seconds = {k: self._a_term * k * 2.0**k for k in ns}

        def annealed(k: int) -> float:
            return 10_000 * annealing_seconds(max(k, SIZES[0]), self._a_move_term)

        holds = [name for name, size in MEMORIES.items() if needs[n] <= size]
        x = plots.Axis("number of variables n", (15, MOST + 0.5))
        y = plots.Axis("memory (GB)", (0.001, 1e9))
        alt = "Memory of the exact sum by number of variables, and of four computers"
        point = {f"n = {n}": ([n], [needs[n] / 1e9])}
        gigabytes = plots.growth(memory, point, x=x, y=y, title="Memory", alt=alt)
        times = {
            "exact sum": (named, [seconds[k] / 3600 for k in named]),
            "10,000 runs of AIS": (large, [annealed(k) / 3600 for k in large]),
            "a year": (level, [8766.0] * 3),
        }
        y, title = plots.Axis("time (hours)", (1e-6, 1e6)), "Time on one core"
        alt = "Hours of the exact sum and of 10,000 annealing runs by number of variables"
        point = {f"n = {n}": ([n], [seconds[n] / 3600])}
        return {
            "memory": (
                gigabytes,
                f"{n} variables: {sized(needs[n])}. Least of these computers that holds "
                f"it: {holds[0] if holds else 'none'}.",
            ),
            "time": (
                plots.growth(times, point, x=x, y=y, title=title, alt=alt),
                f"{spoken(seconds[n])}, if there is the memory; 10,000 runs of AIS for "
                f"{max(n, SIZES[0])} variables: {spoken(annealed(n))}.",
            ),
        }


def three_calls(table: bn.ScoreTable, executor: Executor | None = None, /) -> str:
    """The fingerprint of chains on orders, annealing runs and chains on DAGs of a table."""
    how: Any = {"rng": np.random.default_rng(2026), "executor": executor}
    return fingerprint(
        bn.sample_orders(table, draws=200, **how),
        bn.anneal_orders(table, runs=40, method=bn.AIS(bn.Linear(1000)), **how),
        bn.sample_structures(table, draws=200, **how),
    )


def fingerprint(*draws: bn.Draws) -> str:
    """Eight letters and digits that differ if a bit of the draws or of their weights differs."""
    arrays = (a for each in draws for a in (each.values, each.log_weight, each.log_target))
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:8]


def letters(n: int = 58, /) -> bn.Data:
    """A class and n - 1 letters of DNA, 106 rows, as many as in promoters, but at random.

    Most of every fifth are the sum of the two before, modulo 4, so that orders differ in weight.
    """
    rng = np.random.default_rng(106)
    values = rng.integers(0, 4, (ROWS, n))
    values[:, 0] = rng.integers(0, 2, ROWS)
    for v in range(5, n, 5):
        ruled = rng.random(ROWS) < 0.9
        values[ruled, v] = (values[ruled, v - 1] + values[ruled, v - 2]) % 4
    return bn.Data.from_arrays(values, arities=[2] + [4] * (n - 1))


class Ledger:
    """Does jobs one after another, here, each packed and unpacked as if it went to a worker."""

    def __init__(self) -> None:
        self.sent: list[int] = []  # bytes of each job
        self.returned: list[int] = []  # and of what came back
        self.seconds: list[float] = []  # of computing

    @property
    def jobs(self) -> int:
        """How many so far."""
        return len(self.sent)

    def map(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> Told:
        """Apply `fn` to the items; results in the order of the items."""
        for items in zip(*iterables, strict=True):
            parcel = pickle.dumps((fn, items))
            (sent, given), begun = pickle.loads(parcel), time.process_time()
            result = sent(*given)
            self.seconds.append(time.process_time() - begun)
            self.sent.append(len(parcel))
            self.returned.append(len(pickle.dumps(result)))
            yield result

    def __repr__(self) -> str:
        if not self.jobs:
            return "no jobs so far"
        sent, returned, seconds = (
            sum(each) / self.jobs for each in (self.sent, self.returned, self.seconds)
        )
        return (
            f"jobs: {self.jobs}; each {sized(sent)} there, {sized(returned)} back, "
            f"{seconds:.2g} s of computing"
        )


@exercise(properties=5)
def check_executor(make: Callable[[], Any]) -> Told:
    """Exercise 2: `make()` is an executor that does the last job first."""
    yield "it needs a method map(function, jobs)"
    yield callable(make().map)
    yield "map gives all results, in the order of the jobs"
    yield list(make().map(lambda x: 10 * x, [3, 1, 2])) == [30, 10, 20]
    yield "the last job must be done first: 3, 2, 1, 0"
    done: list[int] = []
    list(make().map(done.append, [0, 1, 2, 3]))
    yield done == [3, 2, 1, 0]
    yield "a second map of the same executor must work as well"
    yield len([*(again := make()).map(abs, [1]), *again.map(abs, [2, 3])]) == 3
    yield "the draws must be the same as without it, bit for bit"
    yield three_calls(wine(), make()) == three_calls(wine())


@exercise(properties=6)
def check_cores(function: Callable[[int, float, float, float], Any]) -> Told:
    """Exercise 1: `function(jobs, seconds, once, deadline)` is the least number of cores."""
    cases = list(product((1, 7, 100), (0.0, 30.0), (35.0, 60.0, 1000.0)))

    def searched(jobs: int, once: float, deadline: float) -> int | None:
        cores = range(1, jobs + 1)
        return next((p for p in cores if Load(jobs, 10.0, once).wall(p) <= deadline), None)

    yield "100 jobs of 10 s in 1000 s: one core will do"
    yield function(100, 10.0, 0.0, 1000) == 1
    yield "in 100 s: ten cores"
    yield function(100, 10.0, 0.0, 100.0) == 10
    yield "in 95 s: 12 cores, not 11, which would have to do ten jobs one after another"
    yield function(100, 10.0, 0.0, 95.0) == 12
    yield "the 20 s at the beginning count"
    yield function(100, 10.0, 20.0, 120.0) == 10
    yield "a job cannot be divided: in 9 s, None"
    yield function(100, 10.0, 0.0, 9.0) is None
    yield "compare with a search over all numbers of cores"
    yield all(function(p, 10.0, *rest) == searched(p, *rest) for p, *rest in cases)


@exercise(properties=5)
def check_plan(function: Callable[[int, float, float], Any]) -> Told:
    """Exercise 3: `function(n, hours, seconds_a_move)` is (runs, factor) within core-hours."""
    cases = [(30, 2.0, 2e-5), (37, 10.0, 4e-5), (58, 0.01, 1e-4), (58, 300.0, 1e-4)]

    def plan(n: int, hours: float, a_move: float) -> tuple[int, float]:
        runs, factor = function(n, hours, a_move)
        return int(runs), float(factor)

    def used(n: int, hours: float, a_move: float) -> float:
        runs, factor = plan(n, hours, a_move)
        return runs * factor * n * ROWS * a_move / 3600 / hours

    yield "return two numbers: runs, and steps over n m"
    yield len(function(*cases[0])) == 2
    yield f"fewer than {LEAST_RUNS} runs tell too little of how much they scatter"
    yield all(plan(*case)[0] >= LEAST_RUNS for case in cases)
    yield "the paper tried factors from 1 to 16: take at least 1"
    yield all(plan(*case)[1] >= 1 for case in cases)
    steps = annealing_steps(58, 1)
    yield f"58 variables: {steps:,} steps are a factor of 1; stay within the budget"
    yield all(used(*case) <= 1 for case in cases)
    yield f"use at least {LEAST_USE:.0%} of the budget"
    yield all(used(*case) >= LEAST_USE for case in cases)
