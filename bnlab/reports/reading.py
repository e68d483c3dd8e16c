"""`read_table`: a file that nobody has described, read as discrete data."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bnlab.data import Data, read_csv
from bnlab.data.columns import DEFAULT_MAX_LEVELS, Missing, Rules

Role = Literal["variable", "left out", "count", "intervention"]
Kind = Literal["labels", "whole numbers", "measurements"]


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """How one column was read.

    Attributes
    ----------
    name : str
    role : "variable", "left out", "count" or "intervention"
    kind : "labels", "whole numbers" or "measurements", what its cells are
    levels : labels of the states; empty unless it is a variable
    counts : rows of each level
    missing : cells
    note : what was done with it, a sentence, or ""
    """

    name: str
    role: Role
    kind: Kind
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What was read from a file, and how. Make it with `read_table`.

    Attributes
    ----------
    source : str, the path
    data : Data
    columns : ColumnReading of each column of the file
    rows_read, rows_kept : int
    header : bool, whether the first line holds names
    delimiter : str
    notes : a sentence for each decision
    options : for `bnlab.read_csv`: read_csv(path, **options) gives the same data
    """

    source: str
    data: Data
    columns: tuple[ColumnReading, ...]
    rows_read: int
    rows_kept: int
    header: bool
    delimiter: str
    notes: tuple[str, ...]
    options: Mapping[str, Any]


def read_table(
    path: str | os.PathLike[str],
    /,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    drop: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    discretize: Rules = None,
    count: str | Literal[False] | None = None,
    intervention: str | Literal[False] | None = None,
    missing: Missing | None = None,
    encoding: str | None = None,
    max_levels: int = DEFAULT_MAX_LEVELS,
) -> Reading:
    """Read a table of data, finding out by itself what nobody says."""
    options: dict[str, Any] = {"delimiter": delimiter or ","}
    data = read_csv(path, **options)
    columns = tuple(
        ColumnReading(name, "variable", "labels", levels, (), 0, "")
        for name, levels in zip(data.names, data.levels, strict=True)
    )
    return Reading(str(path), data, columns, data.m, data.m, True, ",", (), options)
