"""The arrays that come with the package: what a page without files and network cannot make."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@cache
def stored() -> Mapping[str, Array]:
    """Arrays by name; `made` computes each part again.

    "alarm ..." is the published network ALARM; "cells ..." are scores of rows of a file that is not
    part of the package, and results from them; "child ..." are runs of some minutes.

    Examples
    --------
    >>> sorted(stored())[:3]
    ['alarm arities', 'alarm dag', 'alarm names']
    """
    with as_file(files("bnlab.labs.papers.stat521a") / "long.npz") as path, np.load(path) as kept:
        return MappingProxyType({name: kept[name] for name in kept.files})
