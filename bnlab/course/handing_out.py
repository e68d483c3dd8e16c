"""A folder for a class, from the folder of labs."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bokeh.util.paths import bokehjs_path

from bnlab.checks import checked
from bnlab.course.copies import Notebook, solved_copy, student_copy
from bnlab.course.pages import BOKEH, Page, lab_page, text_page
from bnlab.files import write_whole
from bnlab.running import Progress, Steps

SYLLABUS = "SYLLABUS.md"
_PICTURE = re.compile(r"\]\((images/[^)]+)\)")

Make = Callable[[Notebook], Notebook]


@checked
def make_course(
    labs: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    /,
    *,
    progress: Progress | None = None,
) -> None:
    """Write copies for students, sources for nbgrader, and web pages.

    - `students/`: labs and papers' pages by `student_copy`: no solutions, no results
    - `source/`: one assignment a lab, solved, as `nbgrader generate_assignment` expects it
    - `pages/`: what students get, for a browser, from `index.html`, the syllabus
    - `lecturers/`: labs and papers for a browser, with solutions and results

    Parameters
    ----------
    labs : the folder of notebooks
    folder : where to write; it must not exist yet, or be empty

    Raises
    ------
    ValueError
        If `labs` holds none, or `folder` holds anything.
    bnlab.Stopped
        If `progress` returned False; `folder` is then removed again.
    """
    here, there = Path(labs), Path(os.path.realpath(folder))
    numbered = sorted(here.glob("[0-9][0-9]_*.ipynb"))
    if not numbered:
        raise ValueError(
            f"{here} holds no labs: name the folder of notebooks 00_..., 01_... and so on"
        )
    if there.exists() and (not there.is_dir() or any(there.iterdir())):
        raise ValueError(f"{folder} is there already, and not empty: name another folder")
    papers = sorted((here / "papers").glob("*.ipynb"))
    works = [
        *_copies(here, there, numbered, papers),
        *_pages(here, there / "pages", numbered, papers, student_copy),
        *_pages(here, there / "lecturers", numbered, papers, lambda lab: lab),
    ]
    was_there = there.exists()
    try:
        steps = Steps(progress, len(works), f"{folder} was not finished, and is removed")
        for work in works:
            work()
            steps.tick()
    except BaseException:
        shutil.rmtree(there, ignore_errors=True)
        if was_there:
            there.mkdir()
        raise


def _copies(
    here: Path, there: Path, labs: list[Path], papers: list[Path]
) -> Iterator[Callable[[], None]]:
    students, source = there / "students", there / "source"
    for path in (*labs, *papers):
        yield partial(_write_copy, student_copy, path, students / path.relative_to(here))
    for lab in labs:
        yield partial(_write_copy, solved_copy, lab, source / lab.stem / lab.name)


def _pages(
    here: Path, pages: Path, labs: list[Path], papers: list[Path], make: Make
) -> Iterator[Callable[[], None]]:
    yield partial(_copy_file, bokehjs_path() / "js" / BOKEH, pages / BOKEH)
    yield partial(_write_index, here / SYLLABUS, pages / "index.html")
    for root, group in (("", labs), ("../", papers)):
        places = [None, *((path.with_suffix(".html").name, _title(path)) for path in group), None]
        for i, path in enumerate(group):
            place = Page(_title(path), root, places[i], places[i + 2])
            yield partial(_write_page, make, path, pages / path.relative_to(here), place)


def _copy_file(here: Path, there: Path) -> None:
    _write(there, here.read_bytes())


def _write_copy(make: Make, lab: Path, path: Path) -> None:
    copy = make(_read(lab))
    _write(path, (json.dumps(copy, indent=1, ensure_ascii=False) + "\n").encode())
    _copy_pictures(copy, lab.parent, path.parent)


def _write_page(make: Make, lab: Path, path: Path, place: Page) -> None:
    shown = make(_read(lab))
    _write(path.with_suffix(".html"), lab_page(shown, place).encode())
    _copy_pictures(shown, lab.parent, path.parent)


def _copy_pictures(lab: Notebook, here: Path, there: Path) -> None:
    """The pictures that a notebook shows, to a folder beside it."""
    for cell in lab["cells"]:
        for picture in _PICTURE.findall("".join(cell["source"])):
            _copy_file(here / picture, there / picture)


def _write_index(syllabus: Path, path: Path) -> None:
    _write(path, text_page(syllabus.read_text(encoding="utf-8"), Page("Labs")).encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def _read(path: Path) -> Notebook:
    lab: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return lab


def _title(path: Path) -> str:
    return "".join(_read(path)["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
