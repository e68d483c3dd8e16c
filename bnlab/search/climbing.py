"""`hill_climb`: greedy search over DAGs, with a tabu list and restarts."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.data import Data
from bnlab.kernels import climbing as kernels
from bnlab.kernels import counting, structures
from bnlab.results import Run, read_only, rebuilt
from bnlab.runs import (
    Clock,
    Executor,
    Progress,
    check_counts,
    check_generator,
    goes_on,
    seed_of,
    workers,
)
from bnlab.sampling.structures import first_dags
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Choice = Literal["best", "first"]
Perturbed = Callable[[float, np.random.Generator], ScoreTable]

KINDS = ("add", "delete", "reverse")
PATIENCE = 100
CHUNK = 256  # steps recorded at a time
ROUND = 8  # restarts that begin at the same best DAG


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
    >>> from bnlab import BDeu, Data, score_families
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
        >>> from bnlab import BDeu, Data, score_families
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


def hill_climb(
    table: ScoreTable,
    /,
    *,
    rng: np.random.Generator,
    start: ArrayLike | None = None,
    choice: Choice = "best",
    tabu: int = 0,
    patience: int = PATIENCE,
    restarts: int = 0,
    perturb: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Climb:
    """Climb from DAG to DAG by adding, deleting or reversing one edge, until nothing gains.

    Structure-modular: what is climbed is ln of prior factor times likelihood, each DAG counted
    once. Up to 63 variables. The end is a local optimum: no single change gains more than 1e-7
    nats. Of changes that gain equally the first is made, by the numbers of the pair of nodes.

    With a tabu list the search goes on from there by the change that loses least, and a pair of
    nodes that was changed stays as it is for `tabu` steps, unless that gives a score above all
    before. It walks along plateaus of equivalent DAGs that way. Until the first local optimum it
    is the plain climb, so its best DAG is never worse.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    rng : the only source of randomness, which only restarts need; equal states give equal results
        for any executor
    start : the first DAG (n,); the empty graph by default, or a small DAG where that is forbidden
    choice : "best", the change that gains most, or "first", the first that gains, as pairs of
        nodes are looked at in turn
    tabu : steps during which a pair of nodes is not changed again; 0 for a plain climb
    patience : steps without a new best DAG after which a tabu search ends
    restarts : number of further climbs, each from a random DAG
    perturb : changes between the best DAG so far and the start of a further climb; None to begin
        with the empty graph and n random changes, a random DAG with about n edges (not uniform).
        The best DAG is looked up before every 8 restarts
    seconds : wall time to go on restarting for, instead of a number of restarts. How many climbs
        there are then depends on the clock
    progress : progress(done, total, None) of climbs, or of milliseconds, after each 8 climbs; False
        stops with what is found
    executor : where further climbs run; threads by default

    Returns
    -------
    Climb

    Raises
    ------
    ValueError
        If an option is out of its range, `start` is no DAG or not allowed, or the constraints
        leave no DAG.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0]]), BDeu())
    >>> hill_climb(table, tabu=5, restarts=3, rng=np.random.default_rng(1)).dag
    array([0, 1, 0])
    """
    clock = Clock()
    _check_table(table)
    (restarts,) = check_counts(least=0, restarts=restarts)
    if perturb is not None:
        (perturb,) = check_counts(perturb=perturb)
    _check_seconds(seconds, restarts)
    check_generator(rng)
    climber = Climber.of(table, choice, tabu, patience)
    memory.require(
        table.log_score.nbytes + restarts * (16 * table.n + 500),
        task=f"n={table.n}, {restarts} restarts: hill climbing",
        remedy="ask for fewer restarts",
    )
    seed, first = seed_of(rng), first_dags(table, start, 1)[0]
    origin = first if start is None else first_dags(table, None, 1)[0]
    climbs, stopped = _Climbs(climber.climb(first)), False

    def told() -> bool:
        if seconds is None:
            return goes_on(progress, len(climbs.ends), restarts + 1)
        return goes_on(progress, int(1e3 * min(clock.seconds, seconds)), int(1e3 * seconds))

    def left() -> int:
        if seconds is None:
            return restarts + 1 - len(climbs.ends)
        return ROUND if clock.seconds < seconds else 0

    try:
        with workers(executor, ROUND) as chosen:
            stopped = not told() and left() > 0
            while not stopped and (count := min(ROUND, left())) > 0:
                begin = origin if perturb is None else climbs.best.dag
                changes = table.n if perturb is None else perturb
                jobs = [(climber, begin, changes, child) for child in rng.spawn(count)]
                climbs.add(list(chosen.map(_climb_one, jobs)))
                stopped = not told() and left() > 0
    except KeyboardInterrupt:
        stopped = True
    settings = {
        "choice": choice,
        "tabu": climber.plan[1],
        "patience": climber.plan[2],
        "restarts": len(climbs.ends) - 1,
        "perturb": perturb,
        "seconds": seconds,
        "max_parents": table.max_parents,
    }
    run = Run("hill climbing", settings, seed, clock.seconds, stopped=stopped)
    return climbs.result(table.names, run)


def climb_perturbed(
    table: ScoreTable,
    perturbed: Perturbed,
    /,
    *,
    rng: np.random.Generator,
    rounds: int = 10,
    share: float = 0.5,
    start: ArrayLike | None = None,
    tabu: int = 0,
    patience: int = PATIENCE,
    progress: Progress | None = None,
) -> Climb:
    """Leave local optima by climbing on perturbed data in between [ElidanEtAl2002].

    After a climb on `table` each round climbs on a perturbed table, from where the search stands,
    and from there on `table` again. The perturbation is annealed: `share` falls in equal steps to
    nothing. Never worse than the plain climb, which comes first.

    Parameters
    ----------
    table : ScoreTable of the data
    perturbed : perturbed(share, rng), a ScoreTable of data of which about that share is changed,
        for the same variables, max_parents and constraints. `resampled` makes such data: as
        `lambda share, rng: score_families(resampled(data, share, rng), BDeu())`. All families are
        scored anew, which takes most of the time
    rng : the only source of randomness
    rounds : perturbed climbs
    share : of the first one, above 0 and at most 1
    start, tabu, patience : as in `hill_climb`
    progress : progress(done, total, None) after each round; False stops with what is found

    Returns
    -------
    Climb
        with the climbs on `table`: that from the start, and one from the end of each round.

    Raises
    ------
    ValueError
        As `hill_climb`, or if a perturbed table is for other families.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> data = Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
    >>> scored = lambda share, rng: score_families(resampled(data, share, rng), BDeu())
    >>> climb_perturbed(score_families(data, BDeu()), scored, rng=np.random.default_rng(1)).dag
    array([0, 1, 0])
    """
    clock = Clock()
    _check_table(table)
    (rounds,) = check_counts(rounds=rounds)
    if not 0 < share <= 1:
        raise ValueError(f"share={share}: give the share of data to change at first, 0 to 1")
    check_generator(rng)
    climber = Climber.of(table, "best", tabu, patience)
    seed, first = seed_of(rng), first_dags(table, start, 1)[0]
    climbs = _Climbs(climber.climb(first))
    dag, stopped = climbs.best.dag, False
    for done, child in enumerate(rng.spawn(rounds)):
        try:
            other = perturbed(share * (1 - done / rounds), child)
            _check_alike(table, other)
            dag = climber.on(other).climb(dag).dag
            climbs.add([climber.climb(dag)])
        except KeyboardInterrupt:
            stopped = True
            break
        dag = climbs.last
        if not goes_on(progress, done + 1, rounds):
            stopped = done + 1 < rounds
            break
    settings = {"rounds": rounds, "share": share, "max_parents": table.max_parents}
    settings |= {"tabu": climber.plan[1], "patience": climber.plan[2]}
    run = Run("hill climbing, perturbed data", settings, seed, clock.seconds, stopped=stopped)
    return climbs.result(table.names, run)


def resampled(data: Data, share: float, rng: np.random.Generator, /) -> Data:
    """As many rows, of which a share is taken out, and repeats of the others put in its place.

    Parameters
    ----------
    data : Data, m rows
    share : 0 to 1, rounded to whole rows; one row at least stays
    rng : the only source of randomness

    Examples
    --------
    >>> data = Data.from_arrays([[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> resampled(data, 0.5, np.random.default_rng(1)).values.tolist()
    [[1, 1], [1, 1], [1, 1], [0, 0]]
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share}: give a share of the rows, 0 to 1")
    gone = min(round(share * data.m), max(data.m - 1, 0))
    check_generator(rng)
    if gone == 0:
        return data
    kept = rng.permutation(data.m)[gone:]
    rows = np.sort(np.concatenate([kept, rng.choice(kept, size=gone)]))
    intervened = None if data.intervened is None else data.intervened[rows]
    return Data(data.values[rows], data.arities, data.names, data.levels, intervened)


class Climbed(NamedTuple):
    """One climb: its first DAG, its best DAG and the score of that, its steps and scores."""

    start: Ints
    dag: Ints
    log_target: float
    steps: Ints
    trace: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Climber:
    """The families of a score table and how to climb on them; plan as in `kernels.climbing`.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> Climber.of(table, "best", 0, 1).climb(np.array([0, 0])).dag
    array([0, 1])
    """

    source: tuple[NDArray[np.generic], ...]
    plan: tuple[bool, int, int]

    @classmethod
    def of(cls, table: ScoreTable, choice: Choice, tabu: int, patience: int, /) -> "Climber":
        """Lay out a table.

        Raises
        ------
        ValueError
            If an option is out of its range.
        """
        if choice not in ("best", "first"):
            raise ValueError(f'choice={choice!r}: choose "best" or "first"')
        (tabu,) = check_counts(least=0, tabu=tabu)
        (patience,) = check_counts(patience=patience)
        return cls(_source(table), (choice == "first", tabu, patience))

    def on(self, table: ScoreTable, /) -> "Climber":
        """The same way of climbing on another table."""
        return Climber(_source(table), self.plan)

    def climb(
        self, start: Ints, changes: int = 0, rng: np.random.Generator | None = None, /
    ) -> Climbed:
        """Climb from a DAG (n,), after so many random changes to it."""
        n, dag = start.size, start.copy()
        state, gains = (dag, *structures.start(dag, self.source)), np.full((n, n), -np.inf)
        for v in range(n):
            kernels.refresh(state, gains, self.source, v)
        if changes and n > 1:
            kernels.shake(state, gains, self.source, changes, rng)
        begun, score = dag.copy(), kernels.total(state[2])
        best, top = dag.copy(), np.array([score])
        memory = best, top, np.zeros((n, n), np.int64), np.array([0, 0, -1])
        all_steps, traces = [], [top.copy()]
        made = CHUNK
        while made == CHUNK:
            steps, trace = np.empty((CHUNK, 3), np.int64), np.empty(CHUNK)
            made = kernels.climb(state, gains, memory, self.source, self.plan, steps, trace)
            all_steps.append(steps[:made])
            traces.append(trace[:made])
        return Climbed(
            begun, best, float(top[0]), np.concatenate(all_steps), np.concatenate(traces)
        )


class _Climbs:
    """The ends of climbs, and the best of them: the first where scores are alike."""

    def __init__(self, first: Climbed) -> None:
        self.best = first
        self.ends = [first.dag]
        self.log_targets = [first.log_target]

    @property
    def last(self) -> Ints:
        return self.ends[-1]

    def add(self, climbs: list[Climbed]) -> None:
        for climb in climbs:
            self.ends.append(climb.dag)
            self.log_targets.append(climb.log_target)
            if climb.log_target > self.best.log_target + kernels.MARGIN:
                self.best = climb

    def result(self, names: tuple[str, ...], run: Run) -> Climb:
        start, dag, log_target, steps, trace = self.best
        ends, log_targets = np.array(self.ends), np.array(self.log_targets)
        return Climb(dag, log_target, start, steps, trace, ends, log_targets, names, run)


def _climb_one(job: tuple[Climber, Ints, int, np.random.Generator]) -> Climbed:
    climber, start, changes, rng = job
    return climber.climb(start, changes, rng)


def _source(table: ScoreTable) -> tuple[NDArray[np.generic], ...]:
    n, k = table.n, table.max_parents
    return table.log_beta, counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)


def _check_table(table: ScoreTable) -> None:
    if not isinstance(table, ScoreTable):
        raise ValueError(f"{type(table).__name__}: pass a ScoreTable (score_families)")


def _check_alike(table: ScoreTable, other: ScoreTable) -> None:
    _check_table(other)
    if (
        other.names != table.names
        or other.max_parents != table.max_parents
        or (np.isneginf(other.log_beta) != np.isneginf(table.log_beta)).any()
    ):
        raise ValueError(
            f"the perturbed table, {other!r}, is not for the families of {table!r}: score both "
            "for the same variables, max_parents and constraints"
        )


def _check_seconds(seconds: float | None, restarts: int) -> None:
    if seconds is None:
        return
    if not 0 < seconds < math.inf:
        raise ValueError(f"seconds={seconds!r}: give a positive, finite number of seconds")
    if restarts:
        raise ValueError(
            f"restarts={restarts} and seconds={seconds}: choose one of the two, a number or a time"
        )
