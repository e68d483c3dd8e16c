"""Scores of single families, counted when they are first asked for.

A `source` is (families, counts). families: (log_beta (n, F), choose, first) as in
`kernels.structures`, nan where a family is not scored yet. counts: (columns (n, m) int32 states,
arities (n,), log_prior (n, F), sizes (t,), cell_counts, parent_counts, penalties, each (t, n)):
the last three are pseudo-counts and nats to take off for node v with sizes[t] parent
configurations. In a finished table all of them are empty.
"""

import numpy as np
from numba import njit

from bnlab.kernels.counting import cell_term
from bnlab.kernels.structures import score
from bnlab.kernels.subsets import compact, popcount, trailing_zeros


@njit(cache=True, nogil=True)
def log_beta_of(source, v, mask):
    """ln beta_v of a parent mask, worked out now if it was not yet; -inf for too many parents."""
    families, counts = source
    value = score(families, v, mask)
    if np.isnan(value):
        log_beta, choose, first = families
        rest, size, rank = compact(mask, v), 0, 0
        rank = first[popcount(rest)]
        while rest:
            size += 1
            rank += choose[trailing_zeros(rest), size]
            rest &= rest - 1
        value = counts[2][v, rank] + family_score(counts, v, mask)
        log_beta[v, rank] = value
    return value


@njit(cache=True, nogil=True)
def family_score(counts, v, mask):
    """The score of one family, nats: a sum over its cells, less one over its configurations."""
    columns, arities, _, sizes, cell_counts, parent_counts, penalties = counts
    m, q, r = columns.shape[1], 1, arities[v]
    configuration = np.zeros(m, np.int32)
    while mask:
        u = trailing_zeros(mask)
        mask &= mask - 1
        q *= arities[u]
        for i in range(m):
            configuration[i] = configuration[i] * np.int32(arities[u]) + columns[u, i]
    cells = np.zeros((q, r), np.int32)
    for i in range(m):
        cells[configuration[i], columns[v, i]] += 1
    t = np.searchsorted(sizes, float(q))
    total = -penalties[t, v]
    for j in range(q):
        rows = 0
        for count in cells[j]:
            rows += count
            total += cell_term(cell_counts[t, v], count)
        total -= cell_term(parent_counts[t, v], rows)
    return total


@njit(cache=True, nogil=True)
def log_targets(source, dags, out):
    """out[t] = ln of prior factor times likelihood of dags (N, n), node by node."""
    for t in range(dags.shape[0]):
        out[t] = 0.0
        for v in range(dags.shape[1]):
            out[t] += log_beta_of(source, v, dags[t, v])
