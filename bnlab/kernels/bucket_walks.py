"""Random walks on bucket orders of nodes, and linear orders drawn from them.

A bucket order is an array of n nodes, cut every `bucket` places: all nodes of a bucket come before
those of the next, and within one they may come in any order. Its weight is the sum of the weights
of the linear orders that extend it, a product over buckets of a dynamic program over the subsets of
each [NiinimakiParviainenKoivisto2011].
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel
from bnlab.kernels.bits import accept, compact, copy_to, members, total, trailing_zeros, uniform
from bnlab.kernels.order_walks import TINY, gain_of, log_sum_within, sum_row

# Rows of the (5, n + 4) uint64 lists of what may be parents of a node of a bucket: members, as bits
# of compact masks; the bit of each one's place in the bucket, 0 for those before it; how many of
# the first s members are before the bucket; those; where the others are.
MEMBERS, CODES, BELOW, EARLY, LATE = range(5)


@kernel
def walk(order, source, plan, rng, record):
    """Move a bucket order (n,) along in place, and draw linear orders from it.

    plan: (bucket, lead, thin). record: (orders (T, n), log_targets (T,) of the orders, log_weights
    (T,) of the bucket orders, tally (2,): moves tried and accepted, the lead left out).
    """
    bucket, lead, thin = plan
    orders, log_targets, log_weights, tally = record
    count = -(-order.size // bucket)
    before, scores = np.zeros(count + 1, np.int64), np.empty(count)
    sums, masks = np.empty((2, np.int64(1) << bucket)), np.empty(np.int64(1) << bucket, np.int64)
    scratch = np.empty((bucket, np.int64(1) << bucket)), sums[0], sums[1], masks
    rescore(source, order, (np.int64(0), count, bucket), before, scores, scratch)
    state = order, before, scores
    move(state, source, (bucket, lead), rng, np.zeros_like(tally), scratch)
    for t in range(orders.shape[0]):
        move(state, source, (bucket, thin), rng, tally, scratch)
        log_weights[t] = total(scores)
        copy_to(order, orders[t])
        log_targets[t] = 0.0
        for i in range(count):
            nodes = orders[t, i * bucket : (i + 1) * bucket]
            extend(source, nodes, before[i], scratch)
            log_targets[t] += draw(nodes, scratch, rng)


@kernel
def move(state, source, plan, rng, tally, scratch):
    """Swap nodes of different buckets of a state: order, nodes before each bucket, ln sums."""
    order, before, scores = state
    bucket, moves = plan
    if order.size <= bucket:  # one bucket: nothing to swap
        return
    changed, fresh_before, fresh = order.copy(), before.copy(), scores.copy()
    for _ in range(moves):
        i, j = propose(order.size, bucket, rng)
        lo, hi = min(i, j) // bucket, max(i, j) // bucket + 1
        changed[i], changed[j] = order[j], order[i]
        rescore(source, changed, (lo, hi, bucket), fresh_before, fresh, scratch)
        tally[0] += 1
        if accept(gain_of(fresh, scores, lo, hi - 1), rng):
            tally[1] += 1
            order[i], order[j] = changed[i], changed[j]
            copy_to(fresh_before[lo:hi], before[lo:hi])
            copy_to(fresh[lo:hi], scores[lo:hi])
        else:
            changed[i], changed[j] = order[i], order[j]
            copy_to(before[lo:hi], fresh_before[lo:hi])
            copy_to(scores[lo:hi], fresh[lo:hi])


@kernel
def propose(n, bucket, rng):
    """A uniform place, and a uniform place in the other buckets."""
    i = np.int64(uniform(rng) * n)
    start = i // bucket * bucket
    size = min(bucket, n - start)
    j = np.int64(uniform(rng) * (n - size))
    return i, j + size if j >= start else j


@inner
def rescore(source, order, span, before, scores, scratch):
    """Fill the nodes before and ln sum of buckets, span = (lo, hi, size); before[lo] is given."""
    lo, hi, bucket = span
    mask = before[lo]
    for i in range(lo, hi):
        nodes = order[i * bucket : (i + 1) * bucket]
        before[i] = mask
        scores[i] = extend(source, nodes, mask, scratch)
        for v in nodes:
            mask |= np.int64(1) << v


@kernel
def extend(source, nodes, before, scratch):
    """ln of the sum over orders of `nodes` of the product of alpha_v(before and those placed).

    g(S) = sum over v in S of alpha_v(before + S - v) g(S - v), g(0) = 1, over subsets S of places.
    scratch: (ln terms (b, 2**b) of each S by last place; ln g; sums; masks (2**b,)).
    """
    terms, g, sums, masks = scratch
    full = (np.int64(1) << nodes.size) - 1
    masks[0], g[0] = before, 0.0
    for s in range(1, full + 1):
        masks[s] = masks[s & (s - 1)] | np.int64(1) << nodes[trailing_zeros(s)]
    for place in range(nodes.size):
        if isinstance(source, tuple):  # known by type: one branch is compiled
            fill_families(source, nodes, place, masks, sums, terms[place])
        else:
            v, own = nodes[place], np.int64(1) << place
            for s in range(np.int64(1) << nodes.size):
                if not s & own:
                    terms[place, s | own] = source[v, compact(masks[s], v)]
    for s in range(1, full + 1):
        best, total = -np.inf, 0.0
        for place in members(s):
            terms[place, s] += g[s ^ (np.int64(1) << place)]
            best = max(best, terms[place, s])
        for place in members(s):
            total += math.exp(terms[place, s] - best)
        g[s] = best + math.log(total)
    return g[full]


@inner
def fill_families(families, nodes, place, masks, sums, out):
    """out[S + place] = ln alpha of the node at `place` after `before` and S, for all S without."""
    weights, offsets, choose, first, log_phi, parents = families
    v, own, size = nodes[place], np.int64(1) << place, np.int64(1) << nodes.size
    lists = np.zeros((5, choose.shape[0] + 4), np.uint64)
    count = list_members(nodes, place, masks[0], lists)
    sums[:size] = 0.0
    sums[0] = weights[v, 0]
    for k in range(1, min(first.size - 2, count) + 1):
        spread(weights[v], lists, count, (first[k], k, np.uint64(0)), choose, sums)
    for i in range(nodes.size):
        for s in range(size):
            if (s >> i) & 1:
                sums[s] += sums[s ^ (np.int64(1) << i)]
    for s in range(size):
        if s & own:
            continue
        if sums[s] > TINY:
            out[s | own] = math.log(sums[s]) + offsets[v]
        else:
            out[s | own] = log_sum_within(log_phi[v], parents[v], masks[s], offsets[v])


@inner
def list_members(nodes, place, before, lists):
    """Fill the lists for the node at `place`; return how many there are."""
    mask, v, count, early = before, nodes[place], 0, 0
    for u in nodes:
        mask |= np.int64(1) << u
    for x in members(mask & ~(np.int64(1) << v)):
        lists[MEMBERS, count] = x - (x > v)
        lists[CODES, count] = 0
        if (before >> x) & 1:
            lists[EARLY, early] = lists[MEMBERS, count]
            early += 1
        else:
            lists[LATE, count - early] = count
            for i in range(nodes.size):
                if nodes[i] == x:
                    lists[CODES, count] = np.int64(1) << i
        count += 1
        lists[BELOW, count] = early
    return count


@kernel
def spread(weights, lists, count, prefix, choose, sums):
    """Add weights[base + rank(G)] to sums[code of G], over sets G of the first `count` members."""
    base, size, code = prefix
    if size == 1:
        spread_row(weights, lists, count, base, code, sums)
        return
    for t in range(size - 1, count):
        row = base + choose[lists[MEMBERS, t], size]
        codes = code | lists[CODES, t]
        if size == 2:
            spread_row(weights, lists, t, row, codes, sums)
        else:
            spread(weights, lists, t, (row, size - 1, codes), choose, sums)


@inlined
def spread_row(weights, lists, count, base, code, sums):
    """`spread` of size 1: the members before the bucket in four independent sums, then the rest."""
    early = np.int64(lists[BELOW, count])
    sums[code] += sum_row(weights, base, lists[EARLY], early)
    for e in range(count - early):
        late = lists[LATE, e]
        sums[code | lists[CODES, late]] += weights[base + lists[MEMBERS, late]]


@kernel
def draw(nodes, scratch, rng):
    """Order the nodes of a bucket in place, last first, by the terms of `extend`; its ln weight."""
    terms, g, _, _ = scratch
    given = nodes.copy()
    s, log_weight = (np.int64(1) << nodes.size) - 1, 0.0
    for position in range(nodes.size - 1, -1, -1):
        u, place = uniform(rng), 0
        for place in members(s):
            u -= math.exp(terms[place, s] - g[s])
            if u < 0.0:
                break
        nodes[position] = given[place]
        left = s ^ (np.int64(1) << place)
        log_weight += terms[place, s] - g[left]
        s = left
    return log_weight
