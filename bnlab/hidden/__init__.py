"""Discrete networks with hidden nodes: fits, scores, evidence [Beal2003, ch. 6]."""

from bnlab.hidden.annealing import Annealed, anneal
from bnlab.hidden.completions import Completions, complete
from bnlab.hidden.evidence import (
    estimate_evidence,
    estimate_lower_bound,
    estimate_structures,
    estimate_upper_bound,
    exact_evidence,
)
from bnlab.hidden.fitting import Fit, fit_em, fit_vb
from bnlab.hidden.model import HiddenModel, bipartite_structures, components
from bnlab.hidden.samplers import (
    AIS,
    SMC,
    CompletionGibbs,
    JointDirichlet,
    RowDirichlet,
    TemperedGibbs,
)
from bnlab.hidden.scoring import (
    Dimensions,
    dimension,
    perturbation_dimensions,
    score,
    score_structures,
)
from bnlab.hidden.search import (
    Changes,
    ComponentScore,
    Fitted,
    Search,
    Simulated,
    search_structures,
)
from bnlab.weights import Warped

__all__ = [
    "AIS",
    "SMC",
    "Annealed",
    "Changes",
    "CompletionGibbs",
    "Completions",
    "ComponentScore",
    "Dimensions",
    "Fit",
    "Fitted",
    "HiddenModel",
    "JointDirichlet",
    "RowDirichlet",
    "Search",
    "Simulated",
    "TemperedGibbs",
    "Warped",
    "anneal",
    "bipartite_structures",
    "complete",
    "components",
    "dimension",
    "estimate_evidence",
    "estimate_lower_bound",
    "estimate_structures",
    "estimate_upper_bound",
    "exact_evidence",
    "fit_em",
    "fit_vb",
    "perturbation_dimensions",
    "score",
    "score_structures",
    "search_structures",
]
