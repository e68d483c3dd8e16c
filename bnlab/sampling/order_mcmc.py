"""Order MCMC: Metropolis chains on node orders, coupled or in buckets, and single steps of one."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import nats, orders_of
from bnlab.checks import Count, Floats, Ints, checked, shown
from bnlab.exact import OrderPosterior
from bnlab.kernels import bucket_walks, order_walks
from bnlab.kernels.bits import accept
from bnlab.results import Draws
from bnlab.running import Executor, Progress
from bnlab.sampling.chains import Chains, ChainSettings, Layout, acceptance, blank
from bnlab.sampling.independent import order_block, sample
from bnlab.sampling.order_target import KINDS, Moves, OrderWalker, check_weight, walker_bytes
from bnlab.scores import ScoreTable, allowed_order
from bnlab.weights import Schedule, betas_of

BUCKET = 4
MAX_BUCKET = 16


@checked
def sample_orders(
    target: OrderPosterior | ScoreTable,
    /,
    *,
    draws: Count,
    rng: np.random.Generator,
    chains: int | None = None,
    burn_in: int | None = None,
    thin: int | None = None,
    moves: Moves | None = None,
    schedule: Schedule | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Draw node orders from the posterior over orders, independently or along Markov chains.

    From an `OrderPosterior` the draws are independent (DOS) [HeTianWu2016, sec. 3.1]. From a
    `ScoreTable` they come along Metropolis chains (order-MCMC) [FriedmanKoller2003], which need no
    exact posterior and reach 63 variables. With a schedule of temperatures each is coupled with
    hotter ones (MC3), which free it where it would be stuck [NiinimakiKoivisto2013, sec. 2.3].
    Order-modular: p(order | D) is proportional to the sum over the DAGs consistent with it of prior
    factor times likelihood.

    Parameters
    ----------
    target : OrderPosterior or ScoreTable
    draws : number of orders (of each chain), at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    chains : number of chains, each from its own random order and random stream; 4 by default
    burn_in : moves of each chain before its first draw; 10,000 by default
    thin : moves before each draw; n by default
    moves : Moves, what is proposed; swaps of two nodes by default
    schedule : Linear, Harmonic, Betas: inverse temperatures (r + 1,) from 0 to 1. Each chain is
        then coupled with r hotter ones: after every `thin` moves of each, r times a random one and
        the next colder propose to exchange their orders. The draws are those of the coldest
    checkpoint : path of a file that keeps the chains. It is saved every 10 seconds or so, and when
        they stop or end. The same call with the same seed goes on from there, wherever it runs, and
        ends as if it had never stopped
    progress : progress(done, total, None) after each block of draws (of moves, for chains); False
        stops, and what is drawn remains, equally many draws of each chain
    executor : where blocks of draws or chains run; threads by default

    Returns
    -------
    Draws
        over "orders": values (chains, draws, n), first node first, chains = 1 for independent
        draws; log_target (chains, draws) is ln of the order's unnormalised posterior, so
        log_target - posterior.log_z is ln p(order | D). stats of chains: "acceptance_swap" and so
        on (chains,), the accepted fraction of the kinds of move that were tried. With a schedule:
        "beta" (r + 1,), "acceptance" (chains, r + 1) of moves by temperature, and
        "acceptance_exchange" (chains, r); traces: "tempered" (chains, draws, r + 1), ln weight at
        beta = 1 of the order at each temperature, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, chains are asked of an exact posterior, memory is short,
        or the checkpoint is damaged or of another run; or if no order that the chains have met has
        a weight: the constraints allow it no DAG, or there are too many rows.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> sample_orders(table, draws=5, rng=np.random.default_rng(1))
    Draws(4 x 5 orders of 2 variables, order-modular)
    """
    if isinstance(target, OrderPosterior):
        options: dict[str, object] = {"chains": chains, "burn_in": burn_in, "thin": thin}
        options |= {"moves": moves, "schedule": schedule, "checkpoint": checkpoint}
        for name, value in options.items():
            if value is not None:
                raise ValueError(
                    f"{name}={value!r}: draws from an exact posterior are independent and need no "
                    "chains. Leave it out, or pass the posterior's table"
                )
        return sample(target, order_block, "orders", "DOS", draws, rng, progress, executor)
    plan = ChainSettings.of(draws, burn_in, thin, chains, target.n)
    table, moves = target, Moves() if moves is None else moves
    betas = np.ones(1) if schedule is None else betas_of(schedule)
    walking = walker_bytes(table.n, table.max_parents)
    plan.require(walking, (table.n, betas.size), checkpoint, table.n, "draws: walking on orders")
    method = "order-MCMC" if schedule is None else "MC3"
    settings = {} if schedule is None else {"schedule": repr(schedule)}
    told = {"moves": repr(moves), "max_parents": table.max_parents}
    run = Chains(method, plan, rng, executor, **told, **settings)
    orders, log_weights, tally = run.walk(
        lambda: CoupledWalker(OrderWalker.of(table), betas, moves),
        [np.array([allowed_order(table, rng=child) for _ in betas]) for child in run.rngs],
        Layout(
            orders_of(table.n, betas.size),
            (orders_of(table.n), nats(betas.size)),
            ((len(KINDS) + 1) * betas.size - 1, 2),
        ),
        {"schedule": betas, "table": table},
        checkpoint,
        progress,
    )
    log_target = log_weights[:, :, -1]
    check_weight(table, orders, log_target)
    stats = _acceptance(tally, betas, moves, coupled=schedule is not None)
    traces = {} if schedule is None else {"tempered": log_weights}
    return run.draws(orders, log_target, "orders", table.names, stats=stats, traces=traces)


@dataclass(frozen=True, slots=True, eq=False)
class CoupledWalker:
    """Orders at the inverse temperatures `betas` (C,), coupled; the last one is recorded."""

    orders: OrderWalker
    betas: Floats
    moves: Moves

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Orders (T, n), ln weights (T, C), tally (4 C - 1, 2) of moves and then of exchanges."""
        for steps, moves in ((1, lead % thin), (lead // thin, thin)):
            if steps and moves:
                self.orders.walk_coupled(state, self.betas, steps, moves, self.moves, rng)
        walk = self.orders.walk_coupled(state, self.betas, records, thin, self.moves, rng)
        tally = np.concatenate([walk.tally.reshape(-1, 2), walk.exchanges])
        return walk.orders, walk.log_weights, tally

    @property
    def block_moves(self) -> int:
        return self.orders.block_moves // self.betas.size


def _acceptance(tally: Ints, betas: Floats, moves: Moves, *, coupled: bool) -> dict[str, Floats]:
    tried = len(KINDS) * betas.size
    by_kind = tally[:, :tried].reshape(-1, betas.size, len(KINDS), 2)
    if coupled:
        return {
            "beta": betas,
            "acceptance": acceptance(by_kind.sum(axis=2)),
            "acceptance_exchange": acceptance(tally[:, tried:]),
        }
    return {
        f"acceptance_{kind}": acceptance(by_kind[:, 0, i])
        for i, kind in enumerate(KINDS)
        if getattr(moves, kind) > 0
    }


@checked
def sample_partial_orders(
    table: ScoreTable,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    bucket: Annotated[int, 1, MAX_BUCKET] = BUCKET,
    chains: int | None = None,
    burn_in: int | None = None,
    thin: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Draw node orders along Markov chains on bucket orders (partial-order MCMC), n <= 63.

    A bucket order puts the variables into buckets, one after the other, and leaves the order within
    each open. It is weighed by the sum over all orders that extend it. A move swaps two variables
    of different buckets, and each kept bucket order gives one of its orders, drawn exactly
    [NiinimakiParviainenKoivisto2011]. The larger the buckets, the smoother the landscape, and the
    dearer a move: 2**bucket sums for each bucket that it changes. With bucket=1 this is order-MCMC
    by swaps; with bucket=n draws are independent. Order-modular: p(order | D) is proportional to
    the sum over the DAGs consistent with it of prior factor times likelihood.

    Parameters
    ----------
    table : ScoreTable
    draws : number of orders of each chain, at least 1
    bucket : variables in a bucket, 1 to 16; the last bucket has what is left
    rng, chains, burn_in, thin, checkpoint, progress, executor : as in `sample_orders`

    Returns
    -------
    Draws
        over "orders": values (chains, draws, n), first node first; log_target (chains, draws) is ln
        of the order's unnormalised posterior, nats, as of `sample_orders`. stats: "acceptance"
        (chains,), the accepted fraction of moves. traces: "log_partial_order" (chains, draws), ln
        weight of the bucket order, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, memory is short, the constraints leave no DAG, there
        are too many rows, or the checkpoint is damaged or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0, 1], [1, 1, 0]]), BDeu())
    >>> sample_partial_orders(table, draws=5, bucket=2, rng=np.random.default_rng(1))
    Draws(4 x 5 orders of 3 variables, order-modular)
    """
    plan = ChainSettings.of(draws, burn_in, thin, chains, table.n)
    size = min(bucket, table.n)
    walking = walker_bytes(table.n, table.max_parents) + plan.chains * (8 * (size + 1) << size)
    plan.require(walking, (table.n, 2), checkpoint, table.n, "draws: walking on partial orders")
    run = Chains(
        "partial-order MCMC", plan, rng, executor, bucket=size, max_parents=table.max_parents
    )
    orders, log_target, log_weights, tally = run.walk(
        lambda: PartialOrderWalker(OrderWalker.of(table), size),
        [allowed_order(table, rng=child) for child in run.rngs],
        Layout(orders_of(table.n), (orders_of(table.n), nats(), nats()), (2,)),
        {"table": table},
        checkpoint,
        progress,
    )
    check_weight(table, orders, log_target)
    stats, traces = {"acceptance": acceptance(tally)}, {"log_partial_order": log_weights}
    whole = size == table.n  # one bucket, and each order is drawn anew
    return run.draws(
        orders, log_target, "orders", table.names, independent=whole, stats=stats, traces=traces
    )


@dataclass(frozen=True, slots=True, eq=False)
class PartialOrderWalker:
    """The weights of orders, and the size of the buckets."""

    orders: OrderWalker
    bucket: int

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Orders (T, n), ln weights (T,) of them and of their bucket orders, tally (2,)."""
        record = blank(records, self.orders.n, 2, 2)
        plan = self.bucket, lead, thin
        bucket_walks.walk(state, self.orders.source, plan, rng, record)
        return record

    @property
    def block_moves(self) -> int:
        subsets = 1 << self.bucket
        if isinstance(self.orders.source, tuple):  # reading families takes most of the time
            subsets = 1 + subsets // 32
        return max(1, self.orders.block_moves // subsets)


class OrderStep(NamedTuple):
    """One move: its kind, the order it proposed, whether it was accepted, and where it led.

    log_weight is ln of the order's weight, nats.
    """

    kind: str
    proposed: Ints
    accepted: bool
    order: Ints
    log_weight: float


@checked
def each_order(
    table: ScoreTable,
    /,
    *,
    rng: np.random.Generator,
    start: Ints | None = None,
    moves: Moves | None = None,
) -> Iterator[OrderStep]:
    """Yield the moves of a Metropolis chain on orders, one by one and without end, to look at.

    Parameters
    ----------
    table : ScoreTable
    rng : the only source of randomness; the walk is that of `OrderWalker.walk` at beta = 1
    start : (n,) the first order; a random one by default
    moves : Moves, what is proposed; swaps of two nodes by default

    Yields
    ------
    OrderStep

    Raises
    ------
    ValueError
        If `start` is no order of the variables.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> step = next(each_order(table, rng=np.random.default_rng(1), start=np.array([0, 1])))
    >>> step.kind, step.proposed.tolist(), step.accepted, round(step.log_weight, 4)
    ('swap', [1, 0], True, -3.0603)
    """
    order = rng.permutation(table.n) if start is None else np.array(start)
    if order.shape != (table.n,) or (np.sort(order) != np.arange(table.n)).any():
        raise ValueError(
            f"start={shown(start)}: give each of the {table.n} variables a place, 0 first"
        )
    shares = (Moves() if moves is None else moves).shares
    return _steps(OrderWalker.of(table), order.astype(np.int64), shares, rng)


def _steps(
    walker: OrderWalker, order: Ints, shares: Floats, rng: np.random.Generator
) -> Iterator[OrderStep]:
    source = walker.source
    before, scores = (rows[0] for rows in order_walks.start(order[None], source))
    changed, masks, fresh = order.copy(), before.copy(), scores.copy()
    while True:
        kind = order_walks.pick(shares, rng)
        lo, hi = order_walks.propose(order, kind, rng, changed)
        masks[lo] = before[lo]
        order_walks.score(source, changed, lo, hi, masks, fresh)
        accepted = accept(order_walks.gain_of(fresh, scores, lo, hi), rng)
        proposed = np.concatenate([order[:lo], changed[lo : hi + 1], order[hi + 1 :]])
        if accepted:
            order_walks.adopt(lo, hi, (changed, masks, fresh), (order, before, scores))
        log_weight = float(walker.log_weights(order[None])[0])
        yield OrderStep(KINDS[kind], proposed, accepted, order.copy(), log_weight)
