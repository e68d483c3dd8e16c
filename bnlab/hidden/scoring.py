"""Scores of structures with hidden nodes, and how many of their parameters the data can tell."""

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checkpoints import Arrays, end_to_end
from bnlab.checks import Count, Floats, Ints, Range, checked
from bnlab.data import Gapped
from bnlab.hidden import fitting
from bnlab.hidden.completions import Completions, cells_of_rows, counted, distinct_rows, table_rows
from bnlab.hidden.fitting import MAX_ITERATIONS, Basis
from bnlab.hidden.model import Component, HiddenModel, codes, components
from bnlab.kernels import latent
from bnlab.results import Estimate, Kind, Run
from bnlab.running import Batch, Clock, Executor, Progress, Stopped, run_steps, seed_of

Score = Literal["ml", "map", "bic", "bicp", "cs", "csd", "csd_rank", "vb"]

MAX_CONFIGURATIONS = 20_000
ROUNDING = 1e-9  # singular values below this share of the largest are zeros


class Terms(NamedTuple):
    """What the scores of one component are made of, in nats; vb nan, rank 0 if not wanted."""

    ml: float
    map: float
    log_prior: float  # ln p(theta_MAP)
    cs: float
    vb: float
    parameters: float
    rank: float  # how many of them the observed nodes can tell
    hidden: float


@checked
def score(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    scores: Collection[Score] = ("map", "bic", "bicp", "cs", "csd", "vb"),
    /,
    *,
    restarts: Count = 3,
    rng: np.random.Generator,
    alias: bool = False,
    basis: Basis = "probability",
    max_iterations: Count = MAX_ITERATIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> dict[str, Estimate]:
    """Score one structure, in nats: estimates of, or bounds on, ln p(data) [Beal2003, ch. 6].

    Components are scored by themselves. Hidden nodes without observed descendants have no say in
    p(data): they are left out of every score, and of d and h below. (The thesis counts them in d,
    so that its BIC takes off ln m / 2 for each parameter of theirs.)

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
    executor : where components are scored; threads by default

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
    asked: dict[str, Any] = {"restarts": restarts, "basis": basis, "alias": alias}
    asked |= {"max_iterations": max_iterations, "progress": progress, "executor": executor}
    return score_structures([model], data, scores, rng=rng, **asked)[0]


@checked
def score_structures(
    models: Iterable[HiddenModel],
    data: Gapped | ArrayLike,
    scores: Collection[Score] = ("map", "bic", "bicp", "cs", "csd", "vb"),
    /,
    *,
    restarts: Count = 3,
    rng: np.random.Generator,
    alias: bool = False,
    basis: Basis = "probability",
    max_iterations: Count = MAX_ITERATIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[dict[str, Estimate]]:
    """Score many structures on the same data; components that several share are scored once.

    Parameters
    ----------
    models : structures over the same observed nodes
    data, scores, restarts, rng, alias, basis, max_iterations, executor : as in `score`
    progress : progress(done, total, None) after each distinct component; False stops

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
    clock, seed = Clock(), seed_of(rng)
    models = list(models)
    if not models:
        raise ValueError("no structures to score: give at least one")
    needed = restarts * max(200 + 32 * model.free_parameters for model in models)
    memory.require(needed, task=f"{restarts:,} restarts", remedy="make fewer")
    tables = [codes(model, data) for model in models]
    rows, weight = distinct_rows(tables[0], models[0].arities[list(models[0].observed)])
    split = [components(model) for model in models]
    distinct = {one.key: one for of_model in split for one in of_model}
    for model in models:
        fitting.pseudo_counts(model, "map", basis)
    jobs = [
        (one, rows, weight, frozenset(scores), restarts, child, basis, max_iterations)
        for one, child in zip(distinct.values(), rng.spawn(len(distinct)), strict=True)
    ]
    batch = Batch(_score_component, lambda part: jobs[part.start], len(jobs), executor)
    if run_steps(batch, None, progress):
        told = f"stopped after {batch.count} of {len(jobs)} components"
        raise Stopped(f"{told}: no structure is scored")
    found = dict(zip(distinct, batch.arrays()["terms"], strict=True))
    settings = {"restarts": restarts, "basis": basis, "max_iterations": max_iterations}
    run = Run("EM and VBEM", settings, seed, clock.seconds)
    m = len(tables[0])
    return [
        _assembled(scores, np.array([found[one.key] for one in of_model]), m, model, alias, run)
        for model, of_model in zip(models, split, strict=True)
    ]


def _score_component(
    job: tuple[Component, Ints, Floats, frozenset[Score], int, np.random.Generator, Basis, int],
) -> Arrays:
    """The `Terms` of a component, as an array (1, terms)."""
    component, rows, weight, wanted, restarts, rng, basis, max_iterations = job
    model, strength = component.model, component.model.strength
    completions = counted(model, rows[:, component.columns], weight)
    starts = [fitting.random_tables(completions, strength, rng) for _ in range(restarts)]
    added = fitting.pseudo_counts(model, "map", basis)

    def best(method: float | None, thetas: list[Floats]) -> tuple[Floats, float]:
        climbs = [fitting.climb(completions, strength, method, max_iterations, t) for t in thetas]
        ends = end_to_end(climbs)
        return ends["theta"][fitting.highest(ends["value"])], float(ends["value"].max())

    theta, _ = best(added, starts)
    groups, base, counts = completions.groups, completions.base, np.empty(theta.size)
    log_likelihood = latent.expect(theta, groups, base, counts) + latent.dot_log(base, theta)
    cs = latent.bound(theta, groups, (base, completions.first), strength, counts)
    vb = best(None, [theta, *starts])[1] if "vb" in wanted else math.nan
    needs_climb = "ml" in wanted and added > 0
    ml = best(0.0, [theta, *starts])[1] if needs_climb else log_likelihood
    # Last, since it draws tables of its own.
    rank = dimension(model, rng=rng) if "csd_rank" in wanted else 0
    log_prior = _log_prior(completions, strength, theta)
    parameters, hidden = model.free_parameters, len(model.hidden)
    terms = Terms(ml, log_likelihood, log_prior, cs, vb, parameters, rank, hidden)
    return {"terms": np.array([terms])}


def _assembled(
    scores: Collection[Score], found: Floats, m: int, model: HiddenModel, alias: bool, run: Run
) -> dict[str, Estimate]:
    total = Terms(*map(math.fsum, found.T))
    log_m = math.log(max(m, 1))
    bic = total.map - 0.5 * total.parameters * log_m
    unseen = total.parameters - total.rank
    values: dict[Score, tuple[float, Kind]] = {
        "ml": (total.ml, "plug_in"),
        "map": (total.map, "plug_in"),
        "bic": (bic, "asymptotic"),
        "bicp": (bic + total.log_prior, "asymptotic"),
        "cs": (total.cs, "lower_bound"),
        "csd": (total.cs + 0.5 * total.hidden * log_m, "asymptotic"),
        "csd_rank": (total.cs + 0.5 * unseen * log_m, "asymptotic"),
        "vb": (total.vb, "lower_bound"),
    }
    results: dict[str, Estimate] = {}
    for name in scores:
        value, kind = values[name]
        if alias and kind != "plug_in":
            value, kind = value + math.log(model.aliases), "asymptotic"
        named = Run(name.upper(), {**run.settings, "alias": alias}, run.seed, run.seconds)
        results[name] = Estimate(value, 0.0, kind, run=named)
    return results


def _log_prior(completions: Completions, strength: float, theta: Floats) -> float:
    """ln p(theta), summed over all table rows [Beal2003, eq. 6.4]."""
    sizes = np.diff(completions.first).tolist()
    constant = math.fsum(math.lgamma(strength * k) - k * math.lgamma(strength) for k in sizes)
    return constant + (strength - 1) * float(np.log(theta).sum()) if strength != 1 else constant


class Dimensions(NamedTuple):
    """Estimated degrees of freedom, of the observed nodes' distribution and of all nodes'.

    Examples
    --------
    >>> Dimensions(observed=2, completed=5)
    Dimensions(observed=2, completed=5)
    """

    observed: int
    completed: int


@checked
def dimension(model: HiddenModel, /, *, rng: np.random.Generator) -> int:
    """Return the rank of the Jacobian of ln p(observed nodes) in the free parameters.

    At tables drawn at random it is, with probability 1, the dimension of the set of distributions
    that the observed nodes can have [GeigerHeckermanMeek1996], at most `free_parameters`.

    Parameters
    ----------
    model : HiddenModel
    rng : draws the tables and, beyond 20,000 joint states of the observed nodes, which to look at

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> dimension(HiddenModel([0, 1], [3, 5], hidden=[0]), rng=rng)  # not 2 + 3 * 4
    4
    """
    # Hidden nodes without children would leave rounding errors for the rank to count.
    return sum(_dimension_of_component(one.model, rng) for one in components(model))


def _dimension_of_component(model: HiddenModel, rng: np.random.Generator) -> int:
    arities = model.arities[list(model.observed)].tolist()
    if math.prod(arities) <= MAX_CONFIGURATIONS:
        states = np.array(list(itertools.product(*map(range, arities))))
    else:
        states = rng.integers(0, arities, (MAX_CONFIGURATIONS, len(arities)))
    completions = counted(model, states)
    theta = fitting.random_tables(completions, 1.0, rng)
    cells = cells_of_rows(completions)
    products = theta[cells].prod(axis=1)
    shares = products / products.sum(axis=1, keepdims=True)
    scores = np.zeros((len(cells), theta.size))  # expected counts of each row's completions
    for j in range(cells.shape[1]):
        np.add.at(scores, (np.arange(len(cells))[:, None], cells[:, j]), shares)
    scores /= theta
    # Along the simplex: what moves a table row and keeps its sum.
    row_of, _ = table_rows(completions.first)
    tangent = scores - scores[:, completions.first[1:][row_of] - 1]
    return _closed(completions) + _rank(tangent, ROUNDING)


@checked
def perturbation_dimensions(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    theta: Sequence[Floats],
    /,
    *,
    draws: Count,
    rng: np.random.Generator,
    eps: Annotated[float, Range(0, 0.01, "(]")] = 1e-5,
    tolerance: float = 1e-4,
) -> Dimensions:
    """Return the ranks of matrices of perturbed log likelihoods [Beal2003, Algorithm 6.2].

    Entry (i, r) is the change of ln p(row i) at the r-th random perturbation of theta: of the
    distinct rows as observed, and completed at random. (The algorithm takes the values themselves,
    whose rank is 1 more.) Singular values below `tolerance` times the largest count as zeros: the
    curvature of ln p leaves some of the order of eps. Unlike `dimension` it knows only the rows of
    the data, and needs more draws and distinct rows than there are parameters.

    Parameters
    ----------
    model, data : as in `complete`
    theta : tables, as in `Fit.theta`; cells near 0 are first raised to 10 eps
    draws : number of perturbations
    rng : the only source of randomness
    eps : relative size of a perturbation
    tolerance : what counts as zero

    Examples
    --------
    >>> model, rng = HiddenModel([0, 1], [2, 3], hidden=[0]), np.random.default_rng(0)
    >>> theta = [np.array([[0.4, 0.6]]), np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])]
    >>> perturbation_dimensions(model, [[0], [1], [2]], theta, draws=50, rng=rng).observed
    2
    """
    completions = counted(model, codes(model, data))
    starts = completions.first[:-1]
    rows, _ = table_rows(completions.first)
    base = np.maximum(fitting.flat_tables(model, theta)[0], 10 * eps)
    base /= np.add.reduceat(base, starts)[rows]
    cells = cells_of_rows(completions)
    closed = _closed(completions)
    if not cells.size:  # no table is open
        return Dimensions(closed, closed)
    memory.require(
        draws * 32 * len(cells), task=f"{draws:,} perturbations", remedy="draw fewer of them"
    )
    filled = cells[np.arange(len(cells)), :, rng.integers(0, completions.listed.states)]

    def log_p(tables: Floats) -> tuple[Floats, Floats]:
        products = np.where(cells[:, 0] >= 0, tables[cells].prod(axis=1), 0.0)
        return np.log(products.sum(axis=1)), np.log(tables[filled]).sum(axis=1)

    changes = []
    for _ in range(draws):
        noise = rng.standard_normal(base.size)
        noise -= np.add.reduceat(noise * base, starts)[rows]
        changes.append(np.subtract(log_p(base * (1 + eps * noise)), log_p(base)))
    seen, whole = (_rank(np.array(of_kind), tolerance) for of_kind in zip(*changes, strict=True))
    return Dimensions(closed + seen, closed + whole)


def _closed(completions: Completions) -> int:
    """Free parameters of the tables that only observed nodes take part in."""
    row_of, sizes = table_rows(completions.first)
    return int(np.delete(sizes - 1, row_of[completions.listed.cells]).sum())


def _rank(matrix: Floats, tolerance: float) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > tolerance * values.max(initial=0.0)).sum())
