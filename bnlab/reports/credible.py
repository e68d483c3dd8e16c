"""`Credible`: probabilities of all ordered pairs of variables, each with its interval."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bnlab.features.intervals import pair_means, weights_of
from bnlab.results import Draws, read_only, rebuilt

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CredibleKind = Literal["exact", "sound", "Hoeffding", "asymptotic", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class Credible:
    """Posterior probabilities of a relation between u and v, for all pairs, with intervals.

    Attributes
    ----------
    probability : float64 (n, n), [u, v]; the diagonal is 0
    low, high : float64 (n, n), each pair's interval; equal to `probability` if it is exact
    kind : "exact"; or what each interval is as in `FeatureEstimate`: "sound" (certain), "Hoeffding"
        (holds whatever the posterior), "asymptotic" (in the limit of many draws), "none" (0 to 1)
    confidence : float, of each interval by itself; 1 if it is certain

    Examples
    --------
    >>> Credible.exact(np.array([[0.0, 0.25], [0.75, 0.0]]))
    Credible(2 variables, exact)
    """

    probability: Floats
    low: Floats
    high: Floats
    kind: CredibleKind
    confidence: float

    def __post_init__(self) -> None:
        for name in ("probability", "low", "high"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[object, ...]:
        return rebuilt(self)

    def __repr__(self) -> str:
        width = float((self.high - self.low).max())
        interval = "" if self.kind == "exact" else f", intervals up to {width:.2g} wide"
        return f"Credible({len(self.probability)} variables, {self.kind}{interval})"

    @classmethod
    def exact(cls, probability: Floats, /) -> "Credible":
        """Probabilities that are known but for rounding.

        Examples
        --------
        >>> Credible.exact(np.zeros((2, 2))).high
        array([[0., 0.],
               [0., 0.]])
        """
        return cls(probability, probability, probability, "exact", 1.0)


def credible(draws: Draws, relation: Callable[[Ints], Ints], /, *, delta: float = 0.05) -> Credible:
    """Posterior probabilities of a relation of all pairs, from draws of DAGs.

    Intervals as in `features.probability`, each for its own pair.

    Parameters
    ----------
    draws : Draws over "dags"
    relation : from parent masks (..., n) to masks (..., n), bit u at v where it holds of u and v:
        `graphs.ancestors`, `graphs.markov_blankets`; `np.asarray` for edges
    delta : probability of a miss

    Examples
    --------
    >>> from bnlab import BDeu, Data, dag_posterior, sample_dags, score_families
    >>> posterior = dag_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=1000, rng=np.random.default_rng(0))
    >>> credible(draws, np.asarray)
    Credible(2 variables, Hoeffding, intervals up to 0.086 wide)
    """
    n = draws.values.shape[-1]
    means = pair_means(draws, np.asarray(relation(draws.values)).reshape(-1, n), delta)
    np.fill_diagonal(means.high, 0.0)
    return Credible(means.value, means.low, means.high, means.interval, means.confidence)


def one_dag(masks: Ints, /) -> Credible:
    """A relation in one DAG, 0 or 1, of which nothing says how probable it is.

    Examples
    --------
    >>> one_dag(np.array([0, 1]))
    Credible(2 variables, none, intervals up to 1 wide)
    """
    n = masks.size
    holds = ((masks >> np.arange(n)[:, None]) & 1).astype(float)
    return Credible(holds, np.zeros((n, n)), np.ones((n, n)) - np.eye(n), "none", 0.0)


def evenly(draws: Draws, count: int, /) -> Draws:
    """At most so many of the draws, at even steps of their weight, so that none needs a weight.

    Systematic resampling [Kitagawa1996] with its one random number at 1/2.

    Examples
    --------
    >>> from bnlab import BDeu, Data, dag_posterior, sample_dags, score_families
    >>> posterior = dag_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> evenly(sample_dags(posterior, draws=1000, rng=np.random.default_rng(0)), 10)
    Draws(10 dags of 2 variables, structure-modular)
    """
    flat = draws.values.reshape(-1, draws.values.shape[-1])
    count = min(count, len(flat))
    ends = np.cumsum(weights_of(draws))
    chosen = np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1])
    return Draws(
        flat[chosen][None],
        np.zeros((1, count)),
        draws.log_target.reshape(1, -1)[:, chosen],
        draws.over,
        draws.prior,
        draws.names,
        run=draws.run,
    )
