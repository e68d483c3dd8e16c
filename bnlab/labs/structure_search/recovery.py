"""Known networks, and how near to their classes searches come as rows are added."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.structure_search.targets import MARGIN, SEED, apart

NODES = 7
MOST_RANDOM_PARENTS = 3
ROWS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
TWENTY = "20 random networks"
NETWORKS: Mapping[str, int] = MappingProxyType({TWENTY: 20, "asia": 5, "survey": 5})
"""Network -> number of data sets; all of them work without a download."""

OWN_SETS = 5

TABU = 10

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Net = str | bn.BayesNet
"""One of `NETWORKS`, or a network of your own."""

SEARCHES: Mapping[str, Callable[[bn.ScoreTable], Ints]] = MappingProxyType(
    {
        "hill climbing": lambda table: bn.hill_climb(table, rng=np.random.default_rng(0)).dag,
        "with tabu list": lambda table: (
            bn.hill_climb(table, tabu=TABU, rng=np.random.default_rng(0)).dag
        ),
        "GES": lambda table: bn.ges(table).dag,
        "exact best": lambda table: bn.map_dag(table).dags[0],
    }
)
"""Search -> a DAG of the table. The exact best is the yardstick, not a search."""


def random_dag(rng: np.random.Generator, /, n: int = NODES) -> Ints:
    """A DAG: in a random order, each node takes 0 to 3 parents from those before it."""
    order, dag = rng.permutation(n), np.zeros(n, np.int64)
    for place, v in enumerate(order):
        count = min(place, int(rng.integers(0, MOST_RANDOM_PARENTS + 1)))
        for u in rng.choice(order[:place], size=count, replace=False):
            dag[v] |= np.int64(1) << u
    return dag


@cache
def truths(network: Net) -> tuple[bn.BayesNet, ...]:
    """The networks behind the data sets of one of `NETWORKS`."""
    if isinstance(network, bn.BayesNet):
        return (network,) * OWN_SETS
    if network != TWENTY:
        return (bn.load_network(network),) * NETWORKS[network]
    rngs = np.random.default_rng(SEED).spawn(NETWORKS[TWENTY])
    nets = [bn.BayesNet.random_tables(random_dag(rng), [2] * NODES, rng) for rng in rngs]
    return tuple(nets)


@cache
def tables(network: Net, which: int) -> tuple[bn.ScoreTable, ...]:
    """BDeu scores of the first 100, 200, ... rows of one data set, with any number of parents."""
    rows = truths(network)[which].sample(ROWS[-1], np.random.default_rng([SEED, which]))
    most = rows.n - 1  # what the guarantee of GES needs
    return tuple(bn.score_families(rows.prefix(m), bn.BDeu(1.0), max_parents=most) for m in ROWS)


@cache
def found_dags(network: Net, which: int, rows: int) -> Mapping[str, Ints]:
    """Search -> the DAG that it finds in so many rows."""
    table = tables(network, which)[ROWS.index(rows)]
    return MappingProxyType({search: run(table) for search, run in SEARCHES.items()})


@cache
def distances(network: Net) -> Mapping[str, Floats]:
    """Search -> (data sets, rows): structural Hamming distance of the class from the true one."""
    nets = truths(network)
    true = [bn.graphs.cpdag(net.dag) for net in nets]
    return MappingProxyType(
        {
            search: np.array(
                [
                    [
                        apart(bn.graphs.cpdag(found_dags(network, i, rows)[search]), true[i])
                        for rows in ROWS
                    ]
                    for i in range(len(nets))
                ],
                float,
            )
            for search in SEARCHES
        }
    )


@cache
def reached(network: Net) -> Mapping[str, Floats]:
    """Search -> (rows,): the share of data sets where it finds the highest score."""
    shares = {}
    for search in SEARCHES:
        hits = np.zeros((len(truths(network)), len(ROWS)))
        for (i, j), _ in np.ndenumerate(hits):
            dags = found_dags(network, i, ROWS[j])
            here, top = tables(network, i)[j].log_target([dags[search], dags["exact best"]])
            hits[i, j] = here > top - MARGIN
        shares[search] = hits.mean(axis=0)
    return MappingProxyType(shares)
