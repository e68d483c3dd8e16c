"""How a run is asked for, where its jobs go, how it tells its progress and how it stops."""

import math
import operator
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Real
from typing import Any, Protocol, TypeVar

import numpy as np

SEND_SECONDS = 0.002  # that a job costs, however small
BYTES_A_SECOND = 100e6  # of a network of 1 Gbit/s
MAX_BYTES = 2_000_000_000  # of all jobs of a call, which may wait in memory together

Progress = Callable[[int, int, object], object]
Part = TypeVar("Part")


class Stopped(Exception):
    """A run was stopped before it had anything to return.

    Examples
    --------
    >>> issubclass(Stopped, Exception)
    True
    """


def goes_on(progress: Progress | None, done: int, total: int, /) -> bool:
    """Tell `progress` how far a run is; False when it asks to stop.

    Examples
    --------
    >>> goes_on(lambda done, total, snapshot: done < 3, 3, 10)
    False
    """
    if progress is None:
        return True
    answer = progress(done, total, None)
    return answer is None or bool(answer)


class Clock:
    """Wall time since it was made, in seconds.

    Examples
    --------
    >>> Clock().seconds >= 0
    True
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start


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


@contextmanager
def workers(executor: Executor | None, jobs: int, /) -> Iterator[Executor]:
    """The executor given, or threads for so many jobs that end with the context.

    Examples
    --------
    >>> with workers(None, 3) as chosen:
    ...     list(chosen.map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(min(jobs, os.cpu_count() or 1)) as threads:
        yield threads


def job_size(runs: int, seconds: float, parcel: int, /) -> int:
    """How many runs of so many seconds go in one job, which brings so many bytes along.

    Sending all jobs, one after another, takes about as long as one of them works. So whatever the
    number of workers, the last one is done at most two jobs after the time that they would need
    together: of fewer jobs, workers wait for the last to end, of more, for the next to come.

    Examples
    --------
    >>> [job_size(1000, seconds, 30_000) for seconds in (0.01, 0.1, 1.0)]
    [15, 5, 2]
    """
    send = SEND_SECONDS + parcel / BYTES_A_SECOND
    balanced = min(runs, round(math.sqrt(runs * send / seconds)))
    return max(1, balanced, math.ceil(runs * parcel / MAX_BYTES))


def collect(
    results: Iterator[Part],
    parts: list[Part],
    size: Callable[[Part], int],
    total: int,
    progress: Progress | None,
    /,
) -> bool:
    """Add results to `parts` as they come; False when progress or Ctrl-C asks to stop.

    What is at hand then stays in `parts`; an interrupt before the first part is passed on.

    Examples
    --------
    >>> parts = []
    >>> collect(iter(["ab", "cd", "e"]), parts, len, 5, lambda done, total, snapshot: done < 4)
    False
    >>> parts
    ['ab', 'cd']
    """
    done = sum(size(part) for part in parts)
    try:
        for part in results:
            parts.append(part)
            done += size(part)
            if not goes_on(progress, done, total):
                return False
    except KeyboardInterrupt:
        if not parts:
            raise
        return False
    finally:
        if isinstance(results, Generator):
            results.close()  # cancels what has not begun
    return True


def check_counts(*, least: int = 1, **counts: int) -> tuple[int, ...]:
    """The counts, as Python's integers, which do not overflow as NumPy's do.

    Raises
    ------
    ValueError
        That names the first count that is no integer of at least `least`.

    Examples
    --------
    >>> check_counts(draws=np.int8(100), chains=4)
    (100, 4)
    >>> check_counts(draws=0)
    Traceback (most recent call last):
    ...
    ValueError: draws=0: give an integer of at least 1
    """
    for name, count in counts.items():
        try:
            fits = operator.index(count) >= least
        except TypeError:
            fits = False
        if not fits:
            raise ValueError(f"{name}={count!r}: give an integer of at least {least}")
    return tuple(operator.index(count) for count in counts.values())


def real(value: object, /) -> float:
    """A number as a float; nan, which lies in no range, for what is no real number.

    Examples
    --------
    >>> real(np.float32(0.5)), real("0.5")
    (0.5, nan)
    """
    if isinstance(value, Real) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return float(value)
    return math.nan


def check_generator(rng: np.random.Generator, /) -> None:
    """Raise a ValueError unless `rng` is a NumPy generator.

    Examples
    --------
    >>> check_generator(np.random.default_rng(0))
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng={rng!r} is no generator: pass numpy.random.default_rng(seed)")
    if not hasattr(rng.bit_generator.seed_seq, "spawn"):
        raise ValueError(
            f"rng={rng!r} has no seeds for chains: pass numpy.random.default_rng(seed)"
        )


def seed_of(rng: np.random.Generator, /) -> str:
    """What a run must record to be repeated: the generator's state and what it spawns from.

    Examples
    --------
    >>> "spawn_key" in seed_of(np.random.default_rng(1).spawn(1)[0])
    True
    """
    return f"{rng.bit_generator.state}, {rng.bit_generator.seed_seq}"
