"""Exact posteriors by dynamic programming over subsets of variables, and what priors sum to."""

from bnlab.exact.best import k_best_dags, map_dag
from bnlab.exact.dag import DagPosterior, dag_posterior
from bnlab.exact.normalisers import log_dag_prior_sum
from bnlab.exact.order import (
    Lattice,
    OrderPosterior,
    log_prior_sum,
    order_lattice,
    order_posterior,
    order_posterior_bytes,
)
from bnlab.exact.paths import order_paths

__all__ = [
    "DagPosterior",
    "Lattice",
    "OrderPosterior",
    "dag_posterior",
    "k_best_dags",
    "log_dag_prior_sum",
    "log_prior_sum",
    "map_dag",
    "order_lattice",
    "order_paths",
    "order_posterior",
    "order_posterior_bytes",
]
