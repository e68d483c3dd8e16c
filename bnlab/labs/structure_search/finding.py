"""How often each search ends at the best network there is."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

import bnlab as bn
from bnlab.labs.structure_search.targets import DATASETS, MARGIN, SEED, data, scored

RUNS = 10
CLIMBS = 50
TABU = 10
STEPS = 250
CHILD = "child, 15 nodes"
SOUGHT = (*DATASETS[1:], CHILD)
"""Where the best network is sought: wine, tic-tac-toe, and 15 of the 20 nodes of child."""

Search = Callable[[bn.ScoreTable, np.random.Generator], float]


def _climb(*, restarts: int = 0, perturb: int | None = None, tabu: int = 0) -> Search:
    def search(table: bn.ScoreTable, rng: np.random.Generator) -> float:
        climb = bn.hill_climb(table, restarts=restarts, perturb=perturb, tabu=tabu, rng=rng)
        return climb.log_target

    return search


def _window(table: bn.ScoreTable, rng: np.random.Generator) -> float:
    ends = bn.hill_climb(table, tabu=TABU, restarts=CLIMBS, rng=rng).ends
    return float(bn.occams_window(table, start=ends).log_target[0])


def _shotgun(table: bn.ScoreTable, rng: np.random.Generator) -> float:
    return float(bn.shotgun_search(table, steps=STEPS, rng=rng).log_target[0])


FINDERS: Mapping[str, Search] = MappingProxyType(
    {
        "one climb": _climb(),
        "one tabu climb": _climb(tabu=TABU),
        "50 restarts": _climb(restarts=CLIMBS),
        "50 tabu restarts": _climb(restarts=CLIMBS, tabu=TABU),
        "50 perturbed": _climb(restarts=CLIMBS, perturb=16),
        "50 perturbed, tabu": _climb(restarts=CLIMBS, perturb=16, tabu=TABU),
        "GES": lambda table, rng: bn.ges(table).log_target,
        "window from 50 tabu": _window,
        "shotgun, 4 x 250": _shotgun,
    }
)
"""Method -> the highest score that it finds."""


@cache
def sought(name: str) -> bn.Data:
    """The rows of one of `SOUGHT`; 1,000 of the structure of child with random tables.

    Examples
    --------
    >>> sought(CHILD).n, sought(CHILD).m
    (15, 1000)
    """
    if name != CHILD:
        return data(name)
    rng = np.random.default_rng(SEED)
    rows = bn.random_network("child", rng).sample(1000, rng)
    return rows.select(rows.names[:15])


@cache
def found_best(name: str, runs: int = RUNS) -> Mapping[str, float]:
    """Method -> share of runs that end at the highest score there is.

    Each run has the columns in another random order, which decides ties, and a seed of its own.

    Examples
    --------
    >>> found_best("wine", 1)["one climb"]
    1.0
    """
    rows, best = sought(name), float(bn.map_dag(scored(sought(name))).log_target[0])
    there = {method: 0 for method in FINDERS}
    for rng in np.random.default_rng(SEED).spawn(runs):
        table = scored(rows.select(rng.permutation(rows.names).tolist()))
        for method, search in FINDERS.items():
            there[method] += search(table, rng) > best - MARGIN
    return MappingProxyType({method: count / runs for method, count in there.items()})
