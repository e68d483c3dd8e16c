"""Discrete networks with hidden nodes: fits, scores, evidence [Beal2003, ch. 6]."""

from bnlab.hidden.completions import Completions, complete
from bnlab.hidden.dimensions import Dimensions, dimension, perturbation_dimensions
from bnlab.hidden.exact import exact_evidence
from bnlab.hidden.fitting import Fit, fit_em, fit_vb
from bnlab.hidden.model import HiddenModel
from bnlab.hidden.parts import parts
from bnlab.hidden.scoring import score, score_structures
from bnlab.hidden.structures import bipartite_structures

__all__ = [
    "Completions",
    "Dimensions",
    "Fit",
    "HiddenModel",
    "bipartite_structures",
    "complete",
    "dimension",
    "exact_evidence",
    "fit_em",
    "fit_vb",
    "parts",
    "perturbation_dimensions",
    "score",
    "score_structures",
]
