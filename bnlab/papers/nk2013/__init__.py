"""Niinimäki and Koivisto (2013): annealed importance sampling on orders."""
