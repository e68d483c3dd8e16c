"""Predictive probabilities of rows: posterior means of tables, and mixtures over DAGs."""

import numpy as np

from bnlab.kernels import inlined, kernel
from bnlab.kernels.bits import trailing_zeros


@kernel
def log_means(v, families, columns, rows, arities, pseudo_counts, counts, out):
    """out[f, t] = ln of the posterior mean of p(x_v | x_G), x = rows[:, t]; [EatonMurphy2007, 5.3].

    (a_jk + N_jk) / (a_j + N_j) for the cell that row t falls into: N are counts in `columns` (n, m)
    int32. families (F,): parent masks of v; rows (n, t) int32; pseudo_counts (2, F): a_jk, a_j.
    counts: zeros, int32; for families of more cells, rows are compared one by one.
    """
    n, m = columns.shape
    members, strides, cells_of = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    for f in range(families.size):
        cells, size, mask = float(arities[v]), 0, families[f]
        while mask:
            u = trailing_zeros(mask)
            mask &= mask - 1
            members[size] = u
            strides[size] = cells if cells <= counts.size else 0
            cells *= arities[u]
            size += 1
        family, a_jk, a_j = members[:size], pseudo_counts[0, f], pseudo_counts[1, f]
        if cells > counts.size:
            _compare(v, family, columns, rows, (a_jk, a_j), out[f])
            continue
        for i in range(m):
            cells_of[i] = columns[v, i] + _first_cell(family, strides, columns, i)
            counts[cells_of[i]] += 1
        for t in range(rows.shape[1]):
            first = _first_cell(family, strides, rows, t)
            total = counts[first : first + arities[v]].sum()
            out[f, t] = np.log((a_jk + counts[first + rows[v, t]]) / (a_j + total))
        for i in range(m):
            counts[cells_of[i]] = 0


@inlined
def _first_cell(family, strides, columns, i):
    """The cell of the parents' states in column i together with state 0 of the node."""
    cell = np.int64(0)
    for k in range(family.size):
        cell += strides[k] * columns[family[k], i]
    return cell


@kernel
def _compare(v, family, columns, rows, pseudo_counts, out):
    """As `log_means` for one family, by comparing each of `rows` with each of `columns`."""
    a_jk, a_j = pseudo_counts
    for t in range(rows.shape[1]):
        n_jk, n_j = 0, 0
        for i in range(columns.shape[1]):
            same = True
            for u in family:
                same = same and columns[u, i] == rows[u, t]
            if same:
                n_j += 1
                n_jk += columns[v, i] == rows[v, t]
        out[t] = np.log((a_jk + n_jk) / (a_j + n_j))


@kernel
def log_mixture(log_weight, parts, terms, out):
    """out[t] = ln sum over u of exp(log_weight[u] + sum over c of terms[parts[u, c], t]).

    log_weight (U,) finite; parts (U, C) rows of `terms` (P, T), -1 for none.
    """
    rows = out.size
    best, total, log_p = np.full(rows, -np.inf), np.zeros(rows), np.empty(rows)
    for u in range(parts.shape[0]):
        log_p[:] = log_weight[u]
        for c in range(parts.shape[1]):
            if parts[u, c] >= 0:
                log_p += terms[parts[u, c]]
        for t in range(rows):
            if log_p[t] > best[t]:
                total[t] = total[t] * np.exp(best[t] - log_p[t]) + 1.0
                best[t] = log_p[t]
            else:
                total[t] += np.exp(log_p[t] - best[t])
    out[:] = best + np.log(total)
