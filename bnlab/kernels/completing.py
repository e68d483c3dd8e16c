"""Missing cells given all others and a DAG, tables integrated out."""

import math

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import trailing_zeros
from bnlab.kernels.cliques import exponentiate
from bnlab.kernels.latent_walks import choose


@kernel
def draw_cells(columns, cells, dag, pseudo_counts, arities, counted, rng):
    """Draw each missing cell in turn given all others; return how many changed.

    columns (n, m) int32, which it changes; cells (M, 2): row and node; dag (n,) parent masks;
    pseudo_counts (n,): of a cell of each family; counted (n, m): the rows that a family counts.
    """
    shares, changed = np.empty(arities.max()), 0
    for row, v in cells:
        log_shares(columns, row, v, dag, pseudo_counts, arities, counted, shares)
        states = arities[v]
        total = exponentiate(shares[:states])[1]
        state = choose(shares, states, total, rng)
        changed += state != columns[v, row]
        columns[v, row] = state
    return changed


@kernel
def log_shares(columns, row, v, dag, pseudo_counts, arities, counted, out):
    """out[a] = ln p(x_v = a in `row` | all other cells, DAG), up to a constant.

    The sum, over the families of v and its children, of the ln predictive of the row given the
    other rows: (a_jk + N_jk) / (a_j + N_j), and a_j is the same for all states of v in v's own.
    """
    out[: arities[v]] = 0.0
    n_jk, n_j = np.empty(arities[v]), np.empty(arities[v])
    for c in range(dag.size):
        if counted[c, row] and (c == v or (dag[c] >> v) & 1):
            _count_others(columns, row, v, c, dag[c] & ~(np.int64(1) << v), counted[c], n_jk, n_j)
            for a in range(arities[v]):
                out[a] += math.log(pseudo_counts[c] + n_jk[a])
                if c != v:
                    out[a] -= math.log(pseudo_counts[c] * arities[c] + n_j[a])


@inner
def _count_others(columns, row, v, c, parents, counted, n_jk, n_j):
    """Of the other rows that agree with `row` on `parents`: by state of v, all, and those alike.

    Alike are those with the row's state of c, where that is not v itself.
    """
    n_jk[:] = 0.0
    n_j[:] = 0.0
    for i in range(columns.shape[1]):
        agrees, mask = counted[i] and i != row, parents
        while agrees and mask:
            u = trailing_zeros(mask)
            agrees = columns[u, i] == columns[u, row]
            mask &= mask - 1
        if agrees:
            a = columns[v, i]
            n_j[a] += 1.0
            if c == v or columns[c, i] == columns[c, row]:
                n_jk[a] += 1.0
