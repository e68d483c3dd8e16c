"""Lines and columns of which it is doubtful what they hold: errors that say how to settle it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import prod

from bnlab.data.columns import number_in
from bnlab.data.guesses import FEW_CODES, IDENTIFIER_NAME, WEIGHT_NAMES, Column
from bnlab.data.markers import doubts
from bnlab.errors import InputError, Note, Setting

Guess = tuple[Callable[[Column], object], str]
"""What a column may hold (None or False if it does not), and the sentence on `it` and the column c.

What is found is a cell, or begins with one, or is just True; {line} is where that cell stands.
"""

FEWEST_LINES = 5
ALL = frozenset({"all", "alle", "both", "tous", "todos", "tutti"})  # at one end of a table
CHANCE = 0.01  # expected number of rows as odd as one that is refused
RARE = 0.2  # share of rows with a label that no other row has: above it, that tells nothing
SUMS = frozenset(
    "overall|total|totals|grand total|subtotal|sub-total|sum|sums|mean|average|median|std|sd"
    "|std dev|summe|gesamt|insgesamt|gesamtsumme|mittelwert|ensemble|somme|moyenne|suma|totale"
    "|totaal|totaux|media|margin".split("|")
)


def _sum_label(column: Column) -> str | None:
    """A label that says that its line sums up others."""
    ends, rows = {column.cells[0], column.cells[-1]}, len(column.cells)
    for word, times in column.distinct.items():
        if word.casefold().strip(" :") in SUMS:
            return word
        if word.casefold() in ALL and word in ends and times == 1 < rows - 3:
            return word
    return None


def _is_sum(column: Column) -> bool:
    """Whether the last number is the sum of all above."""
    *above, last = map(number_in, column.cells)
    others = [number for number in above if number is not None]
    if last is None or len(others) < FEWEST_LINES or column.words:
        return False
    return max(others) < last and abs(last - sum(others)) <= 1e-9 * last


_OF_SUMS: tuple[Guess, ...] = (
    (
        _sum_label,
        "{source}, line {line}: column {c.name!r} holds {it!r}. Remove such lines if they sum up "
        "others; else declare the column's labels with {levels=}",
    ),
    (
        lambda c: _is_sum(c) and c.cells[-1],
        "{source}, line {last}: column {c.name!r} holds {it}, the sum of all cells above. Remove "
        "the line, or leave the column out with {drop=}",
    ),
)
_DRESSED: Guess = (
    lambda c: c.dressed,
    "{source}: column {c.name!r} holds numbers written as {it[0]!r}. Write them as {it[1]}, leave "
    "the column out with {drop=}, or declare its labels with {levels=}",
)
_ODD: tuple[Guess, ...] = (
    (
        lambda c: c.odd_cell,
        "{source}, line {line}: column {c.name!r} mixes numbers with text (here {it!r}). Correct "
        "the cell, count it among {missing_markers=}, leave the column out with {drop=}, or "
        "declare its labels with {levels=}",
    ),
    (
        lambda c: c.stand_in,
        "{source}, line {line}: column {c.name!r} holds {it[0]} beside numbers from {it[1]:g} to "
        "{it[2]:g}. If it means missing, count it among {missing_markers=}; else declare the "
        "column's labels with {levels=}, or its rule with {discretize=}",
    ),
)
_OWN_LABELS: Guess = (
    lambda c: c.own_labels,
    "{source}: column {c.name!r} has a label of its own in almost every row ({c.levels} in "
    "{c.present}): leave it out with {drop=}, or declare its labels with {levels=}",
)
_NO_VARIABLES: tuple[Guess, ...] = (
    (
        lambda c: c.is_identifier and not c.words,
        "{source}: column {c.name!r} has a number of its own in almost every row, as one that "
        "names rows: leave it out with {drop=}, or cut it with {discretize=}",
    ),
    (
        lambda c: c.kind == "measurements" and (c.padded or None),
        "{source}: column {c.name!r} holds codes such as {it}, too many for levels: leave it out "
        "with {drop=}, cut it as numbers with {discretize=}, or declare its labels with {levels=}",
    ),
    (
        lambda c: c.merged,
        "{source}: column {c.name!r} has empty cells below each label, as merged cells have. Fill "
        "them, leave the column out with {drop=}, or declare its labels with {levels=}",
    ),
)
_TOLD: tuple[Guess, ...] = (
    (
        lambda c: c.zeros_apart,
        "{c.name} has {it[0]} and {it[1]}, which are one number: declare both with {levels=} if "
        "they differ.",
    ),
    (
        lambda c: c.perhaps_stand_in,
        "{c.name} holds {it} apart from its other numbers: count it among {missing_markers=} if "
        "it means missing.",
    ),
    (
        lambda c: c.rises,
        "{c.name} rises from row to row, as numbers of rows and times do: leave it out with "
        "{drop=} if it tells no more than the order of the rows.",
    ),
    (
        lambda c: c.levels > FEW_CODES and IDENTIFIER_NAME.fullmatch(c.name),
        "{c.name} is kept as a variable, though its name says that it names rows: leave it out "
        "with {drop=} if it does. Several rows of one case are not independent.",
    ),
    (
        lambda c: bool(c.numbers) and WEIGHT_NAMES.fullmatch(c.name),
        "{c.name} is taken for a variable, not for weights of rows: leave it out with {drop=} if "
        "it is none.",
    ),
)


def _refuse(column: Column, source: str, lines: Sequence[int], guesses: Sequence[Guess], /) -> None:
    for find, sentence in guesses:
        it = find(column)
        if it is not None and it is not False:
            cell = it[0] if isinstance(it, tuple) else it
            line = lines[column.cells.index(cell)] if cell in column.cells else 0
            values = {"source": source, "line": line, "last": lines[-1], "c": column, "it": it}
            raise InputError.of(sentence, **values)


def doubts_of(column: Column, /) -> Iterator[Note]:
    """Sentences on labels that may mean missing or the same, and on numbers that may."""
    yield from doubts(column.name, column.words)
    for find, sentence in _TOLD:
        it = find(column)
        if it is not None and it is not False:
            yield Note.of(sentence, c=column, it=it)


def refuse_lines(
    columns: Sequence[Column], source: str, lines: Sequence[int], gaps: bool, /
) -> None:
    """Refuse lines that are no rows of data; `gaps` if nothing was said of missing cells."""
    if not columns:
        return
    rows = list(zip(*(column.cells for column in columns), strict=True))
    empty = [line for row, line in zip(rows, lines, strict=True) if not any(row)]
    if empty and gaps and len(columns) > 1:
        shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        raise InputError.of(
            "{source}, line {shown}: all cells are empty. Remove such lines, or say what becomes "
            "of missing cells with {missing=}",
            source=source,
            shown=shown,
        )
    for column in columns:
        _refuse(column, source, lines, _OF_SUMS)
    if len(rows) >= FEWEST_LINES:
        _strange(columns, rows, source, lines)
        if gaps and len(columns) > 2:
            _last(columns, rows, source, lines)


def _strange(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], source: str, lines: Sequence[int]
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
        raise InputError.of(
            "{source}, line {shown}: unlike other lines (here {cells}), as units, descriptions or "
            "a second header are. Remove such lines; if it is the header, pass over the lines "
            "above it with {skip=}; if it is data, declare the labels of those columns with "
            "{levels=}",
            source=source,
            shown=" and ".join(str(line) for line, _ in found[:3]),
            cells=", ".join(found[0][1][:3]),
        )


def _last(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], source: str, lines: Sequence[int]
) -> None:
    """Lines at the end with a single cell, as footnotes have."""
    start = len(rows)
    while start and sum(map(bool, rows[start - 1])) == 1:
        start -= 1
    for row, line in zip(rows[start:], lines[start:], strict=True):
        v = next(v for v, cell in enumerate(row) if cell)
        if number_in(row[v]) is None and columns[v].distinct[row[v]] == 1:
            raise InputError.of(
                "{source}, line {line}: holds {cell!r} and nothing else, as a footnote does. "
                "Remove the line, or say what becomes of missing cells with {missing=}",
                source=source,
                line=line,
                cell=row[v],
            )


def has_decimal_commas(columns: Sequence[Column], source: str, /) -> bool:
    """Whether numbers have decimal commas; an error if commas or points may group thousands."""
    found = [(column, column.commas) for column in columns if column.commas]
    sure = [(column, word) for column, word in found if not column.grouped]
    pointed = [c for c in columns if c.pointed or any(number % 1 for number in c.numbers)]
    if not found and pointed and all(column.pointed for column in pointed):
        raise InputError.of(
            "{source}: column {c.name!r} has points in its numbers and three digits behind each, "
            'as {c.pointed}. If they are decimal points, say so with {decimal="."}; if they group '
            "thousands, remove them",
            source=source,
            c=pointed[0],
        )
    if not found:
        return False
    column, word = (sure or found)[0]
    if not sure:
        raise InputError.of(
            "{source}: column {c.name!r} has commas in its numbers, as {word}. If they are decimal "
            'commas, say so with {decimal=","}; if they group thousands, remove them',
            source=source,
            c=column,
            word=word,
        )
    for other in columns:
        points = [cell for cell in other.distinct if "." in cell] if other.numbers else []
        if points and other.kind == "measurements":
            raise InputError.of(
                "{source}: column {c.name!r} has decimal commas, as {word}, and column "
                "{other.name!r} has points, as {point}. Write all numbers in one way, or settle "
                'it with {decimal=","} or {decimal="."}',
                source=source,
                c=column,
                word=word,
                other=other,
                point=points[0],
            )
    return True


def refuse_dressed(columns: Sequence[Column], source: str, lines: Sequence[int], /) -> None:
    """Refuse numbers with a unit or a sign of currency, or with groups of thousands."""
    for column in columns:
        _refuse(column, source, lines, [_DRESSED])


def refuse(
    columns: Sequence[Column], source: str, lines: Sequence[int], max_levels: int, /
) -> None:
    """Refuse columns that mix numbers and words, name rows, or hold stand-ins for missing cells."""
    bad = [
        column.name
        for column in columns
        if column.mixed or column.own_labels or (column.words and column.levels > max_levels)
    ]
    if len(bad) > 1:  # all at once
        odd = [word for column in columns if column.mixed for word in column.words]
        few = [repr(word) for word, _ in Counter(odd).most_common(3)]
        raise InputError.of(
            "{source}: the columns {names} mix numbers with text{here}, have labels of their own "
            "in almost every row, or more than {most} labels. Leave them out with {drop=}, count "
            "such cells among {missing_markers=}, or correct them one by one",
            source=source,
            names=", ".join(map(repr, bad)),
            here=f" (here {', '.join(few)})" if few else "",
            most=Setting("max_levels", max_levels),
        )
    for column in columns:
        own = [_OWN_LABELS] if column.levels <= max_levels else []
        _refuse(column, source, lines, [*_ODD, *own, *_NO_VARIABLES])
