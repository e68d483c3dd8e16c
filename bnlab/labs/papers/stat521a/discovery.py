"""Edges and paths of the child structure: by one DAG, by one class, by averages."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.em2007 import child
from bnlab.labs.papers.em2007.discovery import edges_and_paths
from bnlab.labs.papers.stat521a.stored import Array, stored
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, stream

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (100, 1000, 10_000)
DATA_SETS = 10
DRAWS = 20_000
METHODS = ("hill climbing", "GES", "MAP", "class of the MAP", "orders", "DAGs")
KINDS = ("edges", "paths")
TIE = 1.000001  # Bayes factor: DAGs of one class, summed in another order


def discover(number: int, m: int, /, draws: int = DRAWS) -> Floats:
    """Areas under the ROC curve on m rows of data set `number`, (METHODS, KINDS).

    Examples
    --------
    >>> discover(0, 100, 50).shape
    (6, 2)
    """
    network, rows = child(number)
    table = bn.score_families(rows.prefix(m), BDEU, max_parents=MAX_PARENTS)
    best = bn.map_dag(table).dags[0]
    everywhere = bn.sample_dags(bn.order_posterior(table), draws=draws, rng=stream(9, number, m))
    fair = bn.reweight_by_extensions(everywhere).log_weight[0]
    sets: list[tuple[Ints, Floats | None]] = [
        (bn.hill_climb(table, rng=stream(10, number)).dag[None], None),
        (bn.ges(table).dag[None], None),
        (best[None], None),
        (bn.occams_window(table, factor=TIE, start=best).dags, None),
        (everywhere.values[0], None),
        (everywhere.values[0], np.exp(fair - fair.max())),
    ]
    return np.array([areas(dags, network.dag, weights) for dags, weights in sets])


def areas(dags: ArrayLike, truth: ArrayLike, weights: ArrayLike | None = None, /) -> Floats:
    """Areas for edges, by direction, and for paths (2,), from DAGs (T, n) and their weights (T,).

    Examples
    --------
    >>> areas([[0, 1, 0], [0, 1, 0], [2, 0, 0]], [0, 1, 0])
    array([1., 1.])
    """
    found, true = edges_and_paths(dags, weights), (truth, graphs.ancestors(truth))
    pairs = zip(found, map(graphs.to_adjacency, true), strict=True)
    return np.array([bn.diagnostics.auc(*pair) for pair in pairs])


def child_arrays(data_sets: int = DATA_SETS, draws: int = DRAWS) -> dict[str, Array]:
    """ "child areas" (sizes, data sets, METHODS, KINDS), a minute or so.

    Examples
    --------
    >>> child_arrays(1, 20)["child areas"].shape
    (3, 1, 6, 2)
    """
    found = [[discover(number, m, draws) for number in range(data_sets)] for m in SIZES]
    return {"child areas": np.array(found, np.float32)}


def discovered() -> Floats:
    """The kept areas, (sizes, data sets, METHODS, KINDS).

    Examples
    --------
    >>> discovered().shape
    (3, 10, 6, 2)
    """
    return stored()["child areas"].astype(np.float64)
