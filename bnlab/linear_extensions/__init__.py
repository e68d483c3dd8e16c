"""Linear extensions of DAGs: the node orders in which parents come before children.

Counts, exact and estimated, uniform draws, and the correction of order-modular draws by 1 / ℓ(G).
"""

from bnlab.linear_extensions.counting import (
    count_linear_extensions,
    log_count,
    reweight_by_extensions,
    sample_linear_extensions,
)
from bnlab.linear_extensions.estimating import estimate_linear_extensions
from bnlab.linear_extensions.ideals import IdealLattice, count_by_ideals, ideal_lattice

__all__ = [
    "IdealLattice",
    "count_by_ideals",
    "count_linear_extensions",
    "estimate_linear_extensions",
    "ideal_lattice",
    "log_count",
    "reweight_by_extensions",
    "sample_linear_extensions",
]
