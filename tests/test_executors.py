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
from killing import Noting, kill_a_busy_one
from test_reports_analysis import METHODS, same, short, some_data

import bnlab as bn
from bnlab import running
from bnlab.annealing.runs import _block_size
from bnlab.labs.scaling_out import Ledger
from bnlab.reports import analyse
from bnlab.running import MAX_BYTES
from bnlab.sampling import OrderWalker, chains as engine
from bnlab.sampling.chains import ChainSettings
from bnlab.sampling.partition_mcmc import PartitionWalker
from bnlab.sampling.structure_mcmc import StructureWalker

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


@pytest.mark.slow
def test_no_threads(plain, small_blocks, no_threads):
    assert calls.differing(calls.everything(), plain) == set()


def test_processes(plain, small_blocks):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert calls.differing(calls.everything(executor), plain) == set()


SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import bnlab as bn


def draw(executor=None):
    table = bn.score_families(bn.load_dataset("coronary"), bn.BDeu(), max_parents=2)
    rng = np.random.default_rng(1)
    return bn.anneal_orders(table, runs=6, rng=rng, executor=executor).log_weight


if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert np.array_equal(draw(executor), draw())
    print("equal")
"""


def test_processes_of_a_script_without_a_home_in_a_folder_with_spaces_and_letters(tmp_path):
    """The rule of Windows and macOS: a process begins by importing the script."""
    folder = tmp_path / "Ordner mit ü 漢"
    folder.mkdir()
    (folder / "main.py").write_text(SCRIPT, encoding="utf-8")
    where = {name: value for name, value in os.environ.items() if name not in ("HOME", "LC_ALL")}
    found = subprocess.run(
        [sys.executable, "main.py"], cwd=folder, env=where, capture_output=True, timeout=PATIENCE
    )
    assert found.stdout.split() == [b"equal"], found.stderr.decode()


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_dask(plain, small_blocks, dask):
    assert os.getpid() not in dask.run(os.getpid).values()
    assert calls.differing(calls.everything(dask.get_executor()), plain) == set()


@pytest.mark.slow
def test_analyses_on_dask(dask):
    for method in METHODS:
        plan, rngs = short(method), [np.random.default_rng(7) for _ in range(2)]
        there = analyse(some_data(), rng=rngs[0], plan=plan, executor=dask.get_executor())
        assert same(there, analyse(some_data(), rng=rngs[1], plan=plan)), method


@pytest.mark.slow
def test_a_killed_dask_worker_costs_only_its_own_runs(dask, tmp_path, monkeypatch):
    monkeypatch.setattr("bnlab.sampling.order_target.BLOCK_TERMS", 1)  # many jobs
    call, executor = calls.CALLS["AIS"], Noting(dask.get_executor(), tmp_path, 0.1)
    progress, killed = kill_a_busy_one(executor)
    draws = call(executor=executor, progress=progress)
    assert calls.differing(calls.arrays(draws), calls.arrays(call())) == set()
    assert not draws.run.stopped
    workers = executor.workers()
    assert len(workers) > 20
    again = [by for by in workers.values() if len(by) > 1]
    assert again, "no job was lost"
    assert all(by[0] == killed[0] for by in again)


@pytest.mark.slow
def test_a_killed_dask_worker_does_not_stop_chains(dask, tmp_path):
    dask.wait_for_workers(2, timeout=60)  # the nanny has begun another one
    call, executor = calls.CALLS["partitions"], Noting(dask.get_executor(), tmp_path, 0.0)
    draws = call(300, executor=executor, progress=kill_a_busy_one(executor)[0])
    assert calls.differing(calls.arrays(draws), calls.arrays(call(300))) == set()


@pytest.mark.slow
def test_ipyparallel(plain, small_blocks, tmp_path, monkeypatch):
    ipyparallel = pytest.importorskip("ipyparallel", reason="needs the cluster extra")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    with ipyparallel.Cluster(n=2, controller_ip="127.0.0.1", log_level=logging.ERROR) as client:
        assert os.getpid() not in client[:].apply_sync(os.getpid)
        executor = client.load_balanced_view().executor
        assert calls.differing(calls.everything(executor), plain) == set()


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert len(pickled) < walker.log_phi.nbytes + 1000
    received = pickle.loads(pickled)
    assert pickle.loads(pickled) is received
    assert isinstance(received.source, tuple) == isinstance(walker.source, tuple)
    for ours, theirs in zip(_arrays(walker), _arrays(received), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
        assert ours.flags.writeable == theirs.flags.writeable  # or kernels compile once more


@pytest.mark.parametrize(
    "walker",
    [
        PartitionWalker.of(calls.table(24)),
        StructureWalker.of(calls.table(24), bn.EdgeReversal()),
        StructureWalker.of(calls.table(24), bn.Hybrid(np.full((24, 24), 0.1))),
    ],
    ids=["partitions", "edge reversals", "whole DAGs"],
)
def test_other_walkers_bring_the_families_along_once(walker):
    pickled = pickle.dumps(walker)
    assert len(pickled) < calls.table(24).log_score.nbytes + 8000
    received = pickle.loads(pickled)
    ours, theirs = ([*each.source, *getattr(each, "kernel", ())] for each in (walker, received))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
        if isinstance(a, np.ndarray):
            assert (a.dtype, a.flags.writeable) == (b.dtype, b.flags.writeable)


class Forgetful(Ledger):
    """Every third job goes to a worker that has kept nothing."""

    def map(self, fn, /, *iterables):
        for items in zip(*iterables, strict=True):
            if self.jobs % 3 == 2:
                running._shared.clear()
            yield from super().map(fn, *([item] for item in items))


@pytest.mark.parametrize("place", [Ledger, Forgetful])
def test_a_walker_travels_once_to_each_worker(place, monkeypatch):
    """And again, with the same draws, to one that has not got it."""
    monkeypatch.setattr(engine.Chains, "_block", lambda *_: 24)
    plan, executor = {"draws": 10, "burn_in": 24, "chains": 3}, place()
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    draws = bn.sample_partitions(calls.table(24), **plan, rng=rng, executor=executor)
    alone = bn.sample_partitions(calls.table(24), **plan, rng=same)
    assert draws.values.tobytes() == alone.values.tobytes()
    large = [sent > calls.table(24).log_score.nbytes for sent in executor.sent]
    lacking = [i for i, back in enumerate(executor.returned) if back < 100]
    assert all(large[:3])
    assert sum(large) == 3 + len(lacking)
    assert (place is Forgetful) == bool(lacking)
    assert not running._shared  # in this process nothing stays


@pytest.mark.parametrize("chains", [4, 100])
def test_rounds_elsewhere_take_seconds_whatever_the_number_of_workers(chains):
    walker, plan = PartitionWalker.of(calls.table(5)), ChainSettings(10**6, 0, 5, chains)
    run = engine.Chains("walks", plan, np.random.default_rng(1), Ledger())
    block = run._block(walker, 1, 0, 0.0)
    assert block == engine.FIRST_BLOCKS * walker.block_moves
    slow = run._block(walker, 1, block, 30.0)
    fast = run._block(walker, 1, block, 0.1)
    wanted = max(engine.ROUND_SECONDS, chains * engine.CHAIN_SECONDS)
    assert slow == max(walker.block_moves, int(block * wanted / 30))
    assert fast == int(block * wanted / 0.1)


def _arrays(walker):
    return [*walker.source] if isinstance(walker.source, tuple) else [walker.source]


@pytest.mark.parametrize(
    ("steps", "runs", "jobs"),
    [(1000, 10_000, 99), (98_000, 200, 200), (98_000, 10_000, 834)],
    ids=["short runs", "long ones", "many long ones"],
)
def test_long_runs_are_spread_over_more_jobs(steps, runs, jobs):
    data = bn.Data.from_arrays(np.zeros((1, 37), int), arities=[2] * 37)
    walker = OrderWalker.of(bn.score_families(data, bn.BDeu(), max_parents=3))
    assert -(-runs // _block_size(walker, steps, runs, ThreadPoolExecutor)) == jobs
    assert jobs * walker.log_phi.nbytes <= MAX_BYTES
