"""Processes killed in the middle: nothing saved is lost, and the end is the same, bit for bit."""

import hashlib
import io
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
from killing import CALLS, Noting, Nursery, kill_a_busy_one

from bnlab.checkpoints import MAGIC

COUNT, CYCLES = 300, 100  # of draws, runs or climbs, and of cycles, which take longer
KILLS = 8

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are needed")


@pytest.fixture(scope="module")
def nursery():
    program = Nursery()
    yield program
    program.close()


def count_of(name):
    return CYCLES if name.startswith(("completions", "cuts")) else COUNT


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
    count = count_of(name)
    resumed = call(count, checkpoint=path, progress=lambda done, *_: told.append(done))
    whole = call(count)
    assert told and before, "nothing had been saved, or nothing was left to do"
    assert calls.differing(calls.arrays(resumed), calls.arrays(whole)) == set()
    assert not resumed.run.stopped
    assert resumed.run.settings == whole.run.settings


def kill_often(name, path, nursery, kills):
    """Kill the call so many times, at random times; how often it had not ended by then."""
    clock = random.Random(name)
    landed, before = 0, 0
    for kill in range(kills):
        child = nursery.begin(name, path, count_of(name))
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


# Workers; those of Dask: tests/test_executors.py


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
