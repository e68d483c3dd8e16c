"""Compiled kernels across processes, and without a step outside their arrays."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import numba_cache
from numba.core.caching import IndexDataCacheFile

import bnlab
import bnlab.kernels

FIRST = """
import bnlab as bn
bn.score_families(bn.Data.from_arrays([[0, 1], [1, 0]]), bn.BDeu())
"""
OTHER = """
import numpy as np
import bnlab as bn

small = bn.Data.from_arrays([[0, 1, 2], [1, 0, 0], [1, 1, 1]], intervened=np.eye(3, dtype=bool))
for data in (small, small.prefix(1), small.prefix(0), small.select(["x1"])):
    for score in (bn.BDeu(), bn.K2(), bn.BIC()):
        for k in (0, 1, 2):
            table = bn.score_families(data, score, max_parents=k)
            posterior = bn.order_posterior(table)
            bn.exact.order_paths(posterior)
            bn.map_dag(table)
            bn.k_best_dags(table, 9)
            bn.graphs.consistent_extension(bn.ges(table).cpdag)
            bn.sample_dags(posterior, draws=10, rng=np.random.default_rng(0))
            orders = bn.sample_orders(posterior, draws=10, rng=np.random.default_rng(0))
            bn.features.edges(orders, table=table)
            bn.features.modular_probability(orders, lambda v, sets: sets == 0, table=table)
            bn.sample_dags(orders, draws=2, table=table, rng=np.random.default_rng(0))
bn.predict.plug_in_log_density([0, 1, 3], small.prefix(0), [[1, 1, 2], [0, -1, 0]])
bn.graphs.near_ancestors(bn.graphs.all_dags(4), max_length=3)
bn.graphs.ancestors(bn.graphs.all_dags(4))
bn.order_lattice(table)
table.log_target(bn.graphs.all_dags(1))
"""

CALLED = "out[t, v] = mask"
CALLER = """
import numpy as np
from bnlab.kernels.dag_walks import start

source = np.zeros((2, 2)), np.ones((2, 2), dtype=int), np.array([0, 1, 2])
assert start(np.array([0, 1]), source)[0].tolist() == {}
"""


SMALL = """
import bnlab as bn
assert bn.graphs.ancestors([[0, 1, 2]]).tolist() == [[0, 1, 3]]
"""


def run(code, **environment):
    result = call("-c", code, **environment)
    assert result.returncode == 0, result.stderr


def call(*arguments, folder=None, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env=os.environ | environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def read_only(tmp_path):
    """The environment of a package and a home that nobody, not even root, can write to."""
    if os.name == "nt":
        pytest.skip("Windows does not ask the environment where the user's folder is")
    package = tmp_path / "package" / "bnlab"
    shutil.copytree(
        Path(bnlab.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in {source.parent for source in package.rglob("*.py")}:
        (folder / "__pycache__").touch()  # a file: no folder of that name can be made
    (tmp_path / "tmp").mkdir()
    nowhere = str(package / "__pycache__" / "home")
    return {
        "PYTHONPATH": str(package.parent),
        "PYTHONSAFEPATH": "1",
        "HOME": nowhere,
        "XDG_CACHE_HOME": nowhere,
        "NUMBA_CACHE_DIR": "",
        "TMPDIR": str(tmp_path / "tmp"),
    }


@pytest.mark.slow
def test_a_second_process_compiles_beside_the_cache_of_the_first(tmp_path):
    """Kernels loaded from disk and kernels compiled anew for other array types must get along.

    No kernel steps outside its arrays meanwhile.
    """
    where = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": "1"}
    run(FIRST, **where)
    assert list(tmp_path.rglob("*.nbi"))
    run(OTHER, **where)


@pytest.mark.slow
def test_an_update_of_one_kernel_reaches_those_that_call_it(tmp_path):
    """numba by itself keeps the machine code of the callers, with the old one inside."""
    shutil.copytree(Path(bnlab.__file__).parent / "kernels", tmp_path / "bnlab" / "kernels")
    (tmp_path / "bnlab" / "__init__.py").touch()
    called = tmp_path / "bnlab" / "kernels" / "dags.py"
    source = called.read_text(encoding="utf-8")
    assert CALLED in source
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    run(CALLER.format([0, 1]), **environment)
    called.write_text(source.replace(CALLED, "out[t, v] = mask + 8"), encoding="utf-8")
    run(CALLER.format([8, 17]), **environment)


def test_two_processes_do_not_write_machine_code_to_one_file(tmp_path):
    """Of one kernel for two types, when each looks at the index before the other writes it."""
    first, second = (IndexDataCacheFile(str(tmp_path), "kernel", 0) for _ in range(2))
    seen = first._load_index()
    second.save("of floats", "code for floats")
    first._load_index = lambda: seen
    first.save("of integers", "code for integers")
    assert second.load("of integers") == "code for integers"
    assert second.load("of floats") in (None, "code for floats")
    assert len(list(tmp_path.glob("*.nbc"))) == 2


def test_without_a_place_to_write_code_is_kept_in_a_temporary_folder(read_only, tmp_path):
    """A read-only installation of somebody without a home: containers, shared machines."""
    run(SMALL, **read_only)
    (folder,) = (tmp_path / "tmp").glob("bnlab-numba-*")
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.stat().st_uid == os.geteuid()
    assert list(folder.rglob("kernels_*/*.nbc"))


def test_in_a_browser_code_is_kept_for_the_session_alone(read_only, tmp_path):
    """What numba keeps for later sessions there fails when new code calls it."""
    drive = tmp_path / "drive"
    browser = f"import numba, sys; numba.config.CACHE_DIR = {str(drive)!r}"
    here = {**read_only, "PYTHONPATH": str(Path(bnlab.__file__).parents[1])}
    run(f"{browser}; sys.platform = 'emscripten'{SMALL}", **here)
    (folder,) = (tmp_path / "tmp").glob("bnlab-numba-*")
    assert list(folder.rglob("kernels_*/*.nbc")) and not drive.exists()


@pytest.mark.slow
def test_reports_come_out_without_a_place_to_write_code(read_only, tmp_path):
    """They find the folder for one user, which has the machine code of the tests here."""
    folder = tmp_path / "tmp" / f"bnlab-numba-{os.geteuid()}"
    folder.mkdir(mode=0o700)
    for place in numba_cache(tmp_path / "package" / "bnlab" / "kernels").glob("kernels_*"):
        (folder / place.name).symlink_to(place)
    (tmp_path / "table.csv").write_text("a,b\nx,y\ny,x\nx,x\ny,y\n")
    report = ["-m", "bnlab", "report", "table.csv", "--quiet"]
    found = call(*report, folder=tmp_path, **read_only)
    assert (found.returncode, found.stderr) == (0, "")
    assert (tmp_path / "table-report.html").stat().st_size > 1e6


@pytest.mark.parametrize("fault", ["others may write", "a link", "a file", "another user's"])
def test_a_temporary_folder_that_others_may_write_is_refused(fault, read_only, tmp_path):
    folder = tmp_path / "tmp" / f"bnlab-numba-{os.geteuid()}"
    if fault == "a file":
        folder.touch()
    elif fault == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir(mode=0o700)
        if fault == "others may write":
            folder.chmod(0o777)
        elif os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        else:
            pytest.skip("only root can give a folder away")
    found = call("-c", "import bnlab.kernels", **read_only)
    assert found.stderr.splitlines()[-1].startswith("OSError: no place to keep compiled code (")
    assert "set the environment variable NUMBA_CACHE_DIR to a folder of your own" in found.stderr
    assert not folder.is_dir() or not list(folder.iterdir())


def test_a_cache_folder_that_cannot_be_written_is_named(read_only):
    read_only["NUMBA_CACHE_DIR"] = read_only["HOME"]
    said = call("-c", "import bnlab.kernels", **read_only).stderr.splitlines()[-1]
    assert f"NUMBA_CACHE_DIR={read_only['HOME']}" in said
    assert "name a folder of your own that can be written" in said


def test_old_code_that_cannot_be_removed_is_not_run(read_only, tmp_path):
    """As in a folder that all may write to, but where each removes only what is theirs."""
    cache = tmp_path / "package" / "bnlab" / "kernels" / "__pycache__"
    cache.unlink()
    index = cache / "dags.ancestors-41.py311.nbi"
    index.mkdir(parents=True)
    run(
        "from bnlab.kernels.dags import ancestors\n"
        "assert 'bnlab-numba-' in ancestors.stats.cache_path, ancestors.stats.cache_path",
        **read_only,
    )
    assert list(cache.glob("*.nbi")) == [index]
