"""The views and the checks of notebooks/05_direct_dag_sampling.ipynb."""

from bnlab.labs.board import setup as setup
from bnlab.labs.direct_dag_sampling.checks import (
    check_draw_forward as check_draw_forward,
    check_estimate as check_estimate,
    check_settled as check_settled,
)
from bnlab.labs.direct_dag_sampling.view import (
    Hundred as Hundred,
    MoreRows as MoreRows,
    WalkDown as WalkDown,
)
from bnlab.labs.predict import predict as predict, review as review
