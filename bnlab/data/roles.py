"""What a table holds that nobody has described: `look` settles the role of every column.

The passes over the columns come one after the other: counts, interventions, identifiers, missing
cells, constants, measurements. Each puts what it finds among the options of `read_csv`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from bnlab.data.columns import COUNT_NAMES, Column, cut_letters
from bnlab.data.discretizing import CutPoints, Discretizer, EqualFrequency, EqualWidth
from bnlab.data.doubts import (
    OF_DRESS,
    has_decimal_commas,
    refuse,
    refuse_columns,
    refuse_lines,
    told_of,
)
from bnlab.data.layout import layout
from bnlab.data.text import Markers, Options, Rows, by_column, string_list, table_rows
from bnlab.errors import InputError, Note, Setting

Role = Literal["variable", "left out", "count", "intervention"]

FEWEST_COUNTED = 6  # rows of a table of counts that no name tells
MOST_COLUMNS = 1000  # to be looked at one by one
FEW = 0.05  # share of rows, or of columns, that may be lost


@dataclass
class Found:
    """What a table holds, as it is found out."""

    source: str
    asked: Options
    table: Rows
    columns: list[Column]  # sequences are cut into letters
    options: dict[str, Any]  # for `read_csv`
    notes: list[str]  # a sentence on each decision
    roles: dict[str, Role] = field(default_factory=dict)  # of the columns that are no variables
    why: dict[str, Note] = field(default_factory=dict)  # a sentence on some columns
    complete: list[int] = field(default_factory=list)  # rows without a missing cell

    @property
    def rows(self) -> int:
        """How many rows of cells there are."""
        return len(self.table.rows)

    @property
    def named(self) -> bool:
        """Whether the file names its columns."""
        return self.options["header"] or "names" in self.options

    @property
    def keeps_all(self) -> bool:
        """Whether no column is to be left out."""
        return self.asked.drop is not None and not self.asked.drop

    @property
    def variables(self) -> list[Column]:
        """The columns that are variables."""
        return [column for column in self.columns if column.name not in self.roles]

    def unclear(self, *settled: str) -> list[Column]:
        """The variables of which `levels`, `drop` and these options say nothing."""
        said = {name for option in settled for name in by_column(getattr(self.asked, option))}
        said |= {*(self.asked.levels or {}), *(self.asked.drop or ())}
        return [column for column in self.variables if column.name not in said]

    def leave_out(self, name: str, note: str) -> None:
        """Leave a column out, and say why."""
        self.roles[name] = "left out"
        self.options["drop"] = (*self.options.get("drop", ()), name)
        self.note(name, f"{name} is left out: {note}.")

    def note(self, name: str, sentence: str) -> None:
        """Say something of a column."""
        self.why[name] = Note(*([self.why[name], " "] if name in self.why else []), sentence)
        self.notes.append(sentence)


def look(text: str, source: str, asked: Options, /) -> Found:
    """Find out what the text of a table holds; an error if it is none, or something is doubtful."""
    found = _cells(text, source, asked)
    lines = found.table.lines
    if len(found.columns) > MOST_COLUMNS:
        raise ValueError(
            f"{source}: {len(found.columns)} columns, of which at most 63 can be variables: cut "
            "out those that matter first"
        )
    refuse_lines(found.unclear(), source, lines, asked.missing is None)
    finds: dict[Role, Callable[[Found], None]]
    finds = {"count": _find_count_column, "intervention": _find_interventions}
    for role, find in finds.items():
        if name := getattr(asked, role):
            found.roles[name], found.options[role] = role, name
        elif name is None:
            find(found)
    refuse(found.unclear("discretize"), source, lines, OF_DRESS)
    _find_identifiers(found)
    refuse_columns(found.unclear("discretize"), source, lines, asked.max_levels)
    _tell_labels(found)
    _settle_missing(found)
    _find_constants(found)
    _cut_measurements(found)
    if asked.levels:
        found.options["levels"] = dict(asked.levels)
    _refuse_shifted(found)
    return found


def columns_of(table: Rows, source: str, options: Options, /) -> list[Column]:
    """The columns of a table, those of sequences cut into letters; None finds out which."""
    given = string_list("missing_markers", options.missing_markers)
    levels, kept = by_column(options.levels), (*(options.drop or ()), *by_column(options.levels))

    def column(name: str, cells: list[str]) -> Column:
        markers = Markers.of(given, levels.get(name))
        return Column(name, cells, np.array([cell in markers for cell in cells], np.bool_))

    columns = list(map(column, table.names, map(list, zip(*table.rows, strict=True))))
    letters = options.letters
    if letters is None:
        letters = [c.name for c in columns if c.name not in kept and c.is_sequence]
    return cut_letters(columns, string_list("letters", letters), source, table.lines, column)


def _cells(text: str, source: str, asked: Options) -> Found:
    """Where the table stands, and its columns."""
    options, notes = layout(text, source, Markers.of(asked.missing_markers), asked)
    table = table_rows(text, source, Options(**options, decimal=asked.decimal or "."))
    columns = columns_of(table, source, asked)
    said = {*(asked.levels or {}), *(asked.drop or ())}
    commas = asked.decimal == ","
    if asked.decimal is None:
        commas = has_decimal_commas([c for c in columns if c.name not in said], source)
        if commas:
            table = table.with_points()
            columns = columns_of(table, source, asked)
            notes.append("Numbers have decimal commas.")
    options |= {"decimal": ","} if commas else {}
    whole = {column.name for column in columns}
    cut = [name for name in table.names if name not in whole]
    if cut:
        options["letters"] = tuple(cut)
    for name in cut:
        length = sum(column.name.rpartition(".")[0] == name for column in columns)
        notes.append(
            f"{name} holds sequences of {length} letters each: they become {length} columns."
        )
    return Found(source, asked, table, columns, options, notes)


def _find_count_column(found: Found) -> None:
    """The last column if its name says that it counts rows, and it can; a question otherwise."""
    columns = found.columns
    named = [c for c in columns if c.named_like_counts] if found.named else []
    if len(named) > 1:
        names = " and ".join(repr(column.name) for column in named)
        raise InputError.of(
            f"{found.source}: do the columns {names} count rows? ",
            "Say which one does with {count=}, or that none does with {count=False}",
        )
    able = [column for column in (columns[-1], columns[0]) if column.can_be_counts]
    column = (named or able or columns)[0]
    others = [other for other in columns if other is not column]
    if not others or not (named or able):
        return
    name, why = column.name, ""
    different = len(set(zip(*(other.cells for other in others), strict=True))) == found.rows
    if not column.can_be_counts:
        cells = enumerate(column.cells)
        odd = next(cell for i, cell in cells if not column.kept([i]).can_be_counts)
        why = f"Its name says so, but it holds {odd!r}: correct such cells if it does"
    elif not different:
        why = "Its name says so, but some rows are alike without it" if named else ""
    elif not named:
        sizes = [other.levels for other in others]
        every = prod(sizes) == found.rows >= FEWEST_COUNTED and max(sizes) < found.rows
        why = "Every combination of the others occurs just once" if every else ""
    elif any(other.kind == "measurements" for other in others):
        why = "Its name says so, but there are measurements beside it"
    elif column is not columns[-1] or name.casefold() not in COUNT_NAMES:
        why = "Its name and place leave it open"
    else:
        found.roles[name], found.options["count"] = "count", name
        found.note(name, f"{name} says how often each row occurred: no two rows are alike.")
    if why:
        raise InputError.of(
            f"{found.source}: does the column {name!r} count rows? {why}. ",
            "Say it with {count} or {count=False}",
            count=Setting("count", name),
        )


def _find_interventions(found: Found) -> None:
    for column in found.variables if found.named else []:
        names = [other.name for other in found.variables if other is not column]
        if column.holds_interventions(names):
            found.roles[column.name] = "intervention"
            found.options["intervention"] = column.name
            found.note(
                column.name,
                f"{column.name} says which variable was set by intervention in each row: its name "
                "or number, 0 for none.",
            )
            return


def _find_identifiers(found: Found) -> None:
    for name in found.asked.drop or ():
        found.leave_out(name, "as asked")
    if found.keeps_all:
        return
    first = found.columns[: (len(found.columns) + 1) // 2]
    for column in found.unclear("discretize"):
        if not column.distinct:
            found.leave_out(column.name, "it is empty")
    for column in found.unclear("discretize"):
        if column in first and column.is_identifier:
            found.leave_out(
                column.name,
                f"almost every row has its own value ({column.levels:,} in {found.rows:,} rows), "
                "so it names rows and tells nothing about others",
            )


def _tell_labels(found: Found) -> None:
    """Say which labels are missing cells, which may be, and which may mean the same."""
    marked: dict[str, list[str]] = {}
    unclear = found.unclear()
    for column in found.variables:
        for cell, gap in zip(column.cells, column.gaps, strict=True):
            if gap:
                marked.setdefault(cell, []).append(column.name)
        if column in unclear:
            for sentence in told_of(column):
                found.note(column.name, sentence)
    for cell, where in marked.items():
        names = list(dict.fromkeys(where))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        told = f"({len(where):,} in {', '.join(names[:3])}{more})"
        rest = "{missing_markers=} changes that, and {levels=} for one column."
        said = Note.of(f"{cell!r} is taken for a missing cell {told}: ", rest)
        found.notes.append(said if cell else Note(f"Empty cells are missing {told}."))


def _settle_missing(found: Found) -> None:
    variables, asked = found.variables, found.asked.missing
    gaps = np.any([column.gaps for column in variables], axis=0)
    found.complete = np.flatnonzero(~gaps).tolist() if variables else [*range(found.rows)]
    lost = found.rows - len(found.complete)
    if asked is not None:
        found.options["missing"] = asked
    if asked is not None or not lost:
        return
    share = lost / found.rows
    has = f"{lost:,} of {found.rows:,} rows ({100 * share:.2g} %) have a missing cell"
    constant = any(len({c.cells[i] for i in found.complete}) < 2 for c in variables)
    if share <= FEW and not constant:
        found.options["missing"] = "drop"
        found.notes.append(f"{has} and are left out: few enough to lose.")
        return
    found.options["missing"] = "level"
    why = "without them a column would be constant" if share <= FEW else "too many to lose"
    where = [column.name for column in variables if column.missing]
    shown = ", ".join(where[:5]) + (" and others" if len(where) > 5 else "")
    found.notes.append(f'{has}, {why}: "missing" is a level of its own in {shown}.')


def _find_constants(found: Found) -> None:
    """Leave out a constant that nobody named, and whose label is a code of other columns too."""
    dropped = found.options.get("missing") == "drop"
    constant = [c for c in found.unclear() if c.levels == 1 and (dropped or not c.missing)]
    if found.named and len(constant) > 1:
        names = ", ".join(repr(column.name) for column in constant)
        raise InputError.of(
            f"{found.source}: the columns {names} are constant. ", "Leave them out with {drop=}"
        )
    others = {cell for column in found.variables if column.levels > 1 for cell in column.distinct}
    few = len(constant) <= FEW * len(found.columns) and all(
        others.issuperset(column.distinct) for column in constant
    )
    if found.named or found.keeps_all or not few:
        return
    for column in constant:
        (only,) = column.distinct
        found.leave_out(column.name, f"it is {only!r} in every row, which tells nothing")


def _cut_measurements(found: Found) -> None:
    one = found.asked.discretize
    rules: dict[str, Discretizer] = {**by_column(one)}
    for column in found.unclear("discretize"):
        if column.levels < 2 or column.kind != "measurements":
            continue
        dropped = found.options.get("missing") == "drop"
        kept = column.kept(found.complete) if dropped else column
        rule = kept.rule() if one is None or isinstance(one, Mapping) else one
        rules[column.name] = rule
        found.note(
            column.name,
            f"{column.name} holds {column.levels:,} different numbers from {column.numbers[0]:g} "
            f"to {column.numbers[-1]:g}: cut {_how(rule)}.",
        )
    if rules:
        found.options["discretize"] = rules


def _how(rule: Discretizer) -> str:
    """Describe how a rule cuts."""
    if isinstance(rule, CutPoints):
        return f"at {', '.join(f'{point:g}' for point in rule.points)}"
    if isinstance(rule, EqualWidth):
        return f"into {rule.bins} intervals of equal width"
    if isinstance(rule, EqualFrequency):
        return f"into {rule.bins} intervals of about equally many rows"
    return f"by {rule!r}"


def _refuse_shifted(found: Found) -> None:
    """Numbers of variables that are intervened on shift when a column before them is left out."""
    name = found.options.get("intervention")
    numbered = any(c.name == name and c.numbers and c.numbers[-1] > 0 for c in found.columns)
    if numbered and "drop" in found.options:
        raise InputError.of(
            f"{found.source}: column {name!r} gives numbers of variables, but "
            f"{', '.join(found.options['drop'])} is left out, so that they may have shifted. ",
            "Give names of variables instead, or keep every column with {drop=()}",
        )
