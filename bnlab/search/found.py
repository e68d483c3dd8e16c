"""Sets of distinct DAGs: ranked, and stored while a search adds to them."""

import numpy as np

from bnlab import memory
from bnlab.checks import Floats, Ints
from bnlab.kernels import dag_sets as kernels
from bnlab.scores import ScoreTable

BLOCK = 10_000  # DAGs that are scored at a time


def ranked(table: ScoreTable, dags: Ints, /) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n), best first, with their log_target (U,), summed anew by the table."""
    blocks = range(0, len(dags), BLOCK)
    log_target = np.concatenate([table.log_target(dags[i : i + BLOCK]) for i in blocks])
    ranking = np.lexsort((*dags.T[::-1], log_target))[::-1]
    return dags[ranking], log_target[ranking]


def stored(dags: Ints, scores: Floats, rows: int, /) -> kernels.Store:
    """A store of distinct DAGs (T, n) that has room for so many.

    Raises
    ------
    ValueError
        If memory is short.
    """
    n = dags.shape[1]
    memory.require(
        store_bytes(n, rows),
        task=f"a set of {rows:,} DAGs of n={n} variables",
        remedy="ask for fewer DAGs, or for a narrower window",
    )
    slots = np.full(1 << rows.bit_length() + 1, -1, np.int64)
    store = kernels.Store(
        slots, np.empty((rows, n), np.int64), np.empty(rows), np.zeros(1, np.int64)
    )
    kernels.fill(store, dags, scores)
    return store


def store_bytes(n: int, rows: int, /) -> int:
    """Bytes that `stored` takes for so many DAGs."""
    return 8 * (rows * (n + 1) + (1 << rows.bit_length() + 1))
