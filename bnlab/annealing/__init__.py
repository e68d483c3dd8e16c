"""Annealed importance sampling on node orders: evidence, and bounds on it from both sides."""

from bnlab.annealing.bounds import (
    estimate_lower_bound,
    estimate_upper_bound,
    lower_bound,
    upper_bound,
)
from bnlab.annealing.evidence import estimate_evidence
from bnlab.annealing.methods import AIS
from bnlab.annealing.runs import anneal_orders

__all__ = [
    "AIS",
    "anneal_orders",
    "estimate_evidence",
    "estimate_lower_bound",
    "estimate_upper_bound",
    "lower_bound",
    "upper_bound",
]
