"""`read_csv`: delimited text files, without pandas."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

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
from bnlab.files import read_whole, told_briefly

MISSING_MARKERS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
_DELIMITERS = (",", ";", "\t", "|")


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
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
    header : whether the first line holds the names of the columns.
    names : the names of all columns, instead of those of the header or of x0, x1, ...
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
        header=header,
        names=names,
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
        try:
            raw = gzip.decompress(raw)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{path}: not a complete gzip file ({error})") from error
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        codec = encoding.removesuffix("-sig")
        wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise ValueError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not {codec}. Save the file as "
            f'UTF-8, or tell read_csv encoding="{"utf-16" if wide else "latin-1"}"'
        ) from error
    except LookupError as error:
        raise ValueError(f"encoding={encoding!r} is unknown; try utf-8 or latin-1") from error


@told_briefly()
def parse_table(
    text: str,
    *,
    source: str,
    delimiter: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
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
    names = None if names is None else string_list("names", names)
    drop = string_list("drop", drop)
    markers = set(string_list("missing_markers", missing_markers))
    rows, lines = _split(text, source, delimiter)
    if not rows:
        raise ValueError(f"{source}: no rows of data; it is empty")
    if header:
        first = rows.pop(0)
        lines.pop(0)
        if names is not None and len(names) != len(first):
            raise ValueError(f"{source}: {len(names)} names for {len(first)} columns")
        names = first if names is None else names
        if not rows:
            raise ValueError(f"{source}: no rows of data below the header")
    names = [f"x{v}" for v in range(len(rows[0]))] if names is None else names
    _check_header(names, source, header)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            raise ValueError(
                f"{source}, line {line}: {len(row)} cells where {len(names)} are expected. "
                "Correct the line, or pass the delimiter"
            )
    for name in drop:
        if name not in names:
            raise ValueError(f"{source}: drop names the column {name!r}; there are {names}")
    columns = []
    for v, name in enumerate(names):
        if name not in drop:
            cells = [row[v] for row in rows]
            columns.append(RawColumn(name, cells, np.array([cell in markers for cell in cells])))
    table = encode_table(
        columns,
        source=source,
        places=[f"line {line}" for line in lines],
        declare="pass levels=",
        count=count,
        intervention=intervention,
        missing=missing,
        discretize=discretize,
        levels=levels,
        max_levels=max_levels,
    )
    return from_encoded(table, source)


def _split(text: str, source: str, delimiter: str | None) -> tuple[list[list[str]], list[int]]:
    """The non-blank rows of cells, and the line that each ends on."""
    if "\0" in text:
        raise ValueError(f"{source}: holds null bytes, so it is no text file (or pass encoding=)")
    if delimiter is None:
        delimiter = _guess_delimiter(text)
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
                lines.append(reader.line_num)
    except csv.Error as error:
        hint = ". Is a quotation mark left open?" if '"' in text else ""
        raise ValueError(f"{source}, line {reader.line_num}: {error}{hint}") from error
    return rows, lines


def _guess_delimiter(text: str) -> str:
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
