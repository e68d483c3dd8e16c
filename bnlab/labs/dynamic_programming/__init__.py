"""The widgets and the checks of notebooks/02_dynamic_programming.ipynb.

The lattice of subsets filled in one term at a time, the same on twenty variables, what it costs.
"""

from bnlab.labs.board import setup
from bnlab.labs.dynamic_programming.exercises import (
    check_best_order,
    check_blocked_edge,
    check_subset_sums,
)
from bnlab.labs.dynamic_programming.terms import Relative, Step, relative, steps
from bnlab.labs.dynamic_programming.widgets import Costs, FullSpeed, Walk, counts_panel, measure

__all__ = [
    "Costs",
    "FullSpeed",
    "Relative",
    "Step",
    "Walk",
    "check_best_order",
    "check_blocked_edge",
    "check_subset_sums",
    "counts_panel",
    "measure",
    "relative",
    "setup",
    "steps",
]
