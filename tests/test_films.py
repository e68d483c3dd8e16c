"""The films in the pages of the labs show what their widgets show today."""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.models import ColumnDataSource
from drawing import AGREE, facts, stale
from films import FILMS, Film, filmed, flat, frame, plain
from stills import STILLS, sources_of

MOST = 200_000  # bytes of a film

pytestmark = pytest.mark.usefixtures("lean")


@pytest.mark.parametrize(
    "film",
    [
        pytest.param(film, id=name, marks=[pytest.mark.slow] if film.slow else [])
        for name, film in FILMS.items()
    ],
)
def test_no_film_is_stale(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(film.file.parents[1])
    kept = unrolled(json.loads(film.file.read_text(encoding="utf-8")))
    for part, value in unrolled(json.loads(json.dumps(filmed(film)))).items():
        old = kept.get(part)
        message = f"make it anew and look at it: tests/films.py {film.name}; {part} is now"
        assert close(old, value), f"{message}\n{value}\nand was\n{old}"


def unrolled(film: dict[str, Any]) -> dict[str, Any]:
    """The parts of a film, its tracks frame by frame."""
    parts = {key: value for key, value in film.items() if key != "tracks"}
    for track in film["tracks"]:
        name = f"{track['model']}.{track['property']}.{track['column']}"
        parts[name] = [track["values"][number] for number in track["frames"]]
    return parts


def close(old: Any, new: Any, off: float = 0.0) -> bool:
    """Whether two parts agree, numbers to what may differ on another processor."""
    if old == new:
        return True
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(close(old[key], new[key], off) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        numbers = [abs(value) for value in flat([old, new]) if is_number(value)]
        off = AGREE * max(numbers, default=0.0)
        return len(old) == len(new) and all(map(close, old, new, [off] * len(old)))
    if is_number(old) and is_number(new):
        return abs(old - new) <= max(off, AGREE * abs(old))
    texts = isinstance(old, str) and isinstance(new, str)
    return texts and not stale(facts([old]), facts([new]))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def test_every_film_is_made_here_and_stands_in_a_lab() -> None:
    folder = next(iter(FILMS.values())).file.parent
    assert {film.file for film in FILMS.values()} == set(folder.glob("*.json"))
    for film in FILMS.values():
        assert film.file.stat().st_size <= MOST
        shown = [text for text in sources_of(film.notebook) if text.endswith(".widget")]
        assert any(re.search(rf"^{film.widget}\.widget$", text, re.MULTILINE) for text in shown)
        assert not film.still or STILLS[film.still].notebook == film.notebook


@pytest.mark.slow
def test_a_frame_is_the_fresh_picture_but_for_rounding() -> None:
    film = Film("15_scaling_out", ("speed = ",), "speed", ("serial",), begin={"jobs": 20})
    made, view = json.loads(json.dumps(filmed(film))), film.view()
    for number, fresh in enumerate(film.boards(view)):
        for (shown, said), (picture, caption) in zip(frame(made, number), fresh, strict=True):
            assert said == caption
            for ours, theirs in zip_longest(leaves(shown), leaves(picture)):
                expected = pytest.approx(theirs, rel=1e-3) if is_number(theirs) else theirs
                assert ours == expected
    assert number == 4
    assert json.loads(json.dumps(filmed(film))) == made


def leaves(picture: Any) -> list[Any]:
    """All values of a picture, in order, its models numbered as they come."""
    names: dict[str, int] = {}

    def visit(node: Any) -> Iterator[Any]:
        if isinstance(node, dict):
            for key, value in sorted(node.items()):
                yield key
                yield from visit(names.setdefault(value, len(names)) if key == "id" else value)
        elif isinstance(node, list):
            for each in node:
                yield from visit(each)
        else:
            yield node

    same = Document.from_json(json.loads(serialize_json(json_item(picture)))["doc"]).roots[0]
    for source in same.select(ColumnDataSource):
        source.data = {name: list(column) for name, column in source.data.items()}
    return list(visit(json.loads(serialize_json(json_item(same)))["doc"]["roots"]))


def test_numbers_are_rounded_to_what_can_be_seen() -> None:
    assert plain([0.123456, 0.0, 1.0, float("nan"), 3, "a", True]) == [
        0.1235,
        0,
        1,
        None,
        3,
        "a",
        True,
    ]
    assert plain([-2951.23456, -2951.0]) == [-2951.2346, -2951]
    assert plain([1.23456e-11, 1.0]) == [1.235e-11, 1]
    assert plain([[52341.7, 0.0], [1.0]]) == [[52340, 0], [1]]
