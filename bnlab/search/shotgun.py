"""`shotgun_search`: stochastic search over DAGs that keeps all good ones it looks at."""

import math
import os
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checkpoints import (
    Arrays,
    Checkpoint,
    fingerprint,
    generator_states,
    restore_generators,
)
from bnlab.kernels import climbing, structures
from bnlab.kernels import dag_sets as kernels
from bnlab.results import Run, package_versions
from bnlab.runs import (
    Clock,
    Executor,
    Progress,
    check_counts,
    check_generator,
    goes_on,
    real,
    seed_of,
    workers,
)
from bnlab.scores import ScoreTable, Source, family_source, first_dags
from bnlab.search.found import FoundDags, ranked, store_bytes, stored

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHOD = "shotgun stochastic search"
KEPT = ("dag", "dags", "scores", "marks")  # of each chain, in a checkpoint
ROUND = 1000  # steps of each chain between which progress is told


def shotgun_search(
    table: ScoreTable,
    /,
    *,
    steps: int,
    rng: np.random.Generator,
    power: float = 0.2,
    patience: int = 50,
    chains: int = 4,
    keep: int = 10_000,
    start: ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> FoundDags:
    """The best DAGs among all neighbours of the DAGs on random paths [HansDobraWest2007].

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
    FoundDags
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
    FoundDags(3 of 2 variables, ln target -5.5044 to -7.5068)
    """
    clock = Clock()
    if not isinstance(table, ScoreTable):
        raise ValueError(f"{type(table).__name__}: pass a ScoreTable (score_families)")
    steps, chains = check_counts(steps=steps, chains=chains)
    patience, keep = check_counts(patience=patience, keep=keep)
    if not 0 < real(power) < math.inf:
        raise ValueError(f"power={power}: give a positive, finite power of the weight")
    check_generator(rng)
    power = real(power)
    memory.require(
        _bytes(table.n, steps, chains, keep),
        task=f"n={table.n}, {chains} x {steps} steps: the {keep:,} best DAGs",
        remedy="keep fewer DAGs (keep=), or make fewer steps",
    )
    seed, starts = seed_of(rng), first_dags(table, start, chains)
    source = family_source(table)
    plan, scores = _Plan(float(power), patience, keep), table.log_target(starts)
    paths = tuple(
        _Chain(source, plan, dag, dag, dag[None], score[None], np.array([score, 0.0]), child)
        for dag, score, child in zip(starts, scores, rng.spawn(chains), strict=True)
    )
    settings = {"steps": steps, "chains": chains, "power": power, "patience": patience}
    settings |= {"keep": keep, "max_parents": table.max_parents}
    file = None
    if checkpoint is not None:
        tables = fingerprint(table.parents, table.log_score, table.log_prior, starts)
        identity = {"bnlab": package_versions()["bnlab"], "method": METHOD, "table": tables}
        file = Checkpoint(checkpoint, {**identity, **settings, "seed": seed})
    trace = np.empty((chains, steps))
    at = _search(paths, trace, file, progress, executor)
    done, found = at.done, np.concatenate([path.dags for path in at.paths])
    del at  # and what the chains hold, before it is ranked
    found = np.unique(found, axis=0)
    dags, log_target = ranked(table, found)
    run = Run(METHOD, settings, seed, clock.seconds, stopped=done < steps)
    return FoundDags(dags[:keep], log_target[:keep], trace[:, :done], table.names, run)


class _Plan(NamedTuple):
    """What all chains have in common, as in `shotgun_search`."""

    power: float
    patience: int
    keep: int


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """A chain: its first DAG, the one at hand, and the best DAGs that it has looked at.

    marks : as in `kernels.dag_sets.shoot`
    """

    source: Source
    plan: _Plan
    start: Ints
    dag: Ints
    dags: Ints
    scores: Floats
    marks: Floats
    rng: np.random.Generator


class _Position(NamedTuple):
    """Where the chains stand after so many steps."""

    paths: tuple[_Chain, ...]
    done: int


def _search(
    paths: tuple[_Chain, ...],
    trace: Floats,
    file: Checkpoint | None,
    progress: Progress | None,
    executor: Executor | None,
) -> _Position:
    """Where the chains come to; the scores on their way go into trace (chains, steps)."""
    saved = None if file is None else file.load()
    at = _Position(paths, 0) if saved is None else _restored(paths, saved, trace)
    chains, steps = trace.shape
    try:
        with workers(executor, chains) as chosen:
            while (done := at.done) < steps:
                stop = min(done + ROUND, steps)
                parts = list(chosen.map(_follow, [(path, stop - done) for path in at.paths]))
                trace[:, done:stop] = [scores for _, scores in parts]
                at = _Position(tuple(path for path, _ in parts), stop)
                if file is not None and file.due:
                    file.save(_arrays(at, trace))
                if not goes_on(progress, chains * stop, chains * steps):
                    break
    except KeyboardInterrupt:
        pass
    finally:
        if file is not None:
            file.save(_arrays(at, trace))
    return at


def _arrays(at: _Position, trace: Floats) -> Arrays:
    """What a checkpoint keeps."""
    generators = generator_states([path.rng for path in at.paths])
    arrays: Arrays = {"trace": trace[:, : at.done], "generators": generators}
    for c, path in enumerate(at.paths):
        arrays |= {f"{name} {c}": getattr(path, name) for name in KEPT}
    return arrays


def _restored(paths: Sequence[_Chain], saved: Arrays, trace: Floats) -> _Position:
    restore_generators([path.rng for path in paths], saved["generators"])
    found, done = [], saved["trace"].shape[1]
    for c, path in enumerate(paths):
        dag, dags, scores, marks = (saved[f"{name} {c}"] for name in KEPT)
        found.append(replace(path, dag=dag, dags=dags, scores=scores, marks=marks))
    trace[:, :done] = saved["trace"]
    return _Position(tuple(found), done)


def _follow(job: tuple[_Chain, int]) -> tuple[_Chain, Floats]:
    """Make so many steps; the chain after them, and the score after each."""
    chain, steps = job
    rng = deepcopy(chain.rng)  # an interrupt leaves the chain as it was before the round
    source, (power, patience, keep), n = chain.source, chain.plan, chain.dag.size
    state, gains = _stand(chain.dag, source)
    marks, trace, done = chain.marks.copy(), np.empty(steps), 0
    store = stored(chain.dags, chain.scores, _rows(keep, n))
    while done < steps:
        if not kernels.has_room(store):
            _keep_best(store, keep)
        if marks[1] >= patience:
            state, gains = _stand(chain.start, source)
            if n > 1:
                climbing.shake(state, gains, source, n, rng)
            marks[:] = climbing.total(state[2]), 0
        left, plan = trace[done:], (power, patience)
        done += kernels.shoot(state, gains, source, store, plan, marks, rng, left)
    _keep_best(store, keep)
    for array in store.dags, store.scores:  # in place: with copies chains would take a third more
        array.resize((store.size[0], *array.shape[1:]), refcheck=False)
    end = replace(chain, dag=state[0], dags=store.dags, scores=store.scores, marks=marks, rng=rng)
    return end, trace


def _stand(dag: Ints, source: Source) -> tuple[tuple[Ints, Ints, Floats], Floats]:
    """The state and the gains (n, n) at a DAG, as in `kernels.climbing`."""
    dag, n = dag.copy(), dag.size
    state, gains = (dag, *structures.start(dag, source[0])), np.full((n, n), -np.inf)
    for v in range(n):
        climbing.refresh(state, gains, source, v)
    return state, gains


def _keep_best(store: kernels.Store, keep: int) -> None:
    """Leave the best DAGs of a store, at most so many; of equal ones the first."""
    best = np.argsort(-store.scores[: store.size[0]], kind="stable")[:keep]
    kernels.keep(store, np.sort(best))


def _rows(keep: int, n: int) -> int:
    """Room for twice as many DAGs as are kept, and for the neighbours of one."""
    return 2 * keep + n * n


def _bytes(n: int, steps: int, chains: int, keep: int) -> int:
    """What a search takes, at most: in a round, or when all that was found is ranked.

    In a round each chain holds what it had kept before, and a chain that has done its part what it
    keeps now. A chain at work has a store.
    """
    kept, at_work = 8 * keep * (n + 1), min(chains, os.cpu_count() or 1)
    in_a_round = (2 * chains - at_work) * kept + at_work * store_bytes(n, _rows(keep, n))
    return 8 * chains * steps + max(in_a_round, 3 * chains * kept)
