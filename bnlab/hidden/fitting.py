"""EM and variational EM for discrete networks with hidden nodes."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checkpoints import Arrays
from bnlab.checks import Count, Floats, Ints, checked, frozen
from bnlab.data import Gapped
from bnlab.hidden.completions import Completions, complete, table_rows
from bnlab.hidden.model import HiddenModel, layout
from bnlab.kernels import latent
from bnlab.results import Record, Run
from bnlab.running import Batch, Clock, Executor, Progress, run_steps, seed_of, spawn

Basis = Literal["probability", "softmax"]
Objective = Literal["ml", "map"]

PER_ROW = 1e-6  # a gain below this, in nats a row, is the end [Beal2003, sec. 6.4.1]
MAX_ITERATIONS = 1000
TIE = 1e-9  # nats: a climb that ends higher by less is as good, the rest is rounding


@frozen()
class Fit(Record):
    """The best of several climbs from random starts.

    Attributes
    ----------
    value : float, nats; ln p(data | theta) for ML, that plus ln p(theta) for MAP (without what does
        not depend on theta), or the variational lower bound on ln p(data)
    theta : tables, one float64 array (rows, states) for each node; of VB, exp of the posterior
        means of ln theta, whose rows sum to less than 1
    counts : expected counts, likewise
    trace : float64 (iterations,), the value before each step of the best climb
    converged : whether the best climb ended by itself, rather than at the largest iteration
    restart : which start was the best
    values : float64 (restarts,), where each start ended
    iterations : int64 (restarts,)
    run : Run

    Examples
    --------
    >>> from bnlab import Data
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> data = Data.from_arrays([[0], [1], [2]])
    >>> fit_vb(model, data, restarts=2, rng=np.random.default_rng(1))
    Fit(-4.78, VBEM, restart 2 of 2, 29 iterations)
    """

    value: float
    theta: tuple[Floats, ...]
    counts: tuple[Floats, ...]
    trace: Floats
    converged: bool
    restart: int
    values: Floats
    iterations: Ints
    run: Run

    def __repr__(self) -> str:
        end = "" if self.converged else ", not converged"
        return (
            f"Fit({self.value:.2f}, {self.run.method}, restart {self.restart + 1} of "
            f"{self.values.size}, {self.trace.size} iterations{end})"
        )


@checked
def fit_em(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    restarts: Count = 3,
    rng: np.random.Generator,
    start: Sequence[Floats] | None = None,
    objective: Objective = "map",
    basis: Basis = "probability",
    max_iterations: Count = MAX_ITERATIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Fit:
    """Fit maximum-likelihood or maximum-a-posteriori tables by EM [Beal2003, sec. 6.3.1].

    A climb ends when a step gains less than 1e-6 nats a row of data. MAP estimates depend on the
    basis: as probabilities a cell gets lambda - 1 pseudo-counts, which needs lambda >= 1; in the
    softmax basis it gets lambda (eq. 6.23 and the remark below it).

    Parameters
    ----------
    model : HiddenModel
    data : as in `complete`
    restarts : number of random starts, drawn from the prior; the best end is kept
    rng : the only source of randomness
    start : tables to climb from as well, before the random ones, as in `Fit.theta`
    objective : "ml" or "map"
    basis : "probability" or "softmax", of MAP
    max_iterations : steps after which a climb ends in any case
    progress : progress(done, total, None) after each start; False stops with the starts done
    executor : where starts run; threads by default

    Raises
    ------
    ValueError
        If lambda < 1 is asked for in the basis of probabilities, or an option is out of range.

    Examples
    --------
    >>> from bnlab import Data
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> data = Data.from_arrays([[0], [1], [2]])
    >>> round(fit_em(model, data, rng=np.random.default_rng(1)).value, 4)  # 3 ln(1/3)
    -3.2958
    """
    added = pseudo_counts(model, objective, basis)
    return _fit("EM", model, data, added, restarts, rng, start, max_iterations, progress, executor)


@checked
def fit_vb(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    restarts: Count = 3,
    rng: np.random.Generator,
    start: Sequence[Floats] | None = None,
    max_iterations: Count = MAX_ITERATIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Fit:
    """Maximise the variational lower bound on ln p(data) by VBEM [Beal2003, sec. 6.3.4].

    With the tables of a MAP fit as `start`, the bound is at least the Cheeseman-Stutz score of that
    fit: it is the bound at the first step.

    Parameters
    ----------
    model, data, restarts, rng, start, max_iterations, progress, executor : as in `fit_em`

    Examples
    --------
    >>> from bnlab import Data
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> data = Data.from_arrays([[0], [1], [2]])
    >>> round(fit_vb(model, data, rng=np.random.default_rng(1)).value, 4)
    -4.7751
    """
    return _fit("VBEM", model, data, None, restarts, rng, start, max_iterations, progress, executor)


def pseudo_counts(model: HiddenModel, objective: Objective, basis: Basis, /) -> float:
    """What the M step adds to each cell's count."""
    if objective == "ml":
        return 0.0
    if basis == "softmax":
        return model.strength
    if model.strength < 1:
        raise ValueError(
            f"strength={model.strength}: below 1 the posterior density of probabilities has no "
            "maximum, and the M step gives negative ones. Use basis='softmax'"
        )
    return model.strength - 1


def climb(
    completions: Completions,
    strength: float,
    added: float | None,
    max_iterations: int,
    theta: Floats,
    /,
) -> Arrays:
    """EM (`added` pseudo-counts) or VBEM (added=None) from one start: its end, as (1, ...)."""
    trace, theta = np.empty(max_iterations), theta.copy()
    rule = (0.0, strength) if added is None else (added, None)
    tables = completions.base, completions.first
    limits = PER_ROW * completions.m, max_iterations
    done, converged = latent.climb(theta, completions.groups, tables, *rule, limits, trace)
    end = {"theta": theta[None], "value": trace[[done - 1]], "trace": trace[:done].copy()}
    return {**end, "iterations": np.array([done]), "converged": np.array([converged])}


def highest(values: Floats, /) -> int:
    """Return which climb ended highest; of ties the first, on every processor."""
    return int((values >= values.max() - TIE).argmax())


def random_tables(completions: Completions, strength: float, rng: np.random.Generator, /) -> Floats:
    """Tables (cells,) drawn from the prior, in logs where they would underflow."""
    gammas = np.log(rng.standard_gamma(strength + 1, completions.base.size))
    gammas += np.log1p(-rng.random(completions.base.size)) / strength
    rows, _ = table_rows(completions.first)
    tops = np.maximum.reduceat(gammas, completions.first[:-1])
    theta = np.exp(gammas - tops[rows])
    theta /= np.add.reduceat(theta, completions.first[:-1])[rows]
    return np.asarray(np.maximum(theta, 1e-300))


def _fit(
    method: str,
    model: HiddenModel,
    data: Gapped | ArrayLike,
    added: float | None,
    restarts: int,
    rng: np.random.Generator,
    start: Sequence[Floats] | None,
    max_iterations: int,
    progress: Progress | None,
    executor: Executor | None,
) -> Fit:
    clock, seed = Clock(), seed_of(rng)
    completions = complete(model, data)
    starts = [random_tables(completions, model.strength, each) for each in spawn(rng, restarts)]
    if start is not None:
        starts.insert(0, flat_tables(model, start)[0])
    climb_from = partial(climb, completions, model.strength, added, max_iterations)
    batch = Batch(climb_from, lambda part: starts[part.start], len(starts), executor)
    stopped, ends = run_steps(batch, None, progress), batch.arrays()
    values, iterations = ends["value"], ends["iterations"]
    best = highest(values)
    value, converged = float(values[best]), bool(ends["converged"][best])
    theta, trace = ends["theta"][best], np.split(ends["trace"], np.cumsum(iterations)[:-1])[best]
    counts = np.empty(theta.size)
    latent.expect(theta, completions.groups, completions.base, counts)
    tables, expected = as_tables(model, theta), as_tables(model, counts)
    settings: dict[str, float | None] = {"restarts": restarts, "max_iterations": max_iterations}
    settings |= {"pseudo_counts": added, "strength": model.strength}
    run = Run(method, settings, seed, clock.seconds, stopped=stopped)
    return Fit(value, tables, expected, trace, converged, best, values, iterations, run)


def as_tables(model: HiddenModel, cells: Floats, /) -> tuple[Floats, ...]:
    """One array (..., rows, states) for each node, out of arrays (..., cells) of all cells."""
    places = layout(model)
    tables = np.split(cells, places.starts[1:-1], axis=-1)
    shapes = places.shapes.tolist()
    return tuple(t.reshape(*cells.shape[:-1], *s) for t, s in zip(tables, shapes, strict=True))


def flat_tables(model: HiddenModel, tables: Sequence[ArrayLike], runs: int = 1, /) -> Floats:
    """The inverse of `as_tables`, checked: cells (runs, cells), of tables for all runs or each."""
    if len(tables) != model.n:
        raise ValueError(f"{len(tables)} tables: give one for each of {model.n} nodes")
    cells = []
    for v, (table, shape) in enumerate(zip(tables, layout(model).shapes.tolist(), strict=True)):
        array = np.asarray(table, np.float64)
        if array.shape not in (tuple(shape), (runs, *shape)):
            each = f", or {(runs, *shape)} with one for each run" if runs > 1 else ""
            raise ValueError(f"node {v}: its table is {tuple(shape)}{each}, not {array.shape}")
        if not ((array >= 0) & (array <= 1)).all():
            raise ValueError(f"node {v}: its table holds probabilities, from 0 to 1")
        cells.append(np.broadcast_to(array, (runs, *shape)).reshape(runs, -1))
    return np.concatenate(cells, axis=1)
