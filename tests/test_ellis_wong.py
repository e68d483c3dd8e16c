"""Ellis and Wong's heuristic: what it does, and the two ways in which it is known to fail."""

import itertools
import math
from collections import Counter

import numpy as np
import oracles
import pytest
from tables import some_orders

import bnlab as bn
from bnlab.graphs import predecessor_masks
from bnlab.sampling import reweighting
from bnlab.sampling.independent import families_by_weight


def small_table(n, m=20, seed=3, **options):
    values = np.random.default_rng(seed).integers(0, 2, size=(m, n))
    data = bn.Data.from_arrays(values, arities=[2] * n)
    return bn.score_families(data, bn.BDeu(), **options)


def agree(n, *orders):
    """Every DAG that agrees with one of the orders."""
    return {dag for dag in oracles.all_dags(n) if set(orders) & set(oracles.orders_of(dag))}


def heuristic(orders, table, eps, seed=0, **options):
    return bn.ellis_wong_dags(
        orders, table=table, eps=eps, rng=np.random.default_rng(seed), **options
    )


def test_with_eps_0_all_dags_of_all_orders_are_taken_once():
    table = small_table(4)
    rows = [(2, 0, 3, 1), (0, 1, 2, 3), (2, 0, 3, 1), (0, 1, 3, 2)]
    dags = heuristic(some_orders(rows, table.names), table, 0.0)
    found = list(map(tuple, dags.values[0].tolist()))
    assert len(found) == len(set(found))
    assert set(found) == agree(4, *rows)
    assert dags.log_weight == pytest.approx(table.log_target(dags.values))
    assert (dags.log_weight == dags.log_target).all()
    assert (dags.over, dags.prior, dags.independent) == ("dags", "structure-modular", False)
    assert not dags.groups.any()
    assert dags.run.settings == {"eps": 0.0, "max_dags": 100_000}


def test_all_orders_and_all_their_dags_make_the_structure_modular_posterior():
    table = small_table(4)
    dags = heuristic(some_orders(list(itertools.permutations(range(4))), table.names), table, 0.0)
    _, exact = oracles.structure_modular_over_dags(oracles.families_of(table))
    estimate = bn.features.probability(dags, bn.features.path(0, 3))
    value = sum(p for dag, p in exact.items() if (0, 3) in oracles.paths(dag, 4))
    assert estimate.value == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("eps", [0.5, 0.1, 0.01])
def test_dags_are_drawn_until_they_hold_the_mass(eps):
    table = small_table(4)
    order = (2, 0, 3, 1)
    weights = {dag: table.log_target(dag) for dag in agree(4, order)}
    total = oracles.log_sum(weights.values())
    for seed in range(20):
        found = heuristic(some_orders([order], table.names), table, eps, seed).values[0].tolist()
        mass = np.cumsum([math.exp(weights[tuple(dag)] - total) for dag in found])
        assert mass[-1] >= 1 - eps - 1e-12
        assert len(found) == 1 or mass[-2] < 1 - eps


def test_dags_come_as_independent_draws_would_first_meet_them():
    table, draws = small_table(3), 20_000
    families = [families_by_weight(table, v) for v in range(3)]
    choices = reweighting.within(families, predecessor_masks(np.array([[2, 0, 1]]))[0])
    rng = np.random.default_rng(5)
    p = {dag: math.exp(log_p) for dag, log_p in reweighting.distinct_dags(choices, rng)}
    assert sum(p.values()) == pytest.approx(1)
    seen = Counter()
    for _ in range(draws):
        seen[
            tuple(dag for dag, _ in itertools.islice(reweighting.distinct_dags(choices, rng), 2))
        ] += 1
    for first, second in itertools.permutations(p, 2):
        expected = p[first] * p[second] / (1 - p[first])
        spread = math.sqrt(max(expected * (1 - expected), 1 / draws) / draws)
        assert abs(seen[first, second] / draws - expected) <= 4 * spread


def test_families_thousands_of_nats_apart_are_all_met():
    parents = bn.score_families(bn.Data.from_arrays(np.eye(3, dtype=int)), bn.BDeu()).parents
    log_score = -3000.0 * np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]])
    table = bn.ScoreTable(parents, log_score, np.zeros((3, 4)), ("a", "b", "c"), 2)
    assert heuristic(some_orders([[0, 1, 2]], table.names), table, 0.0).values.shape == (1, 8, 3)
    assert heuristic(some_orders([[0, 1, 2]], table.names), table, 0.1).values.shape == (1, 1, 3)


def test_first_failure_one_order_changes_nothing():
    """eps = 0 and one order: on average over orders, the order-modular posterior with its bias
    [NiinimakiKoivisto2013, sec. 2.2]."""
    table = small_table(4, m=10)
    log_phi = oracles.families_of(table)
    *_, of_orders = oracles.order_modular_over_orders(log_phi)
    *_, biased = oracles.order_modular_over_dags(log_phi)
    _, unbiased = oracles.structure_modular_over_dags(log_phi)
    feature = bn.features.path(0, 3)

    def expectation(posterior):
        return sum(p for dag, p in posterior.items() if (0, 3) in oracles.paths(dag, 4))

    average = 0.0
    for order, p in of_orders.items():
        corrected = heuristic(some_orders([order], table.names), table, 0.0)
        average += p * bn.features.probability(corrected, feature).value
    assert average == pytest.approx(expectation(biased), abs=1e-10)
    assert abs(average - expectation(unbiased)) > 0.01


def special_and_others():
    """A table of 5 nodes, its special DAG of posterior 1/2, and the number M of others like it.

    Each parent is worth 60 nats, so complete DAGs, of one linear extension each, outweigh all. Node
    4 comes last, after the others in any of M = 4! orders, or first: then 3, 2, 1, 0 must follow,
    and that DAG weighs as much as the M others together.
    """
    n, others = 5, math.factorial(4)
    table = small_table(n, m=2, max_parents=4)
    log_score = 60.0 * np.bitwise_count(table.parents)
    log_prior = np.full(log_score.shape, -np.inf)
    for v in range(4):
        after = sum(1 << u for u in range(v + 1, n))
        log_prior[v, (table.parents[v] & 16 == 0) | (table.parents[v] == after)] = 0.0
    log_prior[4, table.parents[4] == 0] = math.log(others)
    log_prior[4, table.parents[4] == 15] = 0.0
    special = np.array([30, 28, 24, 16, 0])
    return bn.ScoreTable(table.parents, log_score, log_prior, table.names, 4), special, others


def expected_estimate(others, draws):
    """E[M / (M + number of others met), or 0 before the special DAG is met].

    Each draw is the special DAG, or one of the M others, evenly.
    """
    count = np.arange(others + 1)
    p = np.zeros((2, others + 1))  # special DAG met or not, number of others met
    p[0, 0] = 1.0
    for _ in range(draws):
        new = p * (1 - count / others)
        after_other = p - new + np.pad(new, ((0, 0), (1, 0)))[:, :-1]
        p = 0.5 * after_other + 0.5 * np.array([np.zeros(others + 1), p.sum(axis=0)])
    return float(p[1] @ (others / (others + count)))


def test_second_failure_what_was_not_met_counts_nothing():
    """A DAG of posterior 1/2 among M others, T = M: about 2/3 [NiinimakiKoivisto2013, sec. 2.2].

    A little more, since the paper counts the other DAGs as if none were met twice. eps is not 0, so
    that each order gives its complete DAG alone.
    """
    table, special, others = special_and_others()
    dags = bn.graphs.all_dags(5)
    log_p = table.log_target(dags)
    is_special = bn.features.function(lambda dag: np.array_equal(dag, special))
    exact = np.exp(log_p - np.logaddexp.reduce(log_p))[is_special(dags)].sum()
    assert exact == pytest.approx(1 / 2, abs=1e-9)
    posterior = bn.order_posterior(table)
    estimates = {}
    for draws in (others, others // 4):
        values = []
        for seed in range(80):
            rng = np.random.default_rng(seed)
            orders = bn.sample_orders(posterior, draws=draws, rng=rng)
            found = bn.ellis_wong_dags(orders, table=table, eps=1e-9, rng=rng)
            assert found.values.shape[1] <= draws
            values.append(bn.features.probability(found, is_special).value)
        estimates[draws] = np.mean(values)
        stderr = np.std(values, ddof=1) / math.sqrt(80)
        assert abs(estimates[draws] - expected_estimate(others, draws)) <= 4 * stderr
    assert 2 / 3 < estimates[others] < estimates[others // 4]
    assert expected_estimate(3000, 3000) == pytest.approx(1 / (2 - math.exp(-0.5)), abs=1e-4)
    rng = np.random.default_rng(0)
    orders = bn.sample_orders(posterior, draws=1000, rng=rng)
    right = bn.reweight_by_extensions(bn.sample_dags(orders, draws=1, table=table, rng=rng))
    assert abs(bn.features.probability(right, is_special).value - 1 / 2) <= 4 * 0.5 / math.sqrt(
        1000
    )


def test_the_estimate_has_no_error_bar():
    table = small_table(4)
    dags = heuristic(some_orders([(0, 1, 2, 3), (3, 2, 1, 0)], table.names), table, 0.1)
    estimate = bn.features.probability(dags, bn.features.edge(0, 1))
    assert (estimate.interval, estimate.low, estimate.high) == ("none", 0.0, 1.0)
    assert estimate.stderr == math.inf


def test_too_many_dags_are_refused():
    table = small_table(4)
    orders = some_orders([(0, 1, 2, 3), (3, 2, 1, 0)], table.names)
    with pytest.raises(
        ValueError, match=r"max_dags=70 DAGs .* order \[3, 2, 1, 0\] they reach 0\.\d"
    ):
        heuristic(orders, table, 0.0, max_dags=70)
    flat = small_table(25, m=2, max_parents=3)
    with pytest.raises(ValueError, match=r"reach \d.* at most of its posterior, short of .* = 0.9"):
        heuristic(some_orders([range(25)], flat.names), flat, 0.1)


ORDERS = [(2, 0, 3, 1), (0, 1, 2, 3), (3, 2, 1, 0), (0, 1, 3, 2), (1, 0, 2, 3)]


def same(one, other):
    names = ("values", "log_weight", "log_target")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names) and (
        one.run.settings == other.run.settings
    )


def test_a_stopped_run_has_the_dags_of_the_orders_it_did():
    table, told = small_table(4), []
    orders = some_orders(ORDERS, table.names)
    whole = heuristic(orders, table, 0.1, progress=lambda *report: told.append(report))
    assert told == [(done, 5, None) for done in range(1, 6)] and not whole.run.stopped
    part = heuristic(orders, table, 0.1, progress=lambda done, *_: done < 3)
    first = sorted(ORDERS)[:3]  # as they are gone through
    alone = heuristic(some_orders(first, table.names), table, 0.1)
    assert same(part, alone) and part.run.stopped
    assert np.array_equal(part.values, whole.values[:, : part.values.shape[1]])


@pytest.mark.parametrize("number", [1, 40])
def test_ctrl_c_in_an_order_leaves_those_before_it(number, monkeypatch):
    """Nothing of the order at hand is kept; in the first one, nothing is there to return."""
    drawn = itertools.count(1)

    def interrupted(choices, rng, original=reweighting.distinct_dags):
        for dag in original(choices, rng):
            if next(drawn) == number:
                raise KeyboardInterrupt
            yield dag

    table = small_table(4)
    orders = some_orders(ORDERS, table.names)
    whole = heuristic(orders, table, 0.1)
    monkeypatch.setattr(reweighting, "distinct_dags", interrupted)
    if number == 1:
        with pytest.raises(KeyboardInterrupt):
            heuristic(orders, table, 0.1)
        return
    part = heuristic(orders, table, 0.1)
    kept = part.values.shape[1]
    assert part.run.stopped and 0 < kept < whole.values.shape[1]
    assert np.array_equal(part.values, whole.values[:, :kept])


def test_a_run_that_goes_on_leaves_the_generator_where_another_does(tmp_path):
    table, path = small_table(4), tmp_path / "dags.ckpt"
    orders = some_orders(ORDERS, table.names)
    heuristic(orders, table, 0.1, checkpoint=path, progress=lambda *_: False)
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    bn.ellis_wong_dags(orders, table=table, eps=0.1, rng=rng, checkpoint=path)
    bn.ellis_wong_dags(orders, table=table, eps=0.1, rng=other)
    assert rng.bit_generator.state == other.bit_generator.state


def test_the_checkpoint_of_other_settings_is_refused(tmp_path):
    table, path = small_table(4), tmp_path / "dags.ckpt"
    usual = {"orders": some_orders(ORDERS, table.names), "table": table, "eps": 0.1}
    heuristic(**usual, checkpoint=path)
    for change, what in (
        ({"eps": 0.2}, "eps"),
        ({"max_dags": 999}, "max_dags"),
        ({"orders": some_orders(ORDERS[1:], table.names)}, "orders"),
        ({"table": small_table(4, seed=4)}, "table"),
    ):
        with pytest.raises(ValueError, match=f"checkpoint of another run: its {what} is"):
            heuristic(**usual | change, checkpoint=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": -0.1}, "eps=-0.1"),
        ({"eps": 1.0}, "eps=1.0"),
        ({"eps": math.nan}, "eps=nan"),
        ({"max_dags": 0}, "max_dags=0"),
        ({"table": small_table(5)}, "the scores are of the variables x0, .* the orders of x0"),
    ],
)
def test_bad_settings_say_what_is_wrong(options, message):
    table = small_table(4)
    usual = {"table": table, "eps": 0.1, "rng": np.random.default_rng(0)}
    with pytest.raises(ValueError, match=message):
        bn.ellis_wong_dags(some_orders([range(4)], table.names), **{**usual, **options})


def test_dags_are_no_orders():
    table = small_table(3)
    rng = np.random.default_rng(0)
    dags = bn.sample_dags(bn.order_posterior(table), draws=2, rng=rng)
    with pytest.raises(
        ValueError, match=r"orders=Draws is over dags: draw orders \(sample_orders\)"
    ):
        heuristic(dags, table, 0.1)
