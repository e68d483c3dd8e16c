"""Ancestors, directed distances and enumeration of DAGs held as parent masks."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def topological_order(dag, order):
    """Fill `order` with a topological order of one DAG; return how many nodes it could place.

    Fewer than n placed nodes means that the rest lie on or behind a cycle. Kahn's method on masks:
    a node is ready when every parent is placed; the smallest ready node goes first.
    """
    n = dag.size
    placed = np.int64(0)
    count = 0
    progress = True
    while progress:
        progress = False
        for v in range(n):
            if not (placed >> v) & 1 and dag[v] & ~placed == 0:
                placed |= np.int64(1) << v
                order[count] = v
                count += 1
                progress = True
                break
    return count


@njit(cache=True, nogil=True)
def first_cyclic(dags):
    """Row of the first of dags (N, n) that has a cycle, -1 if none has."""
    order = np.empty(dags.shape[1], np.int64)
    for t in range(dags.shape[0]):
        if topological_order(dags[t], order) < order.size:
            return t
    return -1


@njit(cache=True, nogil=True)
def ancestors(dags, out):
    """out[t, v] = mask of the proper ancestors of v in dags[t]; (N, n) int64 both.

    an(v) = pa(v) united with an(u) over the parents u, along a topological order.
    """
    n = dags.shape[1]
    order = np.empty(n, np.int64)
    for t in range(dags.shape[0]):
        count = topological_order(dags[t], order)
        for v in order[:count]:
            mask = dags[t, v]
            rest = mask
            for u in range(n):
                if (rest >> u) & 1:
                    mask |= out[t, u]
            out[t, v] = mask


@njit(cache=True, nogil=True)
def markov_blankets(dags, out):
    """out[t, v] = parents, children and children's other parents of v in DAG t; (T, n) masks."""
    n = dags.shape[1]
    for t in range(len(dags)):
        out[t] = dags[t]
        for child in range(n):
            parents = dags[t, child]
            for v in range(n):
                bit = np.int64(1) << v
                if parents & bit:
                    out[t, v] |= (parents ^ bit) | (np.int64(1) << child)


@njit(cache=True, nogil=True)
def near_ancestors(dags, length, out):
    """out[t, v] = mask of the nodes with a directed path of 1..length edges to v in dags[t].

    One breadth-first step a round: near_{s+1}(v) = pa(v) united with near_s(u) over the parents u.
    """
    n = dags.shape[1]
    previous = np.empty(n, np.int64)
    for t in range(dags.shape[0]):
        out[t] = dags[t]
        for _ in range(length - 1):
            previous[:] = out[t]
            for v in range(n):
                mask = dags[t, v]
                for u in range(n):
                    if (dags[t, v] >> u) & 1:
                        mask |= previous[u]
                out[t, v] = mask


@njit(cache=True, nogil=True)
def enumerate_dags(n, out):
    """Write every DAG on n nodes to `out` (N, n), in increasing order of (dag[n-1], ..., dag[0]).

    Depth-first over the nodes n-1, ..., 0: `above[d, v]` holds the ancestors of v once d nodes have
    their parents; a parent set is refused when one of its members descends from the node.
    Returns N; with an empty `out` it only counts.
    """
    dag = np.zeros(n, np.int64)
    above = np.zeros((n + 1, n), np.int64)
    choice = np.full(n, -1, np.int64)
    count, depth = 0, 0
    while depth >= 0:
        if depth == n:
            if out.shape[0] > 0:
                out[count] = dag
            count += 1
            depth -= 1
            continue
        v = n - 1 - depth
        choice[depth] += 1
        if choice[depth] == 1 << (n - 1):
            choice[depth] = -1
            depth -= 1
            continue
        low = choice[depth] & ((1 << v) - 1)
        dag[v] = low | (choice[depth] >> v) << (v + 1)
        if _add_parents(v, dag[v], above[depth], above[depth + 1]):
            depth += 1
    return count


@njit(cache=True, nogil=True)
def _add_parents(v, parents, above, out):
    """Ancestors after giving v its parents; False when that closes a cycle."""
    n = above.size
    gained = parents
    for u in range(n):
        if (parents >> u) & 1:
            gained |= above[u]
    if (gained >> v) & 1:
        return False
    for w in range(n):
        reaches = w == v or (above[w] >> v) & 1
        out[w] = above[w] | gained if reaches else above[w]
    return True
