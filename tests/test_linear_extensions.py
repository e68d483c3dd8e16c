"""Linear extensions: counts against brute force and closed forms, uniform draws, the correction."""

import math

import numpy as np
import oracles
import pytest
from tables import uncompiled

import bnlab as bn
from bnlab import linear_extensions
from bnlab.kernels import bits, posets
from bnlab.linear_extensions import counting, estimating


def random_dag(n, k, rng):
    """A random order; in-degree uniform in 0..min(k, place) [NiinimakiKoivisto2013, fig. 1]."""
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for place, v in enumerate(order):
        for u in rng.choice(order[:place], size=rng.integers(0, min(k, place) + 1), replace=False):
            dag[v] |= np.int64(1) << u
    return dag


def reversed_dag(dag):
    return bn.graphs.from_adjacency(bn.graphs.to_adjacency(dag).T)


def beside(*dags):
    """The disjoint union."""
    out = []
    for dag in dags:
        out += [int(mask) << len(out) for mask in dag]
    return np.array(out)


def above(dag, other):
    """All of `dag` before all of `other`."""
    return np.array([*dag, *((int(mask) << len(dag)) | ((1 << len(dag)) - 1) for mask in other)])


# Counts


@pytest.mark.parametrize("n", [1, 2, 13, 14, 40, 63])
def test_an_antichain_has_all_orders_and_a_chain_has_one(n):
    chain = [(1 << v) >> 1 for v in range(n)]
    total = [(1 << v) - 1 for v in range(n)]
    for dag, count in ((np.zeros(n, int), math.factorial(n)), (chain, 1), (total, 1)):
        assert linear_extensions.count_linear_extensions(dag) == count
        assert linear_extensions.log_count(dag) == pytest.approx(math.log(count), abs=1e-12)


def test_both_algorithms_equal_brute_force_on_200_random_posets():
    rng = np.random.default_rng(0)
    for _ in range(200):
        dag = random_dag(int(rng.integers(1, 14)), int(rng.integers(0, 7)), rng)
        count = oracles.count_linear_extensions(dag)
        assert bn.count_linear_extensions(dag) == count
        assert linear_extensions.count_by_ideals(dag) == count
        assert linear_extensions.log_count(dag) == pytest.approx(math.log(count), abs=1e-12)
        assert linear_extensions.ideal_lattice(dag).counts[-1] == pytest.approx([count])


def test_brute_force_counts_the_orders_one_by_one():
    for dag in oracles.all_dags(4):
        assert oracles.count_linear_extensions(dag) == len(oracles.orders_of(dag))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_pairs_of_order_and_dag(n):
    """Sum over DAGs of l(G) = n! 2**(n (n - 1) / 2): 122,880 for 5 nodes."""
    counts = np.exp(linear_extensions.log_count(bn.graphs.all_dags(n)))
    assert counts == pytest.approx(counts.round(), rel=1e-12)
    assert int(counts.round().sum()) == math.factorial(n) * 2 ** (n * (n - 1) // 2)


@pytest.mark.parametrize("seed", range(5))
def test_fifty_nodes_to_the_last_digit(seed):
    """The recursion modulo two sets of primes, in floats, and the ideals where they are few."""
    dag = random_dag(50, 3, np.random.default_rng(seed))
    count = bn.count_linear_extensions(dag)
    recursion = counting.solve(bn.graphs.ancestors(dag), counting.MAX_STATES)
    assert recursion.density * math.factorial(50) == pytest.approx(count, rel=1e-12)
    for primes in (counting.PRIMES[:8], counting.PRIMES[2:]):
        assert residues_count(recursion, primes, 50) == count


def residues_count(recursion, primes, n):
    keys, ranks = recursion.keys, np.empty_like(recursion.keys)
    states = np.sort(keys[keys > 0])
    ranks[keys > 0] = np.searchsorted(states, keys[keys > 0])
    out = np.empty((n + 2 + states.size, len(primes)), np.int64)
    posets.residues(recursion.poset, states, keys, ranks, np.array(primes), out)
    return counting.from_residues([math.factorial(n) * int(r) for r in out[-1]], primes)


def test_fifty_nodes_by_both_algorithms():
    """Ten chains of five, tied by an order on every other level: few ideals, a large count."""
    rng = np.random.default_rng(3)
    dag = np.zeros(50, np.int64)
    for v in range(4, 50):
        for u in (v - 4, int(rng.integers(max(0, v - 8), v))):
            dag[v] |= np.int64(1) << u
    count = bn.count_linear_extensions(dag)
    assert count > 10**6
    assert count == linear_extensions.count_by_ideals(dag)


def test_primes_are_prime_and_reach_every_count():
    for p in counting.PRIMES:
        assert 63 < p < 2**31
        assert all(p % d for d in range(2, math.isqrt(p) + 1, 1 + (p > 4)))
    assert len(set(counting.PRIMES)) == 10
    assert math.prod(counting.PRIMES) > 2 * math.factorial(63)


def test_sixty_three_nodes_in_a_narrow_order():
    """Pairs in a row: each level of two before the next, the last node on top."""
    dag = np.zeros(63, np.int64)
    for v in range(2, 63):
        dag[v] = 3 << (v // 2 - 1) * 2
    assert bn.count_linear_extensions(dag) == 2**31
    assert linear_extensions.count_by_ideals(dag) == 2**31
    grid = np.zeros(62, np.int64)  # 2 x 31: Catalan number
    for v in range(62):
        for u in (v - 2, v - 1 if v % 2 else -1):
            if u >= 0:
                grid[v] |= np.int64(1) << u
    assert bn.count_linear_extensions(grid) == math.comb(62, 31) // 32


def test_forests_have_the_hook_length_count():
    rng = np.random.default_rng(4)
    for _ in range(20):
        dag = random_dag(40, 1, rng)
        below = bn.graphs.to_adjacency(bn.graphs.ancestors(dag)).sum(axis=1) + 1
        count = math.factorial(40) // math.prod(below.tolist())
        assert bn.count_linear_extensions(dag) == count
        assert bn.count_linear_extensions(reversed_dag(dag)) == count


def test_series_and_parallel_composition():
    rng = np.random.default_rng(5)
    for _ in range(20):
        a, b = random_dag(14, 3, rng), random_dag(17, 2, rng)
        apart = bn.count_linear_extensions(a) * bn.count_linear_extensions(b)
        assert bn.count_linear_extensions(above(a, b)) == apart
        assert bn.count_linear_extensions(beside(a, b)) == apart * math.comb(31, 14)


def test_relabelling_reversal_and_closure_change_nothing():
    rng = np.random.default_rng(6)
    for _ in range(20):
        dag = random_dag(25, 3, rng)
        shuffle = rng.permutation(25)
        moved = bn.graphs.from_adjacency(bn.graphs.to_adjacency(dag)[np.ix_(shuffle, shuffle)])
        same = [dag, moved, reversed_dag(dag), bn.graphs.ancestors(dag)]
        assert len({bn.count_linear_extensions(g) for g in same}) == 1


def test_an_order_that_is_easy_from_the_back_alone_is_counted_from_there():
    dag = reversed_dag(random_dag(45, 3, np.random.default_rng(1)))
    recursion = counting.solve(bn.graphs.ancestors(dag), counting.MAX_STATES)
    assert recursion.reversed
    count = bn.count_linear_extensions(dag)
    assert count == bn.count_linear_extensions(reversed_dag(dag))
    assert linear_extensions.log_count(dag) == pytest.approx(math.log(count), abs=1e-11)
    orders = bn.sample_linear_extensions(dag, draws=50, rng=np.random.default_rng(0))
    assert obeys(orders, dag).all()


def test_batches_are_shaped_like_the_dags_and_the_same_on_any_executor(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    dags = bn.graphs.all_dags(4)[:540].reshape(2, 270, 4)
    plain = linear_extensions.log_count(dags)
    assert plain.shape == (2, 270)
    assert plain[1, 5] == linear_extensions.log_count(dags[1, 5])
    monkeypatch.setattr(counting, "BLOCK_DAGS", 7)
    with ThreadPoolExecutor(2) as executor:
        assert (linear_extensions.log_count(dags, executor=executor) == plain).all()
    assert linear_extensions.log_count(np.empty((0, 4), int)).shape == (0,)


# The lattice of ideals


def test_the_lattice_holds_the_sets_closed_under_parents():
    for dag in oracles.all_dags(4)[::7]:
        lattice = linear_extensions.ideal_lattice(dag)
        for size, (level, counts) in enumerate(zip(lattice.levels, lattice.counts, strict=True)):
            closed = [
                s
                for s in range(16)
                if s.bit_count() == size and not any(dag[v] & ~s for v in oracles.members(s))
            ]
            assert level.tolist() == closed
            for ideal, count in zip(level, counts, strict=True):
                starts = {order[:size] for order in oracles.orders_of(dag)}
                assert count == sum(set(s) == set(oracles.members(ideal)) for s in starts)
    assert linear_extensions.ideal_lattice([0] * 10).size == 1024


# Kernels


@np.errstate(over="ignore")  # products in `bits.popcount`
def test_compiled_kernels_equal_their_python_source(monkeypatch):
    def everything():
        for dag in ([0, 0, 1, 3, 2, 4], [0, 1, 1, 0, 8], [0] * 4):
            rng = np.random.default_rng(0)
            yield bn.count_linear_extensions(dag)
            yield linear_extensions.log_count([dag])
            yield linear_extensions.count_by_ideals(dag)
            yield bn.sample_linear_extensions(dag, draws=5, rng=rng)
            yield estimating._verdicts(
                estimating._covers(bn.graphs.ancestors(dag)), np.array([[0, 1]]), 3, 8, rng
            )[0]

    compiled = list(everything())
    with monkeypatch.context() as patch:
        uncompiled(patch, bits, posets)
        plain = list(everything())
    for fast, slow in zip(compiled, plain, strict=True):
        assert fast == pytest.approx(slow, abs=1e-12)


# Draws


def obeys(orders, dag):
    places = np.argsort(orders, axis=1)
    edges = np.array(bn.graphs.to_edges(dag)).reshape(-1, 2)
    return (places[:, edges[:, 0]] < places[:, edges[:, 1]]).all(axis=1)


@pytest.mark.parametrize(
    "dag",
    [
        [0, 0, 0, 0],
        [0, 1, 1, 0, 8],
        [0, 0, 1, 3, 2, 4],  # a zigzag: components split and merge
        [0, 1, 2, 0, 8, 16],
        [0, 0, 3, 3, 12, 12],
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_draws_are_uniform_over_the_enumerated_extensions(dag, turned):
    """Chi-square, all cells alike; a p-value of 1e-4 is 3.7 standard deviations."""
    dag = reversed_dag(dag) if turned else np.array(dag)
    extensions = oracles.orders_of(tuple(dag.tolist()))
    draws = bn.sample_linear_extensions(
        dag, draws=500 * len(extensions), rng=np.random.default_rng(11)
    )
    assert uniform_z(draws, extensions) < 3.7


def uniform_z(draws, extensions):
    """The chi-square statistic of uniformity as a normal deviate (Wilson and Hilferty)."""
    distinct, times = np.unique(draws, axis=0, return_counts=True)
    assert {tuple(order) for order in distinct.tolist()} <= set(extensions)
    if len(extensions) == 1:
        return 0.0
    expected, degrees = len(draws) / len(extensions), len(extensions) - 1
    statistic = ((times - expected) ** 2).sum() / expected
    statistic += expected * (len(extensions) - len(times))
    return ((statistic / degrees) ** (1 / 3) - 1 + 2 / (9 * degrees)) * math.sqrt(9 * degrees / 2)


def test_draws_from_the_back_are_uniform_too(monkeypatch):
    """The recursion on the order upside down, as for DAGs that are easy from there alone."""
    start = counting._start

    def from_the_back(above, _):
        return start(bn.graphs.from_adjacency(bn.graphs.to_adjacency(above).T), True)

    monkeypatch.setattr(counting, "_start", from_the_back)
    dag = (0, 0, 1, 3, 2, 4)
    extensions = oracles.orders_of(dag)
    rng = np.random.default_rng(12)
    draws = bn.sample_linear_extensions(dag, draws=500 * len(extensions), rng=rng)
    assert uniform_z(draws, extensions) < 3.7


def test_draws_of_many_nodes_obey_the_dag_and_depend_on_the_generator_alone():
    dag = random_dag(40, 3, np.random.default_rng(8))
    draws = bn.sample_linear_extensions(dag, draws=300, rng=np.random.default_rng(1))
    assert draws.shape == (300, 40)
    assert draws.dtype == np.int64
    assert (np.sort(draws, axis=1) == np.arange(40)).all()
    assert obeys(draws, dag).all()
    again = bn.sample_linear_extensions(dag, draws=10, rng=np.random.default_rng(1))
    assert (draws[:10] == again).all()


# Estimates


def zigzags(n=24):
    """A DAG of so many nodes in one piece, with its ln l."""
    dag = random_dag(n, 3, np.random.default_rng(2))
    return dag, math.log(bn.count_linear_extensions(dag))


def test_a_dag_within_the_cap_is_counted_exactly():
    dag, exact = zigzags()
    estimate = linear_extensions.estimate_linear_extensions(
        dag, eps=0.1, delta=0.1, rng=np.random.default_rng(0)
    )
    assert (estimate.kind, estimate.stderr, estimate.confidence) == ("exact", 0.0, 1.0)
    assert estimate.log_value == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("max_states", [1, 20])
def test_estimates_beyond_the_cap_are_marked_and_near(max_states):
    dag, exact = zigzags()
    estimate = linear_extensions.estimate_linear_extensions(
        dag, eps=0.2, delta=0.01, rng=np.random.default_rng(0), max_states=max_states
    )
    assert estimate.kind == "unbiased"
    assert estimate.confidence == 0.99
    assert abs(estimate.log_value - exact) < 4 * estimate.stderr < 0.4
    assert estimate.trace[-1] == estimate.log_value
    assert estimate.trace.size == estimate.run.settings["steps"] + 1 > 1
    assert estimate.run.method == "relaxations"


@pytest.mark.slow
def test_the_promise_of_eps_and_delta_is_kept():
    """Of 400 estimates at most the promised share misses; they are unbiased, and stderr is true."""
    dag, exact = zigzags(14)
    eps, delta = 0.3, 0.2
    rng = np.random.default_rng(5)
    estimates = [
        linear_extensions.estimate_linear_extensions(
            dag, eps=eps, delta=delta, rng=rng, max_states=1
        )
        for _ in range(400)
    ]
    ratios = np.exp([estimate.log_value - exact for estimate in estimates])
    assert (abs(ratios - 1) > eps).mean() <= delta
    assert abs(ratios.mean() - 1) < 4 * ratios.std() / 20
    spread = np.log(ratios).std() / np.mean([estimate.stderr for estimate in estimates])
    assert 0.85 < spread < 1.15


def test_successes_keep_the_promise_and_no_more_are_asked_than_chernoff_needs():
    """The error law is a product of (k - 1) / Gamma(k), so it can be drawn directly."""
    rng = np.random.default_rng(0)
    for eps, delta, steps in ((0.1, 0.05, 1), (0.3, 0.2, 3), (0.5, 0.1, 20), (0.9, 0.5, 2)):
        k = estimating.successes(eps, delta, steps)
        ratios = ((k - 1) / rng.standard_gamma(k, size=(20_000, steps))).prod(axis=1)
        assert (abs(ratios - 1) > eps).mean() < delta
        loose = ((k // 4) / rng.standard_gamma(k // 4 + 1, size=(20_000, steps))).prod(axis=1)
        assert (abs(loose - 1) > eps).mean() > delta / 4


def test_coupling_from_the_past_draws_uniform_extensions():
    """The chance to obey a pair equals the share of enumerated extensions that do."""
    dag = (0, 0, 1, 3, 2, 4)
    extensions = np.array(oracles.orders_of(dag))
    places = np.argsort(extensions, axis=1)
    covers = estimating._covers(bn.graphs.ancestors(dag))
    rng = np.random.default_rng(3)
    for pairs in ([(0, 1)], [(4, 5)], [(5, 3)], [(2, 3), (3, 4)]):
        u, v = np.array(pairs).T
        share = (places[:, u] < places[:, v]).all(axis=1).mean()
        verdicts, sweeps = estimating._verdicts(covers, np.array(pairs), 20_000, 2, rng)
        assert sweeps >= 1
        assert abs(verdicts.mean() - share) < 4 * math.sqrt(share * (1 - share) / 20_000)


@pytest.mark.slow
def test_two_chains_one_before_the_other_are_reached_in_small_steps():
    """The blocks cut between the chains: the last relation alone has probability 1 / C(30, 15)."""
    dag = [(1 << v) >> 1 for v in range(30)]
    dag[15] = 0
    joined = np.array(dag)
    joined[15] = 1 << 14
    rng = np.random.default_rng(0)
    below = bn.graphs.ancestors(dag)
    steps = estimating._steps(
        bn.graphs.ancestors(joined), [(1 << 15) - 1, (1 << 30) - (1 << 15)], rng
    )
    assert (steps[0].below == below).all()
    assert len(steps) > 5
    drawn = estimating._Drawn(steps, 400, math.log(math.comb(30, 15)), rng)
    made = [0] + [drawn.at.draws for _ in drawn.steps()]
    assert max(np.diff(made)) < 400 * 100
    assert drawn.at.trace.size == len(steps) + 1
    assert abs(drawn.at.trace[-1]) < 4 * math.sqrt(len(steps) / 400)


# The correction


def order_draws(draws, seed):
    data = bn.Data.from_arrays(np.random.default_rng(5).integers(0, 3, size=(15, 4)))
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu()))
    return posterior, bn.sample_dags(posterior, draws=draws, rng=np.random.default_rng(seed))


def test_reweighted_draws_estimate_the_structure_modular_posterior():
    """Edges, paths and evidence, within 4 standard errors of the enumeration of all 543 DAGs."""
    posterior, draws = order_draws(100_000, 1)
    corrected = bn.reweight_by_extensions(draws)
    log_z, exact = oracles.structure_modular_over_dags(oracles.families_of(posterior.table))
    ratios = np.exp(corrected.log_weight[0])
    mean = ratios.mean()
    assert mean == pytest.approx(
        math.exp(log_z - posterior.log_z), abs=4 * ratios.std() / math.sqrt(ratios.size)
    )
    estimate = bn.features.edges(corrected)
    biased = bn.features.edges(draws)
    off = []
    for u in range(4):
        for v in set(range(4)) - {u}:
            truth = sum(p for dag, p in exact.items() if dag[v] >> u & 1)
            holds = bn.features.edge(u, v)(draws.values[0])
            stderr = (ratios * (holds - truth)).std() / mean / math.sqrt(ratios.size)
            assert abs(estimate[u, v] - truth) < 4 * stderr
            off.append(abs(biased[u, v] - truth) / stderr)
    assert max(off) > 10  # the correction has something to correct


def test_reweighted_draws_say_what_they_are():
    _, draws = order_draws(200, 2)
    corrected = bn.reweight_by_extensions(draws)
    counts = [oracles.count_linear_extensions(dag) for dag in draws.values[0]]
    assert corrected.log_weight[0] == pytest.approx(-np.log(counts))
    assert (corrected.traces["log_extensions"] == -corrected.log_weight).all()
    weights = 1 / np.array(counts)
    size = weights.sum() ** 2 / (weights**2).sum()
    assert corrected.stats["effective_sample_size"] == pytest.approx([size])
    assert (corrected.prior, corrected.independent) == ("structure-modular", False)
    assert (corrected.values == draws.values).all()
    assert (corrected.log_target == draws.log_target).all()
    assert (draws.log_weight == 0).all()
    assert bn.features.probability(draws, bn.features.edge(0, 1)).interval == "Hoeffding"
    assert bn.features.probability(corrected, bn.features.edge(0, 1)).interval == "asymptotic"
    with pytest.raises(ValueError, match="only once"):
        bn.reweight_by_extensions(corrected)
    orders = bn.sample_orders(order_draws(1, 0)[0], draws=2, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="sample_dags"):
        bn.reweight_by_extensions(orders)


# What is refused


def test_too_many_components_are_refused_with_a_remedy():
    dag = random_dag(40, 3, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    for call in (
        lambda: bn.count_linear_extensions(dag, max_states=50),
        lambda: linear_extensions.log_count([dag], max_states=50),
        lambda: bn.sample_linear_extensions(dag, draws=1, rng=rng, max_states=50),
    ):
        with pytest.raises(ValueError, match=r"max_states=50 .*estimate_linear_extensions"):
            call()
    with pytest.raises(ValueError, match=r"max_ideals=1,000 .*count_linear_extensions"):
        linear_extensions.ideal_lattice(dag, max_ideals=1000)
    with pytest.raises(ValueError, match="max_ideals"):
        linear_extensions.count_by_ideals(dag, max_ideals=1000)


def test_a_cap_of_exactly_the_components_met_is_enough():
    dag = random_dag(30, 3, np.random.default_rng(3))
    recursion = counting.solve(bn.graphs.ancestors(dag), 1_000_000)
    assert not recursion.reversed
    count = bn.count_linear_extensions(dag)
    assert bn.count_linear_extensions(dag, max_states=recursion.states) == count
    values = recursion.values[recursion.keys > 0]
    assert values.size == recursion.states
    assert ((0 < values) & (values < 1)).all()


@pytest.mark.parametrize("bad", [[2, 1], [0, 4], [[0, 1]], [0.5, 0.0], []])
def test_what_is_no_dag_is_refused(bad):
    rng = np.random.default_rng(0)
    for call in (
        lambda: bn.count_linear_extensions(bad),
        lambda: linear_extensions.count_by_ideals(bad),
        lambda: linear_extensions.ideal_lattice(bad),
        lambda: bn.sample_linear_extensions(bad, draws=1, rng=rng),
        lambda: linear_extensions.estimate_linear_extensions(bad, eps=0.1, delta=0.1, rng=rng),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(ValueError):
        linear_extensions.log_count([2, 1])


def test_options_out_of_range_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="draws=0"):
        bn.sample_linear_extensions([0, 1], draws=0, rng=rng)
    with pytest.raises(ValueError, match="no generator"):
        bn.sample_linear_extensions([0, 1], draws=1, rng=7)
    with pytest.raises(ValueError, match="max_states=0"):
        bn.count_linear_extensions([0, 1], max_states=0)
    for eps, delta, name in ((0, 0.1, "eps=0"), (1, 0.1, "eps=1"), (0.1, 1.5, "delta=1.5")):
        with pytest.raises(ValueError, match=name):
            linear_extensions.estimate_linear_extensions([0, 1], eps=eps, delta=delta, rng=rng)


ESTIMATED = np.array([0, 0, 0, 0, 1, 3, 6, 12, 8, 48, 96, 192])


def estimated(**options):
    rng = np.random.default_rng(1)
    return linear_extensions.estimate_linear_extensions(
        ESTIMATED, eps=0.2, delta=0.1, rng=rng, max_states=1, **options
    )


def test_an_estimate_interrupted_within_a_batch_goes_on_to_the_same_end(tmp_path, monkeypatch):
    module = "bnlab.linear_extensions.estimating"
    monkeypatch.setattr(f"{module}.BATCH_NUMBERS", 1)
    whole, path, batches, verdicts_of = estimated(), tmp_path / "draws", [], estimating._verdicts

    def interrupted(*given):
        verdicts = verdicts_of(*given)
        batches.append(verdicts)
        if len(batches) == 9:
            raise KeyboardInterrupt
        return verdicts

    with monkeypatch.context() as patch:
        patch.setattr(f"{module}._verdicts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            estimated(checkpoint=path)
    assert (estimated(checkpoint=path).trace == whole.trace).all()
    with pytest.raises(ValueError, match=r"its eps is 0\.2, here it is 0\.3"):
        linear_extensions.estimate_linear_extensions(
            ESTIMATED,
            eps=0.3,
            delta=0.1,
            rng=np.random.default_rng(1),
            max_states=1,
            checkpoint=path,
        )
