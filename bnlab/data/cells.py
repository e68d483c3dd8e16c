"""Delimited text files as rows of cells, without pandas; its frames as columns of cells."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bnlab.checks import check_counts, conforming, shown
from bnlab.data.columns import Options, RawColumn, string_list
from bnlab.data.markers import Markers, visible
from bnlab.errors import InputError, Setting
from bnlab.files import told_briefly, unpacked

if TYPE_CHECKING:
    import pandas as pd

DECIMAL_COMMA = re.compile(r"[+-]?\d*+,\d++([eE][+-]?\d++)?", re.ASCII)
DELIMITERS = (",", ";", "\t", "|")
_SAVED = 'numpy.savetxt("table.csv", numpy.load({path!r}){part}, fmt="%s", delimiter=",")'
_WRITTEN = 'pandas.read_{kind}({path!r}).to_csv("table.csv", index=False)'
_OTHERS = {  # how they begin: what they are, and how to make a table of text
    rb"PK\x03\x04.{26}[^\x00]{1,80}\.npy": ("arrays of NumPy", _SAVED, '["NAME"]'),
    rb"\x93NUMPY": ("an array of NumPy", _SAVED, ""),
    rb"PAR1.*PAR1\Z": ("a file of Parquet", _WRITTEN, "parquet"),
    rb"ARROW1\x00": ("a file of Arrow", _WRITTEN, "feather"),
    rb"\x80[\x02-\x05].*\.\Z": ("a pickle of Python", _WRITTEN, "pickle"),
    rb"<stata_dta>": ("a file of Stata", _WRITTEN, "stata"),
    rb"\$FL[23]@": ("a file of SPSS", _WRITTEN, "spss"),
}
_WORKBOOKS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # .xlsx, .ods, .zip; .xls
_PACKED = re.compile(rb"BZh[1-9]1AY&SY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd")  # by bzip2, xz, zstd


def read_text(path: str | os.PathLike[str], encoding: str) -> str:
    """The text of a file, gzipped or not; ValueError if it is no text."""
    conforming("path", path, str | os.PathLike[str])
    return decoded(unpacked(path), str(path), encoding)


@told_briefly()
def decoded(raw: bytes, path: str, encoding: str, /) -> str:
    """The text that the content of a file at `path` spells; ValueError if it is no text."""
    _refuse_others(raw, path)
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
        raise InputError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not {codec}. Save the file as "
            "UTF-8, or pass ",
            Setting("encoding", guess),
        ) from error
    except LookupError as error:
        raise InputError(
            Setting("encoding", encoding), " is unknown; try utf-8 or latin-1"
        ) from error


def _refuse_others(raw: bytes, path: str) -> None:
    """Refuse files of other programs, and say how their tables become text."""
    for start, (what, how, of) in _OTHERS.items():
        if re.match(start, raw, re.DOTALL):
            made = how.format(path=path, kind=of, part=of)
            raise ValueError(f"{path}: {what}, no text. Make a table of text with {made}")
    if raw.startswith(_WORKBOOKS):
        raise ValueError(
            f"{path}: a workbook of Excel or an archive. Save its sheet as CSV, or unpack it"
        )
    if _PACKED.match(raw):
        raise ValueError(f"{path}: compressed, but not by gzip. Decompress it first")


class Rows(NamedTuple):
    """Names of the columns, rows of cells, all of that length, and the line that each ends on."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]

    def with_points(self) -> Rows:
        """The same with decimal points instead of commas."""
        rows = [
            [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row]
            for row in self.rows
        ]
        return self._replace(rows=rows)


def table_rows(text: str, source: str, options: Options, /) -> Rows:
    """The cells of a table, as they are; a ValueError for what is none."""
    skip, header, decimal = options.skip or 0, bool(options.header), options.decimal
    given = None if options.names is None else list(string_list("names", options.names))
    if decimal not in (".", ","):
        raise ValueError(f'decimal={decimal!r}: choose "." or ","')
    rows, lines = split_cells(text, source, options.delimiter, skip)
    if not rows:
        where = f" below line {skip}" if skip else ""
        raise ValueError(f"{source}: no rows of data{where}; it is empty")
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
            raise InputError(
                f"{source}, line {line}: {len(row)} cell{'s' * (len(row) > 1)} where "
                f"{len(given)} are expected. Correct the line, or pass ",
                Setting("delimiter"),
                ", or ",
                Setting("skip"),
                " for lines above the table",
            )
    table = Rows(given, rows, lines)
    return table.with_points() if decimal == "," else table


def by_letters(
    columns: dict[str, list[str]],
    letters: Sequence[str],
    markers: Markers,
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
                raise InputError(
                    f"{source}, line {line}: column {name!r} has {len(cell)} letters where "
                    f"{length} are expected. Correct the cell, or leave the column out of ",
                    Setting("letters"),
                )
        for i in range(length):
            out[f"{name}.{i + 1}"] = [cell if cell in markers else cell[i] for cell in cells]
    return out


def split_cells(
    text: str, source: str, delimiter: str | None, skip: int, /
) -> tuple[list[list[str]], list[int]]:
    """The non-blank rows of cells below the first `skip` lines, and the line that each ends on."""
    (skip,) = check_counts(least=0, skip=skip)
    if "\0" in text:
        raise InputError(
            f"{source}: holds null bytes, so it is no text file (or pass ", Setting("encoding"), ")"
        )
    text = below(visible(text), skip)
    if delimiter is None:
        delimiter = guess_delimiter(text)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(Setting("delimiter", delimiter), ": one character is needed")
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


def below(text: str, skip: int, /) -> str:
    """The text below its first `skip` lines."""
    (skip,) = check_counts(least=0, skip=skip)
    lines = min(skip, text.count("\n") + 1)
    return "".join(text.split("\n", lines)[lines:]) if lines else text


def guess_delimiter(text: str, /) -> str:
    """The most frequent of comma, semicolon, tab and bar in the first line; a space without any."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = "".join(first.split('"')[::2])
    best = max(DELIMITERS, key=unquoted.count)
    return best if best in unquoted else " "


def _check_header(names: Sequence[str], source: str, header: bool) -> None:
    hint: tuple[str | Setting, ...] = ()
    if header:
        hint = (". If the first line is data, pass ", Setting("header", False))
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip():
            if position == len(names):
                hint = (": the lines end with a delimiter. Remove it, or name the column",)
            raise InputError(f"{source}: column {position} has no name", *hint)
        if name in seen:
            raise InputError(
                f"{source}: two columns are called {name!r}", *hint, "; else rename one"
            )
        seen.add(name)


def frame_columns(frame: pd.DataFrame, markers: Markers) -> tuple[list[RawColumn], list[str]]:
    """The columns of a pandas frame as text, and where its rows stand."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"from_frame takes a pandas DataFrame; got {shown(frame)}")
    columns: list[RawColumn] = []
    for position, label in enumerate(frame.columns):
        if not isinstance(label, (str, int, np.integer)):
            raise ValueError(
                f"frame: column {position} is called {label!r}; names are strings (or whole "
                "numbers, which become strings). Rename it"
            )
        name = str(label)
        series = frame.iloc[:, position]
        if any(name == column.name for column in columns):
            raise ValueError(f"frame: the column {name!r} occurs twice; rename one")
        missing = series.isna().to_numpy(bool)
        declared = None
        if isinstance(series.dtype, pd.CategoricalDtype):
            declared = tuple(
                str(level) for level in series.cat.categories if not _gap(level, markers)
            )
        elif not _is_discrete(series.dtype):
            raise ValueError(
                f"frame: column {name!r} has type {series.dtype}, which has no levels. "
                "Leave it out, or turn it into categories"
            )
        elif series.dtype == object:
            _check_one_type(series[~missing], name)
        elif pd.api.types.is_float_dtype(series.dtype) and np.isinf(series[~missing]).any():
            row = int(np.flatnonzero(np.isinf(series.to_numpy(float, na_value=np.nan)))[0])
            raise ValueError(
                f"frame, row {row}: column {name!r} holds {series.iloc[row]}, no finite "
                "number. Correct the cell, or make it missing"
            )
        text = any(isinstance(cell, str) for cell in series[~missing])
        missing = missing | np.array([_gap(cell, markers) for cell in series], np.bool_)
        cells = [
            "" if gap and not isinstance(cell, str) else str(cell)
            for cell, gap in zip(series, missing, strict=True)
        ]
        columns.append(RawColumn(name, cells, missing, declared, text))
    return columns, [f"row {row}" for row in range(len(frame))]


def _gap(cell: object, markers: Markers) -> bool:
    """Missing, as in a file: a marker, empty text, or nothing but white space."""
    return isinstance(cell, str) and (not cell.strip() or cell in markers)


def _is_discrete(dtype: object) -> bool:
    from pandas.api import types

    checks = (types.is_object_dtype, types.is_numeric_dtype, types.is_string_dtype)
    return types.is_bool_dtype(dtype) or any(check(dtype) for check in checks)


def _check_one_type(series: pd.Series, name: str) -> None:
    """Text, or numbers, or bools; 1 beside "1" would silently become one level."""
    kinds: dict[str, object] = {}
    for cell in series:
        kind = "text" if isinstance(cell, str) else type(cell).__name__
        if isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool):
            kind = "numbers"
        kinds.setdefault(kind, cell)
    if len(kinds) > 1:
        shown = " and ".join(f"{kind} ({cell!r})" for kind, cell in kinds.items())
        raise ValueError(f"frame: column {name!r} mixes {shown}; convert it to one type")
