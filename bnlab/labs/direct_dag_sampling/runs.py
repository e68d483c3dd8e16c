"""Repeated direct sampling on the data sets of the lab, with the settings of Table 1."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import features
from bnlab.labs.datasets import OWN, Case, k2_posterior
from bnlab.labs.running import Progress
from bnlab.papers.htw2016.printed import TABLE_1

PUBLISHED = {key: TABLE_1[key] for key in TABLE_1 if key[0] in ("tic_tac_toe", "wine")}
"""Mean and standard deviation of the SAD over 15 runs of 20,000 draws [HeTianWu2016, Table 1]."""

SEED = 2016
DRAWS = 20_000
RUNS = 15
DELTA = 0.05

Floats = NDArray[np.float64]
Found = dict[tuple[str, str], list[float]]
"""(data set, method) -> SAD of each run."""


posterior = k2_posterior


@cache
def dag_posterior(case: Case) -> bn.DagPosterior:
    """Return the exact posterior of the same table with each DAG counted once."""
    return bn.dag_posterior(posterior(case).table)


def table_one(
    *,
    rng: np.random.Generator,
    data: bn.Data | None = None,
    runs: int = RUNS,
    draws: int = DRAWS,
    progress: Progress | None = None,
) -> Found:
    """Return the SAD of each run of DOS and DDS on tic-tac-toe and wine [HeTianWu2016, Table 1].

    Parameters
    ----------
    data : a table of your own, in the place of the two
    progress : progress(done, total, the runs so far), after each run; False stops

    Returns
    -------
    dict
        (data set, method) -> the SAD over all ordered pairs of variables, one a run.
    """
    cases: dict[str, Case] = {name: name for name, method in PUBLISHED if method == "DDS"}
    found: Found = {key: [] for key in PUBLISHED}
    if data is not None:
        cases, found = {OWN: data}, {(OWN, "DOS"): [], (OWN, "DDS"): []}
    for done, stream in enumerate(rng.spawn(runs), start=1):
        for name, case in cases.items():
            exact = posterior(case)
            for_orders, for_dags = stream.spawn(2)
            orders = bn.sample_orders(exact, draws=draws, rng=for_orders)
            dags = bn.sample_dags(exact, draws=draws, rng=for_dags)
            by_orders, by_dags = features.edges(orders, table=exact.table), features.edges(dags)
            for method, edges in (("DOS", by_orders), ("DDS", by_dags)):
                sad = bn.diagnostics.sad(edges, exact.edges)
                found = {**found, (name, method): [*found[name, method], sad]}
        if progress is not None and progress(done, runs, found) is False:
            break
    return found
