"""Where the jobs of a sampler run, and what they need to be told."""

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np


class Executor(Protocol):
    """Anything with the `map` of concurrent.futures: threads, processes, Dask, MPI.

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


def check_counts(*, least: int = 1, **counts: int) -> None:
    """Raise a ValueError that names the first count that is no integer of at least `least`.

    Examples
    --------
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


def check_generator(rng: np.random.Generator, /) -> None:
    """Raise a ValueError unless `rng` is a NumPy generator.

    Examples
    --------
    >>> check_generator(np.random.default_rng(0))
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng={rng!r} is no generator: pass numpy.random.default_rng(seed)")


def spawn(rng: np.random.Generator, count: int, /) -> list[np.random.Generator]:
    """Independent child streams, one a chain or run: the i-th is the same for any count.

    Examples
    --------
    >>> [int(child.integers(100)) for child in spawn(np.random.default_rng(1), 2)]
    [1, 94]
    """
    return rng.spawn(count)


def seed_of(rng: np.random.Generator, /) -> str:
    """What a run must record to be repeated: the generator's state and what it spawns from.

    Examples
    --------
    >>> "spawn_key" in seed_of(np.random.default_rng(1).spawn(1)[0])
    True
    """
    return f"{rng.bit_generator.state}, {rng.bit_generator.seed_seq}"
