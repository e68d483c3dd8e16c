"""Scores of structures with hidden nodes: MAP, BIC, Cheeseman-Stutz and the variational bound."""

import math
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import check_counts, check_generator, checked
from bnlab.data import Data
from bnlab.hidden.completions import Completions, complete, distinct_rows
from bnlab.hidden.dimensions import dimension
from bnlab.hidden.fitting import MAX_ITERATIONS, Basis, climb, pseudo_counts, random_tables
from bnlab.hidden.model import HiddenModel, Part, codes, key_of, parts
from bnlab.kernels import latent
from bnlab.results import Estimate, Kind, Run
from bnlab.running import Clock, Executor, Progress, Stopped, gather, seed_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Score = Literal["ml", "map", "bic", "bicp", "cs", "csd", "csd_rank", "vb"]

KINDS: dict[str, Kind] = {
    "ml": "plug_in",
    "map": "plug_in",
    "bic": "asymptotic",
    "bicp": "asymptotic",
    "cs": "lower_bound",
    "csd": "asymptotic",
    "csd_rank": "asymptotic",
    "vb": "lower_bound",
}


class PartScores(NamedTuple):
    """What the scores of one component are made of, in nats.

    vb is nan and rank is 0 where they are not wanted.
    """

    ml: float
    map: float
    log_prior: float  # ln p(theta_MAP)
    cs: float
    vb: float
    parameters: int
    rank: int  # how many of them the observed nodes can tell
    hidden: int
    capped: int  # climbs that ended at the largest iteration


@checked
def score(
    model: HiddenModel,
    data: Data | ArrayLike,
    scores: Collection[Score] = ("map", "bic", "bicp", "cs", "csd", "vb"),
    /,
    *,
    restarts: int = 3,
    rng: np.random.Generator,
    alias: bool = False,
    basis: Basis = "probability",
    max_iterations: int = MAX_ITERATIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> dict[str, Estimate]:
    """Score one structure, in nats: estimates of, or bounds on, ln p(data) [Beal2003, ch. 6].

    Connected parts of the graph are scored by themselves. Hidden nodes without observed descendants
    have no say in p(data): they are left out of every score, and of d and h below. (The thesis
    counts them in d, so that its BIC takes off ln m / 2 for each parameter of theirs.)

    "ml", "map": ln p(data | theta) at the best tables found; "bic": map - d/2 ln m for d free
    parameters (eq. 6.24, 6.26); "bicp": that plus ln p(theta_MAP); "cs": Cheeseman-Stutz (eq.
    6.31), a lower bound; "csd": cs + h/2 ln m for h hidden nodes (sec. 6.5.2); "csd_rank": cs +
    (d - r)/2 ln m, r of the d parameters that the observed nodes can tell, as `dimension` counts
    them, which is what the correction means; "vb": the variational lower bound (eq. 6.37), which
    starts once from theta_MAP, so that it is never below cs.

    Parameters
    ----------
    model : HiddenModel
    data : as in `complete`
    scores : which ones
    restarts : random starts of each climb, at least 1
    rng : the only source of randomness
    alias : add ln S, S = model.aliases, to all but "ml" and "map"
    basis : of the MAP estimate, as in `fit_em`
    max_iterations : of a climb
    executor : where parts are scored; threads by default

    Returns
    -------
    dict of score name to Estimate, whose kind says what it is; with alias=True no score is a bound

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> values = score(model, [[0], [1], [2]], ["cs", "vb"], rng=np.random.default_rng(1))
    >>> round(values["cs"].log_value, 4) <= round(values["vb"].log_value, 4)
    True
    """
    return score_structures(
        [model],
        data,
        scores,
        restarts=restarts,
        rng=rng,
        alias=alias,
        basis=basis,
        max_iterations=max_iterations,
        progress=progress,
        executor=executor,
    )[0]


@checked
def score_structures(
    models: Iterable[HiddenModel],
    data: Data | ArrayLike,
    scores: Collection[Score] = ("map", "bic", "bicp", "cs", "csd", "vb"),
    /,
    *,
    restarts: int = 3,
    rng: np.random.Generator,
    alias: bool = False,
    basis: Basis = "probability",
    max_iterations: int = MAX_ITERATIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[dict[str, Estimate]]:
    """Score many structures on the same data; components that several share are scored once.

    Parameters
    ----------
    models : structures over the same observed nodes
    data, scores, restarts, rng, alias, basis, max_iterations, executor : as in `score`
    progress : progress(done, total, None) after each distinct part; False stops

    Raises
    ------
    Stopped
        If `progress` returned False: no structure is scored then.

    Examples
    --------
    >>> models = [HiddenModel([0, 1, p], [2, 2, 2], hidden=[0]) for p in (0, 1)]
    >>> found = score_structures(models, [[0, 1], [1, 0]], ["vb"], rng=np.random.default_rng(1))
    >>> [round(each["vb"].log_value, 4) for each in found]
    [-4.0666, -4.1443]
    """
    unknown = set(scores) - set(KINDS)
    if unknown:
        raise ValueError(f"scores={sorted(unknown)}: choose from {', '.join(KINDS)}")
    check_counts(restarts=restarts, max_iterations=max_iterations)
    check_generator(rng)
    clock, seed = Clock(), seed_of(rng)
    models = list(models)
    if not models:
        raise ValueError("no structures to score: give at least one")
    memory.require(
        restarts * max(200 + 32 * model.free_parameters for model in models),
        task=f"{restarts:,} restarts",
        remedy="make fewer",
    )
    tables = [codes(model, data) for model in models]
    rows, weight = distinct_rows(tables[0], models[0].arities[list(models[0].observed)])
    split = [parts(model) for model in models]
    distinct = {key_of(part): part for of_model in split for part in of_model}
    for model in models:
        pseudo_counts(model, "map", basis)
    jobs = [
        (part, rows, weight, frozenset(scores), restarts, child, basis, max_iterations)
        for part, child in zip(distinct.values(), rng.spawn(len(distinct)), strict=True)
    ]
    done = gather(_score_part, jobs, progress, executor)
    if len(done) < len(jobs):
        raise Stopped(f"stopped after {len(done)} of {len(jobs)} parts: no structure is scored")
    found = dict(zip(distinct, done, strict=True))
    settings = {"restarts": restarts, "basis": basis, "max_iterations": max_iterations}
    run = Run("EM and VBEM", settings, seed, clock.seconds)
    m = len(tables[0])
    return [
        _assembled(scores, [found[key_of(part)] for part in of_model], m, model, alias, run)
        for model, of_model in zip(models, split, strict=True)
    ]


def _score_part(
    job: tuple[Part, Ints, Floats, frozenset[Score], int, np.random.Generator, Basis, int],
) -> PartScores:
    part, rows, weight, wanted, restarts, rng, basis, max_iterations = job
    model = part.model
    completions = complete(model, rows[:, list(part.columns)], weight=weight)
    starts = [random_tables(completions, model.strength, rng) for _ in range(restarts)]
    added = pseudo_counts(model, "map", basis)

    def best(method: float | None, thetas: list[Floats]) -> tuple[Floats, float, int]:
        ends = [climb(completions, model.strength, method, t, max_iterations) for t in thetas]
        top = max(ends, key=lambda end: end.trace[-1])
        return top.theta, float(top.trace[-1]), sum(not end.converged for end in ends)

    theta, _, capped = best(added, starts)
    log_likelihood = _log_likelihood(completions, theta)
    tables = (completions.base, completions.first)
    cs = latent.bound(theta, completions.groups, tables, model.strength, np.empty(theta.size))
    vb, slow = math.nan, 0
    if "vb" in wanted:
        _, vb, slow = best(None, [theta, *starts])
    ml = log_likelihood
    if "ml" in wanted and added > 0:
        ml = best(0.0, [theta, *starts])[1]
    # Last, since it draws tables of its own.
    rank = dimension(model, rng=rng) if "csd_rank" in wanted else 0
    return PartScores(
        ml,
        log_likelihood,
        _log_prior(completions, model.strength, theta),
        cs,
        vb,
        model.free_parameters,
        rank,
        len(model.hidden),
        capped + slow,
    )


def _assembled(
    scores: Collection[Score],
    found: list[PartScores],
    m: int,
    model: HiddenModel,
    alias: bool,
    run: Run,
) -> dict[str, Estimate]:
    def total(name: str) -> float:
        return math.fsum(getattr(part, name) for part in found)

    log_m = math.log(max(m, 1))
    bic = total("map") - 0.5 * total("parameters") * log_m
    values = {
        "ml": total("ml"),
        "map": total("map"),
        "bic": bic,
        "bicp": bic + total("log_prior"),
        "cs": total("cs"),
        "csd": total("cs") + 0.5 * total("hidden") * log_m,
        "csd_rank": total("cs") + 0.5 * (total("parameters") - total("rank")) * log_m,
        "vb": total("vb"),
    }
    log_aliases = math.log(model.aliases) if alias else 0.0
    results: dict[str, Estimate] = {}
    for name in scores:
        plug_in = name in ("ml", "map")
        value = values[name] + (0.0 if plug_in else log_aliases)
        kind: Kind = "asymptotic" if alias and not plug_in else KINDS[name]
        named = Run(name.upper(), {**run.settings, "alias": alias}, run.seed, run.seconds)
        results[name] = Estimate(value, 0.0, kind, run=named)
    return results


def _log_likelihood(completions: Completions, theta: Floats) -> float:
    counts = np.empty(theta.size)
    rows = latent.expect(theta, completions.groups, completions.base, counts)
    return float(rows + latent.dot_log(completions.base, theta))


def _log_prior(completions: Completions, strength: float, theta: Floats) -> float:
    """ln p(theta), summed over all table rows [Beal2003, eq. 6.4]."""
    sizes = np.diff(completions.first).tolist()
    constant = math.fsum(math.lgamma(strength * k) - k * math.lgamma(strength) for k in sizes)
    return constant + (strength - 1) * float(np.log(theta).sum()) if strength != 1 else constant
