"""Numbers behind the figures of Eaton & Murphy (2007)."""

import itertools

import numpy as np
import pytest

import bnlab as bn

# Figure 1: name -> (prior factor, whether times the number of orders; then, exactly,
# KL(prior || uniform) in nats and the largest probability of a DAG).
FIGURE_1 = {
    "Modular flat": (bn.Uniform(), True, 0.410526, 120 / 122880),
    "Koivisto": (bn.Fair(), True, 2.310840, 0.0384),
    "Ellis": (bn.Fair(), False, 0.872929, 0.003140766),
    "Uniform": (bn.Uniform(), False, 0.0, 1 / 29281),
}


@pytest.fixture(scope="module")
def dags() -> np.ndarray:
    return bn.graphs.all_dags(5)


@pytest.fixture(scope="module")
def orders(dags: np.ndarray) -> np.ndarray:
    """The number of orders of each DAG, by trying all 120."""
    out = np.zeros(len(dags), np.int64)
    for order in itertools.permutations(range(5)):
        before, fits = 0, np.ones(len(dags), bool)
        for v in order:
            fits &= (dags[:, v] & ~before) == 0
            before |= 1 << v
        out += fits
    return out


def test_pairs_of_order_and_dag(dags, orders):
    assert len(dags) == 29281
    assert orders.sum() == 122880


@pytest.mark.parametrize("name", FIGURE_1)
def test_figure_1_distance_from_uniform(name, dags, orders):
    prior, by_orders, kl, largest = FIGURE_1[name]
    weight = np.exp(sum(prior.log_factor(5, v, dags[:, v]) for v in range(5)))
    p = weight * orders if by_orders else weight
    p = p / p.sum()
    assert np.sum(p * np.log(len(p) * p)) == pytest.approx(kl, abs=5e-7)
    assert p.max() == pytest.approx(largest, abs=5e-10)


@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()])
def test_the_exact_posterior_without_data_is_the_order_modular_prior(prior, dags, orders):
    empty = bn.Data.from_arrays(np.zeros((0, 5), np.int32), arities=[2] * 5)
    table = bn.score_families(empty, bn.BDeu(1.0), max_parents=4, prior=prior)
    p = np.exp(table.log_target(dags)) * orders
    edges = np.tensordot(p / p.sum(), bn.graphs.to_adjacency(dags), axes=1)
    np.testing.assert_allclose(bn.order_posterior(table).edges, edges, atol=1e-12)
