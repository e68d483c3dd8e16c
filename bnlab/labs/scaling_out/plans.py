"""Plans: how long, how much, how dear; speed-up and cost, ten thousand runs, the exact sum."""

import math
from dataclasses import dataclass

import bnlab as bn
from bnlab import plots
from bnlab.labs.board import size_slider
from bnlab.labs.view import Board, View
from bnlab.plots.series import Curves
from bnlab.running import BYTES_A_SECOND, job_size

BASE_BYTES = 200e6  # of a worker that has loaded Python, NumPy, numba and bnlab
ROWS = 106
CORES = tuple(2**i for i in range(13))
WORK = 3600.0  # seconds of computing, in the first widget
JOBS = (4, 20, 100, 500, 2000, 10_000)
SHARES = (0.0, 0.001, 0.01, 0.05, 0.2)
MEGABYTES = (0.0, 0.03, 0.3, 2.3, 14.0, 44.0, 369.0)
SIZES = (24, 30, 37, 45, 50, 58, 63)
RUNS = (100, 1000, 10_000, 100_000)
START = 30.0  # seconds until workers are up and the families are scored
PRICE = 0.05  # of a core for an hour: set your own
MOST = 45
LABELS = 23
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
    """The speed-up if a share of the work is for one core and the rest divides evenly.

    [Amdahl1967]
    """
    return 1 / (serial + (1 - serial) / cores)


def annealing_steps(n: int, factor: int = 16, rows: int = ROWS) -> int:
    """Steps of a run of AIS: factor * n * m, to 16 in [NiinimakiKoivisto2013]."""
    return factor * n * rows


def move_terms(n: int, max_parents: int = 3) -> float:
    """What a move on orders of n > 22 variables costs, in family weights read, roughly."""
    return (20.0 + math.comb(n, max_parents + 1) / n) * (1 + n / 3)


def parcel_bytes(n: int, max_parents: int = 3) -> int:
    """Bytes that a job brings along: ln of each family's weight."""
    return 8 * n * sum(math.comb(n - 1, size) for size in range(max_parents + 1))


def worker_bytes(n: int, max_parents: int = 3) -> float:
    """Bytes that a worker takes for n > 22: itself, the parcel, and what it lays out from it."""
    parcel = parcel_bytes(n, max_parents)
    return BASE_BYTES + 4 * parcel + 8 * n * math.comb(n - 1, 2)


dp_bytes = bn.exact.order_posterior_bytes
"""Bytes of the exact sum over orders of n variables, any n."""


def dp_seconds(n: int, seconds_a_term: float, /) -> float:
    """Seconds of the exact sum: so many for each of n 2**n terms."""
    return seconds_a_term * n * 2.0**n


def spoken(seconds: float, /) -> str:
    """A time in words."""
    units = (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60))
    for unit, length in units:
        if seconds >= length * (2 if unit in ("years", "days") else 1):
            return f"{float(f'{seconds / length:.2g}'):,.12g} {unit}"
    return f"{seconds:.2g} seconds"


def sized(count: float, /) -> str:
    """A number of bytes in words."""
    units = (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
    unit, size = next((each for each in units if count >= each[1]), units[-1])
    return f"{count / size:.0f} {unit}" if count >= 10 * size else f"{count / size:.2g} {unit}"


class SpeedUp(View):
    """An hour of computing, in jobs that cannot be divided, on 1 to 4,096 cores.

    Controls `jobs`, `serial`, the share of the work for one core only, and `parcel`, the megabytes
    sent with each job; panels `speed` and `cost`.
    """

    def __init__(self) -> None:
        super().__init__(
            jobs=size_slider("jobs", JOBS, 500),
            serial=size_slider("share for one core only", SHARES, 0.01),
            parcel=size_slider("megabytes sent with a job", MEGABYTES, 0.3),
        )

    def draw(self, jobs: int, serial: float, parcel: float) -> Board:
        """Speed-up and cost by the number of cores."""
        send = 1e6 * parcel / BYTES_A_SECOND
        load = Load(jobs, (1 - serial) * WORK / jobs, serial * WORK, send)
        # The most cores at which at least half of the time paid for is spent on the work.
        worth = max(p for p in CORES if p == 1 or 2 * load.speed_up(p) >= p)
        speeds: Curves = {
            "ideal": (CORES, CORES),
            "Amdahl's law": (CORES, [amdahl(serial, p) for p in CORES]),
            "these jobs": (CORES, [load.speed_up(p) for p in CORES]),
        }
        costs: Curves = {
            label: (CORES, [p / times for p, times in zip(CORES, faster, strict=True)])
            for label, (_, faster) in speeds.items()
        }
        half = "half the cores' time is work"
        speed = plots.core_curves(
            speeds,
            {half: ([worth], [load.speed_up(worth)])},
            y_label="times faster than one core",
            y_range=_holding(speeds),
            name="speed",
            title="Speed-up",
            alt="Speed-up by number of cores: ideal, by Amdahl's law, and of these jobs",
        )
        cost = plots.core_curves(
            costs,
            {half: ([worth], [load.cost(worth) / WORK])},
            y_label="core-hours paid for an hour of work",
            y_range=_holding(costs),
            name="cost",
            title="Cost",
            alt="Core-hours paid for, by number of cores: ideal, Amdahl's law, these jobs",
        )
        return {
            "speed": (
                speed,
                f"{load.jobs:,} jobs of {load.seconds:.2g} s, {spoken(load.once)} for one core "
                f"only, {spoken(load.jobs * load.send)} of sending: never more than "
                f"{max(load.speed_up(p) for p in CORES):.3g} times faster.",
            ),
            "cost": (cost, f"Up to {worth:,} cores, at least half of what you pay for is work."),
        }


def _holding(curves: Curves) -> tuple[float, float]:
    """The usual vertical axis, longer where a curve would leave it."""
    values = [y for _, ys in curves.values() for y in ys]
    return min(0.5, 0.8 * min(values)), max(5000.0, 1.25 * max(values))


class AnnealingPlan(View):
    """Runs of AIS, each of 16 n m steps for m = 106 rows: hours, memory and money.

    Controls `n`, `runs` and `cores`; panels `time` and `money`.

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

    @property
    def load(self) -> Load:
        """The jobs that `anneal_orders` makes of the runs."""
        n, runs, _ = self.values().values()
        return self._load(n, runs)

    def _load(self, n: int, runs: int) -> Load:
        seconds, parcel = annealing_seconds(n, self._a_term), parcel_bytes(n)
        size = job_size(runs, seconds, parcel)
        return Load(math.ceil(runs / size), size * seconds, START, parcel / BYTES_A_SECOND)

    def draw(self, n: int, runs: int, cores: int) -> Board:
        """Hours and cost by the number of cores, and those of yours."""
        load, seconds = self._load(n, runs), annealing_seconds(n, self._a_term)
        parcel, worker = parcel_bytes(n), worker_bytes(n)
        evenly, offered = runs * seconds / 3600, CORES[:11]
        money = self._price * load.cost(cores) / 3600
        hours = plots.core_curves(
            {
                "divided evenly": (offered, [evenly / p for p in offered]),
                "in these jobs": (offered, [load.wall(p) / 3600 for p in offered]),
            },
            {"your cores": ([cores], [load.wall(cores) / 3600])},
            y_label="time (hours)",
            y_range=(0.001, 10_000),
            name="hours",
            title="Hours until the last run is done",
            alt="Hours by number of cores: divided evenly, and in the jobs of bnlab",
        )
        cost = plots.core_curves(
            {
                "divided evenly": (offered, [self._price * evenly] * len(offered)),
                "in these jobs": (offered, [self._price * load.cost(p) / 3600 for p in offered]),
            },
            {"your cores": ([cores], [money])},
            y_label=f"cost, at {self._price:g} for a core-hour",
            y_range=(0.001, 1000),
            name="money",
            title="Cost of all cores until then",
            alt="Cost by number of cores: divided evenly, and in the jobs of bnlab",
        )
        return {
            "time": (
                hours,
                f"{runs:,} runs of {annealing_steps(n):,} steps, {spoken(seconds)} each. "
                f"On {cores:,} cores: {spoken(load.wall(cores))}.",
            ),
            "money": (
                cost,
                f"{load.jobs:,} jobs of {math.ceil(runs / load.jobs):,} runs bring "
                f"{sized(parcel)} each, {sized(load.jobs * parcel)} in all; a worker takes "
                f"{sized(worker)}, all of them {sized(cores * worker)}. Cost {money:,.3g}.",
            ),
        }


class ExactPlan(View):
    """The exact sum over orders beyond what fits here: memory, and time on one core.

    Control `n`; panels `memory` and `time`.

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
        ns, level = list(range(15, MOST + 1)), [MOST, 15, LABELS]  # across, and back to its name
        named = [*ns, *range(MOST, 27, -1)]
        large = [*range(SIZES[0], MOST + 1), *range(MOST, 31, -1)]
        memory = {"exact sum": (ns, [dp_bytes(k) / 1e9 for k in ns])}
        memory |= {name: (level, [size / 1e9] * 3) for name, size in MEMORIES.items()}

        def annealed(k: int) -> float:
            return 10_000 * annealing_seconds(max(k, SIZES[0]), self._a_move_term)

        holds = [name for name, size in MEMORIES.items() if dp_bytes(n) <= size]
        seconds = dp_seconds(n, self._a_term)
        gigabytes = plots.growth(
            memory,
            {f"n = {n}": ([n], [dp_bytes(n) / 1e9])},
            title="Memory",
            y_label="memory (GB)",
            y_range=(0.001, 1e9),
            alt="Memory of the exact sum by number of variables, and of four computers",
            x_range=(15, MOST + 0.5),
        )
        hours = plots.growth(
            {
                "exact sum": (named, [dp_seconds(k, self._a_term) / 3600 for k in named]),
                "10,000 runs of AIS": (large, [annealed(k) / 3600 for k in large]),
                "a year": (level, [8766.0] * 3),
            },
            {f"n = {n}": ([n], [seconds / 3600])},
            title="Time on one core",
            y_label="time (hours)",
            y_range=(1e-6, 1e6),
            alt="Hours of the exact sum and of 10,000 annealing runs by number of variables",
            x_range=(15, MOST + 0.5),
        )
        return {
            "memory": (
                gigabytes,
                f"{n} variables: {sized(dp_bytes(n))}. Least of these computers that holds "
                f"it: {holds[0] if holds else 'none'}.",
            ),
            "time": (
                hours,
                f"{spoken(seconds)}, if there is the memory; 10,000 runs of AIS for "
                f"{max(n, SIZES[0])} variables: {spoken(annealed(n))}.",
            ),
        }


def annealing_seconds(n: int, seconds_a_term: float, /) -> float:
    """Seconds of a run of AIS of 16 n m steps, n > 22, at so many for each weight that is read."""
    return annealing_steps(n) * move_terms(n) * seconds_a_term
