"""The three data sets of the paper, or stand-ins of the same shape where a file is missing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import bnlab as bn

SEED = 2013
NAMES = ("MUSHROOM", "ALARM", "PROMOTERS")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A data set with its scores: BDeu, equivalent sample size 1, prior factor 1.

    Attributes
    ----------
    name : as the paper calls it
    real : whether it is the paper's source, and not a stand-in
    source : where the rows come from, or which file is missing and where to put it
    data : Data
    table : ScoreTable
    """

    name: str
    real: bool
    source: str
    data: bn.Data
    table: bn.ScoreTable

    @property
    def m(self) -> int:
        """Number of rows.

        Examples
        --------
        >>> case("ALARM").m
        100
        """
        return self.data.m

    @property
    def label(self) -> str:
        """The name, and whether it is a stand-in, for titles.

        Examples
        --------
        >>> case("ALARM").label.startswith("ALARM")
        True
        """
        return self.name if self.real else f"{self.name} (stand-in)"

    def __repr__(self) -> str:
        kind = "" if self.real else ", a stand-in"
        size = f"n={self.table.n}, m={self.m}, k={self.table.max_parents}"
        return f"{self.name}{kind}: {size}. {self.source}"


@cache
def case(name: str, /) -> Case:
    """One of the paper's data sets, scored; a stand-in where its file cannot be had.

    Parameters
    ----------
    name : one of NAMES

    Raises
    ------
    ValueError
        For any other name, or when a file has other bytes than expected.

    Examples
    --------
    >>> case("ALARM").table.n, case("ALARM").m
    (37, 100)
    """
    if name not in NAMES:
        raise ValueError(f"no data set {name!r}; there are {', '.join(NAMES)}")
    real, stand_in, max_parents = _SOURCES[name]
    try:
        data, source = real()
        found = True
    except (FileNotFoundError, ModuleNotFoundError) as error:
        data, source = stand_in()
        source, found = f"{source} Why: {error}", False
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=max_parents)
    return Case(name, found, source, data, table)


Source = tuple[bn.Data, str]


def _mushroom() -> Source:
    data = bn.load_dataset("mushroom").subsample(1000, np.random.default_rng(SEED))
    return data, "1,000 of the 8,124 rows of UCI 73, drawn with a seed."


def _mushroom_stand_in() -> Source:
    return _of_network(bn.random_network("child", np.random.default_rng(SEED)), 1000), (
        "1,000 rows from the structure of the network child with random tables."
    )


def _alarm() -> Source:
    return _of_network(bn.load_network("alarm"), 100), "100 rows from the published network."


def _alarm_stand_in() -> Source:
    return _of_network(bn.random_network("alarm", np.random.default_rng(SEED)), 100), (
        "100 rows from the structure of the network alarm with random tables."
    )


def _promoters() -> Source:
    return bn.load_dataset("promoters"), "All rows of UCI 67."


def _promoters_stand_in() -> Source:
    rng = np.random.default_rng(SEED)
    values = np.column_stack([rng.integers(0, 2, 106), rng.integers(0, 4, (106, 57))])
    return bn.Data.from_arrays(values, arities=[2] + [4] * 57), "106 rows of random letters."


def _of_network(network: bn.BayesNet, m: int) -> bn.Data:
    return network.sample(m, np.random.default_rng(SEED))


_SOURCES: dict[str, tuple[Callable[[], Source], Callable[[], Source], int]] = {
    "MUSHROOM": (_mushroom, _mushroom_stand_in, 4),
    "ALARM": (_alarm, _alarm_stand_in, 3),
    "PROMOTERS": (_promoters, _promoters_stand_in, 3),
}
