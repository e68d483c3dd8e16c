"""Sums over the families of a node, heaviest first, and draws of parent sets."""

import math

import numpy as np

from bnlab.kernels import inner, kernel, small
from bnlab.kernels.bits import members

LIGHT = -70.0  # nats relative to the largest term: lighter ones do not change a sum


@kernel
def parent_sets(parents, log_phi, within, touched, uniforms, out_mask, out_log):
    """Draw a parent set within `within` that holds one of `touched`, by inversion.

    p(G | S) = beta(G) / sum of beta over the G' that fit; [HeTianWu2016, eq. 16]. within, touched
    and uniforms (T,) are sorted, so that one scan serves all that are equal. out_log is -inf where
    no family fits.
    """
    t = 0
    while t < within.size:
        allowed, needed, end = within[t], touched[t], t
        while end < within.size and within[end] == allowed and touched[end] == needed:
            end += 1
        best, total = restricted_sum(parents, log_phi, allowed, needed)
        f, reached = -1, 0.0
        while t < end:
            while total > 0.0 and reached <= uniforms[t] * total:
                f += 1
                if fits(parents[f], allowed, needed):
                    reached += math.exp(log_phi[f] - best)
            out_mask[t] = parents[f] if f >= 0 else 0
            out_log[t] = log_phi[f] if f >= 0 else -np.inf
            t += 1


@small
def fits(parents, allowed, needed):
    """Whether parents are all allowed, and hold a needed one if there are such."""
    return parents & ~allowed == 0 and (needed == 0 or parents & needed != 0)


@inner
def restricted_sum(parents, log_phi, allowed, needed):
    """The largest log weight of the families that fit, and their sum relative to it, in order."""
    best, total = -np.inf, 0.0
    for f in range(parents.size):
        if not log_phi[f] > best + LIGHT:
            break
        if fits(parents[f], allowed, needed):
            best = log_phi[f] if log_phi[f] > best else best
            total += math.exp(log_phi[f] - best)
    return best, total


@inner
def log_restricted_sum(parents, log_phi, allowed, needed):
    """Return ln of the sum of beta over the families that fit."""
    best, total = restricted_sum(parents, log_phi, allowed, needed)
    return best + math.log(total) if total > 0.0 else -np.inf


@inner
def draw_family(parents, log_phi, allowed, needed, log_sum, u):
    """Return a family that fits by inversion of u, given ln of their sum; -1 where none fits."""
    chosen, left = -1, u
    for f in range(parents.size):
        if chosen >= 0 and not log_phi[f] > log_sum + LIGHT:
            break
        if fits(parents[f], allowed, needed):
            chosen = f
            left -= math.exp(log_phi[f] - log_sum)
            if left < 0.0:
                break
    return chosen


@kernel
def parent_expectations(parents, log_phi, predecessors, weights, out):
    """out[u] += sum over t of weights[t] p(u is a parent | predecessors[t]); nan without family.

    [HeTianWu2016, eq. 17], averaged over orders as in eq. 15.
    """
    share = np.empty(out.size)
    for t in range(predecessors.size):
        if weights[t] == 0.0:
            continue
        best, total = restricted_sum(parents, log_phi, predecessors[t], np.int64(0))
        share[:] = 0.0
        for f in range(parents.size):
            if not log_phi[f] > best + LIGHT:
                break
            if parents[f] & ~predecessors[t] == 0:
                term = math.exp(log_phi[f] - best)
                for u in members(parents[f]):
                    share[u] += term
        out += weights[t] * share / total


@kernel
def family_means(parents, log_phi, values, predecessors, out):
    """out[t] = sum of values(G) p(G | predecessors[t]) [NiinimakiKoivisto2013, sec. 2.2]."""
    for t in range(predecessors.size):
        best, total = restricted_sum(parents, log_phi, predecessors[t], np.int64(0))
        out[t] = 0.0 if total > 0.0 else np.nan
        for f in range(parents.size):
            if not log_phi[f] > best + LIGHT:
                break
            if parents[f] & ~predecessors[t] == 0:
                term = math.exp(log_phi[f] - best)
                out[t] += values[f] * term / total
