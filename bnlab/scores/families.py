"""Scores of families, nodes with their parents: a table of all, or of those asked for."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checkpoints import fingerprint
from bnlab.checks import (
    Bools,
    Floats,
    Ints,
    Natural,
    check_counts,
    checked,
    conforming,
    frozen,
)
from bnlab.data import Data, Gapped
from bnlab.errors import Public, Setting
from bnlab.graphs import check_dags
from bnlab.kernels import counting, gaussian, lazy_scores
from bnlab.priors import Prior, Uniform
from bnlab.records import Record
from bnlab.scores.knowledge import Candidates, Edges, Tiers, edge_masks
from bnlab.scores.local import (
    AnyData,
    AnyScore,
    BDeu,
    BGe,
    ConditionalGaussian,
    Score,
    Units,
    prepared,
    wishart_prior,
)
from bnlab.scores.table import ScoreTable, array_bytes, check_log_prior, family_count

TABULATED_TERMS = 1 << 22  # 32 MB; terms of larger cells, which are few, are computed on the spot
MOST_CELLS = 1 << 22  # of one family that is counted when it is asked for
FEWER = "lower ", Setting("max_parents"), ", or use fewer variables (", Public("Data.select"), ")"

Source = tuple[tuple[NDArray[np.generic], ...], ...]


def score_families(
    data: AnyData,
    score: AnyScore,
    /,
    *,
    max_parents: int = 3,
    prior: Prior = Uniform(),
    candidates: Candidates = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
) -> ScoreTable:
    """Score every family of up to `max_parents` parents.

    Rows in which v was set by an intervention are left out of v's scores, not of others'
    [CooperYoo1999].

    Parameters
    ----------
    data : Data, m rows of n variables
    score : BDeu, K2, BIC, AIC, LogLikelihood, or anything that offers what `Score` does; of
        measurements BGe, of tables with both ConditionalGaussian
    max_parents : largest number of parents; more than n - 1 is the same as n - 1
    prior : structure prior, `Uniform()` by default
    candidates : for some nodes, the only parents allowed; nodes are names or numbers
    required, forbidden : edges (u, v), u -> v, in every or in no DAG
    tiers : nodes by time, earlier ones first: none has a parent in a later tier. Nodes in no tier
        may stand anywhere. `read_knowledge` reads these three, and beliefs, from a file.

    Raises
    ------
    ValueError
        If max_parents is negative, an edge or node is unknown, the required edges make a cycle,
        are more than max_parents or not allowed, the score is not one for these variables, or the
        table does not fit in memory.

    Warns
    -----
    UserWarning
        For a measured variable that is a sum of multiples of others.

    Examples
    --------
    >>> from bnlab import BDeu
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]], names=["rain", "wet"])
    >>> table = score_families(data, BDeu(), forbidden=[("wet", "rain")])
    >>> table.log_prior
    array([[  0., -inf],
           [  0.,   0.]])
    """
    data = conforming("data", data, AnyData)
    score_parts(data, score)
    conforming("prior", prior, Prior)
    check_counts(least=0, max_parents=max_parents)
    n, k = data.n, min(int(max_parents), data.n - 1)
    allowed, demanded = edge_masks(
        data, k, candidates=candidates, required=required, forbidden=forbidden, tiers=tiers
    )
    columns = 24 * data.m * n * bool(data.measured.any())  # twice, and a mask
    memory.require(
        scoring_bytes(n, k, m=data.m) + columns,
        task=f"scoring all families of up to {k} parents of n={n} variables",
        remedy=FEWER,
    )
    parents = np.empty((n, family_count(n, k)), np.int64)
    counting.family_masks(n, k, parents)
    log_prior = log_priors(prior, parents, data.names)
    outside = (parents & ~allowed[:, None]) != 0
    lacking = (demanded[:, None] & ~parents) != 0
    log_prior[outside | lacking] = -math.inf
    return ScoreTable(parents, log_scores(data, score, parents), log_prior, data.names, k)


def log_scores(data: Data, score: AnyScore, parents: Ints, units: Units | None = None, /) -> Floats:
    """Ln scores (n, F) of families with these parents; measured ones in these units, if given."""
    of_states, of_measured = score_parts(data, score)
    log_score = np.empty(parents.shape)
    k = int(parents[0, -1]).bit_count()
    choose, first = counting.binomials(data.n, k + 1), counting.first_ranks(data.n, k + 1)
    if data.measured.any():
        columns = units.columns(data.measurements) if units else prepared(of_measured, data)
    for nodes, counted in _counted_rows(data):
        codes = np.array(data.values[counted].T, order="C")
        with_states = [v for v in nodes if not data.measured[v]]
        others = [v for v in nodes if data.measured[v]]
        if with_states:
            _score_nodes(data, with_states, codes, of_states, k, parents, log_score)
        if others:
            numbers, joint = np.ascontiguousarray(columns[:, counted]), np.empty(first[k + 2])
            steps, split = (choose, first), counting.whole(codes.shape[1], k + 1, data.arities)
            of_all = numbers.sum(axis=1), numbers @ numbers.T
            prior = wishart_prior(of_measured, data)
            gaussian.set_scores(numbers, codes, data.arities, steps, of_all, prior, split, joint)
            for v in others:
                counting.family_scores(v, parents[v], choose, first, joint, joint, log_score[v])
    return log_score


def log_priors(prior: Prior, parents: Ints, names: tuple[str, ...], /) -> Floats:
    """Ln of the prior factors of all families (n, F), checked."""
    out = np.empty(parents.shape)
    for v, masks in enumerate(parents):
        factors = np.asarray(prior.log_factor(len(parents), v, masks))
        if factors.shape != masks.shape or factors.dtype.kind not in "iuf":
            raise ValueError(
                f"{type(prior).__name__}.log_factor gave {factors.dtype} {factors.shape} for "
                f"{names[v]!r}: return a number for each of the {masks.size} parent sets"
            )
        out[v] = factors
        check_log_prior(out[v], masks, names, v)
    return out


@checked
def scoring_bytes(n: int, max_parents: int, /, *, m: int = 0) -> int:
    """Bytes that `score_families` takes for n variables and m rows, the table itself included."""
    cliques = sum(math.comb(n, size) for size in range(max_parents + 2))
    arrays = array_bytes(n, max_parents)
    while_counting = 3 * arrays + 8 * (6 * cliques + min(TABULATED_TERMS, (m + 1) * cliques))
    # 7 arrays: the copies and checks of a new ScoreTable.
    return max(while_counting, 7 * arrays) + arrays // 2 + 4 * m * (n + 2 * (max_parents + 2))


def score_parts(data: Data, score: object, /) -> tuple[Score, BGe]:
    """The scores of variables with states and of measured ones; refused if one is lacking."""
    if isinstance(score, ConditionalGaussian):
        return score.discrete, score.measured
    if isinstance(score, BGe):
        if not data.measured.all():
            name = data.names[int((~data.measured).argmax())]
            raise ValueError(
                f"score={score!r} is for measurements, and {name!r} has states: use "
                "ConditionalGaussian() for a table with both, BDeu() for states alone"
            )
        return BDeu(), score
    of_states: Score = conforming("score", score, Score)
    conforming("data", data, Gapped)
    return of_states, BGe()


def _counted_rows(data: Data) -> list[tuple[list[int], Bools | slice]]:
    """Nodes that share their counted rows, with these rows."""
    if data.intervened is None:
        return [(list(range(data.n)), slice(None))]
    groups: dict[bytes, list[int]] = {}
    for v in range(data.n):
        groups.setdefault(data.intervened[:, v].tobytes(), []).append(v)
    return [(nodes, ~data.intervened[:, nodes[0]]) for nodes in groups.values()]


def _score_nodes(
    data: Data,
    nodes: list[int],
    columns: NDArray[np.int32],
    score: Score,
    k: int,
    parents: Ints,
    out: Floats,
) -> None:
    """Fill rows `nodes` of `out` from the counts in `columns`."""
    n, m = columns.shape
    arities = np.maximum(data.arities, 1)  # measurements make no cells: families with them are out
    choose, first = counting.binomials(n, k + 1), counting.first_ranks(n, k + 1)
    cells = np.empty(first[k + 2])
    counting.clique_cells(arities, k + 1, cells)
    distinct, cell_of = np.unique(cells, return_inverse=True)
    known: dict[bytes, Floats] = {}  # by pseudo-counts

    def sums(pseudo_counts: Floats, size: int) -> Floats:
        """Sums over the cells of all sets of up to `size` variables, by rank."""
        key = pseudo_counts.tobytes()
        if key not in known:
            different, which = np.unique(pseudo_counts, return_inverse=True)
            most = max(3, min(m + 1, TABULATED_TERMS // different.size))
            terms = np.empty((different.size, most))
            counting.cell_terms(different, terms)
            known[key] = np.empty(first[size + 1])
            by_set = counting.Terms(which[cell_of], different, terms)
            counting.clique_scores(columns, arities, size, by_set, known[key])
        return known[key]

    joint = sums(score.cell_counts(distinct), k + 1)
    marginal = {r: sums(score.parent_counts(distinct, r), k) for r in set(arities[nodes].tolist())}
    parameters = np.empty(parents.shape[1])
    for v in nodes:
        of_parents = marginal[int(arities[v])]
        counting.family_scores(v, parents[v], choose, first, joint, of_parents, out[v])
        counting.family_scores(v, parents[v], choose, first, cells, cells, parameters)
        out[v] -= score.penalty(m, parameters)


@frozen(repr=False)
class LazyScores(Record):
    """Scores of families of up to `max_parents` parents, each counted when it is first asked for.

    For one quick search of many variables and rows: `hill_climb` asks for few of the families. A
    `ScoreTable` has all of them, and serves all methods.

    Attributes
    ----------
    data : Data, m rows of n variables, without interventions
    score : as for `score_families`
    max_parents : more than n - 1 is the same as n - 1
    prior : structure prior, `Uniform()` by default

    Raises
    ------
    ValueError
        If max_parents is negative, there are interventions, a family has more than 4,194,304
        cells, or memory is short.

    Examples
    --------
    >>> from bnlab import BDeu
    >>> scores = LazyScores(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> log_target = scores.log_target([0, 1])
    >>> scores
    LazyScores(2 variables, up to 1 parents, 2 of 4 families scored)
    """

    data: Data
    score: Score
    max_parents: Natural = 3
    prior: Prior = Uniform()
    source: Source = field(init=False)

    def __post_init__(self) -> None:
        data = self.data
        if data.intervened is not None:
            raise ValueError("the data have interventions: score_families counts those")
        n, k = data.n, min(self.max_parents, data.n - 1)
        arities = np.sort(data.arities)[::-1]
        if math.prod(map(int, arities[: k + 1])) > MOST_CELLS:
            raise ValueError(
                f"families of {k} parents can have more than {MOST_CELLS:,} cells: use "
                "score_families, or lower max_parents"
            )
        shape = (n, family_count(n, k))
        memory.require(
            27 * shape[0] * shape[1] + 8 * _words(data) * int(arities.sum()),
            task=f"room for all families of up to {k} parents of n={n} variables",
            remedy=FEWER,
        )
        log_phi, parents = np.full(shape, np.nan), np.empty(shape, np.int64)
        counting.family_masks(n, k, parents)
        log_prior = log_priors(self.prior, parents, data.names)
        log_phi[np.isneginf(log_prior)] = -math.inf
        families = log_phi, counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
        self._set(max_parents=k, source=(families, _counts(data, self.score, k, log_prior)))

    def __repr__(self) -> str:
        log_phi = self.source[0][0]
        return (
            f"LazyScores({self.n} variables, up to {self.max_parents} parents, "
            f"{int((~np.isnan(log_phi)).sum())} of {log_phi.size} families scored)"
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.data.n

    @property
    def names(self) -> tuple[str, ...]:
        """The n variable names."""
        return self.data.names

    @property
    def fingerprint(self) -> str:
        """A digest of what is counted and how, for checkpoints."""
        return fingerprint(*self.source[1])

    def log_target(self, dags: ArrayLike, /) -> Floats:
        """Return ln of prior factor times likelihood of DAGs (..., n), as `ScoreTable.log_target`.

        Examples
        --------
        >>> from bnlab import BDeu
        >>> scores = LazyScores(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> scores.log_target([[0, 0], [0, 1]]).round(3)
        array([-4.159, -3.466])
        """
        masks = check_dags(dags)
        if masks.shape[-1] != self.n:
            raise ValueError(f"DAGs of {masks.shape[-1]} nodes for {self.n} variables")
        flat = masks.reshape(-1, self.n)
        out = np.empty(len(flat))
        lazy_scores.log_targets(self.source, flat, out)
        return out.reshape(masks.shape[:-1])


@checked
def family_source(scores: ScoreTable | LazyScores, /) -> Source:
    """What searches look families up in: (families, counts) as in `kernels.lazy_scores`."""
    if isinstance(scores, LazyScores):
        return scores.source
    n, k = scores.n, scores.max_parents
    families = scores.log_phi, counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
    none, nothing = np.empty((0, 0)), np.empty(0, np.int64)
    rows = np.empty((0, 0), np.int32), np.empty((0, 0), np.uint64), nothing
    return families, (*rows, nothing, none, np.empty(0), none, none, none)


def _counts(data: Data, score: Score, k: int, log_prior: Floats) -> tuple[NDArray[np.generic], ...]:
    """What `kernels.lazy_scores` counts from."""
    n, arities = data.n, np.array(data.arities)
    cells = np.empty(counting.first_ranks(n, k)[k + 1])
    counting.clique_cells(arities, k, cells)
    sizes = np.unique(cells)
    pseudo_counts, penalties = np.empty((2, sizes.size, n)), np.empty((sizes.size, n))
    for v, r in enumerate(map(int, arities)):
        pseudo_counts[:, :, v] = score.cell_counts(sizes * r), score.parent_counts(sizes, r)
        penalties[:, v] = score.penalty(data.m, sizes * (r - 1))
    if not (
        np.isfinite(penalties).all()
        and ((pseudo_counts > 0) | (pseudo_counts == counting.LIKELIHOOD)).all()
    ):  # nan marks what is not scored yet
        raise ValueError(f"score={score!r}: pseudo-counts are positive, and penalties finite")
    columns = np.array(data.values.T, order="C")
    first = np.cumsum(arities) - arities
    words = np.zeros((int(arities.sum()), _words(data)), np.uint64)
    lazy_scores.set_bits(columns, first, words)
    source = columns, words, first, arities, log_prior, sizes
    return *source, *pseudo_counts, penalties


def _words(data: Data) -> int:
    """Words of 64 bits for the rows of one state."""
    return -(-data.m // 64)
