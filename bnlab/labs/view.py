"""Views: controls, and the pictures that a pure function of their values draws.

A widget of a lab is a class with its controls and a method `draw`, which returns fresh pictures
with their captions. When a control moves, what is on display becomes what `draw` returns, so that
nothing can stay stale.
"""

import asyncio
import gc
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import ipywidgets as widgets
from bokeh.core.properties import validate
from bokeh.models import LayoutDOM

from bnlab.checkpoints import FOLDER
from bnlab.labs.board import HELD, Panel, side_by_side, stacked, stepper, title
from bnlab.plots import Differs, Drawing
from bnlab.running import threads_start

Board = Mapping[str, tuple[LayoutDOM, str]]
"""Name -> picture and caption."""

Progress = Callable[[int, int, Any], bool]
"""`progress(done, total, snapshot)`: False asks the work to stop."""

LOOK_EVERY = 0.1  # seconds between looks at the progress of running work


class View(ABC):
    """Controls, and the pictures that `draw` makes of their values.

    A subclass hands its controls on to `__init__` by name. What `draw` needs besides their values
    it sets before.

    Attributes
    ----------
    widget : what to display
    panels : name -> `Panel`; each control and each panel is an attribute, too, by its name
    """

    beside: Sequence[Sequence[str]] = ()  # names of panels, row by row; all in one if not given
    stepped = "step"  # the name of the control over steps, if there is one

    def __init__(self, **controls: Any) -> None:
        self._settling = False
        self.controls = controls
        for name, control in controls.items():
            control.observe(partial(self._move, name), "value")
        vars(self).update(controls)
        with Drawing() as self._drawn:
            board = self.board()
        self.panels = {name: Panel(*shown) for name, shown in board.items()}
        vars(self).update(self.panels)
        self.widget = stacked(*self.arrange())
        gc.collect()
        gc.freeze()  # else a collection passes over all that is loaded, 0.1 s, while one drags

    @abstractmethod
    def draw(self, *args: Any, **values: Any) -> Board:
        """Return fresh pictures and captions for these values of the controls."""

    def settle(self, moved: str) -> None:
        """Bring the other controls in line with the one that has moved."""
        return

    def arrange(self) -> list[Any]:
        """Return what to display, from top to bottom."""
        rows = self.beside or [list(self.panels)]
        panels = [side_by_side(*(self.panels[name] for name in row)) for row in rows]
        controls = [
            stepper(control) if name == self.stepped else control
            for name, control in self.controls.items()
        ]
        return [side_by_side(*controls).add_class(HELD), *panels]

    def values(self) -> dict[str, Any]:
        """Return the values of the controls by name."""
        return {name: control.value for name, control in self.controls.items()}

    def board(self) -> Board:
        """Return fresh pictures and captions."""
        return self.draw(**self.values())

    def show(self, *, anew: bool = False) -> None:
        """Bring all panels up to date, with pictures of their own if `anew`.

        A new picture reaches a page that does not show the panel yet; new columns do not.
        """
        if anew or not self._move_pictures():
            with Drawing() as self._drawn:
                board = self.board()
            for name, shown in board.items():
                self.panels[name].show(*shown)

    def _move_pictures(self) -> bool:
        """Draw over the pictures on display; False if they are of another kind."""
        try:
            with validate(False), ExitStack() as page:  # values of a kind that passed before
                for panel in self.panels.values():
                    page.enter_context(panel.figure.drawn_over())
                with Drawing(self._drawn.made):
                    board = self.board()
        except Differs:
            return False
        for name, (_, caption) in board.items():
            self.panels[name].say(caption)
        return True

    def _move(self, name: str, change: Any) -> None:
        if not self._settling:
            self._settling = True
            try:
                self.settle(name)
            finally:
                self._settling = False
            self.follow()

    def follow(self) -> None:
        """React to controls that have moved."""
        self.show()


class RoundOver(BaseException):
    """A round of `in_rounds` has had its time."""


async def in_rounds(work: Callable[[Progress], Any], progress: Progress, /) -> Any:
    """Do the work without a thread, and let the page have its turn between rounds.

    Each round begins the work anew. Runs with checkpoints go on from there; the rest is done again,
    and a round lasts twice as long as that took, or 0.1 s. `progress` is told each step once.
    """
    last, begun, end = -1, 0.0, math.inf

    def tell(done: int, total: int, snapshot: Any) -> bool:
        nonlocal last, end
        now = time.monotonic()
        if done > last:
            again = now - begun if last >= 0 else 0.0
            end = min(end, now + max(LOOK_EVERY, 2 * again))
            if not progress(done, total, snapshot):
                return False
            if now >= end:
                last = done
                raise RoundOver
        return True

    with TemporaryDirectory() as folder:
        FOLDER.set(folder)  # for this task alone
        while True:
            begun, end = time.monotonic(), math.inf
            try:
                return work(tell)
            except RoundOver:
                await asyncio.sleep(LOOK_EVERY / 10)


class Runner(widgets.VBox):
    """A Run button, a Stop button and a progress bar around one long piece of work.

    A click on Run starts `work` in a thread, or `in_rounds` where none can be started, so that the
    page stays alive, and Stop makes the next call of its progress function return False. Code that
    cannot wait (a test, a notebook run from top to bottom) calls `run_now()` instead, which does
    the same at once.

    Parameters
    ----------
    work : `work(*given, progress)` -> result; hand `progress` on to a package function, which
        returns what it has when told to stop. It runs outside the kernel's main thread: no widgets
        in it. In rounds it is called again and again, and must do the same each time.
    given : `given()` is what the work needs of the widgets, as they stand when it starts
    finish : `finish(result)`, called in the kernel's main thread when the work is over or stopped
    look : `look(done, total, snapshot)`, called there up to ten times a second while it runs
    label : the text on the Run button
    unit : what is counted, as in "draws"
    setting : `setting()` is what the work is done for. Progress of an earlier one says so when
        `turn()` has been called after the change.
    """

    def __init__(
        self,
        work: Callable[..., Any],
        finish: Callable[[Any], None],
        *,
        given: Callable[[], Sequence[Any]] = tuple,
        look: Callable[[int, int, Any], None] | None = None,
        label: str = "Run",
        unit: str = "steps",
        setting: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self._asked_work, self._given, self._finish = work, given, finish
        self._look, self._unit, self.setting = look, unit, setting
        self._told: dict[Hashable, tuple[int, int, str]] = {}  # how runs ended, by their setting
        self._asked: Hashable = None
        self._stopping = False
        self._latest: tuple[int, int, Any] | None = None
        self.task: asyncio.Task[Any] | None = None
        self.run_button = widgets.Button(description=label, button_style="primary", icon="play")
        self.stop_button = widgets.Button(description="Stop", icon="stop", disabled=True)
        self.bar = widgets.IntProgress(layout=widgets.Layout(width="220px"))
        self.status = widgets.Label("")
        self.run_button.on_click(lambda _: self.start())
        self.stop_button.on_click(lambda _: self.stop())
        super().__init__([side_by_side(self.run_button, self.stop_button, self.bar, self.status)])

    def run_now(self) -> Any:
        """Do the work here and now, finish it, and return its result."""
        self._begin()
        try:
            result = self._work(self._progress)
        finally:
            self._end()
        self._finish(result)
        return result

    def start(self) -> "asyncio.Task[Any]":
        """Start the work in a thread and return the task that waits for it."""
        self._begin()
        self.task = asyncio.get_running_loop().create_task(self._run())
        return self.task

    def stop(self) -> None:
        """Ask the work to stop; it ends with what it has."""
        self._stopping = True
        self.status.value = "stopping"

    def turn(self) -> None:
        """Show how the run for the present setting ended, or that of an earlier one, and say so."""
        if not self.run_button.disabled:
            if self.setting() in self._told:
                self._asked = self.setting()
            if self._asked in self._told:
                self.bar.max, self.bar.value, status = self._told[self._asked]
                self.status.value = status + self._of_earlier()

    def _progress(self, done: int, total: int, snapshot: Any) -> bool:
        self._latest = (done, total, snapshot)
        return not self._stopping

    async def _run(self) -> Any:
        loop = asyncio.get_running_loop()
        pending: asyncio.Future[Any] = (
            loop.run_in_executor(None, self._work, self._progress)
            if threads_start()
            else loop.create_task(in_rounds(self._work, self._progress))
        )
        try:
            while not pending.done():
                await asyncio.wait([pending], timeout=LOOK_EVERY)
                self._tell(looking=not pending.done())
            result = pending.result()
        except Exception as error:
            self._end(f"{type(error).__name__}: {error}")
            raise
        self._end()
        self._finish(result)
        return result

    def _begin(self) -> None:
        if self.run_button.disabled:
            raise ValueError("the work is running: press Stop first, or wait for it")
        self._stopping, self._latest, self._asked = False, None, self.setting()
        self._work = partial(self._asked_work, *self._given())
        self.run_button.disabled, self.stop_button.disabled = True, False
        self.bar.value, self.status.value = 0, "running"

    def _tell(self, *, looking: bool) -> None:
        if self._latest is None:
            return
        done, total, snapshot = self._latest
        self.bar.max, self.bar.value = total, done
        if not self._stopping:
            self.status.value = f"{done:,} of {total:,} {self._unit}{self._of_earlier()}"
        if looking and self._look is not None:
            self._look(done, total, snapshot)

    def _end(self, problem: str = "") -> None:
        self._tell(looking=False)
        self.run_button.disabled, self.stop_button.disabled = False, True
        status = problem or "done"
        if self._latest is not None and not problem:
            done, total, _ = self._latest
            ending = "stopped at" if self._stopping else "done:"
            status = f"{ending} {done:,} of {total:,} {self._unit}"
        self._told[self._asked] = self.bar.max, self.bar.value, status
        self.turn()

    def _of_earlier(self) -> str:
        return "" if self._asked == self.setting() else ", for the earlier setting"


class Experiment(View):
    """A view of long work on what the controls ask for.

    When a control is moved, running work is stopped, and the result that is shown turns grey and
    says that it is for the earlier setting. It is back when all controls stand as they did.

    Parameters
    ----------
    nothing : `found` as long as nothing is
    unit : what the progress counts

    Attributes
    ----------
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    found : the result so far for what the controls ask, or `nothing`; `draw` has it first
    """

    def __init__(self, *, nothing: Any = None, unit: str = "steps", **controls: Any) -> None:
        self.found = self._nothing = nothing
        self._asked: Hashable = None
        self._shown_for = ""  # the setting of the result on display, if there is one
        self.results: dict[Hashable, Any] = {}  # of each setting
        how: Any = {"look": self._look, "unit": unit, "setting": self.setting}
        self.runner = Runner(self._run, self._finish, given=self._given, **how)
        super().__init__(**controls)

    @abstractmethod
    def compute(self, progress: Progress, /, *args: Any, **values: Any) -> Any:
        """Return the result for the values of the controls.

        Each `progress(done, total, found)` with more in it brings another `found`: the page may
        still be reading the last one.
        """

    def setting(self) -> Hashable:
        """Return what a result belongs to: the values of the controls."""
        return tuple(self.values().values())

    def arrange(self) -> list[Any]:
        """Return what to display: the runner stands under the controls."""
        controls, *panels = super().arrange()
        return [controls, self.runner, *panels]

    def board(self) -> Board:
        """Return fresh pictures and captions of what is found."""
        return self.draw(self.found, **self.values())

    def follow(self) -> None:
        """Stop work on other values, and show what is known for these."""
        if self.runner.run_button.disabled:
            self.runner.stop()
        self.runner.turn()
        self._present(anew=False)

    def show(self, *, anew: bool = False) -> None:
        """Bring all panels up to date with what is found for these values."""
        super().show(anew=anew)
        said = ", ".join(map(_stand_of, self.controls.values()))
        self._shown_for = "" if self.found is self._nothing else said

    def _present(self, *, anew: bool) -> None:
        known = self.setting() in self.results
        self.found = self.results[self.setting()] if known else self._nothing
        if known or not self._shown_for:
            self.show(anew=anew)
        else:
            press = f"Press {self.runner.run_button.description} for this one."
            for panel in self.panels.values():
                panel.fade(f"For the earlier setting ({self._shown_for}). {press}")

    def _given(self) -> tuple[dict[str, Any]]:
        self._asked = self.setting()
        return (self.values(),)

    def _run(self, values: dict[str, Any], progress: Progress) -> Any:
        return self.compute(progress, **values)

    def _finish(self, found: Any) -> None:
        self.results[self._asked] = found
        self._present(anew=True)

    def _look(self, done: int, total: int, found: Any) -> None:
        if found is None or found is self.found or self._asked != self.setting():
            return
        self.found = found
        self.show()


def _stand_of(control: Any) -> str:
    """Return what a control is called, and where it stands."""
    now = control.value
    return f"{control.description} {f'{now:,}' if isinstance(now, int | float) else title(now)}"
