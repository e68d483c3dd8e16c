"""Lists of the k best DAGs that are equally good: which one is chosen among DAGs that tie."""

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.htw2016.cases import case, dags
from bnlab.labs.papers.htw2016.methods import SEED

Floats = NDArray[np.float64]

LISTED = 2  # times k: far enough to see all that tie for the last place
SAME = 1e-6  # nats


def tied(name: str, k: int, /, *, picks: int = 1000) -> tuple[int, int, Floats]:
    """SAD of lists of the k best whose last places are filled at random from the DAGs that tie.

    Parameters
    ----------
    name : data set
    k : length of a list
    picks : number of lists

    Returns
    -------
    tie : int, DAGs that tie for the last places
    places : int, how many of them a list takes
    sads : (picks,) SAD of the edges of each list

    Examples
    --------
    >>> tie, places, sads = tied("wine", 100, picks=10)
    >>> tie, places
    (52, 42)
    """
    best = bn.k_best_dags(case(name).by_bdeu.table, LISTED * k)
    group = np.flatnonzero(np.abs(best.log_weight - best.log_weight[k - 1]) < SAME)
    first, places = int(group[0]), k - int(group[0])
    weights = np.exp(best.log_weight[:k] - np.logaddexp.reduce(best.log_weight[:k]))
    has = graphs.to_adjacency(best.dags)
    before = np.tensordot(weights[:first], has[:first], axes=1)
    truth, rng = dags(name).edges, np.random.default_rng(SEED)
    sads = np.empty(picks)
    for i in range(picks):
        chosen = has[rng.choice(group, places, replace=False)]
        edges = before + np.tensordot(weights[first:], chosen, axes=1)
        sads[i] = bn.diagnostics.sad(edges, truth)
    return group.size, places, sads
