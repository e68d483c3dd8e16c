"""`Credible`: probabilities of all ordered pairs of variables, each with its interval."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import Floats, Ints, checked
from bnlab.features.intervals import pair_means, weights_of
from bnlab.results import Draws, Record, agree

CredibleKind = Literal["exact", "sound", "Hoeffding", "asymptotic", "none"]


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Credible(Record):
    """Posterior probabilities of a relation between u and v, for all pairs, with intervals.

    Attributes
    ----------
    probability : float64 (n, n), [u, v]; the diagonal is 0
    low, high : float64 (n, n), each pair's interval; equal to `probability` if it is exact
    kind : "exact"; or what each interval is as in `FeatureEstimate`: "sound" (certain), "Hoeffding"
        (holds whatever the posterior), "asymptotic" (in the limit of many draws), "none" (0 to 1)
    confidence : float, of each interval by itself; 1 if it is certain
    rhat, ess : float64 (n, n), of chains, as in `FeatureEstimate`; None without chains
    """

    probability: Floats
    low: Floats
    high: Floats
    kind: CredibleKind
    confidence: float
    rhat: Floats | None = None
    ess: Floats | None = None

    def __repr__(self) -> str:
        width = float((self.high - self.low).max())
        interval = "" if self.kind == "exact" else f", intervals up to {width:.2g} wide"
        return f"Credible({len(self.probability)} variables, {self.kind}{interval})"

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """bool (n, n), `FeatureEstimate.trusted` of each pair."""
        agreed = True if self.rhat is None else agree(self.rhat, self.ess)
        return np.full(self.probability.shape, agreed & (self.kind != "none"))

    @classmethod
    def exact(cls, probability: Floats, /) -> "Credible":
        """Probabilities that are known but for rounding."""
        return cls(probability, probability, probability, "exact", 1.0)


def credible(draws: Draws, relation: Callable[[Ints], Ints], /, *, delta: float = 0.05) -> Credible:
    """Posterior probabilities of a relation, from parent masks to masks, of all pairs in draws."""
    n = draws.values.shape[-1]
    means = pair_means(draws, np.asarray(relation(draws.values)).reshape(-1, n), delta)
    np.fill_diagonal(means.high, 0.0)
    return Credible(
        means.value, means.low, means.high, means.interval, means.confidence, means.rhat, means.ess
    )


def one_dag(masks: Ints, /) -> Credible:
    """A relation in one DAG, 0 or 1, of which nothing says how probable it is."""
    holds = graphs.to_adjacency(masks).astype(float)
    return Credible(holds, np.zeros_like(holds), 1 - np.eye(len(holds)), "none", 0.0)


def ranked(values: Floats, /) -> list[tuple[int, int]]:
    """The places (u, v) of a matrix, the largest first, ties in their order."""
    order = np.argsort(-values, axis=None, kind="stable")
    return [divmod(int(i), len(values)) for i in order]


def evenly(draws: Draws, count: int, /) -> Draws:
    """At most so many of the draws, systematically resampled [Kitagawa1996] with 1/2 as number."""
    flat = draws.values.reshape(-1, draws.values.shape[-1])
    count = min(count, len(flat))
    ends = np.cumsum(weights_of(draws))
    chosen = np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1])
    target = draws.log_target.reshape(1, -1)[:, chosen]
    weights = np.zeros((1, count))
    kinds = (draws.over, draws.prior, draws.names)
    return Draws(flat[chosen][None], weights, target, *kinds, run=draws.run)
