"""The exact evidence of a model with hidden nodes, where its sum is short enough."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import checked
from bnlab.data import Data
from bnlab.hidden.completions import Completions, cells_of_rows, complete, table_rows
from bnlab.hidden.model import HiddenModel, columns_of, parts
from bnlab.kernels import latent, latent_particles
from bnlab.results import Estimate, Run
from bnlab.running import Clock

Ints = NDArray[np.int64]

MAX_TERMS = 50_000_000  # about a minute


@checked
def exact_evidence(model: HiddenModel, data: Data | ArrayLike, /) -> Estimate:
    """Return ln p(data), nats, by the sum over all completions of the data [Beal2003, eq. 6.12].

    For each completion the tables are integrated out in closed form (eq. 6.9). Equal rows are
    completed together, so the number of terms is the product over distinct rows of C(k + H - 1, k)
    for a row that occurs k times and has H joint hidden states: about H**m for few rows. Connected
    parts are summed by themselves.

    Raises
    ------
    ValueError
        If there are more than 50 million terms.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> round(exact_evidence(model, [[0], [1], [2]]).log_value, 4)
    -3.8067
    """
    clock = Clock()
    split = [(part, complete(part.model, columns_of(model, data, part))) for part in parts(model)]
    terms = [_terms(completions) for _, completions in split]
    if max(terms) > MAX_TERMS:
        raise ValueError(
            f"{max(terms):,} completions to sum over; at most {MAX_TERMS:,} are: take fewer rows, "
            "or estimate_evidence"
        )
    log_value = math.fsum(_log_sum(completions, part.model.strength) for part, completions in split)
    settings = {"terms": sum(terms), "strength": model.strength}
    run = Run("sum over completions", settings, seconds=clock.seconds)
    return Estimate(log_value, 0.0, "exact", run=run)


def _terms(completions: Completions) -> int:
    states = np.repeat(completions.listed.shapes[:, 0], completions.listed.shapes[:, 2])
    return math.prod(
        math.comb(int(k) + int(size) - 1, int(k))
        for k, size in zip(completions.listed.weight, states, strict=True)
    )


def _log_sum(completions: Completions, strength: float) -> float:
    base, first = completions.base, completions.first
    known = latent.log_dirichlet(base, first, strength)
    cells = cells_of_rows(completions)
    if cells.shape[1] == 0:
        return float(known)
    states = np.repeat(completions.listed.shapes[:, 0], completions.listed.shapes[:, 2])
    slots = np.array(
        [
            (row, state, completions.listed.weight[row])
            for row in range(len(states))
            for state in range(states[row])
        ],
        np.int64,
    )
    counts = base.copy()
    tables = table_rows(first)
    totals = np.add.reduceat(counts, first[:-1])
    return float(
        known + latent_particles.sum_completions(slots, cells, tables, strength, counts, totals)
    )
