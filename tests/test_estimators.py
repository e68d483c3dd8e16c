"""The estimators: scikit-learn's own checks, p(class | row) by enumeration, frames with holes."""

import numpy as np
import oracles
import pytest

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn.datasets import load_breast_cancer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import bnlab as bn  # noqa: E402
from bnlab.predict.estimators import BayesNetClassifier, Coding  # noqa: E402


@parametrize_with_checks([BayesNetClassifier()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def joint(values, arities):
    """ln of the sum over all DAGs of p(values | G), BDeu."""
    n = len(arities)
    return oracles.log_sum(
        sum(oracles.bdeu(values, arities, v, oracles.members(dag[v])) for v in range(n))
        for dag in oracles.all_dags(n)
    )


def by_enumeration(values, row, classes, arities):
    """p(class | row, D), a missing cell None: sums over DAGs with the row among the data."""
    terms = []
    for c in range(classes):
        states = [range(arities[v]) if x is None else [x] for v, x in enumerate(row)]
        full = [[*cells, c] for cells in np.array(np.meshgrid(*states)).reshape(len(row), -1).T]
        terms.append(oracles.log_sum(joint([*values, [int(x) for x in r]], arities) for r in full))
    return np.exp(np.array(terms) - oracles.log_sum(terms))


def test_probabilities_are_those_of_all_dags():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(25, 2))
    y = (X[:, 0] + (rng.random(25) < 0.3)) % 2
    model = BayesNetClassifier(bins=3, draws=40_000, random_state=1).fit(X, y)
    values, arities = np.column_stack([X, y]).tolist(), [3, 3, 2]
    rows = [[0, 0], [2, 1], [1, None], [None, None]]
    found = model.predict_proba(np.array(rows, float))
    for p, row in zip(found, rows, strict=True):
        assert p == pytest.approx(by_enumeration(values, row, 2, arities), abs=0.005)


def test_draws_of_dags_are_averaged_as_log_density_does():
    rng = np.random.default_rng(5)
    data = bn.Data.from_arrays(rng.integers(0, 2, size=(40, 4)), arities=[2] * 4)
    posterior = bn.dag_posterior(bn.score_families(data, bn.BDeu()))
    draws = bn.sample_dags(posterior, draws=50, rng=rng)
    rows = np.array([[0, -1, 1, -1], [1, 0, -1, -1]])
    found = bn.predict.log_class_posterior(draws, data, 3, rows)
    each = np.array(
        [
            [bn.predict.log_density(draws, data, [[*row[:3], c]])[0] for c in range(2)]
            for row in rows
        ]
    )
    assert found == pytest.approx(each - np.logaddexp.reduce(each, axis=1, keepdims=True))
    one = draws.prefix(1)
    by_dag = bn.predict.log_class_posterior(one.values[0, 0], data, 3, rows)
    assert bn.predict.log_class_posterior(one, data, 3, rows) == pytest.approx(by_dag)


def table():
    rng = np.random.default_rng(6)
    size = rng.normal(size=120)
    frame = pd.DataFrame(
        {
            "size": size,
            "colour": np.where(size + rng.normal(size=120) > 0, "red", "blue"),
            "grade": pd.Categorical(rng.integers(1, 4, size=120)),
            "site": "north",
        }
    )
    return frame, np.where(size + 0.5 * rng.normal(size=120) > 0, "yes", "no")


def test_a_frame_with_holes_and_labels_never_seen():
    frame, y = table()
    frame.loc[::7, "size"] = np.nan
    model = BayesNetClassifier(random_state=2).fit(frame, y)
    assert model.score(frame, y) > 0.75
    rows = frame.iloc[:3].copy()
    rows.loc[0, "colour"] = None
    rows.loc[1, "colour"] = "green"
    found = model.predict_proba(rows)
    assert found.sum(axis=1) == pytest.approx(1)
    # Both are summed out: as if nothing were known of the colour.
    rows.loc[1, "colour"] = None
    assert np.array_equal(found, model.predict_proba(rows))
    known = model.predict_proba(frame.iloc[:3])
    assert not np.allclose(found[:2], known[:2])
    assert np.array_equal(found[2], known[2])


def test_training_cuts_are_used_again():
    frame, y = table()
    model = BayesNetClassifier(bins=4, random_state=3).fit(frame[["size"]], y)
    coding = model.parts_[0].codings[0]
    cuts = np.quantile(frame["size"], [0.25, 0.5, 0.75], method="inverted_cdf")
    assert coding.points == pytest.approx(cuts)
    # One row at a time gets what it gets among others; beyond all values, the outermost interval.
    every = model.predict_proba(frame[["size"]])
    alone = np.vstack([model.predict_proba(frame[["size"]].iloc[[t]]) for t in range(5)])
    assert np.array_equal(alone, every[:5])
    far = pd.DataFrame({"size": [-1e9, frame["size"].min()]})
    assert np.ptp(model.predict_proba(far), axis=0) == pytest.approx(0)


def test_ties_and_few_values():
    few = Coding.of("x", np.array([1.0, 2, 2, 5]), 3)
    assert few.codes(np.array([0, 1.6, 3, 9])).tolist() == [0, 1, 1, 2]
    tied = np.array([0.0] * 90 + list(range(1, 11)))
    coding = Coding.of("x", tied, 5)
    assert 1 <= coding.points.size < 4
    assert set(coding.codes(tied)) == set(range(coding.arity))


@pytest.mark.parametrize(
    "seeded",
    [int, np.random.RandomState, np.random.default_rng],
    ids=["int", "legacy", "generator"],
)
def test_same_seed_same_bits(seeded):
    frame, y = table()
    one, again = (
        BayesNetClassifier(draws=20, random_state=seeded(7)).fit(frame, y).predict_proba(frame)
        for _ in range(2)
    )
    assert np.array_equal(one, again)


@pytest.mark.parametrize(
    ("options", "change", "match"),
    [
        ({"bins": 1}, {}, r"bins=\[1\], of which 1: give an integer of at least 2"),
        ({"bins": ()}, {}, "bins is empty"),
        ({"bins": "many"}, {}, "bins='many'"),
        ({"draws": 0}, {}, "draws=0"),
        ({"ess": -1.0}, {}, "ess"),
        ({"max_parents": -1}, {}, "max_parents"),
        ({}, {"size": np.inf}, "column 'size' contains infinity"),
    ],
)
def test_refused(options, change, match):
    frame, y = table()
    with pytest.raises(ValueError, match=match):
        BayesNetClassifier(**options).fit(frame.assign(**change), y)


def test_refused_of_classes_rows_and_columns():
    frame, y = table()
    with pytest.raises(ValueError, match="1 class"):
        BayesNetClassifier().fit(frame, np.full(len(y), "yes"))
    with pytest.raises(ValueError, match="70 columns that vary: give at most 62"):
        BayesNetClassifier().fit(np.random.default_rng(1).normal(size=(20, 70)), np.arange(20) % 2)
    model = BayesNetClassifier(draws=5, random_state=1).fit(frame, y)
    with pytest.raises(ValueError, match="'size' held numbers in training"):
        model.predict(frame.assign(size="tall"))


@pytest.mark.slow
def test_breast_cancer_beside_logistic_regression():
    """Better than one number of intervals, and not as good as logistic regression."""
    X, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    loss = {
        name: log_loss(y, cross_val_predict(model, X, y, cv=folds, method="predict_proba"))
        for name, model in {
            "averaged": BayesNetClassifier(random_state=0),
            "one cut": BayesNetClassifier(bins=5, random_state=0),
            "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        }.items()
    }
    assert loss["logistic"] < loss["averaged"] < min(loss["one cut"], loss["logistic"] + 0.04)
