"""Decomposable scores of a family, a node with its parents; from data to a table of them."""

import math
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import Floats, Ints, check_counts, checked, conforming, real, shown
from bnlab.data import Data
from bnlab.data.table import node_number
from bnlab.errors import InputError, Public, Setting
from bnlab.kernels import counting
from bnlab.priors import Prior, Uniform
from bnlab.scores.table import ScoreTable, array_bytes, check_log_prior, family_count

Node = int | str

TABULATED_TERMS = 1 << 22  # 32 MB; terms of larger cells, which are few, are computed on the spot
FEWER_FAMILIES = (
    "lower ",
    Setting("max_parents"),
    ", or use fewer variables (",
    Public("Data.select"),
    ")",
)


class Score(Protocol):
    """A decomposable score, ln p(D_v | D_G) or a stand-in for it.

    It is a sum over the cells of G + v, minus a sum over the cells of G, minus a penalty; a cell of
    N rows adds ln Gamma(a + N) - ln Gamma(a) for the pseudo-count a, or N ln N for likelihoods
    (pseudo-count `LIKELIHOOD`).

    Examples
    --------
    >>> score: Score = BDeu(ess=1.0)
    >>> score.cell_counts(np.array([2.0, 4.0]))
    array([0.5 , 0.25])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return the pseudo-count of a cell of G + v, for numbers of cells (t,)."""
        ...

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Return the pseudo-count of a cell of G, for numbers of cells (t,) and of states of v."""
        ...

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return nats to take off, for m rows and numbers of free parameters q (r - 1), (F,)."""
        ...


@checked
@dataclass(frozen=True, slots=True)
class BDeu:
    """Likelihood equivalent uniform Dirichlet score [HeckermanGeigerChickering1995].

    The marginal likelihood with Dirichlet parameters ess / (q r) for q parent configurations and r
    states: sum_j ln G(a) - ln G(a + N_j) + sum_k ln G(a/r + N_jk) - ln G(a/r), with a = ess / q.

    Parameters
    ----------
    ess : float, equivalent sample size in rows, between 1e-100 and 1e100

    Examples
    --------
    >>> BDeu(ess=1.0)
    BDeu(ess=1.0)
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        if not 1e-100 <= real(self.ess) <= 1e100:
            raise InputError(
                Setting("ess", self.ess),
                ": the equivalent sample size lies between 1e-100 and 1e100",
            )

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return pseudo-counts ess / cells."""
        if not (cells >= 1).all():
            raise ValueError(f"cells={shown(cells)}: numbers of cells are at least 1")
        return float(self.ess) / cells

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Return pseudo-counts ess / cells."""
        return self.cell_counts(cells)

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return zeros."""
        return np.zeros(parameters.shape)


@checked
@dataclass(frozen=True, slots=True)
class K2:
    """Marginal likelihood with all Dirichlet parameters 1 [CooperHerskovits1992].

    Examples
    --------
    >>> K2().parent_counts(np.array([4.0]), 3)
    array([3.])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return ones."""
        return np.ones(cells.shape)

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Return the pseudo-count r, one for each state."""
        return np.full(cells.shape, float(arity))

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return zeros."""
        return np.zeros(parameters.shape)


@checked
@dataclass(frozen=True, slots=True)
class LogLikelihood:
    """Maximised log likelihood, sum of N_jk ln(N_jk / N_j); it never prefers fewer parents.

    Examples
    --------
    >>> LogLikelihood().penalty(100, np.array([2.0]))
    array([0.])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Return the mark of a likelihood."""
        return np.full(cells.shape, counting.LIKELIHOOD)

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Return the mark of a likelihood."""
        return np.full(cells.shape, counting.LIKELIHOOD)

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return zeros."""
        return np.zeros(parameters.shape)


@checked
@dataclass(frozen=True, slots=True)
class BIC(LogLikelihood):
    """Log likelihood less (ln m) / 2 for each free parameter [Schwarz1978].

    Examples
    --------
    >>> BIC().penalty(100, np.array([4.0])).round(4)
    array([9.2103])
    """

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return (ln m) / 2 for each parameter; nothing for m = 0 rows."""
        return 0.5 * math.log(max(m, 1)) * parameters


@checked
@dataclass(frozen=True, slots=True)
class AIC(LogLikelihood):
    """Log likelihood less 1 for each free parameter [Akaike1974].

    Examples
    --------
    >>> AIC().penalty(100, np.array([4.0]))
    array([4.])
    """

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Return 1 for each parameter."""
        return parameters


def score_families(
    data: Data,
    score: Score,
    /,
    *,
    max_parents: int = 3,
    prior: Prior = Uniform(),
    candidates: Mapping[Node, Iterable[Node]] | None = None,
    required: Iterable[tuple[Node, Node]] = (),
    forbidden: Iterable[tuple[Node, Node]] = (),
) -> ScoreTable:
    """Score every family of up to `max_parents` parents.

    Rows in which v was intervened on are left out of v's counts, not of others' [CooperYoo1999].

    Parameters
    ----------
    data : Data, m rows of n variables
    score : BDeu, K2, BIC, AIC, LogLikelihood, or anything that offers what `Score` does
    max_parents : largest number of parents; more than n - 1 is the same as n - 1
    prior : structure prior, `Uniform()` by default
    candidates : for some nodes, the only parents allowed; nodes are names or numbers
    required, forbidden : edges (u, v), u -> v, in every or in no DAG

    Raises
    ------
    ValueError
        If max_parents is negative, an edge or node is unknown or contradictory, or the table does
        not fit in memory.

    Examples
    --------
    >>> from bnlab import BDeu
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]], names=["rain", "wet"])
    >>> table = score_families(data, BDeu(), forbidden=[("wet", "rain")])
    >>> table.log_prior
    array([[  0., -inf],
           [  0.,   0.]])
    """
    conforming("data", data, Data)
    conforming("score", score, Score)
    conforming("prior", prior, Prior)
    check_counts(least=0, max_parents=max_parents)
    n, k = data.n, min(int(max_parents), data.n - 1)
    _require_memory(n, k, data.m)
    parents = np.empty((n, family_count(n, k)), np.int64)
    counting.family_masks(n, k, parents)
    log_prior = log_priors(prior, parents, data.names)
    allowed, demanded = _edge_masks(data, candidates, required, forbidden)
    outside = (parents & ~allowed[:, None]) != 0
    lacking = (demanded[:, None] & ~parents) != 0
    log_prior[outside | lacking] = -math.inf
    log_score = np.empty(parents.shape)
    for nodes, rows in _counted_rows(data):
        _score_nodes(data, nodes, rows, score, k, parents, log_score)
    return ScoreTable(parents, log_score, log_prior, data.names, k)


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
    """Bytes that `score_families` takes for n variables and m rows, the table itself included.

    Most of them go into the copies and checks of a new ScoreTable.
    """
    cliques = sum(math.comb(n, size) for size in range(max_parents + 2))
    arrays = array_bytes(n, max_parents)
    while_counting = 3 * arrays + 8 * (6 * cliques + min(TABULATED_TERMS, (m + 1) * cliques))
    return max(while_counting, 7 * arrays) + arrays // 2 + 4 * m * (n + 2 * (max_parents + 2))


def _require_memory(n: int, k: int, m: int) -> None:
    memory.require(
        scoring_bytes(n, k, m=m),
        task=f"scoring all families of up to {k} parents of n={n} variables",
        remedy=FEWER_FAMILIES,
    )


def _counted_rows(data: Data) -> list[tuple[list[int], NDArray[np.int32]]]:
    """Nodes that share their counted rows, with these rows' states as (n, rows) columns."""
    if data.intervened is None:
        return [(list(range(data.n)), np.array(data.values.T, order="C"))]
    groups: dict[bytes, list[int]] = {}
    for v in range(data.n):
        groups.setdefault(data.intervened[:, v].tobytes(), []).append(v)
    return [
        (nodes, np.array(data.values[~data.intervened[:, nodes[0]]].T, order="C"))
        for nodes in groups.values()
    ]


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
    choose, first = counting.binomials(n, k + 1), counting.first_ranks(n, k + 1)
    cells = np.empty(first[k + 2])
    counting.clique_cells(data.arities, k + 1, cells)
    distinct, cell_of = np.unique(cells, return_inverse=True)
    known: dict[bytes, Floats] = {}  # by pseudo-counts: nodes of equal arity share their sums

    def sums(pseudo_counts: Floats, size: int) -> Floats:
        """Sums over the cells of all sets of up to `size` variables, by rank."""
        key = pseudo_counts.tobytes()
        if key not in known:
            different, which = np.unique(pseudo_counts, return_inverse=True)
            terms = np.empty(
                (different.size, max(3, min(m + 1, TABULATED_TERMS // different.size)))
            )
            counting.cell_terms(different, terms)
            known[key] = np.empty(first[size + 1])
            by_set = counting.Terms(which[cell_of], different, terms)
            counting.clique_scores(columns, data.arities, size, by_set, known[key])
        return known[key]

    joint = sums(score.cell_counts(distinct), k + 1)
    parameters = np.empty(parents.shape[1])
    for v in nodes:
        marginal = sums(score.parent_counts(distinct, int(data.arities[v])), k)
        counting.family_scores(v, parents[v], choose, first, joint, marginal, out[v])
        counting.family_scores(v, parents[v], choose, first, cells, cells, parameters)
        out[v] -= score.penalty(m, parameters)


def _edge_masks(
    data: Data,
    candidates: Mapping[Node, Iterable[Node]] | None,
    required: Iterable[tuple[Node, Node]],
    forbidden: Iterable[tuple[Node, Node]],
) -> tuple[Ints, Ints]:
    """Masks (n,) of the parents that each node may have, and of those that it must have."""
    every = (1 << data.n) - 1
    allowed = np.array([every & ~(1 << v) for v in range(data.n)], np.int64)
    demanded = np.zeros(data.n, np.int64)
    if not isinstance(candidates, Mapping | None):
        raise ValueError(f"candidates={shown(candidates)}: map a variable to a list of parents")
    for child, names in (candidates or {}).items():
        v = node_number(data.names, child)
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ValueError(f"candidates of {data.names[v]!r}: give a list, [{names!r}]")
        allowed[v] &= sum({1 << node_number(data.names, u) for u in names})
    for u, v in _edges(data, forbidden):
        allowed[v] &= ~(1 << u)
    for u, v in _edges(data, required):
        demanded[v] |= 1 << u
        if not (int(allowed[v]) >> u) & 1:
            raise ValueError(
                f"edge {data.names[u]} -> {data.names[v]} is required, yet not allowed"
            )
    return allowed, demanded


def _edges(data: Data, edges: Iterable[tuple[Node, Node]]) -> list[tuple[int, int]]:
    out = []
    if not isinstance(edges, Iterable):
        raise ValueError(f"{shown(edges)}: give a list of pairs (parent, child)")
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sized) or len(edge) != 2:
            raise ValueError(f"{shown(edge)} is no edge: give a list of pairs (parent, child)")
        u, v = (node_number(data.names, node) for node in edge)
        if u == v:
            raise ValueError(f"edge {data.names[u]} -> {data.names[v]} is a loop")
        out.append((u, v))
    return out
