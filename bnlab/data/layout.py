"""Where the table stands in a file: lines before it, delimiter, names of its columns."""

import re
from itertools import pairwise
from typing import Any

from bnlab.data.columns import number_in
from bnlab.data.text import DELIMITERS, Options, below, guess_delimiter, split_cells
from bnlab.errors import InputError, Setting

LINES_COUNTED = 100
MOST_BEFORE = 20  # lines of a title or of comments
FIRST_YEAR, LAST_YEAR = 1800, 2100
SAMPLE = 100_000  # letters that are looked at to find the delimiter
_QUOTED = re.compile(r'(?m)(^|[,;\t|]) *"(?:[^"]|"")*+"')
_OTHER = re.compile(
    r'\s*+(?:(?P<JSON>[\[{]+\s*")|(?P<HTML><(?:!doctype|html|table|\?xml))|(?P<ARFF>(?:%.*+\n|\s)*+@relation)'
    r"|(?P<SQL>(?:create|insert|select|drop)\s+(?:table|into|\*)))",
    re.IGNORECASE,
)
_SIGNS = {" ": "white space", "\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_EXCEL = re.compile(r'"?sep=(.)"?\r?', re.IGNORECASE)


def layout(
    text: str, source: str, markers: frozenset[str], asked: Options, /
) -> tuple[dict[str, Any], list[str]]:
    """Where the table stands in the text of a file: options of `read_csv`, and notes on them."""
    other = _OTHER.match(text[:SAMPLE])
    if other is not None:
        raise ValueError(
            f"{source}: holds {other.lastgroup}, no lines of cells. Save its table as CSV"
        )
    before = lines_before(text) if asked.skip is None else asked.skip
    body, delimiter, header = below(text, before), asked.delimiter, asked.header
    if delimiter is None:
        excel = before == 1 and asked.skip is None
        said = _EXCEL.fullmatch(text.split("\n", 1)[0]) if excel else None
        delimiter = delimiter_of(body, source) if said is None else said[1]
    rows, lines = split_cells(text, source, delimiter, before)
    _refuse_shape(rows, source, asked.delimiter is not None)
    lines_are = "line is" if before == 1 else f"{before} lines are"
    notes = [f"The first {lines_are} not part of the table."] if before else []
    empty = [
        line
        for line, after, row in zip(lines, lines[1:], rows[1:], strict=False)
        if after - line - 1 > sum(cell.count("\n") for cell in row)
    ]
    if empty and 4 * len(empty) < len(rows):
        notes.append(
            f"Line {empty[0] + 1} is empty: lines above and below it are read as one table, though "
            "they may be two."
        )
    divided = f"Cells are divided by {_SIGNS.get(delimiter, repr(delimiter))}. The first line holds"
    names = None if header is False else _short_header(rows, markers, header)
    if names is not None:
        notes.append(
            f"{divided} names, one fewer than there are columns: the "
            f"{'first' if names[0] == 'row' else 'last'} column has none."
        )
        return {"delimiter": delimiter, "header": False, "skip": lines[0], "names": names}, notes
    if header is None:
        width = _columns_in_use(rows)
        header = has_header([row[:width] for row in rows], markers) if len(rows) > 1 else True
    if header is None:
        raise InputError.of(
            f"{source}, line {before + 1}: are {', '.join(rows[0][:3])}, ... names or data? Some "
            "of the cells speak for names, some against. ",
            "Say it with {header=True} or {header=False}, or pass over lines above the names with "
            "{skip=}",
        )
    if header and (again := [i for i, row in enumerate(rows) if i and row == rows[0]]):
        raise ValueError(f"{source}, line {lines[again[0]]}: the header once more. Remove the line")
    if asked.header is not None:
        why = f"{'names' if header else 'data'}, as asked."
    elif header:
        why = "names: none of its cells is a number or is found below in its column."
    else:
        why = (
            "data, since some of its cells are numbers or are found below in their columns; "
            "columns are called x0, x1, ..."
        )
    notes.append(f"{divided} {why}")
    found = {"delimiter": delimiter, "header": header} | ({"skip": before} if before else {})
    if header and rows:
        first = list(rows[0])
        if len(first) > 1 and not first[0]:
            first[0] = "row"
        first = [name or f"column {v}" for v, name in enumerate(first, start=1)]
        if first != rows[0]:
            found["names"] = tuple(first)
    return found, notes


def _short_header(
    rows: list[list[str]], markers: frozenset[str], asked: bool | None
) -> tuple[str, ...] | None:
    """All names, if the first line lacks that of row labels, or of a column without cells."""
    below = rows[1:]
    if len(below) < 2 or any(len(row) != len(rows[0]) + 1 for row in below) or not all(rows[0]):
        return None
    numbers = [[number_in(cell) for cell in row[:2]] for row in below]
    counted = all(a + 1 == b for a, b in pairwise(first or 0 for first, _ in numbers))
    if not counted and all(None not in pair for pair in numbers) and below[0][-1]:
        return None  # as of decimal commas between commas
    if not any(row[-1] for row in below):
        names = (*rows[0], f"column {len(below[0])}")
    elif len({row[0] for row in below}) == len(below):
        names = ("row", *rows[0])
    else:
        return None
    return names if asked or has_header([[*names], *below], markers) else None


def _refuse_shape(rows: list[list[str]], source: str, divided: bool) -> None:
    """Refuse a table of one column, or one whose columns are its rows."""
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        return
    if width == 1 and not divided:
        raise InputError.of(
            f"{source}: only one column, as {rows[0][0]!r}. ",
            "Say with {delimiter=} what divides the cells of a line; quotation marks around a "
            "whole line are to be removed",
        )
    if 2 < width == len(rows) and {row[0] for row in rows[1:]} == set(rows[0][1:]):
        raise ValueError(
            f"{source}: the names of the rows are those of the columns, as in a matrix of "
            "correlations. Each line of a table is to be a case"
        )
    if width <= len(rows):
        return
    cells = [row[1:] for row in (rows if len(set(rows[0])) < width else rows[1:])]
    kinds = [set(row) for row in cells]
    apart = len(kinds) > 1 and sum(map(len, kinds)) == len(set().union(*kinds))
    if apart and all(2 * len(kind) <= width - 1 for kind in kinds):
        raise ValueError(
            f"{source}: each line holds cells like no other line, as if rows and columns had been "
            "exchanged. Transpose the table, so that each variable is a column"
        )


def _columns_in_use(rows: list[list[str]]) -> int:
    """How many columns there are but for empty ones at the end; all, if lines differ."""
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        return width
    used = [v for v in range(width) if any(row[v] for row in rows)]
    return used[-1] + 1 if used else width


def lines_before(text: str, /) -> int:
    """Lines before the table: a title, comments, Excel's "sep=;", or DY with counts and types.

    A title holds no delimiter, or begins with #, and all lines after it hold equally many.
    """
    first = text.split("\n", 4)[:4]
    described = len(first) == 4 and first[0].strip() == "DY"
    if described and first[1].strip().isdigit() and first[2].strip().isdigit():
        return 4
    if _EXCEL.fullmatch(first[0]):
        return 1
    lines = _unquoted(text)
    while lines and not lines[-1]:
        del lines[-1]
    titles = _titles(_unquoted(text, "_"))
    if titles:
        return titles
    starts = []
    for delimiter in DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if not lines or not counts[-1]:
            continue
        start = len(lines)
        while start and (counts[start - 1] == counts[-1] or not lines[start - 1]):
            start -= 1
        before = lines[:start]
        if not before:
            return 0
        # One line without a delimiter above two columns may be the name of one of them.
        apart = not before[-1] or before[-1].startswith("#") or counts[-1] > 1
        titles = all(
            not line or line.startswith("#") or not cells
            for line, cells in zip(before, counts, strict=False)
        )
        if start <= min(MOST_BEFORE, len(lines) - 2) and apart and titles:
            starts.append(start)
    return min(starts, default=0)


def _titles(lines: list[str]) -> int:
    """Lines at the top as wide as the table, with one cell or none, above one without a gap."""
    for delimiter in DELIMITERS:
        cells = [[cell.strip() for cell in line.split(delimiter)] for line in lines[:MOST_BEFORE]]
        start = next((i for i, row in enumerate(cells) if sum(map(bool, row)) > 1), 0)
        if start and len(cells[start]) > 2 and all(cells[start]):
            wide = all(len(row) in (1, len(cells[start])) for row in cells[:start])
            if wide and any(len(row) > 1 for row in cells[:start]):
                return start
    return 0


def _unquoted(text: str, instead: str = "") -> list[str]:
    """The first lines, without what stands between quotation marks, line breaks too."""
    lines = _QUOTED.sub(rf"\1{instead}", text[:SAMPLE]).split("\n")
    if len(text) > SAMPLE and len(lines) > 1:
        del lines[-1]  # perhaps cut
    return [line.strip(" \r") for line in lines[:LINES_COUNTED]]


def delimiter_of(text: str, source: str, /) -> str:
    """The one that cuts all lines into equally many cells; an error if more than one does."""
    lines = [line for line in _unquoted(text) if line]
    counts = {d: {line.count(d) for line in lines} for d in DELIMITERS}
    even = [d for d, found in counts.items() if len(found) == 1 and 0 not in found]
    if len(even) > 1:
        raise InputError.of(
            f"{source}, line 1: {' and '.join(map(repr, even))} each cut all lines into equally "
            "many cells. ",
            "Say which it is with {one} or {other}",
            one=Setting("delimiter", even[0]),
            other=Setting("delimiter", even[1]),
        )
    return even[0] if even else guess_delimiter(text)


def has_header(rows: list[list[str]], markers: frozenset[str], /) -> bool | None:
    """Whether the first row holds names; None if there is something for it and against it.

    Names are no numbers, not missing (but for a first one), and not among the cells below them.
    """
    first = rows[0]
    columns = [
        [row[v] for row in rows[1:] if len(row) > v and row != first] for v in range(len(first))
    ]
    number = [number_in(cell) is not None for cell in first]
    seen = [cell in column for cell, column in zip(first, columns, strict=True)]
    text = [v for v, cell in enumerate(first) if not number[v] and cell not in markers]
    text_seen = any(seen[v] for v in text)
    if not any(number) and not text_seen and not any(cell in markers for cell in first[1:]):
        return True
    fresh = any(not seen[v] and 2 * len(set(columns[v])) <= len(columns[v]) for v in text)
    over_numbers = any(
        columns[v] and all(number_in(cell) is not None or cell in markers for cell in columns[v])
        for v in text
    )
    odd = any(number) and bool(text) and not any(seen)
    doubtful = over_numbers or odd or (fresh and not text_seen) or _series(first, columns, seen)
    return None if doubtful else False


def _series(first: list[str], columns: list[list[str]], seen: list[bool]) -> bool:
    """Whether the first row may hold years or numbers of columns: whole numbers that rise."""
    numbers = [number_in(cell) for cell in first]
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) < max(2, len(first) - 1) or any(a >= b for a, b in pairwise(whole)):
        return False
    below = [number_in(cell) for column in columns for cell in column]
    years = whole[0] >= FIRST_YEAR and whole[-1] <= LAST_YEAR
    apart = not any(n is not None and FIRST_YEAR <= n <= LAST_YEAR for n in below)
    in_turn = len(whole) > 2 and whole == list(range(whole[0], whole[0] + len(whole)))
    return (years and apart) or (in_turn and not all(seen))
