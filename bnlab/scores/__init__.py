"""Local scores of families, the table of all of them, and score files."""

from bnlab.scores.discrete import AIC, BIC, K2, BDeu, LogLikelihood, Score
from bnlab.scores.families import (
    LazyScores,
    Source,
    family_source,
    log_scores,
    score_families,
    score_parts,
    scoring_bytes,
)
from bnlab.scores.gaussian import AnyData, AnyScore, BGe, ConditionalGaussian
from bnlab.scores.knowledge import Edges, Tiers, by_name, edge_masks, read_knowledge
from bnlab.scores.table import (
    ScoreTable,
    allowed_order,
    array_bytes,
    family_count,
    first_dags,
    read_scores,
    write_scores,
)

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "AnyData",
    "AnyScore",
    "BDeu",
    "BGe",
    "ConditionalGaussian",
    "Edges",
    "LazyScores",
    "LogLikelihood",
    "Score",
    "ScoreTable",
    "Source",
    "Tiers",
    "allowed_order",
    "array_bytes",
    "by_name",
    "edge_masks",
    "family_count",
    "family_source",
    "first_dags",
    "log_scores",
    "read_knowledge",
    "read_scores",
    "score_families",
    "score_parts",
    "scoring_bytes",
    "write_scores",
]
