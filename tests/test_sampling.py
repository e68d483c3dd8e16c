"""Direct sampling of orders and DAGs: frequencies, weights, contracts."""

import math
from collections import Counter

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.graphs import predecessor_masks
from bnlab.sampling import independent
from bnlab.sampling.independent import families_by_weight

UNIFORM = bn.Uniform()


def small_posterior(n=4, k=2, m=25, seed=0, prior=UNIFORM):
    data = bn.Data.from_arrays(np.random.default_rng(seed).integers(0, 2, size=(m, n)))
    return bn.order_posterior(bn.score_families(data, bn.BDeu(), max_parents=k, prior=prior))


def four_standard_errors(count, draws, p):
    return abs(count / draws - p) <= 4 * math.sqrt(max(p * (1 - p), 1 / draws) / draws)


def test_order_frequencies_follow_the_exact_posterior():
    posterior = small_posterior()
    _, _, exact = oracles.order_modular_over_orders(oracles.families_of(posterior.table))
    draws = bn.sample_orders(posterior, draws=40_000, rng=np.random.default_rng(1))
    seen = Counter(map(tuple, draws.values[0].tolist()))
    assert set(seen) <= set(exact)
    for order, p in exact.items():
        assert four_standard_errors(seen[order], 40_000, p)


@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
def test_dag_frequencies_follow_the_exact_posterior(prior):
    posterior = small_posterior(n=3, prior=prior)
    *_, exact = oracles.order_modular_over_dags(oracles.families_of(posterior.table))
    draws = bn.sample_dags(posterior, draws=40_000, rng=np.random.default_rng(2))
    seen = Counter(map(tuple, draws.values[0].tolist()))
    assert set(seen) <= set(exact)
    for dag, p in exact.items():
        assert four_standard_errors(seen[dag], 40_000, p)


def test_log_targets_are_the_log_posteriors():
    posterior = small_posterior()
    log_phi = oracles.families_of(posterior.table)
    orders = bn.sample_orders(posterior, draws=50, rng=np.random.default_rng(3))
    for order, log_target in zip(orders.values[0], orders.log_target[0], strict=True):
        alphas = oracles.order_log_alphas(log_phi, order.tolist())
        assert log_target == pytest.approx(sum(a for _, a, _ in alphas), abs=1e-10)
    dags = bn.sample_dags(posterior, draws=50, rng=np.random.default_rng(3))
    assert dags.log_target == pytest.approx(posterior.table.log_target(dags.values), abs=1e-10)
    assert not dags.log_weight.any()


def test_the_edges_of_many_draws_approach_the_exact_ones():
    """Ten variables, 20,000 draws: every edge within four standard errors."""
    data = bn.load_dataset("tic_tac_toe")
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(), max_parents=3))
    draws = bn.sample_dags(posterior, draws=20_000, rng=np.random.default_rng(5))
    p = posterior.edges
    error = np.abs(bn.features.edges(draws) - p)
    assert (error <= 4 * np.sqrt(np.maximum(p * (1 - p), 1 / 20_000) / 20_000)).all()


def test_forbidden_families_are_never_drawn():
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(30, 5)))
    table = bn.score_families(data, bn.BDeu(), required=[(0, 1)], forbidden=[(2, 3)])
    draws = bn.sample_dags(bn.order_posterior(table), draws=3000, rng=np.random.default_rng(0))
    adjacency = bn.graphs.to_adjacency(draws.values[0])
    assert adjacency[:, 0, 1].all()
    assert not adjacency[:, 2, 3].any()


def test_draws_of_a_posterior_that_spans_thousands_of_nats():
    network = bn.random_network("child", rng=np.random.default_rng(1))
    data = network.sample(5000, np.random.default_rng(2))
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(), max_parents=3))
    draws = bn.sample_dags(posterior, draws=2000, rng=np.random.default_rng(3))
    assert np.isfinite(draws.log_target).all()
    assert bn.diagnostics.max_error(bn.features.edges(draws), posterior.edges) < 0.06


def test_one_variable_has_one_order_and_one_dag():
    posterior = bn.order_posterior(bn.score_families(bn.Data.from_arrays([[0], [1]]), bn.BDeu()))
    assert not bn.sample_dags(posterior, draws=3, rng=np.random.default_rng(0)).values.any()
    assert not bn.sample_orders(posterior, draws=3, rng=np.random.default_rng(0)).values.any()


@pytest.mark.parametrize("sample", [bn.sample_orders, bn.sample_dags])
def test_uniform_numbers_at_the_ends_of_their_range(sample):
    class Extreme:
        """Uniform numbers 0 and the largest below 1, in turn."""

        def __init__(self):
            self.values = np.array([0.0, np.nextafter(1.0, 0.0)])

        def __call__(self, shape):
            return np.resize(self.values, shape)

    posterior = small_posterior(n=5)
    rng = np.random.default_rng(0)
    block = independent.order_block if sample is bn.sample_orders else independent.dag_block
    rows = block((posterior, Extreme()((64, 10))))
    assert np.isfinite(rows["log_target"]).all()
    assert sample(posterior, draws=1, rng=rng).values.shape == (1, 1, 5)


def test_rounds_of_blocks_change_nothing(monkeypatch):
    posterior = small_posterior()
    whole = bn.sample_dags(posterior, draws=1000, rng=np.random.default_rng(7))
    monkeypatch.setattr("bnlab.sampling.independent.BLOCK_DRAWS", 50)
    monkeypatch.setattr("bnlab.sampling.independent.ROUND_BLOCKS", 3)
    told = []

    def stop_in_the_third_round(done, total, snapshot):
        told.append(done)
        return np.bool_(done < 400)

    rounds = bn.sample_dags(posterior, draws=1000, rng=np.random.default_rng(7))
    assert (rounds.values == whole.values).all()
    part = bn.sample_dags(
        posterior, draws=1000, rng=np.random.default_rng(7), progress=stop_in_the_third_round
    )
    assert told == list(range(50, 401, 50))
    assert (part.values == whole.values[:, :400]).all()
    assert part.run.stopped


def test_more_draws_than_memory_are_refused_at_once():
    with pytest.raises(ValueError, match=r"10,000,000,000,000 draws, n=4 needs .*draw fewer"):
        bn.sample_dags(small_posterior(), draws=10**13, rng=np.random.default_rng(0))


def test_draws_need_a_posterior():
    with pytest.raises(ValueError, match="ScoreTable: pass an OrderPosterior or a DagPosterior"):
        bn.sample_dags(small_posterior().table, draws=5, rng=np.random.default_rng(0))


def test_families_by_weight_are_sorted_and_allowed():
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(30, 4)))
    table = bn.score_families(data, bn.BDeu(), forbidden=[(1, 0)])
    parents, log_phi = families_by_weight(table, 0)
    assert (np.diff(log_phi) <= 0).all()
    assert not (parents & 2).any()
    assert set(parents.tolist()) == {0, 4, 8, 12}


def test_predecessor_masks():
    orders = np.array([[2, 0, 1], [0, 1, 2]])
    assert predecessor_masks(orders).tolist() == [[4, 5, 0], [0, 1, 3]]
