"""The code behind notebooks/papers/nk2013.ipynb: figures 1 to 3 of [NiinimakiKoivisto2013]."""

from bnlab.labs.board import setup
from bnlab.labs.papers.nk2013.cases import NAMES, Case, case
from bnlab.labs.papers.nk2013.counting import (
    COMPONENTS,
    DAGS,
    IDEALS,
    METHODS,
    SIZES,
    count,
    figure_1,
    random_dag,
)
from bnlab.labs.papers.nk2013.curves import (
    best,
    counts,
    disagreement,
    edge_errors,
    edges,
    evidence,
    lower_bounds,
    seconds,
)
from bnlab.labs.papers.nk2013.pictures import figure_2, figure_3_right, medians, medium
from bnlab.labs.papers.nk2013.samplers import (
    LAB,
    LADDERS,
    LONG,
    RUNS,
    Plan,
    Sampler,
    annealed,
    corrected,
    coupled,
    race,
)
from bnlab.labs.papers.nk2013.small import TIC_TAC_TOE_LOG_Z, Few, few, tic_tac_toe

__all__ = [
    "COMPONENTS",
    "DAGS",
    "IDEALS",
    "LAB",
    "LADDERS",
    "LONG",
    "METHODS",
    "NAMES",
    "RUNS",
    "SIZES",
    "TIC_TAC_TOE_LOG_Z",
    "Case",
    "Few",
    "Plan",
    "Sampler",
    "annealed",
    "best",
    "case",
    "corrected",
    "count",
    "counts",
    "coupled",
    "disagreement",
    "edge_errors",
    "edges",
    "evidence",
    "few",
    "figure_1",
    "figure_2",
    "figure_3_right",
    "lower_bounds",
    "medians",
    "medium",
    "race",
    "random_dag",
    "seconds",
    "setup",
    "tic_tac_toe",
]
