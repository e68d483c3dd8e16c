"""Search for single good structures."""

from bnlab.search.climbing import Climb, climb_perturbed, hill_climb, resampled
from bnlab.search.trees import chow_liu

__all__ = [
    "Climb",
    "chow_liu",
    "climb_perturbed",
    "hill_climb",
    "resampled",
]
