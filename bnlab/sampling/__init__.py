"""Draws of orders and DAGs: independent ones from an exact posterior, and Markov chains."""

from bnlab.sampling.order_target import OrderWalker as OrderWalker
