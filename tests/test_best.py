"""The best DAGs: against sorting all DAGs, under both readings of the prior."""

import math
from dataclasses import replace

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import features, memory
from bnlab.exact import best as best_module


def random_table(n, k, seed):
    """Independent scores for all families, a fifth of them forbidden."""
    rng = np.random.default_rng(seed)
    data = bn.Data.from_arrays(np.zeros((1, n), int), arities=[2] * n)
    table = bn.score_families(data, bn.BDeu(), max_parents=k)
    forbidden = rng.random(table.parents.shape) < 0.2
    forbidden[:, 0] = False
    return replace(
        table,
        log_score=rng.normal(scale=3, size=table.parents.shape) - 50,
        log_prior=np.where(forbidden, -math.inf, 0.0),
    )


def all_weights(table, prior):
    """{DAG: ln weight} by enumeration, weight 0 left out."""
    log_phi = oracles.families_of(table)
    weights = {dag: oracles.dag_log_weight(log_phi, dag) for dag in oracles.all_dags(table.n)}
    if prior == "order-modular":
        weights = {dag: w + math.log(len(oracles.orders_of(dag))) for dag, w in weights.items()}
    return {dag: w for dag, w in weights.items() if w > -math.inf}


@pytest.mark.parametrize("prior", ["structure-modular", "order-modular"])
@pytest.mark.parametrize(("n", "most"), [(1, 0), (2, 1), (3, 2), (4, 3), (4, 2), (4, 0)])
def test_k_best_equal_sorting_all_dags(n, most, prior):
    for seed in range(3):
        table = random_table(n, most, seed)
        weights = all_weights(table, prior)
        ranked = sorted(weights.values(), reverse=True)
        for k in (1, 2, 7, 100, 10**6):
            best = bn.k_best_dags(table, k, prior=prior)
            rows = [tuple(row) for row in best.dags.tolist()]
            assert len(set(rows)) == len(rows) == min(k, len(ranked))
            assert best.log_weight == pytest.approx(ranked[:k], abs=1e-9)
            assert best.log_weight == pytest.approx([weights[row] for row in rows], abs=1e-9)
            assert (np.diff(best.log_weight) <= 0).all()
            assert (best.log_target == table.log_target(best.dags)).all()
            assert best.prior == prior


@pytest.mark.parametrize("most", [2, 4])
def test_k_best_of_five_nodes(most):
    table = random_table(5, most, 1)
    dags = bn.graphs.all_dags(5)
    log_target = np.sort(table.log_target(dags))[::-1]
    best = bn.k_best_dags(table, 3000)
    assert best.log_weight == pytest.approx(log_target[:3000], abs=1e-9)
    assert len(np.unique(best.dags, axis=0)) == 3000
    extensions = bn.linear_extensions.log_count(dags)
    log_weight = np.sort(table.log_target(dags) + extensions)[::-1]
    best = bn.k_best_dags(table, 50, prior="order-modular")
    assert best.log_weight == pytest.approx(log_weight[:50], abs=1e-9)


def test_equal_weights_give_distinct_dags():
    """Without data all 543 DAGs weigh the same; 24 times l(G) tells them apart."""
    table = bn.score_families(bn.Data.from_arrays(np.zeros((0, 4), int), arities=[2] * 4), bn.K2())
    best = bn.k_best_dags(table, 200)
    assert len(np.unique(best.dags, axis=0)) == 200
    assert not best.log_weight.any()
    best = bn.k_best_dags(table, 1, prior="order-modular")
    assert not best.dags.any()
    assert best.log_weight == pytest.approx([math.log(24)])


@pytest.mark.parametrize("seed", range(5))
def test_the_best_dag_is_the_first_of_the_k_best(seed):
    table = random_table(6, 3, seed)
    best = bn.map_dag(table)
    several = bn.k_best_dags(table, 5)
    assert best.log_weight == pytest.approx(several.log_weight[:1], abs=1e-9)
    assert best.log_target == table.log_target(best.dags)
    assert best.dags.shape == (1, 6)


def test_the_best_dag_under_the_order_modular_prior():
    table = random_table(4, 3, 8)
    weights = all_weights(table, "order-modular")
    best = bn.map_dag(table, prior="order-modular")
    assert tuple(best.dags[0].tolist()) == max(weights, key=weights.get)
    assert best.prior == "order-modular"


def test_more_nodes_than_bits_of_a_byte():
    """Chains: each node copies the one before it, so the best DAG has the n - 1 edges alone."""
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 2, 300)]
    for _ in range(11):
        columns.append(np.where(rng.random(300) < 0.9, columns[-1], 1 - columns[-1]))
    table = bn.score_families(bn.Data.from_arrays(np.stack(columns, axis=1)), bn.BDeu())
    best = bn.map_dag(table)
    skeleton = {(min(u, v), max(u, v)) for v in range(12) for u in oracles.members(best.dags[0, v])}
    assert skeleton == {(v, v + 1) for v in range(11)}
    equivalent = bn.k_best_dags(table, 13).log_weight
    assert equivalent[:12] == pytest.approx(equivalent[0], abs=1e-9)  # any node as the root
    assert equivalent[12] < equivalent[0] - 1e-3


@pytest.mark.parametrize("prior", ["structure-modular", "order-modular"])
def test_as_draws_average_over_the_best(prior):
    table = random_table(4, 3, 2)
    weights = all_weights(table, prior)
    log_z = oracles.log_sum(weights.values())
    best = bn.k_best_dags(table, 20, prior=prior)
    draws = best.as_draws(log_z=log_z)
    top = sorted(weights.values(), reverse=True)[:20]
    assert draws.stats["mass"] == pytest.approx([sum(math.exp(w - log_z) for w in top)])
    estimate = features.probability(draws, features.path(0, 3))
    exact = sum(
        math.exp(w - log_z) for dag, w in weights.items() if (0, 3) in oracles.paths(dag, 4)
    )
    assert estimate.low <= exact <= estimate.high
    assert (estimate.interval, estimate.prior) == ("sound", prior)
    assert features.probability(best.as_draws(), features.edge(0, 1)).interval == "none"
    again = bn.reweight_unique(draws, log_z=log_z + 50)
    assert (again.values == draws.values).all()


def test_a_list_that_cannot_be_certified_says_how_far_it_got(monkeypatch):
    monkeypatch.setattr(best_module, "FIRST_LIST", 4)
    monkeypatch.setattr(best_module, "MOST_LISTED", 16)
    table = bn.score_families(bn.Data.from_arrays(np.zeros((0, 4), int), arities=[2] * 4), bn.K2())
    with pytest.raises(ValueError, match=r"k=2 best DAGs of n=4 .* 16 best .* e\*\*"):
        bn.k_best_dags(table, 2, prior="order-modular")


def test_what_is_out_of_reach_is_refused(monkeypatch):
    table = random_table(4, 3, 0)
    with pytest.raises(ValueError, match="k=0"):
        bn.k_best_dags(table, 0)
    with pytest.raises(ValueError, match="prior='uniform'"):
        bn.k_best_dags(table, 1, prior="uniform")
    with pytest.raises(ValueError, match="is no ScoreTable"):
        bn.map_dag(np.zeros(3))
    cycle = np.full(table.parents.shape, -math.inf)
    for v in range(4):
        cycle[v, table.parents[v] == 1 << (v + 1) % 4] = 0.0
    for call in (bn.map_dag, lambda table: bn.k_best_dags(table, 3)):
        with pytest.raises(ValueError, match="leave no DAG"):
            call(replace(table, log_prior=cycle))
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"n=4: the k=100 best DAGs needs .*: ask for fewer"):
        bn.k_best_dags(table, 100)
    with pytest.raises(ValueError, match=r"n=4: the best DAG needs"):
        bn.map_dag(table)


def test_k_may_be_an_integer_of_few_bits():
    table = random_table(4, 3, 0)
    few = bn.k_best_dags(table, np.int8(100))
    assert (few.dags == bn.k_best_dags(table, 100).dags).all()


def test_a_stop_after_the_last_step_comes_too_late():
    table = random_table(4, 3, 0)
    going = {"progress": lambda done, total, snapshot: done < total}
    assert (bn.map_dag(table, **going).dags == bn.map_dag(table).dags).all()
    assert (bn.k_best_dags(table, 3, **going).dags == bn.k_best_dags(table, 3).dags).all()
    assert bn.dag_posterior(table, **going).log_z == bn.dag_posterior(table).log_z


def test_progress_stops():
    table = random_table(4, 3, 0)
    seen = []
    bn.k_best_dags(table, 3, progress=lambda done, total, snapshot: seen.append((done, total)))
    assert seen[:4] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert seen[-1] == (15, 15)
    for call in (bn.map_dag, lambda table, progress: bn.k_best_dags(table, 3, progress=progress)):
        with pytest.raises(bn.Stopped, match="no result yet"):
            call(table, progress=lambda done, total, snapshot: done < 2)
