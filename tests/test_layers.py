"""Independent DAGs of the structure-modular posterior, drawn by layers."""

import dataclasses

import numpy as np
import oracles
import pytest
from test_dag_posterior import random_table, shape_of

import bnlab as bn


def drawn(posterior, draws, seed=0):
    return bn.sample_dags(posterior, draws=draws, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_all_543_dags_come_as_often_as_they_should(spread):
    draws = 60_000
    table = random_table(1, 4, 3, spread)
    found = drawn(bn.dag_posterior(table), draws)
    _, posterior = oracles.structure_modular_over_dags(oracles.families_of(table))
    number = {dag: i for i, dag in enumerate(posterior)}
    assert len(number) == 543
    counts = np.zeros(543)
    for dag in found.values[0]:
        counts[number[tuple(dag.tolist())]] += 1
    assert oracles.chi_square(counts, draws * np.array(list(posterior.values()))) > 1e-3


@pytest.mark.parametrize("name", ["tic_tac_toe", "wine"])
def test_edges_and_ancestors_within_four_standard_errors(name):
    draws = 20_000
    table = bn.score_families(bn.load_dataset(name), bn.BDeu(ess=1.0), max_parents=5)
    posterior = bn.dag_posterior(table)
    found = drawn(posterior, draws)
    above = bn.graphs.ancestors(found.values[0])[:, None, :] >> np.arange(table.n)[:, None] & 1
    for shares, exact in (
        (bn.features.edges(found), posterior.edges),
        (above.mean(axis=0), posterior.ancestors),
    ):
        p = np.clip(exact, 25 / draws, 1 - 25 / draws)  # rarer ones are not near normal
        assert (np.abs(shares - exact) <= 4 * np.sqrt(p * (1 - p) / draws)).all()


def test_the_interval_of_a_path_holds_the_exact_probability():
    posterior = bn.dag_posterior(random_table(2, 6, 3, 1.0))
    path = bn.features.probability(drawn(posterior, 5000), bn.features.path(0, 5))
    assert path.interval == "Hoeffding"
    assert path.prior == "structure-modular"
    assert path.low <= posterior.ancestors[0, 5] <= path.high


def test_the_draws_state_their_target():
    table = random_table(3, 7, 2)
    found = drawn(bn.dag_posterior(table), 50)
    assert found.prior == "structure-modular"
    assert found.over == "dags"
    assert found.independent
    assert found.values.shape == (1, 50, 7)
    assert found.log_target == pytest.approx(table.log_target(found.values), abs=1e-9)
    assert (found.log_weight == 0).all()


@pytest.mark.parametrize("spread", [0.0, 3000.0])
def test_constraints_hold_in_every_draw(spread):
    n = 8
    required, forbidden = [(0, 1), (1, 2), (5, 0)], [(2, u) for u in range(n) if u != 2]
    table = random_table(5, n, 4, spread, required=required, forbidden=forbidden)
    dags = drawn(bn.dag_posterior(table), 500).values[0]
    for u, v in required:
        assert (dags[:, v] >> u & 1 == 1).all()
    for u, v in forbidden:
        assert (dags[:, v] >> u & 1 == 0).all()


def test_one_variable_and_none_related():
    assert (drawn(bn.dag_posterior(shape_of(1, 0)), 3).values == 0).all()
    assert (drawn(bn.dag_posterior(shape_of(5, 0)), 3).values == 0).all()


def test_options_of_orders_and_short_memory_are_refused(monkeypatch):
    posterior = bn.dag_posterior(random_table(6, 5, 2))
    with pytest.raises(ValueError, match="an exact posterior has its own table"):
        bn.sample_dags(posterior, draws=1, rng=np.random.default_rng(0), table=posterior.table)
    with pytest.raises(ValueError, match="DagPosterior: pass an OrderPosterior or a ScoreTable"):
        bn.sample_orders(posterior, draws=1, rng=np.random.default_rng(0))
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 100)
    with pytest.raises(ValueError, match="drawing DAGs of 5 variables by 1 workers needs"):
        drawn(posterior, 1)


def test_memory_is_that_of_the_workers_at_work(monkeypatch):
    posterior = bn.dag_posterior(random_table(6, 5, 2))
    monkeypatch.setattr("os.cpu_count", lambda: 1000)
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 100_000)
    assert drawn(posterior, 10).values.shape == (1, 10, 5)


def test_a_state_that_rounding_left_without_a_way_is_told():
    posterior = bn.dag_posterior(random_table(7, 4, 2))
    broken = dataclasses.replace(posterior, sums=posterior.sums._replace(b=np.zeros(16)))
    with pytest.raises(ValueError, match="rounding has led to a set of nodes"):
        drawn(broken, 5)
