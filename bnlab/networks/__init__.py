"""Bayesian networks with known parameters: sampling, likelihoods, BIF files, reference networks."""

from bnlab.networks.bayesnet import BayesNet as BayesNet
from bnlab.networks.bif import read_bif as read_bif
from bnlab.networks.gaussian import GaussianNet as GaussianNet
from bnlab.networks.library import (
    list_networks as list_networks,
    load_network as load_network,
    random_network as random_network,
)
