"""`read_csv`, and `read_table` for a file that nobody has described."""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bnlab.checks import checked, frozen
from bnlab.data.columns import Column, Kind
from bnlab.data.encoding import Encoder
from bnlab.data.roles import Found, Role, columns_of, look
from bnlab.data.table import AnyCells, Data, Gapped, encoded, warn_of_labels
from bnlab.data.text import (
    DEFAULT_MAX_LEVELS,
    MISSING_MARKERS,
    Missing,
    Options,
    Rules,
    decoded,
    read_text,
    string_list,
    table_rows,
    visible,
)
from bnlab.errors import Note, Spell
from bnlab.files import brief, lasts, told_briefly, unpacked


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    skip: int = 0,
    header: bool = True,
    names: Sequence[str] | None = None,
    letters: Sequence[str] = (),
    drop: Sequence[str] = (),
    levels: Mapping[str, Sequence[str]] | None = None,
    discretize: Rules = None,
    continuous: Sequence[str] = (),
    count: str | None = None,
    intervention: str | None = None,
    missing: Missing = "error",
    missing_markers: Sequence[str] = MISSING_MARKERS,
    encoding: str = "utf-8-sig",
    max_levels: int = DEFAULT_MAX_LEVELS,
) -> Data:
    """Read a table from a delimited text file, gzipped or not, or from a pipe.

    Parameters
    ----------
    path : the file; one row a line, blank lines skipped, spaces around cells stripped, and what
        nobody sees (signs without width, spaces of other kinds, accents in two pieces) made plain.
    delimiter : by default the one of comma, semicolon, tab and bar that is most frequent in the
        first line, else white space. A space means any white space, tabs too.
    decimal : the decimal sign of its numbers, a point or a comma.
    skip : how many lines at the beginning do not belong to the table.
    header : whether the first line (after those) holds the names of the columns.
    names : the names of all columns, instead of those of the header or of x0, x1, ...
    letters : columns of sequences, such as DNA, all of the same length: the letters of x become
        the columns x.1, x.2, ..., one for each position.
    drop : columns to leave out, such as identifiers.
    levels : for some columns the labels in the order of their codes. Without it the levels are
        the values seen, integers in increasing order and text in alphabetical order. Where all
        cells of a column (or all its declared levels) are numbers, they are compared as numbers:
        1, 1.0, +1 and 01 are one level. Otherwise every spelling is a level of its own. Codes
        such as 01 beside 1 are kept apart by declaring both.
    discretize : a mapping from column to rule (`CutPoints`, `EqualWidth`, `EqualFrequency`), or
        one rule for every column of measurements (with fractions, or more than `max_levels`
        numbers).
    continuous : columns of numbers to keep as measurements, without states; whole numbers too, of
        which each would be a level else.
    count : the column of a contingency table that says how often each row occurred. Rows that
        never occurred still contribute their levels.
    intervention : the column that says which variable was set by intervention in each row: 0 or
        a missing marker for none, else its name or its number 1..n among the variables.
    missing : what to do with missing cells: "error"; "drop" leaves those rows out; "level" makes
        "missing" a level of its own; "keep" leaves them missing, to be averaged over by `complete`.
    missing_markers : cells that mean missing: by default empty ones and what pandas, R, Excel, SQL
        and SPSS write (NA, NaN, NaT, null, n.a., \\N, #N/A, #REF!, ...) in any capitals; others as
        they are written. A label that is declared with `levels` is a level all the same.
    encoding : of the file.
    max_levels : columns with more distinct values are refused.

    Warns
    -----
    UserWarning
        For labels that may mean missing, as unknown or -, or the same, as Yes and yes. They are
        meant if `levels` declares them; if `missing_markers` are given, only those are missing.

    Raises
    ------
    ValueError
        Naming file, line and column, for all that cannot be read.
    FileNotFoundError
        When there is no such file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weather.csv"
    >>> _ = path.write_text("rain,wind\\nno,calm\\nyes,strong\\nno,calm\\n")
    >>> read_csv(path).levels
    (('no', 'yes'), ('calm', 'strong'))
    """
    arguments = {name: value for name, value in locals().items() if name != "path"}
    options = Options(**arguments)
    data = parse_table(read_text(path, encoding), str(path), options)
    warn_of_labels(data, levels or (), options, str(path))
    return data


@told_briefly()
def parse_table(text: str, source: str, options: Options, /) -> Data:
    """Return the table that text spells; `source` names it in messages."""
    table = table_rows(text, source, options)
    columns = columns_of(table, source, options)
    return _encoded(columns, source, table.lines, options)


def _encoded(columns: list[Column], source: str, lines: list[int], options: Options) -> Data:
    return encoded(columns, Encoder(source, [f"line {line}" for line in lines], options))


@frozen(eq=True)
class ColumnReading:
    """How one column was read.

    Attributes
    ----------
    name : str
    role : "variable", "left out", "count" or "intervention"
    kind : "labels", "whole numbers" or "measurements", what its cells are
    levels : labels of the states; empty unless it is a variable
    counts : rows of each level
    missing : cells
    note : what was done with it, a sentence, or ""
    """

    name: str
    role: Role
    kind: Kind
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int
    note: Note


@frozen()
class Reading:
    """What was read from a file, and how. Make it with `read_table`.

    Attributes
    ----------
    source : str, the path
    data : Data
    columns : ColumnReading of each column of the file
    rows_read, rows_kept : int
    header : bool, whether the first line holds names
    delimiter : str
    notes : a sentence for each decision
    options : for `bnlab.read_csv`: read_csv(path, **options) gives the same data
    lasts : bool, whether the file can be read again: not if it was a pipe or standard input
    uncut : Data, the same rows with the columns that were cut as measurements, missing cells kept;
        None if none was
    """

    source: str
    data: Gapped
    columns: tuple[ColumnReading, ...]
    rows_read: int
    rows_kept: int
    header: bool
    delimiter: str
    notes: tuple[Note, ...]
    options: Mapping[str, Any]
    lasts: bool = True
    uncut: AnyCells | None = None

    def spelled(self, spell: Spell, /) -> Reading:
        """Return the same reading, what its notes name written by `spell`."""
        columns = [replace(c, note=Note(c.note.spelled(spell))) for c in self.columns]
        notes = tuple(Note(note.spelled(spell)) for note in self.notes)
        return replace(self, columns=tuple(columns), notes=notes)


@checked
def read_table(
    path: str | os.PathLike[str],
    /,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    skip: int | None = None,
    letters: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    discretize: Rules = None,
    count: str | Literal[False] | None = None,
    intervention: str | Literal[False] | None = None,
    missing: Missing | None = None,
    missing_markers: Sequence[str] = MISSING_MARKERS,
    encoding: str | None = None,
    max_levels: int = DEFAULT_MAX_LEVELS,
) -> Reading:
    """Read a table of data from a delimited text file or pipe, finding out what is not said.

    Every guess is told in `notes` and is an option in `options`; what is doubtful is an error that
    names the option to settle it. Any option given is taken as it is.

    - The encoding is UTF-8, or UTF-16 with its mark; Latin-1 only if asked for, since every file
      can be read as Latin-1.
    - A title or comments above the table (lines without its delimiter, or with # before them) and
      Excel's "sep=;" are skipped. One name too few in the first line is that of row labels.
    - The first line is a header if none of its cells is a number, is missing, or is among the cells
      below it: in a row of data some cell is.
    - In the first half of the columns, one of almost only different labels, or of row numbers, is
      an identifier and left out, as are empty columns. Sequences of equal length over few letters
      are cut into letters.
    - Numbers have decimal commas if all those with a comma can have no other meaning.
    - Numbers with fractions, or more than 24 different ones (12 where there are less than three
      rows for each), are cut into three intervals of equally many rows (two where ties forbid
      three); fewer whole numbers are levels.
    - Numbers with units or groups of thousands, and those that often mean missing (-999 below
      numbers that are all positive, 99 far above all others), are errors.
    - Lines that are most likely no rows (units or a second header, totals, footnotes, empty ones),
      columns of merged cells, codes filled up with zeros, and points that may group thousands are
      errors.
    - Labels that may mean missing (unknown, -, none) or the same (Yes and yes), numbers apart from
      all others, and columns that rise from row to row are kept as they are, and told.
    - A last column called count, freq or n counts rows if no two rows are alike without it; one of
      such a name or of its kind elsewhere is a question. One called INT or intervention says which
      variable was set in each row.
    - Rows with missing cells are left out if they are at most one in twenty; else "missing" is a
      level.
    - A constant column is an error, unless the file has no header, at most one column in twenty is
      constant, and its label is a code that other columns use too: it is left out then, as a
      variable that happens not to vary.

    Parameters
    ----------
    path : the file
    header, delimiter, decimal, skip, letters, levels, encoding, max_levels : as in `read_csv`;
        None finds out
    drop : columns to leave out besides those that are left out anyway; () leaves out none
    discretize : a mapping from column to rule, for those columns; or one rule for all measurements
    count, intervention : name of the column; False for none
    missing : "drop", "level", "keep" or "error"
    missing_markers : cells that mean missing

    Raises
    ------
    ValueError
        Naming file, line or column, and the remedy.
    FileNotFoundError
        When there is no such file.
    """
    arguments = {name: value for name, value in locals().items() if name != "path"}
    raw, source = unpacked(path), str(path)
    if encoding is None:  # never Latin-1, which every file could be
        encoding = "utf-16" if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    text = decoded(raw, source, encoding)
    missing_markers = string_list("missing_markers", missing_markers)
    asked = Options(**arguments | {"encoding": encoding, "missing_markers": missing_markers})
    found = look(text, source, asked)
    for name in ("encoding", "missing_markers", "max_levels"):
        if getattr(asked, name) != getattr(Options(), name):
            found.options[name] = getattr(asked, name)
    data = _encoded(found.columns, source, found.table.lines, Options(**found.options))
    if visible(text) != text:
        found.notes.append(
            "What nobody sees is made plain: invisible signs are left out, other spaces become "
            "blanks, and accents are part of their letters."
        )
    _tell_copies(found, data)
    least, most = int(data.arities.min()), int(data.arities.max())
    states = f"{least}" if least == most else f"{least} to {most}"
    return Reading(
        source,
        data,
        tuple(_column(column, found, data) for column in found.columns),
        found.rows,
        len(found.complete) if found.options.get("missing") == "drop" else found.rows,
        found.options["header"],
        found.options["delimiter"],
        (
            Note(f"Read as {encoding.removesuffix('-sig').upper()}."),
            *map(brief, found.notes),
            Note(f"{data.m:,} rows of {data.n} variables with {states} levels."),
        ),
        found.options,
        lasts(path),
        _uncut(found, source, data),
    )


def _uncut(found: Found, source: str, data: Data) -> Data | None:
    """The data with measurements where columns were cut."""
    cut = [name for name, each in zip(data.names, data.intervals, strict=True) if each is not None]
    asked = {**found.options, "discretize": None, "continuous": cut}
    if asked.get("missing") == "level" and any(c.missing for c in found.columns if c.name in cut):
        asked["missing"] = "keep"
    return _encoded(found.columns, source, found.table.lines, Options(**asked)) if cut else None


def _column(column: Column, found: Found, data: Data) -> ColumnReading:
    name, levels, counts = column.name, tuple[str, ...](), tuple[int, ...]()
    role, note = found.roles.get(name, "variable"), brief(found.why.get(name, ""))
    if role == "variable":
        v = data.index(name)
        levels = data.levels[v]
        codes = data.values[~data.missing[:, v], v]
        counts = tuple(np.bincount(codes, minlength=len(levels)).tolist())
    return ColumnReading(name, role, column.kind, levels, counts, column.missing, note)


def _tell_copies(found: Found, data: Data) -> None:
    """Say which columns, and how many rows, tell the same as others, in other words perhaps."""
    rows = list(zip(*(column.cells for column in found.columns), strict=True))
    if len(rows) < data.n:
        found.notes.append(
            f"{len(rows)} rows, fewer than variables: make sure that each row is a case, and each "
            "column a variable."
        )
    copies = len(rows) - len(set(rows))
    measured = any(2 * column.levels > found.rows - copies for column in found.variables)
    if copies and measured and any(c.kind == "measurements" for c in found.variables):
        found.notes.append(
            f"{copies:,} rows are copies of others, measurements too: remove them if they were "
            "written twice."
        )
    seen: dict[bytes, str] = {}
    for name, codes in zip(data.names, data.values.T, strict=True):
        values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        ranks = np.argsort(np.argsort(first))[inverse]
        other = seen.setdefault(ranks.tobytes(), name)
        if other != name and len(values) > 1:
            found.note(
                name,
                f"{name} tells the same as {other} in every row: what depends on one depends on "
                "the other, so leave one out.",
            )


def in_python(options: Mapping[str, Any], /) -> str:
    """Options of a reading as arguments that follow the path, given `import bnlab as bn`."""
    return "".join(f", {name}={_code(value)}" for name, value in options.items())


def _code(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_code(own)}' for key, own in value.items())}}}"
    return f"bn.{value!r}" if hasattr(value, "cut_points") else repr(value)
