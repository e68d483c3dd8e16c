"""`average_cuts`: cuts of measured columns and DAGs, drawn in turn along Gibbs chains."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.checks import Floats, Ints, Natural, Several, checked, frozen
from bnlab.data import CutPoints, Data, Intervals, discretize
from bnlab.data.discretizing import check_spread
from bnlab.data.table import counted
from bnlab.graphs import members
from bnlab.kernels import counting
from bnlab.priors import Prior, Uniform
from bnlab.records import altered
from bnlab.running import Executor, Progress
from bnlab.sampling.averaging import BURN_IN, Averages, Unknown, averages
from bnlab.sampling.chains import CHAINS, ChainSettings
from bnlab.scores import K2, AnyData, BDeu
from bnlab.scores.knowledge import Candidates, Edges, Tiers

BINS = (2, 3, 4, 5, 6, 7, 8)
A_FAMILY, PER_ROW = 300, 16  # what counting a family takes beside its rows, in comparisons

Points = tuple[tuple[float, ...], ...]
Codes = NDArray[np.int32]


@frozen(repr=False)
class Cuts(Averages):
    """Ways to cut the measured columns of a table, and what they say of the edges, averaged.

    A sequence of Data with states only, chain after chain: `len(cuts)`, `cuts[0]`. Make one with
    `average_cuts`.

    Attributes
    ----------
    data : Data, with measurements
    cut_points : for each measured column its candidates, each a tuple of increasing cut points
    choices : int64 (chains, draws, measured columns), which candidate each was cut by
    given : float64 (chains, draws, n, n), [..., u, v] = p(u -> v | table, cuts), exact
    dags : Draws over "dags", one from the exact posterior given each of the cuts; log_target is ln
        of prior factor times density of the ranks, nats. stats: "changed" (chains,), the share of
        choices that changed when they were drawn anew
    edges : float64 (n, n), p(u -> v | table): the mean of `given`
    stderr, rhat, ess, run, prior, kind : as of `Completions`

    Examples
    --------
    >>> data = Data.from_arrays(np.random.default_rng(1).random((40, 2)))
    >>> rng = np.random.default_rng(1)
    >>> cuts = average_cuts(data, BDeu(), draws=25, burn_in=5, rng=rng)
    >>> len(cuts), cuts[0].measured.any()
    (100, np.False_)
    """

    data: AnyData
    cut_points: tuple[Points, ...]
    choices: Ints

    def __getitem__(self, i: int) -> Data:
        choices = self.choices.reshape(len(self), -1)[i]
        points = (each[c] for each, c in zip(self.cut_points, choices, strict=True))
        return cut(self.data, tuple(points))

    def __repr__(self) -> str:
        return self._told(f"cuts of {len(self.cut_points)} columns")

    from_cuts = Averages._between


@checked
def average_cuts(
    data: AnyData,
    score: BDeu | K2,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    bins: Sequence[Several] = BINS,
    chains: int = CHAINS,
    burn_in: int = BURN_IN,
    thin: int = 1,
    max_parents: Natural = 3,
    prior: Prior = Uniform(),
    candidates: Candidates = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Cuts:
    """Average over ways to cut measured columns: draw cuts and DAGs in turn, average the edges.

    Likelihoods of tables that were cut differently cannot be compared: these are other data. So
    each measurement is replaced by its rank u, as a share of the rows, and cuts and a DAG stand for
    a density of the ranks: p(states | DAG) times 1 / width for the interval of each cell, where its
    width is the share of rows in it [MontiCooper1998; FriedmanGoldszmidt1996]. That integrates to
    1 for any cuts, and changes with neither units nor monotone functions of a column. Ranks stand
    in for unknown distribution functions [GenestGhoudiRivest1995]: the widths are taken from the
    data, as if they were known.

    Before the data all candidate cuts of a column are equally probable, and independent of DAGs and
    other columns. Each cycle of a Gibbs chain draws the cuts of each column from p(cuts | DAG, cuts
    of the others), exact over its candidates; proposes other cuts for one column, all DAGs summed
    over (a Metropolis move); and draws the DAG from its exact posterior given all cuts. Edges are
    averages, over the cuts, of exact posteriors given each [GelfandSmith1990]. They are
    structure-modular. Rows in which a variable was set leave its family and its density.

    A cycle takes twice the time of `score_families` and `dag_posterior`, and for each candidate of
    each column 0.1 ms for 300 rows.

    Parameters
    ----------
    data : Data, some variables measured; those with states keep them
    score : BDeu or K2 of the table when it is cut
    bins : numbers of intervals of equally many rows, each at least 2: the candidates. Ties leave
        fewer of them, or unequal ones; a column with most cells at its maximum is cut below that
    chains : number of chains, each from candidates drawn at random
    draws, rng, burn_in, thin : as in `complete`, of cuts
    max_parents, prior, candidates, required, forbidden, tiers : as in `score_families`
    checkpoint, progress, executor : as in `sample_orders`

    Returns
    -------
    Cuts

    Raises
    ------
    ValueError
        If no variable is measured, one is constant, cells are missing, an option is out of its
        range, memory is short, or the checkpoint is damaged or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.standard_normal(60)
    >>> data = Data.from_arrays(np.column_stack([x, x**3 + rng.standard_normal(60)]))
    >>> cuts = average_cuts(data, BDeu(), draws=50, burn_in=10, rng=rng)
    >>> float(cuts.edges.sum().round(1))
    0.8
    """
    plan = ChainSettings(draws, burn_in, thin, chains)
    points, bins = candidate_cuts(data, bins), tuple(bins)
    unknown = ColumnCuts.of(data, score, points)
    model = {"max_parents": max_parents, "prior": prior, "candidates": candidates}
    model |= {"required": required, "forbidden": forbidden, "tiers": tiers}
    choices, found = averages(
        unknown, plan, rng, model, 0, checkpoint, progress, executor, bins=bins
    )
    return Cuts(data=data, cut_points=points, choices=choices, **found)


def candidate_cuts(data: Data, bins: Sequence[int], /) -> tuple[Points, ...]:
    """The different cut points of each measured column, for numbers of intervals."""
    if not len(bins):
        raise ValueError("bins=(): give at least one number of intervals, such as (2, 3, 5)")
    nodes = np.flatnonzero(data.measured)
    if data.measurements is None or not nodes.size:
        raise ValueError(
            "data has no measured column to cut: read with continuous=[...], or use "
            "dag_posterior(score_families(data, score))"
        )
    return tuple(_candidates(data.measurements[:, v], data.names[v], bins) for v in nodes)


def _candidates(column: Floats, name: str, bins: Sequence[int]) -> Points:
    """Quantiles, without those that ties make equal, or that leave nothing above them."""
    check_spread(column, name)
    found, below = [], column[column < column.max()]
    for number in sorted(bins):
        shares = np.arange(1, number) / number
        points = np.unique(np.quantile(column, shares, method="inverted_cdf"))
        found.append(tuple(points[points < column.max()].tolist()))
    return tuple(filter(None, dict.fromkeys(found))) or ((float(below.max()),),)


class Way(NamedTuple):
    """A column, cut in one way."""

    codes: Codes
    levels: tuple[str, ...]
    intervals: Intervals
    log_density: float  # ln of 1 / width of a row's interval, summed over the rows that count

    @classmethod
    def of(cls, data: Data, v: int, points: tuple[float, ...]) -> "Way":
        """Column v, cut at these points."""
        assert data.measurements is not None
        column = data.measurements[:, v]
        codes, levels, _ = discretize(column, CutPoints(points))
        widths = np.bincount(codes) / codes.size
        log_density = -float(np.log(widths[codes[counted(data)[v]]]).sum())
        intervals = Intervals(points, float(column.min()), float(column.max()))
        return cls(codes, levels, intervals, log_density)


def cut(data: Data, cut_points: Points, /) -> Data:
    """The data with each measured column cut at its points."""
    nodes = np.flatnonzero(data.measured).tolist()
    return _with_columns(
        data, [Way.of(data, *each) for each in zip(nodes, cut_points, strict=True)]
    )


def _with_columns(data: Data, ways: Sequence[Way]) -> Data:
    values, arities = data.values.copy(), data.arities.copy()
    levels, intervals = [*data.levels], [*data.intervals]
    for v, way in zip(np.flatnonzero(data.measured).tolist(), ways, strict=True):
        values[:, v], arities[v] = way.codes, len(way.levels)
        levels[v], intervals[v] = way.levels, way.intervals
    told = {"levels": tuple(levels), "intervals": tuple(intervals), "measurements": None}
    return altered(data, values=values, arities=arities, **told)


@dataclass(frozen=True, eq=False)
class ColumnCuts(Unknown):
    """Cuts of measured columns, those of each drawn given the DAG and those of the others."""

    score: BDeu | K2
    ways: tuple[tuple[Way, ...], ...]
    method: ClassVar[str] = "Gibbs sampling of cuts and DAGs"
    posteriors: ClassVar[int] = 2  # of the cuts and of those proposed

    @classmethod
    def of(cls, data: Data, score: BDeu | K2, cut_points: Sequence[Points]) -> "ColumnCuts":
        """All ways to cut the columns."""
        nodes = np.flatnonzero(data.measured).tolist()
        ways = tuple(
            tuple(Way.of(data, v, points) for points in each)
            for v, each in zip(nodes, cut_points, strict=True)
        )
        comparisons = PER_ROW * (data.m + A_FAMILY) * sum(map(len, ways))
        told = len(ways), np.int64, f"cuts of {len(ways)} columns", comparisons
        return cls(data, score, None, *told, ways)

    @cached_property
    def sizes(self) -> Ints:
        """How many candidates each column has."""
        return np.array([len(each) for each in self.ways])

    def chosen(self, choices: Ints, /) -> list[Way]:
        """The way of each column."""
        return [each[c] for each, c in zip(self.ways, choices, strict=True)]

    def fit(self, choices: Ints, /) -> bool:
        return bool(((choices >= 0) & (choices < self.sizes)).all())

    def start(self, rng: np.random.Generator, /) -> Ints:
        return rng.integers(self.sizes)

    def filled(self, choices: Ints, /) -> Data:
        return _with_columns(self.data, self.chosen(choices))

    def drawn(self, choices: Ints, dag: Ints, rng: np.random.Generator, /) -> Ints:
        """Each choice drawn anew, in turn, from all candidates of its column."""
        table, out = self.filled(choices), choices.copy()
        columns, arities = np.array(table.values.T, order="C"), table.arities.copy()
        for i, v in enumerate(np.flatnonzero(self.data.measured).tolist()):
            ways, families = self.ways[i], [v, *np.flatnonzero(dag >> v & 1).tolist()]
            sizes = np.array([len(way.levels) for way in ways])
            log_weight = np.array([way.log_density for way in ways])
            for u in families:
                others = [w for w in (u, *members(int(dag[u]))) if w != v]
                cells = self.score.cell_counts(sizes * arities[others].astype(float).prod())
                for c, way in enumerate(ways):
                    columns[v], arities[v] = way.codes, sizes[c]
                    log_weight[c] += self._log_score(columns, arities, u, int(dag[u]), cells[c])
            weight = np.exp(log_weight - log_weight.max())
            out[i] = c = rng.choice(weight.size, p=weight / weight.sum())
            columns[v], arities[v] = ways[c].codes, sizes[c]
        return out

    def proposed(self, choices: Ints, rng: np.random.Generator, /) -> Ints | None:
        if not (some := np.flatnonzero(self.sizes > 1)).size:
            return None
        i, out = rng.choice(some), choices.copy()
        out[i] = (out[i] + rng.integers(1, self.sizes[i])) % self.sizes[i]
        return out

    def log_scores(self, choices: Ints, parents: Ints, /) -> Floats:
        """Ln densities (n, F) of the ranks of each node given those of its parents."""
        out = super().log_scores(choices, parents)
        log_density = np.array([way.log_density for way in self.chosen(choices)])
        out[self.data.measured] += log_density[:, None]
        return out

    def _log_score(
        self, columns: Codes, arities: Ints, v: int, mask: int, pseudo_count: float
    ) -> float:
        """The score of a family, of whose cells each has the pseudo-count."""
        rows = np.flatnonzero(counted(self.data)[v])
        split = counting.whole(self.data.m, mask.bit_count(), arities)
        split.rows[0, : rows.size], split.starts[0, 1] = rows, rows.size
        return float(counting.split_family(columns, arities, v, mask, pseudo_count, split))
