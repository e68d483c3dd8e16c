"""The views and the checks of notebooks/07_annealed_importance_sampling.ipynb.

Annealed runs from uniform orders to the posterior and back: their weights, and their schedules.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs import board
from bnlab.labs.board import SCHEDULES, Case, Told, exercise, setup as setup, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.sampling.order_target import OrderWalker

SEED = 2013
RUNS = 20  # each way
GAME = "tic-tac-toe"
DATASETS = (GAME, "wine", "coronary")
STEP_STOPS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
ROW_STOPS = (25, 100, 400)
BETAS = np.linspace(0, 1, 51)
MEANS = ("ln of the mean of w", "−ln of the mean of 1/w")
SHAPE_STOPS = (10, 30, 100, 300, 1000, 3000)
SHAPE_RUNS = 100

STEPS = "annealing steps of a run"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # nats

Kernel = Callable[[float], Floats]

scored = partial(board.bdeu_table, seed=1)
posterior = partial(board.order_posterior, seed=1)
"""Scores given the first m rows of a case, in a random order: `scored(case, m)`; given all."""


@cache
def annealed(case: Case, schedule: board.Schedule) -> bn.Draws:
    """A hundred annealing runs on a case."""
    rng, method = np.random.default_rng(SEED), bn.AIS(schedule)
    return bn.anneal_orders(scored(case), runs=SHAPE_RUNS, rng=rng, method=method)


def log_mean(log_weights: Floats, /) -> Floats:
    """ln of the mean weight along the last axis."""
    log_sum = np.logaddexp.reduce(log_weights, axis=-1)
    return np.asarray(log_sum - math.log(log_weights.shape[-1]))


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
def bridge(case: Case, m: int) -> Floats:
    """ln Z at each of the `BETAS`, less ln n!: what ln w should be by then, nats."""
    log_z = log_z_of(bn.order_lattice(scored(case, m)).log_alpha, BETAS)
    return np.asarray(log_z - log_z[0])


@cache
def paths(case: Case, m: int, steps: int) -> tuple[Floats, Floats]:
    """Runs up, those of `bn.anneal_orders`, and back: ln w so far less the exact, (RUNS, BETAS)."""
    walker, schedule = OrderWalker.of(scored(case, m)), np.linspace(0, 1, steps + 1)
    exact, rng = bridge(case, m), np.random.default_rng(SEED)
    upward = [_so_far(walker, r.permutation(walker.n), schedule, r) for r in rng.spawn(RUNS)]
    rng = np.random.default_rng(SEED)
    starts = bn.sample_orders(posterior(case, m), draws=RUNS, rng=rng).values[0]
    pairs = zip(starts, rng.spawn(RUNS), strict=True)
    backward = [_so_far(walker, start.copy(), schedule[::-1], r) for start, r in pairs]
    return np.array(upward) - exact, np.array(backward) - (exact[-1] - exact)


def _so_far(walker: OrderWalker, order: Ints, betas: Floats, rng: np.random.Generator) -> Floats:
    """ln w of a run by the time that it has come to each of the `BETAS`."""
    walk = walker.walk(order, betas[:-1].copy(), 1, bn.Moves(), rng, keep=False)
    log_w = np.append(0.0, np.cumsum(np.abs(np.diff(betas)) * walk.log_weights))
    up = np.argsort(betas)
    return np.asarray(np.interp(BETAS, betas[up], log_w[up]))


class Paths(View):
    """What 20 runs weigh on their way over the bridge, and 20 on their way back."""

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = GAME if data is None else data
        stops = board.stops(ROW_STOPS, board.rows(self._case).m)
        for m, steps in product(stops, STEP_STOPS):  # now, so that the sliders answer at once
            paths(self._case, m, steps)
        super().__init__(
            steps=size_slider("annealing steps", STEP_STOPS, 30),
            rows=size_slider("rows", stops, stops[-1]),
        )

    def draw(self, steps: int, rows: int) -> Board:
        """Draw the runs, and the shares of the upward ones in their sum."""
        upward, backward = paths(self._case, rows, steps)
        lowest = min(-1.2, 1.1 * float(paths(self._case, rows, 100)[0].min()))
        highest = max(1.2, 1.1 * float(paths(self._case, rows, 1)[1].max()))
        mean_up, mean_down = log_mean(upward.T), -log_mean(-backward.T)
        up, down = upward[:, -1], backward[:, 0]
        log_z, below = posterior(self._case, rows).log_z, int((up < lowest).sum())
        means, ends = dict(zip(MEANS, (mean_up, mean_down), strict=True)), (lowest, highest)
        title = f"{RUNS} runs of {steps:,} steps up, and {RUNS} back"
        outside = f" {below} of them leave the picture." if below else ""
        shares = np.exp(np.sort(up)[::-1] - np.logaddexp.reduce(up))
        return {
            "paths": (
                plots.annealing_paths(BETAS, upward, backward, means, y_range=ends, title=title),
                f"{rows:,} rows, ln Z = {log_z:.2f}. Upward runs end {up.mean():+.2f} nats from it "
                f"on average, with standard deviation {up.std():.2f}; the ln of their mean weight "
                f"is {mean_up[-1]:+.2f} off.{outside} Backward runs: {down.mean():+.2f}, "
                f"{down.std():.2f} and {mean_down[0]:+.2f}.",
            ),
            "shares": (
                plots.heaviest(up, most=RUNS),
                f"Upward runs: the heaviest holds {shares[0]:.0%} of the weight. Effective sample "
                f"size: {bn.diagnostics.weights_ess(up):.3g} of {RUNS}.",
            ),
        }


class Shapes(View):
    """Schedules: where their steps lie, how many moves pass there, what spread of ln w is left."""

    def __init__(self, data: bn.Data | None = None) -> None:
        cases = DATASETS if data is None else (data,)
        for case, kind in product(cases, SCHEDULES):  # now, so that the controls answer at once
            _spreads(case, kind)
        super().__init__(
            schedule=board.choice("schedule", list(SCHEDULES)),
            dataset=board.dataset_choice(DATASETS, data),
            steps=size_slider("annealing steps", SHAPE_STOPS, 300),
        )

    def draw(self, schedule: str, dataset: Case, steps: int) -> Board:
        """Accepted moves along the schedule, and the spread at all numbers of steps."""
        shape = SCHEDULES[schedule](steps)
        stats = annealed(dataset, shape).stats
        betas, spreads = stats["beta"], {kind: _spreads(dataset, kind) for kind in SCHEDULES}
        spread = plots.error_curve(
            SHAPE_STOPS,
            spreads,
            {},
            x=plots.Axis(STEPS, ticks=SHAPE_STOPS),
            y=plots.Axis("standard deviation of ln w (nats)", (0.1, 100.0), ticks=TICKS),
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
                f"{board.title(dataset)}, {schedule}, {steps:,} steps: ln w has standard deviation "
                f"{spreads[schedule][SHAPE_STOPS.index(steps)]:.3g} nats.",
            ),
        }


@cache
def _spreads(case: Case, kind: str) -> Floats:
    """Return the standard deviation of ln weight at each of `SHAPE_STOPS`, nats."""
    schedules = map(SCHEDULES[kind], SHAPE_STOPS)
    return np.array([annealed(case, schedule).log_weight.std() for schedule in schedules])


@exercise(properties=5)
def check_edge(function: Callable[[Ints, Floats, Floats, int, int], Any]) -> Told:
    """Exercise 1: `function(orders, log_w, log_alpha, u, v)` is the weighted mean of an edge."""
    data = board.rows(GAME).select(("top-left-square", "top-middle-square", "class"))
    table = bn.score_families(data, bn.BDeu(ess=1), max_parents=2)
    log_alpha, orders = bn.order_lattice(table).log_alpha, np.array(list(permutations(range(3))))
    masks = np.cumsum(1 << orders, axis=1) - (1 << orders)
    log_p = log_alpha[orders, masks].sum(axis=1)

    def result(chosen: Any, log_w: Floats, u: int = 0, v: int = 2) -> float:
        return float(function(orders[chosen], log_w[chosen].copy(), log_alpha, u, v))

    yield "return one number"
    yield function(orders, log_p.copy(), log_alpha, 0, 2) is not None
    yield "where u is after v in all orders there is no edge u -> v: 0"
    yield result([0, 2, 3], log_p, 2, 1) == 0
    yield "in the order 0, 1, 2 the edge 0 -> 2 has 1 - alpha({1}) / alpha({0, 1}), whatever w is"
    yield np.isclose(result([0], log_p), 1 - math.exp(log_alpha[2, 2] - log_alpha[2, 3]))
    yield "weights are known up to a factor: adding 10,000 to each ln w must change nothing"
    yield np.isclose(result(slice(6), log_p + 10_000), result(slice(6), log_p))
    yield "with each order of three variables once, and w its weight, the mean is the exact edges"
    exact, pairs = bn.order_posterior(table).edges, list(permutations(range(3), 2))
    found = [result(slice(6), log_p, *pair) for pair in pairs]
    yield np.allclose(found, [exact[pair] for pair in pairs])


@exercise(properties=5)
def check_spread(function: Callable[[Floats, Kernel, Sequence[float]], Any]) -> Told:
    """Exercise 2: `function(p, kernel, betas)` is the standard deviation of w over its mean."""
    p, betas = np.random.default_rng(3).uniform(0.2, 5, 3), (0.0, 0.25, 0.5, 1.0)

    def result(given: Floats, steps: Sequence[float] = betas) -> float:
        return float(function(given.copy(), _anything, steps))

    def exact(steps: Sequence[float]) -> float:
        first, second = (_one_by_one(p, steps, power) for power in (1, 2))
        return math.sqrt(second / first**2 - 1)

    yield "return one number"
    yield function(p.copy(), _anything, betas) is not None
    yield "where all states weigh the same, all runs do: 0"
    yield abs(result(np.full(3, 2.0))) < 1e-6
    yield "one step: after a move by kernel(0), w is p up to a constant: its spread over its mean"
    yield np.isclose(result(p, (0.0, 1.0)), exact((0.0, 1.0)))
    yield "a common factor changes nothing"
    yield np.isclose(result(7 * p), result(p))
    yield "with more steps it differs from the sum over all runs: let E[w**2] travel as E[w] does, "
    yield "by a factor that is squared"
    yield np.isclose(result(p), exact(betas))


@cache
def _anything(beta: float) -> Floats:
    """A kernel that leaves no distribution of any bridge as it is."""
    return np.random.default_rng(round(100 * beta)).dirichlet(np.ones(3), size=3)


def _one_by_one(p: Floats, betas: Sequence[float], power: int) -> float:
    """Mean of w**power by the kernel `_anything`: every run on three states, with its chance."""
    total = 0.0
    for run in product(range(3), repeat=len(betas)):
        chance, w = 1 / 3, 1.0
        for (now, later), x, y in zip(pairwise(betas), run, run[1:], strict=False):
            chance *= _anything(now)[x, y]
            w *= p[y] ** (later - now)
        total += chance * w**power
    return float(total)


@exercise(properties=5)
def check_schedule(function: Callable[[int], Any]) -> Told:
    """Exercise 3: `function(steps)` are betas that leave less spread than even ones."""
    steps, runs, seeds = 300, 100, 4

    def spread(name: str, own: bool) -> float:
        schedule = bn.Betas(tuple(map(float, function(steps)))) if own else bn.Linear(steps)
        found = []
        for rng in map(np.random.default_rng, range(seeds)):
            how: Any = {"runs": runs, "rng": rng, "method": bn.AIS(schedule)}
            found.append(bn.anneal_orders(scored(name), **how).log_weight.std())
        return float(np.mean(found))

    def ratio(name: str) -> float:
        return spread(name, True) / spread(name, False)

    yield f"function({steps}) must be {steps + 1} numbers"
    yield np.shape(function(steps)) == (steps + 1,)
    yield "bn.Betas must accept them: from 0 to 1, never falling"
    yield bn.Betas(tuple(map(float, function(steps)))).betas.size == steps + 1
    yield f"wine, {steps} steps: the standard deviation of ln w must be at most 0.8 times that "
    yield f"of Linear({steps}), mean of {seeds} seeds"
    yield ratio("wine") <= 0.8
    yield "tic-tac-toe: it must not be more than 1.05 times that of Linear"
    yield ratio("tic-tac-toe") <= 1.05
    yield "coronary: it must not be more than 1.25 times that of Linear"
    yield ratio("coronary") <= 1.25
