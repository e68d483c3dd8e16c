"""Time and memory of the core: score tables, the exact posterior, direct sampling.

    uv run --extra test python benchmarks/core.py              # a minute
    uv run --extra test python benchmarks/core.py --large      # and n = 25: 4 GB, a minute more
    uv run --extra test --extra peers python benchmarks/core.py --peers

Medians of repeated runs in one thread, compilation left out. Data are drawn from a random DAG of
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


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall time after one run that compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def report(what: str, took: float, note: str = "") -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{what:<52}{1e3 * took:>12.1f} ms   peak {peak:5.2f} GB   {note}", flush=True)


def score_tables() -> None:
    for n, m in ((20, 1000), (37, 100), (37, 1000)):
        data = sample_table(n, m)
        families = n * bn.scores.family_count(n, 3)
        for score in (bn.BDeu(), bn.K2(), bn.BIC()):
            took = seconds(lambda s=score, d=data: bn.score_families(d, s), 7)
            rate = f"{families / took / 1e6:.1f} million families/s"
            report(f"score table n={n} m={m} k=3 {score!r}", took, rate)


def posteriors(sizes: list[int]) -> None:
    for n in sizes:
        table = bn.score_families(sample_table(n, 1000), bn.BDeu())
        repeats = 7 if n <= 20 else 1
        took = seconds(lambda t=table: bn.order_posterior(t), repeats)
        pairs = n << (n - 1)
        report(f"exact order posterior n={n} k=3", took, f"{1e9 * took / pairs:.1f} ns a pair")


def draws() -> None:
    for n in (15, 20):
        posterior = bn.order_posterior(bn.score_families(sample_table(n, 1000), bn.BDeu()))
        for sample in (bn.sample_orders, bn.sample_dags):
            with ThreadPoolExecutor(1) as one:
                options = {"draws": 20_000, "executor": one}
                took = seconds(
                    lambda s=sample, p=posterior, o=options: s(
                        p, rng=np.random.default_rng(0), **o
                    ),
                    5,
                )
            note = f"{1e6 * took / 20_000:.1f} us a draw"
            report(f"20,000 draws n={n} {sample.__name__}", took, note)


def peers() -> None:
    """Families scored one by one by sumu (C++) and pgmpy through their Python interfaces."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sumu's source is older than this Python
        import sumu
    import pandas as pd
    from pgmpy.structure_score import BDeu as PgmpyBDeu

    n, m = 20, 1000
    data = sample_table(n, m)
    table = bn.score_families(data, bn.BDeu())
    ours = seconds(lambda: bn.score_families(data, bn.BDeu()), 7) / table.parents.size
    frame = pd.DataFrame(data.values, columns=list(data.names)).astype("category")
    rng = np.random.default_rng(1)
    families = []
    for v, f in rng.integers([n, table.parents.shape[1]], size=(100, 2)):
        families.append((v, np.flatnonzero(table.parents[v, f] >> np.arange(n) & 1)))

    def by_sumu() -> None:
        scorer = sumu.scorer.BDeu(3)
        scorer.read(data.values.copy())
        scorer.set_ess(1.0)
        for v, parents in families:
            scorer.local(v, parents)

    def by_pgmpy() -> None:
        scorer = PgmpyBDeu(frame, equivalent_sample_size=1.0)  # made anew: it remembers scores
        for v, parents in families:
            scorer.local_score(data.names[v], tuple(data.names[u] for u in parents))

    for work in (by_sumu, by_pgmpy):
        took = seconds(work, 3)
        note = f"a family takes {took / len(families) / ours:,.0f} times as long as here"
        report(f"BDeu of 100 families n={n} m={m} {work.__name__}", took, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="the exact posterior for n = 25 too")
    parser.add_argument("--peers", action="store_true", help="compare with sumu and pgmpy")
    options = parser.parse_args()
    score_tables()
    posteriors([15, 18, 20, 22] + [25] * options.large)
    draws()
    if options.peers:
        peers()


if __name__ == "__main__":
    main()
