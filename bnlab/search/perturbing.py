"""`climb_perturbed`: hill climbing that leaves local optima by way of perturbed data."""

import os
from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checks import Count, Natural, checked, conforming, real
from bnlab.data import Data
from bnlab.running import Progress
from bnlab.scores import ScoreTable, first_dags
from bnlab.search.climbing import PATIENCE, Climber
from bnlab.search.climbs import Climb, Climbs

METHOD = "hill climbing, perturbed data"

Perturbed = Callable[[float, np.random.Generator], ScoreTable]


@checked
def climb_perturbed(
    table: ScoreTable,
    perturbed: Perturbed,
    /,
    *,
    rng: np.random.Generator,
    rounds: Count = 10,
    share: float = 0.5,
    start: ArrayLike | None = None,
    tabu: Natural = 0,
    patience: Count = PATIENCE,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Climb:
    """Leave local optima by climbing on perturbed data in between [ElidanEtAl2002].

    After a climb on `table` each round climbs on a perturbed table, from where the search stands,
    and from there on `table` again. The perturbation is annealed: `share` falls in equal steps to
    nothing. Never worse than the plain climb, which comes first.

    Parameters
    ----------
    table : ScoreTable of the data
    perturbed : perturbed(share, rng), a ScoreTable of data of which about that share is changed,
        for the same variables, max_parents and constraints: as
        `lambda share, rng: score_families(resampled(data, share, rng=rng), BDeu())`.
        All families are scored anew, which takes most of the time
    rng : the only source of randomness
    rounds : perturbed climbs
    share : of the first one, above 0 and at most 1
    start, tabu, patience : as in `hill_climb`
    checkpoint : a file for the rounds that are done, saved every 10 seconds or so, and at a stop.
        If it is there, the same call goes on from it, to the very same end. It does not know
        `perturbed`: pass the same
    progress : progress(done, total, None) after each round; False stops with what is found

    Returns
    -------
    Climb
        with the climbs on `table`: that from the start, and one from the end of each round.

    Raises
    ------
    ValueError
        As `hill_climb`, or if a perturbed table is for other families.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> data = Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0]])
    >>> scored = lambda share, rng: score_families(resampled(data, share, rng=rng), BDeu())
    >>> climb_perturbed(score_families(data, BDeu()), scored, rng=np.random.default_rng(1)).dag
    array([0, 1, 0])
    """
    if not 0 < real(share) <= 1:
        raise ValueError(f"share={share}: give the share of data to change at first, 0 to 1")
    share = real(share)
    climber = Climber.of(table, "best", tabu, patience)
    first = first_dags(table, start, 1)[0]
    settings = {"rounds": rounds, "share": share, "max_parents": table.max_parents}
    settings |= {"tabu": climber.plan[1], "patience": climber.plan[2]}

    def make(climbs: Climbs) -> Generator[tuple[int, int], None, None]:
        if not climbs.begun:
            climbs.add([climber.climb(first)])
            yield 0, rounds
        made = climbs.count - 1
        for done in range(rounds):
            (child,) = rng.spawn(1)
            if done < made:  # by a call before this one
                continue
            other = perturbed(share * (1 - done / rounds), child)
            _check_alike(table, other)
            dag = climber.on(other).climb(climbs.last).dag
            climbs.add([climber.climb(dag)])
            yield done + 1, rounds

    climbs = Climbs(table, rounds + 1, make)
    return climbs.search(METHOD, settings, first, rng, checkpoint, progress)


@checked
def resampled(data: Data, share: float, /, *, rng: np.random.Generator) -> Data:
    """Take out a share of the rows, and put repeats of the others in its place.

    Parameters
    ----------
    data : Data, m rows
    share : 0 to 1, rounded to whole rows; one row at least stays
    rng : the only source of randomness

    Examples
    --------
    >>> data = Data.from_arrays([[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> resampled(data, 0.5, rng=np.random.default_rng(1)).values.tolist()
    [[1, 1], [1, 1], [1, 1], [0, 0]]
    """
    if not 0 <= real(share) <= 1:
        raise ValueError(f"share={share}: give a share of the rows, 0 to 1")
    gone = min(round(share * data.m), max(data.m - 1, 0))
    if gone == 0:
        return data
    kept = rng.permutation(data.m)[gone:]
    rows = np.sort(np.concatenate([kept, rng.choice(kept, size=gone)]))
    intervened = None if data.intervened is None else data.intervened[rows]
    return Data(data.values[rows], data.arities, data.names, data.levels, intervened)


def _check_alike(table: ScoreTable, other: ScoreTable) -> None:
    conforming("perturbed", other, ScoreTable)
    if (
        other.names != table.names
        or other.max_parents != table.max_parents
        or (np.isneginf(other.log_phi) != np.isneginf(table.log_phi)).any()
    ):
        raise ValueError(
            f"the perturbed table, {other!r}, is not for the families of {table!r}: score both "
            "for the same variables, max_parents and constraints"
        )
