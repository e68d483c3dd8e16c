"""Bayesian networks as BIF files: the interchange format of the common network repositories.

The grammar is that of BIF 0.15 (Cozman's "Interchange Format"), as its writers use it: blocks
`network`, `variable` and `probability`; commas are separators like white space; comments, quoted
names and properties are allowed. A `table` entry of a variable with parents lists the states of
the variable itself slowest and those of its last parent fastest, as that format defines it.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import warnings
from collections.abc import Container
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.data.reading import read_text
from bnlab.files import NUMBER, told_briefly
from bnlab.graphs import MAX_NODES
from bnlab.networks.bayesnet import (
    ROW_TOLERANCE,
    BayesNet,
    NodeTable,
    assemble,
    check_table_size,
)

ROUNDING_TOLERANCE = 0.01
TABLE_BYTES = 28  # of one probability, at most, while its table is made and checked
_TOKEN = re.compile(
    r"(?P<skip>[\s,]+|//[^\n]*|/\*.*?\*/)"
    r'|"(?P<string>[^"\n]*)"'
    r"|(?P<mark>[{}()\[\];|])"
    r'|(?P<word>(?:(?!//|/\*)[^\s{}()\[\];|,"])+)',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Rounding:
    """How many rows of a file did not sum to 1, and by how much the worst was off."""

    rows: int
    largest: float


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    kind: str
    line: int


@dataclass(slots=True)
class _Entries:
    """The entries of one probability block, before the arities of its variables are known."""

    line: int
    name: str
    parents: tuple[str, ...]
    rows: dict[tuple[str, ...], tuple[int, list[float]]] = field(default_factory=dict)
    table: tuple[int, list[float]] | None = None
    default: tuple[int, list[float]] | None = None


def read_bif(path: str | os.PathLike[str]) -> BayesNet:
    """Read a Bayesian network from a BIF file (gzipped if its name ends in .gz).

    Rows of probabilities that were rounded, so that they sum to 1 only within 0.01, are divided
    by their sum; one `UserWarning` says how many and how far off the worst was.

    Raises
    ------
    ValueError
        Naming file and line, for all that is no BIF file or no Bayesian network.
    FileNotFoundError
        When there is no such file.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "net.bif")
    >>> BayesNet.random_tables([0, 1], [2, 3], np.random.default_rng(1)).write_bif(path)
    >>> read_bif(path)
    BayesNet: 2 nodes, 1 edges, 5 free parameters
    """
    net, rounding = parse_bif(read_text(path, "utf-8-sig"), str(path))
    if rounding.rows:
        warnings.warn(
            f"{path}: {rounding.rows} rows of probabilities were rounded (sums differ from 1 by "
            f"up to {rounding.largest:.1g}) and have been renormalised",
            stacklevel=2,
        )
    return net


@told_briefly()
def parse_bif(text: str, source: str) -> tuple[BayesNet, Rounding]:
    """The network written in `text`, and how far its rows had to be renormalised."""
    parser = _Parser(text.replace("\r\n", "\n").replace("\r", "\n"), source)
    parser.read()
    parser.check_sizes()
    nodes = []
    rounding = Rounding(0, 0.0)
    for name in parser.variables:
        if name not in parser.blocks:
            raise parser.fail(f"variable {name!r} has no probability block", parser.lines[name])
        node, rounded = parser.node(parser.blocks[name])
        nodes.append(node)
        rounding = Rounding(rounding.rows + rounded.rows, max(rounding.largest, rounded.largest))
    return assemble(nodes), rounding


class _Parser:
    """Recursive descent over the tokens of one file."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.tokens = self._split(text)
        self.position = 0
        self.variables: dict[str, dict[str, int]] = {}  # the codes of the states of each
        self.lines: dict[str, int] = {}
        self.blocks: dict[str, _Entries] = {}

    def fail(self, message: str, line: int) -> ValueError:
        return ValueError(f"{self.source}, line {line}: {message}")

    def _split(self, text: str) -> list[_Token]:
        tokens = []
        line = 1
        start = 0
        while start < len(text):
            match = _TOKEN.match(text, start)
            if match is None:
                what = "comment" if text.startswith("/*", start) else "quotation"
                raise self.fail(f"this {what} is not closed", line)
            kind = str(match.lastgroup)
            if kind != "skip":
                tokens.append(_Token(match.group(kind), kind, line))
            line += match.group().count("\n")
            start = match.end()
        tokens.append(_Token("end of file", "end", line))
        return tokens

    def peek(self) -> _Token:
        return self.tokens[self.position]

    def next(self) -> _Token:
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def at(self, mark: str) -> bool:
        token = self.peek()
        return token.kind == "mark" and token.text == mark

    def expect(self, text: str) -> _Token:
        token = self.next()
        if token.text != text or token.kind == "string":
            raise self.fail(f"expected {text!r}, found {token.text!r}", token.line)
        return token

    def label(self, what: str) -> _Token:
        token = self.next()
        if token.kind not in ("word", "string"):
            raise self.fail(f"expected {what}, found {token.text!r}", token.line)
        return token

    def labels(self, closing: str, what: str) -> list[_Token]:
        """Labels up to the closing mark, which is consumed."""
        found = []
        while not self.at(closing):
            found.append(self.label(what))
        self.next()
        return found

    def numbers(self) -> tuple[int, list[float]]:
        """Probabilities up to the semicolon, with the line they begin on."""
        line = self.peek().line
        values = []
        for token in self.labels(";", "a probability or ';'"):
            if token.kind != "word" or NUMBER.fullmatch(token.text) is None:
                raise self.fail(f"{token.text!r} is no probability", token.line)
            if not 0 <= float(token.text) <= 1 + ROUNDING_TOLERANCE:
                raise self.fail(f"{token.text} is outside 0..1", token.line)
            values.append(float(token.text))
        return line, values

    def skip_property(self) -> None:
        while not self.at(";"):
            token = self.next()
            if token.kind == "end":
                raise self.fail("this property is not closed by ';'", token.line)
        self.next()

    def read(self) -> None:
        readers = {
            "network": self._network,
            "variable": self._variable,
            "probability": self._probability,
        }
        while self.peek().kind != "end":
            token = self.next()
            reader = readers.get(token.text)
            if reader is None or token.kind != "word":
                raise self.fail(
                    f"expected network, variable or probability, found {token.text!r}", token.line
                )
            reader()
        if not self.variables:
            raise self.fail("no variables: is this a BIF file?", self.peek().line)
        for entries in self.blocks.values():
            for name in (entries.name, *entries.parents):
                if name not in self.variables:
                    raise self.fail(f"{name!r} is no variable of this file", entries.line)
        self._check_acyclic()

    def _check_acyclic(self) -> None:
        graph = nx.DiGraph(
            (parent, entries.name) for entries in self.blocks.values() for parent in entries.parents
        )
        if not nx.is_directed_acyclic_graph(graph):
            cycle = nx.find_cycle(graph)
            path = " -> ".join([cycle[0][0], *(child for _, child in cycle)])
            raise self.fail(f"the edges form a cycle {path}", self.blocks[cycle[0][1]].line)

    def _network(self) -> None:
        if not self.at("{"):
            self.label("a name")
        self.expect("{")
        while not self.at("}"):
            self.expect("property")
            self.skip_property()
        self.next()

    def _variable(self) -> None:
        name = self.label("the name of a variable")
        if name.text in self.variables:
            raise self.fail(f"a second variable {name.text!r}", name.line)
        if not name.text:
            raise self.fail("a variable without a name", name.line)
        if len(self.variables) == MAX_NODES:
            raise self.fail(
                f"a variable beyond the first {MAX_NODES}: sets of variables are 64-bit masks",
                name.line,
            )
        self.expect("{")
        codes: dict[str, int] = {}
        while not self.at("}"):
            token = self.next()
            if token.text == "property":
                self.skip_property()
                continue
            if token.text != "type" or codes:
                raise self.fail(
                    f"expected one type and properties, found {token.text!r}", token.line
                )
            self.expect("discrete")
            self.expect("[")
            arity = self.label("the number of states")
            self.expect("]")
            self.expect("{")
            levels = self.labels("}", "a state")
            self.expect(";")
            if arity.text != str(len(levels)):
                raise self.fail(
                    f"{name.text!r} announces {arity.text} states and lists {len(levels)}",
                    arity.line,
                )
            if len(levels) < 2:
                raise self.fail(
                    f"{name.text!r} needs at least 2 states and has {len(levels)}", arity.line
                )
            for level in levels:
                if level.text in codes:
                    raise self.fail(f"{name.text!r} has two states {level.text!r}", level.line)
                codes[level.text] = len(codes)
        self.next()
        if not codes:
            raise self.fail(f"variable {name.text!r} has no type", name.line)
        self.variables[name.text] = codes
        self.lines[name.text] = name.line

    def _probability(self) -> None:
        self.expect("(")
        name = self.label("the name of a variable")
        if self.at("|"):
            self.next()
        parents = tuple(token.text for token in self.labels(")", "a parent or ')'"))
        if name.text in self.blocks:
            raise self.fail(f"a second probability block of {name.text!r}", name.line)
        if len({name.text, *parents}) <= len(parents):
            raise self.fail(f"a variable occurs twice in the block of {name.text!r}", name.line)
        entries = self.blocks[name.text] = _Entries(name.line, name.text, parents)
        self.expect("{")
        while not self.at("}"):
            token = self.next()
            if token.text == "property":
                self.skip_property()
            elif token.text == "table" and entries.table is None:
                entries.table = self.numbers()
            elif token.text == "default" and entries.default is None:
                entries.default = self.numbers()
            elif token.kind == "mark" and token.text == "(":
                states = tuple(state.text for state in self.labels(")", "a state or ')'"))
                if states in entries.rows:
                    raise self.fail(f"a second row for {', '.join(states)}", token.line)
                entries.rows[states] = self.numbers()
            else:
                raise self.fail(
                    f"expected one table, one default or rows, found {token.text!r}", token.line
                )
        self.next()

    def check_sizes(self) -> None:
        """Refuse tables that are too large before any of them is made."""
        total = 0
        for entries in self.blocks.values():
            rows = math.prod(len(self.variables[parent]) for parent in entries.parents)
            arity = len(self.variables[entries.name])
            try:
                check_table_size(rows, arity, entries.name)
            except ValueError as error:
                raise self.fail(str(error), entries.line) from error
            total += rows * arity
        memory.require(
            TABLE_BYTES * total,
            task=f"{self.source}: tables of {total} probabilities",
            remedy="give the variables fewer parents",
        )

    def node(self, entries: _Entries) -> tuple[NodeTable, Rounding]:
        """The full table of one block, checked and renormalised."""
        states = [self.variables[parent] for parent in entries.parents]
        shape = tuple(len(codes) for codes in states)
        rows = {
            self._configuration(labels, states, entries, row[0]): row
            for labels, row in entries.rows.items()
        }
        if entries.table is None and entries.default is None:
            self._check_complete(rows, states, entries)
        table = np.empty((*shape, len(self.variables[entries.name])))
        lines = np.full(shape, entries.line)
        if entries.table is not None:
            self._fill_table(table, entries)
        if entries.default is not None:
            table[...] = self._row(entries.default, entries.name)
        for where, row in rows.items():
            table[where] = self._row(row, entries.name)
            lines[where] = row[0]
        return self._finish(table, lines, entries)

    def _check_complete(
        self, rows: Container[tuple[int, ...]], states: list[dict[str, int]], entries: _Entries
    ) -> None:
        for labels in itertools.product(*states):
            if tuple(codes[x] for codes, x in zip(states, labels, strict=True)) not in rows:
                given = f" given {', '.join(labels)}" if labels else ""
                raise self.fail(f"no probabilities of {entries.name!r}{given}", entries.line)

    def _fill_table(self, table: NDArray[np.float64], entries: _Entries) -> None:
        assert entries.table is not None
        line, values = entries.table
        if entries.rows or entries.default is not None:
            raise self.fail(f"{entries.name!r} has a table beside other entries", line)
        if len(values) != table.size:
            raise self.fail(
                f"the table of {entries.name!r} needs {table.size} numbers and has {len(values)}",
                line,
            )
        own_first = np.reshape(values, (table.shape[-1], *table.shape[:-1]))
        table[...] = np.moveaxis(own_first, 0, -1)

    def _row(self, entry: tuple[int, list[float]], name: str) -> list[float]:
        line, values = entry
        arity = len(self.variables[name])
        if len(values) != arity:
            raise self.fail(f"{name!r} has {arity} states; here are {len(values)} numbers", line)
        return values

    def _configuration(
        self, labels: tuple[str, ...], states: list[dict[str, int]], entries: _Entries, line: int
    ) -> tuple[int, ...]:
        if len(labels) != len(states):
            raise self.fail(
                f"{entries.name!r} has {len(states)} parents; here are {len(labels)} states", line
            )
        for label, parent, codes in zip(labels, entries.parents, states, strict=True):
            if label not in codes:
                raise self.fail(f"{label!r} is no state of {parent!r} ({', '.join(codes)})", line)
        return tuple(codes[label] for label, codes in zip(labels, states, strict=True))

    def _finish(
        self, table: NDArray[np.float64], lines: NDArray[np.int64], entries: _Entries
    ) -> tuple[NodeTable, Rounding]:
        sums = table.sum(axis=-1)
        error = np.abs(sums - 1)
        if error.max() > ROUNDING_TOLERANCE:
            worst = np.unravel_index(int(error.argmax()), error.shape)
            raise self.fail(
                f"probabilities of {entries.name!r} sum to {sums[worst]:.6g}, not to 1",
                int(lines[worst]),
            )
        rounded = error > ROW_TOLERANCE
        table[rounded] /= sums[rounded][..., None]
        node = NodeTable(entries.name, tuple(self.variables[entries.name]), entries.parents, table)
        return node, Rounding(int(rounded.sum()), float(error.max()) if rounded.any() else 0.0)
