"""Sums over all DAGs: alphas of any range, blocks of work, memory; and sums of prior factors."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bnlab import memory
from bnlab.checks import Floats, Ints, checked
from bnlab.errors import Part, Public
from bnlab.kernels import dag_dp
from bnlab.running import Steps
from bnlab.scores import ScoreTable, array_bytes

BLOCK_PAIRS = 30_000_000  # pairs of a set and a subset summed in about 100 ms
NO_DAG = "the required and forbidden edges, or the prior, leave no DAG: relax them"


class Alphas(NamedTuple):
    """alpha_v(S) = values * 2**exponents * exp(log_scale[v]), S without v's bit ("compact").

    values float64 (n, 2**(n-1)), exponents int64 (n, 2**(n-1)); log_scale (n,) nats; inside,
    completing int64 (2**n,), the exponents of the sums over DAGs (see kernels.dag_dp.heaviest).
    """

    values: Floats
    exponents: Ints
    log_scale: Floats
    inside: Ints
    completing: Ints

    def log_z(self, value: float) -> float:
        """ln of a sum over all DAGs whose mantissa is `value`; a ValueError when that is 0."""
        if value <= 0.0:
            raise ValueError(NO_DAG)
        return float(
            math.log(value) + self.inside[-1] * dag_dp.LOG_2 + math.fsum(self.log_scale.tolist())
        )


def dag_alphas(table: ScoreTable, log_phi: Floats, steps: Steps, /) -> Alphas:
    """The alphas of all nodes and sets, n steps, for weights log_phi (n, F) in nats."""
    n = table.n
    values, exponents = np.empty((n, 1 << (n - 1))), np.empty((n, 1 << (n - 1)), np.int64)
    log_scale = log_phi.max(axis=1)
    for v in range(n):
        scaled = log_phi[v] - log_scale[v]
        dag_dp.parent_set_sums(v, table.parents[v], scaled, values[v], exponents[v])
        steps.tick()
    inside, completing = np.empty(1 << n, np.int64), np.empty(1 << n, np.int64)
    dag_dp.heaviest(exponents, inside, completing)
    return Alphas(values, exponents, log_scale, inside, completing)


def blocks(n: int, /, *, upwards: bool) -> list[tuple[int, int]]:
    """Ranges of sets S, about 100 ms each, for sums over the supersets or the subsets of each S."""
    out: list[tuple[int, int]] = []
    pending, pairs = [(0, n)], BLOCK_PAIRS
    while pending:
        first, free = pending.pop()  # the sets that share their elements above the lowest `free`
        size = (first >> free).bit_count()
        cost = 3**free << (n - free - size if upwards else size)
        if cost > BLOCK_PAIRS and free > 0:
            half = first + (1 << (free - 1))
            pending += [(half, free - 1), (first, free - 1)]
        elif pairs + cost <= BLOCK_PAIRS:
            out[-1], pairs = (out[-1][0], first + (1 << free)), pairs + cost
        else:
            out.append((first, first + (1 << free)))
            pairs = cost
    return out


def sums_inside(alphas: Alphas, steps: Steps, /) -> Floats:
    """Mantissas (2**n,) of the sums over the DAGs on each set, exponents `alphas.inside`."""
    n = len(alphas.values)
    r = np.zeros(1 << n)
    r[0] = 1.0
    for first, last in blocks(n, upwards=True):
        dag_dp.forward(alphas.values, alphas.exponents, r, alphas.inside, first, last)
        steps.tick()
    return r


def log_sum_over_dags(table: ScoreTable, log_phi: Floats, steps: Steps, /) -> float:
    """ln of the sum over DAGs of the product of beta_v, nats; n + len(blocks) steps.

    O(3**n) time and `sum_bytes` memory [TianHe2009].
    """
    alphas = dag_alphas(table, log_phi, steps)
    return alphas.log_z(float(sums_inside(alphas, steps)[-1]))


def sum_bytes(n: int, /, *, max_parents: int | None = None) -> int:
    """Bytes that `log_sum_over_dags` takes, arrays like the score table aside.

    With max_parents, those arrays are counted too.
    """
    return ((16 * n + 80) << (n - 1)) + _table_arrays(n, max_parents)


def posterior_bytes(n: int, /, *, max_parents: int | None = None) -> int:
    """Bytes that `dag_posterior` takes; max_parents as for `sum_bytes`."""
    return ((24 * n + 88) << (n - 1)) + _table_arrays(n, max_parents)


def _table_arrays(n: int, max_parents: int | None) -> int:
    return 0 if max_parents is None else 4 * array_bytes(n, max_parents)


def require_memory(table: ScoreTable, /, *, whole: bool) -> None:
    """A ValueError when the posterior (`whole`), or the sum alone, does not fit."""
    walk = ", walk with ", Public("sample_partitions")
    draw = ", or use draws from ", Public("order_posterior"), " and ", Public("reweight_unique")
    count = posterior_bytes if whole else sum_bytes
    require_reach(table, count, "the exact sum over DAGs", *walk, *draw)


def require_reach(table: ScoreTable, count: Callable[..., int], task: str, *others: Part) -> None:
    """A ValueError, with how many variables fit, when the bytes that `count` tells do not.

    others : what may be done in place of choosing fewer variables
    """

    def remedy(free: int) -> tuple[Part, ...]:
        fits = next((n for n in range(table.n - 1, 1, -1) if count(n) <= free), 1)
        fewer = f"it reaches n={fits} here. Choose that many variables with "
        return fewer, Public("Data.select"), *others

    needed = count(table.n, max_parents=table.max_parents)
    memory.require(needed, task=f"n={table.n}: {task}", remedy=remedy)


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
