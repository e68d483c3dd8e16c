"""The labs without a browser: what all share, and controls that are moved."""

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import Callable
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import bnlab as bn
from bnlab import plots
from bnlab.labs import (
    annealed_importance_sampling,
    board,
    dag_space,
    hidden_variables,
    modular_priors,
    order_mcmc,
    scaling_out,
    start_here,
    structure_search,
    your_own_data,
)
from bnlab.labs.view import Progress, Runner
from bnlab.reports import analyse, read_table, sensitivity

EDGES = [[0, 0.9], [0.1, 0]]
NAMES = ["rain", "wet"]


def _explorer() -> list[float]:
    explorer = start_here.Explorer()
    explorer.dataset.value = "wine"
    explorer.size.value = 50
    return explorer.heat.source("edges").data["probability"]


def _priors_and_washout() -> list[float]:
    explorer, washout = modular_priors.PriorExplorer(), modular_priors.Washout()
    explorer.prior.value = "Koivisto"
    washout.size.value = 100_000
    ratios = explorer.gallery.source("shapes").data["ratio"][:2]
    return [*ratios, *washout.lines.source("now").data["distance"]]


def _steps_two_chains_and_ladder() -> list[float]:
    steps, two = order_mcmc.Steps(), order_mcmc.TwoChains()
    heat, ladder = order_mcmc.Temperature(), order_mcmc.Coupled()
    steps.kind.value = "relocate"
    steps.step.value = 5000
    two.case.value = "tic-tac-toe"
    two.length.value = 500
    heat.beta.value = 0.2
    ladder.temperatures.value = 4
    return [
        *steps.walked.source("walked").data["probability"],
        *two.scatter.source("agreement").data["second"],
        *heat.scatter.source("hot_agreement").data["first"],
        *ladder.accepted.source("tempered_acceptance").data["rate"],
    ]


def _pile_and_shapes() -> list[float]:
    pile, shapes = annealed_importance_sampling.Pile(), annealed_importance_sampling.Shapes()
    pile.dataset.value = "wine"
    pile.steps.value = 100
    pile.runs.value = 50
    shapes.schedule.value = "harmonic"
    shapes.steps.value = 30
    estimate = pile.weights.source("weights_marks").data["estimate"]
    return [*estimate, *shapes.acceptance.source("acceptance_path").data["rate"]]


def _scores_and_labels() -> list[float]:
    scores, labels = hidden_variables.Scores(), hidden_variables.Labels()
    scores.size.value = 10
    labels.size.value = 160
    return [
        *scores.panels["VB"].source("vb").data["score"],
        *scores.panels["CS"].source("cs_marks").data["true_y"],
        *labels.panel.source("labels").data["first"],
    ]


def _shares_beliefs_and_doing() -> list[float]:
    shares, beliefs, doing = dag_space.Shares(), dag_space.Beliefs(), dag_space.Doing()
    shares.dataset.value = "coronary"
    shares.share.value = 0.6
    beliefs.prior.value = "order-modular"
    beliefs.rows.value = 50
    doing.which.value = "D"
    doing.rows.value = 40
    return [
        *shares.errors.source("chain_errors").data["error"][24:32],
        *beliefs.heat.source("believed").data["probability"],
        *doing.told.source("told").data["probability"],
    ]


def _steps_recovery_and_averages() -> list[float]:
    steps, recovery = structure_search.Steps(), structure_search.Recovery()
    averages = structure_search.Averages()
    steps.dataset.value = "wine"
    steps.step.value = 3
    recovery.network.value = "asia"
    averages.dataset.value = "tic-tac-toe"
    averages.count.value = 30
    return [
        *steps.gains.source("gains").data["gain"],
        *recovery.curves.source("distance").data["ys"][2],
        *averages.heat.source("averaged").data["probability"],
    ]


def _network_priors_and_predictor() -> list[float]:
    with TemporaryDirectory() as folder:
        study = your_own_data.Study(your_own_data.Table(your_own_data.write_garden(folder)))
    study.runner.run_now()
    network, prior = your_own_data.Network(study), your_own_data.Priors(study)
    predictor = your_own_data.Predictor(study)
    network.threshold.value = 0.9
    prior.ess.value = 10.0
    predictor.known["flowers"].value = "yes"
    return [
        *network.panel.source("links").data["probability"],
        *prior.panel.source("prior_edges").data["probability"],
        *predictor.panel.source("prediction").data["share"],
    ]


def _speed_plan_and_exact() -> list[float]:
    speed, plan = scaling_out.SpeedUp(), scaling_out.AnnealingPlan(1e-4)
    exact = scaling_out.ExactPlan(1e-8, 1e-4)
    speed.jobs.value = 20
    speed.serial.value = 0.05
    plan.cores.value = 64
    exact.n.value = 37
    return [
        *speed.speed.source("speed").data["ys"][2],
        plan.load.jobs * plan.load.seconds / plan.chain_seconds,
        *exact.memory.source("points").data["y"],
    ]


# What widgets show after their controls have moved, and the same by the package alone.
MOVES = {
    "00": (
        _explorer,
        lambda: _off_diagonal(start_here.answer(start_here.table("wine"), 50).edges),
    ),
    "01": (_priors_and_washout, lambda: _prior_and_distance(100_000)),
    "03": (
        _steps_two_chains_and_ladder,
        lambda: [*_walked_and_second_chain(5000, 500), *_hot_and_coupled(0.2, 4)],
    ),
    "05": (_pile_and_shapes, lambda: _estimate_and_acceptance(50, 100, 30)),
    "06": (_scores_and_labels, lambda: _scores_and_climbs(10, 160)),
    "07": (_shares_beliefs_and_doing, lambda: _errors_beliefs_and_arrows(0.6, 50, 40)),
    "08": (_steps_recovery_and_averages, lambda: _gains_distances_and_edges(3, 30)),
    "09": (_network_priors_and_predictor, lambda: _garden(0.9, 10.0, {"flowers": "yes"})),
    "10": (_speed_plan_and_exact, lambda: _speed_ups_runs_and_gigabytes(20, 0.05, 37)),
}


def _speed_ups_runs_and_gigabytes(jobs: int, serial: float, n: int) -> list[float]:
    once, each = 3600 * serial, 3600 * (1 - serial) / jobs
    sending = jobs * 0.3e6 / 100e6
    walls = [max(sending + each, -(-jobs // 2**i) * each) + once for i in range(13)]
    return [*(3600 / wall for wall in walls), 139 * 72, bn.exact.order_posterior_bytes(n) / 1e9]


def _walked_and_second_chain(moves: int, draws: int) -> list[float]:
    table = order_mcmc.posterior("coronary").table
    rng = np.random.default_rng(2003)
    start, kinds = rng.permutation(table.n), bn.Moves(swap=0, relocate=1)
    walk = bn.each_order(table, rng=rng, start=start, moves=kinds)
    visited = [step.order for step in itertools.islice(walk, moves)]
    zeros = np.zeros((1, moves))
    walked = bn.Draws(np.array([visited]), zeros, zeros, "orders", "order-modular", table.names)
    edges = bn.features.edges(walked, table=table)
    chains = order_mcmc.long_chains("tic-tac-toe").prefix(draws)
    board_table = order_mcmc.posterior("tic-tac-toe").table
    second = bn.features.edges(order_mcmc.chain(chains, 1), table=board_table)
    return [*_off_diagonal(edges), *_off_diagonal(second)]


def _estimate_and_acceptance(runs: int, steps: int, harmonic: int) -> list[float]:
    exact = order_mcmc.posterior("wine")
    linear, rng = bn.AIS(bn.Linear(steps)), np.random.default_rng(2013)
    draws = bn.anneal_orders(exact.table, runs=200, rng=rng, method=linear).prefix(runs)
    estimate = np.log(np.exp(draws.log_weight - exact.log_z).mean())
    board_table = order_mcmc.posterior("tic-tac-toe").table
    other, rng = bn.AIS(bn.Harmonic(harmonic)), np.random.default_rng(2013)
    rates = bn.anneal_orders(board_table, runs=100, rng=rng, method=other).stats["acceptance"]
    return [estimate, *rates]


def _scores_and_climbs(few: int, rows: int) -> list[float]:
    found = bn.hidden.score_structures(
        hidden_variables.structures(),
        hidden_variables.rows(few),
        ["cs", "vb"],
        restarts=3,
        alias=True,
        rng=np.random.default_rng([2003, few]),
    )
    truth = hidden_variables.true_number()
    ends = [
        bn.hidden.fit_vb(
            hidden_variables.true_model(), hidden_variables.rows(rows), restarts=1, rng=rng
        ).counts[0][0, 0]
        for rng in np.random.default_rng([2003, rows]).spawn(60)
    ]
    return [
        *(each["vb"].log_value for each in found),
        found[truth]["cs"].log_value,
        *((count + 1) / (rows + 2) for count in ends),
    ]


def _garden(threshold: float, ess: float, row: dict[str, str]) -> list[float]:
    with TemporaryDirectory() as folder:
        data = read_table(your_own_data.write_garden(folder)).data
    analysis = analyse(data, rng=np.random.default_rng(1))
    edges = analysis.edges.probability
    other = sensitivity(analysis, ess=(ess,), priors=(bn.Uniform(),)).edges[0, 0]
    predicted = analysis.predict(row, "bees")
    return [*sorted(edges[edges >= threshold]), *_off_diagonal(other), *predicted]


def _errors_beliefs_and_arrows(share: float, rows: int, many: int) -> list[float]:
    table = bn.score_families(bn.load_dataset("coronary"), bn.BDeu(1.0), max_parents=3)
    kernel = bn.Hybrid(bn.order_posterior(table).edges, share)
    rng = np.random.default_rng(2007)
    draws = bn.sample_structures(
        table, draws=100, kernel=kernel, chains=8, burn_in=0, thin=30, rng=rng
    )
    exact, late = bn.dag_posterior(table).edges, bn.graphs.to_adjacency(draws.values[:, 50:])
    five = bn.score_families(dag_space.five().prefix(rows), bn.BDeu(1.0), max_parents=4)
    told = bn.dag_posterior(bn.score_families(dag_space.mixed(3, many), bn.BDeu(1.0))).edges
    return [
        *np.abs(late.mean(axis=1) - exact).sum(axis=(1, 2)),
        *_off_diagonal(bn.order_posterior(five).edges),
        *_off_diagonal(told),
    ]


def _gains_distances_and_edges(steps: int, k: int) -> list[float]:
    wine = bn.score_families(bn.load_dataset("wine"), bn.BDeu(1.0), max_parents=3)
    dag = bn.hill_climb(wine, rng=np.random.default_rng(1)).path[steps]
    gains = np.nan_to_num(structure_search.move_gains(wine, dag))
    asia = bn.load_network("asia")
    off = np.zeros((5, len(structure_search.ROWS)))
    for i, rngs in enumerate([2022, place] for place in range(5)):
        rows = asia.sample(50_000, np.random.default_rng(rngs))
        for j, m in enumerate(structure_search.ROWS):
            table = bn.score_families(rows.prefix(m), bn.BDeu(1.0), max_parents=7)
            off[i, j] = structure_search.apart(bn.ges(table).cpdag, bn.graphs.cpdag(asia.dag))
    board_table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu(1.0), max_parents=3)
    listed = bn.k_best_dags(board_table, 1000)  # of equal DAGs at the end, which k depends on k
    weight = np.exp(listed.log_weight[:k] - listed.log_weight[0])
    edges = np.average(bn.graphs.to_adjacency(listed.dags[:k]), axis=0, weights=weight)
    return [*_off_diagonal(gains), *off.mean(axis=0), *_off_diagonal(edges)]


def _hot_and_coupled(beta: float, temperatures: int) -> list[float]:
    table = order_mcmc.posterior("tic-tac-toe").table
    hot = order_mcmc.chain(order_mcmc.tempered("tic-tac-toe", beta), 0)
    coupled = order_mcmc.coupled("tic-tac-toe", bn.Linear(temperatures - 1))
    accepted = coupled.stats["acceptance"].mean(axis=0)
    return [*_off_diagonal(bn.features.edges(hot, table=table)), *accepted]


def _prior_and_distance(rows: int) -> list[float]:
    everything = modular_priors.space(5)
    table = bn.score_families(modular_priors.cancer().prefix(rows), bn.BDeu(1.0), max_parents=4)
    log_target = table.log_target(everything.dags)
    by_dags = modular_priors.normalised(log_target)
    gap = modular_priors.normalised(log_target + np.log(everything.orders)) - by_dags
    gaps = gap, np.bincount(everything.classes, gap)
    # Koivisto: 0.0384 without arrows (120 orders); a star into one node has that q and 24 orders.
    return [0.0384 * 29281, 0.0384 / 5 * 29281, *(0.5 * np.abs(g).sum() for g in gaps)]


def _off_diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix[~np.eye(len(matrix), dtype=bool)]


@pytest.mark.parametrize("lab", MOVES)
def test_moved_controls_show_what_the_package_says(lab) -> None:
    moved, expected = MOVES[lab]
    np.testing.assert_allclose(moved(), expected(), atol=1e-12)


def test_setup_refuses_unknown_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOKEH_RESOURCES", "floppy")
    with pytest.raises(ValueError, match="floppy"):
        board.setup()


def test_a_reloaded_page_gets_the_current_data() -> None:
    panel = board.Panel(plots.heat_map(EDGES, NAMES), "before")
    panel.refresh(plots.heat_map([[0, 0.123456], [0, 0]], NAMES), "after")
    assert "0.123456" in panel.figure.get_state()["render_bundle"]
    assert "0.123456" in panel.figure.get_state("render_bundle")["render_bundle"]
    assert "render_bundle" not in panel.figure.get_state("layout")
    assert panel.caption == "after"


def test_a_panel_can_show_another_picture() -> None:
    panel = board.Panel(plots.heat_map(EDGES, NAMES), "two <variables>")
    assert "two &lt;variables&gt;" in panel.children[1].value
    panel.show(plots.heat_map(np.zeros((3, 3)), ["a", "b", "c"]), "three")
    assert len(panel.source("edges").data["probability"]) == 6
    with pytest.raises(ValueError, match="no source 'edgs'; it has edges"):
        panel.source("edgs")


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


def test_progress_of_one_setting_is_not_shown_for_another() -> None:
    setting = ["a"]
    runner = Runner(
        lambda progress: progress(7, 7, None), lambda result: None, setting=lambda: setting[0]
    )
    runner.run_now()
    for now, shown in (("b", (0, "")), ("a", (7, "done: 7 of 7 steps")), ("b", (0, ""))):
        setting[0] = now
        runner.turn()
        assert (runner.bar.value, runner.status.value) == shown


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
    assert runner.bar.value == 0
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


def test_check_tells_the_first_property_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert not board.check(
        "Exercise 9", "a", lambda: True, "look at b", lambda: 1 / 0, "c", lambda: True
    )
    said = capsys.readouterr().out
    assert "Exercise 9, not yet: look at b (it raised ZeroDivisionError" in said
    assert "1 of 3 hold" in said


@pytest.mark.parametrize("name", start_here.DATASETS)
def test_nested_prefixes_of_one_table(name: str) -> None:
    data = start_here.table(name)
    stops = start_here.sizes(data.m)
    assert stops[0] == 0
    assert stops[-1] == data.m
    small, large = data.prefix(stops[1]), data.prefix(stops[2])
    np.testing.assert_array_equal(small.values, large.values[: small.m])
    np.testing.assert_array_equal(small.arities, data.arities)


def test_answer_is_what_the_package_says() -> None:
    data = start_here.table("coronary")
    shown = start_here.answer(data, 100)
    table = bn.score_families(data.prefix(100), bn.BDeu(1.0), max_parents=3)
    np.testing.assert_allclose(shown.edges, bn.order_posterior(table).edges, atol=1e-12)
    assert np.all(shown.paths >= shown.edges - 2 * shown.margin)


def test_no_rows_give_the_prior() -> None:
    edges = start_here.answer(start_here.table("coronary"), 0).edges
    values = _off_diagonal(edges)
    np.testing.assert_allclose(values, values[0])


def test_explorer_follows_its_controls() -> None:
    explorer = start_here.Explorer()
    explorer.dataset.value = "iris"
    assert explorer.size.value == 150
    explorer.size.value = 20
    expected = start_here.answer(start_here.table("iris"), 20)
    np.testing.assert_allclose(
        explorer.heat.source("edges").data["probability"], _off_diagonal(expected.edges)
    )
    assert explorer.bars.source("paths").data["path"][0] == expected.paths.max()
    assert len(explorer.net.source("links").data["xs"]) == np.sum(expected.edges >= 0.1)
    assert "20 of 150 rows" in explorer.heat.caption


def test_explorer_of_a_table_of_your_own() -> None:
    values = np.random.default_rng(1).integers(0, 2, (30, 3))
    explorer = start_here.Explorer(bn.Data.from_arrays(values, names=("x", "y", "z")))
    assert explorer.dataset.layout.display == "none"
    assert explorer.size.value == 30


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    def share(weight: Counter[frozenset[tuple[int, int]]], holds: Callable[..., bool]) -> float:
        return sum(w for dag, w in weight.items() if holds(dag)) / sum(weight.values())

    assert not start_here.check_probability(lambda weight, holds: 1)
    assert not start_here.check_probability(lambda weight, holds: sum(map(holds, weight)) / 3)
    assert not start_here.check_probability(
        lambda weight, holds: share(weight, holds) * sum(weight.values()) / 6
    )
    assert not start_here.check_probability(lambda weight, holds: None)
    assert start_here.check_probability(share)
    direct = lambda dags, u, w, v: (dags[:, w] >> u & 1 & dags[:, v] >> w) == 1  # noqa: E731
    assert not start_here.check_through(direct)
    assert not start_here.check_through(lambda dags, u, w, v: None)
    assert not start_here.check_direction([])
    assert not start_here.check_direction([(0, 1, 2)])
    assert not start_here.check_direction([(0, 0, 0), (1, 1, 0)] * 25)
    assert capsys.readouterr().out.count("not yet") == 9
