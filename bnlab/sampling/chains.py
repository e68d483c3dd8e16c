"""Markov chains on any state: their settings, and rounds that can be stopped and resumed."""

import math
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checkpoints import (
    GENERATORS,
    SECONDS,
    Arrays,
    Checkpoint,
    Kept,
    check,
    generator_states,
    identity,
    restore_generators,
    tallies,
)
from bnlab.checks import Count, Floats, Ints, Natural, frozen
from bnlab.errors import Public
from bnlab.results import Draws, Over, PriorKind, Run
from bnlab.running import (
    Clock,
    Crew,
    Executor,
    Progress,
    Stopped,
    Work,
    run_steps,
    seed_of,
    workers,
)

File = str | os.PathLike[str] | None
Advanced = tuple[tuple[NDArray[Any], ...], Ints, np.random.Generator]  # recorded; then states
CHAINS = 4
BURN_IN = 10_000
MAX_THIN = 10_000_000  # moves that nothing interrupts
CHAIN_BYTES = 1000  # of each generator
SAVED_INTEGER, SAVED_REAL = 2, 16  # bytes of the compressed file in memory, and of its copies
ROUNDS = 20  # of draws, at least, so that what a round adds takes little memory twice
FEW_RECORDS = 1000  # that matter to nobody
FEW_NUMBERS = 5_000_000  # 40 MB of all chains, likewise where rounds should be long
FIRST_BLOCKS = 3  # in the first round on an executor that is not ours; then a round takes
ROUND_SECONDS = 3.0  # by the clock on the wall, or
CHAIN_SECONDS = 0.1  # for each chain, if that is longer: each job costs some milliseconds
FEWER = "keep fewer draws, or choose fewer variables with ", Public("Data.select")


class ChainSampler(Protocol):
    """What moves a chain along."""

    @property
    def block_moves(self) -> int:
        """Moves that take about 100 ms."""
        ...

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Move `state` along: arrays (records, ...), and a tally, which adds up over rounds."""
        ...


@frozen(eq=True)
class ChainSettings:
    """What every chain does: burn_in moves, then `draws` records after `thin` moves each."""

    draws: Count
    burn_in: Natural
    thin: Annotated[int, 1, MAX_THIN]
    chains: Count

    @classmethod
    def of(
        cls, draws: int, burn_in: int | None, thin: int | None, chains: int | None, n: int
    ) -> "ChainSettings":
        """Settings for n variables, with what is None as usual."""
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

    def require(
        self,
        walking: int,
        numbers: tuple[int, int],
        checkpoint: File,
        n: int,
        draws: str,
        remedy: memory.Remedy = FEWER,
    ) -> None:
        """Refuse what memory is short for: bytes to walk with, (integers, reals) kept of a draw."""
        each = 8 * sum(numbers) * (ROUNDS + 1) // ROUNDS
        if checkpoint is not None:
            each += SAVED_INTEGER * numbers[0] + SAVED_REAL * numbers[1]
        needed = walking + self.chains * (CHAIN_BYTES + self.draws * each)
        task = f"n={n}, {self.chains} x {self.draws} {draws}"
        memory.require(needed, task=task, remedy=remedy)

    @property
    def moves(self) -> int:
        """Moves of each chain in all."""
        return self.burn_in + self.draws * self.thin

    def kept(self, moves: int, /) -> int:
        """Draws of each chain after so many moves."""
        return max(0, moves - self.burn_in) // self.thin

    def round(self, moves: int, block: int, few: int = FEW_RECORDS, /) -> tuple[int, int]:
        """(lead, records) of a round of about `block` moves that begins after so many."""
        steps, left = max(1, block // self.thin), self.burn_in - moves
        if left > 0:
            return min(left % self.thin + steps * self.thin, left), 0
        steps = min(steps, max(few, -(-self.draws // ROUNDS)))
        return 0, min(steps, self.draws - self.kept(moves))


class Layout(NamedTuple):
    """What the chains of a walker hold, which a file of theirs is compared with."""

    state: Kept  # of one chain
    records: tuple[Kept, ...]  # of one draw
    tally: tuple[int, ...]  # its shape
    agree: Callable[..., bool] = lambda *_: True  # whether records (chains, draws, ...) fit


class Position(NamedTuple):
    """Where chains stand after so many moves of each, and what they have counted in their draws."""

    moves: int
    states: list[Ints]
    rngs: list[np.random.Generator]
    tally: Ints


class Chains(Work):
    """Chains of a call, in step, and their records (chains, draws, ...).

    A round that an interrupt breaks is dropped for all.
    """

    def __init__(
        self,
        method: str,
        plan: ChainSettings,
        rng: np.random.Generator,
        executor: Executor | None,
        **settings: object,
    ) -> None:
        self.method, self.plan, self.settings = method, plan, plan.settings | settings
        self.seed, self.rngs = seed_of(rng), rng.spawn(plan.chains)
        self.threads = plan.chains
        self._executor, self._records = executor, tuple[NDArray[Any], ...]()
        self._clock, self._seconds_before = Clock(), 0.0

    def walk(
        self,
        lay_out: Callable[[], ChainSampler],
        starts: Iterable[Ints],
        layout: Layout,
        target: Mapping[str, object],
        checkpoint: File,
        progress: Progress | None,
    ) -> tuple[NDArray[Any], ...]:
        """Make all draws, or as many as there is time for: their records, and last what is counted.

        Stopped before the first. The sampler is laid out unless a file keeps all draws already; a
        file is known by its settings, seed and `target`.
        """
        self._lay_out, self._layout = lay_out, layout
        self._at = Position(0, list(starts), self.rngs, np.zeros((), np.int64))
        identified = identity(self.method, **{**self.settings, **target}, seed=self.seed)
        run_steps(self, Checkpoint.at(checkpoint, identified), progress)
        if not self.begun:
            raise Stopped("stopped before the end of the burn-in: no draws yet")
        return *self.records, self._at.tally

    def draws(
        self, values: Ints, log_target: Floats, over: Over, names: tuple[str, ...], **told: Any
    ) -> Draws:
        """Draws of the chains, all of the same weight, and what else there is to tell of them."""
        prior: PriorKind = "order-modular" if over == "orders" else "structure-modular"
        no_weight = np.zeros(log_target.shape)
        run = Run(self.method, self.settings, self.seed, self.seconds, stopped=self.stopped)
        return Draws(values, no_weight, log_target, over, prior, names, run=run, **told)

    @property
    def begun(self) -> bool:
        return self._kept > 0

    @property
    def stopped(self) -> bool:
        """Whether some of the draws have not been made."""
        return self._at.moves < self.plan.moves

    @property
    def records(self) -> tuple[NDArray[Any], ...]:
        """What is recorded of the draws (chains, draws kept, ...)."""
        return tuple(array[:, : self._kept] for array in self._records)

    @property
    def seconds(self) -> float:
        """Wall time of this run, and of the runs that it resumes."""
        return self._seconds_before + self._clock.seconds

    def steps(self) -> Generator[tuple[int, int], None, None]:
        if not self.stopped:
            return
        plan, executor, sampler = self.plan, self._executor, self._lay_out()
        made, seconds, few = 0, 0.0, FEW_RECORDS
        threads = min(self.threads, os.cpu_count() or 1)
        if executor is not None:
            few = max(few, FEW_NUMBERS // sum(state.size + 1 for state in self._at.states))
        with workers(executor, threads) as chosen, Crew(chosen, sampler) as crew:
            while self.stopped:
                block = self._block(sampler, threads, made, seconds)
                round_ = plan.round(self._at.moves, block, few)
                clock, standing = Clock(), zip(self._at.states, self._at.rngs, strict=True)
                jobs = [(*each, *round_, plan.thin) for each in standing]
                self._take(*round_, crew.map(_advance, jobs))
                made, seconds = round_[0] + round_[1] * plan.thin, clock.seconds
                yield plan.chains * self._at.moves, plan.chains * plan.moves

    def _block(self, sampler: ChainSampler, threads: int, made: int, seconds: float) -> int:
        """Moves of each chain in a round: 100 ms of them on threads, elsewhere some seconds."""
        chains = self.plan.chains
        if self._executor is None:
            return max(1, sampler.block_moves // math.ceil(chains / threads))
        if not made:
            return FIRST_BLOCKS * sampler.block_moves
        wanted = max(ROUND_SECONDS, CHAIN_SECONDS * chains)
        return max(sampler.block_moves, int(made * wanted / seconds))

    def arrays(self) -> Arrays:
        records = {f"record {i}": array for i, array in enumerate(self.records)}
        return {
            "moves": np.array(self._at.moves),
            "states": np.array(self._at.states),
            "generators": generator_states(self._at.rngs),
            "tally": self._at.tally,
            "seconds": np.array(self.seconds),
            **records,
        }

    def restore(self, saved: Arrays) -> None:
        """Stand where a checkpoint was saved; without draws there are no records and no tally."""
        plan, layout, moves = self.plan, self._layout, int(saved["moves"])
        draws = plan.kept(moves)
        kept = {
            "moves": Kept(np.int64, (), 0, plan.moves),
            "states": layout.state._replace(shape=(plan.chains, *layout.state.shape)),
            "generators": GENERATORS,
            "tally": tallies(plan.chains, *layout.tally) if draws else Kept(np.int64, (), 0, 0),
            "seconds": SECONDS,
        }
        for i, of_draw in enumerate(layout.records if draws else ()):
            kept[f"record {i}"] = of_draw._replace(shape=(plan.chains, draws, *of_draw.shape))
        check(saved, kept)
        records = [saved[name] for name in kept if name.startswith("record")]
        if moves > plan.burn_in and (moves - plan.burn_in) % plan.thin:
            raise ValueError(f"moves={moves} end between two draws")
        if records and not layout.agree(*records):
            raise ValueError("the draws do not have the weights beside them")
        restore_generators(self.rngs, saved["generators"])
        self._at = Position(moves, list(saved["states"]), self.rngs, saved["tally"])
        if records:
            self._make_room([array[0] for array in records])
            for whole, array in zip(self._records, records, strict=True):
                whole[:, :draws] = array
        self._seconds_before = float(saved["seconds"])

    @property
    def _kept(self) -> int:
        """Draws of each chain so far."""
        return self.plan.kept(self._at.moves)

    def _take(self, lead: int, records: int, results: list[Advanced]) -> None:
        """Take in the results of a round."""
        recorded, states, rngs = (list(each) for each in zip(*results, strict=True))
        tally = self._at.tally
        if records:
            fresh = slice(self._kept, self._kept + records)
            if not self._records:
                self._make_room(recorded[0][:-1])
            for i, whole in enumerate(self._records):
                for c, arrays in enumerate(recorded):
                    whole[c, fresh] = arrays[i]
            tally = tally + np.array([arrays[-1] for arrays in recorded])
        moves = self._at.moves + lead + records * self.plan.thin
        # At once: an interrupt finds the position before the round, or after it.
        self._at = Position(moves, states, rngs, tally)

    def _make_room(self, like: Sequence[NDArray[Any]]) -> None:
        shape = self.plan.chains, self.plan.draws
        self._records = tuple(np.empty((*shape, *array.shape[1:]), array.dtype) for array in like)


def _advance(
    sampler: ChainSampler, job: tuple[Ints, np.random.Generator, int, int, int]
) -> Advanced:
    """Move a copy of a chain along: an interrupt leaves the chain as before the round."""
    state, rng, lead, records, thin = job
    state, rng = state.copy(), deepcopy(rng)
    return sampler.walk(state, lead, records, thin, rng), state, rng


def blank(records: int, n: int, reals: int, *tally: int) -> tuple[NDArray[Any], ...]:
    """What a kernel fills: integers (T, n), so many times numbers (T,), and a tally of 0."""
    numbers = (np.empty(records) for _ in range(reals))
    return np.empty((records, n), np.int64), *numbers, np.zeros(tally, np.int64)


def acceptance(tally: Ints, /) -> NDArray[np.float64]:
    """Accepted moves of those tried, from (..., 2); 0 where none was tried."""
    return np.asarray(tally[..., 1] / np.maximum(tally[..., 0], 1))
