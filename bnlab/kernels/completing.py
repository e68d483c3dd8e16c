"""Sums over the completions of data by hidden states, with the tables integrated out.

What the tables say of a set of completed rows depends on counts alone, and row by row it grows by
the Dirichlet posterior's predictive probabilities [Beal2003, eq. 6.9].
"""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add(cells, state, k, tables, strength, counts, totals):
    """Add k rows that read the cells (J, H) at `state`; return the change of ln p(completed rows).

    tables: (row_of (cells,), size (T,)): the table row of each cell, and its number of cells;
    counts (cells,) and totals (T,) of the completed rows so far. Negative k takes rows away.
    """
    row_of, size = tables
    gain = 0.0
    for j in range(cells.shape[0]):
        cell = cells[j, state]
        row = row_of[cell]
        before = strength + counts[cell]
        whole = strength * size[row] + totals[row]
        gain += math.lgamma(before + k) - math.lgamma(before)
        gain -= math.lgamma(whole + k) - math.lgamma(whole)
        counts[cell] += k
        totals[row] += k
    return gain


@njit(cache=True, nogil=True)
def sum_completions(slots, cells, tables, strength, counts, totals):
    """ln of the sum over all completions of p(completed data), relative to counts at the start.

    Equal rows are completed together: all splits of their number over their states, each as often
    as it can happen. slots (S, 3): distinct row, state, and how often the row occurs, a row's
    states in turn; cells (R, J, H). Exhaustive: the product over rows of binomials, by odometer.
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
            add(cells[row], state, -chosen[at], tables, strength, counts, totals)
        exhausted = chosen[at] == left[at]
        chosen[at] = left[at] if final else chosen[at] + 1
        if exhausted:
            at -= 1
            continue
        k = chosen[at]
        gain = add(cells[row], state, k, tables, strength, counts, totals)
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
