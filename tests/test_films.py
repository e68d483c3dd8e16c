"""The films in the pages of the labs show what their widgets show today, and move."""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.models import ColumnDataSource
from drawing import AGREE, facts, stale
from films import FILMS, Film, filmed, flat, frame, plain
from stills import NOTEBOOKS, STILLS, sources_of

from bnlab.course import make_course

MOST = 200_000  # bytes of a film
MOST_OF_A_PAGE = 1_500_000
CHROMIUM = Path("/usr/bin/chromium")
WIDTHS = {"lecturers": 1280, "pages": 400}

# What a picture on the page holds: [model, property, column or ""], as in a film.
HOLDS = """wanted => wanted.map(([model, property, column]) => {
    const found = Bokeh.documents.map(each => each.get_model_by_id(model)).find(each => each);
    const value = column ? found.data[column] : found[property];
    return ArrayBuffer.isView(value) ? Array.from(value) : value;
})"""


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


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course") / "out"
    make_course(NOTEBOOKS, folder)
    return folder


@pytest.mark.slow
def test_pages_move_without_a_network(pages: Path) -> None:
    """By keyboard alone, wide and narrow: the pictures and what is said; nothing goes beyond."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for folder, width in WIDTHS.items():
            context = browser.new_context(offline=True, viewport={"width": width, "height": 900})
            for path in sorted(pages.glob(f"{folder}/*.html")):
                page, complaints = context.new_page(), []
                page.on("pageerror", lambda error, told=complaints: told.append(str(error)))
                page.goto(path.as_uri())
                for film in [film for film in FILMS.values() if film.notebook == path.stem]:
                    moves(page, json.loads(film.file.read_text(encoding="utf-8")), width)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert (path.name, complaints, wide) == (path.name, [], width)
                assert path.stat().st_size <= MOST_OF_A_PAGE
                page.close()
        browser.close()


def moves(page: Any, film: dict[str, Any], width: int) -> None:
    """Each control of a film, by keys, brings what the film has for its last stop, or its first."""
    place = page.locator("figure.film", has=page.locator(f"#{film['panels'][0]['root']}"))
    place.locator(".bk-Canvas, canvas").first.wait_for()
    asked = [(track["model"], track["property"], track["column"]) for track in film["tracks"]]
    stops = [control["at"] for control in film["controls"]]
    for i, control in enumerate(film["controls"]):
        last = len(control["stops"]) - 1
        key, stops[i] = ("Home", 0) if stops[i] == last else ("End", last)
        handle = place.locator("input, select").nth(i)
        handle.focus()
        page.keyboard.press(key)
        number = 0
        for stop, each in zip(stops, film["controls"], strict=True):
            number = number * len(each["stops"]) + stop
        page.wait_for_timeout(100)
        captions = [panel["captions"][number] for panel in film["panels"]]
        assert place.locator("[role=status]").all_inner_texts() == captions
        if not control["choice"]:
            assert handle.get_attribute("aria-valuetext") == control["stops"][stops[i]]
        wanted = [track["values"][track["frames"][number]] for track in film["tracks"]]
        assert [without_nan(each) for each in page.evaluate(HOLDS, asked)] == wanted
    for box in place.locator(".scroll").all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    if any(control["steps"] for control in film["controls"]):
        play, handle = place.locator("button").first, place.locator("input").last
        page.keyboard.press("Home")
        play.press("Enter")
        page.wait_for_timeout(1300)
        assert play.inner_text() == "Pause" and int(handle.input_value()) >= 1
        play.press("Enter")
        assert play.inner_text() == "Play"


def without_nan(value: Any) -> Any:
    """A value as a film has it."""
    if isinstance(value, list):
        return [without_nan(each) for each in value]
    return None if value != value else value
