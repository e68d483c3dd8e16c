"""Parent masks: checks, conversions, ancestors and enumeration."""

import networkx as nx
import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import graphs

DAGS4 = graphs.all_dags(4)


def random_dag(rng, n, k=3):
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for position, v in enumerate(order):
        for u in rng.choice(order[:position], size=min(k, position), replace=False):
            dag[v] |= np.int64(1) << np.int64(u)
    return dag


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_dags_are_all_dags(n):
    listed = {tuple(dag) for dag in graphs.all_dags(n).tolist()}
    assert listed == set(oracles.all_dags(n))
    assert len(listed) == len(graphs.all_dags(n))


def test_all_dags_refuses_what_would_not_end():
    with pytest.raises(ValueError, match="n=7: all DAGs can be listed"):
        graphs.all_dags(7)


def test_ancestors_and_near_ancestors_against_path_sets():
    for dag in [*DAGS4[::7], *(random_dag(np.random.default_rng(i), 9) for i in range(20))]:
        n = len(dag)
        assert {(u, v) for v in range(n) for u in oracles.members(graphs.ancestors(dag)[v])} == (
            oracles.paths(dag, n)
        )
        for length in (1, 2, 3, n):
            near = graphs.near_ancestors(dag, max_length=length)
            got = {(u, v) for v in range(n) for u in oracles.members(near[v])}
            assert got == oracles.paths(dag, length)


def test_leading_axes_batch():
    batch = DAGS4[:540].reshape(2, 270, 4)
    assert graphs.ancestors(batch).shape == batch.shape
    assert (graphs.ancestors(batch)[1, 3] == graphs.ancestors(batch[1, 3])).all()
    assert graphs.to_adjacency(batch).shape == (2, 270, 4, 4)


def test_conversions_return_to_the_same_dag():
    names = tuple("abcdefghi")
    for seed in range(30):
        dag = random_dag(np.random.default_rng(seed), 9)
        assert (graphs.from_edges(9, graphs.to_edges(dag)) == dag).all()
        assert (graphs.from_adjacency(graphs.to_adjacency(dag)) == dag).all()
        graph = graphs.to_networkx(dag, names=names)
        assert (graphs.from_networkx(graph, names=names) == dag).all()
        assert nx.is_directed_acyclic_graph(graph)


def test_sixty_three_nodes_fit():
    dag = graphs.from_edges(63, [(u, u + 1) for u in range(62)])
    assert graphs.to_edges(dag) == [(u, u + 1) for u in range(62)]
    assert graphs.ancestors(dag)[62] == 2**62 - 1
    assert graphs.layers(dag).tolist() == list(range(63))


def test_orders_and_layers_put_parents_first():
    for seed in range(30):
        dag = random_dag(np.random.default_rng(seed), 12)
        place = np.argsort(graphs.topological_order(dag))
        depth = graphs.layers(dag)
        for u, v in graphs.to_edges(dag):
            assert place[u] < place[v]
            assert depth[u] < depth[v]
        roots = dag == 0
        assert (depth[roots] == 0).all()
        assert (depth[~roots] > 0).all()


@pytest.mark.parametrize(
    ("dag", "message"),
    [
        ([2, 4, 1], r"directed cycle .* -> .* -> .* -> "),
        ([1], r"cycle 0 -> 0"),
        ([0, 4], r"dag\[1\] = 4 names a parent outside 0..1"),
        ([0, -1], r"dag\[1\] = -1"),
        ([], "1 <= n <= 63"),
        ([[0, 1]], r"one DAG is an array \(n,\)"),
        ([0.5, 0.0], "integers"),
        (np.zeros(64, int), "1 <= n <= 63"),
    ],
)
def test_what_is_no_dag_is_refused(dag, message):
    with pytest.raises(ValueError, match=message):
        graphs.check_dag(dag)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graphs.from_edges(3, [(0, 3)]), "0 -> 3 names a node outside 0..2"),
        (lambda: graphs.from_edges(3, [(0, 1), (0, 1)]), "stands twice"),
        (lambda: graphs.from_edges(3, [(0, 1), (1, 0)]), "directed cycle"),
        (lambda: graphs.from_edges(64, []), "1 to 63 nodes"),
        (lambda: graphs.from_adjacency([[0, 2], [0, 0]]), "0 and 1"),
        (lambda: graphs.from_adjacency([[0, 1]]), "square"),
        (lambda: graphs.from_networkx(nx.DiGraph([("a", "b")]), names=["a", "c"]), "names"),
        (lambda: graphs.from_networkx(nx.Graph([("a", "b")])), "undirected"),
        (lambda: graphs.ancestors([-1, 0]), r"dag\[0\] = -1"),
        (lambda: graphs.ancestors([[0, 1], [2, 1]]), "cycle"),
        (lambda: graphs.near_ancestors([2, 1], max_length=1), "cycle 0 -> 1"),
        (lambda: graphs.to_adjacency([[0, 1], [9, 0]]), r"dag\[1, 0\] = 9"),
        (lambda: graphs.near_ancestors([0, 1], max_length=0), "max_length=0"),
        (lambda: bn.graphs.all_dags(0), "n=0"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
