"""Exported files, opened by the programs that people open them with."""

import gzip
import warnings
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import bnlab as bn
from bnlab.data import Data
from bnlab.reports import Analysis, analyse, choose_method
from bnlab.reports.exports import graphml_text, write

NAMES = (
    "wind, speed",
    "größe (°C)",
    'it\'s > 5%; "q"',
    "a/b [x] {y} | z",
    "a b",
    "a_b",
    "<b>&amp;",
)
LEVELS = (
    ("<= 5", "(5, 7.5]", "> 7.5"),
    ("<=5", "5-10"),
    ("ja", "nein ‰"),
    ("yes", "yes "),
    ("1,2", "1;2"),
    ("//", "*/"),
    ("a\nb", "missing"),
)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """Names and labels with everything that a file might stumble over."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 200)
    others = [np.where(rng.random(200) < 0.1, 1 - first, first) for _ in range(6)]
    others[0] = np.where(rng.random(200) < 0.1, 2, others[0])
    values = np.stack([others[0], first, *others[1:]], axis=1)
    data = Data.from_arrays(values, names=NAMES, levels=LEVELS)
    return analyse(data, rng=np.random.default_rng(1), seconds=5)


def rows_of(analysis: Analysis) -> list[tuple[str, str, float, float, float]]:
    """(from, to, probability, low, high) of all pairs, the likeliest first, ties in their order."""
    edges, pairs = analysis.edges, list(permutations(range(analysis.data.n), 2))
    pairs.sort(key=lambda pair: -edges.probability[pair])
    told = (edges.probability, edges.low, edges.high)
    return [(NAMES[u], NAMES[v], *(float(each[u, v]) for each in told)) for u, v in pairs]


def test_pandas_reads_the_edges(analysis: Analysis, tmp_path: Path) -> None:
    write(analysis, tmp_path / "edges.csv", "csv")
    frame = pd.read_csv(tmp_path / "edges.csv")
    assert frame.columns.tolist() == ["from", "to", "probability", "low", "high"]
    rows = rows_of(analysis)
    assert list(zip(frame["from"], frame["to"], strict=True)) == [row[:2] for row in rows]
    numbers = frame[["probability", "low", "high"]].to_numpy(float)
    np.testing.assert_allclose(numbers, [row[2:] for row in rows], rtol=1e-5, atol=1e-12)


def test_edges_of_chains_come_with_what_the_chains_are_worth(tmp_path: Path) -> None:
    data = Data.from_arrays(np.random.default_rng(1).integers(0, 2, (50, 3)))
    plan = replace(choose_method(data, method="partitions"), draws=20, burn_in=0, thin=1)
    analysis = analyse(data, rng=np.random.default_rng(1), plan=plan)
    write(analysis, tmp_path / "edges.csv", "csv")
    frame = pd.read_csv(tmp_path / "edges.csv")
    assert frame.columns[-3:].tolist() == ["rhat", "ess", "trusted"]
    assert (frame["trusted"] == "no").all() and (frame["ess"] < 400).all()
    (tmp_path / "edges.graphml").write_text(graphml_text(analysis, at_least=0.0), encoding="utf-8")
    graph = nx.read_graphml(tmp_path / "edges.graphml")
    assert {edge["trusted"] for _, _, edge in graph.edges(data=True)} == {False}


def test_networkx_reads_the_graph(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "edges.graphml").write_text(graphml_text(analysis, at_least=0.2), encoding="utf-8")
    graph = nx.read_graphml(tmp_path / "edges.graphml")
    assert set(graph) == set(NAMES)
    assert all(node["label"] == name for name, node in graph.nodes(data=True))
    expected = {(u, v): p for u, v, p, _, _ in rows_of(analysis) if p >= 0.2}
    assert {(u, v): edge["probability"] for u, v, edge in graph.edges(data=True)} == expected


def test_bif_holds_words_and_says_what_they_mean(analysis: Analysis, tmp_path: Path) -> None:
    write(analysis, tmp_path / "best.bif", "bif")
    net, best = bn.read_bif(tmp_path / "best.bif"), analysis.network
    words = ("wind_speed", "größe_C", "it_s_5_q", "a_b_x_y_z", "a_b_", "a_b", "b_amp")
    assert net.names == words
    assert net.levels[0] == ("<=_5", "5_7.5", ">_7.5") and net.levels[1] == LEVELS[1]
    assert net.levels[3] == ("yes", "yes_") and net.levels[4] == ("1_2", "1_2_")
    np.testing.assert_array_equal(net.dag, best.dag)
    for table, own in zip(net.tables, best.tables, strict=True):
        np.testing.assert_array_equal(table, own)
    text = (tmp_path / "best.bif").read_text(encoding="utf-8")
    for line in (
        "// wind_speed is wind, speed",
        "// 5_7.5 of wind_speed is (5, 7.5]",
        "// a_b of b_amp is a\\nb",
    ):
        assert line in text.splitlines()
    assert '"' not in text.partition("network")[2]
    write(analysis, tmp_path / "best.bif.gz", "bif")
    assert gzip.decompress((tmp_path / "best.bif.gz").read_bytes()).decode() == text


def test_pgmpy_reads_the_network(analysis: Analysis, tmp_path: Path) -> None:
    peer = pytest.importorskip("pgmpy.readwrite", reason="needs the peers extra")
    write(analysis, tmp_path / "best.bif", "bif")
    net = bn.read_bif(tmp_path / "best.bif")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = peer.BIFReader(str(tmp_path / "best.bif")).get_model()
    assert set(model.nodes()) == set(net.names)
    parents = {
        (net.names[u], net.names[v]) for v in range(7) for u in range(7) if net.dag[v] >> u & 1
    }
    assert set(model.edges()) == parents
    for v, name in enumerate(net.names):
        cpd = model.get_cpds(name)
        assert tuple(cpd.state_names[name]) == net.levels[v]
        given = [u for u in range(7) if net.dag[v] >> u & 1]
        order = [cpd.variables.index(net.names[u]) for u in (*given, v)]
        theirs = np.moveaxis(cpd.values, order, range(len(order)))
        np.testing.assert_allclose(theirs.reshape(net.tables[v].shape), net.tables[v], atol=1e-9)


def test_words_are_left_alone(tmp_path: Path) -> None:
    names, levels = ("größe", "x.1"), (("<3", ">=3"), ("-1", "a+b=c"))
    data = Data.from_arrays([[0, 1], [1, 0]], names=names, levels=levels)
    write(analyse(data, rng=np.random.default_rng(1)), tmp_path / "best.bif", "bif")
    net = bn.read_bif(tmp_path / "best.bif")
    assert (net.names, net.levels) == (names, levels)
    assert (tmp_path / "best.bif").read_text(encoding="utf-8").startswith("network")
