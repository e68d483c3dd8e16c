"""What the fields of `Data` must be, and the errors for what they may not."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Bools, Floats, Ints, conforming, shown
from bnlab.data.discretizing import Intervals
from bnlab.data.text import string_list

MISSING = -1  # the code of a missing cell
MAX_VARIABLES = 63
MAX_ARITY = 10**6
MAX_MEASUREMENT = 1e100

Names = tuple[str, ...]
Levels = tuple[Names, ...]


def as_table(values: ArrayLike, /) -> NDArray[Any]:
    """Return an (m, n) array, or refuse what is none."""
    if np.ma.is_masked(values):
        raise ValueError("values are masked in places: drop those rows, or give them a code")
    try:
        table = np.asarray(values)
    except ValueError as error:
        raise ValueError("values must be a rectangular (m, n) array; rows are ragged") from error
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"values must be an (m, n) array with n >= 1; got shape {table.shape}")
    if table.shape[1] > MAX_VARIABLES:
        raise ValueError(
            f"{table.shape[1]} variables; sets of variables are 64-bit masks, so at most "
            f"{MAX_VARIABLES} fit. Choose fewer columns"
        )
    return table


def as_codes(values: ArrayLike, /) -> Ints:
    """Return (m, n) codes as int64, or refuse them."""
    codes = as_table(values)
    if codes.dtype != np.bool_ and not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(
            f"values are {codes.dtype}, but codes are integers 0..arity-1. Use .astype(int) on "
            "whole numbers, discretize on measurements, Data.from_frame or read_csv on labels"
        )
    if codes.size and codes.max() > np.iinfo(np.int32).max:
        raise ValueError(f"code {codes.max()} does not fit 32 bits; recode to 0, 1, 2, ...")
    return codes.astype(np.int64)


def check_codes(values: ArrayLike, arities: Ints, names: Sequence[str], /) -> Ints:
    """Codes (m, n) as int64, if each is a state of its variable or that of a missing cell."""
    codes = as_codes(values)
    for row, v in np.argwhere((codes < MISSING) | (codes >= arities)):
        raise ValueError(
            f"row {row}, variable {names[v]!r}: code {codes[row, v]} is none of the {arities[v]} "
            f"states 0..{arities[v] - 1}, nor {MISSING} for a missing cell. Declare states that "
            "the data have not seen in its arities"
        )
    return codes


def check_names(names: Sequence[str], n: int, /) -> Names:
    checked = string_list("names", names)
    if len(checked) != n:
        raise ValueError(f"{len(checked)} names for {n} columns; give one for each")
    for v, name in enumerate(checked):
        if not isinstance(name, str) or not name:
            raise ValueError(f"names are non-empty strings; got {name!r}")
        if name in checked[:v]:
            raise ValueError(f"the name {name!r} occurs twice; rename one of the columns")
    return checked


def check_arities(arities: ArrayLike, n: int, /) -> Ints:
    sizes = np.asarray(arities)
    if sizes.shape != (n,) or not np.issubdtype(sizes.dtype, np.integer):
        raise ValueError(f"arities must be {n} integers, one for each column; got {shown(arities)}")
    if sizes.size and sizes.max() > MAX_ARITY:
        raise ValueError(f"arity {sizes.max()} is beyond {MAX_ARITY}; join states, or leave it out")
    return sizes.astype(np.int64)


def as_states(table: NDArray[Any], measured: Bools, /) -> NDArray[Any]:
    """The columns with states of a table, zeros for measured ones; integers if they are whole."""
    states = np.where(measured, 0, table)
    whole = states.dtype.kind == "f" and (np.isfinite(states) & (states % 1 == 0)).all()
    return states.astype(np.int64) if whole else states


def check_measurements(
    given: Floats | None, arities: Ints, names: Names, m: int, missing: Bools | bool = False
) -> Floats | None:
    """The (m, n) measurements, nan for states and missing cells; refused if not finite."""
    measured = arities == 0
    if not measured.any() and given is None:
        return None
    numbers = conforming("measurements", given, NDArray[np.float64] | None)
    table = np.array(np.nan if numbers is None else numbers, np.float64, order="C")
    if table.shape != (m, len(names)):
        raise ValueError(
            f"measurements={shown(given)}: give an array {(m, len(names))}, like values, for the "
            "variables with arity 0"
        )
    given_cells = measured & ~np.broadcast_to(missing, table.shape)
    bad = np.argwhere(~(np.abs(table) <= MAX_MEASUREMENT) & given_cells)
    for row, v in bad:
        raise ValueError(
            f"row {row}, variable {names[v]!r}: {table[row, v]} is no measurement: give a number "
            f"of magnitude at most {MAX_MEASUREMENT:g}, leave out rows without one, or keep nan as "
            'a missing cell (missing="keep")'
        )
    table[~given_cells] = np.nan
    return table


def _one_each(field: str, given: Sequence[Any], names: Names) -> None:
    if len(given) != len(names):
        raise ValueError(
            f"{field} has {len(given)} entries for {len(names)} columns; give one for each"
        )


def check_levels(levels: Sequence[Sequence[str]], names: Names) -> Levels:
    columns = tuple(levels) if isinstance(levels, Iterable) else ()
    _one_each("levels", columns, names)
    return tuple(
        tuple(map(str, conforming(f"levels of {name!r}", column, Sequence[object])))
        for name, column in zip(names, columns, strict=True)
    )


def check_intervals(
    intervals: Sequence[Intervals | None], names: Names, levels: Levels
) -> tuple[Intervals | None, ...]:
    given = tuple(conforming("intervals", intervals, Sequence[object])) or (None,) * len(names)
    if not all(cut is None or hasattr(cut, "cut_points") for cut in given):
        raise ValueError(f"intervals={shown(intervals)}: give Intervals or None for each column")
    _one_each("intervals", given, names)
    for name, cut, labels in zip(names, given, levels, strict=True):
        if cut is not None and len(labels) <= len(cut.cut_points):
            raise ValueError(
                f"variable {name!r} has {len(labels)} levels, too few for "
                f"{len(cut.cut_points)} cut points"
            )
    return given


def check_variable(codes: Ints, arity: int, name: str, levels: Names) -> None:
    if arity < 2:
        raise ValueError(
            f"variable {name!r} has {arity} level{'' if arity == 1 else 's'}: a constant tells "
            "nothing about the others. Leave it out, or declare the states that did not occur"
        )
    if len(levels) != arity:
        raise ValueError(f"variable {name!r} has arity {arity} but {len(levels)} level labels")
    if len(set(levels)) < arity:
        twice = next(label for label in levels if levels.count(label) > 1)
        raise ValueError(f"variable {name!r} has two levels labelled {twice!r}; rename one")
    if codes.size and not MISSING <= codes.min() <= codes.max() < arity:
        row = int(np.flatnonzero((codes < MISSING) | (codes >= arity))[0])
        raise ValueError(
            f"row {row}, variable {name!r}: code {codes[row]} is outside 0..{arity - 1}. "
            "Recode the column, or raise its arity"
        )


def check_gaps(codes: Ints, names: Names, /, *, keep: bool) -> None:
    """Refuse the first code below 0, unless it is that of a missing cell to keep."""
    for row, v in np.argwhere(codes < (MISSING if keep else 0))[:1]:
        code = int(codes[row, v])
        hint = ': pass missing="keep" if it marks a missing cell' * (code == MISSING)
        raise ValueError(f"row {row}, variable {names[v]!r}: code {code} is negative{hint}")


def infer_arity(codes: Ints, name: str, /) -> int:
    """Return the number of states, all of which occur."""
    if not codes.size:
        raise ValueError("no rows to infer arities from; pass arities=")
    seen = np.unique(codes[codes != MISSING])
    if not seen.size:
        raise ValueError(f"all cells of {name!r} are missing. Leave it out, or pass arities=")
    if len(seen) == 1:
        raise ValueError(
            f"variable {name!r} is constant (only code {seen[0]}). Leave it out, or pass arities="
        )
    if len(seen) <= seen[-1]:
        gap = int(np.flatnonzero(seen != np.arange(len(seen)))[0])
        raise ValueError(
            f"variable {name!r} holds code {seen[-1]} but never code {gap}. Pass arities= if "
            "that state exists, or recode the column to 0, 1, 2, ..."
        )
    return len(seen)
