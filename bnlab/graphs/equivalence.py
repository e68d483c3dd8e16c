"""Markov equivalence: v-structures, the graph of a class (CPDAG), and a DAG of it.

Two DAGs stand for the same independences exactly when they join the same pairs of nodes and have
the same v-structures [VermaPearl1990]. Their class is drawn as a completed partially directed graph
(CPDAG): an edge has a direction when it has the same in all of them. As an array it is the matrix
(n, n) of all edges u -> v, at [u, v], of any DAG of the class: true both ways is undirected.
"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Bools, checked
from bnlab.graphs.masks import Masks, check_dag, check_dags, check_matrix, members, to_adjacency
from bnlab.kernels import dags as kernels


@checked
def cpdag(dags: ArrayLike, /) -> Bools:
    """Return the CPDAGs (..., n, n) of the equivalence classes of DAGs (..., n) [Chickering1995].

    Raises
    ------
    ValueError
        If one of them is no DAG.

    Examples
    --------
    >>> cpdag([0, 1, 2, 0]).astype(int).tolist()  # 0 -> 1 -> 2, reversible
    [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    """
    directed, undirected = cpdag_masks(check_dags(dags))
    return to_adjacency(directed | undirected)


def cpdag_masks(dags: Masks, /) -> tuple[Masks, Masks]:
    """Return CPDAGs of known DAGs as masks (..., n): directed parents, undirected neighbours."""
    flat = np.ascontiguousarray(dags, np.int64).reshape(-1, dags.shape[-1])
    directed, undirected = np.empty_like(flat), np.empty_like(flat)
    kernels.cpdags(flat, directed, undirected)
    return directed.reshape(dags.shape), undirected.reshape(dags.shape)


@checked
def markov_equivalent(a: ArrayLike, b: ArrayLike, /) -> NDArray[np.bool_] | np.bool_:
    """Tell whether DAGs (..., n) stand for the same independences; leading axes broadcast.

    Raises
    ------
    ValueError
        If one of them is no DAG, or they have different numbers of nodes.

    Examples
    --------
    >>> markov_equivalent([0, 1, 2], [[2, 4, 0], [0, 5, 0]])
    array([ True, False])
    """
    first, second = check_dags(a), check_dags(b)
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(
            f"DAGs of {first.shape[-1]} and of {second.shape[-1]} nodes: compare DAGs on the same "
            "nodes"
        )
    left, right = (np.bitwise_or(*cpdag_masks(dags)) for dags in (first, second))
    equal: NDArray[np.bool_] | np.bool_ = (left == right).all(axis=-1)
    return equal


@checked
def v_structures(dag: ArrayLike, /) -> list[tuple[int, int, int]]:
    """List the (u, v, w), u < w, with u -> v <- w and no edge between u and w, by v, u, w.

    Raises
    ------
    ValueError
        If it is no DAG.

    Examples
    --------
    >>> v_structures([0, 0, 3, 4])
    [(0, 2, 1)]
    """
    masks = check_dag(dag).tolist()
    return [
        (u, v, w)
        for v, parents in enumerate(masks)
        for u, w in combinations(members(parents), 2)
        if not (masks[u] >> w | masks[w] >> u) & 1
    ]


@checked
def consistent_extension(cpdag: ArrayLike, /) -> Masks:
    """Direct a CPDAG, or any partially directed graph (n, n), to a DAG (n,) [DorTarsi1992].

    It has the graph's edges, the undirected ones in some direction, and its v-structures alone.

    Raises
    ------
    ValueError
        If the matrix is not square with entries 0 or 1, has a loop, or there is no such DAG.

    Examples
    --------
    >>> consistent_extension([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    array([2, 4, 0])
    """
    matrix = check_matrix(cpdag)
    if matrix.diagonal().any():
        raise ValueError(f"node {int(matrix.diagonal().argmax())} has an edge to itself: remove it")
    powers = np.int64(1) << np.arange(len(matrix), dtype=np.int64)
    directed: Masks = powers @ (matrix & ~matrix.T)
    undirected: Masks = powers @ (matrix & matrix.T)
    return extend_masks(directed, undirected)


def extend_masks(directed: Masks, undirected: Masks, /) -> Masks:
    """Do the same from masks (n,): directed parents, undirected neighbours."""
    dag = np.empty_like(directed)
    if not kernels.extend(directed, undirected, dag):
        raise ValueError(
            "no DAG has these edges and only their v-structures: the directed edges have a cycle, "
            "or the undirected ones cannot all be given a direction. Start from a DAG's cpdag"
        )
    return dag
