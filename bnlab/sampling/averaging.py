"""Gibbs chains over a DAG and what its score rests on, and edges averaged over them."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import Kept, dags_of, fingerprint, nats
from bnlab.checks import Bools, Floats, Ints
from bnlab.data import Data
from bnlab.diagnostics import LEAST_DRAWS, ess, rhat
from bnlab.exact.dag import posterior_bytes, summed
from bnlab.graphs import check_dags, to_adjacency
from bnlab.records import altered
from bnlab.results import Draws, Kind, PriorKind, Record, Run, agree
from bnlab.running import Executor, Progress
from bnlab.sampling.chains import Chains, ChainSettings, File, Layout, acceptance
from bnlab.sampling.independent import layer_block
from bnlab.sampling.partition_mcmc import (
    PartitionWalker,
    block_moves,
    first_dag,
    partition_of,
    partition_walker_bytes,
)
from bnlab.scores import AnyScore, ScoreTable, log_scores, score_families, scoring_bytes
from bnlab.scores.local import Units

BURN_IN = 100
BLOCK_CYCLES = 30  # that take about 100 ms for few variables and rows
PAIRS, ROWS = 300_000, 200_000  # of sets, or compared with what is drawn, that take as long
FAMILIES = 20_000  # scored in as long
THREADS_PAY = 2.0  # of such cycles: shorter ones are mostly Python, which threads do in turn
ROUNDING = 1e-9  # of exact edges: if they differ by less, what is drawn makes no difference
MOST_EXACT, MOVES = 14, 50  # variables with exact DAGs as a rule; beyond, moves for each variable
# Share of reversals of edges: draws are worth several times as many independent ones as with 0.1.
REVERSALS = 0.5
SHOWN = 10  # DAGs along these moves whose edges are averaged

Values = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Unknown(ABC):
    """What is drawn in turn with the DAG: an array (size,) of states, measurements or choices."""

    data: Data
    score: AnyScore
    units: Units | None  # of measurements that are scored; None for those of a score itself
    size: int
    dtype: type[np.float64] | type[np.int64]
    called: str  # so many of what
    comparisons: int  # rows that are looked at in a cycle
    method: ClassVar[str]
    posteriors: ClassVar[int] = 1  # exact ones that a cycle has in memory

    @abstractmethod
    def fit(self, values: Values, /) -> bool: ...  # whether arrays (..., size) can be it

    @abstractmethod
    def start(self, rng: np.random.Generator, /) -> Values: ...

    @abstractmethod  # all of it anew, given the DAG
    def drawn(self, values: Values, dag: Ints, rng: np.random.Generator, /) -> Values: ...

    @abstractmethod
    def filled(self, values: Values, /) -> Data: ...  # what can be scored once it is known

    def log_scores(self, values: Values, parents: Ints, /) -> Floats:
        """Ln scores (n, F) of families once it is known."""
        return log_scores(self.filled(values), self.score, parents, self.units)

    def proposed(self, values: Values, rng: np.random.Generator, /) -> Values | None:
        """What to go to with the DAG summed out, by a symmetric proposal; None to stay."""
        return None

    def state(self, values: Values, dag: Ints, /) -> Ints:
        """It, bit by bit, and the DAG as one array of integers (size + n,)."""
        return np.concatenate([values.view(np.int64), dag])

    def values(self, state: Ints, /) -> Values:
        """What of such an array is not the DAG."""
        return state[: -self.data.n].copy().view(self.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Averages(Record):
    """Edges averaged over DAGs and what their scores rest on."""

    given: Floats
    dags: Draws
    edges: Floats
    stderr: Floats
    rhat: float
    ess: float
    run: Run
    prior: ClassVar[PriorKind] = "structure-modular"
    kind: ClassVar[Kind] = "asymptotic"

    def __len__(self) -> int:
        return self.dags.log_target.size

    def _told(self, what: str) -> str:
        """The representation of so many draws of something."""
        chains, draws = self.dags.log_target.shape
        told = "" if self.trusted else ": not to be trusted, run longer or more chains"
        stopped = ", stopped early" if self.run.stopped else ""
        return (
            f"{type(self).__name__}({chains} x {draws} of {what}, {self.prior}, {self.kind}, "
            f"R-hat {self.rhat:.3f}, ESS {self.ess:.0f}{told}{stopped})"
        )

    @property
    def trusted(self) -> bool:
        """False if R-hat is above 1.01 or unknown, or the effective sample size below 400."""
        return bool(agree(self.rhat, self.ess))

    @property
    def _between(self) -> Floats:
        """The share of each edge's posterior variance that comes from what is drawn, (n, n).

        p(1 - p) is the mean of p(1 - p) given what is drawn (completions or cuts), plus the
        variance of p between them: the share is the latter's. 0 where p is 0 or 1; nan if DAGs were
        drawn by moves, as p given a completion is then not known.
        """
        if self.run.settings["moves"]:
            return np.full(self.edges.shape, math.nan)
        whole, share = self.edges * (1 - self.edges), np.zeros_like(self.edges)
        np.divide(self.given.var(axis=(0, 1)), whole, out=share, where=whole > 0)
        return share


def dag_moves(n: int, /) -> int:
    """Moves in a cycle that draw a DAG of n variables, as a rule; 0 where the draw is exact."""
    return 0 if n <= MOST_EXACT else MOVES * n


def averages(
    unknown: Unknown,
    plan: ChainSettings,
    rng: np.random.Generator,
    model: Mapping[str, Any],
    moves: int | None,
    checkpoint: File,
    progress: Progress | None,
    executor: Executor | None,
    **asked: object,
) -> tuple[Values, dict[str, Any]]:
    """Draws (chains, draws, size) of what is unknown, and the fields of Averages by name."""
    data, score, n = unknown.data, unknown.score, unknown.data.n
    moves = dag_moves(n) if moves is None else moves
    k, prior = min(model["max_parents"], n - 1), model["prior"]
    exact = unknown.posteriors * posterior_bytes(n, max_parents=k)
    work = partition_walker_bytes(n, k) if moves else exact
    work += scoring_bytes(n, k, m=data.m)
    walking = min(plan.chains, os.cpu_count() or 1) * work
    plan.require(walking, (unknown.size + n, n * n + 1), checkpoint, n, unknown.called)
    settings = {"score": repr(score), "max_parents": k, "prior": repr(prior), "moves": moves}
    run = Chains(unknown.method, plan, rng, executor, **settings, **asked)
    first = [unknown.start(child) for child in run.rngs]
    table = score_families(unknown.filled(first[0]), score, **model)
    dags = [first_dag(table, child) if moves else np.zeros(n, np.int64) for child in run.rngs]
    starts = [unknown.state(*both) for both in zip(first, dags, strict=True)]
    held = np.zeros(0, np.bool_) if data.intervened is None else data.intervened
    numbers = np.zeros(0) if data.measurements is None else data.measurements
    kept_of = fingerprint(data.values, data.arities, held, numbers)
    walker = GibbsWalker(unknown, table, moves)
    run.threads = plan.chains if walker.work >= THREADS_PAY else 1
    layout, target = _layout(unknown), {"data": kept_of, "log_prior": table.log_prior}
    values, log_target, given, drawn, tally = run.walk(
        lambda: walker, starts, layout, target, checkpoint, progress
    )
    stats = {"changed": acceptance(tally)}
    told = run.draws(drawn, log_target, "dags", data.names, stats=stats)
    return values, {
        "given": given,
        "dags": told,
        "edges": given.mean(axis=(0, 1)),
        "run": told.run,
        **_diagnosed(given, log_target, _undecided(table) if moves else None),
    }


def _layout(unknown: Unknown) -> Layout:
    n, size = unknown.data.n, unknown.size

    def of_both(state: NDArray[Any]) -> bool:
        fits = all(unknown.fit(unknown.values(each)) for each in state)
        return fits and check_dags(state[..., -n:]).size > 0

    edges = Kept(np.float64, (n, n), 0, 1)
    state = Kept(np.int64, (size + n,), holds=of_both)
    values = Kept(unknown.dtype, (size,), holds=unknown.fit)
    return Layout(state, (values, nats(), edges, dags_of(n)), (2,))


def _undecided(table: ScoreTable) -> Bools:
    """The edges (n, n) that some of the DAGs that the prior allows have, and others have not."""
    allowed = table.log_prior > -math.inf
    some = np.bitwise_or.reduce(np.where(allowed, table.parents, 0), axis=1)
    every = np.bitwise_and.reduce(np.where(allowed, table.parents, -1), axis=1)
    return to_adjacency(some & ~every) & ~to_adjacency(every).T


def _diagnosed(given: Floats, log_target: Floats, undecided: Bools | None) -> dict[str, Any]:
    """Standard errors (n, n) of the means, the worst R-hat, and the least ESS, by name."""
    (chains, draws), n = log_target.shape, given.shape[-1]
    if draws < LEAST_DRAWS:
        return {"stderr": np.full((n, n), math.inf), "rhat": math.nan, "ess": math.nan}
    traces = np.moveaxis(given.reshape(chains, draws, -1), -1, 0)
    stderr = np.array([trace.std() / math.sqrt(ess(trace)) for trace in traces]).reshape(n, n)
    if undecided is not None:  # which none of the DAGs drawn by moves has, or all
        stderr[undecided & (stderr == 0)] = 1 / ess(log_target)
    every = [log_target, *(trace for trace in traces if np.ptp(trace) > ROUNDING)]
    worst = max(map(rhat, every)) if chains > 1 else math.nan
    return {"stderr": stderr, "rhat": worst, "ess": min(map(ess, every))}


@dataclass(frozen=True, slots=True, eq=False)
class GibbsWalker:
    """Gibbs cycles over what is unknown, then the DAG, among the families of a table."""

    unknown: Unknown
    table: ScoreTable
    moves: int

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Values (T, size), ln targets (T,), edges (T, n, n), DAGs (T, n), and how many changed."""
        values, dag = self.unknown.values(state), state[-self.table.n :].copy()
        kept, tally = [], np.zeros(2, np.int64)
        for t in range(-lead, records * thin):
            before, values = values, self.unknown.drawn(values, dag, rng)
            values, edges, dag, log_p = self._drawn(values, dag, rng)
            if t >= 0:
                tally += values.size, int((values != before).sum())
            if t >= 0 and t % thin == thin - 1:
                kept.append((values, log_p, edges, dag))
        state[:] = self.unknown.state(values, dag)
        return *map(np.array, zip(*kept, strict=True)), tally

    def _drawn(
        self, values: Values, dag: Ints, rng: np.random.Generator
    ) -> tuple[Values, Floats, Ints, float]:
        """Values, edges (n, n) given them, a DAG drawn given them, and ln of its target."""
        if not self.moves:
            posterior = summed(self._scored(values))
            if (other := self.unknown.proposed(values, rng)) is not None:
                tried = summed(self._scored(other))
                if -rng.standard_exponential() < tried.log_z - posterior.log_z:
                    values, posterior = other, tried
            drawn = layer_block((posterior, rng.random((1, 2 * self.table.n))))
            return values, posterior.edges, drawn["values"][0], float(drawn["log_target"][0])
        # Moves on partitions keep the posterior of DAGs [KuipersMoffa2017].
        plan = self.moves % SHOWN, SHOWN, self.moves // SHOWN
        walker = PartitionWalker.of(self._scored(values), REVERSALS)
        dags, log_target, *_ = walker.walk(partition_of(dag), *plan, rng)
        return values, to_adjacency(dags).mean(axis=0), dags[-1], float(log_target[-1])

    def _scored(self, values: Values) -> ScoreTable:
        scores = self.unknown.log_scores(values, self.table.parents)
        return altered(self.table, log_score=scores)

    @property
    def block_moves(self) -> int:
        return max(1, int(BLOCK_CYCLES / self.work))

    @property
    def work(self) -> float:
        """How long a cycle takes, in those of few variables and rows."""
        table = self.table
        pairs = 0 if self.moves else 3**table.n
        walk = BLOCK_CYCLES * self.moves / block_moves(table.n, table.max_parents)
        families = table.log_score.size / FAMILIES
        return 1 + pairs / PAIRS + walk + families + self.unknown.comparisons / ROWS
