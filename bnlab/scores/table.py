"""`ScoreTable`: the scores of all families, and the orders and DAGs that it allows."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checkpoints import fingerprint
from bnlab.checks import Bools, Floats, Ints, checked
from bnlab.graphs import MAX_NODES, check_dags, members, predecessor_masks
from bnlab.kernels import counting
from bnlab.priors import LARGEST_LOG
from bnlab.results import Record

Names = tuple[str, ...]


@checked
@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable(Record):
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
        If shapes differ, a value is nan, +inf or beyond 1e8 nats, which leave sums too few digits,
        or a node has no family left. A score below -1e8 passes where the node's smallest allowed
        family is part of its family and scores more: no DAG needs it.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> score_families(data, BDeu()).log_score.round(3)
    array([[-3.753, -1.751],
           [-3.753, -1.751]])
    """

    parents: Ints
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
            self._set(**{name: array})
        listed = np.empty(shape, np.int64)
        counting.family_masks(n, k, listed)
        if (self.parents != listed).any():
            raise ValueError("parents are not listed by size, then colexicographically")
        del listed
        for v in range(n):
            _check_families(self, v)

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
    def log_phi(self) -> Floats:
        """ln beta_v(G) = log_prior + log_score, (n, F), nats [KoivistoSood2004]."""
        return self.log_prior + self.log_score

    @property
    def fingerprint(self) -> str:
        """A digest of the scores and prior factors, for checkpoints."""
        return fingerprint(self.parents, self.log_score, self.log_prior)

    def log_target(self, dags: ArrayLike, /) -> Floats:
        """Return ln of prior factor times likelihood (...) of DAGs (..., n), nats.

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
            log_phi = self.log_score[v] + self.log_prior[v]
            total += np.where(position < 0, -math.inf, log_phi[position])
        return total.reshape(masks.shape[:-1])


def check_log_prior(log_prior: Floats, parents: Ints, names: Names, v: int, /) -> None:
    """Raise a ValueError unless ln of the prior factors (F,) of node v is -inf or within +-1e8."""
    bad = ~((np.abs(log_prior) <= LARGEST_LOG) | np.isneginf(log_prior))
    _refuse_any(bad, "log_prior", log_prior, parents, names, v)


def _check_families(table: ScoreTable, v: int) -> None:
    """Refuse the families of node v if sums of their logarithms would lose too many digits."""
    parents, log_score, log_prior = table.parents[v], table.log_score[v], table.log_prior[v]
    check_log_prior(log_prior, parents, table.names, v)
    _refuse_any(~(log_score <= LARGEST_LOG), "log_score", log_score, parents, table.names, v)
    log_phi = log_prior + log_score
    allowed = log_phi > -math.inf
    if not allowed.any():
        raise ValueError(
            f"no parent set of {table.names[v]!r} is allowed: relax the required, forbidden or "
            "candidate edges, the prior, or raise max_parents"
        )
    smallest = parents[allowed.argmax()]
    larger = (parents & smallest == smallest) & (parents != smallest)
    for name, values in (("log_score", log_score), ("log_prior + log_score", log_phi)):
        if values[allowed.argmax()] < -LARGEST_LOG:
            larger[:] = False
        low = allowed & ~larger & (values < -LARGEST_LOG)
        _refuse_any(low | (values > LARGEST_LOG), name, values, parents, table.names, v)


def _refuse_any(bad: Bools, what: str, values: Floats, parents: Ints, names: Names, v: int) -> None:
    if not bad.any():
        return
    f = int(bad.argmax())
    given = ", ".join(names[u] for u in members(parents[f])) or "no parents"
    if not math.isfinite(values[f]):
        remedy = "is not a score: give a number; log_prior -inf forbids a family"
    elif what == "log_prior":
        remedy = "is beyond 1e8 nats: weaken the prior, or give -inf to forbid the family"
    else:
        remedy = (
            "is beyond 1e8 nats: use fewer rows (Data.prefix) or a lower max_parents, or forbid "
            "the family"
        )
    raise ValueError(f"{what}[{v}, {f}] = {values[f]}, of {names[v]!r} given {given}, {remedy}")


@checked
def array_bytes(n: int, max_parents: int, /) -> int:
    """Bytes of one array (n, F) of a score table: of its parents, scores or prior factors."""
    return 8 * n * family_count(n, max_parents)


@checked
def family_count(n: int, max_parents: int, /) -> int:
    """F, the number of parent sets of one node: sum over i <= max_parents of C(n - 1, i)."""
    return sum(math.comb(n - 1, size) for size in range(max_parents + 1))


@checked
def allowed_order(table: ScoreTable, /, *, rng: np.random.Generator) -> Ints:
    """Draw a random order (n,) that some DAG allowed by the constraints is consistent with.

    Without constraints it is uniform. Else, of the nodes in random order, the first that has an
    allowed family among those placed is placed next; what is placed never hinders another node, so
    this fails only where there is no DAG.

    Raises
    ------
    ValueError
        If the constraints leave no DAG.
    """
    allowed = [table.parents[v][log_phi > -math.inf] for v, log_phi in enumerate(table.log_phi)]
    waiting, order, placed = rng.permutation(table.n).tolist(), list[int](), 0
    while waiting:
        free = (v for v in waiting if (allowed[v] & ~np.int64(placed) == 0).any())
        v = next(free, None)
        if v is None:
            raise ValueError(
                f"the required and forbidden edges leave no DAG: {table.names[waiting[0]]!r} has "
                "no place in any order. Relax them, or raise max_parents"
            )
        waiting.remove(v)
        order.append(v)
        placed |= 1 << v
    return np.array(order, np.int64)


@checked
def first_dags(table: ScoreTable, start: ArrayLike | None, chains: int, /) -> Ints:
    """DAGs (chains, n) to begin with: those given, or for each chain the empty one.

    Where constraints forbid that, nodes take a place in an order as soon as one of their families
    is allowed, and get the smallest that is.

    Raises
    ------
    ValueError
        If the constraints leave no DAG, or forbid one that is given, or it is none.
    """
    if start is None:
        order = allowed_order(table, rng=np.random.default_rng(0))
        before = predecessor_masks(order)
        allowed = (table.parents & ~before[:, None] == 0) & (table.log_phi > -math.inf)
        dag = table.parents[np.arange(table.n), allowed.argmax(axis=1)]  # families rise in size
        return np.tile(dag, (chains, 1))
    dags = check_dags(start)
    if dags.shape not in ((table.n,), (chains, table.n)):
        raise ValueError(
            f"start has shape {dags.shape}: give one DAG ({table.n},), or one for each chain "
            f"({chains}, {table.n})"
        )
    dags = np.array(np.broadcast_to(dags, (chains, table.n)))
    for dag in dags[np.isneginf(table.log_target(dags))]:
        raise ValueError(
            f"start={dag.tolist()} has too many parents at a node, or a family that the "
            "constraints forbid: pass another DAG"
        )
    return dags
