"""Data of a model with hidden nodes, counted: distinct rows and the ways to complete each."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs
from bnlab.checks import checked
from bnlab.data import Data
from bnlab.hidden.cliques import Nodes, clique_tree, shared_states
from bnlab.hidden.model import MISSING, HiddenModel, codes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_LISTED = 1024  # joint states of the open nodes; along cliques each costs ten times as much


class Listed(NamedTuple):
    """Groups of rows whose open nodes' joint states are listed one by one.

    Attributes
    ----------
    shapes : int64 (G, 4), joint states, factors, distinct rows and shared factors of each group
    cells : uint32, the cells (factors, states) of the groups, one group after the other
    factors : uint32 (R, J), the factors of each distinct row, one for each open table; those that
        the rows of a group share come first
    weight : float64 (R,), how often the row occurs
    """

    shapes: Ints
    cells: NDArray[np.uint32]
    factors: NDArray[np.uint32]
    weight: Floats


class Halves(NamedTuple):
    """The factors of the listed rows in two halves, which rows share: `latent.expect_group`.

    Attributes
    ----------
    sizes : int64 (G, 2), distinct left and right halves of each group
    first : uint32, of each half the first row of the group that has it, group after group
    of_row : uint32 (R, 2), each row's halves; the right ones are numbered after the left ones
    """

    sizes: Ints
    first: NDArray[np.uint32]
    of_row: NDArray[np.uint32]


class Forest(NamedTuple):
    """Groups of rows whose open nodes are summed over along cliques: `kernels.cliques`.

    Attributes
    ----------
    sizes : int64 (G, 4), cliques, length of maps, length of cells and distinct rows of each group
    shapes, maps, tables, cells : of `expect_cliques`, one group after the other
    factors : uint32 (R, J)
    weight : float64 (R,)
    """

    sizes: Ints
    shapes: Ints
    maps: Ints
    tables: Ints
    cells: Ints
    factors: NDArray[np.uint32]
    weight: Floats


class Completions(NamedTuple):
    """What the kernels of `kernels.latent` read: see there.

    Attributes
    ----------
    listed, forest : the distinct rows, by how their open nodes are summed over
    halves : of the listed rows
    base : float64 (cells,), counts of the tables that no row leaves open
    first : int64 (T + 1,), the cells of table row t are first[t]..first[t + 1] - 1
    m : rows of data

    Examples
    --------
    >>> complete(HiddenModel([0, 1], [2, 3], hidden=[0]), [[0], [1], [1]]).m
    3
    """

    listed: Listed
    halves: Halves
    forest: Forest
    base: Floats
    first: Ints
    m: int

    @property
    def groups(self) -> tuple[Listed, Halves, Forest | None]:
        """What `latent.expect` sums over."""
        return self.listed, self.halves, self.forest if self.forest.weight.size else None


@checked
def complete(
    model: HiddenModel,
    data: Data | ArrayLike,
    /,
    *,
    weight: Floats | None = None,
    most: int = MAX_LISTED,
) -> Completions:
    """Count the distinct rows of data, and list what can be read off the tables for each.

    Parameters
    ----------
    model : HiddenModel
    data : Data whose columns are the observed nodes in node order, or integer codes (m, observed)
        in which -1 marks a missing cell, treated as hidden in its row
    weight : (m,), how often each row stands for itself; once by default
    most : joint states of a row's open nodes that are listed; more are summed over along cliques

    Raises
    ------
    ValueError
        If columns and nodes do not match, or a row has too many completions to sum over.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> complete(model, Data.from_arrays([[0], [1], [1], [2]])).listed.weight
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
    tables = Tables(model, offsets, np.flatnonzero(is_open))
    listed: list[tuple[Ints, _Group]] = []
    trees: list[tuple[Ints, _Tree]] = []
    for number, pattern in enumerate(patterns):
        members = np.flatnonzero(which == number)
        nodes = tuple(np.flatnonzero(pattern).tolist())
        if math.prod(int(model.arities[v]) for v in nodes) <= max(most, 1):
            listed.append((members, _group(tables, full[members], nodes)))
        else:
            trees.append((members, _tree(tables, full[members], nodes)))
    base = np.zeros(offsets[-1])
    for v in np.flatnonzero(~is_open):
        np.add.at(base, offsets[v] + cell_of(model, int(v), full), weight)
    arities = [int(model.arities[v]) for v in range(model.n) for _ in range(model.rows(v))]
    return Completions(
        _joined(listed, weight, tables),
        _halved(listed),
        _planted(trees, weight, tables),
        base,
        np.append(0, np.cumsum(arities)),
        int(weight.sum()),
    )


def cells_of_rows(completions: Completions, /) -> Ints:
    """The cells (R, J, H) that the completions of each distinct row read, -1 past its states.

    Raises
    ------
    ValueError
        If the completions are too many to list.
    """
    if completions.forest.weight.size:
        raise ValueError(
            f"{completions.forest.weight.size} distinct rows have more than {MAX_LISTED:,} "
            "completions: only fits and scores handle that. Give hidden nodes fewer states, or "
            "drop the rows with most missing cells"
        )
    shapes, cells, factors, weight = completions.listed
    most = int(shapes[:, 0].max(initial=1))
    out = np.full((len(weight), factors.shape[1], most), -1, np.int64)
    cell = row = 0
    for size, many, rows, _ in shapes:
        of_group = cells[cell : cell + size * many].reshape(many, size)
        out[row : row + rows, :, :size] = of_group[factors[row : row + rows]]
        cell, row = cell + size * many, row + rows
    return out


def table_rows(first: Ints, /) -> tuple[Ints, Ints]:
    """The table row (cells,) of each cell, and the number of cells (T,) of each row."""
    size = np.diff(first)
    return np.repeat(np.arange(size.size), size), size


def distinct_rows(
    values: Ints, arities: Ints, weight: Floats | None = None, /
) -> tuple[Ints, Floats]:
    """The distinct rows of codes (m, n), -1 being one, and how often each occurs."""
    first, which = _distinct(values + 1, arities + 1)
    return values[first], np.bincount(which, weight, minlength=first.size).astype(np.float64)


def _family(model: HiddenModel, v: int) -> NDArray[np.bool_]:
    inside = np.zeros(model.n, bool)
    inside[[v, *graphs.members(model.parents[v])]] = True
    return inside


class Tables(NamedTuple):
    """The tables that some row leaves open: nodes, and where each node's cells begin."""

    model: HiddenModel
    offsets: Ints
    nodes: Ints

    def factors(self, v: int, rows: Ints, nodes: Nodes, joint: Ints, /) -> tuple[Ints, Ints]:
        """Cells (F, H) of node v's table, and the place in F (R,) of each of the rows (R, n).

        `joint` (H, k) holds states of the open `nodes`; the rows tell the other nodes' states.
        """
        seen = _family(self.model, v)
        seen[list(nodes)] = False
        first, which = _distinct(rows[:, seen], self.model.arities[seen])
        distinct = rows[first][:, seen]
        states = np.zeros((len(distinct), len(joint), self.model.n), np.int64)
        states[:, :, seen] = distinct[:, None]
        states[:, :, list(nodes)] = joint
        return self.offsets[v] + cell_of(self.model, v, states), which


class _Group(NamedTuple):
    """One group of `Listed`: cells (F, H), factors (R, J), shared factors."""

    cells: Ints
    factors: Ints
    shared: int


class _Tree(NamedTuple):
    """One group of `Forest`."""

    shapes: Ints
    maps: Ints
    tables: Ints
    cells: Ints
    factors: Ints


def _group(tables: Tables, rows: Ints, nodes: Nodes) -> _Group:
    joint = _joint(tables.model, nodes)
    found = [tables.factors(int(v), rows, nodes, joint) for v in tables.nodes]
    varied = [len(cells) > 1 for cells, _ in found]
    starts = np.cumsum([0, *(len(cells) for cells, _ in found)])
    columns = [start + which for start, (_, which) in zip(starts, found, strict=False)]
    order = np.argsort(varied, kind="stable")
    empty = np.zeros((0, len(joint)), np.int64)
    return _Group(
        np.concatenate([empty, *(cells for cells, _ in found)]),
        np.array(columns, np.int64).reshape(len(found), len(rows))[order].T,
        len(varied) - sum(varied),
    )


def _tree(tables: Tables, rows: Ints, nodes: Nodes) -> _Tree:
    """Cliques for the open nodes; each table belongs to a clique that holds its open nodes."""
    model = tables.model
    is_open = np.isin(np.arange(model.n), nodes)
    families = [tuple(np.flatnonzero(_family(model, v) & is_open).tolist()) for v in tables.nodes]
    tree = clique_tree(families, model.arities)
    shapes, of_cliques = [], []
    maps: list[Ints] = []
    cells: list[Ints] = []
    columns: list[Ints] = []
    at = to = mapped = begin = 0
    for q, (clique, parent) in enumerate(zip(tree.cliques, tree.parents, strict=True)):
        other = tree.cliques[parent] if parent >= 0 else ()
        shared, up = shared_states(clique, other, model.arities)
        down = shared_states(other, clique, model.arities)[1]
        shapes.append((len(up), shared, parent, at, to, mapped))
        maps += [up, down]
        members = [v for v, home in zip(tables.nodes, tree.home, strict=True) if home == q]
        found = [tables.factors(int(v), rows, clique, _joint(model, clique)) for v in members]
        starts = np.cumsum([0, *(len(of_node) for of_node, _ in found)])
        of_cliques.append((len(members), len(columns), begin))
        columns += [start + which for start, (_, which) in zip(starts, found, strict=False)]
        cells += [of_node.ravel() for of_node, _ in found]
        begin += int(starts[-1]) * len(up)
        at, to, mapped = at + len(up), to + shared, mapped + len(up) + len(down)
    return _Tree(
        np.array(shapes),
        np.concatenate(maps),
        np.array(of_cliques),
        np.concatenate(cells),
        np.stack(columns, axis=1),
    )


def _joined(groups: list[tuple[Ints, _Group]], weight: Floats, tables: Tables) -> Listed:
    none = np.zeros(0, np.int64)
    rows = np.concatenate([none, *(members for members, _ in groups)])
    shapes = [(*group.cells.shape[::-1], len(group.factors), group.shared) for _, group in groups]
    factors = [np.zeros((0, tables.nodes.size), np.int64), *(group.factors for _, group in groups)]
    return Listed(
        np.array(shapes, np.int64).reshape(-1, 4),
        np.concatenate([none, *(group.cells.ravel() for _, group in groups)]).astype(np.uint32),
        np.concatenate(factors).astype(np.uint32),
        weight[rows],
    )


def _halved(groups: list[tuple[Ints, _Group]]) -> Halves:
    sizes, firsts, of_rows = [], [], [np.zeros((0, 2), np.int64)]
    for _, group in groups:
        middle = (group.shared + group.factors.shape[1]) // 2
        many = np.full(group.factors.shape[1], len(group.cells))
        left, one = _distinct(group.factors[:, :middle], many[:middle])
        right, other = _distinct(group.factors[:, middle:], many[middle:])
        sizes.append((left.size, right.size))
        firsts += [left, right]
        of_rows.append(np.stack([one, left.size + other], axis=1))
    return Halves(
        np.array(sizes, np.int64).reshape(-1, 2),
        np.concatenate([np.zeros(0, np.int64), *firsts]).astype(np.uint32),
        np.concatenate(of_rows).astype(np.uint32),
    )


def _distinct(rows: Ints, arities: Ints) -> tuple[Ints, Ints]:
    """Where each distinct row of codes (R, J) comes first, and which of them each row (R,) is."""
    number = np.zeros(len(rows), np.int64)
    radix = 1
    for column, arity in zip(rows.T, arities.tolist(), strict=True):
        if radix * arity > 1 << 62:
            _, number = np.unique(number, return_inverse=True)
            radix = len(rows)
        number = number * arity + column
        radix *= arity
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    return first, which


def _planted(trees: list[tuple[Ints, _Tree]], weight: Floats, tables: Tables) -> Forest:
    none = np.zeros(0, np.int64)
    rows = np.concatenate([none, *(members for members, _ in trees)])
    sizes = [(len(t.shapes), len(t.maps), len(t.cells), len(t.factors)) for _, t in trees]
    factors = [np.zeros((0, tables.nodes.size), np.int64), *(tree.factors for _, tree in trees)]
    return Forest(
        np.array(sizes, np.int64).reshape(-1, 4),
        np.concatenate([np.zeros((0, 6), np.int64), *(tree.shapes for _, tree in trees)]),
        np.concatenate([none, *(tree.maps for _, tree in trees)]),
        np.concatenate([np.zeros((0, 3), np.int64), *(tree.tables for _, tree in trees)]),
        np.concatenate([none, *(tree.cells for _, tree in trees)]),
        np.concatenate(factors).astype(np.uint32),
        weight[rows],
    )


def _joint(model: HiddenModel, nodes: Nodes) -> Ints:
    """All joint states (H, k) of nodes, the last varying fastest."""
    states = np.indices([int(model.arities[v]) for v in nodes])
    return states.reshape(len(nodes), -1).T if nodes else np.zeros((1, 0), np.int64)


def cell_of(model: HiddenModel, v: int, states: Ints, /) -> Ints:
    """The cell of node v's table, within the table, that states (..., n) of all nodes read."""
    row: Ints = np.zeros(states.shape[:-1], np.int64)
    for u in graphs.members(model.parents[v]):
        row = row * model.arities[u] + states[..., u]
    cell: Ints = row * model.arities[v] + states[..., v]
    return cell
