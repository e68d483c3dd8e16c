"""Bounds from both sides on what weights average to, by Markov's inequality."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.results import Estimate, Kind, Run
from bnlab.runs import Stopped, check_counts, real

Floats = NDArray[np.float64]

BINS = 9


def lower_bound(log_weights: ArrayLike, /, *, delta: float = 0.05, bins: int = BINS) -> Estimate:
    """A bound below ln E[w] that holds with probability 1 - delta; w independent, not negative.

    delta**(1/bins) times the least of the means of `bins` equal parts of the weights, by Markov's
    inequality [NiinimakiKoivisto2013, Theorem 1].

    Parameters
    ----------
    log_weights : (..., T), nats; of `anneal_orders` with AIS they bound log_z
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
    means = bin_means(log_weights, delta, bins)
    return bound(float(means.min()) + math.log(delta) / bins, "lower_bound", means, delta)


def upper_bound(log_weights: ArrayLike, /, *, delta: float = 0.05, bins: int = BINS) -> Estimate:
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
    means = -bin_means(-np.asarray(log_weights, np.float64), delta, bins)
    return bound(float(means.max()) - math.log(delta) / bins, "upper_bound", means, delta)


def bin_means(log_weights: ArrayLike, delta: float, bins: int) -> Floats:
    """ln of the mean weight of each of `bins` parts, in the order of the runs.

    Examples
    --------
    >>> bin_means(np.log([1.0, 3.0, 5.0]), 0.05, 1).round(4)  # ln 3
    array([1.0986])
    """
    flat = np.asarray(log_weights, np.float64).ravel()
    check_bound(flat.size, delta, bins)
    if not (flat < math.inf).all():  # nan, too
        raise ValueError("a log weight is nan or infinite: nothing is bounded by it")
    return np.array(
        [np.logaddexp.reduce(part) - math.log(part.size) for part in np.array_split(flat, bins)]
    )


def check_bound(runs: int, delta: float, bins: int) -> None:
    """Raise a ValueError unless delta is a probability and there is a run for each of the bins.

    Examples
    --------
    >>> check_bound(runs=90, delta=0.05, bins=9)
    """
    if not 0 < real(delta) < 1:
        raise ValueError(f"delta={delta}: the probability of a failing bound is between 0 and 1")
    check_counts(bins=bins, runs=runs)
    if runs < bins:
        raise ValueError(f"runs={runs} cannot fill bins={bins}: take more runs, or fewer bins")


def require_runs(done: int, bins: int) -> None:
    """Raise Stopped unless so many runs fill the bins.

    Examples
    --------
    >>> require_runs(9, bins=9)
    """
    if done < bins:
        raise Stopped(f"stopped after {done} runs: a bound with bins={bins} needs as many")


def bound(
    log_value: float, kind: Kind, means: Floats, delta: float, run: Run | None = None
) -> Estimate:
    """The record of a bound that fails with probability delta.

    Examples
    --------
    >>> bound(-3.0, "lower_bound", np.zeros(1), 0.05)
    log p = -3.00 +/- 0.00 (Markov bound, lower_bound, 0 s)
    """
    return Estimate(log_value, 0.0, kind, 1 - delta, means, run or Run("Markov bound"))
