"""Missing cells given all others and a DAG, tables integrated out."""

import math

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import trailing_zeros
from bnlab.kernels.cliques import exponentiate
from bnlab.kernels.latent_walks import choose


@kernel
def draw_cells(columns, cells, dag, pseudo_counts, arities, counted, log_density, rng):
    """Draw each missing state in turn given all other cells; return how many changed.

    columns (n, m) int32, which it changes; cells (M, 2): row and node; dag (n,) parent masks;
    pseudo_counts (n,): of a cell of each family; arities (n,): 0 of variables that are measured;
    counted (n, m): the rows that a family counts; log_density (n, states, m): of each measurement,
    given each joint state of its parents, the first of which changes fastest.
    """
    shares, changed = np.empty(arities.max()), 0
    for row, v in cells:
        log_shares(columns, (row, v), dag, pseudo_counts, arities, counted, log_density, shares)
        states = arities[v]
        total = exponentiate(shares[:states])[1]
        state = choose(shares, states, total, rng)
        changed += state != columns[v, row]
        columns[v, row] = state
    return changed


@kernel
def log_shares(columns, cell, dag, pseudo_counts, arities, counted, log_density, out):
    """out[a] = ln p(x_v = a in a row | all other cells, DAG), up to a constant; cell = (row, v).

    The sum, over the families of v and its children, of the ln predictive of the row given the
    other rows: (a_jk + N_jk) / (a_j + N_j), and a_j is the same for all states of v in v's own. Of
    a child that is measured, the ln density given its regression.
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
    while parents:
        u = trailing_zeros(parents)
        parents &= parents - 1
        if u == v:
            of_v = step
        elif arities[u] > 0:
            first += step * columns[u, row]
        if arities[u] > 0:
            step *= arities[u]
    return first, of_v


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
