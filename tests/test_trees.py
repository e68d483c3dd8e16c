"""The Chow-Liu tree: largest total mutual information, whatever the ties."""

import dataclasses
import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest

import bnlab as bn


def mutual_information(values, u, v):
    """In nats, by counting."""
    m = len(values)
    pairs = Counter((row[u], row[v]) for row in values)
    left, right = Counter(row[u] for row in values), Counter(row[v] for row in values)
    return math.fsum(c / m * math.log(c * m / (left[a] * right[b])) for (a, b), c in pairs.items())


def information(data):
    """Of all pairs u < v."""
    values = data.values.tolist()
    return {
        pair: mutual_information(values, *pair) for pair in itertools.combinations(range(data.n), 2)
    }


def total(information, dag):
    return math.fsum(information[min(e), max(e)] for e in bn.graphs.to_edges(dag))


def random_data(seed, n):
    """Rows whose columns copy earlier ones now and then, with 2 to 4 states."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 5, size=n)
    values = rng.integers(0, arities, size=(int(rng.integers(5, 120)), n))
    for v in range(1, n):
        u = rng.integers(v)
        copied = rng.random(len(values)) < 0.6
        values[copied, v] = values[copied, u] % arities[v]
    return bn.Data.from_arrays(values, arities=arities)


def check_tree(dag, n):
    """One root, node 0, and one parent for every other node."""
    assert dag[0] == 0
    assert (np.bitwise_count(dag[1:]) == 1).all()
    bn.graphs.check_dag(dag)


def test_total_information_is_that_of_networkx():
    for seed in range(50):
        data = random_data(seed, n=2 + seed % 11)
        known = information(data)
        graph = nx.Graph()
        graph.add_weighted_edges_from((u, v, w) for (u, v), w in known.items())
        best = nx.maximum_spanning_tree(graph).size(weight="weight")
        dag = bn.chow_liu(data)
        check_tree(dag, data.n)
        assert total(known, dag) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_no_tree_is_better(n):
    """All n**(n - 2) trees by their Prüfer sequences."""
    for seed in range(5):
        data = random_data(100 + seed, n)
        known = information(data)
        best = max(
            math.fsum(known[min(e), max(e)] for e in nx.from_prufer_sequence(list(code)).edges)
            for code in itertools.product(range(n), repeat=n - 2)
        )
        assert total(known, bn.chow_liu(data)) == pytest.approx(best, abs=1e-12)


def test_it_has_the_largest_likelihood_of_all_trees():
    data = random_data(7, 4)
    table = bn.score_families(data, bn.LogLikelihood(), max_parents=1)
    dags = bn.graphs.all_dags(4)
    trees = dags[(np.bitwise_count(dags).max(axis=1) <= 1) & (np.bitwise_count(dags).sum(1) == 3)]
    best = table.log_target(trees).max()
    assert table.log_target(bn.chow_liu(data)) == pytest.approx(best, abs=1e-9)


def test_ties_go_to_the_smaller_node_and_the_smaller_parent():
    alike = bn.Data.from_arrays([[0, 0, 0, 0], [1, 1, 1, 1]])
    assert bn.chow_liu(alike).tolist() == [0, 1, 1, 1]
    assert bn.chow_liu(alike.prefix(0)).tolist() == [0, 1, 1, 1]
    assert bn.chow_liu(alike.select(["x2"])).tolist() == [0]


def test_interventions_are_refused():
    data = bn.Data.from_arrays([[0, 0], [1, 1]], intervened=np.eye(2, dtype=bool))
    with pytest.raises(ValueError, match="for observations"):
        bn.chow_liu(data)
    assert bn.chow_liu(dataclasses.replace(data, intervened=None)).tolist() == [0, 1]
    with pytest.raises(ValueError, match="is no Data: make it a Data"):
        bn.chow_liu([[0, 1]])
