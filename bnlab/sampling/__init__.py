"""Draws of orders and DAGs: independent ones from an exact posterior, and Markov chains."""

from bnlab.running import Executor
from bnlab.sampling.bucket_mcmc import sample_partial_orders
from bnlab.sampling.completing import Completions, complete
from bnlab.sampling.cutting import Cuts, average_cuts
from bnlab.sampling.dags_given_orders import NO_DAG, check_orders, sample_dags
from bnlab.sampling.independent import Joint, families_by_weight, sample_joint
from bnlab.sampling.order_mcmc import OrderStep, each_order, sample_orders
from bnlab.sampling.order_target import Moves, OrderWalker, check_weight
from bnlab.sampling.partition_mcmc import sample_partitions
from bnlab.sampling.reweighting import ellis_wong_dags, reweight_unique
from bnlab.sampling.structure_kernels import (
    EdgeReversal,
    Gibbs,
    Global,
    Hybrid,
    Local,
    StructureKernel,
)
from bnlab.sampling.structure_mcmc import sample_structures

__all__ = [
    "NO_DAG",
    "Completions",
    "Cuts",
    "EdgeReversal",
    "Executor",
    "Gibbs",
    "Global",
    "Hybrid",
    "Joint",
    "Local",
    "Moves",
    "OrderStep",
    "OrderWalker",
    "StructureKernel",
    "average_cuts",
    "check_orders",
    "check_weight",
    "complete",
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
