"""From raw columns of text to codes: missing cells, levels, counts and interventions.

The files of `read_csv` and the frames of `Data.from_frame` meet here as lists of strings. Columns
of numbers are compared as numbers, so that 1, 1.0 and 01 are one level, and all others as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import conforming
from bnlab.data.discretizing import Discretizer, EqualFrequency, Intervals, check_rule, discretize
from bnlab.data.markers import MISSING_MARKERS
from bnlab.errors import InputError, Part, Setting, parts_of
from bnlab.files import NUMBER

Missing = Literal["error", "drop", "level"]
Rules = Mapping[str, Discretizer] | Discretizer | None
Words = tuple[Part, ...]  # of a message

DEFAULT_MAX_LEVELS = 64
MISSING_LABEL = "missing"
MAX_CELLS = 10**9
REPEATED_BYTES = 16  # of a cell of a contingency table: its codes while they are checked and copied
_WHOLE_NUMBER = re.compile(r"([+-]?)0*+(\d*+)(\.0*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `read_csv`, with its defaults; `read_table` finds out what is None."""

    delimiter: str | None = None
    decimal: str | None = "."
    skip: int | None = 0
    header: bool | None = True
    names: Sequence[str] | None = None
    letters: Sequence[str] | None = ()
    drop: Sequence[str] | None = ()
    levels: Mapping[str, Sequence[str]] | None = None
    discretize: Rules = None
    count: str | Literal[False] | None = None
    intervention: str | Literal[False] | None = None
    missing: Missing | None = "error"
    missing_markers: Sequence[str] = MISSING_MARKERS
    encoding: str | None = "utf-8-sig"
    max_levels: int = DEFAULT_MAX_LEVELS


@dataclass(frozen=True, slots=True)
class RawColumn:
    """One column as read: cells (text), which are missing, and categories if declared.

    `text` marks strings of a frame: "01" and "1" are then two levels.
    """

    name: str
    cells: list[str]
    missing: NDArray[np.bool_]
    declared: tuple[str, ...] | None = None
    text: bool = False


class _Encoded(NamedTuple):
    """One column as codes, with the labels of the codes, and how it was cut if it was."""

    codes: NDArray[np.int32]
    labels: tuple[str, ...]
    intervals: Intervals | None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Where the columns come from (for messages) and how to turn each into codes."""

    source: str
    places: Sequence[str]
    declare: Words
    leave_out: Words
    options: Options

    @property
    def levels(self) -> Mapping[str, Sequence[str]]:
        return self.options.levels or {}

    def fail(self, *message: Part, row: int | None = None) -> ValueError:
        place = "" if row is None else f", {self.places[row]}"
        return InputError(f"{self.source}{place}: ", *message)


def string_list(option: str, value: Iterable[str]) -> tuple[str, ...]:
    """`value` as a tuple; a bare string, which would fall apart into letters, is refused."""
    return tuple(conforming(option, value, Sequence[object]))


def encode_table(
    columns: list[RawColumn],
    options: Options,
    *,
    source: str,
    places: Sequence[str],
    declare: Words,
    leave_out: Words,
) -> dict[str, Any]:
    """The fields of `Data`, before its own checks.

    For messages, places[row] says where a row stands, and `declare` how to declare levels, and
    `leave_out` how to leave a column out (after those words).
    """
    reader = _Reader(source, places, declare, leave_out, options)
    count, intervention = options.count, options.intervention
    conforming("missing", options.missing, Missing)
    rules = options.discretize
    for rule in rules.values() if isinstance(rules, Mapping) else [rules]:
        if rule is not None:
            check_rule(rule)
    if count is not None and count == intervention:
        raise reader.fail(f"count and intervention both name the column {count!r}; they are two")
    by_name = {column.name: column for column in columns}
    wanted = [("count", count), ("intervention", intervention)]
    wanted += [("levels", name) for name in reader.levels]
    wanted += [("discretize", name) for name in rules] if isinstance(rules, Mapping) else []
    for option, name in wanted:
        if name and name not in by_name:
            raise reader.fail(f"{option} names the column {name!r}; there are {', '.join(by_name)}")
    variables = [c for c in columns if c.name not in (count, intervention)]
    if not variables or not columns[0].cells:
        raise reader.fail("no data: at least one row and one column of observations are needed")
    keep = _complete_rows(variables, reader)
    encoded = [_encode_column(column, keep, reader) for column in variables]
    values = np.stack([column.codes for column in encoded], axis=1)
    names = tuple(column.name for column in variables)
    intervened = None
    if intervention:
        intervened = _intervention_mask(by_name[intervention], names, keep, reader)
    if count:
        repeats = _counts(by_name[count], keep, len(names), reader)
        values = np.repeat(values, repeats, axis=0)
        intervened = None if intervened is None else np.repeat(intervened, repeats, axis=0)
    return {
        "values": values,
        "arities": np.array([len(column.labels) for column in encoded], np.int64),
        "names": names,
        "levels": tuple(column.labels for column in encoded),
        "intervened": intervened,
        "intervals": tuple(column.intervals for column in encoded),
    }


def _complete_rows(columns: list[RawColumn], reader: _Reader) -> NDArray[np.int64]:
    """Numbers of the rows to keep."""
    gaps = np.stack([column.missing for column in columns], axis=1)
    rows = np.flatnonzero(gaps.any(axis=1))
    if reader.options.missing == "error" and rows.size:
        totals = [(c.name, int(c.missing.sum())) for c in columns if c.missing.any()]
        shown = ", ".join(f"{name!r} ({total})" for name, total in totals[:4])
        more = f" and {len(totals) - 4} more" if len(totals) > 4 else ""
        first = ", ".join(reader.places[row] for row in rows[:3])
        rest = ", ..." if rows.size > 3 else ""
        cells = [c.cells[row] for c in columns for row in np.flatnonzero(c.missing)]
        written = [repr(cell) for cell in dict.fromkeys(cells) if cell]
        marked = (f", as {', '.join(written[:3])} (", Setting("missing_markers"), ")")
        raise reader.fail(
            f"{int(gaps.sum())} missing cells in {rows.size} of {len(gaps)} rows ({first}{rest}), "
            f"columns {shown}{more}",
            *(marked if written else ()),
            ". Pass ",
            Setting("missing", "drop"),
            " to leave those rows out, or ",
            Setting("missing", "level"),
            f' to make "{MISSING_LABEL}" a level of its own',
        )
    if reader.options.missing == "drop":
        if rows.size == len(gaps):
            raise reader.fail(
                "every row has a missing cell; ", Setting("missing", "drop"), " would leave none"
            )
        return np.flatnonzero(~gaps.any(axis=1))
    return np.arange(len(gaps))


def _encode_column(column: RawColumn, keep: NDArray[np.int64], reader: _Reader) -> _Encoded:
    missing = column.missing[keep]
    rows = keep[~missing]
    present = [column.cells[row] for row in rows]
    if not present:
        raise reader.fail(f"column {column.name!r} has no values; leave it out", *reader.leave_out)
    rule = _rule_for(column, present, reader)
    if rule is not None:
        some, labels, intervals = _cut(column, rows, present, rule, reader)
    else:
        code_of, labels = _levels(column, rows, present, reader)
        some, intervals = np.array([code_of[cell] for cell in present], np.int32), None
    codes = np.full(len(keep), len(labels), np.int32)
    codes[~missing] = some
    if missing.any():
        if MISSING_LABEL in labels:
            raise reader.fail(
                f"column {column.name!r} has both missing cells and a level {MISSING_LABEL!r}: "
                "rename the level, or count it among the missing markers"
            )
        labels = (*labels, MISSING_LABEL)
    if len(labels) < 2:
        raise reader.fail(
            f"column {column.name!r} is constant (only {labels[0]!r}). Leave it out",
            *reader.leave_out,
            ", or ",
            *reader.declare,
            " to declare the levels that did not occur",
        )
    return _Encoded(codes, labels, intervals)


def number_in(cell: str) -> int | float | None:
    """The number that a cell spells, exactly if it is whole; None for text."""
    if NUMBER.fullmatch(cell) is None or not np.isfinite(float(cell)):
        return None
    whole = _WHOLE_NUMBER.fullmatch(cell)
    return float(cell) if whole is None else int(whole[1] + (whole[2] or "0"))


def _rule_for(column: RawColumn, present: list[str], reader: _Reader) -> Discretizer | None:
    """The rule meant for this column; one rule for all is used on measurements only."""
    rules = reader.options.discretize
    if rules is None or isinstance(rules, Mapping):
        return None if rules is None else rules.get(column.name)
    if column.declared is not None or column.name in reader.levels:
        return None
    distinct = dict.fromkeys(present)
    numbers = [number_in(cell) for cell in distinct]
    if any(number is None for number in numbers):
        return None
    measured = any(number % 1 for number in numbers if number is not None)
    return rules if measured or len(distinct) > reader.options.max_levels else None


def _cut(
    column: RawColumn,
    rows: NDArray[np.int64],
    present: list[str],
    rule: Discretizer,
    reader: _Reader,
) -> _Encoded:
    numbers = np.empty(len(present))
    for i, cell in enumerate(present):
        number = number_in(cell)
        if number is None:
            raise reader.fail(
                f"column {column.name!r} cannot be discretized: {cell!r} is no number",
                row=int(rows[i]),
            )
        numbers[i] = number
    try:
        codes, labels, points = discretize(numbers, rule)
    except ValueError as error:
        raise reader.fail(f"column {column.name!r}: ", *parts_of(error)) from error
    return _Encoded(codes, labels, Intervals(points, float(numbers.min()), float(numbers.max())))


def _levels(
    column: RawColumn, rows: NDArray[np.int64], present: list[str], reader: _Reader
) -> tuple[dict[str, int], tuple[str, ...]]:
    """The code of each distinct cell, and the labels of the codes."""
    name = column.name
    distinct = dict.fromkeys(present)
    declared = reader.levels.get(name, column.declared)
    if declared is not None:
        labels = tuple(map(str, conforming(f"levels[{name!r}]", declared, Sequence[object])))
        code_of = codes_of(labels, distinct)
        stray = next((cell for cell in distinct if cell not in code_of), None)
        if stray is not None:
            raise reader.fail(
                f"column {name!r} holds {stray!r}, not among its declared levels "
                f"{', '.join(labels)}",
                row=int(rows[present.index(stray)]),
            )
        return code_of, labels
    spelled = {cell: number_in(cell) for cell in distinct}
    words = [cell for cell, number in spelled.items() if number is None]
    numbers = {cell: number for cell, number in spelled.items() if number is not None}
    remedy = Setting("discretize", {name: EqualFrequency(3)})
    fraction = next((cell for cell, number in numbers.items() if number % 1), None)
    many = len(distinct) > reader.options.max_levels
    if words and numbers and (fraction is not None or many):
        row = int(rows[min(present.index(word) for word in words)])
        raise reader.fail(
            f"column {name!r} mixes numbers with text ({column.cells[row]!r}). Correct the "
            "cell, or mark it as missing",
            row=row,
        )
    if fraction is not None:
        raise reader.fail(
            f"column {name!r} holds measurements such as {fraction}, not levels. Discretize it, "
            "for instance ",
            remedy,
            row=int(rows[present.index(fraction)]),
        )
    if many:
        advice: Words = ("Discretize it with ", remedy)
        if words:
            advice = ("It looks like an identifier: leave it out", *reader.leave_out)
        raise reader.fail(
            f"column {name!r} has {len(distinct)} distinct values in {len(present)} rows, more "
            "than ",
            Setting("max_levels", reader.options.max_levels),
            ". ",
            *advice,
            ", or raise ",
            Setting("max_levels"),
        )
    if words:
        labels = tuple(sorted(distinct))
    elif column.text:
        labels = tuple(sorted(distinct, key=lambda cell: (numbers[cell], cell)))
    else:
        labels = tuple(str(int(number)) for number in sorted(set(numbers.values())))
    return codes_of(labels, distinct), labels


def codes_of(labels: tuple[str, ...], cells: Iterable[str]) -> dict[str, int]:
    """The codes of those cells that are labels, or the same numbers in another spelling.

    Only distinct numbers are compared as such: of the labels 01 and 1, the cell 1.0 is neither.
    """
    code_of = {label: code for code, label in enumerate(labels)}
    numbers = {number_in(label): code for code, label in enumerate(labels)}
    if None in numbers or len(numbers) < len(labels):
        numbers = {}
    codes = {cell: code_of.get(cell, numbers.get(number_in(cell))) for cell in cells}
    return {cell: code for cell, code in codes.items() if code is not None}


def _intervention_mask(
    column: RawColumn, names: tuple[str, ...], keep: NDArray[np.int64], reader: _Reader
) -> NDArray[np.bool_]:
    mask = np.zeros((len(keep), len(names)), np.bool_)
    for i, row in enumerate(keep):
        cell = column.cells[row]
        if column.missing[row] or cell in ("0", "0.0"):
            continue
        if cell in names:
            mask[i, names.index(cell)] = True
            continue
        number = number_in(cell)
        if number is None or number % 1 or not 1 <= number <= len(names):
            raise reader.fail(
                f"intervention column {column.name!r} holds {cell!r}: 0 means none, otherwise "
                f"give the name of a variable or its number 1..{len(names)}",
                row=int(row),
            )
        mask[i, int(number) - 1] = True
    return mask


def _counts(
    column: RawColumn, keep: NDArray[np.int64], n: int, reader: _Reader
) -> NDArray[np.int64]:
    counts = np.empty(len(keep), np.int64)
    total = 0
    for i, row in enumerate(keep):
        number = None if column.missing[row] else number_in(column.cells[row])
        if number is None or number < 0 or number % 1:
            raise reader.fail(
                f"count column {column.name!r} holds {column.cells[row]!r}; whole numbers >= 0 "
                "are needed",
                row=int(row),
            )
        total += int(number)
        if total * n > MAX_CELLS:
            raise reader.fail(
                f"the counts of {column.name!r} stand for more than {MAX_CELLS // n} rows; "
                "that table is too large to write out",
                row=int(row),
            )
        counts[i] = int(number)
    if not total:
        raise reader.fail(f"the counts of {column.name!r} are all zero")
    memory.require(
        REPEATED_BYTES * total * n,
        task=f"{reader.source}: a table of {total} rows",
        remedy="divide the counts, or leave variables out",
    )
    return counts
