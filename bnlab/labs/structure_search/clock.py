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
    name: str, method: str, climbs: int, rng: np.random.Generator, *, changes: int = CHANGES
) -> bn.Climb:
    """So many climbs on a data set by one of `METHODS`, in one thread.

    Parameters
    ----------
    changes : random changes between the best network so far and the next start ("perturbed DAG")

    Examples
    --------
    >>> len(search("wine", "restarts", 3, np.random.default_rng(1)).ends)
    3
    """
    if method == "perturbed data":
        return bn.climb_perturbed(table(name), _again(name), rounds=max(1, climbs - 1), rng=rng)
    with ThreadPoolExecutor(1) as one:
        return bn.hill_climb(
            table(name),
            restarts=climbs - 1,
            tabu=TABU if method == "tabu, restarts" else 0,
            perturb=changes if method == "perturbed DAG" else None,
            rng=rng,
            executor=one,
        )


def _again(name: str) -> Callable[[float, np.random.Generator], bn.ScoreTable]:
    return lambda share, rng: scored(bn.resampled(data(name), share, rng=rng))


def first_hit(name: str, climb: bn.Climb, /) -> float:
    """The number of the first climb that ends at the highest score, from 1; inf if none does.

    Examples
    --------
    >>> first_hit("wine", search("wine", "restarts", 1, np.random.default_rng(1)))
    1.0
    """
    hits = np.flatnonzero(climb.log_targets > best(name).log_target[0] - MARGIN)
    return float(hits[0] + 1) if hits.size else np.inf


@cache
def climbs_needed(
    name: str, method: str, most: int = 50, searches: int = SEARCHES, changes: int = CHANGES
) -> Floats:
    """(searches,) climbs until the best network, inf where `most` were not enough.

    Examples
    --------
    >>> climbs_needed("wine", "restarts", 1, 2)
    array([1., 1.])
    """
    rngs = np.random.default_rng(SEED).spawn(searches)
    found = [search(name, method, most, rng, changes=changes) for rng in rngs]
    return np.array([first_hit(name, climb) for climb in found])


def on_one_clock(
    name: str,
    *,
    climbs: Mapping[str, int] = CLIMBS,
    searches: int = SEARCHES,
    changes: int = CHANGES,
    progress: Progress | None = None,
) -> Found:
    """Searches by every method in turn, each timed; stops with what it has.

    The seconds until the best network are the search's own, in proportion to its climbs.

    Examples
    --------
    >>> found = on_one_clock("wine", climbs={"restarts": 2}, searches=1)
    >>> found["restarts"][0][0] < found["restarts"][0][1]
    True
    """
    found: Found = {method: [] for method in climbs}
    for done, rng in enumerate(np.random.default_rng(SEED).spawn(searches), start=1):
        for method, count in climbs.items():
            climb = search(name, method, count, rng.spawn(1)[0], changes=changes)
            share = first_hit(name, climb) / len(climb.ends)
            times = share * climb.run.seconds, climb.run.seconds
            found = {**found, method: [*found[method], times]}
        if progress is not None and not progress(done, searches, found):
            break
    return found


def shares(found: Found, stops: Sequence[float], /) -> dict[str, Floats]:
    """Method -> (stops,): the share of its searches that were there by then; nan past their end.

    Examples
    --------
    >>> shares({"restarts": [(0.1, 0.5), (np.inf, 0.5)]}, [0.05, 0.2, 1.0])["restarts"]
    array([0. , 0.5, nan])
    """
    out = {}
    for method, searches in found.items():
        times = np.array(searches).reshape(-1, 2)
        end = np.median(times[:, 1]) if times.size else 0.0
        by = (times[:, 0][:, None] <= np.asarray(stops)).mean(axis=0) if times.size else np.nan
        out[method] = np.where(np.asarray(stops) <= end, by, np.nan)
    return out
