"""Local scores of families, the table of all of them, and score files."""

from bnlab.scores.discrete import AIC, BIC, K2, BDeu, LogLikelihood, Score
from bnlab.scores.families import log_scores, score_families, score_parts, scoring_bytes
from bnlab.scores.gaussian import AnyData, AnyScore, BGe, ConditionalGaussian
from bnlab.scores.knowledge import Edges, Tiers, by_name, edge_masks, read_knowledge
from bnlab.scores.lazy import LazyScores, Source, family_source
from bnlab.scores.table import (
    ScoreTable,
    allowed_order,
    array_bytes,
    family_count,
    first_dags,
    read_scores,
    write_scores,
)
