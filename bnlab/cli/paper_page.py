"""The page of a paper: its parts one after the other, in one HTML file that opens offline."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bnlab.files import write_whole
from bnlab.labs.papers.contents import Cell, Part, Table
from bnlab.reports import markup
from bnlab.reports.dressing import document
from bnlab.reports.embedding import embedded
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
    """Make a part; a file of data that is not at hand leaves it empty, with the reason.

    Examples
    --------
    >>> make(Part("table_1", "Table 1", lambda: Table(("n",), ((1,),)), "")).table.rows
    ((1,),)
    """
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
    figures = {each.part.name: each.figure for each in made if each.figure is not None}
    script, drawn = embedded(figures) if figures else ("", {})
    head = [markup.paragraph("What is in print, and what bnlab finds.", "lead")]
    if stopped:
        head.append(markup.paragraph("Stopped before the end: parts are missing.", "warning"))
    versions = ", ".join(f"{name} {version}" for name, version in package_versions().items())
    made_by = f"Made by `{command}` with {versions}. Every table is a CSV file beside this."
    page = document(
        title,
        head=head,
        contents=[(each.part.name, each.part.title) for each in made],
        body="\n".join(_section(each, drawn) for each in made),
        foot=markup.paragraph(made_by),
        scripts=[script] if script else [],
    )
    write_whole(path, page.encode())


def _section(each: Made, drawn: dict[str, str]) -> str:
    part = each.part
    if each.table is not None:
        rows = [[_shown(cell) for cell in row] for row in each.table.rows]
        body = markup.table(part.about, each.table.header, rows)
    elif part.name in drawn:
        body = markup.figure(drawn[part.name], part.about)
    else:
        body = markup.paragraph(f"Left out: {each.missing}", "warning")
    return markup.section(part.name, part.title, body)


def _shown(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return f"{cell:,.2f}" if 100 <= abs(cell) < 1e9 else f"{cell:.4g}"
    return cell
