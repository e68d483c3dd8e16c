"""The 136 structures of the thesis, data from its tables, their scores, and annealing runs.

Runs are on the true structure: against steps, from both sides, along the schedule.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab.checks import Floats
from bnlab.hidden import (
    AIS,
    SMC,
    JointDirichlet,
    RowDirichlet,
    Warped,
    anneal,
    estimate_evidence,
    estimate_structures,
    fit_vb,
    score,
)
from bnlab.hidden.scoring import Score
from bnlab.kernels import latent
from bnlab.labs.view import Progress
from bnlab.papers.beal2003 import printed, world
from bnlab.papers.beal2003.annealing import both_ways, true_model
from bnlab.papers.beal2003.world import ARITIES, models, truth

SEED = 2003
"""Of the first data set; others have the seeds that follow."""

SIZES = (10, 40, 160, 480, 640, 960, 1280, 2560, 5120, 10_240)
"""Data sizes of the widgets; a smaller set of rows is part of the larger ones."""

SCORES: Mapping[str, Score] = {"MAP": "map", "BIC": "bic", "BICp": "bicp", "CS": "cs", "VB": "vb"}
"""Names on the page -> names in the package."""

PARTICLES = 32
NAMES = ("s1", "s2", "y1", "y2", "y3", "y4")

TABLES = tuple([[p or printed.LEAST for p in row] for row in table] for table in printed.THETA)
"""The tables printed in sec. 6.4 of [Beal2003]: rows sum to 1 nearly; its .00 is here .0025."""

PRINTED_RANKS: Mapping[int, Mapping[str, int]] = {
    n: {
        label: int(
            printed.TABLE_6_1[printed.SIZES.index(n)][printed.RANK_SCORES.index(SCORES[label])]
        )
        for label in ("BIC", "BICp", "CS", "VB")
    }
    for n in SIZES
}
"""Rank of the true structure in Table 6.1 of [Beal2003], alias-corrected, at `SIZES`."""

PRINTED_RUNS: Mapping[int, tuple[int, ...]] = {
    n: tuple(map(int, printed.TABLE_6_3[printed.SIZES.index(n)][:5]))
    for n in (10, 40, 480, 1280, 5120)
}
"""Rank of the true structure by five single annealing runs, Table 6.3 of [Beal2003]."""

structures, true_number = models, truth
"""As the lab calls them: the 136 structures, and which of them made the data: `true_model()`."""


def thesis_tables() -> list[Floats]:
    """Tables of the thesis, one array (rows, states) a node, rows normalised."""
    return [np.array(t) / np.sum(t, axis=1, keepdims=True) for t in TABLES]


def causes_of(number: int) -> int:
    """How many hidden nodes of a structure have children."""
    return int(np.bitwise_or.reduce(structures()[number].parents)).bit_count()


@cache
def _all_rows(seed: int) -> bn.Data:
    levels = tuple(tuple(map(str, range(1, k + 1))) for k in ARITIES)
    about = true_model().parents, np.array(ARITIES), NAMES, levels
    net = bn.BayesNet(*about, tuple(thesis_tables()))
    return net.sample(max(SIZES), np.random.default_rng(seed)).select(NAMES[2:])


def rows(n: int, seed: int = SEED) -> bn.Data:
    """The first n of 10,240 rows simulated from the tables of the thesis, hidden nodes left out."""
    return _all_rows(seed).prefix(n)


def scored(n: int, seed: int = SEED) -> Mapping[str, Floats]:
    """Five scores of the 136 structures, nats; all but MAP with the alias term ln S.

    BIC and BICp count the parameters of hidden nodes without children, as the thesis does.

    Returns
    -------
    dict of score name to float64 (136,)
    """
    return _scored(n, seed)


@cache
def _scored(n: int, seed: int) -> Mapping[str, Floats]:
    names = tuple(SCORES.values())
    values = world.scored(rows(n, seed).values, names, rng=np.random.default_rng([seed, n]))
    return {
        label: values[:, place] + world.log_aliases() * (label != "MAP")
        for place, label in enumerate(SCORES)
    }


class Gold(NamedTuple):
    """Evidence of the 136 structures by SMC, nats: (136,) values and standard errors."""

    log_value: Floats
    stderr: Floats


def gold(n: int, /, *, progress: Progress | None = None) -> Gold:
    """The evidence of all 136 structures by sequential Monte Carlo over rows: the gold standard.

    Raises
    ------
    Stopped
        If `progress` returned False.
    """
    rng = np.random.default_rng([SEED, n, PARTICLES])
    found = estimate_structures(
        structures(), rows(n), runs=2, rng=rng, method=SMC(PARTICLES), progress=progress
    )
    return Gold(np.array([e.log_value for e in found]), np.array([e.stderr for e in found]))


def rank(scores: ArrayLike, number: int | None = None) -> int:
    """How many structures score higher than this one, plus 1; the true one if none is given."""
    return int(world.ranks(np.asarray(scores, np.float64), number))


def exp_digamma(x: ArrayLike) -> Floats:
    """exp of the derivative of ln Gamma; about x - 1/2."""
    values = np.asarray(x, np.float64)
    return np.array([latent.exp_digamma(v) for v in values.ravel()]).reshape(values.shape)


def log_completed(counts: ArrayLike) -> float:
    """ln probability of completed rows given by counts (rows of a table, states), strength 1.

    Each row of the table is integrated out: (k - 1)! prod_i N_i! / (N + k - 1)!.
    """
    total = 0.0
    for row in np.asarray(counts, np.float64):
        total += math.lgamma(row.size) - math.lgamma(row.sum() + row.size)
        total += sum(math.lgamma(count + 1) for count in row)
    return total


SHAPES: Mapping[str, float] = {
    "e = 0.05": 0.05,
    "e = 0.2 (thesis)": 0.2,
    "e = 1": 1.0,
    "linear": 1e9,
}
"""Shapes of the schedule (6.73), from slowest at the prior to even."""

MOVES: Mapping[str, JointDirichlet | RowDirichlet] = {
    "one row at a time": RowDirichlet(),
    "all rows at once (thesis)": JointDirichlet(),
}

PARTS = 16  # of a schedule, for ratios and acceptance
STEP_STOPS = (16, 64, 256, 1024, 4096, 16_384)
TRACES = 4  # runs from the prior in the figure after 6.10
TOLD, FRESH = "from the true tables", tuple(f"run {i + 1}" for i in range(TRACES))


class Traces(NamedTuple):
    """ln weights of single runs at some numbers of steps, beside two scores, nats."""

    lines: Mapping[str, Floats]  # label -> (k,), one with each number of steps, nan where not run
    rules: Mapping[str, float]  # score name -> its value


def not_run(stops: Sequence[int]) -> dict[str, Floats]:
    """Label -> (stops,) nan."""
    return {name: np.full(len(stops), np.nan) for name in (TOLD, *FRESH)}


@cache
def two_scores(n: int) -> Mapping[str, float]:
    """VB and BIC of the true structure, without the alias term."""
    rng = np.random.default_rng([SEED, n])
    found = score(true_model(), rows(n), ["vb", "bic"], rng=rng)
    return {"VB, a lower bound": found["vb"].log_value, "BIC": found["bic"].log_value}


def traces(
    n: int,
    shape: float,
    moves: JointDirichlet | RowDirichlet,
    /,
    *,
    stops: Sequence[int] = STEP_STOPS,
    progress: Progress = lambda *_: True,
) -> Traces:
    """Single upward runs: one from the tables that made the data, four from the prior.

    n : rows; shape : e of the schedule; stops : numbers of steps
    """
    found, rng = Traces(not_run(stops), two_scores(n)), np.random.default_rng([SEED, n])
    done, total = 0, (TRACES + 1) * sum(stops)
    for (k, steps), (name, line) in product(enumerate(stops), found.lines.items()):
        start = thesis_tables() if name == TOLD else None
        method = AIS(Warped(steps, shape), moves)
        run = anneal(true_model(), rows(n), runs=1, rng=rng, method=method, start=start)
        line[k] = run.log_weight[0]
        done += steps
        if not progress(done, total, found._replace()):
            break
    return found


class Problem(NamedTuple):
    """Tables drawn from the prior, data simulated from them, and what ln p(data) is, nats."""

    data: bn.Data
    tables: tuple[Floats, ...]
    reference: float
    reference_is: str


@cache
def simulated(n: int) -> Problem:
    """The true structure with tables from its prior, n rows of data, and their evidence.

    The evidence is the sum over completions up to 8 rows, and by SMC above.
    """
    rng = np.random.default_rng([SEED, n])
    net = bn.BayesNet.random_tables(true_model().parents, ARITIES, rng, names=NAMES)
    data = net.sample(n, rng).select(NAMES[2:])
    if n <= 8:
        value = bn.hidden.exact_evidence(true_model(), data)
    else:
        value = estimate_evidence(true_model(), data, runs=4, rng=rng, method=SMC(200))
    return Problem(data, net.tables, value.log_value, "exact" if n <= 8 else "SMC")


class Band(NamedTuple):
    """What runs from both ends say at one number of steps, nats from the reference."""

    steps: int
    upward: float  # means of ln weight, below and above the truth on average
    reverse: float
    low: float  # bounds that hold with probability 0.95 each
    high: float


def bands(
    n: int,
    shape: float,
    /,
    *,
    runs: int = 20,
    stops: Sequence[int] = STEP_STOPS[:-1],
    progress: Progress = lambda *_: True,
) -> list[Band]:
    """Both sides at each number of steps, with row-wise moves; stopped, those that are complete.

    n : rows of simulated data; shape : e of the schedule; runs : of each direction
    """
    problem, rng = simulated(n), np.random.default_rng([SEED, n, runs])
    found: list[Band] = []
    done, total, going = 0, 2 * runs * sum(stops), True
    for steps in stops:

        def tell(*_: object, steps: int = steps, found: list[Band] = found) -> bool:
            nonlocal done, going
            done += steps
            going = going and progress(done, total, found)
            return going

        how = {"method": AIS(Warped(steps, shape)), "runs": runs, "rng": rng, "progress": tell}
        pair = both_ways(problem.data, problem.tables, **how)
        if any(annealed.run.stopped for annealed in pair):
            break
        w, back = (annealed.log_weight - problem.reference for annealed in pair)
        low, high = bn.lower_bound(w, bins=1), bn.lower_bound(-back, bins=1)
        ends = (float(w.mean()), float(back.mean()), low.log_value, -high.log_value)
        found = [*found, Band(steps, *ends)]
        if not going:
            break
    return found


class Loop(NamedTuple):
    """Ratios and acceptance in `PARTS` parts of a schedule."""

    upward: Floats  # (PARTS,) mean ln ratio, nats
    reverse: Floats
    betas: Floats  # (PARTS + 1,) inverse temperatures between which the parts lie
    acceptance: Floats  # (PARTS,) accepted share of the upward moves


@cache
def loop(
    n: int, steps: int, shape: float, moves: JointDirichlet | RowDirichlet, runs: int = 10
) -> Loop:
    """Forward against reverse ratios on simulated data [Beal2003, sec. 6.5.1]."""
    rng, method = np.random.default_rng([SEED, n, steps]), AIS(Warped(steps, shape), moves)
    data, tables = simulated(n)[:2]
    up, back = both_ways(data, tables, method=method, runs=runs, rng=rng)
    spans = up.acceptance.size
    of_span = np.arange(spans) * PARTS // spans
    starts = np.searchsorted(of_span, np.arange(PARTS + 1))  # in spans
    edges = -(-starts * steps // spans)  # in steps: span i begins at step ceil(i K / spans)

    def summed(values: Floats) -> Floats:
        return np.bincount(of_span, values, PARTS).astype(np.float64)

    return Loop(
        summed(up.log_ratio.mean(axis=0)),
        summed(back.log_ratio.mean(axis=0)),
        up.betas[edges],
        summed(np.nan_to_num(up.acceptance)) / summed(np.isfinite(up.acceptance) * 1.0),
    )


@cache
def ends(n: int, climbs: int = 60) -> tuple[Floats, Floats]:
    """p(s1 = 1) and p(s2 = 1), (climbs,) each, where variational climbs from random tables end."""
    counts = [
        fit_vb(true_model(), rows(n), restarts=1, rng=rng).counts[:2]
        for rng in np.random.default_rng([SEED, n]).spawn(climbs)
    ]
    first, second = ((np.array([c[v][0, 0] for c in counts]) + 1) / (n + 2) for v in (0, 1))
    return first, second


def noise_of_runs(
    sizes: Iterable[int],
    moves: JointDirichlet | RowDirichlet,
    /,
    *,
    steps: int,
    runs: int,
    rng: np.random.Generator,
) -> dict[int, float]:
    """Standard deviation of ln weight of single runs on the true structure, nats, by data size."""
    method = AIS(Warped(steps), moves)
    found = {n: anneal(true_model(), rows(n), runs=runs, rng=rng, method=method) for n in sizes}
    return {n: float(annealed.log_weight.std(ddof=1)) for n, annealed in found.items()}
