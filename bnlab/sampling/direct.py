"""Rows drawn in blocks: orders and DAGs from an exact posterior, parent sets given orders."""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.exact import DagPosterior, OrderPosterior
from bnlab.graphs import predecessor_masks
from bnlab.kernels import draws as kernels
from bnlab.results import Draws, Over, Run
from bnlab.runs import Clock, Executor, Progress, check_counts, check_generator, collect, workers
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Source = TypeVar("Source")
Posterior = TypeVar("Posterior", OrderPosterior, DagPosterior)

BLOCK_DRAWS = 8192
ROUND_BLOCKS = 32  # handed out together: their uniform numbers are all that waits in memory


class Block(NamedTuple):
    """Rows drawn together: values (T, n), log_target (T,) in nats."""

    values: Ints
    log_target: Floats


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


def sample(
    posterior: Posterior,
    draw_block: Callable[[Posterior, Floats], Block],
    over: Over,
    method: str,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
) -> Draws:
    """Draws in blocks, each from its own uniform numbers, wherever they are made."""
    if not isinstance(posterior, OrderPosterior | DagPosterior):
        raise ValueError(
            f"{type(posterior).__name__} is no posterior: make one (order_posterior, dag_posterior)"
        )
    (draws,) = check_counts(draws=draws)
    check_generator(rng)
    n = posterior.table.n
    memory.require(
        8 * (2 * n * min(draws, ROUND_BLOCKS * BLOCK_DRAWS) + 2 * (n + 1) * draws),
        task=f"{draws:,} draws, n={n}",
        remedy="draw fewer at a time",
    )
    clock, seed = Clock(), str(rng.bit_generator.state)
    rows = in_blocks(
        draw_block, lambda _: posterior, (draws, BLOCK_DRAWS), (2 * n,), rng, progress, executor
    )
    values, log_target = rows.values[None], rows.log_target[None]
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


def in_blocks(
    draw_block: Callable[[Source, Floats], Block],
    source: Callable[[slice], Source],
    counts: tuple[int, int],
    shape: tuple[int, ...],
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
) -> Block:
    """Rows of all units, drawn block by block; those of the finished blocks when stopped.

    counts: units in all and in a block; `source` says what a slice of them is drawn from. Unit t
    uses the t-th uniform numbers of `shape`, rows first, so neither blocks nor executors change a
    row.
    """
    units, size = counts
    total = units * math.prod(shape[:-1])
    blocks: list[Block] = []
    with workers(executor, -(-units // size)) as chosen:
        for start in range(0, units, ROUND_BLOCKS * size):
            end = min(units, start + ROUND_BLOCKS * size)
            parts = [slice(first, min(end, first + size)) for first in range(start, end, size)]
            uniforms = [rng.random((part.stop - part.start, *shape)) for part in parts]
            results = chosen.map(draw_block, [source(part) for part in parts], uniforms)
            if not collect(results, blocks, _rows, total, progress):
                break
    return Block(
        np.concatenate([block.values for block in blocks]),
        np.concatenate([block.log_target for block in blocks]),
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
    n = posterior.table.n
    masks = predecessor_masks(order_block(posterior, uniforms).values)
    families = [families_by_weight(posterior.table, v) for v in range(n)]
    return dags_given(families, masks, uniforms[:, n:])


def dags_given(families: list[tuple[Ints, Floats]], masks: Ints, uniforms: Floats) -> Block:
    """One DAG for each row of predecessor masks (T, n), from uniform numbers (T, n).

    families: of each node, as from `families_by_weight`. log_target is -inf where a node has no
    family within its predecessors.
    """
    dags, log_target = np.empty_like(masks), np.zeros(len(masks))
    chosen, log_chosen = np.empty(len(masks), np.int64), np.empty(len(masks))
    for v, (parents, log_beta) in enumerate(families):
        u = uniforms[:, v]
        ranking = np.lexsort((u, masks[:, v]))
        within = masks[ranking, v]
        kernels.parent_sets(
            parents, log_beta, within, np.zeros_like(within), u[ranking], chosen, log_chosen
        )
        dags[ranking, v] = chosen
        log_target[ranking] += log_chosen
    return Block(dags, log_target)
