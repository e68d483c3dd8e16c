"""Scores of measurements: BGe and conditional Gaussian, against definitions, laws and peers."""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn


def random_net(rng, n, share):
    """A linear-Gaussian network in which every pair has an edge with probability `share`."""
    dag = bn.graphs.from_adjacency(np.triu(rng.random((n, n)) < share, 1))
    return bn.GaussianNet.random_coefficients(dag, rng)


def linear_data(rng, n, m, **options):
    """Measurements of a random linear-Gaussian network, in odd units."""
    values = random_net(rng, n, 0.4).sample(m, rng).measurements
    return bn.Data.from_arrays(values * rng.lognormal(size=n) + rng.normal(size=n), **options)


def mixed_data(rng, m, intervened=False):
    """Three columns of measurements, among three of states."""
    states = rng.integers(0, [2, 3, 4], size=(m, 3))
    states[:3] = [[0, 0, 0], [1, 1, 1], [1, 2, 3]][: len(states[:3])]
    numbers = rng.normal(size=(m, 3)) + states
    numbers[:, 1] += 2 * numbers[:, 0]
    table = np.column_stack([numbers, states])[:, [0, 3, 1, 4, 5, 2]]
    mask = rng.random((m, 6)) < 0.2 if intervened else None
    return bn.Data.from_arrays(table, arities=[0, 2, 0, 3, 4, 0], intervened=mask)


def standardised(data):
    """Columns (n, m) of mean 0 and variance 1."""
    centred = data.measurements - data.measurements.mean(axis=0)
    return (centred / centred.std(axis=0, ddof=1)).T


@pytest.mark.quick("6-50-3", "4-3-3")
@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize(
    ("n", "m", "k"), [(1, 2, 0), (2, 2, 1), (4, 3, 3), (6, 50, 3), (5, 400, 4)]
)
def test_every_family_is_a_product_of_t_densities(intervened, n, m, k):
    rng = np.random.default_rng(n * m)
    mask = rng.random((m, n)) < 0.2 if intervened else None
    data = linear_data(rng, n, m, intervened=mask)
    columns, every = standardised(data), np.ones(n, bool)
    for score in (bn.BGe(), bn.BGe(alpha_mu=0.3, alpha_w=n + 4.5)):
        excess = None if score.alpha_w is None else score.alpha_w - n
        table = bn.score_families(data, score, max_parents=k)
        for v in range(n):
            rows = ~mask[:, v] if intervened else np.ones(m, bool)
            for f, parents in enumerate(table.parents[v]):
                expected = oracles.conditional_gaussian(
                    columns[:, rows],
                    data.values[rows],
                    every,
                    v,
                    oracles.members(parents),
                    score.alpha_mu,
                    excess,
                )
                assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9, rel=1e-12)


@pytest.mark.quick("20", "3", "150-True")
@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize("m", [3, 20, 150])
def test_mixed_families_are_regressions_for_each_state(m, intervened):
    data = mixed_data(np.random.default_rng(m), m, intervened)
    score = bn.ConditionalGaussian(bn.BDeu(2.0))
    table = bn.score_families(data, score, max_parents=4)
    columns, compared = standardised(data), 0
    states = np.flatnonzero(~data.measured)
    apart = bn.Data.from_arrays(
        data.values[:, states],
        arities=data.arities[states],
        intervened=None if data.intervened is None else data.intervened[:, states],
    )
    of_states = oracles.families_of(bn.score_families(apart, bn.BDeu(2.0)))
    for v in range(data.n):
        rows = slice(None) if data.intervened is None else ~data.intervened[:, v]
        for f, mask in enumerate(table.parents[v]):
            parents = oracles.members(mask)
            if data.measured[v]:
                expected = oracles.conditional_gaussian(
                    columns[:, rows], data.values[rows], data.measured, v, parents
                )
                assert table.log_prior[v, f] == 0
            elif data.measured[parents].any():
                assert table.log_prior[v, f] == -math.inf
                continue
            else:
                there = sum(1 << int(np.searchsorted(states, u)) for u in parents)
                expected = of_states[int(np.searchsorted(states, v))][there]
            compared += 1
            assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9, rel=1e-12)
    assert compared == 3 * 31 + 3 * 4
    assert np.isfinite(table.log_score).all()


def test_equivalent_dags_have_equal_scores():
    table = bn.score_families(linear_data(np.random.default_rng(1), 4, 30), bn.BGe())
    dags = bn.graphs.all_dags(4)
    by_class = {}
    for dag, value in zip(dags, table.log_target(dags), strict=True):
        by_class.setdefault(bn.graphs.cpdag(dag).tobytes(), []).append(value)
    assert len(by_class) == 185
    assert max(np.ptp(values) for values in by_class.values()) < 1e-9


@pytest.mark.parametrize("score", [bn.BGe(), bn.ConditionalGaussian()], ids=["BGe", "mixed"])
def test_posterior_equals_the_sum_over_all_dags(score):
    rng = np.random.default_rng(2)
    data = linear_data(rng, 4, 25)
    if score != bn.BGe():
        data = mixed_data(rng, 25).select(["x0", "x1", "x2", "x3"])
    table = bn.score_families(data, score)
    exact, by_hand = bn.dag_posterior(table), np.zeros((4, 4))
    dags = bn.graphs.all_dags(4)
    weights = np.exp(table.log_target(dags) - exact.log_z)
    for dag, weight in zip(dags, weights, strict=True):
        for v, mask in enumerate(dag):
            by_hand[oracles.members(mask), v] += weight
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(exact.edges, by_hand, atol=1e-12)


def test_units_do_not_matter_unless_asked():
    data = linear_data(np.random.default_rng(3), 3, 40)
    other = bn.Data.from_arrays(data.measurements * [1e80, 1e-80, 1] + [0, 0, 1e3])
    same = [bn.score_families(d, bn.BGe()).log_score for d in (data, other)]
    np.testing.assert_allclose(*same, atol=1e-8)
    in_units = [bn.score_families(data, bn.BGe(standardize=s)).log_score for s in (True, False)]
    assert np.abs(np.subtract(*in_units)).max() > 1


def test_parts_of_a_table_keep_their_measurements():
    data = mixed_data(np.random.default_rng(4), 12)
    part = data.select(["x5", "x1"]).prefix(5)
    np.testing.assert_array_equal(part.measurements[:, 0], data.measurements[:5, 5])
    assert np.isnan(part.measurements[:, 1]).all()
    assert part.measured.tolist() == [True, False]
    assert repr(part) == "Data: 5 rows, 2 variables with 2 states or measured (1) (x5, x1)"
    again = bn.Data.from_arrays(data.measurements[:, [0, 2]])
    assert repr(again) == "Data: 12 rows, 2 variables measured (x0, x1)"


def test_a_file_with_measurements(tmp_path):
    path = tmp_path / "plants.csv"
    path.write_text("kind,height,width,often\na,1.5,2,1\nb,2.5,1,2\na,0.25,7,1\n")
    data = bn.read_csv(path, continuous=["height", "width"], count="often")
    assert data.measured.tolist() == [False, True, True]
    assert data.measurements[:, 1].tolist() == [1.5, 2.5, 2.5, 0.25]
    assert data.measurements[:, 2].tolist() == [2, 1, 1, 7]
    frame = pytest.importorskip("pandas").read_csv(path)
    same = bn.Data.from_frame(frame, continuous=["height", "width"], count="often")
    np.testing.assert_array_equal(same.measurements, data.measurements)


REFUSED = {
    "constant": (lambda: bn.Data.from_arrays([[1.5, 2.0], [1.5, 3.0]]), "'x0' is constant"),
    "not finite": (lambda: bn.Data.from_arrays([[1.5], [math.inf]]), "row 1, variable 'x0': inf"),
    "nan": (lambda: bn.Data.from_arrays([[1.5], [math.nan]]), "row 1, variable 'x0': nan"),
    "huge": (lambda: bn.Data.from_arrays([[1.5], [1e300]]), "at most 1e+100"),
    "not a code": (lambda: bn.Data.from_arrays([[1.5, 0.5], [2, 1]], arities=[0, 2]), "float64"),
    "states": (lambda: bn.score_families(mixed(), bn.BGe()), "'x1' has states"),
    "measurements": (lambda: bn.score_families(mixed(), bn.BDeu()), "measurements ('x0')"),
    "other methods": (lambda: bn.chow_liu(mixed()), "measurements ('x0')"),
    "lazy": (lambda: bn.LazyScores(mixed(), bn.BDeu()), "measurements ('x0')"),
    "hidden": (
        lambda: bn.hidden.fit_em(
            bn.hidden.HiddenModel([0, 1], [2, 2], hidden=[0]), mixed(), rng=np.random.default_rng(1)
        ),
        "measurements ('x0')",
    ),
    "degrees": (lambda: bn.score_families(mixed().select(["x0", "x2"]), bn.BGe(1, 3)), "n + 1 = 3"),
    "weight": (lambda: bn.BGe(alpha_mu=0), "alpha_mu=0"),
    "class": (lambda: bn.score_families(mixed(), bn.BGe), "the class BGe is no score"),
    "labels": (lambda: bn.Data.from_arrays([[0.0], [1.0]], levels=[["a", "b"]]), "float64"),
}


def mixed():
    return mixed_data(np.random.default_rng(5), 10)


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_do_is_refused_by_name(case):
    call, words = REFUSED[case]
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)


FILES = {
    "text": ("a,b\n1.5,2\nhigh,1\n", {}, "line 3: column 'a' cannot be continuous: 'high'"),
    "gap": ("a,b\n1.5,2\n,1\n3,3\n", {"missing": "level"}, "lacks 1 cells"),
    "twice": ("a,b\n1.5,2\n2,1\n", {"levels": {"a": ["1.5", "2"]}}, "choose one"),
    "constant": ("a,b\n1.5,2\n1.50,1\n", {}, "'a' is constant"),
    "unknown": ("b,c\n1,2\n2,1\n", {}, "continuous names the column 'a'"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_do_not_hold_measurements(case, tmp_path):
    text, options, words = FILES[case]
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError) as refused:
        bn.read_csv(path, continuous=["a"], **options)
    assert words in str(refused.value)


@pytest.mark.parametrize("wrong", ["", 0])
def test_a_name_of_no_column_is_not_passed_over(wrong, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1.5,2\n2.5,1\n")
    with pytest.raises(ValueError, match="continuous names the column"):
        bn.read_csv(path, continuous=["a", wrong])
    names = np.array(["a", "b"])
    assert bn.read_csv(path, continuous=names).measured.all()


def test_a_sum_of_other_columns_is_told_by_name():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(30, 3))
    data = bn.Data.from_arrays(np.column_stack([values, values[:, 0] - 2 * values[:, 2] + 5]))
    with pytest.warns(UserWarning, match="'x3' is a sum of multiples"):
        table = bn.score_families(data, bn.BGe())
    assert np.isfinite(table.log_score).all()


def test_fewer_rows_than_variables():
    table = bn.score_families(linear_data(np.random.default_rng(7), 10, 4), bn.BGe())
    assert np.isfinite(bn.order_posterior(table).edges).all()
    none = bn.score_families(linear_data(np.random.default_rng(7), 3, 4).prefix(0), bn.BGe())
    assert not none.log_score.any()


@pytest.mark.slow
def test_measurements_find_more_than_cuts():
    """Twelve variables, 300 rows, 60 tables: measurements kept, and cut into three."""
    brier, auc = np.zeros((2, 2, 60))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        net = random_net(rng, 12, 0.2)
        kept, edges = net.sample(300, rng), net.coefficients != 0
        columns = [bn.discretize(x, bn.EqualFrequency(3)).codes for x in kept.measurements.T]
        cut, truth = bn.Data.from_arrays(np.column_stack(columns)), edges | edges.T
        pairs = np.triu_indices(12, 1)
        for i, (data, score) in enumerate([(kept, bn.BGe()), (cut, bn.BDeu())]):
            edges = bn.dag_posterior(bn.score_families(data, score)).edges
            found, true = (edges + edges.T)[pairs], truth[pairs]
            brier[i, seed] = np.mean((found - true) ** 2)
            auc[i, seed] = np.mean(found[true][:, None] > found[~true])
    print(f"AUC {auc.mean(axis=1).round(3)}, Brier {brier.mean(axis=1).round(3)}")
    assert brier[0].mean() < 0.05
    gaps = brier[1] - brier[0]
    assert gaps.mean() > 4 * gaps.std(ddof=1) / math.sqrt(60)
    assert auc[0].mean() > auc[1].mean()
