"""Lab 09 without a browser: its pictures, its widgets and its checks."""

import numpy as np
import pytest
from clicking import run_then_move
from pictures import columns

from bnlab import plots
from bnlab.hidden import AIS, RowDirichlet, Warped, anneal, exact_evidence, score
from bnlab.labs import hidden_variables as lab
from bnlab.labs.hidden_variables import runs, scores
from bnlab.labs.hidden_variables.runs import LOOP_ROWS, LOOP_RUNS, PARTS, THESIS
from bnlab.papers.beal2003.annealing import both_ways

NAN = float("nan")
ROWWISE = RowDirichlet()


def go_on(*_: object) -> bool:
    return True


def test_scores_that_are_missing_have_no_winner() -> None:
    look = {"y_range": (-10, -7), "name": "vb", "title": "VB"}
    picture = plots.structure_scores([18, 50], [NAN, NAN], 1, **look)
    marks = columns(picture, "vb_marks")
    assert marks["best_x"] == marks["true_x"] == [50]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scores has shape \(1,\), but 2 values"):
        plots.structure_scores([18, 50], [-9.0], 0, y_range=(-10, -7), name="vb", title="VB")
    with pytest.raises(ValueError, match="9 lines and 0 rules"):
        plots.log_curves(
            [1],
            {str(i): [1] for i in range(9)},
            {},
            x_label="x",
            y_label="y",
            title="t",
            alt="a",
            name="n",
        )


def test_the_class_of_structures_is_that_of_the_thesis() -> None:
    sizes = [model.free_parameters for model in lab.structures()]
    assert len(sizes) == 136
    assert (min(sizes), max(sizes)) == (18, 66)
    assert sizes[lab.true_number()] == 50
    assert sum(size > 50 for size in sizes) == 9
    assert [sum(lab.causes_of(i) == k for i in range(136)) for k in (0, 1, 2)] == [1, 15, 120]


def test_tables_are_those_in_print() -> None:
    for printed, table in zip(scores.TABLES, lab.thesis_tables(), strict=True):
        np.testing.assert_allclose(printed, table, atol=0.021)
        np.testing.assert_allclose(table.sum(axis=1), 1)


def test_rows_are_nested_and_come_from_the_tables() -> None:
    np.testing.assert_array_equal(lab.rows(40).values, lab.rows(160).values[:40])
    first = np.bincount(lab.rows(10_240).values[:, 0], minlength=5) / 10_240
    cause, given = lab.thesis_tables()[0], lab.thesis_tables()[2]
    np.testing.assert_allclose(first, (cause @ given)[0], atol=0.02)
    assert not np.array_equal(lab.rows(40, 2004).values, lab.rows(40).values)


def test_completed_counts_are_integrated_by_hand() -> None:
    # One binary cause of one binary column, two rows: the sum over four completions.
    one = [[[2, 0]], [[1, 0]], [[0, 2]], [[1, 1]]]
    assert np.exp([lab.log_completed(c) for c in one]) == pytest.approx(
        [1 / 3, 1 / 2, 1 / 3, 1 / 6]
    )
    assert lab.exp_digamma([[3.0]]) == pytest.approx(np.exp(1 + 0.5 - 0.5772156649))


def test_scores_are_by_the_package_with_the_alias_term() -> None:
    found = lab.scored(10)
    assert list(found) == ["MAP", "BIC", "BICp", "CS", "VB"]
    model, number = lab.true_model(), lab.true_number()
    alone = score(model, lab.rows(10), ["vb"], rng=np.random.default_rng(1), alias=True)
    assert found["VB"][number] == pytest.approx(alone["vb"].log_value, abs=3)
    assert (found["CS"] <= found["VB"] + 1e-9).all()
    assert lab.rank([-3.0, -1.0, -2.0], 2) == 2


def test_gold_is_above_the_bound_without_its_alias_term() -> None:
    found = lab.gold(10)
    aliases = np.log([model.aliases for model in lab.structures()])
    assert (lab.scored(10)["VB"] - aliases <= found.log_value + 4 * found.stderr + 1e-9).all()
    assert found.stderr[0] == pytest.approx(0, abs=1e-9)  # nothing hidden has a child


def test_simulated_tables_are_those_that_made_the_rows() -> None:
    problem = lab.simulated(8)
    exact = exact_evidence(lab.true_model(), problem.data)
    assert (problem.reference_is, problem.reference) == ("exact", exact.log_value)
    assert lab.simulated(80).reference_is == "SMC"


def test_bands_are_means_and_bounds_of_runs_both_ways() -> None:
    band = lab.Sides(stops=[100]).compute(go_on, 8, THESIS)[0]
    problem, rng = lab.simulated(8), np.random.default_rng([scores.SEED, 8, 20])
    how = {"method": AIS(Warped(100)), "runs": 20, "rng": rng}
    up, back = both_ways(problem.data, problem.tables, **how)
    assert band.upward == pytest.approx(up.log_weight.mean() - problem.reference)
    assert band.reverse == pytest.approx(back.log_weight.mean() - problem.reference)
    assert band.low == pytest.approx(
        np.logaddexp.reduce(up.log_weight - problem.reference) - np.log(20) + np.log(0.05)
    )
    assert band.low < 0 < band.high


def test_a_stopped_band_keeps_what_is_complete() -> None:
    told = []

    def stop(done: int, total: int, found: list) -> bool:
        told.append((done, total))
        return not found

    found = lab.Sides(stops=[10, 2000]).compute(stop, 8, THESIS)
    assert [band.steps for band in found] == [10]
    assert told[-1][1] == 2 * 20 * 2010
    assert lab.Sides(stops=[2000, 3000]).compute(lambda *_: False, 8, THESIS) == []


def test_traces_start_at_the_truth_or_at_the_prior() -> None:
    steps = lab.Steps(stops=[4, 64])
    found = steps.compute(go_on, 40, THESIS, "one row at a time")
    names = list(found.lines)
    assert names[0] == "from the true tables"
    assert found.lines[names[0]][0] > max(found.lines[name][0] for name in names[1:])
    stopped = steps.compute(lambda *_: False, 40, THESIS, "one row at a time")
    assert [np.isfinite(line).sum() for line in stopped.lines.values()] == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("steps", [64, 256])
def test_parts_of_the_schedule_add_up(steps: int) -> None:
    problem, method = lab.simulated(8), AIS(Warped(steps), ROWWISE)
    rng = np.random.default_rng([scores.SEED, 8, steps])
    up, back = both_ways(problem.data, problem.tables, method=method, runs=3, rng=rng)
    found = runs.loop(8, steps, 0.2, ROWWISE, 3)
    assert found.upward.sum() == pytest.approx(up.log_ratio.sum(axis=1).mean())
    assert found.reverse.sum() == pytest.approx(back.log_ratio.sum(axis=1).mean())
    assert found.betas.size == PARTS + 1
    assert (found.betas[0], found.betas[-1]) == (0, 1)
    assert ((found.acceptance > 0) & (found.acceptance <= 1)).all()


def test_slopes_of_parts_are_of_one_magnitude() -> None:
    """Ratios over widths are mean log likelihoods, whatever the parts' widths."""
    found = runs.loop(LOOP_ROWS, 256, 0.2, ROWWISE, LOOP_RUNS)
    slopes = found.reverse / np.diff(found.betas)
    assert (np.diff(slopes) > -20).all()
    assert 0.8 < slopes[0] / slopes[-1] < 1.3


def test_noise_is_the_spread_of_single_runs() -> None:
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    found = lab.noise_of_runs([10], ROWWISE, steps=16, runs=5, rng=rng)
    method = AIS(Warped(16), ROWWISE)
    same = anneal(lab.true_model(), lab.rows(10), runs=5, rng=again, method=method)
    assert found == {10: pytest.approx(same.log_weight.std(ddof=1))}


def test_scores_follow_the_slider_and_smc_waits_for_run() -> None:
    scores = lab.Scores(sizes=(10, 40), size=40)
    assert np.isnan(scores.panels["SMC"].source("smc").data["score"]).all()
    scores.size.value = 10
    np.testing.assert_allclose(scores.panels["VB"].source("vb").data["score"], lab.scored(10)["VB"])
    marks = scores.panels["BIC"].source("bic_marks").data
    assert marks["true_x"] == [50]
    assert f"rank {lab.rank(lab.scored(10)['BIC'])};" in scores.panels["BIC"].caption
    scores.runner.run_now()
    shown = scores.panels["SMC"].source("smc").data["score"]
    np.testing.assert_allclose(shown, lab.gold(10).log_value)
    scores.size.value = 40
    assert scores.panels["SMC"].caption.startswith("Not run yet")


def test_a_stopped_smc_shows_nothing() -> None:
    scores = lab.Scores(sizes=(10,), size=10)
    assert scores.compute(lambda *_: False, size=10) is None
    scores._finish(((10,), None))
    assert scores.found is None


def test_ranks_are_medians_over_data_sets() -> None:
    ranks = lab.Ranks(sizes=(10, 40))
    assert np.isnan(ranks.ours.source("ranks").data["VB"]).all()
    ranks.sets.value = 2
    ranks.runner.run_now()
    expected = np.median([lab.rank(lab.scored(40, seed)["CS"]) for seed in (2003, 2004)])
    assert ranks.ours.source("ranks").data["CS"][1] == expected
    assert "2 complete data sets" in ranks.ours.caption
    assert ranks.theirs.source("printed_ranks").data["VB"][-1] == 1
    one = ranks.compute(lambda done, total, found: done < 3, sets=2)
    assert [list(known) for known in one.values()] == [[10, 40], [10]]


def test_steps_show_runs_beside_vb_and_bic() -> None:
    steps = lab.Steps(stops=[16, 64])
    steps.size.value = 80
    steps.moves.value = "one row at a time"
    steps.runner.run_now()
    line = steps.panel.source("runs").data["run 1"]
    assert line == steps.found.lines["run 1"].tolist()
    assert set(steps.panel.source("runs_rules").data) >= {"VB, a lower bound", "BIC"}
    assert "4 of 4 runs from the prior below VB" in steps.panel.caption
    steps.shape.value = "linear"
    assert steps.found is None
    assert np.isnan(steps.panel.source("runs").data["run 1"]).all()


def test_steps_of_older_settings_are_not_shown() -> None:
    steps = lab.Steps(stops=[200_000])
    run_then_move(steps, steps.size, 80, seconds=0.01)
    assert steps.found is None


def test_sides_close() -> None:
    sides = lab.Sides(stops=[16, 1024])
    sides.runner.run_now()
    data = sides.band.source("band").data
    assert max(data["upward, mean"]) < 0 < min(data["reverse, mean"])
    width = sides.width.source("width").data["width"]
    assert width[1] < width[0] / 3
    assert "K = 1,024" in sides.width.caption
    sides.shape.value = "linear"
    assert sides.found == []


def test_loops_answer_from_runs_made_before() -> None:
    loops = lab.Loops()
    loops.steps.value = 64
    loops.shape.value = "linear"
    loops.moves.value = "all rows at once (thesis)"
    expected = runs.loop(LOOP_ROWS, 64, 1e9, lab.MOVES[loops.moves.value], LOOP_RUNS)
    accepted = loops.acceptance.source("acceptance_path").data
    np.testing.assert_allclose(accepted["rate"], expected.acceptance)
    width = np.diff(expected.betas)
    np.testing.assert_allclose(
        loops.ratios.source("ratios").data["upward"], expected.upward / width
    )
    gap = (expected.reverse - expected.upward).sum()
    assert loops.ratios.caption.startswith(f"Reverse − upward: {gap:.1f} nats")


def test_labels_show_four_islands() -> None:
    labels = lab.Labels()
    labels.size.value = 2560
    data = labels.panel.source("labels").data
    folded = [np.minimum(p, 1 - np.array(p)) for p in (data["first"], data["second"])]
    near = (abs(folded[0] - 0.12) < 0.05) & (abs(folded[1] - 0.08) < 0.05)
    assert near.mean() > 0.8
    quarters = set(zip(np.array(data["first"]) < 0.5, np.array(data["second"]) < 0.5, strict=True))
    assert len(quarters) == 4
    assert "2,560 rows:" in labels.panel.caption


def test_check_of_causes(capsys: pytest.CaptureFixture[str]) -> None:
    def plain(log_evidence, causes, fair):
        p = np.exp(log_evidence)
        sums = np.bincount(causes, p, 3)
        return sums / max(sums.sum(), 1e-300)

    def right(log_evidence, causes, fair):
        p = np.exp(log_evidence - log_evidence.max())
        sums = np.bincount(causes, p, 3)
        sums = sums / np.bincount(causes) if fair else sums
        return sums / sums.sum()

    assert not lab.check_causes(lambda *given: None)
    assert not lab.check_causes(plain)
    assert not lab.check_causes(lambda log_evidence, causes, fair: np.ones(3) / 3)
    assert lab.check_causes(right)
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_the_best_rank(capsys: pytest.CaptureFixture[str]) -> None:
    def right(log_evidence):
        p = np.sort(np.exp(log_evidence - log_evidence.max()))[::-1]
        return p @ np.arange(1, p.size + 1) / p.sum()

    assert not lab.check_best_rank(lambda values: None)
    assert not lab.check_best_rank(lambda values: 1)
    assert not lab.check_best_rank(
        lambda values: np.exp(values) @ np.arange(1, values.size + 1) / np.exp(values).sum()
    )
    assert lab.check_best_rank(right)
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_noisy_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    def noisy(values, number, sd, repeats, rng):
        noise = sd * rng.normal(size=(repeats, values.size))
        return values + noise

    def right(values, number, sd, repeats, rng):
        found = noisy(values, number, sd, repeats, rng)
        return 1 + (found > found[:, [number]]).sum(axis=1)

    def truth_without_noise(values, number, sd, repeats, rng):
        found = noisy(values, number, sd, repeats, rng)
        found[:, number] = values[number]
        return 1 + (found > found[:, [number]]).sum(axis=1)

    assert not lab.check_noisy_ranks(lambda *given: None)
    assert not lab.check_noisy_ranks(lambda v, number, sd, repeats, rng: np.ones(repeats))
    assert not lab.check_noisy_ranks(truth_without_noise)
    assert lab.check_noisy_ranks(right)
    assert capsys.readouterr().out.count("not yet") == 3


def test_audit_of_published_ranks() -> None:
    assert tuple(lab.PRINTED_RANKS) == lab.SIZES
    assert all(len(five) == 5 for five in lab.PRINTED_RUNS.values())
