"""What makes a report again: the whole command, and what a killed one needs to go on."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bnlab.cli import choices

if TYPE_CHECKING:
    from bnlab.checkpoints import Arrays, Checkpoint
    from bnlab.data import Data
    from bnlab.reports import Plan

SILENT = ("--quiet", "--open", "--debug")  # of no effect on the page
KEPT_IN = "--checkpoint"  # nor has this, with the file that follows


def words(typed: list[str], /) -> list[str]:
    """What was typed, without what has no effect on the page."""
    return [
        word
        for before, word in zip(["", *typed], typed, strict=False)
        if word.partition("=")[0] not in (*SILENT, KEPT_IN) and before != KEPT_IN
    ]


def command(typed: list[str], seed: int, plan: Plan, /) -> str:
    """The command that makes the page again, on any machine.

    It is as it was typed, and what was left open: the seed, which was drawn, and the method and the
    number of parents, for which the free memory was looked at.
    """
    said = words(typed)
    names = [word.partition("=")[0] for word in said]
    method = next(name for name, method in choices.METHODS.items() if method == plan.method)
    found = {"--seed": seed, "--method": method, "--max-parents": plan.max_parents}
    for name, value in found.items():
        if name not in names:
            said += [name, str(value)]
    return shlex.join(["bnlab", *said])


def plan_file(options: argparse.Namespace, data: Data, /) -> Checkpoint | None:
    """The file beside the checkpoint for the seed and the plan of a command; None without one."""
    if options.checkpoint is None:
        return None
    from bnlab.checkpoints import Checkpoint, fingerprint
    from bnlab.results import package_versions

    identity = {
        "bnlab": package_versions()["bnlab"],
        "command": shlex.join(words(options.typed)),
        "table": fingerprint(data.values, data.arities),
    }
    return Checkpoint(f"{options.checkpoint}.plan", identity)


def keep(file: Checkpoint, seed: int, plan: Plan, /) -> None:
    """Keep the seed, which was drawn, and the plan, for which the free memory was looked at."""
    import numpy as np

    file.save({"seed": np.array(str(seed)), "plan": np.array(json.dumps(asdict(plan)))})


def kept(file: Checkpoint, /) -> tuple[int, Plan] | None:
    """The seed and the plan that the same command had before; None if it had none."""
    from bnlab.checks import check_counts
    from bnlab.reports import Plan

    def read(saved: Arrays) -> None:
        fields = json.loads(str(saved["plan"]))
        plan = Plan(**{name: _tuples(value) for name, value in fields.items()})
        check_counts(draws=plan.draws, chains=plan.chains, thin=plan.thin)
        check_counts(least=0, burn_in=plan.burn_in, max_parents=plan.max_parents)
        if plan.method not in choices.METHODS.values():
            raise ValueError(f"method={plan.method!r} is none of them")
        found.append((choices.natural(str(saved["seed"])), plan))

    found: list[tuple[int, Plan]] = []
    file.load(read)
    return found[0] if found else None


def _tuples(value: Any) -> Any:
    """What JSON made lists of, as it was."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
