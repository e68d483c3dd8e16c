"""The analysis of the table on display, with a Stop button, and who wants to know of it."""

from collections.abc import Callable
from html import escape

import ipywidgets as widgets
import numpy as np

from bnlab.labs.board import stacked
from bnlab.labs.running import Progress, Runner
from bnlab.labs.your_own_data.table import Table
from bnlab.reports import Analysis, Plan, Reading, analyse, choose_method
from bnlab.running import Stopped

SEED = 1
SECONDS = 30.0  # for an analysis
CHANGED = "The table has changed: press Analyse."
EARLIER = "What follows is the analysis of the table before."

CODE = """\
import numpy as np
import bnlab as bn
from bnlab.reports import analyse, choose_method, read_table

reading = {read}
how = {how}
plan = choose_method(reading.data, **how)
analysis = analyse(reading.data, rng=np.random.default_rng({seed}), plan=plan)
"""

Watcher = Callable[[Analysis], None]


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
    code : the Python that does the last analysis again
    notice : for widgets that show the analysis: it says so when the table has changed since
    """

    def __init__(self, table: Table, /, *, seconds: float = SECONDS) -> None:
        self._table, self._seconds = table, seconds
        self._watchers: list[Watcher] = []
        self.reading: Reading | None = None
        self.analysis: Analysis | None = None
        self.code = ""
        self._told, self.notice = widgets.HTML(), widgets.HTML()
        self._tables = 0  # chosen for
        self.runner = Runner(
            self._work, self._finish, label="Analyse", setting=lambda: self._tables
        )
        self.widget = stacked(self._told, self.runner)
        self._choose(table.reading)
        table.watch(self._choose)

    def watch(self, watcher: Watcher, /) -> None:
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

    def _work(self, progress: Progress) -> tuple[Reading, Analysis, str] | None:
        reading, plan, rng = self._table.reading, self.plan, np.random.default_rng(SEED)
        how = {"method": plan.method, "max_parents": plan.max_parents, "seconds": self._seconds}
        code = CODE.format(read=self._table.code, how=how, seed=SEED)
        try:
            return reading, analyse(reading.data, rng=rng, plan=plan, progress=progress), code
        except Stopped:
            return None

    def _finish(self, result: tuple[Reading, Analysis, str] | None) -> None:
        if result is None:
            return
        self.reading, self.analysis, self.code = result
        if self.reading is self._table.reading:
            self._told.value = plan_html(self.analysis.plan, "", self.analysis.warnings)
            self.notice.value = ""
        else:
            self._wait()
        for watcher in self._watchers:
            watcher(self.analysis)


def status_html(text: str, /) -> str:
    """A line that screen readers read out."""
    return f'<p role="status"><b>{escape(text)}</b></p>'


def plan_html(plan: Plan, waiting: str, warnings: tuple[str, ...] = (), /) -> str:
    """A plan in words: method, why, guarantee, and what to beware of."""
    parts = [f"<p><b>Method: {escape(plan.method)}.</b> {escape(' '.join(plan.why))}</p>"]
    parts.append(f"<p><b>Guarantee.</b> {escape(' '.join(plan.guarantee))}</p>")
    if plan.rejected:
        why_not = "; ".join(f"{method}: {reason}" for method, reason in plan.rejected)
        parts.append(f"<p><b>Not taken.</b> {escape(why_not)}.</p>")
    parts += [f'<p role="alert"><b>Beware.</b> {escape(warning)}</p>' for warning in warnings]
    if waiting:
        parts.append(status_html(waiting))
    return f'<div style="line-height:1.4;max-width:46em">{"".join(parts)}</div>'
