"""Scores against their definitions, tables against their contract."""

import math
import tracemalloc

import numpy as np
import oracles
import pytest

import bnlab as bn

SCORES = [
    (bn.BDeu(1.0), oracles.bdeu),
    (bn.BDeu(7.5), lambda *args: oracles.bdeu(*args, ess=7.5)),
    (bn.K2(), oracles.k2),
    (bn.BIC(), oracles.bic),
    (bn.AIC(), oracles.aic),
    (bn.LogLikelihood(), oracles.log_likelihood),
]
IDS = [repr(score) for score, _ in SCORES]


def random_data(rng, n, m, intervened=False):
    arities = rng.integers(2, 6, size=n)
    values = (rng.random((m, n)) ** 1.5 * arities).astype(int)
    values[:, -1] = (values[:, 0] + (rng.random(m) < 0.1)) % arities[-1]
    mask = rng.random((m, n)) < 0.2 if intervened else None
    return bn.Data.from_arrays(values, arities=arities, intervened=mask)


@pytest.mark.parametrize(("score", "twin"), SCORES, ids=IDS)
@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 5, 0), (2, 3, 1), (5, 40, 4), (7, 200, 3)])
def test_every_family_equals_its_definition(score, twin, intervened, n, m, k):
    data = random_data(np.random.default_rng(n * m), n, m, intervened)
    table = bn.score_families(data, score, max_parents=k)
    for v in range(n):
        rows = data.values if not intervened else data.values[~data.intervened[:, v]]
        for f, mask in enumerate(table.parents[v]):
            expected = twin(rows.tolist(), data.arities, v, oracles.members(mask))
            assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9, rel=1e-12)


@pytest.mark.parametrize(("score", "twin"), SCORES, ids=IDS)
def test_cells_beyond_the_tabulated_counts(score, twin, monkeypatch):
    """Counts above the tabulated ones are computed on the spot, to the same digits."""
    data = random_data(np.random.default_rng(3), 4, 300)
    plain = bn.score_families(data, score).log_score
    monkeypatch.setattr("bnlab.scores.families.TABULATED_TERMS", 40)
    assert bn.score_families(data, score).log_score == pytest.approx(plain, rel=1e-13)
    one = twin(data.values.tolist(), data.arities, 0, [1, 2])
    assert plain[0, 4] == pytest.approx(one, abs=1e-9)


@pytest.mark.parametrize("score", [bn.BDeu(), bn.K2(), bn.BIC(), bn.LogLikelihood()], ids=repr)
def test_no_rows_score_nothing(score):
    data = bn.Data.from_arrays(np.zeros((0, 3), int), arities=[2, 3, 2])
    assert (bn.score_families(data, score).log_score == 0).all()


def test_a_large_sample_stays_finite():
    rng = np.random.default_rng(0)
    data = bn.Data.from_arrays(rng.integers(0, 3, size=(200_000, 3)))
    assert np.isfinite(bn.score_families(data, bn.BDeu()).log_score).all()


def test_max_parents_beyond_all_others_is_all_others():
    data = random_data(np.random.default_rng(1), 3, 20)
    assert bn.score_families(data, bn.BDeu(), max_parents=9).max_parents == 2


def test_required_forbidden_and_candidate_edges_mark_families():
    data = bn.Data.from_arrays([[0, 0, 0], [1, 1, 1]], names=["a", "b", "c"])
    table = bn.score_families(
        data,
        bn.BDeu(),
        candidates={"a": ["b"]},
        required=[("a", "c")],
        forbidden=[(2, "b")],
    )
    allowed = [
        {int(m) for m, q in zip(table.parents[v], table.log_prior[v], strict=True) if q == 0}
        for v in range(3)
    ]
    assert allowed == [{0, 2}, {0, 1}, {1, 3}]
    assert np.isfinite(table.log_score).all()


def test_tiers_forbid_edges_back_in_time():
    data = random_data(np.random.default_rng(2), 5, 30)
    tiers = [["x3"], [0, "x4"], ["x1"]]
    rank = {3: 0, 0: 1, 4: 1, 1: 2}
    late = [(u, v) for u in rank for v in rank if rank[u] > rank[v]]
    assert len(late) == 5
    by_hand = bn.score_families(data, bn.BDeu(), forbidden=[(1, 2), *late])
    table = bn.score_families(data, bn.BDeu(), forbidden=[(1, 2)], tiers=tiers)
    np.testing.assert_array_equal(table.log_prior, by_hand.log_prior)
    back = bn.dag_posterior(table).edges
    assert all(back[u, v] == 0 for u, v in late) and (back > 0).sum() == 20 - 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tiers": "abc"}, "tiers='abc': give a list of lists"),
        ({"tiers": ["a", "b"]}, r"tiers: 'a' is no list of variables: write \['a'\]"),
        ({"tiers": [["a"], ["b", "a"]]}, "'a' stands in two of them"),
        ({"tiers": [["a"], ["z"]]}, "no variable 'z'"),
        (
            {"tiers": [["b"], ["a"]], "required": [("a", "b")]},
            "required, yet a stands in tier 2, b in",
        ),
        ({"max_parents": -1}, "max_parents=-1: give an integer of at least 0"),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "a -> b is required, yet it is forb",
        ),
        ({"required": [("a", "a")]}, "a -> a is a loop"),
        ({"forbidden": [("a", "z")]}, "no variable 'z'"),
        ({"forbidden": [(0, 7)]}, r"node 7 is neither a name nor a number in 0..2"),
        ({"forbidden": [(0.5, 1)]}, "node 0.5 is neither"),
        ({"forbidden": ("ab", "bc")}, "'ab' is no edge"),
        ({"required": [("a", "b", "c")]}, "is no edge"),
        ({"candidates": {"a": "b"}}, r"give a list, \['b'\]"),
        ({"max_parents": 2.5}, "max_parents=2.5"),
        ({"prior": bn.Fair}, "pass an instance"),
        ({"prior": "fair"}, "pass an instance"),
        (
            {"max_parents": 0, "required": [("a", "b")]},
            "give b the parents a: raise max_parents=0 to 1",
        ),
        ({"prior": bn.EdgeBeliefs(np.zeros((2, 2)))}, r"shape \(2, 2\); the data have 3"),
    ],
)
def test_bad_settings_say_what_is_wrong(options, message):
    data = bn.Data.from_arrays([[0, 0, 0], [1, 1, 1]], names=["a", "b", "c"])
    with pytest.raises(ValueError, match=message):
        bn.score_families(data, bn.BDeu(), **options)


@pytest.mark.parametrize("data", [[[0, 1]], "table.csv", None], ids=repr)
def test_data_must_be_data(data):
    with pytest.raises(ValueError, match="make it a Data"):
        bn.score_families(data, bn.BDeu())


@pytest.mark.parametrize("score", ["bdeu", bn.BDeu], ids=repr)
def test_a_score_must_be_an_instance(score):
    with pytest.raises(ValueError, match="pass an instance, such as BDeu"):
        bn.score_families(random_data(np.random.default_rng(1), 3, 20), score)


@pytest.mark.parametrize("ess", [1e-99, 1e-9, 1e3, 1e8, 1e15, 1e99])
def test_bdeu_keeps_its_digits_for_any_sample_size(ess):
    """Against the sum of logarithms of rising factorials, which does not cancel."""
    data = bn.Data.from_arrays([[0, 0]] * 10 + [[1, 1]] * 10)

    def rising(a, count):
        return math.fsum(math.log(a + i) for i in range(count))

    alone = 2 * rising(ess / 2, 10) - rising(ess, 20)
    given = 2 * (rising(ess / 4, 10) - rising(ess / 2, 10))
    table = bn.score_families(data, bn.BDeu(ess))
    assert table.log_score[0] == pytest.approx([alone, given], rel=1e-13, abs=1e-12)


def test_arities_all_different_cost_little_more():
    """One row of terms for each pseudo-count in use: a single one for K2, whatever the arities."""
    arities = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29])
    values = np.random.default_rng(0).integers(0, arities, size=(300, 10))
    data = bn.Data.from_arrays(values, arities=arities)
    tracemalloc.start()
    for score in (bn.K2(), bn.BDeu()):
        bn.score_families(data, score)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.parametrize("ess", [0.0, -1.0, math.inf, math.nan, 5e-324, 1e300])
def test_bdeu_needs_a_positive_sample_size(ess):
    with pytest.raises(ValueError, match=r"ess=.* is outside \[1e-100, 1e\+100\]"):
        bn.BDeu(ess)


def test_a_table_refuses_nan_and_wrong_shapes():
    table = bn.score_families(random_data(np.random.default_rng(1), 3, 20), bn.BDeu())
    bad = table.log_score.copy()
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"log_score\[1, 2\] = nan"):
        bn.ScoreTable(table.parents, bad, table.log_prior, table.names, 2)
    for column in (table.log_score, table.log_prior):
        with pytest.raises(ValueError, match="not listed by size"):
            bn.ScoreTable(table.parents[:, ::-1], column, column, table.names, 2)
    with pytest.raises(ValueError, match="all different"):
        bn.ScoreTable(table.parents, table.log_score, table.log_prior, ("a", "a", "b"), 2)
    with pytest.raises(ValueError, match=r"log_score\[0, 0\] = 1e\+308"):
        bn.ScoreTable(table.parents, table.log_score * 0 + 1e308, table.log_prior, table.names, 2)
    for value in (1e16, 1.01e8, -1e16, -1.01e8):
        with pytest.raises(ValueError, match=r"log_score\[0, 0\] = .* given no .*use fewer"):
            bn.ScoreTable(
                table.parents, table.log_score * 0 + value, table.log_prior, table.names, 2
            )
    with pytest.raises(ValueError, match=r"log_prior \+ log_score\[0, 0\] = -160000000"):
        eighty = table.log_score * 0 - 8e7
        bn.ScoreTable(table.parents, eighty, eighty, table.names, 2)
    with pytest.raises(ValueError, match=r"\(n, F\) = \(3, 4\)"):
        bn.ScoreTable(table.parents[:, :3], bad, table.log_prior, table.names, 2)


def test_families_of_hopelessly_many_parameters_are_let_pass_unless_they_are_required():
    """A score below -1e8 of a larger family has no weight, and costs the others no digits."""
    rng = np.random.default_rng(6)
    arities = np.array([400, 400, 400, 2])
    data = bn.Data.from_arrays(rng.integers(0, 2, size=(300, 4)), arities=arities)
    table = bn.score_families(data, bn.BIC())
    assert table.log_score.min() < -1e8
    small = bn.score_families(data, bn.BIC(), max_parents=1)
    assert bn.dag_posterior(table).edges == pytest.approx(bn.dag_posterior(small).edges, abs=1e-9)
    with pytest.raises(ValueError, match=r"log_score\[0, .* of 'x0' given x1, x2, .* max_parents"):
        bn.score_families(data, bn.BIC(), required=[(1, 0), (2, 0)])


@pytest.mark.slow
def test_ten_million_rows_keep_their_digits():
    values = np.tile(np.array([[0, 0], [0, 0], [1, 1], [1, 0], [0, 1]]), (2_000_000, 1))
    table = bn.score_families(bn.Data.from_arrays(values), bn.BDeu(ess=4.0))

    def term(a, count):
        return math.lgamma(a + count) - math.lgamma(a)

    alone = term(2.0, 6e6) + term(2.0, 4e6) - term(4.0, 10e6)
    joint = term(1.0, 4e6) + 3 * term(1.0, 2e6)
    given = joint - term(2.0, 6e6) - term(2.0, 4e6)
    assert table.log_score == pytest.approx(np.array([[alone, given]] * 2), rel=1e-13)


def test_too_many_families_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 10**6)
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(50, 30)))
    with pytest.raises(ValueError, match=r"needs .* bytes .* 1,000,000 bytes .*lower max_parents"):
        bn.score_families(data, bn.BDeu(), max_parents=5)


def test_log_target_sums_the_families_of_each_dag():
    data = random_data(np.random.default_rng(5), 4, 60)
    table = bn.score_families(data, bn.BDeu(), max_parents=2, prior=bn.Fair())
    log_phi = oracles.families_of(table)
    dags = bn.graphs.all_dags(4)
    expected = [oracles.dag_log_weight(log_phi, dag) for dag in dags]
    assert table.log_target(dags) == pytest.approx(expected, rel=1e-13)
    assert (table.log_target(dags) == -math.inf).any()  # three parents are too many here
    assert table.log_target(dags.reshape(3, 181, 4)).shape == (3, 181)
    for bad, message in (
        ([1, 0, 0, 0], "cycle 0 -> 0"),
        ([2, 1, 0, 0], "directed cycle"),
        ([16, 0, 0, 0], "names a parent outside"),
        ([0, 0, 0], "3 nodes for a table of 4"),
        (0, "array of n parent masks"),
    ):
        with pytest.raises(ValueError, match=message):
            table.log_target(bad)


def test_inputs_are_left_alone_and_tables_are_read_only():
    data = random_data(np.random.default_rng(2), 4, 30)
    before = data.values.copy()
    table = bn.score_families(data, bn.BDeu())
    assert (data.values == before).all()
    with pytest.raises(ValueError, match="read-only"):
        table.log_score[0, 0] = 1.0


@pytest.mark.parametrize(
    "wrong", [{"pseudo_count": math.nan}, {"pseudo_count": 0.0}, {"cost": math.nan}]
)
@pytest.mark.parametrize("scores", [bn.score_families, bn.LazyScores])
def test_a_score_of_ones_own_that_is_no_number_is_refused(scores, wrong):
    settings = {"pseudo_count": 1.0, "cost": 0.0, **wrong}

    class Own:
        def cell_counts(self, cells, /):
            return np.full(cells.shape, settings["pseudo_count"])

        def parent_counts(self, cells, arity, /):
            return np.full(cells.shape, arity * settings["pseudo_count"])

        def penalty(self, m, parameters, /):
            return settings["cost"] * parameters

    with pytest.raises(ValueError, match=r"is not a score|pseudo-counts are positive"):
        scores(bn.Data.from_arrays([[0, 0], [1, 1]]), Own())
