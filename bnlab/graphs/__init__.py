"""Directed acyclic graphs as plain arrays of parent masks: conversions, and Markov equivalence.

A DAG on n <= 63 nodes is an int64 array `dag` of shape (n,): bit u of `dag[v]` is set when u -> v.
Leading axes batch. There is no graph class: the functions here check, convert and enumerate.
"""

from bnlab.checks import Bools
from bnlab.graphs.equivalence import (
    consistent_extension,
    cpdag,
    markov_equivalent,
    v_structures,
)
from bnlab.graphs.masks import (
    MAX_ENUMERATED_NODES,
    MAX_NODES,
    Masks,
    all_dags,
    ancestors,
    check_dag,
    check_dags,
    check_matrix,
    from_adjacency,
    from_edges,
    from_networkx,
    layers,
    markov_blankets,
    members,
    near_ancestors,
    predecessor_masks,
    to_adjacency,
    to_dot,
    to_edges,
    to_model_string,
    to_networkx,
    topological_order,
)

__all__ = [
    "MAX_ENUMERATED_NODES",
    "MAX_NODES",
    "Bools",
    "Masks",
    "all_dags",
    "ancestors",
    "check_dag",
    "check_dags",
    "check_matrix",
    "consistent_extension",
    "cpdag",
    "from_adjacency",
    "from_edges",
    "from_networkx",
    "layers",
    "markov_blankets",
    "markov_equivalent",
    "members",
    "near_ancestors",
    "predecessor_masks",
    "to_adjacency",
    "to_dot",
    "to_edges",
    "to_model_string",
    "to_networkx",
    "topological_order",
    "v_structures",
]
