"""Known data sets: `load_dataset` and `list_datasets`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bnlab.checks import checked
from bnlab.data.discretizing import CutPoints, discretize
from bnlab.data.reader import parse_table
from bnlab.data.table import Data
from bnlab.data.text import Missing, Options, read_text
from bnlab.files import RemoteFile, fetch, packaged

KNOWN, DATASETS = Path(__file__).with_name("known"), "data/known/datasets.toml"


@checked
def list_datasets() -> dict[str, str]:
    """Return the names that `load_dataset` knows, each with a line on content and source.

    Examples
    --------
    >>> sorted(list_datasets())[:3]
    ['coronary', 'german', 'iris']
    """
    return {name: known["about"] for name, known in packaged(DATASETS).items()}


@checked
def load_dataset(name: str, /, *, missing: Missing = "level") -> Data:
    """Load a known data set; `list_datasets()` names them all.

    tic_tac_toe, coronary, wine and iris are part of the package. The others are downloaded once
    into `pooch.os_cache("bnlab")` and checked by SHA-256, unless the folder named by the
    environment variable BNLAB_DATA_DIR has them.

    wine, iris, zoo and german are coded as in the cases of [HeTianWu2016]; identifiers (the
    animals of zoo), the constant veil-type of mushroom and proline in wine are left out. The rows
    come in the order of the source, often sorted by class: use `shuffled` before `prefix`.

    Parameters
    ----------
    missing : for mushroom, primary_tumor and votes, which have missing cells: "level" (default)
        keeps all rows and makes "missing" a level of its own, "drop" leaves those rows out, "keep"
        leaves the cells missing, "error" refuses.

    Raises
    ------
    ValueError
        For an unknown name, or a file with other bytes than expected.
    FileNotFoundError
        When a file has to be downloaded and cannot be; the message says where to put it.
    ModuleNotFoundError
        When a download is needed without pooch: `pip install bnlab[data]`.

    Examples
    --------
    >>> load_dataset("coronary")
    Data: 1841 rows, 6 variables with 2 states (Smoking, M. Work, P. Work, ...)
    """
    known = packaged(DATASETS).get(name)
    if known is None:
        raise ValueError(f"no data set {name!r}; there are {', '.join(packaged(DATASETS))}")
    if "file" not in known:
        return _coded(name, known["columns"])
    found = read_text(fetch(RemoteFile(**known["file"])), "utf-8")
    if name == "promoters":  # a column for each position
        lines = [line.split(",") for line in found.splitlines()]
        found = "\n".join(",".join((sign, *sequence.strip())) for sign, _, sequence in lines)
    given = {key: value for key, value in known.items() if key not in ("about", "file")}
    cuts = {column: CutPoints(points) for column, points in given.get("discretize", {}).items()}
    if "names" in given:
        given["names"] = given["names"].split()
    options = Options(**given | {"discretize": cuts, "missing": missing})
    return parse_table(found, name, options)


def _coded(name: str, columns: dict[str, list[Any]]) -> Data:
    """A table that the package holds as codes: a row of digits, and if it is more, their count."""
    lines = (KNOWN / f"{name}.txt").read_text(encoding="ascii").splitlines()
    rows = [(*line.split(), "1")[:2] for line in lines]
    codes = np.repeat([[*map(int, row)] for row, _ in rows], [int(count) for _, count in rows], 0)
    levels = [
        known if isinstance(known[0], str) else discretize([0.0], CutPoints(known)).levels
        for known in columns.values()
    ]
    return Data.from_arrays(codes, names=tuple(columns), levels=levels)
