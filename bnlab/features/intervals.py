"""Means of features over draws, with their errors and intervals."""

import math
from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from bnlab.checks import Count, Floats, Ints, Range, Share, checked
from bnlab.diagnostics import LEAST_DRAWS, ess, rhat, weights_ess
from bnlab.kernels import dags as kernels
from bnlab.results import Draws, FeatureEstimate, Interval
from bnlab.weights import heaviest

MAX_DEGREES = 1000  # of Student's t; its interval is 0.1 % wider than the normal one there
ROUNDING = 1e-9  # of an effective number of groups that is whole


@checked
def hoeffding_draws(eps: Annotated[float, Range(1e-9, 1, "[)")], delta: Share, /) -> int:
    """Return how many draws keep the error below eps with probability 1 - delta.

    T >= ln(2 / delta) / (2 eps**2), for any feature [HeTianWu2016, Corollary 4 (iv)].

    Examples
    --------
    >>> hoeffding_draws(0.02, 0.05)
    4612
    """
    return math.ceil((math.log(2) - math.log(delta)) / (2 * eps * eps))


@checked
def hoeffding_margin(draws: Count, delta: Share, /) -> float:
    """Return eps, which the error of so many independent draws exceeds with probability <= delta.

    eps = sqrt(ln(2 / delta) / (2 draws)) [Hoeffding1963], the inverse of `hoeffding_draws`. For c
    probabilities at once, ask for delta / c.

    Examples
    --------
    >>> round(hoeffding_margin(4612, 0.05), 4)
    0.02
    """
    return math.sqrt((math.log(2) - math.log(delta)) / (2 * draws))


def mean_of(draws: Draws, values: Floats, delta: float, /) -> FeatureEstimate:
    """Weighted mean of `values` (T,) within 0..1, one per draw, with its error and interval."""
    means = means_of(draws, values[:, None], delta)
    value, stderr, low, high = (float(array[0]) for array in means[:4])
    of_chains = [None if array is None else float(array[0]) for array in (means.rhat, means.ess)]
    about = means.confidence, values.size, draws.prior, means.interval, means.groups
    return FeatureEstimate(value, stderr, low, high, *about, *of_chains)


class Means(NamedTuple):
    """Weighted means of many features, with errors and intervals; None what only chains have."""

    value: Floats
    stderr: Floats
    low: Floats
    high: Floats
    confidence: float
    interval: Interval
    groups: float
    rhat: Floats | None = None
    ess: Floats | None = None


def means_of(draws: Draws, values: Floats, delta: float, /) -> Means:
    """`mean_of` of many features: values (T, P) within 0..1."""
    squares = values * values
    means = _means(
        draws,
        lambda weights, which: weights @ values[which],
        lambda weights, which: weights @ squares[which],
        delta,
    )
    return _diagnosed(draws, means, lambda place: values[:, place[0]])


def pair_sums(masks: Ints, weights: Floats, /) -> Floats:
    """Sums (n, n), [u, v], of the weights (T,) of the rows of masks (T, n) whose v has u."""
    out = np.empty((masks.shape[1], masks.shape[1]))
    kernels.pair_sums(np.ascontiguousarray(masks), weights, out)
    return out


def pair_means(draws: Draws, masks: Ints, delta: float, /) -> Means:
    """`mean_of` of the bits of masks (T, n), one row per draw: arrays (n, n) of [u, v]."""

    def total(weights: Floats, which: Ints | slice) -> Floats:
        return pair_sums(masks[which], weights)

    means = _means(draws, total, total, delta)
    return _diagnosed(draws, means, lambda pair: (masks[:, pair[1]] >> pair[0] & 1).astype(float))


def _diagnosed(draws: Draws, means: Means, trace: Callable[[tuple[int, ...]], Floats]) -> Means:
    """The means with R-hat and ESS of chains, the worse of a feature's `trace` (T,) and of ln p."""
    shape = draws.log_weight.shape
    if draws.independent or "group" in draws.traces:
        return means
    rhats, sizes = np.full((2, *means.value.shape), math.nan)
    if shape[0] > 1 and shape[1] >= LEAST_DRAWS and np.isfinite(draws.log_target).all():
        rhats[...], sizes[...] = rhat(draws.log_target), ess(draws.log_target)
        if np.ptp(draws.log_weight):
            weights = np.exp(draws.log_weight - draws.log_weight.max())
            np.maximum(rhats, rhat(weights), out=rhats)
            np.minimum(sizes, weights_ess(draws.log_weight), out=sizes)
        for place in np.ndindex(means.value.shape):
            values = trace(place).reshape(shape)
            if values.min() < values.max():
                rhats[place] = max(rhats[place], rhat(values))
                sizes[place] = min(sizes[place], ess(values))
    return means._replace(rhat=rhats, ess=sizes)


Total = Callable[[Floats, Ints | slice], Floats]  # weighted sums over some of the draws


def _means(draws: Draws, total: Total, total_squares: Total, delta: float) -> Means:
    """Means and intervals of what `total` sums up, and `total_squares` the squares of."""
    weights = weights_of(draws)
    if np.ptp(weights):
        value: Floats = np.minimum(1.0, total(weights, slice(None)))
    else:  # shares of counts, which no order of adding rounds differently
        value = total(np.ones(weights.size), slice(None)) / weights.size
    mass = mass_known(draws)
    if mass is not None:
        low, unknown = mass * value, np.full(value.shape, math.inf)
        return Means(value, unknown, low, low + (1 - mass), 1.0, "sound", 1.0)
    variance = np.maximum(0.0, total_squares(weights, slice(None)) - value**2)
    if draws.independent and not draws.log_weight.any():
        groups, stderr = float(weights.size), np.sqrt(variance / weights.size)
        spread: Floats | float = hoeffding_margin(weights.size, delta)
        interval: Interval = "Hoeffding"
    else:
        parts = _by_group(draws.groups.ravel())
        shares = weights if parts is None else np.array([weights[part].sum() for part in parts])
        groups = 1 / float(shares @ shares)
        between = _between(weights, value, parts, total, total_squares)
        stderr = _ratio_errors(weights, value, variance, between, groups)
        degrees = math.floor(groups - 1 + ROUNDING)
        spread = student_t(degrees, delta) * stderr if degrees else 1.0
        interval = "asymptotic" if degrees else "none"
    low, high = np.maximum(0.0, value - spread), np.minimum(1.0, value + spread)
    return Means(value, stderr, low, high, 1 - delta, interval, groups)


def weights_of(draws: Draws, /) -> Floats:
    """The weights of all draws, chain by chain, scaled to sum to 1."""
    log_weight = draws.log_weight.ravel()
    heaviest(log_weight)  # finite, or a ValueError
    return np.asarray(np.exp(log_weight - np.logaddexp.reduce(log_weight)))


def mass_known(draws: Draws, /) -> float | None:
    """Posterior mass of distinct DAGs, of those that a prefix has kept; None if it is not known."""
    if "mass" not in draws.stats:
        return None
    log_sum = np.logaddexp.reduce(draws.log_weight, axis=None)
    return min(1.0, float(np.exp(log_sum - draws.stats["log_z"][0])))


def _by_group(groups: Ints) -> list[Ints] | None:
    """Places of the draws of each group; None if each draw is one by itself."""
    ranking = np.argsort(groups, kind="stable")
    ends = np.flatnonzero(np.diff(groups[ranking])) + 1
    return None if ends.size == groups.size - 1 else np.split(ranking, ends)


def _between(
    weights: Floats, value: Floats, parts: list[Ints] | None, total: Total, total_squares: Total
) -> Floats:
    """Sum over groups of (sum of w (x - value))**2."""
    if parts is None:
        squared = weights * weights
        crossed = 2 * value * total(squared, slice(None))
        sums: Floats = total_squares(squared, slice(None)) - crossed + value**2 * squared.sum()
        return np.maximum(0.0, sums)
    out = np.zeros(value.shape)
    for part in parts:
        out += (total(weights[part], part) - weights[part].sum() * value) ** 2
    return out


def _ratio_errors(
    weights: Floats, value: Floats, variance: Floats, between: Floats, groups: float
) -> Floats:
    """Standard errors of weighted means over so many independent groups."""
    if groups < 2 - ROUNDING:
        return np.full(value.shape, math.inf)
    draws = 1 / float(weights @ weights)
    one_more_of_each = value**2 + (1 - value) ** 2
    least = (draws * variance + one_more_of_each) / (draws + 2) / draws
    return np.asarray(np.sqrt(np.maximum(between * groups / (groups - 1), least)))


def student_t(degrees: int, delta: float, /) -> float:
    """t with P(|T| > t) = delta, by halving the angle of [AbramowitzStegun1964, 26.7.3-4]."""
    degrees = min(degrees, MAX_DEGREES)
    odd, terms = degrees % 2, degrees // 2
    i = np.arange(1, terms)
    coefficients = np.append(1.0, np.cumprod((2 * i - 1 + odd) / (2 * i + odd)))[:terms]
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        sine, cosine = math.sin(angle), math.cos(angle)
        inside = sine * float(coefficients @ cosine ** (2 * np.arange(terms)))
        if odd:
            inside = (angle + cosine * inside) * 2 / math.pi
        low, high = (angle, high) if 1 - inside > delta else (low, angle)
    return math.sqrt(degrees) * math.tan(high)
