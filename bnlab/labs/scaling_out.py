"""The views and the checks of notebooks/15_scaling_out.ipynb.

What calls send to workers; what more cores bring and cost; how many a wish for precision needs.
"""

import hashlib
import math
import pickle
import time
from bisect import bisect_left
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
from bnlab.running import BYTES_A_SECOND, Executor, spoken as spoken

LEAST_RUNS, MOST_WORK = 100, 1.3  # of a plan: runs, and steps over those of very long runs
ROWS = 106
MEGABYTES = (0.0, 0.03, 0.3, 2.3, 14.0, 44.0, 369.0)
CORES = tuple(2**i for i in range(13))
WORK = 3600.0  # seconds of computing, in the widget
wine = partial(bdeu_table, "wine")  # BDeu scores of 13 variables


@dataclass(frozen=True, slots=True)
class Load:
    """Work in jobs that cannot be divided."""

    jobs: int  # how many
    seconds: float  # of each
    once: float = 0.0  # seconds before and after, for which all but one core wait
    send: float = 0.0  # seconds to send a job; one follows the other, while the workers work

    def wall(self, cores: int, /) -> float:
        """Seconds by the clock on the wall: a core that is free takes the next job sent."""
        last = (self.jobs - 1) // cores  # rounds before the last
        ends = [(self.jobs - i * cores) * self.send + (i + 1) * self.seconds for i in (0, last)]
        return self.once + max(ends)

    def speed_up(self, cores: int, /) -> float:
        """How many times faster than one core that need not send anything."""
        return (self.once + self.jobs * self.seconds) / self.wall(cores)

    def cost(self, cores: int, /) -> float:
        """Core-seconds that are paid for, those of waiting cores among them."""
        return cores * self.wall(cores)


def amdahl(serial: float, cores: float, /) -> float:
    """Speed-up if a share of the work is for one core and the rest divides evenly [Amdahl1967]."""
    return 1 / (serial + (1 - serial) / cores)


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
        worth = max(p for p in CORES if p == 1 or 2 * load.speed_up(p) >= p)
        speeds = {
            "ideal": np.array(CORES),
            "Amdahl's law": np.array([amdahl(serial, p) for p in CORES]),
            "these jobs": np.array([load.speed_up(p) for p in CORES]),
        }
        costs = {label: CORES / times for label, times in speeds.items()}
        half, faster = "at least half is work", "times faster than one core"
        point = half, worth, load.speed_up(worth)
        speed = _by_cores(speeds, point, faster, 5000.0, name="speed", title="Speed-up")
        paid = "core-hours paid for an hour of work"
        point = half, worth, load.cost(worth) / WORK
        cost = _by_cores(costs, point, paid, 100.0, name="cost", title="Cost")
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
    curves: dict[str, Floats], point: tuple[str, int, float], label: str, top: float, **text: str
) -> figure:
    """Draw curves on the usual vertical axis, longer where one would leave it."""
    values = np.concatenate([*curves.values()])
    ends = min(0.5, 0.8 * float(values.min())), max(top, 1.25 * float(values.max()))
    return plots.core_curves(CORES, curves, point, y=plots.Axis(label, ends), **text)


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
def check_cores(function: Callable[[float, float, float, float], Any]) -> Told:
    """Exercise 1: `function(sigma, error, seconds, deadline)` is the least number of cores."""
    cases = list(product((0.4, 0.67, 1.2), (0.03, 0.004), (0.25, 2.0), (1.0, 60.0, 3600.0)))

    def searched(sigma: float, error: float, seconds: float, deadline: float) -> int | None:
        load = Load(math.ceil(math.expm1(sigma**2) / error**2), seconds)
        found = bisect_left(range(1, load.jobs + 1), -deadline, key=lambda p: -load.wall(p)) + 1
        return found if found <= load.jobs else None

    yield "σ = 1, 1 %, 1 s a run: 17,183 runs, so one core will do in 18,000 s"
    yield function(1.0, 0.01, 1.0, 18_000.0) == 1
    yield "in 1,000 s: 18 cores, since 17 make 17,000 runs only"
    yield function(1.0, 0.01, 1.0, 1000.0) == 18
    yield "in 1.5 s a core makes one run, so each run needs a core: 17,183"
    yield function(1.0, 0.01, 1.0, 1.5) == 17_183
    yield "half the error takes four times the runs: 69 cores in 1,000 s"
    yield function(1.0, 0.005, 1.0, 1000.0) == 69
    yield "a run cannot be divided: in 0.5 s, None"
    yield function(1.0, 0.01, 1.0, 0.5) is None
    yield "compare with a search over all numbers of cores"
    yield all(function(*case) == searched(*case) for case in cases)


@exercise(properties=5)
def check_plan(function: Callable[[float, int, float], Any]) -> Told:
    """Exercise 3: `function(sigma, steps, error)` is (runs, steps) of a plan, from a pilot."""
    cases = list(product((0.4, 0.67, 1.2, 2.5), (400, 1600, 5000), (0.03, 0.01, 0.001)))

    def predicted(sigma: float, steps: int, error: float) -> float:
        runs, longer = function(sigma, steps, error)
        return math.sqrt(math.expm1(sigma**2 * steps / longer) / runs) / error

    def work(sigma: float, steps: int, error: float) -> float:
        runs, longer = function(sigma, steps, error)
        return float(runs * longer * error**2 / (sigma**2 * steps))

    yield "return two whole numbers: runs, and steps of each"
    yield all(isinstance(number, int | np.integer) for number in function(*cases[0]))
    yield f"fewer than {LEAST_RUNS} runs tell too little of how much they scatter"
    yield all(function(*case)[0] >= LEAST_RUNS for case in cases)
    yield "σ = 0.67 at 1,600 steps: the predicted error must be 0.1 % or less"
    yield predicted(0.67, 1600, 0.001) <= 1
    yield "other pilots and errors: the predicted error must be as small as asked"
    yield all(predicted(*case) <= 1 for case in cases)
    yield f"at most {MOST_WORK} times as many steps in all as with very long runs"
    yield all(work(*case) <= MOST_WORK for case in cases)
