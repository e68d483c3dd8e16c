"""Time and memory of the structure-modular posterior over DAGs.

    uv run --extra test python benchmarks/dag_space.py              # half a minute
    uv run --extra test python benchmarks/dag_space.py --large      # and n = 20: half a minute more
    uv run --extra test --extra peers python benchmarks/dag_space.py --peers

Medians of processor time in one thread, compilation left out. Data are drawn from a random DAG of
in-degree at most 3, arities 2 to 4, Dirichlet(1) tables, seed 0.
"""

import argparse
import resource
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import bnlab as bn


def sample_table(n: int, m: int) -> bn.Data:
    """m rows of a random network on n nodes."""
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for place, v in enumerate(order):
        k = rng.integers(0, min(3, place) + 1)
        for u in rng.choice(order[:place], size=k, replace=False):
            dag[v] |= np.int64(1) << u
    return bn.BayesNet.random_tables(dag, rng.integers(2, 5, size=n), rng).sample(m, rng)


def scores(n: int, m: int = 1000) -> bn.ScoreTable:
    """BDeu scores of up to three parents."""
    return bn.score_families(sample_table(n, m), bn.BDeu(), max_parents=3)


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median processor time of all threads."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def report(what: str, took: float, note: str = "") -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{what:<56}{1e3 * took:>12.1f} ms   peak {peak:5.2f} GB   {note}", flush=True)


def exact(sizes: list[int]) -> None:
    """Edges, ancestors and evidence; and the sum of a prior that depends on more than sizes."""
    bn.dag_posterior(scores(3))
    for n in sizes:
        table = scores(n)
        took = seconds(lambda t=table: bn.dag_posterior(t), 5 if n <= 16 else 1)
        report(f"exact DAG posterior n={n} k=3", took, f"{1e9 * took / 3**n:.1f} ns a pair")
    table = bn.score_families(sample_table(14, 100), bn.BDeu(), max_parents=3, forbidden=[(0, 1)])
    report("sum over DAGs of a prior n=14", seconds(lambda: bn.exact.log_dag_prior_sum(table), 5))


def draws(sizes: list[int]) -> None:
    """Independent DAGs by layers; few rows leave many DAGs, and so many layers to weigh."""
    count = 20_000
    bn.sample_dags(bn.dag_posterior(scores(3)), draws=1, rng=np.random.default_rng(0))
    for n in sizes:
        for m in (1000, 50):
            posterior = bn.dag_posterior(scores(n, m))
            with ThreadPoolExecutor(1) as one:
                took = seconds(
                    lambda p=posterior, w=one: bn.sample_dags(
                        p, draws=count, rng=np.random.default_rng(0), executor=w
                    ),
                    3,
                )
            report(f"{count:,} DAGs by layers n={n} m={m}", took, f"{count / took:,.0f} a second")


def peers() -> None:
    """sumu's aps (C++), which gives family posteriors only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sumu's source is older than this Python
        import sumu

    for n in (10, 14, 15):
        table = scores(n)
        weights = np.full((n, 1 << (n - 1)), -np.inf)
        for v, parents in enumerate(table.parents):
            weights[v, parents % (1 << v) + (parents >> (v + 1) << v)] = table.log_beta[v]
        took = seconds(lambda w=weights: sumu.aps(w, normalize=True), 3)
        ours = seconds(lambda t=table: bn.dag_posterior(t), 3)
        report(f"sumu aps, families n={n}", took, f"{took / ours:,.1f} times as long as here")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="the exact posterior for n = 20 too")
    parser.add_argument("--peers", action="store_true", help="compare with sumu")
    options = parser.parse_args()
    exact([10, 14, 16, 17] + [20] * options.large)
    draws([10, 13, 17])
    if options.peers:
        peers()


if __name__ == "__main__":
    main()
