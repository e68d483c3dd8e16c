"""Search for good structures, one or many."""

from bnlab.search.climbing import hill_climb
from bnlab.search.climbs import Climb
from bnlab.search.dependency_networks import (
    DependencyNetwork,
    best_dag_given_order,
    fit_dependency_network,
)
from bnlab.search.equivalence import EquivalenceSearch, Operator, ges
from bnlab.search.mixtures import TreeMixture, fit_tree_mixture
from bnlab.search.perturbing import climb_perturbed, resampled
from bnlab.search.shotgun import shotgun_search
from bnlab.search.trees import candidate_parents, chow_liu, maximum_branching, tan
from bnlab.search.windows import occams_window

__all__ = [
    "Climb",
    "DependencyNetwork",
    "EquivalenceSearch",
    "Operator",
    "TreeMixture",
    "best_dag_given_order",
    "candidate_parents",
    "chow_liu",
    "climb_perturbed",
    "fit_dependency_network",
    "fit_tree_mixture",
    "ges",
    "hill_climb",
    "maximum_branching",
    "occams_window",
    "resampled",
    "shotgun_search",
    "tan",
]
