"""Random walks on ordered partitions of nodes, and DAGs drawn from them.

The first layer of a DAG's partition holds its roots; each further layer the roots of what is left
without the layers before it. So every node has all parents in the layers before its own, and at
least one in the last of them. The weight of a partition is the product over nodes of the sum of
beta over such parent sets [KuipersMoffa2017], never a difference of larger sums, so it keeps its
digits. A partition is an array of n layer masks, the empty ones last.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inlined, inner, kernel, order_walks
from bnlab.kernels.bits import accept, compact, copy_to, member, members, popcount, total, uniform
from bnlab.kernels.dag_walks import accepted_reversal
from bnlab.kernels.families import draw_family, log_restricted_sum

SPLIT_OR_JOIN, SWAP, ADJACENT, RELOCATE, REVERSE = 0, 1, 2, 3, 4


class Families(NamedTuple):
    """The families of `order_walks.score_families`, and in log_phi, parents (n, F) by weight."""

    weights: NDArray[np.float64]
    offsets: NDArray[np.float64]
    choose: NDArray[np.uint64]
    first: NDArray[np.uint64]
    log_phi: NDArray[np.float64]
    parents: NDArray[np.int64]


class Partition(NamedTuple):
    """Layers (n,), and for each node (n,) those before its layer, the last of these, ln weight."""

    layers: NDArray[np.int64]
    before: NDArray[np.int64]
    last: NDArray[np.int64]
    scores: NDArray[np.float64]


@kernel
def walk(state, fresh, lists, families, plan, rng, record):
    """Move a partition along in place, and draw DAGs from it.

    fresh: another `Partition`; both know nothing but the layers. plan: (lead, thin, shares (4,)),
    the cumulative probabilities of the first four kinds of move. record: (dags (T, n), log_targets
    (T,) of the DAGs, log_weights (T,) of their partitions, tally (5, 2), the lead left out).
    """
    (lead, thin, shares), (dags, log_targets, log_weights, tally) = plan, record
    rescore(families, lists, state.layers, state, fresh)
    adopt(fresh, state)
    for t in range(-1, dags.shape[0]):
        for _ in range(lead if t < 0 else thin):
            u, kind = uniform(rng), 0
            while kind < shares.size and u >= shares[kind]:
                kind += 1
            accepted = move(state, fresh, lists, families, kind, rng)
            tally[kind, 0] += t >= 0
            tally[kind, 1] += accepted and t >= 0
        if t >= 0:
            draw(families, state, rng, dags[t], fresh.scores)
            log_weights[t], log_targets[t] = total(state.scores), total(fresh.scores)


@inlined
def move(state, fresh, lists, families, kind, rng):
    """Make a Metropolis-Hastings move of a state; return whether it was accepted."""
    gain = np.inf
    if kind != REVERSE:
        gain = propose(state.layers, kind, rng, fresh.layers)
    elif not reverse(state, fresh, families, rng):
        return False
    if gain > -np.inf:
        gain += rescore(families, lists, fresh.layers, state, fresh)
    accepted = accept(gain, rng)
    if accepted:
        adopt(fresh, state)
    return accepted


@inner
def reverse(state, fresh, families, rng):
    """Draw a DAG and reverse one of its edges, both ends with new parents; whether that was done.

    Its layers go to `fresh`. This keeps the posterior of DAGs, so of partitions [KuipersMoffa2017].
    """
    dag = fresh.last
    draw(families, state, rng, dag, fresh.scores)
    u, v, f_u, f_v = accepted_reversal(dag, families.parents, families.log_phi, rng)
    if u >= 0:
        dag[u], dag[v] = families.parents[u, f_u], families.parents[v, f_v]
        divide(dag, fresh.layers)
    return u >= 0


@kernel
def divide(dag, layers):
    """Fill layer masks (n,) with the partition of a DAG (n,)."""
    placed = np.int64(0)
    for i in range(layers.size):
        layers[i] = 0
        for v in range(dag.size):
            if not (placed >> v) & 1 and dag[v] & ~placed == 0:
                layers[i] |= np.int64(1) << v
        placed |= layers[i]


@inner
def adopt(fresh, state):
    """Copy a proposal to the state."""
    for v in range(state.layers.size):
        state.layers[v], state.before[v] = fresh.layers[v], fresh.before[v]
        state.last[v], state.scores[v] = fresh.last[v], fresh.scores[v]


@inner
def propose(layers, kind, rng, changed):
    """Write a neighbour to `changed`; ln of the proposal's odds, back over there, or -inf."""
    n, count = layers.size, 0
    while count < n and layers[count] != 0:
        count += 1
    copy_to(layers, changed)
    if kind == SPLIT_OR_JOIN:
        return split(changed, count, rng) if uniform(rng) < 0.5 else join(changed, count, rng)
    if kind == RELOCATE:
        return relocate(changed, count, rng)
    if count == 1:
        return -np.inf
    if kind == ADJACENT:
        first = np.int64(uniform(rng) * (count - 1))
        i = member(layers[first], np.int64(uniform(rng) * popcount(layers[first])))
        others = layers[first + 1]
    else:
        i = np.int64(uniform(rng) * n)
        first = layer_of(layers, i)
        others = ((np.int64(1) << n) - 1) ^ layers[first]
    j = member(others, np.int64(uniform(rng) * popcount(others)))
    pair = np.int64(1) << i | np.int64(1) << j
    changed[layer_of(layers, j)] ^= pair
    changed[first] ^= pair
    return 0.0


@inlined
def split(layers, count, rng):
    """Split a layer in two: the layer, the size of the first part and the part are uniform."""
    big, k, at = large(layers), 0, -1
    if big == 0:
        return -np.inf
    skip = np.int64(uniform(rng) * big)
    while skip >= 0:
        at += 1
        k = popcount(layers[at])
        skip -= k > 1
    size = 1 + np.int64(uniform(rng) * (k - 1))
    part, needed, left = np.int64(0), size, k
    for v in members(layers[at]):
        if uniform(rng) * left < needed:
            part |= np.int64(1) << v
            needed -= 1
        left -= 1
    rest = layers[at] ^ part
    for i in range(count, at + 1, -1):
        layers[i] = layers[i - 1]
    layers[at], layers[at + 1] = part, rest
    return log_ways(k, size) + math.log(big) - math.log(count)


@inlined
def join(layers, count, rng):
    """Join two adjacent layers, uniformly."""
    if count == 1:
        return -np.inf
    at = np.int64(uniform(rng) * (count - 1))
    size = popcount(layers[at])
    layers[at] |= layers[at + 1]
    for i in range(at + 1, count):
        layers[i] = layers[i + 1] if i + 1 < count else 0
    return math.log(count - 1) - log_ways(popcount(layers[at]), size) - math.log(large(layers))


@inlined
def relocate(layers, count, rng):
    """Move one node to place 2 i, alone before layer i, or to 2 i + 1, in it; uniformly."""
    v = np.int64(uniform(rng) * layers.size)
    bit = np.int64(1) << v
    at = layer_of(layers, v)
    alone = layers[at] == bit
    others = count - 1 if alone else count
    if others == 0:
        return -np.inf
    place = np.int64(uniform(rng) * 2 * others)
    place += place >= (2 * at if alone else 2 * at + 1)
    layers[at] ^= bit
    if alone:
        for i in range(at, count):
            layers[i] = layers[i + 1] if i + 1 < count else 0
    if place % 2 == 0:
        for i in range(others, place // 2, -1):
            layers[i] = layers[i - 1]
        layers[place // 2] = 0
    layers[place // 2] |= bit
    return 0.0


@inner
def layer_of(layers, v):
    """The layer that holds node v."""
    at = 0
    while not (layers[at] >> v) & 1:
        at += 1
    return at


@inner
def large(layers):
    """How many layers have at least two nodes."""
    count = 0
    for mask in layers:
        count += mask & (mask - 1) != 0
    return count


@inner
def log_ways(k, size):
    """ln of the splits of a layer of k: k - 1 sizes, and C(k, size) parts of one size."""
    ways = float(k - 1)
    for i in range(size):
        ways *= (k - i) / (i + 1)
    return math.log(ways)


@inner
def rescore(families, lists, layers, state, fresh):
    """Fill what is known of layers; the gain, or -inf, unfinished, if a node has no family."""
    before, last, gain = np.int64(0), np.int64(0), 0.0
    for layer in layers:
        for v in members(layer):
            fresh.before[v], fresh.last[v] = before, last
            if state.before[v] == before and state.last[v] == last:
                fresh.scores[v] = state.scores[v]
            else:
                fresh.scores[v] = score(families, lists, v, before, last)
                if fresh.scores[v] == -np.inf:
                    return -np.inf
                gain += fresh.scores[v] - state.scores[v]
        last = layer
        before |= layer
    return gain


@inlined
def score(families, lists, v, before, last):
    """ln of the sum of beta_v(G) over G within `before` that touch `last`; G empty if last is."""
    weights, choose, first = families.weights[v], families.choose, families.first
    total = weights[0]
    if last:
        count = order_walks.list_members(compact(before, v), compact(last, v), choose, lists)
        total = 0.0
        for size in range(1, min(first.size - 2, count) + 1):
            total += sum_touching(weights, lists, count, first[size], size, choose)
    if total > order_walks.TINY:  # else all weights underflow
        return math.log(total) + families.offsets[v]
    return log_restricted_sum(families.parents[v], families.log_phi[v], before, last)


@inner
def sum_touching(weights, lists, count, base, size, choose):
    """Sum of weights[base + rank(G)] over sets G of `size` members that touch the last layer."""
    below = lists[order_walks.BELOW]
    if size == 1:
        return order_walks.sum_row(weights, base, lists[order_walks.RECENT], np.int64(below[count]))
    if size == 2:
        return sum_pairs(weights, lists, count, base, size > 2)
    total = 0.0
    for t in range(size - 1, count):
        row = base + choose[lists[order_walks.INSIDE][t], size]
        touched = below[t + 1] > below[t]
        if size == 3:
            total += sum_pairs(weights, lists, t, row, touched)
        elif touched:
            total += order_walks.sum_of_size(weights, lists, t, row, size - 1, choose)
        else:
            total += sum_touching(weights, lists, t, row, size - 1, choose)
    return total


@inner
def sum_pairs(weights, lists, count, base, touched):
    """`sum_touching` of size 2, or the sum over all pairs if the set is `touched` already."""
    below = lists[order_walks.BELOW]
    total = 0.0
    for s in range(1, count):
        row = base + lists[order_walks.PAIRS][s]
        if touched or below[s + 1] > below[s]:
            total += order_walks.sum_row(weights, row, lists[order_walks.INSIDE], s)
        else:
            recent = lists[order_walks.RECENT]
            total += order_walks.sum_row(weights, row, recent, np.int64(below[s]))
    return total


@inner
def draw(families, state, rng, dag, scores):
    """Draw a DAG (n,) of a partition by inversion, node by node, and its ln weight by node (n,)."""
    parents, log_phi = families.parents, families.log_phi
    for v in range(dag.size):
        before, last, log_sum = state.before[v], state.last[v], state.scores[v]
        dag[v], scores[v] = 0, log_sum
        u = uniform(rng)
        f = draw_family(parents[v], log_phi[v], before, last, log_sum, u) if last else -1
        if f >= 0:
            dag[v], scores[v] = parents[v, f], log_phi[v, f]
