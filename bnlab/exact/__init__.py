"""Exact posteriors by dynamic programming over subsets of variables, and what priors sum to."""

from bnlab.exact.normalisers import log_dag_prior_sum
from bnlab.exact.order import (
    Lattice,
    OrderPosterior,
    log_prior_sum,
    order_lattice,
    order_posterior,
    order_posterior_bytes,
    unpack,
)

__all__ = [
    "Lattice",
    "OrderPosterior",
    "log_dag_prior_sum",
    "log_prior_sum",
    "order_lattice",
    "order_posterior",
    "order_posterior_bytes",
    "unpack",
]
