"""`bnlab report`: the whole analysis of a table, as one page that opens offline."""

from __future__ import annotations

import argparse
import secrets
import sys
import webbrowser
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from bnlab.cli import again, choices
from bnlab.cli.errors import DONE, Failure, need
from bnlab.cli.progress import shown, stoppable
from bnlab.cli.remedies import as_option
from bnlab.errors import InputError
from bnlab.files import check_places, lasts, place_of

if TYPE_CHECKING:
    from bnlab.reports import Analysis, Plan, Reading

HELP = "analyse a table and write a page that opens offline"
DESCRIPTION = "Which variables of a table depend directly on which, and how sure is that?"
EPILOG = """\
What the file is like (delimiter, header, levels, measurements, missing cells) is found out, and
told; an option says it where the guess is wrong. The page carries the command that makes it again.

examples:
  bnlab report my.csv                                  to my-report.html
  bnlab report my.csv -o report.html --open            and show it in the browser
  bnlab report my.csv --seed 1 --ess 10 --max-parents 2
  bnlab report my.csv --drop id --discretize age=cuts:30,60 --discretize income=frequency:4
  bnlab report counts.csv --count frequency --csv edges.csv --bif best.bif
  bnlab report my.csv --seconds 3600 --checkpoint my.ckpt
  cut -d, -f2- my.csv | bnlab report -                  of a pipe, to table-report.html

Ctrl-C ends the analysis early: what is at hand is written, and marked as stopped. With a checkpoint
the same command goes on where chains were stopped or killed, to the same page.
"""


def add_options(one: argparse.ArgumentParser, /) -> None:
    """The options of this command."""
    one.add_argument(
        "data",
        type=choices.table,
        metavar="DATA.csv",
        help="delimited text, gzipped or not; - is standard input",
    )
    one.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="default: DATA-report.html; of a pipe, table-report.html",
    )
    one.add_argument("--open", action="store_true", help="show the page in the browser")
    one.add_argument("--quiet", action="store_true", help="no progress and no notes")

    model = one.add_argument_group("model and method")
    model.add_argument("--seed", type=choices.natural, metavar="N", help="default: drawn, and told")
    model.add_argument("--score", choices=choices.SCORES, default="bdeu", help="default: bdeu")
    model.add_argument(
        "--ess", type=choices.positive, metavar="X", help="equivalent sample size of bdeu (1)"
    )
    model.add_argument(
        "--prior",
        type=choices.prior,
        default=("uniform", 0.0),
        metavar="P",
        help="uniform (default), fair, or penalty:NATS for each edge",
    )
    model.add_argument("--max-parents", type=choices.natural, metavar="K", help="of each variable")
    model.add_argument(
        "--seconds", type=choices.positive, default=60.0, metavar="S", help="to spend, about (60)"
    )
    model.add_argument("--method", choices=choices.METHODS, help="default: what fits, and why")
    model.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep chains or climbs there, their plan in FILE.plan; the same command again goes "
        "on from them (exact methods take seconds to minutes, and begin again)",
    )

    _add_table(one.add_argument_group("the table"))

    files = one.add_argument_group("other files")
    files.add_argument("--csv", type=Path, metavar="FILE", help="all edges with their intervals")
    files.add_argument("--graphml", type=Path, metavar="FILE", help="credible edges, to draw")
    files.add_argument("--bif", type=Path, metavar="FILE", help="the best DAG with parameters")


def _add_table(table: argparse._ArgumentGroup) -> None:
    """What the file is like, each found out if it is not said."""
    table.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first line holds names, or not",
    )
    table.add_argument("--delimiter", type=choices.delimiter, metavar="D", help="a sign, or tab")
    table.add_argument("--decimal", choices=(".", ","), help="the decimal sign of its numbers")
    table.add_argument("--encoding", metavar="NAME", help="such as latin-1")
    table.add_argument("--skip", type=choices.natural, metavar="N", help="lines before the table")
    table.add_argument(
        "--drop", action="append", metavar="COLUMN", help="leave out; may be given several times"
    )
    table.add_argument(
        "--no-drop", dest="drop", action="store_const", const=[], help="leave no column out"
    )
    table.add_argument(
        "--letters", action="append", metavar="COLUMN", help="of sequences, to be cut into letters"
    )
    table.add_argument(
        "--levels",
        action="append",
        type=choices.levels,
        metavar="COLUMN=A,B",
        help="the labels of a column in their order",
    )
    table.add_argument("--max-levels", type=choices.natural, metavar="N", help="of any column")
    for name, what in (
        ("count", "how often each row occurred"),
        ("intervention", "which variable somebody set in each row"),
    ):
        table.add_argument(f"--{name}", metavar="COLUMN", help=what)
        table.add_argument(
            f"--no-{name}", dest=name, action="store_const", const=False, help="no such column"
        )
    table.add_argument(
        "--missing",
        choices=("error", "drop", "level"),
        help="rows with missing cells: refuse, leave out, or missing as a level of its own",
    )
    table.add_argument(
        "--missing-marker", action="append", metavar="TEXT", help="a cell that means missing"
    )
    table.add_argument(
        "--discretize",
        action="append",
        type=choices.rule,
        metavar="[COLUMN=]RULE",
        help="width:BINS, frequency:BINS or cuts:X,Y; may be given for several columns",
    )


def run(options: argparse.Namespace, /) -> int:
    """Read, choose, analyse and write; errors name options of this command."""
    try:
        return _report(options)
    except InputError as error:
        raise Failure(error.spelled(as_option)) from error


def _report(options: argparse.Namespace) -> int:
    output = options.output or Path(f"{_stem(options.data)}-report.html")
    _check_places(options, output)
    need("bokeh", "the report")
    from bnlab.reports.page import write_page

    reading = _read(options).spelled(as_option)
    _tell(options, *reading.notes)
    seed, plan = _planned(options, reading)
    analysis = _analysed(options, reading, seed, plan)
    command = again.command(options.typed, seed, plan)
    # Ctrl-C would lose the analysis here: it leaves out the comparison of priors instead.
    with (
        shown("other priors", quiet=options.quiet) as told,
        stoppable(told, begun=True) as progress,
    ):
        write_page(analysis, reading, output, command=command, progress=progress)
        _export(options, analysis)
    size = f" {output.stat().st_size / 1e6:.1f} MB," if output.is_file() else ""
    stopped = ", stopped early" if analysis.run.stopped else ""
    # Not into the page itself, as where this is /dev/stdout.
    said = sys.stderr if place_of(output) is None else sys.stdout
    print(f"{output}:{size} seed {seed}{stopped}", file=said)
    if options.open:
        webbrowser.open(output.resolve().as_uri())
    return DONE


def _check_places(options: argparse.Namespace, output: Path) -> None:
    """Refuse before the work what cannot be read or written after it."""
    if not options.data.exists():
        raise FileNotFoundError(2, "No such file", str(options.data))
    plan = None if options.checkpoint is None else f"{options.checkpoint}.plan"
    places = (output, options.csv, options.graphml, options.bif, options.checkpoint, plan)
    check_places([path for path in places if path is not None], options.data)


def _read(options: argparse.Namespace) -> Reading:
    from bnlab.data.columns import DEFAULT_MAX_LEVELS, Options
    from bnlab.data.markers import MISSING_MARKERS
    from bnlab.reports import read_table

    named = {field.name for field in fields(Options)} & vars(options).keys()
    typed = {name: value for name, value in vars(options).items() if name in named}
    if options.levels is not None:
        typed["levels"] = choices.once("--levels", options.levels)
    if options.max_levels is None:
        typed["max_levels"] = DEFAULT_MAX_LEVELS
    typed["discretize"] = choices.rules(options.discretize)
    typed["missing_markers"] = (*MISSING_MARKERS, *(options.missing_marker or ()))
    return read_table(options.data, **typed)


def _planned(options: argparse.Namespace, reading: Reading) -> tuple[int, Plan]:
    """The seed and the plan; those that the same command had before, if it kept them."""
    from bnlab.reports import choose_method
    from bnlab.reports.answers import RESUMED

    file = again.plan_file(options, reading.data)
    before = None if file is None else again.kept(file)
    if before is not None:
        _tell(options, f"going on as begun: seed and plan are those of {options.checkpoint}.plan")
        seed, plan = before
    else:
        seed = secrets.randbits(32) if options.seed is None else options.seed
        plan = choose_method(
            reading.data,
            score=choices.score(options.score, options.ess),
            max_parents=options.max_parents,
            seconds=options.seconds,
            method=choices.METHODS.get(options.method),
        )
    _tell(options, f"method: {plan.method}", *plan.why)
    if file is not None:
        again.keep(file, seed, plan)
        if plan.method not in RESUMED:
            _tell(options, f"{plan.method} keeps nothing in between: killed, it begins again")
    return seed, plan


def _analysed(options: argparse.Namespace, reading: Reading, seed: int, plan: Plan) -> Analysis:
    import numpy as np

    from bnlab.reports import analyse
    from bnlab.running import Stopped

    with shown(plan.method, quiet=options.quiet) as told, stoppable(told) as progress:
        try:
            return analyse(
                reading.data,
                rng=np.random.default_rng(seed),
                score=choices.score(options.score, options.ess),
                prior=choices.made_prior(options.prior),
                plan=plan,
                checkpoint=options.checkpoint,
                progress=progress,
            )
        except Stopped as nothing:  # by Ctrl-C, before there was anything to return
            raise KeyboardInterrupt from nothing


def _export(options: argparse.Namespace, analysis: Analysis) -> None:
    from bnlab.reports import exports

    for path, write in (
        (options.csv, exports.write_csv),
        (options.graphml, exports.write_graphml),
        (options.bif, exports.write_bif),
    ):
        if path is not None:
            write(analysis, path)


def _tell(options: argparse.Namespace, *sentences: str) -> None:
    if not options.quiet:
        for sentence in sentences:
            print(sentence, file=sys.stderr)


def _stem(data: Path) -> str:
    return Path(data.name.removesuffix(".gz")).stem if lasts(data) else "table"
