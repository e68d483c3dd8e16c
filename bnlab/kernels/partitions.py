"""Random walks on ordered partitions of nodes, and DAGs drawn from them.

The first layer of a DAG's partition holds its sources; each further layer the sources of what is
left without the layers before it. So every node has all parents in the layers before its own, and
at least one in the last of them. The weight of a partition is the sum over its DAGs: the product
over nodes of the sum of beta over such parent sets [KuipersMoffa2017]. These sums run over families
that touch the last layer only, never over differences of larger sums, so they keep their digits.

A partition is an array of n layer masks, the empty ones last.
"""

import math

import numpy as np
from numba import njit

from bnlab.kernels.dags import ancestors
from bnlab.kernels.draws import fits
from bnlab.kernels.structures import reversal_move
from bnlab.kernels.subsets import compact, popcount, trailing_zeros
from bnlab.kernels.walks import TINY, sum_of_size

SPLIT_OR_JOIN, SWAP, ADJACENT, RELOCATE, REVERSE = 0, 1, 2, 3, 4
LIGHT = -70.0  # nats relative to the largest term: lighter ones do not change a sum


@njit(cache=True, nogil=True)
def walk(layers, source, plan, rng, record):
    """Move a partition (n,) along in place, and draw DAGs from it.

    plan: (lead, thin, shares (4,)): `lead` moves, then `thin` before each record; shares are the
    cumulative probabilities of the first four kinds of move.
    record: (dags (T, n), log_targets (T,) of the DAGs, log_weights (T,) of their partitions,
    tally (5, 2): moves tried and accepted by kind, the lead left out).
    """
    lead, thin, shares = plan
    dags, log_targets, log_weights, tally = record
    n = layers.size
    state = (layers, np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n))
    fresh = (layers.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n))
    state[1][:] = -1  # known of no node
    rescore(source, layers, state, fresh)
    adopt(fresh, state)
    move(state, fresh, source, shares, lead, rng, np.zeros_like(tally))
    for t in range(dags.shape[0]):
        move(state, fresh, source, shares, thin, rng, tally)
        log_weights[t] = state[3].sum()
        draw(source, state, rng, dags[t], fresh[3])
        log_targets[t] = fresh[3].sum()


@njit(cache=True, nogil=True)
def move(state, fresh, source, shares, moves, rng, tally):
    """So many Metropolis-Hastings moves of a state: layers, and `rescore` by node."""
    for _ in range(moves):
        u, kind = rng.random(), 0
        while kind < shares.size and u >= shares[kind]:
            kind += 1
        tally[kind, 0] += 1
        if kind == REVERSE:
            tally[kind, 1] += reverse(state, fresh, source, rng)
            continue
        gain = propose(state[0], kind, rng, fresh[0])
        if gain > -np.inf:
            gain += rescore(source, fresh[0], state, fresh)
        if gain >= 0.0 or rng.random() < math.exp(gain):
            tally[kind, 1] += 1
            adopt(fresh, state)


@njit(cache=True, nogil=True)
def reverse(state, fresh, source, rng):
    """Draw a DAG, reverse one of its edges with new parents for both ends; whether that was done.

    The partition becomes that of the new DAG [KuipersMoffa2017]. DAGs have their posterior given
    the partition, and the move keeps that of DAGs, so it keeps that of partitions.
    """
    n = state[0].size
    dag, above, scores = np.empty(n, np.int64), np.zeros(n, np.int64), np.empty(n)
    draw(source, state, rng, dag, scores)
    ancestors(dag.reshape(1, n), above.reshape(1, n))
    if not reversal_move((dag, above, scores), source, (source[5], source[4]), rng):
        return False
    divide(dag, fresh[0])
    rescore(source, fresh[0], state, fresh)
    adopt(fresh, state)
    return True


@njit(cache=True, nogil=True)
def divide(dag, layers):
    """Fill layer masks (n,) with the partition of a DAG (n,)."""
    placed = np.int64(0)
    for i in range(layers.size):
        layers[i] = 0
        for v in range(dag.size):
            if not (placed >> v) & 1 and dag[v] & ~placed == 0:
                layers[i] |= np.int64(1) << v
        placed |= layers[i]


@njit(cache=True, nogil=True)
def adopt(fresh, state):
    """Copy a proposal to the state."""
    for v in range(state[0].size):
        state[0][v] = fresh[0][v]
        state[1][v] = fresh[1][v]
        state[2][v] = fresh[2][v]
        state[3][v] = fresh[3][v]


@njit(cache=True, nogil=True)
def propose(layers, kind, rng, changed):
    """Write a neighbour to `changed`; return ln of the proposal's odds, back over there.

    Swaps of two nodes of different layers, or of two adjacent layers, and relocations are
    symmetric. -inf where there is no such neighbour.
    """
    n, count = layers.size, 0
    while count < n and layers[count] != 0:
        count += 1
    changed[:] = layers
    if kind == SPLIT_OR_JOIN:
        return split(changed, count, rng) if rng.random() < 0.5 else join(changed, count, rng)
    if kind == RELOCATE:
        return relocate(changed, count, rng)
    if count == 1:
        return -np.inf
    if kind == ADJACENT:
        first = int(rng.random() * (count - 1))
        i = member(layers[first], int(rng.random() * popcount(layers[first])))
        others = layers[first + 1]
    else:
        i = int(rng.random() * n)
        first = layer_of(layers, i)
        others = ((np.int64(1) << n) - 1) ^ layers[first]
    j = member(others, int(rng.random() * popcount(others)))
    pair = np.int64(1) << i | np.int64(1) << j
    changed[layer_of(layers, j)] ^= pair
    changed[first] ^= pair
    return 0.0


@njit(cache=True, nogil=True)
def split(layers, count, rng):
    """Split a layer in two: the layer, the size of the first part and the part are uniform."""
    big, k, at = large(layers), 0, -1
    if big == 0:
        return -np.inf
    skip = int(rng.random() * big)
    while skip >= 0:
        at += 1
        k = popcount(layers[at])
        skip -= k > 1
    size = 1 + int(rng.random() * (k - 1))
    part, rest, needed, left = np.int64(0), layers[at], size, k
    while rest:
        if rng.random() * left < needed:
            part |= rest & -rest
            needed -= 1
        left -= 1
        rest &= rest - 1
    rest = layers[at] ^ part
    for i in range(count, at + 1, -1):
        layers[i] = layers[i - 1]
    layers[at], layers[at + 1] = part, rest
    return log_ways(k, size) + math.log(big) - math.log(count)


@njit(cache=True, nogil=True)
def join(layers, count, rng):
    """Join two adjacent layers, uniformly."""
    if count == 1:
        return -np.inf
    at = int(rng.random() * (count - 1))
    size = popcount(layers[at])
    layers[at] |= layers[at + 1]
    for i in range(at + 1, count):
        layers[i] = layers[i + 1] if i + 1 < count else 0
    ways = log_ways(popcount(layers[at]), size)
    return math.log(count - 1) - ways - math.log(large(layers))


@njit(cache=True, nogil=True)
def relocate(layers, count, rng):
    """Take one node out, and put it anywhere else among the other nodes' layers.

    Into one of their L layers, or alone before, between or after them: 2 L + 1 places. Place 2 i is
    alone before layer i, and place 2 i + 1 in it.
    """
    v = int(rng.random() * layers.size)
    bit = np.int64(1) << v
    at = layer_of(layers, v)
    alone = layers[at] == bit
    others = count - 1 if alone else count
    if others == 0:
        return -np.inf
    place = int(rng.random() * 2 * others)
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


@njit(cache=True, nogil=True)
def layer_of(layers, v):
    """The layer that holds node v."""
    at = 0
    while not (layers[at] >> v) & 1:
        at += 1
    return at


@njit(cache=True, nogil=True)
def large(layers):
    """How many layers have at least two nodes."""
    count = 0
    for mask in layers:
        count += mask & (mask - 1) != 0
    return count


@njit(cache=True, nogil=True)
def member(mask, i):
    """Element number i of a set."""
    for _ in range(i):
        mask &= mask - 1
    return trailing_zeros(mask)


@njit(cache=True, nogil=True)
def log_ways(k, size):
    """ln of the splits of a layer of k: k - 1 sizes, and C(k, size) parts of one size."""
    ways = float(k - 1)
    for i in range(size):
        ways *= (k - i) / (i + 1)
    return math.log(ways)


@njit(cache=True, nogil=True)
def rescore(source, layers, state, fresh):
    """Fill predecessors, last layer before and ln weight by node; return the gain in ln weight.

    Nodes for which neither of the first two has changed keep their weight. -inf as soon as a node
    has no family; the rest is then left unfinished.
    """
    before, last = np.int64(0), np.int64(0)
    gain = 0.0
    lists = np.zeros((5, layers.size + 4), np.uint64)
    for layer in layers:
        rest = layer
        while rest:
            v = trailing_zeros(rest)
            rest &= rest - 1
            fresh[1][v], fresh[2][v] = before, last
            if state[1][v] == before and state[2][v] == last:
                fresh[3][v] = state[3][v]
            else:
                fresh[3][v] = score(source, v, before, last, lists)
                if fresh[3][v] == -np.inf:
                    return -np.inf
                gain += fresh[3][v] - state[3][v]
        last = layer
        before |= layer
    return gain


@njit(cache=True, nogil=True)
def score(source, v, before, last, lists):
    """ln of the sum of beta_v(G) over G within `before` that touch `last`; G empty if last is.

    source: (weights (n, F + C(n-1, 2)), offsets (n,), choose, first as in walks.score_families;
    log_beta and parents (n, F) by decreasing weight, for where all weights underflow).
    """
    weights, offsets, choose, first, log_beta, parents = source
    total = weights[v, 0]
    if last:
        count = list_members(compact(before, v), compact(last, v), choose, lists)
        total = 0.0
        for size in range(1, min(first.size - 2, count) + 1):
            total += sum_touching(weights[v], lists, count, first[size], size, choose)
    if total > TINY:
        return math.log(total) + offsets[v]
    best, total = heaviest(log_beta[v], parents[v], before, last)
    return best + math.log(total) if total > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def list_members(before, last, choose, lists):
    """Fill `lists` for `sum_touching` with compact sets; return the size of `before`.

    lists (5, n + 4): members x; C(x, 2); scratch; how many of the first s members are in `last`;
    and those.
    """
    inside, pairs, below, recent = lists[0], lists[1], lists[3], lists[4]
    count, touching, x = 0, 0, 0
    below[0] = 0
    while before >> x:
        if (before >> x) & 1:
            inside[count] = x
            pairs[count] = choose[x, 2] if choose.shape[1] > 2 else 0
            if (last >> x) & 1:
                recent[touching] = x
                touching += 1
            count += 1
            below[count] = touching
        x += 1
    return count


@njit(cache=True, nogil=True)
def sum_touching(weights, lists, count, base, size, choose):
    """Sum of weights[base + rank(G)] over the sets G of `size` of the first `count` members.

    Only sets with an element in `last` count: either the largest is there, and the others are any,
    or the others touch it.
    """
    below = lists[3]
    if size == 1:
        return sum_row(weights, base, lists[4], np.int64(below[count]))
    if size == 2:
        return sum_pairs(weights, lists, count, base, False)
    total = 0.0
    for t in range(size - 1, count):
        row = base + choose[lists[0, t], size]
        touched = below[t + 1] > below[t]
        if size == 3:
            total += sum_pairs(weights, lists, t, row, touched)
        elif touched:
            total += sum_of_size(weights, lists, t, row, size - 1, choose)
        else:
            total += sum_touching(weights, lists, t, row, size - 1, choose)
    return total


@njit(cache=True, nogil=True)
def sum_pairs(weights, lists, count, base, touched):
    """`sum_touching` of size 2, or the sum over all pairs if the set is `touched` already."""
    below = lists[3]
    total = 0.0
    for s in range(1, count):
        row = base + lists[1, s]
        if touched or below[s + 1] > below[s]:
            total += sum_row(weights, row, lists[0], s)
        else:
            total += sum_row(weights, row, lists[4], np.int64(below[s]))
    return total


@njit(cache=True, nogil=True, inline="always")
def sum_row(weights, base, members, count):
    """Sum of weights[base + x] over the first `count` members x, as four independent sums."""
    sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
    r = 0
    while r + 4 <= count:
        sum0 += weights[base + members[r]]
        sum1 += weights[base + members[r + 1]]
        sum2 += weights[base + members[r + 2]]
        sum3 += weights[base + members[r + 3]]
        r += 4
    while r < count:
        sum0 += weights[base + members[r]]
        r += 1
    return (sum0 + sum1) + (sum2 + sum3)


@njit(cache=True, nogil=True)
def heaviest(log_beta, parents, before, last):
    """The largest ln beta of the families (F,) that fit, and the sum of weights relative to it."""
    best, total = -np.inf, 0.0
    for f in range(parents.size):
        if fits(parents[f], before, last) and log_beta[f] > -np.inf:
            if total == 0.0:
                best = log_beta[f]
            if log_beta[f] < best + LIGHT:
                break
            total += math.exp(log_beta[f] - best)
    return best, total


@njit(cache=True, nogil=True)
def draw(source, state, rng, dag, scores):
    """Draw a DAG (n,) of a partition by inversion, node by node, and its ln weight by node (n,).

    Families too light to change the sum, which the state has, are drawn only if nothing else fits.
    """
    log_beta, parents = source[4], source[5]
    for v in range(dag.size):
        before, last, log_sum = state[1][v], state[2][v], state[3][v]
        dag[v], scores[v] = 0, log_sum
        left, found = rng.random(), last == 0
        for f in range(0 if found else parents.shape[1]):
            if found and log_beta[v, f] < log_sum + LIGHT:
                break
            if fits(parents[v, f], before, last):
                dag[v], scores[v], found = parents[v, f], log_beta[v, f], True
                left -= math.exp(log_beta[v, f] - log_sum)
                if left < 0.0:
                    break
