"""What benchmarks share: the random table, processor time, and a line for each figure."""

import statistics
import time
from collections.abc import Callable

import numpy as np

import bnlab as bn


def sample_table(n: int, m: int) -> bn.Data:
    """m rows of a random network on n nodes: in-degree at most 3, arities 2 to 4, seed 0."""
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for place, v in enumerate(order):
        k = rng.integers(0, min(3, place) + 1)
        for u in rng.choice(order[:place], size=k, replace=False):
            dag[v] |= np.int64(1) << u
    return bn.BayesNet.random_tables(dag, rng.integers(2, 5, size=n), rng).sample(m, rng)


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median processor time after one run that compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def report(what: str, took: float, note: str = "") -> None:
    print(f"{what:<52}{1e3 * took:>12.1f} ms   {note}", flush=True)
