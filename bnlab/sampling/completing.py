"""`complete`: missing cells and DAGs, drawn in turn along Gibbs chains."""

import math
import os
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import Floats, Ints, Natural, checked, frozen
from bnlab.data import AnyCells, Data
from bnlab.data.table import counted
from bnlab.data.validation import MAX_MEASUREMENT
from bnlab.graphs import members
from bnlab.kernels import latent_particles as kernels
from bnlab.priors import Prior, Uniform
from bnlab.records import altered
from bnlab.running import Executor, Progress
from bnlab.sampling.averaging import BURN_IN, Averages, Unknown, averages
from bnlab.sampling.chains import CHAINS, ChainSettings
from bnlab.scores import K2, BDeu, BGe, ConditionalGaussian, score_parts
from bnlab.scores.knowledge import Candidates, Edges, Tiers
from bnlab.scores.local import prepared, regression, units_of, wishart_prior

Cells = NDArray[Any]  # states, or measurements in units of the data, row by row
CellScore = BDeu | K2 | BGe | ConditionalGaussian


@frozen(repr=False)
class Completions(Averages):
    """Completions of a table with missing cells, and what they say of the edges, averaged.

    A sequence of complete Data, chain after chain: `len(completions)`, `completions[0]`. Cells are
    taken to be *missing at random*, which no data can show. Make one with `complete`.

    Attributes
    ----------
    data : Data, with missing cells
    cells : (chains, draws, cells), states (int64, but float64 beside measurements) or float64
        measurements, in units of the data, of the cells np.argwhere(data.missing)
    given : float64 (chains, draws, n, n), [..., u, v] = p(u -> v | completed table), exact; where
        DAGs are drawn by moves, the share of u -> v in ten DAGs along them
    dags : Draws over "dags", one given each completion; log_target is ln of prior factor times
        likelihood of the completed table, nats. stats: "changed" (chains,), the share of cells that
        changed when they were drawn anew (of measurements all)
    edges : float64 (n, n), p(u -> v | observed cells): the mean of `given`
    stderr : float64 (n, n), standard errors of `edges`; inf where they cannot be told. An edge that
        none of the DAGs drawn by moves has, or all, has 1 / ESS, of ln p, unless the constraints
        decide it
    rhat, ess : float, `diagnostics.rhat` and `ess`, the worst of all edges and of ln p; nan where
        there is no R-hat (one chain, or fewer than 4 draws)
    run : Run
    prior : "structure-modular", which posterior they come from
    kind : "asymptotic", what the edges are an estimate of in the limit of many draws
    assumption : "missing at random"

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [1, 1], [1, -1], [0, 0]], missing="keep")
    >>> rng = np.random.default_rng(1)
    >>> len(complete(data, BDeu(), draws=50, rng=rng, chains=2))
    100
    """

    data: AnyCells
    cells: Ints | Floats
    assumption: str = "missing at random"

    def __getitem__(self, i: int) -> Data:
        return filled(self.data, self.cells.reshape(len(self), -1)[i])

    def __repr__(self) -> str:
        return self._told(f"{self.cells.shape[-1]} cells {self.assumption}")

    from_missing = Averages._between


@checked
def complete(
    data: AnyCells,
    score: BDeu | K2 | BGe | ConditionalGaussian,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    chains: int = CHAINS,
    burn_in: int = BURN_IN,
    thin: int = 1,
    max_parents: Natural = 3,
    prior: Prior = Uniform(),
    candidates: Candidates = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
    moves: Natural | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Completions:
    """Average over missing cells: draw them and DAGs in turn, and average the edges.

    Each cycle of a Gibbs chain draws every missing cell from p(cell | all other cells, DAG), tables
    integrated out, then the DAG from its exact posterior given the completed table. Of measurements
    it draws a regression for each family (and joint state of parents with states) given DAG and
    completed table, then the missing ones of each row together, Normal given the regressions and
    the rest of the row [TannerWong1987]; missing states then count these densities. So the
    draws are from p(DAG, missing cells | observed cells), structure-modular (each DAG counted
    once), if cells are missing at random [Rubin1976]: whether one is may depend on observed cells,
    not on what it holds. Edges are averages, over the completions, of exact posteriors given each,
    which are less noisy than shares of drawn DAGs [GelfandSmith1990]. Rows in which a variable was
    set by an intervention leave its family, as in `score_families`.

    The units of BGe are those in which the *observed* cells of a column have mean 0 and, with
    standardize=True, variance 1, so that all completions share one prior. `score_families` takes
    those of all cells: of a completion its scores differ a little from these.

    Each cell is drawn given all others and one DAG, so where two DAGs fill the cells differently
    chains cross between them rarely, at any n: look at R-hat and ESS. They compare chains; that
    these agree does not make an edge true.

    A cycle takes the time of `dag_posterior`: milliseconds up to n = 12, 1 s for n = 17. For more
    than 14 variables DAGs are drawn by moves of `sample_partitions` that leave their posterior
    given the completed table as it is, half of them reversals of an edge. Each draw is then of ten
    DAGs, and edges are noisier. A cycle of n = 20, m = 300 takes about 0.03 s, of n = 37 0.2 s.

    Parameters
    ----------
    data : Data, some cells missing: read with `missing="keep"`
    score : BDeu or K2 of states, BGe of measurements, ConditionalGaussian of tables with both:
        others are no marginal likelihoods
    draws : completions that each chain keeps, at least 1
    chains : number of chains, each from cells drawn from the observed shares of their columns
    burn_in : cycles of each chain before its first draw
    thin : cycles before each draw
    max_parents, prior, candidates, required, forbidden, tiers : as in `score_families`
    moves : 0 for DAGs from the exact posterior, or the number of moves on partitions in each cycle
        that draw them; by default 0 up to 14 variables, 50 n beyond
    rng, checkpoint, progress, executor : as in `sample_orders`

    Returns
    -------
    Completions

    Raises
    ------
    ValueError
        If no cell is missing, all cells of a variable are, the score is not one for these
        variables, an option is out of its range, memory is short, the constraints leave no DAG, or
        the checkpoint is damaged or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [1, 1], [1, -1], [0, 0]] * 5, missing="keep")
    >>> found = complete(data, BDeu(), draws=50, rng=np.random.default_rng(1))
    >>> found.edges.round(1)
    array([[0. , 0.5],
           [0.5, 0. ]])
    >>> data = Data.from_arrays([[0.5, 1.5], [np.nan, 2.5], [2.5, 3.0]], missing="keep")
    >>> complete(data, BGe(), draws=10, rng=np.random.default_rng(1)).cells.shape
    (4, 10, 1)
    """
    plan = ChainSettings(draws, burn_in, thin, chains)
    if not (gaps := data.missing).any():
        raise ValueError(
            "data has no missing cells: use dag_posterior(score_families(data, score)), and read "
            "with missing='keep' to have some"
        )
    for v in np.flatnonzero(gaps.all(axis=0)):
        raise ValueError(
            f"all cells of {data.names[v]!r} are missing: nothing is known of it. Leave it out "
            "(Data.select)"
        )
    unknown = cells_of(data, score, max_parents)
    model = {"max_parents": max_parents, "prior": prior, "candidates": candidates}
    model |= {"required": required, "forbidden": forbidden, "tiers": tiers}
    cells, found = averages(unknown, plan, rng, model, moves, checkpoint, progress, executor)
    return Completions(data=data, cells=cells, **found)


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
    of_states, of_measured = score_parts(data, score)
    if not isinstance(of_states, BDeu | K2):
        raise ValueError(f"discrete={of_states!r} is no marginal likelihood: use BDeu() or K2()")
    units = None
    if data.measured.any():
        units = units_of(of_measured, data)
        prepared(of_measured, data)
        sizes = sorted(np.maximum(data.arities, 1).tolist(), reverse=True)
        states = math.prod(sizes[:max_parents])
        memory.require(
            8 * data.n * states * (data.n + 4 * data.m),
            task=f"regressions for up to {states:,} joint states of parents",
            remedy="lower max_parents=, or choose fewer variables (Data.select)",
        )
    cells, dtype = int(data.missing.sum()), np.int64 if units is None else np.float64
    told = cells, dtype, f"completions of {cells:,} cells", cells * data.m
    return MissingCells(data, score, units, *told, of_states, of_measured)


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
    """Missing cells of a table, drawn in turn with the DAG, as `complete` says."""

    of_states: BDeu | K2
    of_measured: BGe
    method: ClassVar[str] = "Gibbs sampling of cells and DAGs"

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
