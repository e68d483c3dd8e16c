"""The README's two lines on a bare machine, and the notebooks after the network is gone.

A clone and a new virtual environment with nothing but pip; packages come from uv's cache when it
has them. A report there is made with nothing compiled; the notebooks take the machine code of the
same kernels from the cache of the tests.
"""

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from compiled import numba_cache
from kept import NOTEBOOKS, REAL, SOLVED, differences, is_as_committed, is_git_checkout
from once import FOLDER
from stills import fewest

from bnlab.course import solved_copy, student_copy
from bnlab.course.copies import BEGIN
from bnlab.papers.nk2013 import study

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 600  # seconds, for installing packages on a slow line
NOT_IN_THE_SDIST = {".gitignore"}
MADE_BY_SETUPTOOLS = {"PKG-INFO", "setup.cfg"}
LOOPBACK_ALONE = ["unshare", "--net", "--map-root-user", "sh", "-c"]
UP = "ip link set lo up"
RUN_EACH = "import offline; offline.main()"
AGAIN = "-again"
NO_MORE_THAN_COLLECT = "--collect-only --quiet --numprocesses=0 --assert=plain"
STAND_INS = {"nk2013": 3}  # for the data sets that are files, each told in a line
# Numbers of stand-ins are compared with nothing: fewer steps do.
FEWER_STEPS = {
    "(925, 3_700)": "(93, 370)",
    "study.LAB": f"study.{fewest(study)}",
    "(370, 3700)": "(37, 370)",
    "500, 500_000": "500, 50_000",
    "bn.Linear(22_000)": "bn.Linear(220)",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the lines are run by bash here"),
    pytest.mark.skipif(
        not is_git_checkout(), reason="not a git checkout: there is nothing to clone"
    ),
]


@dataclass(frozen=True, slots=True)
class Clone:
    """A fresh clone, and the environment variables of somebody who has just made it."""

    folder: Path
    variables: dict[str, str]

    def command(self, tool: str) -> str:
        """The line of the README that ends by starting `tool`."""
        readme = (self.folder / "README.md").read_text(encoding="utf-8")
        (line,) = re.findall(rf"^pip install uv && uv run .*\b{tool}\b.*$", readme, re.MULTILINE)
        return line


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    place = tmp_path_factory.mktemp("cold")
    folder, bare = place / "bnlab", place / "python"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    python = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    subprocess.run([str(python), "-m", "venv", str(bare)], check=True)
    ours = ("BNLAB_", "NUMBA_", "PYTEST_", "JUPYTER", "UV_PROJECT", "VIRTUAL_ENV", "PYTHON")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    system = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
    variables["PATH"] = os.pathsep.join([str(bare / "bin"), *system])
    return Clone(folder, variables)


@pytest.fixture(scope="module")
def lab_address(clone: Clone) -> Iterator[str]:
    """Type the README's first line, and wait until JupyterLab answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex()
    settings = {
        "ServerApp": {"open_browser": False, "allow_root": True, "port": port},
        "IdentityProvider": {"token": token},
    }
    config = clone.folder.parent / "config"
    config.mkdir()
    (config / "jupyter_server_config.json").write_text(json.dumps(settings))
    log = clone.folder.parent / "lab.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            ["bash", "-c", clone.command("labs")],
            cwd=clone.folder,
            env={**clone.variables, "JUPYTER_CONFIG_DIR": str(config)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}/{{}}?token={token}"
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(address.format("api/status")):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.5)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=60)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=10) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def test_the_first_line_serves_the_first_lab_and_changes_no_file(
    clone: Clone, lab_address: str
) -> None:
    assert _answers(lab_address.format("api/contents/00_start_here.ipynb"))
    assert (clone.folder / "bnlab-labs" / "00_start_here.ipynb").is_file()
    changed = _out(clone, "git status --porcelain")
    assert changed == ""


def test_one_line_makes_a_report_on_a_table_never_seen(clone: Clone) -> None:
    rows = ["smokes,cough", "yes,yes", "no,no", "yes,yes", "no,no", "no,yes"]
    (clone.folder / "my.csv").write_text("\n".join(rows))
    _run(clone, clone.command("report"))
    page = (clone.folder / "report.html").read_text(encoding="utf-8")
    assert "smokes" in page and "bnlab report my.csv -o report.html --seed" in page


@pytest.fixture(scope="module")
def cut_off(clone: Clone, lab_address: str) -> Clone:
    """The clone that the first line has set up, without a network, files and caches."""
    nobody = "http://127.0.0.1:9"
    variables = {
        name: nobody for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    }
    variables |= {"XDG_CACHE_HOME": str(clone.folder.parent / "empty"), "BOKEH_RESOURCES": "inline"}
    variables["NUMBA_CACHE_DIR"] = str(numba_cache(clone.folder / "bnlab" / "kernels"))
    variables["BNLAB_COMPILE_AHEAD"] = "0"  # it runs the cells once more: see test_compiling.py
    return Clone(clone.folder, clone.variables | variables)


@pytest.fixture(scope="module")
def executor(cut_off: Clone, pytestconfig: pytest.Config) -> Iterator["subprocess.Popen[str]"]:
    """A program of the clone that runs the notebooks it reads the names of, without a network."""
    alone, up = (LOOPBACK_ALONE, UP) if _may_be_alone() else (["sh", "-c"], "true")
    timeout = str(pytestconfig.getoption("nbval_cell_timeout"))
    python = str(cut_off.folder / ".venv" / "bin" / "python")
    once = {FOLDER: os.environ[FOLDER]} if is_as_committed() else {}
    with (cut_off.folder.parent / "executor.log").open("w") as log:
        program = subprocess.Popen(
            [*alone, f"{up} && exec {python} -c '{RUN_EACH}' {timeout}"],
            cwd=cut_off.folder / "tests",
            env=cut_off.variables | once,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        with program:  # at its end there is nothing more to read
            yield program


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_without_files_and_network(
    path: Path,
    cut_off: Clone,
    executor: "subprocess.Popen[str]",
    request: pytest.FixtureRequest,
) -> None:
    """Papers, and students' copies of labs: nothing fails, and then the solutions come in.

    Each cell, and each solution, prints what the notebook keeps.
    """
    given = read_notebook(path)
    if path.stem in REAL:
        given = _with_fewer_steps(given)
    elif path.parent.name != "papers":
        given = _solved_after_all(given, again=SOLVED.get(path.stem, ()))
    place = cut_off.folder.parent / "offline" / path.name  # not beside a folder called bnlab
    place.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.reads(json.dumps(given), as_version=4), place)
    assert executor.stdin is not None and executor.stdout is not None
    executor.stdin.write(f"{place}\n")
    executor.stdin.flush()
    log = place.parent.parent / "executor.log"
    assert executor.stdout.readline() == f"{place}\n", log.read_text()
    cells = nbformat.read(place, as_version=4)["cells"]
    outputs = {cell["id"]: cell["outputs"] for cell in cells if cell["cell_type"] == "code"}
    failed = {
        name: output["ename"]
        for name, shown in outputs.items()
        for output in shown
        if output["output_type"] == "error"
    }
    assert failed == {}
    printed = json.dumps([*outputs.values()])
    assert printed.count("a stand-in: n=") == STAND_INS.get(path.stem, 0)
    outputs |= {name: outputs[name + AGAIN] for name in SOLVED.get(path.stem, ())}
    if path.stem not in REAL:
        differ = differences(path, outputs, request.session)
        assert not differ, "\n".join(differ)


def _may_be_alone() -> bool:
    """Whether this system lets a test make a network namespace of its own."""
    return subprocess.run([*LOOPBACK_ALONE, UP], capture_output=True).returncode == 0


def _solved_after_all(lab: dict[str, Any], again: tuple[str, ...]) -> dict[str, Any]:
    """The student's copy from top to bottom, then the solutions, by themselves and in its cells.

    In its cells without what has run before; what is checked already must be the same object. And
    cells that use what is solved now, once more.
    """
    copy = student_copy(lab)
    alone = [cell for cell in lab["cells"] if "solution" in cell["metadata"].get("tags", [])]
    solved = [cell for cell in solved_copy(lab)["cells"] if "nbgrader" in cell["metadata"]]
    lines = [line for cell in alone for line in "".join(cell["source"]).splitlines()]
    for cell in solved:
        cell["source"] = _without_solution(cell["source"], lines)
    repeated = [cell | {"id": cell["id"] + AGAIN} for cell in copy["cells"] if cell["id"] in again]
    return {**copy, "cells": [*copy["cells"], *alone, *solved, *repeated]}


def _without_solution(answer: str, lines: list[str]) -> str:
    """Of a solved answer, what its names are given after lines that are all those of solutions."""
    if BEGIN not in answer:  # a check
        check = re.match(r"(assert lab\.\w+)\((\w+)\)$", answer)
        known = check and f"{check[1]}({check[2]}_solved)" in lines
        return f"assert {check[2]} is {check[2]}_solved" if check and known else answer
    solution, _, names = answer.split(f"{BEGIN}\n")[1].rpartition("\n\n\n")
    assert [line for line in solution.splitlines() if line not in lines] == []
    return names


def _with_fewer_steps(page: dict[str, Any]) -> dict[str, Any]:
    """A paper's page with another plan of what its samplers may spend."""
    text = json.dumps(page)
    for more, fewer in FEWER_STEPS.items():
        assert text.count(more) == 1
        text = text.replace(more, json.dumps(fewer)[1:-1])
    given: dict[str, Any] = json.loads(text)
    return given


def read_notebook(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def test_the_second_line_finds_every_test(clone: Clone) -> None:
    """The line itself, told to stop before it runs the tests (this one is among them)."""
    result = subprocess.run(
        ["bash", "-c", clone.command("pytest")],
        cwd=clone.folder,
        env={**clone.variables, "PYTEST_ADDOPTS": NO_MORE_THAN_COLLECT},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "test_cold_start" not in result.stdout  # slow tests are not part of the ordinary run
    assert "test_standing.py::test_import_needs_the_core_alone" in result.stdout


def test_an_installed_package_brings_the_labs(clone: Clone) -> None:
    """A wheel, installed without its extras: the labs are in it, opening them names what to do."""
    _run(clone, "pip install uv && uv build --wheel --out-dir dist && uv venv installed")
    _run(clone, "uv pip install --python installed/bin/python dist/*.whl")
    bnlab = str(clone.folder / "installed" / "bin" / "bnlab")
    folder = clone.folder.parent / "elsewhere"
    folder.mkdir()
    _run(clone, f"cd {folder} && {bnlab} labs mine --no-open")
    assert _labs(folder / "mine") == _labs(clone.folder / "notebooks") != []
    said = _run(clone, f"cd {folder} && {bnlab} labs; test $? = 1")
    assert 'pip install "bnlab[lab]"' in said and not (folder / "bnlab-labs").exists()
    (wheel,) = (clone.folder / "dist").glob("*.whl")
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    version = wheel.name.split("-")[1]
    assert tops == {"bnlab", f"bnlab-{version}.data", f"bnlab-{version}.dist-info"}


def test_the_sdist_has_what_git_has_and_its_tests_run(clone: Clone) -> None:
    _run(clone, "pip install uv && uv build --sdist --out-dir sdist")
    (archive,) = (clone.folder / "sdist").glob("*.tar.gz")
    place = clone.folder.parent / "unpacked"
    with tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")
    (folder,) = place.iterdir()
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    made = {name for name in found if name.startswith("bnlab.egg-info/")} | MADE_BY_SETUPTOOLS
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=clone.folder, capture_output=True, text=True, check=True
    )
    assert found - made == set(tracked.stdout.split("\0")) - {""} - NOT_IN_THE_SDIST
    tests = "tests/test_results.py tests/test_setup.py tests/test_notebook_shape.py"
    compiles = "--deselect=tests/test_setup.py::test_readme_examples_run"
    # In the clone's environment, which has all but this copy of bnlab already.
    here = f"cd {folder} && export UV_PROJECT_ENVIRONMENT={clone.folder}/.venv"
    _run(clone, f"{here} && uv run --extra test pytest --numprocesses=0 {compiles} {tests}")


def _labs(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*.ipynb"))


def _run(clone: Clone, line: str) -> str:
    """What a line of bash says on stderr, in the clone."""
    return _done(clone, line).stderr


def _out(clone: Clone, line: str) -> str:
    """What it says on stdout."""
    return _done(clone, line).stdout


def _done(clone: Clone, line: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        ["bash", "-c", line],
        cwd=clone.folder,
        env=clone.variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result
