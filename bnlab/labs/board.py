"""What all labs share: set-up, pictures that stay true, long work with a Stop button, checks.

A lab builds its widget from these parts.

- `setup()` loads BokehJS into the page; each notebook calls it once, in its first cell.
- `Panel(picture, caption)` shows a Bokeh figure from `bnlab.plots` with a caption under it;
  `panel.update(caption, edges=columns)` moves it and `panel.show(picture, caption)` replaces it.
- `choice`, `size_slider`, `side_by_side` and `stacked` make the controls and the layout.
- `Runner(work, finish)` runs long work with a progress bar and a Stop button; an `Experiment`
  is such work on what controls ask for, dropped when one of them is moved.
- `check(title, (hint, test), ...)` is for exercises: it tests properties, not stored numbers.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
from bokeh.core.json_encoder import serialize_json
from bokeh.io import output_notebook
from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.resources import Resources
from jupyter_bokeh import BokehModel

Progress = Callable[[int, int, Any], bool]
"""`progress(done, total, snapshot)`: False asks the work to stop."""

LOOK_EVERY = 0.1  # seconds between looks at the progress of running work


def setup() -> None:
    """Load BokehJS into the notebook. Call it once, in the first cell.

    BokehJS comes from its public address (`BOKEH_RESOURCES=cdn`, the default), which keeps a
    saved notebook small, or from the installed package (`BOKEH_RESOURCES=inline`), which works
    without a network and adds 2.6 MB to the output of this cell.

    Raises
    ------
    ValueError
        If the environment variable BOKEH_RESOURCES is something else.
    """
    mode = os.environ.get("BOKEH_RESOURCES", "cdn")
    if mode not in ("cdn", "inline"):
        raise ValueError(f"BOKEH_RESOURCES={mode!r}: set it to 'cdn' or to 'inline' (no network)")
    output_notebook(Resources(mode=mode, components=["bokeh"]), hide_banner=True)


class Figure(BokehModel):
    """A Bokeh layout as a widget that shows the current data after a reload of the page, too.

    `BokehModel` keeps the picture as it was when it was made, and sends changes only to pages
    that are open; a page that is loaded again asks for the state, which is made afresh here.
    """

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """The state that the front end asks for, with the picture of this moment in it."""
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if "render_bundle" in state:
            state["render_bundle"] = serialize_json(self._model_to_traits(self._model))
        return state

    def show(self, picture: LayoutDOM) -> None:
        """Replace the picture, in pages that are open as well."""
        self._document.remove_on_change(self)
        self.update_from_model(picture)

    def source(self, name: str) -> ColumnDataSource:
        """The ColumnDataSource with this name; a ValueError lists the names there are."""
        found = self._model.select_one({"type": ColumnDataSource, "name": name})
        if found is None:
            names = sorted(s.name for s in self._model.select(ColumnDataSource) if s.name)
            raise ValueError(f"the picture has no source {name!r}; it has {', '.join(names)}")
        return found


class Panel(widgets.VBox):
    """A Bokeh picture with a caption under it; one picture, one idea.

    Parameters
    ----------
    picture
        A Bokeh figure or layout. Its sources that change have names. The text for screen readers
        is part of the picture (`alt=` of `bnlab.plots.canvas`).
    caption
        Plain text: what to see. Screen readers read it out when it changes.

    Examples
    --------
    >>> from bnlab import plots
    >>> panel = Panel(plots.heat_map([[0, 0.9], [0.1, 0]], ["rain", "wet"]), "Two variables.")
    >>> panel.update("More data.", edges=plots.heat_map_data([[0, 1], [0, 0]], ["rain", "wet"]))
    >>> panel.source("edges").data["probability"]
    [1.0, 0.0]
    """

    def __init__(self, picture: LayoutDOM, caption: str = "") -> None:
        self.figure = Figure(picture)
        self._caption = widgets.HTML()
        self._say(caption)
        super().__init__(
            [self.figure, self._caption],
            layout=widgets.Layout(width=f"{picture.width}px", max_width="100%"),
        )

    @property
    def caption(self) -> str:
        """The caption, as it was given."""
        return self._text

    def source(self, name: str) -> ColumnDataSource:
        """The source with this name; a ValueError lists the names there are."""
        return self.figure.source(name)

    def update(self, caption: str | None = None, /, **columns: dict[str, list[Any]]) -> None:
        """Set the columns of named sources, and the caption if one is given.

        Lists, not NumPy arrays, as columns: they arrive in the browser as they are. A page gets
        updates of pictures that it shows; before the first display use `show` instead.
        """
        for name, data in columns.items():
            self.source(name).data = data
        if caption is not None:
            self._say(caption)

    def show(self, picture: LayoutDOM, caption: str = "") -> None:
        """Replace the picture, as when another data set brings other variables."""
        self.figure.show(picture)
        self.layout.width = f"{picture.width}px"
        self._say(caption)

    def _say(self, caption: str) -> None:
        self._text = caption
        self._caption.value = (
            '<p role="status" style="margin:0 4px 8px;line-height:1.35;font-size:14px">'
            f"{escape(caption)}</p>"
        )


def choice(label: str, options: Sequence[str], value: str | None = None) -> widgets.Dropdown:
    """A drop-down list with a readable label. Arrow keys work.

    Examples
    --------
    >>> choice("data set", ["wine", "iris"]).value
    'wine'
    """
    return widgets.Dropdown(
        options=list(options),
        value=options[0] if value is None else value,
        description=label,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="260px", max_width="100%"),
    )


def size_slider(label: str, sizes: Sequence[float], value: float | None = None) -> Any:
    """A slider over a few numbers, evenly spaced; `value` is the number. Arrow keys work.

    Examples
    --------
    >>> size_slider("rows", [0, 10, 100], 10).value
    10
    """
    return widgets.SelectionSlider(
        options=[(f"{size:,}", size) for size in sizes],
        value=sizes[0] if value is None else value,
        description=label,
        continuous_update=False,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="460px", max_width="100%"),
    )


def side_by_side(*parts: widgets.Widget) -> widgets.Box:
    """Parts in a row that wraps in a narrow window."""
    return widgets.Box(
        parts,
        layout=widgets.Layout(display="flex", flex_flow="row wrap", grid_gap="4px 16px"),
    )


def stacked(*parts: widgets.Widget) -> widgets.VBox:
    """Parts one under the other, no wider than the page."""
    return widgets.VBox(parts, layout=widgets.Layout(max_width="100%"))


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


def check(title: str, *properties: tuple[str, Callable[[], object]]) -> bool:
    """Test the properties of an answer in turn, print a verdict, and return whether all hold.

    Parameters
    ----------
    title
        As in "Exercise 1".
    properties
        Pairs (hint, test). A hint finishes the sentence "not yet: ..." and says what to look at;
        it is printed when `test()` is false or raises. Tests come from easy to hard: the
        first one that fails ends the check.

    Examples
    --------
    >>> check("Exercise 1", ("probabilities are at most 1", lambda: 0.5 <= 1))
    Exercise 1: right. 1 of 1 properties hold.
    True
    """
    for passed, (hint, test) in enumerate(properties):
        try:
            holds, problem = bool(test()), ""
        except Exception as error:  # whatever a student's function raises is part of the answer
            holds, problem = False, f" (it raised {type(error).__name__}: {error})"
        if not holds:
            print(f"{title}, not yet: {hint}{problem}. {passed} of {len(properties)} hold so far.")
            return False
    print(f"{title}: right. {len(properties)} of {len(properties)} properties hold.")
    return True
