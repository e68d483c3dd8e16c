"""Markov chains on any state, in rounds that can be stopped."""

import math
import os
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bnlab.runs import (
    Clock,
    Executor,
    Progress,
    Stopped,
    check_counts,
    goes_on,
    workers,
)

Ints = NDArray[np.int64]

CHAINS = 4
BURN_IN = 10_000
CHAIN_BYTES = 1000  # of each generator
MAX_ROUNDS = 20  # on an executor that is not ours: each may send the target to a process again
MAX_BLOCKS = 100  # in a round there, about 10 seconds


class Walker(Protocol):
    """What moves a chain along.

    Examples
    --------
    >>> from bnlab.sampling.partitions import PartitionWalker
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> walker: Walker = PartitionWalker.of(table)
    """

    @property
    def block_moves(self) -> int:
        """Moves that take about 100 ms."""
        ...

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Move `state` along in place: `lead` moves, then `thin` before each record.

        Returns arrays (records, ...), and last a tally, which adds up over rounds.
        """
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What every chain does: burn_in moves, then `draws` records after `thin` moves each.

    Raises
    ------
    ValueError
        If one of the counts is out of its range.

    Examples
    --------
    >>> Plan(draws=5, burn_in=3, thin=2, chains=1).settings["thin"]
    2
    """

    draws: int
    burn_in: int
    thin: int
    chains: int

    def __post_init__(self) -> None:
        counts = check_counts(draws=self.draws, thin=self.thin, chains=self.chains)
        counts += check_counts(least=0, burn_in=self.burn_in)
        for name, count in zip(("draws", "thin", "chains", "burn_in"), counts, strict=True):
            object.__setattr__(self, name, count)

    @classmethod
    def of(
        cls, draws: int, burn_in: int | None, thin: int | None, chains: int | None, n: int
    ) -> "Plan":
        """A plan for n variables, with what is None as usual.

        Examples
        --------
        >>> Plan.of(100, None, None, None, 5)
        Plan(draws=100, burn_in=10000, thin=5, chains=4)
        """
        return cls(
            draws,
            BURN_IN if burn_in is None else burn_in,
            n if thin is None else thin,
            CHAINS if chains is None else chains,
        )

    @property
    def settings(self) -> dict[str, object]:
        """For the record of the run."""
        return {name: getattr(self, name) for name in ("draws", "chains", "burn_in", "thin")}

    def rounds(self, block: int) -> Iterator[tuple[int, int]]:
        """(lead, records) of rounds of about `block` moves: first of the burn-in, then of draws.

        Examples
        --------
        >>> list(Plan(draws=5, burn_in=3, thin=2, chains=1).rounds(4))
        [(3, 0), (0, 2), (0, 2), (0, 1)]
        """
        for done in range(0, self.burn_in, block):
            yield min(block, self.burn_in - done), 0
        size = max(1, block // self.thin)
        for done in range(0, self.draws, size):
            yield 0, min(size, self.draws - done)


class Ran(NamedTuple):
    """Records (chains, draws kept, ...) of all chains, and their tallies (chains, ...)."""

    records: tuple[NDArray[Any], ...]
    tally: Ints
    seconds: float
    stopped: bool


def run_in_rounds(
    walker: Walker,
    starts: Sequence[Ints],
    plan: Plan,
    rngs: Sequence[np.random.Generator],
    progress: Progress | None,
    executor: Executor | None,
) -> Ran:
    """One chain from each of the starts. All of them stop after the same round.

    A round that an interrupt breaks is dropped for all of them, so their draws stay equally many.

    Raises
    ------
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> from bnlab.sampling.partitions import PartitionWalker
    >>> walker = PartitionWalker.of(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> plan, rng = Plan(draws=5, burn_in=0, thin=2, chains=1), np.random.default_rng(1)
    >>> run_in_rounds(walker, [np.array([3, 0])], plan, [rng], None, None).records[0].shape
    (1, 5, 2)
    """
    clock, parts = Clock(), list[list[_Advanced]]()
    jobs = [(walker, start, 0, 0, plan.thin, rng) for start, rng in zip(starts, rngs, strict=True)]
    total = plan.burn_in + plan.draws * plan.thin
    moves, stopped = 0, False
    try:
        with workers(executor, plan.chains) as chosen:
            for lead, records in plan.rounds(_block(walker, plan.chains, total, executor)):
                jobs = [(w, at, lead, records, thin, rng) for w, at, _, _, thin, rng in jobs]
                results = list(chosen.map(_advance, jobs))
                jobs = [(walker, r.state, 0, 0, plan.thin, r.rng) for r in results]
                moves += lead + records * plan.thin
                if records:
                    parts.append(results)
                if not goes_on(progress, plan.chains * moves, plan.chains * total):
                    stopped = moves < total
                    break
    except KeyboardInterrupt:
        if not parts:
            raise
        stopped = moves < total
    if not parts:
        raise Stopped("stopped before the end of the burn-in: no draws yet")
    by_chain = list(zip(*parts, strict=True))
    joined = [
        [np.concatenate(arrays) for arrays in zip(*(r.walk[:-1] for r in rounds), strict=True)]
        for rounds in by_chain
    ]
    tally = np.array([sum(r.walk[-1] for r in rounds) for rounds in by_chain])
    records_of_all = tuple(np.array(arrays) for arrays in zip(*joined, strict=True))
    return Ran(records_of_all, tally, clock.seconds, stopped)


def _block(walker: Walker, chains: int, total: int, executor: Executor | None) -> int:
    """Moves of each chain in a round: about 100 ms of all of them on threads."""
    if executor is None:
        return max(1, walker.block_moves // math.ceil(chains / (os.cpu_count() or 1)))
    return min(max(walker.block_moves, total // MAX_ROUNDS), MAX_BLOCKS * walker.block_moves)


class _Advanced(NamedTuple):
    """A chain after a round: its records, and where it and its generator stand."""

    walk: tuple[NDArray[Any], ...]
    state: Ints
    rng: np.random.Generator


def _advance(job: tuple[Walker, Ints, int, int, int, np.random.Generator]) -> _Advanced:
    """Copies move along, not the originals: an interrupt leaves those before the round."""
    walker, state, lead, records, thin, rng = job
    state, rng = state.copy(), deepcopy(rng)
    return _Advanced(walker.walk(state, lead, records, thin, rng), state, rng)


def share(tally: Ints, /) -> NDArray[np.float64]:
    """Accepted of those tried, from (..., 2); 0 where none was tried.

    Examples
    --------
    >>> share(np.array([[4, 1], [0, 0]]))
    array([0.25, 0.  ])
    """
    shares: NDArray[np.float64] = tally[..., 1] / np.maximum(tally[..., 0], 1)
    return shares
