"""The thesis' sampler on all structures and on the true one, and SMC as the gold standard."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import bnlab as bn
from bnlab.checks import Floats, Ints
from bnlab.hidden import AIS, SMC, Annealed, HiddenModel, JointDirichlet, Warped, anneal
from bnlab.papers.beal2003 import world
from bnlab.papers.beal2003.printed import LEAST
from bnlab.papers.beal2003.world import data_of_draw, data_of_print, models, stream, truth

STEPS = 16_384
"""K of the thesis' main experiments [Beal2003, sec. 6.4.1]."""

BATCHES = 5
"""G, the single runs whose estimates are averaged (eq. 6.61)."""


class Batches(NamedTuple):
    """Runs of the thesis' sampler on every structure."""

    log_p: Floats  # ln of the estimates (136, batches), nats
    acceptance: Floats  # share of accepted proposals (136, 4), by quarters of the schedule


def batches(n: int, /, *, steps: int = STEPS, runs: int = BATCHES) -> Batches:
    """Run AIS with the thesis' schedule and proposals on n rows from the published parameters."""
    rows, method = data_of_print(0)[:n], AIS(Warped(steps), JointDirichlet())
    found = [
        anneal(model, rows, runs=runs, rng=rng, method=method)
        for model, rng in zip(models(), stream(5, n, steps).spawn(len(models())), strict=True)
    ]
    return Batches(
        np.array([each.log_weight for each in found]),
        np.array([each.acceptance.reshape(4, -1).mean(axis=1) for each in found]),
    )


def particles(n: int, /, *, batch: int, size: int = 256) -> Floats:
    """Return ln p(data) (136,) by one run of collapsed SMC for each part, rows as for `batches`."""
    rows, rng = data_of_print(0)[:n], stream(6, n, batch)
    found = bn.hidden.estimate_structures(models(), rows, runs=1, rng=rng, method=SMC(size))
    return np.array([each.log_value for each in found])


def mean_of(log_p: Floats, /) -> Floats:
    """Return ln of the mean of exp over the last axis: AIS(G) of eq. 6.61 [Beal2003]."""
    top = log_p.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(log_p - top).mean(axis=-1)))


LADDER = tuple(2**k for k in range(6, 15))
"""K of Figure 6.10, from 64 to 16384; the thesis names 1000, 5000, 2^13 and 2^14."""

TRACES = 8


class Traces(NamedTuple):
    """AIS against the number of steps, nats: Figure 6.10."""

    from_truth: Floats  # (steps,), all runs started at the parameters that made the data
    # (traces, steps), each trace from parameters of its own, drawn from the prior
    from_prior: Floats


def true_model() -> HiddenModel:
    """Return the structure of Figure 6.1."""
    return models()[truth()]


@cache
def traced(n: int = 480, /, *, steps: Sequence[int] = LADDER, traces: int = TRACES) -> Traces:
    """Run the thesis' sampler on the true structure, n rows from the published parameters."""
    tables = [np.maximum(table, LEAST) for table in world.thesis_network().tables]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    tables = [np.repeat(table[None], traces + 1, axis=0) for table in tables]
    rng = stream(8, n)
    for table in tables:
        rows, states = table.shape[1:]
        table[1:] = rng.dirichlet(np.ones(states), size=(traces, rows))
    rows, found = data_of_print(0)[:n], []
    for k in steps:
        method = AIS(Warped(k), JointDirichlet())
        runs = anneal(true_model(), rows, runs=traces + 1, rng=rng, method=method, start=tables)
        found.append(runs.log_weight)
    by_trace = np.array(found).T
    return Traces(by_trace[0], by_trace[1:])


class Sides(NamedTuple):
    """Ln weights of runs from the prior and back from the truth, nats, (runs, steps) each."""

    upward: Floats
    reverse: Floats

    @property
    def lower(self) -> Floats:
        """Return mean ln weight (steps,): on average below ln p(data)."""
        return np.asarray(self.upward.mean(axis=0))

    @property
    def upper(self) -> Floats:
        """Return mean ln weight (steps,) in reverse: on average above ln p(data)."""
        return np.asarray(self.reverse.mean(axis=0))


def both_ways(
    rows: bn.Data | Ints, tables: Sequence[Floats], /, **how: Any
) -> tuple[Annealed, Annealed]:
    """Run upward from the prior, and in reverse from the tables that made the rows."""
    up = anneal(true_model(), rows, **how)
    return up, anneal(true_model(), rows, start=tables, reverse=True, **how)


def both_sides(n: int, /, *, steps: Sequence[int] = LADDER, runs: int = 20) -> Sides:
    """Run row-wise AIS upward, and in reverse from the parameters that made the data.

    They are the first draw from the prior, so an exact draw from the posterior given the data
    [GrosseEtAl2015]; the published ones are rounded.
    """
    rows, start = data_of_draw(0)[:n], world.drawn_network(0).tables
    how: dict[str, Any] = {"runs": runs, "rng": stream(9, n)}
    methods = [AIS(Warped(k), bn.hidden.RowDirichlet()) for k in steps]
    each = [both_ways(rows, start, method=method, **how) for method in methods]
    upward, reverse = np.array([[a.log_weight, b.log_weight] for a, b in each]).transpose(1, 2, 0)
    return Sides(upward, reverse)


def gold(n: int, /, *, runs: int = 4) -> float:
    """Return ln p(data) of the true structure by SMC, on the rows of `both_sides`, nats."""
    rows = data_of_draw(0)[:n]
    return bn.hidden.estimate_evidence(true_model(), rows, runs=runs, rng=stream(10, n)).log_value
