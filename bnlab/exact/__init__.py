"""Exact posteriors by dynamic programming over subsets of variables, and what priors sum to."""

from bnlab.exact.best import k_best_dags as k_best_dags, map_dag as map_dag
from bnlab.exact.dag import (
    DagPosterior as DagPosterior,
    dag_posterior as dag_posterior,
    log_dag_prior_sum as log_dag_prior_sum,
)
from bnlab.exact.order import (
    Lattice as Lattice,
    OrderPosterior as OrderPosterior,
    log_prior_sum as log_prior_sum,
    order_lattice as order_lattice,
    order_paths as order_paths,
    order_posterior as order_posterior,
    order_posterior_bytes as order_posterior_bytes,
)
