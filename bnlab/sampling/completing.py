"""`complete`: missing cells and DAGs, drawn in turn along Gibbs chains."""

import math
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checkpoints import Checkpoint, Kept, dags_of, fingerprint, identity, nats
from bnlab.checks import Floats, Ints, check_counts, check_generator, checked
from bnlab.data import AnyCells, Data
from bnlab.diagnostics import LEAST_DRAWS, ess, rhat
from bnlab.exact import dag_posterior
from bnlab.exact.over_dags import posterior_bytes
from bnlab.graphs import check_dags
from bnlab.priors import Prior, Uniform
from bnlab.results import Draws, Kind, PriorKind, Record, Run, agree
from bnlab.running import Executor, Progress, seed_of
from bnlab.sampling.chains import CHAINS, Chains, ChainSettings, Layout, acceptance
from bnlab.sampling.independent import layer_block
from bnlab.sampling.missing_cells import MeasuredCells, StateCells, cells_of, filled
from bnlab.scores import K2, BDeu, BGe, ScoreTable, score_families, scoring_bytes
from bnlab.scores.knowledge import Candidates, Edges, Tiers

METHOD = "Gibbs sampling of cells and DAGs"
BURN_IN = 100
BLOCK_CYCLES = 30  # that take about 100 ms for few variables and rows
PAIRS, ROWS = 300_000, 200_000  # of sets, or compared with a cell, that take as long as a cycle
ROUNDING = 1e-9  # of exact edges: if they differ by less, completions make no difference


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Completions(Record):
    """Completions of a table with missing cells, and what they say of the edges, averaged.

    A sequence of complete Data, chain after chain: `len(completions)`, `completions[0]`. Cells are
    taken to be *missing at random*: whether one is missing may depend on what was observed, not on
    what it holds. No data can show that. Make one with `complete`.

    Attributes
    ----------
    data : Data, with missing cells
    cells : (chains, draws, cells), int64 states or float64 measurements, in units of the data, of
        the cells np.argwhere(data.missing)
    given : float64 (chains, draws, n, n), [..., u, v] = p(u -> v | completed table), exact
    dags : Draws over "dags", one from the exact posterior given each completion; log_target is ln
        of prior factor times likelihood of the completed table, nats. stats: "changed" (chains,),
        the share of cells that changed when they were drawn anew (of measurements all)
    edges : float64 (n, n), p(u -> v | observed cells): the mean of `given`
    stderr : float64 (n, n), standard errors of `edges`; inf where they cannot be told
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
    given: Floats
    dags: Draws
    edges: Floats
    stderr: Floats
    rhat: float
    ess: float
    run: Run
    prior: PriorKind = "structure-modular"
    kind: Kind = "asymptotic"
    assumption: str = "missing at random"

    def __len__(self) -> int:
        return math.prod(self.cells.shape[:2])

    def __getitem__(self, i: int) -> Data:
        return filled(self.data, self.cells.reshape(len(self), -1)[i])

    def __repr__(self) -> str:
        chains, draws, cells = self.cells.shape
        told = "" if self.trusted else ": not to be trusted, run longer or more chains"
        stopped = ", stopped early" if self.run.stopped else ""
        return (
            f"Completions({chains} x {draws} of {cells} cells {self.assumption}, {self.prior}, "
            f"{self.kind}, R-hat {self.rhat:.3f}, ESS {self.ess:.0f}{told}{stopped})"
        )

    @property
    def trusted(self) -> bool:
        """False if R-hat is above 1.01 or unknown, or the effective sample size below 400."""
        return bool(agree(self.rhat, self.ess))

    @property
    def from_missing(self) -> Floats:
        """The share of each edge's posterior variance that comes from the missing cells, (n, n).

        p(1 - p) is the mean of p(1 - p) given the completions, plus the variance of p between
        them: the share is the latter's. 0 where p is 0 or 1.
        """
        whole, share = self.edges * (1 - self.edges), np.zeros_like(self.edges)
        np.divide(self.given.var(axis=(0, 1)), whole, out=share, where=whole > 0)
        return share


@checked
def complete(
    data: AnyCells,
    score: BDeu | K2 | BGe,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    chains: int = CHAINS,
    burn_in: int = BURN_IN,
    thin: int = 1,
    max_parents: int = 3,
    prior: Prior = Uniform(),
    candidates: Candidates = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Completions:
    """Average over missing cells: draw them and DAGs in turn, and average the edges.

    Each cycle of a Gibbs chain draws every missing cell from p(cell | all other cells, DAG), tables
    integrated out, then the DAG from its exact posterior given the completed table. Of measurements
    it draws a regression for each family given DAG and completed table, then the missing cells of
    each row together, Normal given the regressions and the rest of the row [TannerWong1987]. So the
    draws are from p(DAG, missing cells | observed cells), structure-modular (each DAG counted
    once), if cells are missing at random [Rubin1976]: whether one is may depend on observed cells,
    not on what it holds. Edges are averages, over the completions, of exact posteriors given each,
    which are less noisy than shares of drawn DAGs [GelfandSmith1990]. Rows in which a variable was
    set by an intervention leave its family, as in `score_families`.

    The units of BGe are those in which the *observed* cells of a column have mean 0 and, with
    standardize=True, variance 1, so that all completions share one prior. `score_families` takes
    those of all cells: of a completion its scores differ a little from these.

    A cycle takes the time of `dag_posterior`: milliseconds up to n = 12, 1 s for n = 17.

    Parameters
    ----------
    data : Data of variables that all have states, or are all measured, some cells missing: read
        with `missing="keep"`
    score : BDeu or K2 of states, BGe of measurements: others are no marginal likelihoods
    draws : completions that each chain keeps, at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    chains : number of chains, each from cells drawn from the observed shares of their columns
    burn_in : cycles of each chain before its first draw
    thin : cycles before each draw
    max_parents, prior, candidates, required, forbidden, tiers : as in `score_families`
    checkpoint, progress, executor : as in `sample_orders`

    Returns
    -------
    Completions

    Raises
    ------
    ValueError
        If no cell is missing, all cells of a variable are, some variables have states and others
        are measured, an option is out of its range, memory is short, or the checkpoint is damaged
        or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [1, 1], [1, -1], [0, 0]] * 5, missing="keep")
    >>> found = complete(data, BDeu(), draws=500, rng=np.random.default_rng(1))
    >>> found.edges.round(1)
    array([[0. , 0.5],
           [0.5, 0. ]])
    >>> data = Data.from_arrays([[0.5, 1.5], [np.nan, 2.5], [2.5, 3.0]], missing="keep")
    >>> complete(data, BGe(), draws=50, rng=np.random.default_rng(1)).cells.shape
    (4, 50, 1)
    """
    plan = ChainSettings(draws, burn_in, thin, chains)
    check_generator(rng)
    _check_cells(data)
    missing = cells_of(data, score)
    check_counts(least=0, max_parents=max_parents)
    n, cells, seed = data.n, int(data.missing.sum()), seed_of(rng)
    k = min(max_parents, n - 1)
    at_once = min(plan.chains, os.cpu_count() or 1)
    work = posterior_bytes(n, max_parents=k) + scoring_bytes(n, k, m=data.m)
    memory.require(
        at_once * work + plan.bytes_of(n + cells, n * n + 1, saved=checkpoint is not None),
        task=f"n={n}, {plan.chains} x {plan.draws} completions of {cells:,} cells",
        remedy="keep fewer draws, or choose fewer variables (Data.select)",
    )
    rngs = rng.spawn(plan.chains)
    starts = [missing.state(_start(data, child), np.zeros(n, np.int64)) for child in rngs]
    table = score_families(
        filled(data, missing.cells(starts[0])),
        score,
        max_parents=max_parents,
        prior=prior,
        candidates=candidates,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
    )
    settings = {**plan.settings, "score": repr(score), "max_parents": k, "prior": repr(prior)}
    held = np.zeros(0, np.bool_) if data.intervened is None else data.intervened
    numbers = np.zeros(0) if data.measurements is None else data.measurements
    known = fingerprint(data.values, data.arities, held, numbers)
    identified = identity(METHOD, **settings, seed=seed, data=known, log_prior=table.log_prior)
    walker = CellWalker(missing, table)
    run = Chains(lambda: walker, starts, plan, rngs, _layout(missing), executor)
    run.run(Checkpoint.at(checkpoint, identified), progress)
    drawn_cells, log_target, given, dags = run.records
    told = Run(METHOD, settings, seed, run.seconds, stopped=run.stopped)
    drawn = Draws(
        *(dags, np.zeros(log_target.shape), log_target, "dags", "structure-modular", data.names),
        stats={"changed": acceptance(run.tally)},
        run=told,
    )
    edges = given.mean(axis=(0, 1))
    return Completions(data, drawn_cells, given, drawn, edges, *_diagnosed(given, log_target), told)


def _check_cells(data: Data) -> None:
    """Refuse what there is nothing to average over, and what cannot be known."""
    gaps = data.missing
    if not gaps.any():
        raise ValueError(
            "data has no missing cells: use dag_posterior(score_families(data, score)), and read "
            "with missing='keep' to have some"
        )
    for v in np.flatnonzero(gaps.all(axis=0)):
        raise ValueError(
            f"all cells of {data.names[v]!r} are missing: nothing is known of it. Leave it out "
            "(Data.select)"
        )


def _start(data: Data, rng: np.random.Generator) -> NDArray[Any]:
    """Cells drawn from the observed ones of their columns, row by row."""
    gaps = data.missing
    table = (data.values if data.measurements is None else data.measurements).copy()
    for v in np.flatnonzero(gaps.any(axis=0)):
        known = table[~gaps[:, v], v]
        table[gaps[:, v], v] = rng.choice(known, int(gaps[:, v].sum()))
    return table[gaps]


def _layout(missing: StateCells | MeasuredCells) -> Layout:
    n = missing.data.n

    def of_both(state: NDArray[Any]) -> bool:
        fits = all(missing.fit(missing.cells(each)) for each in state)
        return fits and check_dags(state[..., -n:]).size > 0

    cells = missing.kept
    edges = Kept(np.float64, (n, n), 0, 1)
    state = Kept(np.int64, (int(missing.data.missing.sum()) + n,), holds=of_both)
    return Layout(state, (cells, nats(), edges, dags_of(n)), (2,))


def _diagnosed(given: Floats, log_target: Floats) -> tuple[Floats, float, float]:
    """Standard errors (n, n) of the means, the worst R-hat, and the least ESS."""
    (chains, draws), n = log_target.shape, given.shape[-1]
    if draws < LEAST_DRAWS:
        return np.full((n, n), math.inf), math.nan, math.nan
    traces = np.moveaxis(given.reshape(chains, draws, -1), -1, 0)
    stderr = np.array([trace.std() / math.sqrt(ess(trace)) for trace in traces]).reshape(n, n)
    every = [log_target, *(trace for trace in traces if np.ptp(trace) > ROUNDING)]
    worst = max(map(rhat, every)) if chains > 1 else math.nan
    return stderr, worst, min(map(ess, every))


@dataclass(frozen=True, slots=True, eq=False)
class CellWalker:
    """Gibbs cycles over missing cells, then the DAG, among the families of a table."""

    missing: StateCells | MeasuredCells
    table: ScoreTable

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Cells (T, cells), ln targets (T,), edges given cells (T, n, n), dags (T, n), tally (2,).

        The tally is of cells drawn anew and of those that changed.
        """
        n, cells, dag = self.table.n, self.missing.cells(state), state[-self.table.n :].copy()
        kept, given = np.empty((records, cells.size), cells.dtype), np.empty((records, n, n))
        dags, log_target = np.empty((records, n), np.int64), np.empty(records)
        tally = np.zeros(2, np.int64)
        for t in range(-lead, records * thin):
            before, cells = cells, self.missing.drawn(cells, dag, rng)
            scores = self.missing.log_scores(cells, self.table.parents)
            posterior = dag_posterior(replace(self.table, log_score=scores))
            drawn = layer_block((posterior, rng.random((1, 2 * n))))
            dag = drawn["values"][0]
            if t >= 0:
                tally += cells.size, int((cells != before).sum())
            if t >= 0 and t % thin == thin - 1:
                i = t // thin
                kept[i], dags[i] = cells, dag
                given[i], log_target[i] = posterior.edges, drawn["log_target"][0]
        state[:] = self.missing.state(cells, dag)
        return kept, log_target, given, dags, tally

    @property
    def block_moves(self) -> int:
        """Cycles that take about 100 ms."""
        data = self.missing.data
        compared = int(data.missing.sum()) * data.m
        return max(1, int(BLOCK_CYCLES / (1 + 3**data.n / PAIRS + compared / ROWS)))
