"""Connected parts of a model: their evidences multiply, and many structures share them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.data import Data
from bnlab.hidden.completions import codes
from bnlab.hidden.model import HiddenModel, check_model

Ints = NDArray[np.int64]


class Part(NamedTuple):
    """A connected part of a model, the columns of the data that belong to it, and its nodes."""

    model: HiddenModel
    columns: tuple[int, ...]
    nodes: tuple[int, ...]


def parts(model: HiddenModel, /) -> list[Part]:
    """The connected parts with data, hidden nodes without a child left out.

    A hidden node without children can be summed out of every row, and then has no say in the
    evidence; a bound that kept it would lose by it for nothing.

    Examples
    --------
    >>> [part.columns for part in parts(HiddenModel([0, 1, 1, 0], [2] * 4, hidden=[0]))]
    [(0, 1), (2,)]
    """
    check_model(model)
    left = _with_children(model)
    neighbours = {v: {u for u in graphs.members(model.parents[v]) if u in left} for v in left}
    for v in left:
        for u in graphs.members(model.parents[v]):
            neighbours[u].add(v)
    column = {v: i for i, v in enumerate(model.observed)}
    found: list[Part] = []
    while left:
        inside, fresh = set(), {min(left)}
        while fresh:
            inside |= fresh
            fresh = {u for v in fresh for u in neighbours[v]} - inside
        left -= inside
        nodes = sorted(inside)
        place = {v: i for i, v in enumerate(nodes)}
        masks = [sum(1 << place[u] for u in graphs.members(model.parents[v])) for v in nodes]
        part = HiddenModel(
            masks,
            model.arities[nodes],
            hidden=[place[v] for v in nodes if v in model.hidden],
            strength=model.strength,
        )
        columns = tuple(column[v] for v in nodes if v not in model.hidden)
        found.append(Part(part, columns, tuple(nodes)))
    return found


def key_of(part: Part, /) -> tuple[object, ...]:
    """What parts have in common that say the same of the same data.

    Examples
    --------
    >>> one, other = (HiddenModel([0, 1, p], [2] * 3, hidden=[0]) for p in (0, 2))
    >>> key_of(parts(one)[0]) == key_of(parts(other)[0])
    False
    """
    model = part.model
    return (
        tuple(model.parents.tolist()),
        tuple(model.arities.tolist()),
        model.hidden,
        part.columns,
        model.strength,
    )


def _with_children(model: HiddenModel) -> set[int]:
    """All nodes but hidden ones without children, taken away until none is left."""
    left = set(range(model.n))
    while True:
        used = {u for v in left for u in graphs.members(model.parents[v])}
        childless = {v for v in left if v in model.hidden and v not in used}
        if not childless:
            return left
        left -= childless


def columns_of(model: HiddenModel, data: Data | ArrayLike, part: Part, /) -> Ints:
    """The columns (m, observed) of a part, checked against the whole model.

    Examples
    --------
    >>> whole = HiddenModel([0, 1, 1, 0], [2] * 4, hidden=[0])
    >>> columns_of(whole, [[0, 0, 1]], parts(whole)[1])
    array([[1]])
    """
    return codes(model, data)[:, list(part.columns)]
