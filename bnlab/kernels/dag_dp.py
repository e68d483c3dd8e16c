"""Signed sums over the subsets of n nodes: the structure-modular posterior [TianHe2009].

V is the set of all nodes, alpha_v(S) the sum of beta_v over parent sets within S. A number is a
pair, mantissa * 2**exponent, in two arrays; exponents come from the heaviest term of each sum, so
every addition is one of doubles between 0 and 1, and what underflows is nothing beside the sum. The
signs come in pairs of a sum over DAGs and a part of it: what is left after a subtraction is itself
such a sum, its error a small multiple of the rounding of the whole.
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel, small
from bnlab.kernels.bits import compact, expand, members

NOTHING = -(1 << 57)  # the exponent of 0; 64 of them still add up within an int64
LOG_2 = math.log(2.0)
LOG_2_HIGH = float(np.float32(math.log(2.0)))  # times a small integer it is exact
LOG_2_LOW = -1.904654299957768e-09
LEAST_SHARE = 1e-14  # of alpha: a smaller difference of two is their rounding


@small
def power(exponent):
    """2**exponent for exponents up to 1023; 0 where that is no normal double."""
    return np.int64((max(exponent, -1023) + 1023) << 52).view(np.float64)


@small
def from_log(x):
    """exp(x) as a pair whose mantissa is in [1, 2), rounding aside."""
    if x == -np.inf:
        return 0.0, np.int64(NOTHING)
    e = np.int64(math.floor(x / LOG_2))
    return math.exp((x - e * LOG_2_HIGH) - e * LOG_2_LOW), e


@inner
def add_to(total, total_exponent, terms, terms_exponent):
    """total += terms for pairs in arrays that do not overlap, at the larger exponent of the two."""
    for i in range(total.size):
        top = max(total_exponent[i], terms_exponent[i])
        total[i] *= power(total_exponent[i] - top)
        total[i] += terms[i] * power(terms_exponent[i] - top)
        total_exponent[i] = top


@inner
def zeta(x, exponent, up):
    """x[S] <- sum of x[G] over all G within S, or if `up` that hold S, in place; (2**b,) pairs."""
    d = 1
    while d < x.size:
        for b in range(0, x.size, 2 * d):
            to, of = (b, b + d) if up else (b + d, b)
            add_to(x[to : to + d], exponent[to : to + d], x[of : of + d], exponent[of : of + d])
        d *= 2


@kernel
def parent_set_sums(v, parents, log_phi, alpha, exponent):
    """alpha[S] = sum of beta_v(G) over G subset of S, as pairs; the heaviest log_phi (F,) is 0."""
    alpha[:] = 0.0
    exponent[:] = NOTHING
    for f in range(parents.size):
        s = compact(parents[f], v)
        alpha[s], exponent[s] = from_log(log_phi[f])
    zeta(alpha, exponent, np.bool_(False))


@kernel
def heaviest(exponents, inside, completing):
    """Exponents (2**n,) of the heaviest orders of the nodes in S, and of those in W at the end."""
    full = inside.size - 1
    inside[0] = completing[0] = 0
    for s in range(1, full + 1):
        first = last = np.int64(NOTHING)
        for j in members(s):
            rest = s ^ (np.int64(1) << j)
            last = max(last, inside[rest] + exponents[j, compact(rest, j)])
            first = max(first, completing[rest] + exponents[j, compact(full ^ s, j)])
        inside[s], completing[s] = last, first


@inner
def products(a, sign, alpha, exponent, nodes, p, e):
    """p[T] = p[0] times the product of sign * alpha_i(A) over T, as pairs; how many nodes i.

    These k nodes, all outside A, are listed ascending in `nodes`; T are the sets of them, < 2**k.
    """
    k = 0
    for i in range(alpha.shape[0]):
        if not (a >> i) & 1:
            s, d = compact(a, i), np.int64(1) << k
            factor, power_of_two = sign * alpha[i, s], exponent[i, s]
            for t in range(d):
                p[d + t] = p[t] * factor
                e[d + t] = e[t] + power_of_two
            nodes[k] = i
            k += 1
    return k


@kernel
def completions(w, k, b, b_exponent, p, e):
    """p[T] <- p[T] B(W - T) / 2**(exponent of B(W)) for T in W; p[T] the product of alphas."""
    size = np.int64(1) << k
    rest = w
    for t in range(size):
        e[t] += b_exponent[rest]
        p[t] *= b[rest]
        rest = (rest - 1) & w
    top = b_exponent[w]
    for t in range(size):
        p[t] *= power(e[t] - top)


@inner
def alternate(h):
    """Sum of (-1)**|T| h[T], h (2**k,), by halves in place. Every difference is one of sums."""
    half = h.size // 2
    while half:
        subtract(h[:half], h[half : 2 * half])
        half //= 2
    return h[0]


@inlined
def subtract(x, y):
    """x -= y elementwise, for arrays that do not overlap."""
    for i in range(x.size):
        x[i] -= y[i]


@kernel
def backward(alpha, exponent, b, b_exponent, gamma, first, last):
    """B(W) and alpha_v(V - W) gamma_v(V - W) for all v in W, over 2**(exponent of B(W)).

    B(W) = sum over nonempty T subset of W of (-1)**(|T|+1) B(W - T) prod_{j in T} alpha_j(V - W);
    gamma_v(S) = sum over T outside S + v of (-1)**|T| B(V - S - v - T) prod_{j in T} alpha_j(S).
    For W in first..last-1; all its subsets are smaller. Both sums run over the same terms: those of
    gamma_v, the ones with v in T, are summed once the others are done with them.
    """
    n, full = alpha.shape[0], b.size - 1
    p, e = np.empty(b.size), np.empty(b.size, np.int64)
    nodes = np.empty(n, np.int64)
    for w in range(first, last):
        p[0], e[0] = 1.0, 0
        k = products(full ^ w, 1.0, alpha, exponent, nodes, p, e)
        b[w] = 0.0
        completions(w, k, b, b_exponent, p, e)
        for i in range(k - 1, -1, -1):
            half = np.int64(1) << i
            subtract(p[:half], p[half : 2 * half])
            gamma[nodes[i], compact(full ^ w, nodes[i])] = alternate(p[half : 2 * half])
        b[w] = max(-p[0], 0.0)


@kernel
def forward(alpha, exponent, r, r_exponent, first, last):
    """R(S), the sum over the DAGs on S, as pairs with exponents `r_exponent`.

    R(S) = sum over nonempty T subset of S of (-1)**(|T|+1) R(S - T) prod_{j in T} alpha_j(S - T).
    Adds the terms of all S that hold A, for A in first..last-1; r is 1 for the empty set.
    """
    n, full = alpha.shape[0], r.size - 1
    p, e = np.empty(r.size), np.empty(r.size, np.int64)
    nodes = np.empty(n, np.int64)
    for a in range(first, last):
        r[a] = max(r[a], 0.0)
        p[0], e[0] = -r[a], r_exponent[a]
        k = products(a, -1.0, alpha, exponent, nodes, p, e)
        t, u = 0, full ^ a
        for c in range(1, np.int64(1) << k):
            t = (t - u) & u
            r[a | t] += p[c] * power(e[c] - r_exponent[a | t])


@kernel
def share(r, r_exponent, b, b_exponent, v, gamma):
    """gamma[S] <- p(the nodes that do not descend from v are S | D), S compact; [TianHe2009]."""
    full = b.size - 1
    for h in range(gamma.size):
        s = expand(h, v)
        scale = power(r_exponent[s] + b_exponent[full ^ s] - b_exponent[full])
        gamma[h] *= r[s] / b[full] * scale


@kernel
def family_posteriors(v, parents, log_phi, alpha, exponent, share_v, out):
    """out[f] = beta_v(G_f) sum of share_v(S) / alpha_v(S) over S superset of G_f; [TianHe2009]."""
    x, e = np.zeros(share_v.size), np.full(share_v.size, NOTHING)
    for s in range(x.size):
        if share_v[s] > 0.0 and alpha[s] > 0.0:
            x[s], e[s] = share_v[s] / alpha[s], -exponent[s]
    zeta(x, e, np.bool_(True))
    for f in range(parents.size):
        s = compact(parents[f], v)
        beta, beta_exponent = from_log(log_phi[f])
        out[f] = beta * x[s] * power(beta_exponent + e[s])


@kernel
def descendants(v, share_v, out):
    """out[u] = p(u descends from v | D): the sum of share_v(S) over S without u and v; out (n,)."""
    out[:] = 0.0
    for h in range(share_v.size):
        for u in range(out.size):
            if not (expand(h, v) >> u) & 1:
                out[u] += share_v[h]
    out[v] = 0.0


@kernel
def next_layers(placed, last, which, uniforms, sums, out):
    """out[t] = the layer after placed[which[t]], whose last layer is last[which[t]], as a mask.

    p(layer L) is proportional to the weight of all DAGs in which the nodes to come that could have
    been placed now are those of L [TalvitieEtAl2019]. placed, last (U,) ascending; which (T,)
    sorted; sums: a `LayerSums`. A mask 0 says that rounding has left no layer.
    """
    n, size = sums[0].shape[0], sums[2].size
    waiting, e, cumulative = np.empty(size), np.empty(size, np.int64), np.empty(size)
    nodes, shares = np.empty(n, np.int64), np.empty(n)
    current, a, k = -1, np.int64(-1), 0
    for t in range(which.size):
        if which[t] != current:
            current = which[t]
            if placed[current] != a:
                a = placed[current]
                waiting[0], e[0] = 1.0, 0
                k = products(a, 1.0, sums[0], sums[1], nodes, waiting, e)
                completions((size - 1) ^ a, k, sums[2], sums[3], waiting, e)
                exactly(waiting[: np.int64(1) << k])
            shares_touching(a, last[current], nodes[:k], sums, shares)
            total = accumulate(k, waiting, shares, cumulative)
        out[t] = 0
        if total > 0.0:
            reached = min(uniforms[t] * total, np.nextafter(total, 0.0))
            c = np.searchsorted(cumulative[: np.int64(1) << k], reached, side="right")
            for i in range(k):
                out[t] |= ((c >> i) & 1) << nodes[i]


@inner
def exactly(h):
    """h[L] <- sum of (-1)**|C - L| h[C] over C superset of L, in place; (2**k,)."""
    d = h.size // 2
    while d:
        for b in range(0, h.size, 2 * d):
            subtract(h[b : b + d], h[b + d : b + 2 * d])
        d //= 2


@inner
def shares_touching(a, last, nodes, sums, out):
    """out[i] = the share of alpha_i(A) in parent sets that hold a node of the last layer."""
    for i in range(nodes.size):
        v = nodes[i]
        s, without = compact(a, v), compact(a & ~last, v)
        out[i] = 1.0
        if last and sums[0][v, s] > 0.0:
            scale = power(sums[1][v, without] - sums[1][v, s])
            out[i] = 1.0 - sums[0][v, without] / sums[0][v, s] * scale
            if out[i] < LEAST_SHARE:
                out[i] = 0.0


@inner
def accumulate(k, waiting, factor, cumulative):
    """Running sums over nonempty layers L of waiting[L] times the factors of L; their total."""
    cumulative[0] = 1.0
    for i in range(k):
        d = np.int64(1) << i
        for c in range(d):
            cumulative[d + c] = cumulative[c] * factor[i]
    total = cumulative[0] = 0.0
    for c in range(1, np.int64(1) << k):
        total += max(waiting[c], 0.0) * cumulative[c]
        cumulative[c] = total
    return total
