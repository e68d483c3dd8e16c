"""Features of DAGs, their posterior probabilities, and how far off they are."""

import itertools
import math
from dataclasses import replace

import calls
import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import features
from bnlab.features.intervals import student_t
from bnlab.reports.answers import credible

DAGS = bn.graphs.all_dags(4)
FIRST = features.edge(0, 1)


@pytest.fixture(scope="module")
def posterior():
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, size=(20, 4)))
    return bn.order_posterior(bn.score_families(data, bn.BDeu()))


@pytest.fixture(scope="module")
def draws(posterior):
    return bn.sample_dags(posterior, draws=30_000, rng=np.random.default_rng(4))


FEATURES = {
    "edge": (features.edge(0, 2), lambda d: bool(d[2] & 1)),
    "path": (features.path(0, 3), lambda d: (0, 3) in oracles.paths(d, 4)),
    "limited": (
        features.limited_path(0, 3, max_length=2),
        lambda d: (0, 3) in oracles.paths(d, 2),
    ),
    "chain": (
        features.combined(features.path(0, 1), features.path(1, 2)),
        lambda d: {(0, 1), (1, 2)} <= oracles.paths(d, 4),
    ),
    "without": (
        features.combined(features.path(0, 1), absent=[features.path(0, 2)]),
        lambda d: (0, 1) in oracles.paths(d, 4) and (0, 2) not in oracles.paths(d, 4),
    ),
    "function": (
        features.function(lambda d: sum(int(m).bit_count() for m in d) == 3),
        lambda d: sum(int(m).bit_count() for m in d) == 3,
    ),
}


# f1 to f5 of He, Tian & Wu (2016), section 4.3, of nodes i, j, k; the twins look at sets of pairs.
FIVE = {
    "edge": (lambda i, j, k: features.edge(i, j), lambda e, p2, p, i, j, k: (i, j) in e),
    "f1": (lambda i, j, k: features.path(i, j), lambda e, p2, p, i, j, k: (i, j) in p),
    "f2": (
        lambda i, j, k: features.limited_path(i, j, max_length=2),
        lambda e, p2, p, i, j, k: (i, j) in p2,
    ),
    "f3": (
        lambda i, j, k: features.combined(features.path(i, j), features.path(j, k)),
        lambda e, p2, p, i, j, k: (i, j) in p and (j, k) in p,
    ),
    "f4": (
        lambda i, j, k: features.combined(features.path(i, j), features.path(i, k)),
        lambda e, p2, p, i, j, k: (i, j) in p and (i, k) in p,
    ),
    "f5": (
        lambda i, j, k: features.combined(features.path(i, j), absent=[features.path(i, k)]),
        lambda e, p2, p, i, j, k: (i, j) in p and (i, k) not in p,
    ),
}


@pytest.mark.parametrize("name", FIVE)
def test_five_features_of_coronary_lie_in_their_sound_intervals(name):
    """Against enumeration of the structure-modular posterior, for all i, j, k."""
    feature, twin = FIVE[name]
    data = bn.load_dataset("coronary")
    table = bn.score_families(data.select(data.names[:4]), bn.BDeu())
    log_z, exact = oracles.structure_modular_over_dags(oracles.families_of(table))
    drawn = bn.sample_dags(bn.order_posterior(table), draws=2000, rng=np.random.default_rng(1))
    unique = bn.reweight_unique(drawn, log_z=log_z)
    pairs = [(p, *(oracles.paths(dag, length) for length in (1, 2, 4))) for dag, p in exact.items()]
    for i, j, k in itertools.permutations(range(4), 3):
        estimate = features.probability(unique, feature(i, j, k))
        truth = math.fsum(p for p, *sets in pairs if twin(*sets, i, j, k))
        assert estimate.low - 1e-9 <= truth <= estimate.high + 1e-9
        assert estimate.high - estimate.low < 0.01
        assert estimate.value == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize("name", FEATURES)
def test_features_hold_where_their_definition_does(name):
    feature, twin = FEATURES[name]
    expected = np.array([twin(dag.tolist()) for dag in DAGS])
    assert (feature(DAGS) == expected).all()
    assert (feature(DAGS[:540].reshape(2, 270, 4)).ravel() == expected[:540]).all()
    assert 0 < expected.sum() < len(expected)


@pytest.mark.parametrize("name", FEATURES)
def test_probabilities_are_within_four_standard_errors_of_enumeration(name, posterior, draws):
    feature, twin = FEATURES[name]
    *_, exact = oracles.order_modular_over_dags(oracles.families_of(posterior.table))
    p = sum(weight for dag, weight in exact.items() if twin(list(dag)))
    estimate = features.probability(draws, feature)
    assert abs(estimate.value - p) <= 4 * math.sqrt(p * (1 - p) / 30_000)
    assert estimate.stderr == pytest.approx(math.sqrt(p * (1 - p) / 30_000), rel=0.1)
    assert estimate.low <= p <= estimate.high


def test_the_interval_is_hoeffdings(draws):
    estimate = features.probability(draws, features.edge(0, 1), delta=0.01)
    half = math.sqrt(math.log(200) / 60_000)
    assert estimate.high - estimate.value == pytest.approx(half)
    assert estimate.confidence == 0.99
    assert (estimate.draws, estimate.prior) == (30_000, "order-modular")


def test_an_interval_of_a_share_stays_within_zero_and_one(draws):
    nothing = features.function(lambda d: False)
    estimate = features.probability(draws, nothing)
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    assert 0 < estimate.high < 0.02


@pytest.mark.parametrize("eps", [0.02, 0.005])
@pytest.mark.parametrize("delta", [0.05, 1e-10])
def test_hoeffding_draws_are_the_fewest_that_suffice(eps, delta):
    total = bn.hoeffding_draws(eps, delta)
    assert 2 * math.exp(-2 * total * eps**2) <= delta < 2 * math.exp(-2 * (total - 1) * eps**2)


@pytest.mark.parametrize("eps", [0.1, 0.02, 0.003])
def test_the_margin_is_the_inverse_of_hoeffding_draws(eps):
    total = bn.hoeffding_draws(eps, 0.05)
    assert bn.hoeffding_margin(total, 0.05) <= eps < bn.hoeffding_margin(total - 1, 0.05)


def test_prefixes_of_draws_are_nested(draws):
    few = draws.prefix(10)
    assert (few.values == draws.values[:, :10]).all()
    assert features.probability(few, features.edge(0, 1)).draws == 10
    for bad in (0, 30_001):
        with pytest.raises(ValueError, match=f"draws={bad}"):
            draws.prefix(bad)


def test_matrices_equal_the_features_one_by_one(draws):
    edges, paths = features.edges(draws), features.paths(draws)
    short = features.paths(draws, max_length=2)
    for u in range(4):
        for v in range(4):
            if u == v:
                assert edges[u, v] == paths[u, v] == short[u, v] == 0
                continue
            for matrix, feature in (
                (edges, features.edge(u, v)),
                (paths, features.path(u, v)),
                (short, features.limited_path(u, v, max_length=2)),
            ):
                value = features.probability(draws, feature).value
                assert matrix[u, v] == pytest.approx(value, abs=1e-12)
    assert (edges <= short + 1e-12).all()
    assert (short <= paths + 1e-12).all()


def test_edges_of_orders_average_the_exact_expectations(posterior):
    orders = bn.sample_orders(posterior, draws=200, rng=np.random.default_rng(0))
    log_phi = oracles.families_of(posterior.table)
    expected = np.zeros((4, 4))
    for order in orders.values[0].tolist():
        for v, _, before in oracles.order_log_alphas(log_phi, order):
            expected[:, v] += oracles.edges_given_predecessors(log_phi[v], before, 4) / 200
    assert features.edges(orders, table=posterior.table) == pytest.approx(expected, abs=1e-12)


def test_weights_count(draws):
    weighted = bn.Draws(
        draws.values[:, :3],
        np.log([[1.0, 2.0, 5.0]]),
        draws.log_target[:, :3],
        "dags",
        "order-modular",
        draws.names,
    )
    adjacency = bn.graphs.to_adjacency(draws.values[0, :3])
    expected = (adjacency * np.array([1, 2, 5])[:, None, None]).sum(axis=0) / 8
    assert features.edges(weighted) == pytest.approx(expected)
    estimate = features.probability(weighted, features.edge(0, 1))
    assert estimate.value == pytest.approx(expected[0, 1])


def weighted_dags(edge_there, log_weight, group=None):
    """Draws of DAGs of two nodes, with the edge 0 -> 1 or without, weights and groups."""
    values = np.stack([np.zeros_like(edge_there), edge_there], axis=-1).astype(np.int64)
    log_weight = np.broadcast_to(log_weight, edge_there.shape)
    traces = {} if group is None else {"group": np.broadcast_to(group, edge_there.shape)}
    return bn.Draws(
        values, log_weight, log_weight, "dags", "order-modular", ("a", "b"), traces=traces
    )


def test_the_error_of_a_ratio_is_that_of_its_groups():
    rng = np.random.default_rng(5)
    holds, weight = rng.random((1, 60)) < 0.4, rng.exponential(size=(1, 60))
    group = np.arange(60)[None] % 20
    draws = weighted_dags(holds, np.log(weight), group)
    estimate = features.probability(draws, features.edge(0, 1))
    total = weight.sum()
    value = sum(w for w, h in zip(weight[0], holds[0], strict=True) if h) / total
    between, squares = 0.0, 0.0
    for g in range(20):
        own = group[0] == g
        between += (sum(weight[0, own] * (holds[0, own] - value)) / total) ** 2
        squares += (sum(weight[0, own]) / total) ** 2
    assert estimate.value == pytest.approx(value)
    assert estimate.groups == pytest.approx(1 / squares)
    assert estimate.stderr == pytest.approx(math.sqrt(between / (1 - squares)))
    spread = student_t(math.floor(1 / squares) - 1, 0.05) * estimate.stderr
    assert (estimate.low, estimate.high) == pytest.approx((value - spread, value + spread))
    assert (estimate.interval, estimate.draws, estimate.confidence) == ("asymptotic", 60, 0.95)
    assert repr(estimate).endswith(f"about 0.95 (60 draws worth {1 / squares:.1f} groups)")


@pytest.mark.parametrize("groups", [8, 40])
def test_standard_errors_and_intervals_of_weighted_dependent_draws_are_honest(groups):
    """Groups of six draws that share a weight and a chance of the edge, which go together."""
    estimates = []
    for seed in range(600):
        rng = np.random.default_rng(seed)
        level = rng.random((groups, 1))
        weight = rng.exponential(size=(groups, 1)) + level
        holds = (rng.random((groups, 6)) < level).reshape(1, -1)
        draws = weighted_dags(
            holds, np.log(np.repeat(weight, 6, axis=1)).reshape(1, -1), np.arange(6 * groups) // 6
        )
        estimates.append(features.probability(draws, features.edge(0, 1)))
    exact = (0.5 + 1 / 3) / 1.5  # E[weight level] / E[weight]
    values = np.array([estimate.value for estimate in estimates])
    mean_square = np.mean([estimate.stderr**2 for estimate in estimates])
    assert mean_square == pytest.approx(values.var(), rel=0.25)
    inside = np.mean([estimate.low <= exact <= estimate.high for estimate in estimates])
    assert 0.93 <= inside <= 0.99


@pytest.mark.parametrize(
    ("degrees", "delta", "t"),
    [
        (1, 0.05, 12.7062),
        (2, 0.05, 4.3027),
        (3, 0.05, 3.1824),
        (4, 0.01, 4.6041),
        (7, 0.1, 1.8946),
        (30, 0.05, 2.0423),
        (120, 0.01, 2.6174),
        (10**6, 0.05, 1.9623),
    ],
)
def test_quantiles_of_students_t_are_the_printed_ones(degrees, delta, t):
    assert student_t(degrees, delta) == pytest.approx(t, abs=6e-5)


def test_a_feature_that_no_draw_has_is_not_known_to_be_impossible():
    draws = weighted_dags(np.zeros((1, 50)), 0.0, np.arange(50))
    estimate = features.probability(draws, features.edge(0, 1))
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    assert estimate.stderr == pytest.approx(math.sqrt(1 / 52 / 50))
    assert estimate.high > 0.03


def test_one_draw_with_all_the_weight_has_no_error_bar():
    holds = np.arange(50)[None] == 0
    draws = weighted_dags(holds, np.where(holds, 0.0, -500.0), np.arange(50))
    estimate = features.probability(draws, features.edge(0, 1))
    assert (estimate.value, estimate.stderr) == (1.0, math.inf)
    assert (estimate.low, estimate.high, estimate.interval) == (0.0, 1.0, "none")
    assert repr(estimate) == "p = 1.0000, no error bar (50 draws worth 1.0 groups)"
    almost = weighted_dags(holds, np.where(holds, 0.0, -6.0), np.arange(50))
    assert features.probability(almost, features.edge(0, 1)).interval == "none"


def test_a_chain_is_one_group():
    holds = np.random.default_rng(0).random((4, 100)) < 0.3
    one = features.probability(weighted_dags(holds[:1], 0.0), features.edge(0, 1))
    assert (one.interval, one.groups, one.stderr) == ("none", pytest.approx(1.0), math.inf)
    four = features.probability(weighted_dags(holds, 0.0), features.edge(0, 1))
    assert (four.interval, four.groups) == ("asymptotic", pytest.approx(4.0))
    of_chains = holds.mean(axis=1)
    least = math.sqrt(four.value * (1 - four.value) / 400)
    assert four.stderr == pytest.approx(max(of_chains.std(ddof=1) / 2, least), rel=0.01)
    assert four.high - four.value == pytest.approx(student_t(3, 0.05) * four.stderr)


@pytest.fixture(scope="module")
def slow_mixing():
    """A table on which local moves need thousands of draws, with its exact probabilities."""
    data = bn.load_network("asia").sample(500, np.random.default_rng(1))
    table = bn.score_families(data, bn.BDeu(), max_parents=3)
    return table, bn.dag_posterior(table)


def local_chains(table, seed, draws, **options):
    rng = np.random.default_rng([seed, draws])
    return bn.sample_structures(table, draws=draws, rng=rng, **options)


@pytest.mark.parametrize(
    ("repeats", "draws", "options", "share", "cover"),
    [
        (40, 25, {"burn_in": 0, "thin": 1}, (0.0, 0.0), (0.5, 0.7)),
        (40, 100, {"burn_in": 0, "thin": 2}, (0.0, 0.0), (0.7, 0.9)),
        (6, 2500, {"burn_in": 1000, "thin": 20}, (0.5, 0.9), (0.9, 1.0)),
    ],
)
def test_intervals_of_chains_cover_where_they_are_trusted(
    repeats, draws, options, share, cover, slow_mixing
):
    """Of short chains those called asymptotic cover far less than 0.95, and none is trusted."""
    table, exact = slow_mixing
    off = ~np.eye(8, dtype=bool)
    holds, trusted = [], []
    for seed in range(repeats):
        found = credible(local_chains(table, seed, draws, **options), np.asarray)
        holds.append(((found.low <= exact.edges) & (exact.edges <= found.high))[off])
        trusted.append(found.trusted[off])
    covered, relied = np.concatenate(holds), np.concatenate(trusted)
    assert share[0] <= relied.mean() <= share[1]
    assert cover[0] <= (covered[relied] if relied.any() else covered).mean() <= cover[1]


def test_an_interval_of_chains_says_how_far_they_agree(slow_mixing):
    table, _ = slow_mixing
    short = features.probability(local_chains(table, 0, 25, burn_in=0), features.edge(0, 1))
    assert short.interval == "asymptotic" and short.rhat > 1.01 and not short.trusted
    assert repr(short).endswith(
        f"R-hat {short.rhat:.3f}, ESS {short.ess:.0f}: not to be trusted, run longer)"
    )
    chains = local_chains(table, 0, 2500, burn_in=1000, thin=80)
    long = features.probability(chains, features.edge(1, 0))
    holds = (chains.values[:, :, 0] >> 1 & 1).astype(float)
    worst = max(bn.diagnostics.rhat(holds), bn.diagnostics.rhat(chains))
    assert long.rhat == worst <= 1.01 and long.ess >= 400 and long.trusted
    assert repr(long).endswith(f"worth 4.0 groups; R-hat {long.rhat:.3f}, ESS {long.ess:.0f})")


def test_a_feature_that_no_draw_has_is_trusted_no_more_than_its_chains(slow_mixing):
    chains = local_chains(slow_mixing[0], 0, 25, burn_in=0)
    never = features.probability(chains, features.function(lambda dag: False))
    assert never.value == 0 and not never.trusted
    assert never.rhat == bn.diagnostics.rhat(chains)


def test_one_chain_has_no_rhat_and_draws_that_are_none_say_nothing(draws, posterior, slow_mixing):
    chains = local_chains(slow_mixing[0], 0, 25, burn_in=0)
    one = replace(
        chains,
        values=chains.values[:1],
        log_weight=chains.log_weight[:1],
        log_target=chains.log_target[:1],
        traces={},
    )
    for few in (one, chains.prefix(3)):
        estimate = features.probability(few, FIRST)
        assert math.isnan(estimate.rhat) and not estimate.trusted
        assert "no R-hat" in repr(estimate) and "not to be trusted" in repr(estimate)
    annealed = bn.anneal_orders(posterior.table, runs=40, rng=np.random.default_rng(1))
    dags = bn.sample_dags(annealed, draws=2, table=posterior.table, rng=np.random.default_rng(2))
    for other in (draws, bn.reweight_by_extensions(draws.prefix(500)), dags):
        estimate = features.probability(other, FIRST)
        assert estimate.rhat is None and estimate.ess is None and estimate.trusted
        assert "R-hat" not in repr(estimate)


def test_dags_of_orders_along_chains_are_chains(posterior):
    orders = bn.sample_orders(posterior.table, draws=100, rng=np.random.default_rng(1))
    dags = bn.sample_dags(orders, draws=3, table=posterior.table, rng=np.random.default_rng(2))
    for chains in (dags, bn.reweight_by_extensions(dags)):
        estimate = features.probability(chains, FIRST)
        assert estimate.groups < 4.1 and estimate.rhat < 1.2 and estimate.ess > 1


EDGES = {"edge": [(0, 2)], "pair": [(0, 2), (3, 1)], "fork": [(0, 1), (0, 2)]}


@pytest.mark.parametrize("name", EDGES)
def test_modular_features_of_annealed_orders_equal_enumeration(name, posterior):
    """Within four standard errors; and exactly, weighing every order by its posterior."""
    wanted, table = EDGES[name], posterior.table
    log_phi = oracles.families_of(table)
    *_, exact = oracles.order_modular_over_dags(log_phi)
    p = sum(q for dag, q in exact.items() if all(dag[v] >> u & 1 for u, v in wanted))

    def factor(v, parents):
        there = np.ones(parents.shape)
        for u, w in wanted:
            if w == v:
                there *= parents >> u & 1
        return there

    orders = bn.anneal_orders(
        table, runs=500, rng=np.random.default_rng(3), method=bn.AIS(bn.Linear(30))
    )
    estimate = features.modular_probability(orders, factor, table=table)
    assert 0 < estimate.stderr < 0.02
    assert abs(estimate.value - p) <= 4 * estimate.stderr
    assert (estimate.interval, estimate.draws) == ("asymptotic", 500)
    *_, of_orders = oracles.order_modular_over_orders(log_phi)
    log_p = np.log([list(of_orders.values())])
    every = bn.Draws(
        np.array([list(of_orders)]), log_p, log_p, "orders", "order-modular", table.names
    )
    assert features.modular_probability(every, factor, table=table).value == pytest.approx(p)


def test_edges_of_annealed_orders_are_the_weighted_expectations(posterior):
    table = posterior.table
    orders = bn.anneal_orders(
        table, runs=2000, rng=np.random.default_rng(3), method=bn.AIS(bn.Linear(30))
    )
    edges = features.edges(orders, table=table)
    for u in range(4):
        for v in set(range(4)) - {u}:
            estimate = features.modular_probability(
                orders, lambda w, sets, u=u, v=v: (sets >> u & 1) | (w != v), table=table
            )
            assert edges[u, v] == pytest.approx(estimate.value, abs=1e-12)
            assert abs(edges[u, v] - posterior.edges[u, v]) <= 4 * estimate.stderr


def test_modular_features_of_independent_orders_have_hoeffdings_interval(posterior):
    orders = bn.sample_orders(posterior, draws=400, rng=np.random.default_rng(3))
    estimate = features.modular_probability(
        orders, lambda v, sets: (sets & 1) | (v != 2), table=posterior.table
    )
    assert abs(estimate.value - posterior.edges[0, 2]) <= 4 * estimate.stderr
    assert estimate.interval == "Hoeffding"
    assert estimate.high - estimate.value == pytest.approx(bn.hoeffding_margin(400, 0.05))
    bernoulli = math.sqrt(estimate.value * (1 - estimate.value) / 400)
    assert estimate.stderr < bernoulli  # than of DAGs drawn given the orders


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (lambda v, sets: 1.0, r"factor\(0, parents\) gave shape \(\) for 8 parent sets"),
        (lambda v, sets: sets, "values outside 0..1"),
        (lambda v, sets: np.full(sets.shape, np.nan), "values outside 0..1"),
    ],
    ids=["one number", "masks", "nan"],
)
def test_factors_are_checked(factor, message, posterior):
    orders = bn.sample_orders(posterior, draws=5, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        features.modular_probability(orders, factor, table=posterior.table)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, o: features.edge(1, 1), "nodes 1 and 1"),
        (lambda d, o: features.path(-1, 1), "nodes -1 and 1"),
        (lambda d, o: features.limited_path(0, 1, max_length=0), "max_length=0"),
        (lambda d, o: features.combined(), "at least one"),
        (lambda d, o: features.probability(d, features.edge(0, 9)), "node 9 is outside 0..3"),
        (lambda d, o: features.probability(d, features.edge(0, 1), delta=0), "delta=0"),
        (lambda d, o: features.probability(d, lambda dags: True), "one truth value"),
        (
            lambda d, o: features.probability(o, features.edge(0, 1)),
            r"draws=Draws is over orders: draw dags \(sample_dags\)",
        ),
        (lambda d, o: features.paths(o), "draws=Draws is over orders: draw dags"),
        (lambda d, o: features.edges(o), "pass table="),
        (
            lambda d, o: features.modular_probability(d, lambda v, p: p == 0, table=calls.table(4)),
            r"draws=Draws is over dags: draw orders \(sample_orders\)",
        ),
        (lambda d, o: bn.hoeffding_draws(0, 0.1), "eps=0"),
        (lambda d, o: bn.hoeffding_draws(1e-200, 0.1), "eps=1e-200"),
        (lambda d, o: bn.hoeffding_draws(0.1, 1), "delta=1"),
        (lambda d, o: bn.hoeffding_margin(0, 0.1), "draws=0"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message, posterior, draws):
    orders = bn.sample_orders(posterior, draws=5, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        call(draws, orders)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf])
def test_weights_that_are_none_are_refused(weight, draws):
    prefix = draws.prefix(10)
    weighted = replace(prefix, log_weight=np.full((1, 10), weight))
    for call in (features.edges, features.paths, lambda d: features.probability(d, FIRST)):
        with pytest.raises(ValueError, match=f"largest log weight is {weight}"):
            call(weighted)


def test_what_has_no_draws_is_refused(posterior):
    best = bn.map_dag(posterior.table)
    for call in (features.edges, features.paths, lambda d: features.probability(d, FIRST)):
        with pytest.raises(ValueError, match=r"BestDags is no Draws: .* pass as_draws\(\)"):
            call(best)


def test_sad_and_max_error():
    a = np.array([[9.0, 0.5], [0.25, 9.0]])
    b = np.array([[0.0, 0.75], [0.0, 0.0]])
    assert bn.diagnostics.sad(a, b) == 0.5
    assert bn.diagnostics.max_error(a, b) == 0.25
    np.fill_diagonal(b, math.nan)
    assert bn.diagnostics.sad(a, b) == 0.5
    for bad in (np.zeros((3, 3)), np.zeros(4), [[0, math.nan], [0, 0]]):
        with pytest.raises(ValueError):
            bn.diagnostics.sad(a, bad)
