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
    memory.require(
        chains * (8 * steps + 2 * store_bytes(table.n, _rows(keep, table.n))),
        task=f"n={table.n}, {chains} x {steps} steps: the {keep:,} best DAGs",
        remedy="keep fewer DAGs (keep=), or make fewer steps",
    )
    seed, starts = seed_of(rng), first_dags(table, start, chains)
    source = family_source(table)
    plan, scores = _Plan(power, patience, keep), table.log_target(starts)
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
    saved = None if file is None else file.load()
    at = _Position(paths, np.empty((chains, 0))) if saved is None else _restored(paths, saved)
    try:
        with workers(executor, chains) as chosen:
            while (done := at.trace.shape[1]) < steps:
                count = min(ROUND, steps - done)
                parts = list(chosen.map(_follow, [(path, count) for path in at.paths]))
                at = _advanced(at, parts)
                if file is not None and file.due:
                    file.save(_arrays(at))
                if not goes_on(progress, chains * (done + count), chains * steps):
                    break
    except KeyboardInterrupt:
        pass
    finally:
        if file is not None:
            file.save(_arrays(at))
    dags, log_target = ranked(table, np.concatenate([path.dags for path in at.paths]))
    stopped = at.trace.shape[1] < steps
    run = Run(METHOD, settings, seed, clock.seconds, stopped=stopped)
    return FoundDags(dags[:keep], log_target[:keep], at.trace, table.names, run)


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
    """Where the chains stand, and the scores (chains, steps) on their way there."""

    paths: tuple[_Chain, ...]
    trace: Floats


def _advanced(at: _Position, parts: Sequence[tuple[_Chain, Floats]]) -> _Position:
    trace = np.concatenate([at.trace, [scores for _, scores in parts]], axis=1)
    return _Position(tuple(path for path, _ in parts), trace)


def _arrays(at: _Position) -> Arrays:
    """What a checkpoint keeps."""
    arrays: Arrays = {"trace": at.trace, "generators": generator_states([p.rng for p in at.paths])}
    for c, path in enumerate(at.paths):
        arrays |= {f"{name} {c}": getattr(path, name) for name in KEPT}
    return arrays


def _restored(paths: Sequence[_Chain], saved: Arrays) -> _Position:
    restore_generators([path.rng for path in paths], saved["generators"])
    found = []
    for c, path in enumerate(paths):
        dag, dags, scores, marks = (saved[f"{name} {c}"] for name in KEPT)
        found.append(replace(path, dag=dag, dags=dags, scores=scores, marks=marks))
    return _Position(tuple(found), saved["trace"])


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
            store = stored(*_best(store, keep), _rows(keep, n))
        if marks[1] >= patience:
            state, gains = _stand(chain.start, source)
            if n > 1:
                climbing.shake(state, gains, source, n, rng)
            marks[:] = climbing.total(state[2]), 0
        left, plan = trace[done:], (power, patience)
        done += kernels.shoot(state, gains, source, store, plan, marks, rng, left)
    dags, scores = _best(store, keep)
    return replace(chain, dag=state[0], dags=dags, scores=scores, marks=marks, rng=rng), trace


def _stand(dag: Ints, source: Source) -> tuple[tuple[Ints, Ints, Floats], Floats]:
    """The state and the gains (n, n) at a DAG, as in `kernels.climbing`."""
    dag, n = dag.copy(), dag.size
    state, gains = (dag, *structures.start(dag, source[0])), np.full((n, n), -np.inf)
    for v in range(n):
        climbing.refresh(state, gains, source, v)
    return state, gains


def _best(store: kernels.Store, keep: int) -> tuple[Ints, Floats]:
    """The best DAGs of a store, at most so many, and their scores."""
    scores = store.scores[: store.size[0]]
    rows = np.argsort(-scores, kind="stable")[:keep]
    return store.dags[rows], scores[rows]


def _rows(keep: int, n: int) -> int:
    """Room for twice as many DAGs as are kept, and for the neighbours of one."""
    return 2 * keep + n * n
