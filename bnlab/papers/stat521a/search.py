"""ALARM: parameters and structures learned, searches, and chains of DAGs and of orders."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bnlab as bn
from bnlab.checks import Floats
from bnlab.papers.em2007.study import rows, walk
from bnlab.papers.page import chain, stored, streams

stream = streams(521)
BDEU = bn.BDeu(1.0)
MAX_PARENTS = 3


@cache
def alarm() -> bn.BayesNet:
    """Return ALARM with its published tables, as kept in the package; states are numbered."""
    kept = stored("stat521a")
    dag, arities = kept["alarm dag"], kept["alarm arities"]
    rows = [int(np.prod(arities[bn.graphs.members(int(mask))], dtype=int)) for mask in dag]
    ends = np.cumsum(np.array(rows) * arities)
    parts = np.split(kept["alarm tables"], ends[:-1])
    tables = [part.reshape(q, r) for part, q, r in zip(parts, rows, arities, strict=True)]
    levels = tuple(tuple(map(str, range(r))) for r in arities)
    return bn.BayesNet(dag, arities, tuple(kept["alarm names"].tolist()), levels, tuple(tables))


@cache
def alarm_rows(number: int = 0) -> bn.Data:
    """Return 5,000 rows drawn from ALARM, others for each number."""
    return alarm().sample(SIZES[-1], stream(0, number))


@cache
def alarm_table(m: int) -> bn.ScoreTable:
    """Return BDeu scores of the first m rows; up to three parents."""
    return bn.score_families(alarm_rows().prefix(m), BDEU, max_parents=MAX_PARENTS)


SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
WAYS = ("known structure", "tabu search", "GES", "Chow-Liu tree")
DATA_SETS = 3
FRESH = 5000


class Distance(NamedTuple):
    """KL(ALARM || learned) in nats a row, (data sets, sizes, ways), and standard errors of it."""

    mean: Floats
    error: Floats


@cache
def distances(
    sizes: tuple[int, ...] = SIZES, data_sets: int = DATA_SETS, fresh: int = FRESH
) -> Distance:
    """Return distances by fresh rows, the same for all ways of learning."""
    test = alarm().sample(fresh, stream(2))
    truth = alarm().log_likelihood(test)
    gaps = truth - np.array(
        [[_densities(alarm_rows(i).prefix(m), test) for m in sizes] for i in range(data_sets)]
    )
    return Distance(gaps.mean(axis=-1), gaps.std(axis=-1, ddof=1) / fresh**0.5)


def _densities(rows: bn.Data, test: bn.Data) -> list[Floats]:
    table = bn.score_families(rows, BDEU, max_parents=MAX_PARENTS)
    tabu = bn.hill_climb(table, tabu=20, rng=stream(3)).dag
    learned = (alarm().dag, tabu, bn.ges(table).dag, bn.chow_liu(rows))
    return [bn.predict.plug_in_log_density(dag, rows, test, score=BDEU) for dag in learned]


TABU = 20
CLIMBS = 50
CHANGES = 15
ROUNDS = 10


def _climb(m: int, **options: Any) -> float:
    return bn.hill_climb(alarm_table(m), rng=stream(4), **options).log_target


def _perturbed(m: int) -> float:
    rows = alarm_rows().prefix(m)

    def again(share: float, rng: np.random.Generator) -> bn.ScoreTable:
        return bn.score_families(bn.resampled(rows, share, rng=rng), BDEU, max_parents=MAX_PARENTS)

    climb = bn.climb_perturbed(alarm_table(m), again, rounds=ROUNDS, rng=stream(5))
    return climb.log_target


SEARCHES: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        "best-first": _climb,
        "first-best": partial(_climb, choice="first"),
        "tabu list": partial(_climb, tabu=TABU),
        f"{CLIMBS} restarts": partial(_climb, restarts=CLIMBS),
        f"{CLIMBS} perturbed DAGs": partial(_climb, restarts=CLIMBS, perturb=CHANGES),
        f"{ROUNDS} perturbed data": _perturbed,
        "GES": lambda m: float(bn.ges(alarm_table(m)).trace[-1]),
        "tabu and restarts": partial(_climb, tabu=TABU, restarts=CLIMBS),
    }
)
"""Search -> ln of prior factor times likelihood of its best DAG, from so many rows of ALARM."""


def scores(m: int, /) -> dict[str, float]:
    """Return what each of SEARCHES reaches, nats."""
    return {name: search(m) for name, search in SEARCHES.items()}


DRAWS = 1000
STAND_INS = ("synthetic", "tic-tac-toe")
THIN = {"Local": 5000, "Order": 20, "Hybrid": 20}
"""Moves before a draw: on ALARM a chain of either sampler takes about a quarter of a second."""


@cache
def starts(m: int, /) -> dict[str, Floats]:
    """Return ln p(D, G) (DRAWS,) along chains of DAGs from two starts, and along orders."""
    table = alarm_table(m)
    found = bn.hill_climb(table, tabu=20, rng=stream(4)).dag
    walked = bn.sample_structures(
        table,
        draws=DRAWS,
        rng=stream(6),
        chains=2,
        burn_in=0,
        thin=THIN["Local"],
        start=[np.zeros(table.n, np.int64), found],
    )
    orders = walk(table, "Order", draws=DRAWS, chains=1, thin=THIN["Order"], key=m)
    lines = (*walked.log_target, orders.draws.log_target[0])
    return dict(zip(("DAGs, from none", "DAGs, from search", "orders"), lines, strict=True))


def two_runs(table: bn.ScoreTable, sampler: str, /) -> Floats:
    """Return edges (2, n, n) by two chains from random starts without their first halves."""
    walked = walk(table, sampler, draws=DRAWS, chains=2, thin=THIN[sampler])
    kept, scores = (walked.draws, None) if walked.orders is None else (walked.orders, table)
    late = [chain(kept, c, DRAWS // 2) for c in range(2)]
    return np.array([bn.features.edges(one, table=scores) for one in late])


@cache
def census(name: str) -> bn.ScoreTable:
    """Return scores of a stand-in for the census, "synthetic" or "tic-tac-toe"."""
    return bn.score_families(rows(name), BDEU, max_parents=MAX_PARENTS)


KINDS = {"DAGs": "Local", "orders": "Order"}
SAMPLERS = {"hybrid": "Hybrid", **KINDS}


@cache
def alarm_runs(m: int, /) -> dict[str, Floats]:
    """Return edges of ALARM by two runs of DAGs and of orders."""
    table = alarm_table(m)
    return {f"{m} rows, {label}": two_runs(table, kind) for label, kind in KINDS.items()}


@cache
def census_runs(name: str, /) -> dict[str, Floats]:
    """Return edges of a stand-in for the census by two runs of each sampler."""
    table = census(name)
    return {f"{name}, {label}": two_runs(table, kind) for label, kind in SAMPLERS.items()}


def from_exact(table: bn.ScoreTable, sampler: str, both: Floats, /) -> tuple[float, float]:
    """Return the SAD of each of two runs from the exact edges of the sampler's own posterior."""
    posterior = bn.order_posterior(table) if sampler == "Order" else bn.dag_posterior(table)
    first, second = (round(bn.diagnostics.sad(one, posterior.edges), 9) for one in both)
    return first, second


def apart(both: Floats, /) -> tuple[float, float, int]:
    """Return SAD between two runs, the largest difference, and how many exceed one half."""
    gaps = np.abs(both[0] - both[1])
    return float(gaps.sum()), float(gaps.max()), int((gaps > 0.5).sum())
