"""Where work can go: threads, processes, Dask's workers, ipyparallel's engines, MPI's ranks."""

import hashlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.runs import Executor

SEED = 2026
PATIENCE = 120  # seconds, for MPI
RANKS = Path(__file__).with_name("ranks.py")


@contextmanager
def threads(workers: int, /) -> Iterator[Executor]:
    """So many threads of this process: nothing is sent, since kernels let other threads run.

    Examples
    --------
    >>> with threads(2) as executor:
    ...     list(executor.map(abs, [-1, -2]))
    [1, 2]
    """
    with ThreadPoolExecutor(workers) as executor:
        yield executor


@contextmanager
def processes(workers: int, /) -> Iterator[Executor]:
    """So many fresh processes on this machine."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        yield executor


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
    {"threads": threads, "processes": processes, "Dask": dask, "ipyparallel": engines}
)
"""Name -> function of the number of workers, that gives a context with an executor."""

_NEEDS = {"Dask": "distributed", "ipyparallel": "ipyparallel", "MPI": "mpi4py"}


def absent() -> dict[str, str]:
    """The places that this environment has not, and a sentence about each.

    Examples
    --------
    >>> "threads" in absent()
    False
    """
    missing = {
        name: f'{name}: not here, so this part is left out. pip install "bnlab[cluster]" brings it.'
        for name, package in _NEEDS.items()
        if find_spec(package) is None
    }
    if "MPI" not in missing and mpiexec() is None:
        missing["MPI"] = "MPI: there is no mpiexec here, so this part is left out."
    return missing


def here() -> dict[str, Callable[[int], AbstractContextManager[Executor]]]:
    """Those of `PLACES` that are here.

    Examples
    --------
    >>> list(here())[:2]
    ['threads', 'processes']
    """
    missing = absent()
    return {name: place for name, place in PLACES.items() if name not in missing}


def three_calls(table: bn.ScoreTable, executor: Executor | None = None, /) -> str:
    """The fingerprint of chains on orders, annealing runs and chains on networks of a table."""
    rng = np.random.default_rng(SEED)
    orders = bn.sample_orders(table, draws=200, rng=rng, executor=executor)
    runs = bn.anneal_orders(
        table, runs=40, method=bn.AIS(bn.Linear(1000)), rng=rng, executor=executor
    )
    dags = bn.sample_structures(table, draws=200, rng=rng, executor=executor)
    return fingerprint(orders, runs, dags)


def fingerprint(*draws: bn.Draws) -> str:
    """Eight letters and digits that differ if a bit of the draws or of their weights differs.

    Examples
    --------
    >>> from bnlab.labs.order_mcmc import posterior
    >>> rngs = [np.random.default_rng(seed) for seed in (1, 1, 2)]
    >>> draws = [bn.sample_orders(posterior("coronary"), draws=9, rng=rng) for rng in rngs]
    >>> [fingerprint(each) == fingerprint(draws[0]) for each in draws]
    [True, True, False]
    """
    digest = hashlib.sha256()
    for each in draws:
        for array in (each.values, each.log_weight, each.log_target):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:8]


def mpiexec() -> str | None:
    """The program that starts MPI's ranks: beside this Python, or on the path."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))


def on_ranks(workers: int, /, *arguments: str) -> dict[str, Any]:
    """What `ranks.py` finds on an MPI pool of so many workers; one more rank leads them.

    Raises
    ------
    ValueError
        If MPI does not start, with its last words.
    """
    command = [mpiexec() or "mpiexec", "-n", str(workers + 1), sys.executable]
    result = subprocess.run(
        [*command, "-m", "mpi4py.futures", str(RANKS), *arguments],
        env={**os.environ, "MPIEXEC_TIMEOUT": str(PATIENCE)},
        capture_output=True,
        text=True,
        timeout=PATIENCE + 30,
    )
    if result.returncode != 0:
        raise ValueError(f"MPI did not run: {(result.stderr or result.stdout).strip()[-300:]}")
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def kill(pid: int, /) -> None:
    """End a process at once, as a power cut or a full memory does, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows: SIGTERM does so
