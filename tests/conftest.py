"""What every test needs before bnlab is imported: its own compilation cache, offline widgets.

And which tests are slow: `@pytest.mark.quick("measured", "K2")` on a test with many cases leaves
those quick whose ids begin so, and makes the others slow.
"""

import gc
import hashlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pooch
import pytest
from kept import REAL, skip_pictures, without_second_runs
from served import CHROMIUM, chromium

ROOT = Path(__file__).resolve().parents[1]
# Files that are begun first. One worker compiles the kernels in the contracts, for all processes to
# come, while the other does what needs few of them. Then what takes minutes, so that no worker
# waits for another at the end.
LONG = (
    "test_contracts.py",
    "test_cold_start.py",
    "test_course.py",
    "test_fuzzing.py",
    "test_browser.py",
    "test_widgets.py",
    "test_bad_input.py",
)
# Notebooks of half a minute and more, and the folder of the papers.
LONG_NOTEBOOKS = {
    "07_annealed_importance_sampling",
    "09_hidden_scores",
    "10_hidden_annealing",
    "11_structure_mcmc",
    "12_beliefs_and_interventions",
    "13_structure_search",
    "14_your_own_data",
    "15_scaling_out",
    "papers",
}
DATA_DIR = os.environ.get("BNLAB_DATA_DIR")
NO_DATA = "BNLAB_DATA_DIR names no folder of data files"
WEEK = 7 * 24 * 3600


def _fresh_numba_cache() -> Path:
    """A compilation cache for exactly these kernels.

    numba does not notice an edit of a kernel that another module's kernel calls, so a cache that
    outlives an edit can test the old code. Caches unused for a week are removed.
    """
    digest = hashlib.sha256(version("numba").encode())
    for source in sorted((ROOT / "bnlab" / "kernels").rglob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    caches = Path(pooch.os_cache("bnlab")) / "numba-for-tests"
    cache = caches / digest.hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    os.utime(cache)
    _begin_with_code_of_others(cache)
    for other in caches.iterdir():
        if time.time() - other.stat().st_mtime > WEEK:
            shutil.rmtree(other, ignore_errors=True)
    return cache


def _begin_with_code_of_others(cache: Path) -> None:
    """Copy what another checkout of the same kernels has compiled: numba keeps theirs apart.

    Indexes first: they name the files of machine code, which may get more meanwhile.
    """
    kernels, stamp = ROOT / "bnlab" / "kernels", "kernels.sha256"  # see bnlab/kernels
    ours = cache / f"kernels_{hashlib.sha1(str(kernels).encode()).hexdigest()}"
    sources = b"".join(source.read_bytes() for source in sorted(kernels.glob("*.py")))
    digest = hashlib.sha256(sources).hexdigest()

    def size(folder: Path) -> int:
        told = folder / stamp
        same = told.exists() and told.read_text() == digest
        return len(list(folder.iterdir())) if same else 0

    fullest = max(cache.glob("kernels_*"), key=size, default=ours)
    if ours.exists() or not size(fullest):
        return
    copy = Path(mkdtemp(dir=cache, prefix="copy-"))
    with suppress(OSError):  # another process was sooner, or the other code is gone
        for pattern in ("*.nbi", "*.nbc", stamp):
            for file in fullest.glob(pattern):
                shutil.copy2(file, copy)
        if size(fullest):
            copy.rename(ours)
    shutil.rmtree(copy, ignore_errors=True)


# At import, not in a fixture: numba reads this once, and worker processes and kernels inherit it.
os.environ["NUMBA_CACHE_DIR"] = str(_fresh_numba_cache())
if sys.dont_write_bytecode:  # every program that a test starts would compile all of its libraries
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = os.environ["NUMBA_CACHE_DIR"] + "-bytecode"
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    sys.dont_write_bytecode = False
os.environ["BOKEH_RESOURCES"] = "inline"
os.environ["BNLAB_COMPILE_AHEAD"] = "0"
# What a shell starts in the background ignores Ctrl-C; tests of it, and their programs, do not.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _mark_cases(items: list[pytest.Item]) -> set[tuple[str, str]]:
    """Make the cases slow that `quick` does not name; return the names that no case met."""
    named, met = set(), set()
    for item in items:
        if mark := item.get_closest_marker("quick"):
            test = item.nodeid.split("[")[0]
            begun = {(test, name) for name in mark.args if item.callspec.id.startswith(name)}
            named |= {(test, name) for name in mark.args}
            met |= begun
            if not begun:
                item.add_marker("slow")
    return named - met


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` is looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long files first, then notebooks, then the rest (xdist takes files in this order)."""
    unmet = _mark_cases(items)
    if unmet and not any("::" in each for each in config.args):  # where all cases were collected
        raise pytest.UsageError(f"no case begins like this: {sorted(unmet)}")
    for item in items:
        if item.path.suffix != ".ipynb":
            continue
        if LONG_NOTEBOOKS & {item.path.stem, item.path.parent.name}:
            item.add_marker("slow")
        skip_pictures(item.parent)
        if item.path.stem in REAL and not DATA_DIR:
            item.add_marker(pytest.mark.skip(NO_DATA))

    def place(item: pytest.Item) -> int:
        if item.path.name in LONG:
            return LONG.index(item.path.name)
        return len(LONG) + (item.path.suffix != ".ipynb")

    items.sort(key=place)


@pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)  # after `-m`
def pytest_once_each(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run no notebook a second time to compare it."""
    once = without_second_runs(items)
    chosen = set(once)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = once


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over the thousands of tests, and come less often."""
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of downloaded data sets and networks, for tests that need the real files."""
    if not DATA_DIR:
        pytest.skip(NO_DATA)
    return Path(DATA_DIR)


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that can start no thread, as in a browser."""
    from bnlab.running import threads_start

    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    threads_start.cache_clear()
    yield
    threads_start.cache_clear()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium, for tests that need one."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def tic_tac_toe():
    """The exact posterior over orders given the board of tic-tac-toe."""
    import bnlab as bn

    return bn.order_posterior(bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu()))
