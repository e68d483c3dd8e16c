"""Posterior predictive densities, averaged over DAGs, exact or by one, and effects of setting."""

from bnlab.predict.densities import (
    exact_log_density,
    log_class_posterior,
    log_density,
    plug_in_log_density,
)
from bnlab.predict.interventions import Effects, effects
from bnlab.predict.tables import typed_row
from bnlab.predict.validation import CrossValidation, cross_validate

__all__ = [
    "CrossValidation",
    "Effects",
    "cross_validate",
    "effects",
    "exact_log_density",
    "log_class_posterior",
    "log_density",
    "plug_in_log_density",
    "typed_row",
]
