"""The same calls on 1 and 2 workers of each kind: identical draws, speed-up, efficiency, bytes.

    uv run --extra test python benchmarks/scaling.py                 # a few minutes
    uv run --extra test python benchmarks/scaling.py --repeats 1     # one

For each place: seconds by the clock on the wall, the best of the repeats, when the workers are up
and have loaded what they need; the speed-up over one thread; the efficiency, which is the speed-up
a worker; and whether the draws are those of a call without an executor, bit for bit. Wall time
means something on an idle machine only: the last line says how busy it was. MPI's ranks talk over
loopback; one more of them leads.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

import bnlab as bn
from bnlab.labs.scaling_out import PLACES, Ledger, absent, fingerprint, letters, wine
from bnlab.labs.scaling_out.places import mpiexec
from bnlab.runs import Executor

WORKERS = (1, 2)


def long_runs(executor: Executor | None) -> bn.Draws:
    """40 annealing runs on 13 variables: 14 jobs of about a tenth of a second."""
    method, rng = bn.AIS(bn.Linear(300_000)), np.random.default_rng(1)
    return bn.anneal_orders(wine(), runs=40, method=method, rng=rng, executor=executor)


def wide_runs(executor: Executor | None) -> bn.Draws:
    """8 annealing runs on 58 variables: 8 jobs of about half a second, 14 MB to send with each."""
    method, rng = bn.AIS(bn.Linear(5000)), np.random.default_rng(1)
    return bn.anneal_orders(wide(), runs=8, method=method, rng=rng, executor=executor)


def chains(executor: Executor | None) -> bn.Draws:
    """4 chains on orders of 13 variables, in rounds."""
    plan = {"draws": 100_000, "chains": 4, "thin": 13}
    return bn.sample_orders(wine(), **plan, rng=np.random.default_rng(1), executor=executor)


def short_runs(executor: Executor | None) -> bn.Draws:
    """40 annealing runs that take a hundredth of a second together: too small to go anywhere."""
    method, rng = bn.AIS(bn.Linear(1000)), np.random.default_rng(1)
    return bn.anneal_orders(wine(), runs=40, method=method, rng=rng, executor=executor)


def empty_jobs(executor: Executor | None) -> bn.Draws | None:
    """A hundred jobs with nothing in them: the least that a job costs."""
    list((executor or Ledger()).map(abs, range(100)))
    return None


CALLS = {call.__name__: call for call in (long_runs, wide_runs, chains, short_runs, empty_jobs)}
_WIDE: list[bn.ScoreTable] = []


def wide() -> bn.ScoreTable:
    if not _WIDE:
        _WIDE.append(bn.score_families(letters(), bn.BDeu(1.0), max_parents=3))
    return _WIDE[0]


def measured(executor: Executor, repeats: int) -> dict[str, tuple[float, str]]:
    """Seconds, the best of the repeats, and the fingerprint of each call."""
    found = {}
    for name, call in CALLS.items():
        call(executor)  # workers load what they need
        seconds = []
        for _ in range(repeats):
            begun = time.perf_counter()
            draws = call(executor)
            seconds.append(time.perf_counter() - begun)
        found[name] = min(seconds), "" if draws is None else fingerprint(draws)
    return found


def on_place(
    place: Callable[[int], AbstractContextManager[Executor]], workers: int, repeats: int
) -> dict[str, tuple[float, str]]:
    with place(workers) as executor:
        return measured(executor, repeats)


def on_ranks(workers: int, repeats: int) -> dict[str, tuple[float, str]]:
    """This program again, on MPI's ranks."""
    command = [str(mpiexec()), "-n", str(workers + 1), sys.executable, "-m", "mpi4py.futures"]
    result = subprocess.run(
        [*command, __file__, "--repeats", str(repeats), "--as-rank"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: tuple(pair) for name, pair in json.loads(result.stdout.splitlines()[-1]).items()}


def report(repeats: int) -> None:
    for name, call in CALLS.items():
        ledger = Ledger()
        call(ledger)
        print(f"{name}: {ledger}", flush=True)
    results = {name: call(None) for name, call in CALLS.items()}
    home = {name: "" if draws is None else fingerprint(draws) for name, draws in results.items()}
    one: dict[str, float] = {}
    places = [name for name in (*PLACES, "MPI") if name not in absent()]
    for place in places:
        for workers in WORKERS:
            found = (
                on_ranks(workers, repeats)
                if place == "MPI"
                else on_place(PLACES[place], workers, repeats)
            )
            for name, (seconds, print_) in found.items():
                speed_up = one.setdefault(name, seconds) / seconds
                print(
                    f"{place:12s} {workers} {name:11s} {seconds:7.3f} s, speed-up {speed_up:.2f}, "
                    f"efficiency {speed_up / workers:4.0%}, "
                    f"{'identical' if print_ == home[name] else 'DIFFERENT'}",
                    flush=True,
                )
    if hasattr(os, "getloadavg"):
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--as-rank", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.as_rank:
        report(given.repeats)
        return
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        print(json.dumps(measured(executor, given.repeats)))


if __name__ == "__main__":
    main()
