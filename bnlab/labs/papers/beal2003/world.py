"""The 136 structures, the true one among them, and data from it."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.hidden import HiddenModel, bipartite_structures
from bnlab.labs.papers.beal2003.printed import SIZES, THETA

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 2003
"""Chosen before the first run, and kept."""

ARITIES = (2, 2, 5, 5, 5, 5)
TRUE_PARENTS = (0, 0, 0b01, 0b11, 0b11, 0b10)
"""Figure 6.1: both hidden nodes have three of the four observed nodes as children."""


@cache
def models() -> tuple[HiddenModel, ...]:
    """The 136 structures, two binary hidden and four five-valued nodes, lambda = 1.

    Examples
    --------
    >>> len(models())
    136
    """
    return tuple(HiddenModel(p, ARITIES, hidden=[0, 1]) for p in bipartite_structures())


@cache
def truth() -> int:
    """The place of the true structure among `models`.

    Examples
    --------
    >>> models()[truth()]
    HiddenModel(2 hidden and 4 observed nodes, 50 free parameters)
    """
    return [tuple(model.parents.tolist()) for model in models()].index(TRUE_PARENTS)


@cache
def parameters() -> Ints:
    """Free parameters (136,) of each structure, from 18 to 66.

    Examples
    --------
    >>> parameters().min(), parameters().max()
    (np.int64(18), np.int64(66))
    """
    return np.array([model.free_parameters for model in models()])


@cache
def log_aliases() -> Floats:
    """ln S (136,): S = 8, 2 or 1 for two, one or no hidden nodes with children [sec. 6.3.2].

    Examples
    --------
    >>> np.exp(np.unique(log_aliases())).round()
    array([1., 2., 8.])
    """
    return np.log([model.aliases for model in models()])


@cache
def thesis_network() -> bn.BayesNet:
    """The true structure with the printed parameters, rows divided by their sums.

    Examples
    --------
    >>> thesis_network().tables[1]
    array([[0.08, 0.92]])
    """
    tables = [np.array(table) for table in THETA]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    blank = bn.BayesNet.random_tables(TRUE_PARENTS, ARITIES, np.random.default_rng(0))
    return bn.BayesNet(blank.dag, blank.arities, blank.names, blank.levels, tuple(tables))


def drawn_network(draw: int, /) -> bn.BayesNet:
    """The true structure with parameters drawn from their prior, by number.

    Examples
    --------
    >>> drawn_network(0)
    BayesNet: 6 nodes, 6 edges, 50 free parameters
    """
    return bn.BayesNet.random_tables(TRUE_PARENTS, ARITIES, stream(1, draw))


def stream(*key: int) -> np.random.Generator:
    """A generator of its own for each part of the study, whatever runs first.

    Examples
    --------
    >>> stream(1, 2).random() == stream(1, 2).random()
    True
    """
    return np.random.default_rng([SEED, *key])


def data_of_print(number: int, /) -> Ints:
    """Observed columns (10240, 4) from the printed parameters; smaller sets are its beginnings.

    Examples
    --------
    >>> data_of_print(0).shape
    (10240, 4)
    """
    return _observed(thesis_network(), stream(0, number))


def data_of_draw(draw: int, /) -> Ints:
    """Observed columns (10240, 4) from the parameters of `drawn_network`.

    Examples
    --------
    >>> data_of_draw(3).shape
    (10240, 4)
    """
    return _observed(drawn_network(draw), stream(2, draw))


def _observed(network: bn.BayesNet, rng: np.random.Generator) -> Ints:
    return network.sample(SIZES[-1], rng).values[:, 2:].astype(np.int64)
