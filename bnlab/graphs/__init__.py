"""Directed acyclic graphs as plain arrays of parent masks: conversions, and Markov equivalence.

A DAG on n <= 63 nodes is an int64 array `dag` of shape (n,): bit u of `dag[v]` is set when u -> v.
Leading axes batch. There is no graph class: the functions here check, convert and enumerate.
"""

from bnlab.checks import Bools as Bools
from bnlab.graphs.equivalence import (
    consistent_extension as consistent_extension,
    cpdag as cpdag,
    markov_equivalent as markov_equivalent,
    v_structures as v_structures,
)
from bnlab.graphs.masks import (
    MAX_ENUMERATED_NODES as MAX_ENUMERATED_NODES,
    MAX_NODES as MAX_NODES,
    Masks as Masks,
    all_dags as all_dags,
    ancestors as ancestors,
    check_dag as check_dag,
    check_dags as check_dags,
    check_matrix as check_matrix,
    from_adjacency as from_adjacency,
    from_edges as from_edges,
    from_networkx as from_networkx,
    layers as layers,
    markov_blankets as markov_blankets,
    members as members,
    near_ancestors as near_ancestors,
    predecessor_masks as predecessor_masks,
    to_adjacency as to_adjacency,
    to_dot as to_dot,
    to_edges as to_edges,
    to_model_string as to_model_string,
    to_networkx as to_networkx,
    topological_order as topological_order,
)
