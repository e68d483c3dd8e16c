"""The exact structure-modular posterior, by signed sums over subsets; sums of prior factors."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bnlab import memory
from bnlab.checks import Floats, Ints, checked, frozen
from bnlab.errors import Part, Public
from bnlab.kernels import dag_dp
from bnlab.records import Columns, Tabular, ranked_pairs
from bnlab.results import PriorKind, Run
from bnlab.running import Clock, Progress, Steps
from bnlab.scores import ScoreTable, array_bytes

MOST_ROUNDING = 1e-6  # sums that must be 1 may differ from it by this much
BLOCK_PAIRS = 30_000_000  # pairs of a set and a subset summed in about 100 ms
NO_DAG = "the required and forbidden edges, or the prior, leave no DAG: relax them"


class LayerSums(NamedTuple):
    """What draws by layers are made from."""

    alpha: Floats  # (n, 2**(n-1)), compact, times 2**exponents, row v over its heaviest family
    exponents: Ints
    b: Floats  # (2**n,), times 2**completing: of all ways to go on, by nodes to come
    completing: Ints


@frozen()
class DagPosterior(Tabular):
    """The exact posterior under a structure-modular prior: p(G) proportional to rho(G).

    Every DAG counts once, however many orders it is consistent with. Make one with `dag_posterior`.

    Attributes
    ----------
    table : ScoreTable
    log_z : float, nats; ln of the sum over all DAGs of prior factor times likelihood
    log_evidence : float, nats; ln p(D) = log_z less the same sum with likelihood 1
    edges : float64 (n, n), [u, v] = p(u -> v | D)
    ancestors : float64 (n, n), [u, v] = p(a directed path leads from u to v | D)
    families : float64 (n, F), p(the parents of v are table.parents[v, f] | D)
    prior : "structure-modular"
    run : Run
    sums : LayerSums, what draws are made from

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> dag_posterior(table).ancestors.round(4)
    array([[0.    , 0.4684],
           [0.4684, 0.    ]])
    """

    table: ScoreTable
    log_z: float
    log_evidence: float
    edges: Floats
    ancestors: Floats
    families: Floats
    run: Run
    sums: LayerSums
    prior: PriorKind = "structure-modular"

    def __repr__(self) -> str:
        return (
            f"DagPosterior({self.table.n} variables, log p(D) = {self.log_evidence:.4f}, "
            f"exact, {self.prior}, {self.run.seconds:.2g} s)"
        )

    def _columns(self) -> Columns:
        return ranked_pairs(self.table.names, probability=self.edges, path=self.ancestors)


@checked
def dag_posterior(table: ScoreTable, /, *, progress: Progress | None = None) -> DagPosterior:
    """Compute the exact posterior over DAGs, each counted once [TianHe2009].

    The prior is structure-modular: p(G) is proportional to the prior factor alone, so with
    `Uniform` all DAGs are alike before the data. Takes O(3**n) time and 2**(n-1) * (24 n + 88)
    bytes: 1 s and 0.03 GB for n = 17, half a minute and 0.3 GB for n = 20. Scores may span any
    range. There is no checkpoint, as the file would hold nearly all this memory. Rounding leaves
    errors of about 1e-13. The worst case is that of hardly any edge: where each has a probability
    of 1e-9, the errors are of that size too (1.5e-9 for n = 18).

    For S the nodes that do not descend from v, p(S | D) = R(S) alpha_v(S) gamma_v(S) / Z: R sums
    over the DAGs on S, gamma over the parents of the rest, so that all of it descends. Families are
    a zeta transform of that away, and paths from v are what S leaves out. All gamma_v(S) of one S
    are parts of one sum, so together they cost no more than R.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    progress : called as progress(done, total, None) between steps of about 100 ms; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), the constraints leave no DAG, or
        rounding leaves fewer than six digits.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> dag_posterior(table).edges.round(4)
    array([[0.    , 0.4684],
           [0.4684, 0.    ]])
    """
    _require_memory(table, posterior_bytes)
    return summed(table, progress)


def summed(table: ScoreTable, progress: Progress | None = None, /) -> DagPosterior:
    """Compute what `dag_posterior` returns; the memory has been asked for."""
    clock, n = Clock(), table.n
    up, down = blocks(n, upwards=True), blocks(n, upwards=False)
    closed = factors_by_size(table) is not None
    prior_steps = 0 if closed else n + len(up)
    steps = Steps(progress, prior_steps + 2 * n + len(up) + len(down))
    log_prior_z = (
        log_dag_prior_sum(table) if closed else log_sum_over_dags(table, table.log_prior, steps)
    )
    log_phi = table.log_phi
    alphas = dag_alphas(table, log_phi, steps)
    shares = np.empty(alphas.values.shape)
    sums = LayerSums(alphas.values, alphas.exponents, np.ones(1 << n), alphas.completing)
    for first, last in down:
        dag_dp.backward(*sums, shares, max(first, 1), last)
        steps.tick()
    log_z = alphas.log_z(float(sums.b[-1]))
    r = sums_inside(alphas, steps)
    families, ancestors = np.empty(table.parents.shape), np.empty((n, n))
    for v in range(n):
        dag_dp.share(r, alphas.inside, sums.b, sums.completing, v, shares[v])
        _check_rounding(table, float(shares[v].sum()), float(r[-1] / sums.b[-1]))
        np.maximum(shares[v], 0.0, out=shares[v])
        of_v = table.parents[v], log_phi[v] - alphas.log_scale[v], sums.alpha[v], sums.exponents[v]
        dag_dp.family_posteriors(v, *of_v, shares[v], families[v])
        dag_dp.descendants(v, shares[v], ancestors[v])
        steps.tick()
    np.minimum(families, 1.0, out=families)
    np.minimum(ancestors, 1.0, out=ancestors)
    edges, log_evidence = edge_sums(table, families), log_z - log_prior_z
    run = Run("exact sum over DAGs", {"max_parents": table.max_parents}, seconds=clock.seconds)
    return DagPosterior(table, log_z, log_evidence, edges, ancestors, families, run, sums)


def _check_rounding(table: ScoreTable, *ones: float) -> None:
    """Sums that are 1 but for rounding: R(V) / B(V), and the probabilities of all sets."""
    worst = max(abs(one - 1.0) if math.isfinite(one) else math.inf for one in ones)
    if worst > MOST_ROUNDING:
        raise ValueError(
            f"n={table.n}: the signed sums over DAGs lose too many digits (a sum that is 1 differs "
            f"by {worst:.1g}). Choose fewer variables with Data.select, or walk with "
            "sample_partitions(table, ...)"
        )


def edge_sums(table: ScoreTable, families: Floats, /) -> Floats:
    """edges[u, v] = sum of the posteriors (n, F) of v's families with u."""
    edges = [(families * ((table.parents >> u) & 1)).sum(axis=1) for u in range(table.n)]
    return np.minimum(edges, 1.0)


class Alphas(NamedTuple):
    """alpha_v(S) = values * 2**exponents * exp(log_scale[v]), S without v's bit ("compact")."""

    values: Floats  # (n, 2**(n-1)), as exponents
    exponents: Ints
    log_scale: Floats  # (n,), nats
    inside: Ints  # (2**n,), exponents of the sums over DAGs: `kernels.dag_dp.heaviest`
    completing: Ints

    def log_z(self, value: float) -> float:
        """ln of a sum over all DAGs whose mantissa is `value`; a ValueError when that is 0."""
        if value <= 0.0:
            raise ValueError(NO_DAG)
        return float(
            math.log(value) + self.inside[-1] * dag_dp.LOG_2 + math.fsum(self.log_scale.tolist())
        )


def dag_alphas(table: ScoreTable, log_phi: Floats, steps: Steps, /) -> Alphas:
    """The alphas of all nodes and sets, n steps, for weights log_phi (n, F) in nats."""
    n = table.n
    values, exponents = np.empty((n, 1 << (n - 1))), np.empty((n, 1 << (n - 1)), np.int64)
    log_scale = log_phi.max(axis=1)
    for v in range(n):
        scaled = log_phi[v] - log_scale[v]
        dag_dp.parent_set_sums(v, table.parents[v], scaled, values[v], exponents[v])
        steps.tick()
    inside, completing = np.empty(1 << n, np.int64), np.empty(1 << n, np.int64)
    dag_dp.heaviest(exponents, inside, completing)
    return Alphas(values, exponents, log_scale, inside, completing)


def blocks(n: int, /, *, upwards: bool) -> list[tuple[int, int]]:
    """Ranges of sets S, about 100 ms each, for sums over the supersets or the subsets of each S."""
    out: list[tuple[int, int]] = []
    pending, pairs = [(0, n)], BLOCK_PAIRS
    while pending:
        first, free = pending.pop()  # the sets that share their elements above the lowest `free`
        size = (first >> free).bit_count()
        cost = 3**free << (n - free - size if upwards else size)
        if cost > BLOCK_PAIRS and free > 0:
            half = first + (1 << (free - 1))
            pending += [(half, free - 1), (first, free - 1)]
        elif pairs + cost <= BLOCK_PAIRS:
            out[-1], pairs = (out[-1][0], first + (1 << free)), pairs + cost
        else:
            out.append((first, first + (1 << free)))
            pairs = cost
    return out


def sums_inside(alphas: Alphas, steps: Steps, /) -> Floats:
    """Mantissas (2**n,) of the sums over the DAGs on each set, exponents `alphas.inside`."""
    n = len(alphas.values)
    r = np.zeros(1 << n)
    r[0] = 1.0
    for first, last in blocks(n, upwards=True):
        dag_dp.forward(alphas.values, alphas.exponents, r, alphas.inside, first, last)
        steps.tick()
    return r


def log_sum_over_dags(table: ScoreTable, log_phi: Floats, steps: Steps, /) -> float:
    """ln of the sum over DAGs of the product of beta_v; n + len(blocks) steps [TianHe2009]."""
    alphas = dag_alphas(table, log_phi, steps)
    return alphas.log_z(float(sums_inside(alphas, steps)[-1]))


def sum_bytes(n: int, /, *, max_parents: int | None = None) -> int:
    """Bytes that `log_sum_over_dags` takes; with max_parents, with arrays like the score table."""
    return ((16 * n + 80) << (n - 1)) + _table_arrays(n, max_parents)


def posterior_bytes(n: int, /, *, max_parents: int | None = None) -> int:
    """Bytes that `dag_posterior` takes; max_parents as for `sum_bytes`."""
    return ((24 * n + 88) << (n - 1)) + _table_arrays(n, max_parents)


def _table_arrays(n: int, max_parents: int | None) -> int:
    return 0 if max_parents is None else 4 * array_bytes(n, max_parents)


def _require_memory(table: ScoreTable, count: Callable[..., int]) -> None:
    walk = ", walk with ", Public("sample_partitions")
    draw = ", or use draws from ", Public("order_posterior"), " and ", Public("reweight_unique")
    require_reach(table, count, "the exact sum over DAGs", *walk, *draw)


def require_reach(table: ScoreTable, count: Callable[..., int], task: str, *others: Part) -> None:
    """Refuse, with how many variables fit, what needs more bytes than `count` tells."""

    def remedy(free: int) -> tuple[Part, ...]:
        fits = next((n for n in range(table.n - 1, 1, -1) if count(n) <= free), 1)
        fewer = f"it reaches n={fits} here. Choose that many variables with "
        return fewer, Public("Data.select"), *others

    needed = count(table.n, max_parents=table.max_parents)
    memory.require(needed, task=f"n={table.n}: {task}", remedy=remedy)


@checked
def log_dag_prior_sum(table: ScoreTable, /) -> float:
    """Return ln of the sum of the prior factor over DAGs, nats: each once, not once for each order.

    Takes log_z to log_evidence under a structure-modular prior. For factors q_i that depend on the
    number of parents i only, by layers of equal depth, as [KuipersMoffa2015] by roots: a node's
    parents lie in earlier layers, not all before the last one. With j nodes, s in the last layer,
    A(j, s) = C(j, s) sum_t A(j - s, t) (sum_i (C(j - s, i) - C(j - s - t, i)) q_i)**s, A(j, j) =
    q_0**j. No term is negative, unlike in the recurrence of [Robinson1973], so doubles do. Other
    factors take the signed sum over subsets [TianHe2009], in O(3**n) time.

    Raises
    ------
    ValueError
        If the constraints leave no DAG; or if factors differ for parent sets of equal size, and
        the memory for the sum over subsets is not there.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 0], [1, 1, 1]]), BDeu())
    >>> round(float(np.exp(log_dag_prior_sum(table))), 9)  # three nodes have 25 DAGs
    25.0
    """
    n = table.n
    by_size = factors_by_size(table)
    if by_size is not None:
        return _log_sum_by_layers(n, tuple(by_size.tolist()))
    _require_memory(table, sum_bytes)
    steps = Steps(None, n + len(blocks(n, upwards=True)))
    return log_sum_over_dags(table, table.log_prior, steps)


def factors_by_size(table: ScoreTable, /) -> Floats | None:
    """ln of the prior factor by number of parents (k + 1,), or None where more matters."""
    sizes = np.bitwise_count(table.parents[0])  # those of every node: families are listed by size
    by_size = table.log_prior[0, np.searchsorted(sizes, np.arange(table.max_parents + 1))]
    return by_size if (table.log_prior == by_size[sizes]).all() else None


def log_weights_of_sizes(by_size: Floats, j: int, /) -> Floats:
    """ln of C(j, i) q_i, the prior weight of all i-subsets of j predecessors, i = 0..min(j, k)."""
    sizes = range(min(j, by_size.size - 1) + 1)
    return np.array([math.log(math.comb(j, i)) + by_size[i] for i in sizes])


@lru_cache(maxsize=64)
def _log_sum_by_layers(n: int, by_size: tuple[float, ...]) -> float:
    log_a = np.full((n + 1, n + 1), -math.inf)  # [j, s]
    log_c = np.full((n, n), -math.inf)  # [j, t]: parents among j, some of them among the last t
    for j in range(1, n):
        for t in range(1, j + 1):
            log_c[j, t] = np.logaddexp.reduce(_log_touching(by_size, j, t))
    for j in range(1, n + 1):
        log_a[j, j] = j * by_size[0]
        for s in range(1, j):
            paths = log_a[j - s, 1 : j - s + 1] + s * log_c[j - s, 1 : j - s + 1]
            log_a[j, s] = math.log(math.comb(j, s)) + np.logaddexp.reduce(paths)
    log_sum = float(np.logaddexp.reduce(log_a[n]))
    if log_sum == -math.inf:
        raise ValueError(NO_DAG)
    return log_sum


def _log_touching(by_size: tuple[float, ...], j: int, t: int) -> list[float]:
    """ln of q_i times the number of i-subsets of j nodes that hold some of t given ones, i >= 1."""
    sizes = range(1, min(j, len(by_size) - 1) + 1)
    return [math.log(math.comb(j, i) - math.comb(j - t, i)) + by_size[i] for i in sizes]
