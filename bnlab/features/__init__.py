"""Posterior probabilities of structural features: edges, paths, combinations, your own functions.

A feature is a function from parent masks (..., n) to booleans (...). Features of DAG draws are
averages over the draws; edges and modular features of order draws are averages of exact per-order
expectations.
"""

from bnlab.features.intervals import (
    hoeffding_draws as hoeffding_draws,
    hoeffding_margin as hoeffding_margin,
)
from bnlab.features.posterior import (
    Feature as Feature,
    combined as combined,
    edge as edge,
    edge_table as edge_table,
    edges as edges,
    function as function,
    limited_path as limited_path,
    modular_probability as modular_probability,
    path as path,
    paths as paths,
    probability as probability,
    sound as sound,
)
