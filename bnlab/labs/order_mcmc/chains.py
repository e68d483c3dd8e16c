"""Walks on orders for the lab: the data sets, one slow walk that shows its moves, two long ones."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.sampling import OrderWalker

KINDS = ("swap", "adjacent", "relocate")
SEED = 2003
CHAIN_SEED = 2  # two chains that tic-tac-toe keeps apart, as it does every second pair
LONG = 20_000  # draws of each long chain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Case(NamedTuple):
    """A data set and how its families are scored."""

    dataset: str
    score: bn.BDeu | bn.K2
    max_parents: int
    prior: bn.Uniform | bn.Fair


CASES: Mapping[str, Case] = {
    "wine": Case("wine", bn.K2(), 5, bn.Fair()),
    "tic-tac-toe": Case("tic_tac_toe", bn.K2(), 5, bn.Fair()),
    "tic-tac-toe, BDeu, 3 parents": Case("tic_tac_toe", bn.BDeu(1.0), 3, bn.Uniform()),
    "coronary": Case("coronary", bn.K2(), 5, bn.Fair()),
}
"""The data sets of the lab; all of them work without a network."""


@cache
def posterior(name: str) -> bn.OrderPosterior:
    """The exact order-modular posterior of one of `CASES`.

    Examples
    --------
    >>> posterior("coronary").table.n
    6
    """
    case = CASES[name]
    data = bn.load_dataset(case.dataset)
    table = bn.score_families(data, case.score, max_parents=case.max_parents, prior=case.prior)
    return bn.order_posterior(table)


@cache
def usual_weights(name: str) -> tuple[float, float]:
    """Mean and standard deviation of ln weight under the posterior, from independent draws.

    Examples
    --------
    >>> usual_weights("coronary")[1] < 3
    True
    """
    draws = bn.sample_orders(posterior(name), draws=LONG, rng=np.random.default_rng(SEED))
    return float(draws.log_target.mean()), float(draws.log_target.std())


@cache
def long_chains(name: str) -> bn.Draws:
    """Two chains of 20,000 draws, n moves apart, without burn-in.

    Examples
    --------
    >>> long_chains("coronary").values.shape
    (2, 20000, 6)
    """
    table = posterior(name).table
    rng = np.random.default_rng(CHAIN_SEED)
    return bn.sample_orders(table, draws=LONG, chains=2, burn_in=0, rng=rng)


def chain(draws: bn.Draws, which: int, /) -> bn.Draws:
    """One of the chains, alone; `which` counts from 0.

    Examples
    --------
    >>> chain(long_chains("coronary"), 1).values.shape
    (1, 20000, 6)
    """
    only = slice(which, which + 1)
    return replace(
        draws,
        values=draws.values[only],
        log_weight=draws.log_weight[only],
        log_target=draws.log_target[only],
        stats={label: values[only] for label, values in draws.stats.items()},
    )


class Step(NamedTuple):
    """One Metropolis move: where it starts, what it proposes, and what becomes of that.

    gain is ln weight of the proposed order less that of the order; u is uniform on [0, 1), and the
    move is accepted if u < exp(gain).
    """

    order: Ints
    proposed: Ints
    gain: float
    u: float

    @property
    def accepted(self) -> bool:
        """Whether the proposed order is the next one."""
        return self.u < math.exp(min(0.0, self.gain))

    @property
    def after(self) -> Ints:
        """The order after this move."""
        return self.proposed if self.accepted else self.order


def proposal(order: Ints, kind: str, rng: np.random.Generator, /) -> Ints:
    """A neighbour of the order by one of the package's three kinds of move.

    Examples
    --------
    >>> proposal(np.array([0, 1]), "swap", np.random.default_rng(1)).tolist()
    [1, 0]
    """
    n = len(order)
    if kind == "adjacent":
        i = int(rng.integers(n - 1))
        i, j = i, i + 1
    else:
        i, j = (int(place) for place in rng.choice(n, size=2, replace=False))
    if kind == "relocate":
        return np.insert(np.delete(order, i), j, order[i])
    out = order.copy()
    out[[i, j]] = out[[j, i]]
    return out


def metropolis(
    table: bn.ScoreTable, kind: str, steps: int, rng: np.random.Generator, /
) -> list[Step]:
    """A walk in plain Python from a random order, with all that happens on the way.

    Examples
    --------
    >>> walk = metropolis(posterior("coronary").table, "swap", 3, np.random.default_rng(1))
    >>> len(walk)
    3
    """
    walker = OrderWalker.of(table)
    order = rng.permutation(table.n)
    score = float(walker.log_weights(order[None])[0])
    walk = []
    for _ in range(steps):
        proposed = proposal(order, kind, rng)
        fresh = float(walker.log_weights(proposed[None])[0])
        step = Step(order, proposed, fresh - score, float(rng.random()))
        walk.append(step)
        if step.accepted:
            order, score = proposed, fresh
    return walk
