"""Walks on DAGs and on orders: traces from two starts, and edges by two runs."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers import em2007
from bnlab.labs.papers.em2007.forecasts import chain
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, alarm_table, stream

Floats = NDArray[np.float64]

DRAWS = 1000
STAND_INS = ("synthetic", "tic-tac-toe")
THIN = {"Local": 5000, "Order": 20, "Hybrid": 20}
"""Moves before a draw: on ALARM a chain of either sampler takes about a quarter of a second."""


def starts(m: int, /, draws: int = DRAWS) -> dict[str, Floats]:
    """ln p(D, G) along structure MCMC on m rows of ALARM from two starts, and along orders.

    Of orders it is that of one DAG given each.

    Returns
    -------
    dict
        Label -> (draws,), one for every 5000 local moves, or 20 moves of orders.

    Examples
    --------
    >>> {label: line.shape for label, line in starts(100, 3).items()}
    {'DAGs, from none': (3,), 'DAGs, from search': (3,), 'orders': (3,)}
    """
    table = alarm_table(m)
    found = bn.hill_climb(table, tabu=20, rng=stream(4)).dag
    walked = bn.sample_structures(
        table,
        draws=draws,
        rng=stream(6),
        chains=2,
        burn_in=0,
        thin=THIN["Local"],
        start=[np.zeros(table.n, np.int64), found],
    )
    orders = em2007.walk(table, "Order", draws=draws, chains=1, thin=THIN["Order"], key=m)
    lines = (*walked.log_target, orders.draws.log_target[0])
    return dict(zip(("DAGs, from none", "DAGs, from search", "orders"), lines, strict=True))


def two_runs(table: bn.ScoreTable, sampler: str, /, draws: int = DRAWS, key: int = 0) -> Floats:
    """(2, n, n) edges by two chains from different random starts, their first half left out.

    Those by orders are exact given each order.

    Parameters
    ----------
    sampler : "Local", "Order" or "Hybrid", as in [EatonMurphy2007]; the last for 20 variables or so

    Examples
    --------
    >>> two_runs(alarm_table(100), "Order", 4).shape
    (2, 37, 37)
    """
    walked = em2007.walk(table, sampler, draws=draws, chains=2, thin=THIN[sampler], key=key)
    if walked.orders is None:
        late = [chain(walked.draws, c, draws // 2) for c in range(2)]
        return np.array([bn.features.edges(one) for one in late])
    late = [chain(walked.orders, c, draws // 2) for c in range(2)]
    return np.array([bn.features.edges(one, table=table) for one in late])


@cache
def census(name: str) -> bn.ScoreTable:
    """In place of the census: scores of "synthetic", 15 nodes and 1,500 rows, or "tic-tac-toe".

    Both are those of the page on [EatonMurphy2007].

    Examples
    --------
    >>> census("synthetic").n
    15
    """
    return bn.score_families(em2007.rows(name), BDEU, max_parents=MAX_PARENTS)


def from_exact(table: bn.ScoreTable, sampler: str, both: Floats, /) -> tuple[float, float]:
    """SAD of each of two runs from the exact edges of the posterior that the sampler is for.

    Order-modular for "Order", structure-modular for the others.

    Examples
    --------
    >>> table = bn.score_families(bn.Data.from_arrays([[0, 0], [1, 1]]), BDEU)
    >>> from_exact(table, "Local", np.zeros((2, 2, 2)))
    (0.8, 0.8)
    """
    posterior = bn.order_posterior(table) if sampler == "Order" else bn.dag_posterior(table)
    first, second = (round(bn.diagnostics.sad(one, posterior.edges), 9) for one in both)
    return first, second


def apart(both: Floats, /) -> tuple[float, float, int]:
    """SAD between two runs (2, n, n), the largest difference, and how many are above one half.

    Examples
    --------
    >>> apart(np.array([[[0, 1.0], [0, 0]], [[0, 0.25], [0, 0]]]))
    (0.75, 0.75, 1)
    """
    gaps = np.abs(both[0] - both[1])
    return float(gaps.sum()), float(gaps.max()), int((gaps > 0.5).sum())
