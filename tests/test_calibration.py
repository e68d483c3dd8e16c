"""Are the stated errors the real ones? Many repeats; slow."""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def posterior():
    data = bn.Data.from_arrays(np.random.default_rng(5).integers(0, 3, size=(15, 4)))
    return bn.order_posterior(bn.score_families(data, bn.BDeu(), prior=bn.Fair()))


def test_dag_draws_pass_a_chi_square_test_over_all_543_dags(posterior):
    *_, exact = oracles.order_modular_over_dags(oracles.families_of(posterior.table))
    number = {dag: i for i, dag in enumerate(exact)}
    draws = bn.sample_dags(posterior, draws=400_000, rng=np.random.default_rng(1)).values[0]
    distinct, times = np.unique(draws, axis=0, return_counts=True)
    counts = np.zeros(len(exact))
    counts[[number[tuple(dag)] for dag in distinct.tolist()]] = times
    assert oracles.chi_square(counts, 400_000 * np.array(list(exact.values()))) > 1e-4


def test_order_draws_pass_a_chi_square_test_over_all_24_orders(posterior):
    _, _, exact = oracles.order_modular_over_orders(oracles.families_of(posterior.table))
    number = {order: i for i, order in enumerate(exact)}
    draws = bn.sample_orders(posterior, draws=200_000, rng=np.random.default_rng(2)).values[0]
    counts = np.bincount([number[tuple(order)] for order in draws.tolist()], minlength=24)
    assert oracles.chi_square(counts, 200_000 * np.array(list(exact.values()))) > 1e-4


def test_the_chi_square_test_sees_a_wrong_posterior(posterior):
    """The test above could not fail if it missed an error of a few percent."""
    _, _, exact = oracles.order_modular_over_orders(oracles.families_of(posterior.table))
    tilted = np.array(list(exact.values())) * np.linspace(0.95, 1.05, 24)
    counts = np.random.default_rng(0).multinomial(200_000, tilted / tilted.sum())
    assert oracles.chi_square(counts, 200_000 * np.array(list(exact.values()))) < 1e-6


def test_standard_errors_are_the_spread_of_repeated_estimates(posterior):
    u, v = np.unravel_index(np.abs(posterior.edges - 0.3).argmin(), (4, 4))
    feature = bn.features.edge(int(u), int(v))
    estimates = [
        bn.features.probability(bn.sample_dags(posterior, draws=500, rng=rng), feature)
        for rng in np.random.default_rng(3).spawn(400)
    ]
    spread = np.std([e.value for e in estimates])
    assert np.mean([e.stderr for e in estimates]) == pytest.approx(spread, rel=0.15)


def test_hoeffding_misses_are_rarer_than_promised():
    """Section 4.4 of the 2016 paper: T from (eps, delta), violations per edge far below delta."""
    eps, delta, runs = 0.05, 0.1, 300
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.K2(), prior=bn.Fair())
    posterior = bn.order_posterior(table)
    total = bn.hoeffding_draws(eps, delta)
    misses = np.zeros((10, 10))
    for rng in np.random.default_rng(4).spawn(runs):
        edges = bn.features.edges(bn.sample_dags(posterior, draws=total, rng=rng))
        misses += np.abs(edges - posterior.edges) >= eps
    assert misses.max() / runs < delta
    assert total == 600


def test_edge_probabilities_are_calibrated_over_the_joint_prior():
    """DAG, parameters and data simulated from the model that the posterior assumes.

    Then E[edge - p] = 0 and E[p (edge - p)] = 0 for p = p(edge | D).
    """
    rng = np.random.default_rng(6)
    n, excess, second = 3, [], []
    flat = bn.order_posterior(
        bn.score_families(bn.Data.from_arrays(np.zeros((0, n), int), arities=[2] * n), bn.BDeu())
    )
    for dag in bn.sample_dags(flat, draws=1500, rng=rng).values[0]:
        # BDeu with ess 8: Dirichlet parameters 8 / (q r) in every row.
        data = bnet_with_bdeu_tables(dag, 8.0, rng).sample(30, rng)
        posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(ess=8.0)))
        difference = bn.graphs.to_adjacency(dag) - posterior.edges
        excess.append(difference.sum())
        second.append((difference * posterior.edges).sum())
    for values in (excess, second):
        assert abs(np.mean(values)) <= 4 * np.std(values) / math.sqrt(len(values))


def bnet_with_bdeu_tables(dag, ess, rng):
    tables = []
    for v in range(len(dag)):
        q = 2 ** len(oracles.members(dag[v]))
        tables.append(rng.dirichlet([ess / (2 * q)] * 2, size=q))
    n = len(dag)
    return bn.BayesNet(
        dag=dag,
        arities=np.full(n, 2),
        names=tuple(f"x{v}" for v in range(n)),
        levels=(("0", "1"),) * n,
        tables=tuple(tables),
    )
