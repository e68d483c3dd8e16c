"""What a notebook printed when it was run elsewhere, held against what its file keeps, by nbval.

The full check runs a notebook once: offline, in the clone of `test_cold_start.py`, which then
compares it cell by cell. nbval's own run of it is left out where that one takes place; but not of
`REAL`.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbFile, coalesce_streams

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = [
    *sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")),
    *sorted((ROOT / "notebooks" / "papers").glob("*.ipynb")),
]
# Notebooks whose numbers are those of the real files; offline they have stand-ins.
REAL = {"nk2013"}
# Cells, by ids, that print or define something else where the exercises before them are unsolved.
SOLVED = {
    "06_linear_extensions": ("l06-sound",),
    "11_structure_mcmc": (
        "rule-checked",
        "reversal-checked",
        "moves-checked",
        "w11c28",
    ),
    "12_beliefs_and_interventions": ("l12-each", "l12-cells"),
}
OFFLINE = "test_cold_start.py::test_notebooks_run_without_files_and_network"
# Names in pictures are new each time.
PICTURES = (
    "text/html",
    "application/javascript",
    "application/vnd.bokehjs_exec.v0+json",
    "application/vnd.bokehjs_load.v0+json",
)


def is_git_checkout() -> bool:
    """Whether there is something to clone."""
    return shutil.which("git") is not None and (ROOT / ".git").exists()


def is_as_committed() -> bool:
    """Whether a clone has the package that is here, and can be made."""
    if os.name == "nt" or not is_git_checkout():
        return False
    asked = ["git", "status", "--porcelain", "--", "bnlab"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    return told.returncode == 0 and not told.stdout


def without_second_runs(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests without nbval's cells of the notebooks that are compared when they run offline."""
    ran = {
        item.callspec.params["path"]
        for item in items
        if isinstance(item, pytest.Function) and OFFLINE in item.nodeid
    }
    ran = {path for path in ran if path.stem not in REAL}
    if not ran or not is_as_committed():
        return items
    return [item for item in items if item.path not in ran]


def skip_pictures(notebook: Any) -> None:
    """Let nbval compare what is printed, not what is drawn."""
    notebook.skip_compare = tuple({*notebook.skip_compare, *PICTURES})


def differences(path: Path, outputs: dict[str, list[Any]], session: pytest.Session) -> list[str]:
    """Where the outputs, by ids of cells, are not those that the notebook keeps."""
    notebook = IPyNbFile.from_parent(session, path=path)
    skip_pictures(notebook)
    notebook.setup_sanitize_files()
    found = []
    for cell in notebook.collect():
        kept = coalesce_streams(cell.cell.outputs)
        assert cell.cell.execution_count is not None, "a cell that was not run"
        compared = cell.options["check"] and not cell.options["skip"]
        if compared and not cell.compare_outputs(coalesce_streams(outputs[cell.cell.id]), kept):
            found.append("\n".join([f"Cell {cell.cell_num}", *cell.comparison_traceback]))
    return found
