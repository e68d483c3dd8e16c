"""Scores of all structures, and where the true one stands among them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.hidden import score_structures
from bnlab.hidden.scoring import Score
from bnlab.labs.papers.beal2003.sizes import dimensions
from bnlab.labs.papers.beal2003.world import (
    data_of_draw,
    data_of_print,
    log_aliases,
    models,
    stream,
    truth,
)
from bnlab.runs import Executor

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OF_THE_THESIS: tuple[Score, ...] = ("map", "bic", "bicp", "cs", "csd", "vb")
SCORES = (*OF_THE_THESIS, "csd_rank")
"""Beside the thesis' six: "csd_rank" is CS with d from the rank of the Jacobian (eq. 6.30)."""

RESTARTS = 3


def scored(rows: Ints, /, *, rng: np.random.Generator, executor: Executor | None = None) -> Floats:
    """Scores (136, 7) of one data set, nats, without the alias term.

    Examples
    --------
    >>> scored(data_of_print(0)[:5], rng=np.random.default_rng(1)).shape
    (136, 7)
    """
    six = OF_THE_THESIS
    found = score_structures(models(), rows, six, restarts=RESTARTS, rng=rng, executor=executor)
    values = np.array([[each[name].log_value for name in six] for each in found])
    sizes = dimensions()
    added = (sizes.complete - sizes.observed) / 2 * np.log(len(rows))
    return np.column_stack([values, values[:, six.index("cs")] + added])


def with_aliases(scores: Floats, /) -> Floats:
    """Scores (..., 136, 7) plus ln S, but for the MAP score [Beal2003, eq. 6.26].

    Examples
    --------
    >>> with_aliases(np.zeros((136, 7))).max(axis=0).round(2)
    array([0.  , 2.08, 2.08, 2.08, 2.08, 2.08, 2.08])
    """
    adds = np.array([name != "map" for name in SCORES])
    out: Floats = scores + log_aliases()[:, None] * adds
    return out


def ranks(scores: Floats, /) -> Ints:
    """Ranks (...,) of the true structure from scores (..., 136): 1 plus how many are higher.

    Examples
    --------
    >>> int(ranks(np.arange(136.0)))
    15
    """
    out: Ints = 1 + (scores > scores[..., [truth()]]).sum(axis=-1)
    return out


def gaps(scores: Floats, /) -> Floats:
    """Score of the true structure less the highest, (...,) from (..., 136): at most 0.

    Examples
    --------
    >>> float(gaps(np.arange(136.0)))
    -14.0
    """
    out: Floats = scores[..., truth()] - scores.max(axis=-1)
    return out


class Standing(NamedTuple):
    """Of the true structure, by SCORES.

    Attributes
    ----------
    plain : ranks (7,) without the alias term
    rank : ranks (7,) with it
    gap : nats (7,), with it
    """

    plain: Ints
    rank: Ints
    gap: Floats


def scores_of_draw(draw: int, n: int, /) -> Floats:
    """`scored` after n rows from one draw of parameters.

    Examples
    --------
    >>> scores_of_draw(0, 10).shape
    (136, 7)
    """
    return scored(data_of_draw(draw)[:n], rng=stream(3, draw, n))


def scores_of_print(number: int, n: int, /) -> Floats:
    """`scored` after n rows of one data set from the printed parameters.

    Examples
    --------
    >>> scores_of_print(0, 10).shape
    (136, 7)
    """
    return scored(data_of_print(number)[:n], rng=stream(4, number, n))


def standing_in(scores: Floats, /) -> Standing:
    """Ranks and gaps of the true structure in scores (136, 7) without the alias term.

    Examples
    --------
    >>> standing_in(np.zeros((136, 7))).plain
    array([1, 1, 1, 1, 1, 1, 1])
    """
    corrected = with_aliases(scores)
    return Standing(ranks(scores.T), ranks(corrected.T), gaps(corrected.T))
