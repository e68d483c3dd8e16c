"""Score tables as text files in the format of GOBNILP and its kin (.jkl, .scores) [Cussens2011].

The first line holds the number of variables. For each variable a line `name count` follows, then
`count` lines `score k parent ... parent`: the natural logarithm of the family's weight, the number
of parents and their names.
"""

import math
import os
from typing import NoReturn

import numpy as np

from bnlab import memory
from bnlab.checks import checked
from bnlab.files import NUMBER, check_place, read_whole, write_whole
from bnlab.graphs import MAX_NODES, members
from bnlab.kernels import counting
from bnlab.priors import LARGEST_LOG
from bnlab.scores.table import ScoreTable, array_bytes, family_count


@checked
def write_scores(table: ScoreTable, path: str | os.PathLike[str], /) -> None:
    """Write ln phi = log_prior + log_score of every allowed family, all digits kept.

    The file has one number a family, so the split into prior and score is lost.

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
        blocks: list[tuple[str, list[_Family]]] = []
        for _ in range(n):
            row = self.next("a line `name count`")
            if len(row) != 2:
                self.fail(f"expected `name count`, got {' '.join(row)!r}")
            if any(row[0] == name for name, _ in blocks):
                self.fail(f"variable {row[0]!r} stands twice")
            count = self.whole(row[1], "the number of families", 1, len(self.rows))
            blocks.append((row[0], [self.family(row[0]) for _ in range(count)]))
        if self.place < len(self.rows):
            self.place += 1
            self.fail(f"nothing should follow the {n} variables")
        number = {name: v for v, (name, _) in enumerate(blocks)}
        return list(number), [self.numbered(name, rows, number) for name, rows in blocks]

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
