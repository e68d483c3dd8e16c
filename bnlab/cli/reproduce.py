"""`bnlab reproduce`: the tables and figures of a paper, published values beside ours."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bnlab.cli.report import words
from bnlab.cli.terminal import DONE, INTERRUPTED, Failure, need, shown
from bnlab.files import check_places, write_whole

if TYPE_CHECKING:
    from bnlab.papers.page import Page, Part, Table

PAPERS = {
    "NK": ("nk2013", "Niinimäki and Koivisto (2013): annealed importance sampling on orders"),
    "EM": ("em2007", "Eaton and Murphy (2007): dynamic programming and MCMC on graphs"),
    "HTW": ("htw2016", "He, Tian and Wu (2016): direct sampling of DAGs"),
    "B": ("beal2003", "Beal (2003), chapter 6: structures with hidden variables"),
    "S": ("stat521a", "Stat 521A, lecture 22: one best network, or all of them"),
}
"""Short name -> the package in bnlab.papers, and what it is."""

HELP = "the tables and figures of a paper, published values beside ours"
DESCRIPTION = "Make the tables and figures of a paper again, published values beside ours."
EPILOG = (
    "papers:\n"
    + "".join(f"  {short:4s} {what}\n" for short, (_, what) in PAPERS.items())
    + """
Every table becomes a CSV file, and all tables and figures one page that opens offline. Short runs
are made here, in about a minute; long ones come with the package, as in notebooks/papers.

examples:
  bnlab reproduce HTW               to ./bnlab-HTW
  bnlab reproduce B -o beal
  bnlab reproduce B --only table    the tables alone
"""
)


class Made(NamedTuple):
    """A part with its table or figure, or why it is `missing`."""

    part: Part
    table: Table | None = None
    figure: Any = None
    missing: str = ""


def add_options(one: argparse.ArgumentParser, /) -> None:
    """The options of this command."""
    one.add_argument("paper", type=str.upper, choices=PAPERS, metavar="PAPER", help="a short name")
    one.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="default: ./bnlab-PAPER")
    one.add_argument("--only", default="", metavar="NAME", help="parts whose name begins like this")
    one.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace, /) -> int:
    """Make the parts, write each table when it is there, and the page at the end."""
    need("bokeh", "a paper's page")
    package, title = PAPERS[options.paper]
    parts = [part for part in parts_of(package) if part.name.startswith(options.only)]
    if not parts:
        raise Failure(f"--only {options.only}: no such part in {options.paper}")
    folder = options.output or Path(f"bnlab-{options.paper}")
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{package}.html"
    check_places([page, *(folder / f"{part.name}.csv" for part in parts)])
    made: list[Made] = []
    stopped = False
    try:
        with shown("parts", quiet=options.quiet) as progress:
            for done, part in enumerate(parts):
                progress(done, len(parts), part.name)
                each = make(part)
                if each.table is not None:
                    write_whole(folder / f"{part.name}.csv", each.table.csv().encode())
                made.append(each)
    except KeyboardInterrupt:
        if not made:
            raise
        stopped = True
    command = shlex.join(["bnlab", *words(options.typed)])
    write_paper(page, made, title=title, command=command, stopped=stopped)
    left_out = [each.part.name for each in made if each.missing]
    if left_out:
        print(f"left out for want of files: {', '.join(left_out)}", file=sys.stderr)
    tables = sum(each.table is not None for each in made)
    print(f"{page}: {len(made)} parts, {tables} tables as CSV{', stopped' if stopped else ''}")
    return INTERRUPTED if stopped else DONE


def parts_of(package: str, /) -> tuple[Part, ...]:
    """Return the parts of a paper."""
    page: Page = import_module(f"bnlab.papers.{package}.page").page
    return tuple(page.parts.values())


def make(part: Part, /) -> Made:
    """Make a part; a file of data that is not at hand leaves it empty, with the reason."""
    from bnlab.papers.page import Table

    try:
        found = part.make()
    except (FileNotFoundError, ModuleNotFoundError) as error:
        return Made(part, missing=str(error))
    return Made(part, found) if isinstance(found, Table) else Made(part, figure=found)


def write_paper(
    path: Path, made: Sequence[Made], /, *, title: str, command: str, stopped: bool
) -> None:
    """Write the page, whole or not at all; `command` makes it again."""
    from bnlab import pages
    from bnlab.results import package_versions

    script, drawn = pages.embedded({e.part.name: e.figure for e in made if e.figure is not None})
    page = pages.render(
        "paper.html",
        title=title,
        contents={each.part.name: each.part.title for each in made},
        made=made,
        tables={
            each.part.name: pages.Table(each.part.about, *each.table.display())
            for each in made
            if each.table is not None
        },
        drawn=drawn,
        stopped=stopped,
        command=command,
        versions=", ".join(f"{name} {version}" for name, version in package_versions().items()),
        script=script,
    )
    write_whole(path, page.encode())
