"""The target of walks on node orders, laid out, and walks on it at any temperature."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checks import Floats, Ints, frozen, real
from bnlab.errors import Public
from bnlab.exact.order import unpack
from bnlab.kernels import counting, order_dp, order_walks
from bnlab.results import read_only
from bnlab.scores import ScoreTable, family_count
from bnlab.scores.table import log_phi_within

MAX_DENSE_NODES = 22
BLOCK_TERMS = 100_000_000  # family weights read in about 100 ms
KINDS = ("swap", "adjacent", "relocate")


@frozen(eq=True)
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
        if not (all(0 <= real(w) <= 1e100 for w in weights) and sum(weights) > 0):
            raise ValueError(f"{self!r}: give weights of 0 to 1e100, and one above 0")

    @property
    def shares(self) -> Floats:
        """Cumulative probabilities (2,) of swaps, and of swaps or adjacent ones."""
        total = np.cumsum([self.swap, self.adjacent, self.relocate], dtype=float)
        return np.asarray(total[:2] / total[2])


class Walk(NamedTuple):
    """Records of a walk: orders (T, n), ln weight at beta = 1 (T,), tally (spans, 3, 2).

    Of C coupled chains: the orders of the last, ln weights (T, C), tally (spans, C, 3, 2), and
    exchanges (C - 1, 2) of each with the next.
    """

    orders: Ints
    log_weights: Floats
    tally: Ints
    exchanges: Ints


@dataclass(frozen=True, slots=True, eq=False)
class OrderWalker:
    """The weights of the orders of a score table, laid out for walks.

    The weight of an order is the sum over the DAGs consistent with it of prior factor times
    likelihood, [NiinimakiKoivisto2013, eq. 1]. Up to 22 variables it is read from a table of
    8 n 2**(n-1) bytes; beyond, families are summed as the walk goes, O(n C(n, k)) a move.

    A pickle holds `log_phi` alone, ln of the family weights (n, F): a process lays them out anew
    when it gets them, and keeps the last layout for the next job.
    """

    n: int
    max_parents: int
    log_phi: Floats
    source: Floats | tuple[NDArray[np.generic], ...]

    def __reduce__(self) -> tuple[object, ...]:
        dense = not isinstance(self.source, tuple)
        return _received, (self.n, self.max_parents, dense, self.log_phi.tobytes())

    @classmethod
    def of(cls, table: ScoreTable, /, *, dense: bool | None = None) -> "OrderWalker":
        """Lay out a table; `dense` chooses the big table, or families, against the rule."""
        if dense is None:
            dense = table.n <= MAX_DENSE_NODES
        memory.require(
            walker_bytes(table.n, table.max_parents, dense=dense),
            task=f"n={table.n}: walking on orders",
            remedy=("choose fewer variables with ", Public("Data.select")),
        )
        return _laid_out(table.n, table.max_parents, dense, table.log_phi, table.parents)

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
        """
        plan = betas[:, None], thin, moves.shares
        record = self._walk(order[None], plan, rng, betas.size if keep else 0, spans)
        return record._replace(log_weights=record.log_weights[:, 0], tally=record.tally[:, 0])

    def walk_coupled(
        self,
        orders: Ints,
        betas: Floats,
        records: int,
        thin: int,
        moves: Moves,
        rng: np.random.Generator,
    ) -> Walk:
        """Move `orders` (C, n) along in place, each at its own of the betas (C,).

        Before each record, each of them makes `thin` moves, and then C - 1 times a random one and
        the next propose to exchange their states [NiinimakiKoivisto2013, sec. 2.3].
        """
        plan = np.tile(betas, (records, 1)), thin, moves.shares
        return self._walk(orders, plan, rng, records, 1)

    def _walk(
        self,
        orders: Ints,
        plan: tuple[Floats, int, Floats],
        rng: np.random.Generator,
        kept: int,
        spans: int,
    ) -> Walk:
        records, chains = plan[0].shape
        record = Walk(
            np.empty((kept, self.n), np.int64),
            np.empty((records, chains)),
            np.zeros((spans, chains, 3, 2), np.int64),
            np.zeros((chains - 1, 2), np.int64),
        )
        order_walks.walk(orders, self.source, plan, rng, tuple(record))
        return record

    def log_weights(self, orders: Ints, /) -> Floats:
        """ln weight (T,) of each of the orders (T, n), nats."""
        return np.asarray(order_walks.weigh(self.source, np.ascontiguousarray(orders, np.int64)))

    @property
    def block_moves(self) -> int:
        """Moves that take about 100 ms."""
        a_node = 20.0
        if isinstance(self.source, tuple):
            a_node += math.comb(self.n, self.max_parents + 1) / self.n
        return max(1, int(BLOCK_TERMS / (a_node * (1 + self.n / 3))))


def check_weight(table: ScoreTable, orders: Ints, log_target: Floats, /) -> None:
    """Raise a ValueError if the heaviest of orders (..., n) has a node with no weight to tell."""
    heaviest = orders.reshape(-1, table.n)[log_target.argmax()]
    best = log_phi_within(table, heaviest).max(axis=1)
    if (best <= table.log_phi.max(axis=1) + order_walks.FLOOR).any():
        raise ValueError(
            f"no weight within e**-180,000 of the best families: the heaviest of the orders met, "
            f"{heaviest.tolist()}, has no DAG that the constraints allow, or too small a weight. "
            "Take more moves, relax the required and forbidden edges if they leave no DAG, or "
            "take fewer rows (Data.prefix)"
        )


def walker_bytes(n: int, max_parents: int, /, *, dense: bool | None = None) -> int:
    """Bytes that `OrderWalker.of` takes for n variables, at most."""
    if dense or (dense is None and n <= MAX_DENSE_NODES):
        return (8 * (n + 5)) << (n - 1)
    return 16 * n * (family_count(n, max_parents) + math.comb(n - 1, 2))


@lru_cache(maxsize=1)
def _received(n: int, max_parents: int, dense: bool, log_phi: bytes) -> OrderWalker:
    """The walker of a pickle. A process that gets many jobs of one run lays it out once."""
    weights = np.frombuffer(log_phi).reshape(n, -1).copy()
    parents = np.empty(weights.shape, np.int64)
    counting.family_masks(n, max_parents, parents)
    return _laid_out(n, max_parents, dense, weights, read_only(parents))


def _laid_out(n: int, max_parents: int, dense: bool, log_phi: Floats, parents: Ints) -> OrderWalker:
    fill = _dense if dense else _families
    return OrderWalker(n, max_parents, log_phi, fill(n, max_parents, log_phi, parents))


def _dense(n: int, k: int, log_phi: Floats, parents: Ints) -> Floats:
    """ln alpha_v(S) for all S, (n, 2**(n-1)), S compact."""
    offsets = log_phi.max(axis=1)
    packed, out = np.empty(1 << (n - 1), np.int64), np.empty((n, 1 << (n - 1)))
    for v in range(n):
        order_dp.parent_set_sums(v, parents[v], log_phi[v], offsets[v], k, packed)
        out[v] = unpack(packed)
        out[v] += offsets[v]
    return out


def _families(n: int, k: int, log_phi: Floats, parents: Ints) -> tuple[NDArray[np.generic], ...]:
    """The arrays of `kernels.order_walks.score_families`."""
    offsets = log_phi.max(axis=1)
    weights = np.zeros((n, log_phi.shape[1] + math.comb(n - 1, 2)))
    scaled = weights[:, : log_phi.shape[1]]
    np.subtract(log_phi, offsets[:, None], out=scaled)
    np.exp(scaled, out=scaled)
    choose = counting.binomials(n - 1, k).astype(np.uint64)
    first = counting.first_ranks(n - 1, k).astype(np.uint64)
    return weights, offsets, choose, first, log_phi, parents
