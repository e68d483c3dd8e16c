"""The exact order-modular posterior, and its paths, by dynamic programming over subsets."""

import math
import os
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checkpoints import Arrays, Checkpoint, Kept, check, identity
from bnlab.checks import Floats, Ints, Natural, checked, frozen
from bnlab.errors import Public
from bnlab.exact.dag import edge_sums, factors_by_size, log_weights_of_sizes, require_reach
from bnlab.kernels import order_dp
from bnlab.records import Columns, Tabular, ranked_pairs
from bnlab.results import PriorKind, Run
from bnlab.running import Batch, Clock, Here, Progress, Steps, Stopped, run_steps, workers
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
        """Return ln alpha_v(S), nats: of the sum of phi_v over parent sets within masks S (...).

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
    clock, ticks = Clock(), Steps(progress, total=2 * n + 2)
    log_prior_z = log_prior_sum(table)
    ticks.tick()
    log_phi = table.log_phi
    b, gamma = np.empty(1 << n, np.int64), np.empty(1 << (n - 1), np.int64)
    sums, log_z = _sums(table, log_phi, ticks, b)
    ticks.tick()
    families = np.empty(table.parents.shape)
    for v in range(n):
        of_v = v, table.parents[v], log_phi[v], sums.offsets[v], table.max_parents
        order_dp.family_posteriors(*of_v, sums.g, b, gamma, families[v])
        ticks.tick()
    np.minimum(families, 1.0, out=families)
    edges = edge_sums(table, families)
    run = Run("exact DP over orders", {"max_parents": table.max_parents}, seconds=clock.seconds)
    return OrderPosterior(table, log_z, log_z - log_prior_z, edges, families, run, sums)


@checked
def log_prior_sum(table: ScoreTable, /) -> float:
    """Return ln of the sum of the prior factor over orders and DAGs: log_z less log_evidence, nats.

    At once for any n when the factor rho depends on the number of parents i only, from n! times the
    product over j < n of sum_i C(j, i) rho_i; else by the dynamic program over subsets, with the
    memory that takes.

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
    by_size = factors_by_size(table)
    if by_size is None:
        _require_memory(table)
        return _sums(table, table.log_prior, Steps(None, total=table.n))[1]
    log_z = math.lgamma(table.n + 1)
    for j in range(table.n):
        log_z += float(np.logaddexp.reduce(log_weights_of_sizes(by_size, j)))
    return log_z


@checked
def order_posterior_bytes(
    n: Annotated[int, 1, MOST_VARIABLES], /, *, max_parents: int | None = None
) -> int:
    """Return the bytes that `order_posterior` takes for n variables, without the score table.

    With max_parents, those arrays are counted too.

    Examples
    --------
    >>> order_posterior_bytes(25) / 1e9
    4.02653184
    """
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
    b = np.empty(1 << n, np.int64)
    (alpha, g, offsets), _ = _sums(table, table.log_phi, Steps(None, total=n), b)
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


def _sums(
    table: ScoreTable, log_phi: Floats, ticks: Steps, b: Ints | None = None
) -> tuple[OrderSums, float]:
    """alpha and g for weights log_phi (n, F), with b beside g where it is given; ln g(V)."""
    n = table.n
    alpha, g = np.empty((n, 1 << (n - 1)), np.int64), np.empty(1 << n, np.int64)
    offsets = log_phi.max(axis=1)

    def fill(v: int) -> None:
        order_dp.parent_set_sums(
            v, table.parents[v], log_phi[v], offsets[v], table.max_parents, alpha[v]
        )

    with workers(Here() if n < THREADED_NODES else None, n) as chosen:
        for _ in chosen.map(fill, range(n)):
            ticks.tick()
        kernels, arrays = [order_dp.forward, order_dp.backward], [g] if b is None else [g, b]
        list(chosen.map(lambda kernel, out: kernel(alpha, out), kernels, arrays))
    if g[-1] < SMALLEST_TOTAL:
        raise ValueError(
            "no order of the variables has a weight within e**-180,000 of the best families: "
            "either the required and forbidden edges leave no DAG, or there are too many rows "
            "(use Data.prefix), or the prior favours edges too strongly (weaken it)"
        )
    return OrderSums(alpha, g, offsets), float(order_dp.to_log(g[-1])) + float(offsets.sum())


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
    sums, subsets = posterior.sums, np.int64(1) << np.bitwise_count(np.arange(1 << (n - 1)))
    first, share = np.cumsum(subsets) - subsets, np.empty(subsets.sum())

    def row(u: slice) -> Arrays:
        out = np.empty((1, n))
        order_dp.descendants(u.start, sums.alpha, sums.g, first, share, out[0])
        return {"paths": out}

    kept = {"paths": Kept(np.float64, ("nodes", n), 0, 1 + 1e-6)}
    rows = _Rows(row, lambda u: u, n, Here(), fits=partial(check, kept=kept, nodes=n))
    file = Checkpoint.at(checkpoint, identity("order paths", table=table))
    if run_steps(rows, file, progress):
        raise Stopped(f"stopped after step {rows.count} of {n}: no result yet")
    return np.minimum(rows.arrays()["paths"], 1.0)


class _Rows(Batch):
    """Rows of which there is nothing to return before the last."""

    begun = False
