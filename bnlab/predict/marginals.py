"""Missing cells summed out in each DAG, by elimination of one variable after the other."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.graphs import ancestors, members
from bnlab.predict.rows import Rows, joint_states
from bnlab.predict.tables import Tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Part = tuple[tuple[int, int], ...]  # families (v, parent mask), ascending

MAX_STATES = 1 << 22  # joint states of variables that meet in one sum


class Plan(NamedTuple):
    """In which order the missing variables of a part go, and the largest table on the way."""

    order: list[int]
    states: int


def connected_terms(dags: Ints, missing: int, tables: Tables, rows: Rows, /) -> tuple[Ints, Floats]:
    """What each DAG's density is a product of, when all rows miss the same cells.

    A missing cell without observed descendants sums to 1. The families of the other nodes fall into
    parts that share no missing cell; a part that many DAGs have is summed once.

    Returns
    -------
    parts : (U, C) places in `terms`, -1 for none
    terms : (P, rows), ln of the sum over the missing cells of the product of each part, nats

    Raises
    ------
    ValueError
        If a sum takes a table of more than 4 million joint states.
    """
    number: dict[Part, int] = {}
    lists = [
        [number.setdefault(part, len(number)) for part in _parts(dag, relevant, missing)]
        for dag, relevant in zip(dags.tolist(), _relevant(dags, missing).tolist(), strict=True)
    ]
    plans = [_plan(part, missing, tables.arities) for part in number]
    largest = max((plan.states for plan in plans), default=1)
    _require_states(largest, missing)
    count = len(rows.values)
    block = max(1, MAX_STATES // largest)
    memory.require(
        8 * count * len(plans) + (4 * dags.shape[1] + 32) * largest * min(block, count),
        task=f"summing out missing cells in {len(plans):,} parts of DAGs",
        remedy="average fewer DAGs (Draws.prefix)",
    )
    terms = np.empty((len(plans), count))
    for start in range(0, count, block):
        some = rows.take(slice(start, start + block))
        for i, (part, plan) in enumerate(zip(number, plans, strict=True)):
            terms[i, start : start + block] = _sum_out(part, plan, missing, tables, some)
    parts = np.full((len(dags), max(map(len, lists), default=0)), -1, np.int64)
    for u, places in enumerate(lists):
        parts[u, : len(places)] = places
    return parts, terms


def _relevant(dags: Ints, missing: int) -> Ints:
    """Masks (U,) of the observed nodes and all their ancestors."""
    n = dags.shape[1]
    observed = [v for v in range(n) if not missing >> v & 1]
    above = ancestors(dags)[:, observed]
    relevant: Ints = np.bitwise_or.reduce(above, axis=1) | np.int64(sum(1 << v for v in observed))
    return relevant


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


def _plan(part: Part, missing: int, arities: Ints) -> Plan:
    """Greedily, the variable whose sum takes the smallest table goes next."""
    scopes = [(parents | 1 << v) & missing for v, parents in part]
    left = set(members(_union(scopes)))
    order, largest = [], 1
    while left:
        cost = {v: _states(_union(s for s in scopes if s >> v & 1), arities) for v in left}
        v = min(left, key=lambda v: (cost[v], v))
        largest = max(largest, cost[v])
        joined = _union(s for s in scopes if s >> v & 1) & ~(1 << v)
        scopes = [s for s in scopes if not s >> v & 1] + [joined]
        order.append(v)
        left.remove(v)
    return Plan(order, largest)


def _sum_out(part: Part, plan: Plan, missing: int, tables: Tables, rows: Rows) -> Floats:
    """ln of the sum over the missing cells of a part's product, (rows,), nats."""
    factors = [_factor(v, parents, missing, tables, rows) for v, parents in part]
    for v in plan.order:
        met = [factor for factor in factors if factor[0] >> v & 1]
        scope = _union(factor[0] for factor in met)
        nodes = members(scope)
        total = np.zeros(())
        for within, log_value in met:
            shape = [int(tables.arities[u]) if within >> u & 1 else 1 for u in nodes]
            total = total + log_value.reshape(len(log_value), *shape)
        summed = np.logaddexp.reduce(total, axis=1 + nodes.index(v))
        factors = [f for f in factors if not f[0] >> v & 1] + [(scope & ~(1 << v), summed)]
    out: Floats = np.sum([log_value for _, log_value in factors], axis=0)
    return out


def _factor(v: int, parents: int, missing: int, tables: Tables, rows: Rows) -> tuple[int, Floats]:
    """The missing cells of a family, and ln of its mean probability at each of their states."""
    family = parents | 1 << v
    nodes = members(family & missing)
    sizes = [int(tables.arities[u]) for u in nodes]
    states = joint_states(sizes)
    count = len(rows.values)
    columns = np.empty((tables.arities.size, count * states.shape[1]), np.int32)
    for u in members(family & ~missing):
        columns[u] = np.repeat(rows.values[:, u], states.shape[1])
    for u, column in zip(nodes, states, strict=True):
        columns[u] = np.tile(column, count)
    log_means = tables.log_means(v, np.array([parents]), columns)
    return family & missing, log_means.reshape(count, *sizes)


def _require_states(states: int, missing: int) -> None:
    if states > MAX_STATES:
        raise ValueError(
            f"summing out the missing cells of the variables {members(missing)} takes a table of "
            f"{states:,} joint states in one of the DAGs; at most {MAX_STATES:,} are handled. Give "
            "more cells, or DAGs with fewer parents"
        )


def _union(masks: Iterable[int]) -> int:
    out = 0
    for mask in masks:
        out |= mask
    return out


def _states(mask: int, arities: Ints) -> int:
    return math.prod(int(arities[v]) for v in members(mask))
