"""`analyse`: edges, paths, Markov blankets and predictions of one table of data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnlab.data import Data
from bnlab.exact import dag_posterior, map_dag
from bnlab.graphs import markov_blankets
from bnlab.networks import BayesNet
from bnlab.prediction import log_density, plug_in_log_density
from bnlab.priors import Prior, Uniform
from bnlab.reports.credible import Credible as Credible
from bnlab.reports.credible import credible
from bnlab.reports.network import mean_network
from bnlab.reports.planning import Plan, choose_method
from bnlab.results import Draws, Estimate, Run
from bnlab.runs import Clock, Executor, Progress, seed_of
from bnlab.sampling import sample_dags
from bnlab.scores import BDeu, Score, ScoreTable, score_families

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What a table of data says about structure. Make it with `analyse`.

    Attributes
    ----------
    data : Data
    plan : Plan, by which method, why, and with what guarantee
    score, prior : the model
    table : ScoreTable
    edges : Credible, [u, v] is the edge u -> v
    paths : Credible, [u, v] is a directed path from u to v
    blankets : Credible, [u, v] is u in the Markov blanket of v; symmetric
    best : int64 (n,) parent masks
    best_is : "the most probable DAG" or "the best DAG found"
    network : BayesNet, the best DAG with posterior mean parameters
    log_evidence : Estimate of ln p(D), or None where the method gives none
    draws : Draws of DAGs, or None (search)
    diagnostics : mapping of name to number: "rhat" and "ess" of chains, "effective draws" of
        weighted draws
    warnings : sentences on what not to trust; empty if there is nothing to say
    seed : str, the state of the generator
    run : Run

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]], names=["rain", "wet"])
    >>> analyse(data, rng=np.random.default_rng(1)).predict({"rain": "1"}, "wet").round(3)
    array([0.125, 0.875])
    """

    data: Data
    plan: Plan
    score: Score
    prior: Prior
    table: ScoreTable
    edges: Credible
    paths: Credible
    blankets: Credible
    best: Ints
    best_is: str
    network: BayesNet
    log_evidence: Estimate | None
    draws: Draws | None
    seed: str
    run: Run
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Analysis({self.data.n} variables, {self.plan.method}, {self.run.seconds:.2g} s)"

    def predict(self, row: Mapping[str, str], target: str, /) -> Floats:
        """p(target | the cells of `row`, D), (levels of target,), averaged over DAGs.

        Parameters
        ----------
        row : labels by name of variable; variables left out are summed out, and so is the target
        target : name of the variable to predict

        Raises
        ------
        ValueError
            If there is no such variable or level, or too many cells are missing.
        """
        data = self.data
        codes = np.full((1, data.n), -1, np.int64)
        for name, label in row.items():
            v = data.index(name)
            if label not in data.levels[v]:
                raise ValueError(
                    f"{name!r} has no level {label!r}; there are {', '.join(data.levels[v])}"
                )
            codes[0, v] = data.levels[v].index(label)
        v = data.index(target)
        states = int(data.arities[v])
        rows = np.repeat(codes, states, axis=0)
        rows[:, v] = np.arange(states)
        if self.draws is None:
            log_joint = plug_in_log_density(self.best, data, rows, score=self.score)
        else:
            log_joint = log_density(self.draws, data, rows, score=self.score)
        probabilities: Floats = np.exp(log_joint - np.logaddexp.reduce(log_joint))
        return probabilities


def analyse(
    data: Data,
    /,
    *,
    rng: np.random.Generator,
    score: Score = BDeu(),
    prior: Prior = Uniform(),
    plan: Plan | None = None,
    seconds: float = 60.0,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Analysis:
    """Edges, paths, Markov blankets, the best DAG and its network.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]], names=["rain", "wet"])
    >>> analyse(data, rng=np.random.default_rng(1)).edges.probability.round(4)
    array([[0.    , 0.4684],
           [0.4684, 0.    ]])
    """
    clock, seed = Clock(), seed_of(rng)
    plan = choose_method(data, score=score, seconds=seconds) if plan is None else plan
    table = score_families(data, score, max_parents=plan.max_parents, prior=prior)
    posterior = dag_posterior(table)
    best = map_dag(table)
    draws = sample_dags(posterior, draws=plan.draws, rng=rng, executor=executor)
    return Analysis(
        data,
        plan,
        score,
        prior,
        table,
        Credible.exact(posterior.edges),
        Credible.exact(posterior.ancestors),
        credible(draws, markov_blankets),
        best.dags[0],
        "the most probable DAG",
        mean_network(best.dags[0], data, score),
        Estimate(posterior.log_evidence, 0.0, "exact", run=posterior.run),
        draws,
        seed,
        Run("analysis", {"method": plan.method}, seed, clock.seconds),
    )
