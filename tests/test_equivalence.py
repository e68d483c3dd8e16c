"""CPDAGs, v-structures and consistent extensions, against the classes of all small DAGs."""

import networkx as nx
import numpy as np
import oracles
import pytest

from bnlab import graphs

CLASSES = {1: 1, 2: 2, 3: 11, 4: 185, 5: 8782}


def random_dag(rng, n, k=3):
    order = rng.permutation(n)
    return graphs.from_edges(
        n,
        [
            (int(u), int(v))
            for place, v in enumerate(order)
            for u in rng.choice(order[:place], size=min(rng.integers(k + 1), place), replace=False)
        ],
    )


@pytest.mark.quick("4")
@pytest.mark.parametrize("n", CLASSES)
def test_cpdags_are_the_unions_of_the_classes(n):
    """Their number is that of [Gillispie & Perlman 2002], and each class has one of its own."""
    seen = set()
    for dags in oracles.equivalence_classes(n).values():
        graph = graphs.cpdag(dags)
        assert (graph == np.array(oracles.union_of_edges(dags))).all()
        seen.add(graph[0].tobytes())
    assert len(seen) == len(oracles.equivalence_classes(n)) == CLASSES[n]


@pytest.mark.quick("4")
@pytest.mark.parametrize("n", CLASSES)
def test_extensions_are_members_of_their_class(n):
    for key, dags in oracles.equivalence_classes(n).items():
        dag = graphs.consistent_extension(graphs.cpdag(dags[0]))
        assert oracles.equivalence_class(dag.tolist()) == key


@pytest.mark.parametrize("n", CLASSES)
def test_v_structures_and_equivalence(n):
    dags = oracles.all_dags(n)[::7]
    for dag in dags:
        listed = graphs.v_structures(dag)
        assert set(listed) == oracles.v_structures(dag)
        assert listed == sorted(listed, key=lambda triple: (triple[1], *triple))
    keys = [oracles.equivalence_class(dag) for dag in dags[:300]]
    same = graphs.markov_equivalent(np.array(dags[:300])[:, None], dags[:300])
    assert (same == [[a == b for b in keys] for a in keys]).all()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_extensions_exist_exactly_where_enumeration_finds_one(n):
    """All partially directed graphs on n nodes, whether they are CPDAGs or not."""
    pairs = [(u, v) for u in range(n) for v in range(u)]
    known = {}
    for dag in oracles.all_dags(n):
        known.setdefault(oracles.skeleton(dag), []).append(dag)
    for kinds in np.ndindex(*[4] * len(pairs)):
        matrix = np.zeros((n, n), bool)
        for (u, v), kind in zip(pairs, kinds, strict=True):
            matrix[u, v], matrix[v, u] = kind & 1, kind >> 1
        arrows = np.argwhere(matrix & ~matrix.T).tolist()
        needed = {
            (min(u, w), v, max(u, w))
            for u, v in arrows
            for w, x in arrows
            if x == v and u != w and not matrix[u, w] and not matrix[w, u]
        }
        fitting = [
            dag
            for dag in known.get(frozenset((v, u) for u, v in pairs if matrix[u, v] | matrix[v, u]))
            if all(dag[v] >> u & 1 for u, v in arrows) and oracles.v_structures(dag) == needed
        ]
        if fitting:
            assert tuple(graphs.consistent_extension(matrix).tolist()) in fitting
        else:
            with pytest.raises(ValueError, match="no DAG has these edges"):
                graphs.consistent_extension(matrix)


@pytest.mark.parametrize("n", [13, 40, 63])
def test_large_dags(n):
    """A DAG, its extension and both their CPDAGs agree; batches equal single DAGs."""
    rng = np.random.default_rng(n)
    dags = np.array([random_dag(rng, n) for _ in range(30)])
    batch = graphs.cpdag(dags.reshape(5, 6, n))
    assert batch.shape == (5, 6, n, n)
    for dag, graph in zip(dags, batch.reshape(-1, n, n), strict=True):
        assert (graphs.cpdag(dag) == graph).all()
        member = graphs.consistent_extension(graph)
        assert graphs.markov_equivalent(dag, member)
        assert (graphs.cpdag(member) == graph).all()
        assert graphs.v_structures(member) == graphs.v_structures(dag)
        undirected = nx.from_numpy_array((graph & graph.T).astype(int))
        assert nx.is_chordal(undirected)


def test_trees_without_collisions_and_complete_graphs_have_no_direction():
    path = graphs.from_edges(63, [(v, v + 1) for v in range(62)])
    assert (graphs.cpdag(path) == graphs.cpdag(path).T).all()
    complete = graphs.from_edges(20, [(u, v) for v in range(20) for u in range(v)])
    assert (graphs.cpdag(complete) == ~np.eye(20, dtype=bool)).all()


def test_what_is_refused():
    with pytest.raises(ValueError, match="directed cycle"):
        graphs.cpdag([[0, 1], [2, 1]])
    with pytest.raises(ValueError, match="of 2 and of 3 nodes"):
        graphs.markov_equivalent([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="node 1 has an edge to itself"):
        graphs.consistent_extension([[0, 0], [0, 1]])
    with pytest.raises(ValueError, match="is square"):
        graphs.consistent_extension(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="1 to 63 nodes"):
        graphs.consistent_extension(np.zeros((64, 64)))
