"""Posterior means of the tables of families, with the pseudo-counts of a score."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.checks import shown
from bnlab.data import Data
from bnlab.kernels import prediction as kernels
from bnlab.scores import Score

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE_CELLS = 1 << 20  # of larger families no table of counts is made


class Tables(NamedTuple):
    """Data and a score, which together give each family its posterior mean table.

    Attributes
    ----------
    arities : (n,)
    columns : for each node the rows that count for it, those without an intervention on it: (n, m)
    score : Score with pseudo-counts
    """

    arities: Ints
    columns: list[Codes]
    score: Score

    def log_means(self, v: int, families: Ints, rows: Codes, /) -> Floats:
        """ln of the mean probability of x_v given its parents, (F, t), nats.

        families (F,): parent masks of v; rows (n, t) without missing cells in the families.
        """
        nodes = np.arange(self.arities.size, dtype=np.int64)
        chosen = (families[:, None] >> nodes) & 1 == 1
        cells = np.where(chosen, self.arities, 1.0).prod(axis=1)
        r = int(self.arities[v])
        pseudo_counts = np.stack(
            [self.score.cell_counts(cells * r), self.score.parent_counts(cells, r)]
        )
        counts = np.zeros(int(min(DENSE_CELLS, r * cells.max())), np.int32)
        out = np.empty((families.size, rows.shape[1]))
        kernels.log_means(
            v, families, self.columns[v], rows, self.arities, pseudo_counts, counts, out
        )
        return out


def posterior_tables(data: Data, score: Score, /) -> Tables:
    """The tables of all families, given data and a score with pseudo-counts.

    Raises
    ------
    ValueError
        If the score has no pseudo-counts, as BIC.
    """
    check_score(score)
    columns = np.array(data.values.T, order="C")
    if data.intervened is None:
        return Tables(data.arities, [columns] * data.n, score)
    observed = ~data.intervened
    return Tables(
        data.arities,
        [np.ascontiguousarray(columns[:, observed[:, v]]) for v in range(data.n)],
        score,
    )


def check_score(score: Score, /) -> None:
    """Raise a ValueError unless the score has pseudo-counts."""
    if not (score.cell_counts(np.array([2.0])) > 0).all():
        raise ValueError(
            f"score={shown(score)} has no pseudo-counts, so no posterior of the parameters: pass "
            "BDeu or K2"
        )
