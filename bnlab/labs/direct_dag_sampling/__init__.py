"""The widgets and the checks of notebooks/04_direct_dag_sampling.ipynb.

Independent DAGs from the exact order-modular posterior: how they pile up into probabilities, and
what can be asked of them.
"""

from bnlab.labs.board import setup
from bnlab.labs.direct_dag_sampling.checks import (
    check_common_cause,
    check_draws_for_all,
    check_interval,
)
from bnlab.labs.direct_dag_sampling.runs import (
    DATASETS,
    PUBLISHED,
    posterior,
    repeated_edges,
    table_one,
)
from bnlab.labs.direct_dag_sampling.widgets import Pile, Questions, TableOne

__all__ = [
    "DATASETS",
    "PUBLISHED",
    "Pile",
    "Questions",
    "TableOne",
    "check_common_cause",
    "check_draws_for_all",
    "check_interval",
    "posterior",
    "repeated_edges",
    "setup",
    "table_one",
]
