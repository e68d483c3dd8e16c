"""Rows to predict, posterior mean tables of families, and sums over missing cells in each DAG."""

import math
from collections.abc import Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import Bools, Floats, Ints, checked
from bnlab.data import AnyCells, Data, Gapped
from bnlab.data.columns import codes_of, number_in
from bnlab.data.encoding import MISSING_LABEL
from bnlab.data.table import counted, rows_of
from bnlab.data.text import MISSING_MARKERS, Markers
from bnlab.data.validation import as_states, check_codes, check_measurements
from bnlab.errors import warn
from bnlab.graphs import ancestors, members
from bnlab.kernels import counting as kernels
from bnlab.kernels.gaussian import WishartPrior
from bnlab.records import altered
from bnlab.scores import AnyScore, Score, score_parts
from bnlab.scores.local import Units, check_pseudo_counts, regression, units_of, wishart_prior

Codes = NDArray[np.int32]
Part = tuple[tuple[int, int], ...]  # families (v, parent mask), ascending
nodes_of = lru_cache(1 << 12)(members)  # the same few are asked for, thousands of times
Factor = tuple[int, Floats]  # its variables, and ln of it at their joint states (rows, ...)

MISSING = -1
MAX_STATES = 1 << 22  # joint states of variables that meet in one sum
DENSE_CELLS = 1 << 20  # of larger families no table of counts is made


def check_rows(data: Data, new_rows: AnyCells | ArrayLike, /) -> Data:
    """Rows of the variables of `data`, or a ValueError that says what does not fit."""
    if isinstance(new_rows, Data):
        _check_same_variables(data, new_rows)
        return new_rows
    codes = np.asarray(new_rows)
    if codes.ndim != 2 or codes.shape[1] != data.n:
        raise ValueError(
            f"new_rows has shape {codes.shape}; rows of {data.n} variables are an array "
            f"(rows, {data.n})"
        )
    numbers = None
    if data.measured.any():
        given = np.where(data.measured, codes, np.nan)
        numbers = check_measurements(given, data.arities, data.names, len(codes))
        codes = as_states(codes, data.measured)
    codes = check_codes(codes, np.maximum(data.arities, 1), data.names).astype(np.int32)
    return altered(data, values=codes, intervened=None, measurements=numbers)


@checked
def typed_row(data: Gapped, cells: Mapping[str, str | float | None], /) -> Codes:
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


def missing_masks(rows: Data, /) -> Ints:
    """Mask (rows,) of the missing cells of each row."""
    bits = np.int64(1) << np.arange(rows.values.shape[1], dtype=np.int64)
    return np.asarray(np.where(rows.values == MISSING, bits, 0).sum(axis=1))


def joint_states(sizes: list[int], /) -> Codes:
    """All joint states (variables, product of sizes) of variables, the last one fastest."""
    return np.indices(sizes, np.int32).reshape(len(sizes), math.prod(sizes))


def completed(rows: Data, nodes: list[int], /) -> Data:
    """Every row with every joint state of `nodes`, the states of one row side by side."""
    states = joint_states(rows.arities[nodes].tolist())
    which = np.repeat(np.arange(rows.m), states.shape[1])
    values = rows.values[which]
    values[:, nodes] = np.tile(states, rows.m).T
    return altered(rows_of(rows, which), values=values)


def _check_same_variables(data: Data, rows: Data) -> None:
    if rows.names != data.names:
        raise ValueError(
            f"new_rows has the variables {', '.join(rows.names)}, not {', '.join(data.names)}: "
            "take those of the data, in their order (Data.select)"
        )
    for name, levels, known in zip(data.names, rows.levels, data.levels, strict=True):
        if levels != known:
            ways = [f"levels {some}" if some else "measurements" for some in (levels, known)]
            raise ValueError(
                f"variable {name!r} has {ways[0]} in new_rows and {ways[1]} in the data; declare "
                "the same when reading both"
            )
    for t, v in np.argwhere(rows.missing & rows.measured)[:1]:
        raise ValueError(
            f"row {t}, variable {data.names[v]!r}: a measurement is missing, and all are needed: "
            "leave the row out"
        )


class Parameters(NamedTuple):
    """Data and a score, which together give each family its mean table, or its regressions."""

    data: Data
    codes: list[Codes]  # (n, m) for each node, of the rows without an intervention on it
    score: Score  # of the variables with states
    columns: Floats  # (n, m) measurements, in the units of their score
    units: Units
    prior: WishartPrior

    def log_densities(self, families: list[Ints], rows: Data, /) -> list[Floats]:
        """ln of the mean density of x_v given parent masks (F,), (F, rows) for each node, nats."""
        numbers, codes = self.units.columns(rows.measurements), np.array(rows.values.T, order="C")
        names, measured, out = self.data.names, self.data.measured, []
        for v, masks in enumerate(families):
            if measured[v]:
                every = np.empty((masks.size, rows.m))
                for f, mask in enumerate(masks):
                    every[f] = self._log_density(v, members(mask), numbers, codes)
                out.append(every - np.log(self.units.scale[v]))
                continue
            for u in members(int(np.bitwise_or.reduce(masks, initial=0))):
                if measured[u]:
                    raise ValueError(
                        f"an edge from {names[u]!r}, which is measured, to {names[v]!r}, which has "
                        "states: ConditionalGaussian has no such families"
                    )
            out.append(self.log_means(v, masks, codes))
        return out

    def log_means(self, v: int, families: Ints, rows: Codes, /) -> Floats:
        """ln of the mean probability (F, t) of x_v given parent masks (F,), in full rows (n, t)."""
        arities, nodes = self.data.arities, np.arange(self.data.n)
        chosen = (families[:, None] >> nodes) & 1 == 1
        cells = np.where(chosen, arities, 1.0).prod(axis=1)
        r = int(arities[v])
        pseudo_counts = np.stack(
            [self.score.cell_counts(cells * r), self.score.parent_counts(cells, r)]
        )
        counts = np.zeros(int(min(DENSE_CELLS, r * cells.max())), np.int32)
        out = np.empty((families.size, rows.shape[1]))
        kernels.log_means(v, families, self.codes[v], rows, arities, pseudo_counts, counts, out)
        return out

    def _log_density(self, v: int, parents: list[int], numbers: Floats, codes: Codes) -> Floats:
        """A regression for each joint state of some of the parents, in the score's units."""
        measured = self.data.measured
        family = np.array([*(u for u in parents if measured[u]), v])
        states, known = [u for u in parents if not measured[u]], counted(self.data)[v]
        joint, group = np.unique(codes[states], axis=1, return_inverse=True)
        out = np.empty(codes.shape[1])
        for g, state in enumerate(joint.T):
            same = known & (self.data.values[:, states] == state).all(axis=1)
            some: Bools = group.ravel() == g
            fitted = regression(self.columns[np.ix_(family, same)], self.prior)
            out[some] = fitted.log_density(numbers[np.ix_(family, some)])
        return out


def parameters_of(data: Data, score: AnyScore, /) -> Parameters:
    """The posterior parameters of all families; a ValueError if score and data do not fit."""
    of_states, of_measured = score_parts(data, score)
    check_pseudo_counts(of_states)
    columns = np.array(data.values.T, order="C")
    codes = [columns] * data.n
    if data.intervened is not None:
        codes = [np.ascontiguousarray(columns[:, ~held]) for held in data.intervened.T]
    units, prior = units_of(of_measured, data), wishart_prior(of_measured, data)
    return Parameters(data, codes, of_states, units.columns(data.measurements), units, prior)


def connected_terms(
    dags: Ints, missing: int, tables: Parameters, rows: Data, /
) -> tuple[Ints, Floats]:
    """What each DAG's density is a product of: parts (U, C), -1 for none, of terms (P, rows)."""
    number: dict[Part, int] = {}  # a part that many DAGs have is summed once
    lists = [
        [number.setdefault(part, len(number)) for part in _parts(dag, relevant, missing)]
        for dag, relevant in zip(dags.tolist(), _relevant(dags, missing).tolist(), strict=True)
    ]
    arities = tuple(rows.arities.tolist())
    plans = [plan_of(part, missing, arities) for part in number]
    largest = max((states for _, states in plans), default=1)
    if largest > MAX_STATES:
        raise ValueError(
            f"summing out the missing cells of the variables {members(missing)} takes a table of "
            f"{largest:,} joint states in one of the DAGs; at most {MAX_STATES:,} are handled. "
            "Give more cells, or DAGs with fewer parents"
        )
    block = max(1, MAX_STATES // largest)
    memory.require(
        8 * rows.m * len(plans) + (4 * dags.shape[1] + 32) * largest * min(block, rows.m),
        task=f"summing out missing cells in {len(plans):,} parts of DAGs",
        remedy="average fewer DAGs (Draws.prefix)",
    )
    terms = np.empty((len(plans), rows.m))
    for start in range(0, rows.m, block):
        some = rows_of(rows, slice(start, start + block))
        for i, (part, (order, _)) in enumerate(zip(number, plans, strict=True)):
            factors = [_factor(v, parents, missing, tables, some) for v, parents in part]
            terms[i, start : start + block] = eliminate(factors, order, arities)
    parts = np.full((len(dags), max(map(len, lists), default=0)), -1, np.int64)
    for u, places in enumerate(lists):
        parts[u, : len(places)] = places
    return parts, terms


def _relevant(dags: Ints, missing: int) -> Ints:
    """Masks (U,) of the observed nodes and all their ancestors."""
    n = dags.shape[1]
    observed = [v for v in range(n) if not missing >> v & 1]
    above = ancestors(dags)[:, observed]
    return np.asarray(np.bitwise_or.reduce(above, axis=1) | np.int64(sum(1 << v for v in observed)))


def _parts(dag: list[int], relevant: int, missing: int) -> list[Part]:
    """The families of the relevant nodes, grouped so that no two groups share a missing cell."""
    groups: list[tuple[int, list[tuple[int, int]]]] = []
    for v in members(relevant):
        cells, families = (dag[v] | 1 << v) & missing, [(v, dag[v])]
        apart = []
        for other in groups:
            if other[0] & cells:
                cells, families = cells | other[0], other[1] + families
            else:
                apart.append(other)
        groups = [*apart, (cells, families)]
    return [tuple(sorted(families)) for _, families in groups]


@lru_cache(1 << 12)  # effects of several levels have the same plans
def plan_of(part: Part, missing: int, arities: tuple[int, ...], /) -> tuple[list[int], int]:
    """In which order missing variables go, that of the smallest table next, and the largest one."""
    scopes = [(parents | 1 << v) & missing for v, parents in part]
    left = set(members(reduce(or_, scopes, 0)))
    order, largest = [], 1
    while left:
        joined = {v: reduce(or_, (scope for scope in scopes if scope >> v & 1)) for v in left}
        cost = {v: math.prod([arities[u] for u in nodes_of(scope)]) for v, scope in joined.items()}
        v = min(left, key=lambda v: (cost[v], v))
        largest = max(largest, cost[v])
        scopes = [s for s in scopes if not s >> v & 1] + [joined[v] & ~(1 << v)]
        order.append(v)
        left.remove(v)
    return order, largest


def eliminate(factors: list[Factor], order: list[int], arities: tuple[int, ...], /) -> Floats:
    """ln of the sum over the variables in `order` of a product; what is left has the same nodes."""
    for v in order:
        met = [factor for factor in factors if factor[0] >> v & 1]
        scope = reduce(or_, (within for within, _ in met))
        nodes = nodes_of(scope)
        total = np.zeros(())
        for within, log_value in met:
            shape = [arities[u] if within >> u & 1 else 1 for u in nodes]
            total = total + log_value.reshape(len(log_value), *shape)
        axis = 1 + nodes.index(v)
        top = total.max(axis=axis, keepdims=True)
        np.exp(np.subtract(total, top, out=total), out=total)
        summed = np.log(total.sum(axis=axis)) + top.squeeze(axis)
        factors = [f for f in factors if not f[0] >> v & 1] + [(scope & ~(1 << v), summed)]
    return np.asarray(np.sum([log_value for _, log_value in factors], axis=0))


def _factor(
    v: int, parents: int, missing: int, tables: Parameters, rows: Data
) -> tuple[int, Floats]:
    """The missing cells of a family, and ln of its mean probability at each of their states."""
    family = parents | 1 << v
    nodes = members(family & missing)
    sizes = rows.arities[nodes].tolist()
    states = joint_states(sizes)
    columns = np.empty((rows.n, rows.m * states.shape[1]), np.int32)
    for u in members(family & ~missing):
        columns[u] = np.repeat(rows.values[:, u], states.shape[1])
    for u, column in zip(nodes, states, strict=True):  # one at a time: all together take memory
        columns[u] = np.tile(column, rows.m)
    log_means = tables.log_means(v, np.array([parents]), columns)
    return family & missing, log_means.reshape(rows.m, *sizes)
