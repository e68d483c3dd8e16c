"""Weights piling up, bounds closing, shapes of schedules: controls wired to package and plots."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from bokeh.models import BasicTickFormatter
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs.annealed_importance_sampling.runs import (
    DATASETS,
    RUNS,
    SCHEDULES,
    SEED,
    annealed,
    gaps,
    log_mean,
    sandwich,
    step_stops,
)
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.running import Experiment, Progress

STEP_STOPS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
RUN_STOPS = (2, 5, 10, 20, 50, 100, RUNS)
SHAPE_STOPS = (10, 30, 100, 300, 1000, 3000)
SHAPE_RUNS = 100
BOUND_RUNS = (9, 27, 90, 180)
BINS = 9
LEAST_GAP = -2 * np.log(0.05) / BINS  # nats, between bounds from weights that are all equal

STEPS = "annealing steps of a run"

Floats = NDArray[np.float64]
Found = list[tuple[int, float, float]]


class Pile:
    """Weights of annealing runs: a few that count at few steps, all alike at many.

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    steps, runs : the sliders; runs are nested prefixes of one set for each number of steps
    weights, shares : the two `Panel`s, with sources "weights", "weights_marks" and "heaviest"
    """

    def __init__(self) -> None:
        for name, steps in product(DATASETS, STEP_STOPS):  # now, so that the sliders answer at once
            annealed(name, bn.Linear(steps))
        self.dataset = choice("data set", DATASETS)
        self.steps = size_slider("annealing steps", STEP_STOPS, 10)
        self.runs = size_slider("runs", RUN_STOPS, RUNS)
        self.weights, self.shares = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), self._captions(), strict=True)
        )
        self.dataset.observe(self._change_data, "value")
        for control in (self.steps, self.runs):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.dataset, self.steps, self.runs),
            side_by_side(self.weights, self.shares),
        )

    def _gaps(self) -> Floats:
        return gaps(self.dataset.value, bn.Linear(self.steps.value), self.runs.value)

    def _ends(self) -> tuple[float, float]:
        widest = gaps(self.dataset.value, bn.Linear(1))
        return float(np.floor(widest.min() / 10) * 10), 20.0

    def _pictures(self) -> tuple[Any, Any]:
        found = self._gaps()
        pile = plots.weight_pile(found, float(log_mean(found)), self._ends())
        return pile, plots.heaviest(found)

    def _captions(self) -> tuple[str, str]:
        found = self._gaps()
        shares = np.exp(np.sort(found)[::-1] - np.logaddexp.reduce(found))
        return (
            f"{self.runs.value} runs of {self.steps.value:,} steps: ln weights "
            f"{np.median(found):+.3g} nats from exact in the middle, standard deviation "
            f"{found.std():.3g}. Estimate: {log_mean(found):+.2f} nats from exact.",
            f"The heaviest run holds {shares[0]:.0%} of the weight, the ten heaviest "
            f"{shares[:10].sum():.0%}. Worth {bn.diagnostics.weights_ess(found):.3g} equal runs.",
        )

    def _change(self, change: Any) -> None:
        found, captions = self._gaps(), self._captions()
        self.weights.update(
            captions[0],
            weights=plots.weight_pile_data(found, self._ends()),
            weights_marks=plots.weight_pile_marks(float(log_mean(found))),
        )
        self.shares.update(captions[1], heaviest=plots.heaviest_data(found))

    def _change_data(self, change: Any) -> None:
        captions = self._captions()
        self.weights.show(self._pictures()[0], captions[0])  # the axis is of the data set
        self.shares.update(captions[1], heaviest=plots.heaviest_data(self._gaps()))


class Bounds(Experiment):
    """Lower and upper bounds on the evidence, closing as runs get more steps.

    Parameters
    ----------
    stops
        Numbers of annealing steps; from nm / 16 to 16 nm if not given.

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    runs : the slider, number of runs of each bound
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    found : (steps, lower, upper) nats from the exact evidence, as `sandwich` returns
    bounds, gap : the two `Panel`s, with sources "bounds" and "gap"
    """

    found: Found

    def __init__(self, *, stops: Sequence[int] | None = None) -> None:
        self._rng, self._stops = np.random.default_rng(SEED), stops
        self.dataset = choice("data set", DATASETS)
        self.runs = size_slider("runs of each bound", BOUND_RUNS, 27)
        super().__init__(self.dataset, self.runs, nothing=[], unit="moves")
        self.bounds, self.gap = self.panels

    def _work(self, asked: tuple[str, int], progress: Progress) -> Found:
        name, runs = asked
        return sandwich(name, runs=runs, rng=self._rng, stops=self._stops, progress=progress)

    def _steps(self) -> list[int]:
        return list(self._stops or step_stops(self.dataset.value))

    def _lines(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds at all numbers of steps, nan where there is none yet."""
        known = {steps: (lower, upper) for steps, lower, upper in self.found}
        lower, upper = np.transpose([known.get(r, (np.nan, np.nan)) for r in self._steps()])
        return lower, upper

    def _columns(self) -> list[dict[str, Any]]:
        steps, (lower, upper) = self._steps(), self._lines()
        return [
            {"bounds": plots.evidence_bounds_data(steps, lower, upper)},
            {"gap": plots.error_curve_data(steps, {"gap": upper - lower})},
        ]

    def _pictures(self) -> tuple[Any, Any]:
        steps, (lower, upper) = self._steps(), self._lines()
        gap = plots.error_curve(
            steps,
            {"gap": upper - lower},
            {f"equal weights in all {BINS} parts": [LEAST_GAP] * len(steps)},
            x_label=STEPS,
            y_label="upper − lower bound (nats)",
            y_range=(0.5, 40.0),
            name="gap",
            title="Gap between the bounds",
            alt="Gap between the bounds against annealing steps, and the least possible gap",
        )
        return plots.evidence_bounds(steps, lower, upper), _ticked(gap, steps)

    def _captions(self) -> tuple[str, str]:
        if not self.found:
            return "Press Run: the least number of steps comes first.", "Not run yet."
        steps, lower, upper = self.found[-1]
        return (
            f"{self.dataset.value}, {self.runs.value} runs for each bound. At {steps:,} steps: "
            f"{lower:+.2f} and {upper:+.2f} nats from the exact value, each with probability 0.95.",
            f"At {steps:,} steps: {upper - lower:.2f} nats, a factor of "
            f"{np.exp(upper - lower):,.3g} between the bounds.",
        )


class Shapes:
    """Schedules: where their steps lie, how many moves pass there, what spread of ln w is left.

    Attributes
    ----------
    widget : what to display
    schedule, dataset : the lists of schedules and of data sets
    steps : the slider
    acceptance, spread : the two `Panel`s, with sources "acceptance_path" and "spread"
    """

    def __init__(self) -> None:
        for name, kind in product(DATASETS, SCHEDULES):  # now, so that the controls answer at once
            _spreads(name, kind)
        self.schedule = choice("schedule", list(SCHEDULES))
        self.dataset = choice("data set", DATASETS)
        self.steps = size_slider("annealing steps", SHAPE_STOPS, 300)
        self.acceptance, self.spread = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), self._captions(), strict=True)
        )
        for control in (self.schedule, self.dataset, self.steps):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.schedule, self.dataset, self.steps),
            side_by_side(self.acceptance, self.spread),
        )

    def _stats(self) -> tuple[Floats, Floats]:
        schedule = SCHEDULES[self.schedule.value](self.steps.value)
        stats = annealed(self.dataset.value, schedule, SHAPE_RUNS).stats
        return stats["beta"], stats["acceptance"]

    def _spreads(self) -> dict[str, Floats]:
        return {kind: _spreads(self.dataset.value, kind) for kind in SCHEDULES}

    def _pictures(self) -> tuple[Any, Any]:
        spread = plots.error_curve(
            SHAPE_STOPS,
            self._spreads(),
            {},
            x_label=STEPS,
            y_label="standard deviation of ln w (nats)",
            y_range=(0.1, 100.0),
            name="spread",
            title=f"Spread of the weights of {SHAPE_RUNS} runs",
            alt="Standard deviation of ln weight against annealing steps, for both schedules",
        )
        return plots.acceptance_path(*self._stats()), _ticked(spread, SHAPE_STOPS)

    def _captions(self) -> tuple[str, str]:
        kind, steps = self.schedule.value, self.steps.value
        betas = self._stats()[0]
        spread = self._spreads()[kind][SHAPE_STOPS.index(steps)]
        last = SCHEDULES[kind](steps).betas[-2]
        return (
            f"{kind}, {steps:,} steps; each mark stands for {steps / betas.size:g} of them. Half "
            f"of the steps lie below β = {betas[betas.size // 2]:.2g}; the last goes from "
            f"{last:.3g} to 1.",
            f"{self.dataset.value}, {kind}, {steps:,} steps: ln w has standard deviation "
            f"{spread:.3g} nats.",
        )

    def _change(self, change: Any) -> None:
        captions, stats = self._captions(), self._stats()
        self.acceptance.update(captions[0], acceptance_path=plots.acceptance_path_data(*stats))
        self.spread.update(captions[1], spread=plots.error_curve_data(SHAPE_STOPS, self._spreads()))


def _ticked(picture: Any, steps: Sequence[int]) -> Any:
    """With ticks at the numbers of steps, and numbers instead of powers of ten."""
    picture.xaxis.ticker = list(steps)
    picture.yaxis.ticker = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]
    picture.yaxis.formatter = BasicTickFormatter()
    picture.axis.minor_tick_line_color = None
    return picture


@cache
def _spreads(name: str, kind: str) -> Floats:
    """Standard deviation of ln weight at each of `SHAPE_STOPS`, nats."""
    schedules = [SCHEDULES[kind](steps) for steps in SHAPE_STOPS]
    return np.array([annealed(name, s, SHAPE_RUNS).log_weight.std() for s in schedules])
