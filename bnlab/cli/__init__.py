"""The command `bnlab`: labs, reports on tables, a paper's tables again, a course."""

import argparse
import io
import sys
from collections.abc import Sequence
from typing import Any

from bnlab._version import __version__
from bnlab.cli import course, labs, report, reproduce
from bnlab.cli.terminal import FAILED, INTERRUPTED, USAGE, Misuse, one_line
from bnlab.files import packaged

COMMANDS: dict[str, Any] = {
    "labs": labs,
    "report": report,
    "reproduce": reproduce,
    "course": course,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; return the exit code.

    0 done; 1 failed, with one line on stderr; 130 interrupted. Wrong options raise SystemExit with
    code 2, as argparse does.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal has every letter
            stream.reconfigure(errors="replace")
    typed = list(sys.argv[1:] if argv is None else argv)
    options = parser().parse_args(_own(typed))
    options.typed = typed
    try:
        return int(options.run(options))
    except (Exception, KeyboardInterrupt) as error:
        if options.debug:
            raise
        stopped = _interrupted(error)
        said = "interrupted" if stopped else one_line(error)
        print(f"bnlab {options.command}: {said}", file=sys.stderr)
        return INTERRUPTED if stopped else USAGE if isinstance(error, Misuse) else FAILED


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: compiled modules may turn that into an error of their own."""
    if not isinstance(error, KeyboardInterrupt | SystemError | ImportError):
        return False
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    said, raw = packaged("templates/commands.toml"), argparse.RawDescriptionHelpFormatter
    shape: dict[str, Any] = {"formatter_class": raw, "allow_abbrev": False}
    whole = argparse.ArgumentParser(prog="bnlab", **said["bnlab"], **shape)
    whole.add_argument("--version", action="version", version=f"bnlab {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        one = commands.add_parser(name, **said[name], **shape)
        command.add_options(one)
        one.add_argument("--debug", action="store_true", help="show the traceback of an error")
        one.set_defaults(run=command.run)
    return whole


def _own(typed: list[str]) -> list[str]:
    """The arguments that are ours: what follows `labs ... --` is for JupyterLab."""
    if typed[:1] == ["labs"] and "--" in typed:
        return typed[: typed.index("--")]
    return typed
