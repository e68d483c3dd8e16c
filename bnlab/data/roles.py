"""The role of every column of a table, found out or as asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal

from bnlab.data.cells import Rows, table_rows
from bnlab.data.columns import Options
from bnlab.data.discretizing import CutPoints, Discretizer, EqualFrequency, EqualWidth
from bnlab.data.doubtful import doubts_of, has_decimal_commas, refuse, refuse_dressed, refuse_lines
from bnlab.data.guesses import COUNT_NAMES, Column
from bnlab.data.layout import layout
from bnlab.data.markers import Markers
from bnlab.errors import InputError, Note, Setting

Role = Literal["variable", "left out", "count", "intervention"]

FEWEST_COUNTED = 6  # rows of a table of counts that no name tells
MOST_COLUMNS = 1000  # to be looked at one by one
FEW = 0.05  # share of rows, or of columns, that may be lost


@dataclass
class Found:
    """What a table holds, as it is found out."""

    source: str
    table: Rows
    notes: list[str]  # a sentence on each decision
    options: dict[str, Any]  # for `read_csv`
    columns: list[Column] = field(default_factory=list)  # sequences are cut into letters
    gaps: int = 0  # rows with a missing cell among the variables
    roles: dict[str, Role] = field(default_factory=dict)  # of the columns that are no variables
    why: dict[str, Note] = field(default_factory=dict)  # a sentence on some columns

    def kept(self, column: Column) -> Column:
        """A column without the rows that are left out for a missing cell."""
        if self.options.get("missing") != "drop":
            return column
        lost = {i for c in self.variables for i, cell in enumerate(c.cells) if cell in c.markers}
        cells = [cell for i, cell in enumerate(column.cells) if i not in lost]
        return Column(column.name, cells, column.markers)

    @property
    def rows(self) -> int:
        """How many rows of cells there are."""
        return len(self.table.rows)

    @property
    def named(self) -> bool:
        """Whether the file names its columns."""
        return self.options["header"] or "names" in self.options

    @property
    def variables(self) -> list[Column]:
        """The columns that are variables."""
        return [column for column in self.columns if column.name not in self.roles]

    def leave_out(self, name: str, note: str) -> None:
        """Leave a column out, and say why."""
        self.roles[name] = "left out"
        self.options["drop"] = (*self.options.get("drop", ()), name)
        self.note(name, f"{name} is left out: {note}.")

    def note(self, name: str, sentence: str) -> None:
        """Say something of a column."""
        self.why[name] = Note(*([self.why[name], " "] if name in self.why else []), sentence)
        self.notes.append(sentence)


def _keeps_all(asked: Options) -> bool:
    """Whether no column is to be left out."""
    return asked.drop is not None and not asked.drop


def look(text: str, source: str, asked: Options, /) -> Found:
    """Find out what the text of a table holds; an error if it is none, or something is doubtful."""
    found = _cells(text, source, asked)
    if len(found.columns) > MOST_COLUMNS:
        raise ValueError(
            f"{source}: {len(found.columns)} columns, of which at most 63 can be variables: cut "
            "out those that matter first"
        )
    given = {*(asked.levels or {}), *(asked.drop or ())}
    said = [c for c in found.columns if c.name not in given]
    refuse_lines(said, source, found.table.lines, asked.missing is None)
    _counts_and_interventions(found, asked)
    settled = given | set(asked.discretize if isinstance(asked.discretize, Mapping) else ())
    refuse_dressed([c for c in found.variables if c.name not in settled], source, found.table.lines)
    _identifiers(found, asked, settled)
    unclear = [c for c in found.variables if c.name not in settled]
    refuse(unclear, source, found.table.lines, asked.max_levels)
    _tell_labels(found, given)
    _missing(found, asked)
    _constants(found, asked, given)
    _measurements(found, asked, given)
    if asked.levels:
        found.options["levels"] = dict(asked.levels)
    if found.options.get("intervention") and any(
        column.numbers and column.numbers[-1] > 0
        for column in found.columns
        if found.roles.get(column.name) == "intervention"
    ):
        _refuse_shifted(found)
    return found


def _cells(text: str, source: str, asked: Options) -> Found:
    """Where the table stands, and its columns."""
    given = asked.missing_markers
    markers = Markers.of(given)
    place = layout(
        text, source, markers, skip=asked.skip, delimiter=asked.delimiter, header=asked.header
    )
    options: dict[str, Any] = {
        "delimiter": place.delimiter,
        "header": place.header,
        **({"skip": place.skip} if place.skip else {}),
        **({} if place.names is None else {"names": place.names}),
    }
    stands = Options(**options)
    notes: list[str] = [*place.notes]
    table = table_rows(text, source, replace(stands, decimal=asked.decimal or "."))
    raw = [
        Column(name, list(cells), markers)
        for name, cells in zip(table.names, zip(*table.rows, strict=True), strict=True)
        if name not in (*(asked.levels or {}), *(asked.drop or ()))
    ]
    if asked.decimal is None and has_decimal_commas(raw, source):
        table = table.with_points()
        options["decimal"] = ","
        notes.append("Numbers have decimal commas.")
    elif asked.decimal == ",":
        options["decimal"] = ","
    found = Found(source, table, notes, options)
    for name, cells in zip(table.names, map(list, zip(*table.rows, strict=True)), strict=True):
        column = Column(name, cells, Markers.of(given, (asked.levels or {}).get(name)))
        if asked.letters is None:
            cut = column.is_sequence and name not in (*(asked.drop or ()), *(asked.levels or {}))
        else:
            cut = name in asked.letters
        found.columns += _letters(found, column) if cut else [column]
    return found


def _letters(found: Found, column: Column) -> list[Column]:
    length = len(column.words[0]) if column.words else 0
    found.options["letters"] = (*found.options.get("letters", ()), column.name)
    found.notes.append(
        f"{column.name} holds sequences of {length} letters each: they become {length} columns."
    )
    return [
        Column(
            f"{column.name}.{i + 1}",
            [cell if cell in column.markers else cell[i : i + 1] for cell in column.cells],
            column.markers,
        )
        for i in range(length)
    ]


def _counts_and_interventions(found: Found, asked: Options) -> None:
    if asked.count is None:
        _counts(found)
    elif asked.count:
        found.roles[asked.count], found.options["count"] = "count", asked.count
    if asked.intervention is not None:
        if asked.intervention:
            found.roles[asked.intervention] = "intervention"
            found.options["intervention"] = asked.intervention
        return
    for column in found.variables if found.named else []:
        names = [other.name for other in found.variables if other is not column]
        if "intervention" not in found.options and column.holds_interventions(names):
            found.roles[column.name] = "intervention"
            found.options["intervention"] = column.name
            found.note(
                column.name,
                f"{column.name} says which variable was set by intervention in each row: its name "
                "or number, 0 for none.",
            )


def _counts(found: Found) -> None:
    """The last column if its name says that it counts rows, and it can; a question otherwise."""
    columns = found.columns
    named = [c for c in columns if c.may_count] if found.named else []
    if len(named) > 1:
        names = " and ".join(repr(column.name) for column in named)
        raise InputError(
            f"{found.source}: do the columns {names} count rows? Say which one does with ",
            Setting("count"),
            ", or that none does with ",
            Setting("count", False),
        )
    able = [column for column in (columns[-1], columns[0]) if column.counts]
    column = (named or able or columns)[0]
    others = [other for other in columns if other is not column]
    if not others or not (named or able):
        return
    name, why = column.name, ""
    different = len(set(zip(*(other.cells for other in others), strict=True))) == found.rows
    if not column.counts:
        odd = next(c for c in column.cells if not Column("", [c], column.markers).counts)
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
        raise InputError(
            f"{found.source}: does the column {name!r} count rows? {why}. Say it with ",
            Setting("count", name),
            " or ",
            Setting("count", False),
        )


def _identifiers(found: Found, asked: Options, given: set[str]) -> None:
    for name in asked.drop or ():
        found.leave_out(name, "as asked")
    if _keeps_all(asked):
        return
    for column in found.variables:
        if not column.distinct and column.name not in given:
            found.leave_out(column.name, "it is empty")
    for column in found.columns[: (len(found.columns) + 1) // 2]:
        if column.name in found.roles or column.name in given or not column.is_identifier:
            continue
        found.leave_out(
            column.name,
            f"almost every row has its own value ({column.levels:,} in {found.rows:,} rows), so it "
            "names rows and tells nothing about others",
        )


def _tell_labels(found: Found, given: set[str]) -> None:
    """Say which labels are missing cells, which may be, and which may mean the same."""
    marked: dict[str, list[Column]] = {}
    for column in found.variables:
        for cell in dict.fromkeys(column.cells):
            if any(map(str.isalpha, cell)) and cell in column.markers:
                marked.setdefault(cell, []).append(column)
        if column.name not in given:
            for sentence in doubts_of(column):
                found.note(column.name, sentence)
    for cell, columns in marked.items():
        times = sum(column.cells.count(cell) for column in columns)
        names = ", ".join(column.name for column in columns[:3])
        more = f" and {len(columns) - 3} others" if len(columns) > 3 else ""
        found.notes.append(
            Note(
                f"{cell!r} is taken for a missing cell ({times:,} in {names}{more}): ",
                Setting("missing_markers"),
                " changes that, and ",
                Setting("levels"),
                " for one column.",
            )
        )


def _missing(found: Found, asked: Options) -> None:
    variables = found.variables
    gaps = [any(c.cells[i] in c.markers for c in variables) for i in range(found.rows)]
    found.gaps = sum(gaps)
    if asked.missing is not None:
        found.options["missing"] = asked.missing
        return
    if not found.gaps:
        return
    share = found.gaps / found.rows
    has = f"{found.gaps:,} of {found.rows:,} rows ({100 * share:.2g} %) have a missing cell"
    kept = [i for i, gap in enumerate(gaps) if not gap]
    constant = any(len({c.cells[i] for i in kept}) < 2 for c in variables)
    if share <= FEW and not constant:
        found.options["missing"] = "drop"
        found.notes.append(f"{has} and are left out: few enough to lose.")
        return
    found.options["missing"] = "level"
    why = "without them a column would be constant" if share <= FEW else "too many to lose"
    where = [column.name for column in variables if column.missing]
    shown = ", ".join(where[:5]) + (" and others" if len(where) > 5 else "")
    found.notes.append(f'{has}, {why}: "missing" is a level of its own in {shown}.')


def _constants(found: Found, asked: Options, given: set[str]) -> None:
    """Leave out a constant that nobody named, and whose label is a code of other columns too.

    Others are errors when the table is encoded.
    """
    dropped = found.options.get("missing") == "drop"
    constant = [
        column
        for column in found.variables
        if column.levels == 1 and (dropped or not column.missing) and column.name not in given
    ]
    others = {cell for column in found.variables if column.levels > 1 for cell in column.distinct}
    few = len(constant) <= FEW * len(found.columns) and all(
        others.issuperset(column.distinct) for column in constant
    )
    if found.named and len(constant) > 1:
        names = ", ".join(repr(column.name) for column in constant)
        raise InputError(
            f"{found.source}: the columns {names} are constant. Leave them out with ",
            Setting("drop"),
        )
    if found.named or _keeps_all(asked) or not few:
        return
    for column in constant:
        (only,) = column.distinct
        found.leave_out(column.name, f"it is {only!r} in every row, which tells nothing")


def _measurements(found: Found, asked: Options, given: set[str]) -> None:
    rules: dict[str, Discretizer] = {}
    if isinstance(asked.discretize, Mapping):
        rules |= asked.discretize
    for column in found.variables:
        if column.name in rules or column.name in given or column.levels < 2:
            continue
        if column.kind != "measurements":
            continue
        one = asked.discretize
        rule = found.kept(column).rule() if one is None or isinstance(one, Mapping) else one
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
    """Numbers of variables shift when a column before them is left out."""
    if "drop" in found.options:
        raise InputError(
            f"{found.source}: column {found.options['intervention']!r} gives numbers of variables, "
            f"but {', '.join(found.options['drop'])} is left out, so that they may have shifted. "
            "Give names of variables instead, or keep every column with ",
            Setting("drop", ()),
        )
