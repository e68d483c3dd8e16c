"""Lab 07 without a browser: its pictures, its widgets and its checks."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import annealed_importance_sampling as lab
from bnlab.labs.annealed_importance_sampling import CLIMBERS, SHAPE_STOPS

GAME = lab.GAME


def test_weights_outside_the_axis_count_at_its_ends() -> None:
    data = columns(plots.weight_pile([-99, -1, 1, 50], 0.0, (-10, 10)), "weights")
    assert (data["left"][0], data["right"][-1]) == (-10, 10)
    assert np.flatnonzero(data["runs"]).tolist() == [0, 22, 27, 49]
    assert sum(data["runs"]) == 4


def test_heaviest_runs_hold_their_shares_of_the_whole_weight() -> None:
    data = columns(plots.heaviest(np.log([1, 6, 2, 1]) - 9000, most=2), "heaviest")
    assert data["rank"] == [1, 2]
    assert data["share"] == pytest.approx([0.6, 0.2])


def test_weights_average_to_the_exact_sum() -> None:
    gaps = lab.gaps("coronary", bn.Linear(3000), 200)
    draws = lab.annealed("coronary", bn.Linear(3000))
    np.testing.assert_allclose(gaps, draws.log_weight[0] - lab.posterior("coronary").log_z)
    assert abs(lab.log_mean(gaps)) < 4 * gaps.std() / np.sqrt(200) + gaps.var()


def test_rows_of_a_slider_are_the_first_of_the_shuffled_ones() -> None:
    assert lab.row_stops(GAME) == [25, 100, 400, 958]
    assert lab.row_stops("wine") == [25, 100, 178]
    assert lab.scored(GAME, 958).log_score == pytest.approx(lab.scored(GAME).log_score)
    assert lab.posterior(GAME, 25).log_evidence > lab.posterior(GAME, 100).log_evidence


def test_sum_at_each_temperature_is_over_all_orders() -> None:
    rng, betas = np.random.default_rng(1), np.array([0, 0.3, 1])
    log_alpha = rng.normal(size=(4, 16))
    orders = list(permutations(range(4)))
    log_p = [sum(log_alpha[v, sum(1 << u for u in o[:i])] for i, v in enumerate(o)) for o in orders]
    expected = np.log(np.exp(np.array(log_p)[:, None] * betas).sum(axis=0))
    np.testing.assert_allclose(lab.log_z_of(log_alpha, betas), expected)


def test_climbs_are_those_of_the_package_and_close_in_on_their_mean() -> None:
    climb = lab.Climb()
    climb.rows.value = 400
    climb.steps.value = 1000
    data = climb.climb.source("climb").data
    assert list(data) == ["place", "mean at β", "run 1", "run 2", "run 3"]
    assert data["mean at β"][-1] == 0
    table, method = lab.scored(GAME, 400), bn.AIS(bn.Linear(1000))
    rng = np.random.default_rng(lab.SEED)
    gaps = bn.anneal_orders(table, runs=CLIMBERS, rng=rng, method=method).log_weight[0]
    told = ", ".join(f"{gap:+.1f}" for gap in gaps - lab.posterior(GAME, 400).log_z)
    assert f"ln of n! w / Z: {told} nats" in climb.climb.caption


def test_area_under_the_mean_is_ln_z() -> None:
    betas = np.linspace(0, 1, 2001)
    log_alpha = bn.order_lattice(lab.scored("coronary")).log_alpha
    log_z = lab.log_z_of(log_alpha, betas)
    assert log_z[-1] == pytest.approx(lab.posterior("coronary").log_z)
    assert np.exp(log_z[0]) == pytest.approx(720)


def test_pile_shows_the_first_runs_of_one_set() -> None:
    pile = lab.Pile()
    pile.rows.value = 400
    pile.steps.value = 100
    pile.runs.value = 20
    gaps = lab.gaps(GAME, bn.Linear(100), 20, 400)
    assert sum(pile.weights.source("weights").data["runs"]) == 20
    assert pile.weights.source("weights_marks").data["estimate"] == [lab.log_mean(gaps)]
    shares = np.exp(np.sort(gaps)[::-1] - np.logaddexp.reduce(gaps))
    np.testing.assert_allclose(pile.shares.source("heaviest").data["share"], shares, atol=1e-11)
    assert "400 rows, 20 runs of 100 steps" in pile.weights.caption


def test_shapes_show_where_the_steps_are_and_what_spread_is_left() -> None:
    shapes = lab.Shapes()
    shapes.dataset.value = "wine"
    shapes.steps.value = 1000
    shapes.schedule.value = "harmonic"
    betas = shapes.acceptance.source("acceptance_path").data["beta"]
    assert len(betas) == 100
    assert betas[-1] < 0.1
    spread = shapes.spread.source("spread").data
    place = SHAPE_STOPS.index(1000)
    assert spread["harmonic"][place] > 5 * spread["linear"][place]
    assert "the last goes from 0.5 to 1" in shapes.acceptance.caption


def test_check_of_runs_between_two_targets(capsys: pytest.CaptureFixture[str]) -> None:
    def between(a, b, kernel, betas, place=0):
        m = a / a.sum()
        for pair in pairwise(betas):
            m = (m @ kernel(pair[place])) * (b / a) ** (pair[1] - pair[0])
        return m.sum()

    assert not lab.check_between(lambda a, b, kernel, betas: None)
    assert not lab.check_between(lambda a, b, kernel, betas: b.sum())
    assert not lab.check_between(lambda a, b, kernel, betas: b.sum() / a.sum())
    assert not lab.check_between(lambda *given: between(*given, place=1))
    assert lab.check_between(between)
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_spreads(capsys: pytest.CaptureFixture[str]) -> None:
    def spread(p, kernel, betas, power=2):
        first = second = np.full(len(p), 1 / len(p))
        for now, later in pairwise(betas):
            first = (first @ kernel(now)) * p ** (later - now)
            second = (second @ kernel(now)) * p ** (power * (later - now))
        return max(second.sum() / first.sum() ** 2 - 1, 0) ** 0.5

    assert not lab.check_spread(lambda p, kernel, betas: None)
    assert not lab.check_spread(lambda p, kernel, betas: p.std() / p.mean())
    assert not lab.check_spread(lambda *given: spread(*given, power=1))
    assert lab.check_spread(spread)
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_schedule(lambda steps: None)
    assert not lab.check_schedule(lambda steps: np.linspace(0.1, 1, steps + 1))
    assert not lab.check_schedule(lambda steps: np.linspace(0, 1, steps + 1))
    assert not lab.check_schedule(lambda steps: bn.Harmonic(steps).betas)
    assert lab.check_schedule(lambda steps: np.linspace(0, 1, steps + 1) ** 1.8)
    assert capsys.readouterr().out.count("not yet") == 4
