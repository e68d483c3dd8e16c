"""Long work in a notebook: Run, Stop and progress, and panels that show what is found.

- `Runner(work, finish)` runs the work in a thread, or at once.
- `Experiment` is such work on what controls ask for; its result goes when one of them is moved.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets as widgets
from bokeh.models import LayoutDOM

from bnlab.labs.board import Panel, side_by_side, stacked

Progress = Callable[[int, int, Any], bool]
"""`progress(done, total, snapshot)`: False asks the work to stop."""

LOOK_EVERY = 0.1  # seconds between looks at the progress of running work


class Runner(widgets.VBox):
    """A Run button, a Stop button and a progress bar around one long piece of work.

    A click on Run starts `work` in a thread, so that the page stays alive, and Stop makes the
    next call of its progress function return False. Code that cannot wait (a test, a notebook
    run from top to bottom) calls `run_now()` instead, which does the same at once.

    Parameters
    ----------
    work
        `work(progress)` -> result; hand `progress` on to a package function, which returns what
        it has when told to stop. It runs outside the kernel's main thread: no widgets in it.
    finish
        `finish(result)`, called in the kernel's main thread when the work is over or stopped.
    look
        `look(done, total, snapshot)`, called there up to ten times a second while it runs.
    label
        The text on the Run button.
    unit
        What is counted, as in "draws".

    Examples
    --------
    >>> results = []
    >>> runner = Runner(lambda progress: progress(5, 10, None), results.append)
    >>> runner.run_now(), results
    (True, [True])
    """

    def __init__(
        self,
        work: Callable[[Progress], Any],
        finish: Callable[[Any], None],
        *,
        look: Callable[[int, int, Any], None] | None = None,
        label: str = "Run",
        unit: str = "steps",
    ) -> None:
        self._work, self._finish, self._look, self._unit = work, finish, look, unit
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

    def _progress(self, done: int, total: int, snapshot: Any) -> bool:
        self._latest = (done, total, snapshot)
        return not self._stopping

    async def _run(self) -> Any:
        pending = asyncio.get_running_loop().run_in_executor(None, self._work, self._progress)
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
        self._stopping, self._latest = False, None
        self.run_button.disabled, self.stop_button.disabled = True, False
        self.bar.value, self.status.value = 0, "running"

    def _tell(self, *, looking: bool) -> None:
        if self._latest is None:
            return
        done, total, snapshot = self._latest
        self.bar.max, self.bar.value = total, done
        if not self._stopping:
            self.status.value = f"{done:,} of {total:,} {self._unit}"
        if looking and self._look is not None:
            self._look(done, total, snapshot)

    def _end(self, problem: str = "") -> None:
        self._tell(looking=False)
        self.run_button.disabled, self.stop_button.disabled = False, True
        if problem:
            self.status.value = problem
        elif self._latest is None:
            self.status.value = "done"
        else:
            done, total, _ = self._latest
            ending = "stopped at" if self._stopping else "done:"
            self.status.value = f"{ending} {done:,} of {total:,} {self._unit}"


class Experiment(ABC):
    """Long work on what the controls ask for; its result is dropped when one of them is moved.

    A subclass makes its controls, hands them on to `__init__`, and says what the work is and how
    `found` is shown.

    Parameters
    ----------
    controls
        Widgets with a `value`.
    nothing
        `found` as long as nothing is.
    unit
        What the progress counts.

    Attributes
    ----------
    widget : what to display
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    found : the result so far
    panels : the `Panel`s

    Examples
    --------
    >>> from bnlab import plots
    >>> from bnlab.labs.board import size_slider
    >>> class Powers(Experiment):
    ...     def __init__(self):
    ...         self.base = size_slider("base", [2, 3])
    ...         super().__init__(self.base, nothing=0)
    ...     def _work(self, asked, progress):
    ...         return asked[0] ** 2
    ...     def _pictures(self):
    ...         return [plots.heat_map([[0, 0.9], [0.1, 0]], ["rain", "wet"])]
    ...     def _captions(self):
    ...         return [f"Squared: {self.found}."]
    ...     def _columns(self):
    ...         return [{}]
    >>> powers = Powers()
    >>> result = powers.runner.run_now()
    >>> powers.panels[0].caption
    'Squared: 4.'
    >>> powers.base.value = 3
    >>> powers.panels[0].caption
    'Squared: 0.'
    """

    def __init__(self, *controls: Any, nothing: Any, unit: str = "steps") -> None:
        self._controls, self._nothing = controls, nothing
        self._asked: tuple[Any, ...] = ()
        self.found = nothing
        self.panels = [Panel(*shown) for shown in self._shown()]
        self.runner = Runner(self._run, self._finish, look=self._look, unit=unit)
        for control in controls:
            control.observe(self._drop, "value")
        self.widget = stacked(side_by_side(*controls), self.runner, side_by_side(*self.panels))

    @abstractmethod
    def _work(self, asked: Any, progress: Progress) -> Any:
        """The result for the values of the controls.

        Each `progress(done, total, found)` with more in it brings another `found`: the page may
        still be reading the last one.
        """

    @abstractmethod
    def _pictures(self) -> Sequence[LayoutDOM]:
        """`found`, a picture for each panel."""

    @abstractmethod
    def _captions(self) -> Sequence[str]:
        """What to see in each."""

    @abstractmethod
    def _columns(self) -> Sequence[dict[str, dict[str, list[Any]]]]:
        """Source name -> columns, of each picture, for `found` that grows."""

    def _shown(self) -> Iterable[tuple[LayoutDOM, str]]:
        return zip(self._pictures(), self._captions(), strict=True)

    def _values(self) -> tuple[Any, ...]:
        return tuple(control.value for control in self._controls)

    def _run(self, progress: Progress) -> tuple[tuple[Any, ...], Any]:
        asked = self._asked = self._values()
        return asked, self._work(asked, progress)

    def _finish(self, result: tuple[tuple[Any, ...], Any]) -> None:
        asked, found = result
        self._show(found if asked == self._values() else self._nothing)

    def _drop(self, change: Any) -> None:
        if self.runner.run_button.disabled:
            self.runner.stop()
        self._show(self._nothing)

    def _show(self, found: Any) -> None:
        # A new picture reaches a page that does not show the panel yet; new columns do not.
        self.found = found
        for panel, shown in zip(self.panels, self._shown(), strict=True):
            panel.show(*shown)

    def _look(self, done: int, total: int, found: Any) -> None:
        if found is self.found or self._asked != self._values():
            return
        self.found = found
        for panel, caption, columns in zip(
            self.panels, self._captions(), self._columns(), strict=True
        ):
            panel.update(caption, **columns)
