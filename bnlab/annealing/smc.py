"""Sequential Monte Carlo on node orders, from uniform orders to the posterior."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.annealing.methods import SMC
from bnlab.kernels import order_walks
from bnlab.sampling import OrderWalker
from bnlab.weights import conditional_ess, log_sum, resample_particles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HALVINGS = 50  # of the interval in which the next temperature is sought


class Cloud(NamedTuple):
    """Weighted orders: orders (P, n), ln w (P,), ln target (P,), steps (S, 3).

    A step tells its beta, the effective sample size there, and the share of its moves accepted.
    """

    orders: Ints
    log_w: Floats
    log_target: Floats
    steps: Floats


def anneal_cloud(walker: OrderWalker, method: SMC, rng: np.random.Generator) -> Cloud:
    """One run [DelMoralDoucetJasra2006]: the mean of its weights w estimates Z / n!.

    Each particle is a uniform order at first and weighs 1. A step of beta multiplies w by (weight
    of the order)**step. Resampling gives all particles the mean weight, which leaves the expected
    sum of w f(order) as it is for any f, and moves leave the distribution at
    their beta as it is.
    """
    size, n = method.particles, walker.n
    moves = n if method.moves_each is None else method.moves_each
    orders = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
    log_w, log_target = np.zeros(size), np.empty(size)
    _move(walker, orders, log_target, 0.0, 0, method, rng)
    beta, steps = 0.0, []
    for following in _ladder(method, log_w, log_target):
        log_w += (following - beta) * log_target
        beta = following
        ess = conditional_ess(np.zeros(size), log_w)
        if ess < method.resample * size:
            orders = orders[resample_particles(log_w, rng)]
            log_w[:] = log_sum(log_w) - math.log(size)
        accepted = _move(walker, orders, log_target, beta, moves, method, rng)
        steps.append((beta, ess, accepted))
    return Cloud(orders, log_w, log_target, np.array(steps))


def _ladder(method: SMC, log_w: Floats, log_target: Floats) -> Iterator[float]:
    """Inverse temperatures after 0: the given ones, or each chosen as the weights are by then."""
    if method.schedule is not None:
        yield from method.schedule.betas[1:].tolist()
        return
    beta = 0.0
    while beta < 1:
        beta = next_beta(beta, log_w, log_target, method.share)
        yield beta


def next_beta(beta: float, log_w: Floats, log_target: Floats, share: float) -> float:
    """The next inverse temperature, at most 1, where the conditional ESS is `share` of particles.

    By bisection; always above `beta`.
    """
    aim = share * log_w.size
    if conditional_ess(log_w, (1 - beta) * log_target) >= aim:
        return 1.0
    low, high = beta, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if conditional_ess(log_w, (middle - beta) * log_target) >= aim:
            low = middle
        else:
            high = middle
    return high


def _move(
    walker: OrderWalker,
    orders: Ints,
    log_target: Floats,
    beta: float,
    moves: int,
    method: SMC,
    rng: np.random.Generator,
) -> float:
    """Move the orders in place and weigh them; the share of the moves that was accepted."""
    tally = np.zeros((1, 1, 3, 2), np.int64)
    plan = (beta, moves, method.moves.shares)
    order_walks.move_each(orders, walker.source, plan, rng, (log_target, tally))
    return float(tally[..., 1].sum() / max(1, moves * len(orders)))
