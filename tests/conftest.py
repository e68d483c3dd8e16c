"""What every test needs before bnlab is imported: its own compilation cache, offline widgets.

And which tests are slow: `@pytest.mark.quick("measured", "K2")` on a test with many cases leaves
those quick whose ids begin so, and makes the others slow.
"""

import gc
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compiled import numba_cache
from kept import REAL, skip_pictures, without_second_runs
from once import FOLDER, share
from served import CHROMIUM, chromium

ROOT = Path(__file__).resolve().parents[1]
# Files that are begun first. One worker compiles the kernels in the contracts, for all processes to
# come, while the other does what needs few of them; bad input is next, as a young process forks
# fast. Then what takes minutes, so that no worker waits for another at the end.
LONG = (
    "test_contracts.py",
    "test_cold_start.py",
    "test_bad_input.py",
    "test_course.py",
    "test_fuzzing.py",
    "test_browser.py",
    "test_memory_peaks.py",
    "test_widgets.py",
    "test_stills.py",
    "test_cli.py",
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


# At import, not in a fixture: numba reads this once, and worker processes and kernels inherit it.
os.environ["NUMBA_CACHE_DIR"] = str(numba_cache(ROOT / "bnlab" / "kernels"))
if sys.dont_write_bytecode:  # every program that a test starts would compile all of its libraries
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = os.environ["NUMBA_CACHE_DIR"] + "-bytecode"
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    sys.dont_write_bytecode = False
os.environ["BOKEH_RESOURCES"] = "inline"
os.environ["BNLAB_COMPILE_AHEAD"] = "0"
# The collector of garbage comes less often: tests are many, and all stay.
gc.set_threshold(50_000, 50, 50)
# What a shell starts in the background ignores Ctrl-C; tests of it, and their programs, do not.
signal.signal(signal.SIGINT, signal.default_int_handler)
share()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of what is computed once, for the workers that are started next."""
    if not hasattr(config, "workerinput"):
        made = tempfile.TemporaryDirectory(prefix="bnlab-once-")
        os.environ[FOLDER] = made.name
        config.add_cleanup(made.cleanup)


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
    """Let the collector of garbage pass over the thousands of tests."""
    gc.freeze()


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


@pytest.fixture
def lean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bokeh without the work that it throws away."""
    from lean import make_lean

    make_lean(monkeypatch.setattr)


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
