"""`Climb`, what a search over DAGs returns, and how climbs are gathered and kept for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import Arrays, Checkpoint, fingerprint
from bnlab.kernels.climbing import MARGIN
from bnlab.results import Run, package_versions, read_only, rebuilt
from bnlab.runs import Clock
from bnlab.scores import LazyScores, ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KINDS = ("add", "delete", "reverse")


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
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

    def __post_init__(self) -> None:
        for name in ("dag", "start", "steps", "trace", "ends", "log_targets"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[object, ...]:
        return rebuilt(self)

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


class Climbs:
    """The ends of climbs as they come in, and the best of them: the first where scores are alike.

    Parameters
    ----------
    room : climbs there will be; where more come, room is made for twice as many
    file : what keeps the climbs, and the seconds that they took
    first : makes the first climb, if the file holds none

    Examples
    --------
    >>> empty = np.zeros(2, np.int64)
    >>> climb = Climbed(empty, empty, -1.0, np.empty((0, 3), np.int64), np.array([-1.0]))
    >>> Climbs(1, None, lambda: climb).last
    array([0, 0])
    """

    def __init__(self, room: int, file: Checkpoint | None, first: Callable[[], Climbed], /) -> None:
        self.clock, self._file, self._before = Clock(), file, 0.0
        saved = None if file is None else file.load()
        best = first() if saved is None else _climbed(saved)
        self._ends = np.empty((room, best.dag.size), np.int64)
        self._log_targets = np.empty(room)
        self._at = best, 0
        if saved is None:
            self.add([best])
        else:
            count = len(saved["ends"])
            self._grow(count)
            self._ends[:count], self._log_targets[:count] = saved["ends"], saved["log_targets"]
            self._at, self._before = (best, count), float(saved["seconds"])

    @property
    def best(self) -> Climbed:
        return self._at[0]

    @property
    def count(self) -> int:
        return self._at[1]

    @property
    def last(self) -> Ints:
        """The end (n,) of the climb that came in last."""
        end: Ints = self._ends[self.count - 1]
        return end

    @property
    def seconds(self) -> float:
        """Wall time of all climbs, those of calls before this one too."""
        return self._before + self.clock.seconds

    def add(self, climbs: Sequence[Climbed]) -> None:
        """All of them or, at an interrupt, none; then save them if that is due."""
        best, count = self._at
        self._grow(count + len(climbs))
        for climb in climbs:
            self._ends[count], self._log_targets[count] = climb.dag, climb.log_target
            count += 1
            if climb.log_target > best.log_target + MARGIN:
                best = climb
        self._at = best, count
        if self._file is not None and self._file.due:
            self.save()

    def save(self) -> None:
        """Keep the climbs in the file, if there is one."""
        if self._file is not None:
            best, count = self._at
            arrays = {"ends": self._ends[:count], "log_targets": self._log_targets[:count]}
            arrays |= {f"best {name}": np.array(part) for name, part in best._asdict().items()}
            self._file.save({**arrays, "seconds": np.array(self.seconds)})

    def result(self, names: tuple[str, ...], run: Run) -> Climb:
        (start, dag, log_target, steps, trace), count = self._at
        ends, log_targets = self._ends[:count], self._log_targets[:count]
        return Climb(dag, log_target, start, steps, trace, ends, log_targets, names, run)

    def _grow(self, needed: int) -> None:
        if needed > len(self._log_targets):
            more = max(needed, 2 * len(self._log_targets)) - len(self._log_targets)
            self._ends = np.pad(self._ends, ((0, more), (0, 0)))
            self._log_targets = np.pad(self._log_targets, (0, more))


def climbs_bytes(n: int, climbs: int, /) -> int:
    """Bytes that the ends of so many climbs take.

    Examples
    --------
    >>> climbs_bytes(20, 1000)
    168000
    """
    return 8 * (n + 1) * climbs


def identity_of(scores: ScoreTable | LazyScores, /) -> Mapping[str, object]:
    """What a checkpoint of a search says of the scores: those of a table, or what they come from.

    Examples
    --------
    >>> from bnlab import BDeu, Data, hill_climb
    >>> scores = LazyScores(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> before = identity_of(scores)
    >>> climb = hill_climb(scores, rng=np.random.default_rng(1))  # scores some of the families
    >>> identity_of(scores) == before
    True
    """
    if isinstance(scores, ScoreTable):
        table = fingerprint(scores.parents, scores.log_score, scores.log_prior)
    else:
        table = fingerprint(*scores.source[1])
    return {"bnlab": package_versions()["bnlab"], "table": table}


def _climbed(saved: Arrays) -> Climbed:
    """The best climb, as `Climbs` saves it."""
    start, dag, log_target, steps, trace = (saved[f"best {name}"] for name in Climbed._fields)
    return Climbed(start, dag, float(log_target), steps, trace)
