"""Partial-order MCMC: node orders along Markov chains on bucket orders."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import nats, orders_of
from bnlab.checks import Count, Ints, checked
from bnlab.kernels import bucket_walks
from bnlab.results import Draws
from bnlab.running import Executor, Progress
from bnlab.sampling.chains import Chains, ChainSettings, Layout, acceptance, blank
from bnlab.sampling.order_target import OrderWalker, check_weight, walker_bytes
from bnlab.scores import ScoreTable, allowed_order

METHOD = "partial-order MCMC"
BUCKET = 4
MAX_BUCKET = 16


@checked
def sample_partial_orders(
    table: ScoreTable,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    bucket: Count = BUCKET,
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
    if bucket > MAX_BUCKET:
        raise ValueError(f"bucket={bucket}: 1 to {MAX_BUCKET}, as a move takes 2**bucket sums")
    size = min(bucket, table.n)
    walking = walker_bytes(table.n, table.max_parents) + plan.chains * (8 * (size + 1) << size)
    plan.require(walking, (table.n, 2), checkpoint, table.n, "draws: walking on partial orders")
    run = Chains(METHOD, plan, rng, executor, bucket=size, max_parents=table.max_parents)
    orders, log_target, log_weights = run.walk(
        lambda: PartialOrderWalker(OrderWalker.of(table), size),
        [allowed_order(table, rng=child) for child in run.rngs],
        Layout(orders_of(table.n), (orders_of(table.n), nats(), nats()), (2,)),
        {"table": table},
        checkpoint,
        progress,
    )
    check_weight(table, orders, log_target)
    return run.draws(
        orders,
        log_target,
        "orders",
        table.names,
        independent=size == table.n,
        stats={"acceptance": acceptance(run.tally)},
        traces={"log_partial_order": log_weights},
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
