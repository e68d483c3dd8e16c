"""Tables of discrete data: the `Data` type, readers, discretizing, and known data sets."""

from bnlab.data.datasets import list_datasets as list_datasets, load_dataset as load_dataset
from bnlab.data.discretizing import (
    CutPoints as CutPoints,
    Discretized as Discretized,
    Discretizer as Discretizer,
    EqualFrequency as EqualFrequency,
    EqualWidth as EqualWidth,
    Intervals as Intervals,
    discretize as discretize,
)
from bnlab.data.reader import read_csv as read_csv
from bnlab.data.table import AnyCells as AnyCells, Data as Data, Gapped as Gapped
