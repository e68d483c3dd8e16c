"""Rows in which somebody set a variable: a chain A -> B -> C -> D that data alone cannot direct."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn

ROWS = 400
NAMES = ("A", "B", "C", "D")
NOISE = 0.2
SEED = 2007

Floats = NDArray[np.float64]


@cache
def chain_network() -> bn.BayesNet:
    """A -> B -> C -> D; each copies its parent with probability 0.8."""
    copy = np.array([[1 - NOISE, NOISE], [NOISE, 1 - NOISE]])
    coin = np.array([[0.5, 0.5]])
    levels = (("0", "1"),) * 4
    dag, arities = np.array([0, 1, 2, 4]), np.full(4, 2)
    return bn.BayesNet(dag, arities, NAMES, levels, (coin, copy, copy, copy))


def after_setting(net: bn.BayesNet, v: int, m: int, rng: np.random.Generator, /) -> bn.Data:
    """m rows in which v was set to a random state: it listens to no parent, others listen to it."""
    dag, tables = net.dag.copy(), list(net.tables)
    arity = int(net.arities[v])
    dag[v], tables[v] = 0, np.full((1, arity), 1 / arity)
    rows = replace(net, dag=dag, tables=tuple(tables)).sample(m, rng)
    held = np.zeros(rows.values.shape, bool)
    held[:, v] = True
    return replace(rows, intervened=held)


@cache
def mixed(v: int, many: int, net: bn.BayesNet | None = None) -> bn.Data:
    """Return 400 rows of the chain, or of a network, in the last `many` of which v was set."""
    net = net or chain_network()
    watched, doing = np.random.default_rng(SEED).spawn(2)
    seen = net.sample(ROWS - many, watched)
    done = after_setting(net, v, many, doing)
    held = np.zeros((ROWS, seen.n), bool)
    held[ROWS - many :, v] = True
    return bn.Data(
        np.concatenate([seen.values, done.values]), seen.arities, seen.names, seen.levels, held
    )


@cache
def directed(v: int, many: int, *, told: bool = True, net: bn.BayesNet | None = None) -> Floats:
    """Return the exact structure-modular edges given `mixed(v, many, net)`, (n, n).

    With `told` False the model takes all rows for observed.
    """
    data = mixed(v, many, net)
    if not told:
        data = replace(data, intervened=None)
    return bn.dag_posterior(bn.score_families(data, bn.BDeu(1.0))).edges
