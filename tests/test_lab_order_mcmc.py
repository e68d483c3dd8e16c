"""Lab 03 without a browser: its walk, its pictures, its widgets and its checks."""

from itertools import permutations

import numpy as np
import pytest
from bokeh.embed import json_item

import bnlab as bn
from bnlab import plots
from bnlab.labs import order_mcmc as lab
from bnlab.labs.order_mcmc.chains import KINDS
from bnlab.sampling import OrderWalker

NAMES = ["rain", "wet", "slip"]
EDGES = np.array([[0, 0.9, 0.2], [0.1, 0, 0.5], [0, 0.3, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_proposals_are_symmetric_and_reach_every_order(kind: str) -> None:
    orders = [*permutations(range(4))]
    rng, tries = np.random.default_rng(1), 600
    counts = np.array(
        [
            [drawn.count(order) for order in orders]
            for drawn in (
                [tuple(lab.proposal(np.array(a), kind, rng).tolist()) for _ in range(tries)]
                for a in orders
            )
        ]
    )
    assert np.all(np.abs(counts - counts.T) <= 5 * np.sqrt(counts + counts.T + 1))
    assert np.all(np.linalg.matrix_power(counts / tries + np.eye(24), 12) > 0)


def test_the_slow_walk_visits_orders_as_often_as_they_weigh() -> None:
    data = bn.load_dataset("coronary").select(["Smoking", "P. Work", "M. Work"]).prefix(60)
    table = bn.score_families(data, bn.K2(), max_parents=2)
    walk = lab.metropolis(table, "swap", 20_000, np.random.default_rng(1))
    orders = np.array([*permutations(range(3))])
    weights = np.exp(OrderWalker.of(table).log_weights(orders) - bn.order_posterior(table).log_z)
    visited = np.array([step.after for step in walk])
    shares = [(visited == order).all(axis=1).mean() for order in orders]
    np.testing.assert_allclose(shares, weights, atol=0.03)
    np.testing.assert_allclose(weights.sum(), 1)


def test_a_step_tells_what_happened() -> None:
    order, proposed = np.array([0, 1]), np.array([1, 0])
    assert lab.Step(order, proposed, 3.0, 0.99).after.tolist() == [1, 0]
    assert lab.Step(order, proposed, -3.0, 0.06).after.tolist() == [0, 1]
    assert lab.Step(order, proposed, -3.0, 0.04).accepted


def test_order_move_marks_what_moved() -> None:
    data = plots.order_move_data([0, 1, 2], [0, 2, 1], NAMES)
    assert data["node"] == ["rain", "wet", "slip", "rain", "slip", "wet"]
    assert data["fill"][0] == data["fill"][3] != data["fill"][1]
    with pytest.raises(ValueError, match="not two orders of 3"):
        plots.order_move_data([0, 1, 2], [0, 0, 1], NAMES)


def test_long_traces_are_thinned_and_keep_their_ends() -> None:
    data = plots.traces_data(np.arange(10_000), {"chain 1": -np.arange(10_000.0)})
    assert len(data["place"]) == len(data["chain 1"]) == 500
    assert (data["place"][0], data["place"][-1], data["chain 1"][-1]) == (0, 9999, -9999)
    with pytest.raises(ValueError, match=r"shape \(2,\), but there are 3 places"):
        plots.traces_data([1, 2, 3], {"chain 1": [1, 2]})


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("move", lambda: plots.order_move([0, 1, 2], [2, 1, 0], NAMES)),
        ("trace", lambda: plots.traces([1, 2], {"a": [-9, -8], "b": [-7, -8]}, band=(-8, -7))),
        ("acceptance", lambda: plots.acceptance_bars({"wine": {"swap": 0.5}})),
        ("agreement", lambda: plots.agreement(EDGES, EDGES.T, NAMES)),
    ],
)
def test_pictures_are_complete(name: str, picture) -> None:
    drawn = picture()
    assert drawn.select_one({"name": name}) is not None
    assert drawn.html_attributes["role"] == "img"
    assert len(drawn.html_attributes["aria-label"]) > 20
    assert drawn.title.text
    assert json_item(drawn)


def test_steps_average_over_every_visit() -> None:
    steps = lab.Steps()
    steps.kind.value = "relocate"
    steps.step.value = 5000
    exact = lab.posterior("coronary")
    assert bn.diagnostics.max_error(steps.edges(), exact.edges) < 0.1
    shown = steps.walked.source("walked").data["probability"]
    np.testing.assert_array_equal(shown, steps.edges()[~np.eye(6, dtype=bool)])
    assert "Move 5,000" in steps.move.caption


def test_two_chains_agree_on_wine_and_not_on_tic_tac_toe() -> None:
    two = lab.TwoChains()
    two.length.value = 20_000
    assert bn.diagnostics.sad(*two.edges()) < 0.6
    two.case.value = "tic-tac-toe"
    assert bn.diagnostics.sad(*two.edges()) > 10
    draws = lab.long_chains("tic-tac-toe")
    means = draws.log_target[:, 1000:].mean(axis=1)
    assert abs(means[0] - means[1]) < 1  # the traces look alike
    table = lab.posterior("tic-tac-toe").table
    alone = bn.features.edges(lab.chain(draws, 1), table=table)
    np.testing.assert_allclose(two.edges()[1], alone)
    np.testing.assert_allclose(
        two.scatter.source("agreement").data["second"], alone[~np.eye(10, dtype=bool)]
    )


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    def half(p: np.ndarray, neighbours: np.ndarray) -> float:
        return float(np.minimum(p[:, None], p[neighbours]).mean())

    def right(p: np.ndarray, neighbours: np.ndarray) -> float:
        return half(p, neighbours) * len(p)

    assert not lab.check_acceptance(lambda p, neighbours: None)
    assert not lab.check_acceptance(half)
    assert lab.check_acceptance(right)

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
    assert said.count("not yet") == 6
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
    assert "100,000 moves in all" in capsys.readouterr().out
