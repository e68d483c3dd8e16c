"""What samplers walk on: components with the tables that some row leaves open; SMC on them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checkpoints import Arrays
from bnlab.data import Data
from bnlab.hidden.completions import Completions, complete, table_rows
from bnlab.hidden.model import HiddenModel, columns_of, parts
from bnlab.kernels import latent, latent_particles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_STATES = 1 << 14
Unsigned = NDArray[np.uint32]
Job = tuple["Pieces", int, list[np.random.Generator]]
Rows = tuple[Unsigned, Unsigned, Unsigned, Ints, Ints]


class Piece(NamedTuple):
    """A part of a model whose tables, or whose rows' completions, are walked on.

    Attributes
    ----------
    completions : Completions, of the part
    base : float64 (cells,), the counts that a walk on tables weighs besides the rows
    ranges : int64 (W, 2), first and last + 1 cell of the table rows that move
    cells : int64 (cells,), places of the part's cells among all cells of the model
    strength : of the prior
    """

    completions: Completions
    base: Floats
    ranges: Ints
    cells: Ints
    strength: float

    @property
    def sizes(self) -> Ints:
        """int64 (R,), the number of joint states of what each distinct row leaves open."""
        shapes = self.completions.listed.shapes
        return np.repeat(shapes[:, 0], shapes[:, 2])

    @property
    def log_completions(self) -> float:
        """Ln of the number of completions of the data."""
        return float(self.completions.listed.weight @ np.log(self.sizes))

    @property
    def moving(self) -> Ints:
        """int64, the cells of the table rows that move."""
        return np.concatenate([np.arange(lo, hi) for lo, hi in self.ranges])

    @property
    def order(self) -> Ints:
        """int64 (m,), the distinct row of each row of data."""
        weight = self.completions.listed.weight
        return np.repeat(np.arange(weight.size), weight.astype(np.int64))

    @property
    def rows(self) -> Rows:
        """(cells, of_table, factors, start, size), see `kernels.latent_particles`."""
        shapes, cells, factors, _ = self.completions.listed
        row_of, _ = table_rows(self.completions.first)
        sizes = shapes[:, 0] * shapes[:, 1]
        start = np.repeat(np.cumsum(sizes) - sizes, shapes[:, 2])
        of_table = row_of.astype(np.uint32)[cells]
        return cells, of_table, factors, start, self.sizes

    @property
    def tables(self) -> tuple[Floats, float]:
        """(prior, strength), see `kernels.latent_particles`."""
        _, states = table_rows(self.completions.first)
        return (self.strength * states).astype(np.float64), self.strength


class Pieces(NamedTuple):
    """The pieces of a model, and what stays outside of them.

    Attributes
    ----------
    pieces : list of Piece
    known : ln evidence, in nats, of tables that no row leaves open and no piece walks on
    base : float64 (cells,), counts of all tables of the model that no row leaves open
    first : int64 (T + 1,), table row t of the model has the cells first[t]..first[t + 1] - 1
    strength : of the prior
    """

    pieces: list[Piece]
    known: float
    base: Floats
    first: Ints
    strength: float


def open_pieces(model: HiddenModel, data: Data | ArrayLike, /) -> Pieces:
    """The components that have open tables, with the table rows that some completion reads."""
    first, starts = _layout(model)
    base, known, pieces = np.zeros(first[-1]), 0.0, []
    for part in parts(model):
        completions = listed(part.model, columns_of(model, data, part))
        sizes = [starts[v + 1] - starts[v] for v in part.nodes]
        offsets = np.repeat([starts[v] for v in part.nodes], sizes)
        within = np.concatenate([np.arange(size) for size in sizes])
        cells = offsets + within
        base[cells] = completions.base
        known += latent.log_dirichlet(completions.base, completions.first, model.strength)
        if completions.listed.factors.shape[1]:
            row_of, _ = table_rows(completions.first)
            read = np.unique(row_of[completions.listed.cells])
            ranges = np.stack([completions.first[read], completions.first[read + 1]], axis=1)
            nothing = np.zeros(cells.size)
            pieces.append(Piece(completions, nothing, ranges, cells, model.strength))
    return Pieces(pieces, float(known), base, first, model.strength)


def whole(model: HiddenModel, data: Data | ArrayLike, /) -> Pieces:
    """The model in one piece, with all of its tables."""
    completions = listed(model, data)
    first = completions.first
    ranges = np.stack([first[:-1], first[1:]], axis=1)
    piece = Piece(completions, completions.base, ranges, np.arange(first[-1]), model.strength)
    return Pieces([piece], 0.0, completions.base, first, model.strength)


def listed(model: HiddenModel, data: Data | ArrayLike, /) -> Completions:
    """Completions with all joint states of what each row leaves open listed.

    Raises
    ------
    ValueError
        If a row has more than 16,384 of them.
    """
    completions = complete(model, data, most=MAX_STATES)
    rows = int(completions.forest.weight.sum())
    if rows:
        raise ValueError(
            f"{rows} rows leave nodes open with more than {MAX_STATES:,} joint states, which "
            "sampling would have to list: leave out the rows with most missing cells, or give "
            "hidden nodes fewer states; fit_vb and score handle them"
        )
    return completions


def _layout(model: HiddenModel) -> tuple[Ints, Ints]:
    """First cells of all table rows, and of all nodes (n + 1,)."""
    rows = np.array([model.rows(v) for v in range(model.n)])
    first = np.append(0, np.cumsum(np.repeat(model.arities, rows)))
    return first, np.append(0, np.cumsum(rows * model.arities))


def filter_block(job: Job, /) -> Arrays:
    """Ln of one unbiased estimate of p(data) for each generator: log_p (runs,).

    The job holds pieces of a model, the number of particles and the generators. Each run takes the
    rows in a random order of its own. Connected parts are filtered by themselves and their
    estimates multiplied, which are independent; tables that no row leaves open are integrated out
    beforehand, and rows that leave nothing open come first.
    """
    found, particles, rngs = job
    log_p = [
        found.known + math.fsum(_filter(piece, particles, rng) for piece in found.pieces)
        for rng in rngs
    ]
    return {"log_p": np.array(log_p)}


def _filter(piece: Piece, particles: int, rng: np.random.Generator) -> float:
    rows, tables = piece.rows, piece.tables
    order = rng.permutation(piece.order)
    order = order[np.argsort(piece.sizes[order] > 1, kind="stable")]
    clouds = (
        np.empty((particles, order.size), np.int32),
        np.zeros((particles, piece.cells.size)),
        np.zeros((particles, len(piece.completions.first) - 1)),
    )
    return float(latent_particles.filter_rows(order, rows, tables, clouds, rng))
