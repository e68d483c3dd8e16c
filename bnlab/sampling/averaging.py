"""Gibbs chains over a DAG and what its score rests on, and edges averaged over them."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checkpoints import Checkpoint, Kept, dags_of, fingerprint, identity, nats
from bnlab.checks import Floats, Ints, check_counts
from bnlab.data import Data
from bnlab.diagnostics import LEAST_DRAWS, ess, rhat
from bnlab.exact import dag_posterior
from bnlab.exact.over_dags import posterior_bytes
from bnlab.graphs import check_dags
from bnlab.priors import Prior
from bnlab.results import Draws, Kind, PriorKind, Record, Run, agree
from bnlab.running import Executor, Progress, seed_of
from bnlab.sampling.chains import Chains, ChainSettings, Layout, acceptance
from bnlab.sampling.independent import layer_block
from bnlab.scores import K2, BDeu, BGe, ScoreTable, score_families, scoring_bytes

BURN_IN = 100
BLOCK_CYCLES = 30  # that take about 100 ms for few variables and rows
PAIRS, ROWS = 300_000, 200_000  # of sets, or compared with what is drawn, that take as long
ROUNDING = 1e-9  # of exact edges: if they differ by less, what is drawn makes no difference

Values = NDArray[Any]


class Unknown(Protocol):
    """What is drawn in turn with the DAG: an array (size,) of states, measurements or choices.

    kept : what a checkpoint keeps of it; fit : whether arrays (..., size) can be it
    called : so many of what; comparisons : rows that are looked at in a cycle
    state, values : it and the DAG as one array of integers (size + n,), and back
    start : where a chain begins; drawn : all of it anew, given the DAG
    filled : the data that can be scored once it is known; log_scores : (n, F), of families
    """

    @property
    def data(self) -> Data: ...
    @property
    def kept(self) -> Kept: ...
    @property
    def called(self) -> str: ...
    @property
    def comparisons(self) -> int: ...
    def fit(self, values: Values, /) -> bool: ...
    def state(self, values: Values, dag: Ints, /) -> Ints: ...
    def values(self, state: Ints, /) -> Values: ...
    def start(self, rng: np.random.Generator, /) -> Values: ...
    def drawn(self, values: Values, dag: Ints, rng: np.random.Generator, /) -> Values: ...
    def filled(self, values: Values, /) -> Data: ...
    def log_scores(self, values: Values, parents: Ints, /) -> Floats: ...


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
        """The share of p(1 - p) of each edge that is the variance of p between draws, (n, n)."""
        whole, share = self.edges * (1 - self.edges), np.zeros_like(self.edges)
        np.divide(self.given.var(axis=(0, 1)), whole, out=share, where=whole > 0)
        return share


def averages(
    method: str,
    unknown: Unknown,
    score: BDeu | K2 | BGe,
    plan: ChainSettings,
    rng: np.random.Generator,
    *,
    max_parents: int,
    prior: Prior,
    known: Mapping[str, Any],
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
    executor: Executor | None,
    **asked: object,
) -> tuple[Values, dict[str, Any]]:
    """Draws (chains, draws, size) of what is unknown, and the fields of Averages by name.

    What was `asked` besides joins the settings of the run; `known` is for `score_families`.
    """
    check_counts(least=0, max_parents=max_parents)
    data, n, seed = unknown.data, unknown.data.n, seed_of(rng)
    (size,), k = unknown.kept.shape, min(max_parents, n - 1)
    at_once = min(plan.chains, os.cpu_count() or 1)
    work = posterior_bytes(n, max_parents=k) + scoring_bytes(n, k, m=data.m)
    memory.require(
        at_once * work + plan.bytes_of(int(size) + n, n * n + 1, saved=checkpoint is not None),
        task=f"n={n}, {plan.chains} x {plan.draws} {unknown.called}",
        remedy="keep fewer draws, or choose fewer variables (Data.select)",
    )
    rngs = rng.spawn(plan.chains)
    starts = [unknown.state(unknown.start(child), np.zeros(n, np.int64)) for child in rngs]
    whole = unknown.filled(unknown.values(starts[0]))
    table = score_families(whole, score, max_parents=max_parents, prior=prior, **known)
    settings = {**plan.settings, "score": repr(score), "max_parents": k, "prior": repr(prior)}
    settings |= asked
    held = np.zeros(0, np.bool_) if data.intervened is None else data.intervened
    numbers = np.zeros(0) if data.measurements is None else data.measurements
    kept_of = fingerprint(data.values, data.arities, held, numbers)
    identified = identity(method, **settings, seed=seed, data=kept_of, log_prior=table.log_prior)
    walker = GibbsWalker(unknown, table)
    run = Chains(lambda: walker, starts, plan, rngs, _layout(unknown), executor)
    run.run(Checkpoint.at(checkpoint, identified), progress)
    values, log_target, given, dags = run.records
    told = Run(method, settings, seed, run.seconds, stopped=run.stopped)
    drawn = Draws(
        *(dags, np.zeros(log_target.shape), log_target, "dags", "structure-modular", data.names),
        stats={"changed": acceptance(run.tally)},
        run=told,
    )
    stderr, worst, least = _diagnosed(given, log_target)
    return values, {
        "given": given,
        "dags": drawn,
        "edges": given.mean(axis=(0, 1)),
        "stderr": stderr,
        "rhat": worst,
        "ess": least,
        "run": told,
    }


def _layout(unknown: Unknown) -> Layout:
    n, values = unknown.data.n, unknown.kept

    def of_both(state: NDArray[Any]) -> bool:
        fits = all(unknown.fit(unknown.values(each)) for each in state)
        return fits and check_dags(state[..., -n:]).size > 0

    edges = Kept(np.float64, (n, n), 0, 1)
    state = Kept(np.int64, (int(values.shape[0]) + n,), holds=of_both)
    return Layout(state, (values, nats(), edges, dags_of(n)), (2,))


def _diagnosed(given: Floats, log_target: Floats) -> tuple[Floats, float, float]:
    """Standard errors (n, n) of the means, the worst R-hat, and the least ESS."""
    (chains, draws), n = log_target.shape, given.shape[-1]
    if draws < LEAST_DRAWS:
        return np.full((n, n), math.inf), math.nan, math.nan
    traces = np.moveaxis(given.reshape(chains, draws, -1), -1, 0)
    stderr = np.array([trace.std() / math.sqrt(ess(trace)) for trace in traces]).reshape(n, n)
    every = [log_target, *(trace for trace in traces if np.ptp(trace) > ROUNDING)]
    worst = max(map(rhat, every)) if chains > 1 else math.nan
    return stderr, worst, min(map(ess, every))


@dataclass(frozen=True, slots=True, eq=False)
class GibbsWalker:
    """Gibbs cycles over what is unknown, then the DAG, among the families of a table."""

    unknown: Unknown
    table: ScoreTable

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Values (T, size), ln targets (T,), edges given them (T, n, n), dags (T, n), tally (2,).

        The tally is of values drawn anew and of those that changed.
        """
        n, values, dag = self.table.n, self.unknown.values(state), state[-self.table.n :].copy()
        kept, given = np.empty((records, values.size), values.dtype), np.empty((records, n, n))
        dags, log_target = np.empty((records, n), np.int64), np.empty(records)
        tally = np.zeros(2, np.int64)
        for t in range(-lead, records * thin):
            before, values = values, self.unknown.drawn(values, dag, rng)
            scores = self.unknown.log_scores(values, self.table.parents)
            posterior = dag_posterior(replace(self.table, log_score=scores))
            drawn = layer_block((posterior, rng.random((1, 2 * n))))
            dag = drawn["values"][0]
            if t >= 0:
                tally += values.size, int((values != before).sum())
            if t >= 0 and t % thin == thin - 1:
                i = t // thin
                kept[i], dags[i] = values, dag
                given[i], log_target[i] = posterior.edges, drawn["log_target"][0]
        state[:] = self.unknown.state(values, dag)
        return kept, log_target, given, dags, tally

    @property
    def block_moves(self) -> int:
        """Cycles that take about 100 ms."""
        work = 1 + 3**self.table.n / PAIRS + self.unknown.comparisons / ROWS
        return max(1, int(BLOCK_CYCLES / work))
