"""The code behind notebooks/papers/stat521a.ipynb: the figures of a lecture on structure search."""

from bnlab.labs.board import setup
from bnlab.labs.papers.stat521a import (
    cells,
    chains,
    discovery,
    equivalence,
    forecasts,
    learning,
    pictures,
    searches,
    sets,
)
from bnlab.labs.papers.stat521a.kept import PARTS, made
from bnlab.labs.papers.stat521a.stored import stored
from bnlab.labs.papers.stat521a.world import alarm, alarm_rows, alarm_table

__all__ = [
    "PARTS",
    "alarm",
    "alarm_rows",
    "alarm_table",
    "cells",
    "chains",
    "discovery",
    "equivalence",
    "forecasts",
    "learning",
    "made",
    "pictures",
    "searches",
    "sets",
    "setup",
    "stored",
]
