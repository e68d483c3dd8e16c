"""The evidence of models with hidden nodes: exact sums, estimates, bounds from both sides."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checkpoints import Arrays, Checkpoint, check, nats
from bnlab.checks import Count, Floats, Ints, Share, checked
from bnlab.data import Gapped
from bnlab.hidden.annealing import anneal, log_weights, plan_of, runs_each
from bnlab.hidden.completions import Completions, cells_of_rows, complete, table_rows
from bnlab.hidden.model import HiddenModel, codes, components, identity_of, whole
from bnlab.hidden.samplers import AIS, SMC, JointDirichlet, filtered, open_model
from bnlab.kernels import latent, latent_particles
from bnlab.results import Estimate, Run
from bnlab.running import Batch, Clock, Executor, Progress, Stopped, run_steps, seed_of, spawn
from bnlab.weights import BINS, betas_of, check_bound, markov_bound, mean_weight, require_runs

Method = AIS | SMC | Literal["ais", "smc"]
Estimator = Callable[[list[np.random.Generator]], Floats]

MAX_TERMS = 50_000_000  # about a minute
DEFAULT, DEFAULT_AIS = SMC(), AIS()


@checked
def exact_evidence(model: HiddenModel, data: Gapped | ArrayLike, /) -> Estimate:
    """Return ln p(data), nats, by the sum over all completions of the data [Beal2003, eq. 6.12].

    For each completion the tables are integrated out in closed form (eq. 6.9). Equal rows are
    completed together, so the number of terms is the product over distinct rows of C(k + H - 1, k)
    for a row that occurs k times and has H joint hidden states: about H**m for few rows. Components
    are summed by themselves.

    Raises
    ------
    ValueError
        If there are more than 50 million terms.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> round(exact_evidence(model, [[0], [1], [2]]).log_value, 4)
    -3.8067
    """
    clock = Clock()
    rows = codes(model, data)
    split = [complete(one.model, rows[:, one.columns]) for one in components(model)]
    terms = [_terms(completions) for completions in split]
    if max(terms) > MAX_TERMS:
        raise ValueError(
            f"{max(terms):,} completions to sum over; at most {MAX_TERMS:,} are: take fewer rows, "
            "or estimate_evidence"
        )
    log_value = math.fsum(_log_sum(completions, model.strength) for completions in split)
    settings = {"terms": sum(terms), "strength": model.strength}
    run = Run("sum over completions", settings, seconds=clock.seconds)
    return Estimate(log_value, 0.0, "exact", run=run)


def _terms(completions: Completions) -> int:
    weight, states = completions.listed.weight.astype(int), completions.listed.states
    return math.prod(map(math.comb, (weight + states - 1).tolist(), weight.tolist()))


def _log_sum(completions: Completions, strength: float) -> float:
    base, first = completions.base, completions.first
    known = latent.log_dirichlet(base, first, strength)
    cells = cells_of_rows(completions)
    if cells.shape[1] == 0:
        return float(known)
    states, weight = completions.listed.states, completions.listed.weight
    rows = np.repeat(np.arange(states.size), states)
    state = np.arange(rows.size) - np.repeat(np.cumsum(states) - states, states)
    slots = np.stack([rows, state, weight[rows].astype(np.int64)], axis=1)
    counts = base.copy()
    tables = table_rows(first)
    totals = np.add.reduceat(counts, first[:-1])
    log_sum = latent_particles.sum_completions(slots, cells, tables, strength, counts, totals)
    return float(known + log_sum)


@checked
def estimate_evidence(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    method: Method = DEFAULT,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Estimate ln p(data), nats, by the mean of independent unbiased estimates of p(data).

    SMC is the more exact by far at equal cost. The standard error of the logarithm is by the delta
    method from the spread of the runs; where that is many nats, few runs carry the mean, the
    standard error says little and the estimate is likely too low.

    Parameters
    ----------
    model : HiddenModel
    data : as in `complete`; missing cells are summed over
    runs : number of runs, at least 1; the standard error of one run is infinite
    rng : the only source of randomness; equal states give equal numbers for any executor
    method : SMC(particles), AIS(schedule, moves), or "smc" or "ais" for either as it comes
    checkpoint : as in `anneal`
    progress : progress(done, total, None) after each run; False stops, and the runs done remain
    executor : where runs go; threads by default

    Returns
    -------
    Estimate
        kind "unbiased"; trace (runs,) is the estimate after each run.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> estimate = estimate_evidence(model, [[0], [1], [2]], runs=100, rng=np.random.default_rng(1))
    >>> round(estimate.log_value, 2)  # exactly -3.807
    -3.81
    """
    log_p, run = _runs(model, data, runs, rng, method, checkpoint, progress, executor)
    return mean_weight(log_p, "unbiased", run)


@checked
def estimate_structures(
    models: Iterable[HiddenModel],
    data: Gapped | ArrayLike,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    method: Method = DEFAULT,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[Estimate]:
    """Estimate the evidence of many structures on the same data, each shared component once.

    The estimate of a structure is the product of the means of its components, which are
    independent; the estimates of structures that share components are not. JointDirichlet walks on
    whole structures.

    Parameters
    ----------
    models : structures over the same observed nodes
    data, runs, rng, method, executor : as in `estimate_evidence`; runs of each component
    checkpoint : a file for the finished components, saved every 10 seconds or so, at a stop and at
        the end. If it is there, the same call goes on from it, to the very same estimates
    progress : progress(done, total, None) after each distinct component; False stops

    Raises
    ------
    ValueError
        If an option is out of range, or the checkpoint is damaged or belongs to another run.
    Stopped
        If `progress` returned False: not all components have an estimate then.

    Examples
    --------
    >>> models = [HiddenModel([0, 1, p], [2, 2, 2], hidden=[0]) for p in (0, 1)]
    >>> rng = np.random.default_rng(1)
    >>> found = estimate_structures(models, [[0, 1], [1, 0]], runs=500, rng=rng)
    >>> [round(each.log_value, 2) for each in found]  # exact here
    [-3.43, -3.24]
    """
    clock, seed, method, models = Clock(), seed_of(rng), _chosen(method), list(models)
    if not models:
        return []
    joint = isinstance(method, AIS) and isinstance(method.moves, JointDirichlet)
    split = [[whole(model)] if joint else components(model) for model in models]
    tables = [codes(model, data) for model in models]
    distinct = {one.key: one for of_model in split for one in of_model}
    jobs = [
        (one.model, tables[0][:, one.columns], runs, child, method)
        for one, child in zip(distinct.values(), rng.spawn(len(distinct)), strict=True)
    ]
    fits = partial(check, kept={"log_p": nats("components", runs)}, components=len(jobs))
    batch = Batch(_runs_of_one, lambda place: jobs[place.start], len(jobs), executor, fits=fits)
    identity = identity_of(repr(method), models, data, runs=runs, seed=seed)
    if run_steps(batch, Checkpoint.at(checkpoint, identity), progress):
        raise Stopped(
            f"stopped after {batch.count} of {len(jobs)} components: no structure is estimated"
        )
    means = {
        key: mean_weight(log_p, "unbiased", Run(""))
        for key, log_p in zip(distinct, batch.arrays()["log_p"], strict=True)
    }
    found = []
    for model, of_model in zip(models, split, strict=True):
        of_components = [means[one.key] for one in of_model]
        log_value = math.fsum(mean.log_value for mean in of_components)
        stderr = math.hypot(*(mean.stderr for mean in of_components))
        trace = np.sum([mean.trace for mean in of_components], axis=0)
        run = _run(model, runs, method, seed, clock)
        found.append(Estimate(log_value, stderr, "unbiased", trace=trace, run=run))
    return found


@checked
def estimate_lower_bound(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    method: Method = DEFAULT,
    delta: Share = 0.05,
    bins: Count = BINS,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Bound ln p(data) from below, with probability 1 - delta, however the weights are distributed.

    Markov's inequality on the runs of `estimate_evidence`, whose mean is p(data): with one bin, ln
    of the mean less ln(1 / delta) [GrosseEtAl2015]; with more, the least of the bins' means, less
    ln(1 / delta) / bins [NiinimakiKoivisto2013, Theorem 1].

    Parameters
    ----------
    model, data, runs, rng, method, checkpoint, progress, executor : as in `estimate_evidence`
    delta : the probability that the bound fails, at most
    bins : from 1 to runs

    Raises
    ------
    Stopped
        If `progress` returned False before there was a run for each of the bins.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> rng = np.random.default_rng(1)
    >>> found = estimate_lower_bound(model, [[0], [1], [2]], runs=900, rng=rng)
    >>> round(found.log_value, 1)  # exactly -3.807
    -4.1
    """
    check_bound(runs, bins)
    log_p, run = _runs(model, data, runs, rng, method, checkpoint, progress, executor)
    require_runs(log_p.size, bins)
    return markov_bound(log_p, "lower_bound", delta, bins, run=run)


@checked
def estimate_upper_bound(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    start: Sequence[ArrayLike],
    runs: Count,
    rng: np.random.Generator,
    method: AIS = DEFAULT_AIS,
    delta: Share = 0.05,
    bins: Count = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Bound ln p(data) from above, with probability 1 - delta, by annealing in reverse.

    The mean of 1 / w over runs that start at exact draws from the posterior is 1 / p(data), and
    Markov's inequality bounds it [GrosseEtAl2015]. The tables that simulated the data are such a
    draw, if they were themselves drawn from the model's prior; ends of other runs are not, and
    bound nothing.

    Parameters
    ----------
    model, data, runs, rng, checkpoint, progress, executor : as in `anneal`
    start : as in `anneal`: exact draws from the posterior of the tables
    method : AIS, with schedule and moves
    delta : the probability that the bound fails, at most, over starts and runs together
    bins : 1 when all runs share one start and so depend on each other; up to `runs` otherwise

    Raises
    ------
    Stopped
        If `progress` returned False before there was a run for each of the bins.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> theta = [[[0.5, 0.5]], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]]
    >>> rng = np.random.default_rng(1)
    >>> estimate_upper_bound(model, [[0], [2]], start=theta, runs=20, rng=rng).kind
    'upper_bound'
    """
    check_bound(runs, bins)
    if bins > 1 and any(np.ndim(table) < 3 for table in start):
        raise ValueError(
            f"bins={bins}: all runs depend on the one start, so they make a single bin. Leave "
            "bins= out, or give each run a draw of its own"
        )
    where: dict[str, Any] = {"checkpoint": checkpoint, "progress": progress, "executor": executor}
    walk: dict[str, Any] = {"method": method, "start": start, "reverse": True}
    found = anneal(model, data, runs=runs, rng=rng, **walk, **where)
    require_runs(found.log_weight.size, bins)
    return markov_bound(found.log_weight, "upper_bound", delta, bins, run=found.run)


def _chosen(method: Method) -> AIS | SMC:
    if isinstance(method, str):
        return DEFAULT_AIS if method == "ais" else DEFAULT
    return method


def _runs(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    runs: int,
    rng: np.random.Generator,
    method: Method,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
    executor: Executor | None,
) -> tuple[Floats, Run]:
    """Ln of an unbiased estimate of p(data) from each run; fewer when stopped."""
    clock, seed, method = Clock(), seed_of(rng), _chosen(method)
    estimate, rngs = _estimator(model, data, method), spawn(rng, runs)
    betas = betas_of(method.schedule) if isinstance(method, AIS) else None
    identity = identity_of(repr(method), [model], data, betas=betas, runs=runs, seed=seed)
    fits = partial(check, kept={"log_p": nats("runs")}, runs=runs)
    size = runs_each(runs, executor)
    batch = Batch(_log_p, lambda part: (estimate, rngs[part]), runs, executor, size, fits=fits)
    run_steps(batch, Checkpoint.at(checkpoint, identity), progress)
    log_p = batch.arrays()["log_p"]
    return log_p, _run(model, runs, method, seed, clock, stopped=log_p.size < runs)


def _estimator(model: HiddenModel, data: Gapped | ArrayLike, method: AIS | SMC) -> Estimator:
    """What gives ln of an unbiased estimate of p(data) for each generator."""
    if isinstance(method, AIS):
        return partial(log_weights, plan_of(model, data, method))
    return partial(filtered, open_model(model, data), method.particles)


def _log_p(job: tuple[Estimator, list[np.random.Generator]]) -> Arrays:
    estimate, rngs = job
    return {"log_p": estimate(rngs)}


def _runs_of_one(job: tuple[HiddenModel, Ints, int, np.random.Generator, AIS | SMC]) -> Arrays:
    """All runs of one component, one after the other: log_p (1, runs)."""
    model, columns, runs, rng, method = job
    return {"log_p": _estimator(model, columns, method)(spawn(rng, runs))[None]}


def _run(
    model: HiddenModel, runs: int, method: AIS | SMC, seed: str, clock: Clock, stopped: bool = False
) -> Run:
    settings = {"runs": runs, "method": repr(method), "strength": model.strength}
    return Run(type(method).__name__, settings, seed, clock.seconds, stopped=stopped)
