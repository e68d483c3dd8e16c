"""Occam's window, shotgun search and candidate parents: against enumeration and plain Python."""

import itertools
import math

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import features
from bnlab.kernels import greedy
from bnlab.search import sets
from bnlab.search.sets import stored

MARGIN = 1e-7
EVERYTHING = 1e300


def random_data(seed, n, m=40):
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 4, size=n)
    values = rng.integers(0, arities, size=(m, n))
    for v in range(1, n):
        copied = rng.random(m) < 0.5
        values[copied, v] = values[copied, v - 1] % arities[v]
    return bn.Data.from_arrays(values, arities=arities)


def random_table(seed, n, k=3, **options):
    return bn.score_families(random_data(seed, n), bn.BDeu(), max_parents=k, **options)


def shot(table, seed=1, **options):
    options = {"steps": 200} | options
    return bn.shotgun_search(table, rng=np.random.default_rng(seed), **options)


def rows(dags):
    return {tuple(dag) for dag in dags.tolist()}


def within(log_target, factor):
    """How many are at most a Bayes factor below the best."""
    return int((log_target >= log_target.max() - math.log(factor) - MARGIN).sum())


def assert_in_order(found, table):
    assert (np.diff(found.log_target) <= 0).all()
    assert np.array_equal(found.log_target, table.log_target(found.dags))
    assert len(rows(found.dags)) == len(found.dags)
    assert np.array_equal(found.dag, found.dags[0])
    assert found.names == table.names


def searches(table):
    """Both, each begun so that it finds what there is in small tables."""
    ends = bn.hill_climb(table, restarts=100, rng=np.random.default_rng(0)).ends
    return {
        "window": bn.occams_window(table, factor=1e4, reach=1e6, start=ends),
        "shotgun": shot(table, steps=5000, power=0.2),
    }


# The set


def test_a_store_is_a_set():
    rng = np.random.default_rng(1)
    dags = np.tril(rng.integers(0, 2, (3000, 5, 5)), -1) @ (np.int64(1) << np.arange(5))
    store = stored(dags[:0], np.empty(0), 3000)
    scores = dags.sum(axis=1).astype(float)
    greedy.fill(store, dags, scores)
    size = store.size[0]
    first = dict.fromkeys(map(tuple, dags.tolist()))
    assert store.dags[:size].tolist() == [list(dag) for dag in first]
    assert np.array_equal(store.scores[:size], store.dags[:size].sum(axis=1))
    for row, dag in enumerate(store.dags[:size]):
        assert store.slots[greedy.place_of(store, dag, np.uint64(greedy.hash_of(dag)))] == row


def test_a_store_stands_equal_hashes():
    dags = np.array([[0, 1], [2, 0], [0, 0]])
    store = stored(dags[:0], np.empty(0), 3)
    for dag in np.concatenate([dags, dags]):
        greedy.add(store, dag, np.uint64(7), 0.0)
    assert store.dags[: store.size[0]].tolist() == dags.tolist()


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    table = random_table(1, 4)
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"1,016 DAGs of n=4 variables needs .*: ask for fewer"):
        bn.occams_window(table)
    with pytest.raises(ValueError, match=r"4 x 200 steps: the 10,000 best DAGs needs .* keep"):
        shot(table)


# Occam's window


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_with_no_limit_the_window_is_that_of_all_dags(n):
    every = np.array(oracles.all_dags(n))
    for seed, factor in itertools.product(range(5), (1.001, 3, 100, 1e9)):
        table = random_table(seed, n, k=n - 1)
        found = bn.occams_window(table, factor=factor, reach=EVERYTHING, width=10**6)
        weights = table.log_target(every)
        expected = every[weights >= weights.max() - math.log(factor) - MARGIN]
        assert rows(found.dags) == rows(expected)
        assert found.run.settings["dropped"] == 0
        assert found.log_mass == pytest.approx(oracles.log_sum(table.log_target(expected)))
        assert_in_order(found, table)


def test_the_window_is_what_plain_python_reaches(monkeypatch):
    missed = 0
    for seed, factor, reach in itertools.product(range(6), (2, 30), (1, 10)):
        table = random_table(seed, 5, k=2 + seed % 3)
        start = (0, 1, 2, 4, 8)
        gap, most = math.log(factor) + MARGIN, math.log(factor * reach) + MARGIN
        expected = oracles.occams_window(oracles.families_of(table), start, gap, most)
        options = {"factor": factor, "reach": factor * reach, "width": 10**6, "start": start}
        for rows_first, block in ((1000, 10_000), (1, 3)):
            monkeypatch.setattr(sets, "FIRST_ROWS", rows_first)
            monkeypatch.setattr(sets, "BLOCK", block)
            found = bn.occams_window(table, **options)
            assert rows(found.dags) == expected
        missed += found.log_target[0] < bn.map_dag(table).log_target[0] - MARGIN
    assert missed > 0


def test_the_beam_leaves_out_what_is_beyond_its_width():
    table = random_table(2, 6)
    sets, gone_on_from = [], []
    for width in (10**6, 1):
        told = []
        options = {"factor": 1.5, "reach": 1e6, "width": width}
        sets.append(
            bn.occams_window(table, **options, progress=lambda *done, told=told: told.append(done))
        )
        gone_on_from.append(told[-1][0])
    wide, narrow = sets
    assert wide.run.settings["dropped"] == 0
    assert narrow.run.settings["dropped"] > 0
    assert gone_on_from[1] < gone_on_from[0] / 5
    assert rows(narrow.dags) <= rows(wide.dags)


def test_a_class_is_found_whole():
    """Equivalent DAGs are joined by reversals of covered edges, which change no score."""
    for seed in range(6):
        table = random_table(seed, 5, k=4)
        found = bn.occams_window(table, factor=1.0001, reach=1.0001)
        members = oracles.equivalence_classes(5)[oracles.equivalence_class(tuple(found.dag))]
        assert set(members) <= rows(found.dags)


@pytest.mark.slow
def test_starts_are_gone_on_from_together():
    table = random_table(7, 8)
    ends = bn.hill_climb(table, restarts=20, rng=np.random.default_rng(1)).ends
    together = bn.occams_window(table, factor=1e3, start=ends)
    for end in ends[table.log_target(ends) > together.log_target[0] - math.log(1e3)]:
        alone = bn.occams_window(table, factor=1e3, start=end)
        least = together.log_target[0] - math.log(1e3)
        assert rows(alone.dags[alone.log_target > least]) <= rows(together.dags)


def test_constraints_hold_in_the_window():
    options = {"required": [(4, 0)], "forbidden": [(1, 2)], "candidates": {3: [2]}}
    table = random_table(3, 5, **options)
    for found in (bn.occams_window(table, factor=1e6), shot(table)):
        edges = bn.graphs.to_adjacency(found.dags)
        assert len(edges) > 10
        assert edges[:, 4, 0].all()
        assert not edges[:, 1, 2].any()
        assert not (found.dags[:, 3] & ~4).any()
    alone = random_table(0, 2, required=[(1, 0)])
    for found in (bn.occams_window(alone), shot(alone)):
        assert found.dags.tolist() == [[2, 0]]


def test_the_window_stops_early_when_told_or_too_large():
    table, told = random_table(1, 6), []

    def progress(done, total, snapshot):
        told.append((done, total))
        return len(told) < 3

    stopped = bn.occams_window(table, factor=1e5, progress=progress)
    assert stopped.run.stopped
    assert len(told) == 3
    assert told[0] == (1, 1)
    assert all(done <= total for done, total in told)
    large = bn.occams_window(table, factor=1e5, most=50)
    assert large.run.stopped
    assert len(large.dags) > 50
    whole = bn.occams_window(table, factor=1e5)
    assert not whole.run.stopped
    assert rows(large.dags) <= rows(whole.dags)
    assert (np.diff(whole.trace[0]) >= -1e-12).all()
    assert whole.trace[0, -1] == pytest.approx(whole.log_mass, abs=1e-9)


def test_options_of_the_window_are_checked():
    table = random_table(1, 4)
    for options, message in (
        ({"factor": 1}, r"factor=1 is outside \(1, inf\)"),
        ({"factor": math.nan}, "factor=nan"),
        ({"factor": 30, "reach": 20}, "reach=20: .* at least factor=30"),
        ({"reach": math.inf}, "reach=inf"),
        ({"width": 0}, "width=0"),
        ({"most": 2.5}, "most=2.5"),
        ({"start": [2, 1, 0, 0]}, "directed cycle"),
        ({"start": [0, 0]}, r"start has shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            bn.occams_window(table, **options)
    with pytest.raises(ValueError, match="pass a ScoreTable"):
        bn.occams_window([])


# Shotgun search


def test_a_long_search_looks_at_every_dag():
    for n, k in ((1, 0), (2, 1), (3, 2), (4, 3)):
        table = random_table(n, n, k=k)
        found = shot(table, steps=4000, power=0.05)
        assert rows(found.dags) == set(oracles.all_dags(n))
        assert found.log_mass == pytest.approx(bn.dag_posterior(table).log_z)
        assert found.trace.shape == (4, 4000)
        assert_in_order(found, table)


@pytest.mark.quick("0.3")
@pytest.mark.parametrize("power", [0.3, 1.0])
def test_steps_have_the_law_of_the_algorithm(power):
    """One of each kind in proportion to weight**power, then one of these likewise."""
    table = bn.score_families(random_data(8, 3), bn.K2())  # no two DAGs score alike
    log_phi, start, chains = oracles.families_of(table), (0, 1, 2), 4000
    kinds = {0: [], 1: [], 2: []}
    for (kind, _, _), dag in oracles.one_edge_away(start):
        kinds[kind].append((dag, math.exp(power * (oracles.dag_log_weight(log_phi, dag) + 90))))
    expected = dict.fromkeys((dag for kind in kinds.values() for dag, _ in kind), 0.0)
    for three in itertools.product(*filter(None, kinds.values())):
        chance = math.prod(
            weight / sum(w for _, w in kind)
            for (_, weight), kind in zip(three, filter(None, kinds.values()), strict=True)
        )
        for dag, weight in three:
            expected[dag] += chance * weight / sum(w for _, w in three)
    scores = table.log_target(list(expected))
    assert np.diff(np.sort(scores)).min() > 1e-6
    trace = shot(table, steps=1, chains=chains, power=power, keep=1, start=start).trace[:, 0]
    counts = (np.abs(trace[:, None] - scores) < 1e-7).sum(axis=0)
    assert counts.sum() == chains
    probable = np.array([chains * p for p in expected.values()])
    common = probable > 5
    assert oracles.chi_square(counts[common], probable[common]) > 1e-4
    assert np.all(counts[~common] < 30)


def test_few_kept_are_the_best_of_many():
    table = random_table(4, 6)
    many, few = (shot(table, steps=1500, keep=keep) for keep in (10**5, 20))
    assert len(few.dags) == 20
    assert np.array_equal(few.trace, many.trace)
    assert few.log_target == pytest.approx(many.log_target[:20], abs=MARGIN)
    assert rows(few.dags) <= rows(many.dags)


@pytest.mark.slow
def test_without_patience_a_path_circles_around_an_optimum():
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu())
    best = bn.map_dag(table).log_target[0]
    stuck = shot(table, steps=3000, patience=10**6, power=1.0, keep=100)
    assert stuck.log_target[0] < best - 50
    assert shot(table, steps=10_000, patience=30, keep=100).log_target[0] > best - 10


def test_shotgun_progress_tells_steps_and_stops():
    table, told = random_table(5, 5), []

    def progress(done, total, snapshot):
        told.append((done, total))
        return done < 8000

    found = shot(table, steps=3500, progress=progress)
    assert told == [(4000, 14_000), (8000, 14_000)]
    assert found.run.stopped
    assert found.trace.shape == (4, 2000)
    assert repr(found).endswith(", stopped early)")
    assert not shot(table, steps=50, progress=lambda *_: False).run.stopped


def test_a_shotgun_interrupted_in_a_round_goes_on_to_the_same_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "ROUND", 20)
    table, path = random_table(3, 6), tmp_path / "chains"
    settings = {"steps": 200, "keep": 30, "patience": 15, "chains": 3, "checkpoint": path}
    follow, numbers = sets._follow, itertools.count(1)

    def interrupted(shared, job):
        number = next(numbers)  # jobs run on several threads
        part = follow(shared, job)
        if number == 14:
            raise KeyboardInterrupt
        return part

    with monkeypatch.context() as patch:
        patch.setattr(sets, "_follow", interrupted)
        part = shot(table, **settings)
    assert part.run.stopped
    assert part.trace.shape[1] == 80
    whole = shot(table, **settings | {"checkpoint": None})
    for name in ("dags", "log_target", "trace"):
        assert (getattr(shot(table, **settings), name) == getattr(whole, name)).all()
    with pytest.raises(ValueError, match="checkpoint of another run: its keep is 30"):
        shot(table, **settings | {"keep": 31})


def test_options_of_the_shotgun_are_checked():
    table = random_table(1, 4)
    for options, message in (
        ({"steps": 0}, "steps=0"),
        ({"chains": 0}, "chains=0"),
        ({"keep": 0}, "keep=0"),
        ({"patience": 0}, "patience=0"),
        ({"power": 0}, r"power=0 is outside \(0, inf\)"),
        ({"power": math.nan}, "power=nan"),
        ({"start": [2, 1, 0, 0]}, "directed cycle"),
    ):
        with pytest.raises(ValueError, match=message):
            shot(table, **options)
    with pytest.raises(ValueError, match="pass a ScoreTable"):
        shot([])
    with pytest.raises(ValueError, match="no generator"):
        bn.shotgun_search(table, steps=1, rng=7)


# Averaging over what was found, and how much of the posterior that is


@pytest.mark.parametrize("which", ["window", "shotgun"])
def test_averages_lie_in_certain_intervals(which):
    for seed in range(4):
        table = random_table(seed, 5)
        posterior = bn.dag_posterior(table)
        found = searches(table)[which]
        draws = found.as_draws(log_z=posterior.log_z)
        mass = math.exp(oracles.log_sum(found.log_target) - posterior.log_z)
        assert draws.stats["mass"] == pytest.approx([mass])
        assert mass > 0.9
        low, high = features.sound(features.edges(draws), draws)
        assert (low <= posterior.edges + 1e-9).all()
        assert (high >= posterior.edges - 1e-9).all()
        one = features.probability(draws, features.path(0, 4))
        assert one.interval == "sound"
        assert one.low - 1e-9 <= posterior.ancestors[0, 4] <= one.high + 1e-9
        assert features.probability(found.as_draws(), features.path(0, 4)).interval == "none"
        with pytest.raises(ValueError, match="distinct DAGs alone sum to"):
            found.as_draws(log_z=found.log_mass - 1)


@pytest.mark.quick("tic_tac_toe", "coronary")
@pytest.mark.parametrize(
    ("name", "least"),
    [("coronary", (0.99, 0.999)), ("tic_tac_toe", (0.1, 0.1)), ("wine", (0.95, 0.99))],
)
def test_mass_found_against_exact_evidence(name, least):
    """Of the mirror images of tic-tac-toe's best DAGs a search finds a few."""
    table = bn.score_families(bn.load_dataset(name), bn.BDeu())
    log_z = bn.dag_posterior(table).log_z
    climbs = bn.hill_climb(table, restarts=400, rng=np.random.default_rng(0))
    window = bn.occams_window(table, factor=1e4, reach=1e6, start=climbs.ends)
    shotgun = shot(table, steps=10_000, patience=30)
    for found, needed in zip((window, shotgun), least, strict=True):
        assert needed < found.as_draws(log_z=log_z).stats["mass"][0] <= 1
        assert found.log_target[0] == pytest.approx(bn.map_dag(table).log_target[0], abs=1e-6)


@pytest.mark.slow
def test_wine_within_a_bayes_factor_of_three_of_the_best():
    """Under BIC: two equivalence classes of 26 DAGs, with a valley between them."""
    table = bn.score_families(bn.load_dataset("wine"), bn.BIC())
    climbs = bn.hill_climb(table, restarts=100, rng=np.random.default_rng(0))
    window = bn.occams_window(table, factor=3, start=climbs.ends)
    shotgun, best = shot(table, steps=10_000), bn.k_best_dags(table, 60)
    assert within(best.log_target, 3) == 52 < 60
    assert len(window.dags) == within(shotgun.log_target, 3) == 52
    assert rows(window.dags) == rows(shotgun.dags[:52]) == rows(best.dags[:52])
    assert len(np.unique(bn.graphs.cpdag(window.dags), axis=0)) == 2


# Candidate parents


def test_candidates_are_those_of_most_information():
    for seed, n in ((1, 2), (2, 5), (3, 9)):
        data = random_data(seed, n)
        columns = data.values.T.tolist()
        for count in (1, 3, 20):
            found = bn.candidate_parents(data, count=count)
            assert list(found) == list(range(n))
            for v, others in found.items():
                tells = {
                    u: oracles.mutual_information(columns[u], columns[v])
                    for u in range(n)
                    if u != v
                }
                best = sorted(tells.values(), reverse=True)[:count]
                assert [tells[u] for u in others] == pytest.approx(best)
                assert len(set(others)) == min(count, n - 1)


def test_candidates_of_equal_information_go_by_number():
    alike = bn.Data.from_arrays([[0, 0, 0, 0], [1, 1, 1, 1]])
    assert bn.candidate_parents(alike, count=2) == {0: [1, 2], 1: [0, 2], 2: [0, 1], 3: [0, 1]}


def test_63_variables_are_searched_by_candidates():
    data = random_data(1, 63, m=60)
    allowed = bn.candidate_parents(data, count=4)
    table = bn.score_families(data, bn.BDeu(), max_parents=2, candidates=allowed)
    masks = np.array([sum(1 << u for u in allowed[v]) for v in range(63)])
    rng = np.random.default_rng(1)
    climbs = bn.hill_climb(table, rng=rng)
    orders = bn.sample_orders(table, draws=3, chains=1, burn_in=10, rng=rng)
    for dags in (
        climbs.ends,
        bn.occams_window(table, factor=1.5, reach=1.5, most=500).dags,
        shot(table, steps=20, chains=2).dags,
        bn.sample_dags(orders, draws=3, table=table, rng=rng).values,
    ):
        assert not (dags & ~masks).any()
        assert np.isfinite(table.log_target(dags)).all()
    assert np.bitwise_count(climbs.dag).sum() > 20
    with pytest.raises(ValueError, match="a class then has no common score"):
        bn.ges(table)
    with pytest.raises(ValueError, match="at most 63 fit"):
        bn.Data.from_arrays(np.zeros((2, 64), int))


def test_candidates_need_data_that_were_observed():
    with pytest.raises(ValueError, match="count=0"):
        bn.candidate_parents(random_data(1, 3), count=0)
    values = np.array([[0, 0], [1, 1]])
    with pytest.raises(ValueError, match="mutual information is for observations"):
        bn.candidate_parents(bn.Data.from_arrays(values, intervened=values == 1))
    with pytest.raises(ValueError, match="is no Data: make it a Data"):
        bn.candidate_parents([])
