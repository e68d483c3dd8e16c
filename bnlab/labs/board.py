"""What all labs share: set-up, pictures that stay true, controls, checks, data sets.

What a lab computes of a data set it computes of a `Case`: a name, or a table of the reader's own.
Results are kept, by the name or by the table itself. Views, and long work with a progress bar and a
Stop button, are in `bnlab.labs.view`.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, wraps
from html import escape
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import ipywidgets as widgets
import numpy as np
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.io import output_notebook
from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.protocol import Protocol
from bokeh.resources import Resources
from IPython.display import display
from jupyter_bokeh import BokehModel

import bnlab as bn
from bnlab.labs import compiling
from bnlab.pages import render
from bnlab.papers.page import Table

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Schedule = bn.Linear | bn.Harmonic
SCHEDULES: Mapping[str, type[Schedule]] = {"linear": bn.Linear, "harmonic": bn.Harmonic}

Case = str | bn.Data
"""A data set by name, or a table of the reader's own."""

DATASETS = ("coronary", "wine", "tic-tac-toe")
"""Data sets of 6, 13 and 10 variables; all of them work without a network."""

Told = Iterator[Any]
"""What a check of an answer yields: a hint, whether its property holds, the next hint, ..."""

OWN = "your table"

MILLISECONDS_A_STEP = 700  # of Play

LIVE, HELD, FADED = "bnlab-live", "bnlab-held", "bnlab-faded"
"""Classes of a widget, of its controls, and of a picture for another setting."""

DEAD = "No kernel behind this: choose Run > Run All Above Selected Cell, then run this cell."

_HYPHEN = re.compile(r"(?<![\w.-])-(?=\d)")  # in place of a minus; axes have a minus


def setup() -> None:
    """Load BokehJS, and compile ahead what the lab needs. Call it once, in the first cell.

    In Google Colab it also asks for widgets of packages other than ipywidgets, which are off there.

    BokehJS comes from its public address (`BOKEH_RESOURCES=cdn`, the default), which keeps a
    saved notebook small, or from the installed package (`BOKEH_RESOURCES=inline`), which works
    without a network and adds 2.6 MB to the output of this cell. BNLAB_COMPILE_AHEAD=0 leaves
    compilation to the cells, and says nothing of it.

    Raises
    ------
    ValueError
        If the environment variable BOKEH_RESOURCES is something else.
    """
    mode = os.environ.get("BOKEH_RESOURCES", "cdn")
    if mode not in ("cdn", "inline"):
        raise ValueError(f"BOKEH_RESOURCES={mode!r}: set it to 'cdn' or to 'inline' (no network)")
    if "google.colab" in sys.modules:
        import_module("google.colab.output").enable_custom_widget_manager()
    output_notebook(Resources(mode=mode, components=["bokeh"]), hide_banner=True)
    display({"text/html": look()}, raw=True)  # type: ignore[no-untyped-call]
    compiling.prepare()


def look() -> str:
    """Return what pages do by themselves."""
    return render("live.html", live=LIVE, held=HELD, faded=FADED, dead=DEAD)


class Figure(BokehModel):
    """A Bokeh layout as a widget that shows the current data after a reload of the page, too.

    `BokehModel` keeps the picture as it was when it was made, and sends changes only to pages
    that are open; here nothing is kept, and a page that asks for the state gets it made afresh.
    """

    _held: list[Any] | None = None

    def get_state(
        self, key: str | Collection[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """The state that the front end asks for, with the picture of this moment in it."""
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if key is None or "render_bundle" in key:
            state["render_bundle"] = serialize_json(self._model_to_traits(self._model))
        return state

    @property
    def picture(self) -> Any:
        """The picture on display."""
        return self._model

    @contextmanager
    def drawn_over(self) -> Iterator[None]:
        """Send what changes in here as one message; nothing if it raises."""
        self._held = []
        try:
            yield
            events = self._held
        finally:
            self._held = None
        if events:
            message = Protocol().create("PATCH-DOC", events)
            for text in (message.header_json, message.metadata_json, message.content_json):
                self.send({"msg": "patch", "payload": text})
            for buffer in message.buffers:
                self.send({"msg": "patch", "payload": json.dumps(buffer.ref)})
                self.send({"msg": "patch"}, [buffer.to_bytes()])

    def _document_patched(self, event: Any) -> None:
        if self._held is None:
            super()._document_patched(event)
        elif event.setter is not self:
            self._held.append(event)

    def _sync_model(self, model: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        """Hear a page, but not that it has put away a picture that was replaced."""
        if content.get("kind") != "RootRemoved":
            super()._sync_model(model, content, buffers)

    def show(self, picture: LayoutDOM) -> None:
        """Replace the picture, in pages that are open as well."""
        self._document.remove_on_change(self)
        self.update_from_model(picture)
        self.send_state("render_bundle")

    def update_from_model(self, model: LayoutDOM) -> None:
        """Take the picture, without a word to pages."""
        self._model = model
        if model.document is None:
            Document().add_root(model)
        self._document.on_change_dispatch_to(self)


class Panel(widgets.VBox):
    """A Bokeh picture with a caption under it; one picture, one idea.

    Parameters
    ----------
    picture : a Bokeh figure or layout. Its sources that change have names. The text for screen
        readers is part of the picture (`alt=` of `bnlab.plots.canvas`).
    caption : plain text: what to see. Screen readers read it out when it changes.
    """

    def __init__(self, picture: LayoutDOM, caption: str = "") -> None:
        self.figure = Figure(picture)
        self._caption = widgets.HTML()
        self.say(caption)
        super().__init__(
            [self.figure, self._caption],
            layout=widgets.Layout(width="min-content", max_width="100%"),  # as wide as the picture
        )

    def source(self, name: str) -> ColumnDataSource:
        """The source with this name; a ValueError lists the names there are."""
        picture = self.figure.picture
        found = picture.select_one({"type": ColumnDataSource, "name": name})
        if found is None:
            names = sorted(each.name for each in picture.select(ColumnDataSource) if each.name)
            raise ValueError(f"the picture has no source {name!r}; it has {', '.join(names)}")
        return found

    def show(self, picture: LayoutDOM, caption: str = "") -> None:
        """Replace the picture, as when another data set brings other variables."""
        self.figure.show(picture)
        self.say(caption)

    def say(self, caption: str) -> None:
        """Replace the caption."""
        self.caption = caption
        self.figure.remove_class(FADED)
        self._caption.value = _told(caption)

    def fade(self, why: str) -> None:
        """Turn the picture grey and say why, until there is another caption."""
        self.figure.add_class(FADED)
        self._caption.value = _told(why) + _told(self.caption)


def _told(text: str) -> str:
    return (
        '<p role="status" style="margin:0 4px 8px;line-height:1.35;font-size:14px">'
        f"{escape(with_minus(text))}</p>"
    )


def with_minus(text: str, /) -> str:
    """Return a text with a minus in place of each hyphen before a number."""
    return _HYPHEN.sub("−", text)


def choice(label: str, options: Sequence[str], value: str | None = None) -> widgets.Dropdown:
    """A drop-down list with a readable label."""
    value = options[0] if value is None else value
    return widgets.Dropdown(options=list(options), value=value, **_labelled(label, "260px"))


def _labelled(label: str, width: str) -> dict[str, Any]:
    """What all controls have: a label that is not cut, and a width if there is room."""
    layout = widgets.Layout(width=width, max_width="100%")
    return {"description": label, "style": {"description_width": "initial"}, "layout": layout}


def stops(sizes: Iterable[int], m: int, /) -> tuple[int, ...]:
    """Return those of the sizes that are below m, and m."""
    return (*(size for size in sizes if size < m), m)


def size_slider(label: str, sizes: Sequence[float], value: float | None = None) -> Any:
    """A slider over a few numbers, evenly spaced; `value` is the number. Arrow keys work.

    It begins with the first number if none is given, and with the last for one that is not there.
    """
    options = [(f"{size:,}", size) for size in sizes]
    value = sizes[0] if value is None else value if value in sizes else sizes[-1]
    return widgets.SelectionSlider(options=options, value=value, **_labelled(label, "460px"))


def step_slider(label: str, value: int, low: int, high: int, width: str = "460px") -> Any:
    """A slider over all numbers from low to high. Arrow keys work."""
    return widgets.IntSlider(value, low, high, **_labelled(label, width))


def offer(slider: Any, sizes: Sequence[float], value: float) -> None:
    """Give a slider of `size_slider` other numbers, and let it stand at this one."""
    with slider.hold_sync():
        slider.options = [(f"{size:,}", size) for size in sizes]
        slider.value = value


def stepper(slider: Any) -> widgets.Box:
    """A slider over steps with the buttons Back and Step, and Play, which goes to its end."""
    place = "index" if isinstance(slider, widgets.SelectionSlider) else "value"
    first, last = (0, len(slider.options) - 1) if place == "index" else (slider.min, slider.max)
    play = widgets.Play(min=first, max=last, interval=MILLISECONDS_A_STEP, description="Play")

    def move(by: int) -> None:
        setattr(slider, place, min(max(getattr(slider, place) + by, first), play.max))

    back = widgets.Button(description="Back", icon="step-backward")
    forth = widgets.Button(description="Step", icon="step-forward", button_style="primary")
    for button, by in ((back, -1), (forth, 1)):
        button.layout.width = "90px"
        button.on_click(lambda _, by=by: move(by))
    widgets.jslink((play, "value"), (slider, place))
    if place == "value":
        widgets.dlink((slider, "max"), (play, "max"))
    return side_by_side(back, forth, play, slider)


def side_by_side(*parts: widgets.Widget) -> widgets.Box:
    """Parts in a row that wraps in a narrow window."""
    return widgets.Box(
        parts, layout=widgets.Layout(display="flex", flex_flow="row wrap", grid_gap="4px 16px")
    )


def stacked(*parts: widgets.Widget) -> widgets.VBox:
    """Parts one under the other, no wider than the page."""
    out = widgets.VBox(parts, layout=widgets.Layout(max_width="100%"))
    return out.add_class(LIVE)


def show(heads: Iterable[str], rows: Iterable[Iterable[Any]], /, form: str = ".2f") -> None:
    """Print rows as lines of text: columns of text to the left, those of numbers to the right.

    Parameters
    ----------
    heads : over the columns; a long one takes several lines
    rows : texts, integers and numbers
    form : of numbers that are no integers
    """
    print(Table.of(heads, rows, form=form).text())


def if_right(answer: Answer, is_right: Callable[[Answer], bool], ours: Answer, /) -> Answer:
    """The student's answer if it is right, else the lab's, so that later cells can run."""
    with suppress(Exception):  # what goes wrong, the check has told
        return answer if is_right(answer) else ours
    return ours


def exercise(properties: int) -> Callable[[Callable[Given, Told]], Callable[Given, bool]]:
    """Make a check of an answer: it prints a verdict, and returns whether all properties hold.

    What is decorated yields a hint and whether its property holds, the next hint and its property,
    and so on; a long hint comes in parts. It finishes the sentence "not yet: ..." and says what to
    look at; it is printed when the property does not hold, or when working it out raises.
    Properties come from easy to hard: the first one that fails ends the check. The docstring begins
    with the title: "Exercise 1: ...". What follows the last property is done for right answers.

    Parameters
    ----------
    properties : how many there are
    """

    def checking(each: Callable[Given, Told]) -> Callable[Given, bool]:
        title = (each.__doc__ or "").partition(":")[0]

        @wraps(each)
        def check_answer(*args: Given.args, **kwargs: Given.kwargs) -> bool:
            return _verdict(title, properties, each(*args, **kwargs))

        return check_answer

    return checking


def _verdict(title: str, properties: int, told: Told) -> bool:
    passed, hint, problem = 0, "", ""
    try:
        for each in told:
            if isinstance(each, str):
                hint += each
            elif not each:
                break
            else:
                passed, hint = passed + 1, ""
                if passed == properties:
                    print(f"{title}: right. {passed} of {properties} properties hold.")
    except Exception as error:  # whatever a student's function raises is part of the answer
        if not hint:
            raise
        stopped = isinstance(error.__cause__, StopIteration)  # it cannot leave a generator
        raised = error.__cause__ if stopped else error
        problem = f" (it raised {type(raised).__name__}: {raised})"
    if hint:
        print(f"{title}, not yet: {hint}{problem}. {passed} of {properties} hold so far.")
    return passed == properties


def title(case: Case, /) -> str:
    """Return what captions call a case."""
    return case if isinstance(case, str) else OWN


@cache
def rows(case: Case, /) -> bn.Data:
    """Return all rows of a case."""
    return bn.load_dataset(case.replace("-", "_")) if isinstance(case, str) else case


@cache
def bdeu_table(
    case: Case, m: int | None = None, *, seed: int | None = None, most: int = 3
) -> bn.ScoreTable:
    """Return the BDeu scores of families of at most so many parents, ess 1, each DAG alike.

    They are given the first m rows, or all (None), which a seed puts in a random order.
    """
    data = rows(case) if seed is None else rows(case).shuffled(np.random.default_rng(seed))
    few = data if m is None else data.prefix(m)
    return bn.score_families(few, bn.BDeu(1.0), max_parents=min(most, data.n - 1))


@cache
def order_posterior(
    case: Case, m: int | None = None, *, seed: int | None = None, most: int = 3
) -> bn.OrderPosterior:
    """Return the exact order-modular posterior given the scores of `bdeu_table`."""
    return bn.order_posterior(bdeu_table(case, m, seed=seed, most=most))


@cache
def dag_posterior(case: Case, m: int | None = None, /) -> bn.DagPosterior:
    """Return the exact posterior that counts each DAG once, given the scores of `bdeu_table`."""
    return bn.dag_posterior(bdeu_table(case, m))


def parent_sets(masks: Iterable[int]) -> tuple[frozenset[int], ...]:
    """Return a DAG, or other masks, as sets of nodes."""
    return tuple(frozenset(bn.graphs.members(mask)) for mask in masks)


def families(table: bn.ScoreTable) -> list[dict[frozenset[int], float]]:
    """Return, for each node, its parent sets and ln of their weights."""
    sets, weights = map(parent_sets, table.parents.tolist()), table.log_phi.tolist()
    return [dict(zip(P, w, strict=True)) for P, w in zip(sets, weights, strict=True)]


def dataset_choice(offered: Sequence[str], data: Any = None) -> widgets.Dropdown:
    """Return the list of the data sets offered, or, not shown, the reader's own table alone."""
    if data is None:
        return choice("data set", offered)
    out = choice("data set", [OWN])
    out.options = [(OWN, data)]
    out.layout.display = "none"
    return out
