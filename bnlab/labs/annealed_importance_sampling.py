"""The views and the checks of notebooks/07_annealed_importance_sampling.ipynb.

Annealed runs from uniform orders to the posterior: their climbs, their weights, their schedules.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
from bokeh.models import NumeralTickFormatter
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import (
    SCHEDULES,
    Case,
    Schedule,
    check,
    choice,
    dataset_choice,
    rows,
    setup as setup,
    size_slider,
    title,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.sampling import OrderWalker

SEED = 2013
RUNS = 200
GAME = "tic-tac-toe"
DATASETS = (GAME, "wine", "coronary")
STEP_STOPS = (1, 3, 10, 30, 100, 300, 1000, 3000)
RUN_STOPS = (2, 5, 10, 20, 50, 100, RUNS)
ROW_STOPS = (25, 100, 400)
CLIMB_STOPS = (10, 30, 100, 300, 1000, 3000, 10_000)
CLIMBERS = 3
SHAPE_STOPS = (10, 30, 100, 300, 1000, 3000)
SHAPE_RUNS = 100

STEPS = "annealing steps of a run"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # nats

Kernel = Callable[[float], Floats]


@cache
def scored(case: Case, m: int | None = None, /) -> bn.ScoreTable:
    """Return the scores given the first m rows, shuffled (all if None): BDeu, ess 1."""
    data = rows(case).shuffled(np.random.default_rng(1))
    return bn.score_families(data.prefix(data.m if m is None else m), bn.BDeu(1), max_parents=3)


@cache
def posterior(case: Case, m: int | None = None, /) -> bn.OrderPosterior:
    """Return the exact posterior of these scores."""
    return bn.order_posterior(scored(case, m))


@cache
def annealed(case: Case, schedule: Schedule, runs: int = RUNS, m: int | None = None) -> bn.Draws:
    """Annealing runs on the first m rows of a case; their prefixes are nested."""
    rng, method = np.random.default_rng(SEED), bn.AIS(schedule)
    return bn.anneal_orders(scored(case, m), runs=runs, rng=rng, method=method)


def gaps(case: Case, schedule: Schedule, runs: int = RUNS, m: int | None = None) -> Floats:
    """(runs,) ln weight of each of the first runs less the exact ln Z, nats."""
    found = annealed(case, schedule, m=m).log_weight[0, :runs]
    return np.asarray(found - posterior(case, m).log_z)


def log_mean(log_weights: ArrayLike, /) -> Floats:
    """ln of the mean weight along the last axis."""
    values = np.asarray(log_weights, np.float64)
    return np.asarray(np.logaddexp.reduce(values, axis=-1) - math.log(values.shape[-1]))


def log_z_of(log_alpha: Floats, betas: Floats, /) -> Floats:
    """Return ln of the sum of p(order)**beta over all orders, at each beta: forward sums."""
    n = len(log_alpha)
    g = np.zeros((1 << n, len(betas)))
    for S in range(1, 1 << n):
        last = [v for v in range(n) if S >> v & 1]
        before = [S ^ 1 << v for v in last]
        g[S] = np.logaddexp.reduce(g[before] + log_alpha[last, before][:, None] * betas)
    return np.asarray(g[-1])


@cache
def _bridge(case: Case, m: int) -> tuple[Floats, Floats]:
    """Inverse temperatures, and the mean of ln p(order) under each distribution of the bridge."""
    betas, step = np.linspace(0, 1, 101), 1e-4
    log_alpha = bn.order_lattice(scored(case, m)).log_alpha
    high, low = (log_z_of(log_alpha, betas + sign * step) for sign in (1, -1))
    return betas, (high - low) / (2 * step)


@cache
def _climb(case: Case, m: int, steps: int) -> Floats:
    """(CLIMBERS, steps) ln p(order) of runs, after each of their moves."""
    walker, betas = OrderWalker.of(scored(case, m)), np.linspace(0, 1, steps + 1)[:-1]
    out = []
    for rng in np.random.default_rng(SEED).spawn(CLIMBERS):
        order = rng.permutation(walker.n)
        out.append(walker.walk(order, betas, 1, bn.Moves(), rng, keep=False).log_weights)
    return np.array(out)


def row_stops(case: Case, /) -> list[int]:
    """Return the numbers of rows of a case that its sliders offer."""
    m = rows(case).m
    return [*(stop for stop in ROW_STOPS if stop < m), m]


class Climb(View):
    """ln p(order) of three runs along the bridge, and its mean under each distribution there.

    Controls `steps` and `rows`; panel `climb`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = GAME if data is None else data
        stops = row_stops(self._case)
        for m in stops:  # now, so that the sliders answer at once
            _bridge(self._case, m)
        super().__init__(
            steps=size_slider("annealing steps", CLIMB_STOPS, 30),
            rows=size_slider("rows", stops, stops[-1]),
        )

    def draw(self, steps: int, rows: int) -> Board:
        """Draw the runs between the places where all weights would be equal and where they are."""
        betas, mean = _bridge(self._case, rows)
        climbs = _climb(self._case, rows, steps)
        top = mean[-1]
        log_w = climbs.mean(axis=1) + math.lgamma(scored(self._case, rows).n + 1)
        behind = log_w - posterior(self._case, rows).log_z
        at = np.minimum((betas * steps).astype(int), steps - 1)
        lines = {"mean at β": mean - top}
        lines |= {f"run {t + 1}": climb[at] - top for t, climb in enumerate(climbs)}
        picture = plots.traces(
            betas,
            lines,
            x_label="inverse temperature β",
            y_label="ln p̃(≺), less its mean at β = 1 (nats)",
            name="climb",
            title=f"Three runs of {steps:,} steps over the bridge",
            alt="ln p of the orders of three runs against beta, and its mean at each beta",
        )
        picture.xaxis.formatter = NumeralTickFormatter(format="0.0")
        told = ", ".join(f"{gap:+.1f}" for gap in behind)
        return {
            "climb": (
                picture,
                f"{rows:,} rows. Area under a run less that under the mean, ln of n! w / Z: "
                f"{told} nats.",
            )
        }


class Pile(View):
    """Weights of annealing runs: a few that count at few steps, all alike at many.

    Controls `steps`, `runs`, nested prefixes of one set, and `rows`; panels `weights` and `shares`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = GAME if data is None else data
        stops = row_stops(self._case)
        for m, steps in product(stops, STEP_STOPS):  # now, so that the sliders answer at once
            annealed(self._case, bn.Linear(steps), m=m)
        self._lowest = float(np.floor(gaps(self._case, bn.Linear(1), m=stops[-1]).min() / 10) * 10)
        super().__init__(
            steps=size_slider("annealing steps", STEP_STOPS, 10),
            runs=size_slider("runs", RUN_STOPS, RUNS),
            rows=size_slider("rows", stops, stops[-1]),
        )

    def draw(self, steps: int, runs: int, rows: int) -> Board:
        """The ln weights of the runs, and their shares of the sum."""
        found = gaps(self._case, bn.Linear(steps), runs, rows)
        shares = np.exp(np.sort(found)[::-1] - np.logaddexp.reduce(found))
        return {
            "weights": (
                plots.weight_pile(found, float(log_mean(found)), (self._lowest, 20.0)),
                f"{rows:,} rows, {runs} runs of {steps:,} steps: ln w has standard deviation "
                f"{found.std():.3g} nats. Estimate: {log_mean(found):+.2f} nats from exact.",
            ),
            "shares": (
                plots.heaviest(found),
                f"The heaviest run holds {shares[0]:.0%} of the weight, the ten heaviest "
                f"{shares[:10].sum():.0%}. Effective sample size: "
                f"{bn.diagnostics.weights_ess(found):.3g}.",
            ),
        }


class Shapes(View):
    """Schedules: where their steps lie, how many moves pass there, what spread of ln w is left.

    Controls `schedule`, `dataset` and `steps`; panels `acceptance` and `spread`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        cases = DATASETS if data is None else (data,)
        for case, kind in product(cases, SCHEDULES):  # now, so that the controls answer at once
            _spreads(case, kind)
        super().__init__(
            schedule=choice("schedule", list(SCHEDULES)),
            dataset=dataset_choice(DATASETS, data),
            steps=size_slider("annealing steps", SHAPE_STOPS, 300),
        )

    def draw(self, schedule: str, dataset: Case, steps: int) -> Board:
        """Accepted moves along the schedule, and the spread at all numbers of steps."""
        shape = SCHEDULES[schedule](steps)
        stats = annealed(dataset, shape, SHAPE_RUNS).stats
        betas, spreads = stats["beta"], {kind: _spreads(dataset, kind) for kind in SCHEDULES}
        spread = plots.error_curve(
            SHAPE_STOPS,
            spreads,
            {},
            x_label=STEPS,
            y_label="standard deviation of ln w (nats)",
            y_range=(0.1, 100.0),
            ticks=TICKS,
            x_ticks=SHAPE_STOPS,
            name="spread",
            title=f"Spread of the weights of {SHAPE_RUNS} runs",
            alt="Standard deviation of ln weight against annealing steps, for both schedules",
        )
        return {
            "acceptance": (
                plots.acceptance_path(betas, stats["acceptance"]),
                f"{schedule}, {steps:,} steps; each mark stands for {steps / betas.size:g} of "
                f"them. Half of the steps lie below β = {betas[betas.size // 2]:.2g}; the last "
                f"goes from {shape.betas[-2]:.4g} to 1.",
            ),
            "spread": (
                spread,
                f"{title(dataset)}, {schedule}, {steps:,} steps: ln w has standard deviation "
                f"{spreads[schedule][SHAPE_STOPS.index(steps)]:.3g} nats.",
            ),
        }


@cache
def _spreads(case: Case, kind: str) -> Floats:
    """Return the standard deviation of ln weight at each of `SHAPE_STOPS`, nats."""
    schedules = [SCHEDULES[kind](steps) for steps in SHAPE_STOPS]
    return np.array([annealed(case, s, SHAPE_RUNS).log_weight.std() for s in schedules])


def check_between(function: Callable[[Floats, Floats, Kernel, Sequence[float]], Any]) -> bool:
    """Exercise 1: `function(a, b, kernel, betas)` is the mean weight of all runs from a to b."""
    rng = np.random.default_rng(2)
    a, b = rng.uniform(0.2, 5, (2, 3))
    betas = (0.0, 0.25, 0.5, 1.0)

    def metropolis(beta: float) -> Floats:
        bridge = a ** (1 - beta) * b**beta
        proposed = np.minimum(1, bridge[None, :] / bridge[:, None]) / 3
        np.fill_diagonal(proposed, 0)
        return np.asarray(proposed + np.diag(1 - proposed.sum(axis=1)))

    def result(kernel: Kernel, steps: Sequence[float] = betas) -> float:
        return float(function(a.copy(), b.copy(), kernel, steps))

    def plain(kernel: Kernel) -> float:
        return float(function(np.ones(3), b.copy(), kernel, betas))

    return check(
        "Exercise 1",
        "return one number",
        lambda: function(a.copy(), b.copy(), metropolis, betas) is not None,
        "make it positive",
        lambda: result(metropolis) > 0,
        "one step, from 0 to 1: the mean of b / a where a is drawn from is the sum of b over the "
        "sum of a",
        lambda: np.isclose(result(metropolis, (0.0, 1.0)), b.sum() / a.sum()),
        "so it is with more steps",
        lambda: np.isclose(result(metropolis), b.sum() / a.sum()),
        "with a all 1 and moves that leave nothing as it is, this is the page's own bridge: move "
        "at the lower beta of each step, then raise beta",
        lambda: np.isclose(plain(_anything), _one_by_one(np.ones(3), b, _anything, betas)),
        "with any a and such moves it differs from the sum over all runs: draw the start from "
        "a / sum(a), and multiply by (b / a) to the power of the step",
        lambda: np.isclose(result(_anything), _one_by_one(a, b, _anything, betas)),
    )


def check_spread(function: Callable[[Floats, Kernel, Sequence[float]], Any]) -> bool:
    """Exercise 2: `function(p, kernel, betas)` is the standard deviation of w over its mean."""
    p, betas = np.random.default_rng(3).uniform(0.2, 5, 3), (0.0, 0.25, 0.5, 1.0)

    def result(given: Floats, steps: Sequence[float] = betas) -> float:
        return float(function(given.copy(), _anything, steps))

    def exact(steps: Sequence[float]) -> float:
        first, second = (_one_by_one(np.ones(3), p, _anything, steps, k) for k in (1, 2))
        return math.sqrt(second / first**2 - 1)

    return check(
        "Exercise 2",
        "return one number",
        lambda: function(p.copy(), _anything, betas) is not None,
        "where all states weigh the same, all runs do: 0",
        lambda: abs(result(np.full(3, 2.0))) < 1e-6,
        "one step: the standard deviation of p over its mean",
        lambda: np.isclose(result(p, (0.0, 1.0)), exact((0.0, 1.0))),
        "a common factor changes nothing",
        lambda: np.isclose(result(7 * p), result(p)),
        "with more steps it differs from the sum over all runs: let E[w**2] travel as E[w] does, "
        "by a factor that is squared",
        lambda: np.isclose(result(p), exact(betas)),
    )


@cache
def _anything(beta: float) -> Floats:
    """A kernel that leaves no distribution of any bridge as it is."""
    return np.random.default_rng(round(100 * beta)).dirichlet(np.ones(3), size=3)


def _one_by_one(
    a: Floats, b: Floats, kernel: Kernel, betas: Sequence[float], power: int = 1
) -> float:
    """Mean of w**power: every run on three states, with its probability."""
    total = 0.0
    for run in product(range(3), repeat=len(betas)):
        p, w = a[run[0]] / a.sum(), 1.0
        for (now, later), x, y in zip(pairwise(betas), run, run[1:], strict=False):
            p *= kernel(now)[x, y]
            w *= (b[y] / a[y]) ** (later - now)
        total += p * w**power
    return float(total)


def check_schedule(function: Callable[[int], Any]) -> bool:
    """Exercise 3: `function(steps)` are betas that leave less spread than even ones."""
    steps, runs, seeds = 300, 100, 4

    @cache
    def spread(name: str, own: bool) -> float:
        schedule = bn.Betas(tuple(map(float, function(steps)))) if own else bn.Linear(steps)
        table, method = scored(name), bn.AIS(schedule)
        found = [
            bn.anneal_orders(table, runs=runs, rng=np.random.default_rng(seed), method=method)
            for seed in range(seeds)
        ]
        return float(np.mean([draws.log_weight.std() for draws in found]))

    def ratio(name: str) -> float:
        return spread(name, True) / spread(name, False)

    return check(
        "Exercise 3",
        f"function({steps}) must be {steps + 1} numbers",
        lambda: np.shape(function(steps)) == (steps + 1,),
        "bn.Betas must accept them: from 0 to 1, never falling",
        lambda: bn.Betas(tuple(map(float, function(steps)))).betas.size == steps + 1,
        f"wine, {steps} steps: the standard deviation of ln w must be at most 0.8 times that "
        f"of Linear({steps}), mean of {seeds} seeds",
        lambda: ratio("wine") <= 0.8,
        "tic-tac-toe: it must not be more than 1.05 times that of Linear",
        lambda: ratio("tic-tac-toe") <= 1.05,
        "coronary: it must not be more than 1.25 times that of Linear",
        lambda: ratio("coronary") <= 1.25,
    )
