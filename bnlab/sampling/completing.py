"""`complete`: missing cells and DAGs, drawn in turn along Gibbs chains."""

import os

import numpy as np

from bnlab.checks import Floats, Ints, checked, frozen
from bnlab.data import AnyCells, Data
from bnlab.priors import Prior, Uniform
from bnlab.running import Executor, Progress
from bnlab.sampling.averaging import BURN_IN, Averages, averages
from bnlab.sampling.chains import CHAINS, ChainSettings
from bnlab.sampling.missing_cells import cells_of, filled
from bnlab.scores import K2, BDeu, BGe, ConditionalGaussian
from bnlab.scores.knowledge import Candidates, Edges, Tiers

METHOD = "Gibbs sampling of cells and DAGs"


@frozen(repr=False)
class Completions(Averages):
    """Completions of a table with missing cells, and what they say of the edges, averaged.

    A sequence of complete Data, chain after chain: `len(completions)`, `completions[0]`. Cells are
    taken to be *missing at random*: whether one is missing may depend on what was observed, not on
    what it holds. No data can show that. Make one with `complete`.

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
    max_parents: int = 3,
    prior: Prior = Uniform(),
    candidates: Candidates = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
    moves: int | None = None,
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
    DAGs, the edges are noisier, and chains that do not mix show in R-hat and ESS: look at them.
    A cycle of n = 20 and 300 rows takes about 0.03 s, of n = 37 about 0.2 s.

    Parameters
    ----------
    data : Data, some cells missing: read with `missing="keep"`
    score : BDeu or K2 of states, BGe of measurements, ConditionalGaussian of tables with both:
        others are no marginal likelihoods
    draws : completions that each chain keeps, at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    chains : number of chains, each from cells drawn from the observed shares of their columns
    burn_in : cycles of each chain before its first draw
    thin : cycles before each draw
    max_parents, prior, candidates, required, forbidden, tiers : as in `score_families`
    moves : 0 for DAGs from the exact posterior, or the number of moves on partitions in each cycle
        that draw them; by default 0 up to 14 variables, 50 n beyond
    checkpoint, progress, executor : as in `sample_orders`

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
    _check_cells(data)
    cells, found = averages(
        METHOD,
        cells_of(data, score, max_parents),
        score,
        plan,
        rng,
        max_parents=max_parents,
        prior=prior,
        known={
            "candidates": candidates,
            "required": required,
            "forbidden": forbidden,
            "tiers": tiers,
        },
        moves=moves,
        checkpoint=checkpoint,
        progress=progress,
        executor=executor,
    )
    return Completions(data=data, cells=cells, **found)


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
