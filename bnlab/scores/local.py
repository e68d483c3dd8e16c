"""Scores of families: of variables with states, of measured ones, and of tables with both."""

import math
from dataclasses import field
from typing import Annotated, NamedTuple, Protocol

import numpy as np

from bnlab.checks import Floats, Range, checked, frozen, shown
from bnlab.data import Data
from bnlab.errors import InputError, Setting, warn
from bnlab.files import brief
from bnlab.kernels import counting
from bnlab.kernels.gaussian import WishartPrior

AnyData = Annotated[Data, "measurements"]

COLLINEAR = 1e-10  # share of a column's variance that the others leave unexplained


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

    ess: Annotated[float, Range(1e-100, 1e100, "[]")] = 1.0

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


class Units(NamedTuple):
    """Where a score puts 0 of each variable, and how long it makes 1, in units of the data."""

    center: Floats  # (n,)
    scale: Floats  # (n,)

    def columns(self, measurements: Floats | None, /) -> Floats:
        """Measurements (rows, n) as columns (n, rows) in these units; zeros for states."""
        if measurements is None:
            return np.zeros((self.center.size, 0))
        out: Floats = np.array(measurements.T, order="C")
        out -= self.center[:, None]
        out /= self.scale[:, None]
        out[np.isnan(out)] = 0.0
        return out


class Regression(NamedTuple):
    """Posterior of a variable's regression on its parents, R as in `GaussianNet.fit`."""

    weight: float  # alpha_mu + rows; s / weight is the variance of the height at the means
    degrees: float  # rows + alpha_w - n + size of the family
    mean: Floats  # (k + 1,) of the parents, then of the child
    coefficients: Floats  # (k,), R_UU^-1 R_Uv; their covariance is s R_UU^-1
    factor: Floats  # (k, k), lower triangular: R_UU = factor factor'
    scatter: float  # R_vv - R_vU R_UU^-1 R_Uv; s is inverse gamma (degrees / 2, scatter / 2)

    def log_density(self, columns: Floats, /) -> Floats:
        """ln of the child's Student t density given its parents, columns (k + 1, rows), nats."""
        off = columns - self.mean[:, None]
        apart = np.linalg.solve(self.factor, off[:-1])
        spread = self.scatter * (1 + 1 / self.weight + (apart**2).sum(axis=0))
        left, half = off[-1] - self.coefficients @ off[:-1], self.degrees / 2
        constant = math.lgamma(half + 0.5) - math.lgamma(half) - 0.5 * math.log(math.pi)
        out: Floats = constant - 0.5 * np.log(spread) - (half + 0.5) * np.log1p(left**2 / spread)
        return out

    def draw(self, rng: np.random.Generator, /) -> tuple[float, Floats, float]:
        """Draw (intercept, coefficients, residual variance) from the posterior."""
        variance = self.scatter / rng.chisquare(self.degrees)
        noise = math.sqrt(variance) * rng.standard_normal(self.coefficients.size + 1)
        coefficients = self.coefficients + np.linalg.solve(self.factor.T, noise[:-1])
        height = self.mean[-1] + noise[-1] / math.sqrt(self.weight)
        return float(height - coefficients @ self.mean[:-1]), coefficients, variance


@frozen(eq=True)
class BGe:
    """Bayesian Gaussian score of measurements, equal for Markov equivalent DAGs.

    The marginal likelihood of linear-Gaussian networks whose mean is Normal with prior mean 0 and
    precision alpha_mu W, and whose precision matrix W is Wishart with alpha_w degrees of freedom
    and T = t I, t = alpha_mu (alpha_w - n - 1) / (alpha_mu + 1) [GeigerHeckerman2002]. Of T, before
    and after the data, a family takes the part of its variables [KuipersMoffaHeckerman2014].

    Since T = t I, units matter: scores are of columns shifted to mean 0 and, by default, scaled to
    variance 1, over all rows.

    Parameters
    ----------
    alpha_mu : float, weight of the prior mean, in rows, 1e-6 to 1e6
    alpha_w : float, degrees of freedom, more than n + 1 for n measured variables, up to 1e6; None
        means n + alpha_mu + 1
    standardize : whether to scale the columns to variance 1 (dividing by m - 1)

    Examples
    --------
    >>> from bnlab import Data, score_families
    >>> data = Data.from_arrays([[0.1, 0.3], [1.2, 1.0], [2.1, 2.2]])
    >>> score_families(data, BGe()).log_score.round(3)
    array([[-5.385, -3.288],
           [-5.385, -3.288]])
    """

    alpha_mu: Annotated[float, Range(1e-6, 1e6, "[]")] = 1.0
    alpha_w: Annotated[float, Range(2, 1e6, "(]")] | None = None
    standardize: bool = True


@frozen(eq=True)
class ConditionalGaussian:
    """Score of tables with states and measurements [LauritzenWermuth1989].

    A variable with states has parents with states only, and the score `discrete`. A measured one
    has parents of both kinds: for each joint state of the former, a regression on the latter with
    the score `measured` of the rows with that state. Other families are forbidden (log_prior -inf):
    that an edge points from states to measurements is assumed, no finding.

    Parameters
    ----------
    discrete : Score of variables with states
    measured : BGe of the others

    Examples
    --------
    >>> ConditionalGaussian().discrete
    BDeu(ess=1.0)
    """

    discrete: Score = field(default_factory=BDeu)
    measured: BGe = BGe()


AnyScore = BGe | ConditionalGaussian | Score


def wishart_prior(score: BGe, data: Data, /) -> WishartPrior:
    """The prior of a score for the measured variables of data."""
    n, alpha_mu = int(data.measured.sum()), float(score.alpha_mu)
    alpha_w = n + alpha_mu + 1 if score.alpha_w is None else float(score.alpha_w)
    if alpha_w <= n + 1:
        raise InputError(
            Setting("alpha_w", score.alpha_w),
            f": more than n + 1 = {n + 1} degrees of freedom are needed for {n} measured variables",
        )
    return WishartPrior(alpha_mu, alpha_w - n, alpha_mu * (alpha_w - n - 1) / (alpha_mu + 1))


def units_of(score: BGe, data: Data, /) -> Units:
    """Units in which observed cells have mean 0 and, if asked for, variance 1, column by column."""
    units = Units(np.zeros(data.n), np.ones(data.n))
    if data.measurements is None:
        return units
    for v in np.flatnonzero(data.measured & ~data.missing.all(axis=0)):
        column = data.measurements[~data.missing[:, v], v]
        largest = np.abs(column).max() or 1.0
        column = column / largest
        mean = column.mean()
        spread = math.sqrt(((column - mean) ** 2).sum() / max(1, column.size - 1))
        units.center[v] = mean * largest
        if score.standardize:
            units.scale[v] = spread * largest or 1.0
    return units


def prepared(score: BGe, data: Data, /) -> Floats:
    """Columns (n, m) in units of a score, zeros for states; warns of one that others explain."""
    out = units_of(score, data).columns(data.measurements)
    whole = ~(data.missing & data.measured).any(axis=1)
    if not (out.size and whole.any()):
        return out
    columns = out[:, whole]
    columns -= columns.mean(axis=1, keepdims=True)
    size = np.einsum("vi,vi->v", columns, columns)
    nodes = np.flatnonzero(data.measured & (size > 0))
    columns = columns[nodes]
    left = np.diagonal(np.linalg.qr(columns.T, mode="r")) ** 2
    explained = np.flatnonzero(left <= COLLINEAR * size[nodes][: left.size])
    if explained.size and explained[0] < columns.shape[1] - 1:  # else whole rows are too few
        warn(
            f"variable {brief(data.names[nodes[explained[0]]])!r} is a sum of multiples of those "
            "before it: edges among them say that they determine each other. Leave one out"
        )
    return out


def regression(columns: Floats, prior: WishartPrior, /) -> Regression:
    """Learn a regression from columns (k + 1, rows), the child's last."""
    size, rows = columns.shape
    sums, weight = columns.sum(axis=1), prior.alpha_mu + columns.shape[1]
    scatter = columns @ columns.T - np.outer(sums, sums) / weight + prior.t * np.eye(size)
    try:
        factor = np.linalg.cholesky(scatter)
    except np.linalg.LinAlgError:
        raise ValueError(
            "measurements determine each other up to rounding: leave one out, or let BGe scale "
            "them (standardize=True)"
        ) from None
    of_parents, degrees = factor[:-1, :-1], rows + prior.excess + size
    coefficients = np.linalg.solve(of_parents.T, factor[-1, :-1])
    left = float(factor[-1, -1]) ** 2
    return Regression(weight, degrees, sums / weight, coefficients, of_parents, left)
