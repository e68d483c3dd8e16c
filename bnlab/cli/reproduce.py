"""`bnlab reproduce`: the tables and figures of a paper, published values beside ours."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnlab.cli.report import words
from bnlab.cli.terminal import DONE, INTERRUPTED, Failure, need, shown
from bnlab.files import check_places, write_whole

if TYPE_CHECKING:
    from bnlab.papers.page import Page, Part

PAPERS = {
    "NK": ("nk2013", "Niinimäki and Koivisto (2013): annealed importance sampling on orders"),
    "EM": ("em2007", "Eaton and Murphy (2007): dynamic programming and MCMC on graphs"),
    "HTW": ("htw2016", "He, Tian and Wu (2016): direct sampling of DAGs"),
    "B": ("beal2003", "Beal (2003), chapter 6: structures with hidden variables"),
    "S": ("stat521a", "Stat 521A, lecture 22: one best network, or all of them"),
}
"""Short name -> the package in bnlab.papers, and what it is."""


def add_options(one: argparse.ArgumentParser, /) -> None:
    """The options of this command, and the papers' names in what its help says."""
    papers = "".join(f"  {short:4s} {what}\n" for short, (_, what) in PAPERS.items())
    one.epilog = f"papers:\n{papers}\n{one.epilog}"
    one.add_argument("paper", type=str.upper, choices=PAPERS, metavar="PAPER", help="a short name")
    one.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="default: ./bnlab-PAPER")
    one.add_argument("--only", default="", metavar="NAME", help="parts whose name begins like this")
    one.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace, /) -> int:
    """Make the parts, write each table when it is there, and the page at the end."""
    need("bokeh", "a paper's page")
    from bnlab.papers.page import Table

    package, title = PAPERS[options.paper]
    parts = [part for part in parts_of(package) if part.name.startswith(options.only)]
    if not parts:
        raise Failure(f"--only {options.only}: no such part in {options.paper}")
    folder = options.output or Path(f"bnlab-{options.paper}")
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{package}.html"
    check_places([page, *(folder / f"{part.name}.csv" for part in parts)])
    made: dict[Part, Any] = {}
    stopped = False
    try:
        with shown("parts", quiet=options.quiet) as progress:
            for done, part in enumerate(parts):
                progress(done, len(parts), part.name)
                made[part] = found = make(part)
                if isinstance(found, Table):
                    write_whole(folder / f"{part.name}.csv", found.csv().encode())
    except KeyboardInterrupt:
        if not made:
            raise
        stopped = True
    command = shlex.join(["bnlab", *words(options.typed)])
    write_paper(page, made, title=title, command=command, stopped=stopped)
    left_out = [part.name for part, found in made.items() if isinstance(found, str)]
    if left_out:
        print(f"left out for want of files: {', '.join(left_out)}", file=sys.stderr)
    tables = sum(isinstance(found, Table) for found in made.values())
    print(f"{page}: {len(made)} parts, {tables} tables as CSV{', stopped' if stopped else ''}")
    return INTERRUPTED if stopped else DONE


def parts_of(package: str, /) -> tuple[Part, ...]:
    """Return the parts of a paper."""
    page: Page = import_module(f"bnlab.papers.{package}.page").page
    return tuple(page.parts.values())


def make(part: Part, /) -> Any:
    """Return the table or figure of a part, or why it is missing: a file is not at hand."""
    try:
        return part.make()
    except (FileNotFoundError, ModuleNotFoundError) as error:
        return str(error)


def write_paper(
    path: Path, made: Mapping[Part, Any], /, *, title: str, command: str, stopped: bool
) -> None:
    """Write the page, whole or not at all; `command` makes it again."""
    from bnlab import pages
    from bnlab.papers.page import Table
    from bnlab.results import package_versions

    figures = {p.name: made[p] for p in made if not isinstance(made[p], Table | str)}
    script, drawn = pages.embedded(figures)
    page = pages.render(
        "paper.html",
        title=title,
        contents={part.name: part.title for part in made},
        made=made,
        drawn=drawn,
        stopped=stopped,
        command=command,
        versions=", ".join(f"{name} {version}" for name, version in package_versions().items()),
        script=script,
    )
    write_whole(path, page.encode())
