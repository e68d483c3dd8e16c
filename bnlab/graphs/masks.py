"""Checks and conversions of DAGs as parent masks, their ancestors and their enumeration."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Bools, Count, checked, conforming, shown
from bnlab.kernels import dags as kernels

if TYPE_CHECKING:  # it takes long to load
    import networkx as nx

Masks = NDArray[np.int64]

MAX_NODES = 63
MAX_ENUMERATED_NODES = 6


@checked
def check_dag(dag: ArrayLike, /) -> Masks:
    """Return `dag` as an int64 array (n,), or say what is wrong with it.

    Raises
    ------
    ValueError
        If the shape is not (n,) with 1 <= n <= 63, an entry is not an integer or names a node
        outside 0..n-1, or the graph has a directed cycle (the message spells it out).

    Examples
    --------
    >>> check_dag([0, 1, 2])
    array([0, 1, 2])
    """
    masks = _check_one(dag)
    n = masks.size
    order = np.empty(n, np.int64)
    if kernels.topological_order(masks, order) < n:
        from networkx import find_cycle

        cycle = find_cycle(to_networkx(masks))
        path = " -> ".join(str(u) for u in [cycle[0][0]] + [v for _, v in cycle])
        raise ValueError(f"the graph has a directed cycle {path}: remove one of its edges")
    return masks


@checked
def check_dags(dags: ArrayLike, /) -> Masks:
    """Return DAGs (..., n) as int64, or say which one is none.

    Raises
    ------
    ValueError
        As `check_dag` does, for the first row that is no DAG.

    Examples
    --------
    >>> check_dags([[0, 1], [2, 0]]).shape
    (2, 2)
    """
    masks = _check_masks(dags)
    flat = masks.reshape(-1, masks.shape[-1])
    row = kernels.first_cyclic(flat)
    if row >= 0:
        check_dag(flat[row])  # says which cycle
    return masks


@checked
def topological_order(dag: ArrayLike, /) -> NDArray[np.int64]:
    """Return an order (n,) in which parents come before children; ties go to the smaller node.

    Examples
    --------
    >>> topological_order([4, 1, 0])
    array([2, 0, 1])
    """
    masks = check_dag(dag)
    order = np.empty(masks.size, np.int64)
    kernels.topological_order(masks, order)
    return order


@checked
def ancestors(dags: ArrayLike, /) -> Masks:
    """Return masks of the proper ancestors of every node, same shape (..., n) as `dags`.

    Raises
    ------
    ValueError
        If one of them is no DAG.

    Examples
    --------
    >>> ancestors([0, 1, 2])
    array([0, 1, 3])
    """
    return _of_each(dags, kernels.ancestors)


@checked
def near_ancestors(dags: ArrayLike, /, *, max_length: Count) -> Masks:
    """Return masks (..., n) of nodes with a directed path of 1 to `max_length` edges to each node.

    Examples
    --------
    >>> near_ancestors([0, 1, 2, 4], max_length=2)
    array([0, 1, 3, 6])
    """
    return _of_each(dags, kernels.near_ancestors, max_length)


@checked
def markov_blankets(dags: ArrayLike, /) -> Masks:
    """Return masks of the Markov blanket of every node, same shape (..., n) as `dags`.

    Its parents, its children and their other parents: given these, no other node tells anything
    about it [Pearl1988].

    Raises
    ------
    ValueError
        If one of them is no DAG.

    Examples
    --------
    >>> markov_blankets([0, 0, 3, 4])  # 0 -> 2 <- 1 and 2 -> 3
    array([ 6,  5, 11,  4])
    """
    return _of_each(dags, kernels.markov_blankets)


@checked
def predecessor_masks(orders: Masks, /) -> Masks:
    """Return masks (..., n) of the nodes before node v, entry [..., v], in orders (..., n).

    Examples
    --------
    >>> predecessor_masks(np.array([[2, 0, 1]]))
    array([[4, 5, 0]])
    """
    n = orders.shape[-1] if orders.ndim else 0
    if not 1 <= n <= MAX_NODES or (np.sort(orders, axis=-1) != np.arange(n)).any():
        raise ValueError(f"orders={shown(orders)}: name each of n <= {MAX_NODES} nodes once")
    bits = np.int64(1) << orders
    out = np.empty_like(orders)
    np.put_along_axis(out, orders, np.cumsum(bits, axis=-1) - bits, axis=-1)
    return out


@checked
def all_dags(n: Count, /) -> Masks:
    """List all DAGs on n <= 6 nodes: parent masks (N, n), N = 1, 3, 25, 543, 29281, 3781503.

    Examples
    --------
    >>> [len(all_dags(n)) for n in (1, 2, 3, 4)]
    [1, 3, 25, 543]
    """
    if n > MAX_ENUMERATED_NODES:
        raise ValueError(
            f"n={n}: all DAGs can be listed for 1 <= n <= {MAX_ENUMERATED_NODES} only "
            "(n=7 has 1,138,779,265). Use order_posterior or sample_dags instead"
        )
    dag, above = np.zeros(n, np.int64), np.zeros((n + 1, n), np.int64)
    count = kernels.enumerate_dags(n, dag, above, 0, np.empty((0, n), np.int64))
    out = np.empty((count, n), np.int64)
    kernels.enumerate_dags(n, dag, above, 0, out)
    return out


@checked
def members(mask: SupportsIndex, /) -> list[int]:
    """Return the nodes of a mask in increasing order.

    Examples
    --------
    >>> members(6)
    [1, 2]
    """
    bits = operator.index(mask)
    return [u for u in range(bits.bit_length()) if bits >> u & 1]


@checked
def to_edges(dag: ArrayLike, /) -> list[tuple[int, int]]:
    """Return the edges (u, v), u -> v, sorted.

    Examples
    --------
    >>> to_edges([0, 1, 3])
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(int(u), int(v)) for u, v in np.argwhere(to_adjacency(_check_one(dag)))]


@checked
def from_edges(n: Count, edges: Iterable[tuple[int, int]], /) -> Masks:
    """Return parent masks (n,) of the DAG with these edges (u, v), u -> v.

    Raises
    ------
    ValueError
        If a node is outside 0..n-1, an edge stands twice, or the graph has a cycle.

    Examples
    --------
    >>> from_edges(3, [(0, 1), (1, 2)])
    array([0, 1, 2])
    """
    if n > MAX_NODES:
        raise ValueError(f"n={n}: a DAG here has 1 to {MAX_NODES} nodes")
    dag = np.zeros(n, np.int64)
    for u, v in edges:
        if not (u in range(n) and v in range(n)):
            raise ValueError(f"edge {u} -> {v} names a node outside 0..{n - 1}")
        if (int(dag[v]) >> u) & 1:
            raise ValueError(f"edge {u} -> {v} stands twice: give each edge once")
        dag[v] |= np.int64(1) << np.int64(u)
    return check_dag(dag)


@checked
def to_adjacency(dags: ArrayLike, /) -> Bools:
    """Return adjacency matrices (..., n, n): entry [u, v] is True when u -> v.

    Examples
    --------
    >>> to_adjacency([0, 1]).astype(int).tolist()
    [[0, 1], [0, 0]]
    """
    masks = _check_masks(dags)
    nodes = np.arange(masks.shape[-1], dtype=np.int64)
    return np.asarray((masks[..., None, :] >> nodes[:, None]) & 1 == 1)


@checked
def from_adjacency(adjacency: ArrayLike, /) -> Masks:
    """Return parent masks (n,) of the DAG whose edges u -> v are the true entries [u, v].

    Raises
    ------
    ValueError
        If the matrix is not square with entries 0 or 1, or has a cycle (a loop included).

    Examples
    --------
    >>> from_adjacency([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    array([0, 1, 3])
    """
    matrix = check_matrix(adjacency)
    return check_dag((np.int64(1) << np.arange(len(matrix), dtype=np.int64)) @ matrix)


@checked
def check_matrix(adjacency: ArrayLike, /) -> Bools:
    """Return an adjacency matrix (n, n) as bool; what its edges make up is not looked at.

    Raises
    ------
    ValueError
        If it is not square with entries 0 or 1, or n is not 1 to 63.

    Examples
    --------
    >>> check_matrix([[0, 1], [0, 0]]).dtype
    dtype('bool')
    """
    matrix = np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix is square; got shape {matrix.shape}")
    if not 1 <= len(matrix) <= MAX_NODES:
        raise ValueError(f"n={len(matrix)}: a graph here has 1 to {MAX_NODES} nodes")
    if not np.isin(matrix, (0, 1)).all():
        raise ValueError("an adjacency matrix holds 0 and 1 (or False and True) only")
    return matrix.astype(bool)


@checked
def to_networkx(dag: ArrayLike, /, *, names: Sequence[str] | None = None) -> "nx.DiGraph":
    """Return a networkx DiGraph with nodes 0..n-1, or with `names` in that order.

    Examples
    --------
    >>> list(to_networkx([0, 1], names=("rain", "wet")).edges)
    [('rain', 'wet')]
    """
    import networkx as nx

    masks = _check_one(dag)
    labels = range(masks.size) if names is None else names
    graph = nx.DiGraph()
    graph.add_nodes_from(labels)
    graph.add_edges_from((labels[u], labels[v]) for u, v in to_edges(masks))
    return graph


@checked
def from_networkx(graph: "nx.DiGraph", /, *, names: Sequence[str] | None = None) -> Masks:
    """Return parent masks (n,) of a networkx DiGraph; node i is `names[i]`, or its i-th node.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.DiGraph([("rain", "wet")]), names=("wet", "rain"))
    array([2, 0])
    """
    import networkx as nx

    if not conforming("graph", graph, nx.DiGraph).is_directed():
        raise ValueError("the graph is undirected: give a networkx DiGraph")
    labels = list(graph.nodes) if names is None else list(names)
    position = {label: i for i, label in enumerate(labels)}
    if set(position) != set(graph.nodes) or len(position) != len(labels):
        raise ValueError(f"names {labels} are not the graph's nodes {list(graph.nodes)}")
    return from_edges(len(labels), [(position[u], position[v]) for u, v in graph.edges])


@checked
def to_dot(dag: ArrayLike, /, *, names: Sequence[str] | None = None) -> str:
    """Return a DAG as text for Graphviz and whatever else reads DOT; nodes as in `to_networkx`.

    Examples
    --------
    >>> print(to_dot([0, 1], names=("rain", "wet")), end="")
    digraph {
      "rain";
      "wet";
      "rain" -> "wet";
    }
    """
    masks = _check_one(dag)
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    quoted = [f'"{name.translate(escapes)}"' for name in _labels(masks, names)]
    lines = [f"  {name};\n" for name in quoted]
    lines += [f"  {quoted[u]} -> {quoted[v]};\n" for u, v in to_edges(masks)]
    return f"digraph {{\n{''.join(lines)}}}\n"


@checked
def to_model_string(dag: ArrayLike, /, *, names: Sequence[str] | None = None) -> str:
    """Return a DAG as the model string of R's bnlearn, which `model2network` reads, roots first.

    Raises
    ------
    ValueError
        When a name holds one of [ ] | : which part the names there.

    Examples
    --------
    >>> to_model_string([2, 0, 3], names=("wet", "rain", "slippery"))
    '[rain][wet|rain][slippery|wet:rain]'
    """
    order = topological_order(dag)
    masks = _check_one(dag)
    labels = _labels(masks, names)
    for name in labels:
        if set("[]|:") & set(name):
            raise ValueError(f"a model string cannot hold {name!r} (one of [ ] | :): rename it")
    given = [":".join(labels[u] for u in members(mask)) for mask in masks]
    return "".join(f"[{labels[v]}|{given[v]}]".replace("|]", "]") for v in order)


def _labels(masks: Masks, names: Sequence[str] | None) -> list[str]:
    """The names of the nodes, by default their numbers."""
    labels = list(map(str, range(masks.size) if names is None else names))
    if len(set(labels)) != masks.size or len(labels) != masks.size:
        raise ValueError(f"names {labels}: give {masks.size} different ones, one for each node")
    return labels


@checked
def layers(dag: ArrayLike, /) -> NDArray[np.int64]:
    """Return the layer (n,) of each node: 0 for roots, else 1 + the largest layer of a parent.

    Examples
    --------
    >>> layers([0, 1, 3])
    array([0, 1, 2])
    """
    masks = check_dag(dag)
    out = np.zeros(masks.size, np.int64)
    for v in topological_order(masks):
        out[v] = max((out[u] + 1 for u in members(masks[v])), default=0)
    return out


def _of_each(dags: ArrayLike, fill: Callable[..., None], *options: int) -> Masks:
    """What a kernel fills in for DAGs (..., n), in the same shape."""
    masks = check_dags(dags)
    out, flat = np.zeros_like(masks), masks.reshape(-1, masks.shape[-1])
    fill(flat, *options, out.reshape(flat.shape))
    return out


def _check_one(dag: ArrayLike) -> Masks:
    masks = _check_masks(dag)
    if masks.ndim != 1:
        raise ValueError(f"one DAG is an array (n,); got shape {masks.shape}")
    return masks


def _check_masks(dags: ArrayLike) -> Masks:
    """Parent masks (..., n) as int64, each within 0..2**n - 1; cycles are not looked for."""
    masks = np.asarray(dags)
    if masks.ndim == 0 or not 1 <= masks.shape[-1] <= MAX_NODES:
        raise ValueError(
            f"a DAG is an array of n parent masks with 1 <= n <= {MAX_NODES}; "
            f"got shape {masks.shape}"
        )
    if not np.issubdtype(masks.dtype, np.integer):
        raise ValueError(f"parent masks are integers; got {masks.dtype}. Use from_adjacency?")
    masks = np.ascontiguousarray(masks, np.int64)
    n = masks.shape[-1]
    outside = (masks < 0) | (masks >> n != 0) if n < 63 else masks < 0
    if outside.any():
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        where = ", ".join(map(str, place))
        raise ValueError(f"dag[{where}] = {masks[place]} names a parent outside 0..{n - 1}")
    return masks
