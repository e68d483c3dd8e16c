"""`sample_dags`: independent DAGs from an exact posterior, or DAGs given orders drawn before."""

import math
import os

import numpy as np

from bnlab import memory
from bnlab.checkpoints import Arrays
from bnlab.checks import Bools, Count, Floats, Ints, checked
from bnlab.exact import DagPosterior, OrderPosterior
from bnlab.graphs import predecessor_masks
from bnlab.records import check_alike
from bnlab.results import Draws, OrderDraws, Run
from bnlab.running import Batch, Clock, Executor, Progress, Stopped, run_steps, seed_of
from bnlab.sampling.independent import (
    BLOCK_DRAWS,
    NO_DAG,
    ROUND_BLOCKS,
    Families,
    batch_bytes,
    dag_block,
    dags_given,
    families_by_weight,
    layer_block,
    sample,
)
from bnlab.scores import ScoreTable

BLOCK_FAMILIES = 100_000_000  # families scanned in about 100 ms
MAX_JOBS = 20  # on an executor that is not ours: each may send the families to a process again


@checked
def sample_dags(
    target: OrderPosterior | DagPosterior | OrderDraws,
    /,
    *,
    draws: Count,
    rng: np.random.Generator,
    table: ScoreTable | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Draw DAGs from an exact posterior, or by way of orders drawn before.

    From a `DagPosterior` the DAGs are independent draws from the structure-modular posterior: p(G |
    D) is proportional to prior factor times likelihood. They are drawn by layers
    [TalvitieEtAl2019]. All others are order-modular, p(G | D) times the number of orders that G is
    consistent with. From an `OrderPosterior` the DAGs are independent too: direct DAG sampling, DDS
    [HeTianWu2016, sec. 3.2]. From draws of orders, weighted or along chains, each order L gets
    `draws` DAGs from p(G | L, D), a parent set for each node among its predecessors, and they keep
    its weight [NiinimakiKoivisto2013, sec. 3.2]. That needs no exact posterior and reaches 63
    variables.

    Parameters
    ----------
    target : OrderPosterior, DagPosterior, or Draws over "orders" (from `sample_orders` or
        `anneal_orders`)
    draws : number of DAGs (for each order), at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    table : ScoreTable that the orders come from; for draws of orders only
    progress : progress(done, total, None) after each block; False stops, and what is drawn remains,
        equally many draws of each chain
    executor : where blocks of draws run; threads by default

    Returns
    -------
    Draws
        over "dags": values (1, draws, n) parent masks, or (chains, orders * draws, n) with the DAGs
        of one order side by side; log_target is ln of prior factor times likelihood of the DAG,
        nats, without the number of its orders. Given orders, log_weight and traces are those of the
        orders, repeated; where these are independent, traces["group"] says which DAGs come from one
        order and so depend on each other. Where annealing has left an order that no allowed DAG is
        consistent with, log_weight and log_target are -inf.

    Raises
    ------
    ValueError
        If the target or the table does not fit, an option is out of its range, memory is short, or
        an order with a weight has no DAG that the constraints allow.
    Stopped
        If `progress` returned False before there was an order of each chain.

    Examples
    --------
    >>> from bnlab import BDeu, Data, sample_orders, score_families
    >>> table, rng = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()), np.random
    >>> orders = sample_orders(table, draws=5, rng=rng.default_rng(1))
    >>> sample_dags(orders, draws=2, table=table, rng=rng.default_rng(2))
    Draws(4 x 10 dags of 2 variables, order-modular)
    """
    if isinstance(target, Draws):
        return _given_orders(check_orders(target, table), target, draws, rng, progress, executor)
    if table is not None:
        raise ValueError("table= goes with draws of orders: an exact posterior has its own table")
    if isinstance(target, DagPosterior):
        n, workers = target.table.n, min(os.cpu_count() or 1, -(-draws // BLOCK_DRAWS))
        memory.require(
            24 * workers << n,
            task=f"drawing DAGs of {n} variables by {workers} workers",
            remedy=f"draw at most {BLOCK_DRAWS:,} at a time, for one worker, or choose fewer "
            "variables (Data.select)",
        )
        method = "exact DAGs by layers"
        return sample(target, layer_block, "dags", method, draws, rng, progress, executor)
    return sample(target, dag_block, "dags", "DDS", draws, rng, progress, executor)


@checked
def check_orders(orders: OrderDraws, table: ScoreTable | None, /) -> ScoreTable:
    """The table, or a ValueError when `orders` are no orders of its variables."""
    if table is None:
        raise ValueError("pass table=, the score table of the orders")
    check_alike("the scores", table.names, "the orders", orders.names)
    return table


Job = tuple[Ints, Bools, Families, Floats]


def given_block(job: Job) -> Arrays:
    """One DAG for each order (T, n) and each row of its uniform numbers (T, draws, n)."""
    orders, weigh, families, uniforms = job
    _, draws, n = uniforms.shape
    masks = np.repeat(predecessor_masks(orders), draws, axis=0)
    block = dags_given(families, masks, uniforms.reshape(-1, n))
    if (np.isneginf(block["log_target"]) & np.repeat(weigh, draws)).any():
        raise ValueError(NO_DAG)
    return block


def _given_orders(
    table: ScoreTable,
    orders: Draws,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
) -> Draws:
    chains, each, n = orders.values.shape
    total = chains * each * draws
    traces = sum(trace[0, 0].size for trace in orders.traces.values())
    memory.require(
        max(batch_bytes(n + 1, total, n), 8 * total * (2 * n + 3 + traces))
        + 16 * table.parents.size,
        task=f"{total:,} draws, n={n}",
        remedy="draw fewer for each order, or of fewer orders (Draws.prefix)",
    )
    clock, seed = Clock(), f"{orders.run.seed}; DAGs: {seed_of(rng)}"
    families = [families_by_weight(table, v) for v in range(n)]
    # The t-th orders of all chains side by side: a stop leaves equally many of each chain.
    side_by_side = orders.values.swapaxes(0, 1).reshape(-1, n)
    weigh = np.exp(orders.log_weight - orders.log_weight.max()).T.ravel() > 0
    block = max(1, min(BLOCK_DRAWS // draws, BLOCK_FAMILIES // table.parents.size))
    if executor is not None:
        block = max(block, math.ceil(chains * each / MAX_JOBS))

    def job(part: slice) -> Job:
        of_part = slice(part.start // draws, part.stop // draws)
        uniforms = rng.random((of_part.stop - of_part.start, draws, n))
        return side_by_side[of_part], weigh[of_part], families, uniforms

    batch = Batch(given_block, job, total, executor, size=block * draws, ahead=ROUND_BLOCKS)
    run_steps(batch, None, progress)
    rows = batch.arrays()
    del batch
    done = len(rows["values"]) // (chains * draws)
    if done == 0:
        raise Stopped("stopped before there was an order of each chain: no draws yet")
    kept = done * chains * draws
    by_chain = (done, chains, draws)
    values = rows["values"][:kept].reshape(*by_chain, n).swapaxes(0, 1).reshape(chains, -1, n)
    log_target = rows["log_target"][:kept].reshape(by_chain).swapaxes(0, 1).reshape(chains, -1)
    orders = orders.prefix(done)
    traces = {**orders.traces, "group": orders.groups} if orders.independent else orders.traces
    return Draws(
        values,
        np.where(np.isneginf(log_target), -math.inf, np.repeat(orders.log_weight, draws, axis=1)),
        log_target,
        "dags",
        orders.prior,
        orders.names,
        independent=orders.independent and draws == 1,
        stats=orders.stats,
        traces={name: np.repeat(trace, draws, axis=1) for name, trace in traces.items()},
        run=Run(
            f"{orders.run.method}, DAGs given orders",
            {**orders.run.settings, "dags_per_order": draws},
            seed,
            orders.run.seconds + clock.seconds,
            stopped=orders.run.stopped or done < each,
        ),
    )
