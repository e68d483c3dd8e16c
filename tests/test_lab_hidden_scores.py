"""Lab 09 without a browser: its data, its pictures, its widgets and its checks."""

from math import lgamma, log

import numpy as np
import pytest
from bokeh.models import BoxAnnotation
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.hidden import SMC, estimate_evidence, exact_evidence, fit_vb, score
from bnlab.labs import hidden_scores as lab
from bnlab.labs.hidden_scores import SIZES, TABLES

NAN = float("nan")
ROWS = np.array(lab.FIVE)


def test_scores_that_are_missing_have_no_winner() -> None:
    y = plots.Axis("score (nats)", (-10, -7))
    picture = plots.structure_scores([18, 50], [NAN, NAN], 1, y=y, title="VB")
    marks = columns(picture, "vb_marks")
    assert marks["best_x"] == marks["true_x"] == [50]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scores has shape \(1,\), but 2 values"):
        plots.structure_scores([18, 50], [-9.0], 0, y=plots.Axis("score"), title="VB")
    with pytest.raises(ValueError, match="9 lines and 0 rules"):
        plots.log_curves(
            [1],
            {str(i): [1] for i in range(9)},
            {},
            x=plots.Axis("x"),
            y=plots.Axis("y"),
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


def test_tables_are_the_published_ones() -> None:
    for published, table in zip(TABLES, lab.thesis_tables(), strict=True):
        np.testing.assert_allclose(published, table, atol=0.021)
        np.testing.assert_allclose(table.sum(axis=1), 1)


def test_rows_are_nested_and_come_from_the_tables() -> None:
    np.testing.assert_array_equal(lab.rows(40).values, lab.rows(160).values[:40])
    first = np.bincount(lab.rows(10_240).values[:, 0], minlength=5) / 10_240
    cause, given = lab.thesis_tables()[0], lab.thesis_tables()[2]
    np.testing.assert_allclose(first, (cause @ given)[0], atol=0.02)
    assert not np.array_equal(lab.rows(40, 2004).values, lab.rows(40).values)


def test_scores_are_by_the_package_with_the_alias_term() -> None:
    found = lab.scored(10)
    assert list(found) == ["MAP", "BIC", "CS", "VB"]
    model, number = lab.true_model(), lab.true_number()
    alone = score(model, lab.rows(10), ["vb"], rng=np.random.default_rng(1), alias=True)
    assert found["VB"][number] == pytest.approx(alone["vb"].log_value, abs=3)
    assert (found["CS"] <= found["VB"] + 1e-9).all()
    assert lab.rank([-3.0, -1.0, -2.0], 2) == 2


@pytest.mark.slow
def test_scores_follow_the_slider() -> None:
    scores = lab.Scores(sizes=(10, 40), size=40)
    scores.size.value = 10
    np.testing.assert_allclose(scores.panels["VB"].source("vb").data["score"], lab.scored(10)["VB"])
    marks = scores.panels["BIC"].source("bic_marks").data
    assert marks["true_x"] == [50]
    assert f"rank {lab.rank(lab.scored(10)['BIC'])};" in scores.panels["BIC"].caption


@pytest.mark.slow
def test_bounds_of_the_true_structure_stand_on_both_sides_of_its_evidence() -> None:
    scores, model, place = lab.Scores(sizes=(10, 40), size=40), lab.true_model(), lab.true_number()
    for n in (40, 10):
        scores.size.value = n
        shown = scores.bars.source("gaps").data
        gaps = dict(zip(shown["label"], shown["gap"], strict=True))
        assert gaps["MAP"] > 0 > gaps["≥ VB"] >= gaps["≥ CS"]
        band = scores.bars.figure.picture.select_one(BoxAnnotation)
        assert (band.left, band.right) == (gaps["≥ VB"], gaps["MAP"])
    exact = exact_evidence(model, lab.rows(10)).log_value
    assert f"= {exact:.1f} lies" in scores.bars.caption
    names = {"MAP": "MAP", "≥ VB": "VB", "≥ CS": "CS", "BIC, no bound": "BIC"}
    expected = {"≥ ln p(D)": 0.0} | {
        label: lab.scored(10)[name][place] - exact - log(8) * (name != "MAP")
        for label, name in names.items()
    }
    assert gaps == pytest.approx(expected)
    assert shown["text"][:4] == ["+26", "", "−6", "−11"]


def test_the_estimated_evidence_agrees_with_the_exact_sum() -> None:
    data, how = lab.rows(10), {"runs": 4, "method": SMC(50)}
    found = estimate_evidence(lab.true_model(), data, rng=np.random.default_rng(1), **how)
    assert found.log_value == pytest.approx(lab.evidence(10).log_value, abs=0.3)


@pytest.mark.slow
def test_ranks_are_medians_over_data_sets() -> None:
    ranks = lab.Ranks(sizes=(10, 40))
    assert np.isnan(ranks.ours.source("ranks").data["VB"]).all()
    ranks.sets.value = 2
    ranks.runner.run_now()
    expected = np.median([lab.rank(lab.scored(40, seed)["CS"]) for seed in (2003, 2004)])
    assert ranks.ours.source("ranks").data["CS"][1] == expected
    assert "2 complete data sets" in ranks.ours.caption
    assert ranks.theirs.source("published_ranks").data["VB"][-1] == 1
    one = ranks.compute(lambda done, total, found: done < 3, sets=2)
    assert [list(known) for known in one.values()] == [[10, 40], [10]]


def test_hidden_nodes_are_drawn_above_observed_ones() -> None:
    nodes = columns(lab.drawing(lab.true_model(), "t"), "nodes")
    height = dict(zip(nodes["name"], nodes["y"], strict=True))
    assert list(height) == ["h1", "h2", "y1", "y2", "y3", "y4"]
    assert height["h1"] == height["h2"] > height["y1"] == height["y4"]


def test_check_of_the_sum_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    def right(rows, states):
        if not rows:
            return 0.0
        model = bn.hidden.HiddenModel([0, 1, 1], [max(states, 2), 3, 3], hidden=[0])
        if states == 1:
            model = bn.hidden.HiddenModel([0, 0, 0], [2, 3, 3], hidden=[0])
        return exact_evidence(model, np.array(rows)).log_value

    assert not lab.check_row_by_row(lambda rows, states: None)
    assert not lab.check_row_by_row(lambda rows, states: -len(rows) * log(9))
    assert not lab.check_row_by_row(lambda rows, states: right(rows, 2))
    assert lab.check_row_by_row(right)
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    def log_completed(line):
        return lgamma(len(line)) - lgamma(len(line) + sum(line)) + sum(lgamma(1 + n) for n in line)

    def by_slopes(move, two_sided):
        def step(counts):
            tables = [np.zeros(n.shape) for n in counts]
            for table, known in zip(tables, counts, strict=True):
                for j, c in np.ndindex(known.shape):
                    up, down = known[j].copy(), known[j].copy()
                    up[c] += move
                    down[c] -= move * two_sided
                    rise = log_completed(up) - log_completed(down)
                    table[j, c] = np.exp(rise / (move * (1 + two_sided)))
            return tables

        return step

    def changed(counts):
        for n in counts:
            n += 1e-5
        return lab.vb_step(counts)

    wrong = [
        lambda counts: None,
        changed,
        lambda counts: [n / n.sum(axis=1, keepdims=True) for n in counts],  # EM's
        by_slopes(1, False),  # one row more
        lambda counts: [np.log(t) for t in lab.vb_step(counts)],
        lambda counts: [t / t.sum(axis=1, keepdims=True) for t in lab.vb_step(counts)],
    ]
    for function in wrong:
        assert not lab.check_step(function)
    assert capsys.readouterr().out.count("not yet") == len(wrong)
    for right in (by_slopes(1e-5, True), by_slopes(1e-5, False), lab.vb_step):
        assert lab.check_step(right)
        assert lab.right_step(right) is right
    assert all(
        lab.right_step(function) is lab.vb_step for function in wrong if function is not changed
    )


@pytest.mark.slow
def test_check_of_the_culprit(capsys: pytest.CaptureFixture[str]) -> None:
    rng, many = np.random.default_rng(1), lab.rows(10_240)
    start = lab.thesis_tables()
    good = fit_vb(lab.true_model(), many, restarts=1, rng=rng, start=start)
    few = fit_vb(lab.true_model(), lab.rows(10), restarts=1, rng=rng)
    assert not lab.check_culprit(None, "")
    assert not lab.check_culprit(None, "optimiser")
    assert not lab.check_culprit(good, "rows")
    assert lab.check_culprit(good, "optimiser")
    assert lab.check_culprit(few, "optimiser") is False
    assert capsys.readouterr().out.count("not yet") == 4


def test_published_ranks_are_there_for_all_sizes() -> None:
    assert [ranks.shape for ranks in lab.PUBLISHED_RANKS.values()] == [(len(SIZES),)] * 3
