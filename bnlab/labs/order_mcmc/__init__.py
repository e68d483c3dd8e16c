"""The views and the checks of notebooks/04_order_mcmc.ipynb.

Metropolis walks on node orders: one move at a time, two chains beside each other, walks at one
temperature, and chains coupled over temperatures.
"""

from bnlab.labs.board import setup
from bnlab.labs.order_mcmc.checks import check_exchange, check_many_starts, check_reversal
from bnlab.labs.order_mcmc.view import (
    Coupled,
    Steps,
    Temperature,
    TwoChains,
    coupled,
    edge_given_orders,
    long_chains,
    posterior,
    steps,
    tempered,
    usual_weights,
)
from bnlab.papers.store import chain
