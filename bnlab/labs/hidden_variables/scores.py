"""Scores of all structures, and the rank of the true one: controls wired to package and plots."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab import plots
from bnlab.labs.board import Panel, side_by_side, size_slider, stacked
from bnlab.labs.hidden_variables.space import (
    PRINTED_RANKS,
    SEED,
    SIZES,
    Gold,
    gold,
    rank,
    scored,
    structures,
    true_number,
)
from bnlab.labs.running import Progress, Runner
from bnlab.runs import Stopped

SETS = (1, 2, 5, 10)
RANKED = ("BIC", "BICp", "CS", "VB")
RANK_TICKS = (1, 2, 5, 10, 20, 50, 136)
RANK_SIZES = (10, 40, 160, 480, 1280, 2560, 5120, 10_240)
GOLD = "SMC"

PARAMETERS = [model.free_parameters for model in structures()]

Floats = NDArray[np.float64]


class Scores:
    """Six scores of the 136 structures, the true one and the winner marked.

    Attributes
    ----------
    widget : what to display
    size : the slider, rows of data
    runner : Run, Stop and progress of the sixth, the evidence by SMC; `run_now()` runs at once
    gold : data size -> Gold, what has been run
    panels : name -> Panel, with sources "map", "map_marks", and so on
    """

    def __init__(self, *, sizes: Sequence[int] = SIZES, size: int = 480) -> None:
        for n in sizes:  # now, so that the slider answers at once
            scored(n)
        self.gold: dict[int, Gold] = {}
        self.size = size_slider("rows", sizes, size)
        self._pictures = self._drawn()
        self.panels = {
            name: Panel(picture, _caption(name, self._values()[name]))
            for name, picture in self._pictures.items()
        }
        self.runner = Runner(self._work, self._finish, label="Run SMC", unit="components")
        self.size.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.size, self.runner), side_by_side(*self.panels.values())
        )

    def _values(self) -> dict[str, Floats]:
        n = self.size.value
        missing = np.full(len(structures()), np.nan)
        return {**scored(n), GOLD: self.gold[n].log_value if n in self.gold else missing}

    def _ends(self) -> tuple[float, float]:
        """The vertical axis that all share."""
        everything = np.concatenate(list(self._values().values()))
        low, high = float(np.nanmin(everything)), float(np.nanmax(everything))
        room = 0.04 * (high - low)
        return low - room, high + room

    def _drawn(self) -> dict[str, Any]:
        return {
            name: plots.structure_scores(
                PARAMETERS,
                scores,
                true_number(),
                y_range=self._ends(),
                name=name.lower(),
                title="SMC: the evidence" if name == GOLD else name,
                alt=f"{name} of each structure against its parameters, the true and best marked",
            )
            for name, scores in self._values().items()
        }

    def _work(self, progress: Progress) -> tuple[int, Gold | None]:
        n = self.size.value
        try:
            return n, gold(n, progress=progress)
        except Stopped:
            return n, None

    def _finish(self, result: tuple[int, Gold | None]) -> None:
        n, found = result
        if found is not None:
            self.gold[n] = found
        if n != self.size.value:
            return
        # New pictures reach a page that does not show the panels yet; new columns do not.
        self._pictures = self._drawn()
        for name, picture in self._pictures.items():
            self.panels[name].show(picture, _caption(name, self._values()[name]))

    def _change(self, change: Any) -> None:
        low, high = self._ends()
        for name, scores in self._values().items():
            self._pictures[name].y_range.update(start=low, end=high)
            columns = {
                name.lower(): plots.structure_scores_data(PARAMETERS, scores),
                f"{name.lower()}_marks": plots.structure_scores_marks(
                    PARAMETERS, scores, true_number()
                ),
            }
            self.panels[name].update(_caption(name, scores), **columns)


def _caption(name: str, scores: Floats) -> str:
    if np.isnan(scores).all():
        return "Not run yet for these rows: press Run."
    best = structures()[int(np.argmax(scores))].free_parameters
    winner = "the true one wins" if rank(scores) == 1 else f"the winner has {best} parameters"
    return f"True structure: rank {rank(scores)}; {winner}."


class Ranks:
    """Rank of the true structure against the rows of data, ours beside the thesis'.

    Attributes
    ----------
    widget : what to display
    sets : the slider, number of data sets
    runner : Run, Stop and progress; `run_now()` runs at once
    found : data set -> {rows: {score: rank}}, as far as they are run
    ours, theirs : the `Panel`s, with sources "ranks" and "printed_ranks"
    """

    def __init__(self, *, sizes: Sequence[int] = SIZES) -> None:
        self._sizes = sizes
        self.found: dict[int, dict[int, dict[str, int]]] = {}
        self.sets = size_slider("data sets", SETS, 1)
        self.ours = Panel(_ranks(sizes, self._medians(), "ranks", "Ours"), self._caption())
        printed = {
            name: np.array([PRINTED_RANKS[n][name] for n in SIZES], float) for name in RANKED
        }
        self.theirs = Panel(
            _ranks(SIZES, printed, "printed_ranks", "Thesis, Table 6.1"),
            "One data set, three restarts of each climb.",
        )
        self.runner = Runner(
            self._work,
            self._finish,
            look=lambda done, total, snapshot: self._look(snapshot),
            unit="sizes",
        )
        self.widget = stacked(
            side_by_side(self.sets, self.runner), side_by_side(self.ours, self.theirs)
        )

    def _work(self, progress: Progress) -> dict[int, dict[int, dict[str, int]]]:
        seeds = range(SEED, SEED + self.sets.value)
        found: dict[int, dict[int, dict[str, int]]] = {}
        total, done = len(seeds) * len(self._sizes), 0
        for seed in seeds:
            found[seed] = {}
            for n in self._sizes:
                found[seed][n] = {name: rank(scores) for name, scores in scored(n, seed).items()}
                done += 1
                if progress(done, total, {key: dict(value) for key, value in found.items()}):
                    continue
                return found
        return found

    def _medians(self) -> dict[str, Floats]:
        medians = {}
        for name in RANKED:
            of_size = [
                [known[n][name] for known in self.found.values() if n in known] for n in self._sizes
            ]
            medians[name] = np.array([np.median(r) if r else np.nan for r in of_size])
        return medians

    def _caption(self) -> str:
        whole = sum(len(known) == len(self._sizes) for known in self.found.values())
        if not self.found:
            return "Not run yet: press Run."
        return f"{whole} complete data sets, medians. Rank 1: the true structure scores highest."

    def _finish(self, found: dict[int, dict[int, dict[str, int]]]) -> None:
        self.found = found
        self.ours.show(_ranks(self._sizes, self._medians(), "ranks", "Ours"), self._caption())

    def _look(self, found: dict[int, dict[int, dict[str, int]]]) -> None:
        self.found = found
        columns = plots.log_curves_data(self._sizes, self._medians())
        self.ours.update(self._caption(), ranks=columns)


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
