"""Posterior predictive densities: averaged over DAGs, exact, by one DAG, and cross-validated."""

from bnlab.predict.densities import (
    exact_log_density,
    log_class_posterior,
    log_density,
    plug_in_log_density,
)
from bnlab.predict.tables import typed_row
from bnlab.predict.validation import CrossValidation, cross_validate

__all__ = [
    "CrossValidation",
    "cross_validate",
    "exact_log_density",
    "log_class_posterior",
    "log_density",
    "plug_in_log_density",
    "typed_row",
]
