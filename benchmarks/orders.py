"""Moves a second of walks on orders, and how they scale with n.

    uv run --extra test python benchmarks/orders.py

Swaps on one thread, at beta = 1 after 5,000 moves and at beta = 0, compilation and the table of
weights left out. Processor time of the thread, so other work on the machine counts little. Data as
in core.py: drawn from a random DAG of in-degree at most 3, arities 2 to 4.
"""

import time

import numpy as np
from core import sample_table

import bnlab as bn
from bnlab.sampling import Moves, OrderWalker


def moves_per_second(walker: OrderWalker, beta: float) -> tuple[float, float]:
    """Moves a second and the share of them that were accepted, in about half a second."""
    rng = np.random.default_rng(0)
    order = rng.permutation(walker.n)
    walker.walk(order, np.full(1, beta), 5000, Moves(), rng)
    records = max(20, walker.block_moves // 200)
    start = time.thread_time()
    walk = walker.walk(order, np.full(records, beta), 1000, Moves(), rng)
    took = time.thread_time() - start
    tried, accepted = walk.tally[0].sum(axis=0)
    return tried / took, accepted / tried


def main() -> None:
    cases = [(n, 1000, True) for n in (10, 15, 20)]
    cases += [(n, 1000, False) for n in (20, 30, 37)] + [(37, 100, False), (58, 100, False)]
    for n, m, dense in cases:
        table = bn.score_families(sample_table(n, m), bn.BDeu())
        walker = OrderWalker.of(table, dense=dense)
        for beta in (1.0, 0.0):
            rate, accepted = moves_per_second(walker, beta)
            source = "table" if dense else "families"
            what = f"order moves n={n} m={m} k=3 by {source}, beta={beta:g}"
            print(f"{what:<56}{rate:>12,.0f} a second, {accepted:.2f} accepted", flush=True)


if __name__ == "__main__":
    main()
