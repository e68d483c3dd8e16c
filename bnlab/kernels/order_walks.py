"""Random walks on node orders, at any temperature, alone or coupled.

The weight of an order is the product over its nodes of alpha_v(predecessors of v), the sum of
beta_v over the parent sets within the predecessors [FriedmanKoller2003]. A `source` of ln alpha is
the dense table (n, 2**(n-1)) by node and compact predecessors (small n), or the families of
`score_families` (any n <= 63). Moves propose a neighbour symmetrically, and are accepted with
probability min(1, ratio**beta).
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel, small
from bnlab.kernels.bits import accept, compact, copy_to, members, total, uniform
from bnlab.kernels.order_dp import LOG_2

SWAP, ADJACENT, RELOCATE = 0, 1, 2
TINY = 1e-250  # sums of scaled weights below this have lost digits to underflow
FLOOR = -(1 << 18) * LOG_2  # ln alpha, less its offset, where no family is allowed: packed ZERO

# Rows of the (5, n + 4) uint64 lists of predecessors, for sums over their sets: members x; C(x, 2);
# scratch; where sets must touch the last layer of a partition, how many of the first s members are
# in it, and those. One array costs less to hand on than a record of five.
INSIDE, PAIRS, ROWS, BELOW, RECENT = range(5)


@kernel
def walk(orders, source, plan, rng, record):
    """C coupled chains [NiinimakiKoivisto2013, sec. 2.3], or one alone; `orders` (C, n) move along.

    plan: (betas (T, C), thin, shares (2,) of `pick`): before record t each chain c makes `thin`
    moves at betas[t, c], and C - 1 exchanges of states are proposed. record: (kept (T, n) or (0,
    n), orders of the last chain; log_weights (T, C) of all at beta = 1; tally (B, C, 3, 2): moves
    tried and accepted by kind, in B equal spans of the records; exchanges (C - 1, 2) by pair).
    """
    (betas, thin, shares), (kept, log_weights, tally, exchanges) = plan, record
    before, scores = start(orders, source)
    order, mask, alpha = orders[0], before[0], scores[0]
    changed, masks, fresh = order.copy(), mask.copy(), alpha.copy()
    for t in range(betas.shape[0]):
        span = t * tally.shape[0] // betas.shape[0]
        for c in range(orders.shape[0]):
            if orders.shape[0] > 1:  # new views cost as much as half a move
                order, mask, alpha = orders[c], before[c], scores[c]
            beta = betas[t, c]
            for _ in range(thin):
                kind = pick(shares, rng)
                lo, hi = propose(order, kind, rng, changed)
                masks[lo] = mask[lo]
                score(source, changed, lo, hi, masks, fresh)
                tally[span, c, kind, 0] += 1
                if accept(beta * gain_of(fresh, alpha, lo, hi), rng):
                    tally[span, c, kind, 1] += 1
                    adopt(lo, hi, (changed, masks, fresh), (order, mask, alpha))
            log_weights[t, c] = total(alpha)
        for _ in range(orders.shape[0] - 1):
            exchange((orders, before, scores), betas[t], log_weights[t], rng, exchanges)
        if kept.shape[0] > 0:
            copy_to(order, kept[t])


@kernel
def start(orders, source):
    """Predecessors and ln alpha by position, (C, n) each, of the orders (C, n)."""
    before, scores = np.zeros(orders.shape, np.int64), np.empty(orders.shape)
    for c in range(orders.shape[0]):
        score(source, orders[c], np.int64(0), orders.shape[1] - 1, before[c], scores[c])
    return before, scores


@kernel
def weigh(source, orders):
    """ln weights (T,) of the orders (T, n)."""
    out = np.empty(orders.shape[0])
    for t in range(orders.shape[0]):
        _, scores = start(orders[t : t + 1], source)
        out[t] = total(scores[0])
    return out


@inner
def exchange(states, betas, log_weights, rng, tally):
    """Exchange two neighbours i, j with probability min(1, (w_j / w_i)**(beta_i - beta_j))."""
    i = np.int64(uniform(rng) * (betas.size - 1))
    j = i + 1
    gain = (betas[i] - betas[j]) * (log_weights[j] - log_weights[i])
    tally[i, 0] += 1
    if accept(gain, rng):
        tally[i, 1] += 1
        orders, before, scores = states
        for position in range(orders.shape[1]):
            orders[i, position], orders[j, position] = orders[j, position], orders[i, position]
            before[i, position], before[j, position] = before[j, position], before[i, position]
            scores[i, position], scores[j, position] = scores[j, position], scores[i, position]
        log_weights[i], log_weights[j] = log_weights[j], log_weights[i]


@inlined
def pick(shares, rng):
    """The kind of the next move, by cumulative shares (2,) of swaps and of adjacent ones."""
    u = uniform(rng)
    return SWAP if u < shares[0] else (ADJACENT if u < shares[1] else RELOCATE)


@kernel
def propose(order, kind, rng, changed):
    """Write a uniform neighbour of `order` to `changed` between lo and hi; return (lo, hi)."""
    n = order.size
    i = np.int64(uniform(rng) * (n - 1 if kind == ADJACENT else n))
    j = min(i + 1, n - 1)
    if kind != ADJACENT:
        j = np.int64(uniform(rng) * (n - 1))
        j = min(j + (j >= i), n - 1)
    lo, hi = min(i, j), max(i, j)
    if kind == RELOCATE:
        step = 1 if i < j else -1
        for position in range(i, j, step):
            changed[position] = order[position + step]
        changed[j] = order[i]
    else:
        for position in range(lo, hi + 1):
            changed[position] = order[position]
        changed[lo], changed[hi] = order[hi], order[lo]
    return lo, hi


@inlined
def gain_of(fresh, scores, lo, hi):
    """What the scores at positions lo..hi gain together."""
    gain = 0.0
    for position in range(lo, hi + 1):
        gain += fresh[position] - scores[position]
    return gain


@inlined
def adopt(lo, hi, proposed, current):
    """Copy the positions lo..hi of each array in `proposed` to `current`."""
    (changed, masks, fresh), (order, before, scores) = proposed, current
    for position in range(lo, hi + 1):
        order[position] = changed[position]
        before[position] = masks[position]
        scores[position] = fresh[position]


@kernel
def score(source, nodes, lo, hi, masks, out):
    """Fill ln alpha and predecessors of the positions lo..hi; masks[lo] is given."""
    if isinstance(source, tuple):  # known by type: one branch is compiled
        score_families(source, nodes, lo, hi, masks, out)
    else:
        mask = masks[lo]
        for position in range(lo, hi + 1):
            v = nodes[position]
            masks[position] = mask
            out[position] = source[v, compact(mask, v)]
            mask |= np.int64(1) << v


@inner
def score_families(families, nodes, lo, hi, masks, out):
    """`score` by sums over families.

    families: (weights (n, F + C(n-1, 2)) = exp(log_phi - offset) by rank, then zeros; offsets;
    choose, first of `counting`; log_phi and parents, for predecessors where all weights underflow).
    """
    weights, offsets, choose, first, log_phi, parents = families
    lists = np.zeros((5, choose.shape[0] + 4), np.uint64)
    mask = masks[lo]
    for position in range(lo, hi + 1):
        v = nodes[position]
        masks[position] = mask
        count = list_members(compact(mask, v), np.int64(0), choose, lists)
        of_v, total = weights[v], weights[v, 0]
        for size in range(1, min(first.size - 2, count) + 1):
            total += sum_of_size(of_v, lists, count, first[size], size, choose)
        if total > TINY:
            out[position] = math.log(total) + offsets[v]
        else:
            out[position] = log_sum_within(log_phi[v], parents[v], mask, offsets[v])
        mask |= np.int64(1) << v


@inner
def list_members(before, last, choose, lists):
    """Fill the lists with compact sets; return the size of `before`."""
    inside, pairs, below, recent = lists[INSIDE], lists[PAIRS], lists[BELOW], lists[RECENT]
    count, touching = 0, 0
    below[0] = 0
    for x in members(before):
        inside[count] = x
        pairs[count] = choose[x, 2] if choose.shape[1] > 2 else 0
        if (last >> x) & 1:
            recent[touching] = x
            touching += 1
        count += 1
        below[count] = touching
    return count


@inner
def sum_of_size(weights, lists, count, base, size, choose):
    """Sum of weights[base + rank(G)] over the sets G of `size` of the first `count` members."""
    inside, pairs, rows = lists[INSIDE], lists[PAIRS], lists[ROWS]
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


@inner
def sum_triples(weights, inside, pairs, rows, count):
    """Sum of weights[rows[t] + pairs[s] + inside[r]] over r < s < t < count, four t at a time."""
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


@small
def sum_row(weights, base, members, count):
    """Sum of weights[base + x] over the first `count` members x, as four independent sums."""
    sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
    fours = count & ~3
    for r in range(0, fours, 4):
        sum0 += weights[base + members[r]]
        sum1 += weights[base + members[r + 1]]
        sum2 += weights[base + members[r + 2]]
        sum3 += weights[base + members[r + 3]]
    for r in range(fours, count):
        sum0 += weights[base + members[r]]
    return (sum0 + sum1) + (sum2 + sum3)


@inner
def log_sum_within(log_phi, parents, mask, offset):
    """ln of the sum of beta over the parents (F,) within `mask`, at least offset + FLOOR."""
    best, total = -np.inf, 0.0
    for f in range(parents.size):
        if parents[f] & ~mask == 0:
            best = max(best, log_phi[f])
    if best <= offset + FLOOR:
        return offset + FLOOR
    for f in range(parents.size):
        if parents[f] & ~mask == 0:
            total += math.exp(log_phi[f] - best)
    return best + math.log(total)


@kernel
def move_each(orders, source, plan, rng, record):
    """Move each of the orders (P, n) along in place, as `walk` does; no moves only weigh them."""
    beta, moves, shares = plan
    weights, tally = record[0].reshape(-1, 1), record[1]
    unkept, alone = np.empty((0, orders.shape[1]), np.int64), np.empty((0, 2), np.int64)
    plan_of_one = np.full((1, 1), beta), moves, shares
    for p in range(orders.shape[0]):
        kept = (unkept, weights[p : p + 1], tally, alone)
        walk(orders[p : p + 1], source, plan_of_one, rng, kept)
