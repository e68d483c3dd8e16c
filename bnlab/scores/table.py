"""`ScoreTable`: the scores of all families, which every method starts from."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.graphs import MAX_NODES, check_dags
from bnlab.kernels import counting
from bnlab.results import rebuilt

Floats = NDArray[np.float64]

LARGEST_SCORE = 1e15  # nats; anything above is a mistake, and sums of such scores lose all digits


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of all families of up to k parents, in rectangular arrays.

    Row v lists the parent sets of node v by size, then in colexicographic order;
    F = sum over i <= k of C(n - 1, i).

    Attributes
    ----------
    parents : int64 (n, F), parent masks
    log_score : float64 (n, F), nats
    log_prior : float64 (n, F), ln of the prior factor, nats; -inf marks a forbidden family
    names : the n variable names
    max_parents : k

    Raises
    ------
    ValueError
        If shapes differ, a value is nan or +inf, or a node has no family left.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> score_families(data, BDeu()).log_score.round(3)
    array([[-3.753, -1.751],
           [-3.753, -1.751]])
    """

    parents: NDArray[np.int64]
    log_score: Floats
    log_prior: Floats
    names: tuple[str, ...]
    max_parents: int

    def __post_init__(self) -> None:
        n, k = len(self.names), self.max_parents
        if not 1 <= n <= MAX_NODES or len(set(self.names)) < n or not 0 <= k < n:
            raise ValueError(
                f"{n} names (1 to {MAX_NODES}, all different) and max_parents={k} (0 to n - 1)"
            )
        shape = (n, family_count(n, k))
        for name in ("parents", "log_score", "log_prior"):
            array = np.array(getattr(self, name), np.int64 if name == "parents" else np.float64)
            if array.shape != shape:
                raise ValueError(
                    f"{name} has shape {array.shape}; {n} variables with up to {k} parents have "
                    f"(n, F) = {shape}"
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        listed = np.empty(shape, np.int64)
        counting.family_masks(n, k, listed)
        if (self.parents != listed).any():
            raise ValueError("parents are not listed by size, then colexicographically")
        del listed
        for name in ("log_score", "log_prior"):
            bad = ~(getattr(self, name) < LARGEST_SCORE)
            if bad.any():
                v, f = np.argwhere(bad)[0]
                raise ValueError(f"{name}[{v}, {f}] = {getattr(self, name)[v, f]} is not a score")
        for v in range(n):
            if not (self.log_prior[v] + self.log_score[v] == -math.inf).all():
                continue
            raise ValueError(
                f"no parent set of {self.names[v]!r} is allowed: relax the required, forbidden or "
                "candidate edges, the prior, or raise max_parents"
            )

    def __reduce__(self) -> tuple[object, ...]:
        return rebuilt(self)

    def __repr__(self) -> str:
        return (
            f"ScoreTable({self.n} variables, up to {self.max_parents} parents, "
            f"{self.parents.size} families)"
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def log_beta(self) -> Floats:
        """ln beta_v(G) = log_prior + log_score, (n, F), nats [KoivistoSood2004]."""
        return self.log_prior + self.log_score

    def log_target(self, dags: ArrayLike, /) -> Floats:
        """ln of prior factor times likelihood of DAGs (..., n), summed over families: (...), nats.

        -inf for a DAG with more than max_parents parents at a node, or a forbidden family;
        a ValueError for what is no DAG.

        Examples
        --------
        >>> from bnlab import BDeu, Data, score_families
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> table.log_target([[0, 0], [0, 1]]).round(3)
        array([-4.159, -3.466])
        """
        masks = check_dags(dags)
        if masks.shape[-1] != self.n:
            raise ValueError(f"DAGs of {masks.shape[-1]} nodes for a table of {self.n} variables")
        flat = masks.reshape(-1, self.n)
        choose = counting.binomials(self.n - 1, self.max_parents)
        first = counting.first_ranks(self.n - 1, self.max_parents)
        position = np.empty(len(flat), np.int64)
        total = np.zeros(len(flat))
        for v in range(self.n):
            counting.family_ranks(v, np.ascontiguousarray(flat[:, v]), choose, first, position)
            beta = self.log_score[v] + self.log_prior[v]
            total += np.where(position < 0, -math.inf, beta[position])
        return total.reshape(masks.shape[:-1])


def array_bytes(n: int, max_parents: int, /) -> int:
    """Bytes of one array (n, F) of a score table: of its parents, scores or prior factors.

    Examples
    --------
    >>> array_bytes(20, 3)
    185600
    """
    return 8 * n * family_count(n, max_parents)


def family_count(n: int, max_parents: int, /) -> int:
    """F, the number of parent sets of one node: sum over i <= max_parents of C(n - 1, i).

    Examples
    --------
    >>> family_count(20, 3)
    1160
    """
    return sum(math.comb(n - 1, size) for size in range(max_parents + 1))
