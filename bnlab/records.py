"""Frozen records, and those that are tables too: data frames, and HTML in notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnlab.graphs import to_dot

if TYPE_CHECKING:  # it takes long to load, and need not be there
    import pandas as pd

Columns = dict[str, list[Any]]

R = TypeVar("R", bound="Record")

MOST_SHOWN = 20  # rows of a table in a notebook


class Record:
    """Base of frozen dataclasses whose arrays cannot be written to, nor those of their copies."""

    __slots__ = ()

    def __post_init__(self) -> None:
        self._set(**{field.name: getattr(self, field.name) for field in fields(self)})  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and unpickle through the constructor."""
        given = [field.name for field in fields(self) if field.init]  # type: ignore[arg-type]
        return type(self), tuple(getattr(self, name) for name in given)

    def _set(self, **values: Any) -> None:
        """Set fields, in the constructor."""
        for name, value in values.items():
            object.__setattr__(self, name, _frozen(value))


def altered(record: R, /, **values: Any) -> R:
    """Return a record with other values, made of what has been checked; they are not again."""
    made = object.__new__(type(record))
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    made._set(**{name: getattr(record, name) for name in names} | values)
    return made


def read_only(array: NDArray[Any], /) -> NDArray[Any]:
    """Return a view of an array that cannot be written to; the array itself stays as it is."""
    view = array.view()
    view.setflags(write=False)
    return view


def _frozen(value: Any) -> Any:
    """Arrays, and those in tuples and mappings, as read-only views."""
    if isinstance(value, np.ndarray):
        return read_only(value)
    if isinstance(value, Mapping):
        return {name: _frozen(element) for name, element in value.items()}
    if isinstance(value, tuple) and any(isinstance(element, np.ndarray) for element in value):
        frozen = map(_frozen, value)
        return type(value)(*frozen) if hasattr(value, "_fields") else tuple(frozen)
    return value


class Tabular(Record):
    """A record that is a table too, of `_columns`."""

    __slots__ = ()

    def _columns(self) -> Columns:
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame; its attrs["about"] says of what it is.

        Raises
        ------
        ModuleNotFoundError
            Without pandas: `pip install bnlab[lab]`.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{type(self).__name__}.to_frame needs pandas: pip install bnlab[lab]"
            ) from error
        frame = pd.DataFrame(self._columns())
        frame.attrs["about"] = repr(self)
        return frame

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        columns = self._columns()
        rows = list(zip(*columns.values(), strict=True))
        rest = f"; the first {MOST_SHOWN} of {len(rows):,} rows, to_frame() has all"
        about = html.escape(repr(self) + rest * (len(rows) > MOST_SHOWN))
        body = "".join(_row("td", row) for row in rows[:MOST_SHOWN])
        head = f"<caption>{about}</caption><thead>{_row('th', columns)}</thead>"
        return f"<table>{head}<tbody>{body}</tbody></table>"


@dataclass(frozen=True, slots=True, eq=False)
class Table(Tabular):
    """Columns by their names, and what they are about."""

    about: str
    columns: Columns

    def __repr__(self) -> str:
        return f"Table({self.about})"

    def _columns(self) -> Columns:
        return dict(self.columns)


class WithDag(Record):
    """A record with a `dag` (n,) and `names`."""

    __slots__ = ()

    @property
    def n(self: Any) -> int:
        """Number of variables."""
        return len(self.names)

    def to_dot(self: Any) -> str:
        """Return the DAG as text for Graphviz, and whatever else reads DOT: `graphs.to_dot`."""
        return to_dot(self.dag, names=self.names)


def ranked_pairs(names: Sequence[str], /, **matrices: NDArray[Any]) -> Columns:
    """Columns from, to and one of each matrix [u, v], u != v, the first's largest entry first."""
    first = next(iter(matrices.values()))
    u, v = np.divmod(np.argsort(-first, axis=None, kind="stable"), len(names))
    u, v = u[u != v], v[u != v]
    ends: Columns = {"from": [names[i] for i in u], "to": [names[i] for i in v]}
    return ends | {name: matrix[u, v].tolist() for name, matrix in matrices.items()}


def check_alike(what: str, names: tuple[str, ...], of: str, others: tuple[str, ...], /) -> None:
    """Raise a ValueError unless two records are of the same variables, in the same order."""
    if names != others:
        raise ValueError(
            f"{what} are of the variables {', '.join(names)}, {of} of {', '.join(others)}: pass "
            "what belongs together"
        )


def _row(kind: str, cells: Iterable[object]) -> str:
    texts = (f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"<tr>{''.join(f'<{kind}>{html.escape(text)}</{kind}>' for text in texts)}</tr>"
