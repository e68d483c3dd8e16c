"""What the columns of a file that nobody has described most likely hold; its encoding.

Each guess either rests on something that chance hardly brings about, or is refused as doubtful: a
wrong guess would spoil the data without a word.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from bnlab.data.cells import DECIMAL_COMMA
from bnlab.data.columns import number_in
from bnlab.data.discretizing import CutPoints, Discretizer, EqualFrequency, discretize

Kind = Literal["labels", "whole numbers", "measurements"]

MOST_CODES = 24  # different whole numbers that may be codes; more are measurements
FEW_CODES = 12  # of which there may be less than three cells each
OWN_LABELS = 0.9  # share of rows with a label that no other has, in a column of identifiers
FEWEST_ROWS = 10  # in which different labels say that they are identifiers
SEQUENCE_LENGTH, MOST_LETTERS = 8, 20  # the shortest sequence; letters in use: amino acids have 20
COUNT_NAMES = {"count", "counts", "freq", "frequency", "n"}
PERHAPS_COUNTS = COUNT_NAMES | set(
    "total totals cases number num freq. count(*) nobs anzahl häufigkeit effectif"
    " fälle frecuencia frequenza observed repeats".split()
)
WEIGHT_NAMES = re.compile(r"(.*[_ .])?(weights?|wt|wgt|pweight|gewicht)([_ .].*)?", re.IGNORECASE)
INTERVENTION_NAMES = {"int", "intervention", "interventions", "intervened", "do"}
_NAMES = "ids?|nr|no|key|index|names?|identifier|row|patient|subject|case|sample"
IDENTIFIER_NAME = re.compile(rf"(.*[ _.-])?({_NAMES})([ _.-].*)?", re.IGNORECASE)
STAND_INS = (
    -9,
    -99,
    -999,
    -9999,
    *(77, 88, 97, 98, 99, 777, 888, 999, 9999, 99999),
)  # numbers that often mean missing
CODES = (8, 9, 77, 88, 97, 98, 99, 999)  # which they may mean, near to others
FAR = 100  # times as large as all others
BINS = 3
_ZEROS = re.compile(r"0+[1-9]\d*")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_POINT_GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+|(?<=\.\d{3}\.\d{3}))")
_MAYBE_GROUPS = re.compile(r"[+-]?(0|[1-9]\d{0,2}(\.\d{3})?)")
_DRESSED = re.compile(r"([$€£¥]? ?)([+-]?\d(?:[\d.,' ]*\d)?)( ?(?:[%‰$€£¥]|[^\W\d_]{1,5})?)")


@dataclass(frozen=True)
class Column:
    """The cells of a column, and which of them are missing."""

    name: str
    cells: list[str]
    markers: frozenset[str]

    @cached_property
    def distinct(self) -> Counter[str]:
        """How often each cell occurs that is not missing."""
        return Counter(cell for cell in self.cells if cell not in self.markers)

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

    @cached_property
    def levels(self) -> int:
        """How many different values there are."""
        return len(self.words) + len(self.numbers)

    @property
    def kind(self) -> Kind:
        """Labels if a cell is no number; measurements if one has a fraction, or they are many."""
        if self.words or not self.numbers:
            return "labels"
        fractions, different = any(number % 1 for number in self.numbers), len(self.numbers)
        few = different <= FEW_CODES or 3 * different <= self.present
        codes = not fractions and different <= MOST_CODES and few
        return "whole numbers" if codes else "measurements"

    @property
    def mixed(self) -> bool:
        """Whether it holds both numbers and words."""
        return bool(self.words and self.numbers)

    @property
    def odd_cell(self) -> str | None:
        """Where numbers and words are mixed, the first cell of those that are fewer."""
        words = len(self.words) <= len(self.numbers)
        odd = (c for c in self.distinct if (number_in(c) is None) == words)
        return next(odd) if self.mixed else None

    @property
    def own_labels(self) -> bool:
        """Whether it has words, and almost every cell one of its own."""
        cells = self.present
        return bool(self.words) and cells >= FEWEST_ROWS and self.levels >= OWN_LABELS * cells

    @property
    def grouped(self) -> bool:
        """Whether commas in its numbers may group thousands."""
        return all(_GROUPED.fullmatch(word) for word in self.words)

    @property
    def commas(self) -> str:
        """A number with a decimal comma, "" if there is none or a cell is something else.

        One that may just as well group thousands, as 1,234, only if all of them may.
        """
        words = [word for word in self.words if DECIMAL_COMMA.fullmatch(word)]
        if len(words) < len(self.words):
            return ""
        return next((word for word in words if not _GROUPED.fullmatch(word)), *words[:1] or [""])

    @property
    def dressed(self) -> tuple[str, str] | None:
        """Many numbers with a unit or groups of thousands: one of them, and how it is without."""
        found = [_DRESSED.fullmatch(word) for word in self.words]
        if self.numbers or not (len(self.words) > MOST_CODES or self.own_labels):
            return None
        parts = [word.groups() for word in found if word is not None]
        plain = [_ungrouped(number) for _, number, _ in parts]
        if len(parts) < len(found) or len({(sign, unit) for sign, _, unit in parts}) > 1:
            return None
        if any(number_in(number) is None for number in plain):
            return None
        word, number = self.words[0], parts[0][1]
        return word, number if word != number and DECIMAL_COMMA.fullmatch(number) else plain[0]

    @property
    def pointed(self) -> str:
        """A number whose point may group thousands, as may those of all the others, "" if none."""
        cells = [cell for cell in self.distinct if number_in(cell) is not None]
        pointed = [cell for cell in cells if "." in cell]
        some = len(pointed) < len(cells) or any(number % 1 for number in self.numbers)
        maybe = some and all(_MAYBE_GROUPS.fullmatch(cell) for cell in cells)
        return pointed[0] if pointed and maybe else ""

    @property
    def padded(self) -> str:
        """A whole number filled up with zeros, as codes of one length are, "" if there is none."""
        if self.words or len({len(cell) for cell in self.distinct}) > 1:
            return ""
        return next((cell for cell in self.distinct if _ZEROS.fullmatch(cell)), "")

    @property
    def merged(self) -> bool:
        """Whether its labels stand as in merged cells: each with empty cells below it."""
        labels = [cell for cell in self.cells if cell]
        half = 1 < len(labels) <= len(self.cells) / 2 and bool(self.cells[0])
        pairs = zip(self.cells, self.cells[1:], strict=False)
        apart = not any(a and b for a, b in pairs)
        return half and apart and all(a != b for a, b in pairwise(labels))

    @property
    def stand_in(self) -> tuple[str, float, float] | None:
        """A number far from all others that often means missing, as -999; the range of those."""
        if self.words or len(self.numbers) < 3:
            return None
        (low, second), (last, high) = self.numbers[:2], self.numbers[-2:]
        if low in STAND_INS and second >= 0 and (low < -9 or self.kind != "measurements"):
            return self._cell_of(low), second, high
        if high in STAND_INS and 0 <= 10 * last < high:
            return self._cell_of(high), low, last
        return None

    def _cell_of(self, number: float) -> str:
        return next(cell for cell in self.distinct if number_in(cell) == number)

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
        if self.words or IDENTIFIER_NAME.fullmatch(self.name):
            return True
        numbers = [number_in(cell) for cell in self.cells]
        first = numbers[0]
        return isinstance(first, int) and numbers == list(range(first, first + rows))

    @property
    def counts(self) -> bool:
        """Whether its cells can be counts of rows."""
        whole = bool(self.numbers) and not self.words and not self.missing
        return whole and all(number >= 0 and number % 1 == 0 for number in self.numbers)

    @property
    def may_count(self) -> bool:
        """Whether its name says that it counts rows, and its cells do not speak against it."""
        fractions = any(number % 1 for number in self.numbers)
        digits = all(word[:1].isdigit() for word in self.words)
        name = self.name.casefold()
        named = name in (COUNT_NAMES if fractions else PERHAPS_COUNTS)
        return named and bool(self.distinct) and digits

    @property
    def zeros_apart(self) -> tuple[str, str] | None:
        """A number filled up with zeros that also occurs without."""
        padded = (c for c in self.distinct if _ZEROS.fullmatch(c) and not self.words)
        return next(((c, c.lstrip("0")) for c in padded if c.lstrip("0") in self.distinct), None)

    @property
    def rises(self) -> bool:
        """Whether its numbers rise from row to row."""
        known = [number for number in map(number_in, self.cells) if number is not None]
        return len(known) >= FEWEST_ROWS and all(a < b for a, b in pairwise(known))

    @property
    def perhaps_stand_in(self) -> int | float | None:
        """A number that may mean missing: -1 or 0 below, 8, 9, 98, 99, ... or more above others."""
        numbers = self.numbers
        if self.words or len(numbers) < 4:
            return None
        low, second, last = numbers[0], numbers[1], numbers[-1]
        far = self.kind == "measurements" and low == 0 and 2 * second >= last - second
        if far or (low == -1 and second >= 0):
            return low
        whole = not any(number % 1 for number in numbers)
        code = whole and last in CODES and last - numbers[-2] > 2
        return last if code or last > FAR * numbers[-2] > 0 else None

    def holds_interventions(self, names: Sequence[str]) -> bool:
        """Whether its name says so, and its cells are 0, variables or their numbers."""
        numbers = all(number % 1 == 0 and 0 <= number <= len(names) for number in self.numbers)
        words = all(word in names for word in self.words)
        return self.name.casefold() in INTERVENTION_NAMES and numbers and words

    def rule(self, bins: int = BINS) -> Discretizer:
        """How to cut measurements: three equally filled intervals, or two where ties forbid it."""
        values = np.array([float(cell) for cell in self.cells if cell not in self.markers])
        for count in range(bins, 1, -1):
            try:
                discretize(values, EqualFrequency(count))
            except ValueError:
                continue
            return EqualFrequency(count)
        # A constant is refused, by its name, when it is cut.
        return CutPoints([float(self.numbers[-2])]) if len(self.numbers) > 1 else EqualFrequency(2)


def _ungrouped(number: str) -> str:
    """A number without groups of thousands, with a decimal point."""
    if _POINT_GROUPS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    return re.sub("[,' ]", "", number)


def encoding_of(raw: bytes, /) -> str:
    """UTF-16 if a file begins so, else UTF-8; never Latin-1, which every file could be."""
    return "utf-16" if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
