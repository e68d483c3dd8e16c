"""Weights of annealing runs: schedules, resampling, means and Markov bounds.

Shared by orders and hidden variables.
"""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checks import Count, Floats, Ints, Positive, Share, checked, frozen, shown
from bnlab.results import Estimate, Kind, Run
from bnlab.running import Stopped

BINS = 9


class Schedule(Protocol):
    """Inverse temperatures, of an annealing run or of coupled chains."""

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1, never falling."""
        ...


@dataclass(frozen=True, slots=True)
class _Steps:
    """A schedule of so many steps."""

    steps: Count

    def __post_init__(self) -> None:
        task = f"a schedule of {self.steps} steps"
        memory.require(32 * self.steps, task=task, remedy="give fewer steps")


@frozen(eq=True)
class Linear(_Steps):
    """beta_i = i / steps [NiinimakiKoivisto2013, sec. 2.3].

    Examples
    --------
    >>> Linear(4).betas
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        return np.linspace(0.0, 1.0, self.steps + 1)


@frozen(eq=True)
class Harmonic(_Steps):
    """beta_i = 1 / (steps + 1 - i) for i >= 1, after beta_0 = 0 [GeyerThompson1995].

    Examples
    --------
    >>> Harmonic(4).betas.round(3)
    array([0.   , 0.25 , 0.333, 0.5  , 1.   ])
    """

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        return np.append(0.0, 1.0 / np.arange(self.steps, 0, -1))


@frozen(eq=True)
class Warped(_Steps):
    """beta_k = e k / K / (1 - k / K + e), slow where beta is small [Beal2003, eq. 6.73].

    Large e make it linear; 0.2 is the thesis'.

    Examples
    --------
    >>> Warped(4).betas.round(3)
    array([0.   , 0.053, 0.143, 0.333, 1.   ])
    """

    e: Positive = 0.2

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        share = np.linspace(0.0, 1.0, self.steps + 1)
        return np.asarray(share / ((1 - share) / self.e + 1))


@frozen(eq=True)
class Betas:
    """Inverse temperatures of your own: from 0 to 1, never falling.

    Examples
    --------
    >>> Betas((0.0, 0.1, 1.0)).betas
    array([0. , 0.1, 1. ])
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        betas = np.asarray(self.values, float)
        if not (
            betas.size > 1 and betas[0] == 0 and betas[-1] == 1 and (np.diff(betas) >= 0).all()
        ):
            raise ValueError(f"values={shown(self.values)}: inverse temperatures rise from 0 to 1")

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        return np.asarray(self.values, np.float64)


def betas_of(schedule: Schedule, /) -> Floats:
    """Return the inverse temperatures of a schedule, or raise a ValueError where they fall."""
    own = isinstance(schedule, Linear | Harmonic | Betas)
    return schedule.betas if own else Betas(tuple(schedule.betas)).betas


def heaviest(log_weight: Floats, /) -> float:
    """The largest log weight; a ValueError unless it is finite."""
    largest = float(log_weight.max(initial=-math.inf))
    if not math.isfinite(largest):  # nan, too
        raise ValueError(f"the largest log weight is {largest}: give finite ones, or -inf for some")
    return largest


def log_sum(terms: Floats) -> float:
    """Return ln of the sum of exp(terms), all finite."""
    top = terms.max()
    return float(top + math.log(np.exp(terms - top).sum()))


def safe_log(values: Floats, /) -> Floats:
    """Return ln of the values, -inf where they are not above 0."""
    return np.log(values, out=np.full(values.shape, -math.inf), where=values > 0)


def mean_weight(log_weights: Floats, kind: Kind, run: Run, /) -> Estimate:
    """Estimate ln of the mean of weights (T,) of independent runs, with the delta method."""
    count = log_weights.size
    trace = np.logaddexp.accumulate(log_weights) - np.log(np.arange(1, count + 1))
    relative = np.exp(log_weights - trace[-1])
    stderr = relative.std(ddof=1) / math.sqrt(count) if count > 1 else math.inf
    return Estimate(float(trace[-1]), float(stderr), kind, trace=trace, run=run)


def conditional_ess(log_w: Floats, log_v: Floats) -> float:
    """Return P (sum W v)**2 / sum W v**2, W normalised weights [ZhouJohansenAston2016]."""
    first, second = log_sum(log_w + log_v), log_sum(log_w + 2 * log_v)
    return log_w.size * math.exp(2 * first - second - log_sum(log_w))


def resample_particles(log_w: Floats, rng: np.random.Generator) -> Ints:
    """Draw numbers (P,) of particles by systematic resampling [Kitagawa1996], in random order."""
    shares = np.exp(log_w - log_w.max()).cumsum()
    points = (np.arange(log_w.size) + rng.random()) / log_w.size
    return rng.permutation(np.searchsorted(shares / shares[-1], points))


@checked
def lower_bound(log_weights: ArrayLike, /, *, delta: Share = 0.05, bins: Count = BINS) -> Estimate:
    """Bound ln E[w] from below, with probability 1 - delta; w independent, not negative.

    delta**(1/bins) times the least of the means of `bins` equal parts of the weights, by Markov's
    inequality [NiinimakiKoivisto2013, Theorem 1].

    Parameters
    ----------
    log_weights : (..., T), nats; of `anneal_orders` with AIS they bound log_z
    delta : the probability that the bound fails, at most
    bins : from 1 to T

    Returns
    -------
    Estimate
        kind "lower_bound"; trace (bins,) holds ln of the means of the bins.

    Examples
    --------
    >>> lower_bound(np.zeros(90))  # 0.05**(1/9) = 0.717
    log p = -0.33 (Markov bound, lower_bound, 0 s)
    """
    return markov_bound(log_weights, "lower_bound", delta, bins)


@checked
def upper_bound(log_weights: ArrayLike, /, *, delta: Share = 0.05, bins: Count = BINS) -> Estimate:
    """Bound -ln E[1/w] from above, with probability 1 - delta; w independent, positive.

    Markov's inequality for 1/w, as `lower_bound`. Weights of annealing runs in reverse, from exact
    draws of the posterior, have E[1/w] = 1/Z [GrosseEtAl2015].

    Parameters
    ----------
    log_weights, delta, bins : as in `lower_bound`

    Returns
    -------
    Estimate
        kind "upper_bound"; trace (bins,) holds -ln of the means of 1/w in the bins.

    Examples
    --------
    >>> upper_bound(np.zeros(90))
    log p = 0.33 (Markov bound, upper_bound, 0 s)
    """
    return markov_bound(log_weights, "upper_bound", delta, bins)


def markov_bound(
    log_weights: ArrayLike,
    kind: Literal["lower_bound", "upper_bound"],
    delta: float,
    bins: int,
    /,
    *,
    shift: float = 0.0,
    run: Run | None = None,
) -> Estimate:
    """Bound shift + ln E[w] from below, or shift - ln E[1/w] from above, by weights of runs."""
    flat, sign = np.asarray(log_weights, np.float64).ravel(), 1 if kind == "lower_bound" else -1
    check_bound(flat.size, bins)
    if not (sign * flat < math.inf).all():  # nan, too
        raise ValueError("a log weight is nan or infinite: nothing is bounded by it")
    parts = np.array_split(sign * flat, bins)
    means = [np.logaddexp.reduce(part) - math.log(part.size) for part in parts]
    trace = shift + sign * np.array(means)
    log_value = sign * (float((sign * trace).min()) + math.log(delta) / bins)
    return Estimate(log_value, 0.0, kind, 1 - delta, trace, run or Run("Markov bound"))


def check_bound(runs: int, bins: int) -> None:
    """Raise a ValueError unless there is a run for each of the bins."""
    if runs < bins:
        raise ValueError(f"runs={runs} cannot fill bins={bins}: take more runs, or fewer bins")


def require_runs(done: int, bins: int) -> None:
    """Raise Stopped unless so many runs fill the bins."""
    if done < bins:
        raise Stopped(f"stopped after {done} runs: a bound with bins={bins} needs as many")
