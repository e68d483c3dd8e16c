"""Many orders moved at one temperature: the walks of `walks`, one after the other."""

import numpy as np
from numba import njit

from bnlab.kernels.walks import walk


@njit(cache=True, nogil=True)
def move_each(orders, source, plan, rng, record):
    """Move each of the orders (P, n) along in place, as `walk` does.

    plan: (beta, moves, shares (2,)): `moves` moves at `beta`; none only weigh the orders.
    record: (log_weights (P,) of the orders at beta = 1, tally (1, 1, 3, 2) of all moves together).
    """
    beta, moves, shares = plan
    log_weights, tally = record
    betas = np.full((1, 1), beta)
    unkept, alone = np.empty((0, orders.shape[1]), np.int64), np.empty((0, 2), np.int64)
    weights = log_weights.reshape(-1, 1)
    for p in range(orders.shape[0]):
        kept = (unkept, weights[p : p + 1], tally, alone)
        walk(orders[p : p + 1], source, (betas, moves, shares), rng, kept)
