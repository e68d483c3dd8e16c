"""Local scores of families, the table of all of them, and score files."""

from bnlab.scores.families import (
    LazyScores as LazyScores,
    Source as Source,
    family_source as family_source,
    log_scores as log_scores,
    score_families as score_families,
    score_parts as score_parts,
    scoring_bytes as scoring_bytes,
)
from bnlab.scores.knowledge import (
    Edges as Edges,
    Tiers as Tiers,
    by_name as by_name,
    edge_masks as edge_masks,
    read_knowledge as read_knowledge,
)
from bnlab.scores.local import (
    AIC as AIC,
    BIC as BIC,
    K2 as K2,
    AnyData as AnyData,
    AnyScore as AnyScore,
    BDeu as BDeu,
    BGe as BGe,
    ConditionalGaussian as ConditionalGaussian,
    LogLikelihood as LogLikelihood,
    Score as Score,
)
from bnlab.scores.table import (
    ScoreTable as ScoreTable,
    allowed_order as allowed_order,
    array_bytes as array_bytes,
    family_count as family_count,
    first_dags as first_dags,
    read_scores as read_scores,
    write_scores as write_scores,
)
