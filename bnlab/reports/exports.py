"""An analysis as files for other programs: CSV, GraphML and BIF."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Sequence

from bnlab.files import brief, write_text, write_whole
from bnlab.networks.bayesnet import bif_text as network_text
from bnlab.reports.analysis import Analysis
from bnlab.reports.credible import ranked

CREDIBLE = 0.1
"""Edges below this probability are left out of drawings and of GraphML."""

_NO_NAME = re.compile(r"[^\w.-]+")
_NO_LABEL = re.compile(r"[^\w.<>=+-]+")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def edge_rows(analysis: Analysis, /) -> list[tuple[str, str, float, float, float]]:
    """List all ordered pairs of variables, (from, to, probability, low, high), likeliest first.

    Ties stand in the order of the columns of the table.
    """
    names, edges = analysis.data.names, analysis.edges
    p, low, high = (matrix.tolist() for matrix in (edges.probability, edges.low, edges.high))
    pairs = [(u, v) for u, v in ranked(edges.probability) if u != v]
    return [(names[u], names[v], p[u][v], low[u][v], high[u][v]) for u, v in pairs]


def _of_chains(analysis: Analysis, parent: str, child: str) -> tuple[float, float, bool]:
    """R-hat and ESS of an edge, nan without chains, and whether its interval is to be trusted."""
    edges, pair = analysis.edges, (analysis.data.index(parent), analysis.data.index(child))
    rhat, ess = (math.nan if m is None else float(m[pair]) for m in (edges.rhat, edges.ess))
    return rhat, ess, bool(edges.trusted[pair])


def csv_text(analysis: Analysis, /) -> str:
    """Return what `write_csv` writes."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    chains = analysis.edges.rhat is not None
    told = ["rhat", "ess", "trusted"] if chains else []
    writer.writerow(["from", "to", "probability", "low", "high", *told])
    for parent, child, *numbers in edge_rows(analysis):
        rhat, ess, trusted = _of_chains(analysis, parent, child)
        more = [f"{rhat:.6g}", f"{ess:.6g}", "yes" if trusted else "no"] if chains else []
        writer.writerow([parent, child, *(f"{number:.6g}" for number in numbers), *more])
    return out.getvalue()


def write_csv(analysis: Analysis, path: str | os.PathLike[str], /) -> None:
    """Write all edges as CSV: from, to, probability, low, high; the likeliest first.

    Of Markov chains rhat, ess and trusted ("yes" or "no") follow, as of `FeatureEstimate`. Numbers
    have six significant digits; text is UTF-8.
    """
    write_whole(path, csv_text(analysis).encode())


def graphml_text(analysis: Analysis, /, *, at_least: float = CREDIBLE) -> str:
    """Return what `write_graphml` writes."""
    import networkx as nx

    graph = nx.DiGraph(name=f"edges of probability {at_least:g} or more")
    for name in analysis.data.names:
        if _NO_XML.search(name):
            raise ValueError(f"GraphML cannot hold {name!r} (a control character): rename it")
        graph.add_node(name, label=name)
    for parent, child, probability, low, high in edge_rows(analysis):
        if probability >= at_least:
            told = {"probability": probability, "low": low, "high": high}
            if analysis.edges.rhat is not None:
                told["trusted"] = _of_chains(analysis, parent, child)[2]
            graph.add_edge(parent, child, **told)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def write_graphml(
    analysis: Analysis, path: str | os.PathLike[str], /, *, at_least: float = CREDIBLE
) -> None:
    """Write the edges of probability `at_least` or more as GraphML, for Gephi, yEd or Cytoscape.

    Edges have the attributes probability, low and high, and of Markov chains trusted. Both
    directions between two variables may occur, so the graph can have cycles: it is no DAG but a
    picture of many.

    Raises
    ------
    ValueError
        When a name holds a character that XML cannot write.
    """
    write_whole(path, graphml_text(analysis, at_least=at_least).encode())


def bif_text(analysis: Analysis, /) -> str:
    """Return what `write_bif` writes."""
    net = analysis.network
    names = _words(net.names, _NO_NAME)
    levels = [_words(labels, _NO_LABEL) for labels in net.levels]
    pairs = [(word, "", name) for word, name in zip(names, net.names, strict=True)]
    for name, words, labels in zip(names, levels, net.levels, strict=True):
        pairs += [(word, f" of {name}", label) for word, label in zip(words, labels, strict=True)]
    told = [brief(f"// {word}{of} is {text}") for word, of, text in pairs if word != text]
    text = network_text(names, levels, net.dag, net.tables)
    return "".join(f"{line}\n" for line in told) + text


def _words(texts: Sequence[str], odd: re.Pattern[str]) -> list[str]:
    """Different words for different texts: those that are words already, others without gaps."""
    used = {text for text in texts if text and not odd.search(text)}
    words = []
    for text in texts:
        word = text
        if word not in used:
            word = odd.sub("_", text).strip("_") or "_"
            while word in used:
                word += "_"
            used.add(word)
        words.append(word)
    return words


def write_bif(analysis: Analysis, path: str | os.PathLike[str], /) -> None:
    """Write the best DAG with the posterior means of its parameters as BIF.

    Most programs that read BIF want names and labels to be words. Others are written as words, (1,
    2] as 1_2 and "wind, speed" as wind_speed, and comments at the top say which is which.
    `analysis.network.write_bif` writes them as they are.
    """
    write_text(path, bif_text(analysis))
