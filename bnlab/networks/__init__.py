"""Bayesian networks with known parameters: sampling, likelihoods, BIF files, reference networks."""

from bnlab.networks.bayesnet import BayesNet
from bnlab.networks.bif import read_bif
from bnlab.networks.gaussian import GaussianNet
from bnlab.networks.library import list_networks, load_network, random_network

__all__ = [
    "BayesNet",
    "GaussianNet",
    "list_networks",
    "load_network",
    "random_network",
    "read_bif",
]
