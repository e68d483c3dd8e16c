"""Bayesian networks in which some nodes are never observed: data, components, structures."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.checkpoints import fingerprint
from bnlab.checks import check_counts, checked, real
from bnlab.data import Data
from bnlab.priors import LARGEST_LOG
from bnlab.results import Record, package_versions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_CELLS = 10_000_000
MISSING = -1


@checked
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HiddenModel(Record):
    """A DAG over hidden and observed discrete nodes with a Dirichlet prior on every table row.

    The table rows of the nodes lie in one array of cells: node v has one row for each joint state
    of its parents, the first parent's state varying slowest, and a row has arities[v] cells.

    Attributes
    ----------
    parents : int64 (n,), parent masks; bit u of parents[v] is set when u -> v
    arities : int64 (n,), numbers of states; of a hidden node, what it is assumed to have
    hidden : indices of the nodes that no row of data shows, ascending
    strength : lambda from 1e-100 to 1e8, the parameter of every Dirichlet distribution
        [Beal2003, eq. 6.4]

    Raises
    ------
    ValueError
        If the graph has a cycle, a node has fewer than two states, lambda is out of range, a hidden
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
        if not 1e-100 <= real(strength) <= LARGEST_LOG:
            raise ValueError(
                f"strength={strength!r}: Dirichlet parameters are above 0, from 1e-100 to 1e8"
            )
        arities = states.astype(np.int64)
        self._set(parents=masks.copy(), arities=arities, hidden=nodes, strength=float(strength))
        cells = sum(self.rows(v) * int(self.arities[v]) for v in range(self.n))
        if cells > MAX_CELLS:
            raise ValueError(
                f"the tables have {cells:,} cells; at most {MAX_CELLS:,} are handled: give nodes "
                "fewer parents or states"
            )

    def __reduce__(self) -> tuple[object, ...]:
        more = partial(HiddenModel, hidden=self.hidden, strength=self.strength)
        return more, (self.parents, self.arities)

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
        """Count the joint states of the parents of node v: rows of its table."""
        if not 0 <= v < self.n:
            raise ValueError(f"v={v}: nodes are 0..{self.n - 1}")
        return math.prod(int(self.arities[u]) for u in graphs.members(self.parents[v]))

    @property
    def free_parameters(self) -> int:
        """Sum over nodes of (states - 1) times rows [Beal2003, eq. 6.24]."""
        return sum((int(self.arities[v]) - 1) * self.rows(v) for v in range(self.n))

    @property
    def in_use(self) -> frozenset[int]:
        """The nodes with a say in the likelihood: observed ones and their ancestors.

        Examples
        --------
        >>> sorted(HiddenModel([0, 1, 1, 5], [2] * 4, hidden=[0, 2, 3]).in_use)
        [0, 1]
        """
        above = graphs.ancestors(self.parents)
        return frozenset(v for o in self.observed for v in (o, *graphs.members(above[o])))

    @property
    def aliases(self) -> int:
        """S, the number of parameter settings that differ by the names of hidden things only.

        Permutations of the states of each hidden node, and of hidden nodes with equally many states
        [Beal2003, sec. 6.3.2]. Hidden nodes that are not in use are not counted. A swap of hidden
        nodes that changes the graph gives a parameter setting of the relabelled graph: the thesis
        counts it, since its structures are distinct up to relabelling.

        Examples
        --------
        >>> HiddenModel([0, 0, 0, 7], [3, 3, 4, 5], hidden=[0, 1, 2]).aliases
        1728
        """
        nodes = self.in_use.intersection(self.hidden)
        kinds = Counter(int(self.arities[v]) for v in nodes)
        swaps = math.prod(math.factorial(count) for count in kinds.values())
        return swaps * math.prod(math.factorial(int(self.arities[v])) for v in nodes)


def check_model(model: HiddenModel, /) -> None:
    """Raise a ValueError for what is no `HiddenModel`."""
    if not isinstance(model, HiddenModel):
        raise ValueError(f"{type(model).__name__}: pass a HiddenModel")


def codes(model: HiddenModel, data: Data | ArrayLike, /) -> Ints:
    """Integer codes (m, observed), checked against the model; -1 where a cell is missing."""
    check_model(model)
    values = np.asarray(data.values if isinstance(data, Data) else data)
    arities = model.arities[list(model.observed)]
    if values.ndim != 2 or values.shape[1] != arities.size:
        raise ValueError(
            f"data of shape {values.shape}: give one column for each of the {arities.size} "
            f"observed nodes {list(model.observed)}, in node order"
        )
    if values.dtype.kind not in "iu":
        raise ValueError(f"data of type {values.dtype}: give integer codes, -1 for a missing cell")
    if isinstance(data, Data) and (data.arities > arities).any():
        v = int(np.argmax(data.arities > arities))
        raise ValueError(
            f"column {data.names[v]!r} has {data.arities[v]} states, its node {arities[v]}"
        )
    if isinstance(data, Data) and data.intervened is not None and data.intervened.any():
        raise ValueError("rows with interventions are not handled here: leave them out")
    wrong = np.argwhere((values < MISSING) | (values >= arities))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(
            f"row {row}, column {column}: code {values[row, column]} is not in 0.."
            f"{arities[column] - 1} (-1 marks a missing cell)"
        )
    return values.astype(np.int64)


class Part(NamedTuple):
    """A component of a model, the columns of the data that belong to it, and its nodes."""

    model: HiddenModel
    columns: tuple[int, ...]
    nodes: tuple[int, ...]


@checked
def parts(model: HiddenModel, /) -> list[Part]:
    """List the components with data, hidden nodes without observed descendants left out.

    These can be summed out of every row, and then have no say in the evidence; a bound that kept
    them would lose by them for nothing.

    Examples
    --------
    >>> [part.columns for part in parts(HiddenModel([0, 1, 1, 0], [2] * 4, hidden=[0]))]
    [(0, 1), (2,)]
    """
    check_model(model)
    left = set(model.in_use)
    neighbours = {v: {u for u in graphs.members(model.parents[v]) if u in left} for v in left}
    for v in left:
        for u in graphs.members(model.parents[v]):
            neighbours[u].add(v)
    column = {v: i for i, v in enumerate(model.observed)}
    found: list[Part] = []
    while left:
        inside, fresh = set(), {min(left)}
        while fresh:
            inside |= fresh
            fresh = {u for v in fresh for u in neighbours[v]} - inside
        left -= inside
        nodes = sorted(inside)
        place = {v: i for i, v in enumerate(nodes)}
        masks = [sum(1 << place[u] for u in graphs.members(model.parents[v])) for v in nodes]
        part = HiddenModel(
            masks,
            model.arities[nodes],
            hidden=[place[v] for v in nodes if v in model.hidden],
            strength=model.strength,
        )
        columns = tuple(column[v] for v in nodes if v not in model.hidden)
        found.append(Part(part, columns, tuple(nodes)))
    return found


def key_of(part: Part, /) -> tuple[object, ...]:
    """What parts have in common that say the same of the same data."""
    model = part.model
    return (
        tuple(model.parents.tolist()),
        tuple(model.arities.tolist()),
        model.hidden,
        part.columns,
        model.strength,
    )


def columns_of(model: HiddenModel, data: Data | ArrayLike, part: Part, /) -> Ints:
    """The columns (m, observed) of a part, checked against the whole model."""
    return codes(model, data)[:, list(part.columns)]


def identity_of(model: HiddenModel, data: Data | ArrayLike, /) -> dict[str, object]:
    """What makes a model and data the ones whose runs a file may keep."""
    return {
        "model": _fingerprint(model),
        "strength": model.strength,
        "data": fingerprint(codes(model, data)),
        "bnlab": package_versions()["bnlab"],
    }


def identity_of_all(models: Sequence[HiddenModel], data: Data | ArrayLike, /) -> dict[str, object]:
    """The same of structures over the same observed nodes."""
    return {
        "models": [_fingerprint(model) for model in models],
        "strength": [model.strength for model in models],
        "data": fingerprint(*(codes(model, data) for model in models[:1])),
        "bnlab": package_versions()["bnlab"],
    }


def _fingerprint(model: HiddenModel) -> str:
    return fingerprint(model.parents, model.arities, np.array(model.hidden, np.int64))


@checked
def bipartite_structures(*, hidden: int = 2, observed: int = 4) -> list[Ints]:
    """List the parent masks of all DAGs with edges from hidden to observed nodes only.

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
