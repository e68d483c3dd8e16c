"""The views and the checks of notebooks/04_direct_dag_sampling.ipynb.

Independent DAGs from the exact order-modular posterior: how they pile up into probabilities, what
can be asked of them, and what they tell of the posterior that counts each DAG once.
"""

from bnlab.labs.board import setup
from bnlab.labs.datasets import k2_posterior as posterior
from bnlab.labs.direct_dag_sampling.checks import (
    check_certain,
    check_common_cause,
    check_draws_for_all,
    check_interval,
)
from bnlab.labs.direct_dag_sampling.view import Certain, Pile, Questions, TableOne, dag_posterior
from bnlab.papers.htw2016.study import repeated_edges
