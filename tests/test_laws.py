"""Identities that hold whatever the data: counts, equivalence, relabelling, prediction."""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn


def table_of(values, arities, **options):
    data = bn.Data.from_arrays(values, arities=arities)
    return bn.score_families(data, bn.BDeu(), max_parents=data.n - 1, **options)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_robinson_counts_the_dags(n):
    counts = [1, 3, 25, 543, 29281]
    assert len(bn.graphs.all_dags(n)) == oracles.robinson(n) == counts[n - 1]


@pytest.mark.slow
def test_robinson_counts_the_dags_of_six_nodes():
    assert len(bn.graphs.all_dags(6)) == oracles.robinson(6) == 3_781_503


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12])
def test_pairs_of_order_and_dag_number_n_factorial_times_two_to_the_pairs(n):
    """With every family of weight 1, Z = sum over DAGs of l(G) = n! 2**(n (n - 1) / 2)."""
    data = bn.Data.from_arrays(np.zeros((0, n), int), arities=[2] * n)
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(), max_parents=n - 1))
    pairs = math.factorial(n) * 2 ** (n * (n - 1) // 2)
    assert posterior.log_z == pytest.approx(math.log(pairs), abs=1e-9)


def test_bdeu_is_equal_on_equivalent_dags():
    """Same skeleton and same colliders: same score [HeckermanGeigerChickering1995]."""
    rng = np.random.default_rng(0)
    arities = np.array([2, 3, 4, 2])
    table = table_of((rng.random((60, 4)) * arities).astype(int), arities)

    def equivalence_class(dag):
        adjacency = bn.graphs.to_adjacency(dag)
        skeleton = frozenset(map(tuple, np.argwhere(adjacency | adjacency.T).tolist()))
        colliders = frozenset(
            (u, v, w)
            for v in range(4)
            for u in oracles.members(dag[v])
            for w in oracles.members(dag[v])
            if u < w and (u, w) not in skeleton
        )
        return skeleton, colliders

    classes = {}
    dags = bn.graphs.all_dags(4)
    for dag, score in zip(dags, table.log_target(dags), strict=True):
        classes.setdefault(equivalence_class(dag), []).append(score)
    assert len(classes) == 185
    for scores in classes.values():
        assert scores == pytest.approx([scores[0]] * len(scores), abs=1e-10)
    k2 = bn.score_families(
        bn.Data.from_arrays((rng.random((60, 2)) * [2, 3]).astype(int), arities=[2, 3]), bn.K2()
    ).log_target([[0, 1], [2, 0]])
    assert abs(k2[0] - k2[1]) > 1e-6  # and not for K2


@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
def test_relabelling_variables_relabels_the_posterior(prior):
    rng = np.random.default_rng(1)
    arities = np.array([2, 3, 2, 4, 2, 3])
    values = (rng.random((80, 6)) ** 2 * arities).astype(int)
    values[:, 3] = (values[:, 0] + values[:, 5]) % 4
    shuffle = rng.permutation(6)
    plain = bn.order_posterior(table_of(values, arities, prior=prior))
    moved = bn.order_posterior(table_of(values[:, shuffle], arities[shuffle], prior=prior))
    assert moved.log_z == pytest.approx(plain.log_z, abs=1e-9)
    assert moved.edges == pytest.approx(plain.edges[np.ix_(shuffle, shuffle)], abs=1e-11)


def test_relabelling_states_and_shuffling_rows_change_nothing():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 3, size=(70, 5))
    plain = table_of(values, [3] * 5)
    other = values[rng.permutation(70)]
    other[:, 2] = np.array([2, 0, 1])[other[:, 2]]
    assert table_of(other, [3] * 5).log_score == pytest.approx(plain.log_score, abs=1e-10)


def test_the_product_of_predictive_probabilities_is_the_marginal_likelihood():
    rng = np.random.default_rng(3)
    arities = [2, 3, 2]
    values = (rng.random((25, 3)) * arities).astype(int)
    table = table_of(values, arities)
    for v in range(3):
        for f, mask in enumerate(table.parents[v]):
            sequential = oracles.sequential_bdeu(values.tolist(), arities, v, oracles.members(mask))
            assert table.log_score[v, f] == pytest.approx(sequential, abs=1e-10)


def test_the_evidence_is_a_probability_of_data():
    """Summed over all tables of two binary variables and two rows, p(D) is 1."""
    total = 0.0
    for code in range(16):
        values = np.array([code >> i & 1 for i in range(4)]).reshape(2, 2)
        total += math.exp(bn.order_posterior(table_of(values, [2, 2])).log_evidence)
    assert total == pytest.approx(1.0, abs=1e-12)
