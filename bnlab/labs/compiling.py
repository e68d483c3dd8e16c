"""Kernels are compiled before a reader gets to them, and never without a word.

- `prepare()` starts `python -m bnlab.labs.compiling LAB`, which runs the cells of the lab in their
  order, without a sound and behind all other programs: what a cell needs is then in numba's cache.
- A cell that compiles all the same has a bar under it until it is through.
"""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display
from numba import __version__ as numba_version
from numba.core import event
from numba.core.codegen import ll  # type: ignore[attr-defined]

from bnlab.cli.labs import shipped
from bnlab.course.copies import student_copy
from bnlab.kernels import cache_folder

SWITCH = "BNLAB_COMPILE_AHEAD"

BAR = """<p role="status" style="margin:4px"><progress aria-label="Compiling"></progress>
Compiling what this cell calls: some seconds, once on this machine.</p>"""


class Bar(event.Listener):
    """A bar under the running cell, from its first compilation to its end."""

    shown: Any = None

    def on_start(self, what: Any) -> None:
        """Show it, unless it is shown."""
        if self.shown is None:
            self.shown = display({"text/html": BAR}, raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def on_end(self, what: Any) -> None:
        """Leave it: the cell is not through."""

    def take_away(self, result: Any) -> None:
        """Empty its place under the cell."""
        if self.shown is not None:
            self.shown.update({"text/html": ""}, raw=True)
            self.shown = None


_bar = Bar()


def prepare() -> None:
    """Compile ahead what the notebook's `lab` needs, and show a bar where a cell compiles.

    Does nothing outside a notebook, nor if the environment variable BNLAB_COMPILE_AHEAD is 0.
    """
    shell: Any = get_ipython()
    lab = getattr(sys.modules["__main__"], "lab", None)
    if os.environ.get(SWITCH) == "0" or lab is None or not hasattr(shell, "kernel"):
        return
    if _bar.take_away not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _bar.take_away)
        event.register("numba:compile", _bar)  # type: ignore[no-untyped-call]
        with suppress(OSError):  # where no process can be started, cells compile
            start(lab.__name__.rpartition(".")[2])


def start(lab: str, /) -> "subprocess.Popen[bytes] | None":
    """Start what fills the cache for a lab, unless it is full; it ends when this process ends."""
    done = mark(lab)
    if done is None or done.exists():
        return None
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.IDLE_PRIORITY_CLASS
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, lab],
        stdin=subprocess.PIPE,  # ends with this process
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, SWITCH: "0"},
        creationflags=flags,
        start_new_session=True,  # "interrupt kernel" is not for it
    )
    threading.Thread(target=_see_it_end, args=[child], daemon=True).start()
    return child


def _see_it_end(child: "subprocess.Popen[bytes]") -> None:
    child.wait()
    child.communicate()  # closes the pipe


def mark(lab: str, /) -> Path | None:
    """Return the file that says that the cache has what a lab needs; None without a cache."""
    folder, machine = cache_folder(), ll.get_host_cpu_name()
    name = f"{lab}-{machine}-{sys.implementation.cache_tag}-{numba_version}.full"
    return None if folder is None else folder / name


def fill(lab: str, /) -> None:
    """Run the students' cells of a lab; one that fails is of no concern here."""
    notebook = json.loads(next(shipped().glob(f"[0-9]*_{lab}.ipynb")).read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in student_copy(notebook)["cells"]:
        if cell["cell_type"] == "code":
            with suppress(Exception):
                exec("".join(cell["source"]), names)
    if (done := mark(lab)) is not None:
        done.touch()


def _end_with_the_kernel() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_kernel, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(19)
    fill(sys.argv[1])
