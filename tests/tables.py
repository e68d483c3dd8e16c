"""Score tables, draws, comparisons and kernels that several files of tests need."""

import math
from dataclasses import replace

import numpy as np
from numba import njit

import bnlab as bn


def small_table(n=4, k=2, m=25, seed=0, arity=2, **options):
    """Rows of independent columns, all values alike."""
    data = bn.Data.from_arrays(np.random.default_rng(seed).integers(0, arity, size=(m, n)))
    return bn.score_families(data, bn.BDeu(), max_parents=k, **options)


def uneven_table(n=4, m=150, **options):
    """Orders whose weights span ten nats: the last variable needs two parents."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, size=(m, n))
    values[:, -1] = (values[:, 0] & values[:, 1]) ^ (rng.random(m) < 0.1)
    values[:, 2] = values[:, 0] | values[:, -1]
    return bn.score_families(bn.Data.from_arrays(values), bn.BDeu(), max_parents=2, **options)


def requiring(table, *edges):
    """The table without the families that lack these edges, which may make a cycle."""
    log_prior = table.log_prior.copy()
    for u, v in edges:
        log_prior[v, table.parents[v] >> u & 1 == 0] = -math.inf
    return replace(table, log_prior=log_prior)


def some_orders(rows, names, chains=1, **options):
    """Orders by hand, as draws of equal weight."""
    values = np.resize(rows, (chains, len(rows) // chains, len(rows[0])))
    zeros = np.zeros(values.shape[:2])
    return bn.Draws(values, zeros, zeros, "orders", "order-modular", names, **options)


def close(log_values, expected):
    """Whether the mean of their exponentials is exp(expected) within four standard errors."""
    weights = np.exp(np.asarray(log_values) - expected)
    return abs(weights.mean() - 1) <= 4 * weights.std() / math.sqrt(weights.size)


def uncompiled(patch, *modules):
    """Their kernels are plain Python while the patch lasts."""
    for module in modules:
        for name, function in vars(module).copy().items():
            if hasattr(function, "py_func"):
                patch.setattr(module, name, function.py_func)


def with_a_way_in(module, *names):
    """Functions that only kernels may call, compiled for Python."""
    return [njit(getattr(module, name).py_func) for name in names]
