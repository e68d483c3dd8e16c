"""The views and the checks of notebooks/05_annealed_importance_sampling.ipynb.

Annealed runs from uniform orders to the posterior: their weights, the evidence, bounds on it.
"""

from bnlab.labs.annealed_importance_sampling.checks import (
    check_effective_runs,
    check_reverse_mean,
    check_schedule,
)
from bnlab.labs.annealed_importance_sampling.view import (
    SCHEDULES,
    Bounds,
    Pile,
    Shapes,
    annealed,
    edge_errors,
    gaps,
    log_mean,
    log_weights,
    posterior,
    sandwich,
)
from bnlab.labs.board import setup
