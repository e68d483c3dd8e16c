"""What the columns of a file that nobody has described most likely hold; its encoding.

Each guess either rests on something that chance hardly brings about, or is refused as doubtful: a
wrong guess would spoil the data without a word.
"""

import gzip
import os
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from bnlab.data import CutPoints, Discretizer, EqualFrequency, discretize
from bnlab.data.columns import number_in

Kind = Literal["labels", "whole numbers", "measurements"]

MOST_CODES = 24  # different whole numbers that may be codes; more are measurements
OWN_LABELS = 0.9  # share of rows with a label that no other has, in a column of identifiers
FEWEST_ROWS = 10  # in which different labels say that they are identifiers
SEQUENCE_LENGTH, MOST_LETTERS = 8, 20  # the shortest sequence; letters in use: amino acids have 20
COUNT_NAMES = {"count", "counts", "freq", "frequency", "n"}
INTERVENTION_NAMES = {"int", "intervention", "interventions", "intervened", "do"}
IDENTIFIER_NAMES = {"id", "ids", "index", "key", "row", "no", "nr", "name", "names", "identifier"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
BINS = 3


@dataclass(frozen=True)
class Column:
    """The cells of a column, and which of them are missing.

    Examples
    --------
    >>> Column("age", ["31", "?", "54"], frozenset("?")).kind
    'whole numbers'
    """

    name: str
    cells: list[str]
    markers: frozenset[str]

    @cached_property
    def distinct(self) -> Counter[str]:
        """How often each cell occurs that is not missing."""
        return Counter(cell for cell in self.cells if cell not in self.markers)

    @cached_property
    def missing(self) -> int:
        """How many cells are missing."""
        return len(self.cells) - self.distinct.total()

    @cached_property
    def words(self) -> list[str]:
        """The different cells that are no numbers."""
        return [cell for cell in self.distinct if number_in(cell) is None]

    @cached_property
    def numbers(self) -> list[int | float]:
        """The different numbers, ascending."""
        found = {number_in(cell) for cell in self.distinct}
        return sorted(number for number in found if number is not None)

    @cached_property
    def levels(self) -> int:
        """How many different values there are."""
        return len(self.words) + len(self.numbers)

    @property
    def kind(self) -> Kind:
        """Labels if a cell is no number; measurements if one has a fraction, or they are many."""
        if self.words or not self.numbers:
            return "labels"
        fractions = any(number % 1 for number in self.numbers)
        return "measurements" if fractions or len(self.numbers) > MOST_CODES else "whole numbers"

    @property
    def mixed(self) -> bool:
        """Whether it holds both numbers and words."""
        return bool(self.words and self.numbers)

    @property
    def is_sequence(self) -> bool:
        """Many words of one length over few letters: DNA, RNA, proteins."""
        own = len(self.words) >= max(FEWEST_ROWS, OWN_LABELS * len(self.cells))
        if self.numbers or not (own or len(self.words) > MOST_CODES):
            return False
        lengths, letters = {len(word) for word in self.words}, set("".join(self.words))
        return (
            len(lengths) == 1
            and lengths.pop() >= SEQUENCE_LENGTH
            and len(letters) <= MOST_LETTERS
            and all(letter.isalpha() or letter == "-" for letter in letters)
        )

    @property
    def is_identifier(self) -> bool:
        """Whether almost every row has a label of its own, or the rows are numbered."""
        rows = len(self.cells)
        if rows < FEWEST_ROWS or self.levels < OWN_LABELS * rows:
            return False
        if self.words or self.name.casefold() in IDENTIFIER_NAMES:
            return True
        numbers = [number_in(cell) for cell in self.cells]
        first = numbers[0]
        return isinstance(first, int) and numbers == list(range(first, first + rows))

    @property
    def holds_counts(self) -> bool:
        """Whether its name says that it counts rows, and its cells can."""
        whole = bool(self.numbers) and not self.words and not self.missing
        counts = whole and all(number >= 0 and number % 1 == 0 for number in self.numbers)
        return self.name.casefold() in COUNT_NAMES and counts

    def holds_interventions(self, names: Sequence[str]) -> bool:
        """Whether its name says so, and its cells are 0, variables or their numbers."""
        numbers = all(number % 1 == 0 and 0 <= number <= len(names) for number in self.numbers)
        words = all(word in names for word in self.words)
        return self.name.casefold() in INTERVENTION_NAMES and numbers and words

    def rule(self, bins: int = BINS) -> Discretizer:
        """How to cut measurements: three equally filled intervals, or two where ties forbid it.

        Examples
        --------
        >>> Column("rain", ["0.0", "0.0", "0.0", "2.5"], frozenset()).rule()
        EqualFrequency(bins=2)
        """
        values = np.array([float(cell) for cell in self.cells if cell not in self.markers])
        for count in range(bins, 1, -1):
            try:
                discretize(values, EqualFrequency(count))
            except ValueError:
                continue
            return EqualFrequency(count)
        # A constant is refused, by its name, when it is cut.
        return CutPoints([float(self.numbers[-2])]) if len(self.numbers) > 1 else EqualFrequency(2)


def encoding_of(path: str | os.PathLike[str], /) -> str:
    """UTF-16 if the file begins as such files do, else UTF-8 (with or without a mark).

    Latin-1 is never guessed: every file is one, so a wrong guess would not be noticed.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "wide.csv")
    >>> _ = path.write_text("a,b", encoding="utf-16")
    >>> encoding_of(path)
    'utf-16'
    """
    try:
        with gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb") as file:
            wide = file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE)
    except (OSError, EOFError, zlib.error):  # said where the whole file is read
        wide = False
    return "utf-16" if wide else "utf-8-sig"
