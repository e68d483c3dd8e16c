"""What each method gives an analysis: probabilities, draws of DAGs, the best, and doubts."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bnlab import features, graphs
from bnlab.checks import Floats, Ints, checked
from bnlab.diagnostics import LEAST_DRAWS, ess, max_error, rhat, weights_ess
from bnlab.exact import (
    DagPosterior,
    OrderPosterior,
    dag_posterior,
    log_dag_prior_sum,
    map_dag,
    order_posterior,
)
from bnlab.exact.dag import factors_by_size
from bnlab.features.intervals import pair_means, weights_of
from bnlab.linear_extensions import reweight_by_extensions
from bnlab.reports.planning import MORE, Method, Plan
from bnlab.results import LEAST_ESS, MOST_RHAT, Draws, Estimate, Record, Run, agree, with_arrays
from bnlab.running import Executor, Progress
from bnlab.sampling.completing import Completions
from bnlab.sampling.dags_given_orders import sample_dags
from bnlab.sampling.order_mcmc import sample_orders
from bnlab.sampling.partition_mcmc import sample_partitions
from bnlab.sampling.reweighting import reweight_unique
from bnlab.scores import ScoreTable
from bnlab.search.climbing import hill_climb
from bnlab.weights import mean_weight

Z = 1.96  # of intervals of probability 0.95
RESUMED: tuple[Method, ...] = ("completions", "partitions", "orders", "search")  # from checkpoints
CredibleKind = Literal["exact", "sound", "Hoeffding", "asymptotic", "none"]


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Credible(Record):
    """Posterior probabilities of a relation between u and v, for all pairs, with intervals.

    Attributes
    ----------
    probability : float64 (n, n), [u, v]; the diagonal is 0
    low, high : float64 (n, n), each pair's interval; equal to `probability` if it is exact
    kind : "exact"; or what each interval is as in `FeatureEstimate`: "sound" (certain), "Hoeffding"
        (holds whatever the posterior), "asymptotic" (in the limit of many draws), "none" (0 to 1)
    confidence : float, of each interval by itself; 1 if it is certain
    rhat, ess : float64 (n, n), of chains, as in `FeatureEstimate`; None without chains
    """

    probability: Floats
    low: Floats
    high: Floats
    kind: CredibleKind
    confidence: float
    rhat: Floats | None = None
    ess: Floats | None = None

    def __repr__(self) -> str:
        width = float((self.high - self.low).max())
        interval = "" if self.kind == "exact" else f", intervals up to {width:.2g} wide"
        return f"Credible({len(self.probability)} variables, {self.kind}{interval})"

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """bool (n, n), `FeatureEstimate.trusted` of each pair."""
        agreed = True if self.rhat is None else agree(self.rhat, self.ess)
        return np.full(self.probability.shape, agreed & (self.kind != "none"))

    @classmethod
    def exact(cls, probability: Floats, /) -> "Credible":
        """Probabilities that are known but for rounding."""
        return cls(probability, probability, probability, "exact", 1.0)


def credible(draws: Draws, relation: Callable[[Ints], Ints], /, *, delta: float = 0.05) -> Credible:
    """Posterior probabilities of a relation, from parent masks to masks, of all pairs in draws."""
    n = draws.values.shape[-1]
    means = pair_means(draws, np.asarray(relation(draws.values)).reshape(-1, n), delta)
    np.fill_diagonal(means.high, 0.0)
    return Credible(
        means.value, means.low, means.high, means.interval, means.confidence, means.rhat, means.ess
    )


def one_dag(masks: Ints, /) -> Credible:
    """A relation in one DAG, 0 or 1, of which nothing says how probable it is."""
    holds = graphs.to_adjacency(masks).astype(float)
    return Credible(holds, np.zeros_like(holds), 1 - np.eye(len(holds)), "none", 0.0)


def ranked(values: Floats, /) -> list[tuple[int, int]]:
    """The places (u, v) of a matrix, the largest first, ties in their order."""
    order = np.argsort(-values, axis=None, kind="stable")
    return [divmod(int(i), len(values)) for i in order]


def evenly(draws: Draws, count: int, /) -> Draws:
    """At most so many of the draws, systematically resampled [Kitagawa1996] with 1/2 as number."""
    flat = draws.values.reshape(-1, draws.values.shape[-1])
    count = min(count, len(flat))
    ends = np.cumsum(weights_of(draws))
    chosen = np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1])
    target = draws.log_target.reshape(1, -1)[:, chosen]
    weights = np.zeros((1, count))
    kinds = (draws.over, draws.prior, draws.names)
    return Draws(flat[chosen][None], weights, target, *kinds, run=draws.run)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Results of one method. `edges` and `paths` are None where they are averages of draws."""

    best: Ints
    best_is: str
    draws: Draws | None
    edges: Credible | None = None
    paths: Credible | None = None
    log_evidence: Estimate | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    stopped: bool = False
    completions: Completions | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What every method gets; `part(a, b, what)` is progress from a to b of 950 thousandths."""

    score: Callable[[], ScoreTable]
    fill: Callable[..., Completions]  # `complete`
    plan: Plan
    rng: np.random.Generator
    part: Callable[[int, int, str], Progress]
    executor: Executor | None
    checkpoint: str | os.PathLike[str] | None = None

    @cached_property
    def table(self) -> ScoreTable:
        return self.score()

    @property
    def chains(self) -> dict[str, Any]:
        """What makes Markov chains as planned."""
        names = ("draws", "chains", "burn_in", "thin")
        of_run = {"rng": self.rng, "checkpoint": self.checkpoint, "executor": self.executor}
        return {name: getattr(self.plan, name) for name in names} | of_run

    def drawn(self, posterior: DagPosterior | OrderPosterior, a: int, b: int, /) -> Draws:
        """As many DAGs as planned, with progress from a to b thousandths."""
        told = self.part(a, b, "drawing DAGs")
        draws, rng, executor = self.plan.draws, self.rng, self.executor
        return sample_dags(posterior, draws=draws, rng=rng, progress=told, executor=executor)


def _exact_dags(task: Task) -> Answer:
    best = map_dag(task.table, progress=task.part(0, 50, "the best DAG")).dags[0]
    posterior = dag_posterior(task.table, progress=task.part(50, 700, "the sum over DAGs"))
    draws = task.drawn(posterior, 700, 950)
    return Answer(
        best,
        "the most probable DAG",
        draws,
        Credible.exact(posterior.edges),
        Credible.exact(posterior.ancestors),
        Estimate(posterior.log_evidence, 0.0, "exact", run=posterior.run),
        {"draws": float(draws.log_weight.size)},
        stopped=draws.run.stopped,
    )


def _exact_orders(task: Task) -> Answer:
    table = task.table
    best = map_dag(table, progress=task.part(0, 200, "the best DAG")).dags[0]
    posterior = order_posterior(table, progress=task.part(200, 600, "the sum over orders"))
    drawn = task.drawn(posterior, 600, 900)
    draws, warnings = _unbiased(drawn, task.executor)
    distinct = reweight_unique(drawn)
    differ = max_error(features.edges(draws), features.edges(distinct))
    mean = mean_weight(draws.log_weight.ravel(), "unbiased", draws.run)
    log_z = mean.log_value + posterior.log_z
    mass = math.exp(min(0.0, float(np.logaddexp.reduce(distinct.log_weight, axis=None)) - log_z))
    evidence = None
    if factors_by_size(table) is not None and not warnings:
        log_evidence = log_z - log_dag_prior_sum(table)
        evidence = Estimate(log_evidence, mean.stderr, "unbiased", run=draws.run)
    return Answer(
        best,
        "the most probable DAG",
        draws,
        log_evidence=evidence,
        diagnostics={
            "draws": float(draws.log_weight.size),
            "effective draws": weights_ess(draws.log_weight),
            "mass of the distinct DAGs, about": mass,
            "largest difference of an edge to IW-DDS": differ,
        },
        warnings=warnings,
        stopped=drawn.run.stopped,
    )


def _walk(task: Task) -> Answer:
    on_orders = task.plan.method == "orders"
    sample = sample_orders if on_orders else sample_partitions
    told = task.part(0, 900 if on_orders else 950, f"walking on {task.plan.method}")
    chains = draws = sample(task.table, progress=told, **task.chains)
    warnings: tuple[str, ...] = ()
    if on_orders:
        drawn = sample_dags(chains, draws=1, table=task.table, rng=task.rng, executor=task.executor)
        draws, warnings = _unbiased(drawn, task.executor)
    start = draws.values.reshape(-1, task.table.n)[int(draws.log_target.argmax())]
    best = hill_climb(task.table, start=start, rng=task.rng).dag
    found = {"draws": float(draws.log_weight.size)}
    if chains.log_target.shape[1] >= LEAST_DRAWS:
        found |= {"rhat": rhat(chains.log_target), "ess": ess(chains.log_target)}
    if draws.log_weight.any():
        found["effective draws"] = weights_ess(draws.log_weight)
    parts = [with_arrays(draws, itemgetter([c])) for c in range(len(draws.values))]
    each = [features.edges(part) for part in parts]
    found["largest difference of an edge between chains"] = float(np.ptp(each, axis=0).max())
    return Answer(
        best,
        "the best DAG found",
        draws,
        diagnostics=found,
        warnings=warnings,
        stopped=chains.run.stopped,
    )


def _completed(task: Task) -> Answer:
    found = task.fill(progress=task.part(0, 950, "filling the missing cells"), **task.chains)
    dags = found.dags.values.reshape(-1, found.data.n)
    each, counts = np.unique(dags, axis=0, return_counts=True)
    best, best_is = each[counts.argmax()], "the DAG drawn most often"
    if found.run.settings["moves"]:  # most DAGs of many variables are drawn once
        near = ((found.edges - 0.5) * graphs.to_adjacency(each)).sum(axis=(1, 2))
        best, best_is = each[near.argmax()], "the drawn DAG nearest to the probabilities"
    told = {"draws": float(len(dags))}
    if found.rhat == found.rhat:
        told |= {"rhat": found.rhat, "effective draws": found.ess}
    margin = np.where(np.isfinite(found.stderr), Z * found.stderr, 1.0)
    low, high = np.clip([found.edges - margin, found.edges + margin], 0, 1)
    np.fill_diagonal(high, 0.0)
    rhat_of_all, ess_of_all = (np.full_like(low, worst) for worst in (found.rhat, found.ess))
    edges = Credible(found.edges, low, high, "asymptotic", 0.95, rhat_of_all, ess_of_all)
    return Answer(
        best,
        best_is,
        found.dags,
        edges,
        diagnostics=told,
        stopped=found.run.stopped,
        completions=found,
    )


def _search(task: Task) -> Answer:
    climb = hill_climb(
        task.table,
        restarts=task.plan.draws,
        rng=task.rng,
        checkpoint=task.checkpoint,
        progress=task.part(0, 1000, "climbing"),
        executor=task.executor,
    )
    warnings = ("These are the edges of one good DAG, not probabilities.",)
    return Answer(
        climb.dag, "the best DAG found", None, warnings=warnings, stopped=climb.run.stopped
    )


ANSWERS: Mapping[Method, Callable[[Task], Answer]] = {
    "completions": _completed,
    "exact DAGs": _exact_dags,
    "exact orders": _exact_orders,
    "partitions": _walk,
    "orders": _walk,
    "search": _search,
}
"""What runs each method; Stopped if it was asked to stop before there was anything."""


def _unbiased(drawn: Draws, executor: Executor | None) -> tuple[Draws, tuple[str, ...]]:
    """DAGs weighted by 1 / ℓ(G), or the distinct ones (IW-DDS) where ℓ(G) cannot be counted."""
    try:
        return reweight_by_extensions(drawn, executor=executor), ()
    except ValueError as error:
        warning = (
            f"The orders of some DAG cannot be counted ({error}): averages are over the distinct "
            "DAGs, each with its own weight (IW-DDS), and have no error bars."
        )
        return reweight_unique(drawn), (warning,)


def doubts(plan: Plan, told: Mapping[str, float], run: Run, /) -> tuple[str, ...]:
    """Return sentences on what the diagnostics say against the answer."""
    out = []
    if run.stopped:
        out.append("Stopped early: the answer is of the draws made until then.")
    if plan.method in ("completions", "partitions", "orders") and "rhat" not in told:
        out.append("The chains are too short to say whether they agree.")
    if told.get("rhat", 1.0) > MOST_RHAT:
        out.append(
            f"R-hat is {told['rhat']:.3f}, above {MOST_RHAT}: the chains do not agree. Give more "
            f"seconds, say {MORE * plan.budget:g}."
        )
    worth = min(told.get("effective draws", math.inf), told.get("ess", math.inf))
    if worth < LEAST_ESS:
        out.append(
            f"The draws are worth {worth:.0f} independent ones only, fewer than {LEAST_ESS}: "
            "intervals are rough."
        )
    return tuple(out)
