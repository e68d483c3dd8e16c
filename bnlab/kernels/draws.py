"""Exact draws of orders and parent sets from the dynamic program over orders.

Deterministic given uniform numbers, which the caller draws. Equal situations are handled once: all
draws that have reached the same set share its probabilities, and all that need a parent set for the
same node and predecessors share one scan of its families.
"""

import numpy as np
from numba import njit

from bnlab.kernels.logspace import mul, to_log
from bnlab.kernels.subsets import compact


@njit(cache=True, nogil=True)
def last_nodes(alpha, g, sets, which, uniforms, out):
    """out[t] = the last node of set sets[which[t]], drawn by inversion of uniforms[t].

    p(i is last in S) = alpha_i(S - i) g(S - i) / g(S); [HeTianWu2016, eq. 18].
    alpha (n, 2**(n-1)), g (2**n,) packed; sets (U,) masks; which (T,) sorted; uniforms (T,).
    """
    n = alpha.shape[0]
    cumulative = np.empty(n)
    current = -1
    for t in range(which.size):
        if which[t] != current:
            current = which[t]
            _last_node_probabilities(alpha, g, sets[current], cumulative)
        threshold = uniforms[t] * cumulative[n - 1]
        i = 0
        while cumulative[i] <= threshold:
            i += 1
        out[t] = i


@njit(cache=True, nogil=True)
def _last_node_probabilities(alpha, g, mask, cumulative):
    total = 0.0
    log_g = to_log(g[mask])
    for i in range(cumulative.size):
        if (mask >> i) & 1:
            rest = mask ^ (np.int64(1) << i)
            total += np.exp(to_log(mul(alpha[i, compact(rest, i)], g[rest])) - log_g)
        cumulative[i] = total


@njit(cache=True, nogil=True)
def parent_sets(parents, log_beta, within, touched, uniforms, out_mask, out_log):
    """Draw a parent set within `within` that holds one of `touched`, by inversion.

    p(G | S) = beta(G) / sum of beta over the G' that fit; [HeTianWu2016, eq. 16].
    parents, log_beta (F,): the families of one node by decreasing weight; within, touched (T,)
    sorted, and uniforms (T,) sorted where both are equal, so one scan serves all of them. Where
    `touched` is 0, any set does. out_log is -inf where no family fits.
    """
    t = 0
    while t < within.size:
        allowed, needed, end = within[t], touched[t], t
        while end < within.size and within[end] == allowed and touched[end] == needed:
            end += 1
        best, total = restricted_sum(parents, log_beta, allowed, needed)
        f, reached = -1, 0.0
        if total == 0.0:
            out_mask[t:end], out_log[t:end] = 0, -np.inf
            t = end
        while t < end:
            while reached <= uniforms[t] * total:
                f += 1
                if fits(parents[f], allowed, needed):
                    reached += np.exp(log_beta[f] - best)
            out_mask[t], out_log[t] = parents[f], log_beta[f]
            t += 1


@njit(cache=True, nogil=True, inline="always")
def fits(parents, allowed, needed):
    """Whether parents are all allowed, and hold a needed one if there are such."""
    return parents & ~allowed == 0 and (needed == 0 or parents & needed != 0)


@njit(cache=True, nogil=True)
def restricted_sum(parents, log_beta, allowed, needed):
    """The largest log weight of the families that fit, and the sum of weights relative to it.

    Summed in the order of the scan that inverts it, so the scan ends where the sum did.
    """
    best, total = -np.inf, 0.0
    for f in range(parents.size):
        if fits(parents[f], allowed, needed):
            if total == 0.0:
                best = log_beta[f]
            term = np.exp(log_beta[f] - best)
            if term < 1e-30:
                break
            total += term
    return best, total


@njit(cache=True, nogil=True)
def parent_expectations(parents, log_beta, predecessors, weights, out):
    """out[u] += sum over t of weights[t] p(u is a parent | predecessors[t]).

    [HeTianWu2016, eq. 17], averaged over orders as in eq. 15.

    parents, log_beta (F,) by decreasing weight; predecessors, weights (T,); out (n,).
    """
    n = out.size
    share = np.empty(n)
    for t in range(predecessors.size):
        best, total = restricted_sum(parents, log_beta, predecessors[t], 0)
        share[:] = 0.0
        for f in range(parents.size):
            if parents[f] & ~predecessors[t] == 0:
                term = np.exp(log_beta[f] - best)
                if term < 1e-30:
                    break
                for u in range(n):
                    if (parents[f] >> u) & 1:
                        share[u] += term
        out += weights[t] * share / total


@njit(cache=True, nogil=True)
def family_means(parents, log_beta, values, predecessors, out):
    """out[t] = sum over G of values(G) p(G | predecessors[t]) [NiinimakiKoivisto2013, sec. 2.2].

    nan where no family fits.
    parents, log_beta, values (F,) by decreasing weight; predecessors, out (T,).
    """
    for t in range(predecessors.size):
        best, total = restricted_sum(parents, log_beta, predecessors[t], 0)
        out[t] = 0.0 if total > 0.0 else np.nan
        for f in range(parents.size):
            if parents[f] & ~predecessors[t] == 0:
                term = np.exp(log_beta[f] - best)
                if term < 1e-30:
                    break
                out[t] += values[f] * term / total


@njit(cache=True, nogil=True)
def pair_sums(masks, weights, out):
    """out[u, v] = sum of weights[t] over the rows t whose mask of v has bit u; out (n, n).

    masks (T, n), weights (T,).
    """
    n = masks.shape[1]
    out[:] = 0.0
    for t in range(len(masks)):
        for v in range(n):
            mask = masks[t, v]
            for u in range(n):
                if (mask >> u) & 1:
                    out[u, v] += weights[t]
