"""Lab 04 without a browser: its chains, a picture of chains, and its checks."""

from dataclasses import replace
from itertools import permutations
from math import exp

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import order_mcmc as lab
from bnlab.labs.board import rows
from bnlab.sampling import OrderWalker


def coronary() -> bn.Data:
    return rows("coronary")


def test_each_board_comes_once_and_then_again() -> None:
    once, twice = lab.boards(958), lab.boards(lab.TWICE)
    np.testing.assert_array_equal(twice.values, np.tile(once.values, (2, 1)))
    np.testing.assert_array_equal(lab.boards(200).values, once.values[:200])
    assert len(np.unique(once.values, axis=0)) == 958
    assert once.names[4] == "middle-middle"


def test_uniform_orders_at_beta_0_and_the_posterior_at_1() -> None:
    exact = lab.posterior(coronary())
    cold, hot = (lab.tempered(exact.table, beta, 5000, 2) for beta in (1.0, 0.0))
    assert bn.diagnostics.max_error(bn.features.edges(cold, table=exact.table), exact.edges) < 0.05
    assert hot.stats["acceptance"].tolist() == [1, 1]
    first, counts = np.unique(hot.values[..., 0], return_counts=True)
    assert first.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(counts / counts.sum(), 1 / 6, atol=0.02)


def test_tempered_chains_follow_the_power_of_the_target() -> None:
    orders = np.array([*permutations(range(6))])
    table = lab.posterior(coronary()).table
    log_p = OrderWalker.of(table).log_weights(orders)
    p = np.exp(0.2 * (log_p - log_p.max()))
    draws = lab.tempered(table, 0.2, 5000, 2, 600)
    error = 5 * draws.log_target.std() / np.sqrt(bn.diagnostics.ess(draws))
    assert draws.log_target.mean() == pytest.approx((p @ log_p) / p.sum(), abs=error)


def test_the_edges_of_each_order() -> None:
    table = lab.posterior(coronary()).table
    draws = bn.sample_orders(table, draws=20, chains=2, rng=np.random.default_rng(1))
    given = lab.edges_into(draws, table, 4)
    for c, t in np.ndindex(2, 20):
        alone = replace(
            draws,
            values=draws.values[c : c + 1, t : t + 1],
            log_weight=np.zeros((1, 1)),
            log_target=np.zeros((1, 1)),
            stats={},
            traces={},
        )
        np.testing.assert_allclose(given[c, t], bn.features.edges(alone, table=table)[:, 4])


def test_long_traces_are_thinned_and_keep_their_ends() -> None:
    picture = plots.traces(np.arange(10_000), {"chain 1": -np.arange(10_000.0)})
    data = columns(picture, "trace")
    assert len(data["place"]) == len(data["chain 1"]) == 500
    assert (data["place"][0], data["place"][-1], data["chain 1"][-1]) == (0, 9999, -9999)
    with pytest.raises(ValueError, match=r"shape \(2,\), but 3 values"):
        plots.traces([1, 2, 3], {"chain 1": [1, 2]})


def test_hot_chains_agree_and_are_off() -> None:
    exact = lab.posterior(lab.boards(lab.TWICE))
    draws = lab.tempered(exact.table, 0.1, 5000, 2)
    one, two = (bn.features.edges(lab.chain(draws, c), table=exact.table) for c in (0, 1))
    assert bn.diagnostics.sad(one, two) < 2
    assert bn.diagnostics.sad(one, exact.edges) > 1


def test_check_of_the_exchange(capsys: pytest.CaptureFixture[str]) -> None:
    def product(log_i, log_j, beta_i, beta_j):
        before, after = beta_i * log_i + beta_j * log_j, beta_i * log_j + beta_j * log_i
        return min(1, np.exp(after - before))

    def barker(*given):
        ratio = np.exp((given[2] - given[3]) * (given[1] - given[0]))
        return ratio / (1 + ratio)

    wrong = (
        lambda *given: None,
        barker,
        lambda i, j, b, c: lab.exchange_chance(j, i, b, c),
        lambda i, j, b, c: exp(min(0, j - i)),
        lambda i, j, b, c: min(1, exp((b - c) * (j - i))),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        for right in (lab.exchange_chance, product):
            assert lab.check_exchange(right) and lab.right_exchange(right) is right
        for each in wrong:
            assert not lab.check_exchange(each)
    assert all(lab.right_exchange(each) is lab.exchange_chance for each in (wrong[0], barker))
    assert capsys.readouterr().out.count("not yet") == 5


def test_check_of_places(capsys: pytest.CaptureFixture[str]) -> None:
    def right(order, v, log_target):
        others = [u for u in order if u != v]
        targets = [log_target((*others[:k], v, *others[k:])) for k in range(len(order))]
        chances = np.exp(np.array(targets) - max(targets))
        return chances / chances.sum()

    def naive(order, v, log_target):
        others = [u for u in order if u != v]
        chances = np.exp([log_target((*others[:k], v, *others[k:])) for k in range(len(order))])
        return chances / chances.sum()

    def metropolis(order, v, log_target):
        others, now = [u for u in order if u != v], log_target(tuple(order))
        chances = [
            min(1, np.exp(log_target((*others[:k], v, *others[k:])) - now)) / len(order)
            for k in range(len(order))
        ]
        chances[order.index(v)] += 1 - sum(chances)
        return chances

    def swapped(order, v, log_target):
        targets = []
        for k in range(len(order)):
            other = list(order)
            i = order.index(v)
            other[i], other[k] = other[k], other[i]
            targets.append(log_target(tuple(other)))
        chances = np.exp(np.array(targets) - max(targets))
        return chances / chances.sum()

    assert lab.check_places(right)
    uniform = lambda order, v, log_target: np.full(len(order), 1 / len(order))  # noqa: E731
    with np.errstate(invalid="ignore"):
        for wrong in (lambda *given: None, naive, metropolis, swapped, uniform):
            assert not lab.check_places(wrong)
    assert capsys.readouterr().out.count("not yet") == 5


@pytest.mark.slow
def test_check_of_many_starts(capsys: pytest.CaptureFixture[str]) -> None:
    def spend(draws: int, chains: int, burn_in: int):
        return lambda table, rng: bn.sample_orders(
            table, draws=draws, chains=chains, burn_in=burn_in, thin=10, rng=rng
        )

    assert not lab.check_spend(lambda table, rng: None)
    assert not lab.check_spend(spend(9000, 1, 10_000))
    assert not lab.check_spend(spend(1000, 50, 500))
    assert lab.check_spend(spend(150, 50, 500))

    def coupled(draws: int):
        squares = bn.Betas([(i / 7) ** 2 for i in range(8)])
        plan = {"chains": 1, "burn_in": 1000, "thin": 10, "schedule": squares}
        return lambda table, rng: bn.sample_orders(table, draws=draws, rng=rng, **plan)

    assert not lab.check_spend(coupled(1151))  # 8 moves too many
    assert lab.check_spend(coupled(1150))
    assert "100,000 moves in all" in capsys.readouterr().out
