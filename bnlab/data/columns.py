"""`Column`: the cells of one column, of a file or a frame, and what they most likely hold.

Each guess rests on something that chance hardly brings about: a wrong one would spoil the data
without a word. What is doubtful is refused or told by `bnlab.data.doubts`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from bnlab.checks import Bools, Ints, shown
from bnlab.data.discretizing import CutPoints, Discretizer, EqualFrequency, discretize
from bnlab.data.text import WORDS, Markers
from bnlab.errors import InputError
from bnlab.files import NUMBER

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["labels", "whole numbers", "measurements"]

MOST_CODES = 24  # different whole numbers that may be codes; more are measurements
FEW_CODES = 12  # of which there may be less than three cells each
OWN_LABELS = 0.9  # share of rows with a label that no other has, in a column of identifiers
FEWEST_ROWS = 10  # in which different labels say that they are identifiers
SEQUENCE_LENGTH, MOST_LETTERS = 8, 20  # the shortest sequence; letters in use: amino acids have 20
COUNT_NAMES = {*WORDS["counts"]}
_NAMES = "ids?|nr|no|key|index|names?|identifier|row|patient|subject|case|sample"
IDENTIFIER_NAME = re.compile(rf"(.*[ _.-])?({_NAMES})([ _.-].*)?", re.IGNORECASE)
WEIGHT_NAMES = re.compile(r"(.*[_ .])?(weights?|wt|wgt|pweight|gewicht)([_ .].*)?", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"([+-]?)0*+(\d*+)(\.0*)?", re.ASCII)


def number_in(cell: str) -> int | float | None:
    """The number that a cell spells, exactly if it is whole; None for text."""
    if NUMBER.fullmatch(cell) is None or not np.isfinite(float(cell)):
        return None
    whole = _WHOLE_NUMBER.fullmatch(cell)
    return float(cell) if whole is None else int(whole[1] + (whole[2] or "0"))


def codes_of(labels: tuple[str, ...], cells: Iterable[str]) -> dict[str, int]:
    """The codes of those cells that are labels, or the same numbers where these are distinct."""
    code_of = {label: code for code, label in enumerate(labels)}
    numbers = {number_in(label): code for code, label in enumerate(labels)}
    if None in numbers or len(numbers) < len(labels):
        numbers = {}
    codes = {cell: code_of.get(cell, numbers.get(number_in(cell))) for cell in cells}
    return {cell: code for cell, code in codes.items() if code is not None}


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of a column as text, and which of them are gaps, that is missing."""

    name: str
    cells: list[str]
    gaps: Bools
    declared: tuple[str, ...] | None = None  # the levels of a categorical column of a frame
    text: bool = False  # of a frame, whether "01" and "1" are two levels

    def kept(self, rows: Sequence[int] | Ints) -> Column:
        """The same column with some of the rows."""
        return replace(self, cells=[self.cells[row] for row in rows], gaps=self.gaps[rows])

    @property
    def seen(self) -> list[str]:
        """The cells that are not missing."""
        return [cell for cell, gap in zip(self.cells, self.gaps, strict=True) if not gap]

    @cached_property
    def distinct(self) -> Counter[str]:
        """How often each cell occurs that is not missing."""
        return Counter(self.seen)

    @property
    def present(self) -> int:
        """How many cells are not missing."""
        return self.distinct.total()

    @property
    def missing(self) -> int:
        """How many cells are missing."""
        return len(self.cells) - self.present

    @cached_property
    def words(self) -> list[str]:
        """The different cells that are no numbers."""
        return [cell for cell in self.distinct if number_in(cell) is None]

    @cached_property
    def numbers(self) -> list[int | float]:
        """The different numbers, ascending."""
        found = {number_in(cell) for cell in self.distinct}
        return sorted(number for number in found if number is not None)

    @property
    def levels(self) -> int:
        """How many different values there are."""
        return len(self.words) + len(self.numbers)

    @property
    def mixed(self) -> bool:
        """Whether it holds both numbers and words."""
        return bool(self.words and self.numbers)

    @property
    def fractions(self) -> bool:
        """Whether some number is not whole."""
        return any(number % 1 for number in self.numbers)

    @property
    def kind(self) -> Kind:
        """Labels if a cell is no number; measurements if one has a fraction, or they are many."""
        if self.words or not self.numbers:
            return "labels"
        different = len(self.numbers)
        few = different <= FEW_CODES or 3 * different <= self.present
        codes = not self.fractions and different <= MOST_CODES and few
        return "whole numbers" if codes else "measurements"

    @property
    def own_labels(self) -> bool:
        """Whether it has words, and almost every cell one of its own."""
        cells = self.present
        return bool(self.words) and cells >= FEWEST_ROWS and self.levels >= OWN_LABELS * cells

    @property
    def is_sequence(self) -> bool:
        """Many words of one length over few letters: DNA, RNA, proteins."""
        own = len(self.words) >= max(FEWEST_ROWS, OWN_LABELS * len(self.cells))
        if self.numbers or not (own or len(self.words) > MOST_CODES):
            return False
        letters = set("".join(self.words))
        return (
            len({len(word) for word in self.words}) == 1
            and len(self.words[0]) >= SEQUENCE_LENGTH
            and len(letters) <= MOST_LETTERS
            and all(letter.isalpha() or letter == "-" for letter in letters)
        )

    @property
    def is_identifier(self) -> bool:
        """Whether almost every row has a label of its own, or the rows are numbered."""
        rows = len(self.cells)
        if rows < FEWEST_ROWS or self.levels < OWN_LABELS * rows:
            return False
        if self.words or IDENTIFIER_NAME.fullmatch(self.name):
            return True
        numbers = list(map(number_in, self.cells))
        first = numbers[0]
        return isinstance(first, int) and numbers == list(range(first, first + rows))

    @property
    def is_numbering(self) -> bool:
        """Whether it identifies rows by numbers."""
        return self.is_identifier and not self.words

    @property
    def perhaps_identifier(self) -> bool:
        """Whether its name says that it names rows, though its values do not."""
        return self.levels > FEW_CODES and IDENTIFIER_NAME.fullmatch(self.name) is not None

    @property
    def named_like_weights(self) -> bool:
        """Whether its name says that it holds weights of rows, and it has numbers."""
        return bool(self.numbers) and WEIGHT_NAMES.fullmatch(self.name) is not None

    @property
    def can_be_counts(self) -> bool:
        """Whether each of its cells is a whole number of at least 0."""
        whole = bool(self.numbers) and not self.words and not self.missing
        return whole and self.numbers[0] >= 0 and not self.fractions

    @property
    def named_like_counts(self) -> bool:
        """Whether its name says that it counts rows, and its cells look like numbers at least."""
        names = COUNT_NAMES if self.fractions else COUNT_NAMES.union(WORDS["perhaps_counts"])
        digits = all(word[:1].isdigit() for word in self.words)
        return self.name.casefold() in names and bool(self.distinct) and digits

    def holds_interventions(self, names: Sequence[str]) -> bool:
        """Whether its name says so, and its cells are 0, variables or their numbers."""
        numbers = all(number % 1 == 0 and 0 <= number <= len(names) for number in self.numbers)
        words = all(word in names for word in self.words)
        return self.name.casefold() in WORDS["interventions"] and numbers and words

    @property
    def rises(self) -> bool:
        """Whether its numbers rise from row to row."""
        known = [number for number in map(number_in, self.cells) if number is not None]
        return len(known) >= FEWEST_ROWS and all(a < b for a, b in pairwise(known))

    def rule(self) -> Discretizer:
        """How to cut measurements: three equally filled intervals, or two where ties forbid it."""
        values = [float(cell) for cell in self.distinct.elements()]
        for rule in (EqualFrequency(3), EqualFrequency(2)):
            try:
                discretize(values, rule)
            except ValueError:
                continue
            return rule
        # A constant is refused, by its name, when it is cut.
        return CutPoints([float(self.numbers[-2])]) if len(self.numbers) > 1 else EqualFrequency(2)


def cut_letters(
    columns: Sequence[Column],
    letters: Sequence[str],
    source: str,
    lines: Sequence[int],
    make: Callable[[str, list[str]], Column],
    /,
) -> list[Column]:
    """The columns, those of sequences cut into one for each letter; a missing cell into as many."""
    for name in letters:
        if name not in [column.name for column in columns]:
            raise ValueError(f"{source}: letters names the column {name!r}, which there is not")
    out: list[Column] = []
    for column in columns:
        name, cells = column.name, list(zip(column.cells, column.gaps, strict=True))
        if name not in letters:
            out.append(column)
            continue
        length = next((len(cell) for cell, gap in cells if not gap), 0)
        for (cell, gap), line in zip(cells, lines, strict=True):
            if not gap and len(cell) != length:
                raise InputError.of(
                    f"{source}, line {line}: column {name!r} has {len(cell)} letters where "
                    f"{length} are expected. ",
                    "Correct the cell, or leave the column out of {letters=}",
                )
        out += [
            make(f"{name}.{i + 1}", [cell if gap else cell[i] for cell, gap in cells])
            for i in range(length)
        ]
    return out


def frame_columns(frame: pd.DataFrame, markers: Markers) -> list[Column]:
    """The columns of a pandas frame as text."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"from_frame takes a pandas DataFrame; got {shown(frame)}")
    columns: list[Column] = []
    for position, label in enumerate(frame.columns):
        if not isinstance(label, (str, int, np.integer)):
            raise ValueError(
                f"frame: column {position} is called {label!r}; names are strings (or whole "
                "numbers, which become strings). Rename it"
            )
        name = str(label)
        if any(name == column.name for column in columns):
            raise ValueError(f"frame: the column {name!r} occurs twice; rename one")
        series = frame.iloc[:, position]
        missing, declared = series.isna().to_numpy(bool), None
        if isinstance(series.dtype, pd.CategoricalDtype):
            levels = series.cat.categories
            declared = tuple(str(level) for level in levels if not _gap(level, markers))
        else:
            _check_series(series, missing, name)
        text = any(isinstance(cell, str) for cell in series[~missing])
        missing = missing | np.array([_gap(cell, markers) for cell in series], np.bool_)
        cells = [
            "" if gap and not isinstance(cell, str) else str(cell)
            for cell, gap in zip(series, missing, strict=True)
        ]
        columns.append(Column(name, cells, missing, declared, text))
    return columns


def _gap(cell: object, markers: Markers) -> bool:
    """Missing, as in a file: a marker, empty text, or nothing but white space."""
    return isinstance(cell, str) and (not cell.strip() or cell in markers)


def _check_series(series: pd.Series, missing: Bools, name: str) -> None:
    """Refuse cells without levels, and mixtures: 1 beside "1" would silently become one level."""
    from pandas.api import types

    kinds = (types.is_bool_dtype, types.is_object_dtype, types.is_numeric_dtype)
    if not any(check(series.dtype) for check in (*kinds, types.is_string_dtype)):
        raise ValueError(
            f"frame: column {name!r} has type {series.dtype}, which has no levels. "
            "Leave it out, or turn it into categories"
        )
    if types.is_float_dtype(series.dtype) and np.isinf(series[~missing]).any():
        row = int(np.flatnonzero(np.isinf(series.to_numpy(float, na_value=np.nan)))[0])
        raise ValueError(
            f"frame, row {row}: column {name!r} holds {series.iloc[row]}, no finite "
            "number. Correct the cell, or make it missing"
        )
    found: dict[str, object] = {}
    for cell in series[~missing] if series.dtype == object else ():
        numeric = isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool)
        kind = "text" if isinstance(cell, str) else type(cell).__name__
        found.setdefault("numbers" if numeric else kind, cell)
    if len(found) > 1:
        told = " and ".join(f"{kind} ({cell!r})" for kind, cell in found.items())
        raise ValueError(f"frame: column {name!r} mixes {told}; convert it to one type")
