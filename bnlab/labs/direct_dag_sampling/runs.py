"""Repeated direct sampling on the data sets of the lab, with the settings of Table 1."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import features
from bnlab.labs.running import Progress

DATASETS = ("tic_tac_toe", "wine", "coronary")
"""The data sets of the widgets; all of them work without a network."""

PUBLISHED: Mapping[tuple[str, str], tuple[float, float]] = {
    ("tic_tac_toe", "PO-MCMC"): (0.5174, 0.1280),
    ("tic_tac_toe", "DOS"): (0.1350, 0.0257),
    ("tic_tac_toe", "DDS"): (0.1547, 0.0378),
    ("wine", "PO-MCMC"): (0.1616, 0.0403),
    ("wine", "DOS"): (0.0505, 0.0138),
    ("wine", "DDS"): (0.0839, 0.0137),
}
"""Mean and standard deviation of the SAD over 15 runs of 20,000 draws [HeTianWu2016, Table 1]."""

SEED = 2016
MAX_PARENTS = 5
DRAWS = 20_000
RUNS = 15
DELTA = 0.05

Floats = NDArray[np.float64]


@cache
def posterior(name: str) -> bn.OrderPosterior:
    """The exact posterior of a data set as in Table 1: K2 score, Fair prior, at most 5 parents.

    Examples
    --------
    >>> posterior("tic_tac_toe").table.n
    10
    """
    data = bn.load_dataset(name)
    table = bn.score_families(data, bn.K2(), max_parents=MAX_PARENTS, prior=bn.Fair())
    return bn.order_posterior(table)


@cache
def dag_posterior(name: str) -> bn.DagPosterior:
    """The exact posterior of the same table with each DAG counted once, structure-modular.

    Examples
    --------
    >>> dag_posterior("coronary").prior
    'structure-modular'
    """
    return bn.dag_posterior(posterior(name).table)


def repeated_edges(
    exact: bn.OrderPosterior, sizes: Sequence[int], *, runs: int, rng: np.random.Generator
) -> Floats:
    """Edge estimates (runs, len(sizes), n, n) from the first T DAGs of each run, T in `sizes`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> repeated_edges(posterior("coronary"), [10, 100], runs=3, rng=rng).shape
    (3, 2, 6, 6)
    """
    out = []
    for stream in rng.spawn(runs):
        draws = bn.sample_dags(exact, draws=max(sizes), rng=stream)
        out.append([features.edges(draws.prefix(size)) for size in sizes])
    return np.array(out)


def table_one(
    *,
    rng: np.random.Generator,
    runs: int = RUNS,
    draws: int = DRAWS,
    progress: Progress | None = None,
) -> dict[tuple[str, str], list[float]]:
    """SAD of each run of DOS and DDS on tic-tac-toe and wine, as in Table 1 of HeTianWu2016.

    Parameters
    ----------
    progress : progress(done, total, the runs so far), after each run; False stops

    Returns
    -------
    dict
        (data set, method) -> the SAD over all ordered pairs of variables, one a run.
    """
    found: dict[tuple[str, str], list[float]] = {key: [] for key in PUBLISHED}
    for done, stream in enumerate(rng.spawn(runs), start=1):
        for name in ("tic_tac_toe", "wine"):
            exact = posterior(name)
            for_orders, for_dags = stream.spawn(2)
            orders = bn.sample_orders(exact, draws=draws, rng=for_orders)
            dags = bn.sample_dags(exact, draws=draws, rng=for_dags)
            by_orders, by_dags = features.edges(orders, table=exact.table), features.edges(dags)
            found[name, "DOS"].append(bn.diagnostics.sad(by_orders, exact.edges))
            found[name, "DDS"].append(bn.diagnostics.sad(by_dags, exact.edges))
        if progress is not None and progress(done, runs, found) is False:
            break
    return found
