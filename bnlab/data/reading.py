"""`read_csv`: delimited text files, without pandas."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bnlab.data.columns import (
    DEFAULT_MAX_LEVELS,
    Missing,
    RawColumn,
    Rules,
    encode_table,
    string_list,
)
from bnlab.data.table import Data, from_encoded
from bnlab.files import decompressed, read_whole, told_briefly
from bnlab.runs import check_counts

MISSING_MARKERS = ("", "?", *("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"))
DECIMAL_COMMA = re.compile(r"[+-]?\d*+,\d++([eE][+-]?\d++)?", re.ASCII)
_DELIMITERS = (",", ";", "\t", "|")
_WORKBOOKS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # .xlsx, .ods, .zip; .xls


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
    count: str | None = None,
    intervention: str | None = None,
    missing: Missing = "error",
    missing_markers: Sequence[str] = MISSING_MARKERS,
    encoding: str = "utf-8-sig",
    max_levels: int = DEFAULT_MAX_LEVELS,
) -> Data:
    """Read a table of discrete data from a delimited text file (gzipped if it ends in .gz).

    Parameters
    ----------
    path : the file; one row a line, blank lines skipped, spaces around cells stripped.
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
    count : the column of a contingency table that says how often each row occurred. Rows that
        never occurred still contribute their levels.
    intervention : the column that says which variable was set by intervention in each row: 0 or
        a missing marker for none, else its name or its number 1..n among the variables.
    missing : what to do with missing cells: "error"; "drop" leaves those rows out; "level" makes
        "missing" a level of its own.
    missing_markers : cells that mean missing.
    encoding : of the file.
    max_levels : columns with more distinct values are refused.

    Raises
    ------
    ValueError
        Naming file, line and column, for all that cannot be read as discrete data.
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
    return parse_table(
        read_text(path, encoding),
        source=str(path),
        delimiter=delimiter,
        decimal=decimal,
        skip=skip,
        header=header,
        names=names,
        letters=letters,
        drop=drop,
        levels=levels,
        discretize=discretize,
        count=count,
        intervention=intervention,
        missing=missing,
        missing_markers=missing_markers,
        max_levels=max_levels,
    )


def read_text(path: str | os.PathLike[str], encoding: str) -> str:
    """The text of a file, decompressed if its name ends in .gz; ValueError if it is no text."""
    raw = read_whole(path)
    if Path(path).suffix == ".gz":
        raw = decompressed(raw, str(path))
    if raw.startswith(_WORKBOOKS):
        raise ValueError(f"{path}: a workbook of Excel or an archive. Save its sheet as CSV")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        codec = encoding.removesuffix("-sig")
        guess = "latin-1"
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            guess = "utf-16"
        elif encoding != "cp1252" and re.search(rb"[\x80-\x9f]", raw):  # no letters in Latin-1
            guess = "cp1252"
        raise ValueError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not {codec}. Save the file as "
            f'UTF-8, or tell read_csv encoding="{guess}"'
        ) from error
    except LookupError as error:
        raise ValueError(f"encoding={encoding!r} is unknown; try utf-8 or latin-1") from error


@told_briefly()
def parse_table(
    text: str,
    *,
    source: str,
    delimiter: str | None = None,
    decimal: str = ".",
    skip: int = 0,
    header: bool = True,
    names: Sequence[str] | None = None,
    letters: Sequence[str] = (),
    drop: Sequence[str] = (),
    levels: Mapping[str, Sequence[str]] | None = None,
    discretize: Rules = None,
    count: str | None = None,
    intervention: str | None = None,
    missing: Missing = "error",
    missing_markers: Sequence[str] = MISSING_MARKERS,
    max_levels: int = DEFAULT_MAX_LEVELS,
) -> Data:
    """`read_csv` on text that is already in memory; `source` names it in messages."""
    drop = string_list("drop", drop)
    markers = set(string_list("missing_markers", missing_markers))
    table_names, rows, lines = table_rows(
        text,
        source=source,
        delimiter=delimiter,
        decimal=decimal,
        skip=skip,
        header=header,
        names=names,
    )
    columns = _by_letters(
        dict(zip(table_names, map(list, zip(*rows, strict=True)), strict=True)),
        string_list("letters", letters),
        markers,
        source,
        lines,
    )
    for name in drop:
        if name not in columns:
            raise ValueError(
                f"{source}: drop names the column {name!r}; there are {', '.join(columns)}"
            )
    table = encode_table(
        [
            RawColumn(name, cells, np.array([cell in markers for cell in cells]))
            for name, cells in columns.items()
            if name not in drop
        ],
        source=source,
        places=[f"line {line}" for line in lines],
        declare="pass levels=",
        leave_out=" with drop=",
        count=count,
        intervention=intervention,
        missing=missing,
        discretize=discretize,
        levels=levels,
        max_levels=max_levels,
    )
    return from_encoded(table, source)


class Rows(NamedTuple):
    """Names of the columns, rows of cells, all of that length, and the line that each ends on."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]


def table_rows(
    text: str,
    *,
    source: str,
    delimiter: str | None,
    decimal: str,
    skip: int,
    header: bool,
    names: Sequence[str] | None,
) -> Rows:
    """The cells of a table, as they are; a ValueError for what is none. Options of `read_csv`.

    Examples
    --------
    >>> options = dict(delimiter=None, decimal=".", skip=0, header=True, names=None)
    >>> table_rows("rain,wind\\nno,calm", source="weather", **options).rows
    [['no', 'calm']]
    """
    given = None if names is None else list(string_list("names", names))
    if decimal not in (".", ","):
        raise ValueError(f'decimal={decimal!r}: choose "." or ","')
    rows, lines = split_cells(text, source, delimiter, skip)
    if not rows:
        raise ValueError(f"{source}: no rows of data; it is empty")
    if header:
        first = rows.pop(0)
        lines.pop(0)
        if given is not None and len(given) != len(first):
            raise ValueError(f"{source}: {len(given)} names for {len(first)} columns")
        given = first if given is None else given
        if not rows:
            raise ValueError(f"{source}: no rows of data below the header")
    given = [f"x{v}" for v in range(len(rows[0]))] if given is None else given
    _check_header(given, source, header)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(given):
            raise ValueError(
                f"{source}, line {line}: {len(row)} cell{'s' * (len(row) > 1)} where "
                f"{len(given)} are expected. "
                "Correct the line, or pass the delimiter"
            )
    if decimal == ",":
        rows = [[_with_point(cell) for cell in row] for row in rows]
    return Rows(given, rows, lines)


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _by_letters(
    columns: dict[str, list[str]],
    letters: Sequence[str],
    markers: set[str],
    source: str,
    lines: list[int],
) -> dict[str, list[str]]:
    """The columns, those of sequences cut into one for each letter; a missing cell into as many."""
    for name in letters:
        if name not in columns:
            raise ValueError(f"{source}: letters names the column {name!r}, which there is not")
    out: dict[str, list[str]] = {}
    for name, cells in columns.items():
        if name not in letters:
            out[name] = cells
            continue
        length = next((len(cell) for cell in cells if cell not in markers), 0)
        for cell, line in zip(cells, lines, strict=True):
            if cell not in markers and len(cell) != length:
                raise ValueError(
                    f"{source}, line {line}: column {name!r} has {len(cell)} letters where "
                    f"{length} are expected. Correct the cell, or leave the column out of letters="
                )
        for i in range(length):
            out[f"{name}.{i + 1}"] = [cell if cell in markers else cell[i] for cell in cells]
    return out


def split_cells(
    text: str, source: str, delimiter: str | None, skip: int, /
) -> tuple[list[list[str]], list[int]]:
    """The non-blank rows of cells below the first `skip` lines, and the line that each ends on.

    Examples
    --------
    >>> split_cells("a;b\\n\\n1;2", "two", None, 0)
    ([['a', 'b'], ['1', '2']], [1, 3])
    """
    (skip,) = check_counts(least=0, skip=skip)
    if "\0" in text:
        raise ValueError(f"{source}: holds null bytes, so it is no text file (or pass encoding=)")
    if skip:
        text = "".join(text.split("\n", skip)[skip:])
    if delimiter is None:
        delimiter = guess_delimiter(text)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"delimiter={delimiter!r}: one character is needed")
    if delimiter == " ":
        text = text.replace("\t", " ")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if delimiter == " ":
                row = [cell for cell in row if cell]
            if row and row != [""]:
                rows.append(row)
                lines.append(skip + reader.line_num)
    except csv.Error as error:
        hint = ". Is a quotation mark left open?" if '"' in text else ""
        raise ValueError(f"{source}, line {skip + reader.line_num}: {error}{hint}") from error
    return rows, lines


def guess_delimiter(text: str, /) -> str:
    """The most frequent of comma, semicolon, tab and bar in the first line; a space without any.

    Examples
    --------
    >>> guess_delimiter("a;b\\n1;2")
    ';'
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = "".join(first.split('"')[::2])
    best = max(_DELIMITERS, key=unquoted.count)
    return best if best in unquoted else " "


def _check_header(names: Sequence[str], source: str, header: bool) -> None:
    hint = ". If the first line is data, pass header=False" if header else ""
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip():
            if position == len(names):
                hint = ": the lines end with a delimiter. Remove it, or name the column"
            raise ValueError(f"{source}: column {position} has no name{hint}")
        if name in seen:
            raise ValueError(f"{source}: two columns are called {name!r}{hint}; else pass names=")
        seen.add(name)
