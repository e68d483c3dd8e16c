"""Lab 05 without a browser: its pictures, its widgets, its checks."""

import asyncio

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.exact import order_paths
from bnlab.labs import direct_dag_sampling as lab
from bnlab.labs.direct_dag_sampling import PUBLISHED

LABELS = ["rain → wet", "wet → rain"]
NAN = float("nan")


def test_share_bars_cut_their_whiskers_to_probabilities() -> None:
    data = columns(plots.share_bars([0.95, 0.02], [0.9, NAN], LABELS, margin=0.1), "shares")
    assert data["label"] == LABELS
    assert data["low"] == pytest.approx([0.85, 0])
    assert data["high"] == pytest.approx([1, 0.12])
    assert np.isnan(data["exact"][1])


def test_error_curve_leaves_out_what_a_logarithmic_axis_cannot_show() -> None:
    data = columns(plots.error_curve([10, 100], {"worst": [0.5, 0.0]}, {}), "measured")
    assert data["draws"] == [10, 100]
    assert data["worst"][0] == 0.5
    assert np.isnan(data["worst"][1])


def test_published_data_has_two_standard_deviations_and_our_means() -> None:
    picture = plots.published([(0.5, 0.1), (0.2, 0.05)], [[], [0.1, 0.2]], ["a", "b"])
    assert columns(picture, "published_runs")["value"] == [0.1, 0.2]
    data = columns(picture, "published")
    assert data["low"] == pytest.approx([0.3, 0.1])
    assert data["high"] == pytest.approx([0.7, 0.3])
    assert np.isnan(data["ours"][0])
    assert data["ours"][1] == pytest.approx(0.15)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shares has shape \(1,\), but 2 values"):
        plots.share_bars([0.5], [0.5, 0.5], LABELS)
    with pytest.raises(ValueError, match="not all different"):
        plots.share_bars([0.5, 0.5], [0.5, 0.5], ["a", "a"])
    with pytest.raises(ValueError, match="3 labels"):
        plots.published([(0.5, 0.1)], [[0.5]], ["a", "b", "c"])


def test_repeated_edges_are_runs_of_the_package() -> None:
    exact = lab.posterior("coronary")
    found = lab.repeated_edges(exact, [5, 50], runs=3, rng=np.random.default_rng(1))
    stream = np.random.default_rng(1).spawn(3)[2]
    draws = bn.sample_dags(exact, draws=50, rng=stream)
    np.testing.assert_array_equal(found[2, 1], bn.features.edges(draws))
    assert found.shape == (3, 2, 6, 6)


def test_table_one_stops_after_a_run_when_told() -> None:
    seen = []

    def stop_at_two(done: int, total: int, snapshot: object) -> bool:
        seen.append((done, total))
        return done < 2

    found = lab.TableOne(runs=5, draws=50).compute(stop_at_two)
    assert seen == [(1, 5), (2, 5)]
    assert {key: len(runs) for key, runs in found.items()} == {
        key: 0 if key[1] == "PO-MCMC" else 2 for key in PUBLISHED
    }


def test_pile_shows_the_first_draws_of_one_set() -> None:
    pile = lab.Pile()
    pile.dataset.value = "coronary"
    pile.drawn.value = 500
    exact = lab.posterior("coronary")
    draws = bn.sample_dags(exact, draws=20_000, rng=np.random.default_rng(2016))
    edges = bn.features.edges(draws.prefix(500))
    names = exact.table.names
    shown = pile.bars.source("shares").data
    for label, share, truth in zip(shown["label"], shown["share"], shown["exact"], strict=True):
        u, v = (names.index(name) for name in label.split(" → "))
        assert share == edges[u, v]
        assert truth == exact.edges[u, v]
    curve = pile.curve.source("measured").data
    last = curve["draws"].index(500)
    assert curve["largest error"][last] == bn.diagnostics.max_error(edges, exact.edges)
    assert np.isnan(curve["largest error"][last + 1])
    assert "500 networks" in pile.bars.caption


def test_questions_are_answered_by_the_draws() -> None:
    exact = lab.posterior("coronary")
    draws = bn.sample_dags(exact, draws=500, rng=np.random.default_rng(1))
    questions = lab.Questions(draws, exact.edges)
    questions.end.value = "Family"
    data = questions.bars.source("answers").data
    answers = dict(zip(data["label"], data["share"], strict=True))
    path = bn.features.probability(draws, bn.features.path(0, 5)).value
    assert answers["path from ⇝ to"] == path
    assert answers["path from ⇝ to"] == pytest.approx(
        answers["edge from → to"] + answers["path, but no edge"]
    )
    assert data["exact"][0] == exact.edges[0, 5]
    questions.via.value = "Family"
    assert questions.bars.caption == "Choose three different variables."
    assert np.isnan(questions.bars.source("answers").data["share"]).all()
    questions.via.value = questions.start.value
    assert np.isnan(questions.bars.source("answers").data["share"]).all()


def test_certain_interval_is_that_of_the_package() -> None:
    certain = lab.Certain()
    certain.dataset.value = "coronary"
    certain.drawn.value = 1000
    certain.question.value = "Family ⇝ Pressure"
    exact, truth = lab.posterior("coronary"), lab.dag_posterior("coronary")
    draws = bn.sample_dags(exact, draws=20_000, rng=np.random.default_rng(2016))
    u, v = (truth.table.names.index(name) for name in ("Family", "Pressure"))
    path = bn.features.path(u, v)
    distinct = bn.reweight_unique(draws.prefix(1000), log_z=truth.log_z)
    expected = bn.features.probability(distinct, path)
    shown = certain.panel.source("closing").data
    assert shown["draws"][-1] == 1000
    assert (shown["low"][-1], shown["high"][-1]) == (expected.low, expected.high)
    assert shown["IW-DDS"][-1] == expected.value
    corrected = bn.reweight_by_extensions(draws).prefix(1000)
    weighed = bn.features.probability(corrected, path).value
    assert shown["weighed by 1/l(G)"][-1] == weighed
    levels = certain.panel.source("closing_levels").data
    assert levels["each network once, exact"] == [truth.ancestors[u, v]]
    assert levels["each of its orders once, exact"] == [order_paths(exact)[u, v]]
    low, high, level = shown["low"], shown["high"], truth.ancestors[u, v]
    assert all(a <= level <= b for a, b in zip(low, high, strict=True))
    assert np.all(np.diff(np.subtract(high, low)) <= 1e-12)


def test_certain_asks_what_the_two_posteriors_differ_about() -> None:
    certain = lab.Certain()
    certain.dataset.value = "wine"
    exact, truth = lab.posterior("wine"), lab.dag_posterior("wine")
    gap = np.abs(exact.edges - truth.edges)
    u, v = (truth.table.names.index(name) for name in certain.question.options[0].split(" → "))
    assert gap[u, v] == gap.max()
    assert certain.question.value == certain.question.options[0]
    assert certain.panel.caption.startswith(certain.question.value)


def test_table_one_runs_at_once_and_with_a_click() -> None:
    table = lab.TableOne(runs=3, draws=50)
    assert np.isnan(table.panel.source("published").data["ours"]).all()
    table.runner.run_now()
    result = table.found
    assert table.panel.source("published").data["ours"][1] == pytest.approx(
        np.mean(result["tic_tac_toe", "DOS"])
    )

    async def click() -> None:
        table.runner.run_button.click()
        await table.runner.task

    asyncio.run(click())
    assert table.found != result
    assert len(table.panel.source("published_runs").data["value"]) == 4 * 3
    assert table.runner.status.value == "done: 3 of 3 runs"


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_draws_for_all(lambda eps, delta, count: None)
    assert not lab.check_draws_for_all(lambda e, d, count: bn.hoeffding_draws(e, d))
    assert not lab.check_draws_for_all(lambda e, d, count: count * bn.hoeffding_draws(e, d))
    assert lab.check_draws_for_all(lambda e, d, count: bn.hoeffding_draws(e, d / count))

    def parents_only(dags: np.ndarray, u: int, v: int) -> np.ndarray:
        return (dags[:, u] & dags[:, v]) != 0

    assert not lab.check_common_cause(lambda dags, u, v: None)
    assert not lab.check_common_cause(parents_only)
    assert lab.check_common_cause(lambda dags, u, v: parents_only(bn.graphs.ancestors(dags), u, v))
    assert capsys.readouterr().out.count("not yet") == 5


def test_check_of_certain_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    def parts(dags: np.ndarray, log_target: np.ndarray, log_z: float) -> np.ndarray:
        first = np.unique(dags, axis=0, return_index=True)[1]
        return first, np.exp(log_target[first] - log_z)

    def right(dags: np.ndarray, log_target: np.ndarray, has: np.ndarray, log_z: float) -> tuple:
        first, p = parts(dags, log_target, log_z)
        low = p[has[first]].sum()
        return low, low + 1 - p.sum()

    def repeated(dags: np.ndarray, log_target: np.ndarray, has: np.ndarray, log_z: float) -> tuple:
        p = np.exp(log_target - log_z)
        return p[has].sum(), p[has].sum() + 1 - p.sum()

    def no_property(dags: np.ndarray, log_target: np.ndarray, has: np.ndarray, z: float) -> tuple:
        return 0, 1 - parts(dags, log_target, z)[1].sum()

    assert not lab.check_certain(lambda *given: None)
    assert not lab.check_certain(lambda *given: (0, 1))
    assert not lab.check_certain(repeated)
    assert not lab.check_certain(no_property)
    assert lab.check_certain(right)
    said = capsys.readouterr().out
    assert "counts once" in said
    assert "exact probability" in said


def test_check_of_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    def hoeffding(hits: np.ndarray, delta: float) -> tuple[float, float]:
        spread = bn.hoeffding_margin(len(hits), delta)
        return max(0, hits.mean() - spread), min(1, hits.mean() + spread)

    def normal(hits: np.ndarray, delta: float) -> tuple[float, float]:
        spread = 1.96 * hits.std() / len(hits) ** 0.5
        return max(0, hits.mean() - spread), min(1, hits.mean() + spread)

    assert not lab.check_interval(lambda hits, delta: None)
    assert not lab.check_interval(hoeffding)
    assert not lab.check_interval(normal)
    said = capsys.readouterr().out
    assert "half as wide" in said
    assert "misses small or large" in said


def test_moved_controls_move_the_data() -> None:
    pile, certain = lab.Pile(), lab.Certain()
    pile.dataset.value = "wine"
    pile.drawn.value = 1000
    certain.drawn.value = 5000
    exact = lab.posterior("wine")
    draws = bn.sample_dags(exact, draws=20_000, rng=np.random.default_rng(2016))
    questions = lab.Questions(
        draws, exact.edges, start="class", via="flavanoids", end="total-phenols"
    )
    questions.end.value = "ash"
    error = bn.diagnostics.sad(bn.features.edges(draws.prefix(1000)), exact.edges) / 156
    names = exact.table.names
    edge = exact.edges[names.index("class"), names.index("ash")]
    shown = [
        pile.curve.source("measured").data["mean error"][9],
        questions.bars.source("answers").data["exact"][0],
        certain.panel.source("closing").data["high"][-1],
    ]
    np.testing.assert_allclose(shown, [error, edge, _high(5000)], rtol=1e-12)


def _high(size: int) -> float:
    """Upper end of the certain interval of the first question about tic-tac-toe."""
    exact, truth = lab.posterior("tic_tac_toe"), lab.dag_posterior("tic_tac_toe")
    draws = bn.sample_dags(exact, draws=20_000, rng=np.random.default_rng(2016)).prefix(size)
    u, v = np.unravel_index(np.abs(exact.edges - truth.edges).argmax(), (10, 10))
    distinct = bn.reweight_unique(draws, log_z=truth.log_z)
    return bn.features.probability(distinct, bn.features.edge(int(u), int(v))).high
