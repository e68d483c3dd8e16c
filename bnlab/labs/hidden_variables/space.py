"""The 136 structures of the thesis, data from its tables, and their scores."""

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bnlab as bn
from bnlab.hidden import (
    SMC,
    HiddenModel,
    bipartite_structures,
    estimate_structures,
    score_structures,
)
from bnlab.kernels import latent
from bnlab.labs.running import Progress

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 2003
"""Of the first data set; others have the seeds that follow."""

SIZES = (10, 40, 160, 480, 640, 960, 1280, 2560, 5120, 10_240)
"""Data sizes of the widgets; a smaller set of rows is part of the larger ones."""

SCORES: Mapping[str, str] = {"MAP": "map", "BIC": "bic", "BICp": "bicp", "CS": "cs", "VB": "vb"}
"""Names on the page -> names in the package."""

RESTARTS = 3  # as in the thesis
PARTICLES = 32
ARITIES = (2, 2, 5, 5, 5, 5)
NAMES = ("s1", "s2", "y1", "y2", "y3", "y4")

TABLES: tuple[list[list[float]], ...] = (
    [[0.12, 0.88]],
    [[0.08, 0.92]],
    [[0.03, 0.03, 0.64, 0.02, 0.27], [0.18, 0.15, 0.22, 0.19, 0.27]],
    [
        [0.10, 0.54, 0.07, 0.14, 0.15],
        [0.04, 0.15, 0.59, 0.05, 0.16],
        [0.20, 0.08, 0.36, 0.17, 0.18],
        [0.19, 0.45, 0.10, 0.09, 0.17],
    ],
    [
        [0.11, 0.47, 0.12, 0.30, 0.01],
        [0.27, 0.07, 0.16, 0.25, 0.25],
        [0.52, 0.14, 0.15, 0.02, 0.17],
        [0.04, 0.0025, 0.37, 0.33, 0.25],
    ],
    [[0.10, 0.08, 0.43, 0.03, 0.36], [0.30, 0.14, 0.07, 0.04, 0.45]],
)
"""The tables printed in sec. 6.4 of [Beal2003]: rows sum to 1 nearly; its .00 is here .0025."""

PRINTED_RANKS: Mapping[int, Mapping[str, int]] = {
    10: {"BIC": 127, "BICp": 50, "CS": 129, "VB": 115},
    40: {"BIC": 127, "BICp": 124, "CS": 107, "VB": 113},
    160: {"BIC": 119, "BICp": 111, "CS": 114, "VB": 81},
    480: {"BIC": 102, "BICp": 92, "CS": 80, "VB": 44},
    640: {"BIC": 104, "BICp": 97, "CS": 105, "VB": 17},
    960: {"BIC": 112, "BICp": 107, "CS": 76, "VB": 13},
    1280: {"BIC": 90, "BICp": 59, "CS": 6, "VB": 3},
    2560: {"BIC": 25, "BICp": 15, "CS": 11, "VB": 11},
    5120: {"BIC": 6, "BICp": 5, "CS": 1, "VB": 1},
    10_240: {"BIC": 2, "BICp": 1, "CS": 1, "VB": 1},
}
"""Rank of the true structure in Table 6.1 of [Beal2003], alias-corrected, at `SIZES`."""

PRINTED_RUNS: Mapping[int, tuple[int, ...]] = {
    10: (27, 38, 26, 89, 129),
    40: (45, 88, 77, 5, 11),
    480: (2, 42, 14, 126, 18),
    1280: (76, 2, 50, 7, 12),
    5120: (12, 1, 24, 2, 16),
}
"""Rank of the true structure by five single annealing runs, Table 6.3 of [Beal2003]."""


@cache
def structures() -> tuple[HiddenModel, ...]:
    """The 136 bipartite structures: two hidden binary nodes, four observed nodes of five states.

    Uniform Dirichlet priors (strength 1) on all rows of all tables.

    Examples
    --------
    >>> len(structures())
    136
    """
    return tuple(HiddenModel(p, ARITIES, hidden=[0, 1]) for p in bipartite_structures())


@cache
def true_number() -> int:
    """Which of `structures` made the data.

    Examples
    --------
    >>> structures()[true_number()]
    HiddenModel(2 hidden and 4 observed nodes, 50 free parameters)
    """
    masks = [0, 0, 0b01, 0b11, 0b11, 0b10]
    return next(i for i, m in enumerate(structures()) if m.parents.tolist() == masks)


def causes_of(number: int) -> int:
    """How many hidden nodes of a structure have children.

    Examples
    --------
    >>> causes_of(true_number())
    2
    """
    return int(np.bitwise_or.reduce(structures()[number].parents)).bit_count()


@cache
def _all_rows(seed: int) -> bn.Data:
    tables = tuple(np.array(t) / np.sum(t, axis=1, keepdims=True) for t in TABLES)
    levels = tuple(tuple(map(str, range(1, k + 1))) for k in ARITIES)
    dag = structures()[true_number()].parents
    net = bn.BayesNet(dag, np.array(ARITIES), NAMES, levels, tables)
    return net.sample(max(SIZES), np.random.default_rng(seed)).select(NAMES[2:])


def rows(n: int, seed: int = SEED) -> bn.Data:
    """The first n of 10,240 rows simulated from the tables of the thesis, hidden nodes left out.

    Examples
    --------
    >>> rows(480).values.shape
    (480, 4)
    """
    return _all_rows(seed).prefix(n)


def scored(n: int, seed: int = SEED) -> Mapping[str, Floats]:
    """Five scores of the 136 structures, nats; all but MAP with the alias term ln S.

    Returns
    -------
    dict of score name to float64 (136,)

    Examples
    --------
    >>> list(scored(10))
    ['MAP', 'BIC', 'BICp', 'CS', 'VB']
    """
    return _scored(n, seed)


@cache
def _scored(n: int, seed: int) -> Mapping[str, Floats]:
    rng = np.random.default_rng([seed, n])
    found = score_structures(
        structures(),
        rows(n, seed),
        ("map", "bic", "bicp", "cs", "vb"),
        restarts=RESTARTS,
        alias=True,
        rng=rng,
    )
    return {
        label: np.array([of_one[name].log_value for of_one in found])
        for label, name in SCORES.items()
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

    Examples
    --------
    >>> gold(10, particles=16).log_value.shape
    (136,)
    """
    rng = np.random.default_rng([seed, n, particles])
    found = estimate_structures(
        structures(), rows(n, seed), runs=runs, rng=rng, method=SMC(particles), progress=progress
    )
    return Gold(np.array([e.log_value for e in found]), np.array([e.stderr for e in found]))


def rank(scores: ArrayLike, number: int | None = None) -> int:
    """How many structures score higher than this one, plus 1; the true one if none is given.

    Examples
    --------
    >>> rank([-3.0, -1.0, -2.0], 2)
    2
    """
    values = np.asarray(scores, np.float64)
    of = true_number() if number is None else number
    return 1 + int((values > values[of]).sum())


def exp_digamma(x: ArrayLike) -> Floats:
    """exp of the derivative of ln Gamma; about x - 1/2.

    Examples
    --------
    >>> exp_digamma([1.0, 10.0]).round(3)
    array([0.561, 9.504])
    """
    values = np.asarray(x, np.float64)
    return np.array([latent.exp_digamma(v) for v in values.ravel()]).reshape(values.shape)


def log_completed(counts: ArrayLike) -> float:
    """ln probability of completed rows given by counts (rows of a table, states), strength 1.

    Each row of the table is integrated out: (k - 1)! prod_i N_i! / (N + k - 1)!.

    Examples
    --------
    >>> round(log_completed([[1, 0]]), 4)  # 1/2
    -0.6931
    """
    total = 0.0
    for row in np.asarray(counts, np.float64):
        total += math.lgamma(row.size) - math.lgamma(row.sum() + row.size)
        total += sum(math.lgamma(count + 1) for count in row)
    return total
