"""Pandas frames as raw columns of text, for `Data.from_frame`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bnlab.checks import shown
from bnlab.data.columns import RawColumn
from bnlab.data.markers import Markers

if TYPE_CHECKING:
    import pandas as pd


def frame_columns(frame: pd.DataFrame, markers: Markers) -> tuple[list[RawColumn], list[str]]:
    """The columns of a pandas frame as text, and where its rows stand."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"from_frame takes a pandas DataFrame; got {shown(frame)}")
    columns: list[RawColumn] = []
    for position, label in enumerate(frame.columns):
        if not isinstance(label, (str, int, np.integer)):
            raise ValueError(
                f"frame: column {position} is called {label!r}; names are strings (or whole "
                "numbers, which become strings). Rename it"
            )
        name = str(label)
        series = frame.iloc[:, position]
        if any(name == column.name for column in columns):
            raise ValueError(f"frame: the column {name!r} occurs twice; rename one")
        missing = series.isna().to_numpy(bool)
        declared = None
        if isinstance(series.dtype, pd.CategoricalDtype):
            declared = tuple(
                str(level) for level in series.cat.categories if not _gap(level, markers)
            )
        elif not _is_discrete(series.dtype):
            raise ValueError(
                f"frame: column {name!r} has type {series.dtype}, which has no levels. "
                "Leave it out, or turn it into categories"
            )
        elif series.dtype == object:
            _check_one_type(series[~missing], name)
        elif pd.api.types.is_float_dtype(series.dtype) and np.isinf(series[~missing]).any():
            row = int(np.flatnonzero(np.isinf(series.to_numpy(float, na_value=np.nan)))[0])
            raise ValueError(
                f"frame, row {row}: column {name!r} holds {series.iloc[row]}, no finite "
                "number. Correct the cell, or make it missing"
            )
        text = any(isinstance(cell, str) for cell in series[~missing])
        missing = missing | np.array([_gap(cell, markers) for cell in series], np.bool_)
        cells = [
            "" if gap and not isinstance(cell, str) else str(cell)
            for cell, gap in zip(series, missing, strict=True)
        ]
        columns.append(RawColumn(name, cells, missing, declared, text))
    return columns, [f"row {row}" for row in range(len(frame))]


def _gap(cell: object, markers: Markers) -> bool:
    """Missing, as in a file: a marker, empty text, or nothing but white space."""
    return isinstance(cell, str) and (not cell.strip() or cell in markers)


def _is_discrete(dtype: object) -> bool:
    from pandas.api import types

    checks = (
        types.is_object_dtype,
        types.is_bool_dtype,
        types.is_numeric_dtype,
        types.is_string_dtype,
    )
    return any(check(dtype) for check in checks)


def _check_one_type(series: pd.Series, name: str) -> None:
    """Text, or numbers, or bools; 1 beside "1" would silently become one level."""
    kinds: dict[str, object] = {}
    for cell in series:
        kind = "text" if isinstance(cell, str) else type(cell).__name__
        if isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool):
            kind = "numbers"
        kinds.setdefault(kind, cell)
    if len(kinds) > 1:
        shown = " and ".join(f"{kind} ({cell!r})" for kind, cell in kinds.items())
        raise ValueError(f"frame: column {name!r} mixes {shown}; convert it to one type")
