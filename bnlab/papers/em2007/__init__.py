"""Eaton and Murphy (2007): dynamic programming and MCMC on graphs."""
