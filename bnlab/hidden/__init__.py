"""Discrete networks with hidden nodes: fits, scores, evidence [Beal2003, ch. 6]."""

from bnlab.hidden.annealing import Annealed as Annealed, anneal as anneal
from bnlab.hidden.completions import Completions as Completions, complete as complete
from bnlab.hidden.evidence import (
    estimate_evidence as estimate_evidence,
    estimate_lower_bound as estimate_lower_bound,
    estimate_structures as estimate_structures,
    estimate_upper_bound as estimate_upper_bound,
    exact_evidence as exact_evidence,
)
from bnlab.hidden.fitting import Fit as Fit, fit_em as fit_em, fit_vb as fit_vb
from bnlab.hidden.model import (
    HiddenModel as HiddenModel,
    bipartite_structures as bipartite_structures,
    components as components,
)
from bnlab.hidden.samplers import (
    AIS as AIS,
    SMC as SMC,
    CompletionGibbs as CompletionGibbs,
    JointDirichlet as JointDirichlet,
    RowDirichlet as RowDirichlet,
    TemperedGibbs as TemperedGibbs,
)
from bnlab.hidden.scoring import (
    Dimensions as Dimensions,
    dimension as dimension,
    perturbation_dimensions as perturbation_dimensions,
    score as score,
    score_structures as score_structures,
)
from bnlab.hidden.search import (
    Changes as Changes,
    ComponentScore as ComponentScore,
    Fitted as Fitted,
    Search as Search,
    Simulated as Simulated,
    search_structures as search_structures,
)
from bnlab.weights import Warped as Warped
