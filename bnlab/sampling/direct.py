"""Independent draws of orders and DAGs from an exact posterior."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.exact import OrderPosterior
from bnlab.kernels import draws as kernels
from bnlab.results import Draws, Over, Run
from bnlab.runs import Clock, Executor, Progress, check_counts, check_generator, collect, workers
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_DRAWS = 8192
ROUND_BLOCKS = 32  # handed out together: their uniform numbers are all that waits in memory


class Block(NamedTuple):
    """Rows drawn together: values (T, n), log_target (T,) in nats."""

    values: Ints
    log_target: Floats


def sample_dags(
    posterior: OrderPosterior,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Independent DAGs from the exact posterior: direct DAG sampling, DDS [HeTianWu2016, sec. 3.2].

    Order-modular: p(G | D) is proportional to prior factor times likelihood times the number of
    orders that agree with G. One order is drawn for each DAG, then a parent set for each node.

    Parameters
    ----------
    posterior : OrderPosterior
    draws : number of DAGs, at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    progress : progress(done, total, None) after each block; False stops, and what is drawn remains
    executor : where blocks of draws run; threads by default

    Returns
    -------
    Draws
        over "dags": values (1, draws, n) parent masks; log_target (1, draws) is ln of prior factor
        times likelihood of the DAG, without the number of its orders.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> sample_dags(posterior, draws=5, rng=np.random.default_rng(1))
    Draws(5 dags of 2 variables, order-modular)
    """
    return sample(posterior, dag_block, "dags", "DDS", draws, rng, progress, executor)


def families_by_weight(table: ScoreTable, v: int, /) -> tuple[Ints, Floats]:
    """Allowed parent masks of node v and their ln beta (nats), heaviest first.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> families_by_weight(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()), 0)[0]
    array([2, 0])
    """
    log_beta = table.log_prior[v] + table.log_score[v]
    ranking = np.argsort(-log_beta, kind="stable")
    ranking = ranking[log_beta[ranking] > -np.inf]
    return table.parents[v][ranking], log_beta[ranking]


def predecessor_masks(orders: Ints, /) -> Ints:
    """Masks (T, n) of the nodes before node v, entry [t, v], in orders (T, n).

    Examples
    --------
    >>> predecessor_masks(np.array([[2, 0, 1]]))
    array([[4, 5, 0]])
    """
    bits = np.int64(1) << orders
    out = np.empty_like(orders)
    np.put_along_axis(out, orders, np.cumsum(bits, axis=1) - bits, axis=1)
    return out


def sample(
    posterior: OrderPosterior,
    draw_block: Callable[[OrderPosterior, Floats], Block],
    over: Over,
    method: str,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
) -> Draws:
    """Draws in blocks, each from its own uniform numbers, wherever they are made."""
    if not isinstance(posterior, OrderPosterior):
        raise ValueError(f"{type(posterior).__name__} is no posterior: make one (order_posterior)")
    check_counts(draws=draws)
    check_generator(rng)
    n = posterior.table.n
    memory.require(
        8 * draws * (2 * n + 4), task=f"{draws:,} draws, n={n}", remedy="draw fewer at a time"
    )
    clock, seed = Clock(), str(rng.bit_generator.state)
    blocks: list[Block] = []
    with workers(executor, -(-draws // BLOCK_DRAWS)) as chosen:
        for start in range(0, draws, ROUND_BLOCKS * BLOCK_DRAWS):
            end = min(draws, start + ROUND_BLOCKS * BLOCK_DRAWS)
            sizes = [min(BLOCK_DRAWS, end - first) for first in range(start, end, BLOCK_DRAWS)]
            # Row t uses the t-th 2n uniforms, so neither blocks nor executors change a draw.
            uniforms = [rng.random((size, 2 * n)) for size in sizes]
            results = chosen.map(draw_block, [posterior] * len(sizes), uniforms)
            if not collect(results, blocks, _rows, draws, progress):
                break
    values = np.concatenate([block.values for block in blocks])[None]
    log_target = np.concatenate([block.log_target for block in blocks])[None]
    settings = {"draws": draws, "max_parents": posterior.table.max_parents}
    run = Run(method, settings, seed, clock.seconds, stopped=values.shape[1] < draws)
    return Draws(
        values,
        np.zeros(log_target.shape),
        log_target,
        over,
        posterior.prior,
        posterior.table.names,
        independent=True,
        run=run,
    )


def _rows(block: Block) -> int:
    return len(block.values)


def order_block(posterior: OrderPosterior, uniforms: Floats) -> Block:
    """Orders from the back: the last node of the full set, then of the rest, and so on."""
    draws, n = len(uniforms), posterior.table.n
    orders = np.empty((draws, n), np.int64)
    remaining = np.full(draws, (1 << n) - 1, np.int64)
    last = np.empty(draws, np.int64)
    for position in range(n - 1, -1, -1):
        by_set = np.argsort(remaining, kind="stable")
        sets, which = np.unique(remaining[by_set], return_inverse=True)
        u = uniforms[by_set, position]
        kernels.last_nodes(posterior._alpha, posterior._g, sets, which, u, last)
        orders[by_set, position] = last
        remaining[by_set] ^= np.int64(1) << last
    masks = predecessor_masks(orders)
    log_target = np.zeros(draws)
    for v in range(n):
        log_target += posterior.log_alpha(v, masks[:, v])
    return Block(orders, log_target)


def dag_block(posterior: OrderPosterior, uniforms: Floats) -> Block:
    """One DAG for each order: a parent set for each node among its predecessors."""
    draws, n = len(uniforms), posterior.table.n
    masks = predecessor_masks(order_block(posterior, uniforms).values)
    dags = np.empty((draws, n), np.int64)
    log_target = np.zeros(draws)
    chosen, log_chosen = np.empty(draws, np.int64), np.empty(draws)
    for v in range(n):
        parents, log_beta = families_by_weight(posterior.table, v)
        u = uniforms[:, n + v]
        ranking = np.lexsort((u, masks[:, v]))
        kernels.parent_sets(parents, log_beta, masks[ranking, v], u[ranking], chosen, log_chosen)
        dags[ranking, v] = chosen
        log_target[ranking] += log_chosen
    return Block(dags, log_target)
