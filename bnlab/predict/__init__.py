"""Posterior predictive densities, averaged over DAGs, exact or by one, and effects of setting."""

from bnlab.predict.densities import (
    exact_log_density as exact_log_density,
    log_class_posterior as log_class_posterior,
    log_density as log_density,
    plug_in_log_density as plug_in_log_density,
)
from bnlab.predict.interventions import Effects as Effects, effects as effects
from bnlab.predict.tables import typed_row as typed_row
from bnlab.predict.validation import (
    CrossValidation as CrossValidation,
    cross_validate as cross_validate,
)
