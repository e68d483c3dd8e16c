"""`analyse`: edges, paths, Markov blankets, predictions and effects of one table of data."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from bnlab.checkpoints import Checkpoint
from bnlab.checks import Floats, Ints, checked
from bnlab.data import Data, Gapped
from bnlab.errors import InputError, Setting as Argument
from bnlab.exact import dag_posterior
from bnlab.graphs import ancestors, markov_blankets
from bnlab.networks import BayesNet
from bnlab.networks.bayesnet import mean_network
from bnlab.predict import Effects, effects, log_density, plug_in_log_density, typed_row
from bnlab.predict.interventions import Given, Setting, target_of
from bnlab.priors import Prior, Uniform
from bnlab.reports.answers import ANSWERS, Answer, Credible, Task, credible, doubts, evenly, one_dag
from bnlab.reports.planning import Plan, choose_method
from bnlab.results import Draws, Estimate, Record, Run
from bnlab.running import Clock, Executor, Progress, Steps, Stopped, report_progress, seed_of
from bnlab.sampling.completing import Completions, complete
from bnlab.sampling.dags_given_orders import sample_dags
from bnlab.scores import K2, BDeu, Edges, Score, ScoreTable, Tiers, by_name, score_families
from bnlab.scores.local import check_pseudo_counts

DAGS, COMPLETED = 1_000, 100  # DAGs that are averaged; completions
EACH = 10  # DAGs for each completion
DRAWN = 950  # thousandths of the progress up to which methods go; the rest is `what_if`
TABLES = 2_000
MOST_LEVELS = 4  # of a variable that nobody asked about
LEAST_PATH = 0.05
Scored = Callable[[Data, Score], ScoreTable]  # makes the score table


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
            some = evenly(self.draws, DAGS)
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
        What is drawn by then is analysed, except for `what_if`; the plan's exact sums have no
        partial result
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
    found = ANSWERS[plan.method](task)
    whole, filled = _whole(data, found.completions), found.completions
    table = task.table if filled is None else scored(whole, score)
    settings: dict[str, Any] = {"method": plan.method, "max_parents": plan.max_parents}
    settings |= {"score": repr(score), "prior": repr(prior)}
    settings |= {name: getattr(plan, name) for name in ("draws", "chains", "burn_in", "thin")}
    edges = _relation(found, np.asarray) if found.edges is None else found.edges
    paths = _relation(found, ancestors) if found.paths is None else found.paths
    blankets = _relation(found, markov_blankets)
    what_if: tuple[Effects, ...] = ()
    unasked: tuple[str, ...] = ()
    stopped = found.stopped
    try:
        what_if = _what_if(data, score, found, scored, paths.probability, do, on, rng, part)
    except (ValueError, Stopped) as error:
        unasked = (f"What setting a variable would do was not computed: {error}.",)
        stopped |= isinstance(error, Stopped)
    if not stopped:
        report_progress(progress, 1000, 1000, "done")
    run = Run("analysis", settings, seed, clock.seconds, stopped=stopped)
    return Analysis(
        data=data,
        plan=plan,
        score=score,
        prior=prior,
        known=known,
        table=table,
        edges=edges,
        paths=paths,
        blankets=blankets,
        best=found.best,
        best_is=found.best_is,
        network=_network(found.best, data, filled, score),
        log_evidence=found.log_evidence,
        draws=found.draws,
        seed=seed,
        run=run,
        diagnostics=found.diagnostics,
        warnings=(*found.warnings, *doubts(plan, found.diagnostics, run), *unasked),
        completions=filled,
        what_if=what_if,
    )


def _whole(data: Data, filled: Completions | None) -> Data:
    return data if filled is None else filled[int(filled.dags.log_target.argmax())]


def _network(dag: Ints, data: Data, filled: Completions | None, score: Score) -> BayesNet:
    """The network of a DAG with tables that average over completions drawn with it, if any."""
    if filled is None:
        return mean_network(dag, data, score)
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


def check_question(data: Gapped, do: Setting | None, on: str | None, /) -> None:
    """Refuse, as `effects` does, what it could not answer."""
    if (do is None) != (on is None):
        raise InputError(
            *("give both of ", Argument("do", ...), " and ", Argument("on", ...)),
            *(": what is set to which level, and what is looked at then",),
        )
    if do is not None and on is not None:
        Given(data, BDeu(), [do], target_of(data, [do], on))


def _what_if(
    data: Gapped,
    score: Score,
    answered: Answer,
    scored: Scored,
    paths: Floats,
    do: Setting | None,
    on: str | None,
    rng: np.random.Generator,
    part: Callable[[int, int, str], Progress],
) -> tuple[Effects, ...]:
    """The effects of what is set, or of the levels of where the likeliest path begins."""
    if answered.draws is None:
        if do:
            raise ValueError("a search has no probabilities")
        return ()
    settings = [do] if do else []
    if on is None:
        u, v = divmod(int(paths.argmax()), data.n)
        if paths[u, v] < LEAST_PATH:
            return ()
        on = data.names[v]
        settings = [{data.names[u]: level} for level in data.levels[u][:MOST_LEVELS]]
    found, each = [], (1000 - DRAWN) // max(1, len(settings))
    for k, (one, child) in enumerate(zip(settings, rng.spawn(len(settings)), strict=True)):
        told = part(DRAWN + k * each, DRAWN + (k + 1) * each, "setting variables")
        if answered.completions is not None:
            found.append(_pooled(answered.completions, scored, score, one, on, child, told))
            continue
        asked: Any = {"do": one, "on": on, "score": score, "tables": TABLES, "rng": child}
        found.append(effects(evenly(answered.draws, DAGS), data, **asked, progress=told))
    return tuple(found)


def completed(filled: Completions, /) -> Iterator[tuple[Draws, Data]]:
    """Completions at even steps, each with the DAG that was drawn from its exact posterior."""
    dags = filled.dags.values.reshape(-1, 1, 1, filled.data.n)
    targets = filled.dags.log_target.reshape(-1, 1, 1)
    none, kinds = np.zeros((1, 1)), (filled.dags.over, filled.prior, filled.dags.names)
    for i in np.linspace(0, len(filled) - 1, min(COMPLETED, len(filled))).astype(int).tolist():
        yield Draws(dags[i], none, targets[i], *kinds, run=filled.run), filled[i]


def _pooled(
    filled: Completions,
    scored: Scored,
    score: Score,
    do: Setting,
    on: str,
    rng: np.random.Generator,
    progress: Progress,
) -> Effects:
    """Effects averaged over completions: of EACH exact DAGs, or of the one drawn with it."""
    each, tables, steps = [], TABLES // COMPLETED, Steps(progress, min(COMPLETED, len(filled)))
    for dags, data in completed(filled):
        if not filled.run.settings["moves"]:
            dags = sample_dags(dag_posterior(scored(data, score)), draws=EACH, rng=rng)
        one = effects(dags, data, do=do, on=on, score=score, tables=tables, rng=rng)
        each.append((one, dags.log_target.size))
        steps.tick()
    means = np.concatenate(
        [np.repeat(one.means, np.rint(one.weights * k).astype(int), axis=0) for one, k in each]
    )
    first, draws = each[0][0], np.concatenate([one.draws for one, _ in each])
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return replace(
        first,
        mean=means.mean(axis=0),
        between=means.std(axis=0),
        within=np.sqrt(np.mean([one.within**2 for one, _ in each], axis=0)),
        low=low,
        high=high,
        unaffected=float(np.mean([one.unaffected for one, _ in each])),
        stderr=np.full(means.shape[1], np.inf),
        kind="asymptotic",
        means=means,
        weights=np.full(len(means), 1 / len(means)),
        draws=draws,
        rhat=filled.rhat,
        ess=filled.ess,
    )


def from_missing(one: Effects, completions: int, /) -> Floats:
    """The share (levels,) of the variance of p(y | do(x)) from missing cells; nan if unknown."""
    means = one.means.reshape(completions, -1, one.mean.size)
    if (size := means.shape[1]) == 1:
        return np.full(one.mean.size, np.nan)
    noise = means.var(axis=1, ddof=1).mean(axis=0) / size
    between = np.maximum(0.0, means.mean(axis=1).var(axis=0) - noise)
    share: Floats = between / (one.between**2 + one.within**2)
    return share
