"""Bounds on the evidence from both sides, by Markov's inequality."""

import math
import os
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.annealing.evidence import check_draws, group_means
from bnlab.annealing.methods import AIS, DEFAULT, SMC
from bnlab.annealing.runs import (
    anneal,
    anneal_orders,
    check_table,
    require_memory,
    run_identity,
)
from bnlab.checkpoints import Checkpoint, fingerprint
from bnlab.checks import check_counts, check_generator, checked
from bnlab.exact import OrderPosterior, log_dag_prior_sum, log_prior_sum
from bnlab.results import Draws, Estimate, Run
from bnlab.running import Clock, Progress, seed_of
from bnlab.sampling import Executor, check_weight, sample_orders
from bnlab.scores import ScoreTable
from bnlab.weights import BINS, bin_means, bound as markov_bound, check_bound, require_runs

Floats = NDArray[np.float64]

CHOSEN = "weights along temperatures that the runs chose themselves are biased, and bound nothing"


@checked
def lower_bound_from(
    draws: Draws, /, *, table: ScoreTable, delta: float = 0.05, bins: int = BINS
) -> Estimate:
    """Bound ln p(D) from below, with probability 1 - delta, by annealed draws.

    `lower_bound` of the mean weights of the independent runs, less ln of the same sum with
    likelihood 1. Only E[w] = Z is assumed; the runs need not have converged.

    Parameters
    ----------
    draws : Draws by `anneal_orders`, with AIS or with SMC under a given schedule; or DAGs given
        such orders; DAGs after `reweight_by_extensions` bound the evidence under the
        structure-modular prior
    table : ScoreTable that they come from
    delta, bins : as in `lower_bound`; there must be a run for each of the bins

    Raises
    ------
    ValueError
        If the mean weight of the draws is not Z.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> draws = anneal_orders(table, runs=9, rng=np.random.default_rng(1))
    >>> round(lower_bound_from(draws, table=table).log_value, 4)
    -4.0863
    """
    check_unbiased(draws, table)
    order_modular = draws.prior == "order-modular"
    log_prior_z = log_prior_sum(table) if order_modular else log_dag_prior_sum(table)
    return _lower(draws, log_prior_z, delta, bins)


def _lower(draws: Draws, log_prior_z: float, delta: float, bins: int) -> Estimate:
    means = bin_means(group_means(draws), delta, bins) - log_prior_z
    log_value = float(means.min()) + math.log(delta) / bins
    return markov_bound(log_value, "lower_bound", means, delta, draws.run)


@checked
def estimate_lower_bound(
    table: ScoreTable,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    method: AIS | SMC = DEFAULT,
    delta: float = 0.05,
    bins: int = BINS,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Bound ln p(D) from below, with probability 1 - delta, by annealing.

    `lower_bound_from` the draws of `anneal_orders`.

    Parameters
    ----------
    table, runs, rng, checkpoint, progress, executor : as in `anneal_orders`
    method : AIS, or SMC with a schedule: weights along temperatures that runs choose are biased
    delta, bins : as in `lower_bound`

    Raises
    ------
    Stopped
        If `progress` returned False before there was a run for each of the bins.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> bound = estimate_lower_bound(table, runs=9, rng=np.random.default_rng(1))
    >>> round(bound.log_value, 4)
    -4.0863
    """
    check_table(table)
    check_bound(runs, delta, bins)
    if isinstance(method, SMC) and method.schedule is None:
        raise ValueError(f"{CHOSEN}: give SMC a schedule, such as Linear(100)")
    clock, log_prior_z = Clock(), log_prior_sum(table)  # refused at once, not after the runs
    draws = anneal_orders(
        table,
        runs=runs,
        rng=rng,
        method=method,
        checkpoint=checkpoint,
        progress=progress,
        executor=executor,
    )
    require_runs(np.unique(draws.groups).size, bins)
    bound = _lower(draws, log_prior_z, delta, bins)
    return replace(bound, run=replace(bound.run, seconds=clock.seconds))


@checked
def estimate_upper_bound(
    target: OrderPosterior | ScoreTable,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    start: ArrayLike | None = None,
    method: AIS = DEFAULT,
    delta: float = 0.05,
    bins: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Bound ln p(D) from above, with probability 1 - delta, by annealing in reverse.

    Each run starts at an exact draw from the posterior and moves through the schedule from 1 to 0;
    the mean of 1/w is 1/Z then, and Markov's inequality bounds it [GrosseEtAl2015].

    From an `OrderPosterior` each run has an exact draw of its own. The evidence is known exactly
    there: what the bound shows is how tight such a certificate is. From a `ScoreTable` of any size
    all runs begin at `start`, the one exact draw that simulated data come with (`sample_joint`).
    They depend on each other through it, so they make a single bin, and the bound holds with
    probability 1 - delta over `start` and the runs together.

    Parameters
    ----------
    target : OrderPosterior, or ScoreTable of simulated data
    runs, rng, checkpoint, progress, executor : as in `anneal_orders`
    start : (n,) an order drawn from the very posterior of the table, `Joint.order`; with a
        ScoreTable only. An order found by search or by a chain gives no bound
    method : AIS
    delta : as in `upper_bound`
    bins : as in `upper_bound`; 9 from a posterior, 1 from a start

    Raises
    ------
    Stopped
        If `progress` returned False before there was a run for each of the bins.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> bound = estimate_upper_bound(posterior, runs=9, rng=np.random.default_rng(1))
    >>> round(bound.log_value, 4)
    -3.4206
    """
    bins = _bins_of(target, start, bins)
    check_bound(runs, delta, bins)
    (runs,) = check_counts(runs=runs)
    check_generator(rng)
    if not isinstance(method, AIS):
        raise ValueError(f"method={method!r}: only runs of AIS() go in reverse")
    clock, seed = Clock(), seed_of(rng)
    if checkpoint is not None:
        Checkpoint(checkpoint, {})  # refuses a place that can hold no file
    require_memory((target.table if isinstance(target, OrderPosterior) else target).n, runs)
    if isinstance(target, OrderPosterior):
        table, log_prior_z = target.table, target.log_z - target.log_evidence
        starts = sample_orders(target, draws=runs, rng=rng).values[0].copy()
    else:
        table, log_prior_z = target, log_prior_sum(target)
        starts = np.tile(_checked_start(start, table), (runs, 1))
    identity = {**run_identity(table, runs, seed, method), "starts": fingerprint(starts)}
    file = Checkpoint.at(checkpoint, identity)
    done = anneal(table, method, starts, rng.spawn(runs), -1, file, progress, executor)
    require_runs(done.log_w.size, bins)
    # In reverse E[1/w] = n!/Z, so ln Z is about ln n! - ln mean(1/w); less ln Z without data.
    means = math.lgamma(table.n + 1) - log_prior_z - bin_means(-done.log_w, delta, bins)
    settings = {"runs": runs, "method": repr(method), "max_parents": table.max_parents}
    run = Run("reverse AIS", settings, seed, clock.seconds, stopped=done.log_w.size < runs)
    log_value = float(means.max()) - math.log(delta) / bins
    return markov_bound(log_value, "upper_bound", means, delta, run)


def check_unbiased(draws: Draws, table: ScoreTable, /) -> None:
    """Raise a ValueError unless the mean weight of the draws is Z of the table."""
    check_draws(draws, table)
    if "beta" not in draws.stats or "tempered" in draws.traces:
        raise ValueError(
            f"the weights of draws by {draws.run.method or 'other means'} do not average to Z, and "
            "bound nothing: draw with anneal_orders"
        )
    if draws.stats["beta"].ndim > 1:
        raise ValueError(f"{CHOSEN}: anneal with AIS(), or SMC(schedule=Linear(100))")
    if table.names != draws.names:
        raise ValueError("the table is of other variables than the draws: pass the one they are of")


def _bins_of(target: object, start: object, bins: int | None) -> int:
    """As many bins as there may be, or a ValueError when target and start do not fit."""
    if isinstance(target, OrderPosterior):
        if start is not None:
            raise ValueError("a posterior has exact draws of its own: leave start= out")
        return BINS if bins is None else bins
    if not isinstance(target, ScoreTable):
        raise ValueError(f"{type(target).__name__}: pass an OrderPosterior or a ScoreTable")
    if start is None:
        raise ValueError(
            "a table needs start=, an exact draw of the posterior of its data, which only "
            "simulated data have: sample_joint(...).order. Or pass the order_posterior"
        )
    if bins not in (None, 1):
        raise ValueError(
            f"bins={bins}: all runs depend on the one start, so they make a single bin. "
            "Leave bins= out"
        )
    return 1


def _checked_start(start: ArrayLike | None, table: ScoreTable) -> NDArray[np.int64]:
    order, n = np.asarray(start), table.n
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"start={start!r} is no order of the nodes 0..{n - 1}")
    order = order.astype(np.int64)
    check_weight(table, order, np.zeros(1))
    return order
