"""Exact draws of DAGs from the signed sums over DAGs, layer by layer.

The first layer holds the nodes without parents, a later one those whose parents have all been
placed, one of them at least in the layer before. Deterministic given uniform numbers, which the
caller draws; draws in equal situations share their probabilities.
"""

import numpy as np
from numba import njit

from bnlab.kernels.dag_sums import alphas_at, completions, products, subtract
from bnlab.kernels.subsets import compact

LEAST_SHARE = 1e-14  # of alpha: a smaller difference of two is their rounding


@njit(cache=True, nogil=True)
def next_layers(placed, last, which, uniforms, sums, out):
    """out[t] = the layer after placed[which[t]], whose last layer is last[which[t]], as a mask.

    p(layer L) is proportional to the weight of all DAGs in which the nodes to come that could have
    been placed now are those of L [TalvitieEtAl2019]. placed, last (U,) masks, ascending; which
    (T,) sorted; uniforms (T,); sums: alpha, its exponents, B and its exponents, as `backward`
    leaves them. A mask 0 says that rounding has left no layer.
    """
    n, size = sums[0].shape[0], sums[2].size
    waiting, e = np.empty(size), np.empty(size, np.int64)
    cumulative = np.empty(size)
    nodes, factor, exponents = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
    current, a, k = -1, np.int64(-1), 0
    for t in range(which.size):
        if which[t] != current:
            current = which[t]
            if placed[current] != a:
                a = placed[current]
                k = alphas_at(a, nodes, sums[0], sums[1], factor, exponents)
                waiting[0], e[0] = 1.0, 0
                products(k, factor, exponents, waiting, e)
                completions((size - 1) ^ a, k, sums[2], sums[3], waiting, e)
                exactly(waiting[: 1 << k])
            shares_touching(a, last[current], nodes[:k], sums, factor)
            total = accumulate(k, waiting, factor, cumulative)
        out[t] = 0
        if total > 0.0:
            reached = min(uniforms[t] * total, np.nextafter(total, 0.0))
            c = np.searchsorted(cumulative[: 1 << k], reached, side="right")
            for i in range(k):
                out[t] |= ((c >> i) & 1) << nodes[i]


@njit(cache=True, nogil=True)
def exactly(h):
    """h[L] <- sum of (-1)**|C - L| h[C] over C superset of L, in place; (2**k,).

    From the weight with parents among the placed nodes for C, to that for no others than L.
    """
    d = h.size // 2
    while d:
        for b in range(0, h.size, 2 * d):
            subtract(h[b : b + d], h[b + d : b + 2 * d])
        d //= 2


@njit(cache=True, nogil=True)
def shares_touching(a, last, nodes, sums, out):
    """out[i] = the share of alpha_i(A) in parent sets that hold a node of the last layer."""
    for i in range(nodes.size):
        v = nodes[i]
        s, without = compact(a, v), compact(a & ~last, v)
        out[i] = 1.0
        if last and sums[0][v, s] > 0.0:
            # Exponents grow with the set: the power is 1 at most, and may well vanish.
            power = 2.0 ** float(sums[1][v, without] - sums[1][v, s])
            out[i] = 1.0 - sums[0][v, without] / sums[0][v, s] * power
            if out[i] < LEAST_SHARE:
                out[i] = 0.0


@njit(cache=True, nogil=True)
def accumulate(k, waiting, factor, cumulative):
    """Running sums over nonempty layers L of waiting[L] times the factors of L; their total."""
    cumulative[0] = 1.0
    for i in range(k):
        d = 1 << i
        for c in range(d):
            cumulative[d + c] = cumulative[c] * factor[i]
    total = cumulative[0] = 0.0
    for c in range(1, 1 << k):
        total += max(waiting[c], 0.0) * cumulative[c]
        cumulative[c] = total
    return total
