"""Annealing on node orders: evidence, and bounds on it from both sides."""
