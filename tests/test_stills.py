"""The pictures of the notebooks show what the cells before them show today; and so do the films.

Both in one file, hence in one process: what a lab keeps for its widgets is computed once for both.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.models import ColumnDataSource
from drawing import AGREE, facts, numbers, read, stale, unseen
from films import FILMS, Film, filmed, flat, frame, plain
from PIL import Image
from stills import NOTEBOOKS, NOTES, ROOT, STILLS, Still, sources_of

from bnlab import plots
from bnlab.papers.stat521a import search, study

# Pictures that are older than what they should show. This set may only shrink.
NOT_YET = {
    # runs of many minutes
    "nk2013_figure_2",
    "nk2013_figure_3_left",
}
NAMED = re.compile(r"(?:figures?|tables?|theorem|NK|HTW|EM|Beal) [\d.]+", re.IGNORECASE)
MOST = 200_000  # bytes of a film
LINK = re.compile(r"!\[([^\]]*)\]\(([^)]+\.png)\)")

pytestmark = pytest.mark.usefixtures("lean")


@pytest.mark.parametrize(
    "still",
    [
        pytest.param(still, id=name, marks=[pytest.mark.slow] if still.slow else [])
        for name, still in STILLS.items()
    ],
)
def test_no_picture_is_stale(
    still: Still, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if still.real:
        request.getfixturevalue("data_dir")  # skips without the files
    monkeypatch.chdir(NOTEBOOKS)
    if still.name in NOT_YET:
        assert not read(still.file), f"{still.name} is drawn anew: take it out of NOT_YET"
        return
    part = still.parts()
    changed = stale(read(still.file), facts(part), loose=still.loose)
    assert not changed, "\n".join(
        [f"draw it anew and look at it: tests/stills.py {still.name}", *changed[:12]]
    )
    if not still.loose:
        code = " ".join(sources_of(still.notebook)).replace("_", "")
        settings = set(re.findall(r"\b\d+\b", code))  # as in "400 rows"
        seen = numbers(part)
        for alt in [alt for file, alt in _shown() if file == still.file]:
            wrong = unseen(NAMED.sub(" ", alt), seen)
            assert [number for number in wrong if re.sub(r"\D", "", number) not in settings] == []


def test_every_picture_is_made_here_and_shown_in_a_text() -> None:
    files = set(NOTEBOOKS.rglob("*.png")) - set(NOTES.rglob("*.png"))
    assert {still.file for still in STILLS.values()} == files
    assert NOT_YET <= set(STILLS)
    assert {file for file, _ in _shown()} == files
    assert all(len(alt) > 15 for _, alt in _shown())


def test_slides_show_what_the_pictures_of_the_labs_show() -> None:
    """Those of the notes for lecturers, twice as sharp."""
    texts = "".join(text.read_text(encoding="utf-8") for text in NOTES.glob("*.md"))
    shown = {NOTES / place: alt for alt, place in LINK.findall(texts)}
    assert shown.keys() == set(NOTES.rglob("*.png"))
    assert all(len(alt) > 15 for alt in shown.values())
    for slide in shown:
        still = STILLS[slide.stem]
        assert read(slide) == read(still.file), f"draw both anew: tests/stills.py {still.name}"
        with Image.open(slide) as twice, Image.open(still.file) as once:
            assert abs(twice.width - 2 * once.width) <= 2


@cache
def _shown() -> list[tuple[Path, str]]:
    """All pictures in texts, with what is said of each to those who do not see it."""
    texts = {ROOT / "README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
    for notebook in sorted(NOTEBOOKS.rglob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        texts[notebook] = "\n".join(
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )
    return [
        (place.parent / link[1], link[0]) for place in texts for link in LINK.findall(texts[place])
    ]


def picture(y, **look):
    return plots.error_curve(
        [1, 10, 100], {"a": np.array(y)}, {}, y=plots.Axis("y"), title="Errors", **look
    )


def test_what_counts_as_stale() -> None:
    """Not the last digit of a number, nor a name of Bokeh; but a digit, a title and a colour."""
    old = facts([picture([0.5, 0.25, 0.125]), "3 of 1,000 runs, 0.125"])
    same = facts([picture([0.5, 0.25, 0.125 + 1e-15]), "3 of 1,000 runs, 0.124"])
    assert stale(old, same) == []
    for other, marks in (
        ([picture([0.5, 0.25, 0.115]), "3 of 1,000 runs, 0.125"], {"Line", "Scatter"}),
        ([picture([0.5, 0.25, 0.125]), "4 of 1,000 runs, 0.125"], {"#"}),
        ([picture([0.5, 0.25, 0.125]), "3 of 1,000 steps, 0.125"], {"#"}),
    ):
        changed = stale(old, facts(other))
        assert {line.split()[1] for line in changed} == marks
        assert {line[0] for line in changed} == {"-", "+"}
    red = picture([0.5, 0.25, 0.125])
    for renderer in red.renderers:
        renderer.glyph.line_color = "#ff0000"
    assert stale(old, facts([red, "3 of 1,000 runs, 0.125"]))
    assert stale(old, old[:-1]) and not stale(old, old[::-1])
    assert stale(old, facts(["3 of 9 runs, 1.0", picture([1, 2, 3])]), loose=True) == []


def test_what_a_picture_does_not_show() -> None:
    seen = numbers([picture([0.5, 0.2524, 0.118]), "3 of 1,037 runs"])
    assert unseen("0.25 and 25% of 1,000 runs, to 12% after 100", seen) == []
    assert unseen("0.26, 0.252 and 0.2525 of 1,040 or 1,020 runs", seen) == [
        "0.26",
        "0.2525",
        "1,020",
    ]


# What pictures of Stat 521A show: in this process, which has computed it for them


@pytest.mark.slow
def test_walks_on_alarm_depend_on_their_start_and_orders_do_not():
    lines = search.starts(1000)
    late = {label: line[500:] for label, line in lines.items()}
    assert late["DAGs, from none"].max() < late["DAGs, from search"].min()
    assert late["orders"].mean() > late["DAGs, from search"].mean()
    table = search.alarm_table(1000)
    by_dags, by_orders = (
        search.apart(search.two_runs(table, sampler)) for sampler in ("Local", "Order")
    )
    assert by_dags[0] > 10 * by_orders[0] and by_dags[2] > 10 and by_orders[2] == 0


@pytest.mark.slow
def test_averages_predict_better_while_rows_are_few():
    losses, masses = study.losses()
    gain = losses[:, :, 3] - losses[:, :, 0]
    mean, error = gain.mean(axis=0), gain.std(axis=0, ddof=1) / len(gain) ** 0.5
    assert (mean[:4] > 2.5 * error[:4]).all() and (np.diff(mean) < 0).all()
    assert masses.mean(axis=0)[0] < 0.5 and masses.mean(axis=0)[-1] > 0.98
    assert losses.mean(axis=0)[-1, 4] > 5 * losses.mean(axis=0)[-1, 3]


# Films


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
        sizes = [abs(value) for value in flat([old, new]) if is_number(value)]
        off = AGREE * max(sizes, default=0.0)
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
