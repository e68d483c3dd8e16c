"""`Climb`, what a search over DAGs returns, and how climbs are gathered and kept for it."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bnlab import memory
from bnlab.checkpoints import (
    SECONDS,
    Arrays,
    Checkpoint,
    Kept,
    alike,
    check,
    dags_of,
    identity,
    nats,
)
from bnlab.checks import Floats, Ints, frozen
from bnlab.kernels.greedy import MARGIN
from bnlab.results import Record, Run
from bnlab.running import Clock, Progress, Work, run_steps, seed_of
from bnlab.scores import LazyScores, ScoreTable

KINDS = ("add", "delete", "reverse")


@frozen()
class Climb(Record):
    """What a search over DAGs found, and how it went there. Make it with `hill_climb`.

    Attributes
    ----------
    dag : int64 (n,) parent masks, the best DAG found
    log_target : float, its ln of prior factor times likelihood, nats; each DAG counts once
        (structure-modular)
    start : int64 (n,), where the climb that found it began
    steps : int64 (S, 3), the steps of that climb: kind (0 add, 1 delete, 2 reverse), u, v for the
        edge u -> v that came, went, or was turned round
    trace : float64 (S + 1,), nats: the score at its start and after each step
    ends : int64 (R + 1, n), the best DAG of each climb, that from the given start first
    log_targets : float64 (R + 1,), their scores, nats
    names : the n variable names
    run : Run

    Examples
    --------
    >>> from bnlab import BDeu, Data, hill_climb, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0]]), BDeu())
    >>> hill_climb(table, rng=np.random.default_rng(1))
    Climb(3 variables, 1 edge, ln target -7.1138, best of 1 climb)
    """

    dag: Ints
    log_target: float
    start: Ints
    steps: Ints
    trace: Floats
    ends: Ints
    log_targets: Floats
    names: tuple[str, ...]
    run: Run

    def __repr__(self) -> str:
        edges, climbs = int(np.bitwise_count(self.dag).sum()), len(self.ends)
        return (
            f"Climb({self.dag.size} variables, {edges} edge{'s' * (edges != 1)}, "
            f"ln target {self.log_target:.4f}, best of {climbs} climb{'s' * (climbs != 1)})"
        )

    @property
    def path(self) -> Ints:
        """The DAGs (S + 1, n) at the start and after each step.

        Examples
        --------
        >>> from bnlab import BDeu, Data, hill_climb, score_families
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> hill_climb(table, rng=np.random.default_rng(1)).path.tolist()
        [[0, 0], [0, 1]]
        """
        out = np.tile(self.start, (len(self.steps) + 1, 1))
        for step, (kind, u, v) in enumerate(self.steps, 1):
            out[step:, v] ^= np.int64(1) << u
            if KINDS[kind] == "reverse":
                out[step:, u] ^= np.int64(1) << v
        return out


class Climbed(NamedTuple):
    """One climb: its first DAG, its best DAG and the score of that, its steps and scores."""

    start: Ints
    dag: Ints
    log_target: float
    steps: Ints
    trace: Floats


Steps = Generator[tuple[int, int], None, None]
Make = Callable[["Climbs"], Steps]


class Climbs(Work):
    """The ends of up to `most` climbs as `make` adds them, and the first of the best of them."""

    def __init__(self, scores: ScoreTable | LazyScores, most: int | None, make: Make, /) -> None:
        self._scores, self._most, self._make = scores, most, make
        n, room = scores.n, most or 1
        task = f"n={n}, {room:,} climbs: hill climbing"
        memory.require(8 * (n + 1) * room, task=task, remedy="make fewer climbs")
        self._clock, self._before = Clock(), 0.0
        self._ends, self._log_targets = np.empty((room, n), np.int64), np.empty(room)
        self._at: tuple[Climbed | None, int] = None, 0

    def search(
        self,
        method: str,
        settings: Mapping[str, object],
        start: Ints,
        rng: np.random.Generator,
        checkpoint: str | os.PathLike[str] | None,
        progress: Progress | None,
    ) -> Climb:
        """Make the climbs, those apart that a file has, and return them all."""
        seed, table = seed_of(rng), self._scores
        identified = identity(method, start=start, **settings, seed=seed, table=table)
        stopped = run_steps(self, Checkpoint.at(checkpoint, identified), progress)
        if "restarts" in settings:  # by the clock, as many as there was time for
            settings = {**settings, "restarts": self.count - 1}
        run = Run(method, settings, seed, self._clock.seconds, stopped=stopped)
        first, dag, log_target, steps, trace = self.best
        ends, log_targets = self.ends, self._log_targets[: self.count]
        return Climb(dag, log_target, first, steps, trace, ends, log_targets, table.names, run)

    def steps(self) -> Steps:
        return self._make(self)

    @property
    def begun(self) -> bool:
        return self.count > 0

    @property
    def best(self) -> Climbed:
        """The best climb so far."""
        best = self._at[0]
        assert best is not None
        return best

    @property
    def count(self) -> int:
        """Climbs so far."""
        return self._at[1]

    @property
    def ends(self) -> Ints:
        """Their best DAGs (climbs, n)."""
        return self._ends[: self.count]

    @property
    def seconds(self) -> float:
        """Wall time of all climbs, those of calls before this one too."""
        return self._before + self._clock.seconds

    def add(self, climbs: Sequence[Climbed]) -> None:
        """Take in all of them or, at an interrupt, none."""
        best, count = self._at
        self._grow(count + len(climbs))
        for climb in climbs:
            self._ends[count], self._log_targets[count] = climb.dag, climb.log_target
            count += 1
            if best is None or climb.log_target > best.log_target + MARGIN:
                best = climb
        self._at = best, count

    def arrays(self) -> Arrays:
        arrays = {"ends": self.ends, "log_targets": self._log_targets[: self.count]}
        arrays |= {f"best {name}": np.array(part) for name, part in self.best._asdict().items()}
        return {**arrays, "seconds": np.array(self.seconds)}

    def restore(self, saved: Arrays) -> None:
        n = self._scores.n
        steps = Kept(np.int64, ("steps", 3), 0, max(n - 1, len(KINDS) - 1))
        kept = {
            **{"ends": dags_of(n, "climbs"), "log_targets": nats("climbs")},
            **{"best start": dags_of(n), "best dag": dags_of(n), "best log_target": nats()},
            **{"best steps": steps, "best trace": nats("steps + 1"), "seconds": SECONDS},
        }
        check(saved, kept, climbs=len(saved["ends"]) if self._most is None else self._most)
        ends, log_targets = saved["ends"], saved["log_targets"]
        first, dag, log_target, made, trace = (saved[f"best {name}"] for name in Climbed._fields)
        best = Climbed(first, dag, float(log_target), made, trace)
        # Families that are not in a table would have to be counted again.
        looked_up = slice(None if isinstance(self._scores, ScoreTable) else 1)
        if not (
            len(best.trace) == len(best.steps) + 1
            and (best.steps < (len(KINDS), n, n)).all()
            and best.log_target in log_targets[(ends == best.dag).all(axis=1)]
            and best.log_target >= log_targets.max() - 2 * MARGIN
            and alike(log_targets[looked_up], self._scores.log_target(ends[looked_up]))
            and alike(best.trace[0], self._scores.log_target(best.start))
        ):
            raise ValueError("these are no DAGs with their scores, and steps to the best of them")
        self._grow(len(ends))
        self._ends[: len(ends)], self._log_targets[: len(ends)] = ends, log_targets
        self._at, self._before = (best, len(ends)), float(saved["seconds"])

    def _grow(self, needed: int) -> None:
        if needed > len(self._log_targets):
            more = max(needed, 2 * len(self._log_targets)) - len(self._log_targets)
            self._ends = np.pad(self._ends, ((0, more), (0, 0)))
            self._log_targets = np.pad(self._log_targets, (0, more))
