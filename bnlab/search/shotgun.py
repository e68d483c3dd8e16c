"""`shotgun_search`: stochastic search over DAGs that keeps all good ones it looks at."""

import math
import os
from collections.abc import Generator, Sequence
from copy import deepcopy
from typing import NamedTuple

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
from bnlab.checks import Count, Floats, Ints, checked, real
from bnlab.kernels import bits, dag_walks, greedy as kernels
from bnlab.results import BestDags, Run
from bnlab.running import Clock, Crew, Executor, Progress, Work, run_steps, seed_of, workers
from bnlab.scores import ScoreTable, Source, family_source, first_dags
from bnlab.search.windows import ranked, store_bytes, stored

METHOD = "shotgun stochastic search"
KEPT = ("dag", "dags", "scores", "marks")  # of each chain, in a checkpoint
ROUND = 1000  # steps of each chain between which progress is told


@checked
def shotgun_search(
    table: ScoreTable,
    /,
    *,
    steps: Count,
    rng: np.random.Generator,
    power: float = 0.2,
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
    if not 0 < real(power) < math.inf:
        raise ValueError(f"power={power}: give a positive, finite power of the weight")
    power = real(power)
    memory.require(
        _bytes(table.n, steps, chains, keep),
        task=f"n={table.n}, {chains} x {steps} steps: the {keep:,} best DAGs",
        remedy="keep fewer DAGs (keep=), or make fewer steps",
    )
    seed, starts = seed_of(rng), first_dags(table, start, chains)
    settings = {"steps": steps, "chains": chains, "power": power, "patience": patience}
    settings |= {"keep": keep, "max_parents": table.max_parents}
    identified = identity(METHOD, **settings, seed=seed, table=table, starts=starts)
    search = _Search(
        table, starts, rng.spawn(chains), _Plan(power, patience, keep), steps, executor
    )
    stopped = run_steps(search, Checkpoint.at(checkpoint, identified), progress)
    trace, found = search.trace, np.concatenate([chain.dags for chain in search.chains])
    del search  # and what the chains hold, before it is ranked
    found = np.unique(found, axis=0)
    dags, log_target = ranked(table, found)
    dags, best = dags[:keep], log_target[:keep]
    run = Run(METHOD, settings, seed, clock.seconds, stopped=stopped)
    return BestDags(dags, best, best, "structure-modular", table.names, run, trace)


class _Plan(NamedTuple):
    """What all chains have in common, as in `shotgun_search`."""

    power: float
    patience: int
    keep: int


class _Chain(NamedTuple):
    """A chain: its first DAG, the one at hand, and the best DAGs that it has looked at."""

    start: Ints
    dag: Ints
    dags: Ints
    scores: Floats
    marks: Floats  # as in `kernels.greedy.shoot`
    rng: np.random.Generator


class _Search(Work):
    """Chains in step, and the scores on their way (chains, steps)."""

    def __init__(
        self,
        table: ScoreTable,
        starts: Ints,
        rngs: Sequence[np.random.Generator],
        plan: _Plan,
        steps: int,
        executor: Executor | None,
    ) -> None:
        self._table, self._plan, self._steps, self._executor = table, plan, steps, executor
        self._trace = np.empty((len(starts), steps))
        chains = [
            _Chain(dag, dag, dag[None], score[None], np.array([score, 0.0]), rng)
            for dag, score, rng in zip(starts, table.log_target(starts), rngs, strict=True)
        ]
        self._at = chains, 0

    @property
    def chains(self) -> list[_Chain]:
        """Where the chains stand."""
        return self._at[0]

    @property
    def trace(self) -> Floats:
        """The scores (chains, steps) so far."""
        return self._trace[:, : self._at[1]]

    def steps(self) -> Generator[tuple[int, int], None, None]:
        count, shared = len(self.chains), (family_source(self._table), self._plan)
        with workers(self._executor, count) as chosen, Crew(chosen, shared) as crew:
            while (done := self._at[1]) < self._steps:
                stop = min(done + ROUND, self._steps)
                parts = crew.map(_follow, [(chain, stop - done) for chain in self.chains])
                self._trace[:, done:stop] = [scores for _, scores in parts]
                self._at = [chain for chain, _ in parts], stop
                yield count * stop, count * self._steps

    def arrays(self) -> Arrays:
        generators = generator_states([chain.rng for chain in self.chains])
        arrays: Arrays = {"trace": self.trace, "generators": generators}
        for c, chain in enumerate(self.chains):
            arrays |= {f"{name} {c}": getattr(chain, name) for name in KEPT}
        return arrays

    def restore(self, saved: Arrays) -> None:
        n, steps, numbers = self._table.n, self._steps, range(len(self.chains))
        kept = {"trace": nats(len(numbers), "steps"), "generators": GENERATORS}
        most = {"steps": steps}
        for c in numbers:
            kept |= {
                f"dag {c}": dags_of(n),
                f"dags {c}": dags_of(n, f"dags {c}"),
                f"scores {c}": nats(f"dags {c}"),
                f"marks {c}": nats(2),
            }
            most[f"dags {c}"] = self._plan.keep
        check(saved, kept, **most)
        found, done = [], saved["trace"].shape[1]
        for c, chain in enumerate(self.chains):
            dag, dags, scores, marks = (saved[f"{name} {c}"] for name in KEPT)
            here, (best, waited) = self._table.log_target(dag), marks
            if not (
                alike(scores, self._table.log_target(dags))
                and alike(saved["trace"][c, -1:], here)
                and here - 1e-6 <= best <= scores.max() + 1e-6
                and 0 <= waited <= steps
            ):
                raise ValueError(f"chain {c} has no DAGs with their scores")
            found.append(chain._replace(dag=dag, dags=dags, scores=scores, marks=marks))
        restore_generators([chain.rng for chain in found], saved["generators"])
        self._trace[:, :done] = saved["trace"]
        self._at = found, done


def _follow(shared: tuple[Source, _Plan], job: tuple[_Chain, int]) -> tuple[_Chain, Floats]:
    """Make so many steps; the chain after them, and the score after each."""
    (source, (power, patience, keep)), (chain, steps) = shared, job
    rng = deepcopy(chain.rng)  # an interrupt leaves the chain as it was before the round
    n = chain.dag.size
    state, gains = _stand(chain.dag, source)
    marks, trace, done = chain.marks.copy(), np.empty(steps), 0
    store = stored(chain.dags, chain.scores, _rows(keep, n))
    while done < steps:
        if not kernels.has_room(store):
            _keep_best(store, keep)
        if marks[1] >= patience:
            state, gains = _stand(chain.start, source)
            if n > 1:
                kernels.shake(state, gains, source, n, rng)
            marks[:] = bits.total(state[2]), 0
        left, plan = trace[done:], (power, patience)
        done += kernels.shoot(state, gains, source, store, plan, marks, rng, left)
    _keep_best(store, keep)
    for array in store.dags, store.scores:  # in place: with copies chains would take a third more
        array.resize((store.size[0], *array.shape[1:]), refcheck=False)
    end = chain._replace(dag=state[0], dags=store.dags, scores=store.scores, marks=marks, rng=rng)
    return end, trace


def _stand(dag: Ints, source: Source) -> tuple[tuple[Ints, Ints, Floats], Floats]:
    """The state and the gains (n, n) at a DAG, as in `kernels.greedy`."""
    dag, n = dag.copy(), dag.size
    state, gains = (dag, *dag_walks.start(dag, source[0])), np.full((n, n), -np.inf)
    for v in range(n):
        kernels.refresh(state, gains, source, v)
    return state, gains


def _keep_best(store: kernels.Store, keep: int) -> None:
    """Leave the best DAGs of a store, at most so many; of equal ones the first."""
    best = np.argsort(-store.scores[: store.size[0]], kind="stable")[:keep]
    kernels.keep(store, np.sort(best))


def _rows(keep: int, n: int) -> int:
    """Room for twice as many DAGs as are kept, and for the neighbours of one."""
    return 2 * keep + n * n


def _bytes(n: int, steps: int, chains: int, keep: int) -> int:
    """What a search takes, at most: in a round, or when all that was found is ranked."""
    kept, at_work = 8 * keep * (n + 1), min(chains, os.cpu_count() or 1)
    in_a_round = (2 * chains - at_work) * kept + at_work * store_bytes(n, _rows(keep, n))
    return 8 * chains * steps + max(in_a_round, 3 * chains * kept)
