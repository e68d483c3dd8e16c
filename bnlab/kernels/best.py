"""The best DAG, and the k best, by dynamic programs over subsets of nodes.

Every DAG on the nodes S is one on S - v with a sink v added, which takes parents among S - v
[SilanderMyllymaki2006]. Scores are plain logarithms, nats: only sums and maxima are needed.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bnlab.kernels.subsets import compact

BLOCK = 1 << 10


class Families(NamedTuple):
    """Parent masks and ln beta, nats, of each node by decreasing weight, both (n, F)."""

    parents: NDArray[np.int64]
    log_beta: NDArray[np.float64]


class Lists(NamedTuple):
    """The k best DAGs on each set of nodes S, best first.

    length (2**n,) is how many there are. All others (2**n, k): weight, nats; sinks, their mask; and
    how they are made: the DAG of rank `rank` on S - v, and v with its parents number f, kept as
    choice = v * F + f.
    """

    length: NDArray[np.int64]
    weight: NDArray[np.float64]
    sinks: NDArray[np.int32]
    rank: NDArray[np.int32]
    choice: NDArray[np.int32]


class Heap(NamedTuple):
    """Scratch: a heap of slots by key, and what a slot stands for, all (n * k,).

    Slot s proposes node[s] = v as a sink on top of the DAG of rank[s] on the rest, with the family
    allowed[v, at[s]]. allowed (n, k) lists the first choices[v] families of v within the
    rest.
    """

    slots: NDArray[np.int32]
    key: NDArray[np.float64]
    node: NDArray[np.int32]
    rank: NDArray[np.int32]
    at: NDArray[np.int32]
    allowed: NDArray[np.int32]
    choices: NDArray[np.int64]


@njit(cache=True, nogil=True)
def subset_maxima(x):
    """In place: x[S] <- largest x[G] over G subset of S; x (2**b,). Low stages within the cache."""
    block = min(BLOCK, x.size)
    for c in range(x.size // block):
        _maxima(x[c * block : (c + 1) * block], 1)
    _maxima(x, block)


@njit(cache=True, nogil=True)
def _maxima(x, d):
    """The stages of `subset_maxima` from bit d on."""
    while d < x.size:
        for b in range(0, x.size, 2 * d):
            for i in range(b, b + d):
                x[i + d] = max(x[i + d], x[i])
        d *= 2


@njit(cache=True, nogil=True)
def best_forward(best, total):
    """total[S] = max over v in S of best[v, S - v] + total[S - v]; [SilanderMyllymaki2006, eq. 4].

    best (n, 2**(n-1)) compact: the largest ln beta_v within a set; total (2**n,).
    """
    total[:] = -np.inf
    total[0] = 0.0
    for c in range(1, total.size):
        d = c & -c
        h, v = (c - d) // 2, 0
        while d >> v != 1:
            v += 1
        for i in range(d):
            total[c + i] = max(total[c + i], best[v, h + i] + total[c - d + i])


@njit(cache=True, nogil=True)
def best_dag(families, best, total, dag):
    """Fill dag (n,) with a DAG of weight total[V], from the last sink to the first."""
    n = dag.size
    left = total.size - 1
    while left:
        sink, top = -1, -np.inf
        for v in range(n):
            if (left >> v) & 1:
                rest = left ^ (1 << v)
                weight = best[v, compact(rest, v)] + total[rest]
                if weight > top:
                    sink, top = v, weight
        left ^= 1 << sink
        f = 0
        while families.parents[sink, f] & ~left:
            f += 1
        dag[sink] = families.parents[sink, f]


@njit(cache=True, nogil=True)
def best_lists(start, stop, families, lists, heap):
    """Fill the lists of the sets start <= S < stop; those of their subsets are there.

    The candidates of a sink v are sums of two sorted lists, taken in decreasing order by one heap
    for all v [TianHeRam2010]. A DAG with several sinks comes up once for each: it is kept where v
    is the largest of them, so that all are distinct.
    """
    k = lists.weight.shape[1]
    for s in range(start, stop):
        size = _first_slots(s, families, lists, heap)
        slots, found = size, 0
        while size and found < k:
            slot = heap.slots[0]
            v, a = heap.node[slot], heap.rank[slot]
            rest = s ^ (1 << v)
            found += _keep(s, found, slot, families, lists, heap)
            if heap.at[slot] == 0 and a + 1 < lists.length[rest]:
                best = families.log_beta[v, heap.allowed[v, 0]]
                _open(heap, size, slots, v, a + 1, lists.weight[rest, a + 1] + best)
                size, slots = size + 1, slots + 1
            heap.at[slot] += 1
            if heap.at[slot] < heap.choices[v]:
                f = heap.allowed[v, heap.at[slot]]
                heap.key[slot] = lists.weight[rest, a] + families.log_beta[v, f]
            else:
                size -= 1
                heap.slots[0] = heap.slots[size]
            _sift_down(heap, size)
        lists.length[s] = found


@njit(cache=True, nogil=True)
def trace(lists, families, dags):
    """Fill dags (K, n) with the first K of the full set's list."""
    for t in range(dags.shape[0]):
        left, a = lists.length.size - 1, t
        while left:
            v, f = divmod(lists.choice[left, a], families.parents.shape[1])
            dags[t, v] = families.parents[v, f]
            a = lists.rank[left, a]
            left ^= 1 << v


@njit(cache=True, nogil=True)
def _first_slots(s, families, lists, heap):
    """Open a slot for the best DAG below each sink of s; how many there are."""
    size = 0
    for v in range(heap.choices.size):
        rest = s ^ (1 << v)
        if rest < s and lists.length[rest]:
            _allow(v, rest, families, heap)
            if heap.choices[v]:
                best = families.log_beta[v, heap.allowed[v, 0]]
                _open(heap, size, size, v, 0, lists.weight[rest, 0] + best)
                size += 1
    return size


@njit(cache=True, nogil=True)
def _allow(v, rest, families, heap):
    """List the first families of v within `rest`, at most k, none of weight 0."""
    count = 0
    for f in range(families.parents.shape[1]):
        if count == heap.allowed.shape[1] or families.log_beta[v, f] == -np.inf:
            break
        if families.parents[v, f] & ~rest == 0:
            heap.allowed[v, count] = f
            count += 1
    heap.choices[v] = count


@njit(cache=True, nogil=True, inline="always")
def _keep(s, found, slot, families, lists, heap):
    """List the slot's DAG as number `found` of set s if v is its largest sink; 1 if so, or 0."""
    v, a = heap.node[slot], heap.rank[slot]
    f = heap.allowed[v, heap.at[slot]]
    others = lists.sinks[s ^ (1 << v), a] & ~families.parents[v, f]
    if others >> v:
        return 0
    lists.weight[s, found] = heap.key[slot]
    lists.sinks[s, found] = others | 1 << v
    lists.rank[s, found] = a
    lists.choice[s, found] = v * families.parents.shape[1] + f
    return 1


@njit(cache=True, nogil=True)
def _open(heap, size, slot, v, a, key):
    """Add a slot to a heap of `size`: v with its best family on top of the DAG of rank a."""
    heap.node[slot], heap.rank[slot], heap.at[slot], heap.key[slot] = v, a, 0, key
    heap.slots[size] = slot
    _sift_up(heap, size)


@njit(cache=True, nogil=True)
def _sift_up(heap, i):
    slot = heap.slots[i]
    while i > 0 and heap.key[heap.slots[(i - 1) // 2]] < heap.key[slot]:
        heap.slots[i] = heap.slots[(i - 1) // 2]
        i = (i - 1) // 2
    heap.slots[i] = slot


@njit(cache=True, nogil=True)
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
