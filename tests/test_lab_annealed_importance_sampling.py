"""Lab 07 without a browser: its pictures, its widgets and its checks."""

from itertools import pairwise, permutations
from math import factorial

import numpy as np
import pytest
from pictures import columns
from stills import run

import bnlab as bn
from bnlab import plots
from bnlab.labs import annealed_importance_sampling as lab
from bnlab.labs.annealed_importance_sampling import SHAPE_STOPS
from bnlab.labs.board import rows, stops

GAME = lab.GAME


def test_heaviest_runs_hold_their_shares_of_the_whole_weight() -> None:
    data = columns(plots.heaviest(np.log([1, 6, 2, 1]) - 9000, most=2), "heaviest")
    assert data["rank"] == [1, 2]
    assert data["share"] == pytest.approx([0.6, 0.2])


def test_rows_of_a_slider_are_the_first_of_the_shuffled_ones() -> None:
    assert stops(lab.ROW_STOPS, rows(GAME).m) == (25, 100, 400, 958)
    assert stops(lab.ROW_STOPS, rows("wine").m) == (25, 100, 178)
    assert lab.scored(GAME, 958).log_score == pytest.approx(lab.scored(GAME).log_score)
    assert lab.posterior(GAME, 25).log_evidence > lab.posterior(GAME, 100).log_evidence


def test_sum_at_each_temperature_is_over_all_orders() -> None:
    rng, betas = np.random.default_rng(1), np.array([0, 0.3, 1])
    log_alpha = rng.normal(size=(4, 16))
    orders = list(permutations(range(4)))
    log_p = [sum(log_alpha[v, sum(1 << u for u in o[:i])] for i, v in enumerate(o)) for o in orders]
    expected = np.log(np.exp(np.array(log_p)[:, None] * betas).sum(axis=0))
    np.testing.assert_allclose(lab.log_z_of(log_alpha, betas), expected)


def test_runs_up_and_back_are_those_of_the_package() -> None:
    m, steps = 400, 100
    upward, backward = lab.paths(GAME, m, steps)
    exact, method = lab.posterior(GAME, m), bn.AIS(bn.Linear(100))
    up, down = upward[:, -1], backward[:, 0]
    draws = bn.anneal_orders(
        exact.table, runs=lab.RUNS, rng=np.random.default_rng(lab.SEED), method=method
    )
    np.testing.assert_allclose(up, draws.log_weight[0] - exact.log_z)
    same = {"runs": lab.RUNS, "rng": np.random.default_rng(lab.SEED), "method": method, "bins": 1}
    bound = bn.estimate_upper_bound(exact, delta=0.05, **same).log_value - exact.log_evidence
    assert -lab.log_mean(-down) == pytest.approx(bound + np.log(0.05))
    view = lab.Paths()
    view.steps.value, view.rows.value = steps, m
    means = view.paths.source("means").data
    for gaps, label, at, sign in zip((upward, backward), lab.MEANS, (-1, 0), (1, -1), strict=True):
        assert gaps.shape == (lab.RUNS, lab.BETAS.size)
        assert gaps[:, -1 - at] == pytest.approx(0, abs=1e-9)  # where they begin
        assert means[label][at] == pytest.approx(sign * lab.log_mean(sign * gaps[:, at]))


@pytest.mark.parametrize("steps", [3, 30])
def test_weights_on_the_way_are_those_of_the_page(steps: int) -> None:
    cells = ("data = ", "def node_terms", "def move", "def anneal")
    page, schedule = run("07_annealed_importance_sampling", cells), np.linspace(0, 1, steps + 1)
    (found, _), exact = lab.paths(GAME, 958, steps), lab.bridge(GAME, 958)
    for t, rng in enumerate(np.random.default_rng(lab.SEED).spawn(3)):
        _, log_w = page["anneal"](schedule, page["log_alpha"], rng)
        assert found[t, -1] == pytest.approx(log_w - np.log(factorial(10)) - exact[-1])
    half = lab.BETAS.size // 2
    for t, rng in enumerate(np.random.default_rng(lab.SEED).spawn(3)):
        order, log_w = page["anneal"](schedule[: steps // 2 + 1], page["log_alpha"], rng)
        order = page["move"](order, schedule[steps // 2], page["log_alpha"], rng)
        rest = 0.5 - schedule[steps // 2]
        log_w += rest * sum(page["node_terms"](order, page["log_alpha"]))
        assert found[t, half] == pytest.approx(log_w - np.log(factorial(10)) - exact[half])


@pytest.mark.slow
def test_fans_close_as_runs_get_longer() -> None:
    view = lab.Paths()
    spread = []
    for steps in (10, 100, 1000, 10_000):
        view.steps.value = steps
        up, down = (view.paths.source(name).data for name in ("upward", "backward"))
        means = view.paths.source("means").data
        upward, backward = lab.paths(GAME, 958, steps)
        assert up["last"] == upward[:, -1].tolist() == [gaps[-1] for gaps in up["gaps"]]
        assert down["last"] == backward[:, 0].tolist() == [gaps[0] for gaps in down["gaps"]]
        mean_up, mean_down = (means[label] for label in lab.MEANS)
        assert mean_up == pytest.approx(lab.log_mean(upward.T))
        assert mean_down == pytest.approx(-lab.log_mean(-backward.T))
        assert f"{np.mean(up['last']):+.2f} nats" in view.paths.caption
        shares = np.exp(np.sort(up["last"])[::-1] - np.logaddexp.reduce(up["last"]))
        np.testing.assert_allclose(view.shares.source("heaviest").data["share"], shares, atol=1e-11)
        spread.append((np.std(up["last"]), np.mean(up["last"]), -np.mean(down["last"])))
    spreads, *ends = np.array(spread).T
    assert (np.diff(spreads) < 0).all() and spreads[-1] < 1 < 40 < spreads[0]
    for end in ends:
        assert (np.diff(end) > 0).all() and end[-1] < 0
    assert f"ln Z = {lab.posterior(GAME, 958).log_z:.2f}" in view.paths.caption


def test_area_under_the_mean_is_ln_z() -> None:
    betas = np.linspace(0, 1, 2001)
    log_alpha = bn.order_lattice(lab.scored("coronary")).log_alpha
    log_z = lab.log_z_of(log_alpha, betas)
    assert log_z[-1] == pytest.approx(lab.posterior("coronary").log_z)
    assert np.exp(log_z[0]) == pytest.approx(720)


@pytest.mark.slow
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


def test_check_of_edges(capsys: pytest.CaptureFixture[str]) -> None:
    def edge(orders, log_w, log_alpha, u, v, most=np.max, weigh=True):
        w, f = np.exp(log_w - most(log_w)) if weigh else np.ones(len(orders)), []
        for order in orders.tolist():
            mask = sum(1 << x for x in order[: order.index(v)])
            without = log_alpha[v, mask & ~(1 << u)]
            f.append(-np.expm1(without - log_alpha[v, mask]))
        return np.sum(w * f) / w.sum()

    def before(orders, log_w, log_alpha, u, v):  # of u before v, edge or not
        places = np.argsort(orders, axis=1)
        return np.average(places[:, u] < places[:, v], weights=np.exp(log_w - log_w.max()))

    assert not lab.check_edge(lambda *given: None)
    assert not lab.check_edge(before)
    assert not lab.check_edge(lambda *given: edge(*given, weigh=False))
    with np.errstate(all="ignore"):
        assert not lab.check_edge(lambda *given: edge(*given, most=lambda log_w: 0))
    assert lab.check_edge(edge)
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


@pytest.mark.slow
def test_check_of_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_schedule(lambda steps: None)
    assert not lab.check_schedule(lambda steps: np.linspace(0.1, 1, steps + 1))
    assert not lab.check_schedule(lambda steps: np.linspace(0, 1, steps + 1))
    assert not lab.check_schedule(lambda steps: bn.Harmonic(steps).betas)
    assert lab.check_schedule(lambda steps: np.linspace(0, 1, steps + 1) ** 1.8)
    assert capsys.readouterr().out.count("not yet") == 4
