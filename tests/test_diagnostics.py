"""R-hat and effective sample sizes: against a slow twin, ArviZ, and chains of known accuracy."""

import math
from dataclasses import replace
from statistics import NormalDist, fmean, median, variance

import numpy as np
import pytest

import bnlab as bn
from bnlab.diagnostics import auc, ess, rhat, roc, weights_ess


def halves(chains):
    half = len(chains[0]) // 2
    return [chain[:half] for chain in chains] + [chain[-half:] for chain in chains]


def normal_scores(chains):
    """Each value's normal quantile; the rank counts smaller ones, and half of equal ones."""
    pool = [x for chain in chains for x in chain]

    def score(x):
        rank = sum(y < x for y in pool) + (sum(y == x for y in pool) + 1) / 2
        return NormalDist().inv_cdf((rank - 3 / 8) / (len(pool) + 1 / 4))

    return [[score(x) for x in chain] for chain in chains]


def slow_plain_rhat(chains):
    length = len(chains[0])
    between = length * variance([fmean(chain) for chain in chains])
    within = fmean(variance(chain) for chain in chains)
    return math.sqrt(((length - 1) / length * within + between / length) / within)


def slow_rhat(chains):
    parts = halves(chains)
    middle = median(x for part in parts for x in part)
    folded = [[abs(x - middle) for x in part] for part in parts]
    return max(slow_plain_rhat(normal_scores(values)) for values in (parts, folded))


def slow_ess(chains):
    parts = halves(chains)
    count, length = len(parts), len(parts[0])
    means = [fmean(part) for part in parts]
    within = fmean(variance(part) for part in parts)
    total = (length - 1) / length * within + variance(means)

    def rho(lag):
        covariance = fmean(
            sum((part[t] - m) * (part[t + lag] - m) for t in range(length - lag)) / length
            for part, m in zip(parts, means, strict=True)
        )
        return 1 - (within - covariance) / total if lag else 1.0

    tau, least, lag = -1.0, math.inf, 0
    while lag + 4 < length and rho(lag) + rho(lag + 1) > 0:
        least = min(least, rho(lag) + rho(lag + 1))
        tau += 2 * least
        lag += 2
    tau += rho(lag) if rho(lag) > 0 or rho(lag) + rho(lag + 1) >= 0 else 0
    size = count * length
    return size / max(tau, 1 / math.log10(size))


def autoregression(phi, chains, draws, seed):
    """AR(1) chains with stationary starts and variance 1."""
    rng = np.random.default_rng(seed)
    x = np.empty((chains, draws))
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + math.sqrt(1 - phi**2) * rng.normal(size=chains)
    return x


def cases(settings):
    for seed, (phi, chains, draws) in enumerate(settings):
        x = autoregression(phi, chains, draws, seed)
        yield f"phi={phi}", x
        yield f"phi={phi}, ties", x.round(0)
        yield f"phi={phi}, shifted", x + 3.0 * np.arange(chains)[:, None]
        yield f"phi={phi}, scaled", x * 10.0 ** np.arange(chains)[:, None]


SHORT = dict(
    cases([(0.0, 2, 40), (0.8, 3, 61), (-0.6, 2, 50), (0.97, 4, 33), (-0.95, 2, 48), (0.5, 2, 4)])
)
LONG = dict(cases([(0.0, 2, 400), (0.8, 3, 601), (-0.6, 1, 500), (0.97, 4, 3000), (-0.95, 2, 501)]))


def test_rhat_of_two_values_is_that_of_their_normal_scores():
    for seed in range(5):
        x = (np.random.default_rng(seed).random((3, 40)) < 0.3).astype(float)
        expected = slow_plain_rhat(normal_scores(halves(x.tolist())))
        assert rhat(x) == pytest.approx(expected, rel=1e-9)
        assert rhat(5 - 2 * x) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", SHORT)
def test_equal_to_the_definitions(name):
    x = SHORT[name]
    assert rhat(x) == pytest.approx(slow_rhat(x.tolist()), rel=1e-9)
    assert ess(x) == pytest.approx(slow_ess(x.tolist()), rel=1e-9)


def equal_to_arvizs(x):
    arviz = pytest.importorskip("arviz_stats.base", reason="needs the test extra").array_stats
    axes = {"chain_axis": 0, "draw_axis": 1}
    assert ess(x) == pytest.approx(arviz.ess(x, method="mean", **axes), rel=1e-9)
    if len(x) > 1 and np.ptp(x, axis=1).any():
        assert rhat(x) == pytest.approx(arviz.rhat(x, method="rank", **axes), rel=1e-9)


@pytest.mark.parametrize("name", {**SHORT, **LONG})
def test_equal_to_arvizs(name):
    equal_to_arvizs({**SHORT, **LONG}[name])


@pytest.mark.parametrize("draws", [*range(4, 26), 99, 100, 101, 102])
@pytest.mark.parametrize("chains", [1, 2, 4])
def test_equal_to_arvizs_on_short_chains(chains, draws):
    for seed, phi in enumerate((0.0, 0.5, 0.97, -0.5, -0.95)):
        x = autoregression(phi, chains, draws, seed)
        trend = np.linspace(0, 5, draws)
        for shift in (0.0, 3.0 * np.arange(chains)[:, None], trend):
            equal_to_arvizs(x + shift)
    equal_to_arvizs(np.full((chains, draws), 0.3))
    if chains > 1:
        equal_to_arvizs(np.repeat(np.arange(float(chains))[:, None], draws, axis=1))


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, -0.5])
def test_autoregression_has_its_known_effective_size(phi):
    x = autoregression(phi, chains=4, draws=25_000, seed=7)
    assert ess(x) == pytest.approx(100_000 * (1 - phi) / (1 + phi), rel=0.1)
    assert rhat(x) < 1.01


def test_rhat_sees_what_differs_between_chains_and_within():
    x = autoregression(0.0, chains=4, draws=2000, seed=1)
    assert rhat(x) < 1.005
    assert rhat(x + np.array([[0], [0], [0], [1]])) > 1.1
    assert rhat(x * [[1], [1], [1], [5]]) > 1.1  # only the folded values show this
    assert rhat(x + np.linspace(0, 3, 2000)) > 1.2  # all chains drift alike: the halves differ


def test_rhat_and_ess_forget_units():
    x = autoregression(0.7, chains=2, draws=200, seed=3)
    assert rhat(1e3 * x - 1e6) == pytest.approx(rhat(x), rel=1e-9)
    assert rhat(np.exp(x)) == pytest.approx(
        rhat(x), rel=1e-2
    )  # ranks; the folding is about the median
    assert ess(1e3 * x - 1e6) == pytest.approx(ess(x), rel=1e-6)


def test_constant_chains():
    same = np.full((3, 400), 0.1)
    apart = same * [[1], [2], [3]]
    assert rhat(same) == 1
    assert ess(same) == 1200
    assert rhat(apart) == math.inf
    assert ess(apart) == pytest.approx(3, rel=0.03)  # one value from each chain
    stuck = autoregression(0.0, chains=3, draws=500, seed=2)
    stuck[0] = 5
    assert rhat(stuck) > 1.5
    assert ess(stuck) < 10


def test_draws_stand_for_their_log_target():
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, size=(30, 5)))
    table = bn.score_families(data, bn.BDeu())
    draws = bn.sample_orders(table, draws=200, rng=np.random.default_rng(4))
    assert rhat(draws) == rhat(draws.log_target) < 1.05
    assert 50 < ess(draws) == ess(draws.log_target) <= 1200
    weighted = replace(draws, log_weight=draws.log_target)
    for diagnostic in (rhat, ess):
        with pytest.raises(ValueError, match=r"have weights: see weights_ess"):
            diagnostic(weighted)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(10), r"shape \(10,\): give \(chains, draws\)"),
        (np.zeros((2, 5, 3)), r"shape \(2, 5, 3\): give"),
        (np.zeros((0, 5)), r"shape \(0, 5\): give"),
        (np.zeros((2, 3)), "draws=3: at least 4"),
        ([[1, 2, 3, 4], [1, 2, 3, math.nan]], "nan or infinity"),
        ([[1, 2, 3, 4], [1, 2, 3, -math.inf]], "nan or infinity"),
    ],
    ids=["no chains", "three axes", "empty", "few draws", "nan", "infinity"],
)
def test_what_cannot_be_diagnosed_is_refused(values, message):
    for diagnostic in (rhat, ess):
        with pytest.raises(ValueError, match=message):
            diagnostic(values)


def test_one_chain_has_an_effective_size_but_no_rhat():
    x = autoregression(0.5, chains=1, draws=2000, seed=5)
    assert ess(x) == pytest.approx(2000 / 3, rel=0.3)
    with pytest.raises(ValueError, match="1 chain: R-hat compares chains"):
        rhat(x)


def test_effective_size_of_weights():
    log_w = np.random.default_rng(6).normal(size=(3, 7)) * 2
    w = [math.exp(value) for value in log_w.ravel()]
    expected = sum(w) ** 2 / sum(value**2 for value in w)
    assert weights_ess(log_w) == pytest.approx(expected)
    assert weights_ess(log_w - 5000) == pytest.approx(expected)  # exp would be 0
    assert weights_ess(np.full(9, 800.0)) == pytest.approx(9)
    assert weights_ess([-math.inf, 0.0, 0.0]) == pytest.approx(2)
    assert weights_ess([-math.inf, 3.0]) == 1


@pytest.mark.parametrize("bad", [[], [-math.inf], [0.0, math.nan], [0.0, math.inf]])
def test_weights_without_a_sum_are_refused(bad):
    with pytest.raises(ValueError, match="the largest log weight is"):
        weights_ess(bad)


def mann_whitney(probabilities, truth):
    """The share of pairs (present, absent) in which the present one is ahead; ties count half."""
    n = len(truth)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    present = [probabilities[u][v] for u, v in pairs if truth[u][v]]
    absent = [probabilities[u][v] for u, v in pairs if not truth[u][v]]
    return fmean((p > q) + (p == q) / 2 for p in present for q in absent)


@pytest.mark.parametrize("levels", [1, 2, 5, 10**6])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_area_is_the_mann_whitney_count(n, levels):
    rng = np.random.default_rng(n)
    for _ in range(5):
        probabilities = rng.integers(0, levels, (n, n)) / levels
        truth = rng.random((n, n)) < 0.3
        truth[0, 1], truth[1, 0] = True, False
        expected = mann_whitney(probabilities.tolist(), truth.tolist())
        assert auc(probabilities, truth) == pytest.approx(expected, abs=1e-12)


def test_curve_counts_what_lies_above_each_threshold():
    probabilities = np.array([[9.0, 0.8, 0.5], [0.5, 9.0, 0.1], [0.8, 0.3, 9.0]])
    truth = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
    false, true = roc(probabilities, truth)
    expected = [(0.0, 0.0)]
    for threshold in (0.8, 0.5, 0.3, 0.1):
        above = [(u, v) for u in range(3) for v in range(3) if u != v]
        above = [pair for pair in above if probabilities[pair] >= threshold]
        hits = sum(bool(truth[pair]) for pair in above)
        expected.append(((len(above) - hits) / 4, hits / 2))
    assert list(zip(false.tolist(), true.tolist(), strict=True)) == expected


@pytest.mark.parametrize("what", ["edges", "paths"])
def test_from_perfect_to_wrong_on_a_known_network(what):
    dag = bn.load_network("cancer").dag
    truth = bn.graphs.to_adjacency(dag if what == "edges" else bn.graphs.ancestors(dag))
    assert truth.sum() == (5 if what == "edges" else 7)
    assert auc(truth.astype(float), truth) == 1.0
    assert auc(1.0 - truth, truth) == 0.0
    assert auc(np.full((5, 5), 0.3), truth) == 0.5


@pytest.mark.parametrize(
    ("probabilities", "truth", "message"),
    [
        (np.zeros((2, 2)), np.zeros((2, 2), bool), "no pair is present"),
        (np.zeros((2, 2)), np.ones((2, 2), bool), "no pair is absent"),
        (np.zeros((2, 2)), np.eye(2, dtype=bool), "no pair is present"),
        (np.full((2, 2), math.nan), np.array([[0, 1], [0, 0]], bool), "nan"),
        (np.zeros((2, 2)), np.array([[0, 1], [0, 0]]), "give booleans"),
        (np.zeros((3, 3)), np.array([[0, 1], [0, 0]], bool), "shapes"),
        (np.zeros(4), np.zeros(4, bool), "shapes"),
        (np.zeros((0, 0)), np.zeros((0, 0), bool), "no pair is present"),
    ],
)
def test_curves_of_bad_input_are_refused(probabilities, truth, message):
    for call in (roc, auc):
        with pytest.raises(ValueError, match=message):
            call(probabilities, truth)
