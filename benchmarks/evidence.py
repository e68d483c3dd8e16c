"""How far estimates of the evidence scatter when the methods make equally many moves on orders.

    uv run --extra test python benchmarks/evidence.py              # 20 estimates by each: minutes
    uv run --extra test python benchmarks/evidence.py --repeats 5

For each method the standard deviation of ln p(D) over the repeats, its mean distance from the exact
value or from the mean of all estimates, and the median of the standard errors that they state. AIS
makes 20 runs. MC3 makes 4 ensembles of 17 chains, a tenth of the moves burnt in. SMC makes 4 runs,
with as many particles as the moves allow for the number of temperatures that runs choose.
"""

import argparse
import statistics
import time

import numpy as np

import bnlab as bn

AIS_RUNS, ENSEMBLES, CHAINS, CLOUDS = 20, 4, 17, 4


def methods(table: bn.ScoreTable, moves: int) -> dict[str, tuple[int, bn.AIS | bn.MC3 | bn.SMC]]:
    """Runs and settings of each method, for so many moves in all."""
    pilot = bn.anneal_orders(table, runs=1, rng=np.random.default_rng(0), method=bn.SMC(100))
    steps = pilot.stats["beta"].size
    draws = moves // (ENSEMBLES * CHAINS * table.n)
    coupled = bn.MC3(bn.Linear(CHAINS - 1), draws=draws * 9 // 10, burn_in=draws * table.n // 10)
    return {
        "AIS": (AIS_RUNS, bn.AIS(bn.Linear(moves // AIS_RUNS))),
        "MC3": (ENSEMBLES, coupled),
        "SMC": (CLOUDS, bn.SMC(max(2, moves // (CLOUDS * steps * table.n)))),
    }


def report(name: str, table: bn.ScoreTable, moves: int, repeats: int, exact: float | None) -> None:
    found: dict[str, tuple[list[bn.Estimate], float]] = {}
    for method, (runs, settings) in methods(table, moves).items():
        start = time.perf_counter()
        rngs = np.random.default_rng(1).spawn(repeats)
        estimates = [
            bn.estimate_evidence(table, runs=runs, rng=rng, method=settings) for rng in rngs
        ]
        found[method] = estimates, (time.perf_counter() - start) / repeats
    everything = [e.log_value for estimates, _ in found.values() for e in estimates]
    reference = statistics.mean(everything) if exact is None else exact
    for method, (estimates, seconds) in found.items():
        values = [estimate.log_value for estimate in estimates]
        stated = statistics.median(estimate.stderr for estimate in estimates)
        print(
            f"{name}, {moves:,} moves, {method}: sd {statistics.stdev(values):.3f}, "
            f"mean off by {statistics.mean(values) - reference:+.3f}, "
            f"stated {stated:.3f} nats, {seconds:.2f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    small = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu())
    exact = bn.order_posterior(small).log_evidence
    for moves in (100_000, 1_000_000):
        report("tic-tac-toe n=10", small, moves, repeats, exact)
    alarm = bn.random_network("alarm", rng=np.random.default_rng(1))
    data = alarm.sample(100, np.random.default_rng(2))
    large = bn.score_families(data, bn.BDeu())
    report("alarm n=37 m=100", large, 400_000, repeats, None)


if __name__ == "__main__":
    main()
