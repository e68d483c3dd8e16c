"""Annealed importance sampling for networks with hidden nodes, upward and in reverse."""

import math
import os
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checkpoints import Arrays, Checkpoint, Kept, check, counts, nats
from bnlab.checks import Count, Floats, Ints, checked, frozen
from bnlab.data import Gapped
from bnlab.hidden import samplers
from bnlab.hidden.fitting import as_tables, flat_tables
from bnlab.hidden.model import HiddenModel, identity_of
from bnlab.hidden.samplers import AIS, Moves, OpenComponent, OpenModel, open_model
from bnlab.kernels import latent_particles, latent_walks
from bnlab.results import Record, Run
from bnlab.running import Batch, Clock, Executor, Progress, run_steps, seed_of, spawn
from bnlab.weights import betas_of

MAX_JOBS = 20  # on an executor that is not ours: each may send the data to a process again
MAX_SPANS = 200  # parts of the schedule for which ratios and acceptance are told
DEFAULT = AIS()


@frozen()
class Annealed(Record):
    """Annealing runs on tables or completions.

    Attributes
    ----------
    log_weight : float64 (runs,), nats. Upward from the prior the mean of exp(log_weight) is
        p(data); in reverse from the posterior the mean of exp(-log_weight) is 1 / p(data)
    log_start : ln of what the path has at beta = 0: 0 for a prior, ln of the number of completions
        where completions are tempered; plus the evidence of tables that no row leaves open
    betas : float64 (steps + 1,), rising in either direction
    log_ratio : float64 (runs, spans), what equal parts of the schedule add to log_start in each
        run: estimates of ln Z(beta) / Z(beta'), upward or in reverse, whose gap is the hysteresis
    acceptance : float64 (spans,), share of accepted moves; nan where none was tried
    tables : one float64 array (runs, rows, states) for each node, where each run ended
    reverse : bool
    run : Run

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> anneal(model, [[0], [1], [2]], runs=4, rng=np.random.default_rng(1))
    Annealed(4 runs upward, 16384 steps)
    """

    log_weight: Floats
    log_start: float
    betas: Floats
    log_ratio: Floats
    acceptance: Floats
    tables: tuple[Floats, ...]
    reverse: bool
    run: Run

    def __repr__(self) -> str:
        direction = "in reverse" if self.reverse else "upward"
        stopped = ", stopped early" if self.run.stopped else ""
        runs, steps = self.log_weight.size, self.betas.size - 1
        return f"Annealed({runs} runs {direction}, {steps} steps{stopped})"


@checked
def anneal(
    model: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    runs: Count,
    rng: np.random.Generator,
    method: AIS = DEFAULT,
    start: Sequence[ArrayLike] | None = None,
    reverse: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Annealed:
    """Anneal from the prior to the posterior, or back [Beal2003, sec. 6.3.5 and 6.5.1].

    JointDirichlet walks on the tables of the whole model, as the thesis does. The other moves walk
    on its components one after the other, and there only on tables that some row leaves open:
    all others are integrated out.

    Parameters
    ----------
    model : HiddenModel
    data : as in `complete`
    runs : number of runs, at least 1
    rng : the only source of randomness; equal states give equal runs for any executor
    method : AIS, with schedule and moves
    start : tables to start from, one array (rows, states), or (runs, rows, states), for each node.
        The tables that simulated the data are an exact draw from their posterior: a reverse run
        from them has E[1 / w] = 1 / p(data) [GrosseEtAl2015]. Upward runs start from the prior
        unless told otherwise, and are biased then
    reverse : walk from beta = 1 to 0; needs `start`
    checkpoint : a file for the finished runs, saved every 10 seconds or so, at a stop and at the
        end. If it is there, the same call goes on from it, to the very same runs
    progress : progress(done, total, None) after each run; False stops, and the runs done remain
    executor : where runs go; threads by default

    Raises
    ------
    ValueError
        If an option is out of range, tables do not fit the model, `reverse` has no start, or the
        checkpoint is damaged or belongs to another run: it is left as it is then.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> theta = [[[0.5, 0.5]], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]]
    >>> rng = np.random.default_rng(1)
    >>> anneal(model, [[0], [2]], runs=2, rng=rng, start=theta, reverse=True)
    Annealed(2 runs in reverse, 16384 steps)
    """
    if reverse and start is None:
        raise ValueError(
            "reverse=True needs start=: tables drawn from the posterior, such as those that the "
            "data were simulated from, or the last ones of upward runs"
        )
    clock, seed = Clock(), seed_of(rng)
    plan = plan_of(model, data, method, reverse)
    first = None if start is None else _log_tables(model, start, runs)
    settings = {"runs": runs, "method": repr(method), "strength": model.strength}
    identity = identity_of(
        repr(method.moves), [model], data, betas=plan.betas, runs=runs, seed=seed, start=first
    )
    spans, rngs = int(plan.spans.max()) + 1, spawn(rng, runs)
    kept = {
        "log_ratio": nats("runs", spans),
        "tally": counts("runs", spans, 2),
        "log_theta": Kept(np.float64, ("runs", plan.found.base.size), high=1e-9),
    }

    def job(part: slice) -> Job:
        return plan, None if first is None else first[part], rngs[part]

    size, fits = runs_each(runs, executor), partial(check, kept=kept, runs=runs)
    batch = Batch(anneal_block, job, runs, executor, size=size, fits=fits)
    run_steps(batch, Checkpoint.at(checkpoint, identity), progress)
    done = batch.arrays()
    log_ratio, betas = done["log_ratio"], plan.betas[::-1] if reverse else plan.betas
    log_weight = plan.log_start + log_ratio.sum(axis=1)
    tables = as_tables(model, np.exp(done["log_theta"]))
    tried, accepted = done["tally"].sum(axis=0).T
    acceptance = np.divide(accepted, tried, out=np.full(len(tried), np.nan), where=tried > 0)
    name, stopped = "reverse AIS" if reverse else "AIS", len(log_ratio) < runs
    run = Run(name, settings, seed, clock.seconds, stopped=stopped)
    return Annealed(log_weight, plan.log_start, betas, log_ratio, acceptance, tables, reverse, run)


def runs_each(runs: int, executor: Executor | None, /) -> int:
    """How many of the runs each job makes."""
    return 1 if executor is None else math.ceil(runs / MAX_JOBS)


class Plan(NamedTuple):
    """What all runs share; betas in the order of the walk."""

    found: OpenModel
    moves: Moves
    betas: Floats  # (K + 1,)
    spans: Ints  # (K,), where in log_ratio and tally each step counts
    log_start: float  # see `Annealed`


Job = tuple[Plan, Floats | None, list[np.random.Generator]]


def plan_of(
    model: HiddenModel, data: Gapped | ArrayLike, method: AIS, reverse: bool = False, /
) -> Plan:
    """What to walk on, and along which temperatures."""
    betas = betas_of(method.schedule)
    found = open_model(model, data, joint=isinstance(method.moves, samplers.JointDirichlet))
    steps = betas.size - 1
    spans = np.arange(steps) * min(MAX_SPANS, steps) // steps
    log_start = found.known
    if isinstance(method.moves, samplers.TemperedGibbs | samplers.CompletionGibbs):
        log_start += math.fsum(component.log_completions for component in found.components)
    if reverse:
        betas, spans = betas[::-1].copy(), spans[::-1].copy()
    return Plan(found, method.moves, betas, spans, log_start)


def anneal_block(job: Job, /) -> Arrays:
    """Runs of a job, one after the other: log_ratio, tally and log_theta as `anneal` keeps them."""
    plan, starts, rngs = job
    found, runs, spans = plan.found, len(rngs), plan.spans.max() + 1
    log_ratio, log_theta = np.zeros((runs, spans)), np.empty((runs, found.base.size))
    tally = np.zeros((runs, spans, 2), np.int64)
    last = found.strength + plan.betas[-1] * found.base
    ranges = np.stack([found.first[:-1], found.first[1:]], axis=1)
    for i, rng in enumerate(rngs):
        latent_walks.draw_tables(last, ranges, rng, log_theta[i])  # those that do not move stay
        for component in found.components:
            start = None if starts is None else starts[i, component.cells]
            moved = _walk(component, plan, start, rng, (plan.spans, log_ratio[i], tally[i]))
            log_theta[i, component.cells[component.moving]] = moved[component.moving]
    return {"log_ratio": log_ratio, "tally": tally, "log_theta": log_theta}


def log_weights(plan: Plan, rngs: list[np.random.Generator], /) -> Floats:
    """Ln of an unbiased estimate of p(data) (runs,) by upward runs."""
    log_ratio = anneal_block((plan, None, rngs))["log_ratio"]
    return np.asarray(plan.log_start + log_ratio.sum(axis=1))


def _walk(
    component: OpenComponent,
    plan: Plan,
    start: Floats | None,
    rng: np.random.Generator,
    record: tuple[Ints, Floats, Ints],
) -> Floats:
    """Walk on one component; its last tables (cells,) in logs."""
    strength, betas, moves = component.strength, plan.betas, plan.moves
    prior = np.full(component.cells.size, strength)
    if start is None:
        power, log_theta = 0.0, np.zeros(prior.size)
        latent_walks.draw_tables(prior, component.ranges, rng, log_theta)
    else:
        power, log_theta = 1.0, start
    problem = (component.completions.listed, component.base, strength)
    if isinstance(moves, samplers.CompletionGibbs):
        rows, order, tables = component.rows, component.order, component.tables
        states, counts = np.empty(order.size, np.int32), np.zeros(prior.size)
        totals = np.zeros(len(component.completions.first) - 1)
        latent_particles.complete_rows(log_theta, order, rows, power, rng, states)
        completed = (states, counts, totals)
        latent_particles.anneal_completions(order, rows, tables, completed, betas, rng, record)
        latent_walks.draw_tables(prior + betas[-1] * counts, component.ranges, rng, log_theta)
    elif isinstance(moves, samplers.TemperedGibbs):
        latent_walks.anneal_gibbs(log_theta, problem, (betas, power, component.ranges), rng, record)
    else:
        width, blocks = _proposals(moves, component)
        walk = (betas, width, component.ranges, blocks)
        latent_walks.anneal_tables(log_theta, problem, walk, rng, record)
    return log_theta


def _proposals(
    moves: samplers.JointDirichlet | samplers.RowDirichlet, component: OpenComponent
) -> tuple[tuple[float, float, float], Ints]:
    """Width of the proposals, and which table rows (B, 2) are proposed together."""
    rows = np.arange(len(component.ranges) + 1)
    if isinstance(moves, samplers.JointDirichlet):
        return (0.0, moves.strength, 0.0), rows[None, [0, -1]]
    growth = moves.growth * component.completions.m
    return (component.strength, 0.0, growth), np.stack([rows[:-1], rows[1:]], axis=1)


def _log_tables(model: HiddenModel, start: Sequence[ArrayLike], runs: int) -> Floats:
    """Ln of the tables (runs, cells), rows normalised; cells that are 0 get 1e-300."""
    cells = []
    for v, table in enumerate(as_tables(model, flat_tables(model, start, runs))):
        totals = table.sum(axis=-1, keepdims=True)
        if not (abs(totals - 1) < 0.02).all():
            raise ValueError(f"node {v}: rows of its table are probabilities that sum to 1")
        cells.append(np.maximum(table / totals, 1e-300).reshape(runs, -1))
    return np.asarray(np.log(np.concatenate(cells, axis=1)))
