"""What if: p(y | do(x)) averaged over DAGs and tables, beside sums over all states and DAGs."""

import dataclasses
import math
import pickle
from functools import cache

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.predict import interventions

# The slow twin


def pseudo_count(score, arities, family):
    if isinstance(score, bn.K2):
        return 1.0
    return score.ess / math.prod(int(arities[u]) for u in family)


def mean_effect(data, score, dag, do, y):
    """p(y | do, dag, data) with posterior mean tables, by counting rows and summing all states."""

    @cache
    def counts(v):
        held = data.intervened
        rows = [x for i, x in enumerate(data.values.tolist()) if held is None or not held[i, v]]
        return oracles.family_counts(rows, v, oracles.members(dag[v]))

    def table(v, state):
        parents = oracles.members(dag[v])
        a = pseudo_count(score, data.arities, [*parents, v])
        n_j, n_jk = counts(v)
        j = tuple(state[u] for u in parents)
        return (a + n_jk[j, state[v]]) / (a * int(data.arities[v]) + n_j[j])

    return np.array(oracles.truncated_factorisation(dag, data.arities, table, do, y))


# Cases


def random_data(seed, n=4, m=40, intervened=0.0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, size=n)
    values = rng.integers(0, sizes, size=(m, n))
    for v in range(1, n):
        copied = rng.random(m) < 0.6
        values[copied, v] = values[copied, v - 1] % sizes[v]
    held = rng.random((m, n)) < intervened if intervened else None
    return bn.Data.from_arrays(values, arities=sizes, intervened=held)


def random_dag(rng, n, p=0.5):
    order, dag = rng.permutation(n), np.zeros(n, np.int64)
    for j in range(n):
        for i in range(j):
            if rng.random() < p:
                dag[order[j]] |= 1 << int(order[i])
    return dag


def draws_of(dags, data, log_weight=None, prior="structure-modular", **more):
    dags = np.asarray(dags, np.int64)
    log_weight = np.zeros(len(dags)) if log_weight is None else np.asarray(log_weight, float)
    return bn.Draws(
        dags[None], log_weight[None], log_weight[None], "dags", prior, data.names, **more
    )


def effects(draws, data, seed=1, tables=50, **asked):
    return bn.effects(draws, data, rng=np.random.default_rng(seed), tables=tables, **asked)


# Given a DAG, and averaged


@pytest.mark.parametrize("score", [bn.BDeu(), bn.BDeu(ess=7.5), bn.K2()], ids=repr)
@pytest.mark.parametrize("intervened", [0.0, 0.3])
def test_one_dag_against_the_sum_over_all_states(score, intervened):
    rng = np.random.default_rng(5)
    for seed in range(6):
        data = random_data(seed, n=5, intervened=intervened)
        dag, (x, z, y) = random_dag(rng, 5, 0.6), rng.permutation(5)[:3]
        for do in ({int(x): 1}, {int(x): 0, int(z): 1}):
            asked = {data.names[v]: state for v, state in do.items()}
            found = effects(draws_of([dag], data), data, do=asked, on=int(y), score=score)
            wanted = mean_effect(data, score, dag, do, y)
            np.testing.assert_allclose(found.mean, wanted, atol=1e-12)
            assert found.between == pytest.approx(0, abs=1e-12) and found.weights == [1.0]
            np.testing.assert_allclose(found.draws.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("intervened", [0.0, 0.3])
def test_all_dags_against_enumeration(intervened):
    data, score = random_data(3, intervened=intervened), bn.BDeu(2.0)
    table = bn.score_families(data, score)
    dags = bn.graphs.all_dags(4)
    log_p = table.log_target(dags)
    share = np.exp(log_p - np.logaddexp.reduce(log_p))
    whole = bn.BestDags(dags, log_p, log_p, "structure-modular", data.names, bn.Run("all"))
    draws = whole.as_draws(log_z=bn.dag_posterior(table).log_z)
    once = [mean_effect(data, score, dag, {0: 1}, 2) for dag in dags.tolist()]
    other = [mean_effect(data, score, dag, {0: 0}, 2) for dag in dags.tolist()]
    for given, against in [(np.array(once), None), (np.subtract(once, other), {"x0": 0})]:
        found = effects(draws, data, do={"x0": 1}, against=against, on="x2", score=score)
        mean = share @ given
        np.testing.assert_allclose(found.mean, mean, atol=1e-10)
        np.testing.assert_allclose(found.between, np.sqrt(share @ (given - mean) ** 2), atol=1e-10)
        np.testing.assert_allclose(found.weights @ found.means, mean, atol=1e-10)
        assert found.kind == "exact" and (found.stderr == 0).all()
        leads = bn.graphs.ancestors(dags)[:, 2] & 1 == 1
        assert found.unaffected == pytest.approx(share[~leads].sum(), abs=1e-12)
        assert len(found.means) < len(dags) / 5  # most families do not matter


def test_weights_are_as_good_as_repetitions():
    data, rng = random_data(7), np.random.default_rng(2)
    dags = [random_dag(rng, 4) for _ in range(5)]
    times = [1, 2, 3, 4, 5]
    asked = {"do": {"x1": 0}, "on": "x3"}
    weighted = effects(draws_of(dags, data, np.log(times) - 5000), data, **asked)
    repeated = effects(draws_of(np.repeat(dags, times, axis=0), data), data, **asked)
    for name in ("mean", "between", "means", "weights", "draws", "unaffected"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)
    with_nothing = draws_of([*dags, [0, 1, 2, 4]], data, [*np.log(times), -np.inf])
    np.testing.assert_allclose(effects(with_nothing, data, **asked).mean, weighted.mean, atol=1e-12)


def test_draws_of_a_posterior_come_near_the_sum_over_all_dags():
    data = random_data(11, m=25)
    posterior = bn.dag_posterior(bn.score_families(data, bn.BDeu()))
    draws = bn.sample_dags(posterior, draws=4000, rng=np.random.default_rng(3))
    asked = {"do": {"x0": 1}, "against": {"x0": 0}, "on": "x2"}
    dags = bn.graphs.all_dags(4)
    every = draws_of(dags, data, posterior.table.log_target(dags))
    exact, found = effects(every, data, **asked), effects(draws, data, **asked)
    assert found.kind == "unbiased" and (found.stderr > 0).all()
    assert (np.abs(found.mean - exact.mean) < 4 * found.stderr).all()
    assert found.stderr == pytest.approx(exact.between / math.sqrt(4000), rel=0.2)


# Spread and intervals


def test_a_lone_edge_has_a_beta_posterior():
    stats = pytest.importorskip("scipy.stats")
    values = [[0, 0]] * 7 + [[0, 1]] * 3 + [[1, 1]] * 5
    data = bn.Data.from_arrays(values)
    found = effects(draws_of([[0, 1]], data), data, do={"x0": 0}, on="x1", tables=20_000)
    law = stats.beta(7.25, 3.25)
    assert found.mean[0] == pytest.approx(law.mean(), abs=1e-12)
    assert found.within[0] == pytest.approx(law.std(), rel=0.03)
    assert [found.low[0], found.high[0]] == pytest.approx(law.ppf([0.025, 0.975]), abs=0.01)
    assert stats.kstest(found.draws[:, 0], law.cdf).pvalue > 1e-3
    apart = effects(
        draws_of([[0, 1]], data), data, do={"x0": 0}, against={"x0": 1}, on="x1", tables=20_000
    )
    variance = law.var() + stats.beta(0.25, 5.25).var()  # rows of a table are independent
    assert apart.within[0] == pytest.approx(math.sqrt(variance), rel=0.03)
    tiny = effects(
        draws_of([[0, 1]], data.prefix(0)), data.prefix(0), do={"x0": 0}, on="x1",
        score=bn.BDeu(1e-6), tables=4000,
    )  # fmt: skip
    assert np.isfinite(tiny.draws).all() and abs(tiny.draws[:, 0].mean() - 0.5) < 0.04


def test_the_spread_is_made_of_two_parts():
    data, rng = random_data(13, m=20), np.random.default_rng(4)
    draws = draws_of([random_dag(rng, 4) for _ in range(9)], data)
    found = effects(draws, data, do={"x0": 1}, on="x3", tables=20_000)
    assert np.sqrt(found.between**2 + found.within**2) == pytest.approx(
        found.draws.std(axis=0), rel=0.02
    )
    assert found.draws.mean(axis=0) == pytest.approx(found.mean, abs=0.01)


def test_no_path_no_effect():
    data = random_data(17)
    found = effects(
        draws_of([[0, 0, 2, 4], [2, 0, 0, 0]], data), data, do={"x0": 1}, against={"x0": 0}, on="x3"
    )
    assert found.unaffected == 1.0
    for zero in (found.mean, found.between, found.within, found.low, found.high):
        assert (zero == 0).all()


def covered(tables, m=30, n=4, ess=4.0, deltas=(0.05, 0.2)):
    """How often intervals of p and of a difference hold the truth, drawn from the prior."""
    dags, score = bn.graphs.all_dags(n), bn.BDeu(ess)
    hits = {(what, delta): 0 for what in ("p", "difference") for delta in deltas}
    for rng in np.random.default_rng(2024).spawn(tables):
        dag, arities = dags[rng.integers(len(dags))], rng.integers(2, 4, size=n)
        drawn = []
        for v in range(n):
            rows = math.prod(int(arities[u]) for u in oracles.members(dag[v]))
            drawn.append(rng.dirichlet(np.full(arities[v], ess / rows / arities[v]), size=rows))
        names = tuple(f"x{v}" for v in range(n))
        levels = tuple(tuple(map(str, range(r))) for r in arities)
        net = bn.BayesNet(dag, arities, names, levels, tuple(drawn))
        data = net.sample(m, rng)

        def table(v, state, net=net):
            parents = oracles.members(net.dag[v])
            shape = [int(net.arities[u]) for u in parents]
            row = np.ravel_multi_index([state[u] for u in parents], shape) if parents else 0
            return net.tables[v][row, state[v]]

        truth = [oracles.truncated_factorisation(dag, arities, table, {0: a}, 1) for a in (1, 0)]
        draws = draws_of(dags, data, bn.score_families(data, score).log_target(dags))
        for what, against in {"p": None, "difference": {"x0": 0}}.items():
            wanted = truth[0][0] - (truth[1][0] if against else 0)
            for delta in deltas:
                found = effects(
                    draws, data, tables=1000, do={"x0": 1}, against=against, on="x1",
                    score=score, delta=delta,
                )  # fmt: skip
                hits[what, delta] += found.low[0] - 1e-12 <= wanted <= found.high[0] + 1e-12
    return hits


@pytest.mark.slow
def test_intervals_cover_at_the_stated_rate():
    tables = 200
    for (what, delta), count in covered(tables).items():
        error = math.sqrt(delta * (1 - delta) * tables)
        assert count > tables * (1 - delta) - 4 * error, (what, delta, count)
        if what == "p":  # a difference is exactly 0 where no path leads from x to y
            assert count < tables * (1 - delta) + 4 * error, (what, delta, count)


# Real data, and large ones


def test_sachs_proteins_that_were_set(data_dir):
    data = bn.load_dataset("sachs")
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu()))
    draws = bn.sample_dags(posterior, draws=200, rng=np.random.default_rng(1))
    # Where Mek was set to its lowest level, Raf was no lower: Raf leads to Mek.
    up = effects(draws, data, do={"Mek": "1"}, against={"Mek": "3"}, on="Raf")
    assert up.unaffected > 0.99
    down = effects(draws, data, do={"Raf": "1"}, against={"Raf": "3"}, on="Mek", tables=500)
    assert down.unaffected < 0.01 and down.low[0] > 0.5
    # PKC at its lowest, as it was set 600 times, brings P38 up.
    found = effects(draws, data, do={"PKC": "1"}, against={"PKC": "2"}, on="P38", tables=500)
    assert found.unaffected < 0.01 and found.low[2] > 0.3


def test_only_ancestors_matter():
    rng = np.random.default_rng(8)
    values = rng.integers(0, 2, size=(30, 40))
    data = bn.Data.from_arrays(values, arities=[2] * 40)
    dag = np.zeros(40, np.int64)
    dag[2], dag[1] = 0b11, 0b1
    for v in range(3, 40):
        dag[v] = (1 << v) - 1  # tables of up to 2**40 cells, were they asked for
    found = effects(draws_of([dag], data), data, do={"x1": 1}, on=2)
    small = data.select(data.names[:3])
    np.testing.assert_allclose(
        found.mean, effects(draws_of([dag[:3]], small), small, do={"x1": 1}, on=2).mean, atol=1e-12
    )
    with pytest.raises(ValueError, match="joint states"):
        effects(draws_of([dag], data), data, do={"x1": 1}, on=39)


# What comes back


def test_the_same_numbers_in_blocks_and_after_pickling(monkeypatch):
    data, rng = random_data(19), np.random.default_rng(6)
    draws = draws_of([random_dag(rng, 4) for _ in range(9)], data)
    whole = effects(draws, data, do={"x0": 1}, on="x3")
    again = pickle.loads(pickle.dumps(whole))
    assert again.draws.tolist() == whole.draws.tolist() and repr(again) == repr(whole)
    assert whole.mean.tolist() == effects(draws, data, 2, do={"x0": 1}, on="x3").mean.tolist()
    monkeypatch.setattr(interventions, "BLOCK_CELLS", 40)
    blocks = effects(draws, data, do={"x0": 1}, on="x3")
    assert blocks.mean.tolist() == whole.mean.tolist()
    assert blocks.draws.shape == whole.draws.shape


def test_it_reads_well():
    data = bn.load_dataset("coronary")
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu()))
    draws = bn.sample_dags(posterior, draws=100, rng=np.random.default_rng(1))
    found = effects(draws, data, do={"Smoking": "yes"}, against={"Smoking": "no"}, on="Pressure")
    assert repr(found).startswith("p(Pressure | do(Smoking=yes)) - p(Pressure | do(Smoking=no)): ")
    assert repr(found).endswith(" with probability 0.95 (order-modular, unbiased)")
    chains = dataclasses.replace(
        draws, values=draws.values.reshape(2, 50, -1), independent=False,
        log_weight=draws.log_weight.reshape(2, 50), log_target=draws.log_target.reshape(2, 50),
        traces={},
    )  # fmt: skip
    told = effects(chains, data, do={"Smoking": "yes"}, on="Pressure")
    assert told.kind == "asymptotic" and told.ess < 400 and "not to be trusted" in repr(told)


GIVEN = random_data(23)
DRAWN = draws_of([[0, 1, 2, 4]], GIVEN)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"do": {"smoke": 1}}, "no variable 'smoke'; there are x0, x1, x2, x3"),
        ({"do": {"x0": "yes"}}, "'x0' has no level 'yes'; there are 0, 1"),
        ({"do": {"x0": "?"}}, "'x0' is set to a missing cell: choose one of 0, 1"),
        ({"do": {}}, "do={} sets nothing"),
        ({"do": {"x3": 1}}, "on='x3' is set by do"),
        ({"on": "x9"}, "no variable 'x9'"),
        ({"against": {"x1": 0}}, "do sets x0, and against sets x1"),
        ({"score": bn.BIC()}, "no pseudo-counts"),
        ({"score": bn.BGe()}, "is for measurements, and 'x0' has states"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"tables": 0}, "tables=0"),
        ({"do": "x0"}, "do='x0'"),
        ({"rng": 3}, "rng=3"),
    ],
)
def test_bad_questions_are_refused(asked, told):
    with pytest.raises(ValueError, match=told):
        bn.effects(
            DRAWN, GIVEN,
            **{"do": {"x0": 1}, "on": "x3", "rng": np.random.default_rng(1)} | asked,
        )  # fmt: skip


def test_bad_draws_are_refused():
    others = dataclasses.replace(DRAWN, names=("a", "b", "c", "d"))
    orders = dataclasses.replace(DRAWN, values=np.arange(4)[None, None], over="orders")
    cycle = draws_of([[2, 1, 0, 0]], GIVEN)
    weightless = draws_of([[0, 1, 2, 4]], GIVEN, [-np.inf])
    both = bn.Data.from_arrays(
        np.c_[np.random.default_rng(1).normal(size=9), [0, 1] * 4 + [0]], [0, 2]
    )
    for draws, data, told in [
        (others, GIVEN, "the draws are of the variables a, b, c, d"),
        (orders, GIVEN, r"is over orders: draw dags \(sample_dags\)"),
        (cycle, GIVEN, "cycle"),
        (weightless, GIVEN, "largest log weight"),
        (draws_of([[0, 1]], both), both, "has measurements"),
        (DRAWN, MEASURED, "measurements a posterior of BGe scores"),
        (bn.order_posterior(bn.score_families(GIVEN, bn.BDeu())), GIVEN, "sample_dags"),
        ("x", GIVEN, "pass a Draws or an OrderPosterior or a DagPosterior"),
    ]:
        with pytest.raises(ValueError, match=told):
            effects(draws, data, do={"x0": 1}, on="x1")
    with pytest.raises(bn.Stopped):
        effects(
            draws_of([[0, 1, 2, 4], [0, 0, 0, 0]], GIVEN), GIVEN, do={"x0": 1}, on="x3",
            progress=lambda *_: False,
        )  # fmt: skip


# Measurements


def linear_table(rng, dag, m, slopes=None):
    """Rows of a linear-Gaussian network, and the effect of each variable on each, (n, n)."""
    n = len(dag)
    b = np.where(bn.graphs.to_adjacency(dag), rng.normal(size=(n, n)), 0.0)
    noise = rng.normal(size=(m, n)) * rng.uniform(0.5, 2, size=n)
    paths = np.linalg.inv(np.eye(n) - b)
    return 3 + noise @ paths, paths - np.eye(n)


MEASURED = bn.Data.from_arrays(
    linear_table(np.random.default_rng(31), np.array([0, 1, 3, 6]), 40)[0] * [1, 10, 0.1, 3]
)
TWO = {"do": {"x1": 2.5}, "against": {"x1": 0.5}}


def coefficient(data, u, x, y, score, rows):
    """(location, scale, degrees) of x in a regression of y, by partial correlation matrices."""
    alpha_w = data.n + score.alpha_mu + 1 if score.alpha_w is None else score.alpha_w
    t = score.alpha_mu * (alpha_w - data.n - 1) / (score.alpha_mu + 1)
    z = data.measurements - data.measurements.mean(axis=0)
    spread = z.std(axis=0, ddof=1) if score.standardize else np.ones(data.n)
    z = (z / spread)[rows][:, [x, y, *u]]
    m, size = z.shape
    mean = z.mean(axis=0)
    scatter = sum(np.outer(row - mean, row - mean) for row in z) if m else np.zeros((size, size))
    after = t * np.eye(size) + scatter
    after += score.alpha_mu * m / (score.alpha_mu + m) * np.outer(mean, mean)
    w, nu = np.linalg.inv(after), alpha_w - data.n + size + m
    # W is Wishart(nu, w): -W_xy / W_yy given W_yy is Normal(-w_xy / w_yy, ...).
    scale = math.sqrt((w[0, 0] - w[0, 1] ** 2 / w[1, 1]) / w[1, 1] / nu)
    unit = spread[y] / spread[x]
    return -w[0, 1] / w[1, 1] * unit, scale * unit, nu


@pytest.mark.parametrize(
    "score", [bn.BGe(), bn.BGe(2.5, 9.0, standardize=False)], ids=["usual", "other"]
)
@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize("kind", [bn.order_posterior, bn.dag_posterior])
def test_measured_against_all_dags(score, intervened, kind):
    data, rows = MEASURED, np.ones(40, bool)
    if intervened:
        held = np.zeros((40, 4), bool)
        held[:5, 1] = held[5:9, 2] = True
        data, rows = dataclasses.replace(data, intervened=held), ~held[:, 2]
    table = bn.score_families(data, score)
    found = bn.effects(
        kind(table), data, **TWO, on="x3", score=score, rng=np.random.default_rng(1), tables=50_000
    )
    dags = bn.graphs.all_dags(4)
    log_p = table.log_target(dags)
    if found.prior == "order-modular":
        log_p += np.log([bn.count_linear_extensions(dag) for dag in dags])
    share = np.exp(log_p - np.logaddexp.reduce(log_p))
    given = [
        (0.0, 0.0, 9.0) if dag[1] >> 3 & 1
        else coefficient(data, oracles.members(dag[1]), 1, 3, score, rows)
        for dag in dags.tolist()
    ]  # fmt: skip
    location, scale, nu = np.array(given).T
    mean = share @ location
    assert found.mean == pytest.approx(2 * mean, abs=1e-10) and found.levels == ()
    assert found.between == pytest.approx(2 * math.sqrt(share @ (location - mean) ** 2), abs=1e-10)
    within = math.sqrt(share @ (scale**2 * nu / (nu - 2)))
    assert found.within == pytest.approx(2 * within, abs=1e-10)
    assert found.unaffected == pytest.approx(share[dags[:, 1] >> 3 & 1 == 1].sum(), abs=1e-10)
    assert found.draws.mean() == pytest.approx(2 * mean, abs=6 * found.draws.std() / 200)
    assert found.draws.std() == pytest.approx(
        math.hypot(found.between[0], found.within[0]), rel=0.05
    )
    assert repr(found).startswith("E(x3 | do(x1=2.5)) - E(x3 | do(x1=0.5)): ")


def test_a_coefficient_given_its_parents_is_that_of_wishart_matrices():
    stats = pytest.importorskip("scipy.stats")
    required = [(0, 1), (2, 1)]
    table = bn.score_families(MEASURED, bn.BGe(), required=required, forbidden=[(3, 1)])
    found = bn.effects(
        bn.order_posterior(table), MEASURED, **TWO, on="x3", rng=np.random.default_rng(1),
        tables=20_000,
    )  # fmt: skip
    z = MEASURED.measurements - MEASURED.measurements.mean(axis=0)
    unit = z.std(axis=0, ddof=1)
    z = z / unit
    w = stats.wishart(df=40 + 6, scale=np.linalg.inv(0.5 * np.eye(4) + z.T @ z)).rvs(
        20_000, random_state=np.random.default_rng(3)
    )
    drawn = -2 * w[:, 1, 3] / w[:, 3, 3] * unit[3] / unit[1]
    assert stats.ks_2samp(drawn, found.draws[:, 0]).pvalue > 1e-3
    assert (found.weights > 0).sum() == 1 and found.unaffected == 0 and found.kind == "exact"


def measured_hits(tables, n=5, m=60):
    hits, rngs = 0, np.random.default_rng(99).spawn(tables)
    for rng in rngs:
        values, effect = linear_table(rng, random_dag(rng, n), m)
        data = bn.Data.from_arrays(values)
        posterior = bn.dag_posterior(bn.score_families(data, bn.BGe(), max_parents=n - 1))
        asked = {"do": {"x0": 1}, "against": {"x0": 0}}
        found = effects(posterior, data, on="x1", tables=1000, **asked)
        hits += found.low[0] <= effect[0, 1] <= found.high[0]
    return hits


def test_measured_intervals_cover_in_few_tables():
    assert measured_hits(25) >= 19


@pytest.mark.slow
def test_measured_intervals_cover_about_at_the_stated_rate():
    assert measured_hits(200) >= 180


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"do": {"x1": "a"}}, "one number against= another"),
        ({"do": {"x1": math.inf}}, "one number against= another"),
        ({"against": None}, "one number against= another"),
        ({"do": {"x0": 1, "x1": 2}, "against": {"x0": 1, "x1": 1}}, "of one variable"),
        ({"do": {"x7": 1}, "against": {"x7": 1}}, "no variable 'x7'"),
        ({"on": "x1"}, "on='x1' is set by do"),
        ({"score": bn.BDeu()}, "has measurements"),
    ],
)
def test_bad_questions_about_measurements_are_refused(asked, told):
    posterior = bn.order_posterior(bn.score_families(MEASURED, bn.BGe()))
    with pytest.raises(ValueError, match=told):
        effects(posterior, MEASURED, **TWO | {"on": "x3"} | asked)
    small = MEASURED.select(MEASURED.names[:3])
    with pytest.raises(ValueError, match="the scores are of the variables"):
        effects(posterior, small, **TWO, on="x2")
