"""Data, exact posteriors and priors of [EatonMurphy2007]."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.linear_extensions import log_count
from bnlab.papers.page import normalised, random_dag, streams

stream = streams(2007)
ESS = 1.0  # alpha = 1 / (q r) in the paper
CANCER_ROWS = 1000
CHILD_ROWS = 10_000
SYNTHETIC_NODES = 15
STRENGTH = 10.0  # equivalent sample size of the rows of strong tables


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A few variables with everything that is exact about them."""

    name: str  # as the paper calls it
    data: bn.Data
    table: bn.ScoreTable  # ScoreTable; any number of parents
    orders: bn.OrderPosterior  # the exact order-modular posterior, DP in the paper
    dags: bn.DagPosterior  # the exact structure-modular posterior, uniform over DAGs

    def __repr__(self) -> str:
        gap = bn.diagnostics.sad(self.orders.edges, self.dags.edges)
        return f"{self.name}: n={self.data.n}, m={self.data.m}; the DP alone has SAD {gap:.4f}"


@cache
def case(name: str, /) -> Case:
    """Return the "cancer" network of Figure 2 with our rows, or "CHD" of Figure 3."""
    if name == "cancer":
        data = bn.load_network("cancer").sample(CANCER_ROWS, stream(0))
    elif name == "CHD":
        data = bn.load_dataset("coronary")
    else:
        raise ValueError(f"no case {name!r}; there are cancer and CHD")
    table = bn.score_families(data, bn.BDeu(ESS), max_parents=data.n - 1)
    return Case(name, data, table, bn.order_posterior(table), bn.dag_posterior(table))


def strong_tables(network: bn.BayesNet, rng: np.random.Generator, /) -> bn.BayesNet:
    """Return the structure with tables in which parents matter [ChickeringMeek2002].

    With k states, (1, 1/2, ..., 1/k), normalised and shifted by j mod k places, is the mean of the
    Dirichlet distribution, of equivalent sample size 10, of the row for parents' state j.
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
    """Return the child structure with strong tables of its own for each number, and rows."""
    rng = stream(4, number)
    network = strong_tables(bn.random_network("child", rng), rng)
    return network, network.sample(CHILD_ROWS, rng)


def synthetic(number: int, /, n: int = SYNTHETIC_NODES) -> tuple[bn.BayesNet, bn.Data]:
    """Return a random network, 2 to 4 states a node, random tables, and 100 n rows."""
    rng = stream(6, number)
    dag = random_dag(n, rng)
    network = bn.BayesNet.random_tables(dag, rng.integers(2, 5, n), rng)
    return network, network.sample(100 * n, rng)


class GraphPrior(NamedTuple):
    """p(G) is proportional to the product of q, times the number of orders of G if `by_orders`."""

    factor: bn.Prior
    by_orders: bool


NODES = 5
PRIORS: Mapping[str, GraphPrior] = {
    "Modular flat": GraphPrior(bn.Uniform(), by_orders=True),
    "Koivisto": GraphPrior(bn.Fair(), by_orders=True),
    "Ellis": GraphPrior(bn.Fair(), by_orders=False),
    "Uniform": GraphPrior(bn.Uniform(), by_orders=False),
}
"""The four priors of [EatonMurphy2007, fig. 1], by the names that the paper gives them.

"Ellis" is Koivisto's prior divided by the number of orders, counted exactly: what is left is the
product of q = 1 / C(n - 1, number of parents).
"""


def count_orders(dags: ArrayLike, /) -> Ints:
    """Return ℓ(G) of small DAGs (..., n), the number of orders consistent with each: (...)."""
    return np.asarray(np.rint(np.exp(log_count(dags))), np.int64)


def log_factor(prior: bn.Prior, dags: Ints, /) -> Floats:
    """Return ln of the product of the prior factors of DAGs (N, n): (N,), nats."""
    n = dags.shape[1]
    return np.asarray(np.sum([prior.log_factor(n, v, dags[:, v]) for v in range(n)], axis=0))


def log_prior(prior: GraphPrior, dags: Ints, orders: Ints, /) -> Floats:
    """Return ln p(G) of DAGs (N, n), up to a constant, given the number of orders of each: (N,)."""
    out = log_factor(prior.factor, dags)
    return out + np.log(orders) if prior.by_orders else out


@cache
def probabilities() -> dict[str, Floats]:
    """Return p(G) of all 29,281 DAGs, (N,), under each of PRIORS."""
    dags = graphs.all_dags(NODES)
    orders = count_orders(dags)
    return {name: normalised(log_prior(prior, dags, orders)) for name, prior in PRIORS.items()}


def proposal(dags: ArrayLike, chances: Floats, /, *, absent: bool) -> Floats:
    """Return ln q_global of DAGs (T, n), nats, up to the share of acyclic graphs."""
    edges = graphs.to_adjacency(dags)
    log_q = np.log(np.where(chances > 0, chances, 1.0))
    out: Floats = (edges * log_q).sum(axis=(-2, -1))
    if absent:
        apart = ~(edges | edges.swapaxes(-2, -1))
        out = out + np.triu(apart * np.log1p(-(chances + chances.T)), 1).sum(axis=(-2, -1))
    return out


class Limits(NamedTuple):
    """SAD from the posterior in the limit of many moves: of both proposals, and of the DP alone."""

    corrected: float
    displayed: float
    dp: float


def limits(case: Case, /) -> Limits:
    """Return where beta = 0 converges to by q as displayed: p q / q', over all DAGs."""
    dags, chances = graphs.all_dags(case.data.n), bn.Global(case.orders.edges).chances
    log_p = case.table.log_target(dags)
    right, wrong = (proposal(dags, chances, absent=absent) for absent in (True, False))
    found = []
    for log_weight in (log_p, log_p + right - wrong):
        edges = np.tensordot(normalised(log_weight), graphs.to_adjacency(dags), axes=1)
        found.append(bn.diagnostics.sad(edges, case.dags.edges))
    dp = bn.diagnostics.sad(case.orders.edges, case.dags.edges)
    return Limits(found[0], found[1], dp)
