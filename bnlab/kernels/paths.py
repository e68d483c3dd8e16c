"""Ancestor probabilities under the order-modular prior, one ancestor at a time."""

import numpy as np

from bnlab.kernels import inlined, kernel
from bnlab.kernels.bits import compact, expand, popcount
from bnlab.kernels.extended import FRACTION, FRACTION_BITS, ONE_BITS, mul, to_log


@kernel
def first_states(first):
    """first[M] = how many pairs (M', T), T subset of M', come before those of M; returns them all.

    first (2**b,); the pairs of M are its 2**|M| subsets T in increasing order.
    """
    total = 0
    for m in range(first.size):
        first[m] = total
        total += 1 << popcount(m)
    return total


@kernel
def descendants(source, alpha, g, first, share, out):
    """out[v] = p(the source is a proper ancestor of v | D); [ParviainenKoivisto2011].

    share[first[M] + rank of T] is the probability, given that the nodes M + source come first in
    the order, that T are those among them that descend from the source. Adding v last, with B the
    nodes before it, w = p(v is last in B + v) and r = alpha_v(B less T and source) / alpha_v(B): v
    has no parent in T + source with probability r, and joins T with probability 1 - r. alpha (n,
    2**(n-1)), g (2**n,) packed; share (3**(n-1),) is scratch; M and T compact, without the source;
    out (n,).
    """
    n, one = alpha.shape[0], np.int64(1)
    for m in range(first.size):
        nodes = expand(m, source) | one << source
        here = share[first[m] : first[m] + (1 << popcount(m))]
        here[:] = 0.0
        here[0] = _last(alpha, g, nodes, source)
        place = np.int64(0)
        for bit in range(n - 1):
            if (m >> bit) & 1:
                rest = m ^ (one << bit)
                v = bit + (bit >= source)
                weight = _last(alpha, g, nodes, v)
                before = share[first[rest] : first[rest] + here.size // 2]
                _add_last(alpha[v], nodes ^ (one << v), (source, v, place), weight, before, here)
                place += 1
    out[:] = 0.0
    everything = share[first[first.size - 1] :]
    for t in range(everything.size):
        for bit in range(n - 1):
            if (t >> bit) & 1:
                out[bit + (bit >= source)] += everything[t]


@kernel
def _add_last(alpha, before, at, weight, share, out):
    """Add node v behind the nodes `before`: the step of `descendants` from `share` to `out`.

    at = (source, v, place of v among the other nodes than the source); weight = w.
    """
    source, v, place = at
    others = before ^ (np.int64(1) << source)
    most = alpha[compact(before, v)]
    low = np.int64(1) << place
    outside = others
    for t in range(share.size):
        joint = weight * share[t]
        alone = joint * _ratio(alpha[compact(outside, v)], most)
        rank = (t & (low - 1)) | (t & ~(low - 1)) << 1
        out[rank] += alone
        out[rank | low] += joint - alone
        outside = (outside - 1) & others


@inlined
def _ratio(a, b):
    """a / b as a double, of packed numbers a <= b; 0 beyond 2**-1000."""
    exponents = (a & ~FRACTION) - (b & ~FRACTION)
    if exponents < -1000 << FRACTION_BITS:
        return 0.0
    above = np.int64(((a & FRACTION) << 8 | ONE_BITS) + (exponents << 8)).view(np.float64)
    return above / np.int64((b & FRACTION) << 8 | ONE_BITS).view(np.float64)


@inlined
def _last(alpha, g, nodes, v):
    """p(v is last in the order of these nodes | D, they come first); [HeTianWu2016, eq. 18]."""
    rest = nodes ^ (np.int64(1) << v)
    return np.exp(to_log(mul(alpha[v, compact(rest, v)], g[rest])) - to_log(g[nodes]))
