"""Contingency counts and family scores.

Scores are computed for sets of variables ("cliques"), not for families: a Dirichlet or likelihood
score of node v with parents G is a sum over the cells of G + v minus a sum over the cells of G, and
each set serves every family that it completes.

Sets of equal size are ranked in colexicographic order: rank = sum over members x_1 < x_2 < ... of
C(x_i, i). All sets of up to k members stand one size after the other.
"""

import math

import numpy as np
from numba import njit

from bnlab.kernels.subsets import expand

LIKELIHOOD = -1.0  # in place of a pseudo-count: the term is N ln N


@njit(cache=True, nogil=True)
def cell_term(pseudo_count, count):
    """What a cell of `count` rows adds: ln Gamma(a + N) - ln Gamma(a), or N ln N.

    For large a the two logarithms agree in all their leading digits, so Stirling's series is
    subtracted term by term instead; its first term left out is below 1e-17 from a = 100 on.
    """
    a, big_n = pseudo_count, float(count)
    if count == 0:
        return 0.0
    if a == LIKELIHOOD:
        return big_n * math.log(big_n)
    if a < 100.0:
        return math.lgamma(a + big_n) - math.lgamma(a)
    x, y = 1.0 / (a + big_n), 1.0 / a
    series = (a + big_n - 0.5) * math.log1p(big_n / a) + big_n * math.log(a) - big_n
    return series + (x - y) / 12.0 - (x**3 - y**3) / 360.0 + (x**5 - y**5) / 1260.0


@njit(cache=True, nogil=True)
def cell_terms(pseudo_counts, out):
    """out[i, N] = cell_term(pseudo_counts[i], N), a table (t, L)."""
    for i in range(out.shape[0]):
        for count in range(out.shape[1]):
            out[i, count] = cell_term(pseudo_counts[i], count)


@njit(cache=True, nogil=True)
def binomials(n, k):
    """Table (n + 1, k + 1) of C(a, b); int64."""
    out = np.zeros((n + 1, k + 1), np.int64)
    out[:, 0] = 1
    for a in range(1, n + 1):
        for b in range(1, k + 1):
            out[a, b] = out[a - 1, b - 1] + out[a - 1, b]
    return out


@njit(cache=True, nogil=True)
def first_ranks(n, k):
    """Rank of the first set of each size 0..k+1 among all sets of n variables: (k + 2,)."""
    choose = binomials(n, k)
    out = np.zeros(k + 2, np.int64)
    for size in range(k + 1):
        out[size + 1] = out[size] + choose[n, size]
    return out


@njit(cache=True, nogil=True)
def next_clique(size, member, partial, choose, n):
    """Step from one set of variables to the next, a set before those that extend it.

    member (k + 1,): the set's variables, ascending, in member[1:size + 1], and -1 before them;
    partial (k + 1,): ranks of its first elements among the sets of equal size. Starts at size 0,
    the empty set; returns the size of the next set, 0 after the last.
    """
    if size < member.size - 1:
        member[size + 1] = member[size]
        size += 1
    while size > 0:
        member[size] += 1
        if member[size] < n:
            partial[size] = partial[size - 1] + choose[member[size], size]
            return size
        size -= 1
    return 0


@njit(cache=True, nogil=True)
def clique_cells(arities, max_size, out):
    """out[rank] = number of joint states of each set of up to `max_size` variables; float64."""
    n = arities.size
    choose, first = binomials(n, max_size), first_ranks(n, max_size)
    member = np.full(max_size + 1, -1, np.int64)
    partial = np.zeros(max_size + 1, np.int64)
    out[0] = 1.0
    size = next_clique(0, member, partial, choose, n)
    while size > 0:
        without = out[first[size - 1] + partial[size - 1]]
        out[first[size] + partial[size]] = without * arities[member[size]]
        size = next_clique(size, member, partial, choose, n)


@njit(cache=True, nogil=True)
def clique_scores(columns, arities, max_size, table_of, pseudo_counts, terms, out):
    """out[rank] = sum over the cells of a set of variables of its term, for all sets.

    columns (n, m) int32 states; table_of (C,): which row of pseudo_counts (t,) and terms (t, L)
    belongs to the set. The rows are split by one variable at a time; rows alone in their cell stay
    alone and become a count. The last variable of the largest sets is only counted.
    """
    n, m = columns.shape
    choose, first = binomials(n, max_size), first_ranks(n, max_size)
    member = np.full(max_size + 1, -1, np.int64)
    partial = np.zeros(max_size + 1, np.int64)
    rows = np.empty((max_size + 1, m), np.int32)
    starts = np.zeros((max_size + 1, m + 2), np.int32)
    groups = np.zeros(max_size + 1, np.int64)
    singles = np.zeros(max_size + 1, np.int64)
    counts = np.zeros(max(2, arities.max()), np.int32)
    rows[0] = np.arange(m)
    starts[0, 1] = m
    groups[0] = 1
    out[0] = _term(m, pseudo_counts[table_of[0]], terms[table_of[0]])
    size = next_clique(0, member, partial, choose, n)
    while size > 0:
        x, above, rank = member[size], size - 1, first[size] + partial[size]
        a, table = pseudo_counts[table_of[rank]], terms[table_of[rank]]
        split = (rows[above], starts[above], groups[above])
        cells = counts[: arities[x]]
        if size < max_size:
            groups[size] = _refine(split, columns[x], cells, rows[size], starts[size])
            kept, left = starts[above, groups[above]], starts[size, groups[size]]
            singles[size] = singles[above] + kept - left
            total = _sum_groups(starts[size], groups[size], a, table) + singles[size] * table[1]
        else:
            total = _sum_cells(split, columns[x], cells, a, table) + singles[above] * table[1]
        out[rank] = total
        size = next_clique(size, member, partial, choose, n)


@njit(cache=True, nogil=True, inline="always")
def _term(count, pseudo_count, terms):
    return terms[count] if count < terms.size else cell_term(pseudo_count, count)


@njit(cache=True, nogil=True)
def _refine(split, values, counts, rows_out, starts_out):
    """Split each group of rows by `values`, dropping rows left alone; how many groups result."""
    rows, starts, groups = split
    made, end = 0, 0
    for g in range(groups):
        for i in range(starts[g], starts[g + 1]):
            counts[values[rows[i]]] += 1
        for a in range(counts.size):
            size = counts[a]
            counts[a] = -1
            if size > 1:
                counts[a] = end
                end += size
                made += 1
                starts_out[made] = end
        for i in range(starts[g], starts[g + 1]):
            a = values[rows[i]]
            if counts[a] >= 0:
                rows_out[counts[a]] = rows[i]
                counts[a] += 1
        counts[:] = 0
    return made


@njit(cache=True, nogil=True)
def _sum_groups(starts, groups, pseudo_count, terms):
    total = 0.0
    for g in range(groups):
        total += _term(starts[g + 1] - starts[g], pseudo_count, terms)
    return total


@njit(cache=True, nogil=True)
def _sum_cells(split, values, counts, pseudo_count, terms):
    """Sum of the terms of the cells that splitting the groups by `values` would give."""
    rows, starts, groups = split
    total = 0.0
    for g in range(groups):
        begin, end = starts[g], starts[g + 1]
        if end - begin == 2:
            same = values[rows[begin]] == values[rows[begin + 1]]
            total += terms[2] if same else 2.0 * terms[1]
            continue
        for i in range(begin, end):
            counts[values[rows[i]]] += 1
        for a in range(counts.size):
            total += _term(counts[a], pseudo_count, terms)
            counts[a] = 0
    return total


@njit(cache=True, nogil=True)
def family_masks(n, k, out):
    """out[v] = parent masks (F,) of node v with up to k parents: by size, then colexicographic."""
    for v in range(n):
        f = 0
        for size in range(min(k, n - 1) + 1):
            mask = (np.int64(1) << size) - 1
            while mask < (np.int64(1) << (n - 1)):
                out[v, f] = expand(mask, v)
                f += 1
                if mask == 0:
                    break
                lowest = mask & -mask  # Gosper's next mask with as many bits
                ripple = mask + lowest
                mask = ripple | ((mask ^ ripple) >> 2) // lowest


@njit(cache=True, nogil=True)
def family_scores(v, parents, choose, first, joint, marginal, out):
    """out[f] = joint[rank of G_f + v] - marginal[rank of G_f]; parents (F,) masks of node v.

    joint and marginal are indexed by clique rank; `choose` and `first` are the binomials and first
    ranks that the ranks were made with.
    """
    for f in range(parents.size):
        size, rank, size_with, rank_with = 0, 0, 0, 0
        family = parents[f] | (np.int64(1) << v)
        x = 0
        while family:
            if family & 1:
                size_with += 1
                rank_with += choose[x, size_with]
                if x != v:
                    size += 1
                    rank += choose[x, size]
            family >>= 1
            x += 1
        out[f] = joint[first[size_with] + rank_with] - marginal[first[size] + rank]


@njit(cache=True, nogil=True)
def family_ranks(v, parents, choose, first, out):
    """out[t] = position of the family (v, parents[t]) among node v's families, -1 if too large.

    The inverse of `family_masks`; `choose` (n, k + 1) and `first` (k + 2,) are for n - 1 variables.
    """
    k = first.size - 2
    for t in range(parents.size):
        mask, x, size, rank = parents[t], 0, 0, 0
        while mask:
            if mask & 1:
                size += 1
                if size > k:
                    break
                rank += choose[x if x < v else x - 1, size]
            mask >>= 1
            x += 1
        out[t] = first[size] + rank if size <= k else -1
