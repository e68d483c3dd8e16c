"""Zeta transforms and dynamic programs over the subsets of n nodes, and draws of orders from them.

Sums run in packed extended-range arithmetic, in arrays by compact mask: see `bits`, `extended`.
"""

import numpy as np

from bnlab.kernels import kernel
from bnlab.kernels.bits import compact, trailing_zeros
from bnlab.kernels.extended import ZERO, add_product_to, add_to, from_log, mul, set_product, to_log

BLOCK = 1 << 8


@kernel
def subset_sums(x, k):
    """Zeta transform in place: x[S] <- sum of x[G] over G subset of S; [KoivistoSood2004].

    x (2**b,) packed, ZERO wherever G has more than k elements. By halves, so that small ones stay
    within the cache: the sets with the last element have k - 1 others.
    """
    d, half = 1, x.size // 2
    if k >= 0 and x.size > BLOCK:
        subset_sums(x[:half], k)
        subset_sums(x[half:], k - 1)
        add_to(x[half:], x[:half])
    elif k >= 0:
        while d < x.size:
            for b in range(0, x.size, 2 * d):
                add_to(x[b + d : b + 2 * d], x[b : b + d])
            d *= 2


@kernel
def superset_sums(x, k):
    """Upward zeta transform in place: x[G] <- sum of x[S] over S superset of G, for |G| <= k.

    x (2**b,) packed; entries of more than k elements are left unfinished. As `subset_sums`.
    """
    d = x.size // 2
    if k >= 0 and x.size > BLOCK:
        add_to(x[:d], x[d:])
        superset_sums(x[:d], k)
        superset_sums(x[d:], k - 1)
    elif k >= 0:
        while d >= 1:
            for b in range(0, x.size, 2 * d):
                add_to(x[b : b + d], x[b + d : b + 2 * d])
            d //= 2


@kernel
def parent_set_sums(v, parents, log_beta, offset, k, alpha):
    """alpha[S] = sum of beta_v(G) exp(-offset) over G subset of S; [KoivistoSood2004, eq. 6].

    parents, log_beta (F,): families of node v with |G| <= k; alpha (2**(n-1),) compact and packed.
    """
    alpha[:] = ZERO
    for f in range(parents.size):
        alpha[compact(parents[f], v)] = from_log(log_beta[f] - offset)
    subset_sums(alpha, k)


@kernel
def forward(alpha, g):
    """g(S) = sum over i in S of alpha_i(S - i) g(S - i), g(0) = 1; [KoivistoSood2004, eq. 9].

    alpha (n, 2**(n-1)), g (2**n,) packed. Sets that share their elements above node l, hold l, and
    vary below it form one run, so the recurrence is a product of slices.
    """
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
def family_posteriors(v, parents, log_beta, offset, k, g, b, gamma, out):
    """out[f] = p(parents of v are G_f | D) = beta_v(G_f) gamma_v(G_f) / g(V); [Koivisto2006].

    gamma_v(G) = sum over S superset of G, v not in S, of g(S) b(S + v); `gamma` (2**(n-1),) is
    scratch.
    """
    d = 1 << v
    for base in range(0, g.size, 2 * d):
        h = base // 2
        set_product(gamma[h : h + d], g[base : base + d], b[base + d : base + 2 * d])
    superset_sums(gamma, k)
    log_z = to_log(g[g.size - 1])
    for f in range(parents.size):
        log_gamma = to_log(gamma[compact(parents[f], v)])
        out[f] = np.exp(log_beta[f] - offset + log_gamma - log_z)


@kernel
def last_nodes(alpha, g, sets, which, uniforms, out):
    """out[t] = the last node of set sets[which[t]], drawn by inversion of uniforms[t].

    p(i is last in S) = alpha_i(S - i) g(S - i) / g(S); [HeTianWu2016, eq. 18]. sets (U,) masks;
    which (T,) sorted; uniforms (T,).
    """
    cumulative, current = np.empty(len(alpha)), -1
    for t in range(which.size):
        if which[t] != current:
            current, mask, total = which[t], sets[which[t]], 0.0
            log_g = to_log(g[mask])
            for i in range(cumulative.size):
                if (mask >> i) & 1:
                    rest = mask ^ (np.int64(1) << i)
                    total += np.exp(to_log(mul(alpha[i, compact(rest, i)], g[rest])) - log_g)
                cumulative[i] = total
        threshold = uniforms[t] * cumulative[-1]
        i = 0
        while cumulative[i] <= threshold:
            i += 1
        out[t] = i
