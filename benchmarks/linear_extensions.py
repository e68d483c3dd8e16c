"""Time of counting linear extensions, on the DAGs of figure 1 of Niinimaki and Koivisto (2013).

    uv run --extra test python benchmarks/linear_extensions.py              # a minute
    uv run --extra test python benchmarks/linear_extensions.py --large      # and n = 63: minutes

Medians over 9 random DAGs: a random order, in-degree uniform in 0..min(k, place). One thread,
compilation left out. `log` is log_count, `exact` count_linear_extensions with its checks, `draws`
1000 uniform extensions, `ideals` the algorithm of the paper, up to 5,000,000 ideals.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import bnlab as bn
from bnlab import linear_extensions
from bnlab.linear_extensions.counting import solve

DAGS = 9


def random_dag(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Parents drawn among the nodes before, in a random order."""
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for place, v in enumerate(order):
        for u in rng.choice(order[:place], size=rng.integers(0, min(k, place) + 1), replace=False):
            dag[v] |= np.int64(1) << u
    return dag


def milliseconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Shortest of a few runs; one run alone when it is long."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
        if times[0] > 200:
            break
    return min(times)


def counts(sizes: list[int], k: int) -> None:
    print(f"\nin-degree at most {k}; median milliseconds (largest), median components (largest)")
    for n in sizes:
        rng = np.random.default_rng([n, k])
        dags = [random_dag(n, k, rng) for _ in range(DAGS)]
        columns = {
            "log": lambda dag: linear_extensions.log_count(dag, max_states=1 << 25),
            "exact": lambda dag: bn.count_linear_extensions(dag, max_states=1 << 25),
            "draws": lambda dag: bn.sample_linear_extensions(
                dag, draws=1000, rng=np.random.default_rng(0), max_states=1 << 25
            ),
        }
        line = f"n={n:<3}"
        for name, work in columns.items():
            took = [milliseconds(lambda d=dag, w=work: w(d)) for dag in dags]
            line += f" {name} {statistics.median(took):8.2f} ({max(took):9.1f}) "
        states = [solve(bn.graphs.ancestors(dag), 1 << 25).states for dag in dags]
        line += f" components {statistics.median(states):9,.0f} ({max(states):,})"
        if n <= 32:
            took = [milliseconds(lambda d=dag: linear_extensions.ideal_lattice(d)) for dag in dags]
            sizes_ = [linear_extensions.ideal_lattice(dag).size for dag in dags]
            line += f"  ideals {statistics.median(took):.1f}, {statistics.median(sizes_):,.0f}"
        print(line, flush=True)


def estimates() -> None:
    """Bipartite DAGs, each of the upper half with 4 random parents: beyond exact counting."""
    print("\nestimates, eps=0.1, delta=0.05, of bipartite DAGs with 4 parents each")
    for n in (40, 50, 62):
        rng = np.random.default_rng(n)
        dag = np.zeros(n, np.int64)
        for v in range(n // 2, n):
            dag[v] = sum(1 << int(u) for u in rng.choice(n // 2, size=4, replace=False))
        estimate = linear_extensions.estimate_linear_extensions(dag, eps=0.1, delta=0.05, rng=rng)
        print(f"n={n} {estimate!r} {dict(estimate.run.settings)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="n = 63 with in-degree 6 as well")
    options = parser.parse_args()
    warm = random_dag(12, 3, np.random.default_rng(0))
    bn.count_linear_extensions(warm)
    bn.sample_linear_extensions(warm, draws=2, rng=np.random.default_rng(0))
    linear_extensions.ideal_lattice(warm)
    linear_extensions.log_count(warm)
    counts([10, 20, 30, 40, 50, 58, 63], 3)
    counts([10, 20, 30, 40, 50, 58] + [63] * options.large, 6)
    estimates()
