"""The same calls on 1 and 2 workers of each kind: seconds, efficiency, identical draws, bytes.

    uv run --extra test python benchmarks/scaling.py                  # about five minutes
    uv run --extra test python benchmarks/scaling.py --repeats 3 --places threads processes

For each place and call: seconds by the clock on the wall with one worker and with two, the best of
the repeats, when the workers are up and have loaded what they need; the efficiency, which is the
first over twice the second; what one worker costs over a thread; and whether the draws are those
of a call without an executor, bit for bit. Wall time means something on an idle machine only: the
last line says how busy it was. MPI's ranks talk over loopback; one more of them leads.
"""

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import bnlab as bn
from bnlab.labs.scaling_out import Ledger, fingerprint, letters, wine
from bnlab.running import Executor

WARMING = 0.3  # share of a call that makes two jobs at least, so that all workers are ready
PATIENCE = 300  # seconds, for MPI
POLLING = 1e-5  # seconds between two looks for a part of a message, at most: 1e-3 by default
LONG_ENOUGH = 0.5  # seconds of one call, all its repeats together
_WIDE: list[bn.ScoreTable] = []


def wide() -> bn.ScoreTable:
    if not _WIDE:
        _WIDE.append(bn.score_families(letters(), bn.BDeu(1.0), max_parents=3))
    return _WIDE[0]


def long_runs(executor: Executor | None, share: float = 1.0) -> bn.Draws:
    """40 annealing runs on 13 variables, 3 seconds of computing."""
    method, rng = bn.AIS(bn.Linear(int(700_000 * share))), np.random.default_rng(1)
    return bn.anneal_orders(wine(), runs=40, method=method, rng=rng, executor=executor)


def wide_runs(executor: Executor | None, share: float = 1.0) -> bn.Draws:
    """8 annealing runs on 58 variables, 3 seconds; 14 MB to send with each job."""
    method, rng = bn.AIS(bn.Linear(int(4500 * share))), np.random.default_rng(1)
    return bn.anneal_orders(wide(), runs=8, method=method, rng=rng, executor=executor)


def long_chains(executor: Executor | None, share: float = 1.0) -> bn.Draws:
    """4 chains on orders of 13 variables, 3 seconds."""
    plan = {"draws": int(100_000 * share), "chains": 4, "thin": 80}
    return bn.sample_orders(wine(), **plan, rng=np.random.default_rng(1), executor=executor)


def wide_chains(executor: Executor | None, share: float = 1.0) -> bn.Draws:
    """4 chains on partitions of 58 variables, 3 seconds."""
    plan = {"draws": 20, "burn_in": int(7000 * share), "chains": 4, "thin": 50}
    return bn.sample_partitions(wide(), **plan, rng=np.random.default_rng(1), executor=executor)


def short_chains(executor: Executor | None, share: float = 1.0) -> bn.Draws:
    """4 chains on orders of 13 variables, half a second; all that they meet is kept."""
    plan = {"draws": int(100_000 * share), "chains": 4, "thin": 13}
    return bn.sample_orders(wine(), **plan, rng=np.random.default_rng(1), executor=executor)


def short_runs(executor: Executor | None, share: float = 1.0) -> bn.Draws:
    """40 annealing runs that take a hundredth of a second together: too small to go anywhere."""
    method, rng = bn.AIS(bn.Linear(1000)), np.random.default_rng(1)
    return bn.anneal_orders(wine(), runs=40, method=method, rng=rng, executor=executor)


def empty_jobs(executor: Executor | None, share: float = 1.0) -> bn.Draws | None:
    """A hundred jobs with nothing in them: the least that a job costs."""
    list((executor or Ledger()).map(abs, range(100)))
    return None


CALLS = {
    call.__name__.replace("_", " "): call
    for call in (
        long_runs,
        wide_runs,
        long_chains,
        wide_chains,
        short_chains,
        short_runs,
        empty_jobs,
    )
}


@contextmanager
def dask(workers: int, /) -> Iterator[Executor]:
    """So many of Dask's workers on this machine, of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


@contextmanager
def engines(workers: int, /) -> Iterator[Executor]:
    """So many of ipyparallel's engines on this machine."""
    from ipyparallel import Cluster

    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(
            n=workers, controller_ip="127.0.0.1", log_level=logging.ERROR, profile_dir=folder
        )
        cluster.start_cluster_sync()
        try:
            with cluster.connect_client_sync() as client:
                client.wait_for_engines(workers, interactive=False)
                yield client.load_balanced_view().executor
        finally:
            cluster.stop_cluster_sync()


PLACES: Mapping[str, Callable[[int], AbstractContextManager[Executor]]] = {
    "threads": ThreadPoolExecutor,  # nothing is sent, since kernels let other threads run
    "processes": partial(ProcessPoolExecutor, mp_context=get_context("spawn")),
    "Dask": dask,
    "ipyparallel": engines,
}
"""Name -> function of the number of workers, that gives a context with an executor."""

_NEEDS = {"Dask": "distributed", "ipyparallel": "ipyparallel", "MPI": "mpi4py"}


def absent() -> dict[str, str]:
    """The places that this environment has not, and a sentence about each."""
    missing = {
        name: f'{name}: not here, so this part is left out. pip install "bnlab[cluster]" brings it.'
        for name, package in _NEEDS.items()
        if find_spec(package) is None
    }
    if "MPI" not in missing and mpiexec() is None:
        missing["MPI"] = "MPI: there is no mpiexec here, so this part is left out."
    return missing


def mpiexec() -> str | None:
    """The program that starts MPI's ranks: beside this Python, or on the path."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))


Found = dict[str, tuple[float, str]]
"""Call -> seconds, the best of the repeats, of which a short call has more, and the fingerprint of
its draws."""


def measured(executor: Executor, repeats: int) -> Found:
    found = {}
    for name, call in CALLS.items():
        call(executor, WARMING)
        seconds: list[float] = []
        while len(seconds) < repeats or sum(seconds) < LONG_ENOUGH:
            begun = time.perf_counter()
            draws = call(executor)
            seconds.append(time.perf_counter() - begun)
        found[name] = min(seconds), "" if draws is None else fingerprint(draws)
    return found


def on_place(
    place: Callable[[int], AbstractContextManager[Executor]], workers: int, repeats: int
) -> Found:
    with place(workers) as executor:
        return measured(executor, repeats)


def on_ranks(workers: int, repeats: int) -> Found:
    """This program again, on MPI's ranks."""
    command = [str(mpiexec()), "-n", str(workers + 1), sys.executable, "-m", "mpi4py.futures"]
    result = subprocess.run(
        [*command, __file__, "--repeats", str(repeats), "--as-rank"],
        env={**os.environ, "MPIEXEC_TIMEOUT": str(PATIENCE)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=PATIENCE + 30,
    )
    return {name: tuple(pair) for name, pair in json.loads(result.stdout.splitlines()[-1]).items()}


def report(repeats: int, places: list[str]) -> dict[str, dict[str, float]]:
    """Print the table; speed-up of two workers over one, by call and place."""
    home = {}
    for name, call in CALLS.items():
        ledger = Ledger()
        call(ledger)
        print(f"{name}: {ledger}", flush=True)
        draws = call(None)
        home[name] = "" if draws is None else fingerprint(draws)
    print(
        f"\n{'place':12s} {'call':12s}  1 worker  2 workers  efficiency  over a thread  identical"
    )
    thread: dict[str, float] = {}
    speed: dict[str, dict[str, float]] = {name: {} for name in CALLS}
    for place in places:
        one, two = (
            on_ranks(workers, repeats)
            if place == "MPI"
            else on_place(PLACES[place], workers, repeats)
            for workers in (1, 2)
        )
        for name, (seconds, draws_one) in one.items():
            faster, draws_two = two[name]
            same = "yes" if {draws_one, draws_two} == {home[name]} else "NO"
            over = seconds / thread.setdefault(name, seconds) - 1
            speed[name][place] = seconds / faster
            print(
                f"{place:12s} {name:12s} {seconds:7.3f} s  {faster:7.3f} s  "
                f"{seconds / faster / 2:10.0%}  {over:13.0%}  {same:>9s}",
                flush=True,
            )
    return speed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--places", nargs="+", choices=(*PLACES, "MPI"), help="all by default")
    parser.add_argument("--as-rank", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.as_rank:
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor(backoff=POLLING) as executor:
            print(json.dumps(measured(executor, given.repeats)))
        return
    places = [name for name in given.places or (*PLACES, "MPI") if name not in absent()]
    report(given.repeats, places)
    print(*absent().values(), sep="\n", end="")
    if hasattr(os, "getloadavg"):
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
