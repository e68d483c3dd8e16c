"""Networks and DAGs as text for other programs: XDSL, NET, DOT, bnlearn's model string."""

import re
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.networks import formats

NAMES = (
    "wind, speed",
    "größe (°C)",
    'it\'s > 5%; "q"',
    "a -- b",
    "a b",
    "a_b",
    "<b>&amp;\n\x07",
    "7",
)
LEVELS = (
    ("<= 5", "(5, 7.5]", "> 7.5"),
    ("<=5", "5-10"),
    ("ja", "nein ‰"),
    ("yes", "yes "),
    ("1,2", "1;2"),
    ("//", "*/"),
    ("a\nb", "missing"),
    ("0", "1"),
)
DAG = [0, 1, 3, 0, 7, 8, 32 | 1, 64 | 16]


def network(names=NAMES, levels=LEVELS, seed=1):
    arities = [len(labels) for labels in levels]
    rng = np.random.default_rng(seed)
    return bn.BayesNet.random_tables(DAG, arities, rng, names=names, levels=levels)


PLAIN = network([f"v{i}" for i in range(8)], [[f"s{i}" for i, _ in enumerate(x)] for x in LEVELS])
NETWORKS = {"plain": PLAIN, "awkward": network()}


def assert_same(model, net, names, levels):
    """The model of pgmpy is the network, under those names and labels."""
    assert set(model.nodes()) == set(names)
    for v, name in enumerate(names):
        cpd = model.get_cpds(name)
        parents = oracles.members(int(net.dag[v]))
        assert set(cpd.variables[1:]) == {names[p] for p in parents}
        for u in (v, *parents):
            assert list(cpd.state_names[names[u]]) == levels[u]
        order = [cpd.variables.index(names[u]) for u in (*parents, v)]
        theirs = cpd.values.transpose(order).reshape(net.tables[v].shape)
        np.testing.assert_array_equal(theirs, net.tables[v])


@pytest.mark.parametrize("net", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("kind", ["xdsl", "net"])
def test_pgmpy_reads_the_same_tables(kind, net, tmp_path):
    peer = pytest.importorskip("pgmpy.readwrite", reason="needs the peers extra")
    path = tmp_path / f"a.{kind}"
    getattr(net, f"write_{kind}")(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = {"xdsl": peer.XDSLReader, "net": peer.NETReader}[kind]
        model = read(str(path)).get_model()
        assert model.check_model()
    spelling = {"xdsl": formats.XDSL_WORDS, "net": formats.NET_WORDS}[kind]
    assert_same(model, net, *formats.as_words(net, spelling)[:2])


def test_words_differ_are_identifiers_and_are_explained():
    names, levels, notes = formats.as_words(network(), formats.XDSL_WORDS)
    assert names == [
        *("wind_speed", "gr_e_C", "it_s_gt_5_q", "a_b_", "a_b__"),
        *("a_b", "lt_b_gt_amp", "x7"),
    ]
    assert levels[0] == ["le_5", "s5_7_5", "gt_7_5"] and levels[1] == ["le_5", "s5_10"]
    assert levels[2:4] == [["ja", "nein"], ["yes", "yes_"]] and levels[5] == ["s_", "s__"]
    for words in (names, *levels):
        assert len(set(words)) == len(words)
        assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", word) for word in words)
    changed = sum(a != b for a, b in zip(names, NAMES, strict=True))
    changed += sum(
        a != b for x, y in zip(levels, LEVELS, strict=True) for a, b in zip(x, y, strict=True)
    )
    assert len(notes) == changed and all("\n" not in note for note in notes)
    assert "wind_speed is wind, speed" in notes and "le_5 of wind_speed is <= 5" in notes


def test_xdsl_tells_the_names_and_parents_come_first(tmp_path):
    net = NETWORKS["awkward"]
    net.write_xdsl(tmp_path / "a.xdsl")
    root = ElementTree.parse(tmp_path / "a.xdsl").getroot()
    shown = {node.get("id"): node.findtext("name") for node in root.iter("node")}
    names = formats.as_words(net, formats.XDSL_WORDS)[0]
    for word, name in zip(names, NAMES, strict=True):
        assert shown[word] == name.replace("\n", "\\n").replace("\x07", "\\x07")
    places = [node.findtext("position") for node in root.iter("node")]
    assert len(set(places)) == net.n
    seen = set()
    for cpt in root.iter("cpt"):
        assert set((cpt.findtext("parents") or "").split()) <= seen
        seen.add(cpt.get("id"))
    assert seen == set(names)
    assert "<!-- wind_speed is wind, speed -->" in (tmp_path / "a.xdsl").read_text("utf-8")


def test_net_escapes_the_names_it_shows(tmp_path):
    NETWORKS["awkward"].write_net(tmp_path / "a.net")
    text = (tmp_path / "a.net").read_text("utf-8")
    assert 'label = "it\'s > 5%; \\"q\\"";' in text
    assert 'states = ( "<=_5" "5_7.5" ">_7.5" );' in text
    assert text.startswith("% wind_speed is wind, speed\n")


@pytest.mark.parametrize("seed", range(5))
def test_a_model_string_says_the_dag(seed):
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(7), [f"größe {i}" for i in range(7)]
    dag = [0] * 7
    for i, v in enumerate(order):
        dag[v] = sum(1 << int(u) for u in order[:i] if rng.random() < 0.4)
    text = bn.graphs.to_model_string(dag, names=names)
    seen, parents = [], {}
    for part in text.removeprefix("[").removesuffix("]").split("]["):  # as bnlearn takes it apart
        node, _, given = part.partition("|")
        parents[node] = given.split(":") if given else []
        assert set(parents[node]) <= set(seen)
        seen.append(node)
    assert sorted(seen) == names
    assert {n: {names[u] for u in oracles.members(dag[v])} for v, n in enumerate(names)} == {
        node: set(given) for node, given in parents.items()
    }


def test_what_a_model_string_cannot_hold_is_refused():
    for name in ("a|b", "[a", "a]", "a:b"):
        with pytest.raises(ValueError, match=r"rename it"):
            bn.graphs.to_model_string([0, 1], names=("x", name))


def read_dot(text):
    """The nodes and the edges of a DOT file with quoted names."""
    first, *lines, last, rest = text.split("\n")
    assert (first, last, rest) == ("digraph {", "}", "")
    nodes, edges, word = [], [], r'"((?:[^"\\]|\\.)*)"'
    for line in lines:
        found = re.fullmatch(f"  {word}(?: -> {word})?;", line).groups()
        plain = [re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), x) for x in found if x]
        if len(plain) == 1:
            nodes += plain
        else:
            edges.append(tuple(plain))
    return nodes, edges


def test_dot_says_the_dag():
    names = (*NAMES[:6], "two\nlines", "back\\slash\\")
    net = network(names)
    nodes, edges = read_dot(net.to_dot())
    assert tuple(nodes) == names
    expected = {(names[u], names[v]) for v in range(8) for u in oracles.members(DAG[v])}
    assert set(edges) == expected and len(edges) == len(expected)
    assert read_dot(bn.graphs.to_dot([0, 1])) == (["0", "1"], [("0", "1")])


def test_names_of_dags_are_as_many_and_differ():
    for write in (bn.graphs.to_dot, bn.graphs.to_model_string):
        for names in (("a",), ("a", "a"), ("a", "b", "c")):
            with pytest.raises(ValueError, match="give 2 different ones"):
                write([0, 1], names=names)
