"""Best forests, tree-augmented naive Bayes and the best DAG of an order, against enumeration."""

import itertools
import math
from dataclasses import replace

import networkx as nx
import numpy as np
import oracles
import pytest
from hypothesis import given, settings, strategies as st
from tables import requiring

import bnlab as bn
from bnlab.search.trees import information


def random_data(seed, n, m=60):
    """Rows whose columns copy earlier ones now and then, with 2 or 3 states."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 4, size=n)
    values = rng.integers(0, arities, size=(m, n))
    for v in range(1, n):
        u = rng.integers(v)
        copied = rng.random(m) < 0.5
        values[copied, v] = values[copied, u] % arities[v]
    return bn.Data.from_arrays(values, arities=arities)


def random_table(seed, n, k=1, absent=0.0):
    """Families of any scores at all, some of them forbidden, though not all of a node."""
    rng = np.random.default_rng(seed)
    table = bn.score_families(random_data(seed, n), bn.BIC(), max_parents=k)
    scores = rng.normal(scale=3.0, size=table.parents.shape)
    log_prior = np.where(rng.random(scores.shape) < absent, -math.inf, 0.0)
    log_prior[np.arange(n), rng.integers(scores.shape[1], size=n)] = 0.0
    return replace(table, log_score=scores, log_prior=log_prior)


def forests(n):
    """All DAGs of at most one parent each, (n + 1)**(n - 1) of them."""
    choices = [[0, *(1 << u for u in range(n) if u != v)] for v in range(n)]
    found = [dag for dag in itertools.product(*choices) if oracles.is_acyclic(dag)]
    assert len(found) == (n + 1) ** (n - 1)
    return np.array(found)


def undirected_trees(nodes):
    """All spanning trees of some nodes, as lists of edges."""
    if len(nodes) < 3:
        return [list(itertools.pairwise(nodes))]
    codes = itertools.product(range(len(nodes)), repeat=len(nodes) - 2)
    return [
        [(nodes[a], nodes[b]) for a, b in nx.from_prufer_sequence(list(code)).edges]
        for code in codes
    ]


# Maximum branchings


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_no_forest_is_better(n):
    every = forests(n)
    for seed in range(20):
        table = random_table(seed, n, k=min(1 + seed % 2, n - 1))
        best = bn.maximum_branching(table)
        assert (np.bitwise_count(best) <= 1).all()
        assert table.log_target(best) == pytest.approx(table.log_target(every).max(), abs=1e-9)


def test_forbidden_families_are_kept_out():
    every, possible = forests(4), 0
    for seed in range(60):
        table = random_table(seed, 4, absent=0.8)
        best = table.log_target(every).max()
        if best == -math.inf:
            with pytest.raises(ValueError, match="leave no forest"):
                bn.maximum_branching(table)
        else:
            possible += 1
            found = table.log_target(bn.maximum_branching(table))
            assert found == pytest.approx(best, abs=1e-9)
    assert 5 < possible < 55


def test_required_edges_that_make_a_cycle_are_refused():
    table = bn.score_families(random_data(1, 3), bn.BDeu(), max_parents=1)
    table = requiring(table, (0, 1), (1, 2), (2, 0))
    with pytest.raises(ValueError, match="leave no forest"):
        bn.maximum_branching(table)


@pytest.mark.parametrize("n", [2, 7, 12, 30, 63])
def test_total_gain_is_that_of_networkx(n):
    for seed in range(3):
        table = random_table(seed, n)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        for v in range(n):
            for mask, score in zip(table.parents[v, 1:], table.log_score[v, 1:], strict=True):
                gain = score - table.log_score[v, 0]
                graph.add_edge(int(mask).bit_length() - 1, v, weight=gain)
        gain = nx.maximum_branching(graph).size(weight="weight")
        base = table.log_target(np.zeros(n, np.int64))
        found = table.log_target(bn.maximum_branching(table))
        assert found - base == pytest.approx(gain, abs=1e-6)


@pytest.mark.parametrize("score", [bn.BDeu(), bn.BIC(), bn.LogLikelihood()], ids=repr)
def test_of_equivalent_scores_it_is_the_undirected_forest(score):
    for seed in range(10):
        table = bn.score_families(random_data(seed, 8), score, max_parents=1)
        graph = nx.Graph()
        for v in range(1, 8):
            for mask, value in zip(table.parents[v, 1:], table.log_score[v, 1:], strict=True):
                u, gain = int(mask).bit_length() - 1, value - table.log_score[v, 0]
                if u < v and gain > 0:
                    graph.add_edge(u, v, weight=gain)
        undirected = nx.maximum_spanning_tree(graph).size(weight="weight")
        best = table.log_target(bn.maximum_branching(table))
        empty = table.log_target(np.zeros(8, np.int64))
        assert best - empty == pytest.approx(undirected, abs=1e-8)


def test_of_the_likelihood_it_is_chow_liu():
    for seed in range(10):
        data = random_data(seed, 6)
        table = bn.score_families(data, bn.LogLikelihood(), max_parents=1)
        trees = [bn.maximum_branching(table), bn.chow_liu(data)]
        forest, tree = table.log_target(trees)
        assert forest == pytest.approx(tree, abs=1e-8)


def test_a_table_without_parents_has_the_empty_forest():
    table = bn.score_families(random_data(1, 4), bn.BDeu(), max_parents=0)
    assert bn.maximum_branching(table).tolist() == [0, 0, 0, 0]


# Tree-augmented naive Bayes


def check_tan(dag, c, n):
    """The class above all, and a tree of the others."""
    bn.graphs.check_dag(dag)
    assert dag[c] == 0
    others = [v for v in range(n) if v != c]
    assert all(int(dag[v]) >> c & 1 for v in others)
    assert sorted(np.bitwise_count(dag[others]).tolist()) == [1] + [2] * (n - 2)
    assert dag[others[0]] == 1 << c


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_no_tree_of_the_attributes_is_better(n):
    for seed in range(10):
        data, c = random_data(seed, n), seed % n
        table = bn.score_families(data, bn.LogLikelihood(), max_parents=2)
        others = [v for v in range(n) if v != c]
        naive = np.array([0 if v == c else 1 << c for v in range(n)])
        dags = []
        for tree in undirected_trees(others):
            dag = naive.copy()
            for u, v in nx.bfs_edges(nx.Graph([*tree, (c, others[0])]), others[0]):
                if c not in (u, v):
                    dag[v] |= 1 << u
            dags.append(dag)
        best = bn.tan(data, c)
        check_tan(best, c, n)
        found = table.log_target(best)
        assert found == pytest.approx(table.log_target(dags).max(), abs=1e-9)
        assert found >= table.log_target(naive) - 1e-9


def test_the_class_may_be_named():
    data = random_data(5, 6)
    assert bn.tan(data, "x3").tolist() == bn.tan(data, 3).tolist()
    with pytest.raises(ValueError, match="no variable 'kind'"):
        bn.tan(data, "kind")
    with pytest.raises(ValueError, match="node 6 is neither"):
        bn.tan(data, 6)
    held = replace(data, intervened=np.zeros(data.values.shape, bool))
    with pytest.raises(ValueError, match="TAN classifier is for observations"):
        bn.tan(held, 3)
    assert bn.tan(data.select(["x0"]), 0).tolist() == [0]


def test_it_classifies_what_naive_bayes_cannot():
    """The class is the parity of two attributes."""
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, size=(400, 3))
    values[:, 2] = values[:, 0] ^ values[:, 1]
    data = bn.Data.from_arrays(values)
    rows = [[0, 0, -1], [0, 1, 0], [1, 0, 0], [1, 1, -1]]
    p = np.exp(bn.predict.log_class_posterior(bn.tan(data, 2), data, 2, rows))
    assert p.sum(axis=1) == pytest.approx(1)
    assert p.argmax(axis=1).tolist() == [0, 1, 1, 0]
    assert p.max(axis=1).min() > 0.98
    naive = np.exp(bn.predict.log_class_posterior([4, 4, 0], data, 2, rows))
    assert naive.max(axis=1).max() < 0.7


def test_class_posterior_by_counting():
    data = random_data(8, 4)
    dag, c = bn.tan(data, 1), 1
    new = random_data(9, 4, m=20)
    rows = np.minimum(new.values, data.arities - 1)
    rows[::3, 2] = -1
    found = bn.predict.log_class_posterior(dag, data, c, rows, score=bn.K2())
    for t, row in enumerate(rows):
        joint = []
        for state in range(data.arities[c]):
            states = range(data.arities[2]) if row[2] < 0 else [row[2]]
            total = 0.0
            for other in states:
                x, p = [int(row[0]), state, int(other), int(row[3])], 1.0
                for v in range(4):
                    parents = oracles.members(dag[v])
                    alike = [r for r in data.values.tolist() if all(r[u] == x[u] for u in parents)]
                    p *= (1 + sum(r[v] == x[v] for r in alike)) / (data.arities[v] + len(alike))
                total += p
            joint.append(total)
        assert np.exp(found[t]) == pytest.approx(np.array(joint) / sum(joint), abs=1e-9)
    complete = bn.Data.from_arrays(np.maximum(rows, 0), arities=data.arities)
    again = bn.predict.log_class_posterior(dag, data, "x1", complete)
    assert np.array_equal(again, bn.predict.log_class_posterior(dag, data, 1, complete.values))


# The best DAG of an order


@pytest.mark.quick("1", "2", "3")
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_dag_of_the_order_is_better(n):
    dags = bn.graphs.all_dags(n)
    for seed in range(3):
        table = random_table(seed, n, k=min(n - 1, 2), absent=0.2)
        log_target = table.log_target(dags)
        for order in itertools.permutations(range(n)):
            place = np.argsort(order)
            agree = [all(place[u] < place[v] for u, v in bn.graphs.to_edges(dag)) for dag in dags]
            best = log_target[agree].max()
            if best == -math.inf:
                with pytest.raises(ValueError, match="among its predecessors"):
                    bn.best_dag_given_order(table, order)
            else:
                found = bn.best_dag_given_order(table, order)
                assert table.log_target(found) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_best_of_all_orders_is_the_map_dag(n):
    for seed in range(3):
        table = bn.score_families(random_data(seed, n), bn.BDeu(), max_parents=n - 1)
        dags = [bn.best_dag_given_order(table, o) for o in itertools.permutations(range(n))]
        best = bn.map_dag(table).log_target[0]
        assert table.log_target(dags).max() == pytest.approx(best, abs=1e-9)


def test_orders_are_checked():
    table = bn.score_families(random_data(1, 3), bn.BDeu())
    for wrong in ([0, 1], [0, 1, 1], [1, 2, 3], [[0, 1, 2]]):
        with pytest.raises(ValueError, match="name each node"):
            bn.best_dag_given_order(table, wrong)
    for function in (bn.maximum_branching, lambda table: bn.best_dag_given_order(table, [0])):
        with pytest.raises(ValueError, match="no ScoreTable"):
            function(np.zeros(3))
    assert bn.best_dag_given_order(table, np.array([2, 0, 1], np.int8)).dtype == np.int64


# Ties


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 400))
def test_information_does_not_hang_on_the_order_of_rows_states_and_columns(seed, m):
    rng = np.random.default_rng(seed)
    data = random_data(seed, 5, m)
    gain = information(data.values, data.arities)
    columns = rng.permutation(5)
    values = rng.permutation(data.values)[:, columns]
    for v, r in enumerate(data.arities[columns]):
        values[:, v] = rng.permutation(r)[values[:, v]]
    moved = information(values, data.arities[columns])
    assert (moved == gain[np.ix_(columns, columns)]).all()
    assert (gain == gain.T).all()


def renamed(rng, values, arities):
    """The same columns, each with its states in another order."""
    return np.stack([rng.permutation(r)[x] for r, x in zip(arities, values.T, strict=True)], axis=1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 300))
def test_equal_gains_go_by_number_whatever_the_states_are_called(seed, m):
    """Columns that are copies of each other but for the names of their states."""
    rng = np.random.default_rng(seed)
    arities = np.full(6, 3)
    first, other, c = (rng.random((3, m)) ** [[1], [2], [3]] * 3).astype(int)
    values = renamed(rng, np.stack([first, other, first, first, c, other], axis=1), arities)
    data = bn.Data.from_arrays(values, arities=arities)
    same = bn.Data.from_arrays(rng.permutation(renamed(rng, values, arities)), arities=arities)
    plain = np.stack([first, other, first, first, c, other], axis=1)
    assert (bn.chow_liu(data) == bn.chow_liu(same)).all()
    assert (bn.chow_liu(data) == bn.chow_liu(bn.Data.from_arrays(plain, arities=arities))).all()
    assert (bn.tan(data, 4) == bn.tan(same, 4)).all()
    found = bn.candidate_parents(data, count=5)
    assert found == bn.candidate_parents(same, count=5)
    assert [u for u in found[1] if u in (0, 2, 3)] == [0, 2, 3]
    assert [u for u in found[4] if u in (1, 5)] == [1, 5]
    table = bn.score_families(data, bn.BDeu(), max_parents=1)
    last = bn.best_dag_given_order(table, [3, 2, 0, 1, 5, 4])[4]
    assert last not in (4, 8, 32)  # 0 before its copies 2 and 3, and 1 before 5
    assert bn.fit_dependency_network(table, data).parents[4] not in (4, 8, 32)


def test_independent_columns_are_a_star_at_the_first():
    values = np.array(list(itertools.product(range(2), range(3), range(5), range(2))))
    data = bn.Data.from_arrays(np.repeat(values, 7, axis=0))
    assert (information(data.values, data.arities)[~np.eye(4, dtype=bool)] == 0).all()
    assert bn.chow_liu(data).tolist() == [0, 1, 1, 1]
    assert bn.candidate_parents(data, count=1) == {0: [1], 1: [0], 2: [0], 3: [0]}
