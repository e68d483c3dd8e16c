"""`occams_window`: all DAGs near the best in posterior probability, by beam search."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import Count, Floats, Ints, checked, real
from bnlab.kernels import greedy as kernels
from bnlab.results import BestDags, Run
from bnlab.running import Clock, Progress, report_progress
from bnlab.scores import ScoreTable, Source, first_dags
from bnlab.search.climbing import PATIENCE, Climber

TABU = 10
WIDER = 50
FIRST_ROWS = 1000
BLOCK = 10_000  # DAGs that are scored at a time, and between which progress is told


@checked
def occams_window(
    table: ScoreTable,
    /,
    *,
    factor: float = 20.0,
    reach: float | None = None,
    width: Count = 1000,
    most: Count = 200_000,
    start: ArrayLike | None = None,
    progress: Progress | None = None,
) -> BestDags:
    """Find DAGs within a Bayes factor of the best, by beam search [MadiganRaftery1994].

    Structure-modular. Up to 63 variables. From the best DAG at hand the search goes on to all DAGs
    that are one addition, deletion or reversal of an edge away, and from those within `factor` of
    the best to their neighbours, until there is no new one. So every DAG of the window that can be
    reached through DAGs of the window is found; under an equivalent score, whole classes of them.
    To reach others the beam also goes on from the `width` best of each round that are within
    `reach`. Where a better DAG turns up, the window moves.

    It is a heuristic: a DAG beyond a deeper valley is missed. With `reach` and `width` without
    limit every DAG would be met; run.settings["dropped"] counts the DAGs within `reach` that the
    beam left out, and only if that is 0 are all there that paths within `reach` lead to. What was
    found of the whole posterior, BestDags.as_draws(log_z=) says where log_z is known.
    The second rule of Madigan and Raftery, which leaves out models that a simpler one inside them
    beats, is not applied: the set then would not hold the mass that it has.

    There is no checkpoint: the window is full long before a run is worth one. What was found is a
    `start` of another search.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    factor : Bayes factor, above 1: DAGs as many times less probable than the best are left out
    reach : Bayes factor, at least `factor`, within which the search passes through other DAGs; 50
        times `factor` by default
    width : how many of these it goes on from in each round, at least 1
    most : DAGs in the window beyond which the search stops early (run.stopped)
    start : DAGs (n,) or (S, n) to begin with; by default the end of a tabu climb from the empty
        graph. Better is Climb.ends of many restarts, which lead to many regions of the window
    progress : progress(done, total, None) after each 10,000 DAGs: how many the search has gone on
        from, of those known to be worth it. False stops with what is found

    Returns
    -------
    BestDags
        with trace (1, T): ln of the sum over the window after each round, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, `start` is not allowed, the constraints leave no DAG, or
        memory is short.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> occams_window(table, factor=3)  # without an edge it is e**2 times less
    BestDags(2 of 2 variables, structure-modular, ln weight -5.5044 to -5.5044)
    """
    clock = Clock()
    if not 1 < real(factor) < math.inf:
        raise ValueError(f"factor={factor}: give a Bayes factor above 1, such as 20")
    reach = WIDER * factor if reach is None else reach
    if not factor <= real(reach) < math.inf:
        raise ValueError(f"reach={reach}: give a finite Bayes factor of at least factor={factor}")
    climber = Climber.of(table, "best", TABU, PATIENCE)
    if start is None:
        first = climber.climb(first_dags(table, None, 1)[0]).dag[None]
    else:
        first = first_dags(table, start, np.atleast_2d(np.asarray(start)).shape[0])
    beam = _Beam(table, first, climber.source, (math.log(factor), math.log(reach)), width)
    stopped, trace = False, list[float]()
    try:
        while not stopped and (rows := beam.next_rows()).size:
            stopped = not beam.expand(rows, progress)
            window = beam.scores[beam.scores >= beam.least(0)]
            trace.append(float(np.logaddexp.reduce(window)))
            stopped = stopped or window.size > most
    except KeyboardInterrupt:
        stopped = True
    settings = {"factor": factor, "reach": reach, "width": width, "most": most}
    settings |= {"dropped": beam.dropped, "max_parents": table.max_parents}
    found = beam.dags[beam.scores >= beam.least(0)]
    del beam  # and all that it met, before the window is ranked
    dags, log_target = ranked(table, found)
    run = Run("Occam's window", settings, "", clock.seconds, stopped=stopped)
    return BestDags(
        dags, log_target, log_target, "structure-modular", table.names, run, np.array([trace])
    )


class _Beam:
    """The DAGs met so far, and which of them the search went on from or left out."""

    def __init__(
        self, table: ScoreTable, first: Ints, source: Source, gaps: tuple[float, float], width: int
    ) -> None:
        dags, scores = ranked(table, np.unique(first, axis=0))
        n = table.n
        self._store = stored(dags, scores, max(len(dags), FIRST_ROWS) + n * n)
        self._closed = np.zeros(self._store.scores.size, bool)
        self._source, self._gaps, self._width = source, gaps, width
        self.done, self.dropped = 0, 0

    @property
    def scores(self) -> NDArray[np.float64]:
        return self._store.scores[: self._store.size[0]]

    @property
    def dags(self) -> Ints:
        return self._store.dags[: self._store.size[0]]

    def least(self, gap: int) -> float:
        """What a DAG of the window (0), or within reach (1), scores at least, nats."""
        return float(self.scores.max()) - self._gaps[gap] - kernels.MARGIN

    def next_rows(self) -> Ints:
        """The DAGs to go on from: new ones of the window, and the best of the others."""
        scores, open_rows = self.scores, ~self._closed[: self.scores.size]
        inside = np.flatnonzero(open_rows & (scores >= self.least(0)))
        others = np.flatnonzero(open_rows & (scores >= self.least(1)) & (scores < self.least(0)))
        others = others[np.argsort(-scores[others], kind="stable")]
        self._closed[others] = True
        self.dropped += max(0, others.size - self._width)
        self._closed[inside] = True
        return np.concatenate([inside, others[: self._width]])

    def expand(self, rows: Ints, progress: Progress | None) -> bool:
        """Meet all neighbours of the DAGs in `rows`; False when progress asks to stop."""
        total, least = self.done + rows.size, self.least(1)
        while rows.size:
            count = kernels.expand(rows[:BLOCK], self._source, self._store, least)
            if count < min(BLOCK, rows.size):
                self._grow()
            rows = rows[count:]
            self.done += count
            if not report_progress(progress, self.done, total):
                return False
        return True

    def _grow(self) -> None:
        size = 2 * self._store.scores.size
        self._store = stored(self.dags, self.scores, size)
        self._closed = np.concatenate([self._closed, np.zeros(size - self._closed.size, bool)])


def ranked(table: ScoreTable, dags: Ints, /) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n), best first, with their log_target (U,), summed anew by the table."""
    blocks = range(0, len(dags), BLOCK)
    log_target = np.concatenate([table.log_target(dags[i : i + BLOCK]) for i in blocks])
    ranking = np.lexsort((*dags.T[::-1], log_target))[::-1]
    return dags[ranking], log_target[ranking]


def stored(dags: Ints, scores: Floats, rows: int, /) -> kernels.Store:
    """A store of distinct DAGs (T, n) that has room for so many; refused where memory is short."""
    n = dags.shape[1]
    memory.require(
        store_bytes(n, rows),
        task=f"a set of {rows:,} DAGs of n={n} variables",
        remedy="ask for fewer DAGs, or for a narrower window",
    )
    slots = np.full(1 << rows.bit_length() + 1, -1, np.int64)
    store = kernels.Store(
        slots, np.empty((rows, n), np.int64), np.empty(rows), np.zeros(1, np.int64)
    )
    kernels.fill(store, dags, scores)
    return store


def store_bytes(n: int, rows: int, /) -> int:
    """Bytes that `stored` takes for so many DAGs."""
    return 8 * (rows * (n + 1) + (1 << rows.bit_length() + 1))
