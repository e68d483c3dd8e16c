"""Annealing runs on node orders, upward from uniform orders or downward from exact draws."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import checkpoints
from bnlab.checkpoints import Arrays, Checkpoint, Kept, end_to_end
from bnlab.checks import Count, Floats, Ints, Several, Share, checked, frozen
from bnlab.kernels import order_walks
from bnlab.results import Draws, Run
from bnlab.running import Batch, Clock, Executor, Progress, job_size, run_steps, seed_of, spawn
from bnlab.sampling.chains import acceptance
from bnlab.sampling.order_target import Moves, OrderWalker, check_weight
from bnlab.scores import ScoreTable
from bnlab.weights import Linear, Schedule, betas_of, conditional_ess, log_sum, resample_particles

HALVINGS = 50  # of the interval in which the next temperature is sought
MAX_SPANS = 100  # parts of the schedule for which acceptance is told
BLOCK_SECONDS = 0.1  # that `block_moves` take
USUAL_STEPS = 50  # of a run that chooses its temperatures, to tell how long it will take


@frozen(eq=True)
class AIS:
    """Annealed importance sampling [Neal2001]: one move on orders at each step of a schedule.

    Attributes
    ----------
    schedule : Linear, Harmonic, Betas, or anything with `betas`; the paper takes Linear(n * m) to
        Linear(16 * n * m) [NiinimakiKoivisto2013]
    moves : Moves

    Examples
    --------
    >>> AIS(Linear(500))
    AIS(schedule=Linear(steps=500), moves=Moves(swap=1.0, adjacent=0.0, relocate=0.0))
    """

    schedule: Schedule = field(default_factory=lambda: Linear(10_000))
    moves: Moves = field(default_factory=Moves)

    def __post_init__(self) -> None:
        betas_of(self.schedule)


@frozen(eq=True)
class SMC:
    """Tempered sequential Monte Carlo [DelMoralDoucetJasra2006]: many orders annealed together.

    A step goes to the next inverse temperature: the particles are weighed, resampled
    systematically if their weights have become too unequal, and moved. A run chooses its own
    temperatures, so that each step changes the weights by about as much; its estimate of the
    evidence is then right as the number of particles grows, and unbiased under a given schedule.

    Attributes
    ----------
    particles : orders in a run, at least 2
    schedule : the inverse temperatures; None lets each run choose them
    share : of the particles, between 0 and 1: the conditional effective sample size of a chosen
        step [ZhouJohansenAston2016]. More means more and smaller steps
    resample : resample when the effective sample size is below so large a share of the particles
    moves_each : Metropolis moves of each particle at each step; None makes n of them
    moves : Moves

    Examples
    --------
    >>> SMC(particles=500).share
    0.95
    """

    particles: Several = 1000
    schedule: Schedule | None = None
    share: Share = 0.95
    resample: Share = 0.5
    moves_each: Count | None = None
    moves: Moves = field(default_factory=Moves)

    def __post_init__(self) -> None:
        if self.schedule is not None:
            betas_of(self.schedule)


DEFAULT = AIS()
Job = tuple[OrderWalker, AIS | SMC, list[np.random.Generator], Ints | None]


class Runs(NamedTuple):
    """R runs: last orders (R, n), ln w and ln target (R,) of AIS; (R, P, n) and (R, P) of SMC."""

    orders: Ints
    log_w: Floats
    log_target: Floats
    record: NDArray[Any]  # AIS: tallies (blocks, spans, 3, 2); SMC: beta, ESS, accepted (R, S, 3)


@checked
def anneal_orders(
    table: ScoreTable,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    method: AIS | SMC = DEFAULT,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Draw weighted node orders by annealing: independent runs of AIS or of SMC.

    Annealed importance sampling [NiinimakiKoivisto2013, sec. 3.1]: each run starts at a uniform
    order L_0, moves to L_1, ..., L_{r-1} by Metropolis at beta_i, and weighs n! prod_i (weight of
    L_{i-1})**(beta_i - beta_{i-1}), whose mean is exp(log_z). Sequential Monte Carlo anneals many
    orders together, and their mean weight in a run estimates exp(log_z).

    Parameters
    ----------
    table : ScoreTable, of up to 63 variables
    runs : number of runs, at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    method : AIS or SMC, with their settings
    checkpoint : a file for the finished runs, saved every 10 seconds or so, at a stop and at the
        end. If it is there, the same call goes on from it, to the very same draws
    progress : progress(done, total, None) after each block of runs; False stops, and the runs done
        remain
    executor : where blocks of runs go; threads by default

    Returns
    -------
    Draws
        over "orders"; log_target as from `sample_orders`; log_weight in nats.
        AIS: values (1, runs, n), the last order of each run; E[exp(log_weight)] = exp(log_z).
        stats: "beta" and "acceptance" (spans,), in up to 100 equal parts of the schedule.
        SMC: values (runs, particles, n); the mean of exp(log_weight) over a run estimates
        exp(log_z). stats by step: "beta", (steps,) of a given schedule or (runs, steps) of chosen
        ones; "acceptance" and "effective_sample_size" (runs, steps), the latter before resampling.
        Runs with fewer steps are filled up with nan.

    Raises
    ------
    ValueError
        If a setting is out of its range, memory is short, or the checkpoint is damaged or belongs
        to another run: it is left as it is then; or if no order at the end of a run has a weight:
        the constraints allow it no DAG, or there are too many rows.

    Examples
    --------
    >>> from bnlab import BDeu, Data, Linear, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> draws = anneal_orders(table, runs=3, rng=np.random.default_rng(1), method=AIS(Linear(9)))
    >>> draws.log_weight.round(4)  # both orders weigh the same: all runs say ln Z
    array([[-2.3671, -2.3671, -2.3671]])
    """
    clock, seed = Clock(), seed_of(rng)
    file = Checkpoint.at(checkpoint, run_identity(table, runs, seed, method))
    size = 1 if isinstance(method, AIS) else method.particles
    rngs = spawn(rng, runs, run_bytes(table.n, size))
    done = anneal(table, method, rngs, None, file, progress, executor)
    shape = (1, len(done.log_w)) if isinstance(method, AIS) else done.log_w.shape
    check_weight(table, done.orders, done.log_target)
    settings = {"runs": runs, "method": repr(method), "max_parents": table.max_parents}
    stopped = len(done.log_w) < runs
    return Draws(
        done.orders.reshape(*shape, table.n),
        done.log_w.reshape(shape) + math.lgamma(table.n + 1),
        done.log_target.reshape(shape),
        "orders",
        "order-modular",
        table.names,
        stats=_stats(method, done.record),
        traces={"group": np.repeat(np.arange(len(done.log_w)), size).reshape(shape)},
        run=Run(type(method).__name__, settings, seed, clock.seconds, stopped=stopped),
    )


def run_bytes(n: int, size: int = 1, /) -> int:
    """Bytes that a run of `size` orders takes beside its generator."""
    return 17 * size * (n + 3)


def anneal(
    table: ScoreTable,
    method: AIS | SMC,
    rngs: list[np.random.Generator],
    starts: Ints | None,
    file: Checkpoint | None,
    progress: Progress | None,
    executor: Executor | None,
) -> Runs:
    """Runs of SMC, or of AIS: from their starts downward through the schedule, else upward."""
    walker, runs = cache(lambda: OrderWalker.of(table)), len(rngs)
    moves = USUAL_STEPS if method.schedule is None else method.schedule.betas.size
    if isinstance(method, SMC):
        moves *= method.particles * (method.moves_each or table.n)

    def job(part: slice) -> Job:
        return walker(), method, rngs[part], None if starts is None else starts[part]

    def size() -> int:
        return _block_size(walker(), moves, runs, executor)

    batch = Batch(_block, job, runs, executor, size, fits=fits(table, runs, method), join=joined)
    run_steps(batch, file, progress)
    return Runs(**batch.arrays())


def _block_size(walker: OrderWalker, moves: int, runs: int, executor: Executor | None) -> int:
    """Runs of so many moves each that go in one job: about 100 ms of them on threads."""
    size = max(1, walker.block_moves // moves)
    if executor is None:
        return size
    seconds = BLOCK_SECONDS * moves / walker.block_moves
    return max(size, job_size(runs, seconds, walker.log_phi.nbytes))


def _block(job: Job) -> Arrays:
    walker, method, rngs, starts = job
    if isinstance(method, AIS):
        return _anneal_each(walker, method, rngs, starts)._asdict()
    runs = [anneal_cloud(walker, method, rng) for rng in rngs]
    return joined([{name: of_run[None] for name, of_run in run._asdict().items()} for run in runs])


def _anneal_each(
    walker: OrderWalker, method: AIS, rngs: list[np.random.Generator], starts: Ints | None
) -> Runs:
    """ln w of each run: the sum of |beta_{i+1} - beta_i| ln weight(L_i), L_i moved to at beta_i."""
    # Made here: a job of many steps would bring more of them along than of all else.
    betas = np.asarray(method.schedule.betas, np.float64)
    if starts is None:
        orders = np.array([rng.permutation(walker.n) for rng in rngs])
    else:
        orders, betas = starts.copy(), betas[::-1]
    log_w = np.empty(len(rngs))
    spans = min(MAX_SPANS, betas.size - 1)
    tally = np.zeros((1, spans, 3, 2), np.int64)
    for t, (order, rng) in enumerate(zip(orders, rngs, strict=True)):
        walk = walker.walk(order, betas[:-1].copy(), 1, method.moves, rng, keep=False, spans=spans)
        # Not a dot product: BLAS adds long ones in an order that depends on its threads.
        log_w[t] = np.sum(np.abs(np.diff(betas)) * walk.log_weights)
        tally += walk.tally
    return Runs(orders, log_w, walker.log_weights(orders), tally)


def fits(table: ScoreTable, runs: int, method: AIS | SMC, /) -> Callable[[Arrays], None]:
    """What raises a ValueError for arrays of `Runs` that are none of these."""
    shape: tuple[int | str, ...]
    if isinstance(method, AIS):
        spans = min(MAX_SPANS, method.schedule.betas.size - 1)
        shape, record = ("runs",), checkpoints.tallies(1, spans, 3, 2)
    else:
        shape = "runs", method.particles
        steps = "steps" if method.schedule is None else method.schedule.betas.size - 1
        record = Kept(np.float64, ("runs", steps, 3), holds=partial(_are_steps, method))
    orders, nats = checkpoints.orders_of(table.n, *shape), checkpoints.nats(*shape)
    kept = {"orders": orders, "log_w": nats, "log_target": nats, "record": record}
    return lambda saved: checkpoints.check(saved, kept, runs=runs)


def _are_steps(method: SMC, record: Floats) -> bool:
    """Whether these are inverse temperatures, sample sizes and shares accepted, and then nan."""
    filled = np.asarray(np.isnan(record).all(axis=2) & (method.schedule is None))
    most = 1.0, method.particles * (1 + 1e-9), 1.0
    return bool(
        ((record >= 0) & (record <= most))[~filled].all()
        and not filled[:, :1].any()
        and (filled[:, 1:] >= filled[:, :-1]).all()
    )


def joined(parts: Sequence[Arrays]) -> Arrays:
    """All `Runs` together: tallies are added up, and shorter lists of steps filled up with nan."""
    if parts[0]["record"].dtype == np.int64:
        record = sum(part["record"].sum(axis=0, keepdims=True) for part in parts)
        return {**end_to_end(parts), "record": np.asarray(record)}
    longest = max(part["record"].shape[1] for part in parts)
    filled = []
    for part in parts:
        after = (0, 0), (0, longest - part["record"].shape[1]), (0, 0)
        filled.append(part | {"record": np.pad(part["record"], after, constant_values=math.nan)})
    return end_to_end(filled)


def _stats(method: AIS | SMC, record: NDArray[Any]) -> dict[str, Floats]:
    if isinstance(method, AIS):
        betas, tally = method.schedule.betas, record.sum(axis=0)
        of_spans = np.arange(len(tally)) * (betas.size - 1) // len(tally)
        return {"beta": betas[of_spans], "acceptance": acceptance(tally.sum(axis=1))}
    beta, size, accepted = np.moveaxis(record, 2, 0)
    beta = beta if method.schedule is None else beta[0]
    return {"beta": beta, "effective_sample_size": size, "acceptance": accepted}


def run_identity(table: ScoreTable, runs: int, seed: str, method: AIS | SMC) -> dict[str, object]:
    """What makes a call the one whose runs a file may keep."""
    given: dict[str, object] = {f.name: repr(getattr(method, f.name)) for f in fields(method)}
    if method.schedule is not None:
        given["schedule"] = np.asarray(method.schedule.betas)
    return checkpoints.identity(type(method).__name__, **given, runs=runs, seed=seed, table=table)


def anneal_cloud(walker: OrderWalker, method: SMC, rng: np.random.Generator) -> Runs:
    """One run of SMC [DelMoralDoucetJasra2006]: the mean of its weights w estimates Z / n!.

    A step of beta multiplies w by (weight of the order)**step. Resampling gives all particles the
    mean weight, which leaves the expected sum of w f(order) as it is for any f.
    """
    size, n = method.particles, walker.n
    moves = n if method.moves_each is None else method.moves_each
    orders = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
    log_w, log_target = np.zeros(size), np.empty(size)

    def move(beta: float, moves: int) -> float:
        """Move the orders in place and weigh them; the share of the moves that was accepted."""
        tally = np.zeros((1, 1, 3, 2), np.int64)
        plan = (beta, moves, method.moves.shares)
        order_walks.move_each(orders, walker.source, plan, rng, (log_target, tally))
        return float(tally[..., 1].sum() / max(1, moves * size))

    move(0.0, 0)
    beta, steps = 0.0, []
    for following in _ladder(method, log_w, log_target):
        log_w += (following - beta) * log_target
        beta = following
        ess = conditional_ess(np.zeros(size), log_w)
        if ess < method.resample * size:
            orders = orders[resample_particles(log_w, rng)]
            log_w[:] = log_sum(log_w) - math.log(size)
        steps.append((beta, ess, move(beta, moves)))
    return Runs(orders, log_w, log_target, np.array(steps))


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
    """The next inverse temperature, at most 1, where the conditional ESS is `share` of all."""
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
