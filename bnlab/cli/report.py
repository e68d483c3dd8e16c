"""`bnlab report`: the whole analysis of a table, as one page that opens offline."""

from __future__ import annotations

import argparse
import json
import secrets
import shlex
import sys
import webbrowser
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnlab.cli import options as known
from bnlab.cli.terminal import DONE, Failure, Misuse, need, shown, stoppable
from bnlab.errors import InputError
from bnlab.files import check_places, lasts, place_of

if TYPE_CHECKING:
    from bnlab.checkpoints import Arrays, Checkpoint
    from bnlab.data import Data
    from bnlab.data.text import Missing
    from bnlab.reports import Analysis, Plan, Reading

    Known = dict[str, Any]

SILENT = ("--quiet", "--open", "--debug")  # of no effect on the page
KEPT_IN = "--checkpoint"  # nor has this, with the file that follows


def add_options(one: argparse.ArgumentParser, /) -> None:
    """The options of this command."""
    one.add_argument(
        "data",
        type=known.table,
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

    known.add(one.add_argument_group("model and method"), known.MODEL)
    known.add(one.add_argument_group("what is known of edges"), known.KNOWN)
    known.add(one.add_argument_group("what if a variable were set"), known.QUESTION)
    known.add(one.add_argument_group("the table"), known.TABLE)
    known.add(one.add_argument_group("other files"), known.FILES)


def run(options: argparse.Namespace, /) -> int:
    """Read, choose, analyse and write; errors name options of this command."""
    try:
        return _report(options)
    except InputError as error:
        raise Failure(error.spelled(known.as_option)) from error


def _report(options: argparse.Namespace) -> int:
    name = options.data.name.removesuffix(".gz") if lasts(options.data) else "table"
    output = options.output or Path(f"{Path(name).stem}-report.html")
    _check_places(options, output)
    need("bokeh", "the report")
    from bnlab.reports import exports
    from bnlab.reports.page import write_page

    reading = _settled(options, _read(options, options.missing or "keep"))
    reading = reading.spelled(known.as_option)
    _tell(options, *reading.notes)
    edges = _known(options, reading.data)
    seed, plan = _planned(options, reading, edges)
    analysis = _analysed(options, reading, edges, seed, plan)
    again = command(options.typed, seed, plan)
    # Ctrl-C would lose the analysis here: it leaves out the comparison of priors instead.
    with (
        shown("other priors", quiet=options.quiet) as told,
        stoppable(told, begun=True) as progress,
    ):
        write_page(analysis, reading, output, command=again, progress=progress)
        for kind in known.FILES:
            if (path := vars(options)[kind]) is not None:
                exports.write(analysis, path, kind)
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
    read = [path for path in (options.data, options.knowledge) if path is not None]
    for path in read:
        if not path.exists():
            raise FileNotFoundError(2, "No such file", str(path))
    plan = None if options.checkpoint is None else f"{options.checkpoint}.plan"
    exported = [vars(options)[kind] for kind in known.FILES]
    places = (output, *exported, options.checkpoint, plan)
    check_places([path for path in places if path is not None], read)


def _settled(options: argparse.Namespace, reading: Reading) -> Reading:
    """The reading, or where nobody said and missing cells cannot be averaged over, without them."""
    from bnlab.errors import Note

    if options.missing is not None:
        return reading
    if not reading.data.missing.any():
        kept = {key: value for key, value in reading.options.items() if key != "missing"}
        return replace(reading, options=kept)
    try:
        _plan(options, reading)
    except InputError:
        if not reading.lasts:
            raise
        said = (
            "Missing cells were not averaged over (--missing keep), since the method or the time "
            "do not allow it: --seconds gives more time, --drop leaves columns out."
        )
        reading = _read(options, None)
        return replace(reading, notes=(*reading.notes, Note(said)))
    return reading


def _read(options: argparse.Namespace, missing: Missing | None) -> Reading:
    from bnlab.data.text import MISSING_MARKERS
    from bnlab.reports import read_table

    typed = {name: vars(options)[name] for name in known.TABLE if vars(options)[name] is not None}
    if options.levels is not None:
        typed["levels"] = known.once("--levels", options.levels)
    typed["missing"] = missing
    typed["discretize"] = known.rules(options.discretize)
    typed["missing_markers"] = (*MISSING_MARKERS, *(options.missing_markers or ()))
    return read_table(options.data, **typed)


def _known(options: argparse.Namespace, data: Data) -> Known:
    """Arguments of `analyse`: what the file says of edges, and what was typed."""
    from bnlab.scores import read_knowledge

    found = {} if options.knowledge is None else read_knowledge(options.knowledge, data)
    for name, given in vars(options).items():
        if given is not None and name in ("required", "forbidden"):
            found[name] = [*found.get(name, ()), *given]
        elif given is not None and name in ("tiers", "prior"):
            if name in found:
                raise Misuse(f"--{name}: {options.knowledge} says that too: leave one out")
            found[name] = given
    return found


def _planned(options: argparse.Namespace, reading: Reading, edges: Known) -> tuple[int, Plan]:
    """The seed, drawn if none is given, and the plan; those that the same command had, if kept."""
    import numpy as np

    from bnlab.reports.answers import RESUMED
    from bnlab.scores import edge_masks

    file = _plan_file(options, reading.data)
    before = None if file is None else _kept(file)
    if before is not None:
        _tell(options, f"going on as begun: seed and plan are those of {options.checkpoint}.plan")
        seed, plan = before
    else:
        seed = secrets.randbits(32) if options.seed is None else options.seed
        plan = _plan(options, reading)
    edge_masks(reading.data, plan.max_parents, **{k: edges[k] for k in {*edges} - {"prior"}})
    _tell(options, f"method: {plan.method}", *plan.why)
    if file is not None:
        file.save({"seed": np.array(str(seed)), "plan": np.array(json.dumps(asdict(plan)))})
        if plan.method not in RESUMED:
            _tell(options, f"{plan.method} keeps nothing in between: killed, it begins again")
    return seed, plan


def _plan(options: argparse.Namespace, reading: Reading) -> Plan:
    from bnlab.reports import choose_method

    return choose_method(
        reading.data,
        score=known.score(options.score, options.ess),
        max_parents=options.max_parents,
        seconds=options.seconds,
        method=known.METHODS.get(options.method or ""),
    )


def _analysed(
    options: argparse.Namespace, reading: Reading, edges: Known, seed: int, plan: Plan
) -> Analysis:
    import numpy as np

    from bnlab.reports import analyse
    from bnlab.running import Stopped

    with shown(plan.method, quiet=options.quiet) as told, stoppable(told) as progress:
        try:
            return analyse(
                reading.data,
                rng=np.random.default_rng(seed),
                score=known.score(options.score, options.ess),
                plan=plan,
                **edges,
                do=known.once("--do", options.do) if options.do else None,
                on=options.on,
                checkpoint=options.checkpoint,
                progress=progress,
            )
        except Stopped as nothing:  # by Ctrl-C, before there was anything to return
            raise KeyboardInterrupt from nothing


def _tell(options: argparse.Namespace, *sentences: str) -> None:
    if not options.quiet:
        for sentence in sentences:
            print(sentence, file=sys.stderr)


def words(typed: list[str], /) -> list[str]:
    """What was typed, without what has no effect on the page."""
    return [
        word
        for before, word in zip(["", *typed], typed, strict=False)
        if word.partition("=")[0] not in (*SILENT, KEPT_IN) and before != KEPT_IN
    ]


def command(typed: list[str], seed: int, plan: Plan, /) -> str:
    """The command that makes the page again, on any machine: as typed, and what was left open."""
    said = words(typed)
    names = [word.partition("=")[0] for word in said]
    method = next(name for name, method in known.METHODS.items() if method == plan.method)
    found = {"--seed": seed, "--method": method, "--max-parents": plan.max_parents}
    for name, value in found.items():
        if name not in names:
            said += [name, str(value)]
    return shlex.join(["bnlab", *said])


def _plan_file(options: argparse.Namespace, data: Data) -> Checkpoint | None:
    """The file beside the checkpoint for the seed and the plan of a command; None without one."""
    if options.checkpoint is None:
        return None
    from bnlab.checkpoints import Checkpoint, fingerprint
    from bnlab.results import package_versions

    identity = {
        "bnlab": package_versions()["bnlab"],
        "command": shlex.join(words(options.typed)),
        "table": fingerprint(data.values, data.arities),
    }
    return Checkpoint(f"{options.checkpoint}.plan", identity)


def _kept(file: Checkpoint) -> tuple[int, Plan] | None:
    """The seed and the plan that the same command had before; None if it had none."""
    from bnlab.checks import check_counts
    from bnlab.reports import Plan

    def read(saved: Arrays) -> tuple[int, Plan]:
        plan = Plan(**json.loads(str(saved["plan"])))
        check_counts(draws=plan.draws, chains=plan.chains, thin=plan.thin)
        check_counts(least=0, burn_in=plan.burn_in, max_parents=plan.max_parents)
        return known.natural(str(saved["seed"])), plan

    kept: tuple[int, Plan] | None = file.load(read)
    return kept
