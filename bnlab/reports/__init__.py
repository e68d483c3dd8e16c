"""The whole way from a file to an answer: what was read, which method fits, and what it found."""

from bnlab.data.reader import ColumnReading, Reading, read_table
from bnlab.reports.analysis import Analysis, analyse
from bnlab.reports.answers import Credible
from bnlab.reports.planning import Plan, choose_method
from bnlab.reports.sensitivity import Sensitivity, sensitivity

__all__ = [
    "Analysis",
    "ColumnReading",
    "Credible",
    "Plan",
    "Reading",
    "Sensitivity",
    "analyse",
    "choose_method",
    "read_table",
    "sensitivity",
]
