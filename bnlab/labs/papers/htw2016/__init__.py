"""The code behind notebooks/papers/htw2016.ipynb: section 4 of [HeTianWu2016]."""

from bnlab.labs.board import setup
from bnlab.labs.papers.htw2016.cases import Case, at_hand, case, dags
from bnlab.labs.papers.htw2016.guarantee import CURVE, SETTINGS, draws_for, misses
from bnlab.labs.papers.htw2016.long_runs import Kept, kept, make
from bnlab.labs.papers.htw2016.methods import METHODS, Trial, global_chain, trials
from bnlab.labs.papers.htw2016.nonmodular import (
    BESTS,
    FEATURES,
    MEANINGS,
    SAMPLERS,
    SIZES,
    beaten,
    errors,
    estimate,
    exact,
    probabilities,
    small,
)
from bnlab.labs.papers.htw2016.pictures import figure_features, figure_table_1
from bnlab.labs.papers.htw2016.printed import (
    NAMES,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_3_DP,
    TABLE_3_MASS,
    TABLE_4,
)
from bnlab.labs.papers.htw2016.tables import (
    spread,
    table_1,
    table_3,
    table_3_mass,
    times,
    verdict,
)
from bnlab.labs.papers.htw2016.ties import tied

__all__ = [
    "BESTS",
    "CURVE",
    "FEATURES",
    "MEANINGS",
    "METHODS",
    "NAMES",
    "SAMPLERS",
    "SETTINGS",
    "SIZES",
    "TABLE_1",
    "TABLE_2",
    "TABLE_3",
    "TABLE_3_DP",
    "TABLE_3_MASS",
    "TABLE_4",
    "Case",
    "Kept",
    "Trial",
    "at_hand",
    "beaten",
    "case",
    "dags",
    "draws_for",
    "errors",
    "estimate",
    "exact",
    "figure_features",
    "figure_table_1",
    "global_chain",
    "kept",
    "make",
    "misses",
    "probabilities",
    "setup",
    "small",
    "spread",
    "table_1",
    "table_3",
    "table_3_mass",
    "tied",
    "times",
    "trials",
    "verdict",
]
