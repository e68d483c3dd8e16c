"""An analysis as files for other programs: CSV, GraphML and BIF."""

from __future__ import annotations

import csv
import io
import os
import re
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

from bnlab.files import write_whole
from bnlab.reports.analysis import Analysis

CREDIBLE = 0.1
"""Edges below this probability are left out of drawings and of GraphML."""

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def edge_rows(analysis: Analysis, /) -> list[tuple[str, str, float, float, float]]:
    """Every ordered pair of variables as (from, to, probability, low, high), likeliest first.

    Ties stand in the order of the columns of the table.
    """
    names, edges = analysis.data.names, analysis.edges
    n = len(names)
    order = np.argsort(-edges.probability, axis=None, kind="stable")
    pairs = [divmod(int(i), n) for i in order]
    return [
        (
            names[u],
            names[v],
            float(edges.probability[u, v]),
            float(edges.low[u, v]),
            float(edges.high[u, v]),
        )
        for u, v in pairs
        if u != v
    ]


def csv_text(analysis: Analysis, /) -> str:
    """What `write_csv` writes."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["from", "to", "probability", "low", "high"])
    for parent, child, *numbers in edge_rows(analysis):
        writer.writerow([parent, child, *(f"{number:.6g}" for number in numbers)])
    return out.getvalue()


def write_csv(analysis: Analysis, path: str | os.PathLike[str], /) -> None:
    """Write all edges as CSV: from, to, probability, low, high; the likeliest first.

    Numbers have six significant digits; text is UTF-8.
    """
    write_whole(path, csv_text(analysis).encode())


def graphml_text(analysis: Analysis, /, *, at_least: float = CREDIBLE) -> str:
    """What `write_graphml` writes."""
    graph = nx.DiGraph(name=f"edges of probability {at_least:g} or more")
    for name in analysis.data.names:
        if _NO_XML.search(name):
            raise ValueError(f"GraphML cannot hold {name!r} (a control character): rename it")
        graph.add_node(name, label=name)
    for parent, child, probability, low, high in edge_rows(analysis):
        if probability >= at_least:
            graph.add_edge(parent, child, probability=probability, low=low, high=high)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def write_graphml(
    analysis: Analysis, path: str | os.PathLike[str], /, *, at_least: float = CREDIBLE
) -> None:
    """Write the edges of probability `at_least` or more as GraphML, for Gephi, yEd or Cytoscape.

    Edges have the attributes probability, low and high. Both directions between two variables may
    occur, so the graph can have cycles: it is no DAG but a picture of many.

    Raises
    ------
    ValueError
        When a name holds a character that XML cannot write.
    """
    write_whole(path, graphml_text(analysis, at_least=at_least).encode())


def bif_text(analysis: Analysis, /) -> str:
    """What `write_bif` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.bif")
        analysis.network.write_bif(path)
        return path.read_text(encoding="utf-8")


def write_bif(analysis: Analysis, path: str | os.PathLike[str], /) -> None:
    """Write the best DAG with the posterior means of its parameters as BIF.

    Raises
    ------
    ValueError
        When a name or label holds a quotation mark or a line break, which BIF cannot write.
    """
    analysis.network.write_bif(path)
