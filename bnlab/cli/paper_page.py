"""The page of a paper: its parts one after the other, in one HTML file that opens offline."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bnlab import pages
from bnlab.files import write_whole
from bnlab.papers.page import Part, Table
from bnlab.results import package_versions


@dataclass(frozen=True, slots=True)
class Made:
    """A part that has been made.

    Attributes
    ----------
    part : Part
    table, figure : one of the two, or neither
    seconds : what it took
    missing : why there is neither, such as a file of data that is not at hand
    """

    part: Part
    table: Table | None
    figure: Any
    seconds: float
    missing: str = ""


def make(part: Part, /) -> Made:
    """Make a part; a file of data that is not at hand leaves it empty, with the reason."""
    start = time.perf_counter()
    try:
        found = part.make()
    except (FileNotFoundError, ModuleNotFoundError) as error:
        return Made(part, None, None, time.perf_counter() - start, str(error))
    seconds = time.perf_counter() - start
    if isinstance(found, Table):
        return Made(part, found, None, seconds)
    return Made(part, None, found, seconds)


def write_paper(
    path: Path, made: Sequence[Made], /, *, title: str, command: str, stopped: bool
) -> None:
    """Write the page, whole or not at all.

    Parameters
    ----------
    title : what the paper is
    command : that makes the page again
    stopped : whether parts are missing because somebody stopped the run
    """
    script, drawn = pages.embedded({e.part.name: e.figure for e in made if e.figure is not None})
    tables = {e.part.name: _shown_table(e.part, e.table) for e in made if e.table is not None}
    page = pages.render(
        "paper.html",
        title=title,
        contents={each.part.name: each.part.title for each in made},
        made=made,
        tables=tables,
        drawn=drawn,
        stopped=stopped,
        command=command,
        versions=", ".join(f"{name} {version}" for name, version in package_versions().items()),
        script=script,
    )
    write_whole(path, page.encode())


def _shown_table(part: Part, table: Table) -> pages.Table:
    return pages.Table(part.about, *table.display())
