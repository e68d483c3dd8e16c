"""Bounds from both sides, by Markov's inequality: on the evidence, on probabilities of edges."""

import math
import os
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnlab.annealing.evidence import group_means, log_prior_of
from bnlab.annealing.runs import AIS, DEFAULT, SMC, anneal, anneal_orders, run_bytes, run_identity
from bnlab.checkpoints import Checkpoint
from bnlab.checks import Count, Floats, Ints, Share, checked, frozen
from bnlab.exact import OrderPosterior, log_prior_sum
from bnlab.graphs import predecessor_masks
from bnlab.results import Draws, Estimate, PriorKind, Record, Run
from bnlab.running import Clock, Executor, Progress, seed_of, spawn
from bnlab.sampling.dags_given_orders import check_orders
from bnlab.sampling.independent import edges_given, families_by_weight
from bnlab.sampling.order_mcmc import sample_orders
from bnlab.sampling.order_target import check_weight
from bnlab.scores import ScoreTable
from bnlab.weights import BINS, check_bound, markov_bound, require_runs, safe_log

CHOSEN = "weights along temperatures that the runs chose themselves are biased, and bound nothing"


@checked
def lower_bound_from(
    draws: Draws, /, *, table: ScoreTable, delta: Share = 0.05, bins: Count = BINS
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
    check_unbiased(draws)
    shift = -log_prior_of(draws, table)
    return markov_bound(group_means(draws), "lower_bound", delta, bins, shift=shift, run=draws.run)


@checked
def estimate_lower_bound(
    table: ScoreTable,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    method: AIS | SMC = DEFAULT,
    delta: Share = 0.05,
    bins: Count = BINS,
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
    check_bound(runs, bins)
    if isinstance(method, SMC) and method.schedule is None:
        raise ValueError(f"{CHOSEN}: give SMC a schedule, such as Linear(100)")
    clock, log_prior_z = Clock(), log_prior_sum(table)  # refused at once, not after the runs
    where: dict[str, Any] = {"checkpoint": checkpoint, "progress": progress, "executor": executor}
    draws = anneal_orders(table, runs=runs, rng=rng, method=method, **where)
    means, run = group_means(draws), replace(draws.run, seconds=clock.seconds)
    require_runs(means.size, bins)
    return markov_bound(means, "lower_bound", delta, bins, shift=-log_prior_z, run=run)


@checked
def estimate_upper_bound(
    target: OrderPosterior | ScoreTable,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    start: ArrayLike | None = None,
    method: AIS = DEFAULT,
    delta: Share = 0.05,
    bins: Count | None = None,
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
    check_bound(runs, bins)
    clock, seed = Clock(), seed_of(rng)
    table = target.table if isinstance(target, OrderPosterior) else target
    order = np.empty(0, np.int64) if start is None else _checked_start(start, table)
    identity = {**run_identity(table, runs, seed, method), "start": order}
    file = Checkpoint.at(checkpoint, identity)
    rngs = spawn(rng, runs, run_bytes(table.n))
    if isinstance(target, OrderPosterior):
        log_prior_z = target.log_z - target.log_evidence
        starts = sample_orders(target, draws=runs, rng=rng).values[0].copy()
    else:
        log_prior_z, starts = log_prior_sum(table), np.tile(order, (runs, 1))
    done = anneal(table, method, rngs, starts, file, progress, executor)
    require_runs(done.log_w.size, bins)
    settings = {"runs": runs, "method": repr(method), "max_parents": table.max_parents}
    run = Run("reverse AIS", settings, seed, clock.seconds, stopped=done.log_w.size < runs)
    # In reverse E[1/w] = n!/Z, so ln Z is about ln n! - ln mean(1/w); less ln Z without data.
    shift = math.lgamma(table.n + 1) - log_prior_z
    return markov_bound(done.log_w, "upper_bound", delta, bins, shift=shift, run=run)


def check_unbiased(draws: Draws, /) -> None:
    """Raise a ValueError unless the mean weight of the draws is Z."""
    if "beta" not in draws.stats or "tempered" in draws.traces:
        raise ValueError(
            f"the weights of draws by {draws.run.method or 'other means'} do not average to Z, and "
            "bound nothing: draw with anneal_orders"
        )
    if draws.stats["beta"].ndim > 1:
        raise ValueError(f"{CHOSEN}: anneal with AIS(), or SMC(schedule=Linear(100))")


def _bins_of(target: object, start: object, bins: int | None) -> int:
    """As many bins as there may be, or a ValueError when target and start do not fit."""
    if isinstance(target, OrderPosterior):
        if start is not None:
            raise ValueError("a posterior has exact draws of its own: leave start= out")
        return BINS if bins is None else bins
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


def _checked_start(start: ArrayLike, table: ScoreTable) -> Ints:
    order, n = np.asarray(start), table.n
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"start={start!r} is no order of the nodes 0..{n - 1}")
    order = order.astype(np.int64)
    check_weight(table, order, np.zeros(1))
    return order


@frozen()
class EdgeBounds(Record):
    """Intervals for the posterior probabilities of edges. Make them with `bound_edges`.

    Attributes
    ----------
    low, high : float64 (n, n), low[u, v] <= p(u -> v | D) <= high[u, v] with probability
        `confidence`, for each edge by itself
    confidence : float
    prior : "order-modular"
    run : Run

    Examples
    --------
    >>> EdgeBounds(np.zeros((2, 2)), np.array([[0, 0.4], [0.2, 0]]), confidence=0.9)
    EdgeBounds(2 variables, mean width 0.300, each with probability 0.9, order-modular)
    """

    low: Floats
    high: Floats
    confidence: float
    prior: PriorKind = "order-modular"
    run: Run = field(default_factory=lambda: Run(""))

    def __repr__(self) -> str:
        n = len(self.low)
        width = (self.high - self.low).sum() / max(1, n * (n - 1))
        return (
            f"EdgeBounds({n} variables, mean width {width:.3f}, each with probability "
            f"{self.confidence:g}, {self.prior})"
        )


@checked
def bound_edges(
    draws: Draws, /, *, table: ScoreTable, upper: Estimate, delta: Share = 0.05, bins: Count = BINS
) -> EdgeBounds:
    """Bound p(u -> v | D) on both sides, by annealed orders and an upper bound on ln p(D).

    Theorem 1 of [NiinimakiKoivisto2013] bounds from below the mean of w p(u -> v | order, D), which
    is Z p(u -> v | D), and likewise the mean of w (1 - p(u -> v | order, D)). Divided by the upper
    bound on Z, the first is the low end of the interval and the second is 1 less the high end. Each
    fails with probability delta / 2 at most, so an interval fails with probability delta and that
    of the upper bound failing, together, at most. All of c intervals hold at once with probability
    upper.confidence - delta if delta / c is asked for: the upper bound is one for all.

    With L the lower bound on Z from the same draws and U the upper one, an interval is about
    1 - L / U wide: more runs make more bins possible, more steps more even weights.

    Parameters
    ----------
    draws : Draws over orders by `anneal_orders`, with AIS or with SMC under a given schedule
    table : ScoreTable that they come from
    upper : Estimate of ln p(D) for the same table and prior, an upper bound or exact
    delta : the probability that an interval fails by the draws, at most
    bins : as in `lower_bound`

    Returns
    -------
    EdgeBounds
        low may exceed high where bounds have failed.

    Raises
    ------
    ValueError
        If the mean weight of the draws is not Z, `upper` is no such bound, or an order has a
        weight and no DAG.

    Examples
    --------
    >>> from bnlab import BDeu, Data, anneal_orders, order_posterior, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = anneal_orders(posterior.table, runs=90, rng=np.random.default_rng(1))
    >>> exact = Estimate(posterior.log_evidence, 0.0, "exact")
    >>> bound_edges(draws, table=posterior.table, upper=exact)  # p = 1/3, both ways
    EdgeBounds(2 variables, mean width 0.558, each with probability 0.95, order-modular)
    """
    clock, table = Clock(), check_orders(draws, table)
    check_unbiased(draws)
    if upper.kind not in ("upper_bound", "exact"):
        raise ValueError(
            f"upper is {upper.kind}: pass a bound from estimate_upper_bound, or an exact value"
        )
    check_bound(np.unique(draws.groups).size, bins)
    if delta >= upper.confidence:
        raise ValueError(
            f"delta={delta} and an upper bound of confidence {upper.confidence:g} leave none: take "
            "a smaller delta"
        )
    bin_of, log_share = _bins(draws.groups, bins)
    log_z = upper.log_value + log_prior_sum(table)
    log_terms = draws.log_weight.ravel() + log_share
    log_terms[np.exp(np.minimum(log_terms - log_z, 0.0)) == 0] = -math.inf  # no DAG, or hardly any
    present, absent = _least_means(draws, table, bin_of, log_terms)
    log_scale = math.log(delta / 2) / bins - log_z
    low = np.exp(np.minimum(present + log_scale, 0.0))
    high = 1 - np.exp(np.minimum(absent + log_scale, 0.0))
    np.fill_diagonal(high, 0.0)
    settings = {"delta": delta, "bins": bins, **draws.run.settings}
    run = Run(f"bounds from {draws.run.method}", settings, draws.run.seed, clock.seconds)
    return EdgeBounds(low, high, upper.confidence - delta, "order-modular", run)


def _bins(groups: Ints, bins: int) -> tuple[Ints, Floats]:
    """The bin of each draw, and ln of its share in the mean over the groups of its bin."""
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    in_bin = np.array([part.size for part in np.array_split(sizes, bins)])
    bin_of_group = np.repeat(np.arange(bins), in_bin)
    log_share = -np.log(sizes * in_bin[bin_of_group])
    return bin_of_group[group.ravel()], log_share[group.ravel()]


def _least_means(
    draws: Draws, table: ScoreTable, bin_of: Ints, log_terms: Floats
) -> tuple[Floats, Floats]:
    """ln of the least mean of any bin, of w p(u -> v | order) and of w (1 - p): [u, v] each."""
    n = table.n
    masks = predecessor_masks(draws.values.reshape(-1, n))
    families = [families_by_weight(table, v) for v in range(n)]
    present, absent = np.full((2, n, n), math.inf)
    for b in range(bin_of.max() + 1):
        rows = bin_of == b
        top = log_terms[rows].max()
        if top == -math.inf:
            present[:] = absent[:] = -math.inf
            continue
        terms = np.exp(log_terms[rows] - top)
        means = edges_given(families, masks[rows], terms)
        np.minimum(present, top + safe_log(means), out=present)
        np.minimum(absent, top + safe_log(terms.sum() - means), out=absent)
    return present, absent
