"""Data of a model with hidden nodes, counted: distinct rows and the ways to complete each."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Floats, Ints, checked
from bnlab.data import Gapped
from bnlab.data.validation import MISSING
from bnlab.hidden.model import HiddenModel, Layout, codes, layout

Nodes = tuple[int, ...]

MAX_LISTED = 1024  # joint states of the open nodes; along cliques each costs ten times as much
MAX_CLIQUE = 1 << 22  # joint states of a clique


class Listed(NamedTuple):
    """Groups of rows whose open nodes' joint states are listed one by one.

    The factors of a row come in two halves, which rows share: see `latent.expect_group`.
    """

    shapes: Ints  # (G, 4), joint states, factors, distinct rows and shared factors of each group
    cells: NDArray[np.uint32]  # (factors, states) of the groups, one group after the other
    factors: NDArray[np.uint32]  # (R, J) of each row, one for each open table, shared ones first
    weight: Floats  # (R,), how often the row occurs
    halves: Ints  # (G, 2), distinct left and right halves of each group
    first: NDArray[np.uint32]  # of each half the first row of the group that has it
    of_row: NDArray[np.uint32]  # (R, 3), by weight: a row and its halves, right after left ones

    @property
    def states(self) -> Ints:
        """int64 (R,), the number of joint states of what each distinct row leaves open."""
        return np.repeat(self.shapes[:, 0], self.shapes[:, 2])


class Forest(NamedTuple):
    """Groups of rows that are summed over along cliques, as in `kernels.latent.expect_cliques`."""

    sizes: Ints  # (G, 4), cliques, length of maps, length of cells and distinct rows of each group
    shapes: Ints
    maps: Ints
    tables: Ints
    cells: Ints
    factors: NDArray[np.uint32]  # (R, J)
    weight: Floats  # (R,)


Group = TypeVar("Group", Listed, Forest)


class Completions(NamedTuple):
    """What the kernels of `kernels.latent` read: see there.

    Attributes
    ----------
    listed, forest : the distinct rows, by how their open nodes are summed over; forest None for
        none
    base : float64 (cells,), counts of the tables that no row leaves open
    first : int64 (T + 1,), the cells of table row t are first[t]..first[t + 1] - 1
    m : rows of data

    Examples
    --------
    >>> complete(HiddenModel([0, 1], [2, 3], hidden=[0]), [[0], [1], [1]]).m
    3
    """

    listed: Listed
    forest: Forest | None
    base: Floats
    first: Ints
    m: int

    @property
    def groups(self) -> tuple[Listed, Forest | None]:
        """What `latent.expect` sums over."""
        return self.listed, self.forest


@checked
def complete(model: HiddenModel, data: Gapped | ArrayLike, /) -> Completions:
    """Count the distinct rows of data, and list what can be read off the tables for each.

    Parameters
    ----------
    model : HiddenModel
    data : Data whose columns are the observed nodes in node order, or integer codes (m, observed)
        in which -1 marks a missing cell, treated as hidden in its row

    Raises
    ------
    ValueError
        If columns and nodes do not match, or a row has too many completions to sum over.

    Examples
    --------
    >>> from bnlab import Data
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> complete(model, Data.from_arrays([[0], [1], [1], [2]])).listed.weight
    array([1., 2., 1.])
    """
    return counted(model, codes(model, data))


def counted(
    model: HiddenModel, rows: Ints, weight: Floats | None = None, most: int = MAX_LISTED, /
) -> Completions:
    """`complete` of weighted codes (m, observed); up to `most` joint states of a row are listed."""
    observed, places = list(model.observed), layout(model)
    rows, weight = distinct_rows(rows, model.arities[observed], weight)
    full = np.full((len(rows), model.n), MISSING, np.int64)
    full[:, observed] = rows
    missing = full == MISSING
    first, which = _distinct(missing, np.full(model.n, 2))
    is_open = ((places.strides > 0) & missing.any(axis=0)).any(axis=1)
    tables = Tables(model.arities, places, np.flatnonzero(is_open).tolist())
    groups, trees = list[Listed](), list[Forest]()
    for number, pattern in enumerate(missing[first]):
        of_pattern, nodes = which == number, tuple(np.flatnonzero(pattern).tolist())
        given = full[of_pattern], weight[of_pattern], nodes
        if math.prod(model.arities[pattern].tolist()) <= max(most, 1):
            groups.append(tables.group(*given))
        else:
            trees.append(tables.tree(*given))
    closed = np.flatnonzero(~is_open)
    base = np.zeros(places.starts[-1])
    cells = places.starts[closed] + full @ places.strides[closed].T
    np.add.at(base, cells, weight[:, None])
    if not groups:
        groups.append(tables.group(full[:0], weight[:0], ()))  # of no rows
    forest = _joined(trees) if trees else None
    return Completions(_joined(groups), forest, base, places.first, int(weight.sum()))


def cells_of_rows(completions: Completions, /) -> Ints:
    """The cells (R, J, H) that the completions of each distinct row read, -1 past its states."""
    if completions.forest is not None:
        raise ValueError(
            f"{completions.forest.weight.size} distinct rows have more than {MAX_LISTED:,} "
            "completions: only fits and scores handle that. Give hidden nodes fewer states, or "
            "drop the rows with most missing cells"
        )
    shapes, cells, factors, weight, *_ = completions.listed
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


class Tables(NamedTuple):
    """The open tables, those of which some row leaves a node open: `nodes` says whose they are."""

    arities: Ints
    places: Layout
    nodes: list[int]

    def factors(
        self, members: list[int], rows: Ints, nodes: Nodes, joint: Ints, /
    ) -> tuple[Ints, Ints, Ints]:
        """Cells (F, H) of the tables of `members`, each row's place in F (R, members), and sizes.

        `joint` (H, k) holds states of the open `nodes`; the rows (R, n) tell those of the others.
        """
        starts, strides, at_open = self.places.starts, self.places.strides[members], list(nodes)
        given = strides.copy()
        given[:, at_open] = 0
        begin = (starts[members] + rows @ given.T).ravel()
        first, which = _distinct(begin[:, None], starts[-1:])
        member = np.arange(begin.size)[first] % max(len(members), 1)
        cells = begin[first][:, None] + (strides[:, at_open] @ joint.T)[member]
        sizes = np.bincount(member, minlength=len(members))
        return cells, which.reshape(len(rows), len(members)), sizes

    def group(self, rows: Ints, weight: Floats, nodes: Nodes, /) -> Listed:
        """One group of rows: factors that all of them share come first."""
        joint = _joint(self.arities, nodes)
        cells, factors, sizes = self.factors(self.nodes, rows, nodes, joint)
        shared, many = int((sizes == 1).sum()), len(cells)
        factors = factors[:, np.argsort(sizes > 1, kind="stable")]
        middle, each = (shared + sizes.size) // 2, np.full(sizes.size, many)
        left, one = _distinct(factors[:, :middle], each[:middle])
        right, other = _distinct(factors[:, middle:], each[middle:])
        by_weight = np.argsort(weight, kind="stable")
        of_row = np.stack([by_weight, one[by_weight], left.size + other[by_weight]], axis=1)
        shapes = np.array([(len(joint), many, len(rows), shared)])
        flat, places = cells.ravel().astype(np.uint32), np.ascontiguousarray(factors, np.uint32)
        halves, first = np.array([(left.size, right.size)]), np.append(left, right)
        by_row = first.astype(np.uint32), of_row.astype(np.uint32)
        return Listed(shapes, flat, places, weight, halves, *by_row)

    def tree(self, rows: Ints, weight: Floats, nodes: Nodes, /) -> Forest:
        """Cliques for the open nodes; each table belongs to a clique that holds its open nodes."""
        inside = self.places.strides > 0
        families = [tuple(u for u in nodes if inside[v, u]) for v in self.nodes]
        cliques, parents, home = _clique_tree(families, self.arities)
        shapes, tables = [], []
        maps, cells, columns = list[Ints](), list[Ints](), list[Ints]()
        at = to = mapped = begin = 0
        for q, (clique, parent) in enumerate(zip(cliques, parents, strict=True)):
            other = cliques[parent] if parent >= 0 else ()
            shared, up = _shared_states(clique, other, self.arities)
            down = _shared_states(other, clique, self.arities)[1]
            shapes.append((len(up), shared, parent, at, to, mapped))
            maps += [up, down]
            joint = _joint(self.arities, clique)
            members = [v for v, place in zip(self.nodes, home, strict=True) if place == q]
            of_clique, which, _ = self.factors(members, rows, clique, joint)
            tables.append((len(members), len(columns), begin))
            columns += list(which.T)
            cells.append(of_clique.ravel())
            begin += of_clique.size
            at, to, mapped = at + len(up), to + shared, mapped + len(up) + len(down)
        of_maps, of_cells = np.concatenate(maps), np.concatenate(cells)
        sizes = np.array([(len(shapes), of_maps.size, of_cells.size, len(rows))])
        factors = np.stack(columns, axis=1).astype(np.uint32)
        return Forest(sizes, np.array(shapes), of_maps, np.array(tables), of_cells, factors, weight)


def _joined(groups: Sequence[Group]) -> Group:
    """All arrays of the groups, one group after the other."""
    return type(groups[0])(*map(np.concatenate, zip(*groups, strict=True)))


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
    if radix > 4 * len(rows) + 256:
        _, first, which = np.unique(number, return_index=True, return_inverse=True)
        return first, which
    place, rank = np.full(radix, -1), np.empty(radix, np.int64)  # by number: no need to sort
    place[number[::-1]] = np.arange(len(rows))[::-1]
    found = np.flatnonzero(place >= 0)
    rank[found] = np.arange(found.size)
    return place[found], rank[number]


def _joint(arities: Ints, nodes: Nodes) -> Ints:
    """All joint states (H, k) of nodes, the last varying fastest."""
    states = np.indices(arities[list(nodes)].tolist(), np.int64)
    return states.reshape(len(nodes), -1).T if nodes else np.zeros((1, 0), np.int64)


def _clique_tree(
    families: Sequence[Nodes], arities: Ints
) -> tuple[list[Nodes], list[int], list[int]]:
    """Cliques of a triangulated graph, children first; parents, -1 for none; one of each family."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(sorted({v for family in families for v in family}))
    for family in families:
        graph.add_edges_from(itertools.combinations(family, 2))
    chordal, _ = nx.complete_to_chordal_graph(graph)
    cliques = sorted(tuple(sorted(clique)) for clique in nx.chordal_graph_cliques(chordal))
    for clique in cliques:
        states = math.prod(int(arities[v]) for v in clique)
        if states > MAX_CLIQUE:
            raise ValueError(
                f"summing over the hidden nodes takes tables of {states:,} joint states of the "
                f"nodes {list(clique)}; at most {MAX_CLIQUE:,} are handled. Give hidden nodes "
                "fewer states or common children, or drop the rows with most missing cells"
            )
    shared = nx.Graph()
    shared.add_nodes_from(cliques)
    for a, b in itertools.combinations(cliques, 2):
        if common := len(set(a) & set(b)):
            shared.add_edge(a, b, weight=common)
    tree = nx.maximum_spanning_tree(shared)
    order, parent = list[Nodes](), dict[Nodes, Nodes]()
    for part in nx.connected_components(tree):
        edges = list(nx.bfs_edges(tree, min(part)))
        parent |= {child: above for above, child in edges}
        order[:0] = reversed([min(part), *(child for _, child in edges)])
    parents = [order.index(parent[q]) if q in parent else -1 for q in order]
    home = [next(i for i, q in enumerate(order) if {*family} <= {*q}) for family in families]
    return order, parents, home


def _shared_states(clique: Nodes, other: Nodes, arities: Ints) -> tuple[int, Ints]:
    """How many joint states two cliques share, and which of them each state of `clique` has."""
    number, count = np.zeros(1, np.int64), 1
    states = _joint(arities, clique)
    for place, v in enumerate(clique):
        if v in other:
            number, count = number * arities[v] + states[:, place], count * int(arities[v])
    return count, np.broadcast_to(number, len(states))
