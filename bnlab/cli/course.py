"""`bnlab course`: what a teacher hands out, in a folder."""

import argparse
from pathlib import Path

from bnlab.cli.labs import shipped
from bnlab.cli.terminal import DONE, need, shown


def add_options(one: argparse.ArgumentParser, /) -> None:
    """The options of this command."""
    one.add_argument(
        "folder", nargs="?", type=Path, default=Path("bnlab-course"), help="default: ./bnlab-course"
    )
    one.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace, /) -> int:
    """Make the folder, whole or not at all."""
    for module in ("bokeh", "latex2mathml", "nbconvert"):
        need(module, "handing out the labs", extra="course")
    from bnlab.course import make_course

    with shown("course", quiet=options.quiet) as progress:
        make_course(shipped(), options.folder, progress=progress)
    print(f"{options.folder}: students/, source/, pages/index.html, lecturers/index.html")
    return DONE
