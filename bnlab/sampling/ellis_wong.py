"""Ellis and Wong's heuristic for the bias of orders: the distinct DAGs of the sampled orders."""

import bisect
import heapq
import math
import operator
import os
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import Arrays, fingerprint, generator_states, restore_generators
from bnlab.graphs import predecessor_masks
from bnlab.results import Draws, Run
from bnlab.runs import Clock, Progress, check_counts, check_generator, goes_on, real, seed_of
from bnlab.sampling.dags import NO_DAG, check_orders
from bnlab.sampling.direct import families_by_weight
from bnlab.sampling.rounds import file_of
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Dag = tuple[int, ...]
Found = dict[Dag, None]
Choices = list[tuple[list[int], list[float]]]
Waiting = tuple[float, float, Dag, int, int]  # ln time, ln p of masks, masks, range (0, 0: all)

METHOD = "Ellis-Wong"


def ellis_wong_dags(
    orders: Draws,
    /,
    *,
    table: ScoreTable,
    eps: float,
    rng: np.random.Generator,
    max_dags: int = 100_000,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Draws:
    """A set of distinct DAGs, weighed by their own posterior [EllisWong2008].

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
        DAG that agrees with the order is taken
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
    (max_dags,) = check_counts(max_dags=max_dags)
    check_generator(rng)
    if not 0 <= real(eps) < 1:
        raise ValueError(f"eps={eps} is outside [0, 1)")
    clock, seed = Clock(), f"{orders.run.seed}; DAGs: {seed_of(rng)}"
    families = [families_by_weight(table, v) for v in range(table.n)]
    distinct = np.unique(orders.values.reshape(-1, table.n), axis=0)
    masks = predecessor_masks(distinct)
    for order, before in zip(distinct, masks, strict=True):
        largest = math.exp(sum(_log_range(tails, 0, 1) for _, tails in within(families, before)))
        if max_dags * largest < 1 - eps:
            raise _too_many(max_dags, order, f"reach {max_dags * largest:.2g} at most", eps)
    settings = {"eps": real(eps), "max_dags": max_dags}
    identity = {"method": METHOD, **settings, "orders": fingerprint(distinct), "seed": seed}
    file = file_of(checkpoint, table, identity)
    found, at = _begun(rng, None if file is None else file.load())
    try:
        for order, before in zip(distinct[at.orders :], masks[at.orders :], strict=True):
            mass = 0.0
            for dag, log_share in distinct_dags(within(families, before), rng):
                found[dag] = None
                if len(found) > max_dags:
                    raise _too_many(max_dags, order, f"reach {mass:.6g}", eps)
                mass += math.exp(log_share)
                if eps > 0 and mass >= 1 - eps:
                    break
            at = _Position(at.orders + 1, len(found), generator_states([rng]))
            if file is not None and file.due:
                file.save(_arrays(found, at))
            if not goes_on(progress, at.orders, len(distinct)):
                break
    except KeyboardInterrupt:
        if not at.orders:
            raise
    finally:
        if file is not None:
            file.save(_arrays(found, at))
    dags = _arrays(found, at)["dags"]
    log_target = table.log_target(dags)[None]
    return Draws(
        dags[None],
        log_target,
        log_target,
        "dags",
        "structure-modular",
        orders.names,
        run=Run(
            f"{orders.run.method}, {METHOD}",
            {**orders.run.settings, **settings},
            seed,
            orders.run.seconds + clock.seconds,
            stopped=orders.run.stopped or at.orders < len(distinct),
        ),
    )


class _Position(NamedTuple):
    """How many orders are done, how many DAGs they gave, and where the generator was then."""

    orders: int
    dags: int
    generator: NDArray[np.uint8]


def _begun(rng: np.random.Generator, saved: Arrays | None) -> tuple[Found, _Position]:
    """The DAGs found so far, in their order, and the position; the generator is put there."""
    if saved is None:
        return {}, _Position(0, 0, generator_states([rng]))
    restore_generators([rng], saved["generator"])
    found: Found = dict.fromkeys(map(tuple, saved["dags"].tolist()))
    return found, _Position(int(saved["orders"]), len(found), saved["generator"])


def _arrays(found: Found, at: _Position) -> Arrays:
    """What a checkpoint keeps: what the orders that are done gave."""
    dags = np.array(list(islice(found, at.dags)), np.int64)
    return {"dags": dags, "orders": np.array(at.orders), "generator": at.generator}


def within(families: list[tuple[Ints, Floats]], masks: Ints, /) -> Choices:
    """Of each node, the families within masks (n,), and the ln tail sums of their probabilities.

    tails[a] = ln of the sum of p(G | masks) over G from place a on, -inf at the end. A ValueError
    where a node has no family.

    Examples
    --------
    >>> families = [(np.array([2, 0]), np.log([3.0, 1.0])), (np.array([0, 1]), np.log([1.0, 2.0]))]
    >>> [parents for parents, tails in within(families, np.array([2, 0]))]
    [[2, 0], [0]]
    """
    out = []
    for (parents, log_beta), mask in zip(families, masks, strict=True):
        fits = parents & ~mask == 0
        if not fits.any():
            raise ValueError(NO_DAG)
        tails = np.logaddexp.accumulate(log_beta[fits][::-1])[::-1]
        out.append((parents[fits].tolist(), [*(tails - tails[:1]).tolist(), -math.inf]))
    return out


def distinct_dags(choices: Choices, rng: np.random.Generator, /) -> Iterator[tuple[Dag, float]]:
    """The DAGs given an order, each once, with ln probabilities, as draws would first meet them.

    Let draws come at random times, one a unit of time on average. A set of DAGs with probability p
    is first met after an exponential time of rate p, then by one of its halves in proportion to
    their probabilities, and the other half waits on as if nothing had been. So the earliest set is
    halved until it is one DAG, and the halves left over join the queue. A set is told by the
    parents of the first nodes and a range of families of the next; `choices` come from `within`.

    Examples
    --------
    >>> choices = within([(np.array([2, 0]), np.log([3.0, 1.0])), (np.array([0]), np.zeros(1))],
    ...                  np.array([2, 0]))
    >>> sorted(dag for dag, _ in distinct_dags(choices, np.random.default_rng(1)))
    [(0, 0), (2, 0)]
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
