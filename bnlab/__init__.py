"""bnlab: Bayesian learning of Bayesian-network structure, for labs and for data of your own."""

import ast
import importlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnlab._version import __version__

# Read by people, by type checkers and by `__getattr__`: a name is loaded when it is asked for, so
# that `bnlab --help` need not wait for the compiler.
if TYPE_CHECKING:
    from bnlab import diagnostics, exact, features, graphs, hidden, linear_extensions
    from bnlab import prediction as predict
    from bnlab.annealing import (
        AIS,
        MC3,
        SMC,
        EdgeBounds,
        anneal_orders,
        bound_edges,
        estimate_evidence,
        estimate_lower_bound,
        estimate_upper_bound,
        evidence_from,
        lower_bound_from,
    )
    from bnlab.data import (
        CutPoints,
        Data,
        EqualFrequency,
        EqualWidth,
        discretize,
        list_datasets,
        load_dataset,
        read_csv,
    )
    from bnlab.exact import (
        BestDags,
        DagPosterior,
        OrderPosterior,
        dag_posterior,
        k_best_dags,
        map_dag,
        order_lattice,
        order_posterior,
    )
    from bnlab.features import hoeffding_draws, hoeffding_margin
    from bnlab.linear_extensions import (
        count_linear_extensions,
        reweight_by_extensions,
        sample_linear_extensions,
    )
    from bnlab.networks import BayesNet, list_networks, load_network, random_network, read_bif
    from bnlab.priors import EdgeBeliefs, EdgePenalty, Fair, Prior, Uniform
    from bnlab.results import Draws, Estimate, FeatureEstimate, Run
    from bnlab.running import Stopped
    from bnlab.sampling import (
        EdgeReversal,
        Gibbs,
        Global,
        Hybrid,
        Joint,
        Local,
        Moves,
        each_order,
        ellis_wong_dags,
        reweight_unique,
        sample_dags,
        sample_joint,
        sample_orders,
        sample_partial_orders,
        sample_partitions,
        sample_structures,
    )
    from bnlab.scores import (
        AIC,
        BIC,
        K2,
        BDeu,
        LazyScores,
        LogLikelihood,
        Score,
        ScoreTable,
        read_scores,
        score_families,
        write_scores,
    )
    from bnlab.search import (
        Climb,
        DependencyNetwork,
        EquivalenceSearch,
        FoundDags,
        TreeMixture,
        best_dag_given_order,
        candidate_parents,
        chow_liu,
        climb_perturbed,
        fit_dependency_network,
        fit_tree_mixture,
        ges,
        hill_climb,
        maximum_branching,
        occams_window,
        resampled,
        shotgun_search,
        tan,
    )
    from bnlab.weights import Betas, Harmonic, Linear, lower_bound, upper_bound

__all__ = [
    "AIC",
    "AIS",
    "BIC",
    "K2",
    "MC3",
    "SMC",
    "BDeu",
    "BayesNet",
    "BestDags",
    "Betas",
    "Climb",
    "CutPoints",
    "DagPosterior",
    "Data",
    "DependencyNetwork",
    "Draws",
    "EdgeBeliefs",
    "EdgeBounds",
    "EdgePenalty",
    "EdgeReversal",
    "EqualFrequency",
    "EqualWidth",
    "EquivalenceSearch",
    "Estimate",
    "Fair",
    "FeatureEstimate",
    "FoundDags",
    "Gibbs",
    "Global",
    "Harmonic",
    "Hybrid",
    "Joint",
    "LazyScores",
    "Linear",
    "Local",
    "LogLikelihood",
    "Moves",
    "OrderPosterior",
    "Prior",
    "Run",
    "Score",
    "ScoreTable",
    "Stopped",
    "TreeMixture",
    "Uniform",
    "__version__",
    "anneal_orders",
    "best_dag_given_order",
    "bound_edges",
    "candidate_parents",
    "chow_liu",
    "climb_perturbed",
    "count_linear_extensions",
    "dag_posterior",
    "diagnostics",
    "discretize",
    "each_order",
    "ellis_wong_dags",
    "estimate_evidence",
    "estimate_lower_bound",
    "estimate_upper_bound",
    "evidence_from",
    "exact",
    "features",
    "fit_dependency_network",
    "fit_tree_mixture",
    "ges",
    "graphs",
    "hidden",
    "hill_climb",
    "hoeffding_draws",
    "hoeffding_margin",
    "k_best_dags",
    "linear_extensions",
    "list_datasets",
    "list_networks",
    "load_dataset",
    "load_network",
    "lower_bound",
    "lower_bound_from",
    "map_dag",
    "maximum_branching",
    "occams_window",
    "order_lattice",
    "order_posterior",
    "predict",
    "random_network",
    "read_bif",
    "read_csv",
    "read_scores",
    "resampled",
    "reweight_by_extensions",
    "reweight_unique",
    "sample_dags",
    "sample_joint",
    "sample_linear_extensions",
    "sample_orders",
    "sample_partial_orders",
    "sample_partitions",
    "sample_structures",
    "score_families",
    "shotgun_search",
    "tan",
    "upper_bound",
    "write_scores",
]


@cache
def _homes() -> dict[str, tuple[str, str]]:
    """The module and the name there of every public name, from the imports above."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("bnlab")
        for alias in node.names
    }


def __getattr__(name: str) -> Any:
    module, there = _homes().get(name, ("bnlab", name))
    if module != "bnlab":
        found = getattr(importlib.import_module(module), there)
    elif not name.startswith("_") and find_spec(f"bnlab.{there}") is not None:
        found = importlib.import_module(f"bnlab.{there}")
    else:
        raise AttributeError(f"module 'bnlab' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
