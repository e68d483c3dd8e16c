"""One DAG or an average: how far from the truth predictions are as rows are added."""

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers.em2007.cases import random_dag
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, stream

Floats = NDArray[np.float64]

NODES = 7
SIZES = (20, 50, 100, 200, 500, 1000, 2000)
NETWORKS = 20
FRESH = 2000
DRAWS = 1000
BEST = 100
WAYS = ("DAGs", "orders", f"{BEST} best", "MAP", "Chow-Liu tree", "true structure")


def losses(
    sizes: tuple[int, ...] = SIZES, networks: int = NETWORKS, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """KL(true || predicted) in nats a row (networks, sizes, WAYS), and masses of the 100 best.

    Networks of seven nodes with two or three states and random tables. DAGs and orders are means
    over independent exact draws; tables are posterior means.

    Examples
    --------
    >>> [part.shape for part in losses((20, 50), 1, 10)]
    [(1, 2, 6), (1, 2)]
    """
    found = [_of_one(number, sizes, draws) for number in range(networks)]
    gaps, masses = zip(*found, strict=True)
    return np.array(gaps), np.array(masses)


def _of_one(number: int, sizes: tuple[int, ...], draws: int) -> tuple[Floats, Floats]:
    rng = stream(11, number)
    dag = random_dag(NODES, rng)
    network = bn.BayesNet.random_tables(dag, rng.integers(2, 4, NODES), rng)
    rows, test = network.sample(max(sizes), rng), network.sample(FRESH, rng)
    truth, gaps, masses = network.log_likelihood(test).mean(), [], []
    for m in sizes:
        data = rows.prefix(m)
        table = bn.score_families(data, BDEU, max_parents=MAX_PARENTS)
        posterior = bn.dag_posterior(table)
        best = bn.k_best_dags(table, BEST).as_draws(log_z=posterior.log_z)
        averages = (
            bn.sample_dags(posterior, draws=draws, rng=rng),
            bn.sample_dags(bn.order_posterior(table), draws=draws, rng=rng),
            best,
        )
        plug_ins = (bn.map_dag(table).dags[0], bn.chow_liu(data), dag)
        density, one = bn.predict.log_density, bn.predict.plug_in_log_density
        found = [density(each, data, test, score=BDEU) for each in averages]
        found += [one(each, data, test, score=BDEU) for each in plug_ins]
        gaps.append([truth - each.mean() for each in found])
        masses.append(best.stats["mass"][0])
    return np.array(gaps), np.array(masses)
