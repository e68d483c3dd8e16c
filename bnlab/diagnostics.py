"""How far an estimate is from a reference, and what chains and weights are worth."""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Floats, checked
from bnlab.results import Draws
from bnlab.weights import heaviest

LEAST_DRAWS = 4  # of a chain, so that each half has a variance


@checked
def sad(estimate: ArrayLike, reference: ArrayLike, /) -> float:
    """Sum absolute differences over the ordered pairs u != v [EatonMurphy2007, HeTianWu2016].

    Parameters
    ----------
    estimate, reference : (n, n) matrices of probabilities; the diagonal is left out

    Examples
    --------
    >>> sad([[0.0, 0.5], [0.25, 0.0]], [[0.0, 0.75], [0.25, 0.0]])
    0.25
    """
    a, b = _off_diagonal(estimate, reference)
    return float(np.abs(a - b).sum())


@checked
def max_error(estimate: ArrayLike, reference: ArrayLike, /) -> float:
    """Return the largest absolute difference over the ordered pairs u != v.

    Examples
    --------
    >>> max_error([[0.0, 0.5], [0.25, 0.0]], [[0.0, 0.75], [0.25, 0.0]])
    0.25
    """
    a, b = _off_diagonal(estimate, reference)
    return float(np.abs(a - b).max(initial=0.0))


@checked
def roc(probabilities: ArrayLike, truth: ArrayLike, /) -> tuple[Floats, Floats]:
    """Return rates of false and true positives as the threshold on the probabilities goes down.

    Over the ordered pairs u != v, edges or paths [EatonMurphy2007, fig. 4 and 5]. Pairs of equal
    probability are called positive at once, so ties make a slope. For edges of either direction,
    as in their figure 4, give p + p.T and truth | truth.T.

    Parameters
    ----------
    probabilities : (n, n), a higher one where a pair is more likely; the diagonal is left out
    truth : bool (n, n), which pairs are there. Of a known network, graphs.to_adjacency(dag) for
        edges, graphs.to_adjacency(graphs.ancestors(dag)) for paths

    Returns
    -------
    tuple of float64 (points,)
        The shares of absent pairs and of present pairs that are called positive, from 0 to 1, one
        point for each distinct probability, after the point (0, 0).

    Raises
    ------
    ValueError
        If shapes differ, a probability is nan, truth is not boolean, or no pair is present, or none
        absent.

    Examples
    --------
    >>> roc([[0, 0.9], [0.4, 0]], [[False, True], [False, False]])
    (array([0., 0., 1.]), array([0., 1., 1.]))
    """
    scores, present = _off_diagonal(probabilities, truth)
    if present.dtype != np.bool_:
        raise ValueError(
            f"truth is of type {present.dtype}: give booleans, as by truth.astype(bool)"
        )
    if present.all() or not present.any():
        what = "absent" if present.any() else "present"
        raise ValueError(f"no pair is {what} in truth: a rate of {what} pairs does not exist")
    thresholds, place = np.unique(-scores, return_inverse=True)
    positives = np.bincount(place, present, thresholds.size)
    negatives = np.bincount(place, ~present, thresholds.size)
    false = np.append(0.0, np.cumsum(negatives)) / negatives.sum()
    true = np.append(0.0, np.cumsum(positives)) / positives.sum()
    return false, true


@checked
def auc(probabilities: ArrayLike, truth: ArrayLike, /) -> float:
    """Return the area under the curve of `roc`, by the trapezoid rule.

    It is the probability that a present pair has a higher probability than an absent one, ties
    counting half: 1 is perfect, 0.5 no better than chance.

    Parameters
    ----------
    probabilities, truth : as in `roc`

    Examples
    --------
    >>> auc([[0, 0.9], [0.4, 0]], [[False, True], [False, False]])
    1.0
    """
    false, true = roc(probabilities, truth)
    return float(np.diff(false) @ (true[1:] + true[:-1]) / 2)


@checked
def rhat(chains: Draws | ArrayLike, /) -> float:
    """Return rank-normalised split R-hat, the larger of bulk and tail [VehtariEtAl2021, sec. 4].

    Near 1 where the halves of all chains agree in location and in spread; [VehtariEtAl2021] asks
    for less than 1.01. It cannot see a peak that no chain has met. It is 1 if all values are equal,
    and inf if each half of a chain is constant and they differ.

    Parameters
    ----------
    chains : (chains, draws) values of one quantity, at least 2 x 4 and finite; of Draws without
        weights, their log_target

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(4, 1000))
    >>> round(rhat(x), 2), round(rhat(x + [[0], [0], [0], [3]]), 2)
    (1.0, 1.47)
    """
    values = _values(chains)
    if len(values) < 2:
        raise ValueError("1 chain: R-hat compares chains, run at least 2 with chains=")
    halves = _halves(values)
    if ((halves == halves.min()) | (halves == halves.max())).all():
        return _plain_rhat(halves)  # normal scores of two values are these, scaled and shifted
    folded = np.abs(halves - np.median(halves))
    return max(_plain_rhat(_normal_scores(halves)), _plain_rhat(_normal_scores(folded)))


@checked
def ess(chains: Draws | ArrayLike, /) -> float:
    """Return the effective sample size: independent draws whose mean would be as accurate.

    The mean of the values has a standard error of about sd / sqrt(ess). By the autocorrelations of
    the halves of all chains, summed over Geyer's initial monotone sequence [Geyer1992, sec. 3.3],
    [VehtariEtAl2021, sec. 3.2] and the first even lag beyond it, with the stopping rule and the
    limits of ArviZ: the last three lags of a half do not count, and of N draws the size is at most
    N log10(N). Chains that differ count for little. It is the number of draws if all values are
    equal.

    Parameters
    ----------
    chains : as in `rhat`, of one chain or more

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(4, 1000))
    >>> round(ess(x)), round(ess(np.repeat(x, 5, axis=1)))
    (4040, 4018)
    """
    halves = _halves(_values(chains))
    if halves.min() == halves.max():
        return float(halves.size)
    length = halves.shape[1]
    covariances = _autocovariances(halves)
    within = covariances[0] * length / (length - 1)
    total = within * (length - 1) / length + halves.mean(axis=1).var(ddof=1)
    rho = 1 - (within - covariances) / total
    rho[0] = 1
    pairs = rho[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    last = max(0, (length - 3) // 2)
    stop = int(np.append(pairs[:last] > 0, False).argmin())  # the first pair that is not positive
    beyond = rho[2 * stop] if pairs[stop] >= 0 else max(rho[2 * stop], 0)
    tau = -1 + 2 * np.minimum.accumulate(pairs[:stop]).sum() + beyond
    return float(halves.size / max(tau, 1 / math.log10(halves.size)))


@checked
def weights_ess(log_weight: ArrayLike, /) -> float:
    """Return the effective number of weighted draws, (sum w)**2 / sum w**2 [KongLiuWong1994].

    From 1, where one weight outweighs all others, to their number, where all are equal.

    Parameters
    ----------
    log_weight : array of any shape, nats, not all -inf; one entry for each independent draw, so of
        draws that share a weight one of each group

    Examples
    --------
    >>> weights_ess(np.log([1.0, 1.0, 2.0]))  # 16 / 6
    2.6666666666666665
    """
    values = np.asarray(log_weight, np.float64)
    weights = np.exp(values - heaviest(values))
    return float(weights.sum() ** 2 / (weights**2).sum())


def _values(chains: Draws | ArrayLike) -> Floats:
    """(chains, draws), checked."""
    if isinstance(chains, Draws):
        if chains.log_weight.min() < chains.log_weight.max():
            raise ValueError("the draws have weights: see weights_ess(draws.log_weight)")
        chains = chains.log_target
    values = np.asarray(chains, np.float64)
    if values.ndim != 2 or not len(values):
        raise ValueError(f"values of shape {values.shape}: give (chains, draws)")
    if values.shape[1] < LEAST_DRAWS:
        raise ValueError(
            f"draws={values.shape[1]}: at least {LEAST_DRAWS} of each chain are needed"
        )
    if not np.isfinite(values).all():
        raise ValueError("nan or infinity among the values: nothing can be said of them")
    return values


def _halves(values: Floats) -> Floats:
    """(2 chains, draws // 2); the middle one of oddly many draws is left out."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, -half:]])


def _normal_scores(values: Floats) -> Floats:
    """Normal quantiles of (rank - 3/8) / (size + 1/4); equal values share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    inverse = NormalDist().inv_cdf
    scores = np.array([inverse(p) for p in (ranks - 3 / 8) / (values.size + 1 / 4)])
    return scores[place].reshape(values.shape)


def _plain_rhat(values: Floats) -> float:
    """Without ranks or splitting [VehtariEtAl2021, sec. 3.1]."""
    if (np.ptp(values, axis=1) == 0).all():
        return 1.0 if np.ptp(values) == 0 else math.inf
    length = values.shape[1]
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1)
    return math.sqrt((length - 1) / length + between / within)


def _autocovariances(values: Floats) -> Floats:
    """(draws,) by lag, the mean over chains of sums over pairs divided by draws; by FFT."""
    length = values.shape[1]
    deviations = values - values.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(deviations, 2 * length)) ** 2
    return np.asarray(np.fft.irfft(power)[:, :length].mean(axis=0) / length)


def _off_diagonal(estimate: ArrayLike, other: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """The entries of two matrices (n, n) for the ordered pairs u != v."""
    a, b = np.asarray(estimate, np.float64), np.asarray(other)
    if a.shape != b.shape or a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"two (n, n) matrices are compared; got shapes {a.shape} and {b.shape}")
    pairs = ~np.eye(len(a), dtype=bool)
    if np.isnan(a[pairs]).any() or np.isnan(b[pairs]).any():
        raise ValueError("nan among the probabilities: nothing to compare")
    return a[pairs], b[pairs]
