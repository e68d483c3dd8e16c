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
from bnlab.data import Data, Gapped
from bnlab.diagnostics import LEAST_DRAWS, ess, rhat
from bnlab.exact import dag_posterior
from bnlab.exact.over_dags import posterior_bytes
from bnlab.graphs import check_dags
from bnlab.kernels import completing as kernels
from bnlab.priors import Prior, Uniform
from bnlab.results import Draws, Kind, PriorKind, Record, Run, agree
from bnlab.running import Executor, Progress, seed_of
from bnlab.sampling.chains import CHAINS, Chains, ChainSettings, Layout, acceptance
from bnlab.sampling.independent import layer_block
from bnlab.scores import K2, BDeu, score_families, scoring_bytes
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
    codes : int64 (chains, draws, cells), the states of the cells np.argwhere(data.missing)
    given : float64 (chains, draws, n, n), [..., u, v] = p(u -> v | completed table), exact
    dags : Draws over "dags", one from the exact posterior given each completion; log_target is ln
        of prior factor times likelihood of the completed table, nats. stats: "changed" (chains,),
        the share of cells that changed when they were drawn anew
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

    data: Gapped
    codes: Ints
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
        return math.prod(self.codes.shape[:2])

    def __getitem__(self, i: int) -> Data:
        return filled(self.data, self.codes.reshape(len(self), -1)[i])

    def __repr__(self) -> str:
        chains, draws, cells = self.codes.shape
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
    data: Gapped,
    score: BDeu | K2,
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
    integrated out, then the DAG from its exact posterior given the completed table. So the draws
    are from p(DAG, missing cells | observed cells), structure-modular (each DAG counted once), if
    cells are missing at random [Rubin1976]: whether one is may depend on observed cells, not on
    what it holds. Edges are averages, over the completions, of exact posteriors given each, which
    are less noisy than shares of drawn DAGs [GelfandSmith1990]. Rows in which a variable was set by
    an intervention leave its family, as in `score_families`.

    A cycle takes the time of `dag_posterior`: milliseconds up to n = 12, 1 s for n = 17.

    Parameters
    ----------
    data : Data of variables with states, some cells missing: read with `missing="keep"`
    score : BDeu or K2: others are no marginal likelihood of tables
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
        If no cell is missing, all cells of a variable are, an option is out of its range, memory is
        short, or the checkpoint is damaged or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [1, 1], [1, -1], [0, 0]] * 5, missing="keep")
    >>> found = complete(data, BDeu(), draws=500, rng=np.random.default_rng(1))
    >>> found.edges.round(1)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    plan = ChainSettings(draws, burn_in, thin, chains)
    check_generator(rng)
    _check_cells(data)
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
    starts = [_start(data, child) for child in rngs]
    table = score_families(
        filled(data, starts[0][:cells]),
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
    known = fingerprint(data.values, data.arities, held)
    identified = identity(METHOD, **settings, seed=seed, data=known, log_prior=table.log_prior)
    walker = CellWalker(data, score, table.log_prior, k)
    run = Chains(lambda: walker, starts, plan, rngs, _layout(data), executor)
    run.run(Checkpoint.at(checkpoint, identified), progress)
    codes, log_target, given, dags = run.records
    told = Run(METHOD, settings, seed, run.seconds, stopped=run.stopped)
    drawn = Draws(
        *(dags, np.zeros(log_target.shape), log_target, "dags", "structure-modular", data.names),
        stats={"changed": acceptance(run.tally)},
        run=told,
    )
    edges = given.mean(axis=(0, 1))
    return Completions(data, codes, given, drawn, edges, *_diagnosed(given, log_target), told)


def filled(data: Data, codes: Ints, /) -> Data:
    """The data with codes in the missing cells, row by row."""
    values = data.values.copy()
    values[data.missing] = codes
    return replace(data, values=values)


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


def _start(data: Data, rng: np.random.Generator) -> Ints:
    """Cells drawn from the observed ones of their columns, row by row, and the empty DAG."""
    values, gaps = data.values.copy(), data.missing
    for v in np.flatnonzero(gaps.any(axis=0)):
        known = values[~gaps[:, v], v]
        values[gaps[:, v], v] = rng.choice(known, int(gaps[:, v].sum()))
    return np.concatenate([values[gaps], np.zeros(data.n)]).astype(np.int64)


def _layout(data: Data) -> Layout:
    n, sizes = data.n, data.arities[np.argwhere(data.missing)[:, 1]]

    def of_cells(found: NDArray[Any]) -> bool:
        return bool((found[..., : sizes.size] < sizes).all())

    def of_both(found: NDArray[Any]) -> bool:
        return of_cells(found) and check_dags(found[..., sizes.size :]).size > 0

    codes = Kept(np.int64, (sizes.size,), 0, holds=of_cells)
    edges = Kept(np.float64, (n, n), 0, 1)
    state = Kept(np.int64, (sizes.size + n,), 0, holds=of_both)
    return Layout(state, (codes, nats(), edges, dags_of(n)), (2,))


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
    """Gibbs cycles over the missing cells of data, then the DAG; log_prior (n, F) of families."""

    data: Data
    score: BDeu | K2
    log_prior: Floats
    max_parents: int

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Codes (T, cells), ln targets (T,), edges given codes (T, n, n), dags (T, n), tally (2,).

        The tally is of cells drawn anew and of those that changed.
        """
        n, cells = self.data.n, np.argwhere(self.data.missing)
        codes, given = np.empty((records, len(cells)), np.int64), np.empty((records, n, n))
        dags, log_target = np.empty((records, n), np.int64), np.empty(records)
        tally, arities = np.zeros(2, np.int64), np.array(self.data.arities)
        columns = np.array(filled(self.data, state[: len(cells)]).values.T, order="C")
        held, counted = self.data.intervened, np.ones(columns.shape, np.bool_)
        if held is not None:
            counted[:] = ~held.T
        for t in range(-lead, records * thin):
            dag = np.array(state[len(cells) :])
            of_cells = self.pseudo_counts(dag)
            changed = kernels.draw_cells(columns, cells, dag, of_cells, arities, counted, rng)
            whole = replace(self.data, values=columns.T)
            scored = score_families(whole, self.score, max_parents=self.max_parents)
            posterior = dag_posterior(replace(scored, log_prior=self.log_prior))
            drawn = layer_block((posterior, rng.random((1, 2 * n))))
            state[: len(cells)] = columns[cells[:, 1], cells[:, 0]]
            state[len(cells) :] = drawn["values"][0]
            if t >= 0:
                tally += len(cells), changed
            if t >= 0 and t % thin == thin - 1:
                i = t // thin
                codes[i], dags[i] = state[: len(cells)], state[len(cells) :]
                given[i], log_target[i] = posterior.edges, drawn["log_target"][0]
        return codes, log_target, given, dags, tally

    def pseudo_counts(self, dag: Ints, /) -> Floats:
        """Dirichlet parameters (n,) of a cell of each node's family in a DAG."""
        nodes, arities = np.arange(self.data.n), self.data.arities
        parents = (dag[:, None] >> nodes) & 1 == 1
        return self.score.cell_counts(arities * np.where(parents, arities, 1.0).prod(axis=1))

    @property
    def block_moves(self) -> int:
        """Cycles that take about 100 ms."""
        compared = int(self.data.missing.sum()) * self.data.m
        return max(1, int(BLOCK_CYCLES / (1 + 3**self.data.n / PAIRS + compared / ROWS)))
