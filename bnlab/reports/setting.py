"""What if a variable were set: `effects` for the question of a report."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from bnlab.checks import Floats
from bnlab.data import Data, Gapped
from bnlab.errors import InputError, Setting as Argument
from bnlab.exact import dag_posterior
from bnlab.predict import Effects, effects
from bnlab.predict.interventions import Given, Setting, target_of
from bnlab.reports.credible import evenly
from bnlab.results import Draws
from bnlab.sampling.completing import Completions
from bnlab.sampling.dags_given_orders import sample_dags
from bnlab.scores import BDeu, Score, ScoreTable

DAGS, COMPLETED = 1_000, 100  # DAGs that are averaged; completions
EACH = 10  # DAGs for each completion
TABLES = 2_000
MOST_LEVELS = 4  # of a variable that nobody asked about
LEAST_PATH = 0.05
Scored = Callable[[Data, Score], ScoreTable]  # makes the score table


def check_question(data: Gapped, do: Setting | None, on: str | None, /) -> None:
    """Refuse, as `effects` does, what it could not answer."""
    if (do is None) != (on is None):
        raise InputError(
            *("give both of ", Argument("do", ...), " and ", Argument("on", ...)),
            *(": what is set to which level, and what is looked at then",),
        )
    if do is not None and on is not None:
        Given(data, BDeu(), [do], target_of(data, [do], on))


def what_if(
    data: Gapped,
    score: Score,
    draws: Draws | None,
    filled: Completions | None,
    scored: Scored,
    paths: Floats,
    do: Setting | None,
    on: str | None,
    rng: np.random.Generator,
    /,
) -> tuple[tuple[Effects, ...], tuple[str, ...]]:
    """The effects of what is set, or of the levels of where the likeliest path begins; warnings."""
    if draws is None:
        said = "A search says nothing of what setting a variable would do: it has no probabilities."
        return (), (said,) if do else ()
    settings = [do] if do else []
    if on is None:
        u, v = divmod(int(paths.argmax()), data.n)
        if paths[u, v] < LEAST_PATH:
            return (), ()
        on = data.names[v]
        settings = [{data.names[u]: level} for level in data.levels[u][:MOST_LEVELS]]
    found = []
    for one, child in zip(settings, rng.spawn(len(settings)), strict=True):
        try:
            if filled is not None:
                found.append(_pooled(filled, scored, score, one, on, child))
                continue
            some = evenly(draws, DAGS)
            found.append(effects(some, data, do=one, on=on, score=score, tables=TABLES, rng=child))
        except ValueError as error:
            return (), (f"What setting a variable would do was not computed: {error}.",)
    return tuple(found), ()


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
) -> Effects:
    """Effects averaged over completions: of EACH exact DAGs, or of the one drawn with it."""
    each, tables = [], TABLES // COMPLETED
    for dags, data in completed(filled):
        if not filled.run.settings["moves"]:
            dags = sample_dags(dag_posterior(scored(data, score)), draws=EACH, rng=rng)
        one = effects(dags, data, do=do, on=on, score=score, tables=tables, rng=rng)
        each.append((one, dags.log_target.size))
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
