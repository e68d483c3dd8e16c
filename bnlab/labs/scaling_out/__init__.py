"""The views and the checks of notebooks/15_scaling_out.ipynb.

The same calls on threads, processes, Dask, ipyparallel and MPI; what they send; what more cores
bring and cost; plans for ten thousand annealing runs and for the exact sum past 27 variables.
"""

from bnlab.labs.board import setup
from bnlab.labs.predict import predict, review
from bnlab.labs.scaling_out.checks import check_cores, check_executor, check_plan
from bnlab.labs.scaling_out.places import (
    PLACES,
    Ledger,
    absent,
    fingerprint,
    here,
    letters,
    on_ranks,
    three_calls,
    wine,
)
from bnlab.labs.scaling_out.plans import (
    AnnealingPlan,
    ExactPlan,
    Load,
    SpeedUp,
    amdahl,
    annealing_steps,
    dp_bytes,
    dp_seconds,
    parcel_bytes,
    sized,
    spoken,
    worker_bytes,
)
