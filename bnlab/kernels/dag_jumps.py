"""Local moves on DAGs with the rejected ones counted, not made.

The chain of `dag_walks.local_move` stays where it is most of the time. How long is geometric, with
the mean acceptance over all ordered pairs of nodes, and where it then goes is drawn in proportion
to the acceptance of each pair: the law of that chain at a cost for each change instead of each
move.

Toggling u among the parents of v changes ln weight by gains[v, u], and is accepted with probability
odds[v, u]; both are remembered by v and its parents. totals[v] sums what is accepted of the pairs
(u, v), and is renewed where an edge or a path that matters is new or gone. All are pure functions
of the DAG, so it does not matter where a walk is broken off and taken up.
"""

import math

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import copy_to, members, share_at, total
from bnlab.kernels.dag_walks import LOCAL, leads_around, score, set_parents, start

NEVER = 1 << 62
REMEMBERED = 256  # parent sets of each node


@kernel
def walk(dag, waiting, source, plan, rng, record):
    """As `dag_walks.walk`; waiting (1,): moves still to be spent at the DAG, or -1 if not drawn."""
    (lead, thin), (kept, log_targets, tally) = plan, record
    n = dag.size
    state = (dag, *start(dag, source))
    rates = begin(state, source)
    for t in range(-1, kept.shape[0]):
        moves = lead if t < 0 else thin
        left = moves
        while True:
            if waiting[0] < 0:
                waiting[0] = wait(total(rates[0]) / max(1, n * (n - 1)), rng)
            if waiting[0] >= left:
                waiting[0] -= left
                break
            left -= waiting[0] + 1
            waiting[0] = -1
            jump(state, source, rates, rng)
            tally[LOCAL, 1] += 1
        tally[LOCAL, 0] += moves
        if t >= 0:
            copy_to(dag, kept[t])
            log_targets[t] = total(state[2])


@kernel
def wait(probability, rng):
    """How many moves stay before the first that does not, each with `probability`."""
    u = rng.random()
    if probability >= 1.0:
        return 0
    if probability <= 0.0:
        return NEVER
    return int(min(math.log1p(-u) / math.log1p(-probability), NEVER))


@kernel
def begin(state, source):
    """The rates of a state: (totals (n,), below (n,) masks of the descendants, slots, memory).

    slots (n,): where in memory the node's parents are; memory: (known (n, R), parents of a slot, -1
    for none; gains and odds (n, R, n)).
    """
    dag, above, _ = state
    n = dag.size
    known = np.full((n, REMEMBERED), -1, np.int64)
    memory = known, np.empty((n, REMEMBERED, n)), np.empty((n, REMEMBERED, n))
    rates = np.empty(n), np.zeros(n, np.int64), np.zeros(n, np.int64), memory
    totals, below, slots, _ = rates
    for v in range(n):
        slots[v] = remember(state, source, memory, v)
        for u in members(above[v]):
            below[u] |= np.int64(1) << v
    row = np.empty(n)
    for v in range(n):
        totals[v] = chances(state, rates, v, row)
    return rates


@inner
def remember(state, source, memory, v):
    """The slot of node v's parents, filled now if it is not."""
    dag, _, scores = state
    known, gains, odds = memory
    mask = dag[v]
    slot = (mask ^ mask >> 6 ^ mask >> 12 ^ mask >> 21 ^ mask >> 33 ^ mask >> 47) % REMEMBERED
    if known[v, slot] != mask:
        known[v, slot] = mask
        for u in range(dag.size):
            gain = -np.inf
            if u != v:
                gain = score(source, v, mask ^ (np.int64(1) << u)) - scores[v]
            gains[v, slot, u] = gain
            odds[v, slot, u] = 1.0 if gain >= 0.0 else math.exp(gain)
    return slot


@inner
def chances(state, rates, v, out):
    """out[u] = acceptance of the pair (u, v), 0 if v leads to u but by an edge alone; their sum."""
    dag, (_, below, slots, (_, gains, odds)) = state[0], rates
    blocked, slot = below[v], slots[v]
    for u in range(dag.size):
        out[u] = 0.0
        if (blocked >> u) & 1 == 0:
            out[u] = odds[v, slot, u]
        elif (dag[u] >> v) & 1 and not leads_around(state, v, u):
            out[u] = math.exp(min(0.0, gains[v, slot, u] + gains[u, slots[u], v]))
    return total(out)


@kernel
def jump(state, source, rates, rng):
    """Change the DAG by one pair (u, v) in proportion to its acceptance."""
    dag, above, _ = state
    totals, below, slots, memory = rates
    before, row = above.copy(), np.empty(dag.size)
    v, left = share_at(rng.random() * total(totals), totals)
    chances(state, rates, v, row)
    u, _ = share_at(left, row)
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    rows = dag[v] | bit_u | bit_v
    backwards = dag[u] & bit_v
    if backwards:
        rows |= dag[u]
        set_parents(state, u, dag[u] ^ bit_v, score(source, u, dag[u] ^ bit_v))
        slots[u] = remember(state, source, memory, u)
    set_parents(state, v, dag[v] ^ bit_u, score(source, v, dag[v] ^ bit_u))
    slots[v] = remember(state, source, memory, v)
    for w in range(dag.size):
        changed = above[w] ^ before[w]
        rows |= changed
        for x in members(changed):
            below[x] ^= np.int64(1) << w
    for w in members(rows):
        totals[w] = chances(state, rates, w, row)
