"""Cliques of the nodes that rows of data leave open, for sums too long to enumerate."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Nodes = tuple[int, ...]

MAX_STATES = 1 << 22  # joint states of a clique


class CliqueTree(NamedTuple):
    """Cliques, children before parents.

    Attributes
    ----------
    cliques : the nodes of each, ascending
    parents : the place of each clique's parent, -1 for a root
    home : for each set of nodes asked for, the place of a clique that holds it
    """

    cliques: list[Nodes]
    parents: list[int]
    home: list[int]


def clique_tree(families: Sequence[Nodes], arities: Ints, /) -> CliqueTree:
    """Cover families of nodes by the cliques of a triangulated graph.

    Raises
    ------
    ValueError
        If a clique has more than 4 million joint states.
    """
    graph: nx.Graph = nx.Graph()
    graph.add_nodes_from(sorted({v for family in families for v in family}))
    for family in families:
        graph.add_edges_from(itertools.combinations(family, 2))
    chordal, _ = nx.complete_to_chordal_graph(graph)
    cliques = sorted(tuple(sorted(clique)) for clique in nx.chordal_graph_cliques(chordal))
    for clique in cliques:
        states = math.prod(int(arities[v]) for v in clique)
        if states > MAX_STATES:
            raise ValueError(
                f"summing over the hidden nodes takes tables of {states:,} joint states of the "
                f"nodes {list(clique)}; at most {MAX_STATES:,} are handled. Give hidden nodes "
                "fewer states or common children, or drop the rows with most missing cells"
            )
    shared: nx.Graph = nx.Graph()
    shared.add_nodes_from(range(len(cliques)))
    for a, b in itertools.combinations(range(len(cliques)), 2):
        if common := len(set(cliques[a]) & set(cliques[b])):
            shared.add_edge(a, b, weight=common)
    tree = nx.maximum_spanning_tree(shared)
    parent = dict.fromkeys(range(len(cliques)), -1)
    order: list[int] = []
    for part in nx.connected_components(tree):
        root = min(part)
        parent.update({child: above for above, child in nx.bfs_edges(tree, root)})
        order[:0] = reversed([root, *(child for _, child in nx.bfs_edges(tree, root))])
    place = {q: i for i, q in enumerate(order)} | {-1: -1}
    return CliqueTree(
        [cliques[q] for q in order],
        [place[parent[q]] for q in order],
        [
            next(i for i, q in enumerate(order) if set(family) <= set(cliques[q]))
            for family in families
        ],
    )


def shared_states(clique: Nodes, other: Nodes, arities: Ints, /) -> tuple[int, Ints]:
    """How many joint states two cliques share, and which of them each state of `clique` has."""
    common = [v for v in clique if v in other]
    sizes = [int(arities[v]) for v in clique]
    states = np.indices(sizes).reshape(len(clique), -1) if clique else np.zeros((0, 1), np.int64)
    number = np.zeros(states.shape[1], np.int64)
    for v in common:
        number = number * int(arities[v]) + states[clique.index(v)]
    return math.prod(int(arities[v]) for v in common), number
