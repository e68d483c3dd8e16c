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
from bnlab.kernels.bits import copy_to, total, trailing_zeros
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
    before = np.empty(n, np.int64)
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
            jump(state, source, rates, before, rng)
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
    totals, below, slots = np.empty(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for v in range(n):
        slots[v] = remember(state, source, memory, v)
        for u in range(n):
            below[v] |= ((above[u] >> v) & 1) << u
    for v in range(n):
        totals[v] = chances(state, below, slots, memory, v)
    return totals, below, slots, memory


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
def chances(state, below, slots, memory, v):
    """Sum of the acceptances of all pairs (u, v): 0 where v leads to u but by an edge alone."""
    dag = state[0]
    _, gains, odds = memory
    blocked, slot, out = below[v], slots[v], 0.0
    for u in range(dag.size):
        if (blocked >> u) & 1 == 0:
            out += odds[v, slot, u]
        elif (dag[u] >> v) & 1 and not leads_around(state, v, u):
            out += math.exp(min(0.0, gains[v, slot, u] + gains[u, slots[u], v]))
    return out


@kernel
def jump(state, source, rates, before, rng):
    """Change the DAG by one pair in proportion to its acceptance; before (n,) is scratch."""
    dag, above, _ = state
    totals, below, slots, memory = rates
    u, v = choose(state, rates, rng)
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    copy_to(above, before)
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
        while changed:
            below[trailing_zeros(changed)] ^= np.int64(1) << w
            changed &= changed - 1
    while rows:
        w = trailing_zeros(rows)
        rows &= rows - 1
        totals[w] = chances(state, below, slots, memory, w)


@inner
def choose(state, rates, rng):
    """A pair (u, v) in proportion to its acceptance."""
    dag = state[0]
    totals, below, slots, memory = rates
    left = rng.random() * total(totals)
    at_v, at_u = -1, -1
    for v in range(totals.size):
        if totals[v] > 0.0:
            at_v = v
            if left < totals[v]:
                break
            left -= totals[v]
    v = at_v
    _, gains, odds = memory
    for u in range(totals.size):
        chance = 0.0
        if (below[v] >> u) & 1 == 0:
            chance = odds[v, slots[v], u]
        elif (dag[u] >> v) & 1 and not leads_around(state, v, u):
            chance = math.exp(min(0.0, gains[v, slots[v], u] + gains[u, slots[u], v]))
        if chance > 0.0:
            at_u = u
            if left < chance:
                break
            left -= chance
    return at_u, v
