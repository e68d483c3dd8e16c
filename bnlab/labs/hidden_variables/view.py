"""Scores of all structures, the rank of the true one, and annealing runs on it."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import choice, size_slider
from bnlab.labs.hidden_variables import study
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.running import Stopped

SETS = (1, 2, 5, 10)
RANKED = ("BIC", "BICp", "CS", "VB")
RANK_TICKS = (1, 2, 5, 10, 20, 50, 136)
RANK_SIZES = (10, 40, 160, 480, 1280, 2560, 5120, 10_240)
TRACE_SIZES = (80, 480, 2560)
SIDE_ENDS = {8: (-8.0, 8.0), 80: (-90.0, 30.0), 480: (-620.0, 80.0)}  # rows -> axis, nats
LOOP_STEPS = (64, 256, 1024, 4096)
LOOP_ROWS = 480
LOOP_RUNS = 6
LABEL_SIZES = (10, 160, 480, 2560, 10_240)
THESIS = list(study.SHAPES)[1]
STEPS = "annealing steps K"
PARAMETERS = [model.free_parameters for model in study.structures()]

Found = dict[int, dict[int, dict[str, int]]]


class Scores(Experiment):
    """Six scores of the 136 structures, the true one and the winner marked.

    Control `size`, the rows of data; `panels` by score; `found` is the evidence by SMC, a Gold, or
    None before Run.
    """

    def __init__(self, *, sizes: Sequence[int] = study.SIZES, size: int = 480) -> None:
        for n in sizes:  # now, so that the slider answers at once
            study.scored(n)
        super().__init__(size=size_slider("rows", sizes, size), label="Run SMC", unit="components")

    def compute(self, progress: Progress, /, size: int) -> study.Gold | None:
        """Return the evidence of all structures; stopped, what was known before."""
        try:
            return study.gold(size, progress=progress)
        except Stopped:
            return self.results.get((size,))

    def draw(self, found: study.Gold | None, size: int) -> Board:
        """Each score against the number of parameters, on one vertical axis."""
        values = {**study.scored(size), "SMC": np.full(len(PARAMETERS), np.nan)}
        if found is not None:
            values["SMC"] = found.log_value
        everything = np.concatenate(list(values.values()))
        low, high = float(np.nanmin(everything)), float(np.nanmax(everything))
        room = 0.04 * (high - low)
        return {
            name: (
                plots.structure_scores(
                    PARAMETERS,
                    scores,
                    study.true_number(),
                    y_range=(low - room, high + room),
                    name=name.lower(),
                    title="SMC: the evidence" if name == "SMC" else name,
                    alt=f"{name} of each structure against its parameters, the true and best "
                    "marked",
                ),
                _ranked(scores),
            )
            for name, scores in values.items()
        }


def _ranked(scores: Floats) -> str:
    if np.isnan(scores).all():
        return "Not run yet for these rows: press Run SMC."
    best = PARAMETERS[int(np.argmax(scores))]
    winner = "the true one" if study.rank(scores) == 1 else f"one with {best} parameters"
    return f"True structure (circle): rank {study.rank(scores)}; highest score (cross): {winner}."


class Ranks(Experiment):
    """Rank of the true structure against the rows of data, ours beside the thesis'.

    Control `sets`, the number of data sets; panels `ours` and `theirs`; `found` is data set ->
    {rows: {score: rank}}.
    """

    def __init__(self, *, sizes: Sequence[int] = study.SIZES) -> None:
        self._sizes = sizes
        super().__init__(sets=size_slider("data sets", SETS, 1), nothing={}, unit="sizes")

    def compute(self, progress: Progress, /, sets: int) -> Found:
        """Return the ranks in data sets of other seeds, one size after the other."""
        found: Found = {}
        stops = list(product(range(study.SEED, study.SEED + sets), self._sizes))
        for done, (seed, n) in enumerate(stops, start=1):
            ranks = {name: study.rank(scores) for name, scores in study.scored(n, seed).items()}
            found = {**found, seed: {**found.get(seed, {}), n: ranks}}
            if not progress(done, len(stops), found):
                break
        return found

    def draw(self, found: Found, sets: int) -> Board:
        """Medians over the data sets so far, and Table 6.1 of the thesis."""
        ours, printed = {}, {}
        for name in RANKED:
            of_size = [
                [known[n][name] for known in found.values() if n in known] for n in self._sizes
            ]
            ours[name] = np.array([np.median(r) if r else np.nan for r in of_size])
            printed[name] = np.array([study.PRINTED_RANKS[n][name] for n in study.SIZES], float)
        whole = sum(len(known) == len(self._sizes) for known in found.values())
        said = f"{whole} complete data sets, medians. Rank 1: the true structure scores highest."
        return {
            "ours": (
                _ranks(self._sizes, ours, "ranks", "Ours"),
                said if found else "Not run yet: press Run.",
            ),
            "theirs": (
                _ranks(study.SIZES, printed, "printed_ranks", "Thesis, Table 6.1"),
                "One data set, three restarts of each climb.",
            ),
        }


def _ranks(sizes: Sequence[int], lines: dict[str, Floats], name: str, title: str) -> Any:
    return plots.log_curves(
        sizes,
        lines,
        {},
        x_label="rows of data n",
        y_label="rank of the true structure (1 is best)",
        title=f"{title}: rank of the true structure among 136",
        alt=f"{title}: rank of the true structure against rows of data, for four scores",
        name=name,
        y_axis_type="log",
        y_range=(180.0, 0.8),
        ticks=RANK_TICKS,
        x_ticks=RANK_SIZES,
    )


class Steps(Experiment):
    """ln weights of single runs against the number of steps, beside VB and BIC.

    Controls `size`, the rows, `shape` of the schedule, and `moves`; panel `panel`; `found` is
    Traces, or None before Run.
    """

    def __init__(self, *, stops: Sequence[int] = study.STEP_STOPS) -> None:
        for n in TRACE_SIZES:  # now, so that the slider answers at once
            study.two_scores(n)
        self._stops = stops
        super().__init__(
            size=size_slider("rows", TRACE_SIZES, 480),
            shape=choice("schedule", list(study.SHAPES), THESIS),
            moves=choice("moves", list(study.MOVES), list(study.MOVES)[1]),
        )

    def compute(self, progress: Progress, /, size: int, shape: str, moves: str) -> study.Traces:
        """Return runs with each number of steps."""
        return study.traces(
            size, study.SHAPES[shape], study.MOVES[moves], stops=self._stops, progress=progress
        )

    def draw(self, found: study.Traces | None, size: int, shape: str, moves: str) -> Board:
        """The runs so far, and the two scores."""
        rules, caption = (
            study.two_scores(size),
            "Not run yet: press Run. Each dot is a run of its own.",
        )
        lines: Mapping[str, Floats] = study.not_run(self._stops)
        if found is not None:
            lines, caption = found.lines, "Running."
            fresh = np.array([lines[name] for name in study.FRESH])
            known = np.isfinite(fresh).all(axis=0)
            if known.any():
                last = int(np.flatnonzero(known)[-1])
                below = int((fresh[:, last] < next(iter(rules.values()))).sum())
                caption = (
                    f"At K = {self._stops[last]:,}: {below} of {len(fresh)} runs from the prior "
                    f"below VB; they spread over {np.ptp(fresh[:, last]):.1f} nats. Values below "
                    "the axis are left out."
                )
        picture = plots.log_curves(
            self._stops,
            lines,
            rules,
            x_label=STEPS,
            y_label="ln weight of a run (nats)",
            title=f"Single annealing runs, {size:,} rows",
            alt="ln weight of single runs against annealing steps, with lines at VB and BIC",
            name="runs",
            y_range=(min(rules.values()) - 150, max(rules.values()) + 70),
        )
        picture.legend[0].ncols = 3
        picture.height += 60
        return {"panel": (picture, caption)}


class Sides(Experiment):
    """Upward and reverse runs on simulated data: the band between them closes.

    Controls `size`, the rows, and `shape` of the schedule; panels `band` and `width`; `found` is a
    list of Band.
    """

    def __init__(self, *, stops: Sequence[int] = study.STEP_STOPS[:-1]) -> None:
        self._stops = stops
        super().__init__(
            size=size_slider("rows", tuple(SIDE_ENDS), 80),
            shape=choice("schedule", list(study.SHAPES), THESIS),
            nothing=[],
        )

    def compute(self, progress: Progress, /, size: int, shape: str) -> list[study.Band]:
        """Return both sides at each number of steps."""
        return study.bands(size, study.SHAPES[shape], stops=self._stops, progress=progress)

    def draw(self, found: list[study.Band], size: int, shape: str) -> Board:
        """The means of both sides so far, and how far apart they are."""
        known = {band.steps: (band.upward, band.reverse) for band in found}
        upward, reverse = np.transpose([known.get(k, (np.nan, np.nan)) for k in self._stops])
        captions = "Press Run: the least number of steps comes first.", "Not run yet."
        if found:
            last = found[-1]
            captions = (
                f"K = {last.steps:,}, 20 runs each way: {last.upward:+.2f} and {last.reverse:+.2f} "
                f"nats from the {study.simulated(size).reference_is} value. Bounds that hold with "
                f"probability 0.95 each: {last.low:+.2f} and {last.high:+.2f}.",
                f"K = {last.steps:,}: {last.reverse - last.upward:.2f} nats.",
            )
        band = plots.log_curves(
            self._stops,
            {"upward, mean": upward, "reverse, mean": reverse},
            {"exact" if size <= 8 else "evidence by SMC": 0.0},
            x_label=STEPS,
            y_label="mean ln weight − reference (nats)",
            title=f"The evidence from both sides, {size} simulated rows",
            alt="Mean log weight of upward and reverse runs against annealing steps",
            name="band",
            y_range=SIDE_ENDS[size],
            band=("upward, mean", "reverse, mean"),
        )
        width = plots.error_curve(
            self._stops,
            {"width": reverse - upward},
            {},
            x_label=STEPS,
            y_label="reverse − upward (nats)",
            y_range=(0.05, 1000.0),
            ticks=(0.1, 1, 10, 100, 1000),
            x_ticks=self._stops,
            name="width",
            title="Width of the band",
            alt="Difference of the means of reverse and upward runs against annealing steps",
        )
        return {"band": (band, captions[0]), "width": (width, captions[1])}


class Loops(View):
    """Ratios of upward and reverse runs, and accepted moves, along the schedule.

    Controls `steps`, `shape` of the schedule, and `moves`; panels `ratios` and `acceptance`.
    """

    def __init__(self) -> None:
        for k, e, moves in product(LOOP_STEPS, study.SHAPES.values(), study.MOVES.values()):
            study.loop(
                LOOP_ROWS, k, e, moves, LOOP_RUNS
            )  # now, so that the controls answer at once
        super().__init__(
            steps=size_slider(STEPS, LOOP_STEPS, 256),
            shape=choice("schedule", list(study.SHAPES), THESIS),
            moves=choice("moves", list(study.MOVES)),
        )

    def draw(self, steps: int, shape: str, moves: str) -> Board:
        """Mean ln p(y | theta) by both, since parts differ in width, and what is accepted."""
        now = study.loop(LOOP_ROWS, steps, study.SHAPES[shape], study.MOVES[moves], LOOP_RUNS)
        gap, width = now.reverse - now.upward, np.diff(now.betas)
        worst = int(np.argmax(gap))
        accepted = plots.acceptance_path(now.betas[:-1], now.acceptance)
        accepted.xaxis.axis_label = "inverse temperature τ"
        return {
            "ratios": (
                plots.hysteresis(now.upward / width, now.reverse / width),
                f"Reverse − upward: {gap.sum():.1f} nats in all; the most in part {worst + 1} of "
                f"{study.PARTS} ({gap[worst]:.1f}), from τ = {now.betas[worst]:.3g}.",
            ),
            "acceptance": (
                accepted,
                f"Accepted: {now.acceptance[0]:.0%} in the first part, {now.acceptance[-1]:.0%} "
                "in the last; a mark for each part.",
            ),
        }


class Labels(View):
    """Where climbs ended: hidden states have no names, so each climb picks its own.

    Control `size`, the rows of data; panel `panel`.
    """

    def __init__(self) -> None:
        for n in LABEL_SIZES:  # now, so that the slider answers at once
            study.ends(n)
        super().__init__(size=size_slider("rows", LABEL_SIZES, 10))

    def draw(self, size: int) -> Board:
        """The probabilities of both hidden causes where each climb ended."""
        first, second = (p < 0.5 for p in study.ends(size))
        quarters = [int((a & b).sum()) for a, b in product((first, ~first), (second, ~second))]
        return {
            "panel": (
                plots.label_map(*study.ends(size), (study.TABLES[0][0][0], study.TABLES[1][0][0])),
                f"{size:,} rows: {', '.join(map(str, quarters))} of {first.size} climbs in the "
                "four quarters.",
            )
        }
