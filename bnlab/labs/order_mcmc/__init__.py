"""The widgets and the checks of notebooks/03_order_mcmc.ipynb.

Metropolis walks on node orders: one move at a time, and two chains beside each other.
"""

from bnlab.labs.board import setup
from bnlab.labs.order_mcmc.chains import (
    CASES,
    Step,
    chain,
    long_chains,
    metropolis,
    posterior,
    proposal,
    usual_weights,
)
from bnlab.labs.order_mcmc.checks import check_acceptance, check_many_starts, check_reversal
from bnlab.labs.order_mcmc.widgets import Steps, TwoChains

__all__ = [
    "CASES",
    "Step",
    "Steps",
    "TwoChains",
    "chain",
    "check_acceptance",
    "check_many_starts",
    "check_reversal",
    "long_chains",
    "metropolis",
    "posterior",
    "proposal",
    "setup",
    "usual_weights",
]
