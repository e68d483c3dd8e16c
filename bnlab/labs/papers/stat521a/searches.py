"""The heuristics of the slides on ALARM: how near to the best DAG found each comes."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np

import bnlab as bn
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, alarm_rows, alarm_table, stream

TABU = 20
CLIMBS = 50
CHANGES = 15
ROUNDS = 10


def _climb(
    m: int,
    *,
    choice: Literal["best", "first"] = "best",
    tabu: int = 0,
    restarts: int = 0,
    perturb: int | None = None,
) -> float:
    climb = bn.hill_climb(
        alarm_table(m),
        rng=stream(4),
        choice=choice,
        tabu=tabu,
        restarts=restarts,
        perturb=perturb,
    )
    return climb.log_target


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
    """What each of SEARCHES reaches, nats.

    Examples
    --------
    >>> found = scores(100)
    >>> found["tabu list"] >= found["best-first"]
    True
    """
    return {name: search(m) for name, search in SEARCHES.items()}
