"""The fields of `Data`, checked, and its variables by name or number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import conforming, shown
from bnlab.data.columns import string_list

if TYPE_CHECKING:
    from bnlab.data.discretizing import Intervals

MAX_VARIABLES = 63
MAX_ARITY = 10**6


def frozen(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """A read-only C-ordered copy: the caller's array can then change without harm."""
    copy: NDArray[Any] = np.array(array, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


def as_codes(values: ArrayLike) -> NDArray[np.int64]:
    """Return (m, n) codes as int64, or refuse them."""
    if np.ma.is_masked(values):
        raise ValueError("values are masked in places: drop those rows, or give them a code")
    try:
        codes = np.asarray(values)
    except ValueError as error:
        raise ValueError("values must be a rectangular (m, n) array; rows are ragged") from error
    if codes.ndim != 2 or codes.shape[1] == 0:
        raise ValueError(f"values must be an (m, n) array with n >= 1; got shape {codes.shape}")
    if codes.shape[1] > MAX_VARIABLES:
        raise ValueError(
            f"{codes.shape[1]} variables; sets of variables are 64-bit masks, so at most "
            f"{MAX_VARIABLES} fit. Choose fewer columns"
        )
    if codes.dtype != np.bool_ and not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(
            f"values are {codes.dtype}, but codes are integers 0..arity-1. Use .astype(int) on "
            "whole numbers, discretize on measurements, Data.from_frame or read_csv on labels"
        )
    if codes.size and codes.max() > np.iinfo(np.int32).max:
        raise ValueError(f"code {codes.max()} does not fit 32 bits; recode to 0, 1, 2, ...")
    return codes.astype(np.int64)


def check_names(names: Sequence[str], n: int) -> tuple[str, ...]:
    """Return n distinct names."""
    checked = string_list("names", names)
    if len(checked) != n:
        raise ValueError(f"{len(checked)} names for {n} columns; give one for each")
    seen: set[str] = set()
    for name in checked:
        if not isinstance(name, str) or not name:
            raise ValueError(f"names are non-empty strings; got {name!r}")
        if name in seen:
            raise ValueError(f"the name {name!r} occurs twice; rename one of the columns")
        seen.add(name)
    return checked


def check_arities(arities: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return (n,) numbers of states."""
    sizes = np.asarray(arities)
    if sizes.shape != (n,) or not np.issubdtype(sizes.dtype, np.integer):
        raise ValueError(f"arities must be {n} integers, one for each column; got {shown(arities)}")
    if sizes.size and sizes.max() > MAX_ARITY:
        raise ValueError(f"arity {sizes.max()} is beyond {MAX_ARITY}; join states, or leave it out")
    return sizes.astype(np.int64)


def check_levels(
    levels: Sequence[Sequence[str]], names: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    """Return the labels of each variable."""
    columns = tuple(levels) if isinstance(levels, Iterable) else ()
    if len(columns) != len(names):
        raise ValueError(
            f"levels has {len(columns)} entries for {len(names)} columns; give one for each"
        )
    return tuple(
        tuple(map(str, conforming(f"levels of {name!r}", column, Sequence[object])))
        for name, column in zip(names, columns, strict=True)
    )


def check_intervals(
    intervals: Sequence[Intervals | None],
    names: tuple[str, ...],
    levels: tuple[tuple[str, ...], ...],
) -> tuple[Intervals | None, ...]:
    """Return how each variable was cut."""
    given = conforming("intervals", intervals, Sequence[object])
    if not all(cut is None or hasattr(cut, "cut_points") for cut in given):
        raise ValueError(f"intervals={shown(intervals)}: give Intervals or None for each column")
    checked = tuple(given) or (None,) * len(names)
    if len(checked) != len(names):
        raise ValueError(
            f"intervals has {len(checked)} entries for {len(names)} columns; give one for each"
        )
    for name, cut, labels in zip(names, checked, levels, strict=True):
        if cut is not None and len(labels) <= len(cut.cut_points):
            raise ValueError(
                f"variable {name!r} has {len(labels)} levels, too few for "
                f"{len(cut.cut_points)} cut points"
            )
    return checked


def check_variable(
    codes: NDArray[np.int64], arity: int, name: str, levels: tuple[str, ...]
) -> None:
    """Refuse a column that does not fit its arity and labels."""
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
    if codes.size and not 0 <= codes.min() <= codes.max() < arity:
        row = int(np.flatnonzero((codes < 0) | (codes >= arity))[0])
        raise ValueError(
            f"row {row}, variable {name!r}: code {codes[row]} is outside 0..{arity - 1}. "
            "Recode the column, or raise its arity"
        )


def infer_arity(codes: NDArray[np.int64], name: str) -> int:
    """Return the number of states, all of which occur."""
    if not codes.size:
        raise ValueError("no rows to infer arities from; pass arities=")
    seen = np.unique(codes)
    if seen[0] < 0:
        row = int(np.flatnonzero(codes < 0)[0])
        raise ValueError(f"row {row}, variable {name!r}: code {seen[0]} is negative")
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


def node_number(names: Sequence[str], node: int | str, /) -> int:
    """The number of a node that is given by its name or by its number; ValueError for others."""
    if isinstance(node, str):
        if node not in names:
            raise ValueError(f"no variable {node!r}; there are {', '.join(names)}")
        return list(names).index(node)
    if not isinstance(node, int | np.integer) or not 0 <= node < len(names):
        raise ValueError(f"node {node!r} is neither a name nor a number in 0..{len(names) - 1}")
    return int(node)
