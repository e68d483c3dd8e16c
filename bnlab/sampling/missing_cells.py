"""Missing cells given a DAG and all others: states one by one, measurements row by row."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import Kept
from bnlab.checks import Floats, Ints
from bnlab.data import Data
from bnlab.data.validation import MAX_MEASUREMENT
from bnlab.graphs import members
from bnlab.kernels import completing as kernels
from bnlab.scores import K2, BDeu, BGe, log_scores, score_parts
from bnlab.scores.gaussian import Units, regression, units_of, wishart_prior

Cells = NDArray[Any]  # states, or measurements in units of the data, row by row


def filled(data: Data, cells: Cells, /) -> Data:
    """The data with states or measurements in the missing cells, row by row."""
    values, gaps = data.values.copy(), data.missing
    if data.measurements is None:
        values[gaps] = cells
        return replace(data, values=values)
    numbers = data.measurements.copy()
    values[gaps], numbers[gaps] = 0, cells
    return replace(data, values=values, measurements=numbers)


def cells_of(data: Data, score: BDeu | K2 | BGe, /) -> "StateCells | MeasuredCells":
    """What draws the missing cells of data; refused if the score is not for them."""
    measured = data.measured
    if measured.any() and not measured.all():
        a, b = data.names[int((~measured).argmax())], data.names[int(measured.argmax())]
        raise ValueError(
            f"{a!r} has states and {b!r} is measured: missing cells are averaged over in tables of "
            "one kind. Cut the measurements (discretize=), or leave variables out (Data.select)"
        )
    if isinstance(score, BGe):
        score_parts(data, score)
        return MeasuredCells(data, score)
    if measured.any():
        raise ValueError(
            f"score={score!r} is for states, and {data.names[0]!r} is measured: use BGe()"
        )
    return StateCells(data, score)


@dataclass(frozen=True, eq=False)
class _Cells:
    """What missing cells of either kind have in common."""

    data: Data
    score: Any

    @property
    def called(self) -> str:
        """How many cells."""
        return f"completions of {int(self.data.missing.sum()):,} cells"

    @property
    def comparisons(self) -> int:
        """Rows that cells are compared with."""
        return int(self.data.missing.sum()) * self.data.m

    def start(self, rng: np.random.Generator, /) -> Cells:
        """Cells drawn from the observed ones of their columns, row by row."""
        gaps, numbers = self.data.missing, self.data.measurements
        table = (self.data.values if numbers is None else numbers).copy()
        for v in np.flatnonzero(gaps.any(axis=0)):
            known = table[~gaps[:, v], v]
            table[gaps[:, v], v] = rng.choice(known, int(gaps[:, v].sum()))
        return table[gaps]

    def filled(self, cells: Cells, /) -> Data:
        """The data with these cells."""
        return filled(self.data, cells)


@dataclass(frozen=True, eq=False)
class StateCells(_Cells):
    """Missing states, each drawn given all other cells, tables integrated out."""

    score: BDeu | K2

    @property
    def kept(self) -> Kept:
        """What a checkpoint keeps of a completion."""
        return Kept(np.int64, (int(self.data.missing.sum()),), 0, holds=self.fit)

    def fit(self, cells: Cells, /) -> bool:
        """Whether all of them (..., cells) are states of their variables."""
        sizes = self.data.arities[np.argwhere(self.data.missing)[:, 1]]
        return bool(((cells >= 0) & (cells < sizes)).all())

    def state(self, cells: Cells, dag: Ints, /) -> Ints:
        """Cells and DAG as one array of integers (cells + n,)."""
        return np.concatenate([cells, dag]).astype(np.int64)

    def values(self, state: Ints, /) -> Ints:
        """The cells of such an array."""
        return state[: -self.data.n].copy()

    def drawn(self, cells: Cells, dag: Ints, rng: np.random.Generator, /) -> Ints:
        """Each cell drawn anew, in turn."""
        data, where = self.data, np.argwhere(self.data.missing)
        columns = np.array(filled(data, cells).values.T, order="C")
        of_cells, arities = self.pseudo_counts(dag), np.array(data.arities)
        kernels.draw_cells(columns, where, np.array(dag), of_cells, arities, _counted(data), rng)
        return columns[where[:, 1], where[:, 0]].astype(np.int64)

    def log_scores(self, cells: Cells, parents: Ints, /) -> Floats:
        """Ln scores (n, F) of families in the completed table."""
        return log_scores(filled(self.data, cells), self.score, parents)

    def pseudo_counts(self, dag: Ints, /) -> Floats:
        """Dirichlet parameters (n,) of a cell of each node's family in a DAG."""
        nodes, arities = np.arange(self.data.n), self.data.arities
        parents = (dag[:, None] >> nodes) & 1 == 1
        return self.score.cell_counts(arities * np.where(parents, arities, 1.0).prod(axis=1))


@dataclass(frozen=True, eq=False)
class MeasuredCells(_Cells):
    """Missing measurements, those of a row drawn together given regressions that are drawn first.

    Units are those of the observed cells, so that one prior holds for all completions.
    """

    score: BGe

    @cached_property
    def units(self) -> Units:
        """Units in which the observed cells have mean 0 and, if asked for, variance 1."""
        return units_of(self.score, self.data)

    @property
    def kept(self) -> Kept:
        """What a checkpoint keeps of a completion."""
        return Kept(np.float64, (int(self.data.missing.sum()),), holds=self.fit)

    def fit(self, cells: Cells, /) -> bool:
        """Whether all of them are measurements."""
        return bool((np.abs(cells) <= MAX_MEASUREMENT).all())

    def state(self, cells: Cells, dag: Ints, /) -> Ints:
        """Cells, bit by bit, and DAG as one array of integers (cells + n,)."""
        return np.concatenate([cells.view(np.int64), dag])

    def values(self, state: Ints, /) -> Floats:
        """The cells of such an array."""
        return state[: -self.data.n].copy().view(np.float64)

    def drawn(self, cells: Cells, dag: Ints, rng: np.random.Generator, /) -> Floats:
        """All cells drawn anew: regressions given the completed table, then row by row.

        With x A = x - x B, B the coefficients, and s the residual variances, the missing cells M of
        a row are Normal with precision A_M diag(1 / s) A_M', where a variable that was set in the
        row has no residual. Rows with the same gaps share it.
        """
        data, units, n = self.data, self.units, self.data.n
        columns = units.columns(filled(data, cells).measurements)
        prior, counted = wishart_prior(self.score, data), _counted(data)
        apart, intercepts, variances = np.eye(n), np.empty(n), np.empty(n)
        for v, mask in enumerate(dag):
            parents = members(int(mask))
            fitted = regression(columns[[*parents, v]][:, counted[v]], prior)
            intercepts[v], coefficients, variances[v] = fitted.draw(rng)
            apart[parents, v] = -coefficients
        for patterns, rows in self._patterns:
            nodes, weight = np.flatnonzero(patterns[:n]), patterns[n:] / variances
            columns[np.ix_(nodes, rows)] = 0.0
            left = columns[:, rows].T @ apart - intercepts
            factor = np.linalg.cholesky((apart[nodes] * weight) @ apart[nodes].T)
            pull = np.linalg.solve(factor, -(apart[nodes] * weight) @ left.T)
            noise = rng.standard_normal((nodes.size, rows.size))
            columns[np.ix_(nodes, rows)] = np.linalg.solve(factor.T, pull + noise)
        table = columns.T * units.scale + units.center
        return table[data.missing]

    @cached_property
    def _patterns(self) -> list[tuple[Ints, Ints]]:
        """Which cells of a row are missing, then which are counted (2n,), and rows like that."""
        every = np.hstack([self.data.missing, _counted(self.data).T])
        some = np.flatnonzero(self.data.missing.any(axis=1))
        distinct, which = np.unique(every[some], axis=0, return_inverse=True)
        return [(each, some[which.ravel() == i]) for i, each in enumerate(distinct)]

    def log_scores(self, cells: Cells, parents: Ints, /) -> Floats:
        """Ln scores (n, F) of families in the completed table."""
        return log_scores(filled(self.data, cells), self.score, parents, self.units)


def _counted(data: Data) -> NDArray[np.bool_]:
    """The rows (n, m) that the family of each variable counts."""
    if data.intervened is None:
        return np.ones((data.n, data.m), np.bool_)
    return np.array(~data.intervened.T, order="C")
