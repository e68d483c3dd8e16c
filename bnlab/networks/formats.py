"""Networks as text for other programs: BIF, XDSL (GeNIe) and NET (Hugin).

All three list a table as a `BayesNet` does: a row for each configuration of the parents, the last
of which runs fastest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from bnlab.files import brief
from bnlab.graphs import layers, members, topological_order

if TYPE_CHECKING:
    from bnlab.networks.bayesnet import BayesNet

WIDTH, HEIGHT = 160, 100  # pixels from node to node in GeNIe
LOOK = (
    '<interior color="e5f6f7" /><outline color="000080" />'
    '<font color="000000" name="Arial" size="8" />'
)
SIGNS = ("<=", "le"), (">=", "ge"), ("<", "lt"), (">", "gt")  # in names of states, above all
_PLAIN = re.compile(r"[\w.<>=+/-]+")  # needs no quotation marks in a BIF file


class Spelling(NamedTuple):
    """Words: texts without `odd` letters. With `first`, a word begins with a letter, if with it."""

    odd: re.Pattern[str]
    first: str = ""

    def words(self, texts: Sequence[str]) -> list[str]:
        """Different words for different texts: those that are words already, others made ones."""
        used = {text for text in texts if text and self._worded(text) == text}
        words = []
        for text in texts:
            word = self._worded(text)
            while word != text and word in used:
                word += "_"
            used.add(word)
            words.append(word)
        return words

    def _worded(self, text: str) -> str:
        if self.odd.search(text):
            for sign, word in SIGNS if self.first else ():
                text = text.replace(sign, f" {word} ")
            text = self.odd.sub("_", text).strip("_")
        text = text or "_"
        return self.first * (not text[0].isalpha()) + text


BIF_WORDS = Spelling(re.compile(r"[^\w.-]+")), Spelling(re.compile(r"[^\w.<>=+-]+"))
XDSL_WORDS = tuple(Spelling(re.compile(r"\W+", re.ASCII), first) for first in "xs")
NET_WORDS = XDSL_WORDS[0], Spelling(re.compile(r"[^\w.<>=+-]+", re.ASCII))


def as_words(
    net: BayesNet, spelling: Sequence[Spelling], /
) -> tuple[list[str], list[list[str]], list[str]]:
    """Names and levels as words, (1, 2] as 1_2, and notes on those that were none."""
    of_names, of_levels = spelling
    words, states = of_names.words(net.names), [of_levels.words(labels) for labels in net.levels]
    pairs = [(word, "", name) for word, name in zip(words, net.names, strict=True)]
    for name, made, labels in zip(words, states, net.levels, strict=True):
        pairs += [(word, f" of {name}", label) for word, label in zip(made, labels, strict=True)]
    notes: list[str] = [brief(f"{word}{of} is {text}") for word, of, text in pairs if word != text]
    return words, states, notes


def bif_text(net: BayesNet, names: Sequence[str], levels: Sequence[Sequence[str]], /) -> str:
    """Return a BIF file of a network under these names and labels."""
    names = [_quoted(name) for name in names]
    levels = [[_quoted(label) for label in labels] for labels in levels]
    lines = ["network unknown {", "}"]
    for name, labels in zip(names, levels, strict=True):
        states = ", ".join(labels)
        lines += [f"variable {name} {{", f"  type discrete [ {len(labels)} ] {{ {states} }};", "}"]
    for v, table in enumerate(net.tables):
        parents = members(net.dag[v])
        given = f" | {', '.join(names[p] for p in parents)}" if parents else ""
        lines.append(f"probability ( {names[v]}{given} ) {{")
        for states_of, row in zip(product(*(levels[p] for p in parents)), table, strict=True):
            key = f"({', '.join(states_of)})" if parents else "table"
            lines.append(f"  {key} {', '.join(map(repr, row.tolist()))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(label: str) -> str:
    if '"' in label or "\n" in label or "\r" in label:
        raise ValueError(f"BIF cannot hold {label!r} (quotation mark or line break): rename it")
    plain = _PLAIN.fullmatch(label) and "//" not in label
    return label if plain else f'"{label}"'


def xdsl_text(net: BayesNet, /) -> str:
    """Return an XDSL file. Parents stand before children; GeNIe draws the DAG in layers."""
    ids, states, notes = as_words(net, XDSL_WORDS)
    told = [f"<!-- {re.sub('-(?=-)', '- ', note)} -->" for note in notes]
    smile = '<smile version="1.0" id="network" numsamples="10000" discsamples="10000">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', *told, smile, "<nodes>"]
    drawn, layer, places = [], layers(net.dag).tolist(), Counter[int]()
    for v in topological_order(net.dag).tolist():
        parents = " ".join(ids[p] for p in members(net.dag[v]))
        lines.append(f'<cpt id="{ids[v]}">')
        lines += [f'  <state id="{state}" />' for state in states[v]]
        lines += [f"  <parents>{parents}</parents>"] if parents else []
        lines += [f"  <probabilities>{_nested(net.tables[v].ravel())}</probabilities>", "</cpt>"]
        x, y = WIDTH * places[layer[v]], HEIGHT * layer[v]
        places[layer[v]] += 1
        drawn.append(
            f'<node id="{ids[v]}"><name>{escape(brief(net.names[v]))}</name>{LOOK}'
            f"<position>{x} {y} {x + 120} {y + 50}</position></node>"
        )
    lines += ["</nodes>", '<extensions><genie version="1.0" app="bnlab" name="network">', *drawn]
    return "\n".join([*lines, "</genie></extensions>", "</smile>"]) + "\n"


def net_text(net: BayesNet, /) -> str:
    """Return a NET file."""
    ids, states, notes = as_words(net, NET_WORDS)
    lines = [*(f"% {note}" for note in notes), "net", "{", "}"]
    for name, word, labels in zip(net.names, ids, states, strict=True):
        label = brief(name).replace("\\", "\\\\").replace('"', '\\"')
        listed = " ".join(f'"{state}"' for state in labels)
        lines += [f"node {word}", "{", f'  label = "{label}";', f"  states = ( {listed} );", "}"]
    for v, table in enumerate(net.tables):
        parents = members(net.dag[v])
        given = " | " + " ".join(ids[p] for p in parents) if parents else ""
        data = _nested(table.reshape([len(states[u]) for u in [*parents, v]]))
        lines += [f"potential ( {ids[v]}{given} )", "{", f"  data = ({data});", "}"]
    return "\n".join(lines) + "\n"


def _nested(table: NDArray[np.float64]) -> str:
    """Numbers with a blank between, in parentheses from the second axis on."""
    if table.ndim == 1:
        return " ".join(map(repr, table.tolist()))
    return "".join(f"({_nested(part)})" for part in table)
