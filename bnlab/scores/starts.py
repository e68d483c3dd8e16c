"""Where walks and searches begin: orders and DAGs that the constraints of a table allow."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.graphs import check_dags
from bnlab.scores.table import ScoreTable

Ints = NDArray[np.int64]


def allowed_order(table: ScoreTable, /, *, rng: np.random.Generator) -> Ints:
    """A random order (n,) that agrees with a DAG that the constraints allow.

    Without constraints it is uniform. Else, of the nodes in random order, the first that has an
    allowed family among those placed is placed next; what is placed never hinders another node, so
    this fails only where there is no DAG.

    Raises
    ------
    ValueError
        If the constraints leave no DAG.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu(), required=[(1, 0)])
    >>> allowed_order(table, rng=np.random.default_rng(1))
    array([1, 0])
    """
    allowed = [table.parents[v][log_beta > -math.inf] for v, log_beta in enumerate(table.log_beta)]
    waiting, order, placed = rng.permutation(table.n).tolist(), list[int](), 0
    while waiting:
        free = (v for v in waiting if (allowed[v] & ~np.int64(placed) == 0).any())
        v = next(free, None)
        if v is None:
            raise ValueError(
                f"the required and forbidden edges leave no DAG: {table.names[waiting[0]]!r} has "
                "no place in any order. Relax them, or raise max_parents"
            )
        waiting.remove(v)
        order.append(v)
        placed |= 1 << v
    return np.array(order, np.int64)


def first_dags(table: ScoreTable, start: ArrayLike | None, chains: int, /) -> Ints:
    """DAGs (chains, n) to begin with: those given, or for each chain the empty one.

    Where constraints forbid that, nodes take a place in an order as soon as one of their families
    is allowed, and get the smallest that is.

    Raises
    ------
    ValueError
        If the constraints leave no DAG, or forbid one that is given, or it is none.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu(), required=[(1, 0)])
    >>> first_dags(table, None, 2)
    array([[2, 0],
           [2, 0]])
    """
    if start is None:
        order = allowed_order(table, rng=np.random.default_rng(0))
        before = _before(order)
        allowed = (table.parents & ~before[:, None] == 0) & (table.log_beta > -math.inf)
        dag = table.parents[np.arange(table.n), allowed.argmax(axis=1)]  # families rise in size
        return np.tile(dag, (chains, 1))
    dags = check_dags(start)
    if dags.shape not in ((table.n,), (chains, table.n)):
        raise ValueError(
            f"start has shape {dags.shape}: give one DAG ({table.n},), or one for each chain "
            f"({chains}, {table.n})"
        )
    dags = np.array(np.broadcast_to(dags, (chains, table.n)))
    for dag in dags[np.isneginf(table.log_target(dags))]:
        raise ValueError(
            f"start={dag.tolist()} has too many parents at a node, or a family that the "
            "constraints forbid: pass another DAG"
        )
    return dags


def _before(order: Ints) -> Ints:
    """Masks (n,) of the nodes before each node."""
    bits = np.int64(1) << order
    out = np.empty_like(order)
    out[order] = np.cumsum(bits) - bits
    return out
