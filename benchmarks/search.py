"""Time of searches for one good structure, and how good it is.

    uv run --extra test python benchmarks/search.py            # four minutes

Processor time, compilation left out. Data of 37 variables are those of `timing.sample_table`. All
DAGs are scored by the same BDeu(1).
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from timing import report, sample_table, seconds

import bnlab as bn


def climb(table: bn.ScoreTable | bn.LazyScores, **options: object) -> bn.Climb:
    with ThreadPoolExecutor(1) as one:
        return bn.hill_climb(table, rng=np.random.default_rng(0), executor=one, **options)


def hill_climbing(data: bn.Data) -> None:
    """From the empty graph to a local optimum, and on from there."""
    table = bn.score_families(data, bn.BDeu())
    took = seconds(lambda: bn.score_families(data, bn.BDeu()), 5)
    what = f"n={data.n} m={data.m} k=3"
    report(f"all families {what}", took)
    ways = {
        "first best": {"choice": "first"},
        "best first": {},
        "tabu=10": {"tabu": 10},
        "tabu=20": {"tabu": 20},
        "40 random DAGs": {"restarts": 40},
        "40 restarts, perturb=10": {"restarts": 40, "perturb": 10},
        "400 restarts, perturb=20": {"restarts": 400, "perturb": 20},
    }
    for name, options in ways.items():
        found = climb(table, **options)
        took = seconds(lambda o=options: climb(table, **o), 3)
        report(f"hill climbing, {name} {what}", took, f"ln target {found.log_target:.2f}")

    for name in ("best first", "tabu=10"):
        took = seconds(lambda o=ways[name]: climb(bn.LazyScores(data, bn.BDeu()), **o), 5)
        found = climb(bn.LazyScores(data, bn.BDeu()), **ways[name])
        note = f"ln target {table.log_target(found.dag):.2f}, scoring included"
        report(f"lazy scores, {name} {what}", took, note)


def optima(restarts: int = 400) -> None:
    """Which share of restarts ends at the DAG of highest posterior, or one that scores alike."""
    for name in ("coronary", "tic_tac_toe", "wine"):
        data = bn.load_dataset(name)
        table = bn.score_families(data, bn.BDeu())
        best = bn.map_dag(table).log_target[0]
        for options in (
            {},
            {"choice": "first"},
            {"tabu": 10},
            {"perturb": 5},
            {"perturb": 5, "tabu": 10},
        ):
            start = time.process_time()
            found = climb(table, restarts=restarts, **options)
            took = time.process_time() - start
            share = np.mean(found.log_targets[1:] > best - 1e-6)
            what = ", ".join(f"{key}={value}" for key, value in options.items()) or "plain"
            note = f"{share:6.1%} reach the optimum; best {best - found.log_target:.2f} nats below"
            report(f"{restarts} restarts on {name}, {what}", took, note)

        def table_of(share: float, rng: np.random.Generator, data: bn.Data = data) -> bn.ScoreTable:
            return bn.score_families(bn.resampled(data, share, rng=rng), bn.BDeu())

        start = time.process_time()
        found = bn.climb_perturbed(table, table_of, rounds=20, rng=np.random.default_rng(0))
        took = time.process_time() - start
        share = np.mean(found.log_targets[1:] > best - 1e-6)
        note = f"{share:6.1%} reach the optimum; best {best - found.log_target:.2f} nats below"
        report(f"20 rounds of perturbed data on {name}", took, note)


def map_found(runs: int = 20) -> None:
    """How often each method ends at the DAG of highest posterior, or at one that scores alike.

    Each run has the columns in another random order, which decides ties, and a seed of its own.
    """
    child = bn.load_network("child").sample(1000, np.random.default_rng(0))
    targets = {
        "wine": bn.load_dataset("wine"),
        "tic_tac_toe": bn.load_dataset("tic_tac_toe"),
        "child, 15 of 20 nodes, m=1000": child.select(child.names[:15]),
    }
    rng = np.random.default_rng

    def ends(table: bn.ScoreTable, seed: int) -> np.ndarray:
        with ThreadPoolExecutor(1) as one:
            return bn.hill_climb(table, restarts=200, tabu=10, rng=rng(seed), executor=one).ends

    def climbing(**options: object) -> Callable[[bn.ScoreTable, int], float]:
        def work(table: bn.ScoreTable, seed: int) -> float:
            with ThreadPoolExecutor(1) as one:
                found = bn.hill_climb(table, rng=rng(seed), executor=one, **options)
            return found.log_target

        return work

    def shotgun(table: bn.ScoreTable, seed: int) -> float:
        with ThreadPoolExecutor(1) as one:
            found = bn.shotgun_search(table, steps=2500, rng=rng(seed), executor=one)
        return found.log_target[0]

    ways = {
        "hill climbing, best first": climbing(),
        "hill climbing, first best": climbing(choice="first"),
        "hill climbing, tabu=10": climbing(tabu=10),
        "200 random DAGs": climbing(restarts=200),
        "200 random DAGs, tabu=10": climbing(restarts=200, tabu=10),
        "200 restarts, perturb=5": climbing(restarts=200, perturb=5),
        "200 restarts, perturb=5, tabu=10": climbing(restarts=200, perturb=5, tabu=10),
        "GES": lambda table, _: bn.ges(table).log_target,
        "Occam's window": lambda table, _: bn.occams_window(table).log_target[0],
        "Occam's window from 200 random DAGs, tabu=10": lambda table, seed: bn.occams_window(
            table, start=ends(table, seed)
        ).log_target[0],
        "shotgun, 4 x 2500 steps": shotgun,
    }
    for name, data in targets.items():
        shuffled = [data.select(rng(i).permutation(data.names).tolist()) for i in range(runs)]
        for score in (bn.BDeu(), bn.BIC()):
            tables = [bn.score_families(part, score) for part in shuffled]
            best = bn.map_dag(tables[0]).log_target[0]
            print(f"{name}, {score!r}, ln target of the best {best:.3f}", flush=True)
            for way, work in ways.items():
                work(tables[0], 0)  # compiles
                begun = time.process_time()
                short = best - np.array([work(table, i) for i, table in enumerate(tables)])
                took = (time.process_time() - begun) / runs
                missed = max(0.0, np.median(short))
                note = f"{np.mean(short < 1e-6):6.0%} found; median {missed:.2f} nats below"
                report(f"  {way}", took, note)


def sets_of_dags() -> None:
    """The share of the posterior that searches find, against exact evidence."""
    for name in ("coronary", "tic_tac_toe", "wine"):
        table = bn.score_families(bn.load_dataset(name), bn.BDeu())
        log_z = bn.dag_posterior(table).log_z
        starts = climb(table, restarts=6000, tabu=10).ends
        ways: dict[str, Callable[[], bn.BestDags]] = {
            "1000 best": lambda t=table: bn.k_best_dags(t, 1000),
            "window, factor=20": lambda t=table, s=starts: bn.occams_window(t, start=s),
            "window, factor=1e4": lambda t=table, s=starts: bn.occams_window(
                t, factor=1e4, start=s
            ),
            "shotgun, 4 x 10,000": lambda t=table: bn.shotgun_search(
                t, steps=10_000, rng=np.random.default_rng(0)
            ),
        }
        for way, work in ways.items():
            found = work()
            mass = found.as_draws(log_z=log_z).stats["mass"][0]
            took = seconds(work, 1)
            report(f"{way} on {name}", took, f"{len(found.dags)} DAGs, mass {mass:.5f}")


def equivalence(data: bn.Data) -> None:
    """Greedy equivalence search from a table of scores, beside best-first hill climbing."""
    for k in (2, 3):
        table = bn.score_families(data, bn.BDeu(), max_parents=k)
        found, climbed = bn.ges(table), climb(table)
        note = f"ln target {found.log_target:.2f}, {len(found.steps)} steps"
        what = f"n={data.n} m={data.m} k={k}"
        report(f"GES {what}", seconds(lambda t=table: bn.ges(t), 5), note)
        took = seconds(lambda k=k: bn.ges(bn.LazyScores(data, bn.BDeu(), k)), 5)
        report(f"GES, lazy scores {what}", took, "scoring included")
        print(f"{'':<52}{'':>12}      hill climbing: {climbed.log_target:.2f}")


def conversions(n: int, count: int) -> None:
    """CPDAGs of DAGs drawn along a walk."""
    data = sample_table(n, 200)
    walk = bn.sample_structures(
        bn.score_families(data, bn.BDeu()), draws=count, rng=np.random.default_rng(0), chains=1
    )
    took = seconds(lambda: bn.graphs.cpdag(walk.values), 5)
    report(f"CPDAGs of {count:,} DAGs n={n}", took, f"{1e6 * took / count:.2f} us each")


def trees(data: bn.Data) -> None:
    """Best trees and forests, mixtures of trees, one order, local conditionals."""
    rng = np.random.default_rng
    pairs, table = (bn.score_families(data, bn.BDeu(), max_parents=k) for k in (1, 3))
    what = f"n={data.n} m={data.m}"
    net = bn.fit_dependency_network(table, data)

    def mixture() -> bn.TreeMixture:
        with ThreadPoolExecutor(1) as one:
            return bn.fit_tree_mixture(
                data, components=3, restarts=1, max_iterations=10, rng=rng(0), executor=one
            )

    ways = {
        "Chow-Liu tree": lambda: bn.chow_liu(data),
        "maximum branching of a table": lambda: bn.maximum_branching(pairs),
        "TAN": lambda: bn.tan(data, 0),
        "mixture of 3 trees, 10 iterations": mixture,
        "best DAG of an order, k=3": lambda: bn.best_dag_given_order(table, range(data.n)),
        "dependency network, k=3": lambda: bn.fit_dependency_network(table, data),
        "1000 rows by 100 sweeps": lambda: net.sample(1000, rng(0)),
    }
    for name, work in ways.items():
        report(f"{name} {what}", seconds(work, 5))


def main() -> None:
    data = sample_table(37, 5000)
    hill_climbing(data)
    optima()
    map_found()
    sets_of_dags()
    equivalence(data)
    conversions(13, 30_000)
    trees(data)


if __name__ == "__main__":
    main()
