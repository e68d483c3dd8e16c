"""Bayesian networks in which some nodes are never observed: data, components, structures."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab import graphs
from bnlab.checkpoints import identity
from bnlab.checks import Count, Ints, Range, checked, frozen
from bnlab.data import Data, Gapped
from bnlab.data.validation import check_codes
from bnlab.priors import LARGEST_LOG
from bnlab.records import altered
from bnlab.results import Record

MAX_CELLS = 10_000_000


@frozen(repr=False)
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
        strength: Annotated[float, Range(1e-100, LARGEST_LOG, "[]")] = 1.0,
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
        arities = states.astype(np.int64)
        self._set(parents=masks.copy(), arities=arities, hidden=nodes, strength=float(strength))
        cells = arities @ np.where(_above(self), arities, 1.0).prod(axis=1)
        if cells > MAX_CELLS:
            raise ValueError(
                f"the tables have {cells:,.0f} cells; at most {MAX_CELLS:,} are handled: give "
                "nodes fewer parents or states"
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
        return int(np.where(_above(self), self.arities, 1).prod(axis=1) @ (self.arities - 1))

    @property
    def in_use(self) -> frozenset[int]:
        """The nodes with a say in the likelihood: observed ones and their ancestors.

        Examples
        --------
        >>> sorted(HiddenModel([0, 1, 1, 5], [2] * 4, hidden=[0, 2, 3]).in_use)
        [0, 1]
        """
        above = graphs.ancestors(self.parents)[list(self.observed)]
        return frozenset(self.observed).union(graphs.members(np.bitwise_or.reduce(above)))

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


def codes(model: HiddenModel, data: Gapped | ArrayLike, /) -> Ints:
    """Integer codes (m, observed), checked against the model; -1 where a cell is missing."""
    values = np.asarray(data.values if isinstance(data, Data) else data)
    arities = model.arities[list(model.observed)]
    if values.ndim != 2 or values.shape[1] != arities.size:
        raise ValueError(
            f"data of shape {values.shape}: give one column for each of the {arities.size} "
            f"observed nodes {list(model.observed)}, in node order"
        )
    if isinstance(data, Data) and (data.arities > arities).any():
        v = int(np.argmax(data.arities > arities))
        raise ValueError(
            f"column {data.names[v]!r} has {data.arities[v]} states, its node {arities[v]}"
        )
    if isinstance(data, Data) and data.intervened is not None and data.intervened.any():
        raise ValueError("rows with interventions are not handled here: leave them out")
    return check_codes(values, arities, [f"node {v}" for v in model.observed])


class Layout(NamedTuple):
    """Where the tables of a model lie in one array of cells."""

    shapes: Ints  # (n, 2), rows and states of each node's table
    starts: Ints  # (n + 1,), the cells of node v are starts[v]..starts[v + 1] - 1
    first: Ints  # (T + 1,), the cells of table row t are first[t]..first[t + 1] - 1
    strides: Ints  # (n, n), states (n,) of all nodes read the cell starts[v] + states @ strides[v]


def layout(model: HiddenModel, /) -> Layout:
    """The places of all tables."""
    above = _above(model)
    rows = np.cumprod(np.where(above, model.arities, 1)[:, ::-1], axis=1)[:, ::-1]
    later = np.append(rows[:, 1:], np.ones((model.n, 1), np.int64), axis=1)  # parents after u
    shapes = np.stack([rows[:, 0], model.arities], axis=1)
    return Layout(
        shapes,
        np.append(0, np.cumsum(shapes.prod(axis=1))),
        np.append(0, np.cumsum(np.repeat(model.arities, shapes[:, 0]))),
        above * later * model.arities[:, None] + np.eye(model.n, dtype=np.int64),
    )


class Component(NamedTuple):
    """A component as a model, the columns of the data that belong to it, and its nodes."""

    model: HiddenModel
    columns: tuple[int, ...]
    nodes: tuple[int, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """The same for components that say the same of the same data."""
        return *key_of(self.model), self.columns


@checked
def components(model: HiddenModel, /) -> list[Component]:
    """List the components with data, hidden nodes without observed descendants left out.

    These can be summed out of every row, and then have no say in the evidence; a bound that kept
    them would lose by them for nothing.

    Examples
    --------
    >>> model = HiddenModel([0, 1, 1, 0], [2] * 4, hidden=[0])
    >>> [component.columns for component in components(model)]
    [(0, 1), (2,)]
    """
    import networkx as nx

    in_use, column = model.in_use, {v: i for i, v in enumerate(model.observed)}
    graph = nx.Graph()
    graph.add_nodes_from(in_use)
    graph.add_edges_from((v, u) for v, u in np.argwhere(_above(model)).tolist() if v in in_use)
    found = []
    for nodes in sorted(map(sorted, nx.connected_components(graph))):
        columns = tuple(column[v] for v in nodes if v in column)
        found.append(Component(restricted(model, nodes), columns, tuple(nodes)))
    return found


def whole(model: HiddenModel, /) -> Component:
    """The model as if it were a single component."""
    return Component(model, tuple(range(len(model.observed))), tuple(range(model.n)))


def restricted(model: HiddenModel, nodes: list[int], /) -> HiddenModel:
    """The structure of these nodes, in this order."""
    masks = _above(model)[np.ix_(nodes, nodes)] @ (np.int64(1) << np.arange(len(nodes)))
    hidden = tuple(i for i, v in enumerate(nodes) if v in model.hidden)
    return altered(model, parents=masks, arities=model.arities[nodes], hidden=hidden)


def key_of(model: HiddenModel, /) -> tuple[object, ...]:
    """The same for equal models."""
    return model.parents.tobytes(), model.arities.tobytes(), model.hidden, model.strength


def identity_of(
    method: str, models: Sequence[HiddenModel], data: Gapped | ArrayLike, /, **settings: object
) -> dict[str, object]:
    """What makes a call the one whose runs a file may keep."""
    structures = [[model.parents, model.arities, model.hidden] for model in models]
    strength, rows = [model.strength for model in models], codes(models[0], data)
    return identity(method, models=structures, strength=strength, data=rows, **settings)


def _above(model: HiddenModel) -> Ints:
    """(n, n), 1 at [v, u] where u is a parent of v."""
    return np.asarray(model.parents[:, None] >> np.arange(model.n) & 1)


@checked
def bipartite_structures(*, hidden: Count = 2, observed: Count = 4) -> list[Ints]:
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
    if hidden * observed > 20:
        raise ValueError(
            f"hidden={hidden}, observed={observed}: at most 20 possible edges (a million graphs)"
        )
    pairs = itertools.combinations_with_replacement(range(1 << observed), hidden)
    children = np.array(list(pairs), np.int64)[:, :, None] >> np.arange(observed) & 1
    masks = np.sum(children << np.arange(hidden)[:, None], axis=1)
    few_first = np.argsort(children.sum(axis=(1, 2)), kind="stable")
    return [np.append(np.zeros(hidden, np.int64), masks[i]) for i in few_first]
