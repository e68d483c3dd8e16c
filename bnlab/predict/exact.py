"""Exact posterior predictive densities, p(x | D) = p(x, D) / p(D), a dynamic program for each x."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import checked
from bnlab.data import Data
from bnlab.exact import order_posterior
from bnlab.graphs import members
from bnlab.predict.rows import Rows, check_rows, completed, missing_masks
from bnlab.predict.tables import check_score
from bnlab.priors import Prior, Uniform
from bnlab.running import Progress, Steps
from bnlab.scores import BDeu, Score, ScoreTable, score_families

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_RUNS = 1 << 16  # of the dynamic program


class ExactPosterior(Protocol):
    """What `exact_log_density` asks of a posterior."""

    @property
    def log_z(self) -> float:
        """ln of the sum of prior factor times likelihood, nats."""
        ...


@checked
def exact_log_density(
    data: Data,
    new_rows: Data | ArrayLike,
    /,
    *,
    score: Score = BDeu(),
    max_parents: int = 3,
    prior: Prior = Uniform(),
    posterior: Callable[[ScoreTable], ExactPosterior] = order_posterior,
    progress: Progress | None = None,
) -> Floats:
    """Return ln p(x | D) = ln p(x, D) - ln p(D) of each new row x [EatonMurphy2007, sec. 2.2].

    The posterior runs once for the data and once more for every different row added to them; a row
    with missing cells is a sum over all its completions. Intervened cells as in `log_density`.

    Parameters
    ----------
    data : Data, m rows of n variables
    new_rows : (rows, n) integer codes with -1 for a missing cell, or Data of the same variables
    score, max_parents, prior : as in `score_families`; the score is BDeu or K2
    posterior : which exact posterior the density belongs to: `order_posterior` (order-modular), or
        `dag_posterior` (structure-modular)
    progress : called as progress(done, total, None) after each run of the posterior; False stops

    Returns
    -------
    float64 (rows,), nats

    Raises
    ------
    ValueError
        If rows do not fit the data, the score has no pseudo-counts, missing cells ask for more than
        65,536 runs, or the posterior refuses.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]])
    >>> np.exp(exact_log_density(data, [[0, 0], [0, 1], [0, -1]])).round(3)
    array([0.523, 0.102, 0.625])
    """
    rows = check_rows(data, new_rows)
    check_score(score)

    def log_z(extended: Data) -> float:
        table = score_families(extended, score, max_parents=max_parents, prior=prior)
        return posterior(table).log_z

    complete, owner = _completions(data, rows)
    held = np.zeros(complete.values.shape, bool)
    if complete.intervened is not None:
        held = complete.intervened
    distinct, which = np.unique(
        np.hstack([complete.values, held]).astype(np.int32), axis=0, return_inverse=True
    )
    log_p, steps = np.empty(len(distinct)), Steps(progress, len(distinct))
    log_z_data = log_z(data) if len(distinct) else 0.0
    for i, row in enumerate(distinct):
        log_p[i] = log_z(_with_row(data, row[: data.n], row[data.n :] == 1)) - log_z_data
        steps.tick()
    if not len(rows.values):
        return np.empty(0)
    starts = np.searchsorted(owner, np.arange(len(rows.values)))
    out: Floats = np.logaddexp.reduceat(log_p[which], starts)
    return out


def _with_row(data: Data, row: Ints, held: Bools) -> Data:
    """The data and one row more."""
    values = np.vstack([data.values, row])
    if data.intervened is None and not held.any():
        return replace(data, values=values)
    before = np.zeros(data.values.shape, bool) if data.intervened is None else data.intervened
    return replace(data, values=values, intervened=np.vstack([before, held]))


def _completions(data: Data, rows: Rows) -> tuple[Rows, Ints]:
    """All completions of all rows, and of which row each is one, ascending."""
    nodes = [members(mask) for mask in missing_masks(rows)]
    runs = sum(math.prod(int(data.arities[v]) for v in some) for some in nodes)
    if runs > MAX_RUNS:
        raise ValueError(
            f"the rows have {runs:,} completions, each a run of the dynamic program, and at most "
            f"{MAX_RUNS:,} are handled: use log_density with draws"
        )
    parts = [
        completed(rows.take(slice(t, t + 1)), some, data.arities) for t, some in enumerate(nodes)
    ]
    owner = np.repeat(np.arange(len(parts)), [len(part.values) for part in parts])
    values = np.concatenate([rows.values[:0], *(part.values for part in parts)])
    held = None if rows.intervened is None else rows.intervened[owner]
    return Rows(values, held), owner
