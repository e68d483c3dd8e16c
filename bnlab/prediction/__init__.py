"""Posterior predictive densities: averaged over DAGs, exact, by one DAG, and cross-validated."""

from bnlab.prediction.densities import log_class_posterior, log_density, plug_in_log_density
from bnlab.prediction.exact import exact_log_density
from bnlab.prediction.rows import typed_row
from bnlab.prediction.validation import CrossValidation, cross_validate

__all__ = [
    "CrossValidation",
    "cross_validate",
    "exact_log_density",
    "log_class_posterior",
    "log_density",
    "plug_in_log_density",
    "typed_row",
]
