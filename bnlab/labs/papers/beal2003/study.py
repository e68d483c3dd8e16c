"""What the page computes, short or long, and the long runs that come with the package."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab.labs.papers.beal2003.annealed import BATCHES, STEPS, Batches, batches, particles
from bnlab.labs.papers.beal2003.printed import DRAWS, SIZES
from bnlab.labs.papers.beal2003.scores import (
    Standing,
    scores_of_draw,
    scores_of_print,
    standing_in,
)
from bnlab.runs import Progress, Stopped

Floats = NDArray[np.float64]
Array = NDArray[np.number[Any]]
Key = tuple[str, int]

MILLI = 1000  # ln p is kept in thousandths of a nat


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of the chapter to compute; every part has random numbers of its own.

    Attributes
    ----------
    draws : of the parameters, and the sizes of their data sets
    draw_sizes : n of each
    data_sets : from the printed parameters
    print_sizes : n of each; the scores of all structures are kept for the first
    batches : n -> runs of the thesis' sampler on every structure
    steps : of these runs
    particles : n -> runs of SMC on every structure
    """

    draws: int
    draw_sizes: Sequence[int]
    data_sets: int
    print_sizes: Sequence[int]
    batches: Mapping[int, int]
    steps: int = STEPS
    particles: Mapping[int, int] = field(default_factory=dict)


LAB = Plan(
    draws=2,
    draw_sizes=(640, 2560),
    data_sets=1,
    print_sizes=(10, 160, 640, 2560),
    batches={480: 2},
    steps=2048,
    particles={160: 1},
)
"""Some twenty seconds on two cores."""

LONG = Plan(
    draws=DRAWS,
    draw_sizes=SIZES,
    data_sets=10,
    print_sizes=SIZES,
    batches=dict.fromkeys((10, 160, 480, 640, 1280, 2560, 5120, 10240), BATCHES),
    particles=dict.fromkeys((10, 160, 480, 640, 1280), 2),
)
"""About an hour on two cores."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """Arrays by what they are and the number of rows n.

    Examples
    --------
    >>> made(Plan(1, [10], 1, [10], {}))
    Study(draws: 1 sizes, printed parameters: 1 sizes, AIS: 0 sizes, SMC: 0 sizes)
    """

    arrays: Mapping[Key, Array]

    def __repr__(self) -> str:
        return (
            f"Study(draws: {self._extent('rank draw')}, printed parameters: "
            f"{self._extent('rank print')}, AIS: {self._extent('acceptance')}, "
            f"SMC: {self._extent('smc')})"
        )

    def _extent(self, what: str) -> str:
        return f"{len(self.sizes(what))} sizes"

    def sizes(self, what: str, /) -> list[int]:
        """Numbers of rows for which there is an array of that name, ascending.

        Examples
        --------
        >>> made(Plan(1, [20, 10], 0, [], {})).sizes("rank draw")
        [10, 20]
        """
        return sorted(n for name, n in self.arrays if name == what)

    def _nats(self, what: str, n: int) -> Floats:
        return self.arrays[what, n].astype(np.float64) / MILLI

    def standing(self, what: str, n: int, /) -> Standing:
        """Of all draws of parameters ("draw") or data sets from the printed ones ("print").

        Its arrays are (draws, 7).

        Examples
        --------
        >>> made(Plan(2, [10], 0, [], {})).standing("draw", 10).rank.shape
        (2, 7)
        """
        plain, rank, gap = (self.arrays[f"{name} {what}", n] for name in Standing._fields)
        return Standing(plain.astype(np.int64), rank.astype(np.int64), gap.astype(np.float64))

    def scores(self, n: int, /) -> Floats:
        """Scores (136, 7) of the first data set from the printed parameters, no alias term.

        Examples
        --------
        >>> made(Plan(0, [], 1, [10], {})).scores(10).shape
        (136, 7)
        """
        return self._nats("scores", n)

    def batches(self, n: int, /) -> Batches:
        """Runs of the thesis' sampler on the same rows.

        Examples
        --------
        >>> made(Plan(0, [], 0, [], {10: 1}, steps=8)).batches(10).acceptance.shape
        (136, 4)
        """
        acceptance = self.arrays["acceptance", n].astype(np.float64)
        return Batches(self._nats("ais", n), acceptance)

    def particles(self, n: int, /) -> Floats:
        """Estimates (136, runs) by SMC on the same rows.

        Examples
        --------
        >>> made(Plan(0, [], 0, [], {}, particles={5: 1})).particles(5).shape
        (136, 1)
        """
        return self._nats("smc", n)


def made(plan: Plan, /, *, progress: Progress | None = None) -> Study:
    """Compute a plan: `made(LONG)` gives what `saved()` holds.

    Parameters
    ----------
    progress : progress(done, total, study so far) after each part; False stops

    Raises
    ------
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> made(Plan(1, [10], 0, [], {})).standing("draw", 10).gap.max() <= 0
    np.True_
    """
    arrays: dict[Key, Array] = {}
    tasks = _tasks(plan)
    for done, task in enumerate(tasks, 1):
        arrays |= task()
        if progress is not None and progress(done, len(tasks), Study(arrays)) is False:
            raise Stopped(f"stopped after {done} of {len(tasks)} parts")
    return Study(arrays)


@cache
def saved() -> Study:
    """The long runs that come with the package; `made(LONG)` makes them again.

    Examples
    --------
    >>> saved().standing("draw", 640).rank.shape
    (106, 7)
    """
    with as_file(files("bnlab.labs.papers.beal2003") / "long.npz") as path, np.load(path) as kept:
        named = {name: kept[name] for name in kept.files}
    split = {name: name.rsplit(" ", 1) for name in named}
    return Study({(what, int(n)): named[name] for name, (what, n) in split.items()})


def packed(study: Study, /) -> dict[str, Array]:
    """Arrays by the names under which `saved` finds them: `np.savez_compressed(path, **packed)`.

    Examples
    --------
    >>> sorted(packed(made(Plan(0, [], 0, [], {}, particles={5: 1}))))
    ['smc 5']
    """
    return {f"{name} {n}": array for (name, n), array in study.arrays.items()}


Task = Callable[[], dict[Key, Array]]


def _tasks(plan: Plan) -> list[Task]:
    return [
        *(partial(_draws, plan.draws, n) for n in plan.draw_sizes),
        *(partial(_data_sets, plan.data_sets, n) for n in plan.print_sizes),
        *(partial(_batches, n, plan.steps, runs) for n, runs in plan.batches.items()),
        *(partial(_particles, n, runs) for n, runs in plan.particles.items()),
    ]


def _draws(count: int, n: int) -> dict[Key, Array]:
    return standings("draw", n, [standing_in(scores_of_draw(draw, n)) for draw in range(count)])


def _data_sets(count: int, n: int) -> dict[Key, Array]:
    found = [scores_of_print(number, n) for number in range(count)]
    first = {("scores", n): _milli(found[0])} if found else {}
    return first | standings("print", n, [standing_in(scores) for scores in found])


def standings(what: str, n: int, found: Sequence[Standing], /) -> dict[Key, Array]:
    """Standings stacked into small arrays.

    Examples
    --------
    >>> one = standing_in(np.zeros((136, 7)))
    >>> {key: array.shape for key, array in standings("draw", 10, [one, one]).items()}
    {('plain draw', 10): (2, 7), ('rank draw', 10): (2, 7), ('gap draw', 10): (2, 7)}
    """
    return {
        (f"plain {what}", n): np.array([each.plain for each in found], np.uint8),
        (f"rank {what}", n): np.array([each.rank for each in found], np.uint8),
        (f"gap {what}", n): np.array([each.gap for each in found], np.float32),
    }


def _batches(n: int, steps: int, runs: int) -> dict[Key, Array]:
    found = batches(n, steps=steps, runs=runs)
    return {("ais", n): _milli(found.log_p), ("acceptance", n): found.acceptance.astype(np.float32)}


def _particles(n: int, runs: int) -> dict[Key, Array]:
    return {("smc", n): _milli(np.column_stack([particles(n, batch=b) for b in range(runs)]))}


def _milli(log_p: Floats) -> Array:
    return np.round(log_p * MILLI).astype(np.int32)
