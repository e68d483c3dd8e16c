"""Missing cells given a DAG and all others: states one by one, measurements row by row."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import Floats, Ints
from bnlab.data import Data
from bnlab.data.table import counted
from bnlab.data.validation import MAX_MEASUREMENT
from bnlab.graphs import members
from bnlab.kernels import latent_particles as kernels
from bnlab.records import altered
from bnlab.sampling.averaging import Unknown
from bnlab.scores import K2, BDeu, BGe, ConditionalGaussian, log_scores, score_parts
from bnlab.scores.gaussian import Units, prepared, regression, units_of, wishart_prior

Cells = NDArray[Any]  # states, or measurements in units of the data, row by row
CellScore = BDeu | K2 | BGe | ConditionalGaussian


def filled(data: Data, cells: Cells, /) -> Data:
    """The data with states or measurements in the missing cells, row by row."""
    gaps, whole, numbers = data.missing, np.zeros(data.values.shape), data.measurements
    whole[gaps] = cells
    values = np.where(gaps & ~data.measured, whole, np.maximum(data.values, 0)).astype(np.int32)
    if numbers is not None:
        numbers = np.where(gaps & data.measured, whole, numbers)
    return altered(data, values=values, measurements=numbers)


def cells_of(data: Data, score: CellScore, max_parents: int, /) -> "MissingCells":
    """What draws the missing cells of data; refused if the score or memory is not for them."""
    of_numbers = isinstance(score, BGe | ConditionalGaussian)
    if not of_numbers and data.measured.any():
        name, both = data.names[int(data.measured.argmax())], not data.measured.all()
        other = "ConditionalGaussian()" if both else "BGe()"
        raise ValueError(f"score={score!r} is for states, and {name!r} is measured: use {other}")
    of_states, of_measured = score_parts(data, score) if of_numbers else (score, None)
    if not isinstance(of_states, BDeu | K2 | None):
        raise ValueError(f"discrete={of_states!r} is no marginal likelihood: use BDeu() or K2()")
    if of_measured is not None and data.measured.any():
        wishart_prior(of_measured, data)
        prepared(of_measured, data)
        sizes = sorted(np.maximum(data.arities, 1).tolist(), reverse=True)
        states = math.prod(sizes[: max(0, max_parents)])
        memory.require(
            8 * data.n * states * (data.n + 4 * data.m),
            task=f"regressions for up to {states:,} joint states of parents",
            remedy="lower max_parents=, or choose fewer variables (Data.select)",
        )
    cells, dtype = int(data.missing.sum()), np.float64 if data.measured.any() else np.int64
    told = cells, dtype, f"completions of {cells:,} cells", cells * data.m
    return MissingCells(data, *told, score, of_states or BDeu(), of_measured or BGe())


class Regressions(NamedTuple):
    """Of each variable that is measured on its parents, for each joint state of the others."""

    joint: Ints  # (n, m) which state in each row
    heights: Floats  # (n, states)
    slopes: Floats  # (n, states, n)
    variances: Floats  # (n, states), 1 where there is no regression

    def log_density(self, columns: Floats, /) -> Floats:
        """ln of the Normal density of each cell given each joint state, (n, states, m), nats."""
        left = columns[:, None] - self.heights[..., None] - self.slopes @ columns
        out: Floats = -0.5 * (left**2 / self.variances[..., None])
        out -= 0.5 * np.log(self.variances)[..., None]
        return out


@dataclass(frozen=True, eq=False)
class MissingCells(Unknown):
    """Missing cells of a table, drawn in turn with the DAG.

    Measurements are drawn given regressions that are drawn first, those of a row together; states
    one by one, given all other cells, their own tables integrated out. Units of measurements are
    those of the observed cells, so that one prior holds for all completions.
    """

    score: CellScore
    of_states: BDeu | K2
    of_measured: BGe

    @cached_property
    def units(self) -> Units | None:
        """Units in which observed cells have mean 0 and, if asked for, variance 1."""
        return units_of(self.of_measured, self.data) if self.data.measured.any() else None

    def fit(self, cells: Cells, /) -> bool:
        sizes = self.data.arities[np.argwhere(self.data.missing)[:, 1]]
        state = (cells >= 0) & (cells < sizes) & (cells % 1 == 0)
        return bool(np.where(sizes, state, np.abs(cells) <= MAX_MEASUREMENT).all())

    def start(self, rng: np.random.Generator, /) -> Cells:
        data, gaps, whole = self.data, self.data.missing, np.empty(self.data.values.shape)
        for v in np.flatnonzero(gaps.any(axis=0)):
            of_kind = data.measurements if data.measured[v] else data.values
            assert of_kind is not None
            known = of_kind[~gaps[:, v], v]
            whole[gaps[:, v], v] = rng.choice(known, int(gaps[:, v].sum()))
        return whole[gaps].astype(self.dtype)

    def filled(self, cells: Cells, /) -> Data:
        return filled(self.data, cells)

    def log_scores(self, cells: Cells, parents: Ints, /) -> Floats:
        """Ln scores (n, F) of families in the completed table."""
        return log_scores(self.filled(cells), self.score, parents, self.units)

    def drawn(self, cells: Cells, dag: Ints, rng: np.random.Generator, /) -> Cells:
        data, gaps, known = self.filled(cells), self.data.missing, counted(self.data)
        codes, log_density = np.array(data.values.T, order="C"), np.empty((0, 0, 0))
        where, table = np.argwhere(gaps & ~data.measured), data.values.astype(self.dtype)
        if self.units is not None:
            columns = self.units.columns(data.measurements)
            fitted = self._regressions(codes, columns, dag, rng)
            self._draw_measured(columns, fitted, rng)
            table = columns.T * self.units.scale + self.units.center
            if where.size:
                log_density = fitted.log_density(columns)
        if where.size:
            of_cells, arities = self.pseudo_counts(dag), np.array(data.arities)
            args = codes, where, np.array(dag), of_cells, arities, known, log_density, rng
            kernels.draw_cells(*args)
            table[:, ~data.measured] = codes.T[:, ~data.measured]
        return table[gaps]

    def pseudo_counts(self, dag: Ints, /) -> Floats:
        """Dirichlet parameters (n,) of a cell of each node's family in a DAG, if it has states."""
        nodes, arities = np.arange(self.data.n), np.maximum(self.data.arities, 1)
        parents = (dag[:, None] >> nodes) & 1 == 1
        return self.of_states.cell_counts(arities * np.where(parents, arities, 1.0).prod(axis=1))

    def _regressions(
        self, codes: NDArray[np.int32], columns: Floats, dag: Ints, rng: np.random.Generator
    ) -> Regressions:
        """Regressions drawn from their posteriors given DAG and completed table."""
        data, n, known = self.data, self.data.n, counted(self.data)
        prior = wishart_prior(self.of_measured, data)
        parents = [members(int(mask)) for mask in dag]
        with_states = [[u for u in each if not data.measured[u]] for each in parents]
        sizes = [int(np.prod(data.arities[each])) for each in with_states]
        most = max(size for size, measured in zip(sizes, data.measured, strict=True) if measured)
        joint, heights = np.zeros((n, data.m), np.int64), np.zeros((n, most))
        slopes, variances = np.zeros((n, most, n)), np.ones((n, most))
        for v in np.flatnonzero(data.measured).tolist():
            steps = np.cumprod([1, *data.arities[with_states[v]]])[:-1]
            joint[v] = steps @ codes[with_states[v]]
            others = [u for u in parents[v] if data.measured[u]]
            for j in range(sizes[v]):
                rows = known[v] & (joint[v] == j)
                fitted = regression(columns[[*others, v]][:, rows], prior)
                heights[v, j], slopes[v, j, others], variances[v, j] = fitted.draw(rng)
        return Regressions(joint, heights, slopes, variances)

    def _draw_measured(
        self, columns: Floats, fitted: Regressions, rng: np.random.Generator
    ) -> None:
        """Draw the missing measurements of each row together.

        With x A = x - x B, B the slopes, and s the residual variances, the missing cells M of a row
        are Normal with precision A_M diag(1 / s) A_M'; what was set in the row has no residual.
        """
        data, nodes = self.data, np.arange(self.data.n)
        gaps, known = data.missing & data.measured, counted(data).T & data.measured
        some = np.flatnonzero(gaps.any(axis=1))
        every = np.stack([gaps, known, fitted.joint.T], axis=1)[some]
        distinct, which = np.unique(every, axis=0, return_inverse=True)
        for g, (gap, free, state) in enumerate(distinct):
            rows, missing = some[which.ravel() == g], np.flatnonzero(gap)
            apart = (np.eye(nodes.size) - fitted.slopes[nodes, state]).T
            weight = free / fitted.variances[nodes, state]
            columns[np.ix_(missing, rows)] = 0.0
            left = columns[:, rows].T @ apart - fitted.heights[nodes, state]
            factor = np.linalg.cholesky((apart[missing] * weight) @ apart[missing].T)
            pull = np.linalg.solve(factor, -(apart[missing] * weight) @ left.T)
            noise = rng.standard_normal((missing.size, rows.size))
            columns[np.ix_(missing, rows)] = np.linalg.solve(factor.T, pull + noise)
