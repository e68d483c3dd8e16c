"""Lab 13 without a browser: its searches, its pictures, its widgets and its checks."""

import itertools

import numpy as np
import pytest
from clicking import run_then_move
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.kernels import dag_walks
from bnlab.labs import structure_search as lab
from bnlab.labs.structure_search import counting
from bnlab.labs.structure_search.searches import first_hit, random_dag, tables
from bnlab.labs.structure_search.surface import WALKS

FEW = {"restarts": 3, "perturbed data": 2}


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


@pytest.mark.parametrize("name", ["coronary", "wine", "tic-tac-toe"])
def test_each_step_is_the_best_move(name: str) -> None:
    climb = lab.climbed(name, 0)
    best = [np.nanmax(lab.move_gains(lab.table(name), dag)) for dag in climb.path]
    np.testing.assert_allclose(best[:-1], np.diff(climb.trace), atol=1e-8)
    assert best[-1] < 1e-7


def test_classes_are_all_of_them_and_score_alike() -> None:
    for first, count, dags in ((3, 11, 25), (4, 185, 543)):
        scores, members = lab.classes("coronary", first)
        assert (len(scores), sum(map(len, members))) == (count, dags)
        assert (np.diff(scores) < 1e-6).all()
        assert all(bn.graphs.markov_equivalent(group, group[0]).all() for group in members)


def test_distance_of_classes() -> None:
    chain, fork, collider = (bn.graphs.cpdag(dag) for dag in ([0, 1, 2], [2, 0, 2], [0, 5, 0]))
    assert lab.apart(chain, fork) == 0
    assert lab.apart(chain, collider) == lab.apart(collider, chain) == 2
    assert lab.apart(chain, bn.graphs.cpdag([0, 1, 0])) == 1


@pytest.mark.parametrize("method", lab.METHODS)
def test_a_search_has_so_many_climbs_and_begins_with_the_plain_one(method: str) -> None:
    climb = lab.search("coronary", method, 4, np.random.default_rng(1))
    assert len(climb.ends) == 4
    assert climb.log_targets[0] >= lab.climbed("coronary", 0).log_target - 1e-9


def test_searches_by_count_are_repeatable() -> None:
    first = lab.climbs_needed("coronary", "restarts", 10, 5)
    lab.climbs_needed.cache_clear()
    np.testing.assert_array_equal(first, lab.climbs_needed("coronary", "restarts", 10, 5))
    assert ((first >= 2) | np.isinf(first)).all()


def test_large_changes_beat_small_ones_on_tic_tac_toe() -> None:
    small, large = (
        np.isfinite(lab.climbs_needed("tic-tac-toe", "perturbed DAG", 100, changes=changes)).mean()
        for changes in (2, 16)
    )
    assert small < 0.2 < 0.6 < large


def test_first_hit_counts_from_one() -> None:
    climb = lab.search("coronary", "tabu, restarts", 20, np.random.default_rng(1))
    hit = first_hit("coronary", climb)
    assert climb.log_targets[int(hit) - 1] == pytest.approx(lab.best("coronary").log_target[0])
    assert (climb.log_targets[: int(hit) - 1] < lab.best("coronary").log_target[0] - 1e-3).all()


def test_the_clock_stops_with_what_it_has() -> None:
    told = []

    def stop(done: int, total: int, found: dict) -> bool:
        told.append((done, total, len(found["restarts"])))
        return False

    found = lab.Clock(climbs=FEW, searches=3).compute(stop, "wine", 16)
    assert told == [(1, 3, 1)]
    assert [len(searches) for searches in found.values()] == [1, 1]
    assert all(reached <= end for searches in found.values() for reached, end in searches)


def test_random_networks_are_dags_with_few_parents() -> None:
    for seed in range(50):
        dag = random_dag(np.random.default_rng(seed))
        bn.graphs.topological_order(dag)
        assert np.bitwise_count(dag).max() <= 3


def test_equivalence_search_has_its_guarantee_and_reaches_the_best() -> None:
    assert tables(lab.TWENTY, 0)[0].max_parents == 6
    shares = lab.reached(lab.TWENTY)
    assert shares["GES"][-1] == shares["exact best"][-1] == 1
    assert shares["hill climbing"][-1] < 0.6
    distances = {search: each.mean(axis=0) for search, each in lab.distances(lab.TWENTY).items()}
    assert distances["GES"][0] > 3 * distances["GES"][-1]
    assert distances["GES"][-1] < 0.5 * distances["hill climbing"][-1]


def test_an_average_of_the_best_alone_is_the_best() -> None:
    alone = bn.graphs.from_adjacency(lab.average("wine", 1).edges.astype(int))
    assert bn.graphs.markov_equivalent(alone, lab.best("wine").dags[0])
    gaps = [
        bn.diagnostics.sad(lab.average("wine", k).edges, lab.exact("wine").edges)
        for k in (1, 100, 1000)
    ]
    assert gaps[0] > 5 > 1 > gaps[1] > gaps[2]


def test_close_calls_of_wine_under_bic() -> None:
    near = lab.close_calls("wine", bn.BIC())
    assert len(near.dags) == len(np.unique(near.dags, axis=0)) == 52
    assert near.log_target.min() > near.log_target[0] - np.log(3)
    more = bn.k_best_dags(bn.score_families(lab.data("wine"), bn.BIC(), max_parents=3), 53)
    assert more.log_target[-1] < near.log_target[0] - np.log(3)
    table = lab.scored(lab.data("wine"), bn.BIC())
    many = bn.hill_climb(table, tabu=20, restarts=100, rng=np.random.default_rng(0)).ends
    found = bn.occams_window(table, factor=3, start=many).dags
    assert {*map(tuple, found.tolist())} == {*map(tuple, near.dags.tolist())}
    with pytest.raises(ValueError, match="more than 10 DAGs"):
        lab.close_calls("wine", bn.BIC(), most=10)


def test_plateaus_follow_the_slider() -> None:
    plateaus = lab.Plateaus()
    _, members = lab.classes("coronary")
    for rank in (2, 40, 185):
        plateaus.rank.value = rank
        group = members[rank - 1]
        shown = [*group[:8], group[0]]
        edges = sum(int(np.bitwise_count(dag).sum()) for dag in shown)
        assert len(plateaus.panel.source("gallery").data["xs"]) == edges
        assert plateaus.panel.caption.startswith(f"{len(group)} DAG")


def test_steps_follow_their_controls() -> None:
    steps = lab.Steps()
    steps.dataset.value = "tic-tac-toe"
    steps.walk.value = list(WALKS)[1]
    steps.step.value = steps.step.max
    climb = lab.climbed("tic-tac-toe", 5)
    dag = climb.path[steps.step.value]
    gains = lab.move_gains(lab.table("tic-tac-toe"), dag)[~np.eye(10, dtype=bool)]
    shown = steps.gains.source("gains").data
    np.testing.assert_allclose(shown["gain"], np.nan_to_num(gains))
    assert len(steps.net.source("climbed").data["xs"]) == np.bitwise_count(dag).sum()
    assert f"Step {steps.step.value}: " in steps.net.caption
    steps.dataset.value = "coronary"
    assert steps.step.value == 0
    assert "The empty network" in steps.net.caption


def test_the_clock_widget_runs_and_clears() -> None:
    clock = lab.Clock(climbs=FEW, searches=2)
    clock.dataset.value = "coronary"
    clock.runner.run_now()
    assert [len(searches) for searches in clock.found.values()] == [2, 2]
    assert "Milliseconds a climb" in clock.panel.caption
    clock.changes.value = 2
    assert not any(clock.found.values())
    assert clock.panel.caption.startswith("Press Run")


def test_a_clock_of_older_settings_is_stopped_and_not_shown() -> None:
    clock = lab.Clock(climbs={"restarts": 2000}, searches=1000)
    run_then_move(clock, clock.dataset, "wine", seconds=0.3)
    assert not any(clock.found.values())


def test_recovery_follows_its_controls() -> None:
    recovery = lab.Recovery()
    recovery.network.value = "survey"
    assert recovery.which.value == recovery.which.max == 5
    recovery.rows.value = 20_000
    curves = recovery.curves.source("distance").data
    expected = [each.mean(axis=0).tolist() for each in lab.distances("survey").values()]
    assert curves["ys"] == expected
    graphs = [lab.truths("survey")[4].dag]
    graphs += [lab.found_dags("survey", 4, 20_000)[search] for search in ("hill climbing", "GES")]
    edges = sum(int(np.bitwise_count(dag).sum()) for dag in graphs)
    assert len(recovery.gallery.source("gallery").data["xs"]) == edges


def test_averages_follow_their_controls() -> None:
    averages = lab.Averages()
    averages.count.value = 100
    averages.dataset.value = "wine"
    averages.count.value = 30
    edges = lab.average("wine", 30).edges
    shown = averages.heat.source("averaged").data["probability"]
    np.testing.assert_allclose(shown, edges[~np.eye(13, dtype=bool)])
    answers = averages.pairs.source("answers").data
    exact = lab.exact("wine").edges
    assert set(answers["second"]) <= set(exact.ravel().tolist())
    assert "30 networks" in averages.heat.caption


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
    def right(score, parents, kind, u, v):
        new = parents[v] | {u} if kind == "add" else parents[v] - {u}
        total = score(v, new) - score(v, parents[v])
        if kind == "reverse":
            total += score(u, parents[u] | {v}) - score(u, parents[u])
        return total

    def whole(score, parents, kind, u, v):
        total = sum(score(w, parents[w]) for w in range(4))
        return right(score, parents, kind, u, v) + 0 * total

    def one_end(score, parents, kind, u, v):
        return right(score, parents, "delete" if kind == "reverse" else kind, u, v)

    assert not lab.check_gain(lambda *given: None)
    assert not lab.check_gain(whole)
    assert not lab.check_gain(one_end)
    assert not lab.check_gain(lambda *given: -right(*given))
    assert lab.check_gain(right)
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_covered_edges(capsys: pytest.CaptureFixture[str]) -> None:
    def right(dag):
        return [(u, v) for u, v in bn.graphs.to_edges(dag) if dag[v] == dag[u] | 1 << u]

    def reversible(dag):  # in the class, but not always at once
        undirected = bn.graphs.cpdag(dag)
        return [(u, v) for u, v in bn.graphs.to_edges(dag) if undirected[v, u]]

    assert not lab.check_covered(lambda dag: None)
    assert not lab.check_covered(lambda dag: bn.graphs.to_edges(dag))
    assert not lab.check_covered(reversible)
    assert lab.check_covered(right)
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_searches(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_search(lambda table, rng: None)
    assert not lab.check_search(lambda table, rng: bn.hill_climb(table, restarts=50, rng=rng).dag)
    assert not lab.check_search(lambda table, rng: bn.ges(table).dag)
    assert lab.check_search(
        lambda table, rng: bn.hill_climb(table, tabu=20, restarts=200, rng=rng).dag
    )
    assert capsys.readouterr().out.count("not yet") == 3


@pytest.mark.parametrize("m", [1, 10, 400])
def test_an_ad_tree_counts_what_the_rows_count(m: int) -> None:
    rng, arities = np.random.default_rng(m), np.array([2, 3, 2, 4, 3])
    rare = rng.integers(0, arities, (m, 5)) * rng.integers(0, 2, (m, 5))
    rows = bn.Data.from_arrays(rare, arities=arities)
    tree, columns = counting.grow(rows, 3), np.array(rows.values.T, order="C")
    for size in (1, 2, 3):
        for some in itertools.combinations(range(5), size):
            expected = np.zeros(arities[list(some)], int)
            np.add.at(expected, tuple(rare[:, v] for v in some), 1)
            found = np.zeros(expected.size, int)
            counting.fill(tree, columns, arities, np.array(some), found)
            np.testing.assert_array_equal(found, expected.ravel())


def test_a_climb_asks_for_the_families_that_lazy_scores_count() -> None:
    rows = lab.data("wine")
    scores = bn.LazyScores(rows, bn.BDeu(1.0))
    requests = counting.asked(bn.hill_climb(scores, tabu=10, rng=np.random.default_rng(0)))
    families, log_phi = scores.source[0], scores.source[0][0]
    assert requests[:, 2].max() + 1 == np.isfinite(log_phi).sum()
    numbers = {number: (v, mask) for v, mask, number in requests.tolist()}
    assert len(numbers) == len(set(numbers.values())) < len(requests)
    expected = sum(dag_walks.score(families, v, mask) for v, mask, _ in requests)
    tree = counting.grow(rows, 4)
    for how, keeps in counting.WAYS.values():
        known = np.full(len(numbers) if keeps else 0, np.nan)
        total = counting.serve(how, scores.source[1], tree, requests, known)
        assert total == pytest.approx(expected)
