"""Trees and what pairs of variables tell: Chow-Liu, TAN, branchings, candidate parents."""

import math

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import Count, Floats, Ints, checked
from bnlab.data import Data
from bnlab.data.table import node_number
from bnlab.kernels import counting as kernels
from bnlab.scores import ScoreTable

COUNTS = "counting all pairs of states"
FEWER_STATES = "use fewer variables (Data.select), or discretize into fewer states"


@checked
def chow_liu(data: Data, /) -> Ints:
    """Find the tree of largest likelihood, rooted at node 0: parent masks (n,) [ChowLiu1968].

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


@checked
def tan(data: Data, target: int | str, /) -> Ints:
    """Find the best tree-augmented naive Bayes: parent masks (n,) [FriedmanGeigerGoldszmidt1997].

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
    rows = [data.values[data.values[:, c] == state] for state in range(int(data.arities[c]))]
    gains = [information(some[:, others], data.arities[others]) for some in rows]
    gain = np.sort(gains, axis=0).sum(axis=0)  # equal for any order of the classes
    for v, u in zip(others, spanning_tree(gain), strict=True):
        dag[v] = np.int64(1) << c
        if others[u] != v:
            dag[v] |= np.int64(1) << others[u]
    return dag


@checked
def maximum_branching(table: ScoreTable, /) -> Ints:
    """Find the forest of highest log_target, parent masks (n,) of at most one bit [Edmonds1967].

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
    n = table.n
    # Node n stands for having no parent, so that a forest becomes a tree that it is the root of.
    weight, log_phi = np.full((n + 1, n + 1), -math.inf), table.log_phi
    weight[n, :n] = log_phi[:, 0]
    if table.max_parents > 0:  # after the empty family come those of one parent, by its number
        weight[:n, :n].T[~np.eye(n, dtype=bool)] = log_phi[:, 1:n].ravel()
    bits = np.append(np.int64(1) << np.arange(n), 0)
    return bits[_arborescence(weight)[:n]]


@checked
def candidate_parents(data: Data, /, *, count: Count = 8) -> dict[int, list[int]]:
    """Find, for each variable, the `count` others of largest mutual information with it.

    For `score_families(..., candidates=)`, which allows no other parents: the first step of the
    sparse-candidate algorithm [FriedmanNachmanPeer1999]. What works on that table then keeps to
    them: `hill_climb`, `occams_window`, `shotgun_search`, `sample_orders`, `sample_structures` and
    others, up to 63 variables. `ges` refuses such a table, since members of a class then have no
    common score: give it all families of at most `max_parents` parents. The table takes as much
    memory as without candidates. Mutual information is of pairs, so a parent that tells something
    only together with another may be left out.

    The limit is 63 variables: sets of variables are 64-bit masks throughout, and `Data` refuses
    more. Of more columns choose 63 before making `Data`.

    Parameters
    ----------
    data : Data, m rows of n variables, without interventions
    count : at least 1; more than n - 1 is the same as n - 1. Of equally good ones the smaller
        number comes first

    Returns
    -------
    dict
        of node number to a list of node numbers, most informative first

    Raises
    ------
    ValueError
        If `count` is not positive, the data have interventions, or memory is short.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> candidate_parents(data, count=1)
    {0: [1], 1: [0], 2: [0]}
    """
    check_observed(data, "mutual information is")
    gain = information(data.values, data.arities)
    np.fill_diagonal(gain, -np.inf)
    ranking = np.argsort(-gain, axis=1, kind="stable")[:, : min(count, data.n - 1)]
    return {v: others.tolist() for v, others in enumerate(ranking)}


def check_observed(data: Data, what: str, /) -> None:
    """Raise a ValueError unless `data` is Data without interventions."""
    if data.intervened is not None:
        raise ValueError(
            f"the data have interventions, and {what} for observations: use "
            "dataclasses.replace(data, intervened=None) to count every row as observed"
        )


def spanning_tree(gain: Floats, /) -> Ints:
    """The parents (n,) of a spanning tree of largest total gain (n, n), the root 0 its own."""
    best, parents = gain[0].copy(), np.zeros(len(gain), np.int64)
    best[0] = -math.inf
    for _ in range(len(gain) - 1):
        v = int(best.argmax())
        best[v] = -math.inf
        better = (best > -math.inf) & ((gain[v] > best) | ((gain[v] == best) & (v < parents)))
        best[better], parents[better] = gain[v, better], v
    return parents


def masks_of(parents: Ints, /) -> Ints:
    """Parent masks (..., n) of trees given as by `spanning_tree`."""
    return np.where(parents == np.arange(parents.shape[-1]), 0, np.int64(1) << parents)


def information(values: NDArray[np.int32], arities: Ints, /) -> Floats:
    """Rows times mutual information of each pair (n, n), nats: the gain of an edge."""
    first = np.append(0, np.cumsum(arities))
    states = int(first[-1])
    memory.require(8 * states**2, task=COUNTS, remedy=FEWER_STATES)
    pairs, out = np.zeros((states, states)), np.empty((arities.size, arities.size))
    kernels.pair_counts(np.array(values.T, order="C"), np.ones(len(values)), first, pairs)
    kernels.information(pairs, first, out)
    return out


def _arborescence(weight: Floats) -> Ints:
    """Parents (n,) of the heaviest tree by weight [u, v], its root n - 1: Chu, Liu and Edmonds."""
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
    import networkx as nx

    try:
        return [v for v, _ in nx.find_cycle(nx.DiGraph(enumerate(parents[:-1].tolist())))]
    except nx.NetworkXNoCycle:
        return []
