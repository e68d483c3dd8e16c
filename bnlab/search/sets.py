"""Many good DAGs: `occams_window`, by beam search, and `shotgun_search`, on random paths."""

import math
import os
from collections.abc import Generator
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checkpoints import (
    GENERATORS,
    Arrays,
    Checkpoint,
    alike,
    check,
    dags_of,
    generator_states,
    identity,
    nats,
    restore_generators,
)
from bnlab.checks import Count, Floats, Ints, Positive, Range, checked, real
from bnlab.kernels import bits, greedy as kernels
from bnlab.results import BestDags, Run
from bnlab.running import (
    Clock,
    Crew,
    Executor,
    Progress,
    Work,
    report_progress,
    run_steps,
    seed_of,
    workers,
)
from bnlab.scores import ScoreTable, Source, family_source, first_dags
from bnlab.search.climbing import PATIENCE, Climber

TABU = 10
WIDER = 50
FIRST_ROWS = 1000
BLOCK = 10_000  # DAGs that are scored at a time, and between which progress is told
SHOTGUN = "shotgun stochastic search"
KEPT = ("dag", "dags", "scores", "marks")  # of each chain, in a checkpoint
ROUND = 1000  # steps of each chain between which progress is told


@checked
def occams_window(
    table: ScoreTable,
    /,
    *,
    factor: Annotated[float, Range(1, math.inf)] = 20.0,
    reach: float | None = None,
    width: Count = 1000,
    most: Count = 200_000,
    start: ArrayLike | None = None,
    progress: Progress | None = None,
) -> BestDags:
    """Find DAGs within a Bayes factor of the best, by beam search [MadiganRaftery1994].

    Structure-modular. Up to 63 variables. From the best DAG at hand the search goes on to all DAGs
    that are one addition, deletion or reversal of an edge away, and from those within `factor` of
    the best to their neighbours, until there is no new one. So every DAG of the window that can be
    reached through DAGs of the window is found; under an equivalent score, whole classes of them.
    To reach others the beam also goes on from the `width` best of each round that are within
    `reach`. Where a better DAG turns up, the window moves.

    It is a heuristic: a DAG beyond a deeper valley is missed. With `reach` and `width` without
    limit every DAG would be met; run.settings["dropped"] counts the DAGs within `reach` that the
    beam left out, and only if that is 0 are all there that paths within `reach` lead to. What was
    found of the whole posterior, BestDags.as_draws(log_z=) says where log_z is known.
    The second rule of Madigan and Raftery, which leaves out models that a simpler one inside them
    beats, is not applied: the set then would not hold the mass that it has.

    There is no checkpoint: the window is full long before a run is worth one. What was found is a
    `start` of another search.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    factor : Bayes factor, above 1: DAGs as many times less probable than the best are left out
    reach : Bayes factor, at least `factor`, within which the search passes through other DAGs; 50
        times `factor` by default
    width : how many of these it goes on from in each round, at least 1
    most : DAGs in the window beyond which the search stops early (run.stopped)
    start : DAGs (n,) or (S, n) to begin with; by default the end of a tabu climb from the empty
        graph. Better is Climb.ends of many restarts, which lead to many regions of the window
    progress : progress(done, total, None) after each 10,000 DAGs: how many the search has gone on
        from, of those known to be worth it. False stops with what is found

    Returns
    -------
    BestDags
        with trace (1, T): ln of the sum over the window after each round, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, `start` is not allowed, the constraints leave no DAG, or
        memory is short.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> occams_window(table, factor=3)  # without an edge it is e**2 times less
    BestDags(2 of 2 variables, structure-modular, ln weight -5.5044 to -5.5044)
    """
    clock = Clock()
    reach = WIDER * factor if reach is None else reach
    if not factor <= real(reach) < math.inf:
        raise ValueError(f"reach={reach}: give a finite Bayes factor of at least factor={factor}")
    climber = Climber(family_source(table), (False, TABU, PATIENCE))
    if start is None:
        first = climber.climb(first_dags(table, None, 1)[0]).dag[None]
    else:
        first = first_dags(table, start, len(np.atleast_2d(np.asarray(start))))
    dags, scores = ranked(table, np.unique(first, axis=0))
    room, gaps = max(len(dags), FIRST_ROWS) + table.n**2, (math.log(factor), math.log(reach))
    beam = _Beam(stored(dags, scores, room), climber.source, gaps, width)
    stopped, trace = False, list[float]()
    try:
        while not stopped and (rows := beam.next_rows()).size:
            stopped = not beam.expand(rows, progress)
            window = beam.scores[beam.scores >= beam.least(0)]
            trace.append(float(np.logaddexp.reduce(window)))
            stopped = stopped or window.size > most
    except KeyboardInterrupt:
        stopped = True
    settings = {"factor": factor, "reach": reach, "width": width, "most": most}
    settings |= {"dropped": beam.dropped, "max_parents": table.max_parents}
    found = beam.dags[beam.scores >= beam.least(0)]
    del beam  # and all that it met, before the window is ranked
    dags, log_target = ranked(table, found)
    run = Run("Occam's window", settings, "", clock.seconds, stopped=stopped)
    return BestDags(
        dags, log_target, log_target, "structure-modular", table.names, run, np.array([trace])
    )


@dataclass(eq=False)
class _Beam:
    """The DAGs met so far, how many the search went on from, and how many it left out."""

    store: kernels.Store
    source: Source
    gaps: tuple[float, float]
    width: int
    seen: int = 0  # of the DAGs met; later ones are new
    done: int = 0
    dropped: int = 0

    @property
    def scores(self) -> Floats:
        return self.store.scores[: self.store.size[0]]

    @property
    def dags(self) -> Ints:
        return self.store.dags[: self.store.size[0]]

    def least(self, gap: int) -> float:
        """What a DAG of the window (0), or within reach (1), scores at least, nats."""
        return float(self.scores.max()) - self.gaps[gap] - kernels.MARGIN

    def next_rows(self) -> Ints:
        """The DAGs to go on from: new ones of the window, and the best of the others."""
        new, self.seen = np.arange(self.seen, self.scores.size), self.scores.size
        scores = self.scores[new]
        inside = new[scores >= self.least(0)]
        others = new[(scores >= self.least(1)) & (scores < self.least(0))]
        others = others[np.argsort(-self.scores[others], kind="stable")]
        self.dropped += max(0, others.size - self.width)
        return np.concatenate([inside, others[: self.width]])

    def expand(self, rows: Ints, progress: Progress | None) -> bool:
        """Meet all neighbours of the DAGs in `rows`; False when progress asks to stop."""
        total, least = self.done + rows.size, self.least(1)
        while rows.size:
            count = kernels.expand(rows[:BLOCK], self.source, self.store, least)
            if count < min(BLOCK, rows.size):
                self.store = stored(self.dags, self.scores, 2 * self.store.scores.size)
            rows = rows[count:]
            self.done += count
            if not report_progress(progress, self.done, total):
                return False
        return True


@checked
def shotgun_search(
    table: ScoreTable,
    /,
    *,
    steps: Count,
    rng: np.random.Generator,
    power: Positive = 0.2,
    patience: Count = 50,
    chains: Count = 4,
    keep: Count = 10_000,
    start: ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> BestDags:
    """Keep the best DAGs among all neighbours of DAGs on random paths [HansDobraWest2007].

    Structure-modular. Up to 63 variables. Each step scores all DAGs that are one addition, deletion
    or reversal of an edge away, by kept gains. One of each of the three kinds is drawn in
    proportion to a power of its weight, prior factor times likelihood, and one of these three
    likewise. The DAG at hand is no choice, so the path is no sample from the posterior. What counts
    is the set of DAGs that were looked at, each with its own weight, renormalised. A path tends to
    circle around a local optimum: after `patience` steps without a new best it ends, and the chain
    begins another at a random DAG, its first DAG with n random changes.

    Members of a class of equivalent DAGs may be missing here and there: `occams_window` with the
    best of the set as `start` completes them.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    steps : of each chain, at least 1
    rng : the only source of randomness; equal states give equal results for any executor
    power : above 0; less than 1 roams more widely, more climbs more greedily
    patience : steps of a path without a new best DAG after which the chain begins another
    chains : number of chains, each with its own random stream; what they find is merged
    keep : how many DAGs at most are kept, the best
    start : first DAGs, (n,) or (chains, n); the empty graph by default, or a small DAG where that
        is forbidden
    checkpoint : a file that keeps the chains and what they have found, saved every 10 seconds or
        so, and at a stop. If it is there, the same call goes on from it, to the very same end
    progress : progress(done, total, None) of steps after each round of 1000 of all chains; False
        stops with what is found
    executor : where chains run; threads by default

    Returns
    -------
    BestDags
        with trace (chains, steps): ln of prior factor times likelihood of the DAG at hand after
        each step, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, memory is short, `start` or the constraints allow no DAG,
        or the checkpoint is damaged or of another run.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> shotgun_search(table, steps=5, rng=np.random.default_rng(1))  # all there are
    BestDags(3 of 2 variables, structure-modular, ln weight -5.5044 to -7.5068)
    """
    clock = Clock()
    power = real(power)
    memory.require(
        _bytes(table.n, steps, chains, keep),
        task=f"n={table.n}, {chains} x {steps} steps: the {keep:,} best DAGs",
        remedy="keep fewer DAGs (keep=), or make fewer steps",
    )
    seed, starts = seed_of(rng), first_dags(table, start, chains)
    settings = {"steps": steps, "chains": chains, "power": power, "patience": patience}
    settings |= {"keep": keep, "max_parents": table.max_parents}
    identified = identity(SHOTGUN, **settings, seed=seed, table=table, starts=starts)
    scores, plan = table.log_target(starts), (power, patience, keep)
    begun = [
        _Chain(dag, dag, dag[None], score[None], np.array([score, 0.0]), child)
        for dag, score, child in zip(starts, scores, rng.spawn(chains), strict=True)
    ]
    search = _Search(table, plan, begun, np.empty((chains, steps)), executor)
    stopped = run_steps(search, Checkpoint.at(checkpoint, identified), progress)
    trace, found = search.trace, np.concatenate([chain.dags for chain in search.chains])
    del search  # and what the chains hold, before it is ranked
    dags, log_target = ranked(table, np.unique(found, axis=0))
    best = log_target[:keep]
    run = Run(SHOTGUN, settings, seed, clock.seconds, stopped=stopped)
    return BestDags(dags[:keep], best, best, "structure-modular", table.names, run, trace)


class _Chain(NamedTuple):
    """A chain: its first DAG, the one at hand, and the best DAGs that it has looked at."""

    start: Ints
    dag: Ints
    dags: Ints
    scores: Floats
    marks: Floats  # as in `kernels.greedy.shoot`
    rng: np.random.Generator
    done: int = 0  # steps


@dataclass(eq=False)
class _Search(Work):
    """Chains in step, and the scores on their way."""

    table: ScoreTable
    plan: tuple[float, int, int]  # power, patience and keep, as in `shotgun_search`
    chains: list[_Chain]
    scores: Floats  # (chains, steps)
    executor: Executor | None

    @property
    def trace(self) -> Floats:
        """The scores so far."""
        return self.scores[:, : self.chains[0].done]

    def steps(self) -> Generator[tuple[int, int], None, None]:
        (count, total), shared = self.scores.shape, (family_source(self.table), self.plan)
        with workers(self.executor, count) as chosen, Crew(chosen, shared) as crew:
            while (done := self.chains[0].done) < total:
                stop = min(done + ROUND, total)
                parts = crew.map(_follow, [(chain, stop - done) for chain in self.chains])
                self.scores[:, done:stop] = [scores for _, scores in parts]
                self.chains = [chain for chain, _ in parts]
                yield count * stop, count * total

    def arrays(self) -> Arrays:
        generators = generator_states([chain.rng for chain in self.chains])
        arrays: Arrays = {"trace": self.trace, "generators": generators}
        for c, chain in enumerate(self.chains):
            arrays |= {f"{name} {c}": getattr(chain, name) for name in KEPT}
        return arrays

    def restore(self, saved: Arrays) -> None:
        n, (count, steps), (_, _, keep) = self.table.n, self.scores.shape, self.plan
        kept = {"trace": nats(count, "steps"), "generators": GENERATORS}
        most = {"steps": steps}
        for c in range(count):
            kept |= {f"dag {c}": dags_of(n), f"dags {c}": dags_of(n, f"dags {c}")}
            kept |= {f"scores {c}": nats(f"dags {c}"), f"marks {c}": nats(2)}
            most[f"dags {c}"] = keep
        check(saved, kept, **most)
        found, trace = [], saved["trace"]
        for c, chain in enumerate(self.chains):
            dag, dags, scores, marks = (saved[f"{name} {c}"] for name in KEPT)
            here, (best, waited) = self.table.log_target(dag), marks
            if not (
                alike(scores, self.table.log_target(dags))
                and alike(trace[c, -1:], here)
                and here - 1e-6 <= best <= scores.max() + 1e-6
                and 0 <= waited <= steps
            ):
                raise ValueError(f"chain {c} has no DAGs with their scores")
            found.append(_Chain(chain.start, dag, dags, scores, marks, chain.rng, trace.shape[1]))
        restore_generators([chain.rng for chain in found], saved["generators"])
        self.scores[:, : trace.shape[1]] = trace
        self.chains = found


def _follow(
    shared: tuple[Source, tuple[float, int, int]], job: tuple[_Chain, int]
) -> tuple[_Chain, Floats]:
    """Make so many steps; the chain after them, and the score after each."""
    (source, (power, patience, keep)), (chain, steps) = shared, job
    rng = deepcopy(chain.rng)  # an interrupt leaves the chain as it was before the round
    n = chain.dag.size
    state, gains = kernels.stand(chain.dag.copy(), source)
    marks, trace, done = chain.marks.copy(), np.empty(steps), 0
    store = stored(chain.dags, chain.scores, _rows(keep, n))
    while done < steps:
        if not kernels.has_room(store):
            _keep_best(store, keep)
        if marks[1] >= patience:
            state, gains = kernels.stand(chain.start.copy(), source)
            kernels.shake(state, gains, source, n, rng)
            marks[:] = bits.total(state[2]), 0
        left, plan = trace[done:], (power, patience)
        done += kernels.shoot(state, gains, source, store, plan, marks, rng, left)
    _keep_best(store, keep)
    for array in store.dags, store.scores:  # in place: with copies chains would take a third more
        array.resize((store.size[0], *array.shape[1:]), refcheck=False)
    dag, dags, scores = state[0], store.dags, store.scores
    return _Chain(chain.start, dag, dags, scores, marks, rng, chain.done + steps), trace


def _keep_best(store: kernels.Store, keep: int) -> None:
    """Leave the best DAGs of a store, at most so many; of equal ones the first."""
    best = np.argsort(-store.scores[: store.size[0]], kind="stable")[:keep]
    kernels.keep(store, np.sort(best))


def _rows(keep: int, n: int) -> int:
    """Room for twice as many DAGs as are kept, and for the neighbours of one."""
    return 2 * keep + n * n


def _bytes(n: int, steps: int, chains: int, keep: int) -> int:
    """What a shotgun search takes, at most: in a round, or when all that was found is ranked."""
    kept, at_work = 8 * keep * (n + 1), min(chains, os.cpu_count() or 1)
    in_a_round = (2 * chains - at_work) * kept + at_work * store_bytes(n, _rows(keep, n))
    return 8 * chains * steps + max(in_a_round, 3 * chains * kept)


def ranked(table: ScoreTable, dags: Ints, /) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n), best first, with their log_target (U,), summed anew by the table."""
    blocks = range(0, len(dags), BLOCK)
    log_target = np.concatenate([table.log_target(dags[i : i + BLOCK]) for i in blocks])
    ranking = np.lexsort((*dags.T[::-1], log_target))[::-1]
    return dags[ranking], log_target[ranking]


def stored(dags: Ints, scores: Floats, rows: int, /) -> kernels.Store:
    """A store of distinct DAGs (T, n) that has room for so many; refused where memory is short."""
    n = dags.shape[1]
    memory.require(
        store_bytes(n, rows),
        task=f"a set of {rows:,} DAGs of n={n} variables",
        remedy="ask for fewer DAGs, or for a narrower window",
    )
    slots = np.full(1 << rows.bit_length() + 1, -1, np.int64)
    store = kernels.Store(
        slots, np.empty((rows, n), np.int64), np.empty(rows), np.zeros(1, np.int64)
    )
    kernels.fill(store, dags, scores)
    return store


def store_bytes(n: int, rows: int, /) -> int:
    """Bytes that `stored` takes for so many DAGs."""
    return 8 * (rows * (n + 1) + (1 << rows.bit_length() + 1))
