"""The exact order-modular posterior, and its paths, by dynamic programming over subsets."""

import math
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checkpoints import Arrays, Checkpoint, Kept, check, identity
from bnlab.checks import Floats, Ints, Natural, checked, frozen
from bnlab.errors import Public
from bnlab.exact.dag import edge_sums, log_order_prior_sum, require_reach
from bnlab.kernels import order_dp
from bnlab.records import Columns, Tabular, ranked_pairs
from bnlab.results import PriorKind, Run
from bnlab.running import Clock, Progress, Steps, Stopped, Work, run_steps, workers
from bnlab.scores import ScoreTable, array_bytes

# Terms below the packed range are rounded up to its least number. A sum this far above it holds
# every such term in its last bits, whatever their number and multipliers.
SMALLEST_TOTAL = order_dp.ZERO + (4096 << order_dp.FRACTION_BITS)
MAX_LATTICE_NODES = 12
THREADED_NODES = 14  # fewer are done before threads have begun
MOST_VARIABLES = 1000  # of which a size is told


class OrderSums(NamedTuple):
    """alpha (n, 2**(n-1)) and g (2**n,), packed; row v of alpha times exp(-offsets[v])."""

    alpha: Ints
    g: Ints
    offsets: Floats


@frozen()
class OrderPosterior(Tabular):
    """The exact posterior under an order-modular prior: p(G) proportional to rho(G) ℓ(G).

    ℓ(G) is the number of node orders that G is consistent with. Make one with `order_posterior`.

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
    sums : OrderSums, what draws are made from

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
    sums: OrderSums
    prior: PriorKind = "order-modular"

    def __repr__(self) -> str:
        return (
            f"OrderPosterior({self.table.n} variables, log p(D) = {self.log_evidence:.4f}, "
            f"exact, {self.prior}, {self.run.seconds:.2g} s)"
        )

    def _columns(self) -> Columns:
        return ranked_pairs(self.table.names, probability=self.edges)

    def log_alpha(self, v: Natural, predecessors: ArrayLike, /) -> Floats:
        """Return ln alpha_v(S), nats: of the sum of beta_v over parent sets within masks S (...).

        Examples
        --------
        >>> from bnlab import BDeu, Data, score_families
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> order_posterior(table).log_alpha(0, [0, 2]).round(4)
        array([-2.0794, -0.9808])
        """
        masks, n = np.asarray(predecessors), self.table.n
        if not np.issubdtype(masks.dtype, np.integer):
            raise ValueError(f"predecessors are {masks.dtype}: give masks, which are integers")
        masks = masks.astype(np.int64)
        if not v < n or ((masks < 0) | (masks >> n != 0) | (masks >> v & 1 == 1)).any():
            raise ValueError(f"v={v} of {n} variables, and predecessors among the others")
        low = masks & ((1 << v) - 1)
        out: Floats = unpack(self.sums.alpha[v][(masks - low) >> 1 | low]) + self.sums.offsets[v]
        return out


@checked
def order_posterior(table: ScoreTable, /, *, progress: Progress | None = None) -> OrderPosterior:
    """Compute the exact posterior over orders and DAGs [KoivistoSood2004, Koivisto2006].

    Takes O(n 2**n) time and 8 * 2**(n-1) * (n + 5) bytes: 0.45 GB for n = 22, 4.0 GB for n = 25.
    There is no checkpoint: n = 27 takes minutes, and the file would hold nearly all its 17 GB.
    The prior is order-modular: p(G) is proportional to the prior factor times the number of orders
    that G is consistent with; that is not the uniform prior over DAGs.

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
    n = table.n
    _require_memory(table)
    clock = Clock()
    half = 1 << (n - 1)
    alpha, g = np.empty((n, half), np.int64), np.empty(2 * half, np.int64)
    ticks = Steps(progress, total=2 * n + 2)
    log_prior_z = _log_prior_sum(table, alpha, g)
    ticks.tick()
    log_phi = table.log_phi
    offsets = log_phi.max(axis=1)
    _fill_alpha(table, log_phi, offsets, alpha, ticks)
    b, gamma = np.empty_like(g), np.empty(half, np.int64)
    log_z = _forward(alpha, g, b) + offsets.sum()
    ticks.tick()
    families = np.empty(table.parents.shape)
    for v in range(n):
        of_v = v, table.parents[v], log_phi[v], offsets[v], table.max_parents
        order_dp.family_posteriors(*of_v, g, b, gamma, families[v])
        ticks.tick()
    np.minimum(families, 1.0, out=families)
    edges = edge_sums(table, families)
    run = Run("exact DP over orders", {"max_parents": table.max_parents}, seconds=clock.seconds)
    return OrderPosterior(
        table, log_z, log_z - log_prior_z, edges, families, run, OrderSums(alpha, g, offsets)
    )


@checked
def log_prior_sum(table: ScoreTable, /) -> float:
    """Return ln of the sum of the prior factor over orders and DAGs: log_z less log_evidence, nats.

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


@checked
def order_posterior_bytes(n: int, /, *, max_parents: int | None = None) -> int:
    """Return the bytes that `order_posterior` takes for n variables, without the score table.

    With max_parents, those arrays are counted too.

    Examples
    --------
    >>> order_posterior_bytes(25) / 1e9
    4.02653184
    """
    if not 1 <= n <= MOST_VARIABLES:
        raise ValueError(f"n={n}: give a number of variables from 1 to {MOST_VARIABLES:,}")
    arrays = 0 if max_parents is None else 4 * array_bytes(n, min(max_parents, n))
    return ((8 * (n + 5)) << (n - 1)) + arrays


@frozen()
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


@checked
def order_lattice(table: ScoreTable, /) -> Lattice:
    """Return alpha, g and b of the order-modular dynamic program on all sets of n <= 12 variables.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> lattice = order_lattice(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> bool(np.isclose(lattice.log_forward[-1], lattice.log_backward[0]))
    True
    """
    n = table.n
    if n > MAX_LATTICE_NODES:
        raise ValueError(
            f"n={n}: the whole lattice is kept for n <= {MAX_LATTICE_NODES} only. "
            "Use order_posterior, or fewer variables (Data.select)"
        )
    alpha, g = np.empty((n, 1 << (n - 1)), np.int64), np.empty(1 << n, np.int64)
    b = np.empty_like(g)
    log_phi = table.log_phi
    offsets = log_phi.max(axis=1)
    _fill_alpha(table, log_phi, offsets, alpha, Steps(None, total=n))
    _forward(alpha, g, b)
    sets = np.arange(1 << n)
    member = (sets >> np.arange(n)[:, None]) & 1 == 1
    log_alpha = np.full((n, 1 << n), -math.inf)
    for v in range(n):
        log_alpha[v, ~member[v]] = unpack(alpha[v]) + offsets[v]
    inside = (offsets[:, None] * member).sum(axis=0)
    return Lattice(log_alpha, unpack(g) + inside, unpack(b) + offsets.sum() - inside)


def unpack(packed: Ints, /) -> Floats:
    """Return natural logarithms of packed extended-range numbers, elementwise."""
    fraction = np.asarray((packed & order_dp.FRACTION) / order_dp.UNIT, np.float64)
    logs: Floats = np.log1p(fraction)
    return logs + (packed >> order_dp.FRACTION_BITS) * order_dp.LOG_2


def _require_memory(table: ScoreTable) -> None:
    walk = ", or walk on orders with ", Public("sample_orders")
    require_reach(table, order_posterior_bytes, "the exact DP over orders", *walk)


def _fill_alpha(
    table: ScoreTable, log_phi: Floats, offsets: Floats, alpha: Ints, ticks: Steps
) -> None:
    def fill(v: int) -> None:
        order_dp.parent_set_sums(
            v, table.parents[v], log_phi[v], offsets[v], table.max_parents, alpha[v]
        )

    with _mapping(table.n) as on_threads:
        for _ in on_threads(fill, range(table.n)):
            ticks.tick()


def _forward(alpha: Ints, g: Ints, b: Ints | None = None) -> float:
    """Fill g, and b beside it; ln g(V), or a ValueError when it falls out of the packed range."""
    sums = [partial(order_dp.forward, alpha, g)]
    if b is not None:
        sums.append(partial(order_dp.backward, alpha, b))
    with _mapping(len(alpha)) as on_threads:
        list(on_threads(lambda fill: fill(), sums))
    if g[-1] < SMALLEST_TOTAL:
        raise ValueError(
            "no order of the variables has a weight within e**-180,000 of the best families: "
            "either the required and forbidden edges leave no DAG, or there are too many rows "
            "(use Data.prefix), or the prior favours edges too strongly (weaken it)"
        )
    return float(order_dp.to_log(g[-1]))


@contextmanager
def _mapping(n: int) -> Iterator[Callable[..., Iterator[object]]]:
    """The `map` of a pool of threads, or the builtin one where threads do not pay."""
    if n < THREADED_NODES:
        yield map
        return
    with workers(None, n) as threads:
        yield threads.map


def _log_prior_sum(table: ScoreTable, alpha: Ints, g: Ints) -> float:
    """`log_prior_sum` with alpha and g as scratch."""
    closed = log_order_prior_sum(table)
    if closed is not None:
        return closed
    offsets = table.log_prior.max(axis=1)
    _fill_alpha(table, table.log_prior, offsets, alpha, Steps(None, total=table.n))
    return _forward(alpha, g) + float(offsets.sum())


@checked
def order_paths(
    posterior: OrderPosterior,
    /,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Compute posterior path probabilities (n, n), [u, v] = p(u is a proper ancestor of v | D).

    Under the order-modular prior, by a dynamic program over pairs of a set of nodes and its members
    that descend from u, for each u in turn [ParviainenKoivisto2011]. Takes O(n**2 3**n) time and
    8 * 3**(n-1) bytes: 13 MB for n = 14, 115 MB for n = 16, 1.0 GB for n = 18. All terms are
    positive, so the rounding error is that of `order_posterior`, about 1e-11.

    Parameters
    ----------
    posterior : OrderPosterior from `order_posterior`
    checkpoint : a file for the ancestors u that are done, saved every 10 seconds or so, and at a
        stop. If it is there, the same call goes on from it
    progress : called as progress(done, total, None) after each ancestor u; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), this is no OrderPosterior, or the
        checkpoint is damaged or of another posterior: it is left as it is then.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> order_paths(order_posterior(table)).round(4)
    array([[0.    , 0.4405],
           [0.4405, 0.    ]])
    """
    table, n = posterior.table, posterior.table.n
    memory.require(
        8 * (3 ** (n - 1) + 2 ** (n - 1)),
        task=f"n={n}: exact paths under the order-modular prior",
        remedy="choose fewer variables with Data.select, or draw DAGs with sample_dags and use "
        "features.paths",
    )
    identified = identity("order paths", table=table)
    work = _Paths(posterior)
    if run_steps(work, Checkpoint.at(checkpoint, identified), progress):
        raise Stopped(f"stopped after step {work.done} of {n}: no result yet")
    return np.minimum(work.rows, 1.0)


class _Paths(Work):
    """The rows (n, n) of paths from each node u; a row counts as done once it is whole."""

    begun = False

    def __init__(self, posterior: OrderPosterior) -> None:
        self._posterior, n = posterior, posterior.table.n
        self.rows, self.done = np.zeros((n, n)), 0

    def steps(self) -> Generator[tuple[int, int], None, None]:
        n = len(self.rows)
        if self.done == n:
            return
        first = np.empty(1 << (n - 1), np.int64)
        share, sums = np.empty(order_dp.first_states(first)), self._posterior.sums
        for u in range(self.done, n):
            order_dp.descendants(u, sums.alpha, sums.g, first, share, self.rows[u])
            self.done = u + 1
            yield self.done, n

    def arrays(self) -> Arrays:
        return {"paths": self.rows[: self.done]}

    def restore(self, saved: Arrays) -> None:
        n = len(self.rows)
        check(saved, {"paths": Kept(np.float64, ("nodes", n), 0, 1 + 1e-6)}, nodes=n)
        self.done = len(saved["paths"])
        self.rows[: self.done] = saved["paths"]
