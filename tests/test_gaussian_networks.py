"""Linear-Gaussian networks, and predictive densities of measurements."""

import dataclasses
import math

import numpy as np
import oracles
import pytest
from test_gaussian import linear_data, mixed_data, random_net
from test_prediction import draws_of

import bnlab as bn
from bnlab.predict import plug_in_log_density

SCORES = [bn.BGe(), bn.BGe(0.3, 9.5), bn.BGe(2.0, None, standardize=False)]


def prior_of(score, n):
    """alpha_mu, alpha_w - n and t of a score."""
    excess = score.alpha_mu + 1 if score.alpha_w is None else score.alpha_w - n
    return score.alpha_mu, excess, score.alpha_mu * (excess - 1) / (score.alpha_mu + 1)


def units_of(data, score):
    """Where a score puts 0, and what it calls 1."""
    center = data.measurements.mean(axis=0)
    spread = data.measurements.std(axis=0, ddof=1)
    return center, spread if score.standardize else np.ones(data.n)


def ratio(data, score, dag, row, held=()):
    """ln p(D, row) - ln p(D) by the scores of families in the units of D."""
    of_measured = getattr(score, "measured", score)
    measured = np.flatnonzero(data.measured)
    center, scale = np.zeros(data.n), np.ones(data.n)
    part = data.select([data.names[v] for v in measured])
    center[measured], scale[measured] = units_of(part, of_measured)
    numbers = np.where(data.measured, (data.measurements - center) / scale, 0)
    more = np.where(data.measured, (np.asarray(row) - center) / scale, 0)
    codes = np.where(data.measured, 0, row).astype(int)
    total = 0.0
    for v in set(range(data.n)) - set(held):
        parents = oracles.members(dag[v])
        seen = np.ones(data.m, bool) if data.intervened is None else ~data.intervened[:, v]
        joint = []
        for extra in (0, 1):
            values = np.vstack([data.values[seen], [codes] * extra]) if extra else data.values[seen]
            rows = np.vstack([numbers[seen], [more] * extra]) if extra else numbers[seen]
            if data.measured[v]:
                prior = prior_of(of_measured, len(measured))[:2]
                there = oracles.conditional_gaussian(
                    rows.T, values, data.measured, v, parents, *prior
                )
                joint.append(there - extra * math.log(scale[v]))
            else:
                joint.append(oracles.bdeu(values.tolist(), data.arities, v, parents, 1.0))
        total += joint[1] - joint[0]
    return total


# Predictive densities


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize("m", [2, 3, 40])
def test_density_is_the_ratio_of_marginal_likelihoods(score, intervened, m):
    rng = np.random.default_rng(m)
    mask = rng.random((m, 5)) < 0.2 if intervened else None
    data = linear_data(rng, 5, m, intervened=mask)
    rows = np.vstack([linear_data(rng, 5, 4).measurements, data.measurements[:1], [[1e3] * 5]])
    for dag in ([0] * 5, [0, 1, 3, 7, 15], random_net(rng, 5, 0.5).dag):
        found = plug_in_log_density(dag, data, rows, score=score)
        expected = [ratio(data, score, dag, row) for row in rows]
        assert found == pytest.approx(expected, abs=1e-9, rel=1e-12)
    held = rng.random(rows.shape) < 0.3
    test = dataclasses.replace(
        data, values=np.zeros(rows.shape, np.int32), measurements=rows, intervened=held
    )
    found = plug_in_log_density(dag, data, test, score=score)
    set_by_hand = map(np.flatnonzero, held)
    expected = [ratio(data, score, dag, *each) for each in zip(rows, set_by_hand, strict=True)]
    assert found == pytest.approx(expected, abs=1e-9, rel=1e-12)


@pytest.mark.parametrize("intervened", [False, True])
def test_density_of_a_mixed_row(intervened):
    data = mixed_data(np.random.default_rng(1), 60, intervened)
    score = bn.ConditionalGaussian()
    table = np.where(data.measured, data.measurements, data.values)
    rows = table[:8] + np.where(data.measured, 0.3, 0)
    rows[1:, 3] = (rows[1:, 3] + 1) % 3  # joint states that are rare, or new
    dag = [0b001010, 0, 0b011001, 0b000010, 0b001010, 0b111111 ^ 0b100000]
    expected = [ratio(data, score, dag, row) for row in rows]
    found = plug_in_log_density(dag, data, rows, score=score)
    assert found == pytest.approx(expected, abs=1e-9, rel=1e-12)
    joint = np.empty((8, 4))
    for state in range(4):
        joint[:, state] = plug_in_log_density(
            dag, data, np.where(np.arange(6) == 4, state, rows), score=score
        )
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    without = np.where(np.arange(6) == 4, -1, rows)
    found = plug_in_log_density(dag, data, without, score=score)
    assert found == pytest.approx(np.logaddexp.reduce(joint, axis=1), abs=1e-12)
    for unknown in (rows, without):
        found = bn.predict.log_class_posterior(dag, data, "x4", unknown, score=score)
        assert found == pytest.approx(expected, abs=1e-12)


def test_densities_integrate_to_1_in_the_units_of_the_data():
    data = bn.Data.from_arrays(
        linear_data(np.random.default_rng(2), 2, 30).measurements * [20, 0.1] + [100, 0]
    )
    center, spread = units_of(data, bn.BGe())
    grid = np.linspace(-30, 30, 601)
    axes = [c + s * grid for c, s in zip(center, spread, strict=True)]
    rows = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    for dag in ([0, 0], [0, 1], [2, 0]):
        p = np.exp(plug_in_log_density(dag, data, rows, score=bn.BGe()))
        assert p.sum() * np.prod(spread * 0.1) == pytest.approx(1, abs=1e-6)


def test_units_shift_a_log_density_by_their_logarithm():
    data = linear_data(np.random.default_rng(3), 3, 20)
    other = bn.Data.from_arrays(data.measurements * [1e80, 1e-80, 5])
    rows = data.measurements[:6]
    found = plug_in_log_density([0, 1, 3], data, rows, score=bn.BGe())
    same = plug_in_log_density([0, 1, 3], other, rows * [1e80, 1e-80, 5], score=bn.BGe())
    assert same == pytest.approx(found - math.log(5), abs=1e-9)


@pytest.mark.quick("mixed", "interventions-order")
@pytest.mark.parametrize("posterior", [bn.order_posterior, bn.dag_posterior])
@pytest.mark.parametrize("kind", ["BGe", "mixed", "interventions"])
def test_the_average_over_all_dags_is_exact(kind, posterior):
    rng, score = np.random.default_rng(4), bn.BGe()
    if kind == "mixed":
        data = mixed_data(rng, 25).select(["x0", "x1", "x2", "x3"])
        score = bn.ConditionalGaussian()
    else:
        held = rng.random((25, 4)) < 0.2 if kind == "interventions" else None
        data = linear_data(rng, 4, 25, intervened=held)
    rows = data.prefix(7)
    table = bn.score_families(data, score)
    dags = bn.graphs.all_dags(4)
    log_weight = table.log_target(dags)
    dags, log_weight = dags[log_weight > -np.inf], log_weight[log_weight > -np.inf]
    if posterior is bn.order_posterior:
        log_weight = log_weight + [math.log(bn.count_linear_extensions(dag)) for dag in dags]
    prior = "order-modular" if posterior is bn.order_posterior else "structure-modular"
    draws = draws_of(dags, log_weight, data, prior)
    found = bn.predict.log_density(draws, data, rows, score=score)
    exact = bn.predict.exact_log_density(data, rows, score=score, posterior=posterior)
    assert found == pytest.approx(exact, abs=1e-9)
    by_hand = np.array([plug_in_log_density(dag, data, rows, score=score) for dag in dags])
    log_share = (log_weight - np.logaddexp.reduce(log_weight))[:, None]
    assert found == pytest.approx(np.logaddexp.reduce(by_hand + log_share), abs=1e-9)


def test_measurements_are_cross_validated(tmp_path):
    data = linear_data(np.random.default_rng(5), 3, 30)

    def validated(some, name):
        def full(train, test):
            return plug_in_log_density([0, 1, 3], train, test, score=bn.BGe())

        rng = np.random.default_rng(1)
        return bn.predict.cross_validate(
            some, {"full": full}, folds=3, rng=rng, checkpoint=tmp_path / name
        )

    result = validated(data, "run")
    for k in range(3):
        train = bn.Data.from_arrays(data.measurements[result.fold != k])
        expected = plug_in_log_density(
            [0, 1, 3], train, data.measurements[result.fold == k], score=bn.BGe()
        )
        assert result.log_density[0, result.fold == k] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="another"):
        validated(bn.Data.from_arrays(2 * data.measurements), "run")


# Networks


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize("m", [2, 30])
def test_posterior_means_are_those_of_least_squares_with_prior_rows(score, intervened, m):
    rng = np.random.default_rng(6)
    mask = rng.random((m, 5)) < 0.2 if intervened else None
    data = linear_data(rng, 5, m, intervened=mask)
    dag = [0, 1, 3, 7, 5]
    net = bn.GaussianNet.fit(dag, data, score=score)
    center, scale = units_of(data, score)
    columns = ((data.measurements - center) / scale).T
    for v in range(5):
        parents = oracles.members(dag[v])
        seen = slice(None) if mask is None else ~mask[:, v]
        intercept, coefficients, variance = oracles.gaussian_means(
            columns[[*parents, v]][:, seen], *prior_of(score, 5)
        )
        there = coefficients * scale[v] / scale[parents]
        assert net.coefficients[parents, v] == pytest.approx(there, abs=1e-9, rel=1e-9)
        assert net.variances[v] == pytest.approx(variance * scale[v] ** 2, rel=1e-9)
        at = center[v] + intercept * scale[v] - there @ center[parents]
        assert net.intercepts[v] == pytest.approx(at, abs=1e-9, rel=1e-9)


def test_posterior_means_are_those_of_draws_of_mean_and_precision():
    """All variables' mean and precision matrix, drawn: every family has its share of them."""
    rng, n, m, count = np.random.default_rng(7), 4, 12, 20_000
    data = linear_data(rng, n, m)
    center, scale = units_of(data, bn.BGe())
    columns = ((data.measurements - center) / scale).T
    (alpha_mu, excess, t), dag = prior_of(bn.BGe(), n), [0, 1, 3, 5]
    r = columns @ columns.T + t * np.eye(n)
    degrees = int(m + excess + n)
    rows = rng.multivariate_normal(np.zeros(n), np.linalg.inv(r), size=(count, degrees))
    covariance = np.linalg.inv(np.swapaxes(rows, 1, 2) @ rows)
    noise = rng.normal(size=(count, n, 1))
    mean = (np.linalg.cholesky(covariance) @ noise)[..., 0] / math.sqrt(alpha_mu + m)
    net = bn.GaussianNet.fit(dag, data)
    for v in range(n):
        u = oracles.members(dag[v])
        within = covariance[:, u][:, :, u]
        slopes = np.linalg.solve(within, covariance[:, u, v][..., None])[..., 0]
        left = covariance[:, v, v] - (slopes * covariance[:, u, v]).sum(axis=1)
        slopes = slopes * scale[v] / scale[u]
        at = center + scale * mean
        for drawn, found in (
            (slopes, net.coefficients[u, v]),
            (at[:, v] - (slopes * at[:, u]).sum(axis=1), net.intercepts[v]),
            (left * scale[v] ** 2, net.variances[v]),
        ):
            stderr = drawn.std(axis=0) / math.sqrt(count)
            assert (np.abs(drawn.mean(axis=0) - found) <= 4 * stderr).all()


def moments(net):
    """Mean and covariance of all variables of a network."""
    rest = np.linalg.inv(np.eye(net.n) - net.coefficients)
    return net.intercepts @ rest, rest.T @ np.diag(net.variances) @ rest


def any_net():
    net = random_net(np.random.default_rng(8), 5, 0.6)
    return dataclasses.replace(net, intercepts=np.arange(5) - 1, variances=0.1 + np.arange(5))


def test_samples_have_the_moments_of_the_network():
    net, m = any_net(), 100_000
    data = net.sample(m, np.random.default_rng(1))
    mean, covariance = moments(net)
    variances = np.diag(covariance)
    assert (np.abs(data.measurements.mean(axis=0) - mean) <= 4 * np.sqrt(variances / m)).all()
    stderr = np.sqrt((np.outer(variances, variances) + covariance**2) / m)
    assert (np.abs(np.cov(data.measurements.T) - covariance) <= 4 * stderr).all()
    first = net.sample(10, np.random.default_rng(1)).measurements
    np.testing.assert_array_equal(first, data.measurements[:10])


def test_log_likelihood_is_the_multivariate_normal_density():
    net = any_net()
    data = net.sample(20, np.random.default_rng(2))
    mean, covariance = moments(net)
    off = data.measurements - mean
    expected = -0.5 * (off @ np.linalg.inv(covariance) * off).sum(axis=1)
    expected -= 0.5 * np.linalg.slogdet(2 * math.pi * covariance)[1]
    assert net.log_likelihood(data) == pytest.approx(expected, abs=1e-10)
    last = int(np.flatnonzero(~(net.coefficients != 0).any(axis=1))[-1])  # without children
    held = dataclasses.replace(data, intervened=np.tile(np.arange(5) == last, (20, 1)))
    rest = np.arange(5) != last
    expected = -0.5 * (off[:, rest] @ np.linalg.inv(covariance[rest][:, rest]) * off[:, rest]).sum(
        axis=1
    )
    expected -= 0.5 * np.linalg.slogdet(2 * math.pi * covariance[rest][:, rest])[1]
    assert net.log_likelihood(held) == pytest.approx(expected, abs=1e-10)


def test_many_rows_give_the_network_back():
    net = any_net()
    data = net.sample(200_000, np.random.default_rng(3))
    found = bn.GaussianNet.fit(net.dag, data)
    assert found.coefficients == pytest.approx(net.coefficients, abs=0.05)
    assert found.intercepts == pytest.approx(net.intercepts, abs=0.05)
    assert found.variances == pytest.approx(net.variances, rel=0.02)
    averaged = plug_in_log_density(net.dag, data, data.prefix(50), score=bn.BGe())
    assert averaged == pytest.approx(net.log_likelihood(data.prefix(50)), abs=0.05)


def test_random_coefficients_are_uniform_in_size_with_either_sign():
    dag = bn.graphs.from_adjacency(np.triu(np.ones((40, 40), int), 1))
    net = bn.GaussianNet.random_coefficients(dag, np.random.default_rng(1), least=1, most=3)
    edges = net.coefficients[np.triu_indices(40, 1)]
    assert (np.abs(edges) >= 1).all() and (np.abs(edges) <= 3).all()
    assert np.abs(edges).mean() == pytest.approx(2, abs=4 * math.sqrt(1 / 3 / 780))
    assert (edges > 0).mean() == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / 780))
    assert not np.tril(net.coefficients).any()
    assert repr(net) == "GaussianNet: 40 nodes, 780 edges, 860 free parameters"


def plain():
    return linear_data(np.random.default_rng(9), 3, 10)


def mixed():
    return mixed_data(np.random.default_rng(9), 10)


def one_column_twice(seed):
    """In huge units the prior is lost in rounding, which may go either way."""
    column = np.random.default_rng(seed).normal(size=(30, 1)) * 1e30
    data = bn.Data.from_arrays(np.hstack([column, column]))
    return predicted(data, data, bn.BGe(standardize=False), [0, 1])


def many():
    table = np.arange(9)[:, None] * [0.5, 1, 1, 1, 1] % [9, 3, 3, 3, 3]
    return bn.Data.from_arrays(table, arities=[0, 3, 3, 3, 3])


def predicted(data, rows, score=SCORES[0], dag=None):
    return plug_in_log_density([0] * data.n if dag is None else dag, data, rows, score=score)


def net(**changed):
    return dataclasses.replace(any_net(), **changed)


REFUSED = {
    "other columns": (lambda: predicted(plain(), plain().select(["x1", "x0", "x2"])), "x1, x0, x2"),
    "too few": (lambda: predicted(plain(), [[1.0, 2.0]]), "(1, 2)"),
    "states": (lambda: predicted(plain(), mixed().select(["x1", "x3", "x4"])), "variables x1, x3"),
    "states there": (
        lambda: predicted(plain(), bn.Data.from_arrays([[0, 1, 0], [1, 0, 1]])),
        "'x0' has levels ('0', '1') in new_rows and measurements in the data",
    ),
    "nan": (lambda: predicted(plain(), [[1.0, math.nan, 2.0]]), "row 0, variable 'x1': nan"),
    "infinite": (lambda: predicted(plain(), [[1.0, 1.0, -math.inf]]), "'x2': -inf"),
    "half a state": (
        lambda: predicted(mixed(), [[1.0, 0.5, 1.0, 0, 0, 1.0]], bn.ConditionalGaussian()),
        "codes are integers",
    ),
    "no such state": (
        lambda: predicted(mixed(), [[1.0, 0, 1.0, 7, 0, 1.0]], bn.ConditionalGaussian()),
        "variable 'x3': code 7",
    ),
    "too many missing": (
        lambda: predicted(many(), [[1.0] + [-1] * 4], bn.ConditionalGaussian()),
        "row 0 has 81 completions; beside measurements at most 64",
    ),
    "no score of measurements": (lambda: predicted(plain(), plain(), bn.BDeu()), "BGe()"),
    "no score of states": (lambda: predicted(mixed(), mixed()), "'x1' has states"),
    "states below measurements": (
        lambda: predicted(mixed(), mixed(), bn.ConditionalGaussian(), [0, 1, 0, 0, 0, 0]),
        "an edge from 'x0', which is measured, to 'x1'",
    ),
    "another DAG": (lambda: predicted(plain(), plain(), dag=[0, 1]), "2 nodes"),
    "a measured class": (
        lambda: bn.predict.log_class_posterior(
            [0] * 6, mixed(), "x0", mixed(), score=bn.ConditionalGaussian()
        ),
        "'x0' is measured",
    ),
    "rounding": (
        lambda: [one_column_twice(seed) for seed in range(50)],
        "standardize=True",
    ),
    "fit, states": (lambda: bn.GaussianNet.fit([0] * 6, mixed()), "'x1' has states"),
    "fit, DAG": (lambda: bn.GaussianNet.fit([0, 1], plain()), "a DAG of 2 nodes for 3"),
    "fit, cycle": (lambda: bn.GaussianNet.fit([2, 1, 0], plain()), "cycle"),
    "fit, score": (lambda: bn.GaussianNet.fit([0] * 3, plain(), score=bn.BDeu()), "score="),
    "fit, degrees": (
        lambda: bn.GaussianNet.fit([0] * 3, plain(), score=bn.BGe(1, 4)),
        "more than n + 1 = 4",
    ),
    "likelihood, states": (
        lambda: bn.GaussianNet.fit([0, 0, 0], plain()).log_likelihood(
            bn.Data.from_arrays([[0, 1, 0], [1, 0, 1]])
        ),
        "'x0' has states",
    ),
    "likelihood, columns": (lambda: any_net().log_likelihood(plain()), "no variable 'x3'"),
    "no edge": (
        lambda: net(coefficients=np.tril(np.ones((5, 5)), -1)),
        "coefficients of 'x0': 1.0 is wrong; they are finite, and 0 where the DAG has no edge",
    ),
    "variance": (lambda: net(variances=[1, 1, 0, 1, 1]), "variances of 'x2': 0.0"),
    "not finite": (lambda: net(intercepts=[0, math.nan, 0, 0, 0]), "intercepts of 'x1': nan"),
    "shape": (lambda: net(variances=[1, 1]), "variances has shape (2,)"),
    "sizes": (
        lambda: bn.GaussianNet.random_coefficients([0], np.random.default_rng(1), least=2),
        "least=2",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_do_is_refused_by_name(case):
    call, words = REFUSED[case]
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)
