"""The widgets of the lab: the lattice step by step, twenty variables at once, what it costs."""

import tracemalloc
from typing import Any

import ipywidgets as widgets
import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.dynamic_programming.terms import Step, relative, steps
from bnlab.labs.running import Progress, Runner
from bnlab.plots.growth import Series

MAX_PARENTS = 3
SIZES = tuple(range(8, 19))  # measured
TARGET = 22  # predicted
MILLISECONDS_A_STEP = 900  # of Play


class Walk:
    """The lattice of the first 3 or 4 variables of a table, filled in step by step.

    Parameters
    ----------
    data
        A table of at least 4 variables.

    Attributes
    ----------
    widget : what to display
    variables, rows : the two lists to choose from
    step : the slider; `step.value` steps are done
    back, forth, play : the buttons
    steps : the list of `Step`
    panel : the `Panel`, with sources "cells" and "links"
    """

    def __init__(self, data: bn.Data) -> None:
        self._data = data
        self.variables = choice("variables", ["3", "4"])
        self.rows = choice("data", ["none: every family weighs 1", f"{data.m} rows"])
        self.step = widgets.IntSlider(
            description="steps done", style={"description_width": "initial"}
        )
        self.step.layout.width = "420px"
        self.play = widgets.Play(interval=MILLISECONDS_A_STEP, description="Play")
        self.back = widgets.Button(description="Back", icon="step-backward")
        self.forth = widgets.Button(description="Step", icon="step-forward", button_style="primary")
        for button in (self.back, self.forth):
            button.layout.width = "90px"
        self.back.on_click(lambda _: self.move(-1))
        self.forth.on_click(lambda _: self.move(1))
        self._prepare()
        self.panel = Panel(plots.lattice(self._names), "")
        self.panel.children = self.panel.children[::-1]  # the term over the picture: read it first
        self.panel.children[0].layout.min_height = "66px"
        self._draw()
        self.variables.observe(self._change, "value")
        self.rows.observe(self._change, "value")
        self.step.observe(lambda _: self._draw(), "value")
        self._tied = widgets.jslink((self.play, "value"), (self.step, "value"))
        self.widget = stacked(
            side_by_side(self.variables, self.rows),
            side_by_side(self.back, self.forth, self.play, self.step),
            self.panel,
        )

    def move(self, by: int) -> None:
        """Go forward (or back) by a number of steps, as far as there are steps."""
        self.step.value = min(max(self.step.value + by, 0), self.step.max)

    def _prepare(self) -> None:
        n = int(self.variables.value)
        data = self._data.select(self._data.names[:n])
        used = data.prefix(0 if self.rows.value.startswith("none") else data.m)
        self._names = data.names
        self.values = relative(bn.score_families(used, bn.BDeu(ess=1.0), max_parents=n - 1))
        self.steps = steps(self.values, self._names)
        self.step.max = self.play.max = len(self.steps)

    def _change(self, change: Any) -> None:
        share_done = self.step.value / self.step.max
        self._prepare()
        if change["owner"] is self.variables:
            self.panel.show(plots.lattice(self._names))
        place = round(share_done * self.step.max)
        if self.step.value == place:
            self._draw()
        self.step.value = place

    def _draw(self) -> None:
        done = self.steps[: self.step.value]
        alpha = np.full(self.values.alpha.shape, np.nan)
        g, b = np.full((2, 1 << len(self._names)), np.nan)
        for step in done:
            if step.phase == "alpha":
                alpha[step.links[0]] = self.values.alpha[step.links[0]]
            elif step.now is not None:
                cells, values = (
                    (g, self.values.forward) if step.phase == "g" else (b, self.values.backward)
                )
                cells[step.now] = values[step.now]
        now = done[-1] if done else Step("", "Nothing is filled in yet. Press Step.")
        shares = self.values.shares if now.phase == "shares" else None
        self.panel.update(
            self._caption(now),
            cells=plots.lattice_cells(self._names, g, b, now=now.now, used=now.used),
            links=plots.lattice_links(self._names, alpha, now=now.links, shares=shares),
        )

    def _caption(self, now: Step) -> str:
        names = {"alpha": "α, link by link", "g": "g, upward", "b": "b, downward"}
        head = f"Step {self.step.value} of {self.step.max}"
        return f"{head} ({names.get(now.phase, 'all')}). {now.text}" if now.phase else now.text


def counts_panel(counts: Series) -> Panel:
    """Numbers of graphs, of sets and the like, against the number of variables."""
    picture = plots.growth(
        counts,
        title="Graphs and sets",
        y_label="how many",
        x_range=(0, 23),
        y_range=(1, 1e100),
        alt="Numbers of graphs and of sets of variables, against the number of variables",
    )
    return Panel(picture, "Sets double with each variable. Graphs outgrow every exponential.")


class FullSpeed:
    """The exact posterior of the first n variables of a table, with Run and Stop.

    Attributes
    ----------
    widget : what to display
    size : the slider; `size.value` is the number of variables
    runner : the `Runner`; `runner.run_now()` waits for the result
    posterior : the last `OrderPosterior`, or None
    panel : the `Panel`, with the source "edges"
    """

    def __init__(self, data: bn.Data, *, start: int = 20, most: int = TARGET) -> None:
        self._data = data
        self.size = size_slider("variables", range(4, min(most, data.n) + 1), min(start, data.n))
        self.posterior: bn.OrderPosterior | None = None
        self.runner = Runner(self._work, self._finish)
        names = data.names[: self.size.value]
        blank = plots.heat_map(np.zeros((len(names), len(names))), names)
        self.panel = Panel(blank, "Press Run.")
        self.widget = stacked(self.size, self.runner, self.panel)

    def _work(self, progress: Progress) -> bn.OrderPosterior | None:
        data = self._data.select(self._data.names[: self.size.value])
        table = bn.score_families(data, bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
        try:
            return bn.order_posterior(table, progress=progress)
        except bn.Stopped:
            return None

    def _finish(self, posterior: bn.OrderPosterior | None) -> None:
        if posterior is None:
            self.panel.update("Stopped: a sum is known when it is done, not before.")
            return
        self.posterior, n = posterior, posterior.table.n
        pairs = n << n - 1
        self.panel.show(
            plots.heat_map(posterior.edges, posterior.table.names),
            f"{n} variables, {self._data.m:,} rows: log p(D) = {posterior.log_evidence:.2f} and "
            f"{n * (n - 1)} edge probabilities in {posterior.run.seconds:.2g} s, "
            f"{1e9 * posterior.run.seconds / pairs:.3g} ns for each of {pairs:,} links.",
        )


def measure(data: bn.Data, n: int) -> tuple[float, int]:
    """Seconds and most bytes that the exact posterior of the first n variables of a table takes.

    The shortest of up to three runs, so that another program on the machine matters less; then
    one more run in which Python counts its memory.

    Examples
    --------
    >>> data = bn.load_dataset("tic_tac_toe")
    >>> measure(data, 10)[1] > bn.exact.order_posterior_bytes(10)
    True
    """
    few = data.select(data.names[:n])
    table = bn.score_families(few, bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    repeats = 3 if n <= 16 else 1
    seconds = min(bn.order_posterior(table).run.seconds for _ in range(repeats))
    tracemalloc.start()
    try:
        bn.order_posterior(table)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return seconds, peak


class Costs:
    """Time and memory of the exact posterior against the number of variables.

    Parameters
    ----------
    data
        A table of at least 18 variables.
    seconds, gigabytes
        What you expect for 22 variables, or None.

    Attributes
    ----------
    widget : what to display
    runner : the `Runner`; `runner.run_now()` waits for the result
    measured : list of (n, seconds, bytes)
    expected : (seconds, bytes) for 22 variables: seconds by doubling, bytes by the formula
    time, memory : the two `Panel`s, with sources "curves" and "points"
    """

    def __init__(
        self, data: bn.Data, *, seconds: float | None = None, gigabytes: float | None = None
    ) -> None:
        self._data, self._guess = data, (seconds, gigabytes)
        self.measured: list[tuple[int, float, int]] = []
        self.expected: tuple[float, int] | None = None
        self.runner = Runner(
            self._work, self._finish, look=lambda _, __, rows: self._move(rows), unit="sizes"
        )
        self.time, self.memory = (Panel(picture, "Press Run.") for picture in self._pictures([]))
        self.widget = stacked(self.runner, side_by_side(self.time, self.memory))

    def _work(self, progress: Progress) -> list[tuple[int, float, int]]:
        measure(self._data, SIZES[0])  # the first call compiles, or reads compiled code
        rows: list[tuple[int, float, int]] = []
        for done, n in enumerate(SIZES, 1):
            rows.append((n, *measure(self._data, n)))
            if not progress(done, len(SIZES), list(rows)):
                break
        return rows

    def _finish(self, rows: list[tuple[int, float, int]]) -> None:
        self.measured = rows
        n, seconds, _ = rows[-1]
        rate = seconds / (n * 2.0**n)
        self.expected = rate * TARGET * 2.0**TARGET, bn.exact.order_posterior_bytes(TARGET)
        time, memory = self._pictures(rows, rate)
        self.time.show(
            time,
            f"n = {n} took {seconds:.2g} s. Each further variable costs a little more than twice "
            f"as much: {self.expected[0]:.2g} s for n = {TARGET}.",
        )
        self.memory.show(
            memory,
            f"The dots are what Python counted; the curve is the formula: "
            f"{self.expected[1] / 1e9:.2g} GB for n = {TARGET}.",
        )

    def _move(self, rows: list[tuple[int, float, int]]) -> None:
        for panel, points in zip((self.time, self.memory), self._points(rows), strict=True):
            panel.update(points=plots.growth_points(points))

    def _points(self, rows: list[tuple[int, float, int]]) -> tuple[Series, Series]:
        ns = [n for n, _, _ in rows]
        measured = [seconds for _, seconds, _ in rows], [peak / 1e9 for _, _, peak in rows]
        time, memory = (
            {"measured": (ns, values), "your prediction": ([TARGET], [guess])}
            if guess is not None
            else {"measured": (ns, values)}
            for values, guess in zip(measured, self._guess, strict=True)
        )
        return time, memory

    def _pictures(
        self, rows: list[tuple[int, float, int]], rate: float | None = None
    ) -> tuple[Any, Any]:
        """Time and memory, with the extended line once `rate` (seconds / (n 2**n)) is known."""
        ns = list(range(SIZES[0], 31))
        line = {} if rate is None else {"c·n·2^n": (ns, [rate * n * 2.0**n for n in ns])}
        formula = [bn.exact.order_posterior_bytes(n) / 1e9 for n in ns]
        times, peaks = self._points(rows)
        return (
            plots.growth(
                line,
                times,
                title="Time",
                y_label="time (seconds)",
                x_range=(7, 31),
                y_range=(1e-5, 1e4),
                alt="Seconds against number of variables, on a log scale",
            ),
            plots.growth(
                {"8·2^(n-1)·(n+5) bytes": (ns, formula)},
                peaks,
                title="Memory",
                y_label="memory (GB)",
                x_range=(7, 31),
                y_range=(1e-6, 1e3),
                alt="Gigabytes against number of variables, on a log scale, with the formula",
            ),
        )
