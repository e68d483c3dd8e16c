"""Speed-up and cost, ten thousand chains, the exact sum: sliders wired to the formulas."""

import math
from collections.abc import Mapping
from typing import Any

from bnlab import plots
from bnlab.labs.board import Panel, side_by_side, size_slider, stacked
from bnlab.labs.scaling_out.laws import (
    Load,
    amdahl,
    annealing_steps,
    dp_bytes,
    dp_seconds,
    move_terms,
    parcel_bytes,
    sized,
    spoken,
    worker_bytes,
)
from bnlab.plots.growth import Series
from bnlab.plots.scaling import Curves
from bnlab.runs import BYTES_A_SECOND, job_size

CORES = tuple(2**i for i in range(13))
WORK = 3600.0  # seconds of computing, in the first widget
JOBS = (4, 20, 100, 500, 2000, 10_000)
SHARES = (0.0, 0.001, 0.01, 0.05, 0.2)
MEGABYTES = (0.0, 0.03, 0.3, 2.3, 14.0, 44.0, 369.0)
SIZES = (24, 30, 37, 45, 50, 58, 63)
CHAINS = (100, 1000, 10_000, 100_000)
START = 30.0  # seconds until workers are up and the families are scored
PRICE = 0.05  # of a core for an hour: set your own
MOST = 45
LABELS = 23
MEMORIES = {"laptop": 16e9, "server": 1e12, "largest to rent": 32e12, "supercomputer": 5e15}

Pictures = tuple[Any, Any]


def measured_speeds(speeds: Mapping[str, Mapping[str, float]], /) -> Panel:
    """The picture of measured speed-ups of two workers, call -> place -> times faster than one.

    Examples
    --------
    >>> panel = measured_speeds({"long runs": {"threads": 1.9, "processes": 1.8}})
    >>> panel.caption
    'Times faster than one worker: long runs: threads 1.90, processes 1.80.'
    """
    calls = [
        f"{call}: {', '.join(f'{place} {speed:.2f}' for place, speed in row.items())}"
        for call, row in speeds.items()
    ]
    return Panel(
        plots.place_speeds(
            speeds,
            workers=2,
            title="Two workers, measured",
            alt="How many times faster two workers are than one, by place and call",
        ),
        f"Times faster than one worker: {'; '.join(calls)}.",
    )


class SpeedUp:
    """An hour of computing, in jobs that cannot be divided, on 1 to 4,096 cores.

    Attributes
    ----------
    widget : what to display
    jobs, serial, parcel : the sliders: number of jobs, share of the work for one core only, and
        megabytes sent with each job
    speed, cost : the `Panel`s, with sources "speed", "speed_points", "cost" and "cost_points"
    """

    def __init__(self) -> None:
        self.jobs = size_slider("jobs", JOBS, 500)
        self.serial = size_slider("share for one core only", SHARES, 0.01)
        self.parcel = size_slider("megabytes sent with a job", MEGABYTES, 0.3)
        captions = self._captions()
        self.speed, self.cost = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), captions, strict=True)
        )
        for control in (self.jobs, self.serial, self.parcel):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.jobs, self.serial, self.parcel), side_by_side(self.speed, self.cost)
        )

    @property
    def load(self) -> Load:
        """The work as the sliders stand."""
        serial, jobs = float(self.serial.value), int(self.jobs.value)
        send = 1e6 * self.parcel.value / BYTES_A_SECOND
        return Load(jobs, (1 - serial) * WORK / jobs, serial * WORK, send)

    @property
    def worth(self) -> int:
        """The most cores at which at least half of the time paid for is spent on the work."""
        load = self.load
        worth: int = max(p for p in CORES if p == 1 or 2 * load.speed_up(p) >= p)
        return worth

    def _speeds(self) -> Curves:
        serial, load = self.serial.value, self.load
        return {
            "ideal": (CORES, CORES),
            "Amdahl's law": (CORES, [amdahl(serial, p) for p in CORES]),
            "these jobs": (CORES, [load.speed_up(p) for p in CORES]),
        }

    def _costs(self) -> Curves:
        serial, load = self.serial.value, self.load
        return {
            "ideal": (CORES, [1.0] * len(CORES)),
            "Amdahl's law": (CORES, [p / amdahl(serial, p) for p in CORES]),
            "these jobs": (CORES, [load.cost(p) / WORK for p in CORES]),
        }

    def _points(self) -> tuple[Curves, Curves]:
        p, name = self.worth, "half the cores' time is work"
        return (
            {name: ([p], [self.load.speed_up(p)])},
            {name: ([p], [self.load.cost(p) / WORK])},
        )

    def _pictures(self) -> Pictures:
        speed, cost = self._points()
        return (
            plots.core_curves(
                self._speeds(),
                speed,
                y_label="times faster than one core",
                y_range=(0.5, 5000),
                name="speed",
                title="Speed-up",
                alt="Speed-up by number of cores: ideal, by Amdahl's law, and of these jobs",
            ),
            plots.core_curves(
                self._costs(),
                cost,
                y_label="core-hours paid for an hour of work",
                y_range=(0.5, 5000),
                name="cost",
                title="Cost",
                alt="Core-hours paid for, by number of cores: ideal, Amdahl's law, these jobs",
            ),
        )

    def _captions(self) -> tuple[str, str]:
        load, best = self.load, max(self.load.speed_up(p) for p in CORES)
        return (
            f"{load.jobs:,} jobs of {load.seconds:.2g} s, {spoken(load.once)} for one core only, "
            f"{spoken(load.jobs * load.send)} of sending: never more than {best:.3g} times faster.",
            f"Up to {self.worth:,} cores, at least half of what you pay for is work.",
        )

    def _change(self, change: Any) -> None:
        captions, (speed, cost) = self._captions(), self._points()
        self.speed.update(
            captions[0],
            speed=plots.core_lines(self._speeds()),
            speed_points=plots.core_points(speed),
        )
        self.cost.update(
            captions[1], cost=plots.core_lines(self._costs()), cost_points=plots.core_points(cost)
        )


class AnnealingPlan:
    """Chains of AIS, each of 16 n m steps for m = 106 rows: hours, memory and money.

    Parameters
    ----------
    seconds_a_move : of a move on orders of 58 variables, measured
    price : of a core for an hour, in a currency of your choice

    Attributes
    ----------
    widget : what to display
    n, chains, cores : the sliders
    time, money : the `Panel`s, with sources "hours", "hours_points", "money" and "money_points"
    """

    def __init__(self, seconds_a_move: float, price: float = PRICE) -> None:
        self._a_term, self._price = seconds_a_move / move_terms(58), price
        self.n = size_slider("variables", SIZES, 58)
        self.chains = size_slider("chains", CHAINS, 10_000)
        self.cores = size_slider("cores", CORES[:11], 2)
        captions = self._captions()
        self.time, self.money = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), captions, strict=True)
        )
        for control in (self.n, self.chains, self.cores):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.n, self.chains, self.cores), side_by_side(self.time, self.money)
        )

    @property
    def chain_seconds(self) -> float:
        """Seconds of one chain."""
        return annealing_seconds(self.n.value, self._a_term)

    @property
    def load(self) -> Load:
        """The jobs that `anneal_orders` makes of the chains."""
        chains, parcel = self.chains.value, parcel_bytes(self.n.value)
        size = job_size(chains, self.chain_seconds, parcel)
        jobs = math.ceil(chains / size)
        return Load(jobs, size * self.chain_seconds, START, parcel / BYTES_A_SECOND)

    def _curves(self) -> tuple[Curves, Curves]:
        cores, load = CORES[:11], self.load
        hours = [load.wall(p) / 3600 for p in cores]
        money = [self._price * load.cost(p) / 3600 for p in cores]
        evenly = self.chains.value * self.chain_seconds / 3600
        return (
            {
                "divided evenly": (cores, [evenly / p for p in cores]),
                "in these jobs": (cores, hours),
            },
            {
                "divided evenly": (cores, [self._price * evenly] * len(cores)),
                "in these jobs": (cores, money),
            },
        )

    def _points(self) -> tuple[Curves, Curves]:
        p, load = self.cores.value, self.load
        name = "your cores"
        return (
            {name: ([p], [load.wall(p) / 3600])},
            {name: ([p], [self._price * load.cost(p) / 3600])},
        )

    def _pictures(self) -> Pictures:
        curves, points = self._curves(), self._points()
        return (
            plots.core_curves(
                curves[0],
                points[0],
                y_label="time (hours)",
                y_range=(0.001, 10_000),
                name="hours",
                title="Hours until the last chain is done",
                alt="Hours by number of cores: divided evenly, and in the jobs of bnlab",
            ),
            plots.core_curves(
                curves[1],
                points[1],
                y_label=f"cost, at {self._price:g} for a core-hour",
                y_range=(0.001, 1000),
                name="money",
                title="Cost of all cores until then",
                alt="Cost by number of cores: divided evenly, and in the jobs of bnlab",
            ),
        )

    def _captions(self) -> tuple[str, str]:
        n, p, load = self.n.value, self.cores.value, self.load
        parcel = parcel_bytes(n)
        return (
            f"{self.chains.value:,} chains of {annealing_steps(n):,} steps, "
            f"{spoken(self.chain_seconds)} each. On {p:,} cores: {spoken(load.wall(p))}.",
            f"{load.jobs:,} jobs of {math.ceil(self.chains.value / load.jobs):,} chains bring "
            f"{sized(parcel)} each, {sized(load.jobs * parcel)} in all; a worker takes "
            f"{sized(worker_bytes(n))}, all of them {sized(p * worker_bytes(n))}. Cost "
            f"{self._price * load.cost(p) / 3600:,.3g}.",
        )

    def _change(self, change: Any) -> None:
        captions, curves, points = self._captions(), self._curves(), self._points()
        self.time.update(
            captions[0],
            hours=plots.core_lines(curves[0]),
            hours_points=plots.core_points(points[0]),
        )
        self.money.update(
            captions[1],
            money=plots.core_lines(curves[1]),
            money_points=plots.core_points(points[1]),
        )


class ExactPlan:
    """The exact sum over orders beyond what fits here: memory, and time on one core.

    Parameters
    ----------
    seconds_a_term : for each of its n 2**n terms, measured
    seconds_a_move : of a move on orders of 58 variables, measured; for comparison

    Attributes
    ----------
    widget : what to display
    n : the slider
    memory, time : the `Panel`s, with sources "curves" and "points"
    """

    def __init__(self, seconds_a_term: float, seconds_a_move: float) -> None:
        self._a_term, self._a_move_term = seconds_a_term, seconds_a_move / move_terms(58)
        self.n = size_slider("variables", range(15, MOST + 1), 27)
        captions = self._captions()
        self.memory, self.time = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), captions, strict=True)
        )
        self.n.observe(self._change, "value")
        self.widget = stacked(self.n, side_by_side(self.memory, self.time))

    def _points(self) -> tuple[Series, Series]:
        n = self.n.value
        return (
            {f"n = {n}": ([n], [dp_bytes(n) / 1e9])},
            {f"n = {n}": ([n], [dp_seconds(n, self._a_term) / 3600])},
        )

    def _pictures(self) -> Pictures:
        ns = list(range(15, MOST + 1))
        level = [MOST, 15, LABELS]  # all across, and back to where its name is
        memory = {"exact sum": (ns, [dp_bytes(n) / 1e9 for n in ns])}
        memory |= {name: (level, [size / 1e9] * 3) for name, size in MEMORIES.items()}
        large = [n for n in ns if n >= SIZES[0]]
        chains = [10_000 * annealing_seconds(n, self._a_move_term) / 3600 for n in large]
        time = {
            "exact sum": (ns, [dp_seconds(n, self._a_term) / 3600 for n in ns]),
            "10,000 chains of AIS": (large, chains),
            "a year": (level, [8766.0] * 3),
        }
        points = self._points()
        return (
            plots.growth(
                memory,
                points[0],
                title="Memory",
                y_label="memory (GB)",
                x_range=(15, MOST + 0.5),
                y_range=(0.001, 1e9),
                alt="Memory of the exact sum by number of variables, and of four computers",
            ),
            plots.growth(
                time,
                points[1],
                title="Time on one core",
                y_label="time (hours)",
                x_range=(15, MOST + 0.5),
                y_range=(1e-6, 1e6),
                alt="Hours of the exact sum and of 10,000 annealing runs by number of variables",
            ),
        )

    def _captions(self) -> tuple[str, str]:
        n = self.n.value
        chains = 10_000 * annealing_seconds(max(n, SIZES[0]), self._a_move_term)
        holds = [name for name, size in MEMORIES.items() if dp_bytes(n) <= size]
        return (
            f"{n} variables: {sized(dp_bytes(n))}. Least of these computers that holds it: "
            f"{holds[0] if holds else 'none'}.",
            f"{spoken(dp_seconds(n, self._a_term))}, if there is the memory; 10,000 chains of "
            f"AIS for {max(n, SIZES[0])} variables: {spoken(chains)}.",
        )

    def _change(self, change: Any) -> None:
        captions, points = self._captions(), self._points()
        self.memory.update(captions[0], points=plots.growth_points(points[0]))
        self.time.update(captions[1], points=plots.growth_points(points[1]))


def annealing_seconds(n: int, seconds_a_term: float, /) -> float:
    """Seconds of a run of AIS of 16 n m steps, n > 22, at so many for each weight that is read.

    Examples
    --------
    >>> annealing_seconds(58, 1e-9) > annealing_seconds(37, 1e-9)
    True
    """
    return annealing_steps(n) * move_terms(n) * seconds_a_term
