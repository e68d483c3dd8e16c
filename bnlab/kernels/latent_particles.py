"""Walks and particle filters on the completions of data, with the tables integrated out.

A row of data reads one cell of each open table, which depends on its state, the joint state of
what the row leaves open. rows: (cells, factors (R, J), start (R,), size (R,)): of distinct row r,
state h < size[r] reads cell cells[start[r] + factors[r, j] * size[r] + h] of table j. tables:
(row_of (cells,), prior (T,), strength): the table row of each cell, and the strength summed over
each row.
counts (cells,) and totals (T,) are those of the completed rows. The probability of a state given
these is the Dirichlet posterior's mean, a product over the tables [Beal2003, eq. 6.9].
"""

import math

import numpy as np
from numba import njit

from bnlab.kernels.latent_walks import TINY, choose


@njit(cache=True, nogil=True)
def predict(rows, r, tables, counts, totals, shares):
    """Fill shares[:size] with the probabilities of row r and each of its states; return ln, sum.

    Their sum times exp(the first value) is the row's; that is 0 but for sums that would underflow.
    """
    cells, factors, start, size = rows
    row_of, prior, strength = tables
    total, least, most = 0.0, 1.0, 1.0
    for h in range(size[r]):
        over, under = 1.0, 1.0
        for j in range(factors.shape[1]):
            cell = cells[start[r] + factors[r, j] * size[r] + h]
            row = row_of[cell]
            over *= strength + counts[cell]
            under *= prior[row] + totals[row]
        shares[h] = over / under
        total += shares[h]
        least, most = min(least, over), max(most, under)
    if total > TINY and least > TINY and most < 1 / TINY:  # no product has left the range
        return 0.0, total
    return predict_in_logs(rows, r, tables, counts, totals, shares)


@njit(cache=True, nogil=True)
def predict_in_logs(rows, r, tables, counts, totals, shares):
    """As `predict`, relative to the largest share."""
    cells, factors, start, size = rows
    row_of, prior, strength = tables
    best, total = -np.inf, 0.0
    for h in range(size[r]):
        shares[h] = 0.0
        for j in range(factors.shape[1]):
            cell = cells[start[r] + factors[r, j] * size[r] + h]
            row = row_of[cell]
            shares[h] += math.log(strength + counts[cell]) - math.log(prior[row] + totals[row])
        best = max(best, shares[h])
    for h in range(size[r]):
        shares[h] = math.exp(shares[h] - best)
        total += shares[h]
    return best, total


@njit(cache=True, nogil=True)
def add(rows, r, state, tables, by, counts, totals):
    """Count row r in a state `by` times; -1 takes it away."""
    cells, factors, start, size = rows
    for j in range(factors.shape[1]):
        cell = cells[start[r] + factors[r, j] * size[r] + state]
        counts[cell] += by
        totals[tables[0][cell]] += by


@njit(cache=True, nogil=True)
def sweep(order, rows, tables, power, states, counts, totals, rng):
    """Collapsed Gibbs sampling: each row's state in turn, given all others, at p(completed)**power.

    order (i,): distinct rows; states (i,): theirs.
    """
    size = rows[3]
    shares = np.empty(size.max())
    for i in range(order.size):
        r = order[i]
        if size[r] == 1:
            continue
        add(rows, r, states[i], tables, -1.0, counts, totals)
        total = predict(rows, r, tables, counts, totals, shares)[1]
        if power != 1.0:
            total, top = 0.0, shares[: size[r]].max()
            for h in range(size[r]):
                shares[h] = (shares[h] / top) ** power
                total += shares[h]
        states[i] = choose(shares, size[r], total, rng)
        add(rows, r, states[i], tables, 1.0, counts, totals)


@njit(cache=True, nogil=True)
def filter_rows(order, rows, tables, particles, rng):
    """ln of an unbiased estimate of p(data): rows enter one by one, in the given order (m,).

    particles: (states int32 (P, m), counts (P, cells), totals (P, T)), the counts all 0. Each
    particle's weight is multiplied by the exact probability of the next row, whose state is drawn
    from its posterior. Where the effective sample size falls below P / 2 particles are resampled
    and make one sweep.
    """
    states, counts, totals = particles
    many = counts.shape[0]
    shares, log_weight = np.empty(rows[3].max()), np.zeros(many)
    log_z = 0.0
    for i in range(order.size):
        r = order[i]
        for p in range(many):
            log_scale, total = predict(rows, r, tables, counts[p], totals[p], shares)
            states[p, i] = choose(shares, rows[3][r], total, rng)
            add(rows, r, states[p, i], tables, 1.0, counts[p], totals[p])
            log_weight[p] += log_scale + math.log(total)
        log_mean, effective = summary(log_weight)
        if i + 1 == order.size:
            log_z += log_mean
        elif 2 * effective < many:
            log_z += log_mean
            resample(log_weight, states[:, : i + 1], counts, totals, rng)
            for p in range(many):
                sweep(order[: i + 1], rows, tables, 1.0, states[p], counts[p], totals[p], rng)
    return log_z


@njit(cache=True, nogil=True)
def summary(log_weight):
    """(ln of the mean weight, effective sample size)."""
    best = log_weight.max()
    total, squares = 0.0, 0.0
    for p in range(log_weight.size):
        weight = math.exp(log_weight[p] - best)
        total += weight
        squares += weight * weight
    return best + math.log(total / log_weight.size), total * total / squares


@njit(cache=True, nogil=True)
def resample(log_weight, states, counts, totals, rng):
    """Systematic resampling in place: survivors stay, copies overwrite those that die out."""
    many = log_weight.size
    best = log_weight.max()
    step = np.exp(log_weight - best).sum() / many
    copies, reached, mark = np.zeros(many, np.int64), 0.0, step * rng.random()
    left = many
    for p in range(many):
        reached += math.exp(log_weight[p] - best)
        while left > 0 and (mark < reached or p == many - 1):  # rounding may lose the last
            copies[p] += 1
            left -= 1
            mark += step
    dead = 0
    for p in range(many):
        while copies[p] > 1:
            while copies[dead] > 0:
                dead += 1
            states[dead], counts[dead], totals[dead] = states[p], counts[p], totals[p]
            copies[dead] = 1
            copies[p] -= 1
    log_weight[:] = 0.0


@njit(cache=True, nogil=True)
def anneal_completions(order, rows, tables, states, plan, rng, record):
    """Collapsed Gibbs sweeps on the path p(completed data)**beta; returns the last counts.

    order (m,): distinct rows, states (m,): their first states. Each step first weighs, then moves;
    plan: betas (K + 1,), rising from 0 or falling to it; record as in `latent_walks.anneal_tables`.
    """
    spans, log_ratio, tally = record
    counts, totals = np.zeros(tables[0].size), np.zeros(tables[1].size)
    for i in range(order.size):
        add(rows, order[i], states[i], tables, 1.0, counts, totals)
    for t in range(spans.size):
        log_ratio[spans[t]] += abs(plan[t + 1] - plan[t]) * log_completed(tables, counts, totals)
        if t + 1 < spans.size:
            sweep(order, rows, tables, plan[t + 1], states, counts, totals, rng)
            tally[spans[t]] += 1
    return counts


@njit(cache=True, nogil=True)
def log_completed(tables, counts, totals):
    """ln p(completed data), the tables integrated out [Beal2003, eq. 6.9]."""
    _, prior, strength = tables
    total, a_cell = 0.0, math.lgamma(strength)
    for cell in range(counts.size):
        if counts[cell] > 0.0:
            total += math.lgamma(strength + counts[cell]) - a_cell
    for row in range(totals.size):
        if totals[row] > 0.0:
            total += math.lgamma(prior[row]) - math.lgamma(prior[row] + totals[row])
    return total


@njit(cache=True, nogil=True)
def complete_rows(log_theta, order, rows, power, rng, states):
    """Draw each row's state with probability proportional to p(y, s | theta)**power."""
    cells, factors, start, size = rows
    shares = np.empty(size.max())
    for i in range(order.size):
        r = order[i]
        for h in range(size[r]):
            shares[h] = 0.0
            for j in range(factors.shape[1]):
                shares[h] += log_theta[cells[start[r] + factors[r, j] * size[r] + h]]
            shares[h] *= power
        used = shares[: size[r]]
        used[:] = np.exp(used - used.max())
        states[i] = choose(shares, size[r], used.sum(), rng)
