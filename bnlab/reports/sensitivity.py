"""`sensitivity`: how edges change with the prior and its strength, and with the cuts."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from bnlab import features
from bnlab.checks import Floats, checked
from bnlab.data import Data
from bnlab.diagnostics import ess as ess_of, weights_ess
from bnlab.exact import dag_posterior, order_posterior
from bnlab.linear_extensions import reweight_by_extensions
from bnlab.priors import Fair, Prior, Uniform
from bnlab.reports.analysis import Analysis
from bnlab.reports.planning import A_CYCLE, A_PAIR_OF_SETS, Plan, choose_method, scoring_seconds
from bnlab.results import Record
from bnlab.running import Clock, Progress, Steps
from bnlab.sampling.chains import CHAINS
from bnlab.sampling.cutting import A_FAMILY, BINS, Cuts, average_cuts, candidate_cuts, cut
from bnlab.sampling.dags_given_orders import sample_dags
from bnlab.sampling.partition_mcmc import sample_partitions
from bnlab.scores import K2, AnyData, BDeu, ScoreTable, edge_masks, score_families

MOST_EXACT = 17  # variables: a second for each prior; under 0.1 s up to 14
MOST_ORDERS = 22  # a second or two
DRAWS = 20_000
CUTS_SECONDS, MOST_CUTS, FEWEST_CUTS, CUTS_BURN_IN = 10.0, 200, 50, 50
A_CUT = 3e-6  # seconds of a variable and row, in a cycle over cuts
CHAIN_PARENTS, CHAIN_DRAWS, CHAIN_THIN, CHAIN_BURN_IN = 2, 500, 20, 5_000


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity(Record):
    """Edge probabilities under several priors. Make it with `sensitivity`.

    Attributes
    ----------
    ess : (A,) equivalent sample sizes of BDeu
    priors : (B,) structure priors
    edges : float64 (A, B, n, n), [a, b, u, v] = p(u -> v | D); nan where it was not asked for
    effective : float64 (A, B), how many independent draws each matrix is worth; inf where exact
    how : "exact", "draws" (of independent DAGs, the bias of orders taken out), or "short chains"
    max_parents : of each node
    seconds : float, of the slowest of them
    """

    ess: tuple[float, ...]
    priors: tuple[Prior, ...]
    edges: Floats
    effective: Floats
    how: str
    max_parents: int
    seconds: float


@checked
def sensitivity(
    target: Analysis | Data,
    /,
    *,
    ess: Sequence[float] = (0.1, 1.0, 10.0, 100.0),
    priors: Sequence[Prior] = (Uniform(), Fair()),
    crossed: bool = True,
    progress: Progress | None = None,
) -> Sensitivity:
    """Compute edges under several equivalent sample sizes of BDeu and structure priors.

    Up to 17 variables each is exact: under 0.1 s up to 14, a second for 17. Up to 22, if the plan
    is an exact one, each averages 20,000 DAGs from the exact posterior over orders, weighed by one
    over the number of their orders: a second or two. Beyond, each is of short chains on partitions
    with at most 2 parents a node, or as many as are required. All of them are structure-modular,
    take the same random numbers, from a fixed seed, and keep what an analysis knew of edges.
    With missing cells they are of the most probable completion that was drawn.

    Parameters
    ----------
    target : Analysis, whose data and plan are taken, or Data, for which `choose_method` plans
    ess : positive
    priors : structure priors
    crossed : whether every ess is combined with every prior; if not, priors after the first are
        compared at the ess nearest 1 only, and the other entries are nan
    progress : told of each matrix

    Raises
    ------
    ValueError
        If there is nothing to compare, or memory is short.
    Stopped
        If `progress` returned False before the last.
    """
    sizes = [BDeu(size) for size in ess]
    if not sizes or not priors:
        raise ValueError("nothing to compare: give at least one ess and one prior")
    data = target.whole if isinstance(target, Analysis) else target
    plan = target.plan if isinstance(target, Analysis) else choose_method(data)
    how, find = _way(data.n, plan)
    known = target.known if isinstance(target, Analysis) else {}
    _, demanded = edge_masks(data, plan.max_parents, **known)
    few = max(CHAIN_PARENTS, int(np.bitwise_count(demanded).max()))
    k = plan.max_parents if find is not _by_chains else min(plan.max_parents, few)
    edges = np.full((len(sizes), len(priors), data.n, data.n), np.nan)
    effective, slowest = np.full(edges.shape[:2], np.nan), 0.0
    base = nearest_one(ess)
    total = effective.size if crossed else len(sizes) + len(priors) - 1
    steps = Steps(progress, total)
    for a, score in enumerate(sizes):
        clock = Clock()
        table = score_families(data, score, max_parents=k, **known)
        scoring = clock.seconds
        for b, prior in enumerate(priors if crossed or a == base else priors[:1]):
            clock = Clock()
            factors = [prior.log_factor(data.n, v, table.parents[v]) for v in range(data.n)]
            log_prior = table.log_prior + np.stack(factors)  # of the known edges, and of the prior
            edges[a, b], effective[a, b] = find(replace(table, log_prior=log_prior))
            slowest = max(slowest, scoring + clock.seconds)
            steps.tick()
    return Sensitivity(tuple(ess), tuple(priors), edges, effective, how, k, slowest)


def averaged_cuts(
    analysis: Analysis, uncut: AnyData, /, *, progress: Progress | None = None
) -> Cuts | None:
    """Edges averaged over cuts in about ten seconds, from a fixed seed; None if it takes longer."""
    n, k = uncut.n, analysis.plan.max_parents
    whole = cut(uncut, tuple(each[-1] for each in candidate_cuts(uncut, BINS)))
    cycle = A_CYCLE + 2 * (A_PAIR_OF_SETS * 3.0**n + scoring_seconds(whole, k))
    cycle += A_CUT * (uncut.m + A_FAMILY) * n
    draws = min(MOST_CUTS, int(CUTS_SECONDS / (CHAINS * cycle)) - CUTS_BURN_IN)
    if draws < FEWEST_CUTS:
        return None
    return average_cuts(
        uncut,
        cast(BDeu | K2, analysis.score),
        draws=draws,
        burn_in=CUTS_BURN_IN,
        rng=np.random.default_rng(0),
        max_parents=k,
        prior=analysis.prior,
        progress=progress,
        **analysis.known,
    )


def nearest_one(ess: Sequence[float], /) -> int:
    """The place of the equivalent sample size nearest 1, on a scale of factors."""
    return int(np.argmin(np.abs(np.log(ess))))


def _way(n: int, plan: Plan) -> tuple[str, Callable[[ScoreTable], tuple[Floats, float]]]:
    """What is done, which the plan decides alone: a plan that is repeated gives equal numbers."""
    if n <= MOST_EXACT:
        return "exact", _exactly
    if n <= MOST_ORDERS and plan.method in ("exact DAGs", "exact orders"):
        return "draws", _by_draws
    return "short chains", _by_chains


def _exactly(table: ScoreTable) -> tuple[Floats, float]:
    return dag_posterior(table).edges, math.inf


def _by_draws(table: ScoreTable) -> tuple[Floats, float]:
    drawn = sample_dags(order_posterior(table), draws=DRAWS, rng=np.random.default_rng(0))
    draws = reweight_by_extensions(drawn)
    return features.edges(draws), weights_ess(draws.log_weight)


def _by_chains(table: ScoreTable) -> tuple[Floats, float]:
    rng = np.random.default_rng(0)
    draws = sample_partitions(
        table, draws=CHAIN_DRAWS, thin=CHAIN_THIN, burn_in=CHAIN_BURN_IN, rng=rng
    )
    return features.edges(draws), ess_of(draws)
