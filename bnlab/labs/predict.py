"""Predictions: questions that the reader answers before the outcome is shown.

`guess = predict("How many edges are left?")` asks; the answer counts once it is committed.
`guess.reveal(outcome)`, in a later cell, says nothing until then, so that a notebook run from top
to bottom answers no question for its reader. `review(guess, ...)` tells at the end how well one
did, and where one was sure and wrong.
"""

import base64
import json
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
from bokeh.models import GlyphRenderer, LayoutDOM, TapTool
from IPython.display import display

from bnlab.labs.board import Panel, side_by_side, stacked

SURE = ("a guess", "fairly sure", "certain")
CLOSE = 0.1  # how far off an answer may be: in probability, or as a share of any other number

Answer = float | str


class Prediction:
    """A question, and the answer that its reader commits to.

    Make one with `predict`.

    Attributes
    ----------
    question : str
    answers : name -> number or choice; empty until the reader commits
    sure : one of `SURE`
    outcomes : name -> what came out; empty until `reveal` is called
    """

    def __init__(self, question: str, fields: dict[str, Any], between: tuple[float, float]) -> None:
        self.question, self.fields, self._between = question, fields, between
        self.answers: dict[str, Answer] = {}
        self.outcomes: dict[str, Answer] = {}
        self._within: float | None = None
        self._listeners: list[Callable[[], None]] = []
        self.sure_choice = widgets.ToggleButtons(
            options=SURE, description="How sure?", style={"button_width": "110px"}
        )
        self.commit_button = widgets.Button(description="Commit", button_style="primary")
        self.commit_button.on_click(lambda _: self.commit())
        self._status = widgets.HTML()

    @property
    def sure(self) -> str:
        """How sure the reader is."""
        return str(self.sure_choice.value)

    def commit(self) -> None:
        """Take what the fields hold as the answer, or say what is missing."""
        try:
            answers = {name: self._read(name) for name in self.fields}
        except ValueError as error:
            self._status.value = _paragraph(str(error))
            return
        self.answers = answers
        for field in (*self.fields.values(), self.sure_choice, self.commit_button):
            field.disabled = True
        self._status.value = _paragraph(f"Committed: {_listed(answers)} ({self.sure}).")
        self._tell()

    def reveal(self, *outcome: Answer, within: float | None = None, sealed: str = "") -> None:
        """Show what came out beside the answer, once there is one.

        Parameters
        ----------
        outcome : a number or a choice for each part of the question
        within : how far from it a number may be to count as right; without it 0.1 for a
            probability, and a tenth of the outcome for any other number
        sealed : the outcome, where a learner's copy has it: JSON in base 64, which shows nothing
        """
        outcome = tuple(json.loads(base64.b64decode(sealed))) if sealed else outcome
        self.outcomes = dict(zip(self.fields, outcome, strict=True))
        self._within = within
        waiting = "The outcome stands here once you have committed to an answer."
        shown = widgets.HTML(_paragraph(waiting))
        verdict = {True: "right", False: "wrong"}

        def show() -> None:
            if self.answers:
                rows = [
                    (name, _text(self.answers[name]), _text(value), verdict[self.right(name)])
                    for name, value in self.outcomes.items()
                ]
                shown.value = _table(("", "you", "outcome", ""), rows)

        self.listen(show)
        display(shown)  # type: ignore[no-untyped-call]

    def right(self, name: str) -> bool:
        """Whether the answer of this name is near enough to what came out."""
        answer, outcome = self.answers[name], self.outcomes[name]
        if isinstance(answer, str) or isinstance(outcome, str):
            return answer == outcome
        within = CLOSE if self._between == (0, 1) else CLOSE * abs(outcome)
        return abs(answer - outcome) <= (within if self._within is None else self._within)

    def listen(self, hear: Callable[[], None]) -> None:
        """Call `hear` now, and whenever the answer or the outcome is there."""
        self._listeners.append(hear)
        self._tell()

    def _tell(self) -> None:
        for hear in self._listeners:
            hear()

    def _read(self, name: str) -> Answer:
        value, (least, most) = self.fields[name].value, self._between
        if isinstance(self.fields[name], widgets.RadioButtons):
            if value is None:
                raise ValueError("Choose an answer first.")
            return str(value)
        text = str(value).replace(",", "").replace(" ", "")
        try:
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            what = f"one for {name}" if name else "one"
            raise ValueError(f"{value or 'Nothing'} is not a number: type {what}.") from None
        if not least <= number <= most:
            raise ValueError(f"{value} is not between {least:g} and {most:g}.")
        return number


def predict(
    question: str,
    /,
    *,
    options: Sequence[str] | None = None,
    parts: Sequence[str] = ("",),
    between: tuple[float, float] = (-1e300, 1e300),
    picture: tuple[LayoutDOM, str] | None = None,
) -> Prediction:
    """Ask the reader for a number or a choice, and return what is asked.

    Parameters
    ----------
    question : plain text
    options : what to choose from; without them a number is asked for
    parts : names of several numbers or choices asked for at once
    between : the least and the largest number; (0, 1) for a probability
    picture : a Bokeh figure, and the name of its source with a row for each option in turn: a
        click on a mark chooses it, too
    """
    # Sent whole when the field is left: letters sent one by one can come after the click.
    kind, settings = widgets.Text, {"placeholder": "a number", "continuous_update": False}
    if options is not None:
        kind, settings = widgets.RadioButtons, {"options": options, "index": None}
    look: dict[str, Any] = {"style": {"description_width": "initial"}, **settings}
    fields = {name: kind(description=name, **look) for name in parts}
    asked = Prediction(question, fields, between)
    shown: list[widgets.Widget] = [widgets.HTML(f"<b>{escape(question)}</b>")]
    if picture is not None:
        shown.append(_choose_by_click(*picture, fields[parts[0]]))
    row = side_by_side(asked.sure_choice, asked.commit_button)
    display(stacked(*shown, *fields.values(), row, asked._status))  # type: ignore[no-untyped-call]
    return asked


def review(*asked: Prediction) -> None:
    """Show how well the reader predicted, and where they were sure and wrong."""
    shown = widgets.HTML()

    def show() -> None:
        known = [guess for guess in asked if guess.answers and guess.outcomes]
        rows = [
            (guess.question, _listed(guess.answers), _listed(guess.outcomes), guess.sure)
            for guess in known
        ]
        right = [guess for guess in known if all(map(guess.right, guess.answers))]
        wrong = [guess for guess in known if guess not in right]
        wrong.sort(key=lambda guess: -SURE.index(guess.sure))
        said = f"Right: {len(right)} of {len(known)}; not committed: {len(asked) - len(known)}."
        if wrong and wrong[0].sure != SURE[0]:
            said += f" You were {wrong[0].sure}, and wrong: {wrong[0].question}"
        shown.value = _paragraph(said) + _table(("question", "you", "outcome", "you were"), rows)

    for guess in asked:
        guess.listen(show)
    display(shown)  # type: ignore[no-untyped-call]


def _choose_by_click(picture: LayoutDOM, source: str, field: widgets.RadioButtons) -> Panel:
    def clicked(_attr: str, _old: list[int], new: list[int]) -> None:
        if new and not field.disabled:
            field.index = new[0]

    marks = [drawn for drawn in picture.select(GlyphRenderer) if drawn.data_source.name == source]
    picture.add_tools(TapTool(renderers=marks))
    panel = Panel(picture)
    panel.source(source).selected.on_change("indices", clicked)
    return panel


def _paragraph(text: str) -> str:
    return f'<p role="status" style="margin:0 4px 8px;line-height:1.35">{escape(text)}</p>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    told = ""
    for row in (header, *rows):
        tags = [(text, "th" if row is header and text else "td") for text in row]
        look = 'style="padding:0 12px 0 4px"'
        told += f"<tr>{''.join(f'<{tag} {look}>{escape(text)}</{tag}>' for text, tag in tags)}</tr>"
    return f'<div role="status"><table>{told}</table></div>'


def _text(value: Answer) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _listed(values: dict[str, Answer]) -> str:
    return ", ".join(f"{name} {_text(value)}".strip() for name, value in values.items())
