"""Local scores of families, the table of all of them, and score files."""

from bnlab.scores.discrete import AIC, BIC, K2, BDeu, LogLikelihood, Score
from bnlab.scores.families import score_families, score_parts, scoring_bytes
from bnlab.scores.files import read_scores, write_scores
from bnlab.scores.gaussian import AnyData, AnyScore, BGe, ConditionalGaussian
from bnlab.scores.lazy import LazyScores, Source, family_source
from bnlab.scores.table import ScoreTable, allowed_order, array_bytes, family_count, first_dags

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "AnyData",
    "AnyScore",
    "BDeu",
    "BGe",
    "ConditionalGaussian",
    "LazyScores",
    "LogLikelihood",
    "Score",
    "ScoreTable",
    "Source",
    "allowed_order",
    "array_bytes",
    "family_count",
    "family_source",
    "first_dags",
    "read_scores",
    "score_families",
    "score_parts",
    "scoring_bytes",
    "write_scores",
]
