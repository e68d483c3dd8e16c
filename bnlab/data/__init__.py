"""Tables of discrete data: the `Data` type, readers, discretizing, and known data sets."""

from bnlab.data.datasets import list_datasets, load_dataset
from bnlab.data.discretizing import (
    CutPoints,
    Discretized,
    Discretizer,
    EqualFrequency,
    EqualWidth,
    Intervals,
    discretize,
)
from bnlab.data.reader import read_csv
from bnlab.data.table import AnyCells, Data, Gapped

__all__ = [
    "AnyCells",
    "CutPoints",
    "Data",
    "Discretized",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "Gapped",
    "Intervals",
    "discretize",
    "list_datasets",
    "load_dataset",
    "read_csv",
]
