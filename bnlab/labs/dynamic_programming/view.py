"""The lattice step by step, twenty variables at once, and what that costs."""

import tracemalloc
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import Panel, choice, side_by_side, size_slider
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.plots.diagrams import Link, set_name
from bnlab.plots.series import Curves

MAX_PARENTS = 3
SIZES = tuple(range(8, 19))  # measured
TARGET = 22  # predicted
MILLISECONDS_A_STEP = 900  # of Play
NO_ROWS = "none: every family weighs 1"

Measured = list[tuple[int, float, int]]
"""Number of variables, seconds and bytes."""


class Relative(NamedTuple):
    """Weights of families, and alpha, g and b, in units of the graph without arrows."""

    beta: tuple[dict[int, float], ...]  # of each variable: parent mask -> beta_v(G) / beta_v({})
    alpha: Floats  # (n, 2**n), nan where the set holds the variable itself
    forward: Floats  # (2**n,), g
    backward: Floats  # (2**n,), b

    @property
    def shares(self) -> Floats:
        """(n, 2**n): the posterior probability that exactly the set S comes before v."""
        out = np.zeros(self.alpha.shape)
        for v, s in links(len(out)):
            out[v, s] = self.forward[s] * self.alpha[v, s] * self.backward[s | 1 << v]
        out /= self.forward[-1]
        return out


class Step(NamedTuple):
    """One value filled in: which, from what, and the term of the recurrence with its numbers."""

    phase: str  # "alpha", "g", "b" or "shares"
    text: str  # the term
    now: int | None = None  # mask of the set whose box is worked on
    used: tuple[int, ...] = ()  # masks of the sets whose values it takes
    links: tuple[Link, ...] = ()  # the links (v, S) that it fills in or takes


def relative(table: bn.ScoreTable) -> Relative:
    """The lattice of a table, in units of the weight of the graph without arrows."""
    lattice = bn.order_lattice(table)
    nothing = table.log_phi[:, 0]  # the first family of each row has no parents
    n = table.n
    inside = ((np.arange(1 << n) >> np.arange(n)[:, None]) & 1) * nothing[:, None]
    alpha = np.exp(lattice.log_alpha - nothing[:, None])
    alpha[np.isneginf(lattice.log_alpha)] = np.nan
    weights = np.exp(table.log_phi - nothing[:, None])
    return Relative(
        tuple(
            dict(zip(masks.tolist(), row.tolist(), strict=True))
            for masks, row in zip(table.parents, weights, strict=True)
        ),
        alpha,
        np.exp(lattice.log_forward - inside.sum(axis=0)),
        np.exp(lattice.log_backward - nothing.sum() + inside.sum(axis=0)),
    )


def links(n: int) -> list[Link]:
    """All links (v, S) of the lattice, by the size of S."""
    found = [(v, s) for s in range(1 << n) for v in range(n) if not s >> v & 1]
    return sorted(found, key=lambda link: link[1].bit_count())


def steps(values: Relative, names: Sequence[str]) -> list[Step]:
    """Every step of the dynamic program: alpha, then g from the bottom, then b from the top."""
    by_size = sorted(range(1 << len(names)), key=int.bit_count)
    text = (
        f"g at the top = b at the bottom = {number(values.forward[-1])}, the sum over all orders "
        "and graphs. Each link is now as wide as the probability that an order takes it: "
        "g(S) · α_v(S) · b(S with v) / total."
    )
    return [
        *(_alpha_step(values, names, link) for link in links(len(names))),
        *(_sum_step(values, names, "g", s) for s in by_size),
        *(_sum_step(values, names, "b", s) for s in reversed(by_size)),
        Step("shares", text),
    ]


def _alpha_step(values: Relative, names: Sequence[str], link: Link) -> Step:
    v, s = link
    families = sorted((mask for mask in values.beta[v] if mask & ~s == 0), key=int.bit_count)
    terms = " + ".join(f"β({set_name(mask, names)})" for mask in families)
    numbers = " + ".join(number(values.beta[v][mask]) for mask in families)
    text = f"α_{names[v]}({set_name(s, names)}) = {terms} = {numbers}"
    if len(families) > 1:
        text += f" = {number(values.alpha[link])}"
    return Step("alpha", text, None, tuple(families), (link,))


def _sum_step(values: Relative, names: Sequence[str], letter: str, s: int) -> Step:
    """One sum over the links below (g) or above (b) the set s, in letters and in numbers."""
    up = letter == "g"
    known, head = values.forward if up else values.backward, f"{letter}({set_name(s, names)})"
    taken = [(v, s & ~(1 << v)) for v in range(len(names)) if bool(s >> v & 1) == up]
    used = [below if up else s | 1 << v for v, below in taken]
    if not taken:
        why = "nothing is placed, in one way" if up else "nothing is left to place"
        return Step(letter, f"{head} = 1: {why}.", s)
    terms, numbers = [], []
    for (v, below), other in zip(taken, used, strict=True):
        terms.append(f"α_{names[v]}({set_name(below, names)}) · {letter}({set_name(other, names)})")
        numbers.append(f"{number(values.alpha[v, below])} · {number(known[other])}")
    text = f"{head} = {' + '.join(terms)} = {' + '.join(numbers)} = {number(known[s])}"
    return Step(letter, text, s, tuple(used), tuple(taken))


def number(value: float) -> str:
    """Four digits, without the zeros of an exponent."""
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e")


class Walk(View):
    """The lattice of the first 3 or 4 variables of a table, filled in step by step.

    Controls `variables`, `rows` and `step`, the number of steps done; buttons `back`, `forth` and
    `play`; panel `panel`.

    Parameters
    ----------
    data : a table of at least 4 variables
    """

    def __init__(self, data: bn.Data) -> None:
        self._data = data
        place = widgets.IntSlider(description="steps done", style={"description_width": "initial"})
        place.layout.width = "420px"
        self.play = widgets.Play(interval=MILLISECONDS_A_STEP, description="Play")
        self.back = widgets.Button(description="Back", icon="step-backward")
        self.forth = widgets.Button(description="Step", icon="step-forward", button_style="primary")
        for button, by in ((self.back, -1), (self.forth, 1)):
            button.layout.width = "90px"
            button.on_click(lambda _, by=by: self.move(by))
        self._tied = widgets.jslink((self.play, "value"), (place, "value"))
        variables = choice("variables", ["3", "4"])
        rows = choice("data", [NO_ROWS, f"{data.m} rows"])
        place.max = self.play.max = len(filled(data, variables.value, rows.value)[1])
        super().__init__(variables=variables, rows=rows, step=place)

    def arrange(self) -> list[Any]:
        """Return what to display; the term stands over the picture: read it first."""
        variables, rows, step = self.controls.values()
        (panel,) = self.panels.values()
        panel.children = panel.children[::-1]
        panel.children[0].layout.min_height = "66px"
        buttons = side_by_side(self.back, self.forth, self.play, step)
        return [side_by_side(variables, rows), buttons, panel]

    @property
    def filled(self) -> tuple[Relative, list[Step]]:
        """The lattice of the variables and rows chosen, and all steps towards it."""
        return filled(self._data, self.controls["variables"].value, self.controls["rows"].value)

    def move(self, by: int) -> None:
        """Go forward (or back) by a number of steps, as far as there are steps."""
        step = self.controls["step"]
        step.value = min(max(step.value + by, 0), step.max)

    def settle(self, moved: str) -> None:
        """Keep the share of the steps that is done."""
        step = self.controls["step"]
        if moved != "step":
            share_done, most = step.value / step.max, len(self.filled[1])
            step.max = self.play.max = most
            step.value = round(share_done * most)

    def draw(self, variables: str, rows: str, step: int) -> Board:
        """The lattice as far as it is filled in, and the last term."""
        names = self._data.names[: int(variables)]
        values, every = filled(self._data, variables, rows)
        alpha = np.full(values.alpha.shape, np.nan)
        g, b = np.full((2, 1 << len(names)), np.nan)
        for done in every[:step]:
            if done.phase == "alpha":
                alpha[done.links[0]] = values.alpha[done.links[0]]
            elif done.now is not None:
                cells, known = (g, values.forward) if done.phase == "g" else (b, values.backward)
                cells[done.now] = known[done.now]
        now = every[step - 1] if step else Step("", "Nothing is filled in yet. Press Step.")
        shares = values.shares if now.phase == "shares" else None
        last: dict[str, Any] = {"now": now.now, "used": now.used, "links": now.links}
        picture = plots.lattice(names, alpha, g, b, shares=shares, **last)
        phase = {"alpha": "α, link by link", "g": "g, upward", "b": "b, downward"}
        head = f"Step {step} of {len(every)} ({phase.get(now.phase, 'all')}). "
        return {"panel": (picture, (head if now.phase else "") + now.text)}


@cache
def filled(data: bn.Data, variables: str, rows: str) -> tuple[Relative, list[Step]]:
    """Return the lattice of the first variables, given all rows or none, and its steps."""
    few = data.select(data.names[: int(variables)]).prefix(0 if rows == NO_ROWS else data.m)
    values = relative(bn.score_families(few, bn.BDeu(ess=1.0), max_parents=few.n - 1))
    return values, steps(values, few.names)


def counts_panel(counts: Curves) -> Panel:
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


class FullSpeed(Experiment):
    """The exact posterior of the first n variables of a table, with Run and Stop.

    Control `size`, the number of variables; panel `panel`. `found` is the `OrderPosterior`, None
    before it and `bn.Stopped` without it.
    """

    def __init__(self, data: bn.Data, *, start: int = 20, most: int = TARGET) -> None:
        self._data = data
        sizes = range(4, min(most, data.n) + 1)
        super().__init__(size=size_slider("variables", sizes, min(start, data.n)))

    @property
    def posterior(self) -> bn.OrderPosterior | None:
        """The last that was found, of whatever size."""
        return self.latest if isinstance(self.latest, bn.OrderPosterior) else None

    def compute(self, progress: Progress, /, size: int) -> bn.OrderPosterior | bn.Stopped:
        """Return the posterior, or that it was stopped."""
        data = self._data.select(self._data.names[:size])
        table = bn.score_families(data, bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
        try:
            return bn.order_posterior(table, progress=progress)
        except bn.Stopped as stopped:
            return stopped

    def draw(self, found: bn.OrderPosterior | bn.Stopped | None, size: int) -> Board:
        """The edges, if they are there."""
        edges = np.full((size, size), np.nan)
        caption = "Press Run."
        if isinstance(found, bn.Stopped):
            caption = "Stopped: a sum is known when it is done, not before."
        elif found is not None:
            edges, seconds, pairs = found.edges, found.run.seconds, size << size - 1
            caption = (
                f"{size} variables, {self._data.m:,} rows: log p(D) = {found.log_evidence:.2f} "
                f"and {size * (size - 1)} edge probabilities in {seconds:.2g} s, "
                f"{1e9 * seconds / pairs:.3g} ns for each of {pairs:,} links."
            )
        return {"panel": (plots.heat_map(edges, self._data.names[:size]), caption)}


def measure(data: bn.Data, n: int) -> tuple[float, int]:
    """Seconds and most bytes that the exact posterior of the first n variables of a table takes.

    The shortest of up to three runs, so that another program on the machine matters less; then
    one more run in which Python counts its memory.
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


def rate(found: Measured) -> float:
    """Return the seconds for each n * 2**n by the last measurement."""
    n, seconds, _ = found[-1]
    return seconds / (n * 2.0**n)


class Costs(Experiment):
    """Time and memory of the exact posterior against the number of variables.

    Panels `time` and `memory`; `found` is a list of (n, seconds, bytes).

    Parameters
    ----------
    data : a table of at least 18 variables
    seconds, gigabytes : what you expect for 22 variables, or None
    """

    def __init__(
        self, data: bn.Data, *, seconds: float | None = None, gigabytes: float | None = None
    ) -> None:
        self._data, self._guess = data, (seconds, gigabytes)
        super().__init__(nothing=[], unit="sizes")

    @property
    def expected(self) -> tuple[float, int] | None:
        """(seconds, bytes) for 22 variables: seconds by doubling, bytes by the formula."""
        if not self.found:
            return None
        return rate(self.found) * TARGET * 2.0**TARGET, bn.exact.order_posterior_bytes(TARGET)

    def compute(self, progress: Progress, /) -> Measured:
        """Return what 8, 9, ... variables take."""
        measure(self._data, SIZES[0])  # the first call compiles, or reads compiled code
        rows: Measured = []
        for done, n in enumerate(SIZES, 1):
            rows = [*rows, (n, *measure(self._data, n))]
            if not progress(done, len(SIZES), rows):
                break
        return rows

    def draw(self, found: Measured) -> Board:
        """What was measured, the guesses, and the curves that both should lie on."""
        ns, formula = [n for n, _, _ in found], list(range(SIZES[0], 31))
        columns = [seconds for _, seconds, _ in found], [size / 1e9 for *_, size in found]
        points: list[dict[str, Any]] = [{"measured": (ns, values)} for values in columns]
        for known, guess in zip(points, self._guess, strict=True):
            if guess is not None:
                known["your prediction"] = ([TARGET], [guess])
        line, captions = {}, ["Press Run."] * 2
        if self.expected is not None:
            line["c·n·2^n"] = (formula, [rate(found) * n * 2.0**n for n in formula])
            captions = [
                f"n = {ns[-1]} took {columns[0][-1]:.2g} s. Each further variable costs a little "
                f"more than twice as much: {self.expected[0]:.2g} s for n = {TARGET}.",
                f"The dots are what Python counted; the curve is the formula: "
                f"{self.expected[1] / 1e9:.2g} GB for n = {TARGET}.",
            ]
        time = plots.growth(
            line,
            points[0],
            title="Time",
            y_label="time (seconds)",
            x_range=(7, 31),
            y_range=(1e-5, 1e4),
            alt="Seconds against number of variables, on a log scale",
        )
        gigabytes = [bn.exact.order_posterior_bytes(n) / 1e9 for n in formula]
        memory = plots.growth(
            {"8·2^(n-1)·(n+5) bytes": (formula, gigabytes)},
            points[1],
            title="Memory",
            y_label="memory (GB)",
            x_range=(7, 31),
            y_range=(1e-6, 1e3),
            alt="Gigabytes against number of variables, on a log scale, with the formula",
        )
        return {"time": (time, captions[0]), "memory": (memory, captions[1])}
