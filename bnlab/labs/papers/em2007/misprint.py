"""What the paper's display of q_global would do, on all DAGs of five variables."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.em2007.cases import Case

Floats = NDArray[np.float64]


def proposal(dags: ArrayLike, chances: Floats, /, *, absent: bool) -> Floats:
    """ln q_global of DAGs (T, n), nats, up to the share of acyclic graphs.

    Parameters
    ----------
    chances : (n, n) probabilities of u -> v
    absent : whether pairs without an edge give a factor, as they do in the proposal; the paper's
        display leaves them out

    Examples
    --------
    >>> chances = np.array([[0, 0.5], [0.2, 0]])
    >>> np.exp(proposal([[0, 0], [0, 1], [2, 0]], chances, absent=True)).round(3)
    array([0.3, 0.5, 0.2])
    >>> np.exp(proposal([[0, 0], [0, 1], [2, 0]], chances, absent=False)).round(3)
    array([1. , 0.5, 0.2])
    """
    edges = graphs.to_adjacency(dags)
    log_q = np.log(np.where(chances > 0, chances, 1.0))
    out: Floats = (edges * log_q).sum(axis=(-2, -1))
    if absent:
        apart = ~(edges | edges.swapaxes(-2, -1))
        out = out + np.triu(apart * np.log1p(-(chances + chances.T)), 1).sum(axis=(-2, -1))
    return out


class Limits(NamedTuple):
    """SAD from the posterior in the limit of many moves: of both proposals, and of the DP alone."""

    corrected: float
    displayed: float
    dp: float


def limits(case: Case, /) -> Limits:
    """Where beta = 0 converges to if the acceptance uses q as displayed: proportional to p q / q'.

    All DAGs are added up, up to five variables.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.cases import case
    >>> limits(case("cancer")).corrected < 1e-9
    True
    """
    dags, chances = graphs.all_dags(case.data.n), bn.Global(case.orders.edges).chances
    log_p = case.table.log_target(dags)
    right, wrong = (proposal(dags, chances, absent=absent) for absent in (True, False))
    found = []
    for log_weight in (log_p, log_p + right - wrong):
        weight = np.exp(log_weight - log_weight.max())
        edges = np.tensordot(weight / weight.sum(), graphs.to_adjacency(dags), axes=1)
        found.append(bn.diagnostics.sad(edges, case.dags.edges))
    dp = bn.diagnostics.sad(case.orders.edges, case.dags.edges)
    return Limits(found[0], found[1], dp)
