"""Local scores of families, and the table of all of them that every method starts from."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.data import Data
from bnlab.kernels import counting
from bnlab.priors import Prior, Uniform

Floats = NDArray[np.float64]
Node = int | str

TABULATED_COUNTS = 4096  # cells of more rows are few: their terms are computed on the spot


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
        """Pseudo-count of a cell of G + v, for numbers of cells (t,)."""
        ...

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Pseudo-count of a cell of G, for numbers of cells (t,) and v's number of states."""
        ...

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Nats to take off, for m rows and numbers of free parameters q (r - 1), (F,)."""
        ...


@dataclass(frozen=True, slots=True)
class BDeu:
    """Likelihood equivalent uniform Dirichlet score [HeckermanGeigerChickering1995].

    The marginal likelihood with Dirichlet parameters ess / (q r) for q parent configurations and r
    states: sum_j ln G(a) - ln G(a + N_j) + sum_k ln G(a/r + N_jk) - ln G(a/r), with a = ess / q.

    Parameters
    ----------
    ess : float > 0, equivalent sample size in rows.

    Examples
    --------
    >>> BDeu(ess=1.0)
    BDeu(ess=1.0)
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.ess < math.inf:
            raise ValueError(f"ess={self.ess}: the equivalent sample size is positive and finite")

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Pseudo-counts ess / cells."""
        return self.ess / cells

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Pseudo-counts ess / cells."""
        return self.ess / cells

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Zeros."""
        return np.zeros(parameters.shape)


@dataclass(frozen=True, slots=True)
class K2:
    """Marginal likelihood with all Dirichlet parameters 1 [CooperHerskovits1992].

    Examples
    --------
    >>> K2().parent_counts(np.array([4.0]), 3)
    array([3.])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """Ones."""
        return np.ones(cells.shape)

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """Pseudo-count r, one for each state."""
        return np.full(cells.shape, float(arity))

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Zeros."""
        return np.zeros(parameters.shape)


@dataclass(frozen=True, slots=True)
class LogLikelihood:
    """Maximised log likelihood, sum of N_jk ln(N_jk / N_j); it never prefers fewer parents.

    Examples
    --------
    >>> LogLikelihood().penalty(100, np.array([2.0]))
    array([0.])
    """

    def cell_counts(self, cells: Floats, /) -> Floats:
        """The mark of a likelihood."""
        return np.full(cells.shape, counting.LIKELIHOOD)

    def parent_counts(self, cells: Floats, arity: int, /) -> Floats:
        """The mark of a likelihood."""
        return np.full(cells.shape, counting.LIKELIHOOD)

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """Zeros."""
        return np.zeros(parameters.shape)


@dataclass(frozen=True, slots=True)
class BIC(LogLikelihood):
    """Log likelihood less (ln m) / 2 for each free parameter [Schwarz1978].

    Examples
    --------
    >>> BIC().penalty(100, np.array([4.0])).round(4)
    array([9.2103])
    """

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """(ln m) / 2 for each parameter; nothing for m = 0 rows."""
        return 0.5 * math.log(max(m, 1)) * parameters


@dataclass(frozen=True, slots=True)
class AIC(LogLikelihood):
    """Log likelihood less 1 for each free parameter [Akaike1974].

    Examples
    --------
    >>> AIC().penalty(100, np.array([4.0]))
    array([4.])
    """

    def penalty(self, m: int, parameters: Floats, /) -> Floats:
        """1 for each parameter."""
        return parameters


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of all families of up to k parents, in rectangular arrays.

    Row v lists the parent sets of node v by size, then in colexicographic order;
    F = sum over i <= k of C(n - 1, i).

    Attributes
    ----------
    parents : int64 (n, F), parent masks
    log_score : float64 (n, F), nats
    log_prior : float64 (n, F), ln of the prior factor, nats; -inf marks a forbidden family
    names : the n variable names
    max_parents : k

    Raises
    ------
    ValueError
        If shapes differ, a value is nan or +inf, or a node has no family left.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> score_families(data, BDeu()).log_score.round(3)
    array([[-3.753, -1.751],
           [-3.753, -1.751]])
    """

    parents: NDArray[np.int64]
    log_score: Floats
    log_prior: Floats
    names: tuple[str, ...]
    max_parents: int

    def __post_init__(self) -> None:
        n, k = len(self.names), self.max_parents
        shape = (n, family_count(n, k))
        for name in ("parents", "log_score", "log_prior"):
            array = np.array(getattr(self, name), np.int64 if name == "parents" else np.float64)
            if array.shape != shape:
                raise ValueError(
                    f"{name} has shape {array.shape}; {n} variables with up to {k} parents have "
                    f"(n, F) = {shape}"
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        for name in ("log_score", "log_prior"):
            bad = ~(getattr(self, name) < math.inf)
            if bad.any():
                v, f = np.argwhere(bad)[0]
                raise ValueError(f"{name}[{v}, {f}] = {getattr(self, name)[v, f]} is not a score")
        for v in np.flatnonzero((self.log_beta == -math.inf).all(axis=1)):
            raise ValueError(
                f"no parent set of {self.names[v]!r} is allowed: relax the required, forbidden or "
                "candidate edges, the prior, or raise max_parents"
            )

    def __repr__(self) -> str:
        return (
            f"ScoreTable({self.n} variables, up to {self.max_parents} parents, "
            f"{self.parents.size} families)"
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def log_beta(self) -> Floats:
        """ln beta_v(G) = log_prior + log_score, (n, F), nats [KoivistoSood2004]."""
        return self.log_prior + self.log_score

    def log_target(self, dags: ArrayLike, /) -> Floats:
        """ln of prior factor times likelihood of DAGs (..., n), summed over families: (...), nats.

        -inf for a DAG with more than max_parents parents at a node, or a forbidden family.

        Examples
        --------
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> table.log_target([[0, 0], [0, 1]]).round(3)
        array([-4.159, -3.466])
        """
        masks = np.asarray(dags, np.int64)
        flat = masks.reshape(-1, self.n)
        choose = counting.binomials(self.n - 1, self.max_parents)
        first = counting.first_ranks(self.n - 1, self.max_parents)
        position = np.empty(len(flat), np.int64)
        total = np.zeros(len(flat))
        for v in range(self.n):
            counting.family_ranks(v, np.ascontiguousarray(flat[:, v]), choose, first, position)
            beta = self.log_score[v] + self.log_prior[v]
            total += np.where(position < 0, -math.inf, beta[position])
        return total.reshape(masks.shape[:-1])


def family_count(n: int, max_parents: int, /) -> int:
    """F, the number of parent sets of one node: sum over i <= max_parents of C(n - 1, i).

    Examples
    --------
    >>> family_count(20, 3)
    1160
    """
    return sum(math.comb(n - 1, size) for size in range(max_parents + 1))


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
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]], names=["rain", "wet"])
    >>> table = score_families(data, BDeu(), forbidden=[("wet", "rain")])
    >>> table.log_prior
    array([[  0., -inf],
           [  0.,   0.]])
    """
    if max_parents < 0:
        raise ValueError(f"max_parents={max_parents} is negative: give at least 0")
    n, k = data.n, min(max_parents, data.n - 1)
    _require_memory(n, k)
    parents = np.empty((n, family_count(n, k)), np.int64)
    counting.family_masks(n, k, parents)
    log_prior = np.empty(parents.shape)
    for v in range(n):
        log_prior[v] = prior.log_factor(n, v, parents[v])
    allowed, demanded = _edge_masks(data, candidates, required, forbidden)
    outside = (parents & ~allowed[:, None]) != 0
    lacking = (demanded[:, None] & ~parents) != 0
    log_prior[outside | lacking] = -math.inf
    log_score = np.empty(parents.shape)
    for nodes, rows in _counted_rows(data):
        _score_nodes(data, nodes, rows, score, k, parents, log_score)
    return ScoreTable(parents, log_score, log_prior, data.names, k)


def _require_memory(n: int, k: int) -> None:
    families = n * family_count(n, k)
    cliques = sum(math.comb(n, size) for size in range(k + 2))
    memory.require(
        8 * (6 * families + 4 * cliques),
        task=f"scoring all families of up to {k} parents of n={n} variables",
        remedy="lower max_parents, or use fewer variables (Data.select)",
    )


def _counted_rows(data: Data) -> list[tuple[list[int], NDArray[np.int32]]]:
    """Nodes that share their counted rows, with these rows' states as (n, rows) columns."""
    if data.intervened is None:
        return [(list(range(data.n)), np.ascontiguousarray(data.values.T))]
    groups: dict[bytes, list[int]] = {}
    for v in range(data.n):
        groups.setdefault(data.intervened[:, v].tobytes(), []).append(v)
    return [
        (nodes, np.ascontiguousarray(data.values[~data.intervened[:, nodes[0]]].T))
        for nodes in groups.values()
    ]


def _score_nodes(
    data: Data,
    nodes: list[int],
    columns: NDArray[np.int32],
    score: Score,
    k: int,
    parents: NDArray[np.int64],
    out: Floats,
) -> None:
    """Fill rows `nodes` of `out` from the counts in `columns`."""
    n, m = columns.shape
    choose, first = counting.binomials(n, k + 1), counting.first_ranks(n, k + 1)
    cells = np.empty(first[k + 2])
    counting.clique_cells(data.arities, k + 1, cells)
    distinct, table_of = np.unique(cells, return_inverse=True)
    known: dict[bytes, Floats] = {}

    def sums(pseudo_counts: Floats, size: int) -> Floats:
        """Sums over the cells of all sets of up to `size` variables, by rank."""
        key = pseudo_counts.tobytes()
        if key not in known:
            terms = np.empty((distinct.size, max(3, min(m + 1, TABULATED_COUNTS))))
            counting.cell_terms(pseudo_counts, terms)
            known[key] = np.empty(first[size + 1])
            counting.clique_scores(
                columns, data.arities, size, table_of, pseudo_counts, terms, known[key]
            )
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
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Masks (n,) of the parents that each node may have, and of those that it must have."""
    every = (1 << data.n) - 1
    allowed = np.array([every & ~(1 << v) for v in range(data.n)], np.int64)
    demanded = np.zeros(data.n, np.int64)
    for child, names in (candidates or {}).items():
        v = _node(data, child)
        allowed[v] &= sum({1 << _node(data, u) for u in names})
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
    for edge in edges:
        u, v = (_node(data, node) for node in edge)
        if u == v:
            raise ValueError(f"edge {data.names[u]} -> {data.names[v]} is a loop")
        out.append((u, v))
    return out


def _node(data: Data, node: Node) -> int:
    if isinstance(node, str):
        return data.index(node)
    if not 0 <= node < data.n:
        raise ValueError(f"node {node} is outside 0..{data.n - 1}")
    return int(node)
