"""Marginal likelihoods of measurements, for all sets of up to k variables at once.

Sets and their ranks are those of `counting`. The codes in a set split the rows into groups, and
each group has Normal means and covariances of its own for the measurements in the set.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inner, kernel
from bnlab.kernels.counting import binomials, first_ranks, next_set

LOG_PI = math.log(math.pi)


class Groups(NamedTuple):
    """The rows of data split by the codes of a set, at each of its sizes s = 0..k.

    member, partial (k + 1,): see `next_set`. rows (k + 1, m) int32: row numbers, group after group;
    starts (k + 1, m + 2) int32: where groups begin; many (k + 1,): how many there are; level (k +
    1,): the size at which the split of this size was made; counts: zeros, scratch.
    """

    member: NDArray[np.int64]
    partial: NDArray[np.int64]
    rows: NDArray[np.int32]
    starts: NDArray[np.int32]
    many: NDArray[np.int64]
    level: NDArray[np.int64]
    counts: NDArray[np.int32]


def set_scores(columns, codes, arities, max_size, prior, out):
    """out[rank] = ln p(measurements of the set | its codes), for all sets of up to max_size.

    columns (n, m) float64, codes (n, m) int32; arities (n,): 0 for measurements. prior: (alpha_mu,
    alpha_w - number of measured variables, t), see `log_marginal`.
    """
    n, m = columns.shape
    groups = Groups(
        np.full(max_size + 1, -1),
        np.zeros(max_size + 1, np.int64),
        np.empty((max_size + 1, m), np.int32),
        np.zeros((max_size + 1, m + 2), np.int32),
        np.zeros(max_size + 1, np.int64),
        np.zeros(max_size + 1, np.int64),
        np.zeros(max(2, arities.max()), np.int32),
    )
    groups.rows[0], groups.starts[0, 1], groups.many[0] = np.arange(m), m, 1
    whole = columns.sum(axis=1), columns @ columns.T
    steps = binomials(n, max_size), first_ranks(n, max_size)
    _score_sets(columns, codes, arities, steps, whole, prior, groups, out)


@kernel
def _score_sets(columns, codes, arities, steps, whole, prior, groups, out):
    """Fill `out` set by set, a set before those that extend it."""
    (choose, first), member, level = steps, groups.member, groups.level
    k, n = member.size, len(columns)
    sums, products, among = np.empty(k), np.empty((k, k)), np.empty(k, np.int64)
    out[0] = 0.0
    size = next_set(np.int64(0), groups, choose, n)
    while size > 0:
        x = member[size]
        level[size] = level[size - 1]
        if arities[x] > 0:
            _split(groups, size, codes[x], arities[x])
        c = 0
        for s in range(1, size + 1):
            if arities[member[s]] == 0:
                among[c] = member[s]
                c += 1
        total, at = 0.0, level[size]
        if c > 0:
            for g in range(groups.many[at]):
                rows = groups.rows[at, groups.starts[at, g] : groups.starts[at, g + 1]]
                if at == 0:
                    for i in range(c):
                        sums[i] = whole[0][among[i]]
                        for j in range(i + 1):
                            products[i, j] = whole[1][among[i], among[j]]
                else:
                    _add_up(columns, among[:c], rows, sums, products)
                total += log_marginal(sums[:c], products, rows.size, prior)
        out[first[size] + groups.partial[size]] = total
        size = next_set(size, groups, choose, n)


@inner
def _split(groups, size, codes, arity):
    """Split each group of the size before by codes."""
    above, counts, made, end = groups.level[size - 1], groups.counts, 0, 0
    rows, starts = groups.rows[above], groups.starts[above]
    for g in range(groups.many[above]):
        for i in range(starts[g], starts[g + 1]):
            counts[codes[rows[i]]] += 1
        for a in range(arity):
            count, counts[a] = counts[a], end
            if count > 0:
                end += count
                made += 1
                groups.starts[size, made] = end
        for i in range(starts[g], starts[g + 1]):
            a = codes[rows[i]]
            groups.rows[size, counts[a]] = rows[i]
            counts[a] += 1
        counts[:arity] = 0
    groups.many[size], groups.level[size] = made, size


@inner
def _add_up(columns, among, rows, sums, products):
    """Sums, and the lower triangle of sums of products, of some columns over some rows."""
    for i in range(among.size):
        sums[i] = 0.0
        for r in rows:
            sums[i] += columns[among[i], r]
        for j in range(i + 1):
            products[i, j] = 0.0
            for r in rows:
                products[i, j] += columns[among[i], r] * columns[among[j], r]


@inner
def log_marginal(sums, products, rows, prior):
    """ln p of `rows` rows of c measurements from their sums and sums of products, which it uses up.

    [GeigerHeckerman2002; KuipersMoffaHeckerman2014]: a Normal mean of prior mean 0 and weight a =
    alpha_mu, a Wishart precision with alpha_w - n + c degrees of freedom and T = t I. |R| by
    Cholesky, where R = T + sum of x x' - sum x sum x' / (N + a).
    """
    (a, excess, t), c, m = prior, sums.size, float(rows)
    degrees = excess + c
    log_det = 0.0
    for i in range(c):
        for j in range(i + 1):
            value = products[i, j] - sums[i] * sums[j] / (m + a) + (t if i == j else 0.0)
            for k in range(j):
                value -= products[i, k] * products[j, k]
            if i > j:
                products[i, j] = value / products[j, j]
            else:
                products[i, i] = math.sqrt(value)
                log_det += math.log(value)
    total = 0.5 * c * (math.log(a / (m + a)) - m * LOG_PI + degrees * math.log(t))
    for i in range(c):
        total += math.lgamma(0.5 * (m + degrees - i)) - math.lgamma(0.5 * (degrees - i))
    return total - 0.5 * (m + degrees) * log_det
