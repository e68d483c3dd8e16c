"""Bounds on the posterior probabilities of edges, from annealed orders."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnlab.annealing.bounds import check_unbiased
from bnlab.checks import check_counts, checked
from bnlab.exact import log_prior_sum
from bnlab.graphs import predecessor_masks
from bnlab.kernels import families as kernels
from bnlab.results import Draws, Estimate, PriorKind, Record, Run
from bnlab.running import Clock
from bnlab.sampling import NO_DAG, check_orders, families_by_weight
from bnlab.scores import ScoreTable
from bnlab.weights import BINS, check_bound

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@checked
@dataclass(frozen=True, slots=True, eq=False)
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
    draws: Draws, /, *, table: ScoreTable, upper: Estimate, delta: float = 0.05, bins: int = BINS
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
    check_unbiased(draws, table)
    if not isinstance(upper, Estimate):
        raise ValueError(f"upper={upper!r}: pass what estimate_upper_bound gave")
    if upper.kind not in ("upper_bound", "exact"):
        raise ValueError(
            f"upper is {upper.kind}: pass a bound from estimate_upper_bound, or an exact value"
        )
    (bins,) = check_counts(bins=bins)
    check_bound(np.unique(draws.groups).size, delta, bins)
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
        means = np.zeros((n, n))
        for v, (parents, log_beta) in enumerate(families):
            distinct, which = np.unique(masks[rows, v], return_inverse=True)
            weights = np.bincount(which, terms)
            kernels.parent_expectations(parents, log_beta, distinct, weights, means[v])
        if np.isnan(means).any():
            raise ValueError(NO_DAG)
        np.minimum(present, top + _log(means.T), out=present)
        np.minimum(absent, top + _log(terms.sum() - means.T), out=absent)
    return present, absent


def _log(values: Floats) -> Floats:
    """ln, and -inf where rounding or an impossible edge leaves nothing."""
    out = np.full(values.shape, -math.inf)
    np.log(values, out=out, where=values > 0)
    return out
