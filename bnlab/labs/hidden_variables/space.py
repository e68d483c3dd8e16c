"""The 136 structures of the thesis, data from its tables, and their scores."""

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab.hidden import SMC, estimate_structures
from bnlab.hidden.scoring import Score
from bnlab.kernels import latent
from bnlab.labs.datasets import Floats
from bnlab.labs.view import Progress
from bnlab.papers.beal2003 import world
from bnlab.papers.beal2003.annealing import true_model
from bnlab.papers.beal2003.printed import (
    LEAST,
    RANK_SCORES,
    SIZES as PRINTED_SIZES,
    TABLE_6_1,
    TABLE_6_3,
    THETA,
)
from bnlab.papers.beal2003.world import ARITIES, models, truth

SEED = 2003
"""Of the first data set; others have the seeds that follow."""

SIZES = (10, 40, 160, 480, 640, 960, 1280, 2560, 5120, 10_240)
"""Data sizes of the widgets; a smaller set of rows is part of the larger ones."""

SCORES: Mapping[str, Score] = {"MAP": "map", "BIC": "bic", "BICp": "bicp", "CS": "cs", "VB": "vb"}
"""Names on the page -> names in the package."""

PARTICLES = 32
NAMES = ("s1", "s2", "y1", "y2", "y3", "y4")

TABLES = tuple([[p or LEAST for p in row] for row in table] for table in THETA)
"""The tables printed in sec. 6.4 of [Beal2003]: rows sum to 1 nearly; its .00 is here .0025."""

PRINTED_RANKS: Mapping[int, Mapping[str, int]] = {
    n: {
        label: int(TABLE_6_1[PRINTED_SIZES.index(n)][RANK_SCORES.index(SCORES[label])])
        for label in ("BIC", "BICp", "CS", "VB")
    }
    for n in SIZES
}
"""Rank of the true structure in Table 6.1 of [Beal2003], alias-corrected, at `SIZES`."""

PRINTED_RUNS: Mapping[int, tuple[int, ...]] = {
    n: tuple(map(int, TABLE_6_3[PRINTED_SIZES.index(n)][:5])) for n in (10, 40, 480, 1280, 5120)
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


def gold(
    n: int,
    seed: int = SEED,
    /,
    *,
    particles: int = PARTICLES,
    runs: int = 2,
    progress: Progress | None = None,
) -> Gold:
    """The evidence of all 136 structures by sequential Monte Carlo over rows: the gold standard.

    Raises
    ------
    Stopped
        If `progress` returned False.
    """
    rng = np.random.default_rng([seed, n, particles])
    found = estimate_structures(
        structures(), rows(n, seed), runs=runs, rng=rng, method=SMC(particles), progress=progress
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
