"""`Credible`: probabilities of all ordered pairs of variables, each with its interval."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bnlab.features.intervals import means_of
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
    masks = np.asarray(relation(draws.values)).reshape(-1, n)
    rows = [means_of(draws, ((masks >> np.int64(u)) & 1).astype(float), delta) for u in range(n)]
    probability = np.stack([row.value for row in rows])
    low, high = np.stack([row.low for row in rows]), np.stack([row.high for row in rows])
    np.fill_diagonal(high, 0.0)
    return Credible(probability, low, high, rows[0].interval, rows[0].confidence)
