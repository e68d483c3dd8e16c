"""Marginal likelihoods of measurements, for all sets of up to k variables at once.

Sets and their ranks are those of `counting`. The codes in a set split the rows into groups, and
each group has Normal means and covariances of its own for the measurements in the set.
"""

import math
from typing import NamedTuple

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.counting import next_set, refine

LOG_PI = math.log(math.pi)


class WishartPrior(NamedTuple):
    """Of measurements: alpha_mu, alpha_w less the number of variables, and t."""

    alpha_mu: float
    excess: float
    t: float


@kernel
def set_scores(columns, codes, arities, steps, of_all, prior, split, out):
    """out[rank] = ln p(measurements of the set | its codes), a set before those that extend it.

    columns and codes (n, m); arities (n,): 0 for measurements; of_all: sums and products of all.
    """
    (choose, first), member = steps, split.member
    k, n = member.size, len(columns)
    level = np.zeros(k, np.int64)  # at which size the rows were split last, by codes
    sums, products, among = np.empty(k), np.empty((k, k)), np.empty(k, np.int64)
    out[0] = 0.0
    size = next_set(np.int64(0), split, choose, n)
    while size > 0:
        x = member[size]
        level[size] = level[size - 1]
        if arities[x] > 0:
            refine(split, level[size - 1], size, codes[x], arities[x], 1)
            level[size] = size
        c = 0
        for s in range(1, size + 1):
            if arities[member[s]] == 0:
                among[c] = member[s]
                c += 1
        total, at = 0.0, level[size]
        if c > 0:
            for g in range(split.groups[at]):
                rows = split.rows[at, split.starts[at, g] : split.starts[at, g + 1]]
                if at == 0:
                    for i in range(c):
                        sums[i] = of_all[0][among[i]]
                        for j in range(i + 1):
                            products[i, j] = of_all[1][among[i], among[j]]
                else:
                    _add_up(columns, among[:c], rows, sums, products)
                total += log_marginal(sums[:c], products, rows.size, prior)
        out[first[size] + split.partial[size]] = total
        size = next_set(size, split, choose, n)


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

    [GeigerHeckerman2002; KuipersMoffaHeckerman2014]: with N rows, T = t I and the mean's weight a,
    |R| by Cholesky, where R = T + sum of x x' - sum x sum x' / (N + a).
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
