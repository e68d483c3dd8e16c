"""Markov chains on any state, in rounds that can be stopped, saved and resumed."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import (
    Arrays,
    Checkpoint,
    fingerprint,
    generator_states,
    restore_generators,
)
from bnlab.results import package_versions
from bnlab.runs import (
    Clock,
    Executor,
    Progress,
    Stopped,
    check_counts,
    goes_on,
    workers,
)
from bnlab.scores import ScoreTable

Ints = NDArray[np.int64]

CHAINS = 4
BURN_IN = 10_000
CHAIN_BYTES = 1000  # of each generator
SAVED_INTEGER, SAVED_REAL = 2, 16  # bytes of the compressed file in memory, and of its copies
ROUNDS = 20  # of draws, at least, so that what a round adds takes little memory twice
FEW_RECORDS = 1000  # that matter to nobody
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

    def bytes_of(self, integers: int, reals: int, /, *, saved: bool) -> int:
        """Bytes of chains that record so many numbers of either kind at each draw.

        Examples
        --------
        >>> Plan(draws=100_000, burn_in=0, thin=1, chains=1).bytes_of(9, 1, saved=False) / 1e6
        8.401
        """
        each = 8 * (integers + reals) * (ROUNDS + 1) // ROUNDS
        each += (SAVED_INTEGER * integers + SAVED_REAL * reals) if saved else 0
        return self.chains * (CHAIN_BYTES + self.draws * each)

    @property
    def moves(self) -> int:
        """Moves of each chain in all."""
        return self.burn_in + self.draws * self.thin

    def kept(self, moves: int, /) -> int:
        """Draws of each chain after so many moves."""
        return max(0, moves - self.burn_in) // self.thin

    def round(self, moves: int, block: int, /) -> tuple[int, int]:
        """(lead, records) of a round of about `block` moves that begins after so many.

        A round is of the burn-in, or of draws. The burn-in, too, is made in steps of `thin` moves,
        of which the first may be shorter.

        Examples
        --------
        >>> plan = Plan(draws=5, burn_in=3, thin=2, chains=1)
        >>> [plan.round(moves, 4) for moves in (0, 1, 3, 7, 11)]
        [(1, 0), (2, 0), (0, 2), (0, 2), (0, 1)]
        """
        steps, left = max(1, block // self.thin), self.burn_in - moves
        steps = min(steps, max(FEW_RECORDS, -(-self.draws // ROUNDS)))
        if left > 0:
            return left % self.thin or min(steps * self.thin, left), 0
        return 0, min(steps, self.draws - self.kept(moves))


class Ran(NamedTuple):
    """Records (chains, draws kept, ...) of all chains, and their tallies (chains, ...)."""

    records: tuple[NDArray[Any], ...]
    tally: Ints
    seconds: float
    stopped: bool


def run_in_rounds(
    lay_out: Callable[[], Walker],
    starts: Sequence[Ints],
    plan: Plan,
    rngs: Sequence[np.random.Generator],
    file: Checkpoint | None,
    progress: Progress | None,
    executor: Executor | None,
) -> Ran:
    """One chain from each of the starts. All of them stop after the same round.

    A round that an interrupt breaks is dropped for all of them, so their draws stay equally many.
    The walker is laid out unless the file keeps all draws already.

    Raises
    ------
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> from bnlab.sampling.partitions import PartitionWalker
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> plan, rng = Plan(draws=5, burn_in=0, thin=2, chains=1), np.random.default_rng(1)
    >>> ran = run_in_rounds(
    ...     lambda: PartitionWalker.of(table), [np.array([3, 0])], plan, [rng], None, None, None)
    >>> ran.records[0].shape
    (1, 5, 2)
    """
    chains = _Chains(plan, starts, rngs)
    saved = None if file is None else file.load()
    if saved is not None:
        chains.restore(saved)
    if not chains.finished:
        try:
            _go_on(chains, lay_out(), file, progress, executor)
        except KeyboardInterrupt:
            if not chains.kept:
                raise
        finally:
            if file is not None:
                file.save(chains.arrays())
    if not chains.kept:
        raise Stopped("stopped before the end of the burn-in: no draws yet")
    records = tuple(array[:, : chains.kept] for array in chains.records)
    return Ran(records, chains.at.tally, chains.seconds, not chains.finished)


def file_of(
    path: str | os.PathLike[str] | None, table: ScoreTable, identity: Mapping[str, object], /
) -> Checkpoint | None:
    """The checkpoint of chains on a table, or None without a path.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> file_of(None, score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()), {"seed": "1"})
    """
    if path is None:
        return None
    tables = {"table": fingerprint(table.parents, table.log_score, table.log_prior)}
    return Checkpoint(path, {"bnlab": package_versions()["bnlab"], **identity, **tables})


class _Position(NamedTuple):
    """Where chains stand after so many moves of each, and what they have counted in their draws."""

    moves: int
    states: list[Ints]
    rngs: list[np.random.Generator]
    tally: Ints


class _Chains:
    """Chains in step: where they stand, and their records (chains, draws, ...) so far."""

    def __init__(
        self, plan: Plan, starts: Sequence[Ints], rngs: Sequence[np.random.Generator]
    ) -> None:
        self.plan = plan
        self.records: tuple[NDArray[Any], ...] = ()
        self.at = _Position(0, list(starts), list(rngs), np.zeros((), np.int64))
        self._clock, self._seconds_before = Clock(), 0.0

    @property
    def kept(self) -> int:
        """Draws of each chain so far."""
        return self.plan.kept(self.at.moves)

    @property
    def finished(self) -> bool:
        """Whether all draws are there."""
        return self.at.moves == self.plan.moves

    @property
    def seconds(self) -> float:
        """Wall time of this run, and of the runs that it resumes."""
        return self._seconds_before + self._clock.seconds

    def take(self, lead: int, records: int, results: list["_Advanced"]) -> None:
        """Take in the results of a round."""
        tally = self.at.tally
        if records:
            fresh = slice(self.kept, self.kept + records)
            if not self.records:
                self._make_room(results[0].walk[:-1])
            for i, whole in enumerate(self.records):
                for c, result in enumerate(results):
                    whole[c, fresh] = result.walk[i]
            tally = tally + np.array([result.walk[-1] for result in results])
        moves = self.at.moves + lead + records * self.plan.thin
        states, rngs = [result.state for result in results], [result.rng for result in results]
        # At once: an interrupt finds the position before the round, or after it.
        self.at = _Position(moves, states, rngs, tally)

    def arrays(self) -> Arrays:
        """What a checkpoint keeps."""
        records = {f"record {i}": array[:, : self.kept] for i, array in enumerate(self.records)}
        return {
            "moves": np.array(self.at.moves),
            "states": np.array(self.at.states),
            "generators": generator_states(self.at.rngs),
            "tally": self.at.tally,
            "seconds": np.array(self.seconds),
            **records,
        }

    def restore(self, saved: Arrays) -> None:
        """Stand where a checkpoint was saved."""
        rngs = self.at.rngs
        restore_generators(rngs, saved["generators"])
        self.at = _Position(int(saved["moves"]), list(saved["states"]), rngs, saved["tally"])
        records = [saved[name] for name in saved if name.startswith("record ")]
        if records:
            self._make_room([array[0] for array in records])
            for whole, array in zip(self.records, records, strict=True):
                whole[:, : self.kept] = array
        self._seconds_before = float(saved["seconds"])

    def _make_room(self, like: Sequence[NDArray[Any]]) -> None:
        shape = self.plan.chains, self.plan.draws
        self.records = tuple(np.empty((*shape, *array.shape[1:]), array.dtype) for array in like)


def _go_on(
    chains: _Chains,
    walker: Walker,
    file: Checkpoint | None,
    progress: Progress | None,
    executor: Executor | None,
) -> None:
    plan = chains.plan
    block = _block(walker, plan, executor)
    with workers(executor, plan.chains) as chosen:
        while not chains.finished:
            lead, records = plan.round(chains.at.moves, block)
            jobs = [
                (walker, state, lead, records, plan.thin, rng)
                for state, rng in zip(chains.at.states, chains.at.rngs, strict=True)
            ]
            chains.take(lead, records, list(chosen.map(_advance, jobs)))
            if file is not None and file.due:
                file.save(chains.arrays())
            if not goes_on(progress, plan.chains * chains.at.moves, plan.chains * plan.moves):
                return


def _block(walker: Walker, plan: Plan, executor: Executor | None) -> int:
    """Moves of each chain in a round: about 100 ms of all of them on threads."""
    if executor is None:
        return max(1, walker.block_moves // math.ceil(plan.chains / (os.cpu_count() or 1)))
    share = plan.moves // MAX_ROUNDS
    return min(max(walker.block_moves, share), MAX_BLOCKS * walker.block_moves)


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
