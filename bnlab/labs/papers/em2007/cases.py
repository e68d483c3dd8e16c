"""The data of the paper's figures that are at hand, and the worlds that stand in for the others."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 2007
ESS = 1.0  # alpha = 1 / (q r) in print
CANCER_ROWS = 1000
CHILD_ROWS = 10_000
SYNTHETIC_NODES = 15
STRENGTH = 10.0  # equivalent sample size of the rows of strong tables


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A few variables with everything that is exact about them.

    Attributes
    ----------
    name : as the paper calls it
    data : Data
    table : ScoreTable; any number of parents
    orders : the exact order-modular posterior, DP in the paper
    dags : the exact structure-modular posterior, uniform over DAGs
    """

    name: str
    data: bn.Data
    table: bn.ScoreTable
    orders: bn.OrderPosterior
    dags: bn.DagPosterior

    def __repr__(self) -> str:
        gap = bn.diagnostics.sad(self.orders.edges, self.dags.edges)
        return f"{self.name}: n={self.data.n}, m={self.data.m}; the DP alone has SAD {gap:.4f}"


@cache
def case(name: str, /) -> Case:
    """Figure 2's "cancer" network with our rows, or Figure 3's "CHD" with the paper's.

    Raises
    ------
    ValueError
        For any other name.

    Examples
    --------
    >>> case("CHD")
    CHD: n=6, m=1841; the DP alone has SAD 0.9623
    """
    if name == "cancer":
        data = bn.load_network("cancer").sample(CANCER_ROWS, stream(0))
    elif name == "CHD":
        data = bn.load_dataset("coronary")
    else:
        raise ValueError(f"no case {name!r}; there are cancer and CHD")
    table = bn.score_families(data, bn.BDeu(ESS), max_parents=data.n - 1)
    return Case(name, data, table, bn.order_posterior(table), bn.dag_posterior(table))


def stream(*key: int) -> np.random.Generator:
    """Random numbers of their own for each part of the page.

    Examples
    --------
    >>> bool(stream(1).random() == stream(1).random())
    True
    """
    return np.random.default_rng([SEED, *key])


def strong_tables(network: bn.BayesNet, rng: np.random.Generator, /) -> bn.BayesNet:
    """The same structure with tables in which parents matter [ChickeringMeek2002].

    With k states, (1, 1/2, ..., 1/k) is made to add up to 1 and shifted to the right by j mod k
    places for the j-th state of the parents. A row is drawn from a Dirichlet distribution with that
    mean and equivalent sample size 10.

    Examples
    --------
    >>> strong_tables(bn.load_network("cancer"), np.random.default_rng(1)).tables[0].shape
    (1, 2)
    """
    tables = []
    for table in network.tables:
        states = table.shape[1]
        basis = 1 / np.arange(1, states + 1)
        basis *= STRENGTH / basis.sum()
        rows = [rng.dirichlet(np.roll(basis, j % states)) for j in range(len(table))]
        tables.append(np.array(rows))
    return bn.BayesNet(network.dag, network.arities, network.names, network.levels, tuple(tables))


def child(number: int, /) -> tuple[bn.BayesNet, bn.Data]:
    """The child structure, 20 nodes, with strong tables of its own for each number, and rows.

    Examples
    --------
    >>> network, data = child(0)
    >>> network.n, data.m
    (20, 10000)
    """
    rng = stream(4, number)
    network = strong_tables(bn.random_network("child", rng), rng)
    return network, network.sample(CHILD_ROWS, rng)


def synthetic(number: int, /, n: int = SYNTHETIC_NODES) -> tuple[bn.BayesNet, bn.Data]:
    """A random network with 2 to 4 states a node and tables from a Dirichlet, and 100 n rows.

    Nodes come in a random order, each with a uniform number of parents, at most 3.

    Examples
    --------
    >>> network, data = synthetic(0)
    >>> network.n, data.m
    (15, 1500)
    """
    rng = stream(6, number)
    dag = random_dag(n, rng)
    network = bn.BayesNet.random_tables(dag, rng.integers(2, 5, n), rng)
    return network, network.sample(100 * n, rng)


def random_dag(n: int, rng: np.random.Generator, /, max_parents: int = 3) -> Ints:
    """A DAG of n nodes in a random order, each with a uniform number of parents before it.

    Examples
    --------
    >>> random_dag(3, np.random.default_rng(1)).shape
    (3,)
    """
    dag, order = np.zeros(n, np.int64), rng.permutation(n)
    for place, v in enumerate(order):
        count = rng.integers(0, min(place, max_parents) + 1)
        dag[v] = (1 << rng.choice(order[:place], count, replace=False)).sum()
    return graphs.check_dag(dag)
