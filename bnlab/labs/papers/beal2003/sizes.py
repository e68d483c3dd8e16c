"""Free parameters of the structures, counted and as the data can tell them."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.hidden import HiddenModel, dimension, parts
from bnlab.labs.papers.beal2003.world import ARITIES, models, parameters, stream, truth

Ints = NDArray[np.int64]


class Larger(NamedTuple):
    """Structures that have more parameters than the true one.

    Attributes
    ----------
    all : parameters of each, ascending
    with_truth_inside : of those that have all edges of the true structure and more
    """

    all: tuple[int, ...]
    with_truth_inside: tuple[int, ...]


def larger_structures() -> Larger:
    """The thesis says that there are three [Beal2003, sec. 6.4].

    Examples
    --------
    >>> len(larger_structures().all), larger_structures().with_truth_inside
    (9, (58, 58, 66))
    """
    own, found = _edges(models()[truth()]), []
    for model in models():
        edges = _edges(model)
        if any(own < each for each in (edges, {(1 - h, v) for h, v in edges})):
            found.append(model.free_parameters)
    sizes = parameters()
    return Larger(tuple(np.sort(sizes[sizes > sizes[truth()]]).tolist()), tuple(sorted(found)))


class Dimensions(NamedTuple):
    """Of each structure (136,): counted in the tables, and of the observed nodes' distributions."""

    complete: Ints
    observed: Ints
    hidden: Ints  # hidden nodes with children


@cache
def dimensions() -> Dimensions:
    """d' and d of every structure, d by the rank of the Jacobian [Beal2003, sec. 6.5.2].

    Examples
    --------
    >>> found = dimensions()
    >>> found.complete[truth()], found.observed[truth()]
    (np.int64(50), np.int64(50))
    """
    complete = [sum(part.model.free_parameters for part in parts(model)) for model in models()]
    hidden = [len({h for h, _ in _edges(model)}) for model in models()]
    observed = [_dimension(_kind(model)) for model in models()]
    return Dimensions(np.array(complete), np.array(observed), np.array(hidden))


@cache
def _dimension(masks: tuple[int, ...]) -> int:
    model = HiddenModel((0, 0, *masks), ARITIES, hidden=[0, 1])
    return dimension(model, rng=stream(7, *masks))


def _kind(model: HiddenModel) -> tuple[int, ...]:
    """Parents of the observed nodes, whose order and whose parents' names do not matter here."""
    masks = model.parents[2:].tolist()
    swapped = [(mask >> 1) | (mask & 1) << 1 for mask in masks]
    return min(tuple(sorted(masks)), tuple(sorted(swapped)))


def _edges(model: HiddenModel) -> set[tuple[int, int]]:
    return {(h, v) for v in range(2, 6) for h in (0, 1) if model.parents[v] >> h & 1}
