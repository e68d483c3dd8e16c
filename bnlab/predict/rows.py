"""Rows to predict: checked, with their missing and their intervened cells; or as typed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import checked
from bnlab.data import Data
from bnlab.data.columns import MISSING_LABEL, codes_of, number_in
from bnlab.data.markers import MISSING_MARKERS, Markers
from bnlab.errors import warn

Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of the variables of some data.

    Attributes
    ----------
    values : int32 (rows, n), codes, -1 for a missing cell
    intervened : bool (rows, n), True where the variable was set, or None
    """

    values: Codes
    intervened: Bools | None = None

    def take(self, which: NDArray[np.int64] | slice, /) -> "Rows":
        """Some of the rows."""
        held = None if self.intervened is None else self.intervened[which]
        return Rows(self.values[which], held)


def check_rows(data: Data, new_rows: Data | ArrayLike, /) -> Rows:
    """Rows of the variables of `data`, or a ValueError that says what does not fit."""
    if isinstance(new_rows, Data):
        _check_same_variables(data, new_rows)
        return Rows(new_rows.values, new_rows.intervened)
    try:
        codes = np.asarray(new_rows)
    except ValueError as error:
        raise ValueError("new_rows is ragged: give every row all its cells") from error
    if codes.ndim != 2 or codes.shape[1] != data.n:
        raise ValueError(
            f"new_rows has shape {codes.shape}; rows of {data.n} variables are an array "
            f"(rows, {data.n})"
        )
    if codes.dtype != np.bool_ and not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(
            f"new_rows are {codes.dtype}, but codes are integers 0..arity-1, or {MISSING} for a "
            "missing cell"
        )
    wrong = (codes < MISSING) | (codes >= data.arities)
    if wrong.any():
        t, v = np.argwhere(wrong)[0]
        raise ValueError(
            f"row {t}, variable {data.names[v]!r}: code {codes[t, v]} is none of the "
            f"{data.arities[v]} states 0..{data.arities[v] - 1}, nor {MISSING} for a missing cell. "
            "Declare states that the data have not seen in its arities"
        )
    return Rows(codes.astype(np.int32))


@checked
def typed_row(data: Data, cells: Mapping[str, str | float | None], /) -> Codes:
    """Return the codes (n,) of a typed row; -1 for cells that are missing or not given.

    A label is itself. A number belongs to its interval where the column was cut, and elsewhere to
    the same number among the levels: 1, 1.0 and 01 are one. Beyond all values seen it belongs to
    the outermost interval, and a `UserWarning` says so. None and what `read_csv` takes for missing
    (?, NA, ...) are missing, unless they are labels.

    Parameters
    ----------
    data : Data
    cells : by name of variable

    Raises
    ------
    ValueError
        If there is no such variable, or no level for what is typed.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 2], [1, 1]], arities=[2, 3], names=["rain", "wind"])
    >>> typed_row(data, {"rain": None, "wind": "02.0"})
    array([-1,  2], dtype=int32)
    """
    codes = np.full(data.n, MISSING, np.int32)
    for name, cell in cells.items():
        codes[data.index(name)] = _typed_code(data, name, "" if cell is None else str(cell))
    return codes


def _typed_code(data: Data, name: str, cell: str) -> int:
    v = data.index(name)
    labels, intervals, text = data.levels[v], data.intervals[v], cell.strip()
    if cell in labels or text in labels:
        return labels.index(cell if cell in labels else text)
    if text in Markers.of(MISSING_MARKERS):
        return MISSING
    number = number_in(text)
    if intervals is None:
        seen = tuple(label for label in labels if label != MISSING_LABEL)
        code = codes_of(seen, [text]).get(text)
    else:
        code = None if number is None else intervals.code(number)
    if code is None:
        what = "level" if intervals is None else "number or level"
        raise ValueError(f"{name!r} has no {what} {text!r}; there are {', '.join(labels)}")
    if intervals is not None and number is not None and not intervals.covers(number):
        warn(
            f"{name!r} was seen from {intervals.low:g} to {intervals.high:g}; {text} is taken for "
            f"{labels[code]}"
        )
    return code


def missing_masks(rows: Rows, /) -> Ints:
    """Mask (rows,) of the missing cells of each row."""
    bits = np.int64(1) << np.arange(rows.values.shape[1], dtype=np.int64)
    masks: Ints = np.where(rows.values == MISSING, bits, 0).sum(axis=1)
    return masks


def joint_states(sizes: list[int], /) -> Codes:
    """All joint states (variables, product of sizes) of variables, the last one fastest."""
    return np.indices(sizes, np.int32).reshape(len(sizes), math.prod(sizes))


def completed(rows: Rows, nodes: list[int], arities: Ints, /) -> Rows:
    """Every row with every joint state of `nodes`, the states of one row side by side."""
    states = joint_states([int(arities[v]) for v in nodes])
    values = np.repeat(rows.values, states.shape[1], axis=0)
    values[:, nodes] = np.tile(states, len(rows.values)).T
    held = rows.intervened
    return Rows(values, None if held is None else np.repeat(held, states.shape[1], axis=0))


def _check_same_variables(data: Data, rows: Data) -> None:
    if rows.names != data.names:
        raise ValueError(
            f"new_rows has the variables {', '.join(rows.names)}, not {', '.join(data.names)}: "
            "take those of the data, in their order (Data.select)"
        )
    for name, levels, known in zip(data.names, rows.levels, data.levels, strict=True):
        if levels != known:
            raise ValueError(
                f"variable {name!r} has levels {levels} in new_rows and {known} in the data; "
                "declare the same levels when reading both"
            )
