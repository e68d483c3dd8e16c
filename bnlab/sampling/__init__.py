"""Draws of orders and DAGs: independent ones from an exact posterior, and Markov chains."""

from bnlab.runs import Executor
from bnlab.sampling.dags import NO_DAG, check_orders, sample_dags
from bnlab.sampling.direct import families_by_weight
from bnlab.sampling.ellis_wong import ellis_wong_dags
from bnlab.sampling.joint import Joint, sample_joint
from bnlab.sampling.orders import sample_orders
from bnlab.sampling.partial_orders import sample_partial_orders
from bnlab.sampling.partitions import sample_partitions
from bnlab.sampling.proposals import (
    EdgeReversal,
    Gibbs,
    Global,
    Hybrid,
    Local,
    StructureKernel,
)
from bnlab.sampling.schedules import Betas, Harmonic, Linear, Schedule
from bnlab.sampling.structures import sample_structures
from bnlab.sampling.unique import reweight_unique
from bnlab.sampling.walks import Moves, OrderStep, OrderWalker, check_weight, each_order

__all__ = [
    "NO_DAG",
    "Betas",
    "EdgeReversal",
    "Executor",
    "Gibbs",
    "Global",
    "Harmonic",
    "Hybrid",
    "Joint",
    "Linear",
    "Local",
    "Moves",
    "OrderStep",
    "OrderWalker",
    "Schedule",
    "StructureKernel",
    "check_orders",
    "check_weight",
    "each_order",
    "ellis_wong_dags",
    "families_by_weight",
    "reweight_unique",
    "sample_dags",
    "sample_joint",
    "sample_orders",
    "sample_partial_orders",
    "sample_partitions",
    "sample_structures",
]
