"""One runner for everything that takes long: jobs, progress, stops, and files to resume from.

What takes long is a `Work` of steps. `run_steps` makes them, tells the progress after each, stops
when it is asked to, and keeps what is made in a checkpoint.
"""

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Thread
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import numpy as np

from bnlab import memory
from bnlab.checkpoints import Arrays, Checkpoint, end_to_end
from bnlab.checks import shown

SEND_SECONDS = 0.002  # that a job costs, however small
BYTES_A_SECOND = 100e6  # of a network of 1 Gbit/s
GENERATOR_BYTES = 2800  # of each run, once compiled code has used it
MAX_BYTES = 2_000_000_000  # of all jobs of a call, which may wait in memory together
MANY_PARTS = 100  # are put together, since together they may take less memory

Progress = Callable[[int, int, object], object]
Job = TypeVar("Job")
Result = TypeVar("Result")


class Stopped(Exception):
    """A run was stopped before it had anything to return.

    Examples
    --------
    >>> issubclass(Stopped, Exception)
    True
    """


class Executor(Protocol):
    """Anything with the `map` of concurrent.futures: threads, processes, Dask, MPI.

    Dask gives the jobs of a worker that died to another one. A `ProcessPoolExecutor` that lost a
    process raises BrokenProcessPool: with `checkpoint=` the same call goes on, on a new pool, from
    what had come in. (Python before 3.11.5 may hang there instead when jobs are larger than a pipe
    holds, which is about 64 kB.)

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> executor: Executor = ThreadPoolExecutor(2)
    """

    def map(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        """Apply `fn` to the items in parallel; results in the order of the items."""
        ...


class Clock:
    """Wall time since it was made, in seconds."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start


def spoken(seconds: float, /) -> str:
    """Return a time in words."""
    units = (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60))
    fits = (each for each in units if seconds >= each[1] * (2 if each[1] > 3600 else 1))
    unit, length = next(fits, ("seconds", 1))
    told = f"{float(f'{seconds / length:.2g}'):,.12g}"
    return f"{told} {unit.removesuffix('s') if told == '1' else unit}"


def seed_of(rng: np.random.Generator, /) -> str:
    """Return what a run records to be repeated: the generator's state and what it spawns from."""
    return f"{rng.bit_generator.state}, {rng.bit_generator.seed_seq}"


def spawn(rng: np.random.Generator, count: int, each: int = 0, /) -> list[np.random.Generator]:
    """Return independent generators for so many runs, `each` of which takes as many bytes more."""
    remedy = "make fewer at a time" + ", or take fewer particles" * (each > 0)
    needed = count * (GENERATOR_BYTES + each)
    memory.require(needed, task=f"{count:,} runs or restarts", remedy=remedy)
    return rng.spawn(count)


class Work(ABC):
    """Base of what `run_steps` makes; a step commits its result in one assignment at its end."""

    @property
    def begun(self) -> bool:
        """Whether there is anything to return yet; if not, Ctrl-C is passed on."""
        return True

    @abstractmethod
    def steps(self) -> Generator[tuple[int, int], None, None]:
        """Make the steps that are left, and yield (done, total) after each."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return what a checkpoint keeps of the steps made."""

    @abstractmethod
    def restore(self, saved: Arrays) -> None:
        """Take up what a checkpoint kept, or raise a ValueError if no such work keeps that."""


def run_steps(work: Work, file: Checkpoint | None, progress: Progress | None, /) -> bool:
    """Make the steps that a file has not kept; return whether they were stopped early."""
    if file is not None:
        file.load(work.restore)
    done, total, unsaved = 0, 1, False
    try:
        with closing(work.steps()) as steps:
            for done, total in steps:
                unsaved = True
                if file is not None and file.due:
                    file.save(work.arrays())
                    unsaved = False
                if not report_progress(progress, done, total) and done < total:
                    return True
    except KeyboardInterrupt:
        if not work.begun:
            raise
        return done < total
    finally:
        if file is not None and unsaved:
            file.save(work.arrays())
    return False


def report_progress(
    progress: Progress | None, done: int, total: int, snapshot: object = None, /
) -> bool:
    """Tell `progress` how far a run is; return False when it asks to stop."""
    if progress is None:
        return True
    answer = progress(done, total, snapshot)
    try:
        return answer is None or bool(answer)
    except ValueError:
        raise ValueError(f"progress gave {shown(answer)}: return False to stop the run") from None


@dataclass
class Steps:
    """The steps of a run that has nothing to return before its end, told to its progress."""

    progress: Progress | None
    total: int
    outcome: str = "no result yet"
    done: int = 0

    def tick(self) -> None:
        """Count a step; raise Stopped when progress returns False before the last."""
        self.done += 1
        if not report_progress(self.progress, self.done, self.total) and self.done < self.total:
            raise Stopped(f"stopped after step {self.done} of {self.total}: {self.outcome}")


@cache
def threads_start() -> bool:
    """Return whether this process can start threads; in a browser it cannot."""
    try:
        Thread(target=int).start()
    except RuntimeError:
        return False
    return True


class Here:
    """An executor that does each job in the calling thread, when its result is asked for."""

    def map(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        return map(fn, *iterables)


@contextmanager
def workers(executor: Executor | None, jobs: int, /) -> Iterator[Executor]:
    """Yield the executor given, or threads for so many jobs that end with the context."""
    if executor is None and not threads_start():
        executor = Here()
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(min(max(jobs, 1), os.cpu_count() or 1)) as threads:
        yield threads


def spread(
    function: Callable[[Job], Result], jobs: Sequence[Job], executor: Executor | None, /
) -> Generator[Result, None, None]:
    """Yield what the function gives for each job, in their order; when closed, drop the rest."""
    with workers(executor, len(jobs)) as chosen:
        yield from chosen.map(function, jobs)


def job_size(runs: int, seconds: float, parcel: int, /) -> int:
    """Return how many runs of so many seconds go in one job, which brings so many bytes along."""
    # Sending all jobs takes about as long as one works: the last worker is two jobs late at most.
    send = SEND_SECONDS + parcel / BYTES_A_SECOND
    balanced = min(runs, round(math.sqrt(runs * send / seconds)))
    return max(1, balanced, math.ceil(runs * parcel / MAX_BYTES))


class Crew:
    """Workers that keep what all jobs of a run share, so that it is sent once to each."""

    def __init__(self, executor: Executor, shared: object, /) -> None:
        self._executor, self._shared = executor, shared
        self._run, self._known = uuid4().hex, False

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        _shared.pop(self._run, None)  # of workers that are threads of this process

    def map(self, function: Callable[[Any, Job], Result], jobs: Sequence[Job], /) -> list[Result]:
        """Return function(shared, job) of each of the jobs, made by one of the workers."""
        results = self._sent(function, jobs, None if self._known else self._shared)
        lacking = [i for i, result in enumerate(results) if result is None]
        again = self._sent(function, [jobs[i] for i in lacking], self._shared)
        for i, result in zip(lacking, again, strict=True):
            results[i] = result
        self._known = True
        return [result for result in results if result is not None]

    def _sent(
        self, function: Callable[[Any, Job], Result], jobs: Sequence[Job], shared: object
    ) -> list[Result | None]:
        parcels = [(function, self._run, shared, job) for job in jobs]
        return list(self._executor.map(_made, parcels)) if jobs else []


_shared: dict[str, object] = {}  # of the last run that sent jobs to this process


def _made(parcel: tuple[Callable[[Any, Any], Any], str, object, Any]) -> Any:
    """Return what the function gives; None if what is shared neither came nor was kept here."""
    function, run, shared, job = parcel
    if shared is None:
        shared = _shared.get(run)
        if shared is None:
            return None
    elif run not in _shared:
        _shared.clear()
        _shared[run] = shared
    return function(shared, job)


@dataclass(eq=False)
class Batch(Work):
    """Independent runs, made in jobs, which give arrays (runs, ...) by name."""

    function: Callable[[Any], Arrays]  # makes the runs of a job
    job: Callable[[slice], Any]  # of a slice of the runs; asked for in their order
    total: int
    executor: Executor | None
    size: int | Callable[[], int] = 1  # runs in a job; a function is asked when there is work
    ahead: int | None = None  # jobs handed out together, which wait in memory; all by default
    fits: Callable[[Arrays], object] | None = None  # raises a ValueError for other runs' arrays
    join: Callable[[Sequence[Arrays]], Arrays] = end_to_end
    _parts: list[Arrays] = field(default_factory=list, init=False)

    @property
    def count(self) -> int:
        """Runs made so far."""
        return sum(len(next(iter(part.values()))) for part in self._parts)

    @property
    def begun(self) -> bool:
        return bool(self._parts)

    def steps(self) -> Generator[tuple[int, int], None, None]:
        if self.count == self.total:
            return
        size = self.size() if callable(self.size) else self.size
        firsts, ahead = range(self.count, self.total, size), self.ahead or self.total
        runs = [slice(first, min(first + size, self.total)) for first in firsts]
        for i in range(0, len(runs), ahead):
            # No name holds the jobs: those of a round are gone when the next are made.
            parts = spread(self.function, [*map(self.job, runs[i : i + ahead])], self.executor)
            with closing(parts):
                for part in parts:
                    self._parts.append(part)
                    if len(self._parts) > MANY_PARTS:
                        self.arrays()
                    yield self.count, self.total

    def arrays(self) -> Arrays:
        if len(self._parts) > 1:  # kept once, not in parts beside the whole
            self._parts[:] = [self.join(self._parts)]
        return self._parts[0]

    def restore(self, saved: Arrays) -> None:
        if self.fits is not None:
            self.fits(saved)
        self._parts = [saved]
