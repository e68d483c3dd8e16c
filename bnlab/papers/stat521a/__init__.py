"""Stat 521A, lecture 22: one best network, or all of them."""
