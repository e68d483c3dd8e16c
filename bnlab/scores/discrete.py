"""Decomposable scores of a family of variables with states."""

import math
from typing import Protocol

import numpy as np

from bnlab.checks import Floats, checked, frozen, real, shown
from bnlab.errors import InputError, Setting
from bnlab.kernels import counting


class Score(Protocol):
    """A decomposable score, ln p(D_v | D_G) or a stand-in for it.

    It is a sum over the cells of G + v, minus a sum over the cells of G, minus a penalty; a cell of
    N rows adds ln Gamma(a + N) - ln Gamma(a) for the pseudo-count a, or N ln N for likelihoods
    (pseudo-count `LIKELIHOOD`). A class that inherits from this one needs `cell_counts` alone.

    Examples
    --------
    >>> score: Score = BDeu(ess=1.0)
    >>> score.cell_counts(np.array([2.0, 4.0]))
    array([0.5 , 0.25])
    """

    __slots__ = ()

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return the pseudo-count of a cell of G + v, for numbers of cells (t,)."""
        ...

    @checked
    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Return the pseudo-count of a cell of G, for numbers of cells (t,) and of states of v."""
        return self.cell_counts(cells)

    @checked
    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return nats to take off, for m rows and numbers of free parameters q (r - 1), (F,)."""
        return np.zeros(parameters.shape)


def check_pseudo_counts(score: Score, /) -> None:
    """Raise a ValueError unless the score has pseudo-counts."""
    if not pseudo_count(score, 2) > 0:
        raise ValueError(
            f"score={shown(score)} has no pseudo-counts, so no posterior of the parameters: pass "
            "BDeu or K2"
        )


def pseudo_count(score: Score, cells: int, /) -> float:
    """The Dirichlet parameter of each of so many cells of a family."""
    return float(score.cell_counts(np.array([float(cells)]))[0])


@frozen(eq=True)
class BDeu(Score):
    """Likelihood equivalent uniform Dirichlet score [HeckermanGeigerChickering1995].

    The marginal likelihood with Dirichlet parameters ess / (q r) for q parent configurations and r
    states: sum_j ln G(a) - ln G(a + N_j) + sum_k ln G(a/r + N_jk) - ln G(a/r), with a = ess / q.

    Parameters
    ----------
    ess : float, equivalent sample size in rows, between 1e-100 and 1e100

    Examples
    --------
    >>> BDeu(ess=1.0)
    BDeu(ess=1.0)
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        if not 1e-100 <= real(self.ess) <= 1e100:
            raise InputError(
                Setting("ess", self.ess),
                ": the equivalent sample size lies between 1e-100 and 1e100",
            )

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return pseudo-counts ess / cells."""
        if not (cells >= 1).all():
            raise ValueError(f"cells={shown(cells)}: numbers of cells are at least 1")
        return float(self.ess) / cells


@frozen(eq=True)
class K2(Score):
    """Marginal likelihood with all Dirichlet parameters 1 [CooperHerskovits1992].

    Examples
    --------
    >>> K2().parent_counts(np.array([4.0]), 3)
    array([3.])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return ones."""
        return np.ones(cells.shape)

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Return the pseudo-count r, one for each state."""
        return np.full(cells.shape, float(arity))


@frozen(eq=True)
class LogLikelihood(Score):
    """Maximised log likelihood, sum of N_jk ln(N_jk / N_j); it never prefers fewer parents.

    Examples
    --------
    >>> LogLikelihood().penalty(100, np.array([2.0]))
    array([0.])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return the mark of a likelihood."""
        return np.full(cells.shape, counting.LIKELIHOOD)


@frozen(eq=True)
class BIC(LogLikelihood):
    """Log likelihood less (ln m) / 2 for each free parameter [Schwarz1978].

    Examples
    --------
    >>> BIC().penalty(100, np.array([4.0])).round(4)
    array([9.2103])
    """

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return (ln m) / 2 for each parameter; nothing for m = 0 rows."""
        return 0.5 * math.log(max(m, 1)) * parameters


@frozen(eq=True)
class AIC(LogLikelihood):
    """Log likelihood less 1 for each free parameter [Akaike1974].

    Examples
    --------
    >>> AIC().penalty(100, np.array([4.0]))
    array([4.])
    """

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return 1 for each parameter."""
        return parameters
