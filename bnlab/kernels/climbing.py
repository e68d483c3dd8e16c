"""Hill climbing on DAGs: gains of all single-edge changes, kept up to date as steps are made.

A state is that of `kernels.structures`: parent masks, masks of proper ancestors, and ln beta of
each node's family. gains[v, u] is what ln beta_v gains when u joins or leaves the parents of v; the
gain of a reversal is the sum of two of them, so a step changes one or two rows only.

The ordered pair (u, v) stands for one change, as in `structures.local_move`: an edge u -> v is
deleted, an edge v -> u is reversed, else u -> v is added. A `source` is that of
`kernels.lazy_scores`: families are looked up, or counted where they are not known yet.
"""

import numpy as np
from numba import njit

from bnlab.kernels.lazy_scores import log_beta_of
from bnlab.kernels.structures import leads_around, random_pair, set_parents

ADDED, DELETED, REVERSED = 0, 1, 2
MARGIN = 1e-7  # nats; a smaller gain is rounding


@njit(cache=True, nogil=True)
def refresh(state, gains, source, v):
    """Work out gains[v] anew; -inf where the family is forbidden or too large."""
    dag, _, scores = state
    for u in range(dag.size):
        if u != v:
            gains[v, u] = log_beta_of(source, v, dag[v] ^ (np.int64(1) << u)) - scores[v]


@njit(cache=True, nogil=True)
def total(scores):
    """The sum of scores (n,), node by node, as `ScoreTable.log_target` adds them."""
    out = 0.0
    for value in scores:
        out += value
    return out


@njit(cache=True, nogil=True)
def climb(state, gains, memory, source, plan, steps, trace):
    """Make steps until none is left or the record is full; how many. Fewer than fit: the end.

    memory: (best (n,) DAG so far; top (1,), its score; free (n, n), the step from which the pair
    u, v may change again; marks (3,): steps made, steps made when `best` was found, and the pair
    that was changed last). plan: (whether the first change that gains is made instead of the best
    one, length of the tabu list, steps without a new best after which a tabu search ends).
    Record: steps (S, 3) of kind, u, v; trace (S,), the score after each step, nats.
    """
    dag, _, scores = state
    best, top, free, marks = memory
    _, tabu, patience = plan
    n = dag.size
    for made in range(trace.size):
        if tabu > 0 and marks[0] - marks[1] >= patience:
            return made
        pair = choose(state, gains, memory, plan)
        if pair < 0:
            return made
        u, v = pair // n, pair % n
        kind = change(state, gains, source, u, v)
        marks[0] += 1
        marks[2] = pair
        free[u, v] = free[v, u] = marks[0] + tabu
        steps[made, 0] = kind
        steps[made, 1] = v if kind == REVERSED else u
        steps[made, 2] = u if kind == REVERSED else v
        trace[made] = total(scores)
        if trace[made] > top[0] + MARGIN:
            best[:], top[0], marks[1] = dag, trace[made], marks[0]
    return trace.size


@njit(cache=True, nogil=True)
def choose(state, gains, memory, plan):
    """The next change, n u + v, or -1 for none.

    The one that gains most, or the first that gains after the pair changed last; of equal ones the
    first. Without a tabu list it must gain. With one it may lose, but a pair on the list changes
    only for a score above all before.
    """
    dag, _, scores = state
    _, top, free, marks = memory
    first, tabu, _ = plan
    n = dag.size
    needed = top[0] - total(scores) + MARGIN
    most, chosen = -np.inf if tabu else 0.0, -1
    pair = marks[2] if first else -1
    for _ in range(n * n):
        pair = pair + 1 if pair + 1 < n * n else 0
        u, v = pair // n, pair % n
        if u == v:
            continue
        gain = gains[v, u]
        if (dag[u] >> v) & 1:
            gain += gains[u, v]
        if not gain > most + MARGIN or (free[u, v] > marks[0] and not gain > needed):
            continue
        if closes_cycle(state, u, v):
            continue
        most, chosen = gain, pair
        if first and gain > MARGIN:
            break
    return chosen


@njit(cache=True, nogil=True)
def closes_cycle(state, u, v):
    """Whether the change of the pair (u, v) would close a cycle."""
    dag, above, _ = state
    if (above[u] >> v) & 1 == 0:
        return False
    return (dag[u] >> v) & 1 == 0 or leads_around(state, v, u)


@njit(cache=True, nogil=True)
def change(state, gains, source, u, v):
    """Make the change of the pair (u, v), which must close no cycle; its kind."""
    dag, _, _ = state
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    kind = DELETED if dag[v] & bit_u else ADDED
    if dag[u] & bit_v:
        kind = REVERSED
        set_parents(state, u, dag[u] ^ bit_v, log_beta_of(source, u, dag[u] ^ bit_v))
        refresh(state, gains, source, u)
    set_parents(state, v, dag[v] ^ bit_u, log_beta_of(source, v, dag[v] ^ bit_u))
    refresh(state, gains, source, v)
    return kind


@njit(cache=True, nogil=True)
def shake(state, gains, source, changes, rng):
    """Change so many random pairs, uniform among all; a forbidden change is drawn again.

    Ends early, after 100 n (n - 1) draws in a row without one that is allowed.
    """
    n = state[0].size
    done, idle = 0, 0
    while done < changes and idle < 100 * n * (n - 1):
        u, v = random_pair(n, rng)
        gain = gains[v, u]
        if (state[0][u] >> v) & 1:
            gain += gains[u, v]
        idle += 1
        if gain > -np.inf and not closes_cycle(state, u, v):
            change(state, gains, source, u, v)
            done, idle = done + 1, 0
