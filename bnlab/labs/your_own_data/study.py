"""The table: chosen, read, shown, read again when a control moves, and analysed.

Those who want to know of a new reading or analysis watch. A garden is the table to begin with.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

import ipywidgets as widgets
import numpy as np

from bnlab.data import Discretizer, EqualFrequency, EqualWidth
from bnlab.data.text import Missing
from bnlab.diagnostics import rhat
from bnlab.labs.board import choice, show, side_by_side, size_slider, stacked
from bnlab.labs.view import Progress, Runner
from bnlab.pages import Cell, html
from bnlab.reports import Analysis, Plan, Reading, analyse, choose_method, read_table
from bnlab.running import Stopped

AS_PROPOSED = "as proposed"
RULES: dict[str, Callable[[int], Discretizer]] = {
    "equally full levels": EqualFrequency,
    "equally wide levels": EqualWidth,
}
MISSING: dict[str, Missing] = {
    "average over them": "keep",
    "leave the row out": "drop",
    "a level of its own": "level",
}
BINS = (2, 3, 4, 5)
MOST_LEVELS = 6  # shown
LEFT = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;line-height:1.35;max-width:26em"

GARDEN_ROWS = 240
GARDEN_SEED = 9

SEED = 1
CHAINS = 4
SECONDS = 30.0  # for an analysis
CHANGED = "The table has changed: press Analyse."
EARLIER = "What follows is the analysis of the table before."

_HEADER = ("plot", "soil", "slugs", "water", "growth", "flowers", "bees")
_SLUGS = ("none", "few", "many")
_GAPS = 3  # missing cells of water, and of growth
_BEST_WATER = (3.5, 6.5)  # litres: less or more is bad for growth
Gaps = Literal["flowers", "chance", "clay"]


class Table:
    """A table of data, by name or uploaded, with what was read and controls to change it.

    Parameters
    ----------
    path : of a CSV file
    options : for `read_table`, where it asks for something to be said

    Attributes
    ----------
    widget : what to display
    upload : the button that takes a file from the reader's own machine
    rule, bins : how measurements are cut
    missing : what becomes of rows with missing cells
    status : what went wrong, if something did; the reading is then that of before
    reading : the `Reading`
    """

    def __init__(self, path: str | Path, options: Mapping[str, Any] | None = None, /) -> None:
        self._watchers: list[Callable[[Reading], None]] = []
        self.upload = widgets.FileUpload(
            description="Another file", layout=widgets.Layout(width="160px")
        )
        self.rule = choice("measurements", [AS_PROPOSED, *RULES])
        self.bins = size_slider("levels", BINS, 3)
        self.bins.layout.width = "260px"
        self.missing = choice("missing cells", [AS_PROPOSED, *MISSING])
        self.status = widgets.HTML()
        self._shown = widgets.HTML()
        self._read(Path(path), dict(options or {}))
        self.upload.observe(self._take, "value")
        for control in (self.rule, self.bins, self.missing):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.upload, self.rule, self.bins, self.missing), self.status, self._shown
        )

    def watch(self, watcher: Callable[[Reading], None], /) -> None:
        """Call `watcher(reading)` whenever the table is read anew."""
        self._watchers.append(watcher)

    def use(self, path: str | Path, options: Mapping[str, Any] | None = None, /) -> None:
        """Read another file; if it cannot be read, `status` says why and nothing changes."""
        try:
            self._read(Path(path), dict(options or {}))
        except (ValueError, OSError) as error:
            self.status.value = f'<p role="alert"><b>Not read:</b> {escape(str(error))}</p>'
            return
        for watcher in self._watchers:
            watcher(self.reading)

    def _take(self, change: Any) -> None:
        for file in change["new"]:
            folder = tempfile.mkdtemp(prefix="bnlab-upload-")
            path = Path(folder, Path(file["name"]).name)
            path.write_bytes(bytes(file["content"]))
            self.use(path)

    def _change(self, change: Any) -> None:
        self.bins.disabled = self.rule.value == AS_PROPOSED
        self.use(self._path, self._options)

    def _read(self, path: Path, given: dict[str, Any]) -> None:
        options = dict(given)
        if self.rule.value != AS_PROPOSED:
            options["discretize"] = RULES[self.rule.value](self.bins.value)
        if self.missing.value != AS_PROPOSED:
            options["missing"] = MISSING[self.missing.value]
        self.reading = read_table(path, **options)
        self._path, self._options = path, given
        self.status.value = ""
        self.bins.disabled = self.rule.value == AS_PROPOSED
        self._shown.value = reading_html(self.reading)


def reading_html(reading: Reading, /) -> str:
    """What was read, as a table: a row for each column of the file."""
    rows: list[list[Cell]] = []
    for column in reading.columns:
        pairs = list(zip(column.levels, column.counts, strict=True))
        levels = ", ".join(f"{level} ({count:,})" for level, count in pairs[:MOST_LEVELS])
        more = f" and {len(pairs) - MOST_LEVELS} more" if len(pairs) > MOST_LEVELS else ""
        rows.append([column.name, column.role, levels + more, column.missing, column.note])
    heads = ("column", "role", "levels (rows)", "missing", "what was done")
    summary = (
        f"{Path(reading.source).name}: {reading.data.n} variables, {reading.rows_kept:,} of "
        f"{reading.rows_read:,} rows kept."
    )
    return f'<p role="status">{escape(summary)}</p>{table_html(heads, rows, LEFT)}'


def table_html(heads: Sequence[str], rows: Iterable[Sequence[Cell]], style: str, /) -> str:
    """A table, all cells in one style; the first column heads the rows."""
    head = "".join(f'<th scope="col" style="{style}">{html(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row" style="{style}">{html(row[0])}</th>'
        + "".join(f'<td style="{style}">{html(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        '<table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


class Study:
    """The method chosen for a table, why, and a button that runs it.

    Parameters
    ----------
    table : `Table`
    seconds : for an analysis, about

    Attributes
    ----------
    widget : what to display
    plan : the `Plan` for the table on display
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    reading, analysis : the last that was analysed, or None
    notice : for widgets that show the analysis: it says so when the table has changed since
    """

    def __init__(self, table: Table, /, *, seconds: float = SECONDS) -> None:
        self._table, self._seconds = table, seconds
        self._watchers: list[Callable[[Analysis], None]] = []
        self.reading: Reading | None = None
        self.analysis: Analysis | None = None
        self._told, self.notice = widgets.HTML(), widgets.HTML()
        self._tables = 0  # chosen for
        self.runner = Runner(
            self._work,
            self._finish,
            given=lambda: (self._table.reading, self.plan),
            label="Analyse",
            setting=lambda: self._tables,
        )
        self.widget = stacked(self._told, self.runner)
        self._choose(table.reading)
        table.watch(self._choose)

    def watch(self, watcher: Callable[[Analysis], None], /) -> None:
        """Call `watcher(analysis)` after every analysis, and now if there is one."""
        self._watchers.append(watcher)
        if self.analysis is not None:
            watcher(self.analysis)

    def done(self) -> Analysis:
        """The last analysis; a ValueError if there is none."""
        if self.analysis is None:
            raise ValueError("nothing is analysed yet: press Analyse, or study.runner.run_now()")
        return self.analysis

    def _choose(self, reading: Reading) -> None:
        self.plan = choose_method(reading.data, seconds=self._seconds)
        self._tables += 1
        self.runner.turn()
        self._wait()

    def _wait(self) -> None:
        waiting = "" if self.analysis is None else CHANGED
        self._told.value = plan_html(self.plan, waiting)
        self.notice.value = status_html(f"{CHANGED} {EARLIER}") if waiting else ""

    def _work(
        self, reading: Reading, plan: Plan, progress: Progress
    ) -> tuple[Reading, Analysis] | None:
        rng = np.random.default_rng(SEED)
        try:
            return reading, analyse(reading.data, rng=rng, plan=plan, progress=progress)
        except Stopped:
            return None

    def _finish(self, result: tuple[Reading, Analysis] | None) -> None:
        if result is None:
            return
        self.reading, self.analysis = result
        if self.reading is self._table.reading:
            self._told.value = plan_html(self.analysis.plan, "", self.analysis.warnings)
            self.notice.value = ""
        else:
            self._wait()
        for watcher in self._watchers:
            watcher(self.analysis)


def show_answers(decisions: Mapping[str, tuple[Any, ...]], /) -> None:
    """Print the mean and the middle 95 % of each decision's answers, and R-hat if of chains."""
    rows = []
    for name, (answers, origin, *_) in decisions.items():
        low, high = np.quantile(answers, [0.025, 0.975])
        told = f"{rhat(answers.reshape(CHAINS, -1)):.3f}" if origin == "chains" else origin
        rows.append([name, answers.mean(), f"{low:.2f} to {high:.2f}", told])
    show(["decision", "answer", "interval", "R-hat"], rows)


def status_html(text: str, /) -> str:
    """A line that screen readers read out."""
    return f'<p role="status"><b>{escape(text)}</b></p>'


def plan_html(plan: Plan, waiting: str, warnings: tuple[str, ...] = (), /) -> str:
    """A plan in words: method, why, guarantee, and what to beware of."""
    parts = [
        f"<p><b>Method: {escape(plan.method)}.</b> {escape(' '.join(plan.why))}</p>",
        f"<p><b>Guarantee.</b> {escape(' '.join(plan.guarantee))}</p>",
    ]
    if plan.rejected:
        why_not = "; ".join(f"{method}: {reason}" for method, reason in plan.rejected)
        parts.append(f"<p><b>Not taken.</b> {escape(why_not)}.</p>")
    parts += [f'<p role="alert"><b>Beware.</b> {escape(warning)}</p>' for warning in warnings]
    if waiting:
        parts.append(status_html(waiting))
    return f'<div style="line-height:1.4;max-width:46em">{"".join(parts)}</div>'


def write_garden(
    folder: str | os.PathLike[str] | None = None,
    /,
    *,
    rows: int = GARDEN_ROWS,
    seed: int = GARDEN_SEED,
    gaps: Gaps | None = "flowers",
    slugs: str | None = None,
) -> Path:
    """Write garden.csv to a folder, by default a new one, and return its path.

    Semicolons between cells, a number for each plot, measurements, counts and labels. Slugs like
    clay and harm growth, which water helps in the middle of its range only; growth and clay help
    flowers, and these bring bees.

    Parameters
    ----------
    gaps : why the soil of about every third plot is missing: nobody looks where nothing flowers, it
        happens by chance, or clay is not noted. Six other cells are missing as well; with None none
        at all
    slugs : what the slugs of every plot are set to, if somebody sets them
    """
    rng = np.random.default_rng(seed)
    clay = rng.random(rows) < 0.5
    eaten = np.where(
        clay, rng.choice(3, rows, p=[0.1, 0.3, 0.6]), rng.choice(3, rows, p=[0.7, 0.2, 0.1])
    )
    if slugs is not None:
        eaten[:] = _SLUGS.index(slugs)
    water = rng.uniform(0, 10, rows)
    good = (water > _BEST_WATER[0]) & (water < _BEST_WATER[1])
    growth = 12 + 6 * good - 2 * eaten + rng.normal(0, 1.5, rows)
    flowers = rng.random(rows) < 1 / (1 + np.exp(15 - 6 * clay - growth))
    bees = rng.poisson(np.where(flowers, 40.0, 8.0))
    cells = [
        [f"P{i + 1:03d}" for i in range(rows)],
        ["clay" if is_clay else "sand" for is_clay in clay],
        [_SLUGS[level] for level in eaten],
        [f"{litres:.1f}" for litres in water],
        [f"{height:.1f}" for height in growth],
        ["yes" if has else "no" for has in flowers],
        [str(count) for count in bees],
    ]
    if gaps is not None:
        chance = rng.random(rows)
        lost = {
            "flowers": ~flowers & (chance < 0.6),
            "chance": chance < 1 / 3,
            "clay": clay & (chance < 0.6),
        }[gaps]
        some = [rng.choice(rows, _GAPS, replace=False) for _ in range(2)]
        for column, marker, gone in (
            (1, "?", np.flatnonzero(lost)),
            (3, "", some[0]),
            (4, "", some[1]),
        ):
            for row in gone:
                cells[column][row] = marker
    lines = map(";".join, [_HEADER, *zip(*cells, strict=True)])
    path = Path(folder or tempfile.mkdtemp(), "garden.csv")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
