"""What a lab's first cell starts: a process that fills numba's cache while the reader reads."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.events import EventManager, available_events

from bnlab.labs import board, compiling
from bnlab.labs.compiling import BAR, SWITCH, Bar

LAB = "start_here"  # runs in a few seconds

# A kernel that starts it, says how long that took and which process it is, and waits.
STARTS = """
import sys, time
from bnlab.labs import compiling
begun = time.perf_counter()
child = compiling.start(sys.argv[1])
print(time.perf_counter() - begun, child.pid, flush=True)
sys.stdin.read()
"""

# The same cells as a reader runs them: the kernels that were not in the cache.
READS = """
import sys
from numba.core import event
from bnlab.labs import compiling

class Counted(event.Listener):
    names = []
    def on_start(self, what):
        self.names.append(what.data["dispatcher"].py_func.__name__)
    def on_end(self, what):
        pass

event.register("numba:compile", Counted())
compiling.fill(sys.argv[1])
sys.__stderr__.write(f"compiled: {Counted.names}")
"""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """As in a notebook of a lab; the labs that processes are started for."""
    started: list[str] = []
    shell = SimpleNamespace(kernel=None)
    shell.events = EventManager(shell, available_events)
    monkeypatch.setattr(compiling, "get_ipython", lambda: shell)
    monkeypatch.setattr(compiling, "start", started.append)
    monkeypatch.setattr(compiling.event, "register", lambda *_: None)
    monkeypatch.setattr(sys.modules["__main__"], "lab", compiling, raising=False)
    monkeypatch.setenv(SWITCH, "1")
    monkeypatch.setattr(board, "output_notebook", lambda *_, **__: None)
    return started


def test_the_first_cell_starts_it_once(notebook: list[str]) -> None:
    board.setup()
    board.setup()
    assert notebook == ["compiling"]


def test_nothing_is_started_when_told_not_to(
    notebook: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SWITCH, "0")
    board.setup()
    assert notebook == []


def test_nothing_is_started_outside_notebooks_of_labs(
    notebook: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(sys.modules["__main__"], "lab")
    board.setup()
    monkeypatch.setattr(sys.modules["__main__"], "lab", compiling, raising=False)
    monkeypatch.setattr(compiling, "get_ipython", lambda: None)
    board.setup()
    assert notebook == []


def test_a_system_that_starts_no_process_is_no_error(
    notebook: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(lab: str) -> None:
        notebook.append(lab)
        raise PermissionError

    monkeypatch.setattr(compiling, "start", fails)
    board.setup()
    assert notebook == ["compiling"]


def test_nothing_is_started_for_a_full_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    done = compiling.mark(LAB)
    assert done is not None
    done.touch()
    assert compiling.start(LAB) is None
    monkeypatch.setattr(compiling, "cache_folder", lambda: None)  # NUMBA_DISABLE_JIT
    assert compiling.start(LAB) is None


def test_a_bar_says_that_a_cell_compiles_until_it_is_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[Any] = []
    place = SimpleNamespace(update=lambda data, raw: shown.append(data["text/html"]))

    def display(data: Any, *, raw: bool, display_id: bool) -> Any:
        shown.append(data["text/html"])
        return place

    monkeypatch.setattr(compiling, "display", display)
    bar = Bar()
    for _ in range(2):
        bar.on_start(None)
        bar.on_end(None)
    assert shown == [BAR]
    bar.take_away(None)
    bar.take_away(None)
    assert shown == [BAR, ""]


def test_it_leaves_no_zombie() -> None:
    child = compiling.start("no such lab")
    assert child is not None
    deadline = time.monotonic() + 60
    while child.returncode is None and time.monotonic() < deadline:  # somebody else waits for it
        time.sleep(0.05)
    assert child.returncode == 1
    with pytest.raises((ChildProcessError, ProcessLookupError)):
        os.kill(child.pid, 0)


@pytest.fixture
def holes(tmp_path: Path) -> Path:
    """What the tests' cache has, without every fifth kernel."""
    full = compiling.cache_folder()
    assert full is not None
    cache = tmp_path / full.name
    cache.mkdir()
    kept = [*full.glob("kernels.sha256"), *full.glob("*.nbc")]
    for file in (*kept, *(x for i, x in enumerate(sorted(full.glob("*.nbi"))) if i % 5)):
        shutil.copy(file, cache)
    return cache


@pytest.mark.slow
def test_a_reader_who_comes_later_compiles_nothing(holes: Path, tmp_path: Path) -> None:
    """The process is started at once, and ends by itself; what it wrote is all that is needed."""
    cache, there = {"NUMBA_CACHE_DIR": str(tmp_path)}, len([*holes.glob("*.nbi")])
    with _kernel(LAB, cache) as kernel:
        assert float(kernel.stdout.readline().split()[0]) < 1  # seconds
        deadline = time.monotonic() + 300
        while not list(tmp_path.rglob(f"{LAB}-*.full")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        kernel.stdin.close()
    assert len([*holes.glob("*.nbi")]) > there
    read = subprocess.run(
        [sys.executable, "-c", READS, LAB], env=os.environ | cache, capture_output=True, text=True
    )
    assert read.stderr.endswith("compiled: []"), read.stderr


@pytest.mark.skipif(os.name == "nt", reason="asks for a process by number")
def test_it_ends_with_the_kernel(tmp_path: Any) -> None:
    with _kernel(LAB, {"NUMBA_CACHE_DIR": str(tmp_path)}) as kernel:
        pid = int(kernel.stdout.readline().split()[1])
        os.kill(pid, 0)
        kernel.kill()
    deadline = time.monotonic() + 60
    while _runs(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not list(tmp_path.rglob("*.full"))


def _runs(pid: int) -> bool:
    """Whether it runs; without a kernel nobody may be there to wait for it."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return told.stdout.strip()[:1] not in ("", "Z")


def _kernel(lab: str, cache: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", STARTS, lab],
        env=os.environ | cache,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
