"""What the labs compute of: data sets, or a table of the reader's own; and names of types.

What a lab computes of a data set it computes of a `Case`: a name, or a table of the reader's own.
Results are kept, by the name or by the table itself.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import ipywidgets as widgets

import bnlab as bn
from bnlab.labs.board import choice

Schedule = bn.Linear | bn.Harmonic
SCHEDULES: Mapping[str, type[Schedule]] = {"linear": bn.Linear, "harmonic": bn.Harmonic}

Case = str | bn.Data
"""A data set by name, or a table of the reader's own."""

DATASETS = ("coronary", "wine", "tic-tac-toe")
"""Data sets of 6, 13 and 10 variables; all of them work without a network."""

OWN = "your table"


def title(case: Case, /) -> str:
    """Return what captions call a case."""
    return case if isinstance(case, str) else OWN


@cache
def rows(case: Case, /) -> bn.Data:
    """Return all rows of a case."""
    return bn.load_dataset(case.replace("-", "_")) if isinstance(case, str) else case


@cache
def bdeu_table(case: Case, /) -> bn.ScoreTable:
    """Return the BDeu scores of families of at most three parents, ess 1, each DAG alike."""
    return bn.score_families(rows(case), bn.BDeu(1.0), max_parents=3)


@cache
def k2_posterior(case: Case, /) -> bn.OrderPosterior:
    """Return the posterior as in Table 1 of [HeTianWu2016]: K2, Fair prior, at most 5 parents."""
    table = bn.score_families(rows(case), bn.K2(), max_parents=5, prior=bn.Fair())
    return bn.order_posterior(table)


def dataset_choice(
    offered: Sequence[str], data: Any = None, value: str | None = None, *, label: str = "data set"
) -> widgets.Dropdown:
    """Return the list of the data sets offered, or, not shown, the reader's own table alone."""
    if data is None:
        return choice(label, offered, value)
    out = choice(label, [OWN])
    out.options = [(OWN, data)]
    out.layout.display = "none"
    return out
