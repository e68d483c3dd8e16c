"""The pictures of the notebooks show what the cells before them show today."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from drawing import facts, numbers, read, stale, unseen
from PIL import Image
from stills import NOTEBOOKS, NOTES, ROOT, STILLS, Still, sources_of

from bnlab import plots

# Pictures that are older than what they should show. This set may only shrink.
NOT_YET = {
    # runs of many minutes
    "nk2013_figure_2",
    "nk2013_figure_3_left",
}
NAMED = re.compile(r"(?:figures?|tables?|theorem|NK|HTW|EM|Beal) [\d.]+", re.IGNORECASE)
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
