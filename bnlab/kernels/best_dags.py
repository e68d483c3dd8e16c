"""The best DAG, and the k best, by dynamic programs over subsets of nodes.

Every DAG on the nodes S is one on S - v with a sink v added, which takes parents among S - v
[SilanderMyllymaki2006]. Scores are plain logarithms, nats: only sums and maxima are needed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import trailing_zeros

BLOCK = 1 << 10


class Families(NamedTuple):
    """Parent masks and ln beta, nats, of each node by decreasing weight, both (n, F)."""

    parents: NDArray[np.int64]
    log_phi: NDArray[np.float64]


class Lists(NamedTuple):
    """The best DAGs on each set of nodes S, best first, in one pool."""

    first: NDArray[np.int64]  # (2**n + 1,), those on S are first[S] <= e < first[S + 1]
    weight: NDArray[np.float64]  # (pool,), nats
    sinks: NDArray[np.int32]  # their mask
    rank: NDArray[np.int32]  # of the DAG on S - v that this one is made from
    choice: NDArray[np.int32]  # v * F + f for v with its parents number f


class Heap(NamedTuple):
    """Scratch: a heap of slots (n * k,), each a sink v on top of a DAG on the rest."""

    slots: NDArray[np.int32]
    key: NDArray[np.float64]
    node: NDArray[np.int32]  # v
    rank: NDArray[np.int32]  # of the DAG on the rest
    at: NDArray[np.int32]  # v has the family allowed[v, at]
    allowed: NDArray[np.int32]  # (n, k), families of v within the rest
    choices: NDArray[np.int64]  # (n,), how many


@kernel
def subset_maxima(x):
    """In place: x[S] <- largest x[G] over G subset of S; x (2**b,). Low stages within the cache."""
    block = min(BLOCK, x.size)
    for c in range(x.size // block):
        _maxima(x[c * block : (c + 1) * block], np.int64(1))
    _maxima(x, block)


@inner
def _maxima(x, d):
    """The stages of `subset_maxima` from bit d on."""
    while d < x.size:
        for b in range(0, x.size, 2 * d):
            for i in range(b, b + d):
                x[i + d] = max(x[i + d], x[i])
        d *= 2


@kernel
def best_completions(best, bound):
    """bound[S] = max over v not in S of bound[S + v] + best[v, S], the best ln beta_v within S."""
    bound[:] = -np.inf
    bound[bound.size - 1] = 0.0
    for c in range(bound.size - 1, 0, -1):
        d = c & -c
        h, v = (c - d) // 2, trailing_zeros(c)
        for i in range(d):
            bound[c - d + i] = max(bound[c - d + i], best[v, h + i] + bound[c + i])


@kernel
def best_lists(sets, k, families, lists, heap, bound, least):
    """List the k best DAGs on each set of nodes, of those that can grow to a weight of `least`.

    The candidates of a sink v are sums of two sorted lists, taken in decreasing order by one heap
    for all v [TianHeRam2010]. A DAG with several sinks is kept where v is the largest. Does
    sets[0] <= S < sets[1], as long as the pool has room; returns the first not done.
    """
    for s in range(sets[0], sets[1]):
        entry = lists.first[s]
        last = entry + k
        if last > lists.weight.size:
            return s
        size = slots = _first_slots(s, families, lists, heap, least - bound[s])
        while size and entry < last and heap.key[heap.slots[0]] + bound[s] >= least:
            slot = heap.slots[0]
            v, a = heap.node[slot], heap.rank[slot]
            rest, f = s ^ (np.int64(1) << v), heap.allowed[v, heap.at[slot]]
            below = lists.first[rest] + a
            sinks = lists.sinks[below] & ~families.parents[v, f]
            if sinks >> v == 0:
                lists.weight[entry], lists.rank[entry] = heap.key[slot], a
                lists.sinks[entry] = sinks | np.int64(1) << v
                lists.choice[entry] = v * families.parents.shape[1] + f
                entry += 1
            if heap.at[slot] == 0 and below + 1 < lists.first[rest + 1]:
                best = families.log_phi[v, heap.allowed[v, 0]]
                _open(heap, size, slots, v, a + 1, lists.weight[below + 1] + best)
                size, slots = size + 1, slots + 1
            heap.at[slot] += 1
            if heap.at[slot] < heap.choices[v]:
                f = heap.allowed[v, heap.at[slot]]
                heap.key[slot] = lists.weight[below] + families.log_phi[v, f]
            else:
                size -= 1
                heap.slots[0] = heap.slots[size]
            _sift_down(heap, size)
        lists.first[s + 1] = entry
    return sets[1]


@inner
def _first_slots(s, families, lists, heap, least):
    """Open a slot for the best DAG below each sink of s that may reach `least`; how many."""
    size, room = np.int64(0), heap.allowed.shape[1]
    for v in range(heap.choices.size):
        rest = s ^ (np.int64(1) << v)
        if rest < s and lists.first[rest] < lists.first[rest + 1]:
            weight, count = lists.weight[lists.first[rest]], 0
            for f in range(families.parents.shape[1]):
                log_phi = families.log_phi[v, f]
                if log_phi < least - weight or log_phi == -np.inf or count == room:
                    break
                if families.parents[v, f] & ~rest == 0:
                    heap.allowed[v, count] = f
                    count += 1
            heap.choices[v] = count
            if count:
                best = families.log_phi[v, heap.allowed[v, 0]]
                _open(heap, size, size, v, np.int64(0), weight + best)
                size += 1
    return size


@inner
def _open(heap, size, slot, v, a, key):
    """Add a slot to a heap of `size`: v with its best family on top of the DAG of rank a."""
    heap.node[slot], heap.rank[slot], heap.at[slot], heap.key[slot] = v, a, 0, key
    i = size
    while i > 0 and heap.key[heap.slots[(i - 1) // 2]] < key:
        heap.slots[i] = heap.slots[(i - 1) // 2]
        i = (i - 1) // 2
    heap.slots[i] = slot


@inner
def _sift_down(heap, size):
    """Let the slot at the top sink to its place among the first `size`."""
    i, slot = 0, heap.slots[0]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and heap.key[heap.slots[child]] < heap.key[heap.slots[child + 1]]:
            child += 1
        if heap.key[heap.slots[child]] <= heap.key[slot]:
            break
        heap.slots[i] = heap.slots[child]
        i = child
    heap.slots[i] = slot
