"""Scores of single families, counted when they are first asked for.

A `source` is (families, counts). families: (log_phi (n, F), choose, first) as in `dag_walks`, nan
where a family is not scored yet. counts: (columns (n, m) int32, words (sum of arities, m / 64)
uint64, first (n,), arities (n,), log_prior (n, F), sizes (t,), cell_counts, parent_counts,
penalties, each (t, n)): the last three are pseudo-counts and nats to take off for node v with
sizes[t] parent configurations. In a finished table all of them are empty.

`words` has the data again: bit i of its row first[v] + a is set where row i has state a at v.
Counting bits, 64 rows at a time, is the faster way for all but large families.
"""

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import members, popcount
from bnlab.kernels.counting import cell_term, family_rank
from bnlab.kernels.dag_walks import score

MOST_BY_BITS = 256  # cells of a family; for more of them counting row by row is as fast


@inner
def log_phi_of(source, v, mask):
    """ln beta_v of a parent mask, worked out now if it was not yet; -inf for too many parents."""
    (log_phi, choose, first), counts = source
    value = score(source[0], v, mask)
    if np.isnan(value):
        rank = family_rank(v, mask, choose, first)
        value = log_phi[v, rank] = counts[4][v, rank] + family_score(counts, v, mask)
    return value


@inner
def family_score(counts, v, mask):
    """The score of one family, nats: a sum over its cells, less one over its configurations."""
    columns, words, first, arities, _, sizes, cell_counts, parent_counts, penalties = counts
    q, r = 1, arities[v]
    for u in members(mask):
        q *= arities[u]
    cells = np.zeros((q, r), np.int32)
    if q * r <= MOST_BY_BITS:
        count_bits(words, first, arities, v, mask, cells)
    else:
        count_rows(columns, arities, v, mask, cells)
    t = np.searchsorted(sizes, float(q))
    total = -penalties[t, v]
    for j in range(q):
        in_all = 0
        for count in cells[j]:
            in_all += count
            total += cell_term(cell_counts[t, v], float(count))
        total -= cell_term(parent_counts[t, v], float(in_all))
    return total


@kernel
def count_rows(columns, arities, v, mask, cells):
    """cells[j, a] += the rows with state a of v and the j-th states of its parents, row by row."""
    m = columns.shape[1]
    configuration = np.zeros(m, np.int32)
    for u in members(mask):
        for i in range(m):
            configuration[i] = configuration[i] * np.int32(arities[u]) + columns[u, i]
    for i in range(m):
        cells[configuration[i], columns[v, i]] += 1


@kernel
def count_bits(words, first, arities, v, mask, cells):
    """As `count_rows`, 64 rows at a time: the words of v's states within those of each j."""
    k, d = popcount(mask), 0
    parents, digits = np.empty(k, np.int64), np.zeros(k, np.int64)
    for u in members(mask):
        parents[d] = u
        d += 1
    within = np.empty((k + 1, words.shape[1]), np.uint64)
    within[0] = ~np.uint64(0)
    d = 0
    for j in range(cells.shape[0]):
        for e in range(d, k):
            state = words[first[parents[e]] + digits[e]]
            for i in range(state.size):
                within[e + 1, i] = within[e, i] & state[i]
        for a in range(cells.shape[1]):
            state = words[first[v] + a]
            for i in range(state.size):
                cells[j, a] += popcount(within[k, i] & state[i])
        d = k - 1
        while d >= 0 and digits[d] == arities[parents[d]] - 1:
            digits[d] = 0
            d -= 1
        if d >= 0:
            digits[d] += 1


@kernel
def set_bits(columns, first, words):
    """Fill `words`, zero before, from `columns`: see above."""
    n, m = columns.shape
    for v in range(n):
        for i in range(m):
            words[first[v] + columns[v, i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel
def log_targets(source, dags, out):
    """out[t] = ln of prior factor times likelihood of dags (N, n), node by node."""
    for t in range(dags.shape[0]):
        out[t] = 0.0
        for v in range(dags.shape[1]):
            out[t] += log_phi_of(source, v, dags[t, v])
