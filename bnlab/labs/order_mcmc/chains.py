"""Walks on orders for the lab: one that shows its moves, long ones, hot ones, coupled ones."""

from dataclasses import replace
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.datasets import Case, bdeu_table, k2_posterior
from bnlab.sampling import OrderStep, OrderWalker

KINDS = ("swap", "adjacent", "relocate")
SEED = 2003
CHAIN_SEED = 2  # two chains that tic-tac-toe keeps apart, as it does every second pair
LONG = 20_000  # draws of each long chain
TEMPERED = 5000  # draws of each walk at one temperature
NO_MOVES = dict.fromkeys(KINDS, 0.0)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


BY_BDEU = "tic-tac-toe, BDeu, 3 parents"
"""The only posterior that is not by the K2 score with the Fair prior and up to 5 parents."""


def posterior(case: Case) -> bn.OrderPosterior:
    """Return the exact order-modular posterior of a data set, or of a table of your own."""
    return _by_bdeu() if case == BY_BDEU else k2_posterior(case)


@cache
def _by_bdeu() -> bn.OrderPosterior:
    return bn.order_posterior(bdeu_table("tic-tac-toe"))


@cache
def usual_weights(case: Case) -> tuple[float, float]:
    """Mean and standard deviation of ln weight under the posterior, from independent draws."""
    draws = bn.sample_orders(posterior(case), draws=LONG, rng=np.random.default_rng(SEED))
    return float(draws.log_target.mean()), float(draws.log_target.std())


@cache
def long_chains(case: Case) -> bn.Draws:
    """Two chains of 20,000 draws, n moves apart, without burn-in."""
    table = posterior(case).table
    rng = np.random.default_rng(CHAIN_SEED)
    return bn.sample_orders(table, draws=LONG, chains=2, burn_in=0, rng=rng)


def chain(draws: bn.Draws, which: int, /) -> bn.Draws:
    """One of the chains, alone and without its stats; `which` counts from 0."""
    only = slice(which, which + 1)
    return replace(
        draws,
        values=draws.values[only],
        log_weight=draws.log_weight[only],
        log_target=draws.log_target[only],
        stats={},
        traces={label: values[only] for label, values in draws.traces.items()},
    )


class Step(NamedTuple):
    """One move of a walk: the order before it, ln of the ratio of weights (nats), and its fate."""

    order: Ints
    gain: float
    move: OrderStep


@cache
def steps(case: Case, kind: str, moves: int) -> list[Step]:
    """A walk on a case from a random order, with all that happens on the way."""
    table, rng = posterior(case).table, np.random.default_rng(SEED)
    start, kinds = rng.permutation(table.n), bn.Moves(**{**NO_MOVES, kind: 1.0})
    walk = [*islice(bn.each_order(table, rng=rng, start=start, moves=kinds), moves)]
    orders = np.array([start, *(step.order for step in walk[:-1])])
    proposed = np.array([step.proposed for step in walk])
    weigh = OrderWalker.of(table).log_weights
    gains = weigh(proposed) - weigh(orders)
    return [Step(*step) for step in zip(orders, gains.tolist(), walk, strict=True)]


@cache
def tempered(case: Case, beta: float) -> bn.Draws:
    """Two walks at one inverse temperature, from the two orders where `long_chains` start.

    The draws, 5,000 of each, n moves apart, come from orders in proportion to weight ** beta;
    log_target is ln weight all the same. stats: "acceptance" (2,).
    """
    table = posterior(case).table
    walker, found = OrderWalker.of(table), []
    for rng in np.random.default_rng(CHAIN_SEED).spawn(2):
        betas, start = np.full(TEMPERED, beta), rng.permutation(table.n)
        found.append(walker.walk(start, betas, table.n, bn.Moves(), rng))
    tries = np.array([walk.tally.sum(axis=(0, 1)) for walk in found])
    return bn.Draws(
        np.array([walk.orders for walk in found]),
        np.zeros((2, TEMPERED)),
        np.array([walk.log_weights for walk in found]),
        "orders",
        "order-modular",
        table.names,
        stats={"acceptance": tries[:, 1] / tries[:, 0]},
    )


@cache
def coupled(case: Case, schedule: bn.Linear | bn.Harmonic) -> bn.Draws:
    """Two runs of coupled chains, each with as many moves as one of `long_chains` has.

    The hottest chain of each run starts where the chain of `long_chains` does, the others at
    random orders. The first tenth of the moves is burn-in.
    """
    table, rng = posterior(case).table, np.random.default_rng(CHAIN_SEED)
    size = LONG // schedule.betas.size
    skipped = size // 10
    return bn.sample_orders(
        table,
        draws=size - skipped,
        chains=2,
        burn_in=skipped * table.n,
        schedule=schedule,
        rng=rng,
    )


def edge_given_orders(draws: bn.Draws, table: bn.ScoreTable, u: int, v: int, /) -> Floats:
    """p(u -> v | order, data) of each drawn order, (chains, draws)."""
    place = draws.values.argsort(axis=2)
    before = (place < place[:, :, [v]]) @ (1 << np.arange(table.n))
    sets, which = np.unique(before, return_inverse=True)
    beta = np.exp(table.log_beta[v] - table.log_beta[v].max())
    within = (table.parents[v] & ~sets[:, None]) == 0
    with_u = within & (table.parents[v] >> u & 1 == 1)
    given: Floats = (with_u @ beta / (within @ beta))[which].reshape(before.shape)
    return given
