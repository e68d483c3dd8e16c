"""Classes of structures with hidden nodes, listed up to the names of the hidden nodes."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnlab.runs import check_counts

Ints = NDArray[np.int64]


def bipartite_structures(*, hidden: int = 2, observed: int = 4) -> list[Ints]:
    """Parent masks of all graphs with edges from hidden to observed nodes only.

    Nodes 0..hidden-1 are hidden. Graphs that differ by the names of hidden nodes are listed once:
    136 for two hidden and four observed nodes [Beal2003, sec. 6.4].

    Parameters
    ----------
    hidden, observed : numbers of nodes

    Returns
    -------
    list of int64 (hidden + observed,), by ascending number of edges

    Examples
    --------
    >>> len(bipartite_structures())
    136
    """
    hidden, observed = check_counts(hidden=hidden, observed=observed)
    if hidden * observed > 20:
        raise ValueError(
            f"hidden={hidden}, observed={observed}: at most 20 possible edges (a million graphs)"
        )
    children = itertools.combinations_with_replacement(range(1 << observed), hidden)
    found = [_parents(sets, observed) for sets in children]
    return sorted(found, key=lambda parents: sum(int(p).bit_count() for p in parents))


def _parents(children: Sequence[int], observed: int) -> Ints:
    """From the set of children of each hidden node to the parents of each node."""
    masks = [
        sum(1 << h for h, mask in enumerate(children) if mask >> v & 1) for v in range(observed)
    ]
    return np.array([0] * len(children) + masks, np.int64)
