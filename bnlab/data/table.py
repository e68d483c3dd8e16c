"""`Data`: a complete table of observations, the input of everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import check_generator, conforming, shown
from bnlab.data.columns import Column, frame_columns
from bnlab.data.discretizing import Intervals, check_spread
from bnlab.data.doubts import told_of_labels
from bnlab.data.encoding import MISSING_LABEL, Encoder
from bnlab.data.markers import MISSING_MARKERS, Markers
from bnlab.data.text import DEFAULT_MAX_LEVELS, Missing, Options, Rules, string_list
from bnlab.errors import InputError, parts_of, warn
from bnlab.files import brief, told_briefly
from bnlab.results import Record

if TYPE_CHECKING:
    import pandas as pd

MAX_VARIABLES = 63
MAX_ARITY = 10**6
MAX_MEASUREMENT = 1e100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Data(Record):
    """m complete observations of n variables, checked once and read-only from then on.

    Variables have states, or are measured on a scale: then they have `measurements` and no states,
    and what needs states refuses them. A row subset keeps the arities and levels of the whole: they
    describe the variables, not the sample, so a subset may leave levels unseen.
    `dataclasses.replace(data, intervened=mask)` adds an intervention mask.

    Attributes
    ----------
    values : (m, n) int32, codes 0..arities[v]-1 of the observed states, 0 for a measured variable;
        m = 0 is allowed.
    arities : (n,) int64, number of states of each variable, at least 2; 0 for a measured one.
    names : n distinct names; 1 <= n <= 63, since sets of variables are int64 masks.
    levels : for each variable the distinct labels of its states, in the order of the codes.
    intervened : (m, n) bool, True where the variable was set by an intervention rather than
        observed, or None for purely observational data.
    intervals : for each variable how measurements were cut, or None where levels are labels; by
        default nothing was cut.
    measurements : (m, n) float64, nan where a variable has states, or None if all have.

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
        codes = _as_codes(self.values)
        m, n = codes.shape
        names = _check_names(self.names, n)
        arities = _check_arities(self.arities, n)
        levels = _check_levels(self.levels, names)
        numbers = _check_measurements(self.measurements, arities, names, m)
        for v in np.flatnonzero(arities != 0):
            _check_variable(codes[:, v], int(arities[v]), names[v], levels[v])
        mask = None if self.intervened is None else np.array(self.intervened)
        if mask is not None and (mask.shape != (m, n) or mask.dtype != np.bool_):
            raise ValueError(
                f"intervened must be a bool array of shape {(m, n)}, like values; "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        intervals = _check_intervals(self.intervals, names, levels)
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
    def without_states(self) -> str:
        """Why what needs states refuses these data; empty if all variables have states."""
        if not self.measured.any():
            return ""
        name = self.names[int(self.measured.argmax())]
        return (
            f" has measurements ({name!r}), and this needs states: cut them (discretize=), or use "
            "what takes them (score_families with BGe or ConditionalGaussian)"
        )

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
        """Make data from integer codes, from measurements, or from both.

        Parameters
        ----------
        values : (m, n) integers; column v holds codes 0..arities[v]-1. Or floats: measurements, or
            codes where `arities` says so.
        arities : (n,) numbers of states, 0 for measurements; by default all floats are those, and
            numbers of states come from `levels`, else are the largest code plus one, and then every
            code below it must occur.
        names : n names; by default x0, x1, ...
        levels : labels of the states; by default the codes themselves.
        intervened : (m, n) bool or None.

        Raises
        ------
        ValueError
            For cells that are no finite numbers, codes outside 0..arity-1, a constant column or an
            unseen code without declared arities, duplicate names, or more than 63 columns.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]], arities=[2, 3]).arities
        array([2, 3])
        >>> Data.from_arrays([[0.3, 1], [2.5, 0]], arities=[0, 2])
        Data: 2 rows, 2 variables with 2 states or measured (1) (x0, x1)
        """
        table = _as_table(values)
        n = table.shape[1]
        if arities is None and table.dtype.kind == "f":
            arities = [0] * n
        measured = np.zeros(n, np.bool_) if arities is None else _check_arities(arities, n) == 0
        states = table
        if measured.any():
            states = np.where(measured, 0, table)
            whole = states.dtype.kind == "f" and (np.isfinite(states) & (states % 1 == 0)).all()
            states = states.astype(np.int64) if whole else states
        codes = _as_codes(states)
        named = _check_names([f"x{v}" for v in range(n)] if names is None else names, n)
        labels = None if levels is None else _check_levels(levels, named)
        if arities is None:
            arities = [
                _infer_arity(codes[:, v], named[v]) if labels is None else len(labels[v])
                for v in range(n)
            ]
        sizes = _check_arities(arities, n)
        labels = labels or tuple(tuple(map(str, range(size))) for size in sizes)
        numbers = np.where(measured, table, np.nan) if measured.any() else None
        for v in np.flatnonzero(measured):
            check_spread(table[:, v], named[v])
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
        columns = frame_columns(frame, Markers.of(string_list("missing_markers", missing_markers)))
        options = Options(
            discretize=discretize,
            continuous=continuous,
            count=count,
            intervention=intervention,
            missing=missing,
            missing_markers=missing_markers,
            max_levels=max_levels,
        )
        places = [f"row {row}" for row in range(len(frame))]
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
        return self._part(np.arange(self.m), np.array(columns, np.int64))

    def prefix(self, m: int) -> Data:
        """Return the first m rows, 0 <= m <= self.m: prefixes are nested.

        Examples
        --------
        >>> Data.from_arrays([[0, 1], [1, 0]]).prefix(1).values
        array([[0, 1]], dtype=int32)
        """
        return self._part(np.arange(self._checked(m)), np.arange(self.n))

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
        m = self._checked(m)
        return self._part(rng.permutation(self.m)[:m], np.arange(self.n))

    def _checked(self, m: int) -> int:
        if not 0 <= conforming("m", m, int) <= self.m:
            raise ValueError(
                f"m={shown(m)} rows asked of {self.m}; choose a whole number 0 <= m <= {self.m}"
            )
        return m

    def _part(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Data:
        cells = np.ix_(rows, columns)
        return Data(
            self.values[cells],
            self.arities[columns],
            tuple(self.names[v] for v in columns),
            tuple(self.levels[v] for v in columns),
            None if self.intervened is None else self.intervened[cells],
            tuple(self.intervals[v] for v in columns),
            None if self.measurements is None else self.measurements[cells],
        )


def warn_of_labels(data: Data, declared: Collection[str], options: Options, source: str, /) -> None:
    """A `UserWarning` for labels that may mean missing, or the same, unless they are declared.

    Those that may mean missing are told only if the markers are the usual ones.
    """
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


def _as_table(values: ArrayLike) -> NDArray[Any]:
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


def _as_codes(values: ArrayLike) -> NDArray[np.int64]:
    """Return (m, n) codes as int64, or refuse them."""
    codes = _as_table(values)
    if codes.dtype != np.bool_ and not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(
            f"values are {codes.dtype}, but codes are integers 0..arity-1. Use .astype(int) on "
            "whole numbers, discretize on measurements, Data.from_frame or read_csv on labels"
        )
    if codes.size and codes.max() > np.iinfo(np.int32).max:
        raise ValueError(f"code {codes.max()} does not fit 32 bits; recode to 0, 1, 2, ...")
    return codes.astype(np.int64)


def _check_names(names: Sequence[str], n: int) -> tuple[str, ...]:
    checked = string_list("names", names)
    if len(checked) != n:
        raise ValueError(f"{len(checked)} names for {n} columns; give one for each")
    for v, name in enumerate(checked):
        if not isinstance(name, str) or not name:
            raise ValueError(f"names are non-empty strings; got {name!r}")
        if name in checked[:v]:
            raise ValueError(f"the name {name!r} occurs twice; rename one of the columns")
    return checked


def _check_arities(arities: ArrayLike, n: int) -> NDArray[np.int64]:
    sizes = np.asarray(arities)
    if sizes.shape != (n,) or not np.issubdtype(sizes.dtype, np.integer):
        raise ValueError(f"arities must be {n} integers, one for each column; got {shown(arities)}")
    if sizes.size and sizes.max() > MAX_ARITY:
        raise ValueError(f"arity {sizes.max()} is beyond {MAX_ARITY}; join states, or leave it out")
    return sizes.astype(np.int64)


def _check_measurements(
    numbers: NDArray[np.float64] | None, arities: NDArray[np.int64], names: tuple[str, ...], m: int
) -> NDArray[np.float64] | None:
    """The (m, n) measurements, nan where there are states; refused if some are not finite."""
    measured = arities == 0
    if not measured.any() and numbers is None:
        return None
    table = np.array(np.nan if numbers is None else numbers, np.float64, order="C")
    if table.shape != (m, len(names)):
        raise ValueError(
            f"measurements={shown(numbers)}: give an array {(m, len(names))}, like values, for the "
            "variables with arity 0"
        )
    bad = np.argwhere(~(np.abs(table) <= MAX_MEASUREMENT) & measured)
    for row, v in bad:
        raise ValueError(
            f"row {row}, variable {names[v]!r}: {table[row, v]} is no measurement: give a number "
            f"of magnitude at most {MAX_MEASUREMENT:g}, and leave out rows without one"
        )
    table[:, ~measured] = np.nan
    return table


def _one_each(field: str, given: Sequence[Any], names: tuple[str, ...]) -> None:
    if len(given) != len(names):
        raise ValueError(
            f"{field} has {len(given)} entries for {len(names)} columns; give one for each"
        )


def _check_levels(
    levels: Sequence[Sequence[str]], names: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    columns = tuple(levels) if isinstance(levels, Iterable) else ()
    _one_each("levels", columns, names)
    return tuple(
        tuple(map(str, conforming(f"levels of {name!r}", column, Sequence[object])))
        for name, column in zip(names, columns, strict=True)
    )


def _check_intervals(
    intervals: Sequence[Intervals | None],
    names: tuple[str, ...],
    levels: tuple[tuple[str, ...], ...],
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


def _check_variable(
    codes: NDArray[np.int64], arity: int, name: str, levels: tuple[str, ...]
) -> None:
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


def _infer_arity(codes: NDArray[np.int64], name: str) -> int:
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
