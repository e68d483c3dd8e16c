"""`sensitivity`: how edges change with the prior and its strength."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnlab.data import Data
from bnlab.exact import dag_posterior
from bnlab.priors import Fair, Prior, Uniform
from bnlab.reports.analysis import Analysis
from bnlab.reports.planning import choose_method
from bnlab.scores import BDeu, score_families

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Edge probabilities under several priors. Make it with `sensitivity`.

    Attributes
    ----------
    ess : (A,) equivalent sample sizes of BDeu
    priors : (B,) structure priors
    edges : float64 (A, B, n, n), [a, b, u, v] = p(u -> v | D)
    effective : float64 (A, B), how many draws each matrix is worth; inf where it is exact
    how : "exact" or "reweighted draws"
    seconds : float, of the slowest of them

    Examples
    --------
    >>> sensitivity(Data.from_arrays([[0, 0], [0, 0], [1, 1]]), ess=(1.0,)).edges.shape
    (1, 2, 2, 2)
    """

    ess: tuple[float, ...]
    priors: tuple[Prior, ...]
    edges: Floats
    effective: Floats
    how: str
    seconds: float


def sensitivity(
    target: Analysis | Data,
    /,
    *,
    ess: Sequence[float] = (0.1, 1.0, 10.0, 100.0),
    priors: Sequence[Prior] = (Uniform(), Fair()),
) -> Sensitivity:
    """Edges under several equivalent sample sizes and structure priors.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> sensitivity(data, ess=(1.0, 8.0)).edges[:, 0, 0, 1].round(3)
    array([0.468, 0.39 ])
    """
    data = target.data if isinstance(target, Analysis) else target
    k = (target.plan if isinstance(target, Analysis) else choose_method(data)).max_parents
    edges = np.empty((len(ess), len(priors), data.n, data.n))
    for a, size in enumerate(ess):
        for b, prior in enumerate(priors):
            table = score_families(data, BDeu(size), max_parents=k, prior=prior)
            edges[a, b] = dag_posterior(table).edges
    effective = np.full(edges.shape[:2], np.inf)
    return Sensitivity(tuple(ess), tuple(priors), edges, effective, "exact", 0.0)
