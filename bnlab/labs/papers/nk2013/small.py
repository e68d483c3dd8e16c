"""Where the corrected estimates can be checked: few variables, or a sum that is known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.labs.papers.nk2013.cases import Case

Floats = NDArray[np.float64]

TIC_TAC_TOE_LOG_Z = -9418.28913983628
"""ln of the sum over all DAGs with in-degree at most 5 of their likelihood (BDeu, equivalent sample
size 1), nats: what the structure-modular sums of [HeTianWu2016] rest on."""


@dataclass(frozen=True, slots=True, eq=False)
class Few:
    """The first five variables of a data set, and their exact edges by enumeration.

    Attributes
    ----------
    table : ScoreTable
    edges : structure-modular, (5, 5): each DAG counts once
    edges_by_orders : order-modular, (5, 5): each DAG counts l(G) times
    """

    table: bn.ScoreTable
    edges: Floats
    edges_by_orders: Floats


def few(case: Case, /, size: int = 5) -> Few:
    """The first variables of a data set, with all their DAGs added up, any in-degree.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013 import cases
    >>> few(cases.case("ALARM"), 3).edges.shape
    (3, 3)
    """
    data = case.data.select(case.data.names[:size])
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=size - 1)
    dags = graphs.all_dags(size)
    log_weight = table.log_target(dags)
    weight = np.exp(log_weight - log_weight.max())
    edges: Floats = np.tensordot(weight / weight.sum(), graphs.to_adjacency(dags), axes=1)
    return Few(table, edges, bn.order_posterior(table).edges)


def tic_tac_toe() -> bn.ScoreTable:
    """The scores of tic-tac-toe under which TIC_TAC_TOE_LOG_Z was computed.

    Examples
    --------
    >>> tic_tac_toe().n
    10
    """
    return bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu(1.0), max_parents=5)
