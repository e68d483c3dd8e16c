"""Lab 07 without a browser: its pictures, its widgets and its checks."""

from itertools import pairwise

import numpy as np
import pytest
from clicking import run_then_move
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import annealed_importance_sampling as lab
from bnlab.labs.annealed_importance_sampling import LEAST_GAP, SHAPE_STOPS, step_stops

NAN = float("nan")


def test_weights_outside_the_axis_count_at_its_ends() -> None:
    data = columns(plots.weight_pile([-99, -1, 1, 50], 0.0, (-10, 10)), "weights")
    assert (data["left"][0], data["right"][-1]) == (-10, 10)
    assert np.flatnonzero(data["runs"]).tolist() == [0, 22, 27, 49]
    assert sum(data["runs"]) == 4


def test_heaviest_runs_hold_their_shares_of_the_whole_weight() -> None:
    data = columns(plots.heaviest(np.log([1, 6, 2, 1]) - 9000, most=2), "heaviest")
    assert data["rank"] == [1, 2]
    assert data["share"] == pytest.approx([0.6, 0.2])


def test_speed_up_is_relative_to_the_first() -> None:
    picture = plots.speed_up([1, 2, 4], [6.0, 4.0, 2.0])
    assert picture.select_one({"name": "speed_up"}).data["times"] == [1, 1.5, 3]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lower has shape \(1,\), but 2 values"):
        plots.evidence_bounds([10, 100], [-3], [2, 1])
    with pytest.raises(ValueError, match=r"A B has shape \(1,\)"):
        plots.bridge([0, 1], {"A B": [0.5]})


def test_steps_are_multiples_of_variables_times_rows() -> None:
    assert step_stops("wine") == [145, 578, 2314, 9256, 37024]
    assert step_stops("tic-tac-toe")[2] == 10 * 958


def test_weights_average_to_the_exact_sum() -> None:
    gaps = lab.gaps("coronary", bn.Linear(3000), 200)
    draws = lab.annealed("coronary", bn.Linear(3000))
    np.testing.assert_allclose(gaps, draws.log_weight[0] - lab.posterior("coronary").log_z)
    assert abs(lab.log_mean(gaps)) < 4 * gaps.std() / np.sqrt(200) + gaps.var()


def test_errors_of_edges_with_and_without_weights() -> None:
    rng = np.random.default_rng(1)
    weighted, plain = lab.edge_errors("coronary", runs=3000, steps=30, rng=rng)
    assert weighted < 1 < plain


def test_bounds_are_by_the_package_and_counts_its_moves() -> None:
    told = []

    def tell(done: int, total: int, found: list) -> bool:
        told.append((done, total, len(found)))
        return True

    found = lab.Bounds(stops=[100, 1000]).compute(tell, "coronary", 9)
    again = np.random.default_rng(lab.SEED)
    exact, method = lab.posterior("coronary"), bn.AIS(bn.Linear(100))
    lower = bn.estimate_lower_bound(exact.table, runs=9, rng=again, method=method)
    upper = bn.estimate_upper_bound(exact, runs=9, rng=again, method=method)
    steps, low, high = found[0]
    assert steps == 100
    assert low == pytest.approx(lower.log_value - exact.log_evidence)
    assert high == pytest.approx(upper.log_value - exact.log_evidence)
    assert told[-1] == (2 * 9 * 1100, 2 * 9 * 1100, 1)
    assert all(later[0] >= now[0] for now, later in pairwise(told))


def test_stopped_bounds_keep_what_is_complete() -> None:
    def stop(done: int, total: int, found: list) -> bool:
        return not found

    found = lab.Bounds(stops=[10, 100, 1000]).compute(stop, "coronary", 9)
    assert [steps for steps, _, _ in found] == [10, 100]  # one block of runs: too late to stop it
    long = lab.Bounds(stops=[500_000]).compute(lambda *_: False, "coronary", 9)
    assert long == []


def test_pile_shows_the_first_runs_of_one_set() -> None:
    pile = lab.Pile()
    pile.dataset.value = "coronary"
    pile.steps.value = 100
    pile.runs.value = 20
    gaps = lab.gaps("coronary", bn.Linear(100), 20)
    assert sum(pile.weights.source("weights").data["runs"]) == 20
    assert pile.weights.source("weights_marks").data["estimate"] == [lab.log_mean(gaps)]
    shares = np.exp(np.sort(gaps)[::-1] - np.logaddexp.reduce(gaps))
    np.testing.assert_allclose(pile.shares.source("heaviest").data["share"], shares, atol=1e-11)
    assert "20 runs of 100 steps" in pile.weights.caption


def test_bounds_hold_the_exact_value_and_close() -> None:
    bounds = lab.Bounds(stops=[30, 3000])
    bounds.dataset.value = "coronary"
    assert np.isnan(bounds.bounds.source("bounds").data["lower"]).all()
    bounds.runner.run_now()
    data = bounds.bounds.source("bounds").data
    assert max(data["lower"]) < 0 < min(data["upper"])
    gap = bounds.gap.source("gap").data["gap"]
    assert LEAST_GAP < gap[1] < gap[0]
    assert "27 runs for each bound. At 3,000 steps" in bounds.bounds.caption
    bounds.runs.value = 9
    assert bounds.found == []
    assert np.isnan(bounds.gap.source("gap").data["gap"]).all()


def test_bounds_of_older_settings_are_not_shown() -> None:
    bounds = lab.Bounds(stops=[10, 100_000])
    run_then_move(bounds, bounds.dataset, "coronary", seconds=0.01)
    assert bounds.found == []
    assert bounds.bounds.caption.startswith("Press Run")


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


def test_check_of_effective_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_effective_runs(lambda log_weights: None)
    assert not lab.check_effective_runs(len)

    def plainly(log_weights: np.ndarray) -> float:
        weights = np.exp(log_weights)
        return weights.sum() ** 2 / max((weights**2).sum(), 1e-300)

    assert not lab.check_effective_runs(plainly)
    assert lab.check_effective_runs(bn.diagnostics.weights_ess)
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_reverse_runs(capsys: pytest.CaptureFixture[str]) -> None:
    def back(w, kernel, betas, place=0):
        m = w / w.sum() / len(w)
        for pair in pairwise(reversed(betas)):
            m = (m @ kernel(pair[place])) * w ** (pair[1] - pair[0])
        return m.sum()

    assert not lab.check_reverse_mean(lambda w, kernel, betas: None)
    assert not lab.check_reverse_mean(lambda w, kernel, betas: w.sum())
    assert not lab.check_reverse_mean(lambda w, kernel, betas: 1 / w.sum())
    assert not lab.check_reverse_mean(lambda *given: back(*given, place=1))
    assert lab.check_reverse_mean(back)
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_schedule(lambda steps: None)
    assert not lab.check_schedule(lambda steps: np.linspace(0.1, 1, steps + 1))
    assert not lab.check_schedule(lambda steps: np.linspace(0, 1, steps + 1))
    assert not lab.check_schedule(lambda steps: bn.Harmonic(steps).betas)
    assert lab.check_schedule(lambda steps: np.linspace(0, 1, steps + 1) ** 1.5)
    assert capsys.readouterr().out.count("not yet") == 4
