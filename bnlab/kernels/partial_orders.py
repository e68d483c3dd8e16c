"""Random walks on bucket orders of nodes, and linear orders drawn from them.

A bucket order is a sequence of sets (buckets) of equal size, the last perhaps smaller: all nodes of
a bucket come before those of the next, and within one they may come in any order. Its weight is the
sum of the weights of the linear orders that extend it, a product over buckets of a dynamic program
over the subsets of each [NiinimakiParviainenKoivisto2011].

A bucket order is an array of n nodes, cut every `bucket` places.
"""

import math

import numpy as np
from numba import njit

from bnlab.kernels import walks
from bnlab.kernels.subsets import trailing_zeros


@njit(cache=True, nogil=True)
def walk(order, source, plan, rng, record):
    """Move a bucket order (n,) along in place, and draw linear orders from it.

    plan: (bucket, lead, thin): `lead` moves, then `thin` before each record. A move swaps two nodes
    of different buckets; it changes the sums of these and of those between.
    record: (orders (T, n), log_targets (T,) of the orders, log_weights (T,) of the bucket orders,
    tally (2,): moves tried and accepted, the lead left out). source as in `walks`.
    """
    bucket, lead, thin = plan
    orders, log_targets, log_weights, tally = record
    count = -(-order.size // bucket)
    before, scores = np.zeros(count + 1, np.int64), np.empty(count)
    scratch = (np.empty((bucket, 1 << bucket)), np.empty(1 << bucket), np.empty(bucket, np.int64))
    rescore(source, order, (0, count, bucket), before, scores, scratch)
    state = order, before, scores
    move(state, source, (bucket, lead), rng, np.zeros_like(tally), scratch)
    for t in range(orders.shape[0]):
        move(state, source, (bucket, thin), rng, tally, scratch)
        log_weights[t] = scores.sum()
        orders[t] = order
        log_targets[t] = 0.0
        for i in range(count):
            nodes = orders[t, i * bucket : (i + 1) * bucket]
            extend(source, nodes, before[i], scratch)
            log_targets[t] += draw(nodes, scratch, rng)


@njit(cache=True, nogil=True)
def move(state, source, plan, rng, tally, scratch):
    """So many Metropolis moves of a state: order, nodes before each bucket, ln sum of each."""
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
        gain = 0.0
        for a in range(lo, hi):
            gain += fresh[a] - scores[a]
        tally[0] += 1
        if gain >= 0.0 or rng.random() < math.exp(gain):
            tally[1] += 1
            order[i], order[j] = changed[i], changed[j]
            before[lo:hi], scores[lo:hi] = fresh_before[lo:hi], fresh[lo:hi]
        else:
            changed[i], changed[j] = order[i], order[j]
            fresh_before[lo:hi], fresh[lo:hi] = before[lo:hi], scores[lo:hi]


@njit(cache=True, nogil=True)
def propose(n, bucket, rng):
    """A uniform place, and a uniform place in the other buckets."""
    i = int(rng.random() * n)
    start = i // bucket * bucket
    size = min(bucket, n - start)
    j = int(rng.random() * (n - size))
    return i, j + size if j >= start else j


@njit(cache=True, nogil=True)
def rescore(source, order, span, before, scores, scratch):
    """Fill the nodes before and ln sum of the buckets lo..hi - 1; before[lo] is given.

    span: (lo, hi, bucket).
    """
    lo, hi, bucket = span
    mask = before[lo]
    for i in range(lo, hi):
        nodes = order[i * bucket : (i + 1) * bucket]
        before[i] = mask
        scores[i] = extend(source, nodes, mask, scratch)
        for v in nodes:
            mask |= np.int64(1) << v


@njit(cache=True, nogil=True)
def extend(source, nodes, before, scratch):
    """ln of the sum over orders of `nodes` of the product of alpha_v(before and those placed).

    g(S) = sum over v in S of alpha_v(before + S - v) g(S - v), g(0) = 1, over subsets S of places.
    scratch: (terms (b, 2**b), ln of the terms of each S by last place; g (2**b,), ln; (b,)).
    """
    terms, g, _ = scratch
    mask, alpha = np.empty(1, np.int64), np.empty(1)
    full = (1 << nodes.size) - 1
    g[: full + 1] = -np.inf
    g[0] = 0.0
    for s in range(full + 1):
        if s > 0:
            g[s] = log_sum(terms, s)
        mask[0] = before
        rest = s
        while rest:
            mask[0] |= np.int64(1) << nodes[trailing_zeros(rest)]
            rest &= rest - 1
        rest = full ^ s
        while rest:
            place = trailing_zeros(rest)
            rest &= rest - 1
            walks.score(source, nodes[place : place + 1], 0, 0, mask, alpha)
            terms[place, s | 1 << place] = g[s] + alpha[0]
    return g[full]


@njit(cache=True, nogil=True)
def log_sum(terms, s):
    """ln of the sum of exp(terms[place, s]) over the places in s."""
    best, total = -np.inf, 0.0
    rest = s
    while rest:
        best = max(best, terms[trailing_zeros(rest), s])
        rest &= rest - 1
    while s >> rest:
        if (s >> rest) & 1:
            total += math.exp(terms[rest, s] - best)
        rest += 1
    return best + math.log(total)


@njit(cache=True, nogil=True)
def draw(nodes, scratch, rng):
    """Order the nodes of a bucket in place, from the last, by the terms of `extend`.

    Returns the ln weight of that order.
    """
    terms, g, given = scratch
    given[: nodes.size] = nodes
    s, log_weight = (1 << nodes.size) - 1, 0.0
    for position in range(nodes.size - 1, -1, -1):
        u, rest, place = rng.random(), s, 0
        while rest:
            place = trailing_zeros(rest)
            rest &= rest - 1
            u -= math.exp(terms[place, s] - g[s])
            if u < 0.0:
                break
        nodes[position] = given[place]
        left = s ^ (1 << place)
        log_weight += terms[place, s] - g[left]
        s = left
    return log_weight
