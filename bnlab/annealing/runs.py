"""Annealing runs on node orders, upward from uniform orders or downward from exact draws."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.annealing.methods import AIS, DEFAULT
from bnlab.results import Draws, Run
from bnlab.runs import Clock, Progress, check_counts, check_generator, collect, seed_of, workers
from bnlab.sampling import Executor, Moves, OrderWalker
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_SPANS = 100  # parts of the schedule for which acceptance is told
MAX_JOBS = 20  # on an executor that is not ours: each may send the target to a process again


class Runs(NamedTuple):
    """Annealing runs: last orders (R, n), ln w (R,), ln target (R,), tally (spans, 3, 2)."""

    orders: Ints
    log_w: Floats
    log_target: Floats
    tally: Ints


def anneal_orders(
    table: ScoreTable,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    method: AIS = DEFAULT,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Independent, weighted node orders by annealing [NiinimakiKoivisto2013, sec. 3.1].

    Each run starts at a uniform order L_0, moves to L_1, ..., L_{r-1} by Metropolis at beta_i, and
    weighs n! prod_i (weight of L_{i-1})**(beta_i - beta_{i-1}), whose mean is exp(log_z).

    Parameters
    ----------
    table : ScoreTable, of up to 63 variables
    runs : number of runs, at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    method : AIS, with schedule and moves
    progress : progress(done, total, None) after each block of runs; False stops, and the runs done
        remain
    executor : where blocks of runs go; threads by default

    Returns
    -------
    Draws
        over "orders": values (1, runs, n), the last order of each run; log_weight (1, runs), nats,
        E[exp(log_weight)] = exp(log_z); log_target (1, runs) as from `sample_orders`.
        stats: "beta" and "acceptance" (spans,), in up to 100 equal parts of the schedule.

    Examples
    --------
    >>> from bnlab import BDeu, Data, Linear, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> draws = anneal_orders(table, runs=3, rng=np.random.default_rng(1), method=AIS(Linear(9)))
    >>> draws.log_weight.round(4)  # both orders weigh the same: all runs say ln Z
    array([[-2.3671, -2.3671, -2.3671]])
    """
    check_counts(runs=runs)
    check_generator(rng)
    clock, seed = Clock(), seed_of(rng)
    rngs = rng.spawn(runs)
    starts = np.array([child.permutation(table.n) for child in rngs])
    done = anneal(OrderWalker.of(table), method, starts, rngs, 1, progress, executor)
    betas = method.schedule.betas
    spans = len(done.tally)
    tried, accepted = done.tally.sum(axis=1).T
    settings = {"runs": runs, "method": repr(method), "max_parents": table.max_parents}
    return Draws(
        done.orders[None],
        (done.log_w + math.lgamma(table.n + 1))[None],
        done.log_target[None],
        "orders",
        "order-modular",
        table.names,
        stats={
            "beta": betas[np.arange(spans) * (betas.size - 1) // spans],
            "acceptance": accepted / np.maximum(tried, 1),
        },
        traces={"group": np.arange(len(done.log_w))[None]},
        run=Run("AIS", settings, seed, clock.seconds, stopped=len(done.log_w) < runs),
    )


def anneal(
    walker: OrderWalker,
    method: AIS,
    starts: Ints,
    rngs: list[np.random.Generator],
    direction: int,
    progress: Progress | None,
    executor: Executor | None,
) -> Runs:
    """Runs in blocks; those of the finished blocks when stopped."""
    betas = np.asarray(method.schedule.betas, np.float64)[::direction]
    block = max(1, walker.block_moves // betas.size)
    if executor is not None:
        block = max(block, math.ceil(len(rngs) / MAX_JOBS))
    jobs = [
        (walker, betas, method.moves, starts[i : i + block], rngs[i : i + block])
        for i in range(0, len(rngs), block)
    ]
    with workers(executor, len(jobs)) as chosen:
        parts: list[Runs] = []
        collect(chosen.map(_block, jobs), parts, _finished, len(rngs), progress)
    return Runs(
        np.concatenate([part.orders for part in parts]),
        np.concatenate([part.log_w for part in parts]),
        np.concatenate([part.log_target for part in parts]),
        np.sum([part.tally for part in parts], axis=0),
    )


def _block(
    job: tuple[OrderWalker, Floats, Moves, Ints, list[np.random.Generator]],
) -> Runs:
    """ln w of each run: the sum of |beta_{i+1} - beta_i| ln weight(L_i), L_i moved to at beta_i.

    The first move, at beta = 0 from a uniform order or at beta = 1 from an exact draw, leaves the
    law of the start as it is.
    """
    walker, betas, moves, starts, rngs = job
    orders, log_w = starts.copy(), np.empty(len(starts))
    spans = min(MAX_SPANS, betas.size - 1)
    tally = np.zeros((spans, 3, 2), np.int64)
    for t, (order, rng) in enumerate(zip(orders, rngs, strict=True)):
        walk = walker.walk(order, betas[:-1].copy(), 1, moves, rng, keep=False, spans=spans)
        log_w[t] = np.abs(np.diff(betas)) @ walk.log_weights
        tally += walk.tally
    return Runs(orders, log_w, walker.log_weights(orders), tally)


def _finished(part: Runs) -> int:
    return len(part.log_w)
