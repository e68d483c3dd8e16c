"""Collapsed sequential Monte Carlo over the rows of data: the gold standard for the evidence."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.data import Data
from bnlab.hidden.methods import SMC
from bnlab.hidden.model import HiddenModel
from bnlab.hidden.pieces import Piece, Pieces, open_pieces
from bnlab.kernels import latent_particles
from bnlab.runs import Executor, Progress, collect, workers

Floats = NDArray[np.float64]

MAX_JOBS = 20  # on an executor that is not ours: each may send the data to a process again

Job = tuple[Pieces, int, list[np.random.Generator]]


def log_estimates(
    model: HiddenModel,
    data: Data | ArrayLike,
    method: SMC,
    rngs: list[np.random.Generator],
    progress: Progress | None,
    executor: Executor | None,
    /,
) -> Floats:
    """Ln of one unbiased estimate of p(data) for each generator; fewer when stopped.

    Each run takes the rows in a random order of its own. Connected parts are filtered by
    themselves and their estimates multiplied, which are independent; tables that no row leaves
    open are integrated out beforehand, and rows that leave nothing open come first.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> rngs = np.random.default_rng(1).spawn(2)
    >>> log_estimates(model, [[0]], SMC(4), rngs, None, None).round(4)  # ln(1/3)
    array([-1.0986, -1.0986])
    """
    found = open_pieces(model, data)
    size = 1 if executor is None else math.ceil(len(rngs) / MAX_JOBS)
    jobs: list[Job] = [
        (found, method.particles, rngs[i : i + size]) for i in range(0, len(rngs), size)
    ]
    blocks: list[list[float]] = []
    with workers(executor, len(jobs)) as chosen:
        collect(chosen.map(_filter_block, jobs), blocks, len, len(rngs), progress)
    return np.array([log_z for block in blocks for log_z in block])


def _filter_block(job: Job) -> list[float]:
    found, particles, rngs = job
    return [
        found.known + math.fsum(_filter(piece, particles, rng) for piece in found.pieces)
        for rng in rngs
    ]


def _filter(piece: Piece, particles: int, rng: np.random.Generator) -> float:
    rows, tables = piece.rows, piece.tables
    order = rng.permutation(piece.order)
    order = order[np.argsort(piece.sizes[order] > 1, kind="stable")]
    clouds = (
        np.empty((particles, order.size), np.int32),
        np.zeros((particles, piece.cells.size)),
        np.zeros((particles, len(piece.completions.first) - 1)),
    )
    return float(latent_particles.filter_rows(order, rows, tables, clouds, rng))
