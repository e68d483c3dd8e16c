"""Annealing runs on the true structure: controls wired to package and plots."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from bokeh.models import BasicTickFormatter, FixedTicker
from numpy.typing import NDArray

from bnlab import plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.hidden_variables.runs import (
    MOVES,
    PARTS,
    SHAPES,
    STEP_STOPS,
    TRACES,
    Band,
    Loop,
    Traces,
    bands,
    ends,
    loop,
    simulated,
    traces,
    two_scores,
)
from bnlab.labs.hidden_variables.space import TABLES
from bnlab.labs.running import Experiment, Progress

TRACE_SIZES = (80, 480, 2560)
SIDE_SIZES = (8, 80, 480)
LOOP_STEPS = (64, 256, 1024, 4096)
LOOP_ROWS = 480
LOOP_RUNS = 6
LABEL_SIZES = (10, 160, 480, 2560, 10_240)
THESIS = list(SHAPES)[1]
STEPS = "annealing steps K"

Floats = NDArray[np.float64]


class Steps(Experiment):
    """ln weights of single runs against the number of steps, beside VB and BIC.

    Parameters
    ----------
    stops
        Numbers of annealing steps.

    Attributes
    ----------
    widget : what to display
    size, shape, moves : the slider of rows, the lists of schedule shapes and of moves
    runner : Run, Stop and progress; `run_now()` runs at once
    found : Traces, or None before the first run
    panel : the `Panel`, with sources "runs" and "runs_rules"
    """

    found: Traces | None

    def __init__(self, *, stops: Sequence[int] = STEP_STOPS) -> None:
        for n in TRACE_SIZES:  # now, so that the slider answers at once
            two_scores(n)
        self._stops = stops
        self.size = size_slider("rows", TRACE_SIZES, 480)
        self.shape = choice("schedule", list(SHAPES), THESIS)
        self.moves = choice("moves", list(MOVES), list(MOVES)[1])
        super().__init__(self.size, self.shape, self.moves, nothing=None)
        (self.panel,) = self.panels

    def _work(self, asked: tuple[int, str, str], progress: Progress) -> Traces:
        n, shape, moves = asked
        return traces(n, SHAPES[shape], MOVES[moves], stops=self._stops, progress=progress)

    def _lines(self) -> Mapping[str, Floats]:
        if self.found is not None:
            return self.found.lines
        names = ["from the true tables", *(f"run {i + 1}" for i in range(TRACES))]
        return {name: np.full(len(self._stops), np.nan) for name in names}

    def _columns(self) -> list[dict[str, Any]]:
        return [{"runs": plots.log_curves_data(self._stops, self._lines())}]

    def _pictures(self) -> list[Any]:
        rules = two_scores(self.size.value)
        picture = plots.log_curves(
            self._stops,
            self._lines(),
            rules,
            x_label=STEPS,
            y_label="ln weight of a run (nats)",
            title=f"Single annealing runs, {self.size.value:,} rows",
            alt="ln weight of single runs against annealing steps, with lines at VB and BIC",
            name="runs",
            y_range=(min(rules.values()) - 150, max(rules.values()) + 70),
        )
        picture.legend[0].ncols = 3
        picture.height += 60
        return [picture]

    def _captions(self) -> list[str]:
        if self.found is None:
            return ["Not run yet: press Run. Each dot is a run of its own."]
        vb = next(iter(self.found.rules.values()))
        fresh = np.array(list(self.found.lines.values())[1:])
        known = np.isfinite(fresh).all(axis=0)
        if not known.any():
            return ["Running."]
        last = int(np.flatnonzero(known)[-1])
        return [
            f"At K = {self._stops[last]:,}: {int((fresh[:, last] < vb).sum())} of {TRACES} runs "
            f"from the prior below VB; they spread over {np.ptp(fresh[:, last]):.1f} nats. Values "
            "below the axis are left out."
        ]


class Sides(Experiment):
    """Upward and reverse runs on simulated data: the band between them closes.

    Parameters
    ----------
    stops
        Numbers of annealing steps.

    Attributes
    ----------
    widget : what to display
    size, shape : the slider of rows and the list of schedule shapes
    runner : Run, Stop and progress; `run_now()` runs at once
    found : list of Band
    band, width : the two `Panel`s, with sources "band" and "width"
    """

    found: list[Band]

    def __init__(self, *, stops: Sequence[int] = STEP_STOPS[:-1]) -> None:
        self._stops = stops
        self.size = size_slider("rows", SIDE_SIZES, 80)
        self.shape = choice("schedule", list(SHAPES), THESIS)
        super().__init__(self.size, self.shape, nothing=[])
        self.band, self.width = self.panels

    def _work(self, asked: tuple[int, str], progress: Progress) -> list[Band]:
        n, shape = asked
        return bands(n, SHAPES[shape], stops=self._stops, progress=progress)

    def _columns(self) -> list[dict[str, Any]]:
        return [
            {"band": plots.log_curves_data(self._stops, self._lines())},
            {"width": plots.error_curve_data(self._stops, {"width": self._widths()})},
        ]

    def _lines(self) -> dict[str, Floats]:
        known = {band.steps: (band.upward, band.reverse) for band in self.found}
        pairs = np.array([known.get(k, (np.nan, np.nan)) for k in self._stops])
        return {"upward, mean": pairs[:, 0], "reverse, mean": pairs[:, 1]}

    def _widths(self) -> Floats:
        upward, reverse = self._lines().values()
        return reverse - upward

    def _pictures(self) -> tuple[Any, Any]:
        lines, n = self._lines(), self.size.value
        low_and_high = {8: (-8.0, 8.0), 80: (-90.0, 30.0), 480: (-620.0, 80.0)}[n]
        band = plots.log_curves(
            self._stops,
            lines,
            {"exact" if n <= 8 else "evidence by SMC": 0.0},
            x_label=STEPS,
            y_label="mean ln weight − reference (nats)",
            title=f"The evidence from both sides, {n} simulated rows",
            alt="Mean log weight of upward and reverse runs against annealing steps",
            name="band",
            y_range=low_and_high,
            band=("upward, mean", "reverse, mean"),
        )
        width = plots.error_curve(
            self._stops,
            {"width": self._widths()},
            {},
            x_label=STEPS,
            y_label="reverse − upward (nats)",
            y_range=(0.05, 1000.0),
            name="width",
            title="Width of the band",
            alt="Difference of the means of reverse and upward runs against annealing steps",
        )
        width.xaxis.ticker = FixedTicker(ticks=list(self._stops))
        width.yaxis.formatter = BasicTickFormatter()
        width.axis.minor_tick_line_color = None
        return band, width

    def _captions(self) -> tuple[str, str]:
        if not self.found:
            return "Press Run: the least number of steps comes first.", "Not run yet."
        last = self.found[-1]
        reference = simulated(self.size.value).reference_is
        return (
            f"K = {last.steps:,}, 20 runs each way: {last.upward:+.2f} and {last.reverse:+.2f} "
            f"nats from the {reference} value. Bounds that hold with probability 0.95 each: "
            f"{last.low:+.2f} and {last.high:+.2f}.",
            f"K = {last.steps:,}: {last.reverse - last.upward:.2f} nats.",
        )


class Loops:
    """Ratios of upward and reverse runs, and accepted moves, along the schedule.

    Attributes
    ----------
    widget : what to display
    steps, shape, moves : the slider of annealing steps, the lists of schedule shapes and of moves
    ratios, acceptance : the two `Panel`s, with sources "ratios" and "acceptance_path"
    """

    def __init__(self) -> None:
        for k, e, moves in product(LOOP_STEPS, SHAPES.values(), MOVES.values()):
            loop(LOOP_ROWS, k, e, moves, LOOP_RUNS)  # now, so that the controls answer at once
        self.steps = size_slider(STEPS, LOOP_STEPS, 256)
        self.shape = choice("schedule", list(SHAPES), THESIS)
        self.moves = choice("moves", list(MOVES))
        now, captions = self._loop(), self._captions()
        accepted = plots.acceptance_path(now.betas[:-1], now.acceptance)
        accepted.xaxis.axis_label = "inverse temperature τ"
        self.ratios = Panel(plots.hysteresis(*_slopes(now)), captions[0])
        self.acceptance = Panel(accepted, captions[1])
        for control in (self.steps, self.shape, self.moves):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.steps, self.shape, self.moves),
            side_by_side(self.ratios, self.acceptance),
        )

    def _loop(self) -> Loop:
        shape, moves = SHAPES[self.shape.value], MOVES[self.moves.value]
        return loop(LOOP_ROWS, self.steps.value, shape, moves, LOOP_RUNS)

    def _captions(self) -> tuple[str, str]:
        now = self._loop()
        gap = now.reverse - now.upward
        worst = int(np.argmax(gap))
        return (
            f"Reverse − upward: {gap.sum():.1f} nats in all; the most in part {worst + 1} of "
            f"{PARTS} ({gap[worst]:.1f}), from τ = {now.betas[worst]:.3g}.",
            f"Accepted: {now.acceptance[0]:.0%} in the first part, {now.acceptance[-1]:.0%} in the "
            "last; a mark for each part.",
        )

    def _change(self, change: Any) -> None:
        now, captions = self._loop(), self._captions()
        self.ratios.update(captions[0], ratios=plots.hysteresis_data(*_slopes(now)))
        self.acceptance.update(
            captions[1], acceptance_path=plots.acceptance_path_data(now.betas[:-1], now.acceptance)
        )


def _slopes(now: Loop) -> tuple[Floats, Floats]:
    """Ratios over the widths of the parts, which differ: mean ln p(y | theta) there."""
    width = np.diff(now.betas)
    return now.upward / width, now.reverse / width


class Labels:
    """Where climbs ended: hidden states have no names, so each climb picks its own.

    Attributes
    ----------
    widget : what to display
    size : the slider, rows of data
    panel : the `Panel`, with source "labels"
    """

    def __init__(self) -> None:
        for n in LABEL_SIZES:  # now, so that the slider answers at once
            ends(n)
        self.size = size_slider("rows", LABEL_SIZES, 10)
        true = (TABLES[0][0][0], TABLES[1][0][0])
        self.panel = Panel(plots.label_map(*ends(self.size.value), true), self._caption())
        self.size.observe(self._change, "value")
        self.widget = stacked(self.size, self.panel)

    def _caption(self) -> str:
        first, second = (p < 0.5 for p in ends(self.size.value))
        quarters = [int((a & b).sum()) for a, b in product((first, ~first), (second, ~second))]
        return (
            f"{self.size.value:,} rows: {', '.join(map(str, quarters))} of {first.size} climbs in "
            "the four quarters."
        )

    def _change(self, change: Any) -> None:
        self.panel.update(self._caption(), labels=plots.label_map_data(*ends(self.size.value)))
