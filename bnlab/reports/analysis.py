"""`analyse`: edges, paths, Markov blankets and predictions of one table of data."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from bnlab.checkpoints import Checkpoint
from bnlab.checks import Floats, Ints, checked
from bnlab.data import Data, Gapped
from bnlab.graphs import ancestors, markov_blankets
from bnlab.networks import BayesNet
from bnlab.networks.bayesnet import mean_network
from bnlab.predict import Effects, log_density, plug_in_log_density, typed_row
from bnlab.predict.interventions import Setting
from bnlab.priors import Prior, Uniform
from bnlab.reports.answers import Answer, Task, answer, doubts
from bnlab.reports.credible import Credible, credible, evenly, one_dag
from bnlab.reports.planning import Plan, choose_method
from bnlab.reports.setting import COMPLETED, check_question, completed, what_if
from bnlab.results import Draws, Estimate, Record, Run
from bnlab.running import Clock, Executor, Progress, report_progress, seed_of
from bnlab.sampling.completing import Completions, complete
from bnlab.scores import K2, BDeu, Edges, Score, ScoreTable, Tiers, by_name, score_families
from bnlab.scores.local import check_pseudo_counts

PREDICTORS = 1_000


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Analysis(Record):
    """What a table of data says about structure. Make it with `analyse`.

    Attributes
    ----------
    data : Data
    plan : Plan, by which method, why, and with what guarantee
    score, prior : the model
    known : mapping of "required", "forbidden" and "tiers" to what was given, by name
    table : ScoreTable, with missing cells that of `whole`
    edges : Credible, [u, v] is the edge u -> v
    paths : Credible, [u, v] is a directed path from u to v
    blankets : Credible, [u, v] is u in the Markov blanket of v; symmetric
    best : int64 (n,) parent masks
    best_is : "the most probable DAG" or "the best DAG found"
    network : BayesNet, the best DAG with posterior mean parameters
    completions : Completions of the missing cells, over which all is averaged; None without any
    what_if : Effects, one for each setting of the question, if it was set; see `analyse`
    log_evidence : Estimate of ln p(D), or None where the method gives none
    draws : Draws of DAGs, or None (search)
    diagnostics : mapping of name to number: "draws"; "rhat" and "ess" of the log target of chains,
        and how far they differ in an edge; "effective draws" of weighted draws
    warnings : sentences on what not to trust; empty if there is nothing to say
    seed : str, the state of the generator
    run : Run
    """

    data: Gapped
    plan: Plan
    score: Score
    prior: Prior
    known: Mapping[str, Any]
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
    completions: Completions | None = None
    what_if: tuple[Effects, ...] = ()

    @property
    def whole(self) -> Data:
        """The data; where cells are missing, the most probable completion of those drawn."""
        return _whole(self.data, self.completions)

    def __repr__(self) -> str:
        return f"Analysis({self.data.n} variables, {self.plan.method}, {self.run.seconds:.2g} s)"

    def predict(self, row: Mapping[str, str | float | None], target: str, /) -> Floats:
        """Return p(target | cells of `row`, D), (levels of target,), averaged over 1,000 DAGs.

        Where cells are missing, over 100 completions with a DAG each.

        Parameters
        ----------
        row : by name of variable labels, or numbers, found in their intervals where the column was
            cut, as `predict.typed_row` takes them; variables that are missing or left out are
            summed out, and so is the target
        target : name of the variable to predict

        Raises
        ------
        ValueError
            If there is no such variable or level, or too many cells are missing.
        """
        data, codes = self.data, typed_row(self.data, row)
        v = data.index(target)
        states = int(data.arities[v])
        rows = np.repeat(codes[None], states, axis=0)
        rows[:, v] = np.arange(states)
        if self.completions is not None:
            parts = [
                log_density(dag, some, rows, score=self.score)
                for dag, some in completed(self.completions)
            ]
            log_joint = np.logaddexp.reduce(parts, axis=0)
        elif self.draws is None:
            log_joint = plug_in_log_density(self.best, data, rows, score=self.score)
        else:
            some = evenly(self.draws, PREDICTORS)
            log_joint = log_density(some, data, rows, score=self.score)
        probabilities: Floats = np.exp(log_joint - np.logaddexp.reduce(log_joint))
        return probabilities


@checked
def analyse(
    data: Gapped,
    /,
    *,
    rng: np.random.Generator,
    score: Score = BDeu(),
    prior: Prior = Uniform(),
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
    do: Setting | None = None,
    on: str | None = None,
    plan: Plan | None = None,
    seconds: float = 60.0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Analysis:
    """Analyse a table: edges, paths, Markov blankets, the best DAG and its network.

    Structure-modular, by whatever method: every DAG counts once, times the prior factor.

    Parameters
    ----------
    data : Data; missing cells (`missing="keep"`) are averaged over, by `complete`
    rng : the only source of randomness; equal states and plans give equal answers for any executor
    score : BDeu or K2
    prior : structure prior
    required, forbidden, tiers : as in `score_families`; `read_knowledge` reads them from a file
    do, on : what to ask of `effects`: variables set to levels, and which one is looked at then. By
        default the two with the likeliest path, for up to 4 levels of the first
    plan : Plan from `choose_method`; by default its choice for `data` and `seconds`
    seconds : for the whole analysis, about; only used without a plan
    checkpoint : a file that keeps chains, as in `sample_orders`, or the climbs of a search. If it
        is there, the same call with the same plan goes on from it. The exact methods, which take
        seconds to minutes, write none and simply run again
    progress : progress(done, 1000, what), what being a few words on the work at hand; False stops.
        What is drawn by then is analysed; the plan's exact sums have no partial result
    executor : where blocks of draws or chains run; threads by default

    Raises
    ------
    ValueError
        Before any work: if the data have one variable only or no row, the score has no
        pseudo-counts, what is given of edges leaves no DAG, `do` and `on` are no question,
        the memory for the method is not there, or there is no place for the checkpoint. Or if that
        is damaged or of another run: it is left as it is.
    Stopped
        If `progress` returned False before there was a draw.
    """
    check_pseudo_counts(score)
    check_question(data, do, on)
    known = by_name(data.names, required=required, forbidden=forbidden, tiers=tiers)
    plan = choose_method(data, score=score, seconds=seconds) if plan is None else plan
    if checkpoint is not None:
        Checkpoint(checkpoint, {})  # refuses a place that can hold no file
    clock, seed = Clock(), seed_of(rng)
    report_progress(progress, 0, 1000, "scoring families")
    model = {"max_parents": plan.max_parents, "prior": prior, **known}
    scored = partial(score_families, **model)
    fill = partial(complete, data, cast(BDeu | K2, score), **model)
    part = partial(_part, progress)
    task = Task(partial(scored, data, score), fill, plan, rng, part, executor, checkpoint)
    found = answer(task)
    whole, filled = _whole(data, found.completions), found.completions
    table = task.table if filled is None else scored(whole, score)
    settings: dict[str, Any] = {"method": plan.method, "max_parents": plan.max_parents}
    settings |= {"score": repr(score), "prior": repr(prior)}
    settings |= {name: getattr(plan, name) for name in ("draws", "chains", "burn_in", "thin")}
    edges = _relation(found, np.asarray) if found.edges is None else found.edges
    paths = _relation(found, ancestors) if found.paths is None else found.paths
    blankets = _relation(found, markov_blankets)
    told, unasked = what_if(
        data, score, found.draws, filled, scored, paths.probability, do, on, rng
    )
    if not found.stopped:
        report_progress(progress, 1000, 1000, "done")
    run = Run("analysis", settings, seed, clock.seconds, stopped=found.stopped)
    return Analysis(
        data,
        plan,
        score,
        prior,
        known,
        table,
        edges,
        paths,
        blankets,
        found.best,
        found.best_is,
        mean_network(found.best, data, score)
        if filled is None
        else _network_of(found.best, filled, score),
        found.log_evidence,
        found.draws,
        seed,
        run,
        found.diagnostics,
        (*found.warnings, *doubts(plan, found.diagnostics, run), *unasked),
        filled,
        told,
    )


def _whole(data: Data, filled: Completions | None) -> Data:
    return data if filled is None else filled[int(filled.dags.log_target.argmax())]


def _network_of(dag: Ints, filled: Completions, score: Score) -> BayesNet:
    """The network of a DAG with tables that average over completions drawn with it."""
    with_it = np.flatnonzero((filled.dags.values.reshape(-1, dag.size) == dag).all(axis=1))
    chosen = with_it[np.linspace(0, with_it.size - 1, min(COMPLETED, with_it.size)).astype(int)]
    each = [mean_network(dag, filled[int(i)], score) for i in chosen]
    tables = [sum(some) / len(each) for some in zip(*(net.tables for net in each), strict=True)]
    return replace(each[0], tables=tuple(tables))


def _relation(found: Answer, relation: Callable[[Ints], Ints]) -> Credible:
    if found.draws is not None:
        return credible(found.draws, relation)
    return one_dag(relation(found.best))


def _part(progress: Progress | None, first: int, last: int, what: str) -> Progress:
    """The progress of a part that goes from `first` to `last` thousandths of the whole."""

    def told(done: int, total: int, snapshot: object) -> bool:
        return report_progress(progress, first + (last - first) * done // max(1, total), 1000, what)

    return told
