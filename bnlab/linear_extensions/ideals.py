"""Counting linear extensions over ideals, level by level: the algorithm of the 2013 paper."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.checks import Count, Floats, Ints, checked
from bnlab.kernels import posets as kernels
from bnlab.linear_extensions.counting import arranged

MAX_IDEALS = 5_000_000
LIMB_BITS = 56  # of an exact count; sums of 63 limbs fit 62 bits


@checked
@dataclass(frozen=True, slots=True, eq=False)
class IdealLattice:
    """The ideals of a DAG by size: the sets of nodes that hold all parents of their members.

    Attributes
    ----------
    levels : int64 (I_s,) for s = 0..n, the masks of the ideals of s nodes, ascending
    counts : float64 (I_s,) for s = 0..n, the number of linear extensions of each ideal

    Examples
    --------
    >>> ideal_lattice([0, 0])
    IdealLattice(4 ideals of 2 nodes, 2 linear extensions)
    """

    levels: tuple[Ints, ...]
    counts: tuple[Floats, ...]

    @property
    def size(self) -> int:
        """Number of ideals.

        Examples
        --------
        >>> ideal_lattice([0, 1, 2]).size
        4
        """
        return sum(level.size for level in self.levels)

    def __repr__(self) -> str:
        return (
            f"IdealLattice({self.size} ideals of {len(self.levels) - 1} nodes, "
            f"{self.counts[-1][0]:.6g} linear extensions)"
        )


@checked
def ideal_lattice(dag: ArrayLike, /, *, max_ideals: Count = MAX_IDEALS) -> IdealLattice:
    """List all ideals of a DAG, with their linear extensions [NiinimakiKoivisto2013, sec. 3.3].

    l(I) = sum over the maximal elements v of I of l(I - v), l(empty set) = 1.

    Parameters
    ----------
    dag : parent masks (n,), n <= 63
    max_ideals : how many ideals to make at most, 16 bytes each

    Raises
    ------
    ValueError
        If `dag` is no DAG, or has more ideals.

    Examples
    --------
    >>> ideal_lattice([0, 1, 1]).counts
    (array([1.]), array([1.]), array([1., 1.]), array([2.]))
    """
    above = graphs.ancestors(graphs.check_dag(dag))
    poset, label = arranged(above)
    levels, counts = [], []
    for ideals, sums in _levels(poset, np.ones((1, 1)), max_ideals):
        masks = np.zeros_like(ideals)
        for v, bit in enumerate(label):
            masks |= (ideals >> bit & 1) << v
        ranking = np.argsort(masks)
        levels.append(masks[ranking])
        counts.append(sums[ranking, 0])
    return IdealLattice(tuple(levels), tuple(counts))


@checked
def count_by_ideals(dag: ArrayLike, /, *, max_ideals: Count = MAX_IDEALS) -> int:
    """Count linear extensions exactly by the same sums, in integers of several words.

    Slower than `count_linear_extensions`, by far for more than 30 nodes; kept to compare with.

    Examples
    --------
    >>> count_by_ideals([0, 1, 1])
    2
    """
    poset, label = arranged(graphs.ancestors(graphs.check_dag(dag)))
    limbs = 1 + math.factorial(label.size).bit_length() // LIMB_BITS
    one = np.zeros((1, limbs), np.int64)
    one[0, 0] = 1
    last = one
    for _, sums in _levels(poset, one, max_ideals):
        last = sums
    return sum(int(limb) << LIMB_BITS * i for i, limb in enumerate(last[0]))


def _levels(
    poset: kernels.Poset, one: NDArray[Any], max_ideals: int
) -> Iterator[tuple[Ints, NDArray[Any]]]:
    """The ideals of 0..n elements with their counts, rows of floats or of integer limbs."""
    ideals: Ints = np.zeros(1, np.int64)
    sums, made = one, 1
    yield ideals, sums
    for _ in range(poset.down.size):
        count = kernels.larger_ideals(poset.down, ideals, np.empty(0, np.int64))
        made += count
        if made > max_ideals:
            raise ValueError(
                f"the DAG has more than max_ideals={max_ideals:,} ideals: raise it (16 bytes "
                "each), or use count_linear_extensions, which needs far fewer sets"
            )
        larger = np.empty(count, np.int64)
        kernels.larger_ideals(poset.down, ideals, larger)
        slots = 1 << (2 * ideals.size).bit_length()
        keys, ranks = np.zeros(slots, np.int64), np.empty(slots, np.int64)
        kernels.index(ideals[ideals > 0], keys, ranks)
        totals = np.zeros((count, one.shape[1]), one.dtype)
        kernels.ideal_sums(poset.up, larger, keys, ranks, sums, totals)
        if one.dtype == np.int64:
            for w in range(one.shape[1] - 1):
                totals[:, w + 1] += totals[:, w] >> LIMB_BITS
                totals[:, w] &= (1 << LIMB_BITS) - 1
        ideals, sums = larger, totals
        yield ideals, sums
