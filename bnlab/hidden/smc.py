"""Collapsed sequential Monte Carlo over the rows of data: the gold standard for the evidence."""

import math

import numpy as np

from bnlab.checkpoints import Arrays
from bnlab.hidden.pieces import Piece, Pieces
from bnlab.kernels import latent_particles

Job = tuple[Pieces, int, list[np.random.Generator]]


def filter_block(job: Job, /) -> Arrays:
    """Ln of one unbiased estimate of p(data) for each generator: log_p (runs,).

    The job holds pieces of a model, the number of particles and the generators. Each run takes the
    rows in a random order of its own. Connected parts are filtered by themselves and their
    estimates multiplied, which are independent; tables that no row leaves open are integrated out
    beforehand, and rows that leave nothing open come first.

    Examples
    --------
    >>> from bnlab.hidden.pieces import HiddenModel, open_pieces
    >>> found = open_pieces(HiddenModel([0, 1], [2, 3], hidden=[0]), [[0]])
    >>> filter_block((found, 4, np.random.default_rng(1).spawn(2)))["log_p"].round(4)  # ln(1/3)
    array([-1.0986, -1.0986])
    """
    found, particles, rngs = job
    log_p = [
        found.known + math.fsum(_filter(piece, particles, rng) for piece in found.pieces)
        for rng in rngs
    ]
    return {"log_p": np.array(log_p)}


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
