"""Counts, information and densities of trees: each variable beside at most one other."""

import numpy as np

from bnlab.kernels import kernel


@kernel
def pair_counts(columns, weights, first, out):
    """Add the weighted counts of all pairs of states to out (S, S), single states on its diagonal.

    State a of variable u has place first[u] + a; S = first[n]. columns (n, m) int32, weights (m,).
    """
    n, m = columns.shape
    for u in range(n):
        for i in range(m):
            place = first[u] + columns[u, i]
            out[place, place] += weights[i]
        for v in range(u + 1, n):
            for i in range(m):
                out[first[u] + columns[u, i], first[v] + columns[v, i]] += weights[i]
            for a in range(first[u], first[u + 1]):
                for b in range(first[v], first[v + 1]):
                    out[b, a] = out[a, b]


@kernel
def information(pairs, first, out):
    """out[u, v] = mutual information of u and v times the number of rows, nats; 0 for u = v.

    Sum over cells of N_ab ln(N_ab N / (N_a N_b)), of what `pair_counts` makes. Terms are added in
    ascending order, so that tables equal but for the order of states, or transposed, give equal
    bits.
    """
    n = first.size - 1
    total, terms = 0.0, np.empty(np.diff(first).max() ** 2)
    for a in range(first[1]):
        total += pairs[a, a]
    for u in range(n):
        out[u, u] = 0.0
        for v in range(u + 1, n):
            count = 0
            for a in range(first[u], first[u + 1]):
                for b in range(first[v], first[v + 1]):
                    if pairs[a, b] > 0:
                        over, under = pairs[a, b] * total, pairs[a, a] * pairs[b, b]
                        if min(over, under) > 1e-290:
                            log_ratio = np.log(over / under)
                        else:  # products of tiny weights underflow
                            log_ratio = np.log(pairs[a, b]) - np.log(pairs[a, a])
                            log_ratio -= np.log(pairs[b, b]) - np.log(total)
                        terms[count] = pairs[a, b] * log_ratio
                        count += 1
            gain = 0.0
            for term in np.sort(terms[:count]):
                gain += term
            out[u, v] = out[v, u] = gain
