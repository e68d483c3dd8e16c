"""Contingency counts, family scores, and predictive probabilities of rows.

A Dirichlet or likelihood score of node v with parents G is a sum over the cells of G + v minus one
over those of G. So scores are computed for sets of variables ("cliques"), each of which serves
every family that it completes. Sets of equal size are ranked in colexicographic order: rank = sum
over members x_1 < x_2 < ... of C(x_i, i). All sets of up to k members stand one size after the
other.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inlined, inner, kernel, small
from bnlab.kernels.bits import compact, members, popcount

LIKELIHOOD = -1.0  # in place of a pseudo-count: the term is N ln N


class Terms(NamedTuple):
    """What cells of N rows add to a score."""

    of_set: NDArray[np.int64]  # (C,), which pseudo-count a set of variables has, by rank
    pseudo_counts: NDArray[np.float64]  # (t,)
    values: NDArray[np.float64]  # (t, L), the `cell_term` of each and N < L


class Split(NamedTuple):
    """The rows of data split by the variables of a set, at each of its sizes s = 0..k."""

    member: NDArray[np.int64]  # (k + 1,), its variables, ascending, from place 1 on; -1 before
    partial: NDArray[np.int64]  # (k + 1,), ranks of its first elements among sets of equal size
    rows: NDArray[np.int32]  # (k + 1, m), row numbers, group after group
    starts: NDArray[np.int32]  # (k + 1, m + 2), where groups begin
    groups: NDArray[np.int64]  # (k + 1,), how many
    singles: NDArray[np.int64]  # (k + 1,), rows alone in their cell, which are no group
    counts: NDArray[np.int32]  # zeros, scratch


@inner
def cell_term(pseudo_count, count):
    """Return what a cell of `count` rows adds: ln Gamma(a + N) - ln Gamma(a), or N ln N."""
    a, big_n = pseudo_count, count
    if count == 0.0:
        return 0.0
    if a == LIKELIHOOD:
        return big_n * math.log(big_n)
    if a < 100.0:
        return math.lgamma(a + big_n) - math.lgamma(a)
    # Stirling's series term by term: the logarithms agree in their leading digits.
    x, y = 1.0 / (a + big_n), 1.0 / a
    series = (a + big_n - 0.5) * math.log1p(big_n / a) + big_n * math.log(a) - big_n
    cubes = x * x * x - y * y * y  # x**3 would be compiled as a function of its own
    fifths = x * x * (x * x) * x - y * y * (y * y) * y
    return series + (x - y) / 12.0 - cubes / 360.0 + fifths / 1260.0


@kernel
def cell_terms(pseudo_counts, out):
    """out[i, N] = cell_term(pseudo_counts[i], N), a table (t, L)."""
    for i in range(out.shape[0]):
        for count in range(out.shape[1]):
            out[i, count] = cell_term(pseudo_counts[i], float(count))


def binomials(n, k):
    """Return the table (n + 1, k + 1) of C(a, b); int64."""
    out = np.zeros((n + 1, k + 1), np.int64)
    out[:, 0] = 1
    for a in range(1, n + 1):
        out[a, 1:] = out[a - 1, :-1] + out[a - 1, 1:]
    return out


def first_ranks(n, k):
    """Return the rank of the first set of each size 0..k+1 among all sets of n variables."""
    return np.append(0, np.cumsum(binomials(n, k)[n]))


def _grown_sets(n, k):
    """Yield (x, smaller, larger): x added to sets `smaller`, a slice of ranks, makes `larger`."""
    choose, first = binomials(n, k), first_ranks(n, k)
    for size in range(1, k + 1):
        at = first[size]
        for x in range(size - 1, n):
            count = choose[x, size - 1]
            yield x, slice(first[size - 1], first[size - 1] + count), slice(at, at + count)
            at += count


def clique_cells(arities, max_size, out):
    """out[rank] = number of joint states of each set of up to `max_size` variables; float64."""
    out[0] = 1.0
    for x, smaller, larger in _grown_sets(arities.size, max_size):
        np.multiply(out[smaller], float(arities[x]), out=out[larger])


def family_masks(n, k, out):
    """out[v] = parent masks (F,) of node v with up to k parents: by size, then colexicographic."""
    masks = np.zeros(out.shape[1], np.int64)
    for x, smaller, larger in _grown_sets(n - 1, min(k, n - 1)):
        np.bitwise_or(masks[smaller], 1 << x, out=masks[larger])
    for v in range(n):
        low = masks & ((1 << v) - 1)
        out[v] = (masks - low) << 1 | low


def whole(m, max_size, arities):
    """Return the `Split` by no variable: all m rows are one group."""
    k = max_size + 1
    member, counts = np.full(k, -1), np.zeros(max(2, arities.max()), np.int32)
    rows, starts = np.empty((k, m), np.int32), np.zeros((k, m + 2), np.int32)
    partial, groups, singles = np.zeros((3, k), np.int64)
    rows[0], starts[0, 1], groups[0] = np.arange(m), m, 1
    return Split(member, partial, rows, starts, groups, singles, counts)


def clique_scores(columns, arities, max_size, terms, out):
    """out[rank] = sum over the cells of a set of variables of its term, for all sets."""
    n, m = columns.shape
    steps = binomials(n, max_size), first_ranks(n, max_size)
    _score_cliques(columns, arities, *steps, terms, whole(m, max_size, arities), out)


@kernel
def _score_cliques(columns, arities, choose, first, terms, split, out):
    """Fill `out` set by set, a set before those that extend it."""
    starts, groups, singles = split.starts, split.groups, split.singles
    out[0] = _term(terms, terms.of_set[0], columns.shape[1])
    size = next_set(np.int64(0), split, choose, len(columns))
    while size > 0:
        x, above, rank = split.member[size], size - 1, first[size] + split.partial[size]
        table, total, single = terms.of_set[rank], 0.0, singles[above]
        if size + 1 < groups.size:
            refine(split, above, size, columns[x], arities[x], 2)
            single += starts[above, groups[above]] - starts[size, groups[size]]
            singles[size] = single
            for g in range(groups[size]):
                total += _term(terms, table, starts[size, g + 1] - starts[size, g])
        else:
            total = _sum_cells(split, above, columns[x], arities[x], terms, table)
        out[rank] = total + single * terms.values[table, 1]
        size = next_set(size, split, choose, len(columns))


@inner
def next_set(size, split, choose, n):
    """Step to the next set of variables, after its subsets; return its size, 0 after the last."""
    member, partial = split.member, split.partial
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


@inlined
def _term(terms, table, count):
    if count < terms.values.shape[1]:
        return terms.values[table, count]
    return cell_term(terms.pseudo_counts[table], float(count))


@inner
def refine(split, above, size, values, arity, least):
    """Split each group of the size `above` by `values`, dropping what is not `least` rows."""
    counts, made, end = split.counts, 0, 0
    rows, starts = split.rows[above], split.starts[above]
    rows_out, starts_out = split.rows[size], split.starts[size]
    for g in range(split.groups[above]):
        for i in range(starts[g], starts[g + 1]):
            counts[values[rows[i]]] += 1
        for a in range(arity):
            count = counts[a]
            counts[a] = -1
            if count >= least:
                counts[a] = end
                end += count
                made += 1
                starts_out[made] = end
        for i in range(starts[g], starts[g + 1]):
            a = values[rows[i]]
            if counts[a] >= 0:
                rows_out[counts[a]] = rows[i]
                counts[a] += 1
        for a in range(arity):
            counts[a] = 0
    split.groups[size] = made


@inner
def _sum_cells(split, size, values, arity, terms, table):
    """Sum of the terms of the cells that splitting the groups by `values` would give."""
    rows, starts, counts = split.rows[size], split.starts[size], split.counts
    total = 0.0
    for g in range(split.groups[size]):
        begin, end = starts[g], starts[g + 1]
        if end - begin == 2:
            same = values[rows[begin]] == values[rows[begin + 1]]
            total += terms.values[table, 2] if same else 2.0 * terms.values[table, 1]
            continue
        for i in range(begin, end):
            counts[values[rows[i]]] += 1
        for a in range(arity):
            total += _term(terms, table, counts[a])
            counts[a] = 0
    return total


@kernel
def split_family(columns, arities, v, mask, pseudo_count, split):
    """The score of one family from the rows of the group that `split`, of its size, begins with."""
    size, total = 0, 0.0
    for u in members(mask):
        size += 1
        refine(split, size - 1, size, columns[u], arities[u], 1)
    rows, starts, counts = split.rows[size], split.starts[size], split.counts
    for g in range(split.groups[size]):
        for i in range(starts[g], starts[g + 1]):
            counts[columns[v, rows[i]]] += 1
        for a in range(arities[v]):
            total += cell_term(pseudo_count, float(counts[a]))
            counts[a] = 0
        total -= cell_term(pseudo_count * arities[v], float(starts[g + 1] - starts[g]))
    return total


@small
def colex_rank(mask, choose):
    """Return (size, rank among the sets of that size) of a compact mask."""
    size, rank = 0, 0
    for x in members(mask):
        size += 1
        rank += choose[x, size]
    return size, rank


@kernel
def family_scores(v, parents, choose, first, joint, marginal, out):
    """out[f] = joint[rank of G_f + v] - marginal[rank of G_f], clique ranks; parents (F,) masks."""
    for f in range(parents.size):
        size, rank = colex_rank(parents[f], choose)
        size_with, rank_with = colex_rank(parents[f] | np.int64(1) << v, choose)
        out[f] = joint[first[size_with] + rank_with] - marginal[first[size] + rank]


@kernel
def family_ranks(v, parents, choose, first, out):
    """out[t] = `family_rank` of (v, parents[t])."""
    for t in range(parents.size):
        out[t] = family_rank(v, parents[t], choose, first)


@small
def family_rank(v, mask, choose, first):
    """Where in `family_masks` a family is, -1 if too large; `choose`, `first` are for n - 1."""
    rest = compact(mask, v)
    if popcount(rest) > first.size - 2:
        return -1
    size, rank = colex_rank(rest, choose)
    return first[size] + rank


@kernel
def pair_counts(columns, weights, first, out):
    """Add the weighted counts of all pairs of states to out (S, S), single states on its diagonal.

    State a of variable u has place first[u] + a; S = first[n]. columns (n, m) int32, weights (m,).
    """
    n, m = columns.shape
    for u in range(n):
        for i in range(m):
            place = first[u] + columns[u, i]
            out[place, place] += weights[i]
        for v in range(u + 1, n):
            for i in range(m):
                out[first[u] + columns[u, i], first[v] + columns[v, i]] += weights[i]
            for a in range(first[u], first[u + 1]):
                for b in range(first[v], first[v + 1]):
                    out[b, a] = out[a, b]


@kernel
def information(pairs, first, out):
    """out[u, v] = mutual information of u and v times the number of rows, nats; 0 for u = v.

    Sum of N_ab ln(N_ab N / (N_a N_b)) over `pair_counts`, its terms in ascending order, so that
    tables equal but for the order of states, or transposed, give equal bits.
    """
    n = first.size - 1
    total, terms = 0.0, np.empty(np.diff(first).max() ** 2)
    for a in range(first[1]):
        total += pairs[a, a]
    for u in range(n):
        out[u, u] = 0.0
        for v in range(u + 1, n):
            count = 0
            for a in range(first[u], first[u + 1]):
                for b in range(first[v], first[v + 1]):
                    if pairs[a, b] > 0:
                        over, under = pairs[a, b] * total, pairs[a, a] * pairs[b, b]
                        if min(over, under) > 1e-290:
                            log_ratio = np.log(over / under)
                        else:  # products of tiny weights underflow
                            log_ratio = np.log(pairs[a, b]) - np.log(pairs[a, a])
                            log_ratio -= np.log(pairs[b, b]) - np.log(total)
                        terms[count] = pairs[a, b] * log_ratio
                        count += 1
            gain = 0.0
            for term in np.sort(terms[:count]):
                gain += term
            out[u, v] = out[v, u] = gain


@kernel
def log_means(v, families, columns, rows, arities, pseudo_counts, counts, out):
    """out[f, t] = ln of the posterior mean of p(x_v | x_G), x = rows[:, t]; [EatonMurphy2007, 5.3].

    (a_jk + N_jk) / (a_j + N_j) for the cell that row t falls into, N counts in `columns`; counts:
    zeros, scratch; for families of more cells, rows are compared one by one.
    """
    n, m = columns.shape
    parents, strides, cells_of = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    for f in range(families.size):
        cells, size = float(arities[v]), 0
        for u in members(families[f]):
            parents[size] = u
            strides[size] = cells if cells <= counts.size else 0
            cells *= arities[u]
            size += 1
        family, a_jk, a_j = parents[:size], pseudo_counts[0, f], pseudo_counts[1, f]
        if cells > counts.size:
            _compare(v, family, columns, rows, (a_jk, a_j), out[f])
            continue
        for i in range(m):
            cells_of[i] = columns[v, i] + _first_cell(family, strides, columns, i)
            counts[cells_of[i]] += 1
        for t in range(rows.shape[1]):
            first = _first_cell(family, strides, rows, t)
            total = counts[first : first + arities[v]].sum()
            out[f, t] = np.log((a_jk + counts[first + rows[v, t]]) / (a_j + total))
        for i in range(m):
            counts[cells_of[i]] = 0


@inlined
def _first_cell(family, strides, columns, i):
    """The cell of the parents' states in column i together with state 0 of the node."""
    cell = np.int64(0)
    for k in range(family.size):
        cell += strides[k] * columns[family[k], i]
    return cell


@inner
def _compare(v, family, columns, rows, pseudo_counts, out):
    """As `log_means` for one family, by comparing each of `rows` with each of `columns`."""
    a_jk, a_j = pseudo_counts
    for t in range(rows.shape[1]):
        n_jk, n_j = 0, 0
        for i in range(columns.shape[1]):
            same = True
            for u in family:
                same = same and columns[u, i] == rows[u, t]
            if same:
                n_j += 1
                n_jk += columns[v, i] == rows[v, t]
        out[t] = np.log((a_jk + n_jk) / (a_j + n_j))


@kernel
def log_mixture(log_weight, parts, terms, out):
    """out[t] = ln sum over u of exp(log_weight[u] + sum over c of terms[parts[u, c], t])."""
    rows = out.size
    best, total, log_p = np.full(rows, -np.inf), np.zeros(rows), np.empty(rows)
    for u in range(parts.shape[0]):
        log_p[:] = log_weight[u]
        for c in range(parts.shape[1]):
            if parts[u, c] >= 0:
                log_p += terms[parts[u, c]]
        for t in range(rows):
            if log_p[t] > best[t]:
                total[t] = total[t] * np.exp(best[t] - log_p[t]) + 1.0
                best[t] = log_p[t]
            else:
                total[t] += np.exp(log_p[t] - best[t])
    out[:] = best + np.log(total)
