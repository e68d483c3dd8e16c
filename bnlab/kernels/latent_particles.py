"""Walks and particle filters on the completions of data, with the tables integrated out.

A row of data reads one cell of each open table, which depends on its state, the joint state of
what the row leaves open. rows: (cells, of_table, factors (R, J), start (R,), size (R,)): of
distinct row r, state h < size[r] reads cell cells[at] of table row of_table[at] of table j, where
at = start[r] + factors[r, j] * size[r] + h (unsigned, which spares the test for places from the
end). tables: (prior (T,), strength): the strength summed over each table row, and that of a cell.
counts (cells,) and totals (T,) are those of the completed rows. The probability of a state given
these is the Dirichlet posterior's mean, a product over the tables [Beal2003, eq. 6.9].
"""

import math

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import copy_to, members, share_at
from bnlab.kernels.counting import cell_term
from bnlab.kernels.latent import exponentiate
from bnlab.kernels.latent_walks import TINY


@kernel
def predict(rows, r, tables, counts, totals, shares):
    """Fill shares[:size] with the probabilities of row r and each of its states; return their sum.

    -1 where a product leaves the range of numbers: callers then call `predict_in_logs`, so that
    this one stays short enough to be inlined (sweeps take twice as long without).
    """
    cells, of_table, factors, start, size = rows
    prior, strength = tables
    begin, states = start[r], size[r]
    total, least, most = 0.0, 1.0, 1.0
    for h in range(states):
        over, under = 1.0, 1.0
        for j in range(factors.shape[1]):
            at = np.uint64(begin + np.int64(factors[r, j]) * states + h)
            over *= strength + counts[cells[at]]
            under *= prior[of_table[at]] + totals[of_table[at]]
        shares[h] = over / under
        total += shares[h]
        least, most = min(least, over), max(most, under)
    return total if total > TINY and least > TINY and most < 1 / TINY else -1.0


@kernel
def predict_in_logs(rows, r, tables, counts, totals, shares):
    """As `predict`, relative to the largest share; return (its ln, their sum)."""
    cells, of_table, factors, start, size = rows
    prior, strength = tables
    for h in range(size[r]):
        shares[h] = 0.0
        for j in range(factors.shape[1]):
            at = np.uint64(start[r] + np.int64(factors[r, j]) * size[r] + h)
            shares[h] += math.log(strength + counts[cells[at]])
            shares[h] -= math.log(prior[of_table[at]] + totals[of_table[at]])
    return exponentiate(shares[: size[r]])


@kernel
def add(rows, r, state, by, counts, totals):
    """Count row r in a state `by` times; -1 takes it away."""
    cells, of_table, factors, start, size = rows
    for j in range(factors.shape[1]):
        at = np.uint64(start[r] + np.int64(factors[r, j]) * size[r] + state)
        counts[cells[at]] += by
        totals[of_table[at]] += by


@kernel
def sweep(order, rows, tables, power, states, counts, totals, rng):
    """Collapsed Gibbs: each row's state in turn given all others, at p(completed)**power."""
    size = rows[4]
    shares = np.empty(size.max())
    for i in range(order.size):
        r = order[i]
        if size[r] == 1:
            continue
        add(rows, r, states[i], -1.0, counts, totals)
        total = predict(rows, r, tables, counts, totals, shares)
        if total < 0.0:
            total = predict_in_logs(rows, r, tables, counts, totals, shares)[1]
        if power != 1.0:
            total, top = 0.0, shares[: size[r]].max()
            for h in range(size[r]):
                shares[h] = (shares[h] / top) ** power
                total += shares[h]
        states[i] = share_at(rng.random() * total, shares[: size[r]])[0]
        add(rows, r, states[i], 1.0, counts, totals)


@kernel
def filter_rows(order, rows, tables, particles, rng):
    """ln of an unbiased estimate of p(data): rows enter one by one, in the given order (m,).

    A particle's weight is multiplied by the probability of the next row, whose state is drawn from
    its posterior. Where the effective sample size falls below P / 2 particles are resampled and
    make one sweep. particles: (states int32 (P, m), counts (P, cells), totals (P, T)).
    """
    states, counts, totals = particles
    many, size = counts.shape[0], rows[4]
    shares, log_weight = np.empty(size.max()), np.zeros(many)
    log_z = 0.0
    for i in range(order.size):
        r = order[i]
        for p in range(many):
            total, log_scale = predict(rows, r, tables, counts[p], totals[p], shares), 0.0
            if total < 0.0:
                log_scale, total = predict_in_logs(rows, r, tables, counts[p], totals[p], shares)
            states[p, i] = share_at(rng.random() * total, shares[: size[r]])[0]
            add(rows, r, states[p, i], 1.0, counts[p], totals[p])
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


@kernel
def summary(log_weight):
    """(ln of the mean weight, effective sample size)."""
    weight, squares = log_weight.copy(), 0.0
    best, total = exponentiate(weight)
    for w in weight:
        squares += w * w
    return best + math.log(total / weight.size), total * total / squares


@kernel
def resample(log_weight, states, counts, totals, rng):
    """Systematic resampling in place: survivors stay, copies overwrite those that die out."""
    many, weight = log_weight.size, log_weight.copy()
    step = exponentiate(weight)[1] / many
    copies, reached, mark = np.zeros(many, np.int64), 0.0, step * rng.random()
    left = many
    for p in range(many):
        reached += weight[p]
        while left > 0 and (mark < reached or p == many - 1):  # rounding may lose the last
            copies[p] += 1
            left -= 1
            mark += step
    dead = 0
    for p in range(many):
        while copies[p] > 1:
            while copies[dead] > 0:
                dead += 1
            copy_to(states[p], states[dead])
            copy_to(counts[p], counts[dead])
            copy_to(totals[p], totals[dead])
            copies[dead] = 1
            copies[p] -= 1
    log_weight[:] = 0.0


@kernel
def anneal_completions(order, rows, tables, completed, betas, rng, record):
    """Collapsed Gibbs sweeps on the path p(completed data)**beta; record as in `anneal_tables`."""
    states, counts, totals = completed
    spans, log_ratio, tally = record
    for i in range(order.size):
        add(rows, order[i], states[i], 1.0, counts, totals)
    for t in range(spans.size):
        log_ratio[spans[t]] += abs(betas[t + 1] - betas[t]) * log_completed(tables, counts, totals)
        if t + 1 < spans.size:
            sweep(order, rows, tables, betas[t + 1], states, counts, totals, rng)
            tally[spans[t]] += 1


@kernel
def log_completed(tables, counts, totals):
    """ln p(completed data), the tables integrated out [Beal2003, eq. 6.9]."""
    prior, strength = tables
    total = 0.0
    for cell in range(counts.size):
        if counts[cell] > 0.0:
            total += cell_term(strength, counts[cell])
    for row in range(totals.size):
        if totals[row] > 0.0:
            total -= cell_term(prior[row], totals[row])
    return total


@kernel
def complete_rows(log_theta, order, rows, power, rng, states):
    """Draw each row's state with probability proportional to p(y, s | theta)**power."""
    cells, _, factors, start, size = rows
    shares = np.empty(size.max())
    for i in range(order.size):
        r = order[i]
        for h in range(size[r]):
            shares[h] = 0.0
            for j in range(factors.shape[1]):
                shares[h] += log_theta[cells[start[r] + factors[r, j] * size[r] + h]]
            shares[h] *= power
        _, total = exponentiate(shares[: size[r]])
        states[i] = share_at(rng.random() * total, shares[: size[r]])[0]


@inner
def add_rows(cells, state, k, tables, strength, counts, totals):
    """Add k rows at `state`, or take -k away; return the change of ln p(completed rows), or 0."""
    row_of, size = tables
    gain = 0.0
    for j in range(cells.shape[0]):
        cell = cells[j, state]
        row = row_of[cell]
        before = strength + counts[cell]
        whole = strength * size[row] + totals[row]
        if k > 0:
            gain += cell_term(before, float(k)) - cell_term(whole, float(k))
        counts[cell] += k
        totals[row] += k
    return gain


@kernel
def sum_completions(slots, cells, tables, strength, counts, totals):
    """ln of the sum over all completions of p(completed data), relative to counts at the start.

    Equal rows are completed together: all splits of their number over their states, each as often
    as it can happen, by odometer. slots (S, 3): distinct row, state, and how often the row occurs.
    """
    last = slots.shape[0] - 1
    chosen, left = np.full(last + 1, -1, np.int64), np.zeros(last + 1, np.int64)
    log_weight = np.zeros(last + 2)
    best, total = -np.inf, 0.0
    at = 0
    left[0] = slots[0, 2]
    while at >= 0:
        row, state = slots[at, 0], slots[at, 1]
        final = at == last or slots[at + 1, 0] != row
        if chosen[at] >= 0:
            add_rows(cells[row], state, -chosen[at], tables, strength, counts, totals)
        exhausted = chosen[at] == left[at]
        chosen[at] = left[at] if final else chosen[at] + 1
        if exhausted:
            at -= 1
            continue
        k = chosen[at]
        gain = add_rows(cells[row], state, k, tables, strength, counts, totals)
        ways = math.lgamma(left[at] + 1.0) - math.lgamma(k + 1.0) - math.lgamma(left[at] - k + 1.0)
        log_weight[at + 1] = log_weight[at] + gain + ways
        if at < last:
            at += 1
            chosen[at] = -1
            left[at] = slots[at, 2] if final else left[at - 1] - k
        elif log_weight[at + 1] > best:
            total = total * math.exp(best - log_weight[at + 1]) + 1.0
            best = log_weight[at + 1]
        else:
            total += math.exp(log_weight[at + 1] - best)
    return best + math.log(total)


@kernel
def draw_cells(columns, cells, dag, pseudo_counts, arities, counted, log_density, rng):
    """Draw each missing state in turn given all other cells; return how many changed.

    cells (M, 2): row and node; pseudo_counts (n,): of a cell of each family; arities (n,): 0 of
    measurements; counted (n, m): the rows that a family counts; log_density (n, states, m): of each
    measurement, given each joint state of its parents, the first of which changes fastest.
    """
    shares, changed = np.empty(arities.max()), 0
    for row, v in cells:
        log_shares(columns, (row, v), dag, pseudo_counts, arities, counted, log_density, shares)
        states = arities[v]
        total = exponentiate(shares[:states])[1]
        state = share_at(rng.random() * total, shares[:states])[0]
        changed += state != columns[v, row]
        columns[v, row] = state
    return changed


@kernel
def log_shares(columns, cell, dag, pseudo_counts, arities, counted, log_density, out):
    """out[a] = ln p(x_v = a in a row | all other cells, DAG), up to a constant; cell = (row, v).

    The sum over v and its children of ln (a_jk + N_jk) / (a_j + N_j), the row itself not counted,
    or, of a child that is measured, of the ln density given its regression.
    """
    row, v = cell
    out[: arities[v]] = 0.0
    n_jk, n_j = np.empty(arities[v]), np.empty(arities[v])
    for c in range(dag.size):
        if not counted[c, row] or (c != v and not (dag[c] >> v) & 1):
            continue
        if arities[c] == 0:
            first, step = _joint_state(columns, row, v, dag[c], arities)
            for a in range(arities[v]):
                out[a] += log_density[c, first + a * step, row]
            continue
        _count_others(columns, row, v, c, dag[c] & ~(np.int64(1) << v), counted[c], n_jk, n_j)
        for a in range(arities[v]):
            out[a] += math.log(pseudo_counts[c] + n_jk[a])
            if c != v:
                out[a] -= math.log(pseudo_counts[c] * arities[c] + n_j[a])


@inner
def _joint_state(columns, row, v, parents, arities):
    """The joint state of those parents that have states, v in its first, and how far its next."""
    first, step, of_v = 0, 1, 0
    for u in members(parents):
        if u == v:
            of_v = step
        elif arities[u] > 0:
            first += step * columns[u, row]
        if arities[u] > 0:
            step *= arities[u]
    return first, of_v


@inner
def _count_others(columns, row, v, c, parents, counted, n_jk, n_j):
    """Of other rows that agree on `parents`, by state of v: all, and those with the row's c."""
    n_jk[:] = 0.0
    n_j[:] = 0.0
    for i in range(columns.shape[1]):
        agrees = counted[i] and i != row
        for u in members(parents):
            agrees = agrees and columns[u, i] == columns[u, row]
        if agrees:
            a = columns[v, i]
            n_j[a] += 1.0
            if c == v or columns[c, i] == columns[c, row]:
                n_jk[a] += 1.0
