"""Annealed runs on the data sets of the lab, and bounds at growing numbers of steps."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bnlab as bn
from bnlab.labs.datasets import Case, k2_posterior, rows
from bnlab.labs.running import Progress
from bnlab.sampling import OrderWalker

SCHEDULES: Mapping[str, type[bn.Linear] | type[bn.Harmonic]] = {
    "linear": bn.Linear,
    "harmonic": bn.Harmonic,
}

Schedule = bn.Linear | bn.Harmonic

SEED = 2013
RUNS = 200

Floats = NDArray[np.float64]


posterior = k2_posterior


@cache
def annealed(case: Case, schedule: Schedule, runs: int = RUNS) -> bn.Draws:
    """Annealing runs on a case; their prefixes are nested."""
    table, rng = posterior(case).table, np.random.default_rng(SEED)
    return bn.anneal_orders(table, runs=runs, rng=rng, method=bn.AIS(schedule))


def gaps(case: Case, schedule: Schedule, runs: int = RUNS) -> Floats:
    """(runs,) ln weight of each of the first runs less the exact ln Z, nats."""
    draws = annealed(case, schedule).prefix(runs)
    found: Floats = draws.log_weight[0] - posterior(case).log_z
    return found


def log_mean(log_weights: ArrayLike, /) -> Floats:
    """ln of the mean weight along the last axis."""
    values = np.asarray(log_weights, np.float64)
    out: Floats = np.logaddexp.reduce(values, axis=-1) - math.log(values.shape[-1])
    return out


def log_weights(table: bn.ScoreTable, orders: ArrayLike, /) -> Floats:
    """Return ln of the weight of each order (N, n), nats: summed over compatible networks."""
    return OrderWalker.of(table).log_weights(np.asarray(orders, np.int64))


def edge_errors(case: Case, *, runs: int, steps: int, rng: np.random.Generator) -> list[float]:
    """SAD from the exact edges, of averages over the last orders with their weights and without."""
    exact = posterior(case)
    method = bn.AIS(bn.Linear(steps))
    found = bn.anneal_orders(exact.table, runs=runs, rng=rng, method=method)
    plain = replace(found, log_weight=np.zeros((1, runs)))
    edges = [bn.features.edges(draws, table=exact.table) for draws in (found, plain)]
    return [bn.diagnostics.sad(estimate, exact.edges) for estimate in edges]


def step_stops(case: Case) -> list[int]:
    """Numbers of annealing steps from nm / 16 to 16 nm, the last as in the paper."""
    product = rows(case).n * rows(case).m
    return [round(product * 4.0**k) for k in (-2, -1, 0, 1, 2)]


def sandwich(
    case: Case,
    *,
    runs: int,
    rng: np.random.Generator,
    stops: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> list[tuple[int, float, float]]:
    """Bounds on the evidence at each number of steps.

    Parameters
    ----------
    case : a data set, or a table of your own
    runs : of each bound
    stops : numbers of steps; those of `step_stops` if None
    progress : progress(moves done, moves in all, bounds so far); False stops, and the bounds that
        are complete remain

    Returns
    -------
    list of (steps, lower, upper)
        ln of the bounds less the exact ln p(D), nats; each holds with probability 0.95.
    """
    exact, stops = posterior(case), step_stops(case) if stops is None else stops
    total, done, going = 2 * runs * sum(stops), 0, True
    found: list[tuple[int, float, float]] = []

    def tell(before: int, steps: int) -> Progress:
        def told(finished: int, of: int, snapshot: object) -> bool:
            nonlocal going
            if progress is not None:
                going = progress(before + finished * steps, total, found) is not False
            return going

        return told

    for steps in stops:
        moves, method = runs * steps, bn.AIS(bn.Linear(steps))
        try:
            lower = bn.estimate_lower_bound(
                exact.table, runs=runs, rng=rng, method=method, progress=tell(done, steps)
            )
            upper = bn.estimate_upper_bound(
                exact, runs=runs, rng=rng, method=method, progress=tell(done + moves, steps)
            )
        except bn.Stopped:
            break
        if lower.run.stopped or upper.run.stopped:
            break
        done += 2 * moves
        low, high = (bound.log_value - exact.log_evidence for bound in (lower, upper))
        found = [*found, (steps, low, high)]
        if not going:  # too late for these bounds, in time for the next
            break
    return found
