"""Posterior probabilities of structural features: edges, paths, combinations, your own functions.

A feature is a function from parent masks (..., n) to booleans (...). Features of DAG draws are
averages over the draws; edges of order draws are averages of exact per-order expectations.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.kernels import draws as kernels
from bnlab.results import Draws, FeatureEstimate
from bnlab.sampling import families_by_weight, predecessor_masks
from bnlab.scores import ScoreTable

Masks = NDArray[np.int64]
Floats = NDArray[np.float64]
Feature = Callable[[Masks], NDArray[np.bool_]]


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
    """Posterior probability of a feature from independent DAG draws [HeTianWu2016, eq. 5].

    The interval is Hoeffding's [Hoeffding1963]: value +/- sqrt(ln(2 / delta) / (2 T)) holds the
    posterior probability with probability at least 1 - delta, whatever the posterior.

    Parameters
    ----------
    draws : Draws over "dags", independent (from `sample_dags`)
    feature : function from parent masks (..., n) to booleans (...)
    delta : probability of a miss, 0 < delta < 1

    Raises
    ------
    ValueError
        If the draws are orders, weighted or not independent, or delta is outside (0, 1).

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=1000, rng=np.random.default_rng(0))
    >>> probability(draws, edge(0, 1))
    p = 0.3310 +/- 0.0149, in [0.2881, 0.3739] with probability 0.95 (1000 draws)
    """
    _check_delta(delta)
    dags = _independent_dags(draws)
    holds = np.asarray(feature(dags), bool)
    if holds.shape != dags.shape[:-1]:
        raise ValueError(
            f"the feature gave shape {holds.shape} for DAGs of shape {dags.shape}, not one truth "
            "value for each DAG. Wrap a function of one DAG in features.function"
        )
    value, total = float(holds.mean()), holds.size
    spread = hoeffding_margin(total, delta)
    return FeatureEstimate(
        value,
        math.sqrt(value * (1 - value) / total),
        max(0.0, value - spread),
        min(1.0, value + spread),
        1 - delta,
        total,
        draws.prior,
    )


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
    if table is None or table.names != draws.names:
        raise ValueError(
            "edges of order draws are expectations: pass table=, the score table they come from"
        )
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


def _independent_dags(draws: Draws) -> Masks:
    if draws.over != "dags":
        raise ValueError("features are functions of DAGs: use sample_dags, not orders")
    if not draws.independent or draws.log_weight.any():
        raise ValueError("Hoeffding's interval needs independent, unweighted draws (sample_dags)")
    return draws.values.reshape(-1, draws.values.shape[-1])


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta} is outside (0, 1)")


def _check_pair(u: int, v: int) -> None:
    if u == v or u < 0 or v < 0:
        raise ValueError(f"nodes {u} and {v}: give two different node numbers")


def _check_node(dags: Masks, u: int, v: int) -> None:
    if max(u, v) >= dags.shape[-1]:
        raise ValueError(f"node {max(u, v)} is outside 0..{dags.shape[-1] - 1}")
