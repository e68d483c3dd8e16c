"""He, Tian & Wu (2016): published numbers, and the page: its code, its long runs, its pictures."""

import itertools
import math
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bokeh.embed import json_item

import bnlab as bn
from bnlab.papers.htw2016 import page, study

STORED = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "stored.py"))

BUNDLED = ("tic_tac_toe", "wine")
# What is random in the tables, of data that come with the package.
RANDOM = [
    (name, method)
    for name in BUNDLED
    for method in ("DOS", "DDS", "DP+MCMC", "IW-DDS", "k-best", "PO-MCMC")
]


# Tables 1 to 4


@pytest.mark.quick(
    "wine-DOS", "wine-DP", "wine-k", "wine-IW", "wine-DDS", "tic_tac_toe-D", "tic_tac_toe-IW"
)
@pytest.mark.parametrize(("name", "method"), RANDOM)
def test_a_kept_run_comes_out_again(name: str, method: str) -> None:
    live, kept = study.trials(name, method, runs=1)[0], study.stored_trials(name, method)[0]
    assert live.sad == pytest.approx(kept.sad, rel=1e-5)
    assert live.mass == pytest.approx(kept.mass, rel=1e-5, nan_ok=True)
    assert live.seconds > 0


@pytest.mark.parametrize("name", BUNDLED)
def test_bias_is_that_of_the_exact_posteriors(name: str) -> None:
    sad = bn.diagnostics.sad(study.case(name).by_bdeu.edges, study.dags(name).edges)
    assert study.stored_bias(name) == pytest.approx(sad, rel=1e-9)


def test_what_print_has_once_agrees_to_four_digits() -> None:
    assert study.verdict((0.2011, 0.0), 0.2159) == "above"
    assert study.verdict((35.1215, 0.0), 35.12153) == "yes"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no data set 'glass'"):
        study.case("glass")
    with pytest.raises(ValueError, match="no method 'MC3'"):
        study.trials("wine", "MC3")


@pytest.mark.slow
def test_long_runs_are_made_as_they_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "RUNS", dict.fromkeys(study.METHODS, 1))
    made = STORED["trials"](["tic_tac_toe"], {0.02: 2})
    for method in study.METHODS:
        kept = study.stored_trials("tic_tac_toe", method)[0]
        assert made[f"tic_tac_toe {method}"][0, 0] == pytest.approx(kept.sad, rel=1e-5)
    assert made["rates 0.02"].shape == (len(study.CURVE), 90)
    assert made["bias"] == pytest.approx([study.stored_bias("tic_tac_toe")])


def test_audit_of_the_long_runs() -> None:
    """What is not within two published standard deviations: ties among the k best, and PO-MCMC,
    which keeps every state here."""
    tables = {name: page.page.parts[name].make() for name in ("table_1", "table_3", "table_3_mass")}
    verdicts = {(name, *row[:2]): row[-1] for name, made in tables.items() for row in made.rows}
    assert len(verdicts) == 12 + 16 + 8
    assert {key: verdict for key, verdict in verdicts.items() if verdict != "yes"} == {
        ("table_1", "tic_tac_toe", "PO-MCMC"): "below",
        ("table_3", "tic_tac_toe", "k-best"): "below",
        ("table_3", "wine", "k-best"): "above",
        ("table_3", "german", "k-best"): "below",
        ("table_3_mass", "tic_tac_toe", "k-best"): "above",
    }
    for name in study.NAMES:
        sads = {row[1]: row[4] for row in tables["table_3"].rows if row[0] == name}
        assert min(("DP+MCMC", "k-best", "IW-DDS"), key=sads.__getitem__) == "IW-DDS"
    for eps, delta in study.SETTINGS.items():
        assert study.stored_rates(eps)[-1].max() < delta
    rates = study.stored_rates(0.02)
    assert np.all(rates.max(axis=1) < 2 * np.exp(-2 * np.array(study.CURVE) * 0.02**2))


# Section 4.3


def _plain(dags: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """The six features of every pair and triple, one DAG and one path at a time."""
    n = dags.shape[1]
    out = {f: np.zeros((n,) * (2 if f in ("edge", "f1", "f2") else 3)) for f in study.FEATURES}
    for dag, weight in zip(dags, weights, strict=True):
        edge = {(i, j) for j in range(n) for i in range(n) if int(dag[j]) >> i & 1}
        short = edge | {(i, k) for i, j in edge for a, k in edge if a == j}
        path = set(edge)
        for _ in range(n):
            path |= {(i, k) for i, j in path for a, k in edge if a == j}
        for name, pairs in (("edge", edge), ("f1", path), ("f2", short)):
            for pair in pairs:
                out[name][pair] += weight
        for i, j, k in itertools.permutations(range(n), 3):
            out["f3"][i, j, k] += weight * ((i, j) in path and (j, k) in path)
            out["f4"][i, j, k] += weight * ((i, j) in path and (i, k) in path)
            out["f5"][i, j, k] += weight * ((i, j) in path and (i, k) not in path)
    return out


def test_features_are_those_of_a_plain_search() -> None:
    rng = np.random.default_rng(1)
    dags = bn.graphs.all_dags(4)[::7]
    weights = rng.dirichlet(np.ones(len(dags)))
    found, plain = study.probabilities(dags, weights), _plain(dags, weights)
    for name in study.FEATURES:
        np.testing.assert_allclose(found[name], plain[name], atol=1e-12)


def test_features_are_those_of_the_package() -> None:
    draws = bn.sample_dags(study.small("iris"), draws=300, rng=np.random.default_rng(1))
    distinct, ours = bn.reweight_unique(draws), bn.features
    found = study.estimate(distinct)
    both = ours.combined(ours.path(0, 1), ours.path(0, 2))
    only = ours.combined(ours.path(0, 1), absent=[ours.path(0, 2)])
    assert found["f4"][0, 1, 2] == pytest.approx(ours.probability(distinct, both).value)
    assert found["f5"][0, 1, 2] == pytest.approx(ours.probability(distinct, only).value)
    short = ours.paths(distinct, max_length=2)
    np.testing.assert_allclose(found["f2"], short, atol=1e-12)


@pytest.mark.parametrize("name", ["iris", pytest.param("coronary", marks=pytest.mark.slow)])
def test_enumeration_agrees_with_the_dynamic_program(name: str) -> None:
    posterior = bn.dag_posterior(study.small(name).table)
    np.testing.assert_allclose(study.exact(name)["edge"], posterior.edges, atol=1e-9)
    np.testing.assert_allclose(study.exact(name)["f1"], posterior.ancestors, atol=1e-9)


@pytest.mark.parametrize("name", ["iris", pytest.param("coronary", marks=pytest.mark.slow)])
def test_closer_on_edges_is_closer_on_every_feature(name: str) -> None:
    """Figures 13 to 24: IW-DDS against DP+MCMC, at every size."""
    ours, chain = study.errors(name, "IW-DDS", runs=5), study.errors(name, "DP+MCMC", runs=5)
    assert study.beaten(ours, chain) == dict.fromkeys(study.FEATURES, len(study.FEATURE_SIZES))
    assert ours["edge"].shape == (5, len(study.FEATURE_SIZES))


def test_all_of_iris_among_the_best_leave_no_error() -> None:
    errors = study.errors("iris", "k-best")
    assert all(sads.shape == (1, len(study.BESTS)) for sads in errors.values())
    assert all(sads[0, -1] < 1e-3 for sads in errors.values())


# Section 4.4


def test_draws_of_the_guarantee() -> None:
    for eps, delta in study.SETTINGS.items():
        T = study.draws_for(eps)
        assert 2 * math.exp(-2 * T * eps**2) <= delta < 2 * math.exp(-2 * (T - 1) * eps**2)


def test_misses_are_counted_edge_by_edge() -> None:
    rates = study.misses("wine", 0.02, [50, 200], runs=3)
    exact = study.case("wine").by_k2
    expected = np.zeros((2, 13, 13))
    for stream in np.random.default_rng([44, 20]).spawn(3):
        draws = bn.sample_dags(exact, draws=200, rng=stream.spawn(1)[0])
        for i, size in enumerate((50, 200)):
            gap = np.abs(bn.features.edges(draws.prefix(size)) - exact.edges)
            expected[i] += (gap >= 0.02) / 3
    np.testing.assert_allclose(rates, expected[:, ~np.eye(13, dtype=bool)], atol=1e-12)


# Pictures


def test_pictures_are_complete() -> None:
    for part, name in (("figure_rates", "rates"), ("figure_table_1", "published")):
        drawn = page.page.parts[part].make()
        assert drawn.select_one({"name": name}) is not None
        assert drawn.html_attributes["role"] == "img"
        assert drawn.title.text
        assert drawn.xaxis.axis_label
        assert json_item(drawn)


def test_rates_are_counted_once() -> None:
    data = page.page.parts["figure_rates"].make().select_one({"name": "rates"}).data
    assert sum(data["count"]) == 90
    assert data["left"][0] == 0
    assert data["right"][-1] > max(0.05, study.stored_rates(0.02)[-1].max())


@pytest.mark.slow
def test_features_have_a_picture_each() -> None:
    found = page.found("iris")["k-best"]
    grids = [page.page.parts[f"figures_iris_{half}"].make() for half in (1, 2)]
    for place, feature in enumerate(study.FEATURES):
        source = grids[place // 3].select_one({"name": f"sad_{feature}"})
        assert source.data["k-best"] == found[feature][0].tolist()


# Published numbers by the package alone

# Table 1: data set -> method -> mean and standard deviation of the SAD of 15 runs.
TABLE_1 = {
    "tic_tac_toe": {"DOS": (0.1350, 0.0257), "DDS": (0.1547, 0.0378)},
    "wine": {"DOS": (0.0505, 0.0138), "DDS": (0.0839, 0.0137)},
}
# Table 3: the column "DP", and mean and standard deviation of 20 runs of 30,000 draws of IW-DDS.
TABLE_3 = {
    "tic_tac_toe": {"DP": 0.165116738, "SAD": (0.0227, 0.0102), "Delta": (0.9935, 8.636e-4)},
    "wine": {"DP": 1.478625221, "SAD": (0.1041, 0.0075), "Delta": (0.9670, 1.7e-3)},
}
RUNS, DRAWS, MAX_PARENTS = 15, 20_000, 5


@pytest.mark.parametrize(
    ("name", "n", "log_z"), [("tic_tac_toe", 10, -9415.625932780), ("wine", 13, -1746.565455996)]
)
def test_sums_over_orders(name, n, log_z):
    """The order-modular sums behind the column "DP" of Table 3 (BDeu ess 1, uniform factor)."""
    table = bn.score_families(bn.load_dataset(name), bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    assert table.n == n
    assert bn.order_posterior(table).log_z == pytest.approx(log_z, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "log_z", "sad"),
    [
        ("tic_tac_toe", -9418.289139836, 0.165116738),
        ("wine", -1762.589147971, 1.478625221),
    ],
)
def test_table_3_bias_of_the_order_modular_edges(name, log_z, sad):
    """Column "DP" of Table 3: 0.1651 and 1.4786, exact on both sides."""
    table = bn.score_families(bn.load_dataset(name), bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    posterior = bn.dag_posterior(table)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-6)
    biased = bn.order_posterior(table).edges
    assert bn.diagnostics.sad(biased, posterior.edges) == pytest.approx(sad, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE_1)
def test_table_1_within_two_printed_standard_deviations(name):
    data = bn.load_dataset(name)
    table = bn.score_families(data, bn.K2(), max_parents=MAX_PARENTS, prior=bn.Fair())
    posterior = bn.order_posterior(table)
    sad = {"DOS": [], "DDS": []}
    for rng in np.random.default_rng(2016).spawn(RUNS):
        orders = bn.sample_orders(posterior, draws=DRAWS, rng=rng)
        dags = bn.sample_dags(posterior, draws=DRAWS, rng=rng)
        estimates = {"DOS": bn.features.edges(orders, table=table), "DDS": bn.features.edges(dags)}
        for method, edges in estimates.items():
            sad[method].append(bn.diagnostics.sad(edges, posterior.edges))
    for method, (mean, deviation) in TABLE_1[name].items():
        assert abs(np.mean(sad[method]) - mean) <= 2 * deviation


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE_3)
def test_table_3_within_two_printed_standard_deviations(name):
    """IW-DDS (BDeu ess 1, uniform factor), and its sound interval for every edge and path."""
    table = bn.score_families(bn.load_dataset(name), bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    orders, dags = bn.order_posterior(table), bn.dag_posterior(table)
    assert bn.diagnostics.sad(orders.edges, dags.edges) == pytest.approx(
        TABLE_3[name]["DP"], abs=1e-8
    )
    seen = {"SAD": [], "Delta": []}
    for rng in np.random.default_rng(2016).spawn(20):
        draws = bn.sample_dags(orders, draws=30_000, rng=rng)
        unique = bn.reweight_unique(draws, log_z=dags.log_z)
        edges, paths = bn.features.edges(unique), bn.features.paths(unique)
        seen["SAD"].append(bn.diagnostics.sad(edges, dags.edges))
        seen["Delta"].append(unique.stats["mass"][0])
        for estimate, exact in ((edges, dags.edges), (paths, dags.ancestors)):
            low, high = bn.features.sound(estimate, unique)
            assert (low <= exact + 1e-9).all()
            assert (exact <= high + 1e-9).all()
    for column, values in seen.items():
        mean, deviation = TABLE_3[name][column]
        assert abs(np.mean(values) - mean) <= 2 * deviation


def best_of(name, log_z):
    table = bn.score_families(bn.load_dataset(name), bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    return np.exp(bn.k_best_dags(table, 200).log_weight - log_z)


def test_the_k_best_of_wine_hold_the_printed_mass():
    """k = 100 alone gives the 0.9023 of Table 3; the source text at hand has lost the number."""
    mass = np.cumsum(best_of("wine", -1762.589147971))
    assert (np.flatnonzero(np.abs(mass - 0.9023) < 0.5e-4) + 1).tolist() == [100]


def test_the_k_best_of_wine_have_the_printed_sad_up_to_ties():
    """The last 42 of the 100 are any of 52 DAGs that tie, and Table 3's SAD is among theirs."""
    table = bn.score_families(bn.load_dataset("wine"), bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    exact, best = bn.dag_posterior(table).edges, bn.k_best_dags(table, 110)
    assert best.log_weight[58:] == pytest.approx(best.log_weight[58], abs=1e-9)
    rng, sads = np.random.default_rng(1), []
    for _ in range(300):
        kept = np.append(np.arange(58), rng.choice(np.arange(58, 110), 42, replace=False))
        fields = {name: getattr(best, name)[kept] for name in ("dags", "log_target", "log_weight")}
        edges = bn.features.edges(replace(best, **fields).as_draws())
        sads.append(bn.diagnostics.sad(edges, exact))
    assert min(sads) < 0.2011 < max(sads)
    assert np.mean(sads) == pytest.approx(0.2011, abs=0.01)


def test_the_k_best_of_tic_tac_toe_are_not_the_printed_ones():
    """No k gives 0.6943: 104 DAGs share the highest weight, and the 100 best hold 0.8403.

    Table 3's value is that of 76 of those and of 24 of the next 48.
    """
    share = best_of("tic_tac_toe", -9418.289139836)
    assert share[:104] == pytest.approx(share[0], rel=1e-9)
    assert share[104:152] == pytest.approx(share[104], rel=1e-9)
    assert (np.abs(np.cumsum(share) - 0.6943) > 0.5e-4).all()
    assert share[:100].sum() == pytest.approx(0.8403, abs=0.5e-4)
    assert 76 * share[0] + 24 * share[104] == pytest.approx(0.6943, abs=0.5e-4)
