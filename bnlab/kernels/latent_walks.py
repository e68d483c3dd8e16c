"""Annealed walks on the tables of networks with hidden nodes.

Tables are kept as logs, since cells near the edge of the simplex underflow: log_theta (cells,),
with table rows, groups of rows and their factors as in `kernels.latent`. At inverse temperature
beta the walks leave p(theta) p(y | theta)**beta, or p(theta) p(y, s | theta)**beta, as it is.
"""

import math

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import copy_to, share_at
from bnlab.kernels.latent import exponentiate, gather, group_at

TINY = 1e-150  # the product of two numbers above this has not underflown


@kernel
def anneal_tables(log_theta, problem, plan, rng, record):
    """Metropolis-Hastings with Dirichlet proposals [Beal2003, Algorithm 6.1].

    Each step first weighs, then moves log_theta; problem: (groups, base (cells,), strength); plan:
    (betas (K + 1,), width (a, b, c) of the proposals, Dirichlet(a + (b + c * beta) theta), ranges
    (W, 2) of the cells of each table row that moves, blocks (B, 2) of ranges that are proposed
    together, in turn); record: (spans (K,), where to add what each step says, log_ratio, tally).
    """
    groups, base, prior = problem
    betas, width, ranges, blocks = plan
    spans, log_ratio, tally = record
    old = (log_theta, np.exp(log_theta))
    new = (log_theta.copy(), old[1].copy())
    now = log_likelihood(old, groups, base)
    for t in range(spans.size):
        log_ratio[spans[t]] += abs(betas[t + 1] - betas[t]) * now
        if t + 1 == spans.size:
            break
        lo, hi = blocks[t % len(blocks)]
        at_beta = (width[0], width[1] + width[2] * betas[t + 1], prior)
        log_accept = 0.0
        for i in range(lo, hi):
            log_accept += propose(old, ranges[i], at_beta, rng, new)
        value = -np.inf
        if log_accept > -np.inf:
            value = log_likelihood(new, groups, base)
            log_accept += betas[t + 1] * (value - now)
        tally[spans[t], 0] += 1
        if -rng.standard_exponential() < log_accept:
            tally[spans[t], 1] += 1
            now = value
            copy(new, ranges[lo:hi], old)
        else:
            copy(old, ranges[lo:hi], new)


@kernel
def copy(tables, ranges, out):
    """Copy cells in the ranges, ln theta and theta."""
    for i in range(len(ranges)):
        for cell in range(ranges[i, 0], ranges[i, 1]):
            out[0][cell], out[1][cell] = tables[0][cell], tables[1][cell]


@inner
def propose(old, span, width, rng, new):
    """Draw one row of new from Dirichlet(shift + strength * theta) around the old one.

    Returns ln of the ratio of priors times that of proposal densities [Beal2003, eq. 6.59]; -inf
    where a cell leaves the range of numbers.
    """
    shift, strength, prior = width
    logs, values = new
    for cell in range(span[0], span[1]):
        values[cell] = logs[cell] = log_gamma_draw(shift + strength * old[1][cell], rng)
        if logs[cell] == -np.inf:
            return -np.inf
    top, total = exponentiate(values[span[0] : span[1]])
    log_sum, log_strength = top + math.log(total), math.log(max(strength, 1e-300))
    log_ratio = 0.0
    for cell in range(span[0], span[1]):
        values[cell] /= total
        logs[cell] -= log_sum
        was, now = old[0][cell], logs[cell]
        log_ratio += (prior - 1.0) * (now - was)
        log_ratio += log_density(was, shift + strength * values[cell], log_strength + now)
        log_ratio -= log_density(now, shift + strength * old[1][cell], log_strength + was)
    return log_ratio


@kernel
def log_density(log_x, shape, log_shape):
    """What one cell x adds to ln of a Dirichlet density; log_shape is for shapes that underflow."""
    if shape < 1e-17:  # where Gamma(a) = 1 / a
        return (shape - 1.0) * log_x + log_shape
    return (shape - 1.0) * log_x - math.lgamma(shape)


@inner
def log_gamma_draw(shape, rng):
    """ln of a Gamma(shape) variate, which may underflow itself: G(a) = G(a + 1) U**(1 / a)."""
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    if shape < 1e-290:
        return -np.inf
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


@kernel
def draw_tables(parameters, ranges, rng, log_theta):
    """Rows log_theta[ranges[i, 0]:ranges[i, 1]] from Dirichlet(parameters (cells,)), in logs."""
    for i in range(ranges.shape[0]):
        lo, hi = ranges[i]
        for cell in range(lo, hi):
            log_theta[cell] = log_gamma_draw(parameters[cell], rng)
        top, total = exponentiate(log_theta[lo:hi].copy())
        for cell in range(lo, hi):
            log_theta[cell] -= top + math.log(total)


@kernel
def log_likelihood(tables, groups, base):
    """ln p(data | theta); tables: (ln theta, theta), base (cells,): counts of closed tables."""
    total, at = dot(base, tables[0]), (0, 0)
    for g in range(groups[0].shape[0]):
        cells, rows, at = group_at(groups, g, at)
        total += group_log_likelihood(tables, cells, rows)
    return total


@inner
def dot(counts, log_theta):
    """Sum of counts times log_theta, with 0 * -inf = 0."""
    total = 0.0
    for cell in range(counts.size):
        if counts[cell] > 0.0:
            total += counts[cell] * log_theta[cell]
    return total


@inner
def group_log_likelihood(tables, cells, rows):
    """The part of one group; one logarithm serves rows of equal weight."""
    factors, shared, weight = rows
    values, prior = gather(tables[1], cells), np.ones(cells.shape[1])
    for j in range(shared):
        prior *= values[factors[0, j]]
    log_total, running, times = 0.0, 1.0, 0.0
    for r in range(weight.size):
        total = 0.0
        for h in range(prior.size):
            product = prior[h]
            for j in range(shared, factors.shape[1]):
                product *= values[factors[r, j], h]
            total += product
        if total <= TINY:
            shares = np.empty(prior.size)
            best, total = from_logs(gather(tables[0], cells), factors[r], shares)
            log_total += weight[r] * (best + math.log(total))
            continue
        if weight[r] != times or running < TINY:
            log_total += times * math.log(running)
            running, times = 1.0, weight[r]
        running *= total
    return log_total + times * math.log(running)


@inner
def from_logs(logs, factors, shares):
    """Fill shares (H,) relative to the largest product of factors; return (its ln, their sum)."""
    for h in range(shares.size):
        shares[h] = 0.0
        for factor in factors:
            shares[h] += logs[factor, h]
    return exponentiate(shares)


@kernel
def anneal_gibbs(log_theta, problem, plan, rng, record):
    """Gibbs sampling of tables and completions on the path p(theta) p(y, s | theta)**beta.

    plan: (betas, power of p(y, s | theta) for the first completions, ranges); see `anneal_tables`.
    """
    groups, _, strength = problem
    betas, power, ranges = plan
    spans, log_ratio, tally = record
    counts = np.empty(log_theta.size)
    draw_counts(log_theta, groups, power, rng, counts)
    for t in range(spans.size):
        log_ratio[spans[t]] += abs(betas[t + 1] - betas[t]) * dot(counts, log_theta)
        if t + 1 < spans.size:
            beta = betas[t + 1]
            draw_tables(strength + beta * counts, ranges, rng, log_theta)
            draw_counts(log_theta, groups, beta, rng, counts)
            tally[spans[t]] += 1


@inner
def draw_counts(log_theta, groups, power, rng, counts):
    """Complete each row, a state with probability proportional to p(y, s | theta)**power."""
    counts[:] = 0.0
    at = (0, 0)
    for g in range(groups[0].shape[0]):
        cells, rows, at = group_at(groups, g, at)
        sums = np.zeros(cells.shape)
        draw_group(power * gather(log_theta, cells), rows, rng, sums)
        for f in range(cells.shape[0]):
            for h in range(cells.shape[1]):
                counts[cells[f, h]] += sums[f, h]


@inner
def draw_group(logs, rows, rng, sums):
    """Add to sums (F, H) how often the completed rows of one group use each factor's states."""
    factors, shared, weight = rows
    values, shares = np.exp(logs), np.empty(logs.shape[1])
    prior, taken, drawn = np.ones(shares.size), np.empty(shares.size), np.zeros(shares.size)
    for j in range(shared):
        prior *= values[factors[0, j]]
    for r in range(weight.size):
        total = 0.0
        for h in range(shares.size):
            product = prior[h]
            for j in range(shared, factors.shape[1]):
                product *= values[factors[r, j], h]
            shares[h] = product
            total += product
        if total <= TINY:
            total = from_logs(logs, factors[r], shares)[1]
        taken[:] = 0.0
        for _ in range(int(weight[r])):
            taken[share_at(rng.random() * total, shares)[0]] += 1.0
        drawn += taken
        for j in range(shared, factors.shape[1]):
            for h in range(shares.size):
                sums[factors[r, j], h] += taken[h]
    for j in range(shared):
        copy_to(drawn, sums[factors[0, j]])
