"""The views and the checks of notebooks/11_dag_space.ipynb.

Walks on networks themselves: samplers that race towards the same edges, local and global moves,
priors that are a choice, and rows in which somebody set a variable.
"""

from bnlab.labs.board import DATASETS, setup
from bnlab.labs.dag_space.checks import check_acceptance, check_detours, check_sampler
from bnlab.labs.dag_space.exact import (
    Beliefs,
    Doing,
    after_setting,
    believed,
    chain_network,
    directed,
    few_edges,
    five,
    five_table,
    mixed,
    no_path,
)
from bnlab.labs.dag_space.race import (
    RACERS,
    Race,
    Shares,
    chain_sads,
    hybrid,
    mean_sads,
    race,
    second_half,
    stays,
    target,
)
