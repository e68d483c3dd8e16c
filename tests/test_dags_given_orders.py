"""DAGs drawn given orders: their law, their weights, and the correction of their bias."""

import math
from collections import Counter

import numpy as np
import oracles
import pytest
from tables import some_orders

import bnlab as bn
from bnlab.graphs import predecessor_masks


def small_table(n, m=20, seed=3, **options):
    data = bn.Data.from_arrays(np.random.default_rng(seed).integers(0, 2, size=(m, n)))
    return bn.score_families(data, bn.BDeu(), **options)


def random_orders(n, count, chains=1):
    rng = np.random.default_rng(0)
    names = tuple(f"x{v}" for v in range(n))
    return some_orders([rng.permutation(n) for _ in range(count)], names, chains)


def annealed(table, runs, seed=1):
    method = bn.AIS(bn.Linear(40))
    return bn.anneal_orders(table, runs=runs, rng=np.random.default_rng(seed), method=method)


def given_order(log_phi, order):
    """p(G | order, D) of every DAG that agrees with the order, by enumeration."""
    weights = {
        dag: oracles.dag_log_weight(log_phi, dag)
        for dag in oracles.all_dags(len(order))
        if tuple(order) in oracles.orders_of(dag)
    }
    total = oracles.log_sum(weights.values())
    return {dag: math.exp(weight - total) for dag, weight in weights.items()}


def test_dags_follow_their_law_given_each_order():
    table = small_table(4)
    rows = [[2, 0, 3, 1], [0, 1, 2, 3], [2, 0, 3, 1]]
    orders = some_orders(rows, table.names)
    draws = bn.sample_dags(orders, draws=20_000, table=table, rng=np.random.default_rng(1))
    assert draws.values.shape == (1, 60_000, 4)
    for i, order in enumerate(rows):
        exact = given_order(oracles.families_of(table), order)
        own = draws.values[0, i * 20_000 : (i + 1) * 20_000]
        seen = Counter(map(tuple, own.tolist()))
        assert set(seen) <= set(exact)
        for dag, p in exact.items():
            spread = math.sqrt(max(p * (1 - p), 1 / 20_000) / 20_000)
            assert abs(seen[dag] / 20_000 - p) <= 4 * spread


def test_dags_keep_what_is_known_of_their_orders():
    table = small_table(5)
    rows = np.random.default_rng(2).permuted(np.tile(np.arange(5), (6, 1)), axis=1)
    orders = bn.Draws(
        rows.reshape(2, 3, 5),
        np.arange(6.0).reshape(2, 3),
        np.zeros((2, 3)),
        "orders",
        "order-modular",
        table.names,
        stats={"acceptance": np.array([0.5, 0.25])},
        traces={"tempered": np.arange(12.0).reshape(2, 3, 2)},
        run=bn.Run("somehow", {"chains": 2}),
    )
    draws = bn.sample_dags(orders, draws=2, table=table, rng=np.random.default_rng(1))
    assert draws.values.shape == (2, 6, 5)
    assert draws.log_weight.tolist() == [[0, 0, 1, 1, 2, 2], [3, 3, 4, 4, 5, 5]]
    assert (
        draws.traces["tempered"][1].tolist() == np.repeat([[6, 7], [8, 9], [10, 11]], 2, 0).tolist()
    )
    assert draws.groups.tolist() == [[0] * 6, [1] * 6]
    assert draws.stats["acceptance"].tolist() == [0.5, 0.25]
    assert (draws.over, draws.prior, draws.names) == ("dags", "order-modular", table.names)
    assert draws.run.settings == {"chains": 2, "dags_per_order": 2}
    assert draws.log_target == pytest.approx(table.log_target(draws.values), abs=1e-10)
    allowed = np.repeat(predecessor_masks(rows), 2, axis=0).reshape(2, 6, 5)
    assert not (draws.values & ~allowed).any()


def test_only_one_dag_each_of_independent_orders_is_independent():
    table = small_table(4)
    exact = bn.sample_orders(bn.order_posterior(table), draws=6, rng=np.random.default_rng(0))
    chains = bn.sample_orders(table, draws=6, burn_in=5, rng=np.random.default_rng(0))
    for orders, count, independent in ((exact, 1, True), (exact, 2, False), (chains, 1, False)):
        draws = bn.sample_dags(orders, draws=count, table=table, rng=np.random.default_rng(0))
        assert draws.independent is independent
        assert (draws.groups == np.repeat(orders.groups, count, axis=1)).all()
    runs = bn.sample_dags(annealed(table, 3), draws=2, table=table, rng=np.random.default_rng(0))
    assert runs.groups.tolist() == [[0, 0, 1, 1, 2, 2]]


def test_dags_of_independent_orders_have_the_exact_edges():
    table = small_table(4)
    posterior = bn.order_posterior(table)
    orders = bn.sample_orders(posterior, draws=20_000, rng=np.random.default_rng(0))
    draws = bn.sample_dags(orders, draws=1, table=table, rng=np.random.default_rng(1))
    p = posterior.edges
    assert (abs(bn.features.edges(draws) - p) <= 4 * np.sqrt((p * (1 - p) + 1e-9) / 20_000)).all()


@pytest.mark.parametrize("families", [1, 5000, 100_000_000])
@pytest.mark.parametrize("rows", [1, 40, 8192])
def test_blocks_change_nothing(families, rows, monkeypatch):
    table, orders = small_table(6, max_parents=3), random_orders(6, 24, chains=2)
    plain = bn.sample_dags(orders, draws=5, table=table, rng=np.random.default_rng(4))
    monkeypatch.setattr("bnlab.sampling.dags_given_orders.BLOCK_FAMILIES", families)
    monkeypatch.setattr("bnlab.sampling.dags_given_orders.BLOCK_DRAWS", rows)
    monkeypatch.setattr("bnlab.sampling.independent.ROUND_BLOCKS", 3)
    again = bn.sample_dags(orders, draws=5, table=table, rng=np.random.default_rng(4))
    assert (again.values == plain.values).all()
    assert (again.log_target == plain.log_target).all()


def test_fewer_orders_of_each_chain_give_the_first_dags_of_each():
    table, orders = small_table(5), random_orders(5, 30, chains=3)
    whole = bn.sample_dags(orders, draws=2, table=table, rng=np.random.default_rng(4))
    few = bn.sample_dags(orders.prefix(4), draws=2, table=table, rng=np.random.default_rng(4))
    assert (few.values == whole.values[:, :8]).all()


def test_a_stop_leaves_equally_many_dags_of_each_chain(monkeypatch):
    table, orders = small_table(5), random_orders(5, 30, chains=3)
    whole = bn.sample_dags(orders, draws=2, table=table, rng=np.random.default_rng(4))
    monkeypatch.setattr("bnlab.sampling.dags_given_orders.BLOCK_FAMILIES", 1)
    told = []

    def stop_after(orders_done):
        def progress(done, total, snapshot):
            told.append((done, total))
            return done < 2 * orders_done

        return progress

    part = bn.sample_dags(
        orders, draws=2, table=table, rng=np.random.default_rng(4), progress=stop_after(14)
    )
    assert told == [(done, 60) for done in range(2, 29, 2)]
    assert part.values.shape == (3, 8, 5)
    assert (part.values == whole.values[:, :8]).all()
    assert (part.log_target == whole.log_target[:, :8]).all()
    assert part.run.stopped and not whole.run.stopped
    with pytest.raises(bn.Stopped, match="each chain"):
        bn.sample_dags(
            orders, draws=2, table=table, rng=np.random.default_rng(4), progress=stop_after(2)
        )


def test_sixty_three_variables():
    table, orders = small_table(63, m=10, max_parents=2), random_orders(63, 4)
    draws = bn.sample_dags(orders, draws=3, table=table, rng=np.random.default_rng(4))
    assert draws.log_target == pytest.approx(table.log_target(draws.values), abs=1e-9)
    assert not (draws.values[0] & ~np.repeat(predecessor_masks(orders.values[0]), 3, axis=0)).any()


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("each", [1, 10])
def test_corrected_expectations_are_within_four_standard_errors_of_enumeration(n, each):
    """AIS, DAGs given orders, 1 / l(G): structure-modular probabilities, and their sum."""
    table = small_table(n, m=15)
    dags = bn.graphs.all_dags(n)
    log_p = table.log_target(dags)
    log_z = np.logaddexp.reduce(log_p)
    p = np.exp(log_p - log_z)
    orders = annealed(table, 3000)
    draws = bn.sample_dags(orders, draws=each, table=table, rng=np.random.default_rng(2))
    corrected = bn.reweight_by_extensions(draws)
    assert corrected.prior == "structure-modular"
    for feature in (
        bn.features.edge(0, 1),
        bn.features.path(2, 3),
        bn.features.combined(bn.features.edge(1, 0), absent=[bn.features.path(0, 3)]),
    ):
        exact = p[feature(dags)].sum()
        estimate = bn.features.probability(corrected, feature)
        assert estimate.interval == "asymptotic"
        assert 0 < estimate.stderr < 0.05
        assert abs(estimate.value - exact) <= 4 * estimate.stderr
        assert estimate.groups <= 3000
    of_orders = np.exp(corrected.log_weight - log_z).reshape(-1, each).mean(axis=1)
    stderr = of_orders.std(ddof=1) / math.sqrt(len(of_orders))
    assert abs(of_orders.mean() - 1) <= 4 * stderr
    assert stderr < 0.1


def test_corrected_expectations_along_chains():
    table = small_table(4)
    rng = np.random.default_rng(7)
    orders = bn.sample_orders(table, draws=300, chains=20, burn_in=100, rng=rng)
    draws = bn.sample_dags(orders, draws=3, table=table, rng=rng)
    _, p = oracles.structure_modular_over_dags(oracles.families_of(table))
    exact = sum(weight for dag, weight in p.items() if dag[2] & 1)
    estimate = bn.features.probability(bn.reweight_by_extensions(draws), bn.features.edge(0, 2))
    assert abs(estimate.value - exact) <= 4 * estimate.stderr < 0.1
    assert 15 < estimate.groups <= 20


def test_corrected_expectations_of_particles():
    table = small_table(4)
    rng = np.random.default_rng(7)
    orders = bn.anneal_orders(table, runs=30, rng=rng, method=bn.SMC(particles=40))
    draws = bn.sample_dags(orders, draws=2, table=table, rng=rng)
    _, p = oracles.structure_modular_over_dags(oracles.families_of(table))
    exact = sum(weight for dag, weight in p.items() if dag[2] & 1)
    estimate = bn.features.probability(bn.reweight_by_extensions(draws), bn.features.edge(0, 2))
    assert abs(estimate.value - exact) <= 4 * estimate.stderr < 0.1
    assert 20 < estimate.groups <= 30


FEW_ORDERS = {
    "one order of 120": (5, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    "three orders of 24": (4, [(2, 0), (0, 3)]),
}


@pytest.mark.quick("AIS", "SMC along a schedule-three")
@pytest.mark.parametrize("case", FEW_ORDERS)
@pytest.mark.parametrize(
    "method",
    [
        bn.AIS(bn.Linear(15)),
        bn.SMC(particles=4, moves_each=1),
        bn.SMC(particles=3, schedule=bn.Linear(9), moves_each=1),
    ],
    ids=["AIS", "SMC", "SMC along a schedule"],
)
def test_runs_that_end_where_no_dag_is_allowed_weigh_nothing_and_harm_nothing(method, case):
    n, required = FEW_ORDERS[case]
    table = small_table(n, required=required)
    weights = oracles.families_of(table)
    _, edges, _, _ = oracles.order_modular_over_dags(weights)
    exact = bn.order_posterior(table).log_evidence
    rng = np.random.default_rng(3)
    orders = bn.anneal_orders(table, runs=400, rng=rng, method=method)
    flat = orders.values.reshape(-1, n).tolist()
    lost = np.isneginf([oracles.order_log_weight(weights, order) for order in flat])
    assert 0 < lost.sum() < lost.size
    lost = lost.reshape(orders.log_weight.shape)
    assert (np.exp(orders.log_weight[lost] - orders.log_weight.max()) == 0).all()
    chain_edges = bn.features.edges(orders, table=table)
    assert [chain_edges[edge] for edge in required] == pytest.approx([1.0] * len(required))
    modular = bn.features.modular_probability(
        orders, lambda v, p: (p & 1 > 0) | (v != n - 1), table=table
    )
    assert abs(modular.value - edges[0, n - 1]) <= 5 * modular.stderr
    dags = bn.sample_dags(orders, draws=2, table=table, rng=rng)
    for logs in (dags.log_target, dags.log_weight):
        assert (np.isneginf(logs) == np.repeat(lost, 2, axis=1)).all()
    assert (dags.log_target == table.log_target(dags.values)).all()
    for draws in (dags, orders):
        found = bn.evidence_from(draws, table=table)
        assert abs(math.expm1(found.log_value - exact)) <= 5 * found.stderr
    found = bn.features.probability(dags, bn.features.edge(0, n - 1))
    assert abs(found.value - edges[0, n - 1]) <= 5 * found.stderr
    by_extensions, posterior = bn.reweight_by_extensions(dags), bn.dag_posterior(table)
    assert np.isfinite(by_extensions.stats["effective_sample_size"]).all()
    found = bn.features.probability(by_extensions, bn.features.edge(0, n - 1))
    assert abs(found.value - posterior.edges[0, n - 1]) <= 5 * found.stderr
    distinct = bn.reweight_unique(dags, log_z=posterior.log_z)
    assert (distinct.log_target == table.log_target(distinct.values)).all()
    assert np.isfinite(distinct.log_target).all()
    assert distinct.stats["mass"][0] > 0.9
    everything = bn.ellis_wong_dags(orders, table=table, eps=0.0, rng=rng)
    assert bn.features.edges(everything) == pytest.approx(posterior.edges, abs=1e-9)
    if method.schedule is not None:
        upper = bn.Estimate(exact, 0.0, "exact")
        bounds = bn.bound_edges(orders, table=table, upper=upper, bins=3)
        assert (bounds.low <= edges + 1e-9).all() and (edges <= bounds.high + 1e-9).all()
        assert bn.lower_bound_from(dags, table=table, bins=3).log_value <= exact
        thin = bn.bound_edges(orders.prefix(1), table=table, upper=upper, bins=1)
        assert (thin.low <= edges + 1e-9).all() and (edges <= thin.high + 1e-9).all()


@pytest.mark.parametrize("schedule", [None, bn.Linear(4)])
def test_chains_begin_where_a_dag_is_allowed(schedule):
    table = small_table(6, required=[(v, v + 1) for v in range(5)])
    chains = bn.sample_orders(
        table, draws=4, chains=9, burn_in=0, rng=np.random.default_rng(0), schedule=schedule
    )
    assert (chains.values == np.arange(6)).all()
    assert bn.features.edges(chains, table=table)[0, 1] == 1.0


def test_an_order_without_a_dag_is_refused():
    table = small_table(3, required=[(0, 1)])
    orders = some_orders([[0, 1, 2], [1, 0, 2]], table.names)
    for ask in (
        lambda draws: bn.sample_dags(draws, draws=1, table=table, rng=np.random.default_rng(0)),
        lambda draws: bn.features.edges(draws, table=table),
        lambda draws: bn.features.modular_probability(draws, lambda v, p: p >= 0, table=table),
        lambda draws: bn.ellis_wong_dags(draws, table=table, eps=0.1, rng=np.random.default_rng(0)),
    ):
        ask(orders.prefix(1))
        with pytest.raises(ValueError, match="no DAG that the constraints allow"):
            ask(orders)


def test_what_does_not_fit_is_refused():
    table, rng = small_table(4), np.random.default_rng(0)
    orders = random_orders(4, 3)
    dags = bn.sample_dags(orders, draws=1, table=table, rng=rng)
    for target, options, message in (
        (dags, {"table": table}, r"target=Draws is over dags: draw orders \(sample_orders\)"),
        (orders, {}, "pass table="),
        (orders, {"table": bn.order_posterior(table)}, "OrderPosterior is no ScoreTable"),
        (
            orders,
            {"table": small_table(5)},
            "the scores are of the variables x0, .* the orders of x0",
        ),
        (orders, {"table": table, "draws": 10**13}, "draw fewer for each order"),
        (bn.order_posterior(table), {"table": table}, "has its own table"),
        (table, {}, "ScoreTable: pass an OrderPosterior or a DagPosterior"),
    ):
        with pytest.raises(ValueError, match=message):
            bn.sample_dags(target, **{"draws": 1, "rng": rng, **options})
