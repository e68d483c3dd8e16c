"""Sets of distinct DAGs that searches fill with the neighbours of DAGs they stand at.

A state, gains and a `source` are those of `kernels.greedy`; a neighbour is one change of an edge
away. DAGs are told apart exactly; hashes only find their places.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inlined, inner, kernel
from bnlab.kernels.bits import copy_to, total
from bnlab.kernels.dag_walks import closes_cycle, start
from bnlab.kernels.greedy import ADDED, DELETED, MARGIN, REVERSED, change, refresh


class Store(NamedTuple):
    """Distinct DAGs: the first `size[0]` rows of `dags` (S, n), and their scores (S,), nats.

    slots (H,): the row of a DAG at a place by its hash, or the next free one after it; -1 where
    there is none. H is a power of 2, larger than S.
    """

    slots: NDArray[np.int64]
    dags: NDArray[np.int64]
    scores: NDArray[np.float64]
    size: NDArray[np.int64]


@inlined
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
    """Put in all neighbours of a state that score `least` or more.

    found (3, n * n) is set to their gains by kind and pair, -inf elsewhere.
    """
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
    gains, found = np.full((n, n), -np.inf), np.empty((3, n * n))
    for t in range(rows.size):
        if not has_room(store):
            return t
        dag = store.dags[rows[t]].copy()
        state = dag, *start(dag, source[0])
        for v in range(n):
            refresh(state, gains, source, v)
        look_around(state, gains, store, least, found)
    return rows.size


@kernel
def shoot(state, gains, source, store, plan, marks, rng, trace):
    """Steps of a shotgun search [HansDobraWest2007], until `trace` (S,) is full; how many.

    Each looks at all neighbours, and goes to one of at most three, one of each kind. Fewer steps
    than S: there is no room in the store for the next neighbours, or it is time to begin anew.
    plan: (power, patience). marks (2,): the highest score since the path began, and the steps made
    since then. trace: the score after each step, nats.
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
    top, weights, chosen = logs.max(), 0.0, -1
    if top == -np.inf:
        return chosen
    for log in logs:
        weights += np.exp(power * (log - top))
    left = rng.random() * weights
    for i in range(logs.size):
        if logs[i] > -np.inf:
            chosen = i
            left -= np.exp(power * (logs[i] - top))
            if left < 0.0:
                break
    return chosen
