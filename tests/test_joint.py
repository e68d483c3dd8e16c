"""Simulation from the joint prior: orders, parent sets, tables, and the posterior of the order."""

import itertools
import math
import pickle

import numpy as np
import oracles
import pytest

import bnlab as bn


def joint(arities=(2, 3, 2, 2), m=20, seed=1, **options):
    return bn.sample_joint(arities, m=m, rng=np.random.default_rng(seed), **options)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair(), bn.EdgePenalty(0.5)], ids=repr)
def test_pairs_of_order_and_dag_come_as_often_as_their_prior_says(prior):
    """All 6 orders and the DAGs of up to one parent that agree with each, by chi-square."""
    times, pairs = 1200, {}
    table = bn.score_families(joint([2] * 3, 0).data, bn.BDeu(), max_parents=1, prior=prior)
    log_prior = oracles.families_of(table)  # no rows: the score is 0
    for order in itertools.permutations(range(3)):
        for dag in oracles.all_dags(3):
            if order in oracles.orders_of(dag) and all(dag[v] in log_prior[v] for v in range(3)):
                pairs[order, dag] = math.exp(oracles.dag_log_weight(log_prior, dag))
    number = {pair: i for i, pair in enumerate(pairs)}
    rng, counts = np.random.default_rng(2), np.zeros(len(pairs))
    for _ in range(times):
        drawn = bn.sample_joint([2] * 3, m=0, rng=rng, max_parents=1, prior=prior)
        counts[number[tuple(drawn.order.tolist()), tuple(drawn.dag.tolist())]] += 1
    expected = times * np.array(list(pairs.values())) / sum(pairs.values())
    assert len(pairs) == 6 * 6
    assert oracles.chi_square(counts, expected) > 1e-4


@pytest.mark.quick("BDeu")
@pytest.mark.parametrize("score", [bn.BDeu(3.0), bn.K2()], ids=repr)
def test_tables_have_the_moments_of_their_dirichlet_prior(score):
    """Mean 1 / r and second moment (a + 1) / (r (r a + 1)) for pseudo-counts a."""
    rng, seen = np.random.default_rng(3), {}
    for _ in range(500):
        drawn = bn.sample_joint([2, 3], m=0, rng=rng, score=score)
        for v, table in enumerate(drawn.network.tables):
            seen.setdefault((v, len(table)), []).append(table[-1, 0])
    assert set(seen) == {(0, 1), (0, 3), (1, 1), (1, 2)}
    for (v, rows), first in seen.items():
        r = (2, 3)[v]
        a = 1.0 if score == bn.K2() else 3.0 / (rows * r)
        values = np.array(first)
        for power, mean in ((1, 1 / r), (2, (a + 1) / (r * (r * a + 1)))):
            moments = values**power
            assert abs(moments.mean() - mean) <= 4 * moments.std() / math.sqrt(moments.size)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
def test_the_order_is_a_draw_from_the_posterior_of_the_data(prior):
    """Ranks of the order's position of node 0, among exact draws given its data, are uniform.

    Ties are broken at random. 500 repeats, 19 exact draws each: 20 equally frequent ranks.
    """
    ranks = []
    for rng in np.random.default_rng(4).spawn(500):
        drawn = bn.sample_joint([2, 2, 3, 3], m=30, rng=rng, max_parents=2, prior=prior)
        table = bn.score_families(drawn.data, bn.BDeu(), max_parents=2, prior=prior)
        exact = bn.sample_orders(bn.order_posterior(table), draws=19, rng=rng).values[0]
        orders = np.vstack([drawn.order[None], exact])
        masks = (np.argsort(orders, axis=1)[:, 2] < np.argsort(orders, axis=1)[:, 3]) * 10
        values = masks + np.argsort(orders, axis=1)[:, 0] + rng.random(20)
        ranks.append(int((values < values[0]).sum()))
    counts = np.bincount(ranks, minlength=20)
    assert oracles.chi_square(counts, np.full(20, 25.0)) > 1e-4


def test_many_variables_and_states_that_need_not_occur():
    drawn = joint([4] * 58, m=3, max_parents=3)
    assert np.bitwise_count(drawn.dag).max() <= 3
    assert drawn.data.values.shape == (3, 58)
    assert (drawn.data.arities == 4).all()
    position = np.argsort(drawn.order)
    for v in range(58):
        assert all(position[u] < position[v] for u in oracles.members(drawn.dag[v]))


def test_a_joint_draw_is_read_only_repeats_and_pickles():
    drawn, again = joint(), joint()
    copy = pickle.loads(pickle.dumps(drawn))
    for other in (again, copy):
        assert (other.order == drawn.order).all()
        assert (other.data.values == drawn.data.values).all()
        with pytest.raises(ValueError, match="read-only"):
            other.order[0] = 1
    assert drawn.run.settings["max_parents"] == 3
    assert "PCG64" in drawn.run.seed
    assert (joint(m=50).data.values[:20] == drawn.data.values).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": bn.BIC()}, "pass a BDeu or a K2"),
        ({"prior": bn.EdgeBeliefs(np.eye(4) + 0.2 * np.eye(4, k=1))}, "Uniform, Fair"),
        ({"m": -1}, "m=-1"),
        ({"arities": [1, 2]}, "1 level"),
        ({"arities": [[2, 2]]}, r"shape \(1, 2\)"),
        ({"arities": [2] * 64}, "64"),
        ({"arities": [4000, 4000], "prior": bn.EdgePenalty(-50)}, "entries"),
    ],
)
def test_bad_settings_say_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        joint(**options)
    with pytest.raises(ValueError, match="rng=7"):
        bn.sample_joint([2, 2], m=1, rng=7)
