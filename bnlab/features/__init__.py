"""Posterior probabilities of structural features: edges, paths, combinations, your own functions.

A feature is a function from parent masks (..., n) to booleans (...). Features of DAG draws are
averages over the draws; edges and modular features of order draws are averages of exact per-order
expectations.
"""

from bnlab.features.intervals import hoeffding_draws, hoeffding_margin
from bnlab.features.posterior import (
    Feature,
    combined,
    edge,
    edge_table,
    edges,
    function,
    limited_path,
    modular_probability,
    path,
    paths,
    probability,
    sound,
)

__all__ = [
    "Feature",
    "combined",
    "edge",
    "edge_table",
    "edges",
    "function",
    "hoeffding_draws",
    "hoeffding_margin",
    "limited_path",
    "modular_probability",
    "path",
    "paths",
    "probability",
    "sound",
]
