"""What options may say, from their text; what they may not say ends with exit code 2.

The text is checked before anything large is imported; the objects of bnlab are made later.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bnlab.cli.errors import Misuse

if TYPE_CHECKING:
    from bnlab.data import CutPoints, EqualFrequency, EqualWidth
    from bnlab.priors import Prior
    from bnlab.reports.planning import Method
    from bnlab.scores import Score

    Discretizer = CutPoints | EqualFrequency | EqualWidth

SCORES = ("bdeu", "k2")
METHODS: Mapping[str | None, Method] = {
    "exact-dags": "exact DAGs",
    "exact-orders": "exact orders",
    "partitions": "partitions",
    "orders": "orders",
    "search": "search",
}
LEAST_BINS = 2
MOST_NATS = 1e8  # as in `bnlab.priors`
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|"}
Rule = tuple[str | None, str, tuple[float, ...]]
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


def prior(text: str, /) -> tuple[str, float]:
    """The name of a prior over DAGs, and its number of nats for each edge."""
    name, _, number = text.partition(":")
    if name in ("uniform", "fair") and not number:
        return name, 0.0
    try:
        nats = float(number)
    except ValueError:
        nats = math.nan
    if name != "penalty" or not math.isfinite(nats):
        raise argparse.ArgumentTypeError(f"{text!r} is none of uniform, fair and penalty:NATS")
    if abs(nats) > MOST_NATS:
        raise argparse.ArgumentTypeError(f"{text!r}: NATS are -1e8 to 1e8")
    return name, nats


def rule(text: str, /) -> Rule:
    """How to cut measurements into levels: the column or None, the kind, its numbers."""
    column, equals, how = text.rpartition("=")
    kind, _, numbers = how.partition(":")
    try:
        values = tuple(float(number) for number in numbers.split(","))
        fits = kind == "cuts" or (kind in ("width", "frequency") and int(numbers) >= LEAST_BINS)
    except ValueError:
        fits = False
    if not fits:
        raise argparse.ArgumentTypeError(
            f"{text!r} is none of width:BINS, frequency:BINS and cuts:X,Y, perhaps with COLUMN=; "
            f"BINS are {LEAST_BINS} or more"
        )
    return column if equals else None, kind, values


def levels(text: str, /) -> tuple[str, list[str]]:
    """A column, and its labels in their order."""
    column, equals, labels = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=A,B")
    return column, labels.split(",")


def rules(given: Sequence[Rule] | None, /) -> Mapping[str, Discretizer] | Discretizer | None:
    """What `discretize=` takes: one rule for all measurements, or a rule by column.

    Raises
    ------
    Misuse
        When a rule for all stands beside others, or a column is given twice.
    """
    if not given:
        return None
    if any(column is None for column, _, _ in given):
        if len(given) > 1:
            raise Misuse("--discretize: one rule for all columns, or COLUMN=RULE for each")
        return _discretizer(*given[0][1:])
    named = [(str(column), _discretizer(kind, values)) for column, kind, values in given]
    return once("--discretize", named)


def once(option: str, given: Sequence[tuple[str, Value]], /) -> dict[str, Value]:
    """What an option says of each column.

    Raises
    ------
    Misuse
        When it says something of a column twice.
    """
    said = dict(given)
    for column in said:
        if sum(column == name for name, _ in given) > 1:
            raise Misuse(f"{option}: column {column!r} is given twice")
    return said


def _discretizer(kind: str, values: tuple[float, ...]) -> Discretizer:
    from bnlab.data import CutPoints, EqualFrequency, EqualWidth

    if kind == "cuts":
        return CutPoints(values)
    return (EqualWidth if kind == "width" else EqualFrequency)(int(values[0]))


def said(name: str, value: object, /) -> list[str]:
    """What is typed after the option for that argument, once for each, to give it that value."""
    if isinstance(value, Mapping):
        return [f"{column}={_rule_text(rule)}" for column, rule in value.items()]
    if isinstance(value, tuple | list):
        return [str(one) for one in value]
    named: Mapping[str, Mapping[str | None, Method] | Mapping[str, str]]
    named = {"method": METHODS, "delimiter": _SIGNS}
    names = named.get(name, {}).items()
    return [next((str(text) for text, meant in names if meant == value), _rule_text(value))]


def _rule_text(value: object) -> str:
    """A rule to cut measurements as it is typed; other values as text."""
    from bnlab.data import CutPoints, EqualFrequency, EqualWidth

    if isinstance(value, CutPoints):
        return f"cuts:{','.join(map(repr, value.points))}"
    if isinstance(value, EqualFrequency | EqualWidth):
        return f"{'width' if isinstance(value, EqualWidth) else 'frequency'}:{value.bins}"
    return str(value)


def score(name: str, ess: float | None, /) -> Score:
    """The score of that name.

    Raises
    ------
    Misuse
        For an equivalent sample size of a score that has none.
    """
    from bnlab.scores import K2, BDeu

    if name == "bdeu":
        return BDeu(1.0 if ess is None else ess)
    if ess is not None:
        raise Misuse(f"--ess is for bdeu; {name} has no equivalent sample size")
    return K2()


def made_prior(given: tuple[str, float], /) -> Prior:
    """The prior that the option describes."""
    from bnlab.priors import EdgePenalty, Fair, Uniform

    name, nats = given
    known: Mapping[str, Prior] = {
        "uniform": Uniform(),
        "fair": Fair(),
        "penalty": EdgePenalty(nats),
    }
    return known[name]
