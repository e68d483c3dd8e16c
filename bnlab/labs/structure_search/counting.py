"""Ways to get the counts that a climb asks for, and the time that each takes."""

import time
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numba import njit
from numpy.typing import NDArray

import bnlab as bn
from bnlab.kernels import lazy_scores as kernels
from bnlab.kernels.bits import popcount, trailing_zeros
from bnlab.labs.structure_search.ad_tree import fill, grow
from bnlab.labs.structure_search.targets import BDEU, MAX_PARENTS, SEED

ROWS_COUNTED = (500, 2000, 10_000)
TABU = 10
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

Ints = NDArray[np.int64]


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
    families = int(requests[:, 2].max()) + 1
    room = grow(data, MAX_PARENTS + 1).room
    bn.score_families(data.prefix(2), BDEU, max_parents=MAX_PARENTS)  # compiles
    out = {}
    for way, (how, keeps) in WAYS.items():
        counts, tree = scores.source[1], grow(data.prefix(1), 1).arrays
        known = np.full(families if keeps else 0, np.nan)
        serve(how, counts, tree, requests[:0], known)  # compiles
        times = [time.process_time()]
        if how == BITS:
            kernels.set_bits(counts[0], counts[2], np.zeros_like(counts[1]))
        elif how == TREE:
            tree = grow(data, MAX_PARENTS + 1, room=room).arrays
        times.append(time.process_time())
        serve(how, counts, tree, requests, known)
        times.append(time.process_time())
        out[way] = times[1] - times[0], times[2] - times[1]
    begun = time.process_time()
    table = bn.score_families(data, BDEU, max_parents=MAX_PARENTS)
    made, known = time.process_time(), np.array(table.log_score.ravel()[:families])
    serve(ROWS, scores.source[1], tree, requests, known)
    return out | {ALL: (made - begun, time.process_time() - made)}


@njit(cache=True, nogil=True)
def serve(how, counts, tree, requests, known):
    """The sum of the scores of all requests (R, 3), as in `asked`, counted in one of the ways.

    counts : as in `kernels.lazy_scores`; tree : the arrays of an `ADTree`; known : scores by
    number, nan before they are counted; empty if none are kept
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
