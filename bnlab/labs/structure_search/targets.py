"""The score tables of the lab, their best networks, and what each next move gains."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import bnlab as bn

FILES: Mapping[str, str] = MappingProxyType(
    {"coronary": "coronary", "wine": "wine", "tic-tac-toe": "tic_tac_toe"}
)
DATASETS = tuple(FILES)
"""The data sets of the lab; all of them work without a network."""

SEED = 2022
MAX_PARENTS = 3
BDEU = bn.BDeu(1.0)
MARGIN = 1e-6  # nats; scores nearer than this are one score, summed in another order
SQUARES = ("a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1", "won")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@cache
def data(name: str) -> bn.Data:
    """One of `DATASETS`, all rows.

    Examples
    --------
    >>> data("wine").n
    13
    """
    return bn.load_dataset(FILES[name])


def scored(rows: bn.Data, score: bn.Score = BDEU, /) -> bn.ScoreTable:
    """The scores of families of up to three parents, BDeu with ess 1 by default; each DAG alike.

    Examples
    --------
    >>> scored(data("wine").prefix(20)).max_parents
    3
    """
    return bn.score_families(rows, score, max_parents=MAX_PARENTS)


@cache
def table(name: str) -> bn.ScoreTable:
    """The scores of one of `DATASETS`.

    Examples
    --------
    >>> table("coronary").n
    6
    """
    return scored(data(name))


@cache
def best(name: str) -> bn.BestDags:
    """The network of highest score of one of `DATASETS`, by the exact dynamic program.

    Examples
    --------
    >>> best("tic-tac-toe").dags.shape
    (1, 10)
    """
    return bn.map_dag(table(name))


def below(name: str, log_target: float, /) -> float:
    """How many nats a score is below the best there is; 0 within rounding.

    Examples
    --------
    >>> below("wine", best("wine").log_target[0])
    0.0
    """
    gap = float(best(name).log_target[0] - log_target)
    return gap if gap > MARGIN else 0.0


def names(name: str, /) -> tuple[str, ...]:
    """The variable names of a data set, squares of the board as in chess.

    Examples
    --------
    >>> names("tic-tac-toe")[:3]
    ('a3', 'b3', 'c3')
    """
    return SQUARES if name == "tic-tac-toe" else data(name).names


def move_gains(scores: bn.ScoreTable, dag: Ints, /) -> Floats:
    """What each next move gains, (n, n) nats: [u, v] is for the pair u, v.

    Where u -> v is there, of taking it away; where v -> u is there, of turning it round; else of
    adding u -> v. nan where that closes a cycle or makes too many parents, and for u = v.

    Examples
    --------
    >>> gains = move_gains(table("coronary"), np.zeros(6, np.int64))
    >>> np.argwhere(gains == np.nanmax(gains)).tolist()  # M. Work and P. Work, either way
    [[1, 2], [2, 1]]
    """
    n = dag.size
    after = np.tile(dag, (n, n, 1))
    allowed = ~np.eye(n, dtype=bool)
    for u, v in np.argwhere(allowed):
        after[u, v, v] ^= np.int64(1) << u
        after[u, v, u] &= ~(np.int64(1) << v)
        without = dag.copy()
        without[u] &= ~(np.int64(1) << v)
        closes = bn.graphs.ancestors(without)[u] >> v & 1  # a path from v to u
        if closes and not dag[v] >> u & 1:
            allowed[u, v] = False
            after[u, v] = dag
    for v in range(n):
        after[v, v] = dag
    gains = scores.log_target(after) - scores.log_target(dag[None])[0]
    result: Floats = np.where(allowed & np.isfinite(gains), gains, np.nan)
    return result


@cache
def classes(name: str, first: int = 4) -> tuple[Floats, tuple[Ints, ...]]:
    """The Markov equivalence classes of the first variables, best first: scores and members.

    Returns
    -------
    tuple
        (C,) nats, and C arrays (members, n).

    Examples
    --------
    >>> scores, members = classes("coronary", 3)
    >>> len(scores), sum(map(len, members))
    (11, 25)
    """
    few = data(name).select(data(name).names[:first])
    dags = bn.graphs.all_dags(first)
    log_target = bn.score_families(few, bn.BDeu(1.0)).log_target(dags)
    keys = bn.graphs.cpdag(dags).reshape(len(dags), -1)
    _, number = np.unique(keys, axis=0, return_inverse=True)
    groups = [np.flatnonzero(number == c) for c in range(number.max() + 1)]
    groups.sort(key=lambda group: (-round(float(log_target[group[0]]), 6), group[0]))
    return log_target[[group[0] for group in groups]], tuple(dags[group] for group in groups)


def apart(first: NDArray[np.bool_], second: NDArray[np.bool_], /) -> int:
    """Structural Hamming distance of two CPDAGs (n, n): pairs of nodes joined in another way.

    Examples
    --------
    >>> apart(bn.graphs.cpdag([0, 1, 2]), bn.graphs.cpdag([0, 5, 0]))
    2
    """
    other = first != second
    return int(np.triu(other | other.T).sum())
