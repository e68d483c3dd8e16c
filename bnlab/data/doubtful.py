"""Lines and columns of which it is doubtful what they hold: errors that say how to settle it."""

from collections import Counter
from collections.abc import Sequence
from math import prod

from bnlab.data.columns import number_in
from bnlab.data.guesses import Column
from bnlab.errors import InputError, Setting

FEWEST_LINES = 5
ALL = frozenset({"all", "alle", "both", "tous", "todos", "tutti"})  # at one end of a table
CHANCE = 0.01  # expected number of rows as odd as one that is refused
RARE = 0.2  # share of rows with a label that no other row has: above it, that tells nothing
SUMS = frozenset(
    "overall|total|totals|grand total|subtotal|sub-total|sum|sums|mean|average|median|std|sd"
    "|std dev|summe|gesamt|insgesamt|gesamtsumme|mittelwert|ensemble|somme|moyenne|suma|totale"
    "|totaal|totaux|media|margin".split("|")
)


def refuse_lines(
    columns: Sequence[Column], source: str, lines: Sequence[int], gaps: bool, /
) -> None:
    """Refuse lines that are no rows of data.

    Parameters
    ----------
    columns : of which nothing was said
    source : the file
    lines : the line of each row
    gaps : whether nothing was said of missing cells

    Raises
    ------
    ValueError
        Naming line and remedy.

    Examples
    --------
    >>> refuse_lines([Column("rain", ["no", "yes"], frozenset())], "fine", [2, 3], True)
    """
    if not columns:
        return
    rows = list(zip(*(column.cells for column in columns), strict=True))
    if gaps and len(columns) > 1:
        _empty(rows, source, lines)
    _sums(columns, source, lines)
    if len(rows) >= FEWEST_LINES:
        _strange(columns, rows, source, lines)
        if gaps and len(columns) > 2:
            _last(columns, rows, source, lines)


def _empty(rows: Sequence[Sequence[str]], source: str, lines: Sequence[int]) -> None:
    empty = [line for row, line in zip(rows, lines, strict=True) if not any(row)]
    if empty:
        shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        raise InputError(
            f"{source}, line {shown}: all cells are empty. Remove such lines, or say what "
            "becomes of missing cells with ",
            Setting("missing"),
        )


def _sums(columns: Sequence[Column], source: str, lines: Sequence[int]) -> None:
    for column in columns:
        ends = {column.cells[0], column.cells[-1]}
        label = next(
            (
                word
                for word, times in column.distinct.items()
                if word.casefold().strip(" :") in SUMS
                or (word.casefold() in ALL and word in ends and times == 1 < len(lines) - 3)
            ),
            None,
        )
        if label is not None:
            raise InputError(
                f"{source}, line {lines[column.cells.index(label)]}: column {column.name!r} "
                f"holds {label!r}. Remove such lines if they sum up others; else declare the "
                "column's labels with ",
                Setting("levels"),
            )
        numbers = [number_in(cell) for cell in column.cells]
        last, others = numbers[-1], [number for number in numbers[:-1] if number is not None]
        if last is None or len(others) < FEWEST_LINES or column.words:
            continue
        if max(others) < last and abs(last - sum(others)) <= 1e-9 * last:
            raise InputError(
                f"{source}, line {lines[-1]}: column {column.name!r} holds {column.cells[-1]}, "
                "the sum of all cells above. Remove the line, or leave the column out with ",
                Setting("drop"),
            )


def _strange(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    source: str,
    lines: Sequence[int],
) -> None:
    """Words like nowhere else in their columns, all along a line, as in a second header."""
    m = len(rows)
    odd: list[set[str] | None] = []
    chances: list[float] = []
    gaps = [column.missing / m for column in columns]
    for column in columns:
        few_words = 2 * len(column.words) < column.levels
        own = {w for w in column.words if (column.mixed and few_words) or column.distinct[w] == 1}
        share = sum(column.distinct[word] for word in own) / m
        odd.append(own if share <= RARE else None)
        # A word among numbers is odder than a label that occurs once.
        chances.append(share**2 if column.mixed and few_words else share)
    found = []
    for row, line in zip(rows, lines, strict=True):
        told = [v for v, own in enumerate(odd) if own is not None and columns[v].distinct[row[v]]]
        strange = len(told) > 1 and all(row[v] in (odd[v] or ()) for v in told)
        empty = prod(gaps[v] for v, cell in enumerate(row) if not columns[v].distinct[cell])
        if strange and m * empty * prod(chances[v] for v in told) < CHANCE:
            found.append((line, [row[v] for v in told]))
    if found:
        line, cells = found[0]
        more = "".join(f" and {other}" for other, _ in found[1:3])
        raise InputError(
            f"{source}, line {line}{more}: unlike other lines (here {', '.join(cells[:3])}"
            "), as units, descriptions or a second header are. Remove such lines; if it is "
            "the header, pass over the lines above it with ",
            Setting("skip"),
            "; if it is data, declare the labels of those columns with ",
            Setting("levels"),
        )


def _last(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    source: str,
    lines: Sequence[int],
) -> None:
    """Lines at the end with a single cell, as footnotes have."""
    start = len(rows)
    while start and sum(map(bool, rows[start - 1])) == 1:
        start -= 1
    for row, line in zip(rows[start:], lines[start:], strict=True):
        v = next(v for v, cell in enumerate(row) if cell)
        if number_in(row[v]) is None and columns[v].distinct[row[v]] == 1:
            raise InputError(
                f"{source}, line {line}: holds {row[v]!r} and nothing else, as a footnote does. "
                "Remove the line, or say what becomes of missing cells with ",
                Setting("missing"),
            )


def has_decimal_commas(columns: Sequence[Column], source: str, /) -> bool:
    """Whether the numbers of a table have decimal commas.

    Raises
    ------
    ValueError
        If the commas may group thousands, or other numbers have decimal points.
    """
    found = [(column, column.commas) for column in columns if column.commas]
    if not found:
        _points(columns, source)
        return False
    sure = [(column, word) for column, word in found if not column.grouped]
    column, word = (sure or found)[0]
    if not sure:
        raise InputError(
            f"{source}: column {column.name!r} has commas in its numbers, as {word}. If they are "
            "decimal commas, say so with ",
            Setting("decimal", ","),
            "; if they group thousands, remove them",
        )
    for other in columns:
        points = [cell for cell in other.distinct if "." in cell] if other.numbers else []
        if points and other.kind == "measurements":
            raise InputError(
                f"{source}: column {column.name!r} has decimal commas, as {word}, and column "
                f"{other.name!r} has points, as {points[0]}. Write all numbers in one way, or "
                "settle it with ",
                Setting("decimal", ","),
                " or ",
                Setting("decimal", "."),
            )
    return True


def _points(columns: Sequence[Column], source: str) -> None:
    """Refuse points that may group thousands, if no number tells that they do not."""
    pointed = [c for c in columns if c.pointed or any(number % 1 for number in c.numbers)]
    if pointed and all(column.pointed for column in pointed):
        raise InputError(
            f"{source}: column {pointed[0].name!r} has points in its numbers and three "
            f"digits behind each, as {pointed[0].pointed}. If they are decimal points, say "
            "so with ",
            Setting("decimal", "."),
            "; if they group thousands, remove them",
        )


def dressed(columns: Sequence[Column], source: str, /) -> None:
    """Refuse numbers with a unit or a sign of currency, or with groups of thousands.

    Raises
    ------
    ValueError
        Naming the column.
    """
    for column in columns:
        if column.dressed is not None:
            written, number = column.dressed
            raise InputError(
                f"{source}: column {column.name!r} holds numbers written as {written!r}. Write "
                f"them as {number}, leave the column out with ",
                Setting("drop"),
                ", or declare its labels with ",
                Setting("levels"),
            )


def refuse(
    columns: Sequence[Column], source: str, lines: Sequence[int], max_levels: int, /
) -> None:
    """Refuse columns that mix numbers and words, name rows, or hold stand-ins for missing cells.

    Parameters
    ----------
    columns : that are to be variables, and of which nothing was said
    source : the file
    lines : the line of each row
    max_levels : of a column

    Raises
    ------
    ValueError
        Naming the columns, or line and column.
    """
    _several(columns, source, max_levels)
    for column in columns:
        _mixed(column, source, lines)
        _stand_in(column, source, lines)
        if column.own_labels and column.levels <= max_levels:
            raise InputError(
                f"{source}: column {column.name!r} has a label of its own in almost every row "
                f"({column.levels} in {column.distinct.total()}): leave it out with ",
                Setting("drop"),
                ", or declare its labels with ",
                Setting("levels"),
            )
        if column.is_identifier and not column.words:
            raise InputError(
                f"{source}: column {column.name!r} has a number of its own in almost every row, "
                "as one that names rows: leave it out with ",
                Setting("drop"),
                ", or cut it with ",
                Setting("discretize"),
            )
        if column.padded and column.kind == "measurements":
            raise InputError(
                f"{source}: column {column.name!r} holds codes such as {column.padded}, too "
                "many for levels: leave it out with ",
                Setting("drop"),
                ", cut it as numbers with ",
                Setting("discretize"),
                ", or declare its labels with ",
                Setting("levels"),
            )
        if column.merged:
            raise InputError(
                f"{source}: column {column.name!r} has empty cells below each label, as merged "
                "cells have. Fill them, leave the column out with ",
                Setting("drop"),
                ", or declare its labels with ",
                Setting("levels"),
            )


def _several(columns: Sequence[Column], source: str, max_levels: int) -> None:
    """Say all at once which columns must go, if there are several."""
    bad = [
        column.name
        for column in columns
        if column.mixed or column.own_labels or (column.words and column.levels > max_levels)
    ]
    if len(bad) > 1:
        odd = [word for column in columns if column.mixed for word in column.words]
        few = [repr(word) for word, _ in Counter(odd).most_common(3)]
        here = f" (here {', '.join(few)})" if few else ""
        raise InputError(
            f"{source}: the columns {', '.join(map(repr, bad))} mix numbers with text{here}, have "
            "labels of their own in almost every row, or more than ",
            Setting("max_levels", max_levels),
            " labels. Leave them out with ",
            Setting("drop"),
            ", count such cells among ",
            Setting("missing_markers"),
            ", or correct them one by one",
        )


def _mixed(column: Column, source: str, lines: Sequence[int]) -> None:
    if not column.mixed:
        return
    odd = set(column.words if len(column.words) <= len(column.numbers) else [])
    odd = odd or {c for c in column.distinct if c not in column.words}
    row = next(i for i, cell in enumerate(column.cells) if cell in odd)
    raise InputError(
        f"{source}, line {lines[row]}: column {column.name!r} mixes numbers with text (here "
        f"{column.cells[row]!r}). Correct the cell, count it among ",
        Setting("missing_markers"),
        ", leave the column out with ",
        Setting("drop"),
        ", or declare its labels with ",
        Setting("levels"),
    )


def _stand_in(column: Column, source: str, lines: Sequence[int]) -> None:
    number = column.stand_in
    if number is None:
        return
    rest = [other for other in column.numbers if other != number]
    row = next(i for i, cell in enumerate(column.cells) if column.is_number(cell, number))
    raise InputError(
        f"{source}, line {lines[row]}: column {column.name!r} holds {column.cells[row]} beside "
        f"numbers from {rest[0]:g} to {rest[-1]:g}. If it means missing, count it among ",
        Setting("missing_markers"),
        "; else declare the column's labels with ",
        Setting("levels"),
        ", or its rule with ",
        Setting("discretize"),
    )
