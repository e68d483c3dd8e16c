"""`read_table`: a file that nobody has described, read as discrete data."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bnlab.data import Data, read_csv
from bnlab.data.columns import DEFAULT_MAX_LEVELS, Missing, Rules, string_list
from bnlab.data.reading import MISSING_MARKERS, read_text
from bnlab.files import brief, told_briefly
from bnlab.reports.guessing import Column, Kind, encoding_of
from bnlab.reports.roles import Asked, Found, Role, look


@dataclass(frozen=True, slots=True)
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
    note: str


@dataclass(frozen=True, slots=True, eq=False)
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
    """

    source: str
    data: Data
    columns: tuple[ColumnReading, ...]
    rows_read: int
    rows_kept: int
    header: bool
    delimiter: str
    notes: tuple[str, ...]
    options: Mapping[str, Any]


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
    """Read a table of data from a delimited text file, finding out what is not said.

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
    - A last column called count, freq or n counts rows if no two rows are alike without it. One
      called INT or intervention says which variable was set in each row.
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
    missing : "drop", "level" or "error"
    missing_markers : cells that mean missing

    Raises
    ------
    ValueError
        Naming file, line or column, and the remedy.
    FileNotFoundError
        When there is no such file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("rain,mm\\n" + "no,0.0\\nyes,2.5\\nno,0.0\\nyes,0.5\\n")
    >>> reading = read_table(path)
    >>> reading.data.levels, reading.options["discretize"]
    ((('no', 'yes'), ('<= 0', '(0, 0.5]', '> 0.5')), {'mm': EqualFrequency(bins=3)})
    """
    encoding = encoding_of(path) if encoding is None else encoding
    text, source = read_text(path, encoding), str(path)
    with told_briefly():
        asked = Asked(
            header,
            delimiter,
            decimal,
            skip,
            letters,
            drop,
            levels,
            discretize,
            count,
            intervention,
            missing,
            max_levels,
        )
        found = look(
            text, source, asked, frozenset(string_list("missing_markers", missing_markers))
        )
    options = dict(found.options)
    if encoding != "utf-8-sig":
        options["encoding"] = encoding
    if tuple(missing_markers) != MISSING_MARKERS:
        options["missing_markers"] = tuple(missing_markers)
    if max_levels != DEFAULT_MAX_LEVELS:
        options["max_levels"] = max_levels
    data = read_csv(path, **options)
    _tell_copies(found, data)
    kept = found.rows - (found.gaps if options.get("missing") == "drop" else 0)
    return Reading(
        source,
        data,
        tuple(_column(column, found, data) for column in found.columns),
        found.rows,
        kept,
        options["header"],
        options["delimiter"],
        (
            f"Read as {encoding.removesuffix('-sig').upper()}.",
            *map(brief, found.notes),
            _size(data),
        ),
        options,
    )


def _column(column: Column, found: Found, data: Data) -> ColumnReading:
    role, note = found.roles.get(column.name, "variable"), found.why.get(column.name, "")
    levels: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    if role == "variable":
        v = data.index(column.name)
        levels = data.levels[v]
        counts = tuple(np.bincount(data.values[:, v], minlength=len(levels)).tolist())
    return ColumnReading(
        column.name, role, column.kind, levels, counts, column.missing, brief(note)
    )


def _tell_copies(found: Found, data: Data) -> None:
    """Say which columns tell the same as one before them, in other words perhaps."""
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


def _size(data: Data) -> str:
    least, most = int(data.arities.min()), int(data.arities.max())
    states = f"{least}" if least == most else f"{least} to {most}"
    return f"{data.m:,} rows of {data.n} variables with {states} levels."
