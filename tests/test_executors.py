"""Threads, processes, Dask, ipyparallel, MPI: the same calls give the same numbers, bit for bit."""

import logging
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import calls
import numpy as np
import pytest

import bnlab as bn
from bnlab.annealing.runs import MAX_BYTES, _block_size
from bnlab.sampling import OrderWalker

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


def test_ipyparallel(plain, small_blocks, tmp_path, monkeypatch):
    ipyparallel = pytest.importorskip("ipyparallel", reason="needs the cluster extra")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    with ipyparallel.Cluster(n=2, controller_ip="127.0.0.1", log_level=logging.ERROR) as client:
        assert os.getpid() not in client[:].apply_sync(os.getpid)
        executor = client.load_balanced_view().executor
        assert calls.differing(calls.everything(executor), plain) == set()


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


LONG_RUNS = """
import calls, numpy as np, bnlab as bn
rng, method = np.random.default_rng(1), bn.AIS(bn.Linear(50_000))
print(bn.anneal_orders(calls.five(), runs=4, rng=rng, method=method).log_weight.tobytes().hex())
"""


def test_long_runs_do_not_depend_on_the_threads_of_blas():
    """Dask's workers have one each, whatever the machine has."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", LONG_RUNS],
            cwd=Path(calls.__file__).parent,
            env={**os.environ, "OPENBLAS_NUM_THREADS": count, "MKL_NUM_THREADS": count},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for count in ("1", "2")
    ]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("n", [13, 24], ids=["dense", "families"])
def test_a_walker_brings_only_the_families_along_and_is_laid_out_once(n):
    walker = OrderWalker.of(calls.table(n))
    pickled = pickle.dumps(walker)
    assert len(pickled) < walker.log_beta.nbytes + 1000
    received = pickle.loads(pickled)
    assert pickle.loads(pickled) is received
    assert isinstance(received.source, tuple) == isinstance(walker.source, tuple)
    for ours, theirs in zip(_arrays(walker), _arrays(received), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
        assert ours.flags.writeable == theirs.flags.writeable  # or kernels compile once more


def _arrays(walker):
    return [*walker.source] if isinstance(walker.source, tuple) else [walker.source]


@pytest.mark.parametrize(
    ("steps", "runs", "jobs"),
    [(1000, 10_000, 25), (98_000, 200, 50), (98_000, 10_000, 834)],
    ids=["short runs", "long ones", "many long ones"],
)
def test_long_runs_are_spread_over_more_jobs(steps, runs, jobs):
    data = bn.Data.from_arrays(np.zeros((1, 37), int), arities=[2] * 37)
    walker = OrderWalker.of(bn.score_families(data, bn.BDeu(), max_parents=3))
    assert -(-runs // _block_size(walker, steps, runs, ThreadPoolExecutor)) == jobs
    assert jobs * walker.log_beta.nbytes <= MAX_BYTES
