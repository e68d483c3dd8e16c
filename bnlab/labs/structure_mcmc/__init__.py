"""The views and the checks of notebooks/11_structure_mcmc.ipynb.

Chains on DAGs and on partitions: where they get stuck, and how far they come in the same time.
"""

from bnlab.labs.board import DATASETS, setup
from bnlab.labs.predict import predict, review
from bnlab.labs.structure_mcmc.chains import (
    WALKS,
    Target,
    chain_errors,
    exact_errors,
    gap,
    in_modes,
    kernels,
    partitions,
    raced,
    refused,
    sizes,
    standings,
    target,
    walked,
)
from bnlab.labs.structure_mcmc.checks import check_relocate, check_repair, check_sampler
from bnlab.labs.structure_mcmc.view import RACERS, Race, Stuck, chains, race, racer
