"""Hill climbing over DAGs, with a tabu list, restarts, and climbs on perturbed data in between."""

import math
import os
from collections.abc import Callable
from functools import partial
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checks import Count, Ints, Natural, Positive, Range, checked, conforming, real
from bnlab.data import Data
from bnlab.data.table import rows_of
from bnlab.graphs import check_dag
from bnlab.kernels import bits, greedy as kernels, lazy_scores
from bnlab.running import Executor, Progress, workers
from bnlab.scores import LazyScores, ScoreTable, Source, family_source, first_dags
from bnlab.search.climbs import Climb, Climbed, Climbs, Steps

Choice = Literal["best", "first"]
Perturbed = Callable[[float, np.random.Generator], ScoreTable]

METHOD, ON_PERTURBED = "hill climbing", "hill climbing, perturbed data"
PATIENCE = 100
CHUNK = 256  # steps recorded at a time
ROUND = 8  # restarts that begin at the same best DAG


@checked
def hill_climb(
    table: ScoreTable | LazyScores,
    /,
    *,
    rng: np.random.Generator,
    start: ArrayLike | None = None,
    choice: Choice = "best",
    tabu: Natural = 0,
    patience: Count = PATIENCE,
    restarts: Natural = 0,
    perturb: Count | None = None,
    seconds: Positive | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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
    table : ScoreTable from `score_families`, or LazyScores for one search of many variables
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
        there are then depends on the clock; the first is always made, the last one may end late
    checkpoint : a file for the climbs that are done, saved every 10 seconds or so, after each 8
        climbs or fewer, and at a stop. If it is there, the same call goes on from it: to the very
        same end, or for what is left of `seconds`
    progress : progress(done, total, None) of climbs, or of milliseconds, after each 8 climbs or
        fewer; False stops with what is found
    executor : where further climbs run; threads by default

    Returns
    -------
    Climb

    Raises
    ------
    ValueError
        If an option is out of its range, `start` is no DAG or not allowed, the constraints leave no
        DAG, memory is short, or the checkpoint is damaged or of another search.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0]]), BDeu())
    >>> hill_climb(table, tabu=5, restarts=3, rng=np.random.default_rng(1)).dag
    array([0, 1, 0])
    """
    if seconds is not None:
        if restarts:
            told = f"restarts={restarts} and seconds={seconds}"
            raise ValueError(f"{told}: choose one of the two, a number or a time")
        seconds = real(seconds)
    climber = Climber(family_source(table), (choice == "first", tabu, patience))
    first = origin = first_dag(table, start)
    if start is not None and perturb is None and (restarts or seconds):
        origin = first_dag(table, None)
    settings: dict[str, object] = {"choice": choice, "tabu": tabu, "patience": patience}
    settings |= {"restarts": restarts, "perturb": perturb, "seconds": seconds}
    settings["max_parents"] = table.max_parents

    def make(climbs: Climbs) -> Steps:
        if not climbs.begun:
            climbs.add([climber.climb(first)])
        for _ in range(climbs.count - 1):
            rng.spawn(1)  # the streams of the climbs that are done
        with workers(executor, ROUND) as chosen:
            while True:
                at, count = climbs.seconds, climbs.count
                if seconds is None:
                    yield count, restarts + 1
                    left = restarts + 1 - count
                else:
                    yield int(1e3 * min(at, seconds)), int(1e3 * seconds)
                    fit = int((seconds / at - 1) * count)  # at the pace so far
                    left = max(1, min(fit, count)) if at < seconds else 0
                if left <= 0:
                    return
                begin = climbs.best.dag if perturb else origin
                again = partial(climber.climb, begin, perturb or table.n)
                climbs.add(list(chosen.map(again, rng.spawn(min(ROUND, left)))))

    climbs = Climbs(table, restarts + 1 if seconds is None else None, make)
    return climbs.search(METHOD, settings, first, rng, checkpoint, progress)


class Climber(NamedTuple):
    """The families of a score table and how to climb on them; plan as in `kernels.greedy`."""

    source: Source
    plan: tuple[bool, int, int]

    def climb(
        self, start: Ints, changes: int = 0, rng: np.random.Generator | None = None, /
    ) -> Climbed:
        """Climb from a DAG (n,), after so many random changes to it."""
        lazy_scores.log_targets(self.source, start[None], np.empty(1))  # counts them, if need be
        state, gains = kernels.stand(start.copy(), self.source)
        if rng is not None:
            kernels.shake(state, gains, self.source, changes, rng)
        begun, best, top = state[0].copy(), state[0].copy(), np.array([bits.total(state[2])])
        memory = best, top, np.zeros(gains.shape, np.int64), np.array([0, 0, -1])
        all_steps, traces = [], [top.copy()]
        made = CHUNK
        while made == CHUNK:
            steps, trace = np.empty((CHUNK, 3), np.int64), np.empty(CHUNK)
            made = kernels.climb(state, gains, memory, self.source, self.plan, steps, trace)
            all_steps.append(steps[:made])
            traces.append(trace[:made])
        steps, trace = np.concatenate(all_steps), np.concatenate(traces)
        return Climbed(begun, best, float(top[0]), steps, trace)


def first_dag(scores: ScoreTable | LazyScores, start: ArrayLike | None, /) -> Ints:
    """The DAG (n,) to begin with, as `first_dags`; with `LazyScores` the empty one, or `start`."""
    if isinstance(scores, ScoreTable):
        return np.asarray(first_dags(scores, start, 1)[0])
    dag = np.zeros(scores.n, np.int64) if start is None else np.array(check_dag(start))
    if scores.log_target(dag) == -math.inf:
        raise ValueError(
            f"start={dag.tolist()} has too many parents at a node, or a family that the prior "
            "forbids: pass another DAG"
        )
    return dag


@checked
def climb_perturbed(
    table: ScoreTable,
    perturbed: Perturbed,
    /,
    *,
    rng: np.random.Generator,
    rounds: Count = 10,
    share: Annotated[float, Range(0, 1, "(]")] = 0.5,
    start: ArrayLike | None = None,
    tabu: Natural = 0,
    patience: Count = PATIENCE,
    checkpoint: str | os.PathLike[str] | None = None,
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
        for the same variables, max_parents and constraints: as
        `lambda share, rng: score_families(resampled(data, share, rng=rng), BDeu())`.
        All families are scored anew, which takes most of the time
    rng : the only source of randomness
    rounds : perturbed climbs
    share : of the first one, above 0 and at most 1
    start, tabu, patience : as in `hill_climb`
    checkpoint : a file for the rounds that are done, saved every 10 seconds or so, and at a stop.
        If it is there, the same call goes on from it, to the very same end. It does not know
        `perturbed`: pass the same
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
    >>> scored = lambda share, rng: score_families(resampled(data, share, rng=rng), BDeu())
    >>> climb_perturbed(score_families(data, BDeu()), scored, rng=np.random.default_rng(1)).dag
    array([0, 1, 0])
    """
    share = real(share)
    climber = Climber(family_source(table), (False, tabu, patience))
    first = first_dag(table, start)
    settings = {"rounds": rounds, "share": share, "max_parents": table.max_parents}
    settings |= {"tabu": tabu, "patience": patience}

    def make(climbs: Climbs) -> Steps:
        if not climbs.begun:
            climbs.add([climber.climb(first)])
            yield 0, rounds
        made = climbs.count - 1
        rng.spawn(made)  # the streams of the rounds that are done
        for done in range(made, rounds):
            (child,) = rng.spawn(1)
            other = perturbed(share * (1 - done / rounds), child)
            _check_alike(table, other)
            away = climber._replace(source=family_source(other)).climb(climbs.ends[-1])
            climbs.add([climber.climb(away.dag)])
            yield done + 1, rounds

    climbs = Climbs(table, rounds + 1, make)
    return climbs.search(ON_PERTURBED, settings, first, rng, checkpoint, progress)


@checked
def resampled(
    data: Data, share: Annotated[float, Range(0, 1, "[]")], /, *, rng: np.random.Generator
) -> Data:
    """Take out a share of the rows, and put repeats of the others in its place.

    Parameters
    ----------
    data : Data, m rows
    share : 0 to 1, rounded to whole rows; one row at least stays
    rng : the only source of randomness

    Examples
    --------
    >>> data = Data.from_arrays([[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> resampled(data, 0.5, rng=np.random.default_rng(1)).values.tolist()
    [[1, 1], [1, 1], [1, 1], [0, 0]]
    """
    gone = min(round(share * data.m), max(data.m - 1, 0))
    if gone == 0:
        return data
    kept = rng.permutation(data.m)[gone:]
    rows = np.sort(np.concatenate([kept, rng.choice(kept, size=gone)]))
    return rows_of(data, rows)


def _check_alike(table: ScoreTable, other: ScoreTable) -> None:
    conforming("perturbed", other, ScoreTable)
    if (
        other.names != table.names
        or other.max_parents != table.max_parents
        or (np.isneginf(other.log_phi) != np.isneginf(table.log_phi)).any()
    ):
        raise ValueError(
            f"the perturbed table, {other!r}, is not for the families of {table!r}: score both "
            "for the same variables, max_parents and constraints"
        )
