"""The evidence from draws along a schedule of temperatures."""

import math
import os
from collections.abc import Sequence
from dataclasses import field, fields, replace
from typing import Any

import numpy as np

from bnlab.annealing.runs import AIS, DEFAULT, SMC, anneal_orders
from bnlab.checks import Count, Floats, Several, checked, frozen
from bnlab.diagnostics import LEAST_DRAWS, ess, rhat
from bnlab.exact import log_dag_prior_sum, log_prior_sum
from bnlab.records import check_alike
from bnlab.results import Draws, Estimate
from bnlab.running import Clock, Executor, Progress
from bnlab.sampling.order_mcmc import sample_orders
from bnlab.sampling.order_target import Moves
from bnlab.scores import ScoreTable
from bnlab.weights import Linear, Schedule, betas_of, mean_weight

BATCHES = 20  # of one chain alone, for its standard error


@frozen(eq=True)
class MC3:
    """Coupled Markov chains at several temperatures [Geyer1991; NiinimakiKoivisto2013, sec. 2.3].

    Attributes
    ----------
    schedule : inverse temperatures of the chains that are coupled
    draws, burn_in, thin, moves : as in `sample_orders`

    Examples
    --------
    >>> MC3(Linear(8), draws=500).schedule
    Linear(steps=8)
    """

    schedule: Schedule = field(default_factory=lambda: Linear(16))
    draws: Count = 1000
    burn_in: int | None = None
    thin: int | None = None
    moves: Moves = field(default_factory=Moves)

    def __post_init__(self) -> None:
        betas_of(self.schedule)


@checked
def estimate_evidence(
    table: ScoreTable,
    /,
    *,
    runs: Several,
    rng: np.random.Generator,
    method: AIS | SMC | MC3 = DEFAULT,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Estimate ln p(D) under the order-modular prior, by annealing or by coupled chains.

    `evidence_from` the draws of `anneal_orders`, or of `sample_orders` for MC3 with as many
    ensembles of coupled chains as there are runs [NiinimakiKoivisto2013, sec. 2.3 and 3.1].

    Parameters
    ----------
    table, rng, checkpoint, progress, executor : as in `anneal_orders`
    runs : number of runs, at least 2
    method : AIS, SMC or MC3, with their settings

    Returns
    -------
    Estimate
        as from `evidence_from`

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> estimate = estimate_evidence(table, runs=9, rng=np.random.default_rng(1))
    >>> round(estimate.log_value, 4)
    -3.7534
    """
    clock, log_prior_z = Clock(), log_prior_sum(table)  # refused at once, not after the runs
    where: dict[str, Any] = {"checkpoint": checkpoint, "progress": progress, "executor": executor}
    if isinstance(method, MC3):
        settings = {part.name: getattr(method, part.name) for part in fields(method)}
        draws = sample_orders(table, chains=runs, rng=rng, **settings, **where)
    else:
        draws = anneal_orders(table, runs=runs, rng=rng, method=method, **where)
    estimate = _evidence(draws, log_prior_z)
    return replace(estimate, run=replace(estimate.run, seconds=clock.seconds))


@checked
def evidence_from(draws: Draws, /, *, table: ScoreTable) -> Estimate:
    """Estimate ln p(D) from draws along a schedule of temperatures: orders, or DAGs given them.

    Annealed draws (`anneal_orders`): ln of the mean weight, less ln of the same sum with likelihood
    1. Draws of one run are averaged first, and the standard error is that of the mean of the runs
    by the delta method. Draws of coupled chains (`sample_orders` with schedule): ln of the product
    of mean ratios of weights from each temperature to the next [NiinimakiKoivisto2013, sec. 2.3];
    the standard error is by a jackknife over the chains, or over batches of draws if there is only
    one. Neither sees peaks that no run has met, nor a burn-in that was too short for all; nor do
    batches see what lasts longer than they do. R-hat and ESS of chains say where that shows.

    Parameters
    ----------
    draws : Draws over orders or DAGs; DAGs after `reweight_by_extensions` give the evidence under
        the structure-modular prior
    table : ScoreTable that they come from

    Returns
    -------
    Estimate
        kind "unbiased" for AIS, and for SMC with a given schedule; "asymptotic" for SMC that chose
        its temperatures and for coupled chains. trace is the estimate after each run, or after each
        draw of all coupled chains. stderr is inf where there is nothing to tell it from.

    Raises
    ------
    ValueError
        If the draws were made at one temperature, or the table is of other variables.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> draws = anneal_orders(table, runs=9, rng=np.random.default_rng(1), method=SMC(10))
    >>> round(evidence_from(draws, table=table).log_value, 4)
    -3.7534
    """
    if "beta" not in draws.stats:
        raise ValueError(
            f"draws by {draws.run.method or 'one temperature'} do not tell the evidence: anneal "
            "(anneal_orders), or couple chains (sample_orders with schedule=). An exact posterior "
            "has it, log_evidence"
        )
    return _evidence(draws, log_prior_of(draws, table))


def log_prior_of(draws: Draws, table: ScoreTable, /) -> float:
    """Ln of the sum with likelihood 1, under the prior of the draws."""
    check_alike("the scores", table.names, "the draws", draws.names)
    return (log_prior_sum if draws.prior == "order-modular" else log_dag_prior_sum)(table)


def _evidence(draws: Draws, log_prior_z: float) -> Estimate:
    if "tempered" in draws.traces:
        return _by_telescoping(draws, math.lgamma(len(draws.names) + 1) - log_prior_z)
    log_p = group_means(draws) - log_prior_z
    if not np.isfinite(log_p).any():
        raise ValueError("no draw has a log_weight that is a number: anneal again")
    chosen = draws.stats["beta"].ndim > 1  # by each run for itself
    return mean_weight(log_p, "asymptotic" if chosen else "unbiased", draws.run)


def group_means(draws: Draws, /) -> Floats:
    """ln of the mean weight of each of the independent groups of draws, by number of the group."""
    _, group, sizes = np.unique(draws.groups, return_inverse=True, return_counts=True)
    sums = np.full(sizes.size, -math.inf)
    np.logaddexp.at(sums, group.ravel(), draws.log_weight.ravel())
    return np.asarray(sums - np.log(sizes))


def _by_telescoping(draws: Draws, shift: float) -> Estimate:
    """ln of the product over i of the mean of (weight of the order at beta_i)**(step of beta)."""
    ratios = np.diff(draws.stats["beta"]) * draws.traces["tempered"][..., :-1]
    levels = np.concatenate([ratios, draws.log_weight[..., None]], axis=2)
    chains, each = draws.log_weight.shape
    sums = np.logaddexp.accumulate(np.logaddexp.reduce(levels, axis=0), axis=0)
    trace = (sums - np.log(chains * np.arange(1, each + 1))[:, None]).sum(axis=1) + shift
    parts = list(levels) if chains > 1 else np.array_split(levels[0], min(BATCHES, each))
    worst = (math.nan, math.nan)
    if chains > 1 and each >= LEAST_DRAWS and np.isfinite(levels).all():
        traces = [draws.log_target, *levels.transpose(2, 0, 1)]
        worst = max(map(rhat, traces)), min(map(ess, traces))
    return Estimate(
        float(trace[-1]), _jackknife(parts), "asymptotic", 1.0, trace, draws.run, *worst
    )


def _jackknife(parts: Sequence[Floats]) -> float:
    """Standard error of the sum over levels of ln of the mean, from parts (T, levels) left out."""
    sums = np.array([np.logaddexp.reduce(part, axis=0) for part in parts])
    sizes, total = np.array([len(part) for part in parts]), len(parts)
    if total == 1:
        return math.inf
    others = [np.logaddexp.reduce(np.delete(sums, i, axis=0), axis=0) for i in range(total)]
    left = np.sum(others - np.log(sizes.sum() - sizes)[:, None], axis=1)
    return float(math.sqrt((total - 1) * left.var()))
