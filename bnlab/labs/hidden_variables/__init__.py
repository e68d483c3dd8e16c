"""The views and the checks of notebooks/06_hidden_variables.ipynb.

Structures with hidden nodes: their scores, their evidence, and who sets the rank of the true one.
"""

from bnlab.labs.board import setup
from bnlab.labs.hidden_variables.checks import check_best_rank, check_causes, check_noisy_ranks
from bnlab.labs.hidden_variables.study import (
    MOVES,
    PRINTED_RANKS,
    PRINTED_RUNS,
    SIZES,
    causes_of,
    exp_digamma,
    gold,
    log_completed,
    noise_of_runs,
    rank,
    rows,
    scored,
    simulated,
    structures,
    thesis_tables,
    true_model,
    true_number,
)
from bnlab.labs.hidden_variables.view import Labels, Loops, Ranks, Scores, Sides, Steps
