"""bnlab: Bayesian learning of Bayesian-network structure, for labs and for data of your own."""

from bnlab import diagnostics, exact, features, graphs, linear_extensions
from bnlab.annealing import (
    AIS,
    anneal_orders,
    estimate_evidence,
    estimate_lower_bound,
    estimate_upper_bound,
    lower_bound,
    upper_bound,
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
from bnlab.exact import OrderPosterior, order_lattice, order_posterior
from bnlab.features import hoeffding_draws, hoeffding_margin
from bnlab.linear_extensions import (
    count_linear_extensions,
    reweight_by_extensions,
    sample_linear_extensions,
)
from bnlab.networks import BayesNet, list_networks, load_network, random_network, read_bif
from bnlab.priors import EdgeBeliefs, EdgePenalty, Fair, Prior, Uniform
from bnlab.results import Draws, Estimate, FeatureEstimate, Run
from bnlab.runs import Stopped
from bnlab.sampling import Betas, Harmonic, Linear, Moves, sample_dags, sample_orders
from bnlab.scores import (
    AIC,
    BIC,
    K2,
    BDeu,
    LogLikelihood,
    Score,
    ScoreTable,
    read_scores,
    score_families,
    write_scores,
)

__all__ = [
    "AIC",
    "AIS",
    "BIC",
    "K2",
    "BDeu",
    "BayesNet",
    "Betas",
    "CutPoints",
    "Data",
    "Draws",
    "EdgeBeliefs",
    "EdgePenalty",
    "EqualFrequency",
    "EqualWidth",
    "Estimate",
    "Fair",
    "FeatureEstimate",
    "Harmonic",
    "Linear",
    "LogLikelihood",
    "Moves",
    "OrderPosterior",
    "Prior",
    "Run",
    "Score",
    "ScoreTable",
    "Stopped",
    "Uniform",
    "anneal_orders",
    "count_linear_extensions",
    "diagnostics",
    "discretize",
    "estimate_evidence",
    "estimate_lower_bound",
    "estimate_upper_bound",
    "exact",
    "features",
    "graphs",
    "hoeffding_draws",
    "hoeffding_margin",
    "linear_extensions",
    "list_datasets",
    "list_networks",
    "load_dataset",
    "load_network",
    "lower_bound",
    "order_lattice",
    "order_posterior",
    "random_network",
    "read_bif",
    "read_csv",
    "read_scores",
    "reweight_by_extensions",
    "sample_dags",
    "sample_linear_extensions",
    "sample_orders",
    "score_families",
    "upper_bound",
    "write_scores",
]
