"""A folder for a class, from the folder of labs."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bokeh.util.paths import bokehjs_path

from bnlab.course.copies import Notebook, solved_copy, student_copy
from bnlab.course.pages import BOKEH, Page, lab_page, text_page
from bnlab.files import write_whole
from bnlab.runs import Progress, Stopped, goes_on

SYLLABUS = "SYLLABUS.md"
_PICTURE = re.compile(r"\]\((images/[^)]+)\)")


def make_course(
    labs: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    /,
    *,
    progress: Progress | None = None,
) -> None:
    """Write copies for students, sources for nbgrader, and web pages.

    - `students/`: the labs without solutions, with the papers' notebooks and all pictures
    - `source/`: one assignment a lab, solved, as `nbgrader generate_assignment` expects it
    - `pages/`: labs (without solutions) and papers for a browser, from `index.html`, the syllabus

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

    Examples
    --------
    >>> make_course("nowhere", "course")
    Traceback (most recent call last):
    ...
    ValueError: nowhere holds no labs: name the folder of notebooks 00_..., 01_... and so on
    """
    here, there = Path(labs), Path(folder)
    numbered = sorted(here.glob("[0-9][0-9]_*.ipynb"))
    if not numbered:
        raise ValueError(
            f"{here} holds no labs: name the folder of notebooks 00_..., 01_... and so on"
        )
    if there.exists() and (not there.is_dir() or any(there.iterdir())):
        raise ValueError(f"{there} is there already, and not empty: name another folder")
    papers = sorted((here / "papers").glob("*.ipynb"))
    works = [
        *_copies(here, there, numbered, papers),
        *_pages(here, there / "pages", numbered, papers),
    ]
    was_there = there.exists()
    try:
        for done, work in enumerate(works, start=1):
            work()
            if not goes_on(progress, done, len(works)) and done < len(works):
                raise Stopped(f"stopped: {there} was not finished, and is removed")
    except BaseException:
        shutil.rmtree(there, ignore_errors=True)
        if was_there:
            there.mkdir()
        raise


def _copies(
    here: Path, there: Path, labs: list[Path], papers: list[Path]
) -> Iterator[Callable[[], None]]:
    students, source = there / "students", there / "source"
    yield partial(_copy_beside, here, students)
    for lab in labs:
        yield partial(_write_copy, student_copy, lab, students / lab.name)
        yield partial(_write_copy, solved_copy, lab, source / lab.stem / lab.name)
        for picture in sorted(set(_PICTURE.findall(lab.read_text(encoding="utf-8")))):
            yield partial(_copy_file, here / picture, source / lab.stem / picture)
    for paper in papers:
        yield partial(_copy_file, paper, students / "papers" / paper.name)


def _pages(
    here: Path, pages: Path, labs: list[Path], papers: list[Path]
) -> Iterator[Callable[[], None]]:
    yield partial(_copy_beside, here, pages)
    yield partial(_copy_file, bokehjs_path() / "js" / BOKEH, pages / BOKEH)
    yield partial(_write_index, here / SYLLABUS, pages / "index.html")
    for root, group in (("", labs), ("../", papers)):
        places = [None, *((path.with_suffix(".html").name, _title(path)) for path in group), None]
        for i, path in enumerate(group):
            place = Page(_title(path), root, places[i], places[i + 2])
            yield partial(_write_page, path, pages / path.relative_to(here), place)


def _copy_beside(here: Path, there: Path) -> None:
    """What the notebooks show: the pictures of labs and papers."""
    _copy_tree(here / "images", there / "images")
    _copy_tree(here / "papers" / "images", there / "papers" / "images")


def _copy_tree(here: Path, there: Path) -> None:
    if here.is_dir():
        shutil.copytree(here, there)


def _copy_file(here: Path, there: Path) -> None:
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(here, there)


def _write_copy(make: Callable[[Notebook], Notebook], lab: Path, path: Path) -> None:
    _write(path, json.dumps(make(_read(lab)), indent=1, ensure_ascii=False) + "\n")


def _write_page(lab: Path, path: Path, place: Page) -> None:
    _write(path.with_suffix(".html"), lab_page(student_copy(_read(lab)), place))


def _write_index(syllabus: Path, path: Path) -> None:
    _write(path, text_page(syllabus.read_text(encoding="utf-8"), Page("Labs")))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _read(path: Path) -> Notebook:
    lab: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return lab


def _title(path: Path) -> str:
    return "".join(_read(path)["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
