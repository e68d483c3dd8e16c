"""Posterior probabilities of structural features: edges, paths, combinations, your own functions.

A feature is a function from parent masks (..., n) to booleans (...). Features of DAG draws are
averages over the draws; edges and modular features of order draws are averages of exact per-order
expectations.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.kernels import draws as kernels
from bnlab.results import Draws, FeatureEstimate, Interval
from bnlab.sampling import NO_DAG, check_orders, families_by_weight, predecessor_masks
from bnlab.scores import ScoreTable

Masks = NDArray[np.int64]
Floats = NDArray[np.float64]
Feature = Callable[[Masks], NDArray[np.bool_]]

MAX_DEGREES = 1000  # of Student's t; its interval is 0.1 % wider than the normal one there
ROUNDING = 1e-9  # of an effective number of groups that is whole


def edge(u: int, v: int, /) -> Feature:
    """The edge u -> v.

    Examples
    --------
    >>> edge(0, 1)(np.array([[0, 1], [2, 0]]))
    array([ True, False])
    """
    _check_pair(u, v)

    def holds(dags: Masks) -> NDArray[np.bool_]:
        _check_node(dags, u, v)
        return _has(dags[..., v], u)

    return holds


def path(u: int, v: int, /) -> Feature:
    """A directed path from u to v, of any length.

    Examples
    --------
    >>> path(0, 2)(np.array([0, 1, 2]))
    np.True_
    """
    _check_pair(u, v)

    def holds(dags: Masks) -> NDArray[np.bool_]:
        _check_node(dags, u, v)
        return _has(graphs.ancestors(dags)[..., v], u)

    return holds


def limited_path(u: int, v: int, /, *, max_length: int) -> Feature:
    """A directed path from u to v of at most `max_length` edges.

    Examples
    --------
    >>> limited_path(0, 3, max_length=2)(np.array([0, 1, 2, 4]))
    np.False_
    """
    _check_pair(u, v)
    if max_length < 1:
        raise ValueError(f"max_length={max_length}: a path has at least one edge")

    def holds(dags: Masks) -> NDArray[np.bool_]:
        _check_node(dags, u, v)
        return _has(graphs.near_ancestors(dags, max_length=max_length)[..., v], u)

    return holds


def combined(*present: Feature, absent: Sequence[Feature] = ()) -> Feature:
    """All of `present` and none of `absent`.

    Examples
    --------
    >>> fork = combined(path(0, 1), path(0, 2), absent=[path(1, 2)])
    >>> fork(np.array([[0, 1, 1], [0, 1, 2]]))
    array([ True, False])
    """
    if not present and not absent:
        raise ValueError("combined() needs at least one feature")

    def holds(dags: Masks) -> NDArray[np.bool_]:
        yes = np.ones(dags.shape[:-1], bool)
        for feature in present:
            yes = yes & feature(dags)
        for feature in absent:
            yes = yes & ~feature(dags)
        return yes

    return holds


def function(f: Callable[[Masks], bool], /) -> Feature:
    """Your own function of one DAG, given as its parent masks (n,).

    It is called once for each distinct DAG.

    Examples
    --------
    >>> no_edges = function(lambda dag: not dag.any())
    >>> no_edges(np.array([[0, 0], [0, 1], [0, 0]]))
    array([ True, False,  True])
    """

    def holds(dags: Masks) -> NDArray[np.bool_]:
        flat = dags.reshape(-1, dags.shape[-1])
        distinct, which = np.unique(flat, axis=0, return_inverse=True)
        values = np.array([bool(f(dag)) for dag in distinct])
        return values[which].reshape(dags.shape[:-1])

    return holds


def probability(draws: Draws, feature: Feature, /, *, delta: float = 0.05) -> FeatureEstimate:
    """Posterior probability of a feature from DAG draws [HeTianWu2016, eq. 5].

    From independent, unweighted draws the interval is Hoeffding's [Hoeffding1963]: value +/-
    sqrt(ln(2 / delta) / (2 T)) holds the posterior probability with probability at least 1 - delta,
    whatever the posterior.

    From weighted or dependent draws the value is the ratio sum w f / sum w
    [NiinimakiKoivisto2013, sec. 3.2]. Its standard error is by the delta method over the groups of
    draws that are independent of each other (Draws.groups). It is at least that of as many
    independent draws as the weights are worth, one more with the feature and one more without: a
    feature that no draw has is not known to be impossible. The interval is Student's, with the
    effective number of groups less 1 degrees of freedom. With fewer than two effective groups, such
    as a single chain, or a run that carries all the weight, there is no error bar. The interval is
    asymptotic: it says nothing about what no draw has met.

    From distinct DAGs of known posterior mass Delta (`reweight_unique` with log_z, or the k best
    DAGs) the interval is sound: the posterior lies in [Delta p, Delta p + 1 - Delta] for certain,
    up to rounding, with p the value [HeTianWu2016, eq. 26]. Confidence is 1, stderr inf.

    Parameters
    ----------
    draws : Draws over "dags"
    feature : function from parent masks (..., n) to booleans (...)
    delta : probability of a miss, 0 < delta < 1

    Raises
    ------
    ValueError
        If the draws are orders, or delta is outside (0, 1).

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=1000, rng=np.random.default_rng(0))
    >>> probability(draws, edge(0, 1))
    p = 0.3310 +/- 0.0149, in [0.2881, 0.3739] with probability 0.95 (1000 draws)
    """
    _check_delta(delta)
    if draws.over != "dags":
        raise ValueError("features are functions of DAGs: use sample_dags, not orders")
    dags = draws.values.reshape(-1, draws.values.shape[-1])
    holds = np.asarray(feature(dags), bool)
    if holds.shape != dags.shape[:-1]:
        raise ValueError(
            f"the feature gave shape {holds.shape} for DAGs of shape {dags.shape}, not one truth "
            "value for each DAG. Wrap a function of one DAG in features.function"
        )
    return _mean(draws, holds.astype(float), delta)


def modular_probability(
    draws: Draws,
    factor: Callable[[int, Masks], ArrayLike],
    /,
    *,
    table: ScoreTable,
    delta: float = 0.05,
) -> FeatureEstimate:
    """Posterior expectation of a modular feature, f(G) = product of factor(v, parents of v).

    From order draws: the average of the exact expectations given each order, the product over nodes
    of sum factor beta / sum beta over the parent sets within the predecessors
    [NiinimakiKoivisto2013, sec. 2.2].
    They vary less than DAGs drawn given the orders. Interval and error as in `probability`.

    Parameters
    ----------
    draws : Draws over "orders"
    factor : factor(v, parents) gives, for parent masks (F,) of node v, values (F,) within 0..1
    table : ScoreTable that the orders come from
    delta : probability of a miss, 0 < delta < 1

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_orders, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> draws = sample_orders(order_posterior(table), draws=1000, rng=np.random.default_rng(0))
    >>> modular_probability(draws, lambda v, parents: parents == 0, table=table)  # no edge at all
    p = 0.3333 +/- 0.0000, in [0.2904, 0.3763] with probability 0.95 (1000 draws)
    """
    _check_delta(delta)
    check_orders(draws, table)
    masks = predecessor_masks(draws.values.reshape(-1, table.n))
    expectation = np.ones(len(masks))
    for v in range(table.n):
        parents, log_beta = families_by_weight(table, v)
        values = np.asarray(factor(v, parents), float)
        if values.shape != parents.shape or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(
                f"factor({v}, parents) gave shape {values.shape} for {parents.size} parent sets, "
                "or values outside 0..1"
            )
        distinct, which = np.unique(masks[:, v], return_inverse=True)
        means = np.empty(distinct.size)
        kernels.family_means(parents, log_beta, values, distinct, means)
        expectation *= means[which]
    _check_allowed(expectation)
    return _mean(draws, expectation, delta)


def edges(draws: Draws, /, *, table: ScoreTable | None = None) -> Floats:
    """Posterior probabilities (n, n) of all edges, [u, v] = p(u -> v | D).

    From DAG draws: the share of DAGs with the edge. From order draws: the average over orders of
    p(u -> v | order, D), which needs the score table [HeTianWu2016, eq. 15 and 17].

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_orders, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> draws = sample_orders(order_posterior(table), draws=1000, rng=np.random.default_rng(0))
    >>> edges(draws, table=table).round(2)
    array([[0.  , 0.33],
           [0.34, 0.  ]])
    """
    weights = _weights(draws)
    if draws.over == "dags":
        return _pair_means(draws.values, weights)
    table = check_orders(draws, table)
    n = table.n
    masks = predecessor_masks(draws.values.reshape(-1, n))
    out = np.zeros((n, n))
    for v in range(n):
        parents, log_beta = families_by_weight(table, v)
        distinct, which = np.unique(masks[:, v], return_inverse=True)
        share = np.bincount(which, weights)
        column = np.zeros(n)
        kernels.parent_expectations(parents, log_beta, distinct, share, column)
        out[:, v] = column
    _check_allowed(out)
    return out


def paths(draws: Draws, /, *, max_length: int | None = None) -> Floats:
    """Posterior probabilities (n, n) of directed paths, [u, v] = p(u leads to v | D), from DAGs.

    With `max_length`, of paths of at most so many edges.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=1000, rng=np.random.default_rng(0))
    >>> bool((paths(draws) == edges(draws)).all())
    True
    """
    if draws.over != "dags":
        raise ValueError("paths need DAG draws (sample_dags); an order has none")
    if max_length is None:
        masks = graphs.ancestors(draws.values)
    else:
        masks = graphs.near_ancestors(draws.values, max_length=max_length)
    return _pair_means(masks, _weights(draws))


def sound(probabilities: ArrayLike, draws: Draws, /) -> tuple[Floats, Floats]:
    """Sound intervals (low, high) of many features at once, from the same distinct DAGs.

    [Delta p, Delta p + 1 - Delta] holds the posterior for certain, up to rounding
    [HeTianWu2016, eq. 26].

    Parameters
    ----------
    probabilities : array of any shape, what `edges`, `paths` or `probability` gave for `draws`
    draws : Draws of distinct DAGs with their posterior mass: `reweight_unique` with log_z

    Raises
    ------
    ValueError
        If the mass of the draws is not known, or a probability is outside 0..1.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, reweight_unique, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=2, rng=np.random.default_rng(0))
    >>> np.round(sound(0.5, reweight_unique(draws, log_z=-2.549445)), 4)
    array([0.3, 0.7])
    """
    values = np.asarray(probabilities, np.float64)
    if not ((values >= 0) & (values <= 1 + ROUNDING)).all():
        raise ValueError("probabilities outside 0..1: give what edges or paths gave for the draws")
    mass = _mass(draws)
    if mass is None:
        raise ValueError(
            "the posterior mass of the draws is not known: give reweight_unique(draws, log_z=...) "
            "the log_z of the exact posterior over DAGs"
        )
    low = mass * np.minimum(values, 1.0)
    return low, low + (1 - mass)


def hoeffding_draws(eps: float, delta: float, /) -> int:
    """Draws T >= ln(2 / delta) / (2 eps**2), so that |error| < eps with probability 1 - delta.

    [HeTianWu2016, Corollary 4 (iv)], for the posterior probability of any feature.

    Examples
    --------
    >>> hoeffding_draws(0.02, 0.05)
    4612
    """
    if not 1e-9 <= eps < 1:
        raise ValueError(f"eps={eps} is outside [1e-9, 1)")
    _check_delta(delta)
    return math.ceil((math.log(2) - math.log(delta)) / (2 * eps * eps))


def hoeffding_margin(draws: int, delta: float, /) -> float:
    """eps such that |error| <= eps with probability 1 - delta after so many independent draws.

    eps = sqrt(ln(2 / delta) / (2 draws)) [Hoeffding1963], the inverse of `hoeffding_draws`. For c
    probabilities at once, ask for delta / c.

    Examples
    --------
    >>> round(hoeffding_margin(4612, 0.05), 4)
    0.02
    """
    if draws < 1:
        raise ValueError(f"draws={draws}: at least one")
    _check_delta(delta)
    return math.sqrt((math.log(2) - math.log(delta)) / (2 * draws))


def _has(masks: Masks, u: int) -> NDArray[np.bool_]:
    has: NDArray[np.bool_] = (masks >> np.int64(u)) & 1 == 1
    return has


def _pair_means(masks: Masks, weights: Floats) -> Floats:
    """Weighted share of rows whose mask of node v holds u: (n, n)."""
    n = masks.shape[-1]
    flat = masks.reshape(-1, n)
    return np.stack([weights @ ((flat >> np.int64(u)) & 1) for u in range(n)])


def _weights(draws: Draws) -> Floats:
    log_weight = draws.log_weight.ravel()
    weights: Floats = np.exp(log_weight - np.logaddexp.reduce(log_weight))
    return weights


def _mean(draws: Draws, values: Floats, delta: float) -> FeatureEstimate:
    """Weighted mean of `values` (T,) within 0..1, with its error and interval."""
    total, weights = values.size, _weights(draws)
    mass = _mass(draws)
    if mass is not None:
        value = min(1.0, float(weights @ values))
        low = mass * value
        return FeatureEstimate(
            value, math.inf, low, low + (1 - mass), 1.0, total, draws.prior, "sound", 1.0
        )
    if draws.independent and not draws.log_weight.any():
        value, groups = float(values.mean()), float(total)
        stderr, spread = float(values.std()) / math.sqrt(total), hoeffding_margin(total, delta)
        interval: Interval = "Hoeffding"
    else:
        value = float(weights @ values)
        stderr, groups = _ratio_error(values - value, weights, draws.groups.ravel(), value)
        degrees = math.floor(groups - 1 + ROUNDING)
        spread = _student_t(degrees, delta) * stderr if degrees else 1.0
        interval = "asymptotic" if degrees else "none"
    low, high = max(0.0, value - spread), min(1.0, value + spread)
    return FeatureEstimate(
        value, stderr, low, high, 1 - delta, total, draws.prior, interval, groups
    )


def _mass(draws: Draws) -> float | None:
    """Posterior mass of distinct DAGs, of those that a prefix has kept; None if it is not known."""
    if "mass" not in draws.stats:
        return None
    log_sum = np.logaddexp.reduce(draws.log_weight, axis=None)
    return min(1.0, float(np.exp(log_sum - draws.stats["log_z"][0])))


def _ratio_error(
    residuals: Floats, weights: Floats, groups: Masks, value: float
) -> tuple[float, float]:
    """Standard error of a weighted mean over independent groups, and how many they are worth."""
    _, group = np.unique(groups, return_inverse=True)
    count = 1 / float((np.bincount(group, weights) ** 2).sum())
    if count < 2 - ROUNDING:
        return math.inf, count
    between = float((np.bincount(group, weights * residuals) ** 2).sum()) * count / (count - 1)
    draws = 1 / float(weights @ weights)
    one_more_of_each = value**2 + (1 - value) ** 2
    least = (draws * float(weights @ residuals**2) + one_more_of_each) / (draws + 2) / draws
    return math.sqrt(max(between, least)), count


def _student_t(degrees: int, delta: float) -> float:
    """t with P(|T| > t) = delta, by halving the angle atan(t / sqrt(degrees)).

    Its distribution function is a finite series in that angle [AbramowitzStegun1964, 26.7.3-4].
    """
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


def _check_allowed(expectations: Floats) -> None:
    if np.isnan(expectations).any():
        raise ValueError(NO_DAG)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta} is outside (0, 1)")


def _check_pair(u: int, v: int) -> None:
    if u == v or u < 0 or v < 0:
        raise ValueError(f"nodes {u} and {v}: give two different node numbers")


def _check_node(dags: Masks, u: int, v: int) -> None:
    if max(u, v) >= dags.shape[-1]:
        raise ValueError(f"node {max(u, v)} is outside 0..{dags.shape[-1] - 1}")
