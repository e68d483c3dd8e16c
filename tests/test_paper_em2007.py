"""Numbers behind the figures of Eaton & Murphy (2007)."""

import dataclasses
import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest
from bokeh.embed import json_item

import bnlab as bn
from bnlab.papers.em2007 import cases, page, study

STORED = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "stored.py"))

PAIRS = list(itertools.combinations(range(5), 2))
BIASED = (("orders", "as drawn"), ("orders", "Ellis"))

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


# Figures 2 to 9


def test_interventional_score_by_hand():
    """Two binary variables, four rows; the second was set from outside in the last two rows."""
    mask = np.array([[False, False], [False, False], [False, True], [False, True]])
    data = bn.Data.from_arrays([[0, 0], [1, 1], [0, 1], [1, 1]], intervened=mask)
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=1)
    # A alone counts all rows, 2 and 2, with pseudo-counts 1/2: (1/2 3/2 1/2 3/2) / 4!.
    a_alone = (1 / 2 * 3 / 2) ** 2 / 24
    # B alone counts the first two rows, 1 and 1.
    b_alone = 1 / 2 * 1 / 2 / 2
    # B given A: one row of each state of A, pseudo-counts 1/4 of 1/2.
    b_given_a = (1 / 4 / (1 / 2)) ** 2
    # A given B: all rows; B = 0 once, B = 1 three times, with A once 0 and twice 1.
    a_given_b = 1 / 2 * (1 / 4 * 1 / 4 * 5 / 4) / (1 / 2 * 3 / 2 * 5 / 2)
    weights = np.array([a_alone * b_alone, a_alone * b_given_a, a_given_b * b_alone])
    dags = [[0, 0], [0, 1], [2, 0]]
    np.testing.assert_allclose(table.log_target(dags), np.log(weights), atol=1e-12)
    exact = bn.dag_posterior(table).edges
    np.testing.assert_allclose([exact[0, 1], exact[1, 0]], weights[1:] / weights.sum(), atol=1e-12)
    assert exact[0, 1] != pytest.approx(exact[1, 0])  # equivalent for observations


@pytest.fixture(scope="module")
def cancer() -> cases.Case:
    return cases.case("cancer")


def test_chd_has_more_rows_than_the_text_says():
    assert cases.case("CHD").data.values.shape == (1841, 6)


def test_exact_edges_of_the_cancer_rows_by_enumeration(cancer, dags):
    weight = np.exp(cancer.table.log_target(dags) - cancer.dags.log_z)
    edges = np.tensordot(weight, bn.graphs.to_adjacency(dags), axes=1)
    np.testing.assert_allclose(cancer.dags.edges, edges, atol=1e-11)


# The display of the global proposal


def test_the_displayed_proposal_is_no_distribution_and_the_described_one_is(dags):
    chances = np.random.default_rng(1).random((5, 5)) * (1 - np.eye(5)) / 2
    described, displayed = (
        cases.proposal(dags, chances, absent=absent) for absent in (True, False)
    )
    everything = np.prod([chances[u, v] + chances[v, u] + 1 for u, v in PAIRS])
    cyclic_too = np.exp(displayed).sum()
    assert np.exp(described).sum() < 1 < cyclic_too < everything


def test_a_global_chain_by_the_displayed_ratio_settles_off_the_posterior(cancer, dags):
    """Detailed balance of the independence sampler with a wrong ratio, on all pairs of 200 DAGs."""
    some = dags[:: len(dags) // 200]
    chances = bn.Global(cancer.orders.edges).chances
    log_p = cancer.table.log_target(some)
    right, wrong = (cases.proposal(some, chances, absent=absent) for absent in (True, False))
    accept = np.minimum(0, (log_p - wrong)[None] - (log_p - wrong)[:, None])
    flow = (log_p + right - wrong)[:, None] + right[None] + accept
    np.testing.assert_allclose(flow, flow.T, atol=1e-7)


def test_limits_of_the_two_proposals(cancer):
    found = cases.limits(cancer)
    assert found.corrected < 1e-9 < found.displayed < found.dp


# Figures 2 and 3


def test_errors_at_stops_are_those_of_the_first_draws(cancer):
    walked = study.walk(cancer.table, "Order", draws=300, chains=2)
    first = walked.draws.prefix(100)
    edges = study.edges_at(walked, [100, 300])
    np.testing.assert_allclose(edges[:, 0].mean(axis=0), bn.features.edges(first), atol=1e-12)
    counted = study.counted_edges_at(walked, [100, 300])
    one = [bn.reweight_by_extensions(walked.draws).log_weight[1], walked.draws.values[1]]
    weight = np.exp(one[0]) / np.exp(one[0]).sum()
    by_hand = np.tensordot(weight, bn.graphs.to_adjacency(one[1]), axes=1)
    np.testing.assert_allclose(counted[1, 1], by_hand, atol=1e-12)


def test_ellis_weights_are_one_over_the_sampled_orders_that_agree(cancer):
    walked = study.walk(cancer.table, "Order", draws=40, chains=1)
    weights = []
    for dag in walked.draws.values[0]:
        agree = 0
        for order in walked.orders.values[0]:
            before = {int(v): set(order[:place].tolist()) for place, v in enumerate(order)}
            agree += all(set(bn.graphs.members(dag[v])) <= before[v] for v in range(5))
        weights.append(1 / agree)
    share = np.array(weights) / sum(weights)
    by_hand = np.tensordot(share, bn.graphs.to_adjacency(walked.draws.values[0]), axes=1)
    np.testing.assert_allclose(study.ellis_edges_at(walked, [40])[0, 0], by_hand, atol=1e-12)
    with pytest.raises(ValueError, match="no orders"):
        study.ellis_edges_at(study.walk(cancer.table, "Local", draws=4, chains=1), [4])


@pytest.fixture(scope="module")
def errors() -> dict[tuple[str, str], np.ndarray]:
    return {place: found.mean(axis=0) for place, found in page.errors("cancer").items()}


@pytest.mark.slow
def test_proposals_by_dp_are_ahead_early(errors):
    for setting in ("hybrid", "global"):
        early = errors["DP + MCMC", setting][1]
        assert early < errors["orders", "as drawn"][1] < errors["local", ""][1]
        assert early < errors["Gibbs", ""][1] / 3


def test_every_sampler_of_dags_comes_below_the_dp(errors, cancer):
    bias = study.sad(cancer.orders.edges, cancer.dags.edges)
    for place, found in errors.items():
        assert (found[-1] < bias / 3) == (place not in BIASED), place


def test_orders_as_drawn_settle_at_the_dp_and_ellis_weights_nowhere_near(errors, cancer):
    bias = study.sad(cancer.orders.edges, cancer.dags.edges)
    assert errors["orders", "as drawn"][-1] == pytest.approx(bias, abs=0.05)
    assert errors["orders", "Ellis"][-1] > 2 * bias


# Figures 4 and 5


@pytest.mark.slow
def test_strong_tables_have_the_shifted_mean():
    rng, cancer = np.random.default_rng(3), bn.load_network("cancer")
    draws = [cases.strong_tables(cancer, rng).tables[3] for _ in range(3000)]
    mean = np.mean(draws, axis=0)
    np.testing.assert_allclose(mean, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]] * 2, atol=0.01)
    # Variance of a beta distribution with 10 in all: mean (1 - mean) / 11.
    np.testing.assert_allclose(np.var(draws, axis=0), 2 / 9 / 11, rtol=0.1)


def test_areas_of_the_truth_and_of_its_reverse():
    truth = np.array([0, 1, 2])
    assert study.areas([truth], truth).tolist() == [1, 1]
    assert study.areas([[2, 4, 0]], truth).tolist() == [1, 0]


def test_audit_of_the_edges_found():
    found = study.stored_found()
    assert found.by_chain.shape == (10, 5, 10, 2)
    assert (found.dp > 0.995).all()
    edges = found.by_chain[..., 0].mean(axis=2)
    place = {name: i for i, name in enumerate(study.SAMPLERS)}
    for name in ("Hybrid", "Global"):
        assert (edges[:, place[name]] > edges[:, place["Gibbs"]]).mean() >= 0.8
        assert np.median(edges[:, place[name]]) > np.median(edges[:, place["Local"]])


@pytest.mark.slow
def test_a_saved_data_set_is_found_again():
    again, found = study.discover(3, draws=2000), study.stored_found()
    np.testing.assert_allclose(again.by_chain, found.by_chain[3], atol=1e-6)
    np.testing.assert_allclose(again.direct, found.direct[3], atol=1e-6)


# Figures 6 to 8


@pytest.mark.parametrize("name", ["synthetic", "tic-tac-toe"])
def test_a_live_fold_gives_the_saved_numbers(name):
    live = study.forecast(study.rows(name), [4], runs=5, key=study.KEYS[name])
    kept = study.stored_forecast(name)
    np.testing.assert_allclose(live.curves[0], kept.curves[4], atol=1e-5)
    np.testing.assert_allclose(live.plain[0], kept.plain[4], atol=1e-5)
    assert np.isnan(live.dp).all() and not np.isnan(kept.dp).any()


def test_audit_of_the_predictions():
    """Figures 6 to 8 as stored: the best DAG is rarely beaten on synthetic data, but elsewhere."""
    margins = [study.margin(one[:, 0], one[:, 1]) for one in study.stored_networks()]
    assert sum(mean > 2 * error for mean, error in margins) == 3
    assert all(mean > -2.5 * error for mean, error in margins)
    trees = [study.margin(one[:, 0], one[:, 2]) for one in study.stored_networks()]
    assert all(mean > 3 * error for mean, error in trees)
    for name in ("tic-tac-toe", "cells"):
        found = study.stored_forecast(name)
        ends = dict(zip(study.SAMPLERS, found.curves[..., -1].mean(axis=(0, 2)), strict=True))
        ends |= dict(zip(study.PLAIN, found.plain.mean(axis=0), strict=True))
        assert found.dp.mean() > ends["MAP"] > ends["tree"] > ends["factored"]
        assert min(ends[s] for s in ("Hybrid", "Global", "Order")) > ends["MAP"]
        assert ends["MAP"] > max(ends["Local"], ends["Gibbs"])
        assert min(ends["Local"], ends["Gibbs"]) > ends["tree"]
    (used, by_orders, without), ignored = study.stored_cells()
    mean, error = study.margin(study.stored_forecast("cells").plain[:, 0], ignored)
    assert mean > 3 * error
    assert study.sad(used, by_orders) < 0.01 < 10 < study.sad(used, without)


def test_exact_prediction_by_hand():
    """One row of a fold, as the ratio of two evidences."""
    train, test = study.split(study.rows("tic-tac-toe"), 0, study.KEYS["tic-tac-toe"])
    assert (train.m, test.m) == (862, 96)
    longer = dataclasses.replace(train, values=np.vstack([train.values, test.values[:1]]))
    sums = [
        bn.order_posterior(bn.score_families(rows, bn.BDeu(1.0), max_parents=3)).log_z
        for rows in (longer, train)
    ]
    row = dataclasses.replace(test, values=test.values[:1])
    exact = bn.predict.exact_log_density(train, row, score=bn.BDeu(1.0), max_parents=3)
    assert exact[0] == pytest.approx(sums[0] - sums[1], abs=1e-8)


@pytest.mark.parametrize("name", ["synthetic", "tic-tac-toe"])
def test_orders_predict_as_the_dp_does_after_their_burn_in(name):
    late = study.late_orders(study.rows(name), study.KEYS[name])
    mean, error = study.margin(late, study.stored_forecast(name).dp)
    assert abs(mean) < 2.5 * error
    assert (
        abs(mean)
        < study.margin(
            study.stored_forecast(name).curves[:, -1, :, -1].mean(axis=1),
            study.stored_forecast(name).dp,
        )[0]
    )


def test_global_proposals_suit_the_synthetic_rows_and_not_tic_tac_toe():
    rates = {}
    for name in ("synthetic", "tic-tac-toe"):
        table = bn.score_families(study.rows(name), bn.BDeu(1.0), max_parents=3)
        walked = study.walk(table, "Global", draws=1000, chains=4, thin=5)
        rates[name] = walked.draws.stats["acceptance_global"]
    assert rates["synthetic"].min() > 0.5 and rates["tic-tac-toe"].max() < 0.005


def test_local_moves_stay_where_they_are_on_the_cells(cells):
    train, _ = study.split(cells, 0, study.KEYS["cells"])
    table = bn.score_families(train, bn.BDeu(1.0), max_parents=3)
    walked = study.walk(table, "Local", draws=1000, chains=1, thin=2000, key=99)
    best = bn.map_dag(table).log_target[0]
    assert walked.draws.log_target.max() < best - 1000


@pytest.fixture
def cells(data_dir) -> bn.Data:
    return study.rows("cells")


def test_saved_edges_of_the_cells_are_found_again(cells):
    np.testing.assert_allclose(STORED["cell_edges"](cells), study.stored_cells()[0], atol=1e-6)
    assert cells.names == study.PROTEINS


@pytest.mark.slow
def test_saved_predictions_of_the_cells_are_made_again(cells):
    key = study.KEYS["cells"]
    assert STORED["ignoring"](cells, 2, key) == pytest.approx(study.stored_cells()[1][2], abs=1e-5)
    live = study.forecast(cells, [2], runs=5, key=key)
    np.testing.assert_allclose(live.curves[0], study.stored_forecast("cells").curves[2], atol=1e-5)


def test_the_kept_network_of_the_cells_is_the_published_one(data_dir):
    assert study.cell_network().tolist() == STORED["consensus"]().tolist()


# The page


def test_unknown_names_are_errors(cancer):
    with pytest.raises(ValueError, match="no case 'adult'"):
        cases.case("adult")
    with pytest.raises(ValueError, match="no sampler 'gibbs'"):
        study.walk(cancer.table, "gibbs", draws=1, chains=1)


def test_pictures_hold_the_numbers(errors):
    make = {name: part.make for name, part in page.page.parts.items()}
    for name, kind, marks in (("figure_4", "edges", 80), ("figure_5", "paths", 70)):
        source = make[name]().select_one({"name": kind})
        assert len(source.data["area"]) == marks
    by_time = make["figure_2"]().select_one({"name": "curves"})
    assert by_time.data["ys"][0] == errors["local", ""].tolist()
    assert len(make["figure_8"]().select_one({"name": "curves"}).data["ys"]) == 5
    levels = [item.label.value for item in make["figure_6"]().legend[0].items]
    assert {"DP", "MAP", "tree"} <= set(levels)
    assert json_item(make["figure_1"]()) and json_item(make["figure_9_slow"]())
