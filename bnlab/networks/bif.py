"""Bayesian networks as BIF files: the interchange format of the common network repositories.

The grammar is that of BIF 0.15 (Cozman's "Interchange Format"), as its writers use it. Commas are
separators like white space; comments and quoted labels are allowed; properties are skipped:

    file        = { "network" [label] block | "variable" label block | "probability" "(" label ["|"]
                  { label } ")" block }
    block       = "{" { "property" ... ";" | statement } "}"
    statement   = "type" "discrete" "[" number "]" "{" { label } "}" ";"    of a variable
                | ( "table" | "default" | "(" { label } ")" ) { number } ";"    of a probability

A `table` of a variable with parents lists the states of the variable itself slowest and those of
its last parent fastest, as that format defines it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bnlab import memory
from bnlab.checks import Floats, checked
from bnlab.data.text import read_text
from bnlab.errors import warn
from bnlab.files import NUMBER
from bnlab.graphs import MAX_NODES
from bnlab.networks.bayesnet import ROW_TOLERANCE, BayesNet, check_table_size

ROUNDING_TOLERANCE = 0.01
TABLE_BYTES = 28  # of one probability, at most, while its table is made and checked
_TOKEN = re.compile(
    r"(?P<skip>[\s,]+|//[^\n]*|/\*.*?\*/)"
    r'|"(?P<string>[^"\n]*)"'
    r"|(?P<mark>[{}()\[\];|])"
    r'|(?P<word>(?:(?!//|/\*)[^\s{}()\[\];|,"])+)'
    r'|(?P<open>/\*|")',
    re.DOTALL,
)


class _Token(NamedTuple):
    text: str
    kind: str
    line: int


_Numbers = tuple[int, list[float]]  # probabilities, after the line on which they begin


class _Block(NamedTuple):
    """A probability block; its entries by the states of the parents, or "table" or "default"."""

    line: int
    name: str
    parents: tuple[str, ...]
    entries: dict[tuple[str, ...] | str, _Numbers]


@checked
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
    net, errors = parse_bif(read_text(path, "utf-8-sig"), str(path))
    if errors.size:
        warn(
            f"{path}: {errors.size} rows of probabilities were rounded (sums differ from 1 by "
            f"up to {errors.max():.1g}) and have been renormalised"
        )
    return net


def parse_bif(text: str, source: str) -> tuple[BayesNet, Floats]:
    """Return the network written in `text`, and by how much each row was off that was rounded."""
    file = _File(text.replace("\r\n", "\n").replace("\r", "\n"), source)
    file.read()
    file.check()
    number = {name: v for v, name in enumerate(file.variables)}
    dag, tables, rounded = [], [], []
    for name in file.variables:
        table, errors = file.table(file.blocks[name])
        parents = [number[parent] for parent in file.blocks[name].parents]
        dag.append(sum(1 << p for p in parents))
        order = (*np.argsort(parents, kind="stable").tolist(), len(parents))
        tables.append(table.transpose(order).reshape(-1, table.shape[-1]))
        rounded.append(errors)
    levels = tuple(map(tuple, file.variables.values()))
    sizes = np.array([len(labels) for labels in levels], np.int64)
    net = BayesNet(np.array(dag, np.int64), sizes, tuple(number), levels, tuple(tables))
    return net, np.concatenate(rounded)


class _File:
    """The tokens of one file, taken one by one, and what was found in them."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.variables: dict[str, dict[str, int]] = {}  # the codes of the states of each
        self.lines: dict[str, int] = {}
        self.blocks: dict[str, _Block] = {}
        self.place, self.tokens = 0, list[_Token]()
        line = 1
        for match in _TOKEN.finditer(text):
            kind = str(match.lastgroup)
            if kind == "open":
                what = "comment" if match.group() == "/*" else "quotation"
                raise self.fail(f"this {what} is not closed", line)
            if kind != "skip":
                self.tokens.append(_Token(match.group(kind), kind, line))
            line += match.group().count("\n")
        self.tokens.append(_Token("end of file", "end", line))

    def fail(self, message: str, line: int) -> ValueError:
        return ValueError(f"{self.source}, line {line}: {message}")

    def unexpected(self, token: _Token, wanted: str) -> ValueError:
        return self.fail(f"expected {wanted}, found {token.text!r}", token.line)

    def take(self) -> _Token:
        """Return the next token; at the end of the file, that again and again."""
        token = self.tokens[self.place]
        self.place += token.kind != "end"
        return token

    def skips(self, mark: str) -> bool:
        """Take the next token if it is this mark."""
        token = self.tokens[self.place]
        found = token.kind == "mark" and token.text == mark
        self.place += found
        return found

    def expect(self, *texts: str) -> None:
        for text in texts:
            token = self.take()
            if token.text != text or token.kind == "string":
                raise self.unexpected(token, repr(text))

    def label(self, what: str) -> _Token:
        token = self.take()
        if token.kind not in ("word", "string"):
            raise self.unexpected(token, what)
        return token

    def labels(self, closing: str, what: str) -> list[_Token]:
        """Take labels up to the closing mark, and that."""
        found = []
        while not self.skips(closing):
            found.append(self.label(what))
        return found

    def numbers(self) -> _Numbers:
        """Take probabilities up to the semicolon, and that."""
        line, found = self.tokens[self.place].line, []
        for token in self.labels(";", "a probability or ';'"):
            if token.kind != "word" or NUMBER.fullmatch(token.text) is None:
                raise self.fail(f"{token.text!r} is no probability", token.line)
            if not 0 <= float(token.text) <= 1 + ROUNDING_TOLERANCE:
                raise self.fail(f"{token.text} is outside 0..1", token.line)
            found.append(float(token.text))
        return line, found

    def statements(self) -> Iterator[_Token]:
        """Take a block, and yield the token that each statement but properties begins with."""
        self.expect("{")
        while not self.skips("}"):
            token = self.take()
            if token.text != "property":
                yield token
                continue
            while not self.skips(";"):
                token = self.take()
                if token.kind == "end":
                    raise self.fail("this property is not closed by ';'", token.line)

    def read(self) -> None:
        """Take the whole file."""
        readers = {read.__name__: read for read in (self.network, self.variable, self.probability)}
        while (token := self.take()).kind != "end":
            if token.text not in readers or token.kind != "word":
                raise self.unexpected(token, "network, variable or probability")
            readers[token.text]()
        if not self.variables:
            raise self.fail("no variables: is this a BIF file?", token.line)

    def network(self) -> None:
        if self.tokens[self.place].text != "{":
            self.label("a name")
        for token in self.statements():
            raise self.unexpected(token, "'property'")

    def variable(self) -> None:
        name, _, line = self.label("the name of a variable")
        codes: dict[str, int] = {}
        if name in self.variables or not name:
            fault = f"a second variable {name!r}" if name else "a variable without a name"
            raise self.fail(fault, line)
        if len(self.variables) == MAX_NODES:
            raise self.fail(
                f"a variable beyond the first {MAX_NODES}: sets of variables are 64-bit masks", line
            )
        for token in self.statements():
            if token.text != "type" or codes:
                raise self.unexpected(token, "one type and properties")
            self.expect("discrete", "[")
            arity, _, at = self.label("the number of states")
            self.expect("]", "{")
            levels = self.labels("}", "a state")
            self.expect(";")
            if arity != str(len(levels)):
                raise self.fail(f"{name!r} announces {arity} states and lists {len(levels)}", at)
            if len(levels) < 2:
                raise self.fail(f"{name!r} needs at least 2 states and has {len(levels)}", at)
            for level in levels:
                if level.text in codes:
                    raise self.fail(f"{name!r} has two states {level.text!r}", level.line)
                codes[level.text] = len(codes)
        if not codes:
            raise self.fail(f"variable {name!r} has no type", line)
        self.variables[name], self.lines[name] = codes, line

    def probability(self) -> None:
        self.expect("(")
        name, _, line = self.label("the name of a variable")
        self.skips("|")
        parents = tuple(token.text for token in self.labels(")", "a parent or ')'"))
        if name in self.blocks:
            raise self.fail(f"a second probability block of {name!r}", line)
        if len({name, *parents}) <= len(parents):
            raise self.fail(f"a variable occurs twice in the block of {name!r}", line)
        entries: dict[tuple[str, ...] | str, _Numbers] = {}
        for token in self.statements():
            if token.text in ("table", "default") and token.text not in entries:
                entries[token.text] = self.numbers()
            elif token.kind == "mark" and token.text == "(":
                states = tuple(state.text for state in self.labels(")", "a state or ')'"))
                if states in entries:
                    raise self.fail(f"a second row for {', '.join(states)}", token.line)
                entries[states] = self.numbers()
            else:
                raise self.unexpected(token, "one table, one default or rows")
        self.blocks[name] = _Block(line, name, parents, entries)

    def check(self) -> None:
        """Refuse what is no network, or too large a one, before any table is made."""
        import networkx as nx

        edges, total = nx.DiGraph(), 0
        for block in self.blocks.values():
            for name in (block.name, *block.parents):
                if name not in self.variables:
                    raise self.fail(f"{name!r} is no variable of this file", block.line)
            edges.add_edges_from((parent, block.name) for parent in block.parents)
        if not nx.is_directed_acyclic_graph(edges):
            cycle = nx.find_cycle(edges)
            path = " -> ".join([cycle[0][0], *(child for _, child in cycle)])
            raise self.fail(f"the edges form a cycle {path}", self.blocks[cycle[0][1]].line)
        for block in self.blocks.values():
            rows = math.prod(len(self.variables[parent]) for parent in block.parents)
            arity = len(self.variables[block.name])
            try:
                check_table_size(rows, arity, block.name)
            except ValueError as error:
                raise self.fail(str(error), block.line) from error
            total += rows * arity
        memory.require(
            TABLE_BYTES * total,
            task=f"{self.source}: tables of {total} probabilities",
            remedy="give the variables fewer parents",
        )
        for name, line in self.lines.items():
            if name not in self.blocks:
                raise self.fail(f"variable {name!r} has no probability block", line)

    def table(self, block: _Block) -> tuple[Floats, Floats]:
        """Return the table of one block, renormalised, and by how much rounded rows were off."""
        block_line, name, parents, entries = block
        own, states = len(self.variables[name]), [self.variables[parent] for parent in parents]
        table = np.full((*map(len, states), own), np.nan)
        lines = np.full(table.shape[:-1], block_line)
        for key in sorted(entries, key=lambda key: key != "default"):  # rows go before it
            line, values = entries[key]
            if key == "table" and len(entries) > 1:
                raise self.fail(f"{name!r} has a table beside other entries", line)
            if key == "table" and len(values) != table.size:
                raise self.fail(
                    f"the table of {name!r} needs {table.size} numbers and has {len(values)}", line
                )
            if key == "table":
                table[...] = np.moveaxis(np.reshape(values, (own, *table.shape[:-1])), 0, -1)
                continue
            if len(values) != own:
                raise self.fail(f"{name!r} has {own} states; here are {len(values)} numbers", line)
            where = self._codes(block, key, line) if isinstance(key, tuple) else ()
            table[where], lines[where] = values, line
        for gap in np.argwhere(np.isnan(table[..., 0])):
            labels = ", ".join(list(codes)[i] for codes, i in zip(states, gap, strict=True))
            given = f" given {labels}" if labels else ""
            raise self.fail(f"no probabilities of {name!r}{given}", block_line)
        sums = table.sum(axis=-1)
        error = np.abs(sums - 1)
        if error.max() > ROUNDING_TOLERANCE:
            worst = np.unravel_index(int(error.argmax()), error.shape)
            raise self.fail(
                f"probabilities of {name!r} sum to {sums[worst]:.6g}, not to 1", int(lines[worst])
            )
        rounded = error > ROW_TOLERANCE
        table[rounded] /= sums[rounded][..., None]
        return table, error[rounded]

    def _codes(self, block: _Block, labels: tuple[str, ...], line: int) -> tuple[int, ...]:
        """Return the codes of a configuration of parents."""
        if len(labels) != len(block.parents):
            raise self.fail(
                f"{block.name!r} has {len(block.parents)} parents; here are {len(labels)} states",
                line,
            )
        found = []
        for label, parent in zip(labels, block.parents, strict=True):
            codes = self.variables[parent]
            if label not in codes:
                raise self.fail(f"{label!r} is no state of {parent!r} ({', '.join(codes)})", line)
            found.append(codes[label])
        return tuple(found)
