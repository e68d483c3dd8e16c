"""Markov chains on any state, in rounds that can be stopped, saved and resumed."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

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
FEW_NUMBERS = 5_000_000  # 40 MB of all chains, likewise where rounds should be long
FIRST_BLOCKS = 3  # in the first round on an executor that is not ours; then a round takes
ROUND_SECONDS = 3.0  # by the clock on the wall, or
CHAIN_SECONDS = 0.1  # for each chain, if that is longer: each job costs some milliseconds


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

    def round(self, moves: int, block: int, few: int = FEW_RECORDS, /) -> tuple[int, int]:
        """(lead, records) of a round of about `block` moves that begins after so many.

        A round is of the burn-in, or of draws: of `few`, or of a small share of all. The burn-in,
        too, is made in steps of `thin` moves, of which the first may be shorter.

        Examples
        --------
        >>> plan = Plan(draws=5, burn_in=3, thin=2, chains=1)
        >>> [plan.round(moves, 4) for moves in (0, 3, 7, 11)]
        [(3, 0), (0, 2), (0, 2), (0, 1)]
        """
        steps, left = max(1, block // self.thin), self.burn_in - moves
        if left > 0:
            return min(left % self.thin + steps * self.thin, left), 0
        steps = min(steps, max(few, -(-self.draws // ROUNDS)))
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
    plan, made, seconds = chains.plan, 0, 0.0
    few = FEW_RECORDS
    if executor is not None:
        few = max(few, FEW_NUMBERS // sum(state.size + 1 for state in chains.at.states))
    with workers(executor, plan.chains) as chosen, _Sender(chosen, walker) as sender:
        while not chains.finished:
            block = _block(walker, plan, executor, made, seconds)
            lead, records = plan.round(chains.at.moves, block, few)
            clock, standing = Clock(), zip(chains.at.states, chains.at.rngs, strict=True)
            chains.take(
                lead, records, sender.map([(*each, lead, records, plan.thin) for each in standing])
            )
            made, seconds = lead + records * plan.thin, clock.seconds
            if file is not None and file.due:
                file.save(chains.arrays())
            if not goes_on(progress, plan.chains * chains.at.moves, plan.chains * plan.moves):
                return


def _block(walker: Walker, plan: Plan, executor: Executor | None, made: int, seconds: float) -> int:
    """Moves of each chain in a round: about 100 ms of all of them on threads.

    On another executor as many as fill some seconds, at the pace of the last round, in which so
    many were made: who knows how many workers there are, how fast, and how far away?
    """
    if executor is None:
        return max(1, walker.block_moves // math.ceil(plan.chains / (os.cpu_count() or 1)))
    if not made:
        return FIRST_BLOCKS * walker.block_moves
    wanted = max(ROUND_SECONDS, CHAIN_SECONDS * plan.chains)
    return max(walker.block_moves, int(made * wanted / seconds))


class _Advanced(NamedTuple):
    """A chain after a round: its records, and where it and its generator stand."""

    walk: tuple[NDArray[Any], ...]
    state: Ints
    rng: np.random.Generator


Part = tuple[Ints, np.random.Generator, int, int, int]
_kept: dict[str, Walker] = {}  # the walker of the last run that sent jobs to this process


class _Sender:
    """Jobs for workers that keep the walker: it goes along once, and again to who has not got it.

    What goes with a job of a later round is a state and a generator, and no megabytes.
    """

    def __init__(self, executor: Executor, walker: Walker) -> None:
        self._executor, self._walker = executor, walker
        self._run, self._known = uuid4().hex, False

    def __enter__(self) -> "_Sender":
        return self

    def __exit__(self, *_: object) -> None:
        _kept.pop(self._run, None)  # of workers that are threads of this process

    def map(self, parts: Sequence[Part]) -> list[_Advanced]:
        """The parts of a round, each made by one of the workers."""
        results = self._sent(parts, None if self._known else self._walker)
        lacking = [i for i, result in enumerate(results) if result is None]
        for i, result in zip(
            lacking, self._sent([parts[i] for i in lacking], self._walker), strict=True
        ):
            results[i] = result
        self._known = True
        return [result for result in results if result is not None]

    def _sent(self, parts: Sequence[Part], walker: Walker | None) -> list[_Advanced | None]:
        jobs = [(self._run, walker, part) for part in parts]
        return list(self._executor.map(_advance, jobs)) if jobs else []


def _advance(job: tuple[str, Walker | None, Part]) -> _Advanced | None:
    """A chain moved along; None if the walker neither came along nor was kept here.

    Copies move along, not the originals: an interrupt leaves those before the round.
    """
    run, walker, (state, rng, lead, records, thin) = job
    if walker is None:
        walker = _kept.get(run)
        if walker is None:
            return None
    elif run not in _kept:
        _kept.clear()
        _kept[run] = walker
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
