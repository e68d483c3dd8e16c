"""Annealing on node orders: evidence, and bounds on it from both sides."""

from bnlab.annealing.bounds import (
    EdgeBounds,
    bound_edges,
    estimate_lower_bound,
    estimate_upper_bound,
    lower_bound_from,
)
from bnlab.annealing.evidence import estimate_evidence, evidence_from
from bnlab.annealing.methods import AIS, MC3, SMC
from bnlab.annealing.runs import anneal_orders

__all__ = [
    "AIS",
    "MC3",
    "SMC",
    "EdgeBounds",
    "anneal_orders",
    "bound_edges",
    "estimate_evidence",
    "estimate_lower_bound",
    "estimate_upper_bound",
    "evidence_from",
    "lower_bound_from",
]
