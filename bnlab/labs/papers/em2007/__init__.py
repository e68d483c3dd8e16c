"""The code behind notebooks/papers/em2007.ipynb: figures 1 to 9 of [EatonMurphy2007]."""

from bnlab.labs.board import setup
from bnlab.labs.papers.em2007 import cells
from bnlab.labs.papers.em2007.cases import Case, case, child, strong_tables, synthetic
from bnlab.labs.papers.em2007.convergence import (
    STOPS,
    counted_edges_at,
    edges_at,
    ellis_edges_at,
    sad,
)
from bnlab.labs.papers.em2007.discovery import KINDS, Found, areas, discover, skeleton_auc
from bnlab.labs.papers.em2007.forecasts import (
    PLAIN,
    Forecast,
    forecast,
    late_orders,
    margin,
    split,
    without_chains,
)
from bnlab.labs.papers.em2007.kept import KEYS, Kept, made, rows, saved
from bnlab.labs.papers.em2007.misprint import Limits, limits, proposal
from bnlab.labs.papers.em2007.pictures import (
    convergence,
    discovery,
    errors,
    figure_1,
    predictions,
    traces,
)
from bnlab.labs.papers.em2007.walks import SAMPLERS, Walk, walk

__all__ = [
    "KEYS",
    "KINDS",
    "PLAIN",
    "SAMPLERS",
    "STOPS",
    "Case",
    "Forecast",
    "Found",
    "Kept",
    "Limits",
    "Walk",
    "areas",
    "case",
    "cells",
    "child",
    "convergence",
    "counted_edges_at",
    "discover",
    "discovery",
    "edges_at",
    "ellis_edges_at",
    "errors",
    "figure_1",
    "forecast",
    "late_orders",
    "limits",
    "made",
    "margin",
    "predictions",
    "proposal",
    "rows",
    "sad",
    "saved",
    "setup",
    "skeleton_auc",
    "split",
    "strong_tables",
    "synthetic",
    "traces",
    "walk",
    "without_chains",
]
