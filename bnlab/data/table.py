"""`Data`: a table of observations, the input of everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import conforming, shown
from bnlab.data.columns import Column, frame_columns
from bnlab.data.discretizing import Intervals, check_spread
from bnlab.data.doubts import told_of_labels
from bnlab.data.encoding import MISSING_LABEL, Encoder
from bnlab.data.text import (
    DEFAULT_MAX_LEVELS,
    MISSING_MARKERS,
    Markers,
    Missing,
    Options,
    Rules,
    string_list,
)
from bnlab.data.validation import (
    MISSING,
    as_codes,
    as_states,
    as_table,
    check_arities,
    check_gaps,
    check_intervals,
    check_levels,
    check_measurements,
    check_names,
    check_variable,
    infer_arity,
)
from bnlab.errors import InputError, parts_of, warn
from bnlab.files import brief, told_briefly
from bnlab.records import Record, altered

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Data(Record):
    """m observations of n variables, checked once and read-only from then on.

    Variables have states, or are measured on a scale: then they have `measurements` and no states,
    and what needs states refuses them. Cells may be missing if the reader was told to keep them
    (`missing="keep"`): `complete` averages over them, and what needs all refuses them. A row subset
    keeps the arities and levels of the whole: they describe the variables, not the sample, so a
    subset may leave levels unseen.
    `dataclasses.replace(data, intervened=mask)` adds an intervention mask.

    Attributes
    ----------
    values : (m, n) int32, codes 0..arities[v]-1 of the observed states, -1 for a missing cell, 0
        for a measured variable; m = 0 is allowed.
    arities : (n,) int64, number of states of each variable, at least 2; 0 for a measured one.
    names : n distinct names; 1 <= n <= 63, since sets of variables are int64 masks.
    levels : for each variable the distinct labels of its states, in the order of the codes.
    intervened : (m, n) bool, True where the variable was set by an intervention rather than
        observed, or None for purely observational data.
    intervals : for each variable how measurements were cut, or None where levels are labels; by
        default nothing was cut.
    measurements : (m, n) float64, nan where a variable has states or a cell is missing, or None if
        all variables have states.

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
    measurements: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        codes = as_codes(self.values)
        m, n = codes.shape
        names = check_names(self.names, n)
        arities = check_arities(self.arities, n)
        levels = check_levels(self.levels, names)
        numbers = check_measurements(self.measurements, arities, names, m, codes == MISSING)
        for v in np.flatnonzero(arities != 0):
            check_variable(codes[:, v], int(arities[v]), names[v], levels[v])
        mask = None if self.intervened is None else np.array(self.intervened)
        if mask is not None and (mask.shape != (m, n) or mask.dtype != np.bool_):
            raise ValueError(
                f"intervened must be a bool array of shape {(m, n)}, like values; "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        for row, v in () if mask is None else np.argwhere(mask & (codes == MISSING)):
            raise ValueError(
                f"row {row}, variable {names[v]!r}: set by an intervention, and missing. Say to "
                "what it was set, or leave the row out"
            )
        intervals = check_intervals(self.intervals, names, levels)
        self._set(values=np.array(codes, np.int32, order="C"), arities=arities, names=names)
        self._set(levels=levels, intervened=mask, intervals=intervals, measurements=numbers)

    def __repr__(self) -> str:
        kind = "measured"
        if not self.measured.all():
            low, high = int(self.arities[~self.measured].min()), int(self.arities.max())
            kind = f"with {low if low == high else f'{low} to {high}'} states"
            if self.measured.any():
                kind += f" or measured ({int(self.measured.sum())})"
        shown = ", ".join(self.names[:3] + (("...",) if self.n > 3 else ()))
        marked = ""
        if self.intervened is not None:
            marked = f", {int(self.intervened.any(axis=1).sum())} rows with interventions"
        if gaps := int(self.missing.sum()):
            marked += f", {gaps} missing cell{'s' * (gaps > 1)}"
        return f"Data: {self.m} rows, {self.n} variables {kind} ({shown}){marked}"

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.values.shape[1])

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Which variables are measured, (n,)."""
        return np.equal(self.arities, 0)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing, (m, n)."""
        return np.equal(self.values, MISSING)

    @property
    def beyond_states(self) -> dict[str, str]:
        """Why what needs a state in each cell refuses these data; empty if all cells have one."""
        found = {}
        if self.measured.any():
            name = self.names[int(self.measured.argmax())]
            found["measurements"] = (
                f" has measurements ({name!r}), and this needs states: cut them (discretize=), or "
                "use what takes them (score=BGe() in score_families and predict, or "
                "ConditionalGaussian())"
            )
        if (gaps := self.missing.any(axis=0)).any():
            found["missing"] = (
                f" has missing cells ({self.names[int(gaps.argmax())]!r}), and this needs all: "
                "average over them with complete, or read them with missing='drop' or 'level'"
            )
        return found

    @classmethod
    @told_briefly()
    def from_arrays(
        cls,
        values: ArrayLike,
        arities: Sequence[int] | NDArray[np.int64] | None = None,
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[str]] | None = None,
        intervened: NDArray[np.bool_] | None = None,
        missing: Literal["error", "keep"] = "error",
    ) -> Data:
        """Make data from integer codes, from measurements, or from both.

        Parameters
        ----------
        values : (m, n) integers; column v holds codes 0..arities[v]-1. Or floats: measurements, and
            beside them codes.
        arities : (n,) numbers of states, 0 for measurements. By default floats are measurements, if
            there are no `levels`; numbers of states come from `levels`, else are the largest code
            plus one, and then every code below it must occur.
        names : n names; by default x0, x1, ...
        levels : labels of the states; by default the codes themselves.
        intervened : (m, n) bool or None.
        missing : whether codes of -1, and measurements that are nan, are errors or missing cells to
            keep.

        Raises
        ------
        ValueError
            For cells that are no numbers up to 1e100, codes outside 0..arity-1, a constant column
            of measurements, a constant column or an unseen code without declared arities, duplicate
            names, or more than 63 columns.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]], arities=[2, 3]).arities
        array([2, 3])
        >>> Data.from_arrays([[0.3, 1], [2.5, 0]], arities=[0, 2])
        Data: 2 rows, 2 variables with 2 states or measured (1) (x0, x1)
        >>> Data.from_arrays([[0, 1], [1, 0], [-1, 1]], missing="keep")
        Data: 3 rows, 2 variables with 2 states (x0, x1), 1 missing cell
        >>> Data.from_arrays([[0.5, 1.5], [np.nan, 2.5], [1.5, 2.0]], missing="keep")
        Data: 3 rows, 2 variables measured (x0, x1), 1 missing cell
        """
        keep = conforming("missing", missing, Literal["error", "keep"]) == "keep"
        table = as_table(values)
        n = table.shape[1]
        named = check_names([f"x{v}" for v in range(n)] if names is None else names, n)
        if arities is None and levels is None and table.dtype.kind == "f":
            arities = [0] * n
        measured = np.zeros(n, np.bool_) if arities is None else check_arities(arities, n) == 0
        codes = as_codes(as_states(table, measured) if measured.any() else table)
        if keep and measured.any() and table.dtype.kind == "f":
            codes[measured & np.isnan(table)] = MISSING
        check_gaps(codes, named, keep=keep)
        labels = None if levels is None else check_levels(levels, named)
        if arities is None:
            arities = [
                infer_arity(codes[:, v], named[v]) if labels is None else len(labels[v])
                for v in range(n)
            ]
        sizes = check_arities(arities, n)
        labels = labels or tuple(tuple(map(str, range(size))) for size in sizes)
        numbers = np.where(measured, table, np.nan) if measured.any() else None
        for v in np.flatnonzero(measured):
            check_spread(table[codes[:, v] != MISSING, v], named[v])
        return cls(codes.astype(np.int32), sizes, named, labels, intervened, (), numbers)

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
        continuous: Sequence[str] = (),
        missing_markers: Sequence[str] = MISSING_MARKERS,
        max_levels: int = DEFAULT_MAX_LEVELS,
    ) -> Data:
        """Make data from a pandas frame; its index is ignored.

        A categorical column keeps its categories and their order, used or not. Levels of other
        columns are the values seen: integers in increasing order, text in alphabetical order.
        In a column of text the cells "1" and "01" are two levels; numbers are compared as numbers.
        Missing are the cells that pandas calls so and, as in a file, empty text and that which is
        a marker. Whole numbers as names of columns become strings. The options mean the same as for
        `read_csv`, and as there a `UserWarning` tells of labels that may mean missing or the same.

        Raises
        ------
        ValueError
            For missing cells, constant columns, measurements that are neither in `continuous` nor
            cut, columns that mix text and numbers, types such as dates, and other names.

        Examples
        --------
        >>> import pandas as pd
        >>> Data.from_frame(pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 2]})).levels
        (('x', 'y'), ('1', '2'))
        """
        given = {name: value for name, value in locals().items() if name not in ("cls", "frame")}
        for option, name in {"count": count, "intervention": intervention}.items():
            if not isinstance(name, str | None):
                raise ValueError(f"frame: {option}={shown(name)}: give the name of a column")
        given["max_levels"] = conforming("max_levels", max_levels, int)
        columns = frame_columns(frame, Markers.of(string_list("missing_markers", missing_markers)))
        options, places = Options(**given), [f"row {row}" for row in range(len(frame))]
        declare, leave_out = "convert the column to a categorical", ""
        data = encoded(columns, Encoder("frame", places, options, declare, leave_out))
        declared = {column.name for column in columns if column.declared is not None}
        warn_of_labels(data, declared, options, "frame")
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
        return Data(
            self.values[:, columns],
            self.arities[columns],
            tuple(self.names[v] for v in columns),
            tuple(self.levels[v] for v in columns),
            None if self.intervened is None else self.intervened[:, columns],
            tuple(self.intervals[v] for v in columns),
            None if self.measurements is None else self.measurements[:, columns],
        )

    def prefix(self, m: int) -> Data:
        """Return the first m rows, 0 <= m <= self.m: prefixes are nested.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]]).prefix(1).values
        array([[0, 1]], dtype=int32)
        """
        return rows_of(self, slice(self._checked(m)))

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
        rng = conforming("rng", rng, np.random.Generator)
        m = self._checked(m)
        return rows_of(self, rng.permutation(self.m)[:m])

    def _checked(self, m: int) -> int:
        if not 0 <= conforming("m", m, int) <= self.m:
            raise ValueError(
                f"m={shown(m)} rows asked of {self.m}; choose a whole number 0 <= m <= {self.m}"
            )
        return m


def rows_of(data: Data, which: NDArray[np.int64] | NDArray[np.bool_] | slice, /) -> Data:
    """Some of the rows: those of these numbers, of a mask (m,), or of a slice."""
    parts = {name: getattr(data, name) for name in ("values", "intervened", "measurements")}
    return altered(data, **{name: part[which] for name, part in parts.items() if part is not None})


def counted(data: Data, /) -> NDArray[np.bool_]:
    """The rows (n, m) that the family of each variable counts: those in which nobody set it."""
    held = data.intervened
    return np.ones((data.n, data.m), np.bool_) if held is None else np.array(~held.T, order="C")


Gapped = Annotated[Data, "missing"]
AnyCells = Annotated[Data, "missing", "measurements"]
"""What may have missing cells; a function that asks for `Data` refuses them."""


def warn_of_labels(data: Data, declared: Collection[str], options: Options, source: str, /) -> None:
    """A `UserWarning` for labels that may mean missing, or the same, unless they are declared."""
    gap = MISSING_LABEL if options.missing == "level" else None
    usual = tuple(options.missing_markers) == MISSING_MARKERS
    for v, name in enumerate(data.names):
        if data.intervals[v] is None and name not in declared:
            labels = [label for label in data.levels[v] if label != gap]
            for sentence in told_of_labels(name, labels, gaps=usual):
                warn(f"{brief(source)}: {brief(sentence)}")


def encoded(columns: Sequence[Column], encoder: Encoder) -> Data:
    """The `Data` of columns; what it refuses is told with the name of their source."""
    fields = encoder.encode(columns)
    try:
        return Data(**fields)
    except ValueError as error:
        raise InputError(f"{encoder.source}: ", *parts_of(error)) from error


def node_number(names: Sequence[str], node: int | str, /) -> int:
    """The number of a node that is given by its name or by its number; ValueError for others."""
    if isinstance(node, str):
        if node not in names:
            raise ValueError(f"no variable {shown(node)}; there are {', '.join(names)}")
        return list(names).index(node)
    if not isinstance(node, int | np.integer) or not 0 <= node < len(names):
        raise ValueError(
            f"node {shown(node)} is neither a name nor a number in 0..{len(names) - 1}"
        )
    return int(node)
