"""Niinimaki & Koivisto (2013): what the text says in words, and the code behind its page."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bokeh.embed import json_item
from pictures import columns

import bnlab as bn
from bnlab import graphs, plots
from bnlab.papers.nk2013 import page, study
from bnlab.papers.page import random_dag

LN_2, LN_3 = np.log([2, 3])
BIN_FACTOR = np.log(0.05) / 9  # of a bound with nine bins: -0.33 nats


@pytest.fixture(scope="module")
def mushroom(data_dir: Path) -> bn.OrderPosterior:
    case = study.case("MUSHROOM")
    assert case.real
    return bn.order_posterior(case.table)


# Figure 2


@pytest.mark.slow
def test_mushroom_is_inside_its_bounds(mushroom):
    method = bn.AIS(bn.Linear(22_000))
    settings = {"runs": 18, "rng": np.random.default_rng(1), "method": method}
    lower = bn.estimate_lower_bound(mushroom.table, **settings)
    upper = bn.estimate_upper_bound(mushroom, **settings)
    assert lower.log_value < mushroom.log_evidence < upper.log_value
    assert lower.confidence == upper.confidence == pytest.approx(0.95)


@pytest.mark.slow
def test_mushroom_median_and_lower_bound(mushroom):
    """ "Finally yields a lower bound that is within a factor of about 2 of the exact value."""
    sampler = study.annealed(mushroom.table, 88_000, 12 * 88_000)
    last = study.evidence(sampler, mushroom.table)[:, -1]
    assert abs(np.median(last) - mushroom.log_evidence) < 0.5
    bound = study.lower_bounds(sampler, mushroom.table)[-1]
    assert mushroom.log_evidence - LN_3 < bound < mushroom.log_evidence


@pytest.mark.slow
def test_coupled_chains_with_few_temperatures_fail_on_mushroom(mushroom):
    """ "An exception is the MC3 sampler with r = 4 on MUSHROOM."""
    sampler = study.coupled(mushroom.table, 4, 88_000, 10)
    assert np.median(study.evidence(sampler, mushroom.table)[:, -1]) < mushroom.log_evidence - 5


@cache
def annealed_alarm(r):
    case, method = study.case("ALARM"), bn.AIS(bn.Linear(r))
    return bn.anneal_orders(case.table, runs=100, rng=np.random.default_rng(1), method=method)


@pytest.mark.slow
@pytest.mark.parametrize("multiple", [1, 2])
def test_alarm_bound_is_near_the_median(data_dir, multiple):
    """T = 100 samples in nine bins: the bound is nearly as good as nine bins can be."""
    draws = annealed_alarm(multiple * 3700)
    bound = bn.lower_bound_from(draws, table=study.case("ALARM").table)
    median = np.median(bound.trace)
    assert median - LN_3 < bound.log_value < median + BIN_FACTOR
    assert abs(median - -1509.94) < 0.5  # nine runs of 80 samples, r = nm


@pytest.mark.slow
def test_longer_annealing_raises_the_mean_of_the_log_weights(data_dir):
    """E[ln w] is below ln Z, and rises to it: what makes the bound better with more steps."""
    found = [annealed_alarm(r).log_weight for r in (925, 3700, 7400)]
    means, errors = np.mean(found, axis=(1, 2)), np.std(found, axis=(1, 2)) / 10
    assert (np.diff(means) > 2 * np.hypot(errors[:-1], errors[1:])).all()


# Figure 3


@pytest.mark.slow
def test_promoters_can_be_corrected(data_dir):
    """What the paper could not do: "58, turned out to be too large"."""
    case = study.case("PROMOTERS")
    sampler = study.corrected(study.annealed(case.table, 769, 2 * 769), case.table)
    assert sampler.draws.prior == "structure-modular"
    assert np.isfinite(sampler.draws.traces["log_extensions"]).all()
    last, bound = (
        study.evidence(sampler, case.table)[:, -1],
        study.lower_bounds(sampler, case.table),
    )
    assert abs(np.median(last) - -9145.8) < 3  # nine runs of 16 samples, r = nm
    assert last.min() + BIN_FACTOR == pytest.approx(bound[-1])


def test_corrected_evidence_of_tic_tac_toe():
    table = study.tic_tac_toe()
    sampler = study.corrected(study.annealed(table, 9580, 20 * 9580), table, each=10)
    estimate = bn.evidence_from(sampler.draws, table=table)
    log_z = estimate.log_value + bn.exact.log_dag_prior_sum(table)
    assert abs(log_z - study.TIC_TAC_TOE_LOG_Z) < 4 * estimate.stderr < 1


def test_corrected_edges_come_near_their_own_exact_ones():
    few = study.few(study.case("ALARM"))
    orders = study.annealed(few.table, 200, 40_000)
    dags = study.corrected(orders, few.table, each=5)
    by_orders = bn.features.edges(orders.draws, table=few.table)
    by_dags = bn.features.edges(dags.draws, table=few.table)
    assert bn.diagnostics.max_error(by_orders, few.edges_by_orders) < 0.02
    assert bn.diagnostics.max_error(by_dags, few.edges) < 0.03
    assert bn.diagnostics.max_error(few.edges, few.edges_by_orders) > 0.05


# Figure 1


def test_random_dags_obey_their_law():
    rng = np.random.default_rng(1)
    sizes = np.concatenate(
        [np.bitwise_count(graphs.check_dag(random_dag(40, rng, 3))) for _ in range(50)]
    )
    counts = np.bincount(sizes)
    assert len(counts) == 4
    assert np.abs(counts / counts.sum() - 1 / 4).max() < 0.03  # but for the first three places


def test_figure_1_counts_and_refusals():
    found = study.count(3, max_states=2000, sizes=(10, 28))
    rng = np.random.default_rng([2013, 10, 3])
    lattice = bn.linear_extensions.ideal_lattice(random_dag(10, rng, 3))
    assert found.states[study.IDEALS][0, 0] == lattice.size
    assert found.refused(study.IDEALS).tolist() == [0, 9]
    assert np.isinf(found.median_states(study.IDEALS)[1])
    assert (found.states[study.COMPONENTS] <= found.states[study.IDEALS]).all()
    plan = study.Plan({}, {}, {}, max_states=2000)
    time, sets = page.figure_1(3, plan, sizes=(10, 28)).children
    points = sets.select_one({"name": "points"}).data
    assert points["label"].count("ideals: refused") == 9
    assert [y for label, y in zip(points["label"], points["y"], strict=True) if label.endswith("d")]
    assert time.select_one({"name": "curves"}).data["xs"] == [[10.0], [10.0, 28.0]]


# The code behind the page


@pytest.fixture(scope="module")
def table() -> bn.ScoreTable:
    data = bn.load_dataset("coronary").prefix(50)
    return bn.score_families(data, bn.BDeu(1.0), max_parents=2)


def test_estimates_of_annealed_runs_are_means_of_weights(table):
    sampler = study.annealed(table, 20, 400)
    weights = np.exp(sampler.draws.log_weight - bn.exact.log_prior_sum(table))
    found, counts = study.evidence(sampler, table), study.counts(sampler)
    assert counts[0] == 1 and counts[-1] == sampler.size == 20
    for i, count in enumerate(counts):
        means = weights[:, :count].mean(axis=1)
        np.testing.assert_allclose(found[:, i], np.log(means))
        bound = study.lower_bounds(sampler, table)[i]
        assert bound == pytest.approx(np.log(means.min()) + BIN_FACTOR)


def test_estimates_of_coupled_chains_are_of_the_second_half(table):
    sampler = study.coupled(table, 4, 500, 5)
    tempered, betas = sampler.draws.traces["tempered"], sampler.draws.stats["beta"]
    found, counts = study.evidence(sampler, table), study.counts(sampler)
    assert counts[-1] == sampler.size == 20
    shift = np.log(720) - bn.exact.log_prior_sum(table)
    for i, count in enumerate(counts):
        later = tempered[:, count // 2 : count]
        ratios = [np.exp(np.diff(betas)[j] * later[:, :, j]).mean(axis=1) for j in range(4)]
        np.testing.assert_allclose(found[:, i], np.log(ratios).sum(axis=0) + shift)


def test_corrected_draws_keep_orders_and_weights(table):
    sampler = study.annealed(table, 20, 400)
    dags = study.corrected(sampler, table, each=3)
    assert dags.size == sampler.size and dags.draws.values.shape == (9, 60, 6)
    assert dags.seconds > sampler.seconds
    plain = dags.draws.log_weight + dags.draws.traces["log_extensions"]
    np.testing.assert_allclose(plain, np.repeat(sampler.draws.log_weight, 3, axis=1))


def test_disagreement_is_with_the_other_runs(table):
    sampler = study.annealed(table, 20, 400)
    edges = study.edges(sampler, table, sampler.size)
    others = bn.features.edges(sampler.kept(sampler.size, range(1, 9)), table=table)
    found = study.disagreement(sampler, table)[0, -1]
    assert found == pytest.approx(bn.diagnostics.max_error(edges[0], others))
    errors = [study.edge_errors(sampler, table, edges[i]) for i in range(3)]
    assert [error[i, -1] for i, error in enumerate(errors)] == [0, 0, 0]


def test_a_missing_file_makes_a_stand_in(monkeypatch):
    def missing(name: str) -> None:
        raise FileNotFoundError(f"put {name} somewhere")

    monkeypatch.setattr(bn, "load_dataset", missing)
    monkeypatch.setattr(bn, "load_network", missing)
    study.case.cache_clear()
    try:
        cases = [study.case(name) for name in study.NAMES]
    finally:
        study.case.cache_clear()
    assert [(case.table.n, case.data.m, case.table.max_parents) for case in cases] == [
        (20, 1000, 4),
        (37, 100, 3),
        (58, 106, 3),
    ]
    assert all(not case.real and "a stand-in" in repr(case) for case in cases)
    assert "put alarm somewhere" in repr(cases[1])
    with pytest.raises(ValueError, match="WINE"):
        study.case("WINE")


def test_curves_against_time():
    groups = {"AIS": {"r = 1": ([1, 10], [-3, -2])}, "MC³": {}, "AISL": {"": ([2], [-5])}}
    look = {"y": plots.Axis("nats", (-6, 0)), "title": "t", "alt": "a" * 30}
    picture = plots.time_curves(groups, {"exact": -1.0}, **look)
    lines, points = columns(picture, "curves"), columns(picture, "curves_points")
    assert lines["label"] == ["AIS r = 1", "AISL"]
    assert points["label"] == ["AIS r = 1", "AIS r = 1", "AISL"]
    assert len(set(lines["color"])) == 2
    assert picture.legend[0].items[0].label.value == "exact"
    assert {2.0, 5.0} <= set(picture.xaxis[0].ticker.ticks)
    assert json_item(picture)
    with pytest.raises(ValueError, match="'AIS' has 2 times and 1 values"):
        plots.time_curves({"AIS": {"": ([1, 2], [3])}}, **look)
