"""The exact order-modular posterior, by dynamic programming over subsets of variables."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.exact.normalisers import log_order_prior_sum
from bnlab.exact.steps import Steps
from bnlab.kernels import logspace, subsets
from bnlab.results import PriorKind, Run, read_only, rebuilt
from bnlab.runs import Clock, Progress, check_counts
from bnlab.scores import ScoreTable, array_bytes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Terms below the packed range are rounded up to its least number. A sum this far above it holds
# every such term in its last bits, whatever their number and multipliers.
SMALLEST_TOTAL = logspace.ZERO + (4096 << logspace.FRACTION_BITS)
MAX_LATTICE_NODES = 12


@dataclass(frozen=True, slots=True, eq=False)
class OrderPosterior:
    """The exact posterior under an order-modular prior: p(G) proportional to q(G) l(G).

    l(G) is the number of node orders that agree with G. Make one with `order_posterior`.

    Attributes
    ----------
    table : ScoreTable
    log_z : float, nats; ln of the sum over all orders (each weighs 1) and DAGs of factor times
        likelihood
    log_evidence : float, nats; ln p(D) = log_z less the same sum with likelihood 1
    edges : float64 (n, n), [u, v] = p(u -> v | D)
    families : float64 (n, F), p(the parents of v are table.parents[v, f] | D)
    prior : "order-modular"
    run : Run

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> order_posterior(table).families.round(4)
    array([[0.5595, 0.4405],
           [0.5595, 0.4405]])
    """

    table: ScoreTable
    log_z: float
    log_evidence: float
    edges: Floats
    families: Floats
    run: Run
    _alpha: Ints  # (n, 2**(n-1)) packed, row v scaled by exp(-_offsets[v])
    _g: Ints  # (2**n,) packed
    _offsets: Floats
    prior: PriorKind = "order-modular"

    def __post_init__(self) -> None:
        for name in ("edges", "families", "_alpha", "_g", "_offsets"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[object, ...]:
        return rebuilt(self)

    def __repr__(self) -> str:
        return (
            f"OrderPosterior({self.table.n} variables, log p(D) = {self.log_evidence:.4f}, "
            f"exact, {self.prior}, {self.run.seconds:.2g} s)"
        )

    def log_alpha(self, v: int, predecessors: ArrayLike, /) -> Floats:
        """ln alpha_v(S), nats: the sum of beta_v over parent sets within S, for masks S (...).

        Examples
        --------
        >>> from bnlab import BDeu, Data, score_families
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> order_posterior(table).log_alpha(0, [0, 2]).round(4)
        array([-2.0794, -0.9808])
        """
        masks, n = np.asarray(predecessors), self.table.n
        (v,) = check_counts(least=0, v=v)
        if not np.issubdtype(masks.dtype, np.integer):
            raise ValueError(f"predecessors are {masks.dtype}: give masks, which are integers")
        masks = masks.astype(np.int64)
        if not v < n or ((masks < 0) | (masks >> n != 0) | (masks >> v & 1 == 1)).any():
            raise ValueError(f"v={v} of {n} variables, and predecessors among the others")
        log_alpha: Floats = unpack(self._alpha[v][_compact(masks, v)]) + self._offsets[v]
        return log_alpha


def order_posterior(table: ScoreTable, /, *, progress: Progress | None = None) -> OrderPosterior:
    """Exact posterior over orders and DAGs [KoivistoSood2004, Koivisto2006].

    Takes O(n 2**n) time and 8 * 2**(n-1) * (n + 5) bytes: 0.45 GB for n = 22, 4.0 GB for n = 25.
    There is no checkpoint: n = 27 takes minutes, and the file would hold nearly all its 17 GB.
    The prior is order-modular: p(G) is proportional to the prior factor times the number of orders
    that agree with G; that is not the uniform prior over DAGs.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    progress : called as progress(done, total, None) between steps; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), the constraints leave no DAG, or the
        scores span more than e**180,000.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> order_posterior(table).edges.round(4)
    array([[0.    , 0.4405],
           [0.4405, 0.    ]])
    """
    if not isinstance(table, ScoreTable):
        raise ValueError(f"{type(table).__name__} is no ScoreTable: make one with score_families")
    n = table.n
    _require_memory(table)
    clock = Clock()
    half = 1 << (n - 1)
    alpha, g = np.empty((n, half), np.int64), np.empty(2 * half, np.int64)
    ticks = Steps(progress, total=2 * n + 2)
    log_prior_z = _log_prior_sum(table, alpha, g)
    ticks.tick()
    log_beta = table.log_beta
    offsets = log_beta.max(axis=1)
    _fill_alpha(table, log_beta, offsets, alpha, ticks)
    log_z = _forward(alpha, g) + offsets.sum()
    b, gamma = np.empty_like(g), np.empty(half, np.int64)
    subsets.backward(alpha, b)
    ticks.tick()
    families = np.empty(table.parents.shape)
    for v in range(n):
        subsets.family_posteriors(
            v,
            table.parents[v],
            log_beta[v],
            offsets[v],
            table.max_parents,
            g,
            b,
            gamma,
            families[v],
        )
        ticks.tick()
    np.minimum(families, 1.0, out=families)
    edges = edge_sums(table, families)
    run = Run("exact DP over orders", {"max_parents": table.max_parents}, seconds=clock.seconds)
    return OrderPosterior(
        table, log_z, log_z - log_prior_z, edges, families, run, alpha, g, offsets
    )


def log_prior_sum(table: ScoreTable, /) -> float:
    """ln of the sum over orders and DAGs of the prior factor, nats: log_z less log_evidence.

    At once for any n when the factor depends on the number of parents only; else by the dynamic
    program over subsets, with the memory that takes.

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), or the constraints leave no DAG.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> round(float(np.exp(log_prior_sum(table))), 9)  # two orders of two DAGs each
    4.0
    """
    closed = log_order_prior_sum(table)
    if closed is not None:
        return closed
    _require_memory(table)
    half = 1 << (table.n - 1)
    return _log_prior_sum(table, np.empty((table.n, half), np.int64), np.empty(2 * half, np.int64))


def order_posterior_bytes(n: int, /, *, max_parents: int | None = None) -> int:
    """Bytes that `order_posterior` takes for n variables, arrays like the score table aside.

    With max_parents, those arrays are counted too.

    Examples
    --------
    >>> order_posterior_bytes(25) / 1e9
    4.02653184
    """
    arrays = 0 if max_parents is None else 4 * array_bytes(n, max_parents)
    return ((8 * (n + 5)) << (n - 1)) + arrays


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Every quantity of the dynamic program, for study.

    Attributes
    ----------
    log_alpha : float64 (n, 2**n), nats; -inf where the set holds the node itself
    log_forward, log_backward : float64 (2**n,), nats; ln g(S) and ln b(S)

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> lattice = order_lattice(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> lattice.log_forward.round(4)
    array([ 0.    , -2.0794, -2.0794, -2.3671])
    """

    log_alpha: Floats
    log_forward: Floats
    log_backward: Floats


def order_lattice(table: ScoreTable, /) -> Lattice:
    """alpha, g and b of the order-modular dynamic program on all subsets of n <= 12 variables.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> lattice = order_lattice(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> bool(np.isclose(lattice.log_forward[-1], lattice.log_backward[0]))
    True
    """
    if not isinstance(table, ScoreTable):
        raise ValueError(f"{type(table).__name__}: pass a ScoreTable (score_families)")
    n = table.n
    if n > MAX_LATTICE_NODES:
        raise ValueError(
            f"n={n}: the whole lattice is kept for n <= {MAX_LATTICE_NODES} only. "
            "Use order_posterior, or fewer variables (Data.select)"
        )
    alpha, g = np.empty((n, 1 << (n - 1)), np.int64), np.empty(1 << n, np.int64)
    b = np.empty_like(g)
    log_beta = table.log_beta
    offsets = log_beta.max(axis=1)
    _fill_alpha(table, log_beta, offsets, alpha, Steps(None, total=n))
    _forward(alpha, g)
    subsets.backward(alpha, b)
    sets = np.arange(1 << n)
    member = (sets >> np.arange(n)[:, None]) & 1 == 1
    log_alpha = np.full((n, 1 << n), -math.inf)
    for v in range(n):
        log_alpha[v, ~member[v]] = unpack(alpha[v]) + offsets[v]
    inside = (offsets[:, None] * member).sum(axis=0)
    return Lattice(log_alpha, unpack(g) + inside, unpack(b) + offsets.sum() - inside)


def unpack(packed: Ints, /) -> Floats:
    """Natural logarithms of packed extended-range numbers, elementwise.

    Examples
    --------
    >>> unpack(np.array([0]))
    array([0.])
    """
    fraction = np.asarray((packed & logspace.FRACTION) / (1 << logspace.FRACTION_BITS), np.float64)
    logs: Floats = np.log1p(fraction)
    return logs + (packed >> logspace.FRACTION_BITS) * logspace.LOG_2


def _compact(masks: Ints, v: int) -> Ints:
    low = masks & ((1 << v) - 1)
    return ((masks - low) >> 1) | low


def _require_memory(table: ScoreTable) -> None:
    n = table.n
    free = memory.free_bytes()
    fits = n
    while free is not None and fits > 1 and order_posterior_bytes(fits) > free:
        fits -= 1
    memory.require(
        order_posterior_bytes(n, max_parents=table.max_parents),
        task=f"n={n}: the exact DP over orders",
        remedy=f"it reaches n={fits} here. Choose that many variables with Data.select, or walk on "
        "orders with sample_orders(table, ...)",
    )


def _fill_alpha(
    table: ScoreTable, log_beta: Floats, offsets: Floats, alpha: Ints, ticks: Steps
) -> None:
    for v in range(table.n):
        subsets.parent_set_sums(
            v, table.parents[v], log_beta[v], offsets[v], table.max_parents, alpha[v]
        )
        ticks.tick()


def _forward(alpha: Ints, g: Ints) -> float:
    """ln g(V), or a ValueError when it falls out of the packed range."""
    subsets.forward(alpha, g)
    if g[-1] < SMALLEST_TOTAL:
        raise ValueError(
            "no order of the variables has a weight within e**-180,000 of the best families: "
            "either the required and forbidden edges leave no DAG, or there are too many rows "
            "(use Data.prefix)"
        )
    return float(logspace.to_log(g[-1]))


def _log_prior_sum(table: ScoreTable, alpha: Ints, g: Ints) -> float:
    """`log_prior_sum` with alpha and g as scratch."""
    closed = log_order_prior_sum(table)
    if closed is not None:
        return closed
    offsets = table.log_prior.max(axis=1)
    _fill_alpha(table, table.log_prior, offsets, alpha, Steps(None, total=table.n))
    return _forward(alpha, g) + float(offsets.sum())


def edge_sums(table: ScoreTable, families: Floats, /) -> Floats:
    """edges[u, v] = sum of the posteriors (n, F) of v's families with u.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> edge_sums(table, np.array([[0.7, 0.3], [0.8, 0.2]]))
    array([[0. , 0.2],
           [0.3, 0. ]])
    """
    edges = np.empty((table.n, table.n))
    for u in range(table.n):
        edges[u] = (families * ((table.parents >> u) & 1)).sum(axis=1)
    return np.minimum(edges, 1.0)
