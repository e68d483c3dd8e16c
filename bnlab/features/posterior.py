"""Features of DAGs, and their posterior probabilities from draws."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bnlab import graphs
from bnlab.checks import Bools, Count, Floats, Ints, Share, checked, conforming
from bnlab.features.intervals import (
    ROUNDING,
    mass_known,
    mean_of,
    pair_means,
    pair_sums,
    weights_of,
)
from bnlab.kernels import families as kernels
from bnlab.records import Table, ranked_pairs
from bnlab.results import DagDraws, Draws, FeatureEstimate, OrderDraws
from bnlab.sampling.dags_given_orders import check_orders
from bnlab.sampling.independent import NO_DAG, edges_given, families_by_weight
from bnlab.scores import ScoreTable

Feature = Callable[[Ints], Bools]


@checked
def edge(u: int, v: int, /) -> Feature:
    """Return the feature of the edge u -> v.

    Examples
    --------
    >>> edge(0, 1)(np.array([[0, 1], [2, 0]]))
    array([ True, False])
    """
    return _of_pair(u, v, lambda dags: dags)


@checked
def path(u: int, v: int, /) -> Feature:
    """Return the feature of a directed path from u to v, of any length.

    Examples
    --------
    >>> path(0, 2)(np.array([0, 1, 2]))
    np.True_
    """
    return _of_pair(u, v, graphs.ancestors)


@checked
def limited_path(u: int, v: int, /, *, max_length: Count) -> Feature:
    """Return the feature of a directed path from u to v of at most `max_length` edges.

    Examples
    --------
    >>> limited_path(0, 3, max_length=2)(np.array([0, 1, 2, 4]))
    np.False_
    """
    return _of_pair(u, v, lambda dags: graphs.near_ancestors(dags, max_length=max_length))


@checked
def combined(*present: Feature, absent: Sequence[Feature] = ()) -> Feature:
    """Return the feature of all of `present` and none of `absent`.

    Examples
    --------
    >>> fork = combined(path(0, 1), path(0, 2), absent=[path(1, 2)])
    >>> fork(np.array([[0, 1, 1], [0, 1, 2]]))
    array([ True, False])
    """
    if not present and not absent:
        raise ValueError("combined() needs at least one feature")

    def holds(dags: Ints) -> Bools:
        yes = np.ones(dags.shape[:-1], bool)
        for feature in present:
            yes = yes & feature(dags)
        for feature in absent:
            yes = yes & ~feature(dags)
        return yes

    return holds


@checked
def function(f: Callable[[Ints], bool], /) -> Feature:
    """Make a feature of your own function of one DAG, given as its parent masks (n,).

    It is called once for each distinct DAG.

    Examples
    --------
    >>> no_edges = function(lambda dag: not dag.any())
    >>> no_edges(np.array([[0, 0], [0, 1], [0, 0]]))
    array([ True, False,  True])
    """

    def holds(dags: Ints) -> Bools:
        flat = dags.reshape(-1, dags.shape[-1])
        distinct, which = np.unique(flat, axis=0, return_inverse=True)
        values = np.array([bool(f(dag)) for dag in distinct])
        return values[which].reshape(dags.shape[:-1])

    return holds


@checked
def probability(draws: DagDraws, feature: Feature, /, *, delta: Share = 0.05) -> FeatureEstimate:
    """Estimate the posterior probability of a feature from DAG draws [HeTianWu2016, eq. 5].

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
    asymptotic: it says nothing about what no draw has met. Of chains too short it covers far less
    than it says: estimates from chains carry R-hat and ESS, the worse of the feature's and of ln p
    of the draws, and are `trusted` from R-hat <= 1.01 and ESS >= 400 on [VehtariEtAl2021].

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
    >>> from bnlab import BDeu, Data, features, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=1000, rng=np.random.default_rng(0))
    >>> probability(draws, features.edge(0, 1))
    p = 0.3310 +/- 0.0149, in [0.2881, 0.3739] with probability 0.95 (1000 draws)
    """
    dags = draws.values.reshape(-1, draws.values.shape[-1])
    holds = np.asarray(feature(dags))
    if holds.shape != dags.shape[:-1] or not np.isin(holds, (0, 1)).all():
        raise ValueError(
            f"the feature gave {holds.dtype} of shape {holds.shape}, for DAGs {dags.shape}, "
            "not one truth value for each. Wrap a function of one DAG in features.function"
        )
    return mean_of(draws, holds.astype(float), delta)


@checked
def modular_probability(
    draws: OrderDraws,
    factor: Callable[[int, Ints], ArrayLike],
    /,
    *,
    table: ScoreTable,
    delta: Share = 0.05,
) -> FeatureEstimate:
    """Estimate the posterior mean of a modular feature, f(G) = product of factor(v, parents of v).

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
    check_orders(draws, table)
    masks = graphs.predecessor_masks(draws.values.reshape(-1, table.n))
    expectation = np.ones(len(masks))
    for v in range(table.n):
        parents, log_phi = families_by_weight(table, v)
        values = conforming(f"factor({v}, parents)", factor(v, parents), Floats)
        if values.shape != parents.shape or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(
                f"factor({v}, parents) gave shape {values.shape} for {parents.size} parent sets, "
                "or values outside 0..1"
            )
        distinct, which = np.unique(masks[:, v], return_inverse=True)
        means = np.empty(distinct.size)
        kernels.family_means(parents, log_phi, values, distinct, means)
        expectation *= means[which]
    expectation[weights_of(draws) == 0] = 0.0  # an annealed order may have no DAG, and no weight
    if np.isnan(expectation).any():
        raise ValueError(NO_DAG)
    return mean_of(draws, expectation, delta)


@checked
def edges(draws: Draws, /, *, table: ScoreTable | None = None) -> Floats:
    """Return posterior probabilities (n, n) of all edges, [u, v] = p(u -> v | D).

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
    weights = weights_of(draws)
    if draws.over == "dags":
        return _pair_means(draws.values, weights)
    table = check_orders(draws, table)
    masks = graphs.predecessor_masks(draws.values.reshape(-1, table.n))
    families = [families_by_weight(table, v) for v in range(table.n)]
    return np.minimum(edges_given(families, masks, weights), 1.0, order="C")


@checked
def edge_table(draws: DagDraws, /, *, delta: Share = 0.05) -> Table:
    """Estimate the probabilities of all edges from DAG draws, with intervals as in `probability`.

    A table in notebooks, and a data frame by `to_frame()`: from, to, probability, stderr, low and
    high, of chains rhat and ess; the likeliest first.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> edge_table(sample_dags(posterior, draws=1000, rng=np.random.default_rng(0)))
    Table(edges of 1000 DAGs, order-modular; Hoeffding intervals, confidence 0.95)
    """
    means = pair_means(draws, draws.values.reshape(-1, draws.values.shape[-1]), delta)
    found = {name: each for name, each in means._asdict().items() if isinstance(each, np.ndarray)}
    return Table(
        f"edges of {draws.log_weight.size} DAGs, {draws.prior}; {means.interval} intervals, "
        f"confidence {means.confidence:g}",
        ranked_pairs(draws.names, probability=found.pop("value"), **found),
    )


@checked
def paths(draws: DagDraws, /, *, max_length: Count | None = None) -> Floats:
    """Return posterior path probabilities (n, n), [u, v] = p(u leads to v | D), from DAGs.

    With `max_length`, of paths of at most so many edges.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=1000, rng=np.random.default_rng(0))
    >>> bool((paths(draws) == edges(draws)).all())
    True
    """
    if max_length is None:
        masks = graphs.ancestors(draws.values)
    else:
        masks = graphs.near_ancestors(draws.values, max_length=max_length)
    return _pair_means(masks, weights_of(draws))


@checked
def sound(probabilities: ArrayLike, draws: Draws, /) -> tuple[Floats, Floats]:
    """Return sound intervals (low, high) of many features at once, from the same distinct DAGs.

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
    mass = mass_known(draws)
    if mass is None:
        raise ValueError(
            "the posterior mass of the draws is not known: give reweight_unique(draws, log_z=...) "
            "the log_z of the exact posterior over DAGs"
        )
    low = mass * np.minimum(values, 1.0)
    return low, low + (1 - mass)


def _pair_means(masks: Ints, weights: Floats) -> Floats:
    """Weighted share of rows whose mask of node v holds u: (n, n)."""
    return np.minimum(pair_sums(masks.reshape(-1, masks.shape[-1]), weights), 1.0)


def _of_pair(u: int, v: int, relation: Callable[[Ints], Ints]) -> Feature:
    """The feature of u in the mask of v, of a relation from parent masks (..., n) to masks."""
    if u == v or min(u, v) < 0:
        raise ValueError(f"nodes {u} and {v}: give two different node numbers")

    def holds(dags: Ints) -> Bools:
        if max(u, v) >= dags.shape[-1]:
            raise ValueError(f"node {max(u, v)} is outside 0..{dags.shape[-1] - 1}")
        has: Bools = relation(dags)[..., v] >> u & 1 == 1
        return has

    return holds
