"""Linear extensions of DAGs: the node orders in which parents come before children.

Counts, exact and estimated, uniform draws, and the correction of order-modular draws by 1 / ℓ(G).
"""

from bnlab.linear_extensions.counting import (
    IdealLattice as IdealLattice,
    count_by_ideals as count_by_ideals,
    count_linear_extensions as count_linear_extensions,
    ideal_lattice as ideal_lattice,
    log_count as log_count,
    reweight_by_extensions as reweight_by_extensions,
    sample_linear_extensions as sample_linear_extensions,
)
from bnlab.linear_extensions.estimating import (
    estimate_linear_extensions as estimate_linear_extensions,
)
