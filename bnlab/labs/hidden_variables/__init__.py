"""The views and the checks of notebooks/09_hidden_variables.ipynb.

Structures with hidden nodes: their scores, their evidence, and who sets the rank of the true one.
"""

from bnlab.labs.board import setup
from bnlab.labs.hidden_variables.checks import check_best_rank, check_causes, check_noisy_ranks
from bnlab.labs.hidden_variables.runs import MOVES, Loops, Sides, Steps, noise_of_runs, simulated
from bnlab.labs.hidden_variables.scores import (
    PRINTED_RANKS,
    PRINTED_RUNS,
    SIZES,
    Labels,
    Ranks,
    Scores,
    causes_of,
    exp_digamma,
    gold,
    log_completed,
    rank,
    rows,
    scored,
    structures,
    thesis_tables,
    true_model,
    true_number,
)
