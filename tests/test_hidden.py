"""Networks with hidden nodes: likelihoods, fits, scores and exact evidence."""

import itertools
import math
import pickle

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.hidden import (
    Changes,
    Fitted,
    HiddenModel,
    bipartite_structures,
    complete,
    components,
    dimension,
    exact_evidence,
    fit_em,
    fit_vb,
    fitting,
    perturbation_dimensions,
    score,
    score_structures,
    search_structures,
)
from bnlab.hidden.completions import counted
from bnlab.hidden.fitting import as_tables, climb, random_tables
from bnlab.kernels import latent

ARITIES = [2, 2, 5, 5, 5, 5]
TRUE = [0, 0, 1, 3, 3, 2]
CASES = {
    "the thesis' structure": (TRUE, ARITIES, [0, 1]),
    "a hidden node with a parent": ([0, 1, 3, 2], [3, 2, 2, 3], [1]),
    "a chain of hidden nodes": ([0, 1, 2, 2, 4], [2, 3, 2, 2, 3], [1, 2]),
    "an observed part beside it": ([0, 1, 0, 4, 1], [2, 3, 2, 2, 2], [0]),
    "nothing hidden": ([0, 1, 3], [2, 2, 3], []),
}


def random_rows(model, m, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    arities = model.arities[list(model.observed)]
    values = rng.integers(0, arities, (m, arities.size))
    values[rng.random(values.shape) < missing] = -1
    return values


def as_rows(model, values):
    """Rows for the oracles: a tuple of codes for all nodes, None where nothing was seen."""
    rows = []
    for row in values.tolist():
        seen = dict(zip(model.observed, row, strict=True))
        codes = [seen.get(v, -1) for v in range(model.n)]
        rows.append(tuple(None if x < 0 else x for x in codes))
    return rows


def as_dicts(model, theta):
    """Tables for the oracles: [v][parent state] -> row."""
    parents, arities = model.parents.tolist(), model.arities.tolist()
    return [
        dict(
            zip(
                itertools.product(*oracles.parent_ranges(parents, arities, v)),
                table.tolist(),
                strict=True,
            )
        )
        for v, table in enumerate(as_tables(model, theta))
    ]


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def model(request):
    parents, arities, hidden = CASES[request.param]
    return HiddenModel(parents, arities, hidden=hidden, strength=1.5)


# E step


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("most", [1024, 3, 0])
def test_expected_counts_are_those_of_all_completions(model, missing, most):
    """By lists of joint states, along cliques, and mixed."""
    values = random_rows(model, 12, missing=missing)
    completions = counted(model, np.asarray(values), None, most)
    theta = random_tables(completions, 1.0, np.random.default_rng(1))
    counts = np.empty(theta.size)
    rows = latent.expect(theta, completions.groups, completions.base, counts)
    log_likelihood, expected = oracles.expected_counts(
        model.parents.tolist(),
        model.arities.tolist(),
        as_dicts(model, theta),
        as_rows(model, values),
    )
    assert rows + latent.dot_log(completions.base, theta) == pytest.approx(log_likelihood)
    for table, by_row in zip(as_tables(model, counts), expected, strict=True):
        assert table == pytest.approx(np.array(list(by_row.values())))


@pytest.mark.parametrize("most", [1024, 0])
@pytest.mark.parametrize("p", [1e-12, 1e-4, 1e-3])  # at 1e-3 products of rows, of any weight
def test_rows_too_improbable_for_doubles(most, p):
    model = HiddenModel([0] + [1] * 40, [2] * 41, hidden=[0])
    values = np.tri(9, 40, dtype=int)
    weight = np.array([3.0, 1.0, 1.0, 2.5, 1.0, 3.0, 1.0, 1.0, 3.0])
    completions = counted(model, values, weight, most)
    theta = np.full(completions.base.size, p)
    counts = np.empty(theta.size)
    log_p = latent.expect(theta, completions.groups, completions.base, counts)
    assert log_p == pytest.approx(weight.sum() * (math.log(2) + 41 * math.log(p)))
    assert counts[:2] == pytest.approx(weight.sum() / 2)


@pytest.mark.parametrize("most", [1024, 0])
def test_an_impossible_row_has_probability_0(most):
    model = HiddenModel([0, 1], [2, 2], hidden=[0])
    completions = counted(model, np.array([[0]]), None, most)
    theta = np.array([0.5, 0.5, 0.0, 1.0, 0.0, 1.0])
    counts = np.empty(6)
    assert latent.expect(theta, completions.groups, completions.base, counts) == -math.inf
    assert np.isfinite(counts).all()


def test_exp_digamma_is_the_derivative_of_lgamma():
    for x in (0.05, 0.3, 1.0, 2.5, 7.9, 8.0, 100.0, 1e6):
        h = 1e-4 * x
        # five-point difference of ln Gamma
        terms = [math.lgamma(x + k * h) for k in (-2, -1, 1, 2)]
        slope = (terms[0] - 8 * terms[1] + 8 * terms[2] - terms[3]) / (12 * h)
        assert math.log(latent.exp_digamma(x)) == pytest.approx(slope, rel=1e-6, abs=1e-6)


# Fits


@pytest.mark.parametrize("strength", [0.05, 0.5, 1.0, 3.0, 10.0])
def test_every_iteration_climbs(strength):
    """EM and VBEM on random graphs, sizes and missing cells."""
    rng = np.random.default_rng(int(strength * 100))
    for _ in range(200):
        n = int(rng.integers(2, 6))
        parents = [int(rng.integers(0, 1 << v)) if v else 0 for v in range(n)]
        hidden = [v for v in range(n - 1) if rng.random() < 0.4]
        model = HiddenModel(parents, rng.integers(2, 4, n), hidden=hidden, strength=strength)
        values = random_rows(model, int(rng.integers(1, 30)), int(rng.integers(1e6)), 0.1)
        completions = complete(model, values)
        start = random_tables(completions, strength, rng)
        for added in (0.0, strength, None):
            trace = climb(completions, strength, added, 200, start)["trace"]
            assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1]) - 1e-9).all(), (model, added)


def test_maximum_likelihood_without_hidden_nodes_is_counting():
    model = HiddenModel([0, 1], [2, 3], hidden=[])
    values = random_rows(model, 50)
    fit = fit_em(model, values, rng=np.random.default_rng(0), objective="ml")
    assert fit.theta[0][0] == pytest.approx(np.bincount(values[:, 0]) / 50)
    for state in (0, 1):
        inside = values[values[:, 0] == state, 1]
        assert fit.theta[1][state] == pytest.approx(np.bincount(inside, minlength=3) / inside.size)


def test_the_bases_of_map_estimates():
    model = HiddenModel([0], [3], hidden=[], strength=2.0)
    values = np.array([[0], [0], [1]])
    by_probability = fit_em(model, values, rng=np.random.default_rng(0))
    by_softmax = fit_em(model, values, rng=np.random.default_rng(0), basis="softmax")
    assert by_probability.theta[0][0] == pytest.approx(np.array([3, 2, 1]) / 6)
    assert by_softmax.theta[0][0] == pytest.approx(np.array([4, 3, 2]) / 9)
    weak = HiddenModel([0], [3], hidden=[], strength=0.5)
    with pytest.raises(ValueError, match=r"strength=0\.5.*basis='softmax'"):
        fit_em(weak, values, rng=np.random.default_rng(0))


def test_vb_without_hidden_nodes_is_the_evidence():
    model = HiddenModel([0, 1, 3], [2, 2, 3], hidden=[], strength=0.7)
    values = random_rows(model, 20)
    expected = oracles.log_completed([0, 1, 3], [2, 2, 3], values.tolist(), 0.7)
    fit = fit_vb(model, values, rng=np.random.default_rng(0))
    assert fit.value == pytest.approx(expected, abs=1e-9)
    assert exact_evidence(model, values).log_value == pytest.approx(expected, abs=1e-9)


def test_fits_do_not_depend_on_the_order_of_rows():
    model = HiddenModel(TRUE, ARITIES, hidden=[0, 1])
    values = random_rows(model, 60)
    shuffled = np.random.default_rng(5).permutation(values)
    for fit in (fit_em, fit_vb):
        first = fit(model, values, rng=np.random.default_rng(2))
        second = fit(model, shuffled, rng=np.random.default_rng(2))
        assert first.value == second.value
        assert (first.iterations == second.iterations).all()


def test_what_a_fit_tells():
    model = HiddenModel(TRUE, ARITIES, hidden=[0, 1])
    fit = fit_vb(model, random_rows(model, 60), rng=np.random.default_rng(2), max_iterations=5)
    assert not fit.converged
    assert fit.iterations.tolist() == [5, 5, 5]
    assert fit.value == fit.values.max() == fit.values[fit.restart] == fit.trace[-1]
    assert "not converged" in repr(fit)
    assert fit.run.settings["max_iterations"] == 5
    copy = pickle.loads(pickle.dumps(fit))
    assert (copy.theta[3] == fit.theta[3]).all()


# Scores


def test_cheeseman_stutz_is_the_published_formula():
    """[Beal2003, eq. 6.31] from its three parts, by the oracles."""
    model = HiddenModel(TRUE, ARITIES, hidden=[0, 1], strength=1.2)
    values = random_rows(model, 30)
    fit = fit_em(model, values, rng=np.random.default_rng(3))
    completions = complete(model, values)
    theta = np.concatenate([table.ravel() for table in fit.theta])
    tables = (completions.base, completions.first)
    cs = latent.bound(theta, completions.groups, tables, 1.2, np.empty(theta.size))
    log_likelihood, counts = oracles.expected_counts(
        TRUE, ARITIES, as_dicts(model, theta), as_rows(model, values)
    )
    completed = at_theta = 0.0
    for by_row, table in zip(counts, as_dicts(model, theta), strict=True):
        for row, cells in by_row.items():
            k = len(cells)
            completed += math.lgamma(1.2 * k) - math.lgamma(1.2 * k + sum(cells))
            completed += sum(math.lgamma(1.2 + c) - math.lgamma(1.2) for c in cells)
            at_theta += sum(c * math.log(t) for c, t in zip(cells, table[row], strict=True) if c)
    assert cs == pytest.approx(completed + log_likelihood - at_theta, abs=1e-9)


@pytest.mark.parametrize("m", [4, 6])
def test_bounds_stay_below_the_evidence_on_all_136_structures(m):
    models = [HiddenModel(p, ARITIES, hidden=[0, 1]) for p in bipartite_structures()]
    values = random_rows(models[-1], m, seed=m)
    found = score_structures(models, values, ["cs", "vb"], rng=np.random.default_rng(4))
    for model, scores in zip(models, found, strict=True):
        exact = exact_evidence(model, values).log_value
        assert scores["cs"].log_value <= scores["vb"].log_value + 1e-9
        assert scores["vb"].log_value <= exact + 1e-9
        assert scores["vb"].kind == scores["cs"].kind == "lower_bound"


def test_relations_between_scores():
    model = HiddenModel(TRUE, ARITIES, hidden=[0, 1])
    values = random_rows(model, 200)
    scores = score(
        model, values, ["ml", "map", "bic", "bicp", "cs", "csd"], rng=np.random.default_rng(5)
    )
    value = {name: estimate.log_value for name, estimate in scores.items()}
    assert value["ml"] == value["map"]  # lambda = 1
    assert value["bic"] == pytest.approx(value["map"] - 25 * math.log(200))
    # 12 rows of five-valued tables: ln p(theta) = ln 4! each
    assert value["bicp"] - value["bic"] == pytest.approx(12 * math.log(24))
    assert value["csd"] - value["cs"] == pytest.approx(math.log(200))
    assert scores["map"].kind == "plug_in"
    assert scores["bic"].kind == "asymptotic"
    with_alias = score(model, values, ["bic", "vb"], rng=np.random.default_rng(5), alias=True)
    assert with_alias["bic"].log_value == pytest.approx(value["bic"] + math.log(8))
    assert with_alias["vb"].kind == "asymptotic"


def test_nodes_that_no_observed_one_depends_on_cost_no_score_anything():
    """Beside 0 -> 2, 3 and the isolated 4: 1 -> 5 all hidden, and the childless 6 below 0 and 2."""
    arities = [2, 3, 2, 3, 2, 2, 4]
    whole = HiddenModel([0, 0, 1, 1, 0, 2, 5], arities, hidden=[0, 1, 5, 6], strength=1.5)
    used = HiddenModel([0, 1, 1, 0], [2, 2, 3, 2], hidden=[0], strength=1.5)
    assert whole.in_use == {0, 2, 3, 4}
    values = random_rows(used, 60)
    names = ["ml", "map", "bic", "bicp", "cs", "csd", "csd_rank", "vb"]
    for alias in (False, True):
        one, other = (
            score(model, values, names, rng=np.random.default_rng(5), alias=alias)
            for model in (whole, used)
        )
        assert {name: found.log_value for name, found in one.items()} == {
            name: found.log_value for name, found in other.items()
        }
    gain = one["map"].log_value - one["bic"].log_value + math.log(used.aliases)
    assert gain == pytest.approx(used.free_parameters / 2 * math.log(60))
    for name in names:
        found = search_structures(
            whole,
            values,
            rng=np.random.default_rng(5),
            component_score=Fitted(name, restarts=9),
            changes=Changes(edges=(), states=(2,), max_hidden=0),
            max_steps=1,
        )
        scores = score(whole, values, [name], restarts=9, rng=np.random.default_rng(6))
        assert found.trace[0] == pytest.approx(scores[name].log_value, abs=0.01)


def test_the_correction_by_the_rank_counts_what_can_be_told():
    # One hidden cause of one child: 2 * 4 + 1 parameters, of which the data tell 4.
    values = random_rows(HiddenModel([0, 1], [2, 5], hidden=[0]), 50)
    model = HiddenModel([0, 1], [2, 5], hidden=[0])
    scores = score(model, values, ["cs", "csd_rank"], rng=np.random.default_rng(5))
    gain = scores["csd_rank"].log_value - scores["cs"].log_value
    assert gain == pytest.approx((9 - 4) / 2 * math.log(50))
    seen = HiddenModel([0, 1], [2, 5], hidden=[])
    scores = score(seen, [[0, 1], [1, 3]], ["cs", "csd_rank"], rng=np.random.default_rng(5))
    assert scores["csd_rank"].log_value == scores["cs"].log_value


def test_shared_parts_score_alike_wherever_they_stand():
    models = [HiddenModel(p, ARITIES, hidden=[0, 1]) for p in bipartite_structures()[:40]]
    values = random_rows(models[0], 50)
    together = score_structures(models, values, ["vb"], rng=np.random.default_rng(6))
    assert together[0]["vb"].log_value == pytest.approx(
        sum(
            exact_evidence(HiddenModel([0], [5], hidden=[]), values[:, [v]]).log_value
            for v in range(4)
        )
    )
    again = score_structures(models, values, ["vb"], rng=np.random.default_rng(6))
    assert [s["vb"].log_value for s in together] == [s["vb"].log_value for s in again]


# Exact evidence


@pytest.mark.quick(
    "the-thesis'-structure-0.0",
    "the-thesis'-structure-0.25-1.0",
    "a-chain-of-hidden-nodes-0.0",
    "a-chain-of-hidden-nodes-0.25-0.3",
    "an-observed",
)
@pytest.mark.parametrize("strength", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_exact_evidence_is_the_sum_over_all_completions(model, strength, missing):
    model = HiddenModel(model.parents, model.arities, hidden=model.hidden, strength=strength)
    values = random_rows(model, 4, seed=3, missing=missing)
    expected = oracles.hidden_evidence(
        model.parents.tolist(), model.arities.tolist(), as_rows(model, values), strength
    )
    assert exact_evidence(model, values).log_value == pytest.approx(expected, abs=1e-9)


def test_equal_rows_are_completed_together():
    model = HiddenModel([0, 1], [2, 3], hidden=[0])
    values = np.array([[0]] * 5 + [[2]] * 4)
    expected = oracles.hidden_evidence([0, 1], [2, 3], as_rows(model, values), 1.0)
    exact = exact_evidence(model, values)
    assert exact.log_value == pytest.approx(expected, abs=1e-10)
    assert exact.run.settings["terms"] == 6 * 5


def test_too_many_completions_are_refused_at_once():
    model = HiddenModel(TRUE, ARITIES, hidden=[0, 1])
    with pytest.raises(ValueError, match="completions to sum over"):
        exact_evidence(model, random_rows(model, 40))


# Models, components and structures


def test_136_bipartite_structures():
    structures = bipartite_structures()
    assert len(structures) == 136
    models = [HiddenModel(p, ARITIES, hidden=[0, 1]) for p in structures]
    sizes = [model.free_parameters for model in models]
    assert (min(sizes), max(sizes)) == (18, 66)
    assert HiddenModel(TRUE, ARITIES, hidden=[0, 1]).free_parameters == 50
    assert sum(size > 50 for size in sizes) == 9
    relabelled = {tuple(sorted([str(p), str(_swapped(p))])) for p in structures}
    assert len(relabelled) == 136
    connected = {
        (tuple(one.model.parents), one.columns) for model in models for one in components(model)
    }
    assert len(connected) == 114


def _swapped(parents):
    return np.array([(p & ~3) | (p >> 1 & 1) | (p & 1) << 1 for p in parents])


@pytest.mark.parametrize(("parents", "aliases"), [(TRUE, 8), ([0, 0, 1, 1, 0, 0], 2), ([0] * 6, 1)])
def test_aliases_of_the_thesis(parents, aliases):
    assert HiddenModel(parents, ARITIES, hidden=[0, 1]).aliases == aliases


def test_a_hidden_node_without_children_has_no_say():
    with_it = HiddenModel([0, 1, 2], [2, 2, 3], hidden=[2])
    without = HiddenModel([0, 1], [2, 2], hidden=[])
    values = random_rows(without, 10)
    for which in ("cs", "vb"):
        a = score(with_it, values, [which], rng=np.random.default_rng(0))[which]
        b = score(without, values, [which], rng=np.random.default_rng(0))[which]
        assert a.log_value == b.log_value
    assert exact_evidence(with_it, values).log_value == exact_evidence(without, values).log_value


def hidden_chain(length):
    """Hidden states 0..length-1 in a chain, each with one observed child."""
    parents = [0] + [1 << v for v in range(length - 1)] + [1 << v for v in range(length)]
    return HiddenModel(parents, [2] * length + [3] * length, hidden=range(length))


@pytest.mark.slow
def test_a_long_chain_of_hidden_states():
    """The forward algorithm of a hidden Markov model, with a table of its own at each place."""
    model = hidden_chain(30)
    values = random_rows(model, 5)
    completions = complete(model, values)
    theta = random_tables(completions, 1.0, np.random.default_rng(0))
    tables = as_tables(model, theta)
    expected = 0.0
    for row in values:
        forward = tables[0][0] * tables[30][:, row[0]]
        for t in range(1, 30):
            forward = (forward @ tables[t]) * tables[30 + t][:, row[t]]
        expected += math.log(forward.sum())
    counts = np.empty(theta.size)
    log_p = latent.expect(theta, completions.groups, completions.base, counts)
    assert log_p == pytest.approx(expected)
    assert counts.sum() == pytest.approx(5 * 60)
    fit = fit_vb(model, values, restarts=1, rng=np.random.default_rng(0), max_iterations=30)
    assert (np.diff(fit.trace) >= -1e-9).all()
    with pytest.raises(ValueError, match="only fits and scores"):
        exact_evidence(model, values)


def test_cliques_that_are_too_large_are_refused():
    """Eleven hidden nodes of eight states, almost all pairs of which have a common child."""
    pairs = [1 << a | 1 << b for a in range(11) for b in range(a)][:52]
    model = HiddenModel([0] * 11 + pairs, [8] * 11 + [2] * 52, hidden=range(11))
    with pytest.raises(ValueError, match="joint states of the nodes"):
        fit_vb(model, np.zeros((2, 52), int), rng=np.random.default_rng(0))


def test_a_wide_table_with_missing_cells():
    model = HiddenModel([0] + [1] * 12, [3] * 13, hidden=[0])
    values = random_rows(model, 5000, missing=0.02)
    fit = fit_vb(model, values, restarts=1, rng=np.random.default_rng(0), max_iterations=20)
    assert (np.diff(fit.trace) > -1e-6).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([2, 1], [2, 2]), {"hidden": [0]}, "cycle"),
        (([0, 1], [1, 2]), {"hidden": [0]}, r"arities=\[1, 2\]"),
        (([0, 1], [2, 2, 2]), {"hidden": [0]}, "2 integers"),
        (([0, 1], [2, 2]), {"hidden": [2]}, r"hidden=\[2\]"),
        (([0, 1], [2, 2]), {"hidden": [0, 0]}, r"hidden=\[0, 0\]"),
        (([0, 1], [2, 2]), {"hidden": [0, 1]}, "all nodes are hidden"),
        (([0, 1], [2, 2]), {"hidden": [0], "strength": 0}, "strength=0"),
        (([0, 1], [2, 2]), {"hidden": [0], "strength": math.nan}, "strength=nan"),
        (
            ([0, 1], [2, 2]),
            {"hidden": [0], "strength": 1e16},
            r"strength=1e\+16 is outside .*1e-100, 1e\+08\]",
        ),
        (
            ([0, 1], [2, 2]),
            {"hidden": [0], "strength": 1e-300},
            "strength=1e-300 is outside .1e-100",
        ),
    ],
)
def test_models_that_cannot_be(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        HiddenModel(*arguments, **options)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1]], "one column for each of the 1"),
        ([[3]], "row 0, variable 'node 1': code 3"),
        ([[0], [-2]], "row 1, variable 'node 1': code -2"),
        ([[0.5]], "float64"),
    ],
)
def test_data_that_do_not_fit(values, message):
    model = HiddenModel([0, 1], [2, 3], hidden=[0])
    for use in (
        lambda: fit_vb(model, values, rng=np.random.default_rng(0)),
        lambda: score(model, values, rng=np.random.default_rng(0)),
        lambda: exact_evidence(model, values),
    ):
        with pytest.raises(ValueError, match=message):
            use()


def test_data_tables_are_taken_too():
    model = HiddenModel([0, 1], [2, 3], hidden=[0])
    data = bn.Data.from_arrays([[0], [1], [2]])
    first = fit_vb(model, data, rng=np.random.default_rng(0))
    assert first.value == fit_vb(model, data.values, rng=np.random.default_rng(0)).value
    wide = bn.Data.from_arrays([[0], [3]], arities=[4])
    with pytest.raises(ValueError, match="'x0' has 4 states"):
        fit_vb(model, wide, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restarts": 0}, "restarts=0"),
        ({"max_iterations": 0}, "max_iterations=0"),
    ],
)
def test_bad_settings_say_what_is_wrong(options, message):
    model = HiddenModel([0, 1], [2, 3], hidden=[0])
    options = {"rng": np.random.default_rng(0)} | options
    for fit in (fit_em, fit_vb, score):
        with pytest.raises(ValueError, match=message):
            fit(model, [[0]], **options)


def test_scores_do_not_depend_on_what_else_is_asked_for():
    model = HiddenModel([0, 1, 1, 2], [2, 3, 3, 3], hidden=[0])
    data = np.random.default_rng(1).integers(0, 3, (40, 3))
    names = ["ml", "map", "bic", "bicp", "cs", "csd", "vb"]
    together = score(model, data, names, rng=np.random.default_rng(2))
    for name in names:
        alone = score(model, data, [name], rng=np.random.default_rng(2))
        assert alone[name].log_value == together[name].log_value


@pytest.mark.parametrize("seed", range(5))
def test_hidden_nodes_without_children_add_no_dimension(seed):
    model = HiddenModel([0, 0, 0, 0, 0, 0], [2, 2, 5, 5, 5, 5], hidden=[0, 1])
    assert dimension(model, rng=np.random.default_rng(seed)) == 16


def test_perturbations_of_a_model_without_open_tables():
    model, data = HiddenModel([0, 1], [2, 3], hidden=[]), [[0, 0], [1, 2]]
    tables = fit_em(model, data, rng=np.random.default_rng(1)).theta
    rng = np.random.default_rng(2)
    assert perturbation_dimensions(model, data, tables, draws=5, rng=rng) == (5, 5)


def test_of_climbs_that_tie_the_first_is_the_best():
    """Which of two equal optima a score is taken at must not hang on the last digit."""
    assert fitting.highest(np.array([-3.0, -2.0 - 1e-12, -2.0])) == 1
    assert fitting.highest(np.array([-2.0 - 1e-6, -2.0, -3.0])) == 1


@pytest.mark.parametrize(
    ("x", "psi"),
    [(1, -0.57721566490153287), (0.5, -1.9635100260214235), (10, 2.2517525890667211)],
)
def test_exp_digamma_to_the_last_digits(x, psi):
    """-gamma, -gamma - 2 ln 2, and the ninth harmonic number less gamma."""
    assert psi == pytest.approx(
        -np.euler_gamma + {1: 0, 0.5: -2 * math.log(2), 10: sum(1 / i for i in range(1, 10))}[x]
    )
    assert latent.exp_digamma(float(x)) == pytest.approx(math.exp(psi), rel=1e-12)
