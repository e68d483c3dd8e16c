"""Bayesian networks with known tables: sampling, likelihoods, BIF files, reference networks."""

from bnlab.networks.bayesnet import BayesNet
from bnlab.networks.bif import read_bif

__all__ = ["BayesNet", "read_bif"]
