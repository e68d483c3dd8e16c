"""From measurements to states: cut points, equal widths, equal frequencies."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Floats, checked, frozen, shown
from bnlab.errors import InputError, Public
from bnlab.files import told_briefly


class Discretizer(Protocol):
    """A rule that chooses cut points: `CutPoints`, `EqualWidth`, `EqualFrequency`, or your own."""

    def cut_points(self, values: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Strictly increasing bounds for the finite `values` (m,); raises ValueError."""
        ...


@frozen(eq=True)
class Intervals:
    """How a column of measurements was cut, to find the interval of a new one.

    Attributes
    ----------
    cut_points : strictly increasing; the code of a value is the number of them below it
    low, high : the smallest and the largest value that were cut
    """

    cut_points: tuple[float, ...]
    low: float
    high: float

    def code(self, number: float, /) -> int:
        """The interval that holds the number; the outermost ones have no end."""
        return bisect_left(self.cut_points, number)

    def covers(self, number: float, /) -> bool:
        """Whether the number lies between the smallest and the largest that were cut."""
        return self.low <= number <= self.high


class Discretized(NamedTuple):
    """What `discretize` returns: codes (m,) int32, one label for each state, the cut points."""

    codes: NDArray[np.int32]
    levels: tuple[str, ...]
    cut_points: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CutPoints:
    """Cut at the given, strictly increasing points; a bin may stay empty.

    Examples
    --------
    >>> discretize([1.0, 2.0, 3.0], CutPoints([2.0])).levels
    ('<= 2', '> 2')
    """

    points: Sequence[float]

    def __post_init__(self) -> None:
        try:
            numbers = _numbers(self.points)
            if numbers.ndim != 1:
                raise TypeError("no list")
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"cut points are a list of numbers, CutPoints([1.5, 3.0]); got {shown(self.points)}"
            ) from error
        points = tuple(numbers.tolist())
        if not points or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
            raise ValueError(
                f"cut points must be finite and strictly increasing, at least one; got {points}"
            )
        object.__setattr__(self, "points", points)

    @checked
    def cut_points(self, values: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return the given points, whatever the values."""
        return np.array(self.points)


class _Bins:
    """What rules with a number of bins check."""

    bins: int
    __slots__ = ()

    def __post_init__(self) -> None:
        if not isinstance(self.bins, (int, np.integer)) or self.bins < 2:
            raise ValueError(f"bins={self.bins!r}: an integer of at least 2 is needed")

    def _check_enough(self, values: NDArray[np.float64]) -> None:
        """Refuse, before there are cut points, what leaves bins empty wherever they lie."""
        if values.min() == values.max():
            raise ValueError(
                f"all values are {values[0]:g}: a constant cannot be cut into {self.bins} bins"
            )
        if self.bins > values.size:
            raise ValueError(f"{self.bins} bins for {values.size} values: use fewer bins")

    def _filled(self, values: Floats, points: Floats, remedy: str, other: str) -> Floats:
        """The cut points, if no bin is empty."""
        filled = len(np.unique(np.searchsorted(points, values, side="left")))
        if filled < self.bins:
            told = ", ".join(f"{point:.6g}" for point in points)
            raise InputError.of(
                f"only {filled} of {self.bins} bins would hold values (cut points {told}): ",
                f"use fewer bins or {remedy} ({{other}})",
                other=Public(other),
            )
        return points


@frozen(eq=True)
class EqualWidth(_Bins):
    """Cut the range from the smallest to the largest value into `bins` equal intervals.

    Examples
    --------
    >>> discretize([0.0, 1.0, 5.0, 9.0], EqualWidth(3)).cut_points
    (3.0, 6.0)
    """

    bins: int

    def cut_points(self, values: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return bounds (bins - 1,); raise a ValueError when a bin would be empty."""
        self._check_enough(_check_column(values))
        low, high = float(values.min()), float(values.max())
        if high - low == float("inf"):
            raise InputError.of(
                f"the range from {low:g} to {high:g} is too wide for double precision: ",
                "cut it with {one} or {other}",
                one=Public("EqualFrequency"),
                other=Public("CutPoints"),
            )
        points = np.linspace(low, high, self.bins + 1)[1:-1]
        return self._filled(values, points, "equal frequencies", "EqualFrequency")


@frozen(eq=True)
class EqualFrequency(_Bins):
    """Cut at quantiles, so that `bins` intervals hold about equally many values.

    The cut points are values of the column: the smallest x with at least i/bins of the values
    <= x, for i = 1..bins-1.

    Examples
    --------
    >>> discretize([0.0, 1.0, 5.0, 9.0], EqualFrequency(2)).codes
    array([0, 0, 1, 1], dtype=int32)
    """

    bins: int

    def cut_points(self, values: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return bounds (bins - 1,); raise a ValueError when ties leave a bin empty."""
        self._check_enough(_check_column(values))
        shares = np.arange(1, self.bins) / self.bins
        points = np.quantile(values, shares, method="inverted_cdf")
        return self._filled(values, points, "cut points of your own", "CutPoints")


@told_briefly()
def discretize(values: ArrayLike, rule: Discretizer, /) -> Discretized:
    """Code measurements by intervals: the code of a value is the number of cut points below it.

    Intervals are closed on the right: with cut points b0 < b1 the states are <= b0, (b0, b1]
    and > b1.

    Parameters
    ----------
    values : (m,) finite numbers, m >= 1.
    rule : `CutPoints([...])`, `EqualWidth(bins)` or `EqualFrequency(bins)`.

    Raises
    ------
    ValueError
        For values that are not finite numbers, and for constant columns or ties that leave an
        interval of `EqualWidth` or `EqualFrequency` empty.

    Examples
    --------
    >>> discretize([4.9, 5.8, 6.9], CutPoints([5.5, 6.7])).levels
    ('<= 5.5', '(5.5, 6.7]', '> 6.7')
    """
    check_rule(rule)
    try:
        numbers = _numbers(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"only numbers can be discretized; got {shown(values)}") from error
    points = rule.cut_points(_check_column(numbers))
    codes = np.searchsorted(points, numbers, side="left").astype(np.int32)
    return Discretized(codes, _interval_labels(points), tuple(float(point) for point in points))


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    other = isinstance(values, str | bytes | bytearray) or np.ma.is_masked(values)
    if other or np.asarray(values).dtype.kind in "cmM":
        raise TypeError("no real numbers")
    return np.asarray(values, np.float64)


def _check_column(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"discretize takes one column (m,), m >= 1; got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"row {row}: {numbers[row]} is no finite number; drop or replace it first")
    return numbers


def check_spread(numbers: NDArray[np.float64], name: str, /) -> None:
    """Refuse measurements that are all equal, or none."""
    if not numbers.size or (numbers == numbers[0]).all():
        what = f"is constant (only {numbers[0]:g})" if numbers.size else "holds no number at all"
        raise ValueError(f"variable {name!r} {what}: leave it out")


def check_rule(rule: object) -> None:
    """Refuse what is no rule, such as the class `EqualFrequency` itself."""
    if isinstance(rule, type) or not callable(getattr(rule, "cut_points", None)):
        shown = rule.__name__ if isinstance(rule, type) else repr(rule)
        raise ValueError(
            f"{shown} is no rule to discretize by: pass EqualFrequency(3), EqualWidth(3) or "
            "CutPoints([1.5, 3.0])"
        )


def _interval_labels(points: NDArray[np.float64]) -> tuple[str, ...]:
    texts = [f"{point:.6g}" for point in points]
    if len(set(texts)) < len(texts):
        texts = [repr(float(point)) for point in points]
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")
