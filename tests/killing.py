"""Runs that are killed: a program that begins them in processes of their own, quickly.

It reads lines of JSON, {"call": ..., "path": ..., "count": ..., "in_save": ...}, forks a process
that makes this call of CALLS below, tells its number, and in the end its exit status.
"""

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
import numpy as np

import bnlab as bn

SEARCHES = ("bnlab.search.climbing.ROUND", "bnlab.search.shotgun.ROUND")
BLOCKS = {name: 1 for name in (*calls.SMALL_BLOCKS, *SEARCHES)}
NOT_RESUMED = {"exact orders"}  # independent draws
RESUMED = [
    name
    for name, call in calls.CALLS.items()
    if "checkpoint" in call.sampler.__annotations__ and name not in NOT_RESUMED
]


def ellis_wong(count: int = 40, **options: Any) -> bn.Draws:
    posterior, rng = bn.order_posterior(calls.table(7)), np.random.default_rng(9)
    orders = bn.sample_orders(posterior, draws=count, rng=rng)
    return bn.ellis_wong_dags(orders, table=posterior.table, eps=0.5, rng=rng, **options)


def coins(train: bn.Data, test: bn.Data) -> np.ndarray:
    return np.log(np.where(test.values[:, 0] == 0, 0.2, 0.8)) / train.m


def validation(count: int = 40, **options: Any) -> bn.predict.CrossValidation:
    rng = np.random.default_rng(9)
    data = bn.Data.from_arrays(rng.integers(0, 2, size=(count, 2)), arities=[2, 2])
    return bn.predict.cross_validate(data, {"coins": coins}, folds=count, rng=rng, **options)


def climbs(count: int = 40, **options: Any) -> bn.Climb:
    return bn.hill_climb(calls.five(), restarts=count, rng=np.random.default_rng(9), **options)


def perturbed_climbs(count: int = 40, **options: Any) -> bn.Climb:
    def perturbed(share: float, rng: np.random.Generator) -> bn.ScoreTable:
        return bn.score_families(bn.resampled(seen, share, rng=rng), bn.BDeu(), max_parents=2)

    rng = np.random.default_rng(9)
    seen = bn.Data.from_arrays(rng.integers(0, 2, size=(30, 5)))
    return bn.climb_perturbed(perturbed(0.0, rng), perturbed, rounds=count, rng=rng, **options)


def shots(count: int = 40, **options: Any) -> bn.FoundDags:
    rng = np.random.default_rng(9)
    return bn.shotgun_search(calls.five(), steps=count, keep=50, rng=rng, **options)


def mixture(count: int = 40, **options: Any) -> bn.TreeMixture:
    rng = np.random.default_rng(9)
    seen = bn.Data.from_arrays(rng.integers(0, 2, size=(30, 5)))
    settings = {"components": 2, "restarts": count, "max_iterations": 9}
    return bn.fit_tree_mixture(seen, **settings, rng=rng, **options)


OTHERS = {
    "Ellis-Wong": ellis_wong,
    "cross-validation": validation,
    "climbs": climbs,
    "climbs on perturbed data": perturbed_climbs,
    "shotgun": shots,
    "mixture": mixture,
}
CALLS = {**{name: calls.CALLS[name] for name in RESUMED}, **OTHERS}


def arrays(result: Any) -> dict[str, np.ndarray]:
    """All the numbers of a result, by name."""
    if isinstance(result, bn.predict.CrossValidation):
        return {"log_density": result.log_density, "fold": result.fold}
    if isinstance(result, bn.Climb | bn.FoundDags | bn.TreeMixture):
        found = {name: getattr(result, name) for name in {*result.__slots__} - {"names", "run"}}
        trees = found.pop("networks", ())
        found |= {f"table {i}": t for i, t in enumerate(t for net in trees for t in net.tables)}
        return {name: np.array(part) for name, part in found.items()}
    return calls.arrays(result)


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
    for setting, value in BLOCKS.items():
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
