"""Markov equivalence: DAGs to completed partially directed graphs (CPDAGs) and back.

A partially directed graph is two arrays of masks (n,): `directed[v]` holds the u with u -> v,
`undirected[v]` the u with u - v.
"""

import numpy as np
from numba import njit

from bnlab.kernels.dags import topological_order
from bnlab.kernels.subsets import trailing_zeros


@njit(cache=True, nogil=True)
def cpdags(dags, directed, undirected):
    """The CPDAG of each of dags (N, n), in directed and undirected (N, n)."""
    order = np.empty(dags.shape[1], np.int64)
    for t in range(dags.shape[0]):
        topological_order(dags[t], order)
        compel(dags[t], order, directed[t], undirected[t])


@njit(cache=True, nogil=True)
def compel(dag, order, directed, undirected):
    """The edges that all equivalent DAGs share, and the others, node by node [Chickering1995].

    Into a node y whose last parent is x, all edges are compelled if x has a compelled parent that y
    lacks, or y a parent that x lacks; otherwise those from the compelled parents of x.
    """
    undirected[:] = 0
    for place in range(order.size):
        y = order[place]
        parents = dag[y]
        directed[y] = 0
        if parents == 0:
            continue
        back = place - 1
        while not (parents >> order[back]) & 1:
            back -= 1
        x = order[back]
        forced = directed[x]
        if forced & ~parents or parents & ~dag[x] & ~(np.int64(1) << x):
            forced = parents
        directed[y] = forced
        free = parents & ~forced
        undirected[y] |= free
        while free:
            undirected[trailing_zeros(free)] |= np.int64(1) << y
            free &= free - 1


@njit(cache=True, nogil=True)
def relations(directed, undirected):
    """Masks of the children (n,) and of all neighbours by any edge (n,)."""
    n = directed.size
    children = np.zeros(n, np.int64)
    for v in range(n):
        rest = directed[v]
        while rest:
            children[trailing_zeros(rest)] |= np.int64(1) << v
            rest &= rest - 1
    return children, directed | undirected | children


@njit(cache=True, nogil=True)
def extend(directed, undirected, dag):
    """A DAG with these edges and no v-structure that they do not have [DorTarsi1992].

    Nodes are taken away one by one: a node with no child left, each of whose undirected neighbours
    is joined to all its others. False if there is no such DAG.
    """
    children, joined = relations(directed, undirected)
    left = np.int64(0)
    for v in range(dag.size):
        left |= np.int64(1) << v
    for _ in range(dag.size):
        x = _removable(children, undirected, joined, left)
        if x < 0:
            return False
        left &= ~(np.int64(1) << x)
        dag[x] = (directed[x] | undirected[x]) & left
    return True


@njit(cache=True, nogil=True)
def _removable(children, undirected, joined, left):
    """The smallest node of `left` that may come last in it; -1 if there is none."""
    for x in range(children.size):
        if not (left >> x) & 1 or children[x] & left:
            continue
        rest, fits = undirected[x] & left, True
        while rest and fits:
            y = trailing_zeros(rest)
            fits = joined[x] & left & ~joined[y] & ~(np.int64(1) << y) == 0
            rest &= rest - 1
        if fits:
            return x
    return -1
