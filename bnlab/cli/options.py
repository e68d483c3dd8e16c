"""The options of `bnlab report`: what may be typed behind them, and how remedies name them.

What makes objects of bnlab imports it only when its option is given.
"""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bnlab.cli.terminal import Misuse
from bnlab.errors import Named, Public
from bnlab.files import packaged

if TYPE_CHECKING:
    from bnlab.data import CutPoints, EqualFrequency, EqualWidth
    from bnlab.priors import Prior
    from bnlab.reports.planning import Method
    from bnlab.scores import Score

    Discretizer = CutPoints | EqualFrequency | EqualWidth
    Rules = Mapping[str, Discretizer] | Discretizer | None

METHODS: Mapping[str, Method] = {
    "completions": "completions",
    "exact-dags": "exact DAGs",
    "exact-orders": "exact orders",
    "partitions": "partitions",
    "orders": "orders",
    "search": "search",
}
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|"}
SAID: Mapping[str, list[str]] = packaged("templates/commands.toml")["options"]
"""Name -> what follows the option, what it is for, and what --no-NAME leaves, if there is that."""
INSTEAD: Mapping[str, str] = packaged("templates/commands.toml")["instead"]
"""Public names that serve as remedies -> the options that do the same."""
_TYPED = {"missing_markers": "missing_marker", "required": "require", "forbidden": "forbid"}
Options = Mapping[str, Mapping[str, Any]]  # name -> how argparse reads the option
Value = TypeVar("Value")


def table(text: str, /) -> Path:
    """Where the table is; - means standard input."""
    return Path("/dev/stdin" if text == "-" else text)


def natural(text: str, /) -> int:
    """An integer of at least 0."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def positive(text: str, /) -> float:
    """A finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def delimiter(text: str, /) -> str:
    """One sign, or the name of one."""
    sign = _SIGNS.get(text, text)
    if len(sign) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one sign; or give {', '.join(_SIGNS)}")
    return sign


def prior(text: str, /) -> Prior:
    """A prior over DAGs."""
    from bnlab.priors import LARGEST_LOG, EdgePenalty, Fair, Uniform

    name, _, number = text.partition(":")
    if text in ("uniform", "fair"):
        return Fair() if text == "fair" else Uniform()
    try:
        nats = float(number)
    except ValueError:
        nats = math.nan
    if name != "penalty" or not math.isfinite(nats):
        raise argparse.ArgumentTypeError(f"{text!r} is none of uniform, fair and penalty:NATS")
    if abs(nats) > LARGEST_LOG:
        raise argparse.ArgumentTypeError(f"{text!r}: NATS are -1e8 to 1e8")
    return EdgePenalty(nats)


def rule(text: str, /) -> tuple[str | None, Discretizer]:
    """How to cut measurements into levels, and the column, or None for all."""
    from bnlab.data import CutPoints, EqualFrequency, EqualWidth

    column, equals, how = text.rpartition("=")
    kind, _, numbers = how.partition(":")
    try:
        made: Discretizer
        if kind == "cuts":
            made = CutPoints([float(number) for number in numbers.split(",")])
        elif kind in ("width", "frequency"):
            made = EqualWidth(int(numbers)) if kind == "width" else EqualFrequency(int(numbers))
        else:
            raise ValueError
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is none of width:BINS, frequency:BINS and cuts:X,Y, perhaps with COLUMN=; "
            "BINS are 2 or more, and X,Y rise"
        ) from error
    return column if equals else None, made


def levels(text: str, /) -> tuple[str, list[str]]:
    """A column, and its labels in their order."""
    column, equals, labels = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=A,B")
    return column, labels.split(",")


def tiers(text: str, /) -> list[list[str]]:
    """Columns by time, the earliest first."""
    return [[name.strip() for name in tier.split(",")] for tier in text.split(":")]


def edge(text: str, /) -> list[str]:
    """Two columns, parent and child."""
    ends = [name.strip() for name in text.split(",")]
    if len(ends) != 2:
        said = "is not PARENT,CHILD; names with a comma go into a file (--knowledge)"
        raise argparse.ArgumentTypeError(f"{text!r} {said}")
    return ends


def setting(text: str, /) -> tuple[str, str]:
    """A column, and the level that it is set to."""
    column, equals, level = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=LEVEL")
    return column, level


def _many(reads: Callable[[str], object] = str, /) -> Mapping[str, Any]:
    """How argparse reads an option that may be given several times."""
    return {"action": "append", "type": reads}


MODEL: Options = {
    "seed": {"type": natural},
    "score": {"choices": ("bdeu", "k2"), "default": "bdeu"},
    "ess": {"type": positive},
    "prior": {"type": prior},
    "max_parents": {"type": natural},
    "seconds": {"type": positive, "default": 60.0},
    "method": {"choices": METHODS},
    "checkpoint": {"type": Path},
}
KNOWN: Options = {
    "tiers": {"type": tiers},
    "required": _many(edge),
    "forbidden": _many(edge),
    "knowledge": {"type": Path},
}
"""What is known of edges: arguments of `analyse`, and a file for `read_knowledge`."""
QUESTION: Options = {"do": _many(setting), "on": {}}
"""What `analyse` asks of `effects`."""
TABLE: Options = {
    "header": {"action": argparse.BooleanOptionalAction},
    "delimiter": {"type": delimiter},
    "decimal": {"choices": (".", ",")},
    "encoding": {},
    "skip": {"type": natural},
    "drop": _many(),
    "letters": _many(),
    "levels": _many(levels),
    "max_levels": {"type": natural},
    "count": {},
    "intervention": {},
    "missing": {"choices": ("keep", "error", "drop", "level")},
    "missing_markers": _many(),
    "discretize": _many(rule),
}
"""Arguments of `choose_method` and `analyse`, and those of `read_table`."""
FILES: Options = {kind: {"type": Path} for kind in ("csv", "graphml", "bif", "xdsl", "net", "dot")}
"""Other files: the texts of `bnlab.reports.exports`."""


def typed(name: str, /) -> str:
    """The option for an argument, without its dashes."""
    return _TYPED.get(name, name).replace("_", "-")


def add(group: argparse._ArgumentGroup, options: Options, /) -> None:
    """Let a group of options read these."""
    for name, reads in options.items():
        what, about, *no = SAID[name]
        named: dict[str, Any] = {} if not what or "choices" in reads else {"metavar": what}
        group.add_argument(f"--{typed(name)}", dest=name, help=about, **named, **reads)
        if no:
            left: object = [] if "action" in reads else False
            group.add_argument(
                f"--no-{typed(name)}", dest=name, action="store_const", const=left, help=no[0]
            )


def rules(given: Sequence[tuple[str | None, Discretizer]] | None, /) -> Rules:
    """What `discretize=` takes: one rule for all measurements, or a rule by column; or a Misuse."""
    if not given:
        return None
    if any(column is None for column, _ in given):
        if len(given) > 1:
            raise Misuse("--discretize: one rule for all columns, or COLUMN=RULE for each")
        return given[0][1]
    return once("--discretize", [(str(column), rule) for column, rule in given])


def once(option: str, given: Sequence[tuple[str, Value]], /) -> dict[str, Value]:
    """What an option says of each column; a Misuse if it speaks of one twice."""
    said = dict(given)
    for column in said:
        if sum(column == name for name, _ in given) > 1:
            raise Misuse(f"{option}: column {column!r} is given twice")
    return said


def said(name: str, value: object, /) -> list[str]:
    """What is typed after the option for that argument, once for each, to give it that value."""
    from bnlab.data import CutPoints, EqualFrequency, EqualWidth

    if isinstance(value, Mapping):
        return [f"{column}={said(name, rule)[0]}" for column, rule in value.items()]
    if isinstance(value, tuple | list):
        return [str(one) for one in value]
    if isinstance(value, CutPoints):
        return [f"cuts:{','.join(map(repr, value.points))}"]
    if isinstance(value, EqualFrequency | EqualWidth):
        return [f"{'width' if isinstance(value, EqualWidth) else 'frequency'}:{value.bins}"]
    names = {"method": METHODS, "delimiter": _SIGNS}.get(name, {})
    return [next((text for text, meant in names.items() if meant == value), str(value))]


def score(name: str, ess: float | None, /) -> Score:
    """The score of that name; a Misuse if it has no equivalent sample size, and one is given."""
    from bnlab.scores import K2, BDeu

    if name == "bdeu":
        return BDeu(1.0 if ess is None else ess)
    if ess is not None:
        raise Misuse(f"--ess is for bdeu; {name} has no equivalent sample size")
    return K2()


def as_option(setting: Named, /) -> str:
    """Return a setting or a public name as an option; as in Python if there is none."""
    if isinstance(setting, Public):
        return INSTEAD.get(setting.name, setting.name)
    if setting.name not in SAID:
        return str(setting)
    option, what = typed(setting.name), SAID[setting.name][0].replace("[COLUMN=]", "COLUMN=")
    if setting.value is False or setting.value == ():
        return f"--no-{option}"
    if setting.value is True:
        return f"--{option}"
    words = [] if setting.value is ... else said(setting.name, setting.value)
    if not words or not all(map(str.isprintable, words)):
        return f"--{option} {what}"
    return " ".join(f"--{option}{_after(word)}" for word in words)


def _after(word: str) -> str:
    """A value behind its option, as a shell takes it."""
    quoted = shlex.quote(word)
    if quoted == word and not any(map(str.isalnum, word)):
        quoted = f"'{word}'"  # a comma would pass for one of the sentence
    return f"={quoted}" if word.startswith("-") else f" {quoted}"
