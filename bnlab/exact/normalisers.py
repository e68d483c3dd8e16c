"""Sums of prior factors: over pairs of orders and DAGs, and over DAGs."""

import math
from functools import lru_cache

import numpy as np

from bnlab.checks import Floats, checked
from bnlab.exact.over_dags import NO_DAG, blocks, log_sum_over_dags, require_memory
from bnlab.running import Steps
from bnlab.scores import ScoreTable


@checked
def log_dag_prior_sum(table: ScoreTable, /) -> float:
    """Return ln of the sum of the prior factor over DAGs, nats: each once, not once for each order.

    Takes log_z to log_evidence under a structure-modular prior. For factors q_i that depend on the
    number of parents i only, by layers of equal depth, as [KuipersMoffa2015] by roots: a node's
    parents lie in earlier layers, not all before the last one. With j nodes, s in the last layer,
    A(j, s) = C(j, s) sum_t A(j - s, t) (sum_i (C(j - s, i) - C(j - s - t, i)) q_i)**s, A(j, j) =
    q_0**j. No term is negative, unlike in the recurrence of [Robinson1973], so doubles do. Other
    factors take the signed sum over subsets [TianHe2009], in O(3**n) time.

    Raises
    ------
    ValueError
        If the constraints leave no DAG; or if factors differ for parent sets of equal size, and
        the memory for the sum over subsets is not there.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 0], [1, 1, 1]]), BDeu())
    >>> round(float(np.exp(log_dag_prior_sum(table))), 9)  # three nodes have 25 DAGs
    25.0
    """
    n = table.n
    by_size = factors_by_size(table)
    if by_size is not None:
        return _log_sum_by_layers(n, tuple(by_size.tolist()))
    require_memory(table, whole=False)
    steps = Steps(None, n + len(blocks(n, upwards=True)))
    return log_sum_over_dags(table, table.log_prior, steps)


def log_order_prior_sum(table: ScoreTable, /) -> float | None:
    """`log_prior_sum` when the factor q_i depends on the number of parents i only, else None.

    Every order has the same sum then: n! times the product over positions j of sum_i C(j, i) q_i.
    """
    by_size = factors_by_size(table)
    if by_size is None:
        return None
    log_z = math.lgamma(table.n + 1)
    for j in range(table.n):
        log_z += np.logaddexp.reduce(log_weights_of_sizes(by_size, j))
    return float(log_z)


def factors_by_size(table: ScoreTable, /) -> Floats | None:
    """ln of the prior factor by number of parents (k + 1,), or None where more matters."""
    sizes = np.bitwise_count(table.parents)
    by_size = np.array([table.log_prior[0, sizes[0] == i][0] for i in range(table.max_parents + 1)])
    return by_size if (table.log_prior == by_size[sizes]).all() else None


def log_weights_of_sizes(by_size: Floats, j: int, /) -> Floats:
    """ln of C(j, i) q_i, the prior weight of all i-subsets of j predecessors, i = 0..min(j, k)."""
    sizes = range(min(j, by_size.size - 1) + 1)
    weights: Floats = np.array([math.log(math.comb(j, i)) + by_size[i] for i in sizes])
    return weights


@lru_cache(maxsize=64)
def _log_sum_by_layers(n: int, by_size: tuple[float, ...]) -> float:
    log_a = np.full((n + 1, n + 1), -math.inf)  # [j, s]
    log_c = np.full((n, n), -math.inf)  # [j, t]: parents among j, some of them among the last t
    for j in range(1, n):
        for t in range(1, j + 1):
            log_c[j, t] = np.logaddexp.reduce(_log_touching(by_size, j, t))
    for j in range(1, n + 1):
        log_a[j, j] = j * by_size[0]
        for s in range(1, j):
            paths = log_a[j - s, 1 : j - s + 1] + s * log_c[j - s, 1 : j - s + 1]
            log_a[j, s] = math.log(math.comb(j, s)) + np.logaddexp.reduce(paths)
    log_sum = float(np.logaddexp.reduce(log_a[n]))
    if log_sum == -math.inf:
        raise ValueError(NO_DAG)
    return log_sum


def _log_touching(by_size: tuple[float, ...], j: int, t: int) -> list[float]:
    """ln of q_i times the number of i-subsets of j nodes that hold some of t given ones, i >= 1."""
    sizes = range(1, min(j, len(by_size) - 1) + 1)
    return [math.log(math.comb(j, i) - math.comb(j - t, i)) + by_size[i] for i in sizes]
