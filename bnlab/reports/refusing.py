"""Columns of which it is doubtful what they hold: errors that say how to settle it."""

from collections.abc import Sequence

from bnlab.reports.guessing import Column


def has_decimal_commas(columns: Sequence[Column], source: str, /) -> bool:
    """Whether the numbers of a table have decimal commas.

    Raises
    ------
    ValueError
        If the commas may group thousands, or other numbers have decimal points.

    Examples
    --------
    >>> has_decimal_commas([Column("mm", ["0,5", "12"], frozenset())], "weather")
    True
    """
    found = [(column, column.commas) for column in columns if column.commas]
    if not found:
        return False
    sure = [(column, word) for column, word in found if not column.grouped]
    column, word = (sure or found)[0]
    if not sure:
        raise ValueError(
            f"{source}: column {column.name!r} has commas in its numbers, as {word}. If they are "
            'decimal commas, say so with decimal=","; if they group thousands, remove them'
        )
    for other in columns:
        points = [cell for cell in other.distinct if "." in cell] if other.numbers else []
        if points and other.kind == "measurements":
            raise ValueError(
                f"{source}: column {column.name!r} has decimal commas, as {word}, and column "
                f"{other.name!r} has points, as {points[0]}. Write all numbers in one way, or "
                'settle it with decimal="," or decimal="."'
            )
    return True


def dressed(columns: Sequence[Column], source: str, /) -> None:
    """Refuse numbers with a unit or a sign of currency, or with groups of thousands.

    Raises
    ------
    ValueError
        Naming the column.

    Examples
    --------
    >>> dressed([Column("share", [f"{i}%" for i in range(4)], frozenset())], "few are levels")
    """
    for column in columns:
        if column.dressed is not None:
            written, number = column.dressed
            raise ValueError(
                f"{source}: column {column.name!r} holds numbers written as {written!r}. Write "
                f"them as {number}, leave the column out with drop=, or declare its labels with "
                "levels="
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

    Examples
    --------
    >>> refuse([Column("age", ["31", "54"], frozenset())], "fine", [2, 3], 64)
    """
    _several(columns, source, max_levels)
    for column in columns:
        _mixed(column, source, lines)
        _stand_in(column, source, lines)
        if column.own_labels and column.levels <= max_levels:
            raise ValueError(
                f"{source}: column {column.name!r} has a label of its own in almost every row "
                f"({column.levels} in {column.distinct.total()}): leave it out with drop=, or "
                "declare its labels with levels="
            )


def _several(columns: Sequence[Column], source: str, max_levels: int) -> None:
    """Say all at once which columns must go, if there are several."""
    bad = [
        column.name
        for column in columns
        if column.mixed or column.own_labels or (column.words and column.levels > max_levels)
    ]
    if len(bad) > 1:
        raise ValueError(
            f"{source}: the columns {', '.join(map(repr, bad))} mix numbers with text, have labels "
            f"of their own in almost every row, or more than max_levels={max_levels} labels. Leave "
            "them out with drop=, or correct them one by one"
        )


def _mixed(column: Column, source: str, lines: Sequence[int]) -> None:
    if not column.mixed:
        return
    odd = set(column.words if len(column.words) <= len(column.numbers) else [])
    odd = odd or {c for c in column.distinct if c not in column.words}
    row = next(i for i, cell in enumerate(column.cells) if cell in odd)
    raise ValueError(
        f"{source}, line {lines[row]}: column {column.name!r} mixes numbers with text (here "
        f"{column.cells[row]!r}). Correct the cell, count it among missing_markers=, leave the "
        "column out with drop=, or declare its labels with levels="
    )


def _stand_in(column: Column, source: str, lines: Sequence[int]) -> None:
    number = column.stand_in
    if number is None:
        return
    rest = [other for other in column.numbers if other != number]
    row = next(i for i, cell in enumerate(column.cells) if column.is_number(cell, number))
    raise ValueError(
        f"{source}, line {lines[row]}: column {column.name!r} holds {column.cells[row]} beside "
        f"numbers from {rest[0]:g} to {rest[-1]:g}. If it means missing, count it among "
        "missing_markers=; else declare the column's labels with levels=, or its rule with "
        "discretize="
    )
