"""The thesis' sampler on all structures, and particles as the gold standard beside it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.hidden import AIS, SMC, JointDirichlet, Warped, anneal, estimate_structures
from bnlab.labs.papers.beal2003.world import data_of_print, models, stream

Floats = NDArray[np.float64]

STEPS = 16_384
"""K of the thesis' main experiments [Beal2003, sec. 6.4.1]."""

BATCHES = 5
"""G, the single runs whose estimates are averaged (eq. 6.61)."""


class Batches(NamedTuple):
    """Runs of the thesis' sampler on every structure.

    Attributes
    ----------
    log_p : ln of the estimates (136, batches), nats
    acceptance : share of accepted proposals (136, 4), by quarters of the schedule
    """

    log_p: Floats
    acceptance: Floats


def batches(n: int, /, *, steps: int = STEPS, runs: int = BATCHES) -> Batches:
    """AIS with the thesis' schedule and proposals, n rows from the printed parameters.

    Examples
    --------
    >>> batches(10, steps=4, runs=1).log_p.shape
    (136, 1)
    """
    rows, method = data_of_print(0)[:n], AIS(Warped(steps), JointDirichlet())
    found = [
        anneal(model, rows, runs=runs, rng=rng, method=method)
        for model, rng in zip(models(), stream(5, n, steps).spawn(len(models())), strict=True)
    ]
    return Batches(
        np.array([each.log_weight for each in found]),
        np.array([each.acceptance.reshape(4, -1).mean(axis=1) for each in found]),
    )


def particles(n: int, /, *, batch: int, size: int = 256) -> Floats:
    """ln p(data) (136,) by one run of collapsed SMC for each part, n rows as for `batches`.

    Examples
    --------
    >>> particles(10, batch=0, size=8).shape
    (136,)
    """
    rows, rng = data_of_print(0)[:n], stream(6, n, batch)
    found = estimate_structures(models(), rows, runs=1, rng=rng, method=SMC(size))
    return np.array([each.log_value for each in found])


def mean_of(log_p: Floats, /) -> Floats:
    """ln of the mean of exp over the last axis: AIS(G) from G single runs [Beal2003, eq. 6.61].

    Examples
    --------
    >>> mean_of(np.log([[1.0, 3.0]])).round(4)
    array([0.6931])
    """
    top = log_p.max(axis=-1, keepdims=True)
    out: Floats = top[..., 0] + np.log(np.exp(log_p - top).mean(axis=-1))
    return out
