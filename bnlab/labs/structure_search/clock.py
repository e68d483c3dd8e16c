"""Ways out of local optima, on one clock: how many searches have reached the best network by when.

A search is a row of climbs. The plain climb from the empty network comes first in all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.datasets import DATASETS, Case
from bnlab.labs.running import Progress
from bnlab.labs.structure_search.targets import MARGIN, SEED, best, data, scored, table

TABU = 20
CHANGES = 16
SEARCHES = 20
CLIMBS: Mapping[str, int] = MappingProxyType(
    {"restarts": 400, "tabu, restarts": 200, "perturbed DAG": 600, "perturbed data": 60}
)
"""Climbs of a search on the clock: about a tenth of a second each."""

METHODS = tuple(CLIMBS)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Found = dict[str, list[tuple[float, float]]]
"""Method -> (seconds until the best network, inf if never; seconds in all) of each search."""


def search(
    case: Case, method: str, climbs: int, rng: np.random.Generator, *, changes: int = CHANGES
) -> bn.Climb:
    """So many climbs on a data set by one of `METHODS`, in one thread.

    Parameters
    ----------
    changes : random changes between the best network so far and the next start ("perturbed DAG")
    """
    if method == "perturbed data":
        return bn.climb_perturbed(table(case), _again(case), rounds=max(1, climbs - 1), rng=rng)
    with ThreadPoolExecutor(1) as one:
        return bn.hill_climb(
            table(case),
            restarts=climbs - 1,
            tabu=TABU if method == "tabu, restarts" else 0,
            perturb=changes if method == "perturbed DAG" else None,
            rng=rng,
            executor=one,
        )


def _again(case: Case) -> Callable[[float, np.random.Generator], bn.ScoreTable]:
    return lambda share, rng: scored(bn.resampled(data(case), share, rng=rng))


def first_hit(case: Case, climb: bn.Climb, /) -> float:
    """The number of the first climb that ends at the highest score, from 1; inf if none does."""
    hits = np.flatnonzero(climb.log_targets > best(case).log_target[0] - MARGIN)
    return float(hits[0] + 1) if hits.size else np.inf


@cache
def climbs_needed(
    case: Case, method: str, most: int = 50, searches: int = SEARCHES, changes: int = CHANGES
) -> Floats:
    """(searches,) climbs until the best network, inf where `most` were not enough."""
    rngs = np.random.default_rng(SEED).spawn(searches)
    found = [search(case, method, most, rng, changes=changes) for rng in rngs]
    return np.array([first_hit(case, climb) for climb in found])


def on_one_clock(
    case: Case,
    *,
    climbs: Mapping[str, int] = CLIMBS,
    searches: int = SEARCHES,
    changes: int = CHANGES,
    progress: Progress | None = None,
) -> Found:
    """Searches by every method in turn, each timed; stops with what it has.

    The seconds until the best network are the search's own, in proportion to its climbs.
    """
    found: Found = {method: [] for method in climbs}
    for done, rng in enumerate(np.random.default_rng(SEED).spawn(searches), start=1):
        for method, count in climbs.items():
            climb = search(case, method, count, rng.spawn(1)[0], changes=changes)
            share = first_hit(case, climb) / len(climb.ends)
            times = share * climb.run.seconds, climb.run.seconds
            found = {**found, method: [*found[method], times]}
        if progress is not None and not progress(done, searches, found):
            break
    return found


def shares(found: Found, stops: Sequence[float], /) -> dict[str, Floats]:
    """Method -> (stops,): the share of its searches that were there by then; nan past their end."""
    out = {}
    for method, searches in found.items():
        times = np.array(searches).reshape(-1, 2)
        end = np.median(times[:, 1]) if times.size else 0.0
        by = (times[:, 0][:, None] <= np.asarray(stops)).mean(axis=0) if times.size else np.nan
        out[method] = np.where(np.asarray(stops) <= end, by, np.nan)
    return out


RUNS = 10
RESTARTS = 50
FEW_TABU = 10
STEPS = 250
CHILD = "child, 15 nodes"
SOUGHT = (*DATASETS[1:], CHILD)
"""Where the best network is sought: wine, tic-tac-toe, and 15 of the 20 nodes of child."""

Finder = Callable[[bn.ScoreTable, np.random.Generator], float]


def _climb(*, restarts: int = 0, perturb: int | None = None, tabu: int = 0) -> Finder:
    def search(table: bn.ScoreTable, rng: np.random.Generator) -> float:
        climb = bn.hill_climb(table, restarts=restarts, perturb=perturb, tabu=tabu, rng=rng)
        return climb.log_target

    return search


def _window(table: bn.ScoreTable, rng: np.random.Generator) -> float:
    ends = bn.hill_climb(table, tabu=FEW_TABU, restarts=RESTARTS, rng=rng).ends
    return float(bn.occams_window(table, start=ends).log_target[0])


def _shotgun(table: bn.ScoreTable, rng: np.random.Generator) -> float:
    return float(bn.shotgun_search(table, steps=STEPS, rng=rng).log_target[0])


FINDERS: Mapping[str, Finder] = MappingProxyType(
    {
        "one climb": _climb(),
        "one tabu climb": _climb(tabu=FEW_TABU),
        "50 restarts": _climb(restarts=RESTARTS),
        "50 tabu restarts": _climb(restarts=RESTARTS, tabu=FEW_TABU),
        "50 perturbed": _climb(restarts=RESTARTS, perturb=16),
        "50 perturbed, tabu": _climb(restarts=RESTARTS, perturb=16, tabu=FEW_TABU),
        "GES": lambda table, rng: bn.ges(table).log_target,
        "window from 50 tabu": _window,
        "shotgun, 4 x 250": _shotgun,
    }
)
"""Method -> the highest score that it finds."""


@cache
def sought(case: Case) -> bn.Data:
    """The rows of one of `SOUGHT`; 1,000 of the structure of child with random tables."""
    if case != CHILD:
        return data(case)
    rng = np.random.default_rng(SEED)
    rows = bn.random_network("child", rng).sample(1000, rng)
    return rows.select(rows.names[:15])


@cache
def found_best(case: Case, runs: int = RUNS) -> Mapping[str, float]:
    """Method -> share of runs that end at the highest score there is.

    Each run has the columns in another random order, which decides ties, and a seed of its own.
    """
    rows, top = sought(case), float(bn.map_dag(scored(sought(case))).log_target[0])
    there = {method: 0 for method in FINDERS}
    for rng in np.random.default_rng(SEED).spawn(runs):
        table = scored(rows.select(rng.permutation(rows.names).tolist()))
        for method, search in FINDERS.items():
            there[method] += search(table, rng) > top - MARGIN
    return MappingProxyType({method: count / runs for method, count in there.items()})
