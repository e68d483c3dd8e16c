"""Distinct DAGs weighed by their own posterior: IW-DDS, and Ellis and Wong's heuristic."""

import bisect
import heapq
import math
import operator
import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import numpy as np

from bnlab import memory
from bnlab.checkpoints import (
    GENERATORS,
    Arrays,
    Checkpoint,
    Kept,
    check,
    dags_of,
    generator_states,
    identity,
    restore_generators,
)
from bnlab.checks import Count, Ints, Range, checked, real
from bnlab.graphs import predecessor_masks
from bnlab.results import BestDags, DagDraws, Draws, OrderDraws, Run
from bnlab.running import Clock, Progress, Work, run_steps, seed_of
from bnlab.sampling.dags_given_orders import check_orders
from bnlab.sampling.independent import NO_DAG, Families, families_by_weight
from bnlab.scores import ScoreTable

Dag = tuple[int, ...]
Choices = list[tuple[list[int], list[float]]]
Waiting = tuple[float, float, Dag, int, int]  # ln time, ln p of masks, masks, range (0, 0: all)

METHOD = "Ellis-Wong"
KEY_BYTES = 150  # of each DAG in the dictionary of those that have appeared, beside its masks


@checked
def reweight_unique(draws: DagDraws, /, *, log_z: float | None = None) -> Draws:
    """Weigh the distinct DAGs of draws by prior factor times likelihood: IW-DDS.

    With S the set of distinct DAGs, p-hat(f | D) = sum over G in S of f(G) p(G, D) / sum over G in
    S of p(G, D) [HeTianWu2016, eq. 24 and 25]. How often a DAG was drawn does not count, nor do
    weights of the draws. So the estimate is of the structure-modular posterior, whatever the draws
    come from, and it is exact once S holds every DAG: draws only have to find those of much weight.

    Delta = sum over G in S of p(G | D) is the posterior mass of S. With it the posterior of any
    feature lies within [Delta p-hat, Delta p-hat + 1 - Delta] for certain [HeTianWu2016, eq. 26]:
    see `features.probability` and `features.sound`. The distinct DAGs of `draws.prefix(t)` are
    nested, so Delta grows with t.

    Parameters
    ----------
    draws : Draws over "dags"
    log_z : nats, ln of the sum over all DAGs of prior factor times likelihood, such as
        DagPosterior.log_z; without it there is no Delta. A log_prior that the draws were made
        with is a part of their weights, so log_z must have it, too

    Returns
    -------
    Draws
        The U distinct DAGs in order of first appearance, chain by chain: values (1, U, n) parent
        masks, log_weight = log_target (1, U), structure-modular. They all form one group. Given
        log_z, stats has "mass" (1,), Delta within 0..1, and "log_z" (1,).

    Raises
    ------
    ValueError
        If these are no draws of DAGs, memory is short, a DAG has no weight (log_target is not
        finite) and yet its draw has (log_weight is not -inf), or log_z is less than the sum
        over the distinct DAGs alone.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=50, rng=np.random.default_rng(1))
    >>> reweight_unique(draws)  # no edge, and one either way
    Draws(3 dags of 2 variables, structure-modular)
    """
    weigh = (draws.log_weight > -np.inf) | (draws.log_target > -np.inf)
    if not weigh.any() or not np.isfinite(draws.log_target[weigh]).all():
        raise ValueError(
            "log_target of a draw is not finite: a DAG of prior factor 0 has no place among draws "
            "from a posterior"
        )
    memory.require(
        draws.log_target.size * (16 * draws.values.shape[-1] + KEY_BYTES),
        task=f"finding the distinct ones of {draws.log_target.size:,} DAGs",
        remedy="take fewer (Draws.prefix)",
    )
    clock = Clock()
    flat = np.ascontiguousarray(draws.values[weigh])
    first = _first_appearances(flat)
    run = Run(
        f"{draws.run.method}, distinct".removeprefix(", "),
        {**draws.run.settings, "drawn": weigh.size},
        draws.run.seed,
        draws.run.seconds + clock.seconds,
        stopped=draws.run.stopped,
    )
    log_target = draws.log_target[weigh][first]
    found = BestDags(flat[first], log_target, log_target, "structure-modular", draws.names, run)
    return found.as_draws(log_z=log_z)


def _first_appearances(rows: Ints) -> Ints:
    """Where each distinct row of (T, n) appears first, ascending: (U,)."""
    keys = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()  # bytes
    where = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
    return np.sort(np.fromiter(where.values(), np.int64, len(where)))


@checked
def ellis_wong_dags(
    orders: OrderDraws,
    /,
    *,
    table: ScoreTable,
    eps: Annotated[float, Range(0, 1, "[)")],
    rng: np.random.Generator,
    max_dags: Count = 100_000,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Draws:
    """Draw distinct DAGs and weigh them by their own posterior [EllisWong2008].

    As told in [NiinimakiKoivisto2013, sec. 2.2]: from each distinct order, distinct DAGs are drawn
    until they hold a share of at least 1 - eps of the posterior given that order. The DAGs of all
    orders together are weighed by prior factor times likelihood.

    This is a heuristic, kept for comparison. It is biased: with a single order it only repeats the
    order-modular bias, and with many it gives too much weight to the DAGs that were met, since the
    others count nothing. No error bar is known. The weights of `reweight_by_extensions` are right
    in the limit of many draws: prefer them.

    Parameters
    ----------
    orders : Draws over "orders"; their weights are not used
    table : ScoreTable that the orders come from
    eps : share of the posterior given an order that may be left out, 0 <= eps < 1; with 0 every
        DAG consistent with the order is taken
    rng : the only source of randomness
    max_dags : how many distinct DAGs there may be in all
    checkpoint : a file that keeps the DAGs of the orders that are done, saved every 10 seconds or
        so, at a stop and at the end. If it is there, the same call goes on from it
    progress : progress(done, total, None) after each distinct order; False stops, and so does
        Ctrl-C: the DAGs of the orders done by then remain

    Returns
    -------
    Draws
        over "dags", structure-modular: values (1, U, n), in the order in which they were met;
        log_weight and log_target (1, U), ln of prior factor times likelihood, nats. All are one
        group: they depend on each other.

    Raises
    ------
    ValueError
        If the orders or the table do not fit, eps is outside [0, 1), more than `max_dags` DAGs
        would be needed, or the checkpoint is damaged or of another run.

    Examples
    --------
    >>> from bnlab import BDeu, Data, sample_orders, score_families
    >>> table, rng = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()), np.random
    >>> orders = sample_orders(table, draws=20, rng=rng.default_rng(1))
    >>> ellis_wong_dags(orders, table=table, eps=0.0, rng=rng.default_rng(2))
    Draws(3 dags of 2 variables, structure-modular)
    """
    check_orders(orders, table)
    clock, seed = Clock(), f"{orders.run.seed}; DAGs: {seed_of(rng)}"
    families = [families_by_weight(table, v) for v in range(table.n)]
    weigh = np.exp(orders.log_weight - orders.log_weight.max()) > 0  # others may have no DAG
    distinct = np.unique(orders.values[weigh], axis=0)
    masks = predecessor_masks(distinct)
    for order, before in zip(distinct, masks, strict=True):
        largest = math.exp(sum(_log_range(tails, 0, 1) for _, tails in within(families, before)))
        if max_dags * largest < 1 - eps:
            raise _too_many(max_dags, order, f"reach {max_dags * largest:.2g} at most", eps)
    settings = {"eps": real(eps), "max_dags": max_dags}
    identified = identity(METHOD, **settings, orders=distinct, seed=seed, table=table)
    found = _Found(table, families, distinct, masks, real(eps), max_dags, rng)
    stopped = run_steps(found, Checkpoint.at(checkpoint, identified), progress)
    dags = found.dags
    log_target = table.log_target(dags)[None]
    run = Run(
        f"{orders.run.method}, {METHOD}",
        {**orders.run.settings, **settings},
        seed,
        orders.run.seconds + clock.seconds,
        stopped=orders.run.stopped or stopped,
    )
    return Draws(
        dags[None], log_target, log_target, "dags", "structure-modular", orders.names, run=run
    )


@dataclass(eq=False)
class _Found(Work):
    """The distinct DAGs (U, n) of the orders that are done, in the order in which they were met."""

    table: ScoreTable
    families: Families
    orders: Ints
    masks: Ints
    eps: float
    max_dags: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self._found: dict[Dag, None] = {}
        self._at = 0, 0, generator_states([self.rng])  # orders done, their DAGs, the generator then

    @property
    def begun(self) -> bool:
        return self._at[0] > 0

    @property
    def dags(self) -> Ints:
        """What the orders that are done gave."""
        return np.array(list(islice(self._found, self._at[1])), np.int64)

    def steps(self) -> Generator[tuple[int, int], None, None]:
        for done in range(self._at[0], len(self.orders)):
            mass = 0.0
            for dag, log_share in distinct_dags(within(self.families, self.masks[done]), self.rng):
                self._found[dag] = None
                if len(self._found) > self.max_dags:
                    reach = f"reach {mass:.6g}"
                    raise _too_many(self.max_dags, self.orders[done], reach, self.eps)
                mass += math.exp(log_share)
                if self.eps > 0 and mass >= 1 - self.eps:
                    break
            self._at = done + 1, len(self._found), generator_states([self.rng])
            yield done + 1, len(self.orders)

    def arrays(self) -> Arrays:
        done, count, generator = self._at
        numbers = {"orders": np.array(done), "count": np.array(count)}
        return {"dags": self.dags, **numbers, "generator": generator}

    def restore(self, saved: Arrays) -> None:
        one = {"orders": Kept(np.int64, (), 0, len(self.orders)), "count": Kept(np.int64, (), 0)}
        kept = {"dags": dags_of(self.table.n, "DAGs"), **one, "generator": GENERATORS}
        check(saved, kept, DAGs=self.max_dags)
        dags, count, orders = saved["dags"], int(saved["count"]), int(saved["orders"])
        distinct = len(np.unique(dags, axis=0)) if len(dags) else 0
        if not distinct == len(dags) == count or bool(count) != bool(orders):
            raise ValueError(f"it should hold the {count} distinct DAGs of {orders} orders")
        if not (self.table.log_target(dags) > -math.inf).all():
            raise ValueError("it has DAGs that the table forbids")
        restore_generators([self.rng], saved["generator"])
        self._found = dict.fromkeys(map(tuple, dags.tolist()))
        self._at = orders, count, saved["generator"]


def within(families: Families, masks: Ints, /) -> Choices:
    """Of each node the families within masks (n,), and ln tail sums of their p, -inf at the end."""
    out = []
    for (parents, log_phi), mask in zip(families, masks, strict=True):
        fits = parents & ~mask == 0
        if not fits.any():
            raise ValueError(NO_DAG)
        tails = np.logaddexp.accumulate(log_phi[fits][::-1])[::-1]
        out.append((parents[fits].tolist(), [*(tails - tails[:1]).tolist(), -math.inf]))
    return out


def distinct_dags(choices: Choices, rng: np.random.Generator, /) -> Iterator[tuple[Dag, float]]:
    """The DAGs given an order, each once, with ln probabilities, as draws would first meet them.

    A set of DAGs with probability p is first met after an exponential time of rate p, then by one
    of its halves in proportion to their probabilities, and the other half waits on as if nothing
    had been. So the earliest set is halved until it is one DAG, and the halves left over join the
    queue. A set is told by the parents of the first nodes and a range of families of the next.
    """
    queue: list[Waiting] = [(-math.inf, 0.0, (), 0, 0)]
    while queue:
        log_time, log_p, masks, first, end = heapq.heappop(queue)
        while len(masks) < len(choices):
            parents, tails = choices[len(masks)]
            end = end or len(parents)
            if end - first == 1:
                log_p += _log_range(tails, first, end)
                masks, first, end = (*masks, parents[first]), 0, 0
                continue
            half = _log_add(tails[first], tails[end]) - math.log(2)
            middle = bisect.bisect_left(tails, -half, first + 1, end - 1, key=operator.neg)
            front, back = _log_range(tails, first, middle), _log_range(tails, middle, end)
            log_wait = -rng.gumbel() - log_p  # ln of an exponential time, but for the half's rate
            if rng.random() < math.exp(front - _log_range(tails, first, end)):
                other, log_wait, end = (middle, end), log_wait - back, middle
            else:
                other, log_wait, first = (first, middle), log_wait - front, middle
            heapq.heappush(queue, (_log_add(log_time, log_wait), log_p, masks, *other))
        yield masks, log_p


def _too_many(max_dags: int, order: Ints, reach: str, eps: float) -> ValueError:
    return ValueError(
        f"more than max_dags={max_dags:,} DAGs are needed: at order {order.tolist()} they {reach} "
        f"of its posterior, short of 1 - eps = {1 - eps:.6g}. Raise eps or max_dags, pass fewer "
        "orders, or correct the draws of sample_dags with reweight_by_extensions"
    )


def _log_add(x: float, y: float) -> float:
    low, high = min(x, y), max(x, y)
    return high + math.log1p(math.exp(low - high))


def _log_range(tails: list[float], first: int, end: int) -> float:
    """ln of the sum of the probabilities from place `first` up to `end`, not included."""
    return tails[first] + math.log1p(-math.exp(tails[end] - tails[first]))
