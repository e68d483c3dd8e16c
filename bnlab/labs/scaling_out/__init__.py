"""The widgets and the checks of notebooks/10_scaling_out.ipynb.

The same calls on threads, processes, Dask, ipyparallel and MPI; what they send; what more cores
bring and cost; plans for ten thousand annealing runs and for the exact sum past 27 variables.
"""

from bnlab.labs.board import setup
from bnlab.labs.scaling_out.checks import check_cores, check_executor, check_plan
from bnlab.labs.scaling_out.laws import (
    Load,
    amdahl,
    annealing_steps,
    dp_bytes,
    dp_seconds,
    parcel_bytes,
    sized,
    spoken,
    worker_bytes,
)
from bnlab.labs.scaling_out.ledger import Ledger
from bnlab.labs.scaling_out.places import (
    PLACES,
    absent,
    fingerprint,
    here,
    kill,
    on_ranks,
    three_calls,
)
from bnlab.labs.scaling_out.targets import letters, wine
from bnlab.labs.scaling_out.widgets import AnnealingPlan, ExactPlan, SpeedUp, measured_speeds

__all__ = [
    "PLACES",
    "AnnealingPlan",
    "ExactPlan",
    "Ledger",
    "Load",
    "SpeedUp",
    "absent",
    "amdahl",
    "annealing_steps",
    "check_cores",
    "check_executor",
    "check_plan",
    "dp_bytes",
    "dp_seconds",
    "fingerprint",
    "here",
    "kill",
    "letters",
    "measured_speeds",
    "on_ranks",
    "parcel_bytes",
    "setup",
    "sized",
    "spoken",
    "three_calls",
    "wine",
    "worker_bytes",
]
