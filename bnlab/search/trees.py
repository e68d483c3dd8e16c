"""Optimal trees and forests: Chow-Liu, tree-augmented naive Bayes, maximum branchings."""

import math

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.data import Data
from bnlab.data.nodes import node_number
from bnlab.kernels import trees as kernels
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COUNTS = "counting all pairs of states"
FEWER_STATES = "use fewer variables (Data.select), or discretize into fewer states"


def chow_liu(data: Data, /) -> Ints:
    """The tree of largest likelihood, rooted at node 0: parent masks (n,) [ChowLiu1968].

    A spanning tree of largest total mutual information, grown from node 0. Where several edges are
    equally good, the smaller new node goes first, then the smaller parent.

    Parameters
    ----------
    data : Data, m rows of n variables, without interventions

    Raises
    ------
    ValueError
        If the data have interventions: mutual information is then no gain in likelihood.

    Examples
    --------
    >>> chow_liu(Data.from_arrays([[0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]))
    array([0, 1, 2])
    """
    check_observed(data, "a Chow-Liu tree is")
    return masks_of(spanning_tree(information(data.values, data.arities)))


def tan(data: Data, target: int | str, /) -> Ints:
    """Tree-augmented naive Bayes: parent masks (n,) [FriedmanGeigerGoldszmidt1997].

    The class is a parent of every attribute, and the attributes form the tree of largest total
    mutual information given the class: the largest likelihood of all such DAGs. The first attribute
    is its root; ties as in `chow_liu`. `bnlab.predict.log_class_posterior` classifies by it.

    Parameters
    ----------
    data : Data, m rows of n variables, without interventions
    target : the class, a name or a number

    Raises
    ------
    ValueError
        If there is no such variable, or the data have interventions.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], names=[*"abc"])
    >>> tan(data, "c")
    array([4, 5, 0])
    """
    check_observed(data, "a TAN classifier is")
    c = node_number(data.names, target)
    others = [v for v in range(data.n) if v != c]
    dag = np.zeros(data.n, np.int64)
    if not others:
        return dag
    gain = np.zeros((len(others), len(others)))
    for state in range(int(data.arities[c])):
        rows = data.values[data.values[:, c] == state]
        gain += information(rows[:, others], data.arities[others])
    for v, u in zip(others, spanning_tree(gain), strict=True):
        dag[v] = np.int64(1) << c
        if others[u] != v:
            dag[v] |= np.int64(1) << others[u]
    return dag


def maximum_branching(table: ScoreTable, /) -> Ints:
    """The forest of highest log_target: parent masks (n,), at most one parent each [Edmonds1967].

    A branching of largest total weight, where the edge u -> v weighs what it gains, score(v | u) -
    score(v | {}), prior factors included. The score need not be equivalent, nor the prior
    symmetric; where they are, this is the forest of the positive edges of an undirected spanning
    tree. Time O(n^3). Families of more than one parent in the table are not looked at.

    Parameters
    ----------
    table : ScoreTable

    Raises
    ------
    ValueError
        If required and forbidden edges, or the prior, leave no forest.

    Examples
    --------
    >>> from bnlab import BDeu, score_families
    >>> data = Data.from_arrays([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> maximum_branching(score_families(data, BDeu()))
    array([0, 1, 0])
    """
    if not isinstance(table, ScoreTable):
        raise ValueError(f"{type(table).__name__} is no ScoreTable: make one with score_families")
    n = table.n
    # Node n stands for having no parent, so that a forest becomes a tree that it is the root of.
    weight = np.full((n + 1, n + 1), -math.inf)
    log_beta = table.log_beta
    for v in range(n):
        weight[n, v] = log_beta[v, 0]
        for mask, value in zip(table.parents[v, 1:n], log_beta[v, 1:n], strict=True):
            if np.bitwise_count(mask) == 1:
                weight[int(mask).bit_length() - 1, v] = value
    parents = _arborescence(weight)
    bits = np.append(np.int64(1) << np.arange(n, dtype=np.int64), np.int64(0))
    dag: Ints = bits[parents[:n]]
    return dag


def check_observed(data: Data, what: str, /) -> None:
    """Raise a ValueError unless `data` is Data without interventions.

    Examples
    --------
    >>> check_observed(Data.from_arrays([[0], [1]]), "a tree is")
    """
    if not isinstance(data, Data):
        raise ValueError(f"data is a {type(data).__name__}: make it a Data (read_csv, from_frame)")
    if data.intervened is not None:
        raise ValueError(
            f"the data have interventions, and {what} for observations: use "
            "dataclasses.replace(data, intervened=None) to count every row as observed"
        )


def first_places(arities: Ints, /) -> Ints:
    """Where the states of each variable begin among all states, (n + 1,).

    Examples
    --------
    >>> first_places(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(arities)])


def spanning_tree(gain: Floats, /) -> Ints:
    """The parents (n,) of a spanning tree of largest total gain (n, n), the root 0 its own.

    Examples
    --------
    >>> spanning_tree(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    array([0, 2, 0])
    """
    best, parents = gain[0].copy(), np.zeros(len(gain), np.int64)
    best[0] = -math.inf
    for _ in range(len(gain) - 1):
        v = int(best.argmax())
        best[v] = -math.inf
        better = (best > -math.inf) & ((gain[v] > best) | ((gain[v] == best) & (v < parents)))
        best[better], parents[better] = gain[v, better], v
    return parents


def masks_of(parents: Ints, /) -> Ints:
    """Parent masks (n,) of a tree given by `spanning_tree`.

    Examples
    --------
    >>> masks_of(np.array([0, 2, 0]))
    array([0, 4, 1])
    """
    nodes = np.arange(parents.size, dtype=np.int64)
    masks: Ints = np.where(parents == nodes, 0, np.int64(1) << parents)
    return masks


def information(values: NDArray[np.int32], arities: Ints, /) -> Floats:
    """Rows times mutual information of each pair (n, n), nats: the gain of an edge.

    Examples
    --------
    >>> information(np.array([[0, 0], [1, 1]], np.int32), np.array([2, 2])).round(3)
    array([[0.   , 1.386],
           [1.386, 0.   ]])
    """
    first = first_places(arities)
    states = int(first[-1])
    memory.require(8 * states**2, task=COUNTS, remedy=FEWER_STATES)
    pairs, out = np.zeros((states, states)), np.empty((arities.size, arities.size))
    kernels.pair_counts(np.array(values.T, order="C"), np.ones(len(values)), first, pairs)
    kernels.information(pairs, first, out)
    return out


def _arborescence(weight: Floats) -> Ints:
    """Parents (n,) of the heaviest tree rooted at the last node: Chu, Liu and Edmonds.

    weight (n, n): [u, v] of u -> v, -inf for no edge. The root is its own parent.
    """
    n = len(weight)
    parents: Ints = weight.argmax(axis=0)
    parents[n - 1] = n - 1
    if (weight[parents, np.arange(n)][: n - 1] == -math.inf).any():
        raise ValueError(
            "the required and forbidden edges, or the prior, leave no forest: relax them"
        )
    cycle = _cycle(parents)
    if not cycle:
        return parents
    # The cycle becomes one node, the first; an edge into it replaces one of its own.
    outside = [v for v in range(n) if v not in cycle]
    lost = weight[parents[cycle], cycle]
    into = weight[np.ix_(outside, cycle)] - lost
    out_of = weight[np.ix_(cycle, outside)]
    small = np.full((len(outside) + 1, len(outside) + 1), -math.inf)
    small[1:, 1:] = weight[np.ix_(outside, outside)]
    small[1:, 0] = into.max(axis=1)
    small[0, 1:] = out_of.max(axis=0)
    inner = _arborescence(small)
    for k, v in enumerate(outside):
        above = int(inner[k + 1]) - 1
        parents[v] = outside[above] if above >= 0 else cycle[int(out_of[:, k].argmax())]
    entry = int(inner[0]) - 1
    parents[cycle[int(into[entry].argmax())]] = outside[entry]
    return parents


def _cycle(parents: Ints) -> list[int]:
    """A cycle that following the parents runs into, other than the root's own; [] for none."""
    seen = np.zeros(parents.size, np.int64)  # by the number of the walk, from 1
    seen[-1] = parents.size
    for start in range(parents.size - 1):
        v = start
        while not seen[v]:
            seen[v] = start + 1
            v = int(parents[v])
        if seen[v] == start + 1:
            cycle = [v]
            while parents[cycle[-1]] != v:
                cycle.append(int(parents[cycle[-1]]))
            return cycle
    return []
