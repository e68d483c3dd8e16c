"""Beal (2003), chapter 6: what its tables print, against the long runs and small live ones."""

import itertools
import json
import math

import numpy as np
import pytest
from bokeh.embed import json_item

from bnlab.hidden import AIS, HiddenModel, JointDirichlet, Warped, anneal, fit_vb
from bnlab.papers.beal2003 import page, study, world
from bnlab.running import Stopped

HEADLINE = (640, 1280, 2560, 5120, 10240)
VB = world.SCORES.index("vb")


@pytest.fixture(scope="module")
def long() -> study.Study:
    return study.saved()


# What is printed


def test_printed_tables_agree_with_each_other():
    np.testing.assert_array_equal(world.TABLE_6_1[:, -1], world.TABLE_6_3[:, -1])
    assert world.TABLE_6_3[world.SIZES.index(5120)].tolist() == [12, 1, 24, 2, 16, 1]
    assert world.TABLE_6_1.shape == (20, 10) and world.TABLE_6_5.shape == (20, 5)
    for column in world.TABLE_6_2.values():
        assert sum(column) == pytest.approx(100, abs=0.11)


def test_printed_parameters_are_probabilities_up_to_rounding():
    for table in world.thesis_network().tables:
        assert table.sum(axis=1) == pytest.approx(1)
    network = world.thesis_network()
    assert network.tables[0][0, 1] == pytest.approx(0.88)
    assert float(network.tables[0][0, 1] * network.tables[1][0, 1]) == pytest.approx(0.81, abs=0.01)


def test_percentages_of_single_runs_are_of_106_and_not_of_136():
    def is_share(percent: float, of: int) -> bool:
        return any(round(100 * k / of, 1) == percent for k in range(of + 1))

    single = [value for row in world.TABLE_6_4.values() for value in row[:2]]
    mean = [value for row in world.TABLE_6_4.values() for value in row[3:]]
    assert all(is_share(value, 106) for value in single)
    assert not any(is_share(value, 136) for value in single)
    assert all(is_share(value, 136) for value in mean)


# The two misprints


def test_nine_structures_have_more_parameters_than_the_true_one():
    larger = world.larger_structures()
    assert larger.all == (54,) * 4 + (58,) * 4 + (66,)
    assert larger.with_truth_inside == (58, 58, 66)  # the thesis' three


def test_the_rank_of_the_jacobian_is_not_d_less_the_number_of_hidden_nodes():
    found = world.dimensions()
    lost = found.complete - found.observed
    assert (lost >= 0).all() and lost[world.truth()] == 0 and found.hidden[world.truth()] == 2
    assert lost.max() == 14
    assert (lost == found.hidden).sum() == 13


# The world of the chapter


def test_data_sets_are_their_own_and_nested():
    one, other = world.data_of_print(0), world.data_of_print(1)
    assert one.shape == (10240, 4) and set(np.unique(one)) == {0, 1, 2, 3, 4}
    assert (one != other).any()
    again = world.thesis_network().sample(20, world.stream(0, 0)).values[:, 2:]
    np.testing.assert_array_equal(one[:20], again)


def test_ranks_count_the_structures_above():
    scores = np.zeros((3, 136))
    scores[1, :5] = 1
    scores[2, world.truth()] = 1
    assert world.ranks(scores).tolist() == [1, 6, 1]
    assert world.gaps(scores).tolist() == [0, -1, 0]


def test_the_corrected_cs_adds_ln_n_for_two_hidden_nodes():
    found = world.scores_of_print(0, 40)
    added = found[:, world.SCORES.index("csd")] - found[:, world.SCORES.index("cs")]
    np.testing.assert_allclose(added, world.dimensions().hidden * math.log(40) / 2)


def test_printed_cs_is_below_vb_and_all_are_below_map():
    found = world.scores_of_print(0, 160)
    assert (found[:, world.SCORES.index("cs")] <= found[:, VB] + 1e-9).all()
    assert (found[:, VB] < found[:, world.SCORES.index("map")]).all()


# The long runs


def test_a_live_draw_gives_the_long_runs_numbers(long):
    found = world.standing_in(world.scores_of_draw(3, 640))
    np.testing.assert_array_equal(found.rank, long.standing("draw", 640).rank[3])
    np.testing.assert_allclose(found.gap, long.standing("draw", 640).gap[3], rtol=1e-6)


def test_audit_of_tables_6_1_6_2_and_6_5(long):
    assert study.outside_bands(long, HEADLINE) == []
    assert study.outside_ranges(long).mean() <= 0.25
    for n in HEADLINE[2:]:
        counts = study.first_ranks(long, n)  # BIC, BICp, CS, CS-dagger, VB
        for worse, better in itertools.pairwise(counts):
            assert better >= worse - study.band(int(max(worse, 1)))
        ranks = np.median(study.score_ranks(long, n)[:, 5:], axis=0)
        assert ranks[-1] == {2560: 3.5}.get(n, 1) == ranks.min()
    for other in world.TABLE_6_2:
        found = study.compared(long, other)
        assert sum(found) == pytest.approx(100)
        assert found.better > found.worse


def test_audit_of_the_samplers(long):
    """Tables 6.3 and 6.4, Figures 6.11 and 6.12."""
    for n in (640, 2560, 10240):
        found = study.violations(long, n)
        assert abs(found.rejected - world.TABLE_6_4[n].rejected) < 5
        assert found.averaged <= found.single and found.single_plain <= found.single
    rates = [long.batches(n).acceptance.mean(axis=0) for n in (10, 640, 10240)]
    assert (np.diff([rate.mean() for rate in rates]) < 0).all()
    assert rates[-1][0] > rates[-1][-1]
    for n in (10, 160, 480, 640):
        gold = study.mean_of(long.particles(n))
        assert (long.scores(n)[:, VB] < gold + 1).all()
        if n != 160:
            noise = study.spread(long.batches(n).log_p)
            assert study.spread(long.particles(n)) < noise / 3


@pytest.mark.slow
def test_fifteen_more_data_sets_of_2560_rows():
    ranks = [world.standing_in(world.scores_of_print(i, 2560)).rank[VB] for i in range(10, 25)]
    assert np.median(ranks) == 2


# The sampler: Tables 6.3 and 6.4, Figures 6.10 to 6.12


def test_long_schedules_from_truth_and_prior_meet():
    found = study.traced(160, steps=(64, 4096), traces=4)
    start, end = np.abs(found.from_prior - found.from_truth).mean(axis=0)
    assert end < start / 4
    assert found.from_truth[0] > found.from_prior[:, 0].max()


@pytest.mark.parametrize("n", [8, 80])
def test_the_truth_is_between_upward_and_reverse_runs(n):
    found = study.both_sides(n, steps=[256, 4096])
    assert found.lower[0] < study.gold(n) < found.upper[0]
    assert (found.upper - found.lower)[1] < (found.upper - found.lower)[0]
    noise = 4 * max(side[:, 1].std() for side in found) / 20**0.5
    assert found.lower[1] - noise < study.gold(n) < found.upper[1] + noise


# BayesPy, an independent implementation


def test_bound_of_the_latent_class_model_equals_bayespys():
    nodes = pytest.importorskip("bayespy.nodes", reason="needs the peers extra")
    inference = pytest.importorskip("bayespy.inference", reason="needs the peers extra")
    rows = world.data_of_print(0)[:480]
    model = HiddenModel([0, 1, 1, 1, 1], [2, 5, 5, 5, 5], hidden=[0])
    fit = fit_vb(model, rows, restarts=3, rng=np.random.default_rng(1))
    for _ in range(100):  # past the rule by which a climb ends
        fit = fit_vb(model, rows, restarts=1, rng=np.random.default_rng(2), start=fit.theta)
    tables = [table[:, rows[:, i]].T for i, table in enumerate(fit.theta[1:])]
    shares = fit.theta[0] * np.prod(tables, axis=0)
    weights = nodes.Dirichlet(np.ones(2))
    classes = nodes.Categorical(weights, plates=(len(rows),))
    emissions = [nodes.Dirichlet(np.ones(5), plates=(2,)) for _ in range(4)]
    seen = [nodes.Mixture(classes, nodes.Categorical, table) for table in emissions]
    for node, column in zip(seen, rows.T, strict=True):
        node.observe(column)
    classes.initialize_from_parameters(shares / shares.sum(axis=1, keepdims=True))
    peer = inference.VB(weights, *emissions, classes, *seen)
    peer.update(repeat=500, tol=1e-12, verbose=False)
    assert fit.value == pytest.approx(float(peer.compute_lowerbound()), abs=1e-6)


# The code behind the page


@pytest.mark.slow
def test_plans_are_made_part_by_part():
    told = []
    plan = study.Plan(1, [5], 1, [5], {5: 2}, steps=16, particles={5: 1})
    made = study.made(plan, progress=lambda done, total, _: told.append((done, total)))
    assert told == [(i, 4) for i in range(1, 5)]
    assert {"plain draw 5", "rank print 5", "acceptance 5", "smc 5"} <= set(made.arrays)
    assert made.batches(5).log_p.shape == (136, 2) and made.scores(5).shape == (136, 7)
    with pytest.raises(Stopped, match="stopped after 1 of 4 parts"):
        study.made(plan, progress=lambda *_: False)


def test_the_saved_study_has_the_parts_of_the_long_plan(long):
    assert long.sizes("rank draw") == sorted(study.LONG.draw_sizes)
    assert long.sizes("rank print") == long.sizes("scores") == sorted(study.LONG.print_sizes)
    assert long.sizes("ais") == sorted(study.LONG.batches)
    assert long.sizes("smc") == sorted(study.LONG.particles)
    for n in study.LONG.draw_sizes:
        assert len(long.standing("draw", n).rank) == study.LONG.draws
    for n, runs in study.LONG.batches.items():
        assert long.batches(n).log_p.shape == (136, runs)
    for n, runs in study.LONG.particles.items():
        assert long.particles(n).shape == (136, runs)


@pytest.mark.parametrize("n", [10, 480])
def test_saved_estimates_are_made_again_by_their_calls(long, n):
    model = world.models()[world.truth()]
    rng = world.stream(5, n, 16_384).spawn(len(world.models()))[world.truth()]
    method = AIS(Warped(16_384), JointDirichlet())
    found = anneal(model, world.data_of_print(0)[:n], runs=5, rng=rng, method=method)
    np.testing.assert_allclose(found.log_weight, long.batches(n).log_p[world.truth()], atol=6e-4)


def test_estimates_of_the_thesis_sampler_are_means_of_weights():
    log_p = np.log([[1.0, 3.0], [2.0, 2.0]])
    np.testing.assert_allclose(study.mean_of(log_p), np.log([2.0, 2.0]))
    assert study.mean_of(np.array([[-9000.0, -9000.0]])) == pytest.approx(-9000)


def test_pictures_hold_the_studies_numbers():
    make = {name: part.make for name, part in page.page.parts.items()}
    assert len(json.dumps(json_item(make["figure_6_2"](n=640)))) < 45_000
    in_print = make["figure_6_3_print"]().select_one({"name": "by_size"}).data
    assert in_print["VB"] == world.TABLE_6_1[:, 8].tolist()
    assert make["figure_6_7"]().select_one({"name": "by_size"}).data["VB"][-1] == 1
    for name in ("figure_6_4", "figure_6_11", "figure_6_12"):
        assert json_item(make[name]())
