"""Sums over the hidden nodes of a network along a tree of cliques.

[LauritzenSpiegelhalter1988]. The nodes that a row of data leaves open are covered by cliques, each
table's open nodes by one of them, and the cliques form a tree in which every node's cliques are
connected. Sums run from the leaves to the root, shares of the cliques' states from the root back.
Few open nodes make a single clique, and the sum an enumeration.
"""

import math

import numpy as np

from bnlab.kernels import inner, kernel

TINY = 1e-280  # products below this may have lost digits to underflow


@inner
def exponentiate(values):
    """Make logs (n,) numbers relative to the largest of them; return (its ln, the sum of all).

    Where all of them are -inf, they become 1.
    """
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
    its H states, then of its parent's. belief: unnormalised, in the end a root's shares; message:
    sums over the clique, 1 in all. -inf where a clique sums to 0.
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

    As `latent.expect_group`. tree: (shapes, maps as in `collect`; tables (Q, 3): of each clique its
    number of tables, its first column of factors, where its cells begin; cells: of each clique
    (F, H), one after the other). factors (R, J): of each row and table, the place in F.
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
                value = values[begin + factors[r, j] * size + h - at]
                belief[h] += math.log(value) if value > 0.0 else -np.inf
        best, _ = exponentiate(belief[at : at + size])
        if best == -np.inf:
            belief[at : at + size] = 0.0
        else:
            log_scale += best
    return log_scale
