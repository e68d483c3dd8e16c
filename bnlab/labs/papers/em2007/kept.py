"""The long runs that come with the package, and how they were made."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers.em2007.cases import synthetic
from bnlab.labs.papers.em2007.cells import consensus, edges, every_fold_ignoring
from bnlab.labs.papers.em2007.discovery import Found, discover
from bnlab.labs.papers.em2007.forecasts import FOLDS, Forecast, forecast, without_chains

Array = NDArray[np.number[Any]]
Arrays = Mapping[str, Array]

DATA_SETS = 10  # of the child structure, and synthetic networks
DRAWS = 2000  # of each chain
RUNS = 5  # chains of each sampler for one fold
KEYS = {"synthetic": 6, "tic-tac-toe": 7, "cells": 8}
"""Data sets of the predictions: figures 6, 7 (a stand-in) and 8."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kept:
    """Arrays by name; `saved()` reads them, `made` computes them again.

    Examples
    --------
    >>> saved()
    Kept(10 data sets of child; predictions of synthetic, tic-tac-toe, cells)
    """

    arrays: Arrays

    def __repr__(self) -> str:
        known = [name for name in KEYS if f"{name} curves" in self.arrays]
        found = len(self.arrays["child dp"]) if "child dp" in self.arrays else 0
        return f"Kept({found} data sets of child; predictions of {', '.join(known)})"

    def found(self) -> Found:
        """Areas of figures 4 and 5, each array with the data sets in front.

        Examples
        --------
        >>> saved().found().by_chain.shape
        (10, 5, 10, 2)
        """
        return Found(*(self.arrays[f"child {part}"].astype(np.float64) for part in Found._fields))

    def forecast(self, name: str, /) -> Forecast:
        """All ten folds of one of KEYS.

        Examples
        --------
        >>> saved().forecast("cells").curves.shape
        (10, 5, 5, 7)
        """
        parts = ("curves", "plain", "dp", "setup", "seconds")
        return Forecast(*(self.arrays[f"{name} {part}"].astype(np.float64) for part in parts))

    def networks(self) -> NDArray[np.float64]:
        """Predictions without chains of ten synthetic networks, (10, folds, methods of PLAIN).

        Examples
        --------
        >>> saved().networks().shape
        (10, 10, 4)
        """
        return self.arrays["networks plain"].astype(np.float64)

    def cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Edge probabilities (3, 11, 11), as `cells.edges`, and predictions (10,) that ignore.

        Examples
        --------
        >>> [part.shape for part in saved().cells()]
        [(3, 11, 11), (10,)]
        """
        edges, ignored = self.arrays["cells edges"], self.arrays["cells ignored"]
        return edges.astype(np.float64), ignored.astype(np.float64)


@cache
def saved() -> Kept:
    """The long runs: `made("child") | made("synthetic") | ...`, rounded to single precision.

    Examples
    --------
    >>> saved().found().dp.shape
    (10,)
    """
    with as_file(files("bnlab.labs.papers.em2007") / "long.npz") as path, np.load(path) as kept:
        return Kept({name: kept[name] for name in kept.files})


def made(part: str, /) -> dict[str, Array]:
    """One part of the arrays of `saved()`: "child", "networks" or one of KEYS, in minutes.

    Raises
    ------
    ValueError
        For any other name.

    Examples
    --------
    >>> made("adult")
    Traceback (most recent call last):
        ...
    ValueError: no part 'adult'; there are child, networks, synthetic, tic-tac-toe, cells
    """
    if part == "child":
        columns = zip(*(discover(i, draws=DRAWS) for i in range(DATA_SETS)), strict=True)
        return {
            f"child {name}": np.array(column, np.float32)
            for name, column in zip(Found._fields, columns, strict=True)
        }
    if part == "networks":
        plain = [without_chains(synthetic(i)[1], KEYS["synthetic"]) for i in range(DATA_SETS)]
        return {"networks plain": np.array(plain, np.float32)}
    if part not in KEYS:
        raise ValueError(f"no part {part!r}; there are child, networks, {', '.join(KEYS)}")
    data = rows(part)
    found = forecast(data, range(FOLDS), runs=RUNS, key=KEYS[part], dp=range(FOLDS))
    names = ("curves", "plain", "dp", "setup", "seconds")
    out = {f"{part} {name}": getattr(found, name).astype(np.float32) for name in names}
    if part == "cells":
        out["cells edges"] = edges(data).astype(np.float32)
        out["cells network"] = consensus()
        out["cells ignored"] = every_fold_ignoring(data, KEYS[part]).astype(np.float32)
    return out


def rows(part: str, /) -> bn.Data:
    """The data of one of KEYS; those of the cells are a file, see `load_dataset`.

    Examples
    --------
    >>> rows("synthetic").m
    1500
    """
    if part == "synthetic":
        return synthetic(0)[1]
    return bn.load_dataset({"tic-tac-toe": "tic_tac_toe", "cells": "sachs"}[part])
