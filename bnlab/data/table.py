"""`Data`: a complete table of discrete observations, the input of everything else."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import check_generator, conforming, shown
from bnlab.data.cells import frame_columns
from bnlab.data.columns import (
    DEFAULT_MAX_LEVELS,
    MISSING_LABEL,
    Missing,
    Options,
    Rules,
    encode_table,
    string_list,
)
from bnlab.data.discretizing import Intervals
from bnlab.data.fields import (
    as_codes,
    check_arities,
    check_intervals,
    check_levels,
    check_names,
    check_variable,
    frozen,
    infer_arity,
)
from bnlab.data.markers import MISSING_MARKERS, Markers, warn_of
from bnlab.errors import InputError, parts_of
from bnlab.files import told_briefly

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Data:
    """m complete observations of n discrete variables, checked once and read-only from then on.

    A row subset keeps the arities and levels of the whole: they describe the variables, not the
    sample, so a subset may leave levels unseen. `dataclasses.replace(data, intervened=mask)` adds
    an intervention mask.

    Attributes
    ----------
    values : (m, n) int32, codes 0..arities[v]-1 of the observed states; m = 0 is allowed.
    arities : (n,) int64, number of states of each variable, at least 2.
    names : n distinct names; 1 <= n <= 63, since sets of variables are int64 masks.
    levels : for each variable the distinct labels of its states, in the order of the codes.
    intervened : (m, n) bool, True where the variable was set by an intervention rather than
        observed, or None for purely observational data.
    intervals : for each variable how measurements were cut, or None where levels are labels; by
        default nothing was cut.

    Raises
    ------
    ValueError
        Naming the offending value, and what to do about it.

    Examples
    --------
    >>> Data.from_arrays([[0, 1], [1, 0], [1, 2]], names=["rain", "wind"])
    Data: 3 rows, 2 variables with 2 to 3 states (rain, wind)
    """

    values: NDArray[np.int32]
    arities: NDArray[np.int64]
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    intervened: NDArray[np.bool_] | None = None
    intervals: tuple[Intervals | None, ...] = ()

    def __post_init__(self) -> None:
        codes = as_codes(self.values)
        m, n = codes.shape
        names = check_names(self.names, n)
        arities = check_arities(self.arities, n)
        levels = check_levels(self.levels, names)
        for v in range(n):
            check_variable(codes[:, v], int(arities[v]), names[v], levels[v])
        mask = None if self.intervened is None else np.asarray(self.intervened)
        if mask is not None and (mask.shape != (m, n) or mask.dtype != np.bool_):
            raise ValueError(
                f"intervened must be a bool array of shape {(m, n)}, like values; "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        fields = {
            "values": frozen(codes, np.int32),
            "arities": frozen(arities, np.int64),
            "names": names,
            "levels": levels,
            "intervened": None if mask is None else frozen(mask, np.bool_),
            "intervals": check_intervals(self.intervals, names, levels),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt through the constructor: unpickled arrays would otherwise be writable.
        return Data, tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        low, high = int(self.arities.min()), int(self.arities.max())
        states = f"{low}" if low == high else f"{low} to {high}"
        shown = ", ".join(self.names[:3] + (("...",) if self.n > 3 else ()))
        marked = ""
        if self.intervened is not None:
            marked = f", {int(self.intervened.any(axis=1).sum())} rows with interventions"
        return f"Data: {self.m} rows, {self.n} variables with {states} states ({shown}){marked}"

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.values.shape[1])

    @classmethod
    @told_briefly()
    def from_arrays(
        cls,
        values: ArrayLike,
        arities: Sequence[int] | NDArray[np.int64] | None = None,
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[str]] | None = None,
        intervened: NDArray[np.bool_] | None = None,
    ) -> Data:
        """Make data from integer codes.

        Parameters
        ----------
        values : (m, n) integers; column v holds codes 0..arities[v]-1.
        arities : (n,) numbers of states; by default from `levels`, else the largest code plus
            one, and then every code below it must occur.
        names : n names; by default x0, x1, ...
        levels : labels of the states; by default the codes themselves.
        intervened : (m, n) bool or None.

        Raises
        ------
        ValueError
            For anything but integers, codes outside 0..arity-1, a constant column or an unseen
            code without declared arities, duplicate names, or more than 63 columns.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]], arities=[2, 3]).arities
        array([2, 3])
        """
        codes = as_codes(values)
        n = codes.shape[1]
        named = check_names([f"x{v}" for v in range(n)] if names is None else names, n)
        labels = None if levels is None else check_levels(levels, named)
        if arities is None:
            arities = [
                infer_arity(codes[:, v], named[v]) if labels is None else len(labels[v])
                for v in range(n)
            ]
        sizes = check_arities(arities, n)
        labels = labels or tuple(tuple(map(str, range(size))) for size in sizes)
        return cls(codes.astype(np.int32), sizes, named, labels, intervened)

    @classmethod
    @told_briefly()
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        count: str | None = None,
        intervention: str | None = None,
        missing: Missing = "error",
        discretize: Rules = None,
        missing_markers: Sequence[str] = MISSING_MARKERS,
        max_levels: int = DEFAULT_MAX_LEVELS,
    ) -> Data:
        """Make data from a pandas frame of discrete columns; its index is ignored.

        A categorical column keeps its categories and their order, used or not. Levels of other
        columns are the values seen: integers in increasing order, text in alphabetical order.
        In a column of text the cells "1" and "01" are two levels; numbers are compared as numbers.
        Missing are the cells that pandas calls so and, as in a file, empty text and that which is
        a marker. Whole numbers as names of columns become strings. The options mean the same as for
        `read_csv`, and as there a `UserWarning` tells of labels that may mean missing or the same.

        Raises
        ------
        ValueError
            For missing cells, constant columns, numbers that need discretizing, columns that
            mix text and numbers, column types that are not discrete, and other names.

        Examples
        --------
        >>> import pandas as pd
        >>> Data.from_frame(pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 2]})).levels
        (('x', 'y'), ('1', '2'))
        """
        for option, name in {"count": count, "intervention": intervention}.items():
            if not isinstance(name, str | None):
                raise ValueError(f"frame: {option}={shown(name)}: give the name of a column")
        missing = conforming("missing", missing, Missing)
        max_levels = conforming("max_levels", max_levels, int)
        markers = Markers.of(string_list("missing_markers", missing_markers))
        columns, places = frame_columns(frame, markers)
        table = encode_table(
            columns,
            Options(
                discretize=discretize,
                count=count,
                intervention=intervention,
                missing=missing,
                max_levels=max_levels,
            ),
            source="frame",
            places=places,
            declare=("convert the column to a categorical",),
            leave_out=(),
        )
        declared = {column.name for column in columns if column.declared is not None}
        data = from_encoded(table, "frame")
        warn_of(undeclared(data, declared, missing), "frame", missing_markers)
        return data

    def index(self, name: str) -> int:
        """Return the column number of the variable called `name`.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]], names=["a", "b"]).index("b")
        1
        """
        if not isinstance(name, str) or name not in self.names:
            raise ValueError(f"no variable {shown(name)}; there are {', '.join(self.names)}")
        return self.names.index(name)

    def select(self, names: Iterable[str]) -> Data:
        """Select the variables called `names`, in that order.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]], names=["a", "b"]).select(["b", "a"]).names
        ('b', 'a')
        """
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ValueError(f"select takes a list of names; write select([{names!r}])")
        columns = [self.index(name) for name in conforming("names", names, Iterable[str])]
        return self._part(np.arange(self.m), np.array(columns, np.int64))

    def prefix(self, m: int) -> Data:
        """Return the first m rows, 0 <= m <= self.m: prefixes are nested.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]]).prefix(1).values
        array([[0, 1]], dtype=int32)
        """
        return self._rows(np.arange(self.m), m)

    def shuffled(self, rng: np.random.Generator) -> Data:
        """Return the same rows in random order.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]]).shuffled(np.random.default_rng(1)).m
        2
        """
        return self.subsample(self.m, rng)

    def subsample(self, m: int, rng: np.random.Generator) -> Data:
        """Draw m rows without replacement; equally seeded generators give nested subsamples.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]]).subsample(1, np.random.default_rng(1)).m
        1
        """
        check_generator(rng)
        self._check_rows(m)
        return self._rows(rng.permutation(self.m), m)

    def _check_rows(self, m: int) -> None:
        if not 0 <= conforming("m", m, int) <= self.m:
            raise ValueError(
                f"m={shown(m)} rows asked of {self.m}; choose a whole number 0 <= m <= {self.m}"
            )

    def _rows(self, order: NDArray[np.int64], m: int) -> Data:
        """The first m rows in the given order of all."""
        self._check_rows(m)
        return self._part(order[:m], np.arange(self.n))

    def _part(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Data:
        cells = np.ix_(rows, columns)
        return Data(
            self.values[cells],
            self.arities[columns],
            tuple(self.names[v] for v in columns),
            tuple(self.levels[v] for v in columns),
            None if self.intervened is None else self.intervened[cells],
            tuple(self.intervals[v] for v in columns),
        )


def undeclared(data: Data, declared: Container[str], missing: Missing) -> dict[str, list[str]]:
    """The labels that were read, of columns that were neither cut nor declared."""
    gap = MISSING_LABEL if missing == "level" else None
    return {
        name: [label for label in data.levels[v] if label != gap]
        for v, name in enumerate(data.names)
        if data.intervals[v] is None and name not in declared
    }


def from_encoded(fields: Mapping[str, Any], source: str) -> Data:
    """The `Data` of an encoded table; what it refuses is told with the name of the source."""
    try:
        return Data(**fields)
    except ValueError as error:
        raise InputError(f"{source}: ", *parts_of(error)) from error
