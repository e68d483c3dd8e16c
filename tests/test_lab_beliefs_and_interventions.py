"""Lab 12 without a browser: its pictures, its widgets and its checks."""

from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import stills

import bnlab as bn
from bnlab.data.table import rows_of
from bnlab.labs import beliefs_and_interventions as lab
from bnlab.labs.board import bdeu_table
from bnlab.labs.modular_priors import space


def test_priors_by_enumeration_are_those_of_the_package() -> None:
    table = bdeu_table(lab.five(), 100, most=4)
    np.testing.assert_allclose(
        lab.believed(lab.PLAIN, 100), bn.dag_posterior(table).edges, atol=1e-9
    )
    expert = bn.score_families(
        lab.five().prefix(100), bn.BDeu(1.0), max_parents=4, prior=lab.edge_beliefs()
    )
    np.testing.assert_allclose(
        lab.believed(lab.EXPERT, 100), bn.dag_posterior(expert).edges, atol=1e-9
    )


@pytest.mark.quick("at most")
@pytest.mark.parametrize(
    ("name", "log_prior"),
    [("no path M. Work → Smoking", lab.no_path), ("at most 4 edges", lab.few_edges)],
)
def test_walks_agree_with_priors_of_any_form(name: str, log_prior) -> None:
    draws = bn.sample_structures(
        bdeu_table(lab.five(), 200, most=4),
        draws=4000,
        burn_in=2000,
        log_prior=log_prior,
        rng=np.random.default_rng(1),
    )
    assert bn.diagnostics.max_error(bn.features.edges(draws), lab.believed(name, 200)) < 0.05


def test_beliefs_follow_their_controls() -> None:
    beliefs = lab.Beliefs()
    beliefs.prior.value = "at most 4 edges"
    beliefs.rows.value = 1841
    edges = lab.believed("at most 4 edges", 1841)
    shown = beliefs.heat.source("believed").data["probability"]
    np.testing.assert_allclose(shown, edges[~np.eye(5, dtype=bool)])
    pairs = beliefs.moved.source("answers").data
    gaps = np.abs(edges - lab.believed(lab.PLAIN, 1841))
    assert abs(pairs["first"][0] - pairs["second"][0]) == pytest.approx(gaps.max())
    beliefs.rows.value = 0
    assert "No rows, the prior itself" in beliefs.heat.caption


def test_what_is_set_is_marked_and_listens_to_nobody() -> None:
    data = lab.mixed(1, 80)
    assert data.m == 400
    assert data.intervened[:, 1].sum() == data.intervened.sum() == 80
    rows = lab.after_setting(lab.chain_network(), 1, 4000, np.random.default_rng(1)).values
    agree = [(rows[:, v] == rows[:, v + 1]).mean() for v in range(3)]
    np.testing.assert_allclose(agree, [0.5, 0.8, 0.8], atol=0.03)


def test_setting_a_variable_directs_the_arrows() -> None:
    for which, certain in ((0, [0, 1, 2]), (1, [0, 1, 2]), (2, [1, 2]), (3, [2])):
        edges = lab.directed(which, 80)
        assert [v for v in range(3) if edges[v, v + 1] > 0.9] == certain
    np.testing.assert_allclose(lab.directed(0, 0), lab.directed(0, 0, told=False))


def test_the_cells_of_the_lab_are_those_of_the_table(data_dir) -> None:
    names = stills.run("12_beliefs_and_interventions", ("def log_score", "free = "))
    data = bn.load_dataset("sachs")
    u, v = data.index("Erk"), data.index("Akt")
    pairs = np.column_stack([data.values[:, u] == 2, data.values[:, v] > 0]).astype(int)
    unset = pairs[~data.intervened.any(axis=1)]
    assert Counter(map(tuple, unset.tolist())) == names["free"]
    assert Counter(map(tuple, pairs[data.intervened[:, v]].tolist())) == names["held"]
    assert unset[:, 0].reshape(3, 600).sum(axis=1).tolist() == [75, 140, 48]  # in each batch
    pair = rows_of(
        data.select(["Erk", "Akt"]), ~data.intervened[:, np.arange(data.n) != v].any(axis=1)
    )
    cuts = [[erk, akt] for erk in (2, 1) for akt in (1, 2)]  # the lab's first
    cut = [
        bn.Data.from_arrays((pair.values >= each).astype(int), intervened=pair.intervened)
        for each in cuts
    ]
    leads = []
    for rows in (*cut, pair):
        table = bn.score_families(rows, bn.BDeu(1.0))
        leads.append(np.subtract(*table.log_target(np.array([[0, 1], [2, 0]]))))
    assert np.round(leads).tolist() == [114, 0, 7, 0, 117]


@pytest.mark.slow
def test_doing_follows_its_controls() -> None:
    doing = lab.Doing()
    doing.which.value = "D"
    doing.rows.value = 80
    off = ~np.eye(4, dtype=bool)
    for name, told in (("told", True), ("untold", False)):
        panel = getattr(doing, name)
        expected = lab.directed(3, 80, told=told)[off]
        np.testing.assert_allclose(panel.source(name).data["probability"], expected)
    width = dict(
        zip(
            doing.cut.source("links").data["parent"],
            doing.cut.source("links").data["width"],
            strict=True,
        )
    )
    assert width["C"] < width["A"] == width["B"]


def test_check_of_scores(capsys: pytest.CaptureFixture[str]) -> None:
    def score(v, parents, rows, marks, counts=lambda was_set, v: not was_set[v], later=False):
        lam, N, total = 1 / (2 * 2 ** len(parents)), Counter(), 0.0
        for row, was_set in zip(rows, marks, strict=True):
            j, c = tuple(row[u] for u in parents), row[v]
            if counts(was_set, v):
                total += np.log((N[j, c] + lam) / (N[j, 0] + N[j, 1] + 2 * lam))
            N[j, c] += later or counts(was_set, v)
        return total

    assert not lab.check_score(lambda *given: None)
    for wrong in (lambda s, v: True, lambda s, v: s[v], lambda s, v: not any(s)):
        assert not lab.check_score(partial(score, counts=wrong))
    assert not lab.check_score(partial(score, counts=lambda s, v: not s[1]))
    assert not lab.check_score(partial(score, later=True))
    assert lab.check_score(score)
    assert capsys.readouterr().out.count("not yet") == 6


@pytest.mark.slow
def test_check_of_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    dags = [tuple(dag) for dag in space(4).dags.tolist()]
    best = {}
    for size in range(4):
        for chosen in combinations(range(4), size):
            alone = lab.singled_out(frozenset(chosen))
            best |= {
                dag: chosen for dag, one in zip(dags, alone, strict=True) if one and dag not in best
            }
    assert np.mean([len(chosen) for chosen in best.values()]) == lab.fewest().mean()
    assert lab.fewest()[dags.index((0, 1, 2, 4))] == 1
    assert lab.fewest()[dags.index((0, 0, 3, 4))] == 0
    assert not lab.check_experiment(lambda dag: [])
    assert not lab.check_experiment(lambda dag: [4])
    assert not lab.check_experiment(lambda dag: range(4))
    assert not lab.check_experiment(lambda dag: range(3))
    assert lab.check_experiment(lambda dag: best[tuple(dag.tolist())])
    assert capsys.readouterr().out.count("not yet") == 4


@pytest.mark.slow
def test_check_of_detours(capsys: pytest.CaptureFixture[str]) -> None:
    def detours(dag):
        return int(np.bitwise_count(bn.graphs.ancestors(dag) & ~dag).sum())

    assert not lab.check_detours(lambda dag: None)
    assert not lab.check_detours(lambda dag: detours(dag))
    assert not lab.check_detours(lambda dag: -float(np.bitwise_count(dag).sum()))
    assert lab.check_detours(lambda dag: -float(detours(dag)))
    assert capsys.readouterr().out.count("not yet") == 3
