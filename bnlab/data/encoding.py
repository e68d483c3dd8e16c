"""From columns of text to codes: missing cells, levels, counts and interventions.

The files of `read_csv` and the frames of `Data.from_frame` meet here. Columns of numbers are
compared as numbers, so that 1, 1.0 and 01 are one level, and all others as text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import Bools, Floats, Ints, conforming
from bnlab.data.columns import Column, codes_of, number_in
from bnlab.data.discretizing import (
    Discretizer,
    EqualFrequency,
    Intervals,
    check_rule,
    check_spread,
    discretize,
)
from bnlab.data.text import Missing, Options, by_column, string_list
from bnlab.data.validation import MISSING
from bnlab.errors import InputError, Setting, parts_of

MISSING_LABEL = "missing"
MAX_CELLS = 10**9
REPEATED_BYTES = 16  # of a cell of a contingency table: its codes while they are checked and copied


class _Encoded(NamedTuple):
    """One column as codes, with their labels, and how it was cut; or no labels, but numbers."""

    codes: NDArray[np.int32]
    labels: tuple[str, ...]
    intervals: Intervals | None
    numbers: Floats | None = None


@dataclass(frozen=True, slots=True)
class Encoder:
    """Where columns and their rows (`places`) come from, and how to turn them into codes."""

    source: str
    places: Sequence[str]
    options: Options
    declare: str = "pass {levels=}"  # how to declare levels
    leave_out: str = " with {drop=}"  # how, after these words

    def fail(
        self, said: str, remedy: str = "", row: int | None = None, **values: Any
    ) -> ValueError:
        place = "" if row is None else f", {self.places[row]}"
        return InputError.of(f"{self.source}{place}: {said}", remedy, **values)

    def encode(self, columns: Sequence[Column], /) -> dict[str, Any]:
        """The fields of `Data`, before its own checks."""
        drop = string_list("drop", self.options.drop or ())
        self._check_named(columns, {"drop": drop})
        columns = [column for column in columns if column.name not in drop]
        count, intervention = self.options.count, self.options.intervention
        levels, rules = self.options.levels or {}, self.options.discretize
        ruled = by_column(rules)
        conforming("missing", self.options.missing, Missing)
        for rule in ruled.values() if ruled is rules else [rules]:
            if rule is not None:
                check_rule(rule)
        if count is not None and count == intervention:
            raise self.fail(f"count and intervention both name the column {count!r}; they are two")
        wanted = {"count": [count], "intervention": [intervention], "levels": levels}
        self._check_named(columns, {**wanted, "discretize": ruled, "continuous": self.continuous})
        for name in self.continuous:
            if name in levels or name in ruled:
                raise self.fail(
                    f"column {name!r} is to be continuous, and has levels or a rule to cut it: "
                    "choose one"
                )
        variables = [c for c in columns if c.name not in (count, intervention)]
        if not variables or not columns[0].cells:
            raise self.fail("no data: at least one row and one column of observations are needed")
        keep = self._complete_rows(variables)
        kept = replace(self, places=[self.places[row] for row in keep])
        by_name = {column.name: column.kept(keep) for column in columns}
        names = tuple(column.name for column in variables)
        encoded = [kept._column(by_name[name]) for name in names]
        cells: dict[str, Any] = {"values": np.stack([c.codes for c in encoded], axis=1)}
        if self.continuous:
            gaps = np.full(len(keep), np.nan)
            numbers = [gaps if c.numbers is None else c.numbers for c in encoded]
            cells["measurements"] = np.stack(numbers, axis=1)
        if intervention:
            cells["intervened"] = kept._intervened(by_name[intervention], names)
        if count:
            repeats = kept._repeats(by_name[count], len(names))
            cells = {field: np.repeat(part, repeats, axis=0) for field, part in cells.items()}
        return {
            **cells,
            "arities": np.array([len(column.labels) for column in encoded], np.int64),
            "names": names,
            "levels": tuple(column.labels for column in encoded),
            "intervals": tuple(column.intervals for column in encoded),
        }

    def _check_named(self, columns: Sequence[Column], wanted: Mapping[str, Iterable[Any]]) -> None:
        """Refuse options that name a column which is not there."""
        there = [column.name for column in columns]
        for option, names in wanted.items():
            for name in names:
                if name is not None and name is not False and name not in there:
                    told = f"{option} names the column {name!r}; there are {', '.join(there)}"
                    raise self.fail(told)

    @property
    def continuous(self) -> tuple[str, ...]:
        """The names of the columns to keep as measurements."""
        named = self.options.continuous
        return () if named is None else string_list("continuous", named)

    def _complete_rows(self, columns: Sequence[Column]) -> Ints:
        """Numbers of the rows to keep."""
        gaps = np.stack([column.gaps for column in columns], axis=1)
        rows = np.flatnonzero(gaps.any(axis=1))
        if self.options.missing == "error" and rows.size:
            totals = [f"{c.name!r} ({int(c.gaps.sum())})" for c in columns if c.gaps.any()]
            more = f" and {len(totals) - 4} more" if len(totals) > 4 else ""
            places = ", ".join(self.places[row] for row in rows[:3])
            cells = [c.cells[row] for c in columns for row in np.flatnonzero(c.gaps)]
            written = ", ".join([repr(cell) for cell in dict.fromkeys(cells) if cell][:3])
            marked = " ({missing_markers=})" if written else ""
            raise self.fail(
                f"{int(gaps.sum())} missing cells in {rows.size} of {len(gaps)} rows ({places}"
                f"{', ...' * (rows.size > 3)}), columns {', '.join(totals[:4])}{more}"
                f"{f', as {written}' if written else ''}",
                f"{marked}. Pass {{missing='drop'}} to leave those rows out, or "
                f"{{missing='level'}} to make \"{MISSING_LABEL}\" a level of its own",
            )
        if self.options.missing == "drop":
            if rows.size == len(gaps):
                raise self.fail(
                    "every row has a missing cell; ", "{missing='drop'} would leave none"
                )
            return np.flatnonzero(~gaps.any(axis=1))
        return np.arange(len(gaps))

    def _column(self, column: Column) -> _Encoded:
        name, missing = column.name, column.gaps
        if not column.distinct:
            raise self.fail(f"column {name!r} has no values; ", f"leave it out{self.leave_out}")
        if name in self.continuous:
            return self._measured(column)
        rule = self._rule(column)
        if rule is not None:
            some, labels, intervals, _ = self._cut(column, rule)
        else:
            code_of, labels = self._levels(column)
            some, intervals = np.array([code_of[cell] for cell in column.seen], np.int32), None
        level = self.options.missing == "level" and bool(missing.any())
        codes = np.full(missing.size, len(labels) if level else MISSING, np.int32)
        codes[~missing] = some
        if level:
            if MISSING_LABEL in labels:
                raise self.fail(
                    f"column {name!r} has both missing cells and a level {MISSING_LABEL!r}: "
                    "rename the level, or count it among the missing markers"
                )
            labels = (*labels, MISSING_LABEL)
        if len(labels) < 2:
            raise self.fail(
                f"column {name!r} is constant (only {labels[0]!r}). ",
                f"Leave it out{self.leave_out}, or {self.declare} to declare the levels that did "
                "not occur",
            )
        return _Encoded(codes, labels, intervals)

    def _rule(self, column: Column) -> Discretizer | None:
        """The rule meant for this column; one rule for all is used on measurements only."""
        rules = self.options.discretize
        if rules is None or isinstance(rules, Mapping):
            return None if rules is None else rules.get(column.name)
        declared = column.declared is not None or column.name in (self.options.levels or {})
        few = not column.fractions and len(column.distinct) <= self.options.max_levels
        return None if declared or column.words or few else rules

    def _measured(self, column: Column) -> _Encoded:
        name, missing = column.name, column.gaps
        if missing.any() and self.options.missing != "keep":
            raise self.fail(
                f"column {name!r} is to be continuous, and lacks {column.missing} cells. ",
                "Pass {missing='drop'} to leave those rows out, or {missing='keep'} to average "
                "over them",
            )
        numbers = self._numbers(column, "continuous")
        try:
            check_spread(numbers, name)
        except ValueError as error:
            raise self.fail("", "{why}", why=parts_of(error)) from error
        every = np.full(missing.size, np.nan)
        every[~missing] = numbers
        return _Encoded(np.where(missing, MISSING, 0).astype(np.int32), (), None, every)

    def _numbers(self, column: Column, what: str) -> Floats:
        for word in column.words:
            raise self.fail(
                f"column {column.name!r} cannot be {what}: {word!r} is no number",
                row=column.cells.index(word),
            )
        return np.array(list(map(number_in, column.seen)), np.float64)

    def _cut(self, column: Column, rule: Discretizer) -> _Encoded:
        numbers = self._numbers(column, "discretized")
        try:
            codes, labels, points = discretize(numbers, rule)
        except ValueError as error:
            raise self.fail(f"column {column.name!r}: ", "{why}", why=parts_of(error)) from error
        return _Encoded(
            codes, labels, Intervals(points, float(numbers.min()), float(numbers.max()))
        )

    def _levels(self, column: Column) -> tuple[dict[str, int], tuple[str, ...]]:
        """The code of each distinct cell, and the labels of the codes."""
        name, most, distinct = column.name, self.options.max_levels, column.distinct
        declared = (self.options.levels or {}).get(name, column.declared)
        if declared is not None:
            labels = tuple(map(str, conforming(f"levels[{name!r}]", declared, Sequence[object])))
            code_of = codes_of(labels, distinct)
            stray = next((cell for cell in distinct if cell not in code_of), None)
            if stray is not None:
                raise self.fail(
                    f"column {name!r} holds {stray!r}, not among its declared levels "
                    f"{', '.join(labels)}",
                    row=column.cells.index(stray),
                )
            return code_of, labels
        number_of = {cell: number for cell in distinct if (number := number_in(cell)) is not None}
        rule = Setting("discretize", {name: EqualFrequency(3)})
        fraction = next((cell for cell, number in number_of.items() if number % 1), None)
        many = len(distinct) > most
        if column.mixed and (fraction is not None or many):
            word = column.words[0]
            raise self.fail(
                f"column {name!r} mixes numbers with text ({word!r}). Correct the cell, or mark it "
                "as missing",
                row=column.cells.index(word),
            )
        if fraction is not None and len(column.numbers) == 1:
            raise self.fail(
                f"column {name!r} is constant (only {fraction!r}). ",
                f"Leave it out{self.leave_out}",
            )
        if fraction is not None:
            raise self.fail(
                f"column {name!r} holds measurements such as {fraction}, not levels. ",
                "Keep them as they are with {continuous}, or discretize them, for instance {rule}",
                row=column.cells.index(fraction),
                continuous=Setting("continuous", [name]),
                rule=rule,
            )
        if many:
            advice = "Discretize it with {rule}"
            if column.words:
                advice = f"It looks like an identifier: leave it out{self.leave_out}"
            raise self.fail(
                f"column {name!r} has {len(distinct)} distinct values in {column.present} rows, "
                "more than ",
                f"{{most}}. {advice}, or raise {{max_levels=}}",
                most=Setting("max_levels", most),
                rule=rule,
            )
        if column.words:
            labels = tuple(sorted(distinct))
        elif column.text:
            labels = tuple(sorted(distinct, key=lambda cell: (number_of[cell], cell)))
        else:
            labels = tuple(str(int(number)) for number in column.numbers)
        return codes_of(labels, distinct), labels

    def _intervened(self, column: Column, names: tuple[str, ...]) -> Bools:
        mask = np.zeros((len(column.cells), len(names)), np.bool_)
        for row, cell in enumerate(column.cells):
            if column.gaps[row] or cell in ("0", "0.0"):
                continue
            number = names.index(cell) + 1 if cell in names else number_in(cell)
            if number is None or number % 1 or not 1 <= number <= len(names):
                raise self.fail(
                    f"intervention column {column.name!r} holds {cell!r}: 0 means none, otherwise "
                    f"give the name of a variable or its number 1..{len(names)}",
                    row=row,
                )
            mask[row, int(number) - 1] = True
        return mask

    def _repeats(self, column: Column, n: int) -> Ints:
        """How often each row occurred."""
        counts, total = np.empty(len(column.cells), np.int64), 0
        for row, cell in enumerate(column.cells):
            number = None if column.gaps[row] else number_in(cell)
            if number is None or number < 0 or number % 1:
                raise self.fail(
                    f"count column {column.name!r} holds {cell!r}; whole numbers >= 0 are needed",
                    row=row,
                )
            total += int(number)
            if total * n > MAX_CELLS:
                raise self.fail(
                    f"the counts of {column.name!r} stand for more than {MAX_CELLS // n} rows; "
                    "that table is too large to write out",
                    row=row,
                )
            counts[row] = int(number)
        if not total:
            raise self.fail(f"the counts of {column.name!r} are all zero")
        memory.require(
            REPEATED_BYTES * total * n,
            task=f"{self.source}: a table of {total} rows",
            remedy="divide the counts, or leave variables out",
        )
        return counts
