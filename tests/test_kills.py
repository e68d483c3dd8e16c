"""Processes killed in the middle: nothing saved is lost, and the end is the same, bit for bit."""

import collections
import hashlib
import io
import itertools
import os
import random
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import calls
import numpy as np
import pytest
from killing import CALLS, Nursery

from bnlab.checkpoints import MAGIC

COUNT = 300
KILLS = 8

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are needed")


@pytest.fixture(scope="module")
def nursery():
    program = Nursery()
    yield program
    program.close()


def kept(path):
    """How far a checkpoint is that must be whole: moves of its chains, or its finished runs."""
    if not path.exists():
        return 0
    content = path.read_bytes()
    body = content[len(MAGIC) + 32 :]
    assert content.startswith(MAGIC + hashlib.sha256(body).digest()), "a file written by halves"
    with np.load(io.BytesIO(body)) as arrays:
        return int(arrays["moves"]) if "moves" in arrays else len(arrays[arrays.files[0]])


def check_end(name, path):
    """The call made again goes on from the file to the end of a run that nobody killed."""
    before = kept(path)
    told = []
    call = CALLS[name]
    resumed = call(COUNT, checkpoint=path, progress=lambda done, *_: told.append(done))
    whole = call(COUNT)
    assert told and before, "nothing had been saved, or nothing was left to do"
    assert calls.differing(calls.arrays(resumed), calls.arrays(whole)) == set()
    assert not resumed.run.stopped
    assert resumed.run.settings == whole.run.settings


def kill_often(name, path, nursery, kills):
    """Kill the call so many times, at random times; how often it had not ended by then."""
    clock = random.Random(name)
    landed, before = 0, 0
    for kill in range(kills):
        child = nursery.begin(name, path, COUNT)
        while kill == kills - 1 and kept(path) == 0:
            time.sleep(0.01)  # on a busy machine, until something is saved
        time.sleep(clock.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        landed += nursery.end()
        assert kept(path) >= before, "what had been saved is lost"
        before = kept(path)
    return landed


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_runs_killed_at_random_times(name, tmp_path, nursery):
    path = tmp_path / "run.ckpt"
    assert kill_often(name, path, nursery, KILLS) > KILLS / 2
    check_end(name, path)


def test_one_run_killed_at_random_times(tmp_path, nursery):
    path = tmp_path / "run.ckpt"
    kill_often("AIS", path, nursery, 5)
    check_end("AIS", path)


@pytest.mark.parametrize("name", ["AIS", "local moves"])
@pytest.mark.parametrize("number", [1, 2, 7])
def test_a_run_killed_in_a_save(name, number, tmp_path, nursery):
    """Half of the file is written, or all of it but not in its place, or it has just come there."""
    path, after = tmp_path / "run.ckpt", {}
    for where in ("half", "before", "after"):
        path.unlink(missing_ok=True)
        nursery.begin(name, path, COUNT, (where, number))
        assert nursery.end()
        after[where] = kept(path)
    assert after["half"] == after["before"] < after["after"]
    assert (after["half"] == 0) == (number == 1)
    for where in ("half", "before"):  # again, in a run that goes on from there
        nursery.begin(name, path, COUNT, (where, number))
        assert nursery.end()
        assert kept(path) >= after["after"]
    check_end(name, path)


# Workers


class Noted:
    """A function that notes which process worked on which job."""

    def __init__(self, function, folder, pause):
        self.function, self.folder, self.pause = function, folder, pause

    def __call__(self, numbered):
        number, job = numbered
        (self.folder / f"{number} {os.getpid()} {time.monotonic_ns()}").touch()
        time.sleep(self.pause)
        return self.function(job)


class Noting:
    """An executor that passes on what is to be done, and notes who did it."""

    def __init__(self, executor, folder, pause):
        self.executor, self.folder, self.pause = executor, folder, pause

    def map(self, function, jobs):
        return self.executor.map(Noted(function, self.folder, self.pause), list(enumerate(jobs)))

    def workers(self):
        """For each job the processes that began it, in their order."""
        notes = [list(map(int, path.name.split())) for path in self.folder.glob("* * *")]
        by_job = {}
        for job, process, _ in sorted(notes, key=lambda note: note[2]):
            by_job.setdefault(job, []).append(process)
        return by_job


def kill_a_busy_one(executor):
    """A progress function that kills, once, a process that has just begun its second job."""
    killed = []

    def progress(done, total, snapshot):
        while not killed:
            begun = collections.Counter(itertools.chain(*executor.workers().values()))
            killed.extend([process for process, jobs in begun.items() if jobs > 1][:1])
            time.sleep(0.01)
            for process in killed:
                os.kill(process, signal.SIGKILL)

    return progress, killed


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_killed_dask_worker_costs_only_its_own_runs(client, tmp_path, monkeypatch):
    monkeypatch.setattr("bnlab.sampling.order_target.BLOCK_TERMS", 1)  # many jobs
    call, executor = calls.CALLS["AIS"], Noting(client.get_executor(), tmp_path, 0.2)
    progress, killed = kill_a_busy_one(executor)
    draws = call(100, executor=executor, progress=progress)
    assert calls.differing(calls.arrays(draws), calls.arrays(call(100))) == set()
    assert not draws.run.stopped
    workers = executor.workers()
    assert len(workers) > 20
    again = [by for by in workers.values() if len(by) > 1]
    assert again, "no job was lost"
    assert all(by[0] == killed[0] for by in again)


@pytest.mark.slow
def test_a_killed_dask_worker_does_not_stop_chains(client, tmp_path):
    client.wait_for_workers(2, timeout=60)  # the nanny has begun another one
    call, executor = calls.CALLS["partitions"], Noting(client.get_executor(), tmp_path, 0.0)
    draws = call(COUNT, executor=executor, progress=kill_a_busy_one(executor)[0])
    assert calls.differing(calls.arrays(draws), calls.arrays(call(COUNT))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AIS", "partitions"])
def test_a_broken_pool_of_processes_leaves_the_checkpoint(name, tmp_path, monkeypatch):
    """The pool cannot go on; the same call on another one does."""
    monkeypatch.setattr("bnlab.sampling.order_target.BLOCK_TERMS", 1)  # many jobs
    call, path = calls.CALLS[name], tmp_path / "run.ckpt"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        slow = Noting(executor, tmp_path, 0.2)
        with pytest.raises(BrokenProcessPool):
            call(COUNT, executor=slow, checkpoint=path, progress=kill_a_busy_one(slow)[0])
    assert kept(path) > 0
    told = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        resumed = call(
            COUNT, executor=executor, checkpoint=path, progress=lambda done, *_: told.append(done)
        )
    assert told
    assert calls.differing(calls.arrays(resumed), calls.arrays(call(COUNT))) == set()


# The kernel of a notebook

CELL = """
import sys, time
sys.path.insert(0, {tests!r})
import killing
killing.set_up()
draws = killing.calls.CALLS["AIS"](
    {count}, checkpoint={path!r}, progress=lambda *_: time.sleep(0.002)
)
print(draws.values.tolist(), draws.log_weight.tolist())
"""


@pytest.mark.slow
def test_a_killed_kernel_of_a_notebook(tmp_path):
    manager = pytest.importorskip("jupyter_client.manager", reason="needs the lab extra")
    path = tmp_path / "run.ckpt"
    cell = CELL.format(tests=str(Path(__file__).parent), count=COUNT, path=str(path))
    kernels, client = manager.start_new_kernel(kernel_name="python3")
    try:
        client.execute(cell)
        until = time.monotonic() + 120
        while kept(path) < 3:
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill(kernels.provisioner.pid, signal.SIGKILL)
        saved = kept(path)
        client.stop_channels()
        kernels.restart_kernel(now=True)
        client = kernels.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        printed = []
        reply = client.execute_interactive(
            cell,
            output_hook=lambda message: printed.append(message["content"].get("text", "")),
            timeout=120,
        )
    finally:
        client.stop_channels()
        kernels.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", printed
    whole = calls.CALLS["AIS"](COUNT)
    assert "".join(printed).strip() == f"{whole.values.tolist()} {whole.log_weight.tolist()}"
    assert 3 <= saved < COUNT
