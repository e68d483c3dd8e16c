"""Moves a second of walks on orders: by temperature, coupled, and how they scale with n.

    uv run --extra test python benchmarks/orders.py

Swaps on one thread after 5,000 moves, compilation and the table of weights left out. Processor time
of the thread, so other work on the machine counts little. Data as in timing.py: drawn from a random
DAG of in-degree at most 3, arities 2 to 4.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from timing import sample_table

import bnlab as bn
from bnlab.sampling import OrderWalker
from bnlab.sampling.order_target import Moves

RECORDS = 20
SCALING = {True: (10, 12, 14, 16, 18, 20, 22), False: (12, 16, 20, 25, 30, 37, 45, 58)}


def walker_of(n: int, m: int, dense: bool) -> OrderWalker:
    return OrderWalker.of(bn.score_families(sample_table(n, m), bn.BDeu()), dense=dense)


def timed(tally_of: Callable[[], np.ndarray]) -> tuple[float, float]:
    """Moves a second and the share of them that were accepted."""
    start = time.thread_time()
    tally = tally_of()
    took = time.thread_time() - start
    tried, accepted = tally.reshape(-1, 2).sum(axis=0)
    return tried / took, accepted / tried


def moves_per_second(walker: OrderWalker, beta: float) -> tuple[float, float]:
    """Of one chain, in about half a second."""
    rng = np.random.default_rng(0)
    order = rng.permutation(walker.n)
    walker.walk(order, np.full(1, beta), 5000, Moves(), rng)
    records = max(RECORDS, walker.block_moves // 200)
    return timed(lambda: walker.walk(order, np.full(records, beta), 1000, Moves(), rng).tally)


def coupled_moves_per_second(walker: OrderWalker, betas: np.ndarray) -> tuple[float, float]:
    """Of all chains of an ensemble that exchanges its orders after n moves of each, likewise."""
    rng, n = np.random.default_rng(0), walker.n
    orders = np.array([rng.permutation(n) for _ in betas])
    walker.walk_coupled(orders, betas, 5000 // n, n, Moves(), rng)
    records = max(RECORDS, 5 * walker.block_moves // (n * betas.size))
    return timed(lambda: walker.walk_coupled(orders, betas, records, n, Moves(), rng).tally)


def main() -> None:
    cases = [(20, 1000, True), (20, 1000, False), (37, 1000, False), (37, 100, False)]
    for n, m, dense in cases:
        walker, source = walker_of(n, m, dense), "table" if dense else "families"
        what = f"order moves n={n} m={m} k=3 by {source}"
        for beta in (1.0, 0.0):
            report(f"{what}, beta={beta:g}", *moves_per_second(walker, beta))
        for r in (4, 16, 64):
            betas = bn.Linear(r).betas
            report(f"{what}, MC3 with r={r}", *coupled_moves_per_second(walker, betas))
    for dense, sizes in SCALING.items():
        last = None
        for n in sizes:
            rate, accepted = moves_per_second(walker_of(n, 100, dense), 1.0)
            what = f"order moves n={n} m=100 k=3 by {'table' if dense else 'families'}"
            power = "" if last is None else f", as n**{math.log(rate / last[1], n / last[0]):.1f}"
            report(what + power, rate, accepted)
            last = n, rate


def report(what: str, rate: float, accepted: float) -> None:
    print(f"{what:<56}{rate:>12,.0f} a second, {accepted:.2f} accepted", flush=True)


if __name__ == "__main__":
    main()
