"""Ways to get the counts that a climb asks for, and the time that each takes.

A competitor to counting the rows again is an AD-tree, the counts of all small sets of variables
[MooreLee1998]. A node stands for some states of some variables and holds the number of rows with
these states. Below it is a part for each later variable, and there a node for each state but the
most common one: its counts are what is missing from the node's own. Nodes of few rows have a list
of them instead of parts.
"""

import time
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numba import njit

import bnlab as bn
from bnlab.checks import Ints
from bnlab.kernels import lazy_scores as kernels
from bnlab.kernels.bits import popcount, trailing_zeros
from bnlab.labs.structure_search.surface import BDEU, MAX_PARENTS, SEED

ROWS_COUNTED = (500, 2000, 10_000)
TABU = 10
LEAF = 16  # rows; nodes of fewer are lists
ROWS, BITS, TREE = 0, 1, 2
WAYS: Mapping[str, tuple[int, bool]] = MappingProxyType(
    {
        "rows, each time": (ROWS, False),
        "rows, scores kept": (ROWS, True),
        "bits, scores kept": (BITS, True),
        "AD-tree, each time": (TREE, False),
        "AD-tree, scores kept": (TREE, True),
    }
)
"""Way -> how it counts, and whether it keeps the score of each family."""

ALL = "all families first"


def asked(climb: bn.Climb, /) -> Ints:
    """What a climb asks for, (R, 3): node, mask of parents, number of this family.

    At the start each node's family with one parent more or less, for every other node; after each
    step the same for the nodes whose parents have changed.
    """
    path, n = climb.path, climb.dag.size
    families = [(v, int(path[0, v])) for v in range(n)]
    for before, after in zip([path[0] ^ -1, *path[:-1]], path, strict=True):
        for v in np.flatnonzero(before != after):
            families += [(int(v), int(after[v]) ^ 1 << u) for u in range(n) if u != v]
    fit = [family for family in families if family[1].bit_count() <= MAX_PARENTS]
    _, number = np.unique(np.array(fit), axis=0, return_inverse=True)
    return np.column_stack([np.array(fit), number])


def seconds_of_ways(m: int, /) -> dict[str, tuple[float, float]]:
    """Way -> processor time to make ready, and to serve all that one tabu climb asks for.

    m rows of 37 variables, from the network alarm with random tables. Made ready are the bits, the
    tree, or all families. Compilation is left out.
    """
    net = bn.random_network("alarm", np.random.default_rng(SEED))
    data = net.sample(m, np.random.default_rng(SEED))
    scores = bn.LazyScores(data, BDEU, max_parents=MAX_PARENTS)
    requests = asked(bn.hill_climb(scores, tabu=TABU, rng=np.random.default_rng(0)))
    families, counts = int(requests[:, 2].max()) + 1, scores.source[1]
    bn.score_families(data.prefix(2), BDEU, max_parents=MAX_PARENTS)  # compiles
    out = {}
    for way, (how, keeps) in WAYS.items():
        tree, known = grow(data.prefix(1), 1), np.full(families if keeps else 0, np.nan)
        serve(how, counts, tree, requests[:0], known)  # compiles
        times = [time.process_time()]
        if how == BITS:
            kernels.set_bits(counts[0], counts[2], np.zeros_like(counts[1]))
        elif how == TREE:
            tree = grow(data, MAX_PARENTS + 1)
        times.append(time.process_time())
        serve(how, counts, tree, requests, known)
        times.append(time.process_time())
        out[way] = times[1] - times[0], times[2] - times[1]
    begun = time.process_time()
    table = bn.score_families(data, BDEU, max_parents=MAX_PARENTS)
    made, known = time.process_time(), np.array(table.log_score.ravel()[:families])
    serve(ROWS, counts, tree, requests, known)
    return out | {ALL: (made - begun, time.process_time() - made)}


@njit(cache=True, nogil=True)
def serve(how, counts, tree, requests, known):
    """The sum of the scores of all requests (R, 3), as in `asked`, counted in one of the ways.

    counts : as in `kernels.lazy_scores`; tree : by `grow`; known : scores by number, nan before
    they are counted; empty if none are kept
    """
    total = 0.0
    for v, mask, number in requests:
        if known.size and not np.isnan(known[number]):
            total += known[number]
            continue
        score = kernels.score_of_cells(counts, v, cells_of(how, counts, tree, v, mask))
        if known.size:
            known[number] = score
        total += score
    return total


@njit(cache=True, nogil=True)
def cells_of(how, counts, tree, v, mask):
    """Counts (q, r) of one family: parents' states by states of v."""
    columns, words, first, arities = counts[:4]
    wanted = np.empty(popcount(mask) + 1, np.int64)
    rest, size, after = mask | np.int64(1) << v, 1, 1
    for i in range(wanted.size):
        wanted[i] = trailing_zeros(rest)
        rest &= rest - 1
        size *= arities[wanted[i]]
        after = after * arities[wanted[i]] if wanted[i] > v else 1
    cells = np.zeros((size // arities[v], arities[v]), np.int32)
    if how == ROWS:
        kernels.count_rows(columns, arities, v, mask, cells)
    elif how == BITS:
        kernels.count_bits(words, first, arities, v, mask, cells)
    else:
        joint = np.zeros(size, np.int64)
        fill(tree, columns, arities, wanted, joint)
        for i in range(size):
            before, state = divmod(i // after, arities[v])
            cells[before * after + i % after, state] = joint[i]
    return cells


def grow(data: bn.Data, depth: int, /) -> Ints:
    """The AD-tree of some rows, for sets of up to `depth` variables, as `branch` lays it out."""
    columns, arities = np.array(data.values.T, order="C"), np.array(data.arities)
    tree: Ints = branch(np.ones(1, np.int64), columns, arities, np.arange(data.m), 0, depth)[0]
    return tree


@njit(nogil=True)  # from the disk cache a function that calls itself does not come back
def branch(tree, columns, arities, rows, i, depth):
    """The tree with a node of `rows` and all below it, for sets of up to `depth` of variables >= i.

    tree[0] is where the next node goes. At the place x of a node stand its count, and y, the place
    of its first part less i; then the rows, if they are few, or a place for each part. At the place
    of a part stand the most common state, and the places of its nodes, -1 for none. Returns x, too.
    """
    node, parts = tree[0], arities.size - i if depth > 0 and rows.size >= LEAF else 0
    listed = rows.size if depth > 0 and rows.size < LEAF else 0
    tree = with_room(tree, 2 + listed + parts)
    tree[node], tree[node + 1] = rows.size, node + 2 - i
    tree[node + 2 : node + 2 + listed] = rows[:listed]
    for a in range(i, i + parts):
        ordered, ends = by_state(columns[a], rows, arities[a])
        part, most = tree[0], np.argmax(np.diff(ends))
        tree = with_room(tree, 1 + arities[a])
        tree[node + 2 + a - i], tree[part] = part, most
        for s in range(arities[a]):
            below = -1
            if s != most and ends[s] < ends[s + 1]:
                some = ordered[ends[s] : ends[s + 1]]
                tree, below = branch(tree, columns, arities, some, a + 1, depth - 1)
            tree[part + 1 + s] = below
    return tree, node


@njit(cache=True, nogil=True)
def with_room(tree, words):
    """The tree with so many words more in use; it is copied into twice the room when full."""
    used = tree[0] + words
    if used > tree.size:
        larger = np.empty(2 * used, np.int64)
        larger[: tree.size] = tree
        tree = larger
    tree[0] = used
    return tree


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
def fill(tree, columns, arities, wanted, out):
    """out += the counts of the joint states of `wanted` variables, in ascending order.

    out is flat, the last variable changes fastest. Of each variable the block of the most common
    state gets what the node counts as a whole, less the blocks of the other states. What is to do
    lies on a stack: (node, variables done, place in out, 0), or (-1, size, place, other place) to
    subtract a block that is done before.
    """
    sizes = np.ones(wanted.size + 1, np.int64)
    for d in range(wanted.size - 1, -1, -1):
        sizes[d] = sizes[d + 1] * arities[wanted[d]]
    stack = np.empty((2 * arities[wanted].sum() + 1, 4), np.int64)
    stack[0], top = (1, 0, 0, 0), 1
    while top:
        top -= 1
        node, d, at, other = stack[top]
        if node < 0:
            out[other : other + d] -= out[at : at + d]
        elif d == wanted.size:
            out[at] += tree[node]
        elif tree[node] < LEAF:
            for row in tree[node + 2 : node + 2 + tree[node]]:
                cell = at
                for e in range(d, wanted.size):
                    cell += columns[wanted[e], row] * sizes[e + 1]
                out[cell] += 1
        else:
            part, size = tree[tree[node + 1] + wanted[d]], sizes[d + 1]
            rest = at + tree[part] * size
            for s in range(arities[wanted[d]]):
                below = tree[part + 1 + s]
                if below >= 0:
                    stack[top] = (-1, size, at + s * size, rest)
                    stack[top + 1] = (below, d + 1, at + s * size, 0)
                    top += 2
            stack[top] = (node, d + 1, rest, 0)
            top += 1
