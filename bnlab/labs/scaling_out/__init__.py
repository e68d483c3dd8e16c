"""The views and the checks of notebooks/15_scaling_out.ipynb.

What calls send to workers; what more cores bring and cost; plans for ten thousand annealing runs
and for the exact sum past 27 variables.
"""

from bnlab.labs.board import setup
from bnlab.labs.predict import predict, review
from bnlab.labs.scaling_out.checks import check_cores, check_executor, check_plan
from bnlab.labs.scaling_out.ledger import Ledger, fingerprint, letters, wine
from bnlab.labs.scaling_out.plans import (
    AnnealingPlan,
    ExactPlan,
    Load,
    SpeedUp,
    amdahl,
    annealing_steps,
    sized,
    spoken,
)
