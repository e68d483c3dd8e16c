"""The best DAG consistent with a given order of the variables."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import checked, shown
from bnlab.kernels.greedy import TIE
from bnlab.scores import ScoreTable

Ints = NDArray[np.int64]


@checked
def best_dag_given_order(table: ScoreTable, order: ArrayLike, /) -> Ints:
    """Find the DAG of highest log_target consistent with `order`: parent masks (n,).

    Each node takes its best parent set among its predecessors, by itself [CooperHerskovits1992];
    of equally good ones, up to rounding, the smallest, then the first in colexicographic order.
    O(n F) for F families of a node.

    Parameters
    ----------
    table : ScoreTable
    order : (n,), all nodes, parents before children

    Raises
    ------
    ValueError
        If `order` does not name each node once, or leaves a node no allowed parent set.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1], [0, 0]]), BDeu())
    >>> best_dag_given_order(table, [1, 0])
    array([2, 0])
    """
    nodes = np.asarray(order)
    if nodes.ndim != 1 or sorted(nodes.tolist()) != list(range(table.n)):
        raise ValueError(f"order={shown(nodes.tolist())}: name each node 0..{table.n - 1} once")
    nodes = nodes.astype(np.int64)
    dag = np.empty(table.n, np.int64)
    before = np.int64(0)
    for v in nodes:
        beta = table.log_prior[v] + table.log_score[v]
        beta[table.parents[v] & ~before != 0] = -math.inf
        best = int(first_best(beta))
        if beta[best] == -math.inf:
            raise ValueError(
                f"no parent set of {table.names[v]!r} is allowed among its predecessors in the "
                "order: relax the required, forbidden or candidate edges, or change the order"
            )
        dag[v] = table.parents[v, best]
        before |= np.int64(1) << v
    return dag


def first_best(log_beta: NDArray[np.float64], /) -> Ints:
    """The place along the last axis of the first family as good as the best, up to rounding.

    Scores of equal counts differ by the order in which their terms were added.
    """
    best = log_beta.max(axis=-1, keepdims=True)
    tie = TIE * (1 + 1e-5 * np.abs(np.where(np.isfinite(best), best, 0.0)))
    first: Ints = (log_beta >= best - tie).argmax(axis=-1)
    return first
