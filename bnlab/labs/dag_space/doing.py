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
    """A -> B -> C -> D; each copies its parent with probability 0.8.

    Examples
    --------
    >>> chain_network()
    BayesNet: 4 nodes, 3 edges, 7 free parameters
    """
    copy = np.array([[1 - NOISE, NOISE], [NOISE, 1 - NOISE]])
    coin = np.array([[0.5, 0.5]])
    levels = (("0", "1"),) * 4
    dag, arities = np.array([0, 1, 2, 4]), np.full(4, 2)
    return bn.BayesNet(dag, arities, NAMES, levels, (coin, copy, copy, copy))


def after_setting(net: bn.BayesNet, v: int, m: int, rng: np.random.Generator, /) -> bn.Data:
    """m rows in which v was set to a random state: it listens to no parent, others listen to it.

    Examples
    --------
    >>> rows = after_setting(chain_network(), 1, 5, np.random.default_rng(1))
    >>> rows.intervened.sum(axis=0)
    array([0, 5, 0, 0])
    """
    dag, tables = net.dag.copy(), list(net.tables)
    arity = int(net.arities[v])
    dag[v], tables[v] = 0, np.full((1, arity), 1 / arity)
    rows = replace(net, dag=dag, tables=tuple(tables)).sample(m, rng)
    held = np.zeros(rows.values.shape, bool)
    held[:, v] = True
    return replace(rows, intervened=held)


@cache
def mixed(v: int, many: int, rows: int = ROWS) -> bn.Data:
    """So many rows of the chain, in the last `many` of which v was set.

    Examples
    --------
    >>> mixed(0, 20).intervened.sum()
    np.int64(20)
    """
    watched, doing = np.random.default_rng(SEED).spawn(2)
    seen = chain_network().sample(rows - many, watched)
    done = after_setting(chain_network(), v, many, doing)
    held = np.zeros((rows, len(NAMES)), bool)
    held[rows - many :, v] = True
    return bn.Data(
        np.concatenate([seen.values, done.values]), seen.arities, seen.names, seen.levels, held
    )


@cache
def directed(v: int, many: int, *, told: bool = True) -> Floats:
    """(4, 4) exact structure-modular edges given `mixed(v, many)`.

    With `told` False the model takes all rows for observed.

    Examples
    --------
    >>> directed(0, 80)[0, 1] > 0.99, directed(0, 80, told=False)[0, 1] < 0.5
    (np.True_, np.True_)
    """
    data = mixed(v, many)
    if not told:
        data = replace(data, intervened=None)
    return bn.dag_posterior(bn.score_families(data, bn.BDeu(1.0))).edges
