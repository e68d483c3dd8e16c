"""Chains on orders, alone or coupled, in rounds that can be stopped, saved and resumed."""

import copy
import math
import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checkpoints import Arrays, Checkpoint, generator_states, restore_generators
from bnlab.runs import Clock, Executor, Progress, Stopped, goes_on, workers
from bnlab.sampling.rounds import CHAIN_BYTES, MAX_BLOCKS, MAX_ROUNDS
from bnlab.sampling.walks import CoupledWalk, Moves, OrderWalker, walker_bytes
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ChainPlan:
    """What every chain does: burn_in moves, then `draws` records after `thin` moves each.

    A chain is an ensemble of coupled chains, one at each of the betas (C,), the last of which is
    recorded. Steps of `thin` moves each end with exchanges; the first step of the burn-in may be
    shorter.
    """

    draws: int
    burn_in: int
    thin: int
    moves: Moves
    betas: Floats

    @property
    def burn_in_steps(self) -> int:
        """Steps before the first draw."""
        return -(-self.burn_in // self.thin)

    @property
    def steps(self) -> int:
        """Steps in all."""
        return self.burn_in_steps + self.draws

    def moves_after(self, step: int, /) -> int:
        """Moves of each order in the steps before number `step`."""
        return max(0, step * self.thin - (-self.burn_in % self.thin))

    def round(self, step: int, block: int, /) -> tuple[int, int]:
        """(steps, moves in each) of a round of about `block` moves that begins at `step`.

        A round is of the burn-in, or of draws.

        Examples
        --------
        >>> plan = ChainPlan(draws=5, burn_in=3, thin=2, moves=Moves(), betas=np.ones(1))
        >>> [plan.round(step, 4) for step in (0, 1, 2, 4, 6)]
        [(1, 1), (1, 2), (2, 2), (2, 2), (1, 2)]
        """
        if step == 0 and self.burn_in % self.thin:
            return 1, self.burn_in % self.thin
        end = self.burn_in_steps if step < self.burn_in_steps else self.steps
        return min(max(1, block // self.thin), end - step), self.thin


class Position(NamedTuple):
    """Where chains stand after `step` steps, and what they have counted in their draws.

    orders (chains, C, n); tally (chains, C, 3, 2) and exchanges (chains, C - 1, 2): tried and
    accepted.
    """

    step: int
    orders: Ints
    rngs: list[np.random.Generator]
    tally: Ints
    exchanges: Ints


class Chains:
    """Chains in step: where they stand, and their draws so far.

    Attributes
    ----------
    at : Position
    orders : (chains, draws, n), of which `kept` draws are there
    log_weights : (chains, draws, C), nats
    """

    def __init__(self, plan: ChainPlan, n: int, rngs: list[np.random.Generator]) -> None:
        chains, temperatures = len(rngs), plan.betas.size
        self.plan = plan
        self.orders = np.empty((chains, plan.draws, n), np.int64)
        self.log_weights = np.empty((chains, plan.draws, temperatures))
        self.at = Position(
            0,
            np.array([[rng.permutation(n) for _ in plan.betas] for rng in rngs]),
            rngs,
            np.zeros((chains, temperatures, 3, 2), np.int64),
            np.zeros((chains, temperatures - 1, 2), np.int64),
        )
        self._clock, self._seconds_before = Clock(), 0.0

    @property
    def kept(self) -> int:
        """Draws of each chain so far."""
        return max(0, self.at.step - self.plan.burn_in_steps)

    @property
    def finished(self) -> bool:
        """Whether all draws are there."""
        return self.at.step == self.plan.steps

    @property
    def seconds(self) -> float:
        """Wall time of this run, and of the runs that it resumes."""
        return self._seconds_before + self._clock.seconds

    def advance(self, steps: int, results: list["_Advanced"]) -> None:
        """Take in the results of a round."""
        tally, exchanges = self.at.tally, self.at.exchanges
        if self.at.step >= self.plan.burn_in_steps:
            fresh = slice(self.kept, self.kept + steps)
            for c, result in enumerate(results):
                self.orders[c, fresh] = result.walk.orders
                self.log_weights[c, fresh] = result.walk.log_weights
            tally = tally + np.array([result.walk.tally[0] for result in results])
            exchanges = exchanges + np.array([result.walk.exchanges for result in results])
        orders = np.array([result.orders for result in results])
        rngs = [result.rng for result in results]
        # At once: an interrupt finds the position before the round, or after it.
        self.at = Position(self.at.step + steps, orders, rngs, tally, exchanges)

    def arrays(self) -> Arrays:
        """What a checkpoint keeps."""
        return {
            "step": np.array(self.at.step),
            "states": self.at.orders,
            "generators": generator_states(self.at.rngs),
            "tally": self.at.tally,
            "exchanges": self.at.exchanges,
            "orders": self.orders[:, : self.kept].astype(np.int8),
            "log_weights": self.log_weights[:, : self.kept],
            "seconds": np.array(self.seconds),
        }

    def restore(self, saved: Arrays) -> None:
        """Stand where a checkpoint was saved."""
        restore_generators(self.at.rngs, saved["generators"])
        self.at = Position(
            int(saved["step"]),
            saved["states"],
            self.at.rngs,
            saved["tally"],
            saved["exchanges"],
        )
        self.orders[:, : self.kept] = saved["orders"]
        self.log_weights[:, : self.kept] = saved["log_weights"]
        self._seconds_before = float(saved["seconds"])


def run_chains(
    table: ScoreTable,
    plan: ChainPlan,
    rng: np.random.Generator,
    ensembles: int,
    checkpoint: Checkpoint | None,
    progress: Progress | None,
    executor: Executor | None,
) -> Chains:
    """So many ensembles, from random orders. All of them stop after the same round.

    A round that an interrupt breaks is dropped for all of them, so their draws stay equally many.
    """
    each = 8 * (table.n + plan.betas.size + 2)  # bytes of a draw; and what saving them takes
    each += 0 if checkpoint is None else 4 * (table.n + 8 * plan.betas.size)
    memory.require(
        walker_bytes(table) + ensembles * (CHAIN_BYTES + plan.draws * each),
        task=f"n={table.n}, {ensembles} x {plan.draws} draws: walking on orders",
        remedy="keep fewer draws, or choose fewer variables with Data.select",
    )
    chains = Chains(plan, table.n, rng.spawn(ensembles))
    saved = None if checkpoint is None else checkpoint.load()
    if saved is not None:
        chains.restore(saved)
    if not chains.finished:
        walker = OrderWalker.of(table)
        try:
            _go_on(chains, walker, checkpoint, progress, executor)
        except KeyboardInterrupt:
            if not chains.kept:
                raise
        finally:
            if checkpoint is not None:
                checkpoint.save(chains.arrays())
    if not chains.kept:
        raise Stopped("stopped before the end of the burn-in: no draws yet")
    return chains


def _go_on(
    chains: Chains,
    walker: OrderWalker,
    checkpoint: Checkpoint | None,
    progress: Progress | None,
    executor: Executor | None,
) -> None:
    plan, ensembles = chains.plan, len(chains.orders)
    orders = ensembles * plan.betas.size
    block = _block_moves(walker, plan, ensembles, executor)
    with workers(executor, ensembles) as chosen:
        while not chains.finished:
            steps, thin = plan.round(chains.at.step, block)
            jobs = [
                (walker, states, rng, plan.betas, steps, thin, plan.moves)
                for states, rng in zip(chains.at.orders, chains.at.rngs, strict=True)
            ]
            chains.advance(steps, list(chosen.map(_advance, jobs)))
            done, total = (orders * plan.moves_after(at) for at in (chains.at.step, plan.steps))
            if not goes_on(progress, done, total):
                return
            if checkpoint is not None and checkpoint.due:
                checkpoint.save(chains.arrays())


def _block_moves(
    walker: OrderWalker, plan: ChainPlan, ensembles: int, executor: Executor | None
) -> int:
    """Moves of each order in a round: about 100 ms of all of them on threads."""
    block = walker.block_moves // plan.betas.size
    if executor is None:
        return block // math.ceil(ensembles / (os.cpu_count() or 1))
    share = plan.moves_after(plan.steps) // MAX_ROUNDS
    return min(max(block, share), MAX_BLOCKS * block)


class _Advanced(NamedTuple):
    """An ensemble after a round: the walk, and where it and its generator stand."""

    walk: CoupledWalk
    orders: Ints
    rng: np.random.Generator


def _advance(
    job: tuple[OrderWalker, Ints, np.random.Generator, Floats, int, int, Moves],
) -> _Advanced:
    """Copies move along, not the originals: an interrupt leaves those before the round."""
    walker, orders, rng, betas, records, thin, moves = job
    orders, rng = orders.copy(), copy.deepcopy(rng)
    walk = walker.walk_coupled(orders, betas, records, thin, moves, rng)
    return _Advanced(walk, orders, rng)
