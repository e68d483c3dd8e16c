"""An AD-tree: counts of all small sets of variables, kept in a tree [MooreLee1998].

A competitor to counting the rows again. A node stands for some states of some variables and holds
the number of rows with these states. Below it is a part for each later variable, and there a node
for each state but the most common one: its counts are what is missing from the node's own. Nodes of
few rows have a list of them instead of parts.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bnlab.data import Data

Ints = NDArray[np.int64]

LEAF = 16  # rows; nodes of fewer are lists


@dataclass(frozen=True, slots=True, eq=False)
class ADTree:
    """All sets of up to `depth` variables of some rows. `grow` makes it.

    arrays : (count, part, begin, common, child, nodes, listed). Of node x: its rows; its first part
        less its first variable, or -1; where its list begins in `listed`, or -1. Of part p: the
        most common state, and where its nodes begin in `nodes`, one for each state, -1 for none
    room : how many nodes, parts, places for nodes and listed rows there are
    """

    depth: int
    columns: NDArray[np.int32]
    arities: Ints
    arrays: tuple[Ints, ...]
    room: Ints

    def counts(self, variables: list[int], /) -> Ints:
        """Rows with each joint state of some variables, in ascending order: one axis for each."""
        wanted = np.array(variables, np.int64)
        out = np.zeros(int(np.prod(self.arities[wanted])), np.int64)
        fill(self.arrays, self.columns, self.arities, wanted, out)
        return out.reshape(self.arities[wanted])


def grow(data: Data, depth: int, /, *, room: Ints | None = None) -> ADTree:
    """The AD-tree of some rows, for sets of up to `depth` variables.

    room : `ADTree.room` of the same tree, made before; else it is grown twice, first to count
    """
    columns = np.array(data.values.T, order="C")
    arities, rows, used = np.array(data.arities), np.arange(data.m), np.zeros(4, np.int64)
    if room is None:
        branch((np.empty(0, np.int64),) * 7, used, columns, arities, rows, 0, depth)
        room = used.copy()
    sizes = room[[0, 0, 0, 1, 1, 2, 3]]
    arrays, used[:] = tuple(np.empty(size, np.int64) for size in sizes), 0
    branch(arrays, used, columns, arities, rows, 0, depth)
    return ADTree(depth, columns, arities, arrays, room)


@njit(nogil=True)  # from the disk cache a function that calls itself does not come back
def branch(arrays, used, columns, arities, rows, i, depth):
    """Make the node of `rows` and all below it, for sets of up to `depth` of variables from i on.

    used (4,): nodes, parts, places for nodes and listed rows so far. Empty arrays are not filled,
    which tells how much room is needed. Returns the number of the node.
    """
    count, part, begin, common, child, nodes, listed = arrays
    node, fills = used[0], count.size > 0
    used[0] += 1
    if fills:
        count[node], part[node], begin[node] = rows.size, -1, -1
    if depth == 0 or i == arities.size:
        return node
    if rows.size < LEAF:
        if fills:
            begin[node] = used[3]
            listed[used[3] : used[3] + rows.size] = rows
        used[3] += rows.size
        return node
    first = used[1] - i
    used[1] += arities.size - i
    if fills:
        part[node] = first
    for a in range(i, arities.size):
        ordered, ends = by_state(columns[a], rows, arities[a])
        most, place = np.argmax(np.diff(ends)), used[2]
        used[2] += arities[a]
        for s in range(arities[a]):
            below = -1
            if s != most and ends[s] < ends[s + 1]:
                some = ordered[ends[s] : ends[s + 1]]
                below = branch(arrays, used, columns, arities, some, a + 1, depth - 1)
            if fills:
                common[first + a], child[first + a], nodes[place + s] = most, place, below
    return node


@njit(cache=True, nogil=True)
def by_state(column, rows, arity):
    """The rows ordered by state, and where each state begins and ends (arity + 1,)."""
    ends = np.zeros(arity + 1, np.int64)
    for row in rows:
        ends[column[row] + 1] += 1
    for s in range(arity):
        ends[s + 1] += ends[s]
    at, ordered = ends.copy(), np.empty_like(rows)
    for row in rows:
        s = column[row]
        ordered[at[s]] = row
        at[s] += 1
    return ordered, ends


@njit(cache=True, nogil=True)
def fill(arrays, columns, arities, wanted, out):
    """out += the counts of the joint states of `wanted` variables, in ascending order.

    out is flat, the last variable changes fastest. Of each variable the block of the most common
    state gets what the node counts as a whole, less the blocks of the other states. What is to do
    lies on a stack: (node, variables done, place in out, 0), or (-1, size, place, other place) to
    subtract a block that is done before.
    """
    count, part, begin, common, child, nodes, listed = arrays
    sizes = np.ones(wanted.size + 1, np.int64)
    for d in range(wanted.size - 1, -1, -1):
        sizes[d] = sizes[d + 1] * arities[wanted[d]]
    stack = np.empty((2 * arities[wanted].sum() + 1, 4), np.int64)
    stack[0], top = 0, 1
    while top:
        top -= 1
        node, d, at, other = stack[top]
        if node < 0:
            out[other : other + d] -= out[at : at + d]
        elif d == wanted.size:
            out[at] += count[node]
        elif part[node] < 0:
            for row in listed[begin[node] : begin[node] + count[node]]:
                cell = at
                for e in range(d, wanted.size):
                    cell += columns[wanted[e], row] * sizes[e + 1]
                out[cell] += 1
        else:
            p, size = part[node] + wanted[d], sizes[d + 1]
            rest = at + common[p] * size
            for s in range(arities[wanted[d]]):
                below = nodes[child[p] + s]
                if below >= 0:
                    stack[top] = (-1, size, at + s * size, rest)
                    stack[top + 1] = (below, d + 1, at + s * size, 0)
                    top += 2
            stack[top] = (node, d + 1, rest, 0)
            top += 1
