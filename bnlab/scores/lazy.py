"""`LazyScores`: families that are scored when a search first asks for them."""

import math
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checkpoints import fingerprint
from bnlab.checks import Floats, Natural, checked, frozen
from bnlab.data import Data
from bnlab.graphs import check_dags
from bnlab.kernels import counting, lazy_scores as kernels
from bnlab.priors import Prior, Uniform
from bnlab.scores.discrete import Score
from bnlab.scores.families import FEWER_FAMILIES, log_priors
from bnlab.scores.table import ScoreTable, family_count

Source = tuple[tuple[NDArray[np.generic], ...], ...]

MOST_CELLS = 1 << 22  # of one family


@frozen(repr=False)
class LazyScores:
    """Scores of families of up to `max_parents` parents, each counted when it is first asked for.

    For one quick search of many variables and rows: `hill_climb` asks for few of the families. A
    `ScoreTable` has all of them, and serves all methods.

    Attributes
    ----------
    data : Data, m rows of n variables, without interventions
    score : as for `score_families`
    max_parents : more than n - 1 is the same as n - 1
    prior : structure prior, `Uniform()` by default

    Raises
    ------
    ValueError
        If max_parents is negative, there are interventions, a family has more than 4,194,304
        cells, or memory is short.

    Examples
    --------
    >>> from bnlab import BDeu
    >>> scores = LazyScores(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> log_target = scores.log_target([0, 1])
    >>> scores
    LazyScores(2 variables, up to 1 parents, 2 of 4 families scored)
    """

    data: Data
    score: Score
    max_parents: Natural = 3
    prior: Prior = Uniform()
    source: Source = field(init=False)

    def __post_init__(self) -> None:
        data = self.data
        if data.intervened is not None:
            raise ValueError("the data have interventions: score_families counts those")
        n, k = data.n, min(self.max_parents, data.n - 1)
        arities = np.sort(data.arities)[::-1]
        if math.prod(map(int, arities[: k + 1])) > MOST_CELLS:
            raise ValueError(
                f"families of {k} parents can have more than {MOST_CELLS:,} cells: use "
                "score_families, or lower max_parents"
            )
        shape = (n, family_count(n, k))
        memory.require(
            27 * shape[0] * shape[1] + 8 * _words(data) * int(arities.sum()),
            task=f"room for all families of up to {k} parents of n={n} variables",
            remedy=FEWER_FAMILIES,
        )
        log_phi, parents = np.full(shape, np.nan), np.empty(shape, np.int64)
        counting.family_masks(n, k, parents)
        log_prior = log_priors(self.prior, parents, data.names)
        log_phi[np.isneginf(log_prior)] = -math.inf
        families = log_phi, counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
        object.__setattr__(self, "max_parents", k)
        object.__setattr__(self, "source", (families, _counts(data, self.score, k, log_prior)))

    def __reduce__(self) -> tuple[object, ...]:
        return LazyScores, (self.data, self.score, self.max_parents, self.prior)

    def __repr__(self) -> str:
        log_phi = self.source[0][0]
        return (
            f"LazyScores({self.n} variables, up to {self.max_parents} parents, "
            f"{int((~np.isnan(log_phi)).sum())} of {log_phi.size} families scored)"
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.data.n

    @property
    def names(self) -> tuple[str, ...]:
        """The n variable names."""
        return self.data.names

    @property
    def fingerprint(self) -> str:
        """A digest of what is counted and how, for checkpoints."""
        return fingerprint(*self.source[1])

    def log_target(self, dags: ArrayLike, /) -> Floats:
        """Return ln of prior factor times likelihood of DAGs (..., n), as `ScoreTable.log_target`.

        Examples
        --------
        >>> from bnlab import BDeu
        >>> scores = LazyScores(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> scores.log_target([[0, 0], [0, 1]]).round(3)
        array([-4.159, -3.466])
        """
        masks = check_dags(dags)
        if masks.shape[-1] != self.n:
            raise ValueError(f"DAGs of {masks.shape[-1]} nodes for {self.n} variables")
        flat = masks.reshape(-1, self.n)
        out = np.empty(len(flat))
        kernels.log_targets(self.source, flat, out)
        return out.reshape(masks.shape[:-1])


@checked
def family_source(scores: ScoreTable | LazyScores, /) -> Source:
    """What searches look families up in: (families, counts) as in `kernels.lazy_scores`."""
    if isinstance(scores, LazyScores):
        return scores.source
    n, k = scores.n, scores.max_parents
    families = scores.log_phi, counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
    none, nothing = np.empty((0, 0)), np.empty(0, np.int64)
    rows = np.empty((0, 0), np.int32), np.empty((0, 0), np.uint64), nothing
    return families, (*rows, nothing, none, np.empty(0), none, none, none)


def _counts(data: Data, score: Score, k: int, log_prior: Floats) -> tuple[NDArray[np.generic], ...]:
    """What `kernels.lazy_scores` counts from."""
    n, arities = data.n, np.array(data.arities)
    cells = np.empty(counting.first_ranks(n, k)[k + 1])
    counting.clique_cells(arities, k, cells)
    sizes = np.unique(cells)
    pseudo_counts, penalties = np.empty((2, sizes.size, n)), np.empty((sizes.size, n))
    for v, r in enumerate(map(int, arities)):
        pseudo_counts[:, :, v] = score.cell_counts(sizes * r), score.parent_counts(sizes, r)
        penalties[:, v] = score.penalty(data.m, sizes * (r - 1))
    if not (
        np.isfinite(penalties).all()
        and ((pseudo_counts > 0) | (pseudo_counts == counting.LIKELIHOOD)).all()
    ):  # nan marks what is not scored yet
        raise ValueError(f"score={score!r}: pseudo-counts are positive, and penalties finite")
    columns = np.array(data.values.T, order="C")
    first = np.cumsum(arities) - arities
    words = np.zeros((int(arities.sum()), _words(data)), np.uint64)
    kernels.set_bits(columns, first, words)
    source = columns, words, first, arities, log_prior, sizes
    return *source, *pseudo_counts, penalties


def _words(data: Data) -> int:
    """Words of 64 bits for the rows of one state."""
    return -(-data.m // 64)
