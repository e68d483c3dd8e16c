"""Discrete networks with hidden nodes: expectation and maximisation steps.

The cells of all tables lie in one array theta; table row t has cells first[t]..first[t + 1] - 1.
Rows of data that leave the same nodes open make a group with H joint states of these nodes. A
factor of the group is what one node's table says, as a vector over the H states, given the observed
part of its family: the probability of a row's completions is an elementwise product of factors. It
comes in two halves, and few products of a half serve many rows: a row's probability is the inner
product of one of left and one of right, and its posterior shares need not be written down.
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel
from bnlab.kernels.bits import copy_to
from bnlab.kernels.cliques import expect_cliques, exponentiate
from bnlab.kernels.counting import cell_term

LEAST = 1e-140  # products of two numbers above this have not lost digits to underflow


@kernel
def expect(theta, groups, base, counts):
    """E step: expected counts of all cells, and sum_r weight_r ln p(row r | theta).

    [Beal2003, eq. 6.22, 6.40]. theta (cells,): probabilities, or VB's sub-normalised ones.
    groups: (listed, halves, forest). listed: (shapes (G, 4) of each group: states H, factors F,
    rows R, shared factors S; cells uint32: of each group (F, H), one after the other; factors
    uint32 (R, J) of all groups' rows, the S that all rows of a group share first; weight (R,) of
    the rows). halves: (sizes (G, 2): distinct left and right halves of a group; first uint32: of
    each half the first row that has it; of_row uint32 (R, 3), by weight: a row and its halves, the
    right ones numbered after the left ones; rows and halves are counted within their group).
    forest: groups that are summed over along cliques, see `expect_forest`; None where none are.
    base (cells,): counts of the nodes that no row leaves open, which `counts` (cells,) begins with.
    -inf where a row is impossible.
    """
    listed, halves, forest = groups
    sizes, first, of_row = halves
    copy_to(base, counts)
    log_likelihood, at, half = 0.0, (0, 0), 0
    for g in range(sizes.shape[0]):
        row, left, right = at[1], sizes[g, 0], sizes[g, 1]
        cells, rows, at = group_at(listed, g, at)
        of_halves = (left, first[half : half + left + right], of_row[row : at[1]])
        log_likelihood += expect_group(theta, cells, rows, of_halves, counts)
        half += left + right
    return log_likelihood + expect_forest(theta, forest, counts)


@inlined
def group_at(listed, g, at):
    """Group g, from cell and row `at` on: its cells (F, H), rows, and where the next begins.

    rows: (factors (R, J), the number of shared ones, weight (R,)).
    """
    shapes, cells, factors, weight = listed
    size, many, rows, shared = shapes[g]
    cell, row = at
    end, last = cell + size * many, row + rows
    of_rows = (factors[row:last], shared, weight[row:last])
    return cells[cell:end].reshape(many, size), of_rows, (end, last)


@inner
def expect_forest(theta, forest, counts):
    """The part of `expect` of the groups with too many joint states to list.

    forest: (sizes (G, 4): cliques, length of maps, length of cells, rows; then, of all groups,
    shapes, maps, tables and cells of `expect_cliques`, factors (R, J) and weight (R,)).
    """
    if forest is None:  # known by type: nothing else is compiled
        return 0.0
    sizes, shapes, maps, tables, cells, factors, weight = forest
    log_likelihood = 0.0
    q, at, c, r = 0, 0, 0, 0
    for g in range(sizes.shape[0]):
        next_q, next_at = q + sizes[g, 0], at + sizes[g, 1]
        next_c, next_r = c + sizes[g, 2], r + sizes[g, 3]
        tree = shapes[q:next_q], maps[at:next_at], tables[q:next_q], cells[c:next_c]
        log_likelihood += expect_cliques(theta, tree, factors[r:next_r], weight[r:next_r], counts)
        q, at, c, r = next_q, next_at, next_c, next_r
    return log_likelihood


@kernel
def expect_group(theta, cells, rows, halves, counts):
    """The part of `expect` of one group: adds to counts, returns its log-likelihood.

    With l and r the products of a row's halves, its shares are w l r / (l . r): the left half gets
    l times the sum over its rows of w r / (l . r), and likewise the right. Rows come by weight, so
    that one logarithm serves many of them: w ln (p of one times p of the next ...).
    """
    factors, shared, weight = rows
    left, first, of_row = halves
    many, size = cells.shape
    values, sums = gather(theta, cells), np.zeros((many, size))
    product, share = np.ones((first.size, size)), np.zeros((first.size, size))
    middle = (shared + factors.shape[1]) // 2
    for i in range(first.size):
        for j in range(0 if i < left else middle, middle if i < left else factors.shape[1]):
            for h in range(size):
                product[i, h] *= values[factors[first[i], j], h]
    log_likelihood, joint, times = 0.0, 1.0, 1.0
    for row, one, other in of_row:
        total = 0.0
        for h in range(size):
            total += product[one, h] * product[other, h]
        if total > LEAST:
            if joint < LEAST or weight[row] != times:
                log_likelihood += times * math.log(joint)
                joint, times = 1.0, weight[row]
            joint *= total
            scale = times / total
            for h in range(size):
                share[one, h] += scale * product[other, h]
                share[other, h] += scale * product[one, h]
        else:
            log_likelihood += expect_unlikely(values, factors[row], weight[row], sums)
    log_likelihood += times * math.log(joint)
    for i in range(first.size):
        for h in range(size):
            share[i, h] *= product[i, h]
        for j in range(0 if i < left else middle, middle if i < left else factors.shape[1]):
            for h in range(size):
                sums[factors[first[i], j], h] += share[i, h]
    for f in range(many):
        for h in range(size):
            counts[cells[f, h]] += sums[f, h]
    return log_likelihood


@inner
def gather(table, cells):
    """What `table` says at cells (F, H)."""
    out = np.empty(cells.shape)
    for f in range(cells.shape[0]):
        for h in range(cells.shape[1]):
            out[f, h] = table[cells[f, h]]
    return out


@inner
def expect_unlikely(values, factors, weight, sums):
    """The part of `expect_group` of a row whose products underflow, by sums of logs."""
    shares = np.zeros(values.shape[1])
    for h in range(shares.size):
        for factor in factors:
            value = values[factor, h]
            shares[h] += math.log(value) if value > 0.0 else -np.inf
    best, total = exponentiate(shares)
    for h in range(shares.size):
        share = shares[h] / total if best > -np.inf else 1.0 / shares.size
        for factor in factors:
            sums[factor, h] += weight * share
    return weight * (best + math.log(total))


@kernel
def climb(theta, groups, tables, added, limits, trace):
    """EM from theta (cells,), which it changes; return (iterations, whether the end was reached).

    tables: (base (cells,), first (T + 1,)). `added` pseudo-counts a cell make the M step, and added
    * sum ln theta the objective: 0 for ML, lambda - 1 for MAP [Beal2003, eq. 6.21, 6.23], lambda
    for MAP in the softmax basis. limits: (least gain, most iterations); trace[i]: of the i-th
    theta.
    """
    base, first = tables
    tolerance, most = limits
    counts = np.empty(theta.size)
    for i in range(most):
        trace[i] = expect(theta, groups, base, counts) + dot_log(base, theta)
        if added > 0.0:
            log_prior = 0.0
            for value in theta:
                log_prior += math.log(value)
            trace[i] += added * log_prior
        if i > 0 and trace[i] - trace[i - 1] <= tolerance:
            return i + 1, True
        if i + 1 < most:
            maximise(counts, first, added, theta)
    return most, False


@inner
def maximise(counts, first, added, theta):
    """M step: rows of counts plus `added`, normalised; a row without any counts is uniform."""
    for t in range(first.size - 1):
        lo, hi = first[t], first[t + 1]
        total = 0.0
        for cell in range(lo, hi):
            total += counts[cell] + added
        for cell in range(lo, hi):
            theta[cell] = (counts[cell] + added) / total if total > 0.0 else 1.0 / (hi - lo)


@kernel
def climb_bound(theta, groups, tables, strength, limits, trace):
    """VBEM as `climb`; trace[i]: the bound at q(s) of the i-th theta and the best q(theta) for it.

    So the bound of the first theta is its Cheeseman-Stutz score [Beal2003, eq. 6.31, 6.37].
    """
    _, first = tables
    tolerance, most = limits
    counts = np.empty(theta.size)
    for i in range(most):
        trace[i] = bound(theta, groups, tables, strength, counts)
        if i > 0 and trace[i] - trace[i - 1] <= tolerance:
            return i + 1, True
        if i + 1 < most:
            geometric_means(counts, first, strength, theta)
    return most, False


@kernel
def bound(theta, groups, tables, strength, counts):
    """ln p(completed data) at expected counts, which it fills, plus the completions' entropy.

    [Beal2003, eq. 6.31 and 6.37].
    """
    base, first = tables
    log_normaliser = expect(theta, groups, base, counts)
    open_counts = np.empty(counts.size)
    for cell in range(counts.size):
        open_counts[cell] = counts[cell] - base[cell]
    entropy = log_normaliser - dot_log(open_counts, theta)
    return log_dirichlet(counts, first, strength) + entropy


@kernel
def dot_log(counts, theta):
    """Sum of counts times ln theta, with 0 ln 0 = 0."""
    total = 0.0
    for cell in range(counts.size):
        if counts[cell] > 0.0:
            total += counts[cell] * math.log(theta[cell]) if theta[cell] > 0.0 else -np.inf
    return total


@kernel
def log_dirichlet(counts, first, strength):
    """ln of the integral of prior times cells to the counts, whole or not [Beal2003, eq. 6.9]."""
    total = 0.0
    for t in range(first.size - 1):
        lo, hi = first[t], first[t + 1]
        in_row = 0.0
        for cell in range(lo, hi):
            if counts[cell] > 0.0:
                in_row += counts[cell]
                total += cell_term(strength, counts[cell])
        if in_row > 0.0:
            total -= cell_term(strength * (hi - lo), in_row)
    return total


@inner
def geometric_means(counts, first, strength, theta):
    """VB M step: exp of E ln theta under Dirichlet(strength + counts) [Beal2003, eq. 6.45]."""
    for t in range(first.size - 1):
        lo, hi = first[t], first[t + 1]
        total = 0.0
        for cell in range(lo, hi):
            total += strength + counts[cell]
        row = exp_digamma(total)
        for cell in range(lo, hi):
            theta[cell] = exp_digamma(strength + counts[cell]) / row


@kernel
def exp_digamma(x):
    """exp(psi(x)) for x > 0: psi(x + 1) = psi(x) + 1 / x up to where its series serves."""
    shift = 0.0
    while x < 8.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return x * math.exp(shift - 0.5 / x - series)
