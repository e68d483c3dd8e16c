"""Features of DAGs: functions from parent masks (..., n) to booleans (...)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import check_counts, checked, real

Masks = NDArray[np.int64]
Feature = Callable[[Masks], NDArray[np.bool_]]


@checked
def edge(u: int, v: int, /) -> Feature:
    """Return the feature of the edge u -> v.

    Examples
    --------
    >>> edge(0, 1)(np.array([[0, 1], [2, 0]]))
    array([ True, False])
    """
    _check_pair(u, v)

    def holds(dags: Masks) -> NDArray[np.bool_]:
        _check_node(dags, u, v)
        return _has(dags[..., v], u)

    return holds


@checked
def path(u: int, v: int, /) -> Feature:
    """Return the feature of a directed path from u to v, of any length.

    Examples
    --------
    >>> path(0, 2)(np.array([0, 1, 2]))
    np.True_
    """
    _check_pair(u, v)

    def holds(dags: Masks) -> NDArray[np.bool_]:
        _check_node(dags, u, v)
        return _has(graphs.ancestors(dags)[..., v], u)

    return holds


@checked
def limited_path(u: int, v: int, /, *, max_length: int) -> Feature:
    """Return the feature of a directed path from u to v of at most `max_length` edges.

    Examples
    --------
    >>> limited_path(0, 3, max_length=2)(np.array([0, 1, 2, 4]))
    np.False_
    """
    _check_pair(u, v)
    check_counts(max_length=max_length)

    def holds(dags: Masks) -> NDArray[np.bool_]:
        _check_node(dags, u, v)
        return _has(graphs.near_ancestors(dags, max_length=max_length)[..., v], u)

    return holds


@checked
def combined(*present: Feature, absent: Sequence[Feature] = ()) -> Feature:
    """Return the feature of all of `present` and none of `absent`.

    Examples
    --------
    >>> fork = combined(path(0, 1), path(0, 2), absent=[path(1, 2)])
    >>> fork(np.array([[0, 1, 1], [0, 1, 2]]))
    array([ True, False])
    """
    if not present and not absent:
        raise ValueError("combined() needs at least one feature")

    def holds(dags: Masks) -> NDArray[np.bool_]:
        yes = np.ones(dags.shape[:-1], bool)
        for feature in present:
            yes = yes & feature(dags)
        for feature in absent:
            yes = yes & ~feature(dags)
        return yes

    return holds


@checked
def function(f: Callable[[Masks], bool], /) -> Feature:
    """Make a feature of your own function of one DAG, given as its parent masks (n,).

    It is called once for each distinct DAG.

    Examples
    --------
    >>> no_edges = function(lambda dag: not dag.any())
    >>> no_edges(np.array([[0, 0], [0, 1], [0, 0]]))
    array([ True, False,  True])
    """

    def holds(dags: Masks) -> NDArray[np.bool_]:
        flat = dags.reshape(-1, dags.shape[-1])
        distinct, which = np.unique(flat, axis=0, return_inverse=True)
        values = np.array([bool(f(dag)) for dag in distinct])
        return values[which].reshape(dags.shape[:-1])

    return holds


def _has(masks: Masks, u: int) -> NDArray[np.bool_]:
    has: NDArray[np.bool_] = (masks >> np.int64(u)) & 1 == 1
    return has


def _check_pair(u: int, v: int) -> None:
    if u == v or not (real(u) >= 0 and real(v) >= 0) or u % 1 or v % 1:
        raise ValueError(f"nodes {u} and {v}: give two different node numbers")


def _check_node(dags: Masks, u: int, v: int) -> None:
    if max(u, v) >= dags.shape[-1]:
        raise ValueError(f"node {max(u, v)} is outside 0..{dags.shape[-1] - 1}")
