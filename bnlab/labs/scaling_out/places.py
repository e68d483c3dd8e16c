"""Where work can go, what goes there, and an executor that keeps books.

Threads, processes, Dask's workers, ipyparallel's engines, MPI's ranks.
"""

import hashlib
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.labs.board import bdeu_table
from bnlab.labs.scaling_out.plans import ROWS, sized
from bnlab.running import Executor

SEED = 2026
PATIENCE = 120  # seconds, for MPI


@contextmanager
def dask(workers: int, /) -> Iterator[Executor]:
    """So many of Dask's workers on this machine, of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,  # type: ignore[no-untyped-call]
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


PLACES: Mapping[str, Callable[[int], AbstractContextManager[Executor]]] = MappingProxyType(
    {
        "threads": ThreadPoolExecutor,  # nothing is sent, since kernels let other threads run
        "processes": partial(ProcessPoolExecutor, mp_context=get_context("spawn")),
        "Dask": dask,
        "ipyparallel": engines,
    }
)
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


def here() -> dict[str, Callable[[int], AbstractContextManager[Executor]]]:
    """Those of `PLACES` that are here."""
    missing = absent()
    return {name: place for name, place in PLACES.items() if name not in missing}


def three_calls(table: bn.ScoreTable, executor: Executor | None = None, /) -> str:
    """The fingerprint of chains on orders, annealing runs and chains on DAGs of a table."""
    rng = np.random.default_rng(SEED)
    orders = bn.sample_orders(table, draws=200, rng=rng, executor=executor)
    runs = bn.anneal_orders(
        table, runs=40, method=bn.AIS(bn.Linear(1000)), rng=rng, executor=executor
    )
    dags = bn.sample_structures(table, draws=200, rng=rng, executor=executor)
    return fingerprint(orders, runs, dags)


def fingerprint(*draws: bn.Draws) -> str:
    """Eight letters and digits that differ if a bit of the draws or of their weights differs."""
    digest = hashlib.sha256()
    for each in draws:
        for array in (each.values, each.log_weight, each.log_target):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:8]


def wine() -> bn.ScoreTable:
    """BDeu scores of the wine data, 13 variables."""
    return bdeu_table("wine")


def letters(n: int = 58, /) -> bn.Data:
    """A class and n - 1 letters of DNA, 106 rows, as many as in promoters, but at random.

    Most of every fifth are the sum of the two before, modulo 4, so that orders differ in weight.
    """
    rng = np.random.default_rng(106)
    values = rng.integers(0, 4, (ROWS, n))
    values[:, 0] = rng.integers(0, 2, ROWS)
    for v in range(5, n, 5):
        ruled = rng.random(ROWS) < 0.9
        values[ruled, v] = (values[ruled, v - 1] + values[ruled, v - 2]) % 4
    return bn.Data.from_arrays(values, arities=[2] + [4] * (n - 1))


class Ledger:
    """Does jobs one after another, here, each packed and unpacked as if it went to a worker."""

    def __init__(self) -> None:
        self.sent: list[int] = []  # bytes of each job
        self.returned: list[int] = []  # and of what came back
        self.seconds: list[float] = []  # of computing

    @property
    def jobs(self) -> int:
        """How many so far."""
        return len(self.sent)

    def map(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        """Apply `fn` to the items; results in the order of the items."""
        for items in zip(*iterables, strict=True):
            yield self._done(pickle.dumps((fn, items)))

    def _done(self, parcel: bytes) -> Any:
        (fn, items), begun = pickle.loads(parcel), time.process_time()
        result = fn(*items)
        self.seconds.append(time.process_time() - begun)
        self.sent.append(len(parcel))
        self.returned.append(len(pickle.dumps(result)))
        return result

    def __repr__(self) -> str:
        if not self.jobs:
            return "no jobs so far"
        sent, returned, seconds = (
            sum(each) / self.jobs for each in (self.sent, self.returned, self.seconds)
        )
        return (
            f"jobs: {self.jobs}; each {sized(sent)} there, {sized(returned)} back, "
            f"{seconds:.2g} s of computing"
        )


def mpiexec() -> str | None:
    """The program that starts MPI's ranks: beside this Python, or on the path."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))


def on_ranks(workers: int, /) -> dict[str, Any]:
    """What `main` finds on an MPI pool of so many workers; one more rank leads them.

    Raises
    ------
    ValueError
        If MPI does not start, with its last words.
    """
    command = [mpiexec() or "mpiexec", "-n", str(workers + 1), sys.executable]
    result = subprocess.run(
        [*command, "-m", "mpi4py.futures", __file__],
        env={**os.environ, "MPIEXEC_TIMEOUT": str(PATIENCE)},
        capture_output=True,
        text=True,
        timeout=PATIENCE + 30,
    )
    if result.returncode != 0:
        raise ValueError(f"MPI did not run: {(result.stderr or result.stdout).strip()[-300:]}")
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print, on an MPI pool, the fingerprint, the number of workers and the seconds, as JSON.

    The calls are timed the second time, when all workers have loaded what they need.
    """
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(backoff=1e-5) as executor:
        three_calls(wine(), executor)
        begun = time.perf_counter()
        found = three_calls(wine(), executor)
        seconds = time.perf_counter() - begun
        told = {"fingerprint": found, "workers": executor.num_workers, "seconds": seconds}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
