"""Data of a model with hidden nodes, counted: distinct rows and the ways to complete each."""

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs, memory
from bnlab.data import Data
from bnlab.hidden.model import HiddenModel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MISSING = -1


class Completions(NamedTuple):
    """What the kernels of `kernels.latent` read: see there.

    Attributes
    ----------
    shapes : int64 (G, 4), joint states, factors, distinct rows and shared factors of each group
    cells : uint32, the cells (factors, states) of the groups, one group after the other
    factors : uint32 (R, J), the factors of each distinct row, one for each open table; those that
        the rows of a group share come first
    weight : float64 (R,), how often the row occurs
    base : float64 (cells,), counts of the tables that no row leaves open
    first : int64 (T + 1,), the cells of table row t are first[t]..first[t + 1] - 1
    m : rows of data
    """

    shapes: Ints
    cells: NDArray[np.uint32]
    factors: NDArray[np.uint32]
    weight: Floats
    base: Floats
    first: Ints
    m: int

    @property
    def groups(self) -> tuple[Ints, NDArray[np.uint32], NDArray[np.uint32], Floats]:
        """(shapes, cells, factors, weight)."""
        return self.shapes, self.cells, self.factors, self.weight


def complete(
    model: HiddenModel, data: Data | ArrayLike, /, *, weight: Floats | None = None
) -> Completions:
    """Count the distinct rows of data, and list what can be read off the tables for each.

    Parameters
    ----------
    model : HiddenModel
    data : Data whose columns are the observed nodes in node order, or integer codes (m, observed)
        in which -1 marks a missing cell, treated as hidden in its row
    weight : (m,), how often each row stands for itself; once by default

    Raises
    ------
    ValueError
        If columns and nodes do not match, or a row has too many completions to sum over.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> complete(model, Data.from_arrays([[0], [1], [1], [2]])).weight
    array([1., 2., 1.])
    """
    values = codes(model, data)
    rows, weight = distinct_rows(values, model.arities[list(model.observed)], weight)
    full = np.full((len(rows), model.n), MISSING, np.int64)
    full[:, list(model.observed)] = rows
    families = np.array([_family(model, v) for v in range(model.n)])
    patterns, which = np.unique(full == MISSING, axis=0, return_inverse=True)
    offsets = np.append(0, np.cumsum([model.rows(v) * model.arities[v] for v in range(model.n)]))
    is_open = (families & patterns.any(axis=0)).any(axis=1)
    groups = []
    for number, pattern in enumerate(patterns):
        members = np.flatnonzero(which == number)
        groups.append((members, *_group(model, full[members], pattern, is_open, offsets)))
    base = np.zeros(offsets[-1])
    for v in np.flatnonzero(~is_open):
        np.add.at(base, offsets[v] + _cell(model, v, full), weight)
    arities = [int(model.arities[v]) for v in range(model.n) for _ in range(model.rows(v))]
    order = np.concatenate([members for members, *_ in groups])
    return Completions(
        np.array([(*cells.shape[::-1], len(factors), shared) for _, cells, factors, shared in groups]),
        np.concatenate([cells.ravel() for _, cells, *_ in groups]),
        np.concatenate([factors for _, _, factors, _ in groups]),
        weight[order],
        base,
        np.append(0, np.cumsum(arities)),
        int(weight.sum()),
    )


def cells_of_rows(completions: Completions, /) -> Ints:
    """The cells (R, J, H) that the completions of each distinct row read, -1 past its states."""
    shapes = completions.shapes
    most = int(shapes[:, 0].max(initial=1))
    out = np.full((len(completions.weight), completions.factors.shape[1], most), -1, np.int64)
    cell = row = 0
    for size, many, rows, _ in shapes:
        of_group = completions.cells[cell : cell + size * many].reshape(many, size)
        out[row : row + rows, :, :size] = of_group[completions.factors[row : row + rows]]
        cell, row = cell + size * many, row + rows
    return out


def table_rows(first: Ints, /) -> tuple[Ints, Ints]:
    """The table row (cells,) of each cell, and the number of cells (T,) of each row.

    Examples
    --------
    >>> table_rows(np.array([0, 2, 5]))
    (array([0, 0, 1, 1, 1]), array([2, 3]))
    """
    size = np.diff(first)
    return np.repeat(np.arange(size.size), size), size


def distinct_rows(
    values: Ints, arities: Ints, weight: Floats | None = None, /
) -> tuple[Ints, Floats]:
    """The distinct rows of codes (m, n), -1 being one, and how often each occurs.

    Examples
    --------
    >>> distinct_rows(np.array([[1], [-1], [1]]), np.array([2]))
    (array([[-1],
           [ 1]]), array([1., 2.]))
    """
    number = np.zeros(len(values), np.int64)
    radix = 1
    for column, arity in zip(values.T, arities.tolist(), strict=True):
        if radix * (arity + 1) > 1 << 62:
            _, number = np.unique(number, return_inverse=True)
            radix = len(values)
        number = number * (arity + 1) + column + 1
        radix *= arity + 1
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    return values[first], np.bincount(which, weight, minlength=first.size).astype(np.float64)


def codes(model: HiddenModel, data: Data | ArrayLike, /) -> Ints:
    """Integer codes (m, observed), checked against the model; -1 where a cell is missing.

    Examples
    --------
    >>> codes(HiddenModel([0, 1], [2, 3], hidden=[0]), [[0], [2]]).ravel()
    array([0, 2])
    """
    values = np.asarray(data.values if isinstance(data, Data) else data)
    arities = model.arities[list(model.observed)]
    if values.ndim != 2 or values.shape[1] != arities.size:
        raise ValueError(
            f"data of shape {values.shape}: give one column for each of the {arities.size} "
            f"observed nodes {list(model.observed)}, in node order"
        )
    if values.dtype.kind not in "iu":
        raise ValueError(f"data of type {values.dtype}: give integer codes, -1 for a missing cell")
    if isinstance(data, Data) and (data.arities > arities).any():
        v = int(np.argmax(data.arities > arities))
        raise ValueError(
            f"column {data.names[v]!r} has {data.arities[v]} states, its node {arities[v]}"
        )
    if isinstance(data, Data) and data.intervened is not None and data.intervened.any():
        raise ValueError("rows with interventions are not handled here: leave them out")
    wrong = np.argwhere((values < MISSING) | (values >= arities))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(
            f"row {row}, column {column}: code {values[row, column]} is not in 0.."
            f"{arities[column] - 1} (-1 marks a missing cell)"
        )
    return values.astype(np.int64)


def _family(model: HiddenModel, v: int) -> NDArray[np.bool_]:
    inside = np.zeros(model.n, bool)
    inside[[v, *graphs.members(model.parents[v])]] = True
    return inside


def _group(
    model: HiddenModel,
    rows: Ints,
    pattern: NDArray[np.bool_],
    is_open: NDArray[np.bool_],
    offsets: Ints,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
    """Cells (F, H) and factors (R, J) of rows (R, n) that leave `pattern` open; shared ones."""
    nodes = np.flatnonzero(pattern)
    size = math.prod(int(model.arities[v]) for v in nodes)
    memory.require(
        40 * size * (model.n + 1),
        task=f"summing over the {size:,} joint states of {nodes.size} nodes",
        remedy="give hidden nodes fewer states, or drop the rows with most missing cells",
    )
    joint = np.array(list(itertools.product(*[range(model.arities[v]) for v in nodes])), np.int64)
    joint = joint.reshape(size, nodes.size)
    cells = [np.empty((0, size), np.int64)]
    factors = [np.empty((len(rows), 0), np.int64)]
    for v in np.flatnonzero(is_open):
        seen = _family(model, int(v)) & ~pattern
        distinct, which = np.unique(rows[:, seen], axis=0, return_inverse=True)
        states = np.zeros((len(distinct), size, model.n), np.int64)
        states[:, :, seen] = distinct[:, None]
        states[:, :, nodes] = joint
        factors.append(sum(map(len, cells)) + which[:, None])
        cells.append(offsets[v] + _cell(model, int(v), states))
    varied = [len(of_node) > 1 for of_node in cells[1:]]
    columns = np.concatenate(factors, axis=1)[:, np.argsort(varied, kind="stable")]
    shared = len(varied) - sum(varied)
    return np.concatenate(cells).astype(np.uint32), columns.astype(np.uint32), shared


def _cell(model: HiddenModel, v: int, states: Ints) -> Ints:
    """The cell of node v's table, within the table, that states (.., n) read."""
    row = np.zeros(states.shape[:-1], np.int64)
    for u in graphs.members(model.parents[v]):
        row = row * model.arities[u] + states[..., u]
    return row * model.arities[v] + states[..., v]
