"""`ScoreTable`: the scores of all families, the orders and DAGs that it allows, and its files."""

import math
import os
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checkpoints import fingerprint
from bnlab.checks import Bools, Floats, Ints, checked, frozen
from bnlab.files import NUMBER, check_place, read_whole, write_whole
from bnlab.graphs import MAX_NODES, check_dags, members, predecessor_masks
from bnlab.kernels import counting
from bnlab.priors import LARGEST_LOG
from bnlab.results import Record

Names = tuple[str, ...]


@frozen()
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
    this raises a ValueError only where there is no DAG.
    """
    waiting, order, placed = rng.permutation(table.n).tolist(), list[int](), 0
    if (table.log_prior[:, 0] + table.log_score[:, 0] > -math.inf).all():  # no parents needed
        return np.array(waiting)
    allowed = [table.parents[v][log_phi > -math.inf] for v, log_phi in enumerate(table.log_phi)]
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


def log_phi_within(table: ScoreTable, order: Ints, /) -> Floats:
    """ln beta (n, F) of families whose parents come before the node in an order (n,), else -inf."""
    before = predecessor_masks(order)
    return np.where(table.parents & ~before[:, None] == 0, table.log_phi, -math.inf)


@checked
def first_dags(table: ScoreTable, start: ArrayLike | None, chains: int, /) -> Ints:
    """DAGs (chains, n) to begin with: those given, or for each chain the empty one.

    Where constraints forbid that, nodes take a place in an order as soon as one of their families
    is allowed, and get the smallest that is. A ValueError for what is no DAG, or is forbidden.
    """
    if start is None:
        order = allowed_order(table, rng=np.random.default_rng(0))
        allowed = log_phi_within(table, order) > -math.inf
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


@checked
def write_scores(table: ScoreTable, path: str | os.PathLike[str], /) -> None:
    """Write ln phi = log_prior + log_score of every allowed family, all digits kept.

    In the format of GOBNILP and its kin (.jkl, .scores) [Cussens2011]. The first line holds the
    number of variables. For each variable a line `name count` follows, then `count` lines `score k
    parent ... parent`: the natural logarithm of the family's weight, the number of parents and
    their names. So the split into prior and score is lost.

    Raises
    ------
    ValueError
        If a variable's name is empty, holds white space or begins with #: the format cannot carry
        it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_scores(table, f"{folder}/small.jkl")
    ...     print(pathlib.Path(folder, "small.jkl").read_text().splitlines()[:3])
    ['2', 'x0 2', '-2.0794415416798357 0']
    """
    for name in table.names:
        if len(name.split()) != 1 or name[0] == "#":
            raise ValueError(
                f"the name {name!r} holds white space or begins with #: rename it first"
            )
    check_place(path)
    lines = [str(table.n)]
    log_phi = table.log_phi
    for v, name in enumerate(table.names):
        allowed = np.flatnonzero(log_phi[v] > -math.inf)
        lines.append(f"{name} {len(allowed)}")
        for f in allowed:
            parents = [table.names[u] for u in members(table.parents[v, f])]
            lines.append(" ".join([repr(float(log_phi[v, f])), str(len(parents)), *parents]))
    write_whole(path, ("\n".join(lines) + "\n").encode())


@checked
def read_scores(path: str | os.PathLike[str], /) -> ScoreTable:
    """Read a score file; families that it leaves out get log_prior -inf, so no weight at all.

    Files of pruned families (the usual case for optimisers) therefore give the posterior over the
    DAGs made of the listed families, not over all DAGs.

    Raises
    ------
    ValueError
        With file and line, for anything that the format does not allow: wrong counts, unknown or
        repeated names, a variable among its own parents, a family listed twice, scores that are
        not finite or beyond 1e8 nats, more than 63 variables.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = "2\\na 2\\n-3.5 0\\n-2.5 1 b\\nb 1\\n-3.0 0\\n"
    ...     _ = pathlib.Path(folder, "two.jkl").write_text(text)
    ...     read_scores(f"{folder}/two.jkl").log_phi
    array([[-3.5, -2.5],
           [-3. , -inf]])
    """
    try:
        text = read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text ({error}); is it a score file?") from error
    names, families = _Lines(str(path), text).parse()
    n = len(names)
    k = max(len(parents) for rows in families for parents in rows)
    memory.require(
        15 * array_bytes(n, k) // 2,
        task=f"{path}: a table of n={n} variables with up to {k} parents",
        remedy="drop the largest families from the file",
    )
    masks = np.empty((n, family_count(n, k)), np.int64)
    counting.family_masks(n, k, masks)
    log_score = np.zeros(masks.shape)
    log_prior = np.full(masks.shape, -math.inf)
    choose, first = counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
    for v, rows in enumerate(families):
        listed = np.array([sum(1 << u for u in parents) for parents in rows], np.int64)
        rank = np.empty(len(listed), np.int64)
        counting.family_ranks(v, listed, choose, first, rank)
        log_score[v, rank], log_prior[v, rank] = list(rows.values()), 0.0
    try:
        return ScoreTable(masks, log_score, log_prior, tuple(names), k)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


Families = dict[frozenset[int], float]
_Family = tuple[int, float, list[str]]


class _Lines:
    """The lines of a score file with their numbers; blank ones and those that begin with # out."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        numbered = enumerate(text.splitlines(), start=1)
        words = ((number, line.split()) for number, line in numbered)
        self.rows = [(number, row) for number, row in words if row and row[0][0] != "#"]
        self.place = 0

    def fail(self, message: str) -> NoReturn:
        at = f", line {self.rows[self.place - 1][0]}" if self.place else ""
        raise ValueError(f"{self.path}{at}: {message}")

    def next(self, expected: str) -> list[str]:
        if self.place == len(self.rows):
            self.fail(f"the file ends where {expected} should stand")
        self.place += 1
        return self.rows[self.place - 1][1]

    def whole(self, word: str, what: str, low: int, high: int) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            self.fail(f"{what} is {word!r}, not a whole number")
        if not low <= int(word) <= high:
            self.fail(f"{what} is {word}, outside {low}..{high}")
        return int(word)

    def parse(self) -> tuple[list[str], list[Families]]:
        header = self.next("the number of variables")
        if len(header) != 1:
            self.fail("the first line holds the number of variables and nothing else")
        n = self.whole(header[0], "the number of variables", 1, MAX_NODES)
        blocks: dict[str, list[_Family]] = {}
        for _ in range(n):
            row = self.next("a line `name count`")
            if len(row) != 2:
                self.fail(f"expected `name count`, got {' '.join(row)!r}")
            if row[0] in blocks:
                self.fail(f"variable {row[0]!r} stands twice")
            count = self.whole(row[1], "the number of families", 1, len(self.rows))
            blocks[row[0]] = [self.family(row[0]) for _ in range(count)]
        if self.place < len(self.rows):
            self.place += 1
            self.fail(f"nothing should follow the {n} variables")
        number = {name: v for v, name in enumerate(blocks)}
        return [*blocks], [self.numbered(name, rows, number) for name, rows in blocks.items()]

    def family(self, name: str) -> _Family:
        """The next line as (its place, score, names of the parents)."""
        row = self.next(f"a family of {name!r}")
        if not NUMBER.fullmatch(row[0]) or not math.isfinite(score := float(row[0])):
            self.fail(f"the score is {row[0]!r}, not a finite number")
        if score > LARGEST_LOG:
            self.fail(f"the score {row[0]} is no natural logarithm of a probability")
        if len(row) < 2 or len(row) - 2 != self.whole(row[1], "k", 0, MAX_NODES):
            self.fail("expected `score k parent ... parent` with k parents")
        return self.place, score, row[2:]

    def numbered(self, name: str, rows: list[_Family], number: dict[str, int]) -> Families:
        """Families of `name` by the numbers of their parents."""
        out: Families = {}
        for self.place, score, words in rows:
            unknown = [parent for parent in words if parent not in number]
            if unknown:
                self.fail(f"parent {unknown[0]!r} is none of the variables")
            parents = frozenset(number[parent] for parent in words)
            if name in words or len(parents) < len(words):
                self.fail(f"the parents of {name!r} must be different other variables")
            if parents in out:
                self.fail(f"this family of {name!r} stands twice")
            out[parents] = score
        return out
