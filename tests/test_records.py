"""Results as tables: data frames, and HTML in notebooks."""

import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import bnlab as bn

NAMES = ("<b>rain</b>", 'a "b" & c', "größe", "x3", "x4", "x5")


@pytest.fixture(scope="module")
def table():
    values = np.random.default_rng(1).integers(0, 2, (40, 6))
    values[:, 1] = values[:, 0] ^ (np.arange(40) % 7 == 0)
    return bn.score_families(bn.Data.from_arrays(values, names=NAMES), bn.BDeu(), max_parents=2)


class Cells(HTMLParser):
    """The caption and the rows of an HTML table, and every tag in it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.caption = set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not attributes
        self.now = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.now == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


def assert_table(result, frame):
    """The HTML has the first 20 rows of the frame, escaped, and says how many there are."""
    cells = Cells(result._repr_html_())
    assert cells.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert cells.rows[0] == list(frame.columns)
    assert len(cells.rows) == 1 + min(20, len(frame))
    for row, told in zip(cells.rows[1:], frame.itertuples(index=False), strict=False):
        for cell, value in zip(row, told, strict=True):
            assert cell == (f"{value:.4f}" if isinstance(value, float) else str(value))
    more = f"; the first 20 of {len(frame)} rows, to_frame() has all" if len(frame) > 20 else ""
    assert cells.caption == repr(result) + more
    assert frame.attrs["about"] == repr(result)


def assert_pairs(frame, **matrices):
    """A row for each ordered pair, the likeliest first."""
    pairs = list(zip(frame["from"], frame["to"], strict=True))
    assert set(pairs) == {(a, b) for a in NAMES for b in NAMES if a != b} and len(pairs) == 30
    assert frame["probability"].is_monotonic_decreasing
    assert list(frame.columns) == ["from", "to", *matrices]
    for name, matrix in matrices.items():
        for (a, b), value in zip(pairs, frame[name], strict=True):
            np.testing.assert_equal(value, matrix[NAMES.index(a), NAMES.index(b)])


def test_posteriors(table):
    orders, dags = bn.order_posterior(table), bn.dag_posterior(table)
    for posterior, more in ((orders, {}), (dags, {"path": dags.ancestors})):
        assert_pairs(posterior.to_frame(), probability=posterior.edges, **more)
        assert_table(posterior, posterior.to_frame())
        assert posterior.prior in posterior._repr_html_()


def test_edges_of_draws(table):
    rng = np.random.default_rng(1)
    draws = bn.sample_dags(bn.dag_posterior(table), draws=200, rng=rng)
    found = bn.features.edge_table(draws, delta=0.1)
    frame = found.to_frame()
    assert list(frame.columns[2:]) == ["probability", "stderr", "low", "high"]
    assert_table(found, frame)
    for row in frame.itertuples(index=False):
        feature = bn.features.edge(NAMES.index(row[0]), NAMES.index(row[1]))
        one = bn.features.probability(draws, feature, delta=0.1)
        assert row[2:] == pytest.approx((one.value, one.stderr, one.low, one.high), abs=1e-12)
    told = "edges of 200 DAGs, structure-modular; Hoeffding intervals, confidence 0.9"
    assert repr(found) == f"Table({told})"


def test_edges_of_chains_come_with_rhat_and_ess(table):
    draws = bn.sample_structures(table, draws=50, chains=2, rng=np.random.default_rng(1))
    frame = bn.features.edge_table(draws).to_frame()
    for row in frame.itertuples(index=False):
        feature = bn.features.edge(NAMES.index(row[0]), NAMES.index(row[1]))
        one = bn.features.probability(draws, feature)
        assert row[2:] == pytest.approx(
            (one.value, one.stderr, one.low, one.high, one.rhat, one.ess), abs=1e-12
        )
    with pytest.raises(ValueError, match=r"is over orders: draw dags \(sample_dags\)"):
        bn.features.edge_table(bn.sample_orders(table, draws=4, rng=np.random.default_rng(1)))


def test_best_dags(table):
    best = bn.k_best_dags(table, 25)
    frame = best.to_frame()
    assert_table(best, frame)
    np.testing.assert_array_equal(frame["rank"], np.arange(1, 26))
    np.testing.assert_array_equal(frame["log_target"], best.log_target)
    np.testing.assert_array_equal(frame["log_weight"], best.log_weight)
    for dag, told in zip(best.dags, frame["edges"], strict=True):
        edges = [
            (NAMES.index(a), NAMES.index(b))
            for a, _, b in (e.partition(" → ") for e in told.split(", ") if e)
        ]
        np.testing.assert_array_equal(bn.graphs.from_edges(6, edges), dag)
    assert best.to_dot() == bn.graphs.to_dot(best.dag, names=NAMES)


def test_effects():
    data = bn.Data.from_arrays([[0, 0], [1, 1], [1, 2]] * 9, names=("x", "y"))
    posterior = bn.dag_posterior(bn.score_families(data, bn.BDeu()))
    rng = np.random.default_rng(1)
    draws = bn.sample_dags(posterior, draws=9, rng=rng)
    found = bn.effects(draws, data, do={"x": 1}, on="y", rng=rng)
    frame = found.to_frame()
    assert_table(found, frame)
    assert frame.columns[0] == "level" and tuple(frame["level"]) == data.levels[1]
    for name in ("mean", "stderr", "between", "within", "low", "high"):
        np.testing.assert_array_equal(frame[name], getattr(found, name))


def test_without_pandas_the_extra_is_named():
    code = """
import sys
sys.modules["pandas"] = None
import bnlab as bn
best = bn.map_dag(bn.score_families(bn.Data.from_arrays([[0, 0], [1, 1]]), bn.BDeu()))
assert "<table>" in best._repr_html_()
try:
    best.to_frame()
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "BestDags.to_frame needs pandas: pip install bnlab[lab]\n"


def test_frames_are_those_of_pandas(table):
    assert type(bn.order_posterior(table).to_frame()) is pd.DataFrame
