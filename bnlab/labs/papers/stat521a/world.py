"""ALARM, its rows and their scores, and random numbers for each part of the page."""

from functools import cache

import numpy as np

import bnlab as bn
from bnlab.labs.papers.stat521a.stored import Array, stored

SEED = 521
BDEU = bn.BDeu(1.0)
MAX_PARENTS = 3


def stream(*key: int) -> np.random.Generator:
    """Random numbers of their own for each part of the page.

    Examples
    --------
    >>> bool(stream(1).random() == stream(1).random())
    True
    """
    return np.random.default_rng([SEED, *key])


@cache
def alarm() -> bn.BayesNet:
    """ALARM with its published tables, as kept in the package; states are numbered.

    Examples
    --------
    >>> alarm()
    BayesNet: 37 nodes, 46 edges, 509 free parameters
    """
    kept = stored()
    dag, arities = kept["alarm dag"], kept["alarm arities"]
    rows = [int(np.prod(arities[bn.graphs.members(int(mask))], dtype=int)) for mask in dag]
    ends = np.cumsum(np.array(rows) * arities)
    parts = np.split(kept["alarm tables"], ends[:-1])
    tables = [part.reshape(q, r) for part, q, r in zip(parts, rows, arities, strict=True)]
    levels = tuple(tuple(map(str, range(r))) for r in arities)
    return bn.BayesNet(dag, arities, tuple(kept["alarm names"].tolist()), levels, tuple(tables))


def alarm_arrays(network: bn.BayesNet, /) -> dict[str, Array]:
    """What `alarm` reads.

    Examples
    --------
    >>> sorted(alarm_arrays(bn.load_network("cancer")))
    ['alarm arities', 'alarm dag', 'alarm names', 'alarm tables']
    """
    return {
        "alarm dag": network.dag,
        "alarm arities": network.arities,
        "alarm names": np.array(network.names),
        "alarm tables": np.concatenate([table.ravel() for table in network.tables]),
    }


@cache
def alarm_rows(number: int = 0, m: int = 5000) -> bn.Data:
    """Rows drawn from ALARM, others for each number; fewer by `prefix`.

    Examples
    --------
    >>> alarm_rows().n, alarm_rows().m
    (37, 5000)
    """
    return alarm().sample(m, stream(0, number))


@cache
def alarm_table(m: int) -> bn.ScoreTable:
    """BDeu scores, equivalent sample size 1, of the first m rows; up to three parents, prior 1.

    Examples
    --------
    >>> alarm_table(100).n
    37
    """
    return bn.score_families(alarm_rows().prefix(m), BDEU, max_parents=MAX_PARENTS)
