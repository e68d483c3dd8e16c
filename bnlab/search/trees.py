"""Optimal trees."""

import numpy as np
from numpy.typing import NDArray

from bnlab.data import Data
from bnlab.scores import LogLikelihood, score_families

Ints = NDArray[np.int64]


def chow_liu(data: Data, /) -> Ints:
    """The tree of largest likelihood, rooted at node 0: parent masks (n,) [ChowLiu1968].

    A spanning tree of largest total mutual information, grown from node 0. Where several edges are
    equally good, the smaller new node goes first, then the smaller parent.

    Parameters
    ----------
    data : Data, m rows of n variables, without interventions

    Raises
    ------
    ValueError
        If the data have interventions: mutual information is then no gain in likelihood.

    Examples
    --------
    >>> chow_liu(Data.from_arrays([[0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]))
    array([0, 1, 2])
    """
    if not isinstance(data, Data):
        raise ValueError(f"data is a {type(data).__name__}: make it a Data (read_csv, from_frame)")
    if data.intervened is not None:
        raise ValueError(
            "the data have interventions, and a Chow-Liu tree is for observations: use "
            "dataclasses.replace(data, intervened=None) to count every row as observed"
        )
    dag = np.zeros(data.n, np.int64)
    gain = _mutual_information(data)
    best, parent = gain[0].copy(), np.zeros(data.n, np.int64)
    best[0] = -np.inf
    for _ in range(data.n - 1):
        v = int(best.argmax())
        dag[v] = np.int64(1) << parent[v]
        best[v] = -np.inf
        better = (best > -np.inf) & ((gain[v] > best) | ((gain[v] == best) & (v < parent)))
        best[better], parent[better] = gain[v, better], v
    return dag


def _mutual_information(data: Data) -> NDArray[np.float64]:
    """m times the mutual information (n, n) of each pair, nats: the gain of an edge."""
    n = data.n
    out = np.zeros((n, n))
    if n == 1:
        return out
    table = score_families(data, LogLikelihood(), max_parents=1)
    for v in range(n):
        for parents, score in zip(table.parents[v, 1:], table.log_score[v, 1:], strict=True):
            u = int(parents).bit_length() - 1
            if u < v:  # the gain is the same from both ends, but for rounding
                out[u, v] = out[v, u] = score - table.log_score[v, 0]
    return out
