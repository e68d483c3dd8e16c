"""Random walks on node orders, at any temperature.

The weight of an order is the product over its nodes of alpha_v(predecessors of v), the sum of
beta_v over the parent sets within the predecessors [FriedmanKoller2003]. ln alpha comes from a
dense table over all predecessor sets (small n), or from sums over the families within the
predecessors (any n <= 63). Both are pure functions of node and predecessors, so a walk depends on
its first order, its settings and its generator alone.

Moves propose a neighbour symmetrically, and are accepted with probability min(1, ratio**beta).
"""

import math

import numpy as np
from numba import njit

from bnlab.kernels.logspace import LOG_2
from bnlab.kernels.subsets import compact

SWAP, ADJACENT, RELOCATE = 0, 1, 2
TINY = 1e-250  # sums of scaled weights below this have lost digits to underflow
FLOOR = -(1 << 18) * LOG_2  # ln alpha, less its offset, where no family is allowed: packed ZERO


@njit(cache=True, nogil=True)
def walk_dense(order, table, plan, rng, record):
    """A walk that reads ln alpha_v(S) from table (n, 2**(n-1)), S compact; `order` moves along.

    plan: (betas (T,), thin, shares (2,)): `thin` moves at betas[t] come before record t; shares are
    the cumulative probabilities of swaps, and of swaps or adjacent transpositions.
    record: (orders (T, n) or (0, n) to keep none, log_weights (T,) of the orders at beta = 1,
    tally (B, 3, 2)): moves tried and accepted by kind, added up in B equal spans of the records.
    """
    betas, thin, shares = plan
    orders, log_weights, tally = record
    changed, before, masks, scores, fresh = start(order)
    score_dense(table, changed, 0, order.size - 1, masks, scores)
    before[:] = masks
    for t in range(betas.size):
        span = t * tally.shape[0] // betas.size
        for _ in range(thin):
            kind = pick(shares, rng)
            lo, hi = propose(order, kind, rng, changed)
            masks[lo] = before[lo]
            score_dense(table, changed, lo, hi, masks, fresh)
            tally[span, kind, 0] += 1
            if accept(betas[t], lo, hi, fresh, scores, rng):
                tally[span, kind, 1] += 1
                adopt(lo, hi, (changed, masks, fresh), (order, before, scores))
        log_weights[t] = scores.sum()
        if orders.shape[0] > 0:
            orders[t] = order


@njit(cache=True, nogil=True)
def walk_families(order, families, plan, rng, record):
    """The same walk with ln alpha summed over families; `families` as in `score_families`."""
    betas, thin, shares = plan
    orders, log_weights, tally = record
    changed, before, masks, scores, fresh = start(order)
    score_families(families, changed, 0, order.size - 1, masks, scores)
    before[:] = masks
    for t in range(betas.size):
        span = t * tally.shape[0] // betas.size
        for _ in range(thin):
            kind = pick(shares, rng)
            lo, hi = propose(order, kind, rng, changed)
            masks[lo] = before[lo]
            score_families(families, changed, lo, hi, masks, fresh)
            tally[span, kind, 0] += 1
            if accept(betas[t], lo, hi, fresh, scores, rng):
                tally[span, kind, 1] += 1
                adopt(lo, hi, (changed, masks, fresh), (order, before, scores))
        log_weights[t] = scores.sum()
        if orders.shape[0] > 0:
            orders[t] = order


@njit(cache=True, nogil=True)
def start(order):
    """Scratch by position: proposed order, predecessors now and proposed, ln alpha likewise."""
    n = order.size
    before, masks = np.zeros(n, np.int64), np.zeros(n, np.int64)
    return order.copy(), before, masks, np.empty(n), np.empty(n)


@njit(cache=True, nogil=True, inline="always")
def pick(shares, rng):
    """The kind of the next move."""
    u = rng.random()
    return SWAP if u < shares[0] else (ADJACENT if u < shares[1] else RELOCATE)


@njit(cache=True, nogil=True)
def propose(order, kind, rng, changed):
    """Write a neighbour of `order` to `changed` between positions lo and hi; return (lo, hi).

    Swap of two positions, adjacent transposition, or one node taken out and put in elsewhere, each
    uniform, so that the proposal is symmetric. One node alone stays.
    """
    n = order.size
    i = int(rng.random() * (n - 1 if kind == ADJACENT else n))
    j = min(i + 1, n - 1)
    if kind != ADJACENT:
        j = int(rng.random() * (n - 1))
        j = min(j + (j >= i), n - 1)
    lo, hi = min(i, j), max(i, j)
    if kind == RELOCATE and i < j:
        for position in range(lo, hi):
            changed[position] = order[position + 1]
        changed[hi] = order[lo]
    elif kind == RELOCATE:
        for position in range(lo, hi):
            changed[position + 1] = order[position]
        changed[lo] = order[hi]
    else:
        for position in range(lo, hi + 1):
            changed[position] = order[position]
        changed[lo], changed[hi] = order[hi], order[lo]
    return lo, hi


@njit(cache=True, nogil=True, inline="always")
def accept(beta, lo, hi, fresh, scores, rng):
    """Metropolis: accept with probability min(1, exp(beta * gain))."""
    gain = 0.0
    for position in range(lo, hi + 1):
        gain += fresh[position] - scores[position]
    gain *= beta
    return gain >= 0.0 or rng.random() < math.exp(gain)


@njit(cache=True, nogil=True, inline="always")
def adopt(lo, hi, proposed, current):
    """Copy the positions lo..hi of each array in `proposed` to `current`."""
    changed, masks, fresh = proposed
    order, before, scores = current
    for position in range(lo, hi + 1):
        order[position] = changed[position]
        before[position] = masks[position]
        scores[position] = fresh[position]


@njit(cache=True, nogil=True)
def score_dense(table, nodes, lo, hi, masks, out):
    """Fill ln alpha and predecessors of the positions lo..hi; masks[lo] is given."""
    mask = masks[lo]
    for position in range(lo, hi + 1):
        v = nodes[position]
        masks[position] = mask
        out[position] = table[v, compact(mask, v)]
        mask |= np.int64(1) << v


@njit(cache=True, nogil=True)
def score_families(families, nodes, lo, hi, masks, out):
    """As `score_dense`, from sums over families.

    families: (weights (n, F + C(n-1, 2)) = exp(log_beta - offset) by rank, then zeros;
    offsets (n,); choose (n, k + 1) and first (k + 2,) for n - 1 nodes, uint64; log_beta (n, F) and
    parents (n, F), for predecessors where all weights underflow).
    """
    weights, offsets, choose, first, log_beta, parents = families
    lists = np.zeros((3, choose.shape[0] + 4), np.uint64)
    mask = masks[lo]
    for position in range(lo, hi + 1):
        v = nodes[position]
        masks[position] = mask
        total = sum_within(weights[v], compact(mask, v), choose, first, lists)
        if total > TINY:
            out[position] = math.log(total) + offsets[v]
        else:
            out[position] = log_sum_within(log_beta[v], parents[v], mask, offsets[v])
        mask |= np.int64(1) << v


@njit(cache=True, nogil=True)
def sum_within(weights, mask, choose, first, lists):
    """Sum of weights[rank(G)] over the sets G within a compact mask.

    Ranks are colexicographic within each size (counting). lists (3, n + 4): scratch for the members
    and, by member x, C(x, 2) and the start of its triples.
    """
    inside, pairs = lists[0], lists[1]
    count, x = 0, 0
    while mask:
        if mask & 1:
            inside[count] = x
            pairs[count] = choose[x, 2] if choose.shape[1] > 2 else 0
            count += 1
        mask >>= 1
        x += 1
    total = weights[0]
    for size in range(1, min(first.size - 2, count) + 1):
        total += sum_of_size(weights, lists, count, first[size], size, choose)
    return total


@njit(cache=True, nogil=True)
def sum_of_size(weights, lists, count, base, size, choose):
    """Sum of weights[base + rank(G)] over the sets G of `size` of the first `count` members."""
    inside, pairs, rows = lists[0], lists[1], lists[2]
    total = 0.0
    if size == 1:
        for r in range(count):
            total += weights[base + inside[r]]
    elif size == 2:
        for s in range(1, count):
            row = base + pairs[s]
            for r in range(s):
                total += weights[row + inside[r]]
    elif size == 3:
        for t in range(count):
            rows[t] = base + choose[inside[t], 3]
        rows[count : count + 3] = np.uint64(weights.size) - choose[choose.shape[0] - 1, 2]
        total = sum_triples(weights, inside, pairs, rows, count)
    else:
        for t in range(size - 1, count):
            row = base + choose[inside[t], size]
            total += sum_of_size(weights, lists, t, row, size - 1, choose)
    return total


@njit(cache=True, nogil=True)
def sum_triples(weights, inside, pairs, rows, count):
    """Sum of weights[rows[t] + pairs[s] + inside[r]] over r < s < t < count.

    Four t at a time make four independent sums; the rows past the last lead to zeros.
    """
    sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
    for s in range(1, count - 1):
        for t in range(s + 1, count, 4):
            row0, row1 = rows[t] + pairs[s], rows[t + 1] + pairs[s]
            row2, row3 = rows[t + 2] + pairs[s], rows[t + 3] + pairs[s]
            for r in range(s):
                x = inside[r]
                sum0 += weights[row0 + x]
                sum1 += weights[row1 + x]
                sum2 += weights[row2 + x]
                sum3 += weights[row3 + x]
    return (sum0 + sum1) + (sum2 + sum3)


@njit(cache=True, nogil=True)
def log_sum_within(log_beta, parents, mask, offset):
    """ln of the sum of beta over the parents (F,) within `mask`, relative to the largest of them.

    Where the scaled weights underflow; at least offset + FLOOR.
    """
    best, total = -np.inf, 0.0
    for f in range(parents.size):
        if parents[f] & ~mask == 0:
            best = max(best, log_beta[f])
    if best <= offset + FLOOR:
        return offset + FLOOR
    for f in range(parents.size):
        if parents[f] & ~mask == 0:
            total += math.exp(log_beta[f] - best)
    return best + math.log(total)
