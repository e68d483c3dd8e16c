"""DAGs held as parent masks: ancestors, distances, enumeration, and Markov equivalence.

A partially directed graph is two arrays of masks (n,): `directed[v]` holds the u with u -> v,
`undirected[v]` the u with u - v.
"""

import numpy as np

from bnlab.kernels import inner, kernel
from bnlab.kernels.bits import copy_to, expand, members


@kernel
def topological_order(dag, order):
    """Fill `order` by Kahn's method, the smallest ready node first; how many could be placed."""
    placed = np.int64(0)
    for count in range(dag.size):
        v = 0
        while v < dag.size and ((placed >> v) & 1 or dag[v] & ~placed):
            v += 1
        if v == dag.size:
            return count
        placed |= np.int64(1) << v
        order[count] = v
    return dag.size


@kernel
def first_cyclic(dags):
    """Row of the first of dags (N, n) that has a cycle, -1 if none has."""
    order = np.empty(dags.shape[1], np.int64)
    for t in range(dags.shape[0]):
        if topological_order(dags[t], order) < order.size:
            return t
    return -1


@kernel
def ancestors(dags, out):
    """out[t, v] = mask of the proper ancestors of v in dags[t]: pa(v), and an(u) of these u."""
    n = dags.shape[1]
    order = np.empty(n, np.int64)
    for t in range(dags.shape[0]):
        count = topological_order(dags[t], order)
        for v in order[:count]:
            mask = dags[t, v]
            for u in members(dags[t, v]):
                mask |= out[t, u]
            out[t, v] = mask


@kernel
def markov_blankets(dags, out):
    """out[t, v] = parents, children and children's other parents of v in DAG t; (T, n) masks."""
    n = dags.shape[1]
    for t in range(len(dags)):
        copy_to(dags[t], out[t])
        for child in range(n):
            parents = dags[t, child]
            for v in members(parents):
                out[t, v] |= (parents ^ (np.int64(1) << v)) | np.int64(1) << child


@kernel
def near_ancestors(dags, length, out):
    """out[t, v] = mask of the nodes with a directed path of 1..length edges to v in dags[t]."""
    n = dags.shape[1]
    previous = np.empty(n, np.int64)
    for t in range(dags.shape[0]):
        copy_to(dags[t], out[t])
        for _ in range(min(length, n) - 1):
            copy_to(out[t], previous)
            for v in range(n):
                mask = dags[t, v]
                for u in members(dags[t, v]):
                    mask |= previous[u]
                out[t, v] = mask


@kernel
def enumerate_dags(left, dag, above, count, out):
    """Write all DAGs that agree with `dag` (n,) but for its first `left` nodes to out[count:].

    In increasing order of (dag[n-1], ..., dag[0]). above[d, v]: the ancestors of v by the parents
    of all but the first d nodes. Returns the place after the last; with no rows in `out` it counts.
    """
    if left == 0:
        if out.shape[0] > 0:
            copy_to(dag, out[count])
        return count + 1
    v = left - 1
    for choice in range(np.int64(1) << (dag.size - 1)):
        gained = dag[v] = expand(choice, v)
        for u in members(dag[v]):
            gained |= above[left, u]
        if (gained >> v) & 1:  # a cycle
            continue
        for w in range(dag.size):
            reaches = w == v or (above[left, w] >> v) & 1
            above[v, w] = above[left, w] | gained if reaches else above[left, w]
        count = enumerate_dags(v, dag, above, count, out)
    return count


@kernel
def cpdags(dags, directed, undirected):
    """The CPDAG of each of dags (N, n), in directed and undirected (N, n)."""
    order = np.empty(dags.shape[1], np.int64)
    for t in range(dags.shape[0]):
        topological_order(dags[t], order)
        compel(dags[t], order, directed[t], undirected[t])


@inner
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
        undirected[y] |= parents & ~forced
        for u in members(parents & ~forced):
            undirected[u] |= np.int64(1) << y


@kernel
def relations(directed, undirected):
    """Masks of the children (n,) and of all neighbours by any edge (n,)."""
    n = directed.size
    children = np.zeros(n, np.int64)
    for v in range(n):
        for u in members(directed[v]):
            children[u] |= np.int64(1) << v
    return children, directed | undirected | children


@kernel
def extend(directed, undirected, dag):
    """A DAG with these edges and no other v-structures [DorTarsi1992]; False if there is none.

    Nodes are taken away one by one: a node with no child left, each of whose undirected neighbours
    is joined to all its others.
    """
    children, joined = relations(directed, undirected)
    left = ((np.int64(1) << (dag.size - 1)) - 1) << 1 | 1
    for _ in range(dag.size):
        x = _removable(children, undirected, joined, left)
        if x < 0:
            return False
        left &= ~(np.int64(1) << x)
        dag[x] = (directed[x] | undirected[x]) & left
    return True


@inner
def _removable(children, undirected, joined, left):
    """The smallest node of `left` that may come last in it; -1 if there is none."""
    for x in range(children.size):
        if not (left >> x) & 1 or children[x] & left:
            continue
        fits = True
        for y in members(undirected[x] & left):
            fits = fits and joined[x] & left & ~joined[y] & ~(np.int64(1) << y) == 0
        if fits:
            return x
    return -1


@kernel
def pair_sums(masks, weights, out):
    """out[u, v] = sum of weights (T,) over the rows t of masks (T, n) whose mask of v has bit u."""
    out[:] = 0.0
    for t in range(len(masks)):
        for v in range(masks.shape[1]):
            for u in members(masks[t, v]):
                out[u, v] += weights[t]
