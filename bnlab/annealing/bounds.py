"""Bounds on the evidence from both sides, by Markov's inequality."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.annealing.methods import AIS, DEFAULT
from bnlab.annealing.runs import anneal, anneal_orders
from bnlab.exact import OrderPosterior, log_prior_sum
from bnlab.results import Estimate, Kind, Run
from bnlab.runs import Clock, Progress, Stopped, check_counts, check_generator, seed_of
from bnlab.sampling import Executor, OrderWalker, sample_orders
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]


def lower_bound(log_weights: ArrayLike, /, *, delta: float = 0.05, bins: int = 9) -> Estimate:
    """A bound below ln E[w] that holds with probability 1 - delta; w independent, not negative.

    delta**(1/bins) times the least of the means of `bins` equal parts of the weights, by Markov's
    inequality [NiinimakiKoivisto2013, Theorem 1].

    Parameters
    ----------
    log_weights : (..., T), nats; of `anneal_orders` they bound log_z
    delta : the probability that the bound fails, at most
    bins : from 1 to T

    Returns
    -------
    Estimate
        kind "lower_bound"; trace (bins,) holds ln of the means of the parts.

    Examples
    --------
    >>> lower_bound(np.zeros(90))  # 0.05**(1/9) = 0.717
    log p = -0.33 +/- 0.00 (Markov bound, lower_bound, 0 s)
    """
    means = _bin_means(log_weights, delta, bins)
    return _bound(float(means.min()) + math.log(delta) / bins, "lower_bound", means, delta)


def upper_bound(log_weights: ArrayLike, /, *, delta: float = 0.05, bins: int = 9) -> Estimate:
    """A bound above -ln E[1/w] that holds with probability 1 - delta; w independent, positive.

    Markov's inequality for 1/w, as `lower_bound`. Weights of annealing runs in reverse, from exact
    draws of the posterior, have E[1/w] = 1/Z [GrosseEtAl2015].

    Parameters
    ----------
    log_weights, delta, bins : as in `lower_bound`

    Returns
    -------
    Estimate
        kind "upper_bound"; trace (bins,) holds -ln of the means of 1/w in the parts.

    Examples
    --------
    >>> upper_bound(np.zeros(90))
    log p = 0.33 +/- 0.00 (Markov bound, upper_bound, 0 s)
    """
    means = -_bin_means(-np.asarray(log_weights, np.float64), delta, bins)
    return _bound(float(means.max()) - math.log(delta) / bins, "upper_bound", means, delta)


def estimate_lower_bound(
    table: ScoreTable,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    method: AIS = DEFAULT,
    delta: float = 0.05,
    bins: int = 9,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """A bound below ln p(D) that holds with probability 1 - delta, by annealing.

    Parameters
    ----------
    table, runs, rng, method, progress, executor : as in `anneal_orders`
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
    _check_bound(runs, delta, bins)
    clock, log_prior_z = Clock(), log_prior_sum(table)
    draws = anneal_orders(
        table, runs=runs, rng=rng, method=method, progress=progress, executor=executor
    )
    _require_runs(draws.log_weight.size, bins)
    means = _bin_means(draws.log_weight, delta, bins) - log_prior_z
    log_value = float(means.min()) + math.log(delta) / bins
    return _bound(log_value, "lower_bound", means, delta, replace(draws.run, seconds=clock.seconds))


def estimate_upper_bound(
    posterior: OrderPosterior,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    method: AIS = DEFAULT,
    delta: float = 0.05,
    bins: int = 9,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """A bound above ln p(D) that holds with probability 1 - delta, by annealing in reverse.

    Each run starts at an exact draw from the posterior and moves through the schedule from 1 to 0;
    the mean of 1/w is 1/Z then, and Markov's inequality bounds it [GrosseEtAl2015]. The evidence is
    known exactly here: what the bound shows is how tight such a certificate is.

    Parameters
    ----------
    posterior : OrderPosterior
    runs, rng, method, progress, executor : as in `anneal_orders`
    delta, bins : as in `upper_bound`

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
    _check_bound(runs, delta, bins)
    check_generator(rng)
    clock, seed = Clock(), seed_of(rng)
    table = posterior.table
    starts = sample_orders(posterior, draws=runs, rng=rng).values[0].copy()
    rngs = rng.spawn(runs)
    done = anneal(OrderWalker.of(table), method, starts, rngs, -1, progress, executor)
    _require_runs(done.log_w.size, bins)
    shift = math.lgamma(table.n + 1) - (posterior.log_z - posterior.log_evidence)
    means = -_bin_means(-done.log_w, delta, bins) + shift
    settings = {"runs": runs, "method": repr(method), "max_parents": table.max_parents}
    run = Run("reverse AIS", settings, seed, clock.seconds, stopped=done.log_w.size < runs)
    log_value = float(means.max()) - math.log(delta) / bins
    return _bound(log_value, "upper_bound", means, delta, run)


def _bin_means(log_weights: ArrayLike, delta: float, bins: int) -> Floats:
    """ln of the mean weight of each of `bins` parts, in the order of the runs."""
    flat = np.asarray(log_weights, np.float64).ravel()
    _check_bound(flat.size, delta, bins)
    return np.array(
        [np.logaddexp.reduce(part) - math.log(part.size) for part in np.array_split(flat, bins)]
    )


def _check_bound(runs: int, delta: float, bins: int) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta}: the probability of a failing bound is between 0 and 1")
    check_counts(bins=bins, runs=runs)
    if runs < bins:
        raise ValueError(f"runs={runs} cannot fill bins={bins}: take more runs, or fewer bins")


def _require_runs(done: int, bins: int) -> None:
    if done < bins:
        raise Stopped(f"stopped after {done} runs: a bound with bins={bins} needs as many")


def _bound(
    log_value: float, kind: Kind, means: Floats, delta: float, run: Run | None = None
) -> Estimate:
    return Estimate(log_value, 0.0, kind, 1 - delta, means, run or Run("Markov bound"))
