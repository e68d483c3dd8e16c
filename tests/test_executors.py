"""Threads, processes, Dask's workers, MPI: the same calls give the same numbers, bit for bit."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import calls
import numpy as np
import pytest

RANKS = 3  # one leads, the others work
PATIENCE = 300  # seconds


@pytest.fixture(scope="module")
def plain():
    """Without an executor, in blocks of the usual sizes."""
    return calls.everything()


@pytest.fixture
def small_blocks(monkeypatch):
    for setting, value in calls.SMALL_BLOCKS.items():
        monkeypatch.setattr(setting, value)


def test_threads(plain, small_blocks):
    assert calls.differing(calls.everything(), plain) == set()
    with ThreadPoolExecutor(3) as executor:
        assert calls.differing(calls.everything(executor), plain) == set()


def test_processes(plain, small_blocks):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert calls.differing(calls.everything(executor), plain) == set()


def test_dask(plain, small_blocks):
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert os.getpid() not in client.run(os.getpid).values()
        assert calls.differing(calls.everything(client.get_executor()), plain) == set()


def test_mpi(plain, tmp_path):
    pytest.importorskip("mpi4py", reason="needs the cluster extra")
    beside = str(Path(sys.executable).parent)
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ["PATH"]]))
    if mpiexec is None:
        pytest.skip("no mpiexec here; the `test` extra brings one on Linux")
    out = tmp_path / "arrays.npz"
    result = subprocess.run(
        [mpiexec, "-n", str(RANKS), sys.executable, "-m", "mpi4py.futures", calls.__file__, out],
        env={**os.environ, "MPIEXEC_TIMEOUT": str(PATIENCE)},
        capture_output=True,
        text=True,
        timeout=PATIENCE + 30,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    with np.load(out) as found:
        numbers = dict(found)
    assert numbers.pop("workers") == RANKS - 1
    assert calls.differing(numbers, plain) == set()
