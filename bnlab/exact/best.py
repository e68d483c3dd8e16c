"""The DAGs of highest posterior probability: `map_dag` and `k_best_dags`."""

import itertools
import math

import numpy as np

from bnlab import memory
from bnlab.checks import Count, Floats, Ints, checked
from bnlab.errors import Public
from bnlab.exact.dag import NO_DAG
from bnlab.kernels import best_dags as kernels
from bnlab.linear_extensions import log_count
from bnlab.results import BestDags, PriorKind, Run
from bnlab.running import Clock, Progress, Steps
from bnlab.scores import ScoreTable

PARTS = 200  # of the sets, between which progress is told
FIRST_GAP, WIDER = 1.0, 1.3  # nats below the best DAG, and how they grow until there are k
FIRST_LIST, GROWTH = 1000, 4  # of structure-modular DAGs, in search of order-modular ones
MOST_LISTED = 1 << 17  # of DAGs: 25 s for 13 variables
ENTRY_BYTES = 20
FEWER = ("ask for fewer DAGs, or choose fewer variables with ", Public("Data.select"))


@checked
def map_dag(
    table: ScoreTable,
    /,
    *,
    prior: PriorKind = "structure-modular",
    progress: Progress | None = None,
) -> BestDags:
    """Find the DAG of highest posterior probability, by a dynamic program over sets of variables.

    [SilanderMyllymaki2006], O(n 2**n) time and 8 * 2**(n-1) * (n + 2) bytes: 3.6 GB for n = 25. One
    of them if several share the highest; `k_best_dags` lists them. Under the order-modular prior
    as `k_best_dags`. Memory runs out before time does, so there is no checkpoint.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    prior : "structure-modular", where p(G | D) is proportional to prior factor times likelihood, or
        "order-modular", where it is that times the number of orders that G is consistent with
    progress : called as progress(done, total, None) after each variable; False stops

    Returns
    -------
    BestDags
        with dags (1, n)

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), or the constraints leave no DAG.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0]]), BDeu())
    >>> map_dag(table).dags  # the first two variables are always equal
    array([[0, 1, 0]])
    """
    if prior == "order-modular":
        return k_best_dags(table, 1, prior=prior, progress=progress)
    clock = Clock()
    dags = _best_dag(table, _completions(table, Steps(progress, total=table.n)))[None]
    run = Run("DP over subsets, best DAG", {"max_parents": table.max_parents}, "", clock.seconds)
    log_target = table.log_target(dags)
    return BestDags(dags, log_target, log_target, prior, table.names, run)


@checked
def k_best_dags(
    table: ScoreTable,
    k: Count,
    /,
    *,
    prior: PriorKind = "structure-modular",
    progress: Progress | None = None,
) -> BestDags:
    """Find the k DAGs of highest posterior probability, distinct, best first [TianHeRam2010].

    A dynamic program keeps at most k DAGs on each set of variables, and only those that can still
    grow to a DAG within some nats of the best, more until there are k. Takes memory as `map_dag`,
    and about 20 bytes for each DAG kept. Of DAGs that tie for the last place some are listed.

    Under the order-modular prior a DAG weighs l(G) times more, the number of orders that it is
    consistent with. The structure-modular list is grown then until no DAG outside it can belong to
    the k best, since l(G) <= n!. That takes few variables, or much data.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    k : at least 1; fewer are listed if there are fewer DAGs of positive weight
    prior : as in `map_dag`
    progress : called as progress(done, total, None) between steps, anew for each list; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), the constraints leave no DAG, or the
        k best cannot be certified under the order-modular prior.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> k_best_dags(table, 5).log_weight.round(3)  # there are three
    array([-5.504, -5.504, -7.507])
    """
    clock = Clock()
    if prior == "order-modular":
        dags, log_target, log_weight, listed = _order_modular(table, k, progress)
    else:
        dags, log_target = _structure_modular(table, k, progress)
        log_weight, listed = log_target, len(dags)
    settings = {"max_parents": table.max_parents, "k": k, "listed": listed}
    run = Run("DP over subsets, k best DAGs", settings, "", clock.seconds)
    return BestDags(dags, log_target, log_weight, prior, table.names, run)


def _best_dag(table: ScoreTable, bound: Floats) -> Ints:
    """A DAG (n,) of weight bound[0], node after node."""
    dag, placed, log_phi = np.zeros(table.n, np.int64), np.int64(0), table.log_phi
    bits = np.int64(1) << np.arange(table.n)
    for _ in range(table.n):
        within = np.where(table.parents & ~placed == 0, log_phi, -math.inf)
        weights = within.max(axis=1) + bound[placed | bits]
        v = int(np.where(placed & bits, -math.inf, weights).argmax())
        dag[v] = table.parents[v, within[v].argmax()]
        placed |= bits[v]
    return dag


def _structure_modular(table: ScoreTable, k: int, progress: Progress | None) -> tuple[Ints, Floats]:
    """The k best DAGs (K, n) by prior factor times likelihood, and its ln (K,), decreasing."""
    n = table.n
    k = min(k, 3 ** (n * (n - 1) // 2))  # each pair has one of two edges or none
    memory.require(
        _bytes(table) + (28 * n + 2 * ENTRY_BYTES) * k,
        task=f"n={n}: the k={k:,} best DAGs",
        remedy=FEWER,
    )
    families = _families(table)
    bound = _completions(table, Steps(progress, total=n))
    low = families.log_phi.min(axis=1, initial=math.inf, where=families.log_phi > -math.inf)
    widest, gap = float((families.log_phi[:, 0] - low).sum()), FIRST_GAP
    while True:
        least = float(bound[0]) - gap if gap < widest else -math.inf
        dags = _within(families, k, bound, least, progress)
        if len(dags) == k or least == -math.inf:
            break
        gap *= WIDER
    log_target = table.log_target(dags)
    ranking = np.argsort(-log_target, kind="stable")  # the dynamic program rounds differently
    return dags[ranking], log_target[ranking]


def _within(
    families: kernels.Families, k: int, bound: Floats, least: float, progress: Progress | None
) -> Ints:
    """The best DAGs (K, n) of weight `least` or more, at most k."""
    n, most = families.parents.shape
    sets, first = 1 << n, np.zeros((1 << n) + 1, np.int64)
    slots, allowed = np.empty((4, n * k), np.int32), np.empty((n, min(k, most)), np.int32)
    heap = kernels.Heap(
        slots[0], np.empty(n * k), slots[1], slots[2], slots[3], allowed, np.empty(n, np.int64)
    )
    lists = _resized(kernels.Lists(first, np.zeros(1), *np.zeros((3, 1), np.int32)), 2 * k)
    first[1] = 1  # on no node at all there is one DAG, of weight 0
    ends = np.unique(np.linspace(1, sets, PARTS + 1).astype(np.int64))
    steps = Steps(progress, total=ends.size - 1)
    for start, stop in itertools.pairwise(ends.tolist()):
        while start < stop:
            start = kernels.best_lists((start, stop), k, families, lists, heap, bound, least)
            if start < stop:
                lists = _resized(lists, lists.weight.size + max(lists.weight.size // 8, k))
        steps.tick()
    return _traced(lists, families)


def _traced(lists: kernels.Lists, families: kernels.Families) -> Ints:
    """The DAGs (K, n) on the full set, from the sinks to the roots."""
    n, most = families.parents.shape
    left = np.full(lists.first[-1] - lists.first[-2], (1 << n) - 1)
    rows = rank = np.arange(left.size)
    dags = np.empty((left.size, n), np.int64)
    for _ in range(n):
        entry = lists.first[left] + rank
        sink, f = np.divmod(lists.choice[entry], most)
        dags[rows, sink] = families.parents[sink, f]
        left, rank = left ^ np.int64(1) << sink, lists.rank[entry]
    return dags


def _resized(lists: kernels.Lists, size: int) -> kernels.Lists:
    """The same entries with room for `size`."""
    memory.require(ENTRY_BYTES * size, task=f"{size:,} DAGs on sets of variables", remedy=FEWER)
    pool = []
    for old in lists[1:]:
        pool.append(np.empty(size, old.dtype))
        pool[-1][: old.size] = old
    return kernels.Lists(lists.first, pool[0], pool[1], pool[2], pool[3])


def _completions(table: ScoreTable, steps: Steps) -> Floats:
    """What `best_completions` says of each set (2**n,)."""
    n = table.n
    memory.require(_bytes(table), task=f"n={n}: the best DAG", remedy=FEWER)
    best, bound = np.full((n, 1 << (n - 1)), -math.inf), np.empty(1 << n)
    log_phi = table.log_phi
    for v in range(n):
        low = table.parents[v] & ((1 << v) - 1)
        best[v, (table.parents[v] - low) >> 1 | low] = log_phi[v]
        kernels.subset_maxima(best[v])
        steps.tick()
    kernels.best_completions(best, bound)
    if bound[0] == -math.inf:
        raise ValueError(NO_DAG)
    return bound


def _order_modular(
    table: ScoreTable, k: int, progress: Progress | None
) -> tuple[Ints, Floats, Floats, int]:
    """The k best with l(G) counted: DAGs, ln without and with l(G), and how many were looked at."""
    log_most, size = math.lgamma(table.n + 1), max(k, FIRST_LIST)
    while True:
        dags, log_target = _structure_modular(table, size, progress)
        log_weight = log_target + log_count(dags)
        ranking = np.argsort(-log_weight, kind="stable")[:k]
        short = log_target[-1] + log_most - log_weight[ranking[-1]]
        if len(dags) < size or short <= 0:
            return dags[ranking], log_target[ranking], log_weight[ranking], len(dags)
        if GROWTH * size > MOST_LISTED:
            raise ValueError(
                f"the k={k} best DAGs of n={table.n} variables under the order-modular prior are "
                f"not certain: one outside the {size:,} best without l(G) may still weigh up to "
                f"e**{short:.1f} times the last of them. Take prior='structure-modular', fewer "
                "variables (Data.select) or a smaller k, or draw DAGs with sample_dags"
            )
        size *= GROWTH


def _bytes(table: ScoreTable) -> int:
    return (8 * (table.n + 2) << (table.n - 1)) + 4 * table.log_score.nbytes


def _families(table: ScoreTable) -> kernels.Families:
    log_phi = table.log_phi
    ranking = np.argsort(-log_phi, axis=1, kind="stable")
    return kernels.Families(
        np.take_along_axis(table.parents, ranking, axis=1),
        np.take_along_axis(log_phi, ranking, axis=1),
    )
