"""Parameters alone, or structure as well: how far from ALARM what is learned ends up."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, alarm, alarm_rows, stream

Floats = NDArray[np.float64]

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
WAYS = ("known structure", "tabu search", "GES", "Chow-Liu tree")
DATA_SETS = 3
FRESH = 5000


class Distance(NamedTuple):
    """KL(ALARM || learned) in nats a row, (data sets, sizes, ways), and standard errors of it."""

    mean: Floats
    error: Floats


def distances(
    sizes: tuple[int, ...] = SIZES, data_sets: int = DATA_SETS, fresh: int = FRESH
) -> Distance:
    """Distances by fresh rows, the same for all ways of learning.

    Examples
    --------
    >>> distances((50,), 1, 200).mean.shape
    (1, 1, 4)
    """
    test = alarm().sample(fresh, stream(2))
    truth = alarm().log_likelihood(test)
    gaps = np.array(
        [
            [
                [truth - density for density in _densities(alarm_rows(number).prefix(m), test)]
                for m in sizes
            ]
            for number in range(data_sets)
        ]
    )
    return Distance(gaps.mean(axis=-1), gaps.std(axis=-1, ddof=1) / fresh**0.5)


def _densities(rows: bn.Data, test: bn.Data) -> list[Floats]:
    table = bn.score_families(rows, BDEU, max_parents=MAX_PARENTS)
    tabu = bn.hill_climb(table, tabu=20, rng=stream(3)).dag
    learned = (alarm().dag, tabu, bn.ges(table).dag, bn.chow_liu(rows))
    return [bn.predict.plug_in_log_density(dag, rows, test, score=BDEU) for dag in learned]
