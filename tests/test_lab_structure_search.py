"""Lab 13 without a browser: its searches, its pictures, its widgets and its checks."""

from itertools import chain, combinations

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import structure_search as lab


def oracle_gains(table: bn.ScoreTable, dag: np.ndarray) -> np.ndarray:
    """Every move made and rescored; what is no DAG, or has too many parents, is nan."""
    out = np.full((dag.size, dag.size), np.nan)
    for u in range(dag.size):
        for v in range(dag.size):
            new = dag.copy()
            new[v] ^= 1 << u
            new[u] &= ~(1 << v)
            try:
                gain = table.log_target(new) - table.log_target(dag)
            except ValueError:
                continue
            out[u, v] = gain if u != v and np.isfinite(gain) else np.nan
    return out


@pytest.mark.parametrize("name", ["coronary", "wine", "tic-tac-toe"])
def test_gains_are_those_of_rescoring(name: str) -> None:
    climb = lab.climbed(name, 0)
    for step in (0, 1, len(climb.steps) // 2, len(climb.steps)):
        dag = climb.path[step]
        expected = oracle_gains(lab.table(name), dag)
        np.testing.assert_allclose(lab.move_gains(lab.table(name), dag), expected, atol=1e-8)


def test_an_average_of_the_best_alone_is_the_best() -> None:
    alone = bn.graphs.from_adjacency(lab.average("wine", 1)[0].astype(int))
    assert bn.graphs.markov_equivalent(alone, lab.best("wine").dags[0])
    gaps = [
        bn.diagnostics.sad(lab.average("wine", k)[0], lab.exact("wine").edges)
        for k in (1, 100, 1000)
    ]
    assert gaps[0] > 5 > 1 > gaps[1] > gaps[2]


def test_averages_follow_their_controls() -> None:
    averages = lab.Averages()
    averages.count.value = 100
    averages.dataset.value = "wine"
    averages.count.value = 30
    edges, _, _ = lab.average("wine", 30)
    shown = averages.heat.source("averaged").data["probability"]
    np.testing.assert_allclose(shown, edges[~np.eye(13, dtype=bool)])
    answers = averages.pairs.source("answers").data
    exact = lab.exact("wine").edges
    assert set(answers["second"]) <= set(exact.ravel().tolist())
    assert "Best DAGs: 30" in averages.heat.caption


@pytest.mark.parametrize("name", ["coronary", "wine", "tic-tac-toe"])
def test_each_step_is_the_best_move(name: str) -> None:
    climb = lab.climbed(name, 0)
    best = [np.nanmax(lab.move_gains(lab.table(name), dag)) for dag in climb.path]
    np.testing.assert_allclose(best[:-1], np.diff(climb.trace), atol=1e-8)
    assert best[-1] < 1e-7


def test_members_are_the_whole_class_and_their_best_addition_is_that_of_ges() -> None:
    steps = bn.ges(lab.table("coronary")).steps
    listed = bn.graphs.cpdag(bn.graphs.all_dags(4))
    for dag in bn.graphs.all_dags(4)[::25]:
        alike = (listed == bn.graphs.cpdag(dag)).all(axis=(1, 2)).sum()
        assert len(lab._members(dag)) == alike
    for edges, (step, group) in enumerate(zip(steps, lab.classes("coronary"), strict=False)):
        assert bn.graphs.markov_equivalent(np.array(group), group[0]).all()
        assert np.nanmax(lab.additions("coronary", edges)) == pytest.approx(step.gain)


def test_random_networks_are_dags_with_few_parents() -> None:
    dags = np.array([net.dag for net in lab.truths()])
    assert dags.shape == (40, 7)
    for dag in dags:
        bn.graphs.topological_order(dag)
    assert np.bitwise_count(dags).max() == 3


def test_members_follow_their_controls() -> None:
    shown = lab.Members()
    for edges, member in ((5, 7), (2, 2), (0, 1), (8, 3)):
        shown.edges.value = edges
        assert (shown.member.value, shown.member.max) == (1, len(lab.classes("coronary")[edges]))
        shown.member.value = member
        dag = lab.classes("coronary")[edges][member - 1]
        assert (
            len(shown.net.source("member").data["xs"])
            == 2 * np.bitwise_count(dag).sum()
            == 2 * edges
        )
        gains = lab.additions("coronary", edges)[member - 1][~np.eye(6, dtype=bool)]
        np.testing.assert_allclose(shown.gains.source("gains").data["gain"], np.nan_to_num(gains))
        assert f"to this member: {np.nanmax(gains):+.2f}" in shown.gains.caption


def test_steps_follow_their_controls() -> None:
    steps = lab.Steps()
    steps.dataset.value = "tic-tac-toe"
    steps.walk.value = list(lab.WALKS)[1]
    steps.step.value = steps.step.max
    climb = lab.climbed("tic-tac-toe", 10)
    dag = climb.path[steps.step.value]
    gains = lab.move_gains(lab.table("tic-tac-toe"), dag)[~np.eye(10, dtype=bool)]
    shown = steps.gains.source("gains").data
    np.testing.assert_allclose(shown["gain"], np.nan_to_num(gains))
    assert len(steps.net.source("climbed").data["xs"]) == np.bitwise_count(dag).sum()
    assert f"Move {steps.step.value}: " in steps.net.caption
    steps.dataset.value = "coronary"
    assert steps.step.value == 0
    assert "The empty DAG" in steps.net.caption


def test_a_gallery_draws_edges_and_lines() -> None:
    graphs = np.array([[[0, 1], [0, 0]], [[0, 1], [1, 0]]])
    look = {"title": "Two", "alt": "Two galleries"}
    drawn = plots.graph_gallery(graphs, ["a", "b"], ["arrow", "line"], graphs == 0, **look)
    data = columns(drawn, "gallery")
    (arrow, line) = (np.array(data["head_xs"][i] + data["head_ys"][i]) for i in (0, 1))
    assert np.ptp(arrow[:3]) > 1
    assert np.ptp(line[:3]) == np.ptp(line[3:]) == 0  # no head
    assert data["color"][0] != data["color"][1]


def test_gains_frame_the_best_move_only_if_it_gains() -> None:
    for gain, framed in ((2.0, 1), (-2.0, 0)):
        data = columns(plots.move_gains([[np.nan, gain], [np.nan, np.nan]], ["a", "b"]), "gains")
        assert sum(colour != "#ffffff" for colour in data["edge"]) == framed
    assert data["label"] == ["-2.0", ""]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 2, 2\), but there are 3 names"):
        plots.graph_gallery(np.zeros((1, 2, 2), int), ["a", "b", "c"], ["x"], title="", alt="")
    with pytest.raises(ValueError, match="1 graphs, but 2 labels"):
        plots.graph_gallery(
            np.zeros((1, 2, 2), int), ["a", "b"], ["one", "two"], title="", alt="Nothing"
        )
    with pytest.raises(ValueError, match="marks of shape"):
        graphs, marks = np.zeros((1, 2, 2), int), np.zeros((2, 2))
        plots.graph_gallery(graphs, ["a", "b"], ["x"], marks, title="", alt="")


def test_check_of_gains(capsys: pytest.CaptureFixture[str]) -> None:
    def right(score, dag, new):
        return sum(score(v, new[v]) - score(v, dag[v]) for v in range(4) if new[v] != dag[v])

    def whole(score, dag, new):
        return sum(score(v, new[v]) - score(v, dag[v]) for v in range(4))

    def one_end(score, dag, new):
        changed = [v for v in range(4) if new[v] != dag[v]]
        v = max(changed, key=lambda v: len(new[v]) - len(dag[v]))
        return score(v, new[v]) - score(v, dag[v])

    def chain_only(score, dag, new):
        return right(score, dag, new) * (len(dag[3]) == 0)

    assert not lab.check_gain(lambda *given: None)
    assert not lab.check_gain(whole)
    assert not lab.check_gain(one_end)
    assert not lab.check_gain(chain_only)
    assert not lab.check_gain(lambda *given: -right(*given))
    assert lab.check_gain(right)
    assert capsys.readouterr().out.count("not yet") == 5
    dag = (frozenset(),) * 4
    for function in (right, chain_only, lambda *given: None):
        used = lab.right_gain(function)
        assert (used is right) == (function is right)
        for _, new in lab.moves(dag):
            score = lab.scorer(lab._four())
            assert used(score, dag, new) == pytest.approx(right(score, dag, new))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["coronary", "wine"])
def test_moves_are_those_of_the_picture(name: str) -> None:
    for masks in lab.climbed(name, 0).path[::4]:
        dag = tuple(frozenset(bn.graphs.members(mask)) for mask in masks.tolist())
        score, gains = lab.scorer(lab.table(name)), np.full((len(dag), len(dag)), np.nan)
        for move, new in lab.moves(dag):
            gains[move] = sum(score(v, new[v]) - score(v, dag[v]) for v in range(len(dag)))
        gains[np.isinf(gains)] = np.nan
        np.testing.assert_allclose(gains, lab.move_gains(lab.table(name), masks), atol=1e-6)


@pytest.mark.slow
def test_check_of_deletions(capsys: pytest.CaptureFixture[str]) -> None:
    def deletes(C, score, clique=True, kept_parents=True, oriented=True):
        joined = C | C.T
        for x, y in np.argwhere(C if oriented else joined).tolist():
            NA = np.flatnonzero(C[:, y] & C[y] & joined[x]).tolist()
            for H in chain.from_iterable(combinations(NA, k) for k in range(len(NA) + 1)):
                kept = {*NA} - {*H}
                if not clique or all(joined[s, t] for s, t in combinations(kept, 2)):
                    old = np.flatnonzero(C[:, y] & ~C[y]).tolist()
                    P = {*old, *(kept if kept_parents else ())} - {x}
                    yield score(y, P) - score(y, P | {x}), x, y, H

    assert not lab.check_deletes(lambda C, score: None)
    assert not lab.check_deletes(lambda C, score: [])
    assert not lab.check_deletes(lambda *given: deletes(*given, clique=False))
    assert not lab.check_deletes(lambda *given: deletes(*given, kept_parents=False))
    assert not lab.check_deletes(lambda *given: deletes(*given, oriented=False))
    assert not lab.check_deletes(lambda *given: (each for each in deletes(*given) if not each[3]))
    assert lab.check_deletes(deletes)
    assert capsys.readouterr().out.count("not yet") == 6


@pytest.mark.slow
def test_check_of_searches(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_search(lambda table, rng: None)
    assert not lab.check_search(lambda table, rng: bn.hill_climb(table, restarts=50, rng=rng).dag)
    assert not lab.check_search(lambda table, rng: bn.ges(table).dag)
    assert lab.check_search(
        lambda table, rng: bn.hill_climb(table, tabu=20, restarts=200, rng=rng).dag
    )
    assert capsys.readouterr().out.count("not yet") == 3
