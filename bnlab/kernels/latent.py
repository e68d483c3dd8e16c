"""Discrete networks with hidden nodes: expectation and maximisation steps.

The cells of all tables lie in one array theta; table row t has cells first[t]..first[t + 1] - 1.
Rows of data that leave the same nodes open make a group with H joint states of these nodes. A
factor of the group is what one node's table says, as a vector over the H states, given the observed
part of its family: the probability of a row's completions is an elementwise product of factors. It
comes in two halves, and few products of a half serve many rows: a row's probability is the inner
product of one of left and one of right, and its posterior shares need not be written down.

Nodes too many to list the joint states of are covered by cliques, each table's open nodes by one of
them, and the cliques form a tree in which every node's cliques are connected. Sums run from the
leaves to the root, shares of the cliques' states from the root back [LauritzenSpiegelhalter1988].
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel
from bnlab.kernels.bits import copy_to
from bnlab.kernels.counting import cell_term

TINY = 1e-280  # products below this may have lost digits to underflow
LEAST = 1e-140  # products of two numbers above this have not lost digits to underflow


@kernel
def expect(theta, groups, base, counts):
    """E step: expected counts of all cells, and sum_r weight_r ln p(row r | theta).

    [Beal2003, eq. 6.22, 6.40]. theta (cells,): probabilities, or VB's sub-normalised ones; -inf
    where a row is impossible. groups: `Listed` of `hidden.completions` and `Forest`, or None where
    no group is summed over along cliques. base (cells,): counts of the nodes that no row leaves
    open, which `counts` (cells,) begins with.
    """
    listed, forest = groups
    copy_to(base, counts)
    log_likelihood, at, half = 0.0, (0, 0), 0
    for g in range(len(listed.shapes)):
        row, (left, right) = at[1], listed.halves[g]
        cells, rows, at = group_at(listed, g, at)
        first, of_row = listed.first[half : half + left + right], listed.of_row[row : at[1]]
        of_halves = (left, first, of_row)
        log_likelihood += expect_group(theta, cells, rows, of_halves, counts)
        half += left + right
    return log_likelihood + expect_forest(theta, forest, counts)


@inlined
def group_at(listed, g, at):
    """Group g, from `at` = (cell, row) on: cells (F, H), (factors, shared, weight), its end."""
    size, many, rows, shared = listed.shapes[g]
    cell, row = at
    end, last = cell + size * many, row + rows
    of_rows = (listed.factors[row:last], shared, listed.weight[row:last])
    return listed.cells[cell:end].reshape(many, size), of_rows, (end, last)


@inner
def expect_forest(theta, forest, counts):
    """The part of `expect` of the groups with too many joint states to list: of a `Forest`."""
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
            shares[h] += np.log(values[factor, h])
    best, total = exponentiate(shares)
    for h in range(shares.size):
        share = shares[h] / total if best > -np.inf else 1.0 / shares.size
        for factor in factors:
            sums[factor, h] += weight * share
    return weight * (best + math.log(total))


@kernel
def climb(theta, groups, tables, added, strength, limits, trace):
    """EM from theta (cells,), which it changes; return (iterations, whether the end was reached).

    tables: (base (cells,), first (T + 1,)); limits: (least gain, most iterations). `added`
    pseudo-counts a cell make the M step, and added * sum ln theta the objective, trace[i]: 0 for
    ML, lambda - 1 for MAP [Beal2003, eq. 6.21, 6.23], lambda for MAP in the softmax basis. VBEM
    where `strength` is not None: trace[0] is then the Cheeseman-Stutz score [eq. 6.31, 6.37].
    """
    base, first = tables
    tolerance, most = limits
    counts = np.empty(theta.size)
    for i in range(most):
        if strength is not None:  # known by type: one branch is compiled
            trace[i] = bound(theta, groups, tables, strength, counts)
        else:
            trace[i] = expect(theta, groups, base, counts) + dot_log(base, theta)
            if added > 0.0:
                log_prior = 0.0
                for value in theta:
                    log_prior += math.log(value)
                trace[i] += added * log_prior
        if i > 0 and trace[i] - trace[i - 1] <= tolerance:
            return i + 1, True
        if i + 1 == most:
            break
        if strength is not None:
            geometric_means(counts, first, strength, theta)
        else:
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
def bound(theta, groups, tables, strength, counts):
    """ln p(completed data) at expected counts, plus entropy [Beal2003, eq. 6.31 and 6.37]."""
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


@inner
def exponentiate(values):
    """Make logs (n,) numbers relative to the largest, 1 if that is -inf; (its ln, their sum)."""
    best, whole = -np.inf, 0.0
    for value in values:
        best = max(best, value)
    for i in range(values.size):
        values[i] = math.exp(values[i] - best) if best > -np.inf else 1.0
        whole += values[i]
    return best, whole


@inner
def collect(shapes, maps, belief, message):
    """Multiply the sums of each clique into its parent's belief; return ln of the whole sum.

    shapes (Q, 6), children before parents: states H, states S shared with the parent, parent (-1
    for a root), and where belief, message and maps begin. maps: of each clique the shared state of
    its H states, then of its parent's. -inf where a clique sums to 0.
    """
    log_sum = 0.0
    for q in range(shapes.shape[0]):
        size, shared, parent, at, to, mapped = shapes[q]
        message[to : to + shared] = 0.0
        total = 0.0
        for h in range(size):
            message[to + maps[mapped + h]] += belief[at + h]
            total += belief[at + h]
        if total <= 0.0:
            return -np.inf
        log_sum += math.log(total)
        scale = 1.0 / total
        for h in range(size):
            belief[at + h] *= scale
        for s in range(shared):
            message[to + s] *= scale
        if parent >= 0:
            for h in range(shapes[parent, 0]):
                belief[shapes[parent, 3] + h] *= message[to + maps[mapped + size + h]]
    return log_sum


@inner
def distribute(shapes, maps, belief, message):
    """From the roots back: make every belief the posterior shares of the clique's states."""
    for q in range(shapes.shape[0] - 1, -1, -1):
        size, shared, parent, at, to, mapped = shapes[q]
        if parent < 0:
            continue
        for s in range(shared):
            message[to + s] = 1.0 / message[to + s] if message[to + s] > 0.0 else 0.0
        weight = np.zeros(shared)
        begin, many = shapes[parent, 3], shapes[parent, 0]
        for h in range(many):
            weight[maps[mapped + size + h]] += belief[begin + h]
        for h in range(size):
            s = maps[mapped + h]
            belief[at + h] *= weight[s] * message[to + s]


@inner
def expect_cliques(theta, tree, factors, weight, counts):
    """E step of rows that leave the same nodes open: adds to counts, returns ln p(rows).

    tree: (shapes, maps; tables (Q, 3): of each clique its number of tables, its first column of
    factors, where its cells (F, H) begin; cells). factors (R, J): of each row, the places in F.
    """
    shapes, maps, tables, cells = tree
    values, sums = theta[cells], np.zeros(cells.size)
    belief = np.empty(shapes[-1, 3] + shapes[-1, 0])
    message = np.empty(shapes[-1, 4] + shapes[-1, 1])
    log_likelihood = 0.0
    for r in range(weight.size):
        log_p = load(shapes, tables, values, factors, r, belief)
        log_p += collect(shapes, maps, belief, message)
        log_likelihood += weight[r] * log_p
        if log_p == -np.inf:
            continue
        distribute(shapes, maps, belief, message)
        for q in range(shapes.shape[0]):
            size, at = shapes[q, 0], shapes[q, 3]
            for j in range(tables[q, 1], tables[q, 1] + tables[q, 0]):
                begin = tables[q, 2] + factors[r, j] * size
                for h in range(size):
                    sums[begin + h] += weight[r] * belief[at + h]
    for c in range(cells.size):
        counts[cells[c]] += sums[c]
    return log_likelihood


@kernel
def load(shapes, tables, values, factors, r, belief):
    """Fill beliefs with products of tables at row r; ln of a scale, 0 but where one underflows."""
    log_scale = 0.0
    for q in range(shapes.shape[0]):
        size, at = shapes[q, 0], shapes[q, 3]
        first, end, begin = tables[q, 1], tables[q, 1] + tables[q, 0], tables[q, 2]
        largest = 0.0
        for h in range(size):
            product = 1.0
            for j in range(first, end):
                product *= values[begin + factors[r, j] * size + h]
            belief[at + h] = product
            largest = max(largest, product)
        if largest > TINY:
            continue
        for h in range(at, at + size):
            belief[h] = 0.0
            for j in range(first, end):
                belief[h] += np.log(values[begin + factors[r, j] * size + h - at])
        best, _ = exponentiate(belief[at : at + size])
        if best == -np.inf:
            belief[at : at + size] = 0.0
        else:
            log_scale += best
    return log_scale
