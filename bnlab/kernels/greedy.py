"""Greedy searches: hill climbing on DAGs, and greedy equivalence search on CPDAGs.

A state is that of `dag_walks`. gains[v, u], kept up to date, is what ln beta_v gains when u joins
or leaves the parents of v; the gain of a reversal is the sum of two of them, so a step changes one
or two rows only. The ordered pair (u, v) stands for one change, as in `dag_walks.local_move`. A
`source` is that of `lazy_scores`: families are looked up, or counted where they are not known yet.

Greedy equivalence search takes the best valid operator on a CPDAG [Chickering2002]. A `graph` is
(directed, undirected, children, joined), masks (n,) each, as in `dags`. Only a gain above TIE
counts, and an operator replaces an earlier one only if it gains TIE more: less is rounding.

Wider searches fill a `Store` of distinct DAGs with the neighbours, one change away, of DAGs they
stand at. DAGs are told apart exactly; hashes only find their places.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inner, kernel, small
from bnlab.kernels.bits import copy_to, members, popcount, share_at, total, trailing_zeros
from bnlab.kernels.dag_walks import closes_cycle, random_pair, set_parents, start
from bnlab.kernels.lazy_scores import log_phi_of

ADDED, DELETED, REVERSED = 0, 1, 2
MARGIN = 1e-7  # nats; a smaller gain is rounding
TIE = 1e-8  # nats, of greedy equivalence search


@kernel
def refresh(state, gains, source, v):
    """Work out gains[v] anew; -inf where the family is forbidden or too large."""
    dag, _, scores = state
    for u in range(dag.size):
        if u != v:
            gains[v, u] = log_phi_of(source, v, dag[v] ^ (np.int64(1) << u)) - scores[v]


@kernel
def stand(dag, source):
    """The state at a DAG, which from then on belongs to it, and its gains (n, n)."""
    state, gains = (dag, *start(dag, source[0])), np.full((dag.size, dag.size), -np.inf)
    for v in range(dag.size):
        refresh(state, gains, source, v)
    return state, gains


@kernel
def climb(state, gains, memory, source, plan, steps, trace):
    """Make steps until none is left or the record is full; how many. Fewer than fit: the end.

    memory: (best (n,) DAG so far; top (1,), its score; free (n, n), the step from which the pair u,
    v may change again; marks (3,): steps made, steps made when `best` was found, and the pair
    changed last). plan: (whether the first change that gains is made; length of the tabu list;
    patience of a tabu search). Record: steps (S, 3) of kind, u, v; trace (S,).
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
        marks[0], marks[2] = marks[0] + 1, pair
        free[u, v] = free[v, u] = marks[0] + tabu
        steps[made] = (kind, v, u) if kind == REVERSED else (kind, u, v)
        trace[made] = total(scores)
        if trace[made] > top[0] + MARGIN:
            copy_to(dag, best)
            top[0], marks[1] = trace[made], marks[0]
    return trace.size


@inner
def choose(state, gains, memory, plan):
    """The next change, n u + v, or -1 for none.

    The one that gains most, or the first that gains after the pair changed last. With a tabu list
    it may lose, but a pair on the list changes only for a score above all before.
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
        gain = gains[v, u] + (gains[u, v] if (dag[u] >> v) & 1 else 0.0)
        if not gain > most + MARGIN or (free[u, v] > marks[0] and not gain > needed):
            continue
        if not closes_cycle(state, u, v):
            most, chosen = gain, pair
            if first and gain > MARGIN:
                break
    return chosen


@kernel
def change(state, gains, source, u, v):
    """Make the change of the pair (u, v), which must close no cycle; its kind."""
    dag, _, _ = state
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    kind = DELETED if dag[v] & bit_u else ADDED
    if dag[u] & bit_v:
        kind = REVERSED
        set_parents(state, u, dag[u] ^ bit_v, log_phi_of(source, u, dag[u] ^ bit_v))
        refresh(state, gains, source, u)
    set_parents(state, v, dag[v] ^ bit_u, log_phi_of(source, v, dag[v] ^ bit_u))
    refresh(state, gains, source, v)
    return kind


@kernel
def shake(state, gains, source, changes, rng):
    """Change so many random pairs; ends early after 100 n (n - 1) forbidden draws in a row."""
    n = state[0].size
    done, idle = 0, 0
    while done < changes and idle < 100 * n * (n - 1):
        u, v = random_pair(n, rng)
        gain = gains[v, u] + (gains[u, v] if (state[0][u] >> v) & 1 else 0.0)
        idle += 1
        if gain > -np.inf and not closes_cycle(state, u, v):
            change(state, gains, source, u, v)
            done, idle = done + 1, 0


@kernel
def best_insert(graph, source):
    """(gain, x, y, T) of the best Insert(x, y, T): x -> y, and t -> y for each t - y in T.

    Valid if N = (neighbours of y joined to x) with T is a clique, and every semi-directed path from
    y to x meets it. x = -1 if no gain is positive.
    """
    directed, undirected, _, joined = graph
    n, k = directed.size, source[0][2].size - 2
    stack = np.empty((2, n + 1), np.int64)
    best = (0.0, -1, -1, np.int64(0))
    for y in range(n):
        for x in range(n):
            common = undirected[y] & joined[x]
            parents = directed[y] | common
            room = k - 1 - popcount(parents)
            if x == y or (joined[y] >> x) & 1 or room < 0:
                continue
            others, clique = undirected[y] & ~joined[x], True
            for u in members(common):
                others &= joined[u]
                clique = clique and common & ~joined[u] == np.int64(1) << u
            if not clique:
                continue
            for tails in cliques(others, joined, room, stack):
                before = parents | tails
                gain = log_phi_of(source, y, before | np.int64(1) << x)
                gain -= log_phi_of(source, y, before)
                if gain > best[0] + TIE and is_blocked(graph, y, x, common | tails):
                    best = (gain, x, y, tails)
    return best


@kernel
def best_delete(graph, source):
    """(gain, x, y, H) of the best Delete(x, y, H): x - y or x -> y goes; y -> h, x -> h for h in H.

    Valid if the neighbours of y joined to x, less H, are a clique. x = -1 if no gain is positive.
    """
    directed, undirected, _, joined = graph
    n = directed.size
    stack = np.empty((2, n + 1), np.int64)
    best = (0.0, -1, -1, np.int64(0))
    for y in range(n):
        for x in members(directed[y] | undirected[y]):
            bit = np.int64(1) << x
            common = undirected[y] & joined[x]
            for kept in cliques(common, joined, n, stack):
                after = directed[y] & ~bit | kept
                gain = log_phi_of(source, y, after) - log_phi_of(source, y, after | bit)
                if gain > best[0] + TIE:
                    best = (gain, x, y, common & ~kept)
    return best


@small
def cliques(nodes, joined, most, stack):
    """Yield the cliques of at most so many of the nodes as masks, a clique before larger ones."""
    stack[0, 0], stack[1, 0], size = 0, nodes, 0
    while size >= 0:
        yield stack[0, size]
        while size >= 0 and (stack[1, size] == 0 or size >= most):
            size -= 1
        if size >= 0:
            u = trailing_zeros(stack[1, size])
            stack[1, size] &= stack[1, size] - 1
            stack[0, size + 1] = stack[0, size] | np.int64(1) << u
            stack[1, size + 1] = stack[1, size] & joined[u]
            size += 1


@inner
def is_blocked(graph, y, x, wall):
    """Whether every path from y to x along y -> or y - edges meets the wall."""
    _, undirected, children, _ = graph
    reached = np.int64(1) << y
    front = reached
    while front:
        u = trailing_zeros(front)
        fresh = (children[u] | undirected[u]) & ~reached & ~wall
        if (fresh >> x) & 1:
            return False
        reached |= fresh
        front = front & (front - 1) | fresh
    return True


class Store(NamedTuple):
    """Distinct DAGs: the first `size[0]` rows of `dags` (S, n), and their scores (S,), nats."""

    slots: NDArray[np.int64]  # (a power of 2,), a DAG's row by its hash, or after that; -1 for none
    dags: NDArray[np.int64]
    scores: NDArray[np.float64]
    size: NDArray[np.int64]


@small
def mixed(v, mask):
    """64 well-mixed bits of a node and its parents, by the finaliser of splitmix64."""
    x = np.uint64(mask) + np.uint64(v + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def hash_of(dag):
    """The hash of a DAG (n,): one term a family, so that a change is followed term by term."""
    out = np.uint64(0)
    for v in range(dag.size):
        out ^= mixed(v, dag[v])
    return out


@kernel
def place_of(store, dag, hashed):
    """Where in the slots a DAG is, or where it belongs."""
    place = np.int64(hashed & np.uint64(store.slots.size - 1))
    while store.slots[place] >= 0:
        row, v = store.slots[place], 0
        while v < dag.size and store.dags[row, v] == dag[v]:
            v += 1
        if v == dag.size:
            break
        place = (place + 1) & (store.slots.size - 1)
    return place


@kernel
def add(store, dag, hashed, score):
    """Put a DAG in, unless it is there; there must be room."""
    place = place_of(store, dag, hashed)
    if store.slots[place] < 0:
        row = store.size[0]
        store.slots[place], store.scores[row] = row, score
        copy_to(dag, store.dags[row])
        store.size[0] += 1


@kernel
def fill(store, dags, scores):
    """Put in DAGs (T, n) with their scores (T,)."""
    for t in range(scores.size):
        add(store, dags[t], hash_of(dags[t]), scores[t])


@kernel
def keep(store, rows):
    """Leave these rows (T,) only, which increase."""
    for t in range(rows.size):
        copy_to(store.dags[rows[t]], store.dags[t])
        store.scores[t] = store.scores[rows[t]]
    store.slots[:], store.size[0] = -1, 0
    fill(store, store.dags[: rows.size], store.scores[: rows.size])


@inner
def look_around(state, gains, store, least, found):
    """Put in all neighbours of a state from `least` on; their gains (3, n * n) by kind and pair."""
    dag, _, scores = state
    n, now, hashed = dag.size, total(scores), hash_of(dag)
    found[:] = -np.inf
    for pair in range(n * n):
        u, v = pair // n, pair % n
        if u == v:
            continue
        bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
        back = dag[u] & bit_v
        gain = gains[v, u] + (gains[u, v] if back else 0.0)
        if gain == -np.inf or closes_cycle(state, u, v):
            continue
        found[REVERSED if back else (DELETED if dag[v] & bit_u else ADDED), pair] = gain
        if now + gain < least:
            continue
        other = hashed ^ mixed(u, dag[u]) ^ mixed(v, dag[v])
        dag[u] ^= back
        dag[v] ^= bit_u
        add(store, dag, other ^ mixed(u, dag[u]) ^ mixed(v, dag[v]), now + gain)
        dag[u] ^= back
        dag[v] ^= bit_u


@kernel
def has_room(store):
    """Whether all neighbours of one more DAG have a place."""
    rows, n = store.dags.shape
    return store.size[0] + n * (n - 1) <= rows


@kernel
def expand(rows, source, store, least):
    """Put in all neighbours of the DAGs in `rows` (T,) from `least` on; how many had room."""
    n = store.dags.shape[1]
    found = np.empty((3, n * n))
    for t in range(rows.size):
        if not has_room(store):
            return t
        state, gains = stand(store.dags[rows[t]].copy(), source)
        look_around(state, gains, store, least, found)
    return rows.size


@kernel
def shoot(state, gains, source, store, plan, marks, rng, trace):
    """Steps of a shotgun search [HansDobraWest2007], until `trace` (S,) is full; how many.

    Each looks at all neighbours, and goes to one of at most three, one of each kind. Fewer steps
    than S: there is no room for the next neighbours, or it is time to begin anew. plan: (power,
    patience). marks (2,): the highest score since the path began, and the steps since then.
    """
    dag, _, scores = state
    power, patience = plan
    n = dag.size
    found, three, pairs = np.empty((3, n * n)), np.empty(3), np.empty(3, np.int64)
    for step in range(trace.size):
        if not has_room(store) or marks[1] >= patience:
            return step
        look_around(state, gains, store, -np.inf, found)
        for kind in range(3):
            pairs[kind] = draw(found[kind], power, rng)
            three[kind] = found[kind, pairs[kind]] if pairs[kind] >= 0 else -np.inf
        kind = draw(three, power, rng)
        if kind >= 0:  # else there is no other DAG
            change(state, gains, source, pairs[kind] // n, pairs[kind] % n)
        trace[step] = total(scores)
        marks[1] += 1
        if trace[step] > marks[0] + MARGIN:
            marks[0], marks[1] = trace[step], 0
    return trace.size


@kernel
def draw(logs, power, rng):
    """An index in proportion to exp(power * logs), or -1 where all are -inf."""
    top, weights = logs.max(), np.empty(logs.size)
    if top == -np.inf:
        return -1
    for i in range(logs.size):
        weights[i] = np.exp(power * (logs[i] - top))
    return share_at(rng.random() * total(weights), weights)[0]
