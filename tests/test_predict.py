"""Predictions: an answer first, then the outcome; never the other way round."""

import re
from typing import Any

import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from bnlab.labs import predict as module
from bnlab.labs.predict import Prediction, predict, review


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is displayed."""
    out: list[Any] = []
    monkeypatch.setattr(module, "display", out.append)
    return out


def text(widget: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", widget.value)).strip()


def answer(asked: Prediction, *values: Any, sure: str = "a guess") -> None:
    for field, value in zip(asked.fields.values(), values, strict=True):
        field.value = value
    asked.sure_choice.value = sure
    asked.commit_button.click()


def test_nothing_is_told_before_the_reader_commits(shown: list[Any]) -> None:
    asked = predict("How many?", parts=["now", "then"])
    asked.reveal(30, 4500)
    review(asked)
    outcome, summary = shown[1:]
    assert "once you have committed" in text(outcome)
    assert "30" not in outcome.value + summary.value
    assert "not committed: 1" in text(summary)
    answer(asked, "30.5", "1,000", sure="certain")
    assert asked.answers == {"now": 30.5, "then": 1000}
    assert text(outcome) == "you outcome now 30.5 30 right then 1,000 4,500 wrong"
    assert "Right: 0 of 1" in text(summary)
    assert "You were certain, and wrong: How many?" in text(summary)


def test_an_answer_stays(shown: list[Any]) -> None:
    asked = predict("How probable?", between=(0, 1))
    answer(asked, "40 %")
    assert asked.answers == {"": 0.4}
    assert asked.commit_button.disabled
    assert all(field.disabled for field in asked.fields.values())


@pytest.mark.parametrize("value", ["", "many", "nan", "1.2", "-0.1", "1e400"])
def test_what_is_no_answer_is_refused(value: str, shown: list[Any]) -> None:
    asked = predict("How probable?", between=(0, 1))
    answer(asked, value)
    assert not asked.answers
    assert "not" in text(shown[0].children[-1])
    answer(asked, "0.5")
    assert asked.answers


@pytest.mark.parametrize(
    ("between", "within", "outcome", "right"),
    [
        ((0, 1), None, 0.59, True),
        ((0, 1), None, 0.61, False),
        ((0, 9), None, 0.53, True),
        ((0, 9), None, 0.56, False),
        ((0, 9), 3, 3.5, True),
        ((0, 9), 3, 3.6, False),
    ],
)
def test_near_enough(
    between: tuple[float, float],
    within: float | None,
    outcome: float,
    right: bool,
    shown: list[Any],
) -> None:
    asked = predict("How much?", between=between)
    answer(asked, "0.5")
    asked.reveal(outcome, within=within)
    assert asked.right("") == right
    assert text(shown[-1]).endswith("right" if right else "wrong")


def test_choices_by_button_and_by_click(shown: list[Any]) -> None:
    source = ColumnDataSource({"x": [0, 1], "y": [0, 1]}, name="nodes")
    picture = figure(width=200, height=200)
    picture.scatter("x", "y", source=source)
    asked = predict("Which one?", options=["left", "right"], picture=(picture, "nodes"))
    asked.commit_button.click()
    assert not asked.answers and "Choose" in text(shown[0].children[-1])
    source.selected.indices = [1]
    assert asked.fields[""].value == "right"
    asked.commit()
    source.selected.indices = [0]
    asked.reveal("right")
    assert asked.answers == {"": "right"} and asked.right("")
    review(asked)
    assert "Right: 1 of 1" in text(shown[-1])


def test_an_outcome_for_each_part(shown: list[Any]) -> None:
    with pytest.raises(ValueError):
        predict("How many?", parts=["now", "then"]).reveal(1)
