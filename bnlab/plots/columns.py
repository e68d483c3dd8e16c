"""Columns of sources, from arrays and from rows, and the numbers of axes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.plots.drawing import model

Columns = dict[str, list[Any]]

Series = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""Name of a curve -> its places and its values."""


def data_source(columns: Mapping[str, Any], /, name: str | None = None) -> ColumnDataSource:
    """Make the source of these columns, by whose name what draws it is found."""
    return model(ColumnDataSource, data=dict(columns), name=name)


def from_rows(names: str, rows: Sequence[Sequence[object]], /) -> Columns:
    """The columns of these names, which are parted by blanks, from rows."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


def vector(values: ArrayLike, size: int, what: str) -> Floats:
    """The values as floats (size,), or a ValueError that says what has another shape."""
    out = np.asarray(values, np.float64)
    if out.shape != (size,):
        raise ValueError(f"{what} has shape {out.shape}, but {size} values are needed")
    return out


def square(matrix: ArrayLike, names: Sequence[str], what: str, /) -> Floats:
    """`matrix` as floats (n, n) with n = len(names), or a ValueError that says which differs."""
    values = np.asarray(matrix, np.float64)
    if values.shape != (len(names), len(names)):
        raise ValueError(
            f"{what} has shape {values.shape}, but there are {len(names)} names: "
            "give one row and one column a name"
        )
    return values


def wide(over: str, x: ArrayLike, lines: Mapping[str, ArrayLike], /) -> Columns:
    """The columns of lines over the same places, which are the column `over`."""
    places = np.asarray(x, np.float64)
    named = {label: vector(values, places.size, label) for label, values in lines.items()}
    return {over: places.tolist(), **{label: line.tolist() for label, line in named.items()}}


def interval(middle: ArrayLike, margin: float, /) -> Columns:
    """The ends of the interval of half width `margin` around probabilities."""
    low, high = (np.clip(np.asarray(middle) + way * margin, 0, 1) for way in (-1, 1))
    return {"low": low.tolist(), "high": high.tolist()}


def checked(curves: Series, what: str, log: str, /) -> None:
    """Refuse curves of other numbers of places than values, or not positive on a `log` axis."""
    for label, (x, y) in curves.items():
        places, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if places.shape != values.shape or places.ndim != 1:
            raise ValueError(f"{label!r} has {places.size} {what} and {values.size} values")
        shown = {"x": places, "y": values}
        bad = [float(value) for axis in log for value in shown[axis] if value <= 0]
        if bad:
            raise ValueError(f"{label!r} holds {bad[0]:g}: a logarithmic axis shows no such value")


def round_numbers(low: float, high: float, /) -> list[float]:
    """Powers of ten for a logarithmic axis, and 2 and 5 times these when there are few."""
    factors = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [factor * 10.0**power for power in powers for factor in factors]
