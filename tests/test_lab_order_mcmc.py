"""Lab 04 without a browser: its walks, its pictures, its widgets and its checks."""

import itertools
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import order_mcmc as lab
from bnlab.labs.board import SCHEDULES
from bnlab.labs.order_mcmc.view import KINDS, first_draws, pair, walked_edges
from bnlab.sampling import OrderWalker

NAMES = ["rain", "wet", "slip"]
EDGES = np.array([[0, 0.9, 0.2], [0.1, 0, 0.5], [0, 0.3, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_steps_follow_each_other(kind: str) -> None:
    walk = lab.steps("coronary", kind, 200)
    weigh = OrderWalker.of(lab.posterior("coronary").table).log_weights
    for step, after in itertools.pairwise(walk):
        move = step.move
        assert move.kind == kind
        np.testing.assert_array_equal(move.order, move.proposed if move.accepted else step.order)
        np.testing.assert_array_equal(move.order, after.order)
        now, proposed = weigh(np.array([step.order, move.proposed]))
        assert step.gain == pytest.approx(proposed - now)
        assert move.accepted or step.gain < 0
    assert {step.move.accepted for step in walk} == {True, False}


def test_uniform_orders_at_beta_0_and_the_posterior_at_1() -> None:
    exact = lab.posterior("coronary")
    cold, hot = lab.tempered("coronary", 1.0), lab.tempered("coronary", 0.0)
    assert bn.diagnostics.max_error(bn.features.edges(cold, table=exact.table), exact.edges) < 0.05
    assert hot.stats["acceptance"].tolist() == [1, 1]
    first, counts = np.unique(hot.values[..., 0], return_counts=True)
    assert first.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(counts / counts.sum(), 1 / 6, atol=0.02)


def test_tempered_walks_follow_the_power_of_the_weight() -> None:
    table = lab.posterior("coronary").table
    orders = np.array([*permutations(range(6))])
    log_w = OrderWalker.of(table).log_weights(orders)
    p = np.exp(0.2 * (log_w - log_w.max()))
    draws = lab.tempered("coronary", 0.2)
    spread = draws.log_target.std()
    error = 5 * spread / np.sqrt(bn.diagnostics.ess(draws))
    assert draws.log_target.mean() == pytest.approx((p @ log_w) / p.sum(), abs=error)


def test_the_edge_of_each_order() -> None:
    table = lab.posterior("coronary").table
    draws = bn.sample_orders(table, draws=20, chains=2, rng=np.random.default_rng(1))
    given = lab.edge_given_orders(draws, table, 2, 4)
    for c, t in np.ndindex(2, 20):
        alone = replace(
            draws,
            values=draws.values[c : c + 1, t : t + 1],
            log_weight=np.zeros((1, 1)),
            log_target=np.zeros((1, 1)),
            stats={},
            traces={},
        )
        assert given[c, t] == pytest.approx(bn.features.edges(alone, table=table)[2, 4])


def test_order_move_marks_what_moved() -> None:
    data = columns(plots.order_move([0, 1, 2], [0, 2, 1], NAMES), "move")
    assert data["node"] == ["rain", "wet", "slip", "rain", "slip", "wet"]
    assert data["fill"][0] == data["fill"][3] != data["fill"][1]
    with pytest.raises(ValueError, match="not two orders of 3"):
        plots.order_move([0, 1, 2], [0, 0, 1], NAMES)


def test_long_traces_are_thinned_and_keep_their_ends() -> None:
    picture = plots.traces(np.arange(10_000), {"chain 1": -np.arange(10_000.0)})
    data = columns(picture, "trace")
    assert len(data["place"]) == len(data["chain 1"]) == 500
    assert (data["place"][0], data["place"][-1], data["chain 1"][-1]) == (0, 9999, -9999)
    with pytest.raises(ValueError, match=r"shape \(2,\), but 3 values"):
        plots.traces([1, 2, 3], {"chain 1": [1, 2]})


def test_steps_average_over_every_visit() -> None:
    steps = lab.Steps()
    steps.kind.value = "relocate"
    steps.step.value = 5000
    exact = lab.posterior("coronary")
    edges = walked_edges("coronary", "relocate", 5000)
    assert bn.diagnostics.max_error(edges, exact.edges) < 0.1
    shown = steps.walked.source("walked").data["probability"]
    np.testing.assert_array_equal(shown, edges[~np.eye(6, dtype=bool)])
    assert "Move 5,000" in steps.move.caption


def test_two_chains_agree_on_wine_and_not_on_tic_tac_toe() -> None:
    two = lab.TwoChains()
    two.length.value = 20_000
    assert bn.diagnostics.sad(*pair("wine", first_draws, 20_000)) < 0.6
    two.case.value = "tic-tac-toe"
    edges = pair("tic-tac-toe", first_draws, 20_000)
    assert bn.diagnostics.sad(*edges) > 10
    draws = lab.long_chains("tic-tac-toe")
    means = draws.log_target[:, 1000:].mean(axis=1)
    assert abs(means[0] - means[1]) < 1  # the traces look alike
    table = lab.posterior("tic-tac-toe").table
    alone = bn.features.edges(lab.chain(draws, 1), table=table)
    np.testing.assert_allclose(edges[1], alone)
    np.testing.assert_allclose(
        two.scatter.source("agreement").data["second"], alone[~np.eye(10, dtype=bool)]
    )


def test_hot_walks_agree_and_cold_ones_do_not() -> None:
    heat = lab.Temperature()
    assert bn.diagnostics.sad(*pair("tic-tac-toe", lab.tempered, 1)) > 10
    heat.beta.value = 0.2
    edges = pair("tic-tac-toe", lab.tempered, 0.2)
    assert bn.diagnostics.sad(*edges) < 4
    assert "β = 0.2" in heat.trace.caption
    shown = heat.scatter.source("hot_agreement").data["second"]
    np.testing.assert_allclose(shown, edges[1][~np.eye(10, dtype=bool)])
    lowest = lab.tempered("tic-tac-toe", 0.2).log_target.min()
    assert min(heat.trace.source("hot_trace").data["walk 1"]) >= lowest - 0.001


def test_coupled_runs_agree_where_single_ones_do_not() -> None:
    ladder = lab.Coupled()
    ladder.temperatures.value = 4
    ladder.schedule.value = "harmonic"
    draws, exact = lab.coupled("tic-tac-toe", bn.Harmonic(3)), lab.posterior("tic-tac-toe")
    edges = pair("tic-tac-toe", lab.coupled, bn.Harmonic(3))
    assert draws.stats["beta"].tolist() == bn.Harmonic(3).betas.tolist()
    shown = ladder.accepted.source("tempered_acceptance").data
    np.testing.assert_allclose(shown["rate"], draws.stats["acceptance"].mean(axis=0))
    assert len(ladder.accepted.source("tempered_acceptance_exchanges").data["rate"]) == 3
    averages = ladder.trace.source("averages").data
    assert abs(averages["single 1"][-1] - averages["single 2"][-1]) > 0.99
    assert abs(averages["coupled 1"][-1] - averages["coupled 2"][-1]) < 0.4
    np.testing.assert_allclose(averages["coupled 2"][-1], edges[1][0, 4], atol=0.001)
    alone = [
        bn.features.edges(lab.chain(lab.long_chains("tic-tac-toe"), c), table=exact.table)[0, 4]
        for c in (0, 1)
    ]
    last = [averages[label][-1] for label in ("single 1", "single 2")]
    np.testing.assert_allclose(last, alone, atol=0.001)
    assert averages["place"][-1] == 200_000  # as many moves
    assert max(bn.diagnostics.sad(each, exact.edges) for each in edges) < 10


@pytest.mark.parametrize("steps", ["linear", "harmonic"])
def test_every_ladder_has_pictures_and_captions(steps: str) -> None:
    ladder = lab.Coupled()
    ladder.schedule.value = steps
    single = lab.long_chains("tic-tac-toe")
    for _, size in ladder.temperatures.options:
        ladder.temperatures.value = size
        assert len(ladder.accepted.source("tempered_acceptance").data["beta"]) == size
        assert f"{size} chains" in ladder.accepted.caption
        coupled = lab.coupled("tic-tac-toe", SCHEDULES[steps](size - 1))
        settings = {key: int(str(coupled.run.settings[key])) for key in ("burn_in", "thin")}
        each = settings["burn_in"] + coupled.values.shape[1] * settings["thin"]
        assert size * each <= single.values.shape[1] * 10
        assert size * each > single.values.shape[1] * 10 - 10 * size


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    def right(beta_i: float, beta_j: float, log_w_i: float, log_w_j: float) -> float:
        return math.exp(min(0.0, (beta_i - beta_j) * (log_w_j - log_w_i)))

    def naive(beta_i: float, beta_j: float, log_w_i: float, log_w_j: float) -> float:
        return min(1.0, (math.exp(log_w_j) / math.exp(log_w_i)) ** (beta_i - beta_j))

    def one_sided(beta_i: float, beta_j: float, log_w_i: float, log_w_j: float) -> float:
        return right(min(beta_i, beta_j), max(beta_i, beta_j), log_w_i, log_w_j)

    def barker(*given: float) -> float:  # keeps the law, but accepts less
        (a, b), (x, y) = given[:2], given[2:]
        return 1 / (1 + math.exp(-(a - b) * (y - x)))

    for wrong in (lambda *given: None, naive, one_sided, barker, lambda *given: 1.0):
        assert not lab.check_exchange(wrong)
    assert lab.check_exchange(right)

    def first_part(order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        last = int(rng.integers(2, len(order) + 1))
        return np.concatenate([order[:last][::-1], order[last:]])

    def lopsided(order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        ends = rng.choice(len(order), size=2, replace=False)
        low, high = ends.min(), ends.max()
        if order[low] > order[high] and rng.random() < 0.5:
            low, high = 0, 1
        return np.concatenate([order[:low], order[low : high + 1][::-1], order[high + 1 :]])

    assert not lab.check_reversal(lambda order, rng: None)
    assert not lab.check_reversal(lambda order, rng: rng.permutation(order))
    assert not lab.check_reversal(first_part)
    assert not lab.check_reversal(lopsided)
    said = capsys.readouterr().out
    assert said.count("not yet") == 9
    assert "b from a as often" in said


def test_check_of_many_starts(capsys: pytest.CaptureFixture[str]) -> None:
    def spend(draws: int, chains: int, burn_in: int):
        return lambda table, rng: bn.sample_orders(
            table, draws=draws, chains=chains, burn_in=burn_in, thin=10, rng=rng
        )

    assert not lab.check_many_starts(lambda table, rng: None)
    assert not lab.check_many_starts(spend(9000, 1, 10_000))
    assert not lab.check_many_starts(spend(1000, 50, 500))
    assert lab.check_many_starts(spend(150, 50, 500))

    def coupled(draws: int):
        plan = {"chains": 1, "burn_in": 1000, "thin": 10, "schedule": bn.Linear(7)}
        return lambda table, rng: bn.sample_orders(table, draws=draws, rng=rng, **plan)

    assert not lab.check_many_starts(coupled(1151))  # 8 moves too many
    assert lab.check_many_starts(coupled(1150))
    assert "100,000 moves in all" in capsys.readouterr().out
