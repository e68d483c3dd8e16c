"""A Bayesian network in which some nodes are never observed."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.results import read_only, rebuilt

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_CELLS = 10_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HiddenModel:
    """A DAG over hidden and observed discrete nodes with a Dirichlet prior on every table row.

    The table rows of the nodes lie in one array of cells: node v has one row for each joint state
    of its parents, the first parent's state varying slowest, and a row has arities[v] cells.

    Attributes
    ----------
    parents : int64 (n,), parent masks; bit u of parents[v] is set when u -> v
    arities : int64 (n,), numbers of states; of a hidden node, what it is assumed to have
    hidden : indices of the nodes that no row of data shows, ascending
    strength : lambda > 0, the parameter of every Dirichlet distribution [Beal2003, eq. 6.4]

    Raises
    ------
    ValueError
        If the graph has a cycle, a node has fewer than two states, lambda is not positive, a hidden
        node does not exist, or the tables would be too large.

    Examples
    --------
    >>> HiddenModel([0, 1, 1], [2, 3, 3], hidden=[0])
    HiddenModel(1 hidden and 2 observed nodes, 9 free parameters)
    """

    parents: Ints
    arities: Ints
    hidden: tuple[int, ...]
    strength: float

    def __init__(
        self,
        parents: ArrayLike,
        arities: ArrayLike,
        /,
        *,
        hidden: Sequence[int],
        strength: float = 1.0,
    ) -> None:
        masks = graphs.check_dag(parents)
        states = np.asarray(arities)
        if states.shape != masks.shape or states.dtype.kind not in "iu" or (states < 2).any():
            raise ValueError(
                f"arities={states.tolist()}: give {masks.size} integers of at least 2, a number of "
                "states for each node"
            )
        nodes = tuple(sorted(int(v) for v in hidden))
        if len(set(nodes)) < len(nodes) or not set(nodes) <= set(range(masks.size)):
            raise ValueError(f"hidden={hidden!r}: give distinct nodes out of 0..{masks.size - 1}")
        if len(nodes) == masks.size:
            raise ValueError("all nodes are hidden: nothing could be observed. Leave one out")
        if not (isinstance(strength, int | float) and 0 < strength < math.inf):
            raise ValueError(f"strength={strength!r}: Dirichlet parameters are above 0")
        object.__setattr__(self, "parents", read_only(masks.copy()))
        object.__setattr__(self, "arities", read_only(states.astype(np.int64)))
        object.__setattr__(self, "hidden", nodes)
        object.__setattr__(self, "strength", float(strength))
        cells = sum(self.rows(v) * int(self.arities[v]) for v in range(self.n))
        if cells > MAX_CELLS:
            raise ValueError(
                f"the tables have {cells:,} cells; at most {MAX_CELLS:,} are handled: give nodes "
                "fewer parents or states"
            )

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, rebuilt(self)[1]

    def __repr__(self) -> str:
        return (
            f"HiddenModel({len(self.hidden)} hidden and {len(self.observed)} observed nodes, "
            f"{self.free_parameters} free parameters)"
        )

    @property
    def n(self) -> int:
        """Number of nodes, hidden ones included."""
        return int(self.parents.size)

    @property
    def observed(self) -> tuple[int, ...]:
        """The nodes that data columns stand for, in the order of the columns."""
        return tuple(v for v in range(self.n) if v not in self.hidden)

    def rows(self, v: int, /) -> int:
        """Joint states of the parents of node v: rows of its table."""
        return math.prod(int(self.arities[u]) for u in graphs.members(self.parents[v]))

    @property
    def free_parameters(self) -> int:
        """Sum over nodes of (states - 1) times rows [Beal2003, eq. 6.24]."""
        return sum((int(self.arities[v]) - 1) * self.rows(v) for v in range(self.n))

    @property
    def aliases(self) -> int:
        """S, the number of parameter settings that differ by the names of hidden things only.

        Permutations of the states of each hidden node, and of hidden nodes with equally many states
        [Beal2003, sec. 6.3.2]. Hidden nodes without an edge have no say in the likelihood and are
        not counted. A swap of hidden nodes that changes the graph gives a parameter setting of the
        relabelled graph: the thesis counts it, since its structures are distinct up to relabelling.

        Examples
        --------
        >>> HiddenModel([0, 0, 0, 7], [3, 3, 4, 5], hidden=[0, 1, 2]).aliases
        1728
        """
        joined = int(np.bitwise_or.reduce(self.parents))
        nodes = [v for v in self.hidden if joined >> v & 1 or self.parents[v]]
        kinds = Counter(int(self.arities[v]) for v in nodes)
        swaps = math.prod(math.factorial(count) for count in kinds.values())
        return swaps * math.prod(math.factorial(int(self.arities[v])) for v in nodes)


def _rebuilt(parents: Ints, arities: Ints, hidden: tuple[int, ...], strength: float) -> HiddenModel:
    return HiddenModel(parents, arities, hidden=hidden, strength=strength)


def check_model(model: HiddenModel, /) -> None:
    """Raise a ValueError for what is no `HiddenModel`.

    Examples
    --------
    >>> check_model(HiddenModel([0, 1], [2, 3], hidden=[0]))
    """
    if not isinstance(model, HiddenModel):
        raise ValueError(f"{type(model).__name__}: pass a HiddenModel")
