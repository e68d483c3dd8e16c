"""Greedy equivalence search: the best valid operator on a CPDAG, and what it does [Chickering2002].

A `graph` is (directed, undirected, children, joined), masks (n,) each, as in `equivalence`. A
`source` of ln beta is that of `lazy_scores`. Only a gain above TIE counts, and an operator replaces
an earlier one only if it gains TIE more: differences below it are rounding.
"""

import numpy as np
from numba import njit

from bnlab.kernels.lazy_scores import log_beta_of
from bnlab.kernels.subsets import popcount, trailing_zeros

TIE = 1e-8  # nats


@njit(cache=True, nogil=True)
def best_insert(graph, source):
    """(gain, x, y, T) of the best Insert(x, y, T): x -> y, and t -> y for each t - y in T.

    Valid if N = (neighbours of y joined to x) with T is a clique, and every semi-directed path from
    y to x meets it; the gain is that of y's family. x = -1 if no gain is positive.
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
            if x == y or (joined[y] >> x) & 1 or room < 0 or not is_clique(common, joined):
                continue
            stack[0, 0] = 0
            stack[1, 0] = joined_to_all(common, undirected[y] & ~joined[x], joined)
            depth = 0
            while depth >= 0:
                tails = stack[0, depth]
                before = parents | tails
                gain = log_beta_of(source, y, before | np.int64(1) << x)
                gain -= log_beta_of(source, y, before)
                if gain > best[0] + TIE and is_blocked(graph, y, x, common | tails):
                    best = (gain, x, y, tails)
                depth = next_clique(depth, stack, joined, room)
    return best


@njit(cache=True, nogil=True)
def best_delete(graph, source):
    """(gain, x, y, H) of the best Delete(x, y, H): x - y or x -> y goes; y -> h, x -> h for h in H.

    Valid if the neighbours of y joined to x, less H, are a clique. x = -1 if no gain is positive.
    """
    directed, undirected, _, joined = graph
    n = directed.size
    stack = np.empty((2, n + 1), np.int64)
    best = (0.0, -1, -1, np.int64(0))
    for y in range(n):
        for x in range(n):
            bit = np.int64(1) << x
            if not (directed[y] | undirected[y]) & bit:
                continue
            common = undirected[y] & joined[x]
            stack[0, 0], stack[1, 0] = 0, common
            depth = 0
            while depth >= 0:
                after = directed[y] & ~bit | stack[0, depth]
                gain = log_beta_of(source, y, after) - log_beta_of(source, y, after | bit)
                if gain > best[0] + TIE:
                    best = (gain, x, y, common & ~stack[0, depth])
                depth = next_clique(depth, stack, joined, n)
    return best


@njit(cache=True, nogil=True)
def next_clique(depth, stack, joined, most):
    """Step from one clique of up to `most` nodes to the next; its size, or -1 after the last.

    stack (2, n + 1): [0, d] is the clique of the first d choices, [1, d] what may still join it.
    Starts at depth 0 with the empty clique and all candidates.
    """
    while depth >= 0 and (stack[1, depth] == 0 or depth >= most):
        depth -= 1
    if depth >= 0:
        u = trailing_zeros(stack[1, depth])
        stack[1, depth] &= stack[1, depth] - 1
        stack[0, depth + 1] = stack[0, depth] | np.int64(1) << u
        stack[1, depth + 1] = stack[1, depth] & joined[u]
        depth += 1
    return depth


@njit(cache=True, nogil=True)
def is_clique(nodes, joined):
    """Whether every two of the nodes are joined."""
    rest = nodes
    while rest:
        u = trailing_zeros(rest)
        rest &= rest - 1
        if rest & ~joined[u]:
            return False
    return True


@njit(cache=True, nogil=True)
def joined_to_all(nodes, candidates, joined):
    """The candidates that are joined to each of the nodes."""
    while nodes:
        candidates &= joined[trailing_zeros(nodes)]
        nodes &= nodes - 1
    return candidates


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def insert(directed, undirected, x, y, tails):
    """Make x -> y, and t -> y of each t - y in `tails`."""
    directed[y] |= np.int64(1) << x
    while tails:
        _point(directed, undirected, trailing_zeros(tails), y)
        tails &= tails - 1


@njit(cache=True, nogil=True)
def delete(directed, undirected, x, y, heads):
    """Take the edge from x to y away; make y -> h of y - h, and x -> h of x - h, h in `heads`."""
    directed[y] &= ~(np.int64(1) << x)
    undirected[y] &= ~(np.int64(1) << x)
    undirected[x] &= ~(np.int64(1) << y)
    while heads:
        h = trailing_zeros(heads)
        _point(directed, undirected, y, h)
        if (undirected[x] >> h) & 1:
            _point(directed, undirected, x, h)
        heads &= heads - 1


@njit(cache=True, nogil=True)
def _point(directed, undirected, u, v):
    """u - v becomes u -> v."""
    directed[v] |= np.int64(1) << u
    undirected[v] &= ~(np.int64(1) << u)
    undirected[u] &= ~(np.int64(1) << v)
