"""The whole way from a file to an answer: what was read, which method fits, and what it found."""

from bnlab.data.reader import (
    ColumnReading as ColumnReading,
    Reading as Reading,
    read_table as read_table,
)
from bnlab.reports.analysis import Analysis as Analysis, analyse as analyse
from bnlab.reports.answers import Credible as Credible
from bnlab.reports.planning import Plan as Plan, choose_method as choose_method
from bnlab.reports.sensitivity import Sensitivity as Sensitivity, sensitivity as sensitivity
