"""The views and the checks of notebooks/03_dynamic_programming.ipynb.

The lattice of subsets filled in one term at a time, the same on twenty variables, what it costs.
"""

from bnlab.labs.board import setup
from bnlab.labs.dynamic_programming.checks import (
    check_best_order,
    check_blocked_edge,
    check_subset_sums,
)
from bnlab.labs.dynamic_programming.view import Costs, FullSpeed, Walk, counts_panel
