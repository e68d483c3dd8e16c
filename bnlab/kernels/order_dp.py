"""Zeta transforms and dynamic programs over the subsets of n nodes, draws of orders, and paths.

Arrays over subsets are by compact mask, see `bits`, and hold extended-range non-negative numbers
packed into one int64 each. A value 2**e * (1 + f) with 0 <= f < 1 is stored as the integer e *
2**44 + f * 2**44: a signed exponent of 20 bits above a fraction of 44 bits. The integers order like
the values, products and sums are a few vectorisable instructions, and e**(+-180,000) fits, where a
double ends at e**-745. Relative rounding error 2**-45 an operation. `ZERO` stands for 0: adding it
changes nothing, and products with it are clamped back to it.
"""

import math

import numpy as np

from bnlab.kernels import inner, kernel, small
from bnlab.kernels.bits import compact, expand, members, popcount, trailing_zeros

FRACTION_BITS = 44
UNIT = 1 << FRACTION_BITS
FRACTION = UNIT - 1
ONE_BITS = 0x3FF0000000000000  # the double 1.0
ZERO = -(1 << 18) << FRACTION_BITS
MOST_GAP = 1000 << FRACTION_BITS  # between terms: beyond it the smaller one changes nothing
LOG_2 = math.log(2.0)
BLOCK = 1 << 8


@small
def _significand(a):
    """The double 1 + f of a packed number."""
    return np.int64((a & FRACTION) << 8 | ONE_BITS).view(np.float64)


@small
def _carry(x):
    """The packed form of a double x in [1, 4), rounded to nearest; the 1 itself is exponent 0."""
    return np.int64(np.uint64(np.float64(x).view(np.int64) - ONE_BITS + 128) >> np.uint64(8))


@small
def mul(a, b):
    """Packed a * b: exponents add, significands multiply."""
    exponents = (a & ~FRACTION) + (b & ~FRACTION)
    product = exponents + _carry(_significand(a) * _significand(b))
    return product if product > ZERO else ZERO


@small
def add(a, b):
    """Packed a + b: the smaller significand is scaled down to the larger one's exponent."""
    large, small = (a, b) if a > b else (b, a)
    exponent = large & ~FRACTION
    gap = exponent - (small & ~FRACTION)
    gap = gap if gap < MOST_GAP else MOST_GAP
    scaled = np.int64((small & FRACTION) << 8 | (ONE_BITS - (gap << 8))).view(np.float64)
    return exponent + _carry(_significand(large) + scaled)


@kernel
def from_log(x):
    """Packed exp(x); anything below the range, -inf included, becomes ZERO."""
    y = x / LOG_2
    if not y > -(1 << 18):
        return np.int64(ZERO)
    exponent = math.floor(y)
    fraction = math.exp((y - exponent) * LOG_2) - 1.0
    return (np.int64(exponent) << FRACTION_BITS) + np.int64(round(fraction * UNIT))


@kernel
def to_log(a):
    """ln of a packed number."""
    fraction = (a & FRACTION) / UNIT
    return (a >> FRACTION_BITS) * LOG_2 + math.log1p(fraction)


@inner
def add_to(total, terms):
    """total[i] += terms[i] for packed arrays that do not overlap."""
    for i in range(total.size):
        total[i] = add(total[i], terms[i])


@inner
def add_product_to(total, a, b):
    """total[i] += a[i] * b[i] for packed arrays that do not overlap."""
    for i in range(total.size):
        total[i] = add(total[i], mul(a[i], b[i]))


@kernel
def zeta(x, k, up):
    """In place: x[S] <- sum of x[G], G in S, |G| <= k [KoivistoSood2004]; if `up`, G holding S.

    Upwards only the sums for |S| <= k are finished.
    """
    half = x.size // 2
    if k >= 0 and x.size > BLOCK:
        if up:
            add_to(x[:half], x[half:])
        zeta(x[:half], k, up)
        zeta(x[half:], k - 1, up)
        if not up:
            add_to(x[half:], x[:half])
    elif k >= 0:
        d = half if up else 1
        while 1 <= d <= half:
            for b in range(0, x.size, 2 * d):
                to, of = (b, b + d) if up else (b + d, b)
                add_to(x[to : to + d], x[of : of + d])
            d = d // 2 if up else 2 * d


@kernel
def parent_set_sums(v, parents, log_phi, offset, k, alpha):
    """alpha[S] = sum of beta_v(G) exp(-offset) over G subset of S; [KoivistoSood2004, eq. 6]."""
    alpha[:] = ZERO
    for f in range(parents.size):
        alpha[compact(parents[f], v)] = from_log(log_phi[f] - offset)
    zeta(alpha, k, np.bool_(False))


@kernel
def forward(alpha, g):
    """g(S) = sum over i in S of alpha_i(S - i) g(S - i), g(0) = 1; [KoivistoSood2004, eq. 9]."""
    g[:] = ZERO
    g[0] = 0
    for c in range(1, g.size):
        d = c & -c
        h = (c - d) // 2
        add_product_to(g[c : c + d], alpha[trailing_zeros(c), h : h + d], g[c - d : c])


@kernel
def backward(alpha, b):
    """b(S) = sum over i not in S of alpha_i(S) b(S + i), b(V) = 1; as `forward`; [Koivisto2006]."""
    b[:] = ZERO
    b[b.size - 1] = 0
    for c in range(b.size - 1, 0, -1):
        d = c & -c
        h = (c - d) // 2
        add_product_to(b[c - d : c], alpha[trailing_zeros(c), h : h + d], b[c : c + d])


@kernel
def family_posteriors(v, parents, log_phi, offset, k, g, b, gamma, out):
    """out[f] = p(parents of v are G_f | D) = beta_v(G_f) gamma_v(G_f) / g(V); [Koivisto2006].

    gamma_v(G) = sum over S superset of G, v not in S, of g(S) b(S + v); gamma is scratch.
    """
    d = np.int64(1) << v
    for base in range(0, g.size, 2 * d):
        for i in range(base, base + d):
            gamma[i - base // 2] = mul(g[i], b[i + d])
    zeta(gamma, k, np.bool_(True))
    log_z = to_log(g[g.size - 1])
    for f in range(parents.size):
        out[f] = np.exp(log_phi[f] - offset + to_log(gamma[compact(parents[f], v)]) - log_z)


@small
def _last(alpha, g, nodes, v):
    """p(v is last in S | D, S first) = alpha_v(S - v) g(S - v) / g(S); [HeTianWu2016, eq. 18]."""
    rest = nodes ^ (np.int64(1) << v)
    return np.exp(to_log(mul(alpha[v, compact(rest, v)], g[rest])) - to_log(g[nodes]))


@kernel
def last_nodes(alpha, g, sets, which, uniforms, cumulative, out):
    """out[t] = the last node of set sets[which[t]], `which` sorted, by inversion of uniforms[t]."""
    for t in range(which.size):
        if t == 0 or which[t] != which[t - 1]:
            mask, total = sets[which[t]], 0.0
            for i in range(cumulative.size):
                if (mask >> i) & 1:
                    total += _last(alpha, g, mask, i)
                cumulative[i] = total
        threshold, i = uniforms[t] * cumulative[-1], 0
        while cumulative[i] <= threshold:
            i += 1
        out[t] = i


@kernel
def descendants(source, alpha, g, first, share, out):
    """out[v] = p(the source is a proper ancestor of v | D); [ParviainenKoivisto2011].

    share[first[M] + rank of T] is the probability, given that the nodes M + source come first in
    the order, that T are those among them that descend from the source. Adding v last, with B the
    nodes before it, w = p(v is last in B + v) and r = alpha_v(B less T and source) / alpha_v(B): v
    has no parent in T + source with probability r, and joins T with probability 1 - r. M and T are
    compact, without the source; first[M]: how many pairs (M', T) there are with M' < M; share
    (3**(n-1),) is scratch.
    """
    one = np.int64(1)
    for m in range(first.size):
        nodes = expand(m, source) | one << source
        here = share[first[m] : first[m] + (np.int64(1) << popcount(m))]
        here[:] = 0.0
        here[0] = _last(alpha, g, nodes, source)
        place = np.int64(0)
        for bit in members(m):
            rest = m ^ (one << bit)
            v = bit + (bit >= source)
            weight = _last(alpha, g, nodes, v)
            before = share[first[rest] : first[rest] + here.size // 2]
            _add_last(alpha[v], nodes ^ (one << v), (source, v, place), weight, before, here)
            place += 1
    out[:] = 0.0
    everything = share[first[first.size - 1] :]
    for t in range(everything.size):
        for bit in members(t):
            out[bit + (bit >= source)] += everything[t]


@inner
def _add_last(alpha, before, at, weight, share, out):
    """Add node v behind the nodes `before`: at = (source, v, its place without the source)."""
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


@small
def _ratio(a, b):
    """a / b as a double, of packed numbers a <= b; 0 beyond 2**-1000."""
    exponents = (a & ~FRACTION) - (b & ~FRACTION)
    if exponents < -MOST_GAP:
        return 0.0
    above = np.int64(((a & FRACTION) << 8 | ONE_BITS) + (exponents << 8)).view(np.float64)
    return above / np.int64((b & FRACTION) << 8 | ONE_BITS).view(np.float64)
