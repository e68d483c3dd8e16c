"""The labs without a browser: what all share, and controls that are moved."""

import asyncio
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import bnlab as bn
from bnlab import plots
from bnlab.labs import (
    board,
    dynamic_programming,
    evidence_bounds,
    start_here,
    view,
)
from bnlab.labs.view import Progress, Runner

EDGES = [[0, 0.9], [0.1, 0]]
NAMES = ["rain", "wet"]


def _off_diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix[~np.eye(len(matrix), dtype=bool)]


def test_setup_refuses_unknown_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOKEH_RESOURCES", "floppy")
    with pytest.raises(ValueError, match="floppy"):
        board.setup()


def test_setup_asks_colab_for_widgets_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BNLAB_COMPILE_AHEAD", "0")
    asked: list[str] = []
    output = ModuleType("google.colab.output")
    output.enable_custom_widget_manager = lambda: asked.append("once")  # type: ignore[attr-defined]
    board.setup()
    assert asked == []
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    board.setup()
    assert asked == ["once"]


def test_a_reloaded_page_gets_the_current_data() -> None:
    panel = board.Panel(plots.heat_map(EDGES, NAMES), "before")
    with plots.Drawing([panel.figure.picture]):
        plots.heat_map([[0, 0.123456], [0, 0]], NAMES)
    assert "0.123456" in panel.figure.get_state()["render_bundle"]
    assert "0.123456" in panel.figure.get_state("render_bundle")["render_bundle"]
    assert "render_bundle" not in panel.figure.get_state("layout")


def test_a_panel_can_show_another_picture() -> None:
    panel = board.Panel(plots.heat_map(EDGES, NAMES), "two <variables>")
    assert "two &lt;variables&gt;" in panel.children[1].value
    panel.show(plots.heat_map(np.zeros((3, 3)), ["a", "b", "c"]), "three")
    assert len(panel.source("edges").data["probability"]) == 6
    with pytest.raises(ValueError, match="no source 'edgs'; it has edges"):
        panel.source("edgs")


def test_a_page_puts_away_a_picture_that_was_replaced() -> None:
    """It says so, of a picture that Bokeh knows no more; 0.3 s of traceback kept Stop waiting."""
    panel = board.Panel(plots.heat_map(EDGES, NAMES), "two")
    gone = panel.figure.picture
    panel.show(plots.heat_map(np.zeros((3, 3)), ["a", "b", "c"]), "three")
    told = {"event": "jsevent", "kind": "RootRemoved", "model": {"id": gone.id}}
    panel.figure._sync_model(panel.figure, told, [])


def test_captions_have_a_minus_as_axes_do() -> None:
    panel = board.Panel(plots.heat_map(EDGES, NAMES), "-2.5 nats (-3), 2-3 of v-1, 2026-11-22")
    assert "−2.5 nats (−3), 2-3 of v-1, 2026-11-22" in panel.children[1].value


def test_size_slider_offers_its_sizes() -> None:
    slider = board.size_slider("rows", [0, 10, 1000], 10)
    assert slider.value == 10
    assert [label for label, _ in slider.options] == ["0", "10", "1,000"]


def test_runner_runs_at_once() -> None:
    results: list[int] = []
    runner = Runner(lambda progress: progress(7, 7, None) and 42, results.append)
    assert runner.run_now() == 42
    assert results == [42]
    assert runner.status.value == "done: 7 of 7 steps"
    assert not runner.run_button.disabled


def test_stop_ends_the_work_with_what_it_has() -> None:
    seen: list[int] = []
    results: list[int] = []
    started = threading.Event()

    def work(progress: Progress) -> int:
        for done in range(1, 100_000):
            if not progress(done, 100_000, done):
                break
            started.set()
            threading.Event().wait(0.002)
        return done

    runner = Runner(
        work, results.append, look=lambda done, total, snapshot: seen.append(snapshot), unit="draws"
    )

    async def click_run_then_stop() -> None:
        runner.run_button.click()
        assert runner.run_button.disabled
        with pytest.raises(ValueError, match="running"):
            runner.start()
        while not seen:
            await asyncio.sleep(0.01)
        runner.stop_button.click()
        await runner.task

    asyncio.run(click_run_then_stop())
    assert 0 < results[0] < 100_000
    assert runner.status.value == f"stopped at {results[0]:,} of 100,000 draws"
    assert runner.stop_button.disabled


def test_progress_of_an_earlier_setting_says_so() -> None:
    setting = ["a"]
    runner = Runner(
        lambda progress: progress(7, 7, None), lambda result: None, setting=lambda: setting[0]
    )
    runner.run_now()
    for now, more in (("b", ", for the earlier setting"), ("a", "")) * 2:
        setting[0] = now
        runner.turn()
        assert (runner.bar.value, runner.status.value) == (7, f"done: 7 of 7 steps{more}")


def test_a_run_for_an_earlier_setting_says_so() -> None:
    setting, started = ["a"], threading.Event()

    def work(progress: Progress) -> None:
        while progress(3, 9, None):
            started.set()
            threading.Event().wait(0.002)

    runner = Runner(work, lambda result: None, setting=lambda: setting[0])

    async def click_run_then_move() -> None:
        runner.run_button.click()
        while not started.is_set():
            await asyncio.sleep(0.01)
        setting[0] = "b"
        runner.turn()
        await asyncio.sleep(0.3)
        assert runner.status.value == "3 of 9 steps, for the earlier setting"
        runner.stop_button.click()
        await runner.task

    asyncio.run(click_run_then_move())
    assert runner.status.value == "stopped at 3 of 9 steps, for the earlier setting"
    setting[0] = "a"
    runner.turn()
    assert (runner.bar.value, runner.status.value) == (3, "stopped at 3 of 9 steps")


def test_runner_shows_what_went_wrong() -> None:
    def work(progress: Progress) -> None:
        raise ValueError("n=99 is too many")

    runner = Runner(work, lambda result: None)

    async def run() -> None:
        with pytest.raises(ValueError, match="n=99"):
            await runner.start()

    asyncio.run(run())
    assert runner.status.value == "ValueError: n=99 is too many"
    assert not runner.run_button.disabled


@pytest.fixture
def alone(no_threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser, with short rounds."""
    monkeypatch.setattr(view, "LOOK_EVERY", 0.02)
    monkeypatch.setattr("bnlab.sampling.order_target.BLOCK_TERMS", 10_000)


def _annealed(progress: Progress) -> bn.Draws:
    method, rng = bn.AIS(bn.Linear(1000)), np.random.default_rng(5)
    return bn.anneal_orders(_table(), runs=800, rng=rng, method=method, progress=progress)


@cache
def _table() -> bn.ScoreTable:
    rows = np.random.default_rng(4).integers(0, 2, (50, 8))
    return bn.score_families(bn.Data.from_arrays(rows), bn.BDeu(), max_parents=2)


def _run_alone(runner: Runner, turn: Callable[[int], object] = lambda turns: None) -> int:
    """Run without threads; `turn` is called whenever the page has its turn: how often that was."""

    async def run() -> int:
        runner.run_button.click()
        turns = 0
        while not (await asyncio.wait([runner.task], timeout=0.001))[0]:
            turn(turns := turns + 1)
        await runner.task
        return turns

    return asyncio.run(run())


def test_without_threads_rounds_give_the_same_bits(alone: None) -> None:
    rounds: list[int] = []
    results: list[bn.Draws] = []

    def work(progress: Progress) -> bn.Draws:
        rounds.append(0)
        return _annealed(progress)

    runner = Runner(work, results.append, unit="runs")
    assert _run_alone(runner) > len(rounds) > 1
    assert np.array_equal(results[0].log_weight, _annealed(lambda *_: True).log_weight)
    assert runner.status.value == "done: 800 of 800 runs"


def test_without_threads_stop_ends_the_work_with_what_it_has(alone: None) -> None:
    results: list[bn.Draws] = []
    runner = Runner(_annealed, results.append)
    _run_alone(runner, lambda turns: runner.bar.value and runner.stop_button.click())
    stopped = results[0].log_weight.ravel()
    assert results[0].run.stopped
    assert np.array_equal(stopped, _annealed(lambda *_: True).log_weight.ravel()[: len(stopped)])
    assert 0 < len(stopped) < 800
    assert runner.status.value.startswith("stopped at ")


def test_without_threads_what_keeps_nothing_is_done_again_at_a_bounded_cost(
    alone: None,
) -> None:
    steps: list[int] = []

    def work(progress: Progress) -> int:
        for done in range(1, 301):
            time.sleep(0.002)
            steps.append(done)
            if not progress(done, 300, None):
                break
        return done

    results: list[int] = []
    runner = Runner(work, results.append)
    assert _run_alone(runner) > 2
    assert results == [300] and steps.count(1) > 1
    assert len(steps) <= 2.6 * 300
    stopping = Runner(work, results.append)
    _run_alone(stopping, lambda turns: stopping.bar.value and stopping.stop_button.click())
    assert 1 < results[1] < 300


def test_without_threads_a_moved_control_ends_the_work_for_the_earlier_setting(
    alone: None,
) -> None:
    bounds = evidence_bounds.Bounds(stops=[10, 100_000])
    first = bounds.setting()
    _run_alone(bounds.runner, lambda turns: bounds.found and setattr(bounds.runs, "value", 9))
    assert bounds.setting() != first
    assert [found[0] for found in bounds.results[first]] == [10]
    assert list(bounds.results) == [first]
    wide = evidence_bounds.Bounds(stops=[10, 100])
    _run_alone(wide.runner)
    assert wide.found == evidence_bounds.Bounds(stops=[10, 100]).runner.run_now()


def test_without_threads_an_exact_sum_is_found(alone: None) -> None:
    exact = dynamic_programming.FullSpeed(bn.load_dataset("wine"), start=13, rows=178)
    _run_alone(exact.runner)
    assert exact.found.edges.shape == (13, 13)


def test_show_prints_rows_under_their_heads(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("small steps", np.int64(4800), np.float64(1.943)), ("jumps", 144, np.inf)]
    board.show(["walk", "moves", "SAD, worst"], (iter(row) for row in rows))
    assert capsys.readouterr().out.splitlines() == [
        "                     SAD,",
        "walk         moves  worst",
        "small steps  4,800   1.94",
        "jumps          144    inf",
    ]
    board.show(["p"], [[1 / 3], [0.25]], form=".3f")
    assert capsys.readouterr().out == "    p\n0.333\n0.250\n"


def test_an_exercise_tells_the_first_property_that_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @board.exercise(properties=2)
    def check_double(function: Callable[[int], int]) -> Iterator[Any]:
        """Exercise 8: `function(x)` is twice x."""
        yield "double 0"
        yield function(0) == 0
        yield "double 2, "
        yield "too"
        four = function(2)
        yield four == 4
        print("and 3 gives", function(3))

    def say(function: Callable[[int], int]) -> str:
        assert not check_double(function)
        return capsys.readouterr().out

    assert check_double(lambda x: 2 * x)
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 8: right. 2 of 2 properties hold.",
        "and 3 gives 6",
    ]
    assert say(lambda x: x) == "Exercise 8, not yet: double 2, too. 1 of 2 hold so far.\n"
    assert say(lambda x: x + 1) == "Exercise 8, not yet: double 0. 0 of 2 hold so far.\n"
    assert "double 2, too (it raised StopIteration: ). 1" in say(lambda x: x and next(iter(())))
    assert check_double.__doc__ == "Exercise 8: `function(x)` is twice x."


@pytest.mark.parametrize("name", start_here.DATASETS)
def test_nested_prefixes_of_one_table(name: str) -> None:
    data = start_here.table(name)
    stops = board.stops(start_here.STEPS, data.m)
    assert stops[0] == 0
    assert stops[-1] == data.m
    small, large = data.prefix(stops[1]), data.prefix(stops[2])
    np.testing.assert_array_equal(small.values, large.values[: small.m])
    np.testing.assert_array_equal(small.arities, data.arities)


def test_answer_is_what_the_package_says() -> None:
    data = start_here.table("coronary")
    edges = start_here.posterior(data, 100).edges
    table = bn.score_families(data.prefix(100), bn.BDeu(1.0), max_parents=3)
    np.testing.assert_allclose(edges, bn.dag_posterior(table).edges, atol=1e-12)


def test_no_rows_give_the_prior() -> None:
    edges = start_here.posterior(start_here.table("coronary"), 0).edges
    values = _off_diagonal(edges)
    np.testing.assert_allclose(values, values[0])


def test_explorer_follows_its_controls() -> None:
    explorer = start_here.Explorer()
    explorer.dataset.value = "iris"
    assert explorer.size.value == 150
    explorer.size.value = 20
    iris = start_here.table("iris")
    exact = start_here.posterior(iris, 20)
    edges, paths = exact.edges, exact.ancestors
    np.testing.assert_allclose(
        explorer.heat.source("edges").data["probability"], _off_diagonal(edges)
    )
    assert explorer.bars.source("paths").data["path"][0] == paths.max()
    assert len(explorer.net.source("links").data["xs"]) == np.sum(edges >= 0.1)
    assert "20 of 150 rows" in explorer.heat.caption


def test_explorer_of_a_table_of_your_own() -> None:
    values = np.random.default_rng(1).integers(0, 2, (30, 3))
    explorer = start_here.Explorer(bn.Data.from_arrays(values, names=("x", "y", "z")))
    assert explorer.dataset.layout.display == "none"
    assert explorer.size.value == 30


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    def table(weight: Counter[frozenset[tuple[int, int]]]) -> np.ndarray:
        shares = np.zeros((3, 3))
        for dag, w in weight.items():
            shares[tuple(np.array([*dag], int).reshape(-1, 2).T)] += w / weight.total()
        return shares

    assert not start_here.check_edge_table(lambda weight: None)
    assert not start_here.check_edge_table(lambda weight: table(weight).T)
    assert not start_here.check_edge_table(lambda weight: table(weight) * weight.total() / 7)
    assert not start_here.check_edge_table(lambda weight: table(weight) + np.eye(3))
    assert start_here.check_edge_table(table)
    direct = lambda dags, u, w, v: (dags[:, w] >> u & 1 & dags[:, v] >> w) == 1  # noqa: E731
    assert not start_here.check_through(direct)
    assert not start_here.check_through(lambda dags, u, w, v: None)
    assert not start_here.check_direction([])
    assert not start_here.check_direction([(0, 1, 2)])
    assert not start_here.check_direction([(a, b, a | b) for a in (0, 1) for b in (0, 1)] * 75)
    assert not start_here.check_direction([*np.ndindex(2, 2, 2)] * 25)
    assert capsys.readouterr().out.count("not yet") == 10
