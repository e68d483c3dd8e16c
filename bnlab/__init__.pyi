"""The public names and where each is from: type checkers and `__init__.py` read this."""

from . import (
    diagnostics as diagnostics,
    exact as exact,
    features as features,
    graphs as graphs,
    hidden as hidden,
    linear_extensions as linear_extensions,
    predict as predict,
)
from ._version import (
    __version__ as __version__,
)
from .annealing.bounds import (
    EdgeBounds as EdgeBounds,
    bound_edges as bound_edges,
    estimate_lower_bound as estimate_lower_bound,
    estimate_upper_bound as estimate_upper_bound,
    lower_bound_from as lower_bound_from,
)
from .annealing.evidence import (
    MC3 as MC3,
    estimate_evidence as estimate_evidence,
    evidence_from as evidence_from,
)
from .annealing.runs import (
    AIS as AIS,
    SMC as SMC,
    anneal_orders as anneal_orders,
)
from .data import (
    CutPoints as CutPoints,
    Data as Data,
    EqualFrequency as EqualFrequency,
    EqualWidth as EqualWidth,
    discretize as discretize,
    list_datasets as list_datasets,
    load_dataset as load_dataset,
    read_csv as read_csv,
)
from .exact import (
    DagPosterior as DagPosterior,
    OrderPosterior as OrderPosterior,
    dag_posterior as dag_posterior,
    k_best_dags as k_best_dags,
    map_dag as map_dag,
    order_lattice as order_lattice,
    order_posterior as order_posterior,
)
from .features import (
    hoeffding_draws as hoeffding_draws,
    hoeffding_margin as hoeffding_margin,
)
from .linear_extensions import (
    count_linear_extensions as count_linear_extensions,
    reweight_by_extensions as reweight_by_extensions,
    sample_linear_extensions as sample_linear_extensions,
)
from .networks import (
    BayesNet as BayesNet,
    GaussianNet as GaussianNet,
    list_networks as list_networks,
    load_network as load_network,
    random_network as random_network,
    read_bif as read_bif,
)
from .predict import (
    Effects as Effects,
    effects as effects,
)
from .priors import (
    EdgeBeliefs as EdgeBeliefs,
    EdgePenalty as EdgePenalty,
    Fair as Fair,
    Prior as Prior,
    Uniform as Uniform,
)
from .results import (
    BestDags as BestDags,
    Draws as Draws,
    Estimate as Estimate,
    FeatureEstimate as FeatureEstimate,
    Run as Run,
)
from .running import (
    Stopped as Stopped,
)
from .sampling.completing import (
    Completions as Completions,
    complete as complete,
)
from .sampling.cutting import (
    Cuts as Cuts,
    average_cuts as average_cuts,
)
from .sampling.dags_given_orders import (
    sample_dags as sample_dags,
)
from .sampling.independent import (
    Joint as Joint,
    sample_joint as sample_joint,
)
from .sampling.order_mcmc import (
    each_order as each_order,
    sample_orders as sample_orders,
    sample_partial_orders as sample_partial_orders,
)
from .sampling.order_target import (
    Moves as Moves,
)
from .sampling.partition_mcmc import (
    sample_partitions as sample_partitions,
)
from .sampling.reweighting import (
    ellis_wong_dags as ellis_wong_dags,
    reweight_unique as reweight_unique,
)
from .sampling.structure_kernels import (
    EdgeReversal as EdgeReversal,
    Gibbs as Gibbs,
    Global as Global,
    Hybrid as Hybrid,
    Local as Local,
)
from .sampling.structure_mcmc import (
    sample_structures as sample_structures,
)
from .scores import (
    AIC as AIC,
    BIC as BIC,
    K2 as K2,
    BDeu as BDeu,
    BGe as BGe,
    ConditionalGaussian as ConditionalGaussian,
    LazyScores as LazyScores,
    LogLikelihood as LogLikelihood,
    Score as Score,
    ScoreTable as ScoreTable,
    read_knowledge as read_knowledge,
    read_scores as read_scores,
    score_families as score_families,
    write_scores as write_scores,
)
from .search.climbing import (
    climb_perturbed as climb_perturbed,
    hill_climb as hill_climb,
    resampled as resampled,
)
from .search.climbs import (
    Climb as Climb,
)
from .search.dependency_networks import (
    DependencyNetwork as DependencyNetwork,
    best_dag_given_order as best_dag_given_order,
    fit_dependency_network as fit_dependency_network,
)
from .search.equivalence import (
    EquivalenceSearch as EquivalenceSearch,
    ges as ges,
)
from .search.mixtures import (
    TreeMixture as TreeMixture,
    fit_tree_mixture as fit_tree_mixture,
)
from .search.sets import (
    occams_window as occams_window,
    shotgun_search as shotgun_search,
)
from .search.trees import (
    candidate_parents as candidate_parents,
    chow_liu as chow_liu,
    maximum_branching as maximum_branching,
    tan as tan,
)
from .weights import (
    Betas as Betas,
    Harmonic as Harmonic,
    Linear as Linear,
    lower_bound as lower_bound,
    upper_bound as upper_bound,
)
