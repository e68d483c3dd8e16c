"""Time and memory of the structure-modular posterior over DAGs.

    uv run --extra test python benchmarks/dag_space.py              # half a minute
    uv run --extra test python benchmarks/dag_space.py --chains     # Markov chains: two minutes
    uv run --extra test python benchmarks/dag_space.py --clock      # error by time: two minutes
    uv run --extra test python benchmarks/dag_space.py --large      # and n = 20: half a minute more

Medians of processor time in one thread, compilation left out. Data are drawn from a random DAG of
in-degree at most 3, arities 2 to 4, Dirichlet(1) tables, seed 0.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from timing import sample_table

import bnlab as bn
from bnlab.sampling.structure_kernels import StructureKernel
from bnlab.sampling.structure_mcmc import StructureWalker


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


def kernels_of(edges: np.ndarray) -> dict[str, tuple[StructureKernel, int]]:
    """Kernels of structure MCMC, and how many moves of each take some 20 microseconds at n=20."""
    return {
        "local": (bn.Local(), 2000),
        "global": (bn.Global(edges), 15),
        "hybrid, local=0.1": (bn.Hybrid(edges), 15),
        "hybrid, local=0.9": (bn.Hybrid(edges, local=0.9), 100),
        "Gibbs": (bn.Gibbs(), 100),
        "edge reversal": (bn.EdgeReversal(), 80),
    }


def walks(n: int) -> None:
    """Structure MCMC: moves a second on one thread, after as many that count for nothing."""
    for m in (1000, 100):
        table = scores(n, m)
        for name, (kernel, thin) in kernels_of(bn.order_posterior(table).edges).items():
            walker, rng = StructureWalker.of(table, kernel), np.random.default_rng(0)
            state = np.append(np.zeros(n, np.int64), -1)
            walker.walk(state, 20_000 * thin, 0, 1, rng)
            tallies = []
            took = seconds(
                lambda w=walker, s=state, t=thin, r=rng, out=tallies: out.append(
                    w.walk(s, 20_000 * t, 0, 1, r)[-1]
                ),
                5,
            )
            changed = np.sum(tallies, axis=(0, 1))
            note = f"{20_000 * thin / took:,.0f} moves a second, {changed[1] / changed[0]:.3f} done"
            report(f"{20_000 * thin:,} moves n={n} m={m} {name}", took, note)


def clock(n: int, m: int, picture: str | None) -> None:
    """Largest error of an edge by processor time, from scores to edges, exact sums included.

    Chains start anywhere; 4 of each kernel of structure MCMC and of partition MCMC, median of 3
    seeds. With `picture`, the path of an HTML page, the curves are drawn there.
    """
    table = scores(n, m)
    exact_edges = bn.dag_posterior(table).edges
    points: dict[str, list[tuple[float, list[float]]]] = {}
    for name, sampler in samplers(table).items():
        points[name] = []
        for count in (250, 1000, 4000, 16_000):
            worst, took = [], []
            for seed in range(3):
                start = time.process_time()
                edges = bn.features.edges(sampler(count, np.random.default_rng(seed)))
                took.append(time.process_time() - start)
                worst.append(float(np.abs(edges - exact_edges).max()))
            note = f"largest error {statistics.median(worst):.4f} ({max(worst):.4f} at worst of 3)"
            report(f"{name} n={n} m={m}", statistics.median(took), note)
            points[name].append((statistics.median(took), worst))
    if picture is not None:
        from bokeh.io import save

        from bnlab import plots

        groups = {
            name: {
                word: ([took for took, _ in found], [of(worst) for _, worst in found])
                for word, of in (("", statistics.median), ("at worst", max))
            }
            for name, found in points.items()
        }
        figure = plots.time_curves(
            groups,
            x=plots.Axis("seconds of computing"),
            y=plots.Axis("largest error of an edge", (0.001, 1.0), log=True),
            title=f"Error against time, n={n}, m={m}",
            alt="Error of each sampler against its computing time: median and worst of 3 seeds",
        )
        save(figure, picture, title=figure.title.text, resources="inline")


def samplers(table: bn.ScoreTable) -> dict[str, Callable[[int, np.random.Generator], bn.Draws]]:
    """name -> function of how much to draw, and a generator."""

    def by_chains(kernel: StructureKernel | None, thin: int, count: int, rng: np.random.Generator):
        if isinstance(kernel, bn.Global | bn.Hybrid):  # the exact sums are on its clock, too
            kernel = replace(kernel, edges=bn.order_posterior(table).edges)
        return bn.sample_structures(
            table, draws=count, thin=thin, burn_in=count * thin // 5, kernel=kernel, rng=rng
        )

    def direct(correct: Callable[[bn.Draws], bn.Draws], count: int, rng: np.random.Generator):
        return correct(bn.sample_dags(bn.order_posterior(table), draws=4 * count, rng=rng))

    kernels = kernels_of(np.full((table.n, table.n), 0.25))
    del kernels["hybrid, local=0.1"]  # eight curves can be told apart
    out = {name: partial(by_chains, kernel, thin) for name, (kernel, thin) in kernels.items()}
    out["partition MCMC"] = lambda count, rng: bn.sample_partitions(
        table, draws=count, thin=20, burn_in=4 * count, rng=rng
    )
    out["IW-DDS"] = partial(direct, bn.reweight_unique)
    out["DDS, 1 / l(G)"] = partial(direct, bn.reweight_by_extensions)
    return out


def partition_and_partial_order_mcmc() -> None:
    """Moves a second of one chain, after 5,000 of them."""
    for n, m, moves in ((20, 1000, 200_000), (37, 100, 30_000)):
        table = scores(n, m)
        samplers = {"partitions": bn.sample_partitions}
        for bucket in (1, 4, 6):
            samplers[f"buckets of {bucket}"] = partial(bn.sample_partial_orders, bucket=bucket)
        for name, sampler in samplers.items():
            rate = moves_per_second(partial(sampler, table), moves)
            print(
                f"{name} n={n} m={m} k=3".ljust(56) + f"{rate:>12,.0f} moves a second", flush=True
            )


def moves_per_second(sampler: Callable[..., bn.Draws], moves: int) -> float:
    """From what is left when a run of few draws is taken off a longer one."""
    with ThreadPoolExecutor(1) as one:
        common = {"chains": 1, "burn_in": 5000, "thin": 100, "executor": one}
        short, long = (
            seconds(lambda d=d: sampler(draws=d, rng=np.random.default_rng(0), **common), 3)
            for d in (1, 1 + moves // 100)
        )
    return moves / (long - short)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="the exact posterior for n = 20 too")
    parser.add_argument("--chains", action="store_true", help="Markov chains: moves a second")
    parser.add_argument("--clock", action="store_true", help="error against time, every sampler")
    parser.add_argument("--picture", help="with --clock: an HTML page to draw the errors on")
    options = parser.parse_args()
    if options.chains:
        walks(20)
        partition_and_partial_order_mcmc()
        return
    if options.clock:
        clock(20 if options.large else 17, 1000, options.picture)
        return
    exact([10, 14, 16, 17] + [20] * options.large)
    draws([10, 13, 17])


if __name__ == "__main__":
    main()
