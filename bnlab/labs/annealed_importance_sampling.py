"""The views and the checks of notebooks/07_annealed_importance_sampling.ipynb.

Annealed runs from uniform orders to the posterior: their weights, the evidence, bounds on it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
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
    k2_posterior as posterior,
    rows,
    setup as setup,
    size_slider,
    title,
)
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.sampling import OrderWalker

SEED = 2013
RUNS = 200
DATASETS = ("tic-tac-toe", "wine", "coronary")
STEP_STOPS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
RUN_STOPS = (2, 5, 10, 20, 50, 100, RUNS)
SHAPE_STOPS = (10, 30, 100, 300, 1000, 3000)
SHAPE_RUNS = 100
BOUND_RUNS = (9, 27, 90, 180)
BINS = 9
LEAST_GAP = -2 * np.log(0.05) / BINS  # nats, between bounds from weights that are all equal

STEPS = "annealing steps of a run"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # nats

Kernel = Callable[[float], Floats]
Found = list[tuple[int, float, float]]
"""Annealing steps, and the ln of both bounds less the exact ln p(D), nats."""


@cache
def annealed(case: Case, schedule: Schedule, runs: int = RUNS) -> bn.Draws:
    """Annealing runs on a case; their prefixes are nested."""
    rng, method = np.random.default_rng(SEED), bn.AIS(schedule)
    return bn.anneal_orders(posterior(case).table, runs=runs, rng=rng, method=method)


def gaps(case: Case, schedule: Schedule, runs: int = RUNS) -> Floats:
    """(runs,) ln weight of each of the first runs less the exact ln Z, nats."""
    return np.asarray(annealed(case, schedule).log_weight[0, :runs] - posterior(case).log_z)


def log_mean(log_weights: ArrayLike, /) -> Floats:
    """ln of the mean weight along the last axis."""
    values = np.asarray(log_weights, np.float64)
    return np.asarray(np.logaddexp.reduce(values, axis=-1) - math.log(values.shape[-1]))


def log_weights(table: bn.ScoreTable, orders: ArrayLike, /) -> Floats:
    """Return ln of the weight of each order (N, n), nats: summed over compatible networks."""
    return OrderWalker.of(table).log_weights(np.asarray(orders, np.int64))


def edge_errors(case: Case, *, runs: int, steps: int, rng: np.random.Generator) -> list[float]:
    """SAD from the exact edges, of averages over the last orders with their weights and without."""
    exact, method = posterior(case), bn.AIS(bn.Linear(steps))
    found = bn.anneal_orders(exact.table, runs=runs, rng=rng, method=method)
    plain = replace(found, log_weight=np.zeros((1, runs)))
    return [
        bn.diagnostics.sad(bn.features.edges(draws, table=exact.table), exact.edges)
        for draws in (found, plain)
    ]


def step_stops(case: Case) -> list[int]:
    """Numbers of annealing steps from nm / 16 to 16 nm, the last as in the paper."""
    cells = rows(case).n * rows(case).m
    return [round(cells * 4.0**k) for k in (-2, -1, 0, 1, 2)]


class Pile(View):
    """Weights of annealing runs: a few that count at few steps, all alike at many.

    Controls `dataset`, `steps` and `runs`, nested prefixes of one set; panels `weights` and
    `shares`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        cases = DATASETS if data is None else (data,)
        for case, steps in product(cases, STEP_STOPS):  # now, so that the sliders answer at once
            annealed(case, bn.Linear(steps))
        super().__init__(
            dataset=dataset_choice(DATASETS, data),
            steps=size_slider("annealing steps", STEP_STOPS, 10),
            runs=size_slider("runs", RUN_STOPS, RUNS),
        )

    def draw(self, dataset: Case, steps: int, runs: int) -> Board:
        """The ln weights of the runs, and their shares of the sum."""
        found = gaps(dataset, bn.Linear(steps), runs)
        lowest = float(np.floor(gaps(dataset, bn.Linear(1)).min() / 10) * 10)
        shares = np.exp(np.sort(found)[::-1] - np.logaddexp.reduce(found))
        return {
            "weights": (
                plots.weight_pile(found, float(log_mean(found)), (lowest, 20.0)),
                f"{runs} runs of {steps:,} steps: ln weights {np.median(found):+.3g} nats from "
                f"exact in the middle, standard deviation {found.std():.3g}. Estimate: "
                f"{log_mean(found):+.2f} nats from exact.",
            ),
            "shares": (
                plots.heaviest(found),
                f"The heaviest run holds {shares[0]:.0%} of the weight, the ten heaviest "
                f"{shares[:10].sum():.0%}. Worth {bn.diagnostics.weights_ess(found):.3g} equal "
                "runs.",
            ),
        }


class Bounds(Experiment):
    """Lower and upper bounds on the evidence, closing as runs get more steps.

    Controls `dataset` and `runs`, the number for each bound; panels `bounds` and `gap`.

    Parameters
    ----------
    data : a table of your own, in the place of the data sets
    stops : numbers of annealing steps; from nm / 16 to 16 nm if not given
    """

    def __init__(self, data: bn.Data | None = None, *, stops: Sequence[int] | None = None) -> None:
        self._rng, self._stops = np.random.default_rng(SEED), stops
        super().__init__(
            dataset=dataset_choice(DATASETS, data),
            runs=size_slider("runs of each bound", BOUND_RUNS, 27),
            nothing=[],
            unit="moves",
        )

    def compute(self, progress: Progress, /, dataset: Case, runs: int) -> Found:
        """Return bounds, each right with probability 0.95, at each number of steps in turn."""
        exact, stops = posterior(dataset), self._stops or step_stops(dataset)
        total, done, going = 2 * runs * sum(stops), 0, True
        found: Found = []

        def tell(before: int, steps: int) -> Progress:
            def told(finished: int, of: int, snapshot: object) -> bool:
                nonlocal going
                going = progress(before + finished * steps, total, found)
                return going

            return told

        for steps in stops:
            moves = runs * steps
            how: Any = {"runs": runs, "rng": self._rng, "method": bn.AIS(bn.Linear(steps))}
            try:
                lower = bn.estimate_lower_bound(exact.table, **how, progress=tell(done, steps))
                upper = bn.estimate_upper_bound(exact, **how, progress=tell(done + moves, steps))
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

    def draw(self, found: Found, dataset: Case, runs: int) -> Board:
        """The bounds, nan where there is none yet, and the gap between them."""
        steps = list(self._stops or step_stops(dataset))
        known = {each: (lower, upper) for each, lower, upper in found}
        lower, upper = np.transpose([known.get(r, (np.nan, np.nan)) for r in steps])
        captions = "Press Run: the least number of steps comes first.", "Not run yet."
        if found:
            last, low, high = found[-1]
            captions = (
                f"{title(dataset)}, {runs} runs for each bound. At {last:,} steps: {low:+.2f} and "
                f"{high:+.2f} nats from the exact value, each with probability 0.95.",
                f"At {last:,} steps: {high - low:.2f} nats, a factor of {np.exp(high - low):,.3g} "
                "between the bounds.",
            )
        gap = plots.error_curve(
            steps,
            {"gap": upper - lower},
            {f"equal weights in all {BINS} bins": [LEAST_GAP] * len(steps)},
            x_label=STEPS,
            y_label="upper − lower bound (nats)",
            y_range=(0.5, 40.0),
            ticks=TICKS,
            x_ticks=steps,
            name="gap",
            title="Gap between the bounds",
            alt="Gap between the bounds against annealing steps, and the least possible gap",
        )
        return {
            "bounds": (plots.evidence_bounds(steps, lower, upper), captions[0]),
            "gap": (gap, captions[1]),
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


def check_effective_runs(function: Callable[[Floats], Any]) -> bool:
    """Exercise 1: `function(log_weights)` is (sum w)**2 / sum w**2."""
    some = np.random.default_rng(1).normal(0, 2, 50)

    def result(log_weights: Any) -> float:
        return float(function(np.array(log_weights, np.float64)))

    def untouched() -> bool:
        given = some.copy()
        function(given)
        return bool(np.array_equal(given, some))

    return check(
        "Exercise 1",
        "return one number",
        lambda: function(some.copy()) is not None,
        "make it a finite one",
        lambda: np.isfinite(result(some)),
        "7 equal weights are worth 7 runs",
        lambda: np.isclose(result([0.0] * 7), 7),
        "weights 1, 1, 2 are worth 16 / 6 runs",
        lambda: np.isclose(result(np.log([1.0, 1.0, 2.0])), 16 / 6),
        "a weight of 0 (ln w = -inf) adds nothing: weights 1, 1, 0 are worth 2 runs",
        lambda: np.isclose(result([0.0, 0.0, -np.inf]), 2),
        "a common factor changes nothing, not even exp(-9000): take it out before exp",
        lambda: np.isclose(result(some - 9000), result(some)),
        "nor does exp(+9000)",
        lambda: np.isclose(result(some + 9000), result(some)),
        "do not change the weights that you are given",
        untouched,
    )


def check_reverse_mean(function: Callable[[Floats, Kernel, Sequence[float]], Any]) -> bool:
    """Exercise 2: `function(w, kernel, betas)` is the mean of 1/weight over all reverse runs."""
    rng = np.random.default_rng(2)
    w = rng.uniform(0.2, 5, 3)
    betas = (0.0, 0.25, 0.5, 1.0)

    def metropolis(beta: float) -> Floats:
        proposed = np.minimum(1, (w[None, :] / w[:, None]) ** beta) / 3
        np.fill_diagonal(proposed, 0)
        moves: Floats = proposed + np.diag(1 - proposed.sum(axis=1))
        return moves

    @cache
    def anything(beta: float) -> Floats:
        return np.random.default_rng(round(100 * beta)).dirichlet(np.ones(3), size=3)

    def result(kernel: Kernel, steps: Sequence[float] = betas) -> float:
        return float(function(w.copy(), kernel, steps))

    def one_by_one(kernel: Kernel) -> float:
        """Every reverse run on three states, with its probability."""
        falling = betas[::-1]
        total = 0.0
        for run in product(range(3), repeat=len(betas)):
            p, inverse = w[run[0]] / w.sum(), 1 / 3
            for (high, low), a, b in zip(pairwise(falling), run, run[1:], strict=False):
                p *= kernel(high)[a, b]
                inverse *= w[b] ** (low - high)
            total += p * inverse
        return total

    return check(
        "Exercise 2",
        "return one number",
        lambda: function(w.copy(), metropolis, betas) is not None,
        "make it positive",
        lambda: result(metropolis) > 0,
        "one step, from 1 to 0, with Metropolis moves: the mean of 1 / weight is 1 / Z, where "
        "Z is the sum of w",
        lambda: np.isclose(result(metropolis, (0.0, 1.0)), 1 / w.sum()),
        "so it is with more steps",
        lambda: np.isclose(result(metropolis), 1 / w.sum()),
        "with moves that do not keep w**beta it is not 1 / Z: start from w / Z, let beta fall, "
        "move at the higher beta of each step, then multiply by w**(lower - higher)",
        lambda: np.isclose(result(anything), one_by_one(anything)),
    )


def check_schedule(function: Callable[[int], Any]) -> bool:
    """Exercise 3: `function(steps)` are betas that leave less spread than even ones."""
    steps, runs, seeds = 300, 100, 4

    @cache
    def spread(name: str, own: bool) -> float:
        schedule = bn.Betas(tuple(map(float, function(steps)))) if own else bn.Linear(steps)
        table, method = posterior(name).table, bn.AIS(schedule)
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
