"""IW-DDS: distinct DAGs by their own weights, their mass, and the interval that is certain."""

import math
from dataclasses import replace

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import features


@pytest.fixture(scope="module")
def table():
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, size=(20, 4)))
    return bn.score_families(data, bn.BDeu(), prior=bn.EdgePenalty(0.3))


@pytest.fixture(scope="module")
def exact(table):
    return oracles.structure_modular_over_dags(oracles.families_of(table))


@pytest.fixture(scope="module")
def draws(table):
    return bn.sample_dags(bn.order_posterior(table), draws=300, rng=np.random.default_rng(4))


def share(posterior, holds):
    return sum(p for dag, p in posterior.items() if holds(dag))


def test_each_dag_stays_once_in_order_of_appearance(draws):
    unique = bn.reweight_unique(draws)
    rows = [tuple(row) for row in draws.values[0].tolist()]
    assert [tuple(row) for row in unique.values[0].tolist()] == list(dict.fromkeys(rows))
    assert 1 < unique.values.shape[1] < 300
    expected = dict(zip(rows, draws.log_target[0], strict=True))
    assert unique.log_target[0].tolist() == list(expected.values())
    assert (unique.log_weight == unique.log_target).all()
    assert (unique.prior, unique.independent) == ("structure-modular", False)
    assert np.unique(unique.groups).size == 1
    assert not unique.stats
    assert unique.run.method == "DDS, distinct"
    assert unique.run.settings["drawn"] == 300


def test_chains_are_joined(table, draws):
    both = replace(
        draws,
        values=draws.values.reshape(2, 150, 4),
        log_weight=draws.log_weight.reshape(2, 150),
        log_target=draws.log_target.reshape(2, 150),
    )
    assert (bn.reweight_unique(both).values == bn.reweight_unique(draws).values).all()
    again = bn.reweight_unique(bn.reweight_unique(both))
    assert (again.values == bn.reweight_unique(draws).values).all()


def test_estimates_are_those_of_equations_24_and_25(draws, exact):
    log_z, posterior = exact
    unique = bn.reweight_unique(draws, log_z=log_z)
    seen = {tuple(row) for row in draws.values[0].tolist()}
    delta = sum(posterior[dag] for dag in seen)
    assert unique.stats["mass"] == pytest.approx([delta], abs=1e-12)
    of_path = sum(posterior[dag] for dag in seen if (0, 3) in oracles.paths(dag, 4)) / delta
    estimate = features.probability(unique, features.path(0, 3))
    assert estimate.value == pytest.approx(of_path, abs=1e-12)
    assert estimate.low == pytest.approx(delta * of_path, abs=1e-12)
    assert estimate.high == pytest.approx(delta * of_path + 1 - delta, abs=1e-12)
    assert (estimate.interval, estimate.confidence) == ("sound", 1.0)
    assert repr(estimate).endswith(f"for certain ({len(seen)} distinct DAGs)")


@pytest.mark.parametrize("drawn", [1, 3, 10, 30, 100, 300])
def test_the_sound_interval_holds_the_exact_value_of_every_edge_and_path(drawn, draws, exact):
    log_z, posterior = exact
    unique = bn.reweight_unique(draws.prefix(drawn), log_z=log_z)
    for matrix, length in ((features.edges(unique), 1), (features.paths(unique), 4)):
        low, high = features.sound(matrix, unique)
        assert high - low == pytest.approx(np.full((4, 4), 1 - unique.stats["mass"][0]))
        for u in range(4):
            for v in range(4):
                p = share(posterior, lambda dag, e=(u, v), m=length: e in oracles.paths(dag, m))
                assert low[u, v] - 1e-12 <= p <= high[u, v] + 1e-12


def test_the_interval_closes_as_draws_grow(draws, exact):
    masses = [
        bn.reweight_unique(draws.prefix(t), log_z=exact[0]).stats["mass"][0]
        for t in (1, 10, 100, 300)
    ]
    assert masses == sorted(masses)
    assert masses[0] < 0.5 < masses[-1]


def test_all_dags_give_the_exact_posterior(table, exact):
    log_z, posterior = exact
    dags = bn.graphs.all_dags(4)
    log_target = table.log_target(dags)[None]
    draws = bn.Draws(
        dags[None], np.zeros(log_target.shape), log_target, "dags", "order-modular", table.names
    )
    unique = bn.reweight_unique(draws, log_z=log_z)
    assert unique.stats["mass"] == pytest.approx([1.0], abs=1e-12)
    assert unique.stats["mass"] <= 1
    estimate = features.probability(unique, features.edge(0, 1))
    assert estimate.value == pytest.approx(share(posterior, lambda dag: dag[1] & 1), abs=1e-12)
    assert estimate.high - estimate.low < 1e-12


def test_a_prefix_of_distinct_dags_has_the_mass_of_what_it_keeps(draws, exact):
    log_z, posterior = exact
    unique = bn.reweight_unique(draws, log_z=log_z).prefix(2)
    mass = sum(posterior[tuple(dag)] for dag in unique.values[0].tolist())
    assert unique.stats["mass"] == pytest.approx([mass])
    low, high = features.sound(0.5, unique)
    assert (low, high) == (pytest.approx(mass / 2), pytest.approx(1 - mass / 2))


def test_weights_of_the_other_prior_have_no_mass(table):
    posterior = bn.order_posterior(table)
    best = bn.k_best_dags(table, 5, prior="order-modular").as_draws(log_z=posterior.log_z)
    corrected = bn.reweight_by_extensions(best)
    assert not corrected.stats.keys() & {"mass", "log_z"}
    assert features.probability(corrected, features.edge(0, 1)).interval == "none"


def test_without_log_z_there_is_no_error_bar(draws):
    estimate = features.probability(bn.reweight_unique(draws), features.edge(0, 1))
    assert (estimate.interval, estimate.low, estimate.high) == ("none", 0.0, 1.0)
    assert estimate.stderr == math.inf


def test_memory_is_refused_before_it_is_taken(draws, monkeypatch):
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"distinct ones of .* DAGs needs .*: take fewer"):
        bn.reweight_unique(draws)


def test_what_cannot_be_weighed_is_refused(table, draws, exact):
    rng = np.random.default_rng(0)
    orders = bn.sample_orders(bn.order_posterior(table), draws=5, rng=rng)
    with pytest.raises(ValueError, match=r"is over orders: draw dags \(sample_dags\)"):
        bn.reweight_unique(orders)
    with pytest.raises(ValueError, match="DagPosterior is no Draws"):
        bn.reweight_unique(bn.dag_posterior(table))
    nothing = replace(draws, log_target=np.full(draws.log_target.shape, -math.inf))
    with pytest.raises(ValueError, match="log_target of a draw is not finite"):
        bn.reweight_unique(nothing)
    for log_z in (exact[0] - 3, math.nan):
        with pytest.raises(ValueError, match=r"log_z=.* distinct DAGs alone sum to"):
            bn.reweight_unique(draws, log_z=log_z)
    with pytest.raises(ValueError, match="mass of the draws is not known"):
        features.sound(features.edges(draws), draws)
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        features.sound(math.nan, bn.reweight_unique(draws, log_z=exact[0]))
