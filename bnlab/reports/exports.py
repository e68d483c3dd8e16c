"""An analysis as files for other programs: CSV, GraphML, BIF, XDSL, NET and DOT."""

import csv
import io
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from bnlab.files import write_text
from bnlab.networks import formats
from bnlab.records import Columns, ranked_pairs
from bnlab.reports.analysis import Analysis

CREDIBLE = 0.1
"""Edges below this probability are left out of drawings and of GraphML."""

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _columns(analysis: Analysis) -> Columns:
    """The columns of the CSV file; of chains, rhat, ess and trusted too."""
    edges = analysis.edges
    told: dict[str, Any] = {"probability": edges.probability, "low": edges.low, "high": edges.high}
    if edges.rhat is not None and edges.ess is not None:
        told |= {"rhat": edges.rhat, "ess": edges.ess, "trusted": edges.trusted}
    return ranked_pairs(analysis.data.names, **told)


def csv_text(analysis: Analysis, /) -> str:
    """Return all edges as CSV with six digits, the likeliest first, ties in order of the table."""
    out = io.StringIO(newline="")
    writer, columns = csv.writer(out), _columns(analysis)
    writer.writerow(columns)
    for parent, child, *told in zip(*columns.values(), strict=True):
        writer.writerow([parent, child, *map(_cell, told)])
    return out.getvalue()


def _cell(told: float | bool) -> str:
    if isinstance(told, bool):
        return "yes" if told else "no"
    return f"{told:.6g}"


def graphml_text(analysis: Analysis, /, *, at_least: float = CREDIBLE) -> str:
    """Return the edges of probability `at_least` or more as GraphML, which may have cycles."""
    import networkx as nx

    graph = nx.DiGraph(name=f"edges of probability {at_least:g} or more")
    for name in analysis.data.names:
        if _NO_XML.search(name):
            raise ValueError(f"GraphML cannot hold {name!r} (a control character): rename it")
        graph.add_node(name, label=name)
    columns = _columns(analysis)
    told = [name for name in columns if name not in ("rhat", "ess")]
    for parent, child, *values in zip(*(columns[name] for name in told), strict=True):
        if values[0] >= at_least:
            graph.add_edge(parent, child, **dict(zip(told[2:], values, strict=True)))
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def bif_text(analysis: Analysis, /) -> str:
    """Return the best DAG as BIF, with words for names and labels, which comments explain."""
    net = analysis.network
    names, levels, notes = formats.as_words(net, formats.BIF_WORDS)
    told = "".join(f"// {note}\n" for note in notes)
    return told + formats.bif_text(net, names, levels)


TEXTS: Mapping[str, Callable[[Analysis], str]] = {
    "csv": csv_text,
    "graphml": graphml_text,
    "bif": bif_text,
    "xdsl": lambda analysis: formats.xdsl_text(analysis.network),
    "net": lambda analysis: formats.net_text(analysis.network),
    "dot": lambda analysis: analysis.network.to_dot(),
}
"""Kind of a file -> its text; of the last four, the best DAG, with the means of its parameters."""


def write(analysis: Analysis, path: str | os.PathLike[str], kind: str, /) -> None:
    """Write one of TEXTS as UTF-8, whole or not at all; gzipped if the name ends in .gz."""
    write_text(path, TEXTS[kind](analysis))
