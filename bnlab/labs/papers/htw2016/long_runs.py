"""The long runs, as kept in long.json beside this file; `make` writes it anew (ten minutes)."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.labs.papers.htw2016.cases import case, dags
from bnlab.labs.papers.htw2016.guarantee import CURVE, LONG_RUNS, draws_for, misses
from bnlab.labs.papers.htw2016.methods import LONG, METHODS, RUNS, Trial, trials
from bnlab.labs.papers.htw2016.printed import NAMES

GUARDED = "tic_tac_toe"  # the data set of section 4.4


@dataclass(frozen=True, slots=True)
class Kept:
    """All long runs.

    Attributes
    ----------
    trials : (data set, method) -> its runs
    bias : data set -> SAD between the exact edges under the two priors
    seconds : data set -> processor time of the dynamic programs: over orders for the K2 score, over
        orders for BDeu, over DAGs for BDeu
    rates : eps -> share of runs that miss, (sizes, edges): CURVE for 0.02, one size for 0.01
    """

    trials: dict[tuple[str, str], list[Trial]]
    bias: dict[str, float]
    seconds: dict[str, list[float]]
    rates: dict[float, np.ndarray[Any, np.dtype[np.float64]]]


@cache
def kept() -> Kept:
    """The long runs that come with the package.

    Examples
    --------
    >>> len(kept().trials["wine", "IW-DDS"])
    20
    """
    text = (files("bnlab.labs.papers.htw2016") / "long.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return Kept(
        {
            (name, method): [Trial(*values) for values in runs]
            for name, methods in found["trials"].items()
            for method, runs in methods.items()
        },
        found["bias"],
        found["seconds"],
        {float(eps): np.array(rates) for eps, rates in found["rates"].items()},
    )


def make(path: Path, /, names: Sequence[str] = NAMES) -> None:
    """Write the long runs to a file; all files of data must be at hand."""
    out: dict[str, Any] = {"trials": {}, "bias": {}, "seconds": {}, "rates": {}}
    for name in names:
        given = case(name)
        exact = dags(name)
        out["seconds"][name] = [_time(given.by_k2), _time(given.by_bdeu), exact.run.seconds]
        out["bias"][name] = bn.diagnostics.sad(given.by_bdeu.edges, exact.edges)
        out["trials"][name] = {
            method: [[_short(run.sad), _short(run.mass), _short(run.seconds)] for run in runs]
            for method, runs in ((method, _runs(name, method)) for method in METHODS)
        }
    sizes = {0.02: list(CURVE), 0.01: [draws_for(0.01)]}
    for eps, runs in LONG_RUNS.items():
        out["rates"][str(eps)] = misses(GUARDED, eps, sizes[eps], runs=runs).round(4).tolist()
    path.write_text(json.dumps(out) + "\n", encoding="utf-8")


def _runs(name: str, method: str) -> list[Trial]:
    return trials(name, method, runs=min(RUNS[method], LONG.get(name, RUNS[method])))


def _time(exact: bn.OrderPosterior) -> float:
    start = time.process_time()
    bn.order_posterior(exact.table)
    return time.process_time() - start


def _short(value: float) -> float:
    return float(f"{value:.6g}")
