"""Tables 6.1 to 6.5 from a study, as arrays to be printed beside the thesis'."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bnlab.labs.papers.beal2003.annealed import mean_of
from bnlab.labs.papers.beal2003.printed import (
    DRAWS,
    RANK_SCORES,
    SIZES,
    SUCCESS_SCORES,
    TABLE_6_1,
    TABLE_6_5,
    Pooled,
    Violations,
)
from bnlab.labs.papers.beal2003.scores import SCORES, ranks
from bnlab.labs.papers.beal2003.study import Study
from bnlab.labs.papers.beal2003.world import log_aliases

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def table_6_5(study: Study, n: int, names: Iterable[str] = SUCCESS_SCORES, /) -> Ints:
    """How many draws of parameters have the true structure ranked first, by score.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> (table_6_5(saved(), 640) < table_6_5(saved(), 10240)).all()
    np.True_
    """
    first = (study.standing("draw", n).rank == 1).sum(axis=0)
    return np.array([first[SCORES.index(name)] for name in names])


def band(count: int, draws: int = DRAWS, /) -> float:
    """How far two runs with the printed rate differ in 95 of 100 cases: +/- that many draws.

    Examples
    --------
    >>> round(band(73), 1)
    13.2
    """
    rate = count / draws
    return 1.96 * math.sqrt(2 * draws * rate * (1 - rate))


def outside_bands(study: Study, sizes: Iterable[int], /) -> list[tuple[int, str, int, int]]:
    """Where our count is outside the band around print: n, score, ours, print.

    A printed count of 0 or 106 has a band of no width, and is judged as if it were 1 or 105.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> outside_bands(saved(), [10240])
    []
    """
    found = []
    for n in sizes:
        ours, printed = table_6_5(study, n), TABLE_6_5[SIZES.index(n)]
        for name, one, other in zip(SUCCESS_SCORES, ours, printed, strict=True):
            if abs(one - other) > band(min(max(int(other), 1), DRAWS - 1)):
                found.append((n, name, int(one), int(other)))
    return found


def table_6_2(study: Study, other: str, /) -> Pooled:
    """How VB ranks the truth against another score, percent of all draws and sizes.

    Parameters
    ----------
    other : a score; with an asterisk, both scores without the alias term

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> round(sum(table_6_2(saved(), "bic*")), 6)
    100.0
    """
    place, plain = SCORES.index(other.rstrip("*")), other.endswith("*")
    found = [study.standing("draw", n) for n in study.sizes("rank draw")]
    stacked = np.concatenate([each.plain if plain else each.rank for each in found])
    difference = stacked[:, SCORES.index("vb")] - stacked[:, place]
    worse, same, better = (
        float(100 * share.mean()) for share in (difference > 0, difference == 0, difference < 0)
    )
    return Pooled(worse, same, better)


def table_6_1(study: Study, n: int, /) -> Ints:
    """Ranks (data sets, 9) of the true structure by the scores of Table 6.1, but for AIS.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> table_6_1(saved(), 10240).shape
    (10, 9)
    """
    found = study.standing("print", n)
    columns = [
        (found.plain if name.endswith("*") else found.rank)[:, SCORES.index(name.rstrip("*"))]
        for name in RANK_SCORES[:-1]
    ]
    return np.column_stack(columns)


def outside_ranges(study: Study, /) -> NDArray[np.bool_]:
    """Which printed ranks (sizes, 9) of Table 6.1 no range of our data sets holds.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> outside_ranges(saved()).shape[1]
    9
    """
    found = []
    for n in study.sizes("rank print"):
        ours, printed = table_6_1(study, n), TABLE_6_1[SIZES.index(n), :-1]
        found.append((printed < ours.min(axis=0)) | (printed > ours.max(axis=0)))
    return np.array(found)


def table_6_3(study: Study, n: int, /) -> Ints:
    """Ranks of the true structure by each run of the thesis' sampler, and by their mean.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import LAB, made, Plan
    >>> table_6_3(made(Plan(0, [], 0, [], {10: 2}, steps=8)), 10).shape
    (3,)
    """
    return batch_ranks(study.batches(n).log_p)


def batch_ranks(log_p: Floats, /) -> Ints:
    """Ranks of the true structure by estimates (136, runs), and by their mean.

    Examples
    --------
    >>> batch_ranks(np.zeros((136, 2)))
    array([1, 1, 1])
    """
    return np.append(ranks(log_p.T), ranks(mean_of(log_p)))


def table_6_4(study: Study, n: int, /) -> Violations:
    """How often AIS is below the VB bound, and the share of rejected proposals, in percent.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> table_6_4(saved(), 640).rejected < table_6_4(saved(), 2560).rejected
    True
    """
    found, plain = study.batches(n), study.scores(n)[:, SCORES.index("vb")]
    mean, corrected = mean_of(found.log_p), plain + log_aliases()
    below = [
        100 * float((log_p < bound).mean())
        for log_p, bound in (
            (found.log_p, plain[:, None]),
            (found.log_p, corrected[:, None]),
            (mean, plain),
            (mean, corrected),
        )
    ]
    rejected = 100 * float(1 - found.acceptance.mean())
    return Violations(below[0], below[1], rejected, below[2], below[3])


def spread(log_p: Floats, /) -> float:
    """Standard deviation of one run, nats: root of the mean variance over structures (136, runs).

    Examples
    --------
    >>> spread(np.array([[0.0, 1.0], [0.0, 0.0]]))
    0.5
    """
    return float(np.sqrt(log_p.var(axis=1, ddof=1).mean()))
