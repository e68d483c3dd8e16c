"""Metropolis walks on node orders: moves, the layout of their target, and chains in step."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.exact import unpack
from bnlab.kernels import counting, subsets, walks
from bnlab.runs import Executor, Progress, Stopped, goes_on, workers
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_DENSE_NODES = 22
BLOCK_TERMS = 100_000_000  # family weights read in about 100 ms
MAX_ROUNDS = 20  # each may send the target to a process again
KINDS = ("swap", "adjacent", "relocate")


@dataclass(frozen=True, slots=True)
class Moves:
    """How often each kind of move on orders is proposed; the weights need not sum to 1.

    Attributes
    ----------
    swap : of two nodes at random positions [FriedmanKoller2003]
    adjacent : swap of two neighbours
    relocate : one node taken out and put in at another position

    Examples
    --------
    >>> Moves(swap=1, relocate=1).shares
    array([0.5, 0.5])
    """

    swap: float = 1.0
    adjacent: float = 0.0
    relocate: float = 0.0

    def __post_init__(self) -> None:
        weights = [self.swap, self.adjacent, self.relocate]
        if not (all(0 <= w < math.inf for w in weights) and sum(weights) > 0):
            raise ValueError(f"{self!r}: give weights of at least 0, and one above it")

    @property
    def shares(self) -> Floats:
        """Cumulative probabilities (2,) of swaps, and of swaps or adjacent ones."""
        total = np.cumsum([self.swap, self.adjacent, self.relocate])
        shares: Floats = total[:2] / total[2]
        return shares


class Walk(NamedTuple):
    """Records of a walk: orders (T, n), ln weight at beta = 1 (T,), tally (spans, 3, 2).

    The tally counts moves tried and accepted, by kind.
    """

    orders: Ints
    log_weights: Floats
    tally: Ints


@dataclass(frozen=True, slots=True, eq=False)
class OrderWalker:
    """The weights of the orders of a score table, laid out for walks.

    The weight of an order is the sum over the DAGs that agree with it of prior factor times
    likelihood, [NiinimakiKoivisto2013, eq. 1]. Up to 22 variables it is read from a table of
    8 n 2**(n-1) bytes; beyond, families are summed as the walk goes, O(n C(n, k)) a move.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> OrderWalker.of(table).log_weights(np.array([[0, 1], [1, 0]])).round(4)
    array([-3.0603, -3.0603])
    """

    n: int
    max_parents: int
    source: Floats | tuple[NDArray[np.generic], ...]

    @classmethod
    def of(cls, table: ScoreTable, /, *, dense: bool | None = None) -> "OrderWalker":
        """Lay out a table; `dense` chooses the big table, or families, against the rule.

        Raises
        ------
        ValueError
            If the memory is not there, said before any is taken.

        Examples
        --------
        >>> from bnlab import BDeu, Data, score_families
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> OrderWalker.of(table).source.shape
        (2, 2)
        """
        n = table.n
        if dense is None:
            dense = n <= MAX_DENSE_NODES
        pairs = math.comb(n - 1, 2)
        memory.require(
            (8 * (n + 5)) << (n - 1) if dense else 16 * n * (table.parents.shape[1] + pairs),
            task=f"n={n}: walking on orders",
            remedy="choose fewer variables with Data.select",
        )
        return cls(n, table.max_parents, _dense(table) if dense else _families(table, pairs))

    def walk(
        self,
        order: Ints,
        betas: Floats,
        thin: int,
        moves: Moves,
        rng: np.random.Generator,
        *,
        keep: bool = True,
        spans: int = 1,
    ) -> Walk:
        """Move `order` (n,) along in place: `thin` moves at betas[t], then record t, T in all.

        keep=False records weights only. The tally counts moves in `spans` equal parts of the walk.

        Examples
        --------
        >>> from bnlab import BDeu, Data, score_families
        >>> walker = OrderWalker.of(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
        >>> rng = np.random.default_rng(1)
        >>> walker.walk(np.array([0, 1]), np.ones(3), 1, Moves(), rng).orders.tolist()
        [[1, 0], [0, 1], [1, 0]]
        """
        orders = np.empty((betas.size if keep else 0, self.n), np.int64)
        record = Walk(orders, np.empty(betas.size), np.zeros((spans, 3, 2), np.int64))
        kernel = walks.walk_families if isinstance(self.source, tuple) else walks.walk_dense
        kernel(order, self.source, (betas, thin, moves.shares), rng, tuple(record))
        return record

    def log_weights(self, orders: Ints, /) -> Floats:
        """ln weight (T,) of each of the orders (T, n), nats."""
        masks, alphas = np.zeros(self.n, np.int64), np.empty(self.n)
        kernel = walks.score_families if isinstance(self.source, tuple) else walks.score_dense
        out = np.empty(len(orders))
        for t, order in enumerate(orders):
            kernel(self.source, order, 0, self.n - 1, masks, alphas)
            out[t] = alphas.sum()
        return out

    @property
    def block_moves(self) -> int:
        """Moves that take about 100 ms."""
        a_node = 20.0
        if isinstance(self.source, tuple):
            a_node += math.comb(self.n, self.max_parents + 1) / self.n
        return max(1, int(BLOCK_TERMS / (a_node * (1 + self.n / 3))))


class Rounds(NamedTuple):
    """Chains moved in step: orders (chains, T, n), log_weights (chains, T), tally, unfinished."""

    orders: Ints
    log_weights: Floats
    tally: Ints
    stopped: bool


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """What every chain does: burn_in moves, then `draws` records after `thin` moves each."""

    draws: int
    burn_in: int
    thin: int
    moves: Moves

    def rounds(self, block: int) -> Iterator[tuple[int, int, bool]]:
        """(records, moves before each, kept) of rounds of about `block` moves.

        Examples
        --------
        >>> list(ChainPlan(draws=5, burn_in=3, thin=2, moves=Moves()).rounds(block=4))
        [(1, 3, False), (2, 2, True), (2, 2, True), (1, 2, True)]
        """
        for done in range(0, self.burn_in, block):
            yield 1, min(block, self.burn_in - done), False
        records = max(1, block // self.thin)
        for done in range(0, self.draws, records):
            yield min(records, self.draws - done), self.thin, True


def run_chains(
    walker: OrderWalker,
    plan: ChainPlan,
    rngs: list[np.random.Generator],
    progress: Progress | None,
    executor: Executor | None,
) -> Rounds:
    """One chain a generator, from a random order. All chains stop after the same round.

    A round that an interrupt breaks is dropped for all chains, so their draws stay equally many.
    """
    each = plan.burn_in + plan.draws * plan.thin
    block = walker.block_moves if executor is None else max(walker.block_moves, each // MAX_ROUNDS)
    orders = [rng.permutation(walker.n) for rng in rngs]
    kept: list[list[Walk]] = []
    done, stopped = 0, False
    try:
        with workers(executor, len(rngs)) as chosen:
            for records, thin, keep in plan.rounds(block):
                jobs = [
                    (walker, order, rng, records, thin, plan.moves)
                    for order, rng in zip(orders, rngs, strict=True)
                ]
                results = list(chosen.map(_advance, jobs))
                orders = [result.order for result in results]
                rngs = [result.rng for result in results]
                done += len(jobs) * records * thin
                if keep:
                    kept.append([result.walk for result in results])
                if not goes_on(progress, done, len(jobs) * each):
                    stopped = done < len(jobs) * each
                    break
    except KeyboardInterrupt:
        if not kept:
            raise
        stopped = True
    if not kept:
        raise Stopped("stopped before the end of the burn-in: no draws yet")
    return Rounds(
        np.concatenate([[walk.orders for walk in of_round] for of_round in kept], axis=1),
        np.concatenate([[walk.log_weights for walk in of_round] for of_round in kept], axis=1),
        np.sum([[walk.tally[0] for walk in of_round] for of_round in kept], axis=0),
        stopped,
    )


class _Advanced(NamedTuple):
    """A chain after a round: the walk, and where it and its generator stand."""

    walk: Walk
    order: Ints
    rng: np.random.Generator


def _advance(job: tuple[OrderWalker, Ints, np.random.Generator, int, int, Moves]) -> _Advanced:
    walker, order, rng, records, thin, moves = job
    order = order.copy()
    walk = walker.walk(order, np.ones(records), thin, moves, rng)
    return _Advanced(walk, order, rng)


def _dense(table: ScoreTable) -> Floats:
    """ln alpha_v(S) for all S, (n, 2**(n-1)), S compact."""
    n, log_beta = table.n, table.log_beta
    offsets = log_beta.max(axis=1)
    packed, out = np.empty(1 << (n - 1), np.int64), np.empty((n, 1 << (n - 1)))
    for v in range(n):
        subsets.parent_set_sums(
            v, table.parents[v], log_beta[v], offsets[v], table.max_parents, packed
        )
        out[v] = unpack(packed)
        out[v] += offsets[v]
    return out


def _families(table: ScoreTable, pairs: int) -> tuple[NDArray[np.generic], ...]:
    """The arrays of `kernels.walks.score_families`."""
    n, k, log_beta = table.n, table.max_parents, table.log_beta
    offsets = log_beta.max(axis=1)
    weights = np.zeros((n, log_beta.shape[1] + pairs))
    np.exp(log_beta - offsets[:, None], out=weights[:, : log_beta.shape[1]])
    choose = counting.binomials(n - 1, k).astype(np.uint64)
    first = counting.first_ranks(n - 1, k).astype(np.uint64)
    return weights, offsets, choose, first, log_beta, table.parents
