"""Predictive densities: averaged, exact, plugged in, cross-validated."""

import dataclasses
import itertools
import math
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.predict import densities, tables

# The slow twin


def pseudo_count(score, arities, v, parents):
    if isinstance(score, bn.K2):
        return 1.0
    return score.ess / math.prod(int(arities[u]) for u in [*parents, v])


def mean_probability(data, score, dag, v, row):
    """The posterior mean of p(row[v] | the parents' states in row), by counting rows."""
    parents = oracles.members(dag[v])
    used = [
        x
        for i, x in enumerate(data.values.tolist())
        if data.intervened is None or not data.intervened[i, v]
    ]
    same = [x for x in used if all(x[u] == row[u] for u in parents)]
    a = pseudo_count(score, data.arities, v, parents)
    hits = sum(x[v] == row[v] for x in same)
    return (a + hits) / (a * int(data.arities[v]) + len(same))


def density(data, score, dag, row, held=()):
    """p(row | dag, data), all completions of missing cells (-1) summed."""
    cells = [None if x < 0 else x for x in row]
    return math.fsum(
        math.prod(
            mean_probability(data, score, dag, v, full) for v in range(data.n) if v not in held
        )
        for full in oracles.joint_states(data.arities.tolist(), cells)
    )


def averaged(data, score, weighted, row):
    total = math.fsum(weighted.values())
    return math.fsum(w * density(data, score, dag, row) for dag, w in weighted.items()) / total


# Cases


def random_data(seed, n=4, m=30, arities=None, intervened=0.0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, size=n) if arities is None else np.array(arities)
    values = rng.integers(0, sizes, size=(m, n))
    for v in range(1, n):
        copied = rng.random(m) < 0.6
        values[copied, v] = values[copied, v - 1] % sizes[v]
    held = rng.random((m, n)) < intervened if intervened else None
    return bn.Data.from_arrays(values, arities=sizes, intervened=held)


def random_dag(seed, n, p=0.5):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for i, j in itertools.combinations(range(n), 2):
        if rng.random() < p:
            dag[order[j]] |= 1 << int(order[i])
    return dag


def random_rows(seed, data, rows, missing=0.0):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, data.arities, size=(rows, data.n))
    return np.where(rng.random(values.shape) < missing, -1, values)


def draws_of(dags, log_weight, data, prior="structure-modular"):
    dags, log_weight = np.asarray(dags, np.int64), np.asarray(log_weight, float)
    return bn.Draws(dags[None], log_weight[None], log_weight[None], "dags", prior, data.names)


def all_rows(data):
    return np.array(list(itertools.product(*(range(r) for r in data.arities))))


# Averages and plug-ins


@pytest.mark.parametrize("score", [bn.BDeu(), bn.BDeu(ess=7.5), bn.K2()], ids=repr)
@pytest.mark.parametrize("intervened", [0.0, 0.3])
def test_weighted_dags_against_the_twin(score, intervened):
    for seed in range(4):
        data = random_data(seed, intervened=intervened)
        rng = np.random.default_rng(seed)
        dags = np.array([random_dag(100 * seed + i % 7, 4) for i in range(12)])
        log_weight = rng.normal(0, 3, size=12)
        log_weight[3] = -np.inf
        weighted = Counter()
        for dag, w in zip(dags.tolist(), log_weight.tolist(), strict=True):
            weighted[tuple(dag)] += math.exp(w)
        rows = random_rows(seed, data, 12, missing=0.25)
        found = bn.predict.log_density(draws_of(dags, log_weight, data), data, rows, score=score)
        wanted = [math.log(averaged(data, score, weighted, row)) for row in rows.tolist()]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_chains_count_alike_and_common_factors_of_weights_do_not():
    data = random_data(1)
    dags = np.array([random_dag(i, 4) for i in range(6)])
    rows = all_rows(data)
    once = bn.predict.log_density(draws_of(dags, np.zeros(6), data), data, rows)
    heavy = bn.predict.log_density(draws_of(dags, np.full(6, -9000.0), data), data, rows)
    np.testing.assert_allclose(heavy, once, atol=1e-11)
    zeros = np.zeros((2, 3))
    chains = bn.Draws(dags.reshape(2, 3, 4), zeros, zeros, "dags", "order-modular", data.names)
    np.testing.assert_allclose(bn.predict.log_density(chains, data, rows), once, atol=1e-12)
    assert np.exp(once).sum() == pytest.approx(1, abs=1e-12)


def test_one_dag_is_a_plug_in():
    data = random_data(2)
    for seed in range(5):
        dag, rows = random_dag(seed, 4), random_rows(seed, data, 20, missing=0.2)
        plugged = bn.predict.plug_in_log_density(dag, data, rows)
        drawn = bn.predict.log_density(draws_of([dag, dag], [0.0, -2.0], data), data, rows)
        np.testing.assert_allclose(drawn, plugged, rtol=0, atol=1e-14)


def test_the_network_of_mean_tables_says_the_same():
    """`BayesNet.log_likelihood` with tables by hand, interventions included."""
    data = random_data(3, m=60, intervened=0.2)
    dag = random_dag(5, 4)
    by_hand = []
    for v in range(4):
        parents = oracles.members(dag[v])
        table = []
        for states in itertools.product(*(range(data.arities[u]) for u in parents)):
            row = [0] * 4
            for u, x in zip(parents, states, strict=True):
                row[u] = x
            line = []
            for k in range(data.arities[v]):
                row[v] = k
                line.append(mean_probability(data, bn.BDeu(), dag, v, row))
            table.append(line)
        by_hand.append(np.array(table))
    net = bn.BayesNet(dag, data.arities, data.names, data.levels, tuple(by_hand))
    found = bn.predict.plug_in_log_density(dag, data, data)
    np.testing.assert_allclose(found, net.log_likelihood(data), atol=1e-12)


@pytest.mark.parametrize(("score", "prior"), [(bn.BDeu(3.0), "BDeu"), (bn.K2(), "K2")])
def test_mean_tables_are_those_of_pgmpy(score, prior):
    peer = pytest.importorskip("pgmpy.parameter_estimator", reason="needs the peers extra")
    models = pytest.importorskip("pgmpy.models")
    import pandas as pd

    data, dag = random_data(16, m=40), random_dag(4, 4, p=0.7)
    states = {name: list(levels) for name, levels in zip(data.names, data.levels, strict=True)}
    network = models.DiscreteBayesianNetwork()
    network.add_nodes_from(data.names)
    network.add_edges_from((data.names[u], data.names[v]) for u, v in bn.graphs.to_edges(dag))
    fitted = network.fit(
        pd.DataFrame(data.values.astype(str), columns=list(data.names)),
        estimator=peer.DiscreteBayesianEstimator(
            state_names=states, prior_type=prior, equivalent_sample_size=3.0
        ),
    )
    wanted = []
    for row in all_rows(data).astype(str):
        cells = dict(zip(data.names, row, strict=True))
        values = [
            cpd.get_value(**{name: cells[name] for name in cpd.variables})
            for cpd in fitted.get_cpds()
        ]
        wanted.append(np.log(values).sum())
    found = bn.predict.plug_in_log_density(dag, data, all_rows(data), score=score)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_large_families_are_compared_row_by_row(monkeypatch):
    data = random_data(4, n=6, m=80)
    dag, rows = random_dag(2, 6, p=0.9), random_rows(1, data, 40)
    counted = bn.predict.plug_in_log_density(dag, data, rows)
    monkeypatch.setattr(tables, "DENSE_CELLS", 10)
    found = bn.predict.plug_in_log_density(dag, data, rows)
    assert (found == counted).all()
    wanted = [math.log(density(data, bn.BDeu(), dag, row)) for row in rows.tolist()]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    wide = random_data(5, n=63, m=25, arities=[2] * 63)
    full = np.array([(1 << v) - 1 for v in range(63)])
    found = bn.predict.plug_in_log_density(full, wide, wide.values[:3])
    wanted = [
        math.fsum(math.log(mean_probability(wide, bn.BDeu(), full, v, row)) for v in range(63))
        for row in wide.values[:3].tolist()
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_blocks_of_rows_change_nothing(monkeypatch):
    data = random_data(6)
    draws = draws_of([random_dag(i, 4) for i in range(9)], np.zeros(9), data)
    rows = random_rows(1, data, 30, missing=0.4)
    whole = bn.predict.log_density(draws, data, rows)
    monkeypatch.setattr(densities, "BLOCK_TERMS", 1)
    assert (bn.predict.log_density(draws, data, rows) == whole).all()


# Missing cells


@pytest.mark.parametrize("missing", [0.1, 0.5, 0.9])
def test_elimination_against_all_completions(monkeypatch, missing):
    """Both ways of summing missing cells out; many DAGs, few to many missing cells."""
    for seed in range(6):
        data = random_data(seed, n=7)
        dags = [random_dag(10 * seed + i, 7, p=0.4) for i in range(8)]
        draws = draws_of(dags, np.linspace(-3, 0, 8), data)
        rows = random_rows(seed, data, 8, missing=missing)
        monkeypatch.setattr(densities, "FEW_STATES", 10**9)
        listed = bn.predict.log_density(draws, data, rows)
        monkeypatch.setattr(densities, "FEW_STATES", 0)
        eliminated = bn.predict.log_density(draws, data, rows)
        np.testing.assert_allclose(eliminated, listed, rtol=0, atol=1e-12)
        monkeypatch.setattr(tables, "MAX_STATES", 1 << 11)
        np.testing.assert_allclose(bn.predict.log_density(draws, data, rows), listed, atol=1e-12)
        monkeypatch.undo()
        np.testing.assert_allclose(bn.predict.log_density(draws, data, rows), listed, atol=1e-12)


def test_nothing_known_is_certain():
    data = random_data(1, n=6)
    draws = draws_of([random_dag(i, 6) for i in range(5)], np.zeros(5), data)
    found = bn.predict.log_density(draws, data, np.full((2, 6), -1))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


def test_many_missing_cells_along_a_chain():
    """2**40 completions; a product of matrices is the twin."""
    n = 42
    data = random_data(9, n=n, m=100, arities=[2] * n)
    dag = np.array([0, *(1 << v for v in range(n - 1))])
    row = np.full(n, -1)
    row[0] = row[-1] = 1
    state = np.array([0.0, mean_probability(data, bn.BDeu(), dag, 0, row)])
    for v in range(1, n):
        step = np.empty((2, 2))
        for before, after in itertools.product(range(2), repeat=2):
            full = [0] * n
            full[v - 1], full[v] = before, after
            step[before, after] = mean_probability(data, bn.BDeu(), dag, v, full)
        state = state @ step
    found = bn.predict.plug_in_log_density(dag, data, row[None])
    assert found[0] == pytest.approx(math.log(state[1]), abs=1e-12)


def test_sums_too_large_say_what_they_take():
    data = random_data(9, n=30, m=20, arities=[2] * 30)
    dag = np.zeros(30, np.int64)
    dag[29] = (1 << 29) - 1
    row = np.full(30, -1)
    row[29] = 0
    with pytest.raises(ValueError, match=r"a table of 536,870,912 joint states"):
        bn.predict.plug_in_log_density(dag, data, row[None])


def test_distinct_dags_weighted_by_their_posterior():
    """All DAGs met, each weighed once, are the exact structure-modular average."""
    data = random_data(15)
    table = bn.score_families(data, bn.BDeu())
    drawn = bn.sample_dags(bn.order_posterior(table), draws=300_000, rng=np.random.default_rng(1))
    unique = bn.reweight_unique(drawn)
    assert unique.prior == "structure-modular"
    rows = random_rows(2, data, 6)
    found = bn.predict.log_density(unique, data, rows)
    exact_log_p = bn.predict.exact_log_density(data, rows, posterior=enumerated)
    np.testing.assert_allclose(found, exact_log_p, atol=1e-3)


# Exact


def order_weights(table):
    beta = oracles.families_of(table)
    return {
        dag: oracles.dag_log_weight(beta, dag) + math.log(len(oracles.orders_of(dag)))
        for dag in oracles.all_dags(table.n)
    }


@pytest.mark.parametrize("intervened", [0.0, 0.3])
def test_all_dags_weighted_are_exact_order_modular(intervened):
    data = random_data(8, intervened=intervened)
    table = bn.score_families(data, bn.BDeu(), max_parents=3)
    weights = order_weights(table)
    draws = draws_of(list(weights), list(weights.values()), data, "order-modular")
    rows = np.vstack([random_rows(1, data, 6), random_rows(2, data, 3, missing=0.5)])
    np.testing.assert_allclose(
        bn.predict.log_density(draws, data, rows),
        bn.predict.exact_log_density(data, rows),
        rtol=0,
        atol=1e-10,
    )


@dataclasses.dataclass
class Enumerated:
    """The structure-modular posterior by all DAGs."""

    log_z: float


def enumerated(table):
    return Enumerated(oracles.structure_modular_over_dags(oracles.families_of(table))[0])


@pytest.mark.parametrize("posterior", [enumerated, bn.dag_posterior])
@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
def test_all_dags_weighted_are_exact_structure_modular(prior, posterior):
    data = random_data(11)
    table = bn.score_families(data, bn.K2(), max_parents=2, prior=prior)
    dags = bn.graphs.all_dags(4)
    draws = draws_of(dags, table.log_target(dags), data)
    rows = random_rows(3, data, 5, missing=0.15)
    found = bn.predict.log_density(draws, data, rows, score=bn.K2())
    wanted = bn.predict.exact_log_density(
        data, rows, score=bn.K2(), max_parents=2, prior=prior, posterior=posterior
    )
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("posterior", [bn.order_posterior, bn.dag_posterior])
def test_exact_densities_of_all_rows_sum_to_1(posterior):
    for n in (1, 2, 3, 4):
        data = random_data(n, n=n)
        log_p = bn.predict.exact_log_density(
            data, all_rows(data), score=bn.BDeu(ess=3.0), posterior=posterior
        )
        assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("posterior", [bn.order_posterior, bn.dag_posterior])
def test_exact_densities_one_after_the_other_make_the_evidence(posterior):
    data = random_data(12, n=5, m=12)
    total = math.fsum(
        bn.predict.exact_log_density(data.prefix(i), data.values[i : i + 1], posterior=posterior)[0]
        for i in range(4, 12)
    )
    first, last = (
        posterior(bn.score_families(data.prefix(m), bn.BDeu())).log_evidence for m in (4, 12)
    )
    assert total == pytest.approx(last - first, abs=1e-10)


def test_exact_runs_once_for_each_different_row_and_can_be_stopped():
    data = random_data(13)
    runs = []

    def counted(table):
        runs.append(table)
        return bn.order_posterior(table)

    rows = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    log_p = bn.predict.exact_log_density(data, rows, posterior=counted)
    assert len(runs) == 3
    assert log_p[0] == log_p[2] != log_p[1]
    assert bn.predict.exact_log_density(data, rows[:0]).shape == (0,)
    with pytest.raises(bn.Stopped, match="after step 1 of 2"):
        bn.predict.exact_log_density(data, rows, progress=lambda *_: False)


def test_a_stop_after_the_last_row_comes_too_late():
    data, rows = bn.Data.from_arrays([[0, 0], [1, 1]]), [[0, 0], [0, 1]]
    found = bn.predict.exact_log_density(data, rows, progress=lambda done, total, _: done < total)
    assert (found == bn.predict.exact_log_density(data, rows)).all()


def test_intervened_cells_of_new_rows_give_no_factor():
    data = random_data(14, m=25)
    rows = bn.Data.from_arrays(
        all_rows(data)[:6],
        arities=data.arities,
        intervened=np.random.default_rng(1).random((6, 4)) < 0.5,
    )
    dag = random_dag(3, 4)
    found = bn.predict.plug_in_log_density(dag, data, rows)
    wanted = [
        math.log(density(data, bn.BDeu(), dag, row, held=np.flatnonzero(held)))
        for row, held in zip(rows.values.tolist(), rows.intervened, strict=True)
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    weights = order_weights(bn.score_families(data, bn.BDeu()))
    draws = draws_of(list(weights), list(weights.values()), data, "order-modular")
    np.testing.assert_allclose(
        bn.predict.log_density(draws, data, rows),
        bn.predict.exact_log_density(data, rows),
        atol=1e-10,
    )


@pytest.mark.quick("5", "6")
@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_direct_draws_approach_the_exact_density(n):
    """100,000 draws: every row within four standard errors of p(x | D)."""
    data = random_data(20 + n, n=n, m=40)
    table = bn.score_families(data, bn.BDeu())
    draws = bn.sample_dags(bn.order_posterior(table), draws=100_000, rng=np.random.default_rng(n))
    rows = random_rows(n, data, 6)
    exact_p = np.exp(bn.predict.exact_log_density(data, rows))
    found = np.exp(bn.predict.log_density(draws, data, rows))
    parts = [draws_of(dags, np.zeros(2000), data) for dags in draws.values[0].reshape(50, 2000, n)]
    means = np.exp([bn.predict.log_density(part, data, rows) for part in parts])
    assert (np.abs(found - exact_p) <= 4 * means.std(axis=0, ddof=1) / math.sqrt(50)).all()


# Bad input


def test_bad_input_is_told_in_words():
    data = random_data(1, arities=[2, 3, 2, 2])
    draws = draws_of([[0, 1, 0, 0]], [0.0], data)
    rows = np.zeros((1, 4), int)

    def refused(message, *, draws=draws, data=data, rows=rows, **options):
        with pytest.raises(ValueError, match=message):
            bn.predict.log_density(draws, data, rows, **options)

    refused("row 0, variable 'x1': code 3 is none of the 3 states", rows=[[0, 3, 0, 0]])
    refused("code -2 is none", rows=[[-2, 0, 0, 0]])
    refused(r"new_rows has shape \(1, 3\)", rows=[[0, 0, 0]])
    refused(r"new_rows has shape \(4,\)", rows=[0, 0, 0, 0])
    refused("values are float64, but codes are integers", rows=rows * 1.0)
    refused("new_rows=.* is ragged", rows=[[0, 0, 0, 0], [0]])
    refused("is no Data: make it a Data", data=[[0, 1]])
    renamed = bn.Data.from_arrays(data.values, data.arities, names=list("abcd"))
    refused("the draws are of the variables x0, x1", data=renamed, rows=renamed)
    refused("new_rows has the variables a, b, c, d, not x0", rows=renamed)
    relabelled = bn.Data.from_arrays(
        rows, names=data.names, levels=[["n", "y"], ["0", "1", "2"], ["0", "1"], ["0", "1"]]
    )
    refused("variable 'x0' has levels", rows=relabelled)
    refused("the largest log weight is -inf", draws=draws_of([[0, 1, 0, 0]], [-np.inf], data))
    refused("the largest log weight is nan", draws=draws_of([[0, 1, 0, 0]], [np.nan], data))
    refused("directed cycle", draws=draws_of([[2, 1, 0, 0]], [0.0], data))
    zeros = np.zeros((1, 1))
    orders = bn.Draws(np.arange(4)[None, None], zeros, zeros, "orders", "order-modular", data.names)
    refused("is over orders: draw dags", draws=orders)
    refused("is no Draws", draws=[1])
    refused("no pseudo-counts", score=bn.BIC())
    refused("is no score", score=bn.BDeu)
    with pytest.raises(ValueError, match="a DAG of 2 nodes for 4 variables"):
        bn.predict.plug_in_log_density([0, 1], data, rows)
    with pytest.raises(ValueError, match="no pseudo-counts"):
        bn.predict.exact_log_density(data, rows, score=bn.AIC())


def test_exact_refuses_too_many_completions(monkeypatch):
    data = random_data(1, arities=[2, 3, 2, 2])
    monkeypatch.setattr(densities, "MAX_RUNS", 11)
    with pytest.raises(ValueError, match="the rows have 12 completions"):
        bn.predict.exact_log_density(data, [[-1, -1, -1, 0]])


def test_no_rows_are_no_densities():
    data = random_data(1)
    none = np.empty((0, 4), int)
    assert bn.predict.plug_in_log_density([0, 0, 0, 0], data, none).shape == (0,)
    before = bn.predict.plug_in_log_density([0, 1, 0, 0], data.prefix(0), all_rows(data))
    np.testing.assert_allclose(before, -np.log(data.arities).sum(), atol=1e-12)


# Cross-validation


def factored(train, test):
    return bn.predict.plug_in_log_density(np.zeros(train.n, int), train, test)


def tree(train, test):
    return bn.predict.plug_in_log_density(bn.chow_liu(train), train, test)


def test_every_row_is_predicted_without_its_fold():
    data = random_data(30, m=47)
    methods = {"factored": factored, "tree": tree}
    result = bn.predict.cross_validate(data, methods, folds=5, rng=np.random.default_rng(1))
    assert sorted(np.bincount(result.fold).tolist()) == [9, 9, 9, 10, 10]
    for k in range(5):
        train = dataclasses.replace(data, values=data.values[result.fold != k])
        test = dataclasses.replace(data, values=data.values[result.fold == k])
        assert (result.log_density[1, result.fold == k] == tree(train, test)).all()
    gaps = result.log_density[1] - result.log_density[0]
    mean, stderr = result.difference("tree", "factored")
    assert mean == pytest.approx(gaps.mean(), abs=1e-15)
    assert stderr == pytest.approx(gaps.std(ddof=1) / math.sqrt(47), abs=1e-15)
    assert result.means == pytest.approx(result.log_density.mean(axis=1), abs=1e-15)
    assert repr(result).startswith("CrossValidation(5 folds of 47 rows, nats a row: factored -")


def averaging(train, test):
    """10,000 direct draws, order-modular."""
    posterior = bn.order_posterior(bn.score_families(train, bn.BDeu()))
    draws = bn.sample_dags(posterior, draws=10_000, rng=np.random.default_rng(1))
    return bn.predict.log_density(draws, train, test)


def best(train, test):
    dag = bn.map_dag(bn.score_families(train, bn.BDeu())).dags[0]
    return bn.predict.plug_in_log_density(dag, train, test)


@pytest.mark.quick("coronary")
@pytest.mark.parametrize("name", ["coronary", "wine"])
def test_averaging_predicts_better_than_every_plug_in(name):
    """Ten folds, by the mean; on coronary the best DAG comes within two standard errors."""
    methods = {"averaging": averaging, "best": best, "tree": tree, "factored": factored}
    result = bn.predict.cross_validate(bn.load_dataset(name), methods, rng=np.random.default_rng(1))
    gaps = {plug_in: result.difference("averaging", plug_in) for plug_in in list(methods)[1:]}
    assert all(mean > 0 for mean, _ in gaps.values())
    assert all(mean > 3 * stderr for mean, stderr in (gaps["tree"], gaps["factored"]))


class Elsewhere:
    """An executor that sends jobs and results as a process would."""

    def map(self, fn, /, *iterables):
        for items in zip(*iterables, strict=True):
            fn_there, items_there = pickle.loads(pickle.dumps((fn, items)))
            yield pickle.loads(pickle.dumps(fn_there(*items_there)))


def test_folds_come_from_the_generator_alone():
    data = random_data(31, m=40, intervened=0.2)
    methods = {"factored": factored}

    def run(seed, executor=None):
        return bn.predict.cross_validate(
            data, methods, folds=4, rng=np.random.default_rng(seed), executor=executor
        )

    with ThreadPoolExecutor(3) as threads:
        again = run(1, threads)
    assert (again.fold == run(1).fold).all()
    assert (again.log_density == run(1).log_density).all()
    assert (run(1, Elsewhere()).log_density == run(1).log_density).all()
    copied = pickle.loads(pickle.dumps(again))
    assert (copied.fold == again.fold).all()
    assert not copied.fold.flags.writeable
    assert (run(2).fold != run(1).fold).any()


def test_a_stopped_validation_keeps_the_folds_it_has():
    data = random_data(32, m=20)
    options = {"folds": 4, "rng": np.random.default_rng(1)}
    result = bn.predict.cross_validate(
        data, {"factored": factored}, **options, progress=lambda done, total, _: done < 2
    )
    assert result.run.stopped
    assert (np.isnan(result.log_density[0]) == (result.fold >= 2)).all()
    assert "stopped early" in repr(result)
    assert np.isfinite(result.means).all()


def test_the_checkpoint_of_other_methods_or_data_is_refused(tmp_path):
    data, path, rng = random_data(34, m=23), tmp_path / "folds.ckpt", np.random.default_rng
    bn.predict.cross_validate(data, {"a": factored}, folds=4, rng=rng(1), checkpoint=path)
    for rows, methods, what in (
        (data, {"a": factored, "b": tree}, "methods"),
        (random_data(35, m=23), {"a": factored}, "data"),
    ):
        with pytest.raises(ValueError, match=f"checkpoint of another run: its {what} is"):
            bn.predict.cross_validate(rows, methods, folds=4, rng=rng(1), checkpoint=path)


def test_validation_refuses_what_it_cannot_do():
    data, rng = random_data(33, m=10), np.random.default_rng(1)
    validate = bn.predict.cross_validate
    with pytest.raises(ValueError, match="folds=11 of 10 rows"):
        validate(data, {"factored": factored}, folds=11, rng=rng)
    with pytest.raises(ValueError, match="folds=1"):
        validate(data, {"factored": factored}, folds=1, rng=rng)
    with pytest.raises(ValueError, match="with one at least"):
        validate(data, {}, rng=rng)
    with pytest.raises(ValueError, match="is no Data: make it a Data"):
        validate(data.values, {"factored": factored}, rng=rng)
    with pytest.raises(ValueError, match=r"method 'mean' gave shape \(\)"):
        validate(data, {"mean": lambda train, test: -1.0}, rng=rng)
    result = validate(data, {"factored": factored}, folds=2, rng=rng)
    never = {"never": lambda train, test: np.full(test.m, -np.inf), "factored": factored}
    with pytest.raises(ValueError, match="gave a row infinite ln p"):
        validate(data, never, folds=2, rng=rng).difference("never", "factored")
    with pytest.raises(ValueError, match="no method 'tree'; there are factored"):
        result.difference("tree", "factored")


@pytest.mark.parametrize("intervened", [False, True])
def test_fitted_tables_are_those_of_the_plug_in_density(intervened):
    rng = np.random.default_rng(5)
    mask = rng.random((50, 4)) < 0.3 if intervened else None
    data = bn.Data.from_arrays(rng.integers(0, 3, size=(50, 4)), intervened=mask)
    rows = bn.Data.from_arrays(rng.integers(0, 3, size=(20, 4)), arities=[3] * 4)
    for dag in ([0, 0, 0, 0], [0, 1, 3, 5], [8, 9, 8, 0]):
        net = bn.BayesNet.fit(dag, data, ess=2.0)
        expected = bn.predict.plug_in_log_density(dag, data, rows, score=bn.BDeu(2.0))
        np.testing.assert_allclose(net.log_likelihood(rows), expected, atol=1e-12)
    with pytest.raises(ValueError, match="3 nodes for 4 variables"):
        bn.BayesNet.fit([0, 0, 0], data)
