"""Runs and workers that are killed: a program that begins runs in processes, quickly.

It reads lines of JSON, {"call": ..., "path": ..., "count": ..., "in_save": ...}, forks a process
that makes this call of CALLS below, tells its number, and in the end its exit status.
"""

import collections
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import calls

import bnlab as bn

FEW_STEPS = {"paths", "linear extensions", "hidden: structures", "hidden: search"}
CALLS = {name: call for name, call in calls.RESUMED.items() if name not in FEW_STEPS}


class Nursery:
    """The program, as its user sees it."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def begin(
        self, call: str, path: Path, count: int, in_save: tuple[str, int] | None = None
    ) -> int:
        """The number of a process that makes the call, and kills itself in a save if so told."""
        order = {"call": call, "path": str(path), "count": count, "in_save": in_save}
        self._program.stdin.write(json.dumps(order) + "\n")
        self._program.stdin.flush()
        return int(self._program.stdout.readline())

    def end(self) -> bool:
        """Wait for the process; whether it was killed."""
        status = int(self._program.stdout.readline())
        assert status in (0, signal.SIGKILL), f"ended with status {status}"
        return status == signal.SIGKILL

    def close(self) -> None:
        self._program.stdin.close()
        self._program.wait(60)
        self._program.stdout.close()


def set_up() -> None:
    """Small blocks, each of them saved, and time between them."""
    for setting, value in calls.SMALLEST_BLOCKS.items():
        module, _, name = setting.rpartition(".")
        setattr(import_module(module), name, value)
    bn.checkpoints.EVERY_SECONDS, bn.checkpoints.SAVING_SHARE = 0.0, math.inf


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_in_save(where: str, number: int) -> None:
    """Kill this process in that save: when half is written, before the move, or after it."""
    saves, write, replace = [0], Path.write_bytes, Path.replace

    def write_some(path: Path, content: bytes) -> int:
        saves[0] += 1
        if where == "half" and saves[0] == number:
            write(path, content[: len(content) // 2])
            die()
        return write(path, content)

    def move(path: Path, target: Path) -> Path:
        if where == "before" and saves[0] == number:
            die()
        moved = replace(path, target)
        if where == "after" and saves[0] == number:
            die()
        return moved

    Path.write_bytes, Path.replace = write_some, move  # type: ignore[method-assign, assignment]


def make(order: dict[str, Any]) -> None:
    if order["in_save"] is not None:
        die_in_save(*order["in_save"])
    CALLS[order["call"]](
        order["count"], checkpoint=order["path"], progress=lambda *_: time.sleep(0.002)
    )


@cache
def load_kernels(call: str) -> None:
    """Once, for all processes."""
    CALLS[call]()


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


def main() -> None:
    set_up()
    for line in sys.stdin:
        order = json.loads(line)
        load_kernels(order["call"])
        process = os.fork()
        if process == 0:
            make(order)
            os._exit(0)
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) * -1, flush=True)


if __name__ == "__main__":
    main()
