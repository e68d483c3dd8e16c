"""Lines, columns and labels of which it is doubtful what they mean: refused with a remedy, or told.

One table says what is looked for in a column, and the sentence for what is found.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod
from operator import attrgetter

from bnlab.data.columns import MOST_CODES, Column, number_in
from bnlab.data.text import DECIMAL_COMMA, WORDS, alike, perhaps_missing
from bnlab.errors import InputError, Note, Setting

FEWEST_LINES = 5
CHANCE = 0.01  # expected number of rows as odd as one that is refused
RARE = 0.2  # share of rows with a label that no other row has: above it, that tells nothing
SUMS = frozenset(WORDS["sums"])
STAND_INS = {-9, -99, -999, -9999, 77, 88, 97, 98, 99, 777, 888, 999, 9999, 99999}
"""Numbers that often mean missing."""
CODES = (8, 9, 77, 88, 97, 98, 99, 999)  # which they may mean, near to others
FAR = 100  # times as large as all others
_ZEROS = re.compile(r"0+[1-9]\d*")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_POINT_GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+|(?<=\.\d{3}\.\d{3}))")
_MAYBE_GROUPS = re.compile(r"[+-]?(0|[1-9]\d{0,2}(\.\d{3})?)")
_DRESSED = re.compile(r"([$€£¥]? ?)([+-]?\d(?:[\d.,' ]*\d)?)( ?(?:[%‰$€£¥]|[^\W\d_]{1,5})?)")


def _sum_label(column: Column) -> str | None:
    """A label that says that its line sums up others."""
    ends, rows = {column.cells[0], column.cells[-1]}, len(column.cells)
    for word, times in column.distinct.items():
        folded = word.casefold()
        at_end = folded in WORDS["sums_at_ends"] and word in ends and times == 1 < rows - 3
        if at_end or folded.strip(" :") in SUMS:
            return word
    return None


def _sum(column: Column) -> str | None:
    """The last cell if it is the sum of all numbers above."""
    *above, last = map(number_in, column.cells)
    others = [number for number in above if number is not None]
    if last is None or len(others) < FEWEST_LINES or column.words:
        return None
    is_sum = max(others) < last and abs(last - sum(others)) <= 1e-9 * last
    return column.cells[-1] if is_sum else None


def _dressed(column: Column) -> tuple[str, str] | None:
    """Many numbers with a unit or groups of thousands: one of them, and how it is without."""
    found = [_DRESSED.fullmatch(word) for word in column.words]
    if column.numbers or not (len(column.words) > MOST_CODES or column.own_labels):
        return None
    parts = [word.groups() for word in found if word is not None]
    plain = [_ungrouped(number) for _, number, _ in parts]
    if len(parts) < len(found) or len({(sign, unit) for sign, _, unit in parts}) > 1:
        return None
    if any(number_in(number) is None for number in plain):
        return None
    word, number = column.words[0], parts[0][1]
    return word, number if word != number and DECIMAL_COMMA.fullmatch(number) else plain[0]


def _ungrouped(number: str) -> str:
    """A number without groups of thousands, with a decimal point."""
    if _POINT_GROUPS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    return re.sub("[,' ]", "", number)


def _odd_cell(column: Column) -> str | None:
    """Where numbers and words are mixed, the first cell of those that are fewer."""
    words = len(column.words) <= len(column.numbers)
    odd = (c for c in column.distinct if (number_in(c) is None) == words)
    return next(odd) if column.mixed else None


def _stand_in(column: Column) -> tuple[str, float, float] | None:
    """A number far from all others that often means missing, as -999; the range of those."""
    numbers, found = column.numbers, None
    if column.words or len(numbers) < 3:
        return None
    (low, second), (last, high) = numbers[:2], numbers[-2:]
    if low in STAND_INS and second >= 0 and (low < -9 or column.kind != "measurements"):
        found = low, second, high
    elif high in STAND_INS and 0 <= 10 * last < high:
        found = high, low, last
    cell = (c for c in column.distinct if found and number_in(c) == found[0])
    return (next(cell), *found[1:]) if found else None


def _padded(column: Column) -> str | None:
    """A whole number filled up with zeros, as codes of one length are, among many numbers."""
    one_length = len({len(cell) for cell in column.distinct}) == 1
    if column.kind != "measurements" or not one_length:
        return None
    return next((cell for cell in column.distinct if _ZEROS.fullmatch(cell)), None)


def _merged(column: Column) -> bool:
    """Whether its labels stand as in merged cells: each with empty cells below it."""
    cells, labels = column.cells, [cell for cell in column.cells if cell]
    half = 1 < len(labels) <= len(cells) / 2 and bool(cells[0])
    apart = not any(a and b for a, b in pairwise(cells))
    return half and apart and all(a != b for a, b in pairwise(labels))


def _zeros_apart(column: Column) -> tuple[str, str] | None:
    """A number filled up with zeros that also occurs without."""
    padded = (c for c in column.distinct if _ZEROS.fullmatch(c) and not column.words)
    return next(((c, c.lstrip("0")) for c in padded if c.lstrip("0") in column.distinct), None)


def _perhaps_stand_in(column: Column) -> int | float | None:
    """A number that may mean missing: -1 or 0 below, 8, 9, 98, 99, ... or more above others."""
    numbers = column.numbers
    if column.words or len(numbers) < 4:
        return None
    low, second, last = numbers[0], numbers[1], numbers[-1]
    far = column.kind == "measurements" and low == 0 and 2 * second >= last - second
    if far or (low == -1 and second >= 0):
        return low
    code = not column.fractions and last in CODES and last - numbers[-2] > 2
    return last if code or last > FAR * numbers[-2] > 0 else None


Columns = Sequence[Column]
Doubts = Mapping[Callable[[Column], object], str]
"""What is looked for in a column, and the sentence on what is found.

`it` is that: a cell, or a tuple that begins with one, after whose line the sentence then stands; or
True. None and False find nothing. {drop=} and the like are settings that serve as remedies.
"""

_OF_SUMS: Doubts = {
    _sum_label: "column {c.name!r} holds {it!r}. Remove such lines if they sum up others; else "
    "declare the column's labels with {levels=}",
    _sum: "column {c.name!r} holds {it}, the sum of all cells above. Remove the line, or leave the "
    "column out with {drop=}",
}
OF_DRESS: Doubts = {
    _dressed: "column {c.name!r} holds numbers written as {it[0]!r}. Write them as {it[1]}, leave "
    "the column out with {drop=}, or declare its labels with {levels=}"
}
"""Numbers with a unit or a sign of currency, or with groups of thousands."""
_OF_CELLS: Doubts = {
    _odd_cell: "column {c.name!r} mixes numbers with text (here {it!r}). Correct the cell, count "
    "it among {missing_markers=}, leave the column out with {drop=}, or declare its labels with "
    "{levels=}",
    _stand_in: "column {c.name!r} holds {it[0]} beside numbers from {it[1]:g} to {it[2]:g}. If it "
    "means missing, count it among {missing_markers=}; else declare the column's labels with "
    "{levels=}, or its rule with {discretize=}",
}
_OF_LABELS: Doubts = {
    attrgetter("own_labels"): "column {c.name!r} has a label of its own in almost every row "
    "({c.levels} in {c.present}): leave it out with {drop=}, or declare its labels with {levels=}"
}
_OF_COLUMNS: Doubts = {
    attrgetter("is_numbering"): "column {c.name!r} has a number of its own in almost every row, as "
    "one that names rows: leave it out with {drop=}, or cut it with {discretize=}",
    _padded: "column {c.name!r} holds codes such as {it}, too many for levels: leave it out with "
    "{drop=}, cut it as numbers with {discretize=}, or declare its labels with {levels=}",
    _merged: "column {c.name!r} has empty cells below each label, as merged cells have. Fill them, "
    "leave the column out with {drop=}, or declare its labels with {levels=}",
}
_TOLD: Doubts = {
    _zeros_apart: "{c.name} has {it[0]} and {it[1]}, which are one number: declare both with "
    "{levels=} if they differ.",
    _perhaps_stand_in: "{c.name} holds {it} apart from its other numbers: count it among "
    "{missing_markers=} if it means missing.",
    attrgetter("rises"): "{c.name} rises from row to row, as numbers of rows and times do: leave "
    "it out with {drop=} if it tells no more than the order of the rows.",
    attrgetter("perhaps_identifier"): "{c.name} is kept as a variable, though its name says that "
    "it names rows: leave it out with {drop=} if it does. Several rows of one case are not "
    "independent.",
    attrgetter("named_like_weights"): "{c.name} is taken for a variable, not for weights of rows: "
    "leave it out with {drop=} if it is none.",
}


def _found(column: Column, doubts: Doubts) -> Iterator[tuple[object, str]]:
    """What is found in a column, and the sentence on it."""
    for find, sentence in doubts.items():
        it = find(column)
        if it is not None and it is not False:
            yield it, sentence


def refuse(columns: Columns, source: str, lines: Sequence[int], doubts: Doubts, /) -> None:
    """Refuse the first column of which something is doubtful."""
    for column in columns:
        for it, sentence in _found(column, doubts):
            cell = it[0] if isinstance(it, tuple) else it
            line = f", line {lines[column.cells.index(cell)]}" if cell in column.cells else ""
            raise InputError.of(f"{source}{line}: ", sentence, c=column, it=it)


def told_of(column: Column, /) -> Iterator[Note]:
    """Sentences on labels that may mean missing or the same, and on numbers that may."""
    yield from told_of_labels(column.name, column.words)
    for it, sentence in _found(column, _TOLD):
        yield Note.of("", sentence, c=column, it=it)


def told_of_labels(name: str, labels: Sequence[str], /, *, gaps: bool = True) -> Iterator[Note]:
    """Sentences on the labels of a column that may mean missing (if asked), and that look alike."""
    found = [label for label in labels if gaps and perhaps_missing(label, labels)]
    if found:
        s, it, means = ("s", "them", "they mean") if len(found) > 1 else ("", "it", "it means")
        told = f"{name} has the level{s} {', '.join(map(repr, found))}: count {it} among "
        yield Note.of(told, "{missing_markers=} if {means} missing.", means=means)
    if groups := alike(labels):
        yield Note(
            f"{name} has {', '.join(groups[:4])} as different levels: write them alike if they "
            "mean the same."
        )


def refuse_lines(columns: Columns, source: str, lines: Sequence[int], gaps: bool, /) -> None:
    """Refuse lines that are no rows of data; `gaps` if nothing was said of missing cells."""
    if not columns:
        return
    rows = list(zip(*(column.cells for column in columns), strict=True))
    empty = [str(line) for row, line in zip(rows, lines, strict=True) if not any(row)]
    if empty and gaps and len(columns) > 1:
        raise InputError.of(
            f"{source}, line {', '.join(empty[:5])}{', ...' * (len(empty) > 5)}: all cells are "
            "empty. ",
            "Remove such lines, or say what becomes of missing cells with {missing=}",
        )
    refuse(columns, source, lines, _OF_SUMS)
    if len(rows) < FEWEST_LINES:
        return
    strange = _strange(columns, rows)
    if strange:
        raise InputError.of(
            f"{source}, line {' and '.join(str(lines[i]) for i, _ in strange[:3])}: unlike other "
            f"lines (here {', '.join(strange[0][1][:3])}), as units, descriptions or a second "
            "header are. ",
            "Remove such lines; if it is the header, pass over the lines above it with {skip=}; if "
            "it is data, declare the labels of those columns with {levels=}",
        )
    start = len(rows)
    while start and sum(map(bool, rows[start - 1])) == 1:  # as footnotes at the end
        start -= 1
    for row, line in zip(rows[start:], lines[start:], strict=True):
        v, cell = next((v, cell) for v, cell in enumerate(row) if cell)
        own = number_in(cell) is None and columns[v].distinct[cell] == 1
        if own and gaps and len(columns) > 2:
            raise InputError.of(
                f"{source}, line {line}: holds {cell!r} and nothing else, as a footnote does. ",
                "Remove the line, or say what becomes of missing cells with {missing=}",
            )


def _strange(columns: Columns, rows: Sequence[Sequence[str]]) -> list[tuple[int, list[str]]]:
    """Rows with words like nowhere else in their columns, all along, as in a second header."""
    m = len(rows)
    odd: list[set[str] | None] = []
    chances: list[float] = []
    gaps = [column.missing / m for column in columns]
    for column in columns:
        among_numbers = column.mixed and 2 * len(column.words) < column.levels
        own = {word for word in column.words if among_numbers or column.distinct[word] == 1}
        share = sum(column.distinct[word] for word in own) / m
        odd.append(own if share <= RARE else None)
        # A word among numbers is odder than a label that occurs once.
        chances.append(share**2 if among_numbers else share)
    found = []
    for i, row in enumerate(rows):
        told = [v for v, own in enumerate(odd) if own is not None and columns[v].distinct[row[v]]]
        strange = len(told) > 1 and all(row[v] in (odd[v] or ()) for v in told)
        empty = prod(gaps[v] for v, cell in enumerate(row) if not columns[v].distinct[cell])
        if strange and m * empty * prod(chances[v] for v in told) < CHANCE:
            found.append((i, [row[v] for v in told]))
    return found


def has_decimal_commas(columns: Columns, source: str, /) -> bool:
    """Whether numbers have decimal commas; an error if commas or points may group thousands."""
    commas = {c.name: _comma(c) for c in columns}
    found = [column for column in columns if commas[column.name]]
    sure = [c for c in found if not all(_GROUPED.fullmatch(word) for word in c.words)]
    points = {c.name: _point(c) for c in columns}
    pointed = [c for c in columns if points[c.name] or c.fractions]
    if not found:
        if pointed and all(points[column.name] for column in pointed):
            raise InputError.of(
                f"{source}: column {pointed[0].name!r} has points in its numbers and three digits "
                f"behind each, as {points[pointed[0].name]}. ",
                "If they are decimal points, say so with {decimal='.'}; if they group thousands, "
                "remove them",
            )
        return False
    name = (sure or found)[0].name
    if not sure:
        raise InputError.of(
            f"{source}: column {name!r} has commas in its numbers, as {commas[name]}. ",
            "If they are decimal commas, say so with {decimal=','}; if they group thousands, "
            "remove them",
        )
    for other in columns:
        cells = [cell for cell in other.distinct if "." in cell] if other.numbers else []
        if cells and other.kind == "measurements":
            raise InputError.of(
                f"{source}: column {name!r} has decimal commas, as {commas[name]}, and column "
                f"{other.name!r} has points, as {cells[0]}. ",
                "Write all numbers in one way, or settle it with {decimal=','} or {decimal='.'}",
            )
    return True


def _comma(column: Column) -> str:
    """A number with a decimal comma, rather one that groups no thousands; "" if there is none."""
    words = [word for word in column.words if DECIMAL_COMMA.fullmatch(word)]
    if len(words) < len(column.words):
        return ""
    return next((word for word in words if not _GROUPED.fullmatch(word)), *words[:1] or [""])


def _point(column: Column) -> str:
    """A number whose point may group thousands, as may those of all the others, "" if none."""
    cells = [cell for cell in column.distinct if number_in(cell) is not None]
    pointed = [cell for cell in cells if "." in cell]
    some = len(pointed) < len(cells) or column.fractions
    maybe = some and all(_MAYBE_GROUPS.fullmatch(cell) for cell in cells)
    return pointed[0] if pointed and maybe else ""


def refuse_columns(columns: Columns, source: str, lines: Sequence[int], max_levels: int, /) -> None:
    """Refuse columns that mix numbers and words, name rows, or hold stand-ins for missing cells."""
    bad = [c for c in columns if c.mixed or c.own_labels or (c.words and c.levels > max_levels)]
    if len(bad) > 1:  # all at once
        odd = Counter(word for column in columns if column.mixed for word in column.words)
        few = ", ".join(repr(word) for word, _ in odd.most_common(3))
        raise InputError.of(
            f"{source}: the columns {', '.join(repr(column.name) for column in bad)} mix numbers "
            f"with text{f' (here {few})' if few else ''}, have labels of their own in almost every "
            "row, or more than ",
            "{most} labels. Leave them out with {drop=}, count such cells among "
            "{missing_markers=}, or correct them one by one",
            most=Setting("max_levels", max_levels),
        )
    for column in columns:
        labels = _OF_LABELS if column.levels <= max_levels else {}
        refuse([column], source, lines, {**_OF_CELLS, **labels, **_OF_COLUMNS})
