"""Hill climbing: each step against a climb in plain Python, each score against scoring anew."""

import itertools
import math
import pickle

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import checkpoints
from bnlab.kernels import lazy_scores as kernels
from bnlab.search import climbing
from bnlab.search.climbing import climb_perturbed, resampled

MARGIN = 1e-7
WAYS = {
    "best": {},
    "first": {"choice": "first"},
    "tabu": {"tabu": 3, "patience": 20},
    "tabu, first": {"choice": "first", "tabu": 3, "patience": 20},
}
ALL_WAYS = pytest.mark.parametrize("way", WAYS)


def random_data(seed, n, m=60):
    """Columns copy earlier ones now and then, with 2 or 3 states."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 4, size=n)
    values = rng.integers(0, arities, size=(m, n))
    for v in range(1, n):
        for u in rng.choice(v, size=min(v, 2), replace=False):
            copied = rng.random(m) < 0.4
            values[copied, v] = values[copied, u] % arities[v]
    return bn.Data.from_arrays(values, arities=arities)


def random_table(seed, n, k=3, **options):
    return bn.score_families(random_data(seed, n), bn.BDeu(), max_parents=k, **options)


def climb(table, seed=1, **options):
    return bn.hill_climb(table, rng=np.random.default_rng(seed), **options)


# Plain Python


def families(table):
    return [
        dict(zip(map(int, parents), map(float, log_phi), strict=True))
        for parents, log_phi in zip(table.parents, table.log_phi, strict=True)
    ]


def scored(log_phi, dag):
    return math.fsum(log_phi[v].get(p, -math.inf) for v, p in enumerate(dag))


def changes(dag):
    """((kind, u, v), DAG) of all changes of one edge, by the ordered pairs of nodes."""
    for a, b in itertools.permutations(range(len(dag)), 2):
        other = list(dag)
        if dag[a] >> b & 1:
            step = 2, b, a
            other[a] ^= 1 << b
        else:
            step = dag[b] >> a & 1, a, b
        other[b] ^= 1 << a
        if oracles.is_acyclic(other):
            yield step, tuple(other)


def climbed(log_phi, dag):
    """Steps of the steepest climb, and where it ends."""
    steps = []
    while True:
        most, chosen, now = 0.0, None, scored(log_phi, dag)
        for step, other in changes(dag):
            if scored(log_phi, other) - now > most + MARGIN:
                most, chosen = scored(log_phi, other) - now, (step, other)
        if chosen is None:
            return steps, dag
        steps.append(chosen[0])
        dag = chosen[1]


def assert_local_optimum(log_phi, dag):
    dag = tuple(dag.tolist())
    best = max((scored(log_phi, other) for _, other in changes(dag)), default=-math.inf)
    assert best <= scored(log_phi, dag) + 2 * MARGIN


# The climb itself


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_each_step_is_that_of_plain_python(n):
    for seed in range(8):
        table = random_table(seed, n, k=min(n - 1, 1 + seed % 3))
        steps, end = climbed(families(table), (0,) * n)
        found = climb(table)
        assert found.steps.tolist() == [list(step) for step in steps]
        assert found.dag.tolist() == list(end)
        start = found.ends[0] * 0
        start[1:] = 1  # node 0 points to all others
        steps, end = climbed(families(table), tuple(start.tolist()))
        found = climb(table, start=start)
        assert found.steps.tolist() == [list(step) for step in steps]
        assert found.dag.tolist() == list(end)


@ALL_WAYS
def test_each_score_is_what_scoring_anew_gives(way):
    for n, k in ((1, 0), (2, 1), (6, 2), (12, 3), (30, 2), (63, 1)):
        table = random_table(n, n, k=min(k, n - 1))
        for perturb in (None, 5):
            found = climb(table, restarts=9, perturb=perturb, **WAYS[way])
            assert np.array_equal(table.log_target(found.path), found.trace)
            assert np.array_equal(table.log_target(found.ends), found.log_targets)
            assert found.log_target == table.log_target(found.dag)
            assert found.log_target == pytest.approx(found.trace.max(), abs=2 * MARGIN)
            assert found.log_target == pytest.approx(found.log_targets.max(), abs=2 * MARGIN)
            assert (np.bitwise_count(found.path) <= table.max_parents).all()


@ALL_WAYS
def test_climbs_end_where_no_change_gains(way):
    for seed in range(6):
        n = 2 + seed % 5
        table = random_table(seed, n, k=min(n - 1, 3))
        for perturb in (None, 4):
            found = climb(table, restarts=12, perturb=perturb, **WAYS[way])
            for dag in found.ends:
                assert_local_optimum(families(table), dag)
        if not way.startswith("tabu"):
            assert (np.diff(found.trace) > MARGIN).all()


def test_a_tabu_search_never_ends_below_the_plain_climb():
    for seed in range(40):
        table = random_table(seed, 4 + seed % 9)
        for choice in ("best", "first"):
            plain = climb(table, choice=choice)
            for tabu, patience in ((1, 1), (2, 50), (10, 50), (1000, 50)):
                other = climb(table, choice=choice, tabu=tabu, patience=patience)
                assert other.log_target >= plain.log_target
                steps = len(plain.steps)
                assert np.array_equal(other.steps[:steps], plain.steps)
                assert len(other.steps) - np.argmax(other.trace >= other.log_target) <= patience


def test_a_tabu_search_changes_no_pair_too_soon():
    """Unless that gives a score above all before."""
    for seed in range(20):
        found = climb(random_table(seed, 7), tabu=6, patience=60)
        changed = {}
        for step, (_, u, v) in enumerate(found.steps.tolist()):
            pair = min(u, v), max(u, v)
            if step - changed.get(pair, -100) <= 6:
                assert found.trace[step + 1] > found.trace[: step + 1].max()
            changed[pair] = step


def test_it_walks_along_plateaus():
    """Equivalent DAGs score alike; only with a tabu list does the walk turn edges round."""
    table = random_table(3, 5)
    plain, tabu = climb(table), climb(table, tabu=4, patience=30)
    steps = tabu.steps[len(plain.steps) :]
    gains = np.diff(tabu.trace)[len(plain.steps) :]
    assert ((steps[:, 0] == 2) & (np.abs(gains) < MARGIN)).any()


def test_ties_go_to_the_first_pair():
    alike = bn.Data.from_arrays([[0, 0, 0], [1, 1, 1]] * 5)
    found = climb(bn.score_families(alike, bn.BDeu(), max_parents=1))
    assert found.steps.tolist() == [[0, 0, 1], [0, 0, 2]]


def test_constraints_hold_at_each_step():
    options = {
        "required": [(5, 0), (0, 3)],
        "forbidden": [(1, 2), (2, 1)],
        "candidates": {4: [3]},
    }
    for seed in range(6):
        table = random_table(seed, 6, **options)
        for way in WAYS.values():
            for perturb in (None, 4):
                found = climb(table, restarts=10, perturb=perturb, **way)
                for path in (found.path, found.ends):
                    edges = bn.graphs.to_adjacency(path)
                    assert edges[:, 5, 0].all()
                    assert edges[:, 0, 3].all()
                    assert not edges[:, 1, 2].any()
                    assert not edges[:, 2, 1].any()
                    assert not (path[:, 4] & ~8).any()


def test_a_single_dag_allowed_is_found():
    table = random_table(0, 2, required=[(1, 0)])
    assert climb(table, restarts=3, tabu=2).ends.tolist() == [[2, 0]] * 4


# Restarts


def test_random_starts_differ_and_are_dags():
    table = random_table(6, 10)
    starts = {
        tuple(climb(table, seed=seed, restarts=1, start=climb(table).dag).ends[1].tolist())
        for seed in range(20)
    }
    assert len(starts) > 3


@pytest.mark.parametrize(("name", "options"), [("coronary", {}), ("tic_tac_toe", {"tabu": 10})])
def test_restarts_reach_the_best_dag(name, options):
    table = bn.score_families(bn.load_dataset(name), bn.BDeu())
    best = bn.map_dag(table).log_target[0]
    found = climb(table, restarts=60, **options)
    assert found.log_target == pytest.approx(best, abs=1e-6)
    assert (found.log_targets <= best + 1e-6).all()


def test_restarts_go_on_until_the_time_is_over():
    told = []
    found = climb(
        random_table(7, 6),
        seconds=0.2,
        progress=lambda done, total, snapshot: told.append((done, total)),
    )
    assert len(found.ends) > 8
    assert found.run.seconds >= 0.2
    assert not found.run.stopped
    assert told[-1] == (200, 200)


def test_progress_tells_climbs_and_stops():
    told = []

    def progress(done, total, snapshot):
        told.append((done, total))
        return done < 9

    found = climb(random_table(7, 6), restarts=30, progress=progress)
    assert told == [(1, 31), (9, 31)]
    assert found.run.stopped
    assert len(found.ends) == 9
    assert not climb(random_table(7, 6), progress=lambda *_: False).run.stopped


def test_the_generator_is_needed_by_restarts_only():
    table = random_table(7, 6)
    assert np.array_equal(climb(table, seed=1).trace, climb(table, seed=2).trace)
    assert "PCG64" in climb(table).run.seed


# Perturbed data


def test_perturbed_climbs_are_never_worse_and_end_at_local_optima():
    for seed in range(6):
        data = random_data(seed, 6)

        def table_of(share, rng, data=data):
            return bn.score_families(resampled(data, share, rng=rng), bn.BDeu())

        table = table_of(0, np.random.default_rng(0))
        found, again = (
            climb_perturbed(table, table_of, rng=np.random.default_rng(3), rounds=6)
            for _ in range(2)
        )
        assert found.log_target >= climb(table).log_target
        assert found.log_targets[0] == climb(table).log_target
        assert found.ends.shape == (7, 6)
        assert np.array_equal(found.ends, again.ends)
        assert np.array_equal(table.log_target(found.path), found.trace)
        for dag in found.ends:
            assert_local_optimum(families(table), dag)


def test_the_share_of_perturbed_data_falls():
    table, shares = random_table(1, 4), []

    def table_of(share, rng):
        shares.append(share)
        return table

    climb_perturbed(table, table_of, rng=np.random.default_rng(3), rounds=4, share=0.8)
    assert shares == pytest.approx([0.8, 0.6, 0.4, 0.2])


def test_other_families_are_no_perturbation():
    table = random_table(1, 4)
    for other in (
        random_table(1, 5),
        random_table(1, 4, k=2),
        random_table(1, 4, forbidden=[(0, 1)]),
    ):
        with pytest.raises(ValueError, match="not for the families"):
            climb_perturbed(table, lambda *_, other=other: other, rng=np.random.default_rng(3))
    with pytest.raises(ValueError, match="share=0"):
        climb_perturbed(table, lambda *_: table, rng=np.random.default_rng(3), share=0)
    with pytest.raises(ValueError, match="pass a ScoreTable"):
        climb_perturbed(table, lambda *_: [], rng=np.random.default_rng(3))


def test_resampled_rows_stay_rows():
    values = np.stack([np.arange(40) % 2, np.arange(40) // 2], axis=1)
    data = bn.Data.from_arrays(values, intervened=values % 2 == 1)
    for share in (0.0, 0.3, 1.0):
        other = resampled(data, share, rng=np.random.default_rng(1))
        assert other.m == 40
        assert len(np.unique(other.values, axis=0)) == max(1, 40 - round(40 * share))
        assert np.array_equal(other.intervened, other.values % 2 == 1)
    with pytest.raises(ValueError, match="share=2"):
        resampled(data, 2, rng=np.random.default_rng(1))


# Checkpoints


def kept_climbs(kind, **options):
    """A search of 30 climbs, or 10 on perturbed data."""
    data = options.pop("data", random_data(5, 7))
    settings = {"rng": np.random.default_rng(options.pop("seed", 3))} | options
    if kind == "perturbed data":

        def perturbed(share, rng):
            return bn.score_families(resampled(data, share, rng=rng), bn.BDeu(), max_parents=2)

        table = bn.score_families(data, bn.BDeu(), max_parents=2)
        return climb_perturbed(table, perturbed, **({"rounds": 10} | settings))
    perturb = {"restarts": 29, "perturb": 3 if kind == "perturbed ends" else None}
    if kind == "lazy scores":
        return bn.hill_climb(bn.LazyScores(data, bn.BDeu(), 3), **perturb | settings)
    return bn.hill_climb(bn.score_families(data, bn.BDeu(), max_parents=3), **perturb | settings)


KEPT = pytest.mark.parametrize(
    "kind", ["random starts", "perturbed ends", "lazy scores", "perturbed data"]
)


def assert_same_climbs(one, other):
    for name in ("dag", "log_target", "start", "steps", "trace", "ends", "log_targets"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.run.settings == other.run.settings
    assert (one.run.seed, one.run.stopped) == (other.run.seed, other.run.stopped)


@KEPT
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_round_that_breaks_is_made_again(kind, error, tmp_path, monkeypatch):
    path, whole, numbers = tmp_path / "climbs", kept_climbs(kind), itertools.count(1)
    climb = climbing.Climber.climb

    def broken(self, *given):
        climbed = climb(self, *given)
        if next(numbers) == 13:  # in a round of 8 climbs, or of 2
            raise error
        return climbed

    with monkeypatch.context() as patch:
        patch.setattr(climbing.Climber, "climb", broken)
        if error is KeyboardInterrupt:
            assert kept_climbs(kind, checkpoint=path).run.stopped
        else:
            with pytest.raises(RuntimeError):
                kept_climbs(kind, checkpoint=path)
    load, kept = checkpoints.Checkpoint.load, {}

    def watched(self, restore):
        return load(self, lambda saved: kept.update(saved) or restore(saved))

    monkeypatch.setattr(checkpoints.Checkpoint, "load", watched)
    assert_same_climbs(kept_climbs(kind, checkpoint=path), whole)
    assert len(kept["ends"]) == (6 if kind == "perturbed data" else 9)


@KEPT
def test_climbs_are_saved_when_that_is_due(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "SAVING_SHARE", 1e9)
    saves, save = [], checkpoints.Checkpoint.save

    def counted(self, arrays):
        saves.append(len(arrays["ends"]))
        save(self, arrays)

    monkeypatch.setattr(checkpoints.Checkpoint, "save", counted)
    kept_climbs(kind, checkpoint=tmp_path / "climbs")
    each = range(1, 12) if kind == "perturbed data" else (1, 9, 17, 25, 30)
    assert saves == [*each]


@KEPT
def test_the_climbs_of_another_search_are_refused(kind, tmp_path):
    path, start = tmp_path / "climbs", np.zeros(7, np.int64)
    kept_climbs(kind, checkpoint=path)
    start[1] = 1
    for other, match in (
        ({"data": random_data(6, 7)}, "its table is"),
        ({"start": start}, "its start is"),
        ({"tabu": 2}, "its tabu is 0, here it is 2"),
    ):
        with pytest.raises(ValueError, match=match):
            kept_climbs(kind, checkpoint=path, **other)


def test_a_search_of_another_kind_is_refused(tmp_path):
    path, table = tmp_path / "climbs", random_table(1, 4)
    climb(table, checkpoint=path)
    with pytest.raises(ValueError, match="its method is 'hill climbing', here it is"):
        climb_perturbed(table, lambda *_: table, rng=np.random.default_rng(1), checkpoint=path)


def test_a_search_goes_on_for_what_is_left_of_its_time(tmp_path):
    path, table, told = tmp_path / "climbs", random_table(7, 6), []
    part = climb(table, seconds=0.4, checkpoint=path, progress=lambda done, *_: done < 200)
    assert part.run.stopped
    found = climb(table, seconds=0.4, checkpoint=path, progress=lambda done, *_: told.append(done))
    assert told[0] >= 200
    assert told[-1] == 400
    assert not found.run.stopped
    assert np.array_equal(found.ends[: len(part.ends)], part.ends)
    assert len(climb(table, seconds=0.4, checkpoint=path).ends) == len(found.ends)
    with pytest.raises(ValueError, match=r"its seconds is 0\.4, here it is 0\.5"):
        climb(table, seconds=0.5, checkpoint=path)


def test_memory_for_climbs_is_refused_before_it_is_taken(monkeypatch):
    table = random_table(1, 4)
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 1000)
    with pytest.raises(ValueError, match="101 climbs: hill climbing needs 4,040 bytes"):
        climb(table, restarts=100)
    with pytest.raises(ValueError, match="101 climbs: hill climbing needs 4,040"):
        climb_perturbed(table, lambda *_: table, rng=np.random.default_rng(1), rounds=100)


# Families scored when asked for


@pytest.mark.parametrize(
    "score", [bn.BDeu(), bn.BDeu(500.0), bn.K2(), bn.BIC(), bn.AIC(), bn.LogLikelihood()], ids=repr
)
def test_lazy_scores_are_those_of_the_table(score):
    for seed, n in enumerate((1, 2, 5, 8)):
        data, prior = random_data(seed, n), bn.Fair()
        table = bn.score_families(data, score, prior=prior)
        lazy = bn.LazyScores(data, score, prior=prior)
        rng = np.random.default_rng(seed)
        dags = np.array([np.tril(rng.integers(0, 2, (n, n)), -1) @ (1 << np.arange(n))] * 3)
        dags[1:] &= 5
        expected = table.log_target(dags)
        assert lazy.log_target(dags) == pytest.approx(expected, abs=1e-9)
        assert lazy.log_target(dags[0]).shape == ()
        with pytest.raises(ValueError, match="variables"):
            lazy.log_target(np.zeros(n + 1, np.int64))


@ALL_WAYS
def test_climbs_on_lazy_scores_take_the_same_steps(way):
    for seed in range(10):
        data = random_data(seed, 3 + seed)
        table, lazy = bn.score_families(data, bn.BDeu()), bn.LazyScores(data, bn.BDeu())
        known, found = (
            climb(scores, restarts=9, perturb=seed % 2 or None, **WAYS[way])
            for scores in (table, lazy)
        )
        assert np.array_equal(found.ends, known.ends)
        assert np.array_equal(found.steps, known.steps)
        assert found.trace == pytest.approx(known.trace, abs=1e-8)
        assert np.array_equal(lazy.log_target(found.path), found.trace)


def test_a_climb_scores_few_of_many_families():
    lazy = bn.LazyScores(random_data(1, 25), bn.BDeu())
    known = climb(lazy)
    scored = int((~np.isnan(lazy.source[0][0])).sum())
    assert scored < lazy.source[0][0].size / 10
    assert (
        repr(lazy)
        == f"LazyScores(25 variables, up to 3 parents, {scored} of 58125 families scored)"
    )
    assert np.array_equal(climb(pickle.loads(pickle.dumps(lazy))).trace, known.trace)


@pytest.mark.parametrize("m", [1, 63, 64, 65, 300])
def test_counting_bits_and_counting_rows_agree(m):
    rng = np.random.default_rng(m)
    arities = np.array([2, 5, 3, 2, 4])
    data = bn.Data.from_arrays(rng.integers(0, arities, (m, 5)), arities=arities)
    columns, words, first, *_ = bn.LazyScores(data, bn.BDeu()).source[1]
    for v, parents in itertools.product(range(5), range(32)):
        if parents >> v & 1:
            continue
        others = [u for u in range(5) if parents >> u & 1]
        by_bits, by_rows = (np.zeros((math.prod(arities[others]), arities[v])) for _ in range(2))
        kernels.count_bits(words, first, arities, v, parents, by_bits)
        kernels.count_rows(columns, arities, v, parents, by_rows)
        states = [range(arities[u]) for u in others]
        for j, state in enumerate(itertools.product(*states)):
            match = (data.values[:, others] == state).all(axis=1)
            expected = np.bincount(data.values[match, v], minlength=arities[v])
            assert by_bits[j].tolist() == by_rows[j].tolist() == expected.tolist()


def test_lazy_scores_keep_to_what_a_prior_forbids():
    class NoEdgeFromOdd:
        def log_factor(self, n, v, parents):
            return np.where(parents & 0b101010, -math.inf, 0.0)

    lazy = bn.LazyScores(random_data(2, 6), bn.BDeu(), prior=NoEdgeFromOdd())
    for perturb in (None, 4):
        found = climb(lazy, restarts=10, perturb=perturb)
        assert not (found.path & 0b101010).any()
        assert not (found.ends & 0b101010).any()
    for start in ([0, 1, 2, 0, 0, 0], [30, 0, 0, 0, 0, 0]):
        with pytest.raises(
            ValueError, match="too many parents at a node, or a family that the prior"
        ):
            climb(lazy, start=start)


def test_what_lazy_scores_refuse():
    marked = bn.Data.from_arrays([[0, 0], [1, 1]], intervened=np.eye(2, dtype=bool))
    with pytest.raises(ValueError, match="interventions"):
        bn.LazyScores(marked, bn.BDeu())
    with pytest.raises(ValueError, match="is no Data: make it a Data"):
        bn.LazyScores([[0, 1]], bn.BDeu())
    with pytest.raises(ValueError, match="max_parents=-1"):
        bn.LazyScores(random_data(1, 3), bn.BDeu(), max_parents=-1)
    wide = bn.Data.from_arrays(np.arange(8).reshape(2, 4) % 2, arities=[60] * 4)
    with pytest.raises(ValueError, match="more than 4,194,304 cells"):
        bn.LazyScores(wide, bn.BDeu())


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"choice": "worst"}, "choice='worst'"),
        ({"tabu": -1}, "tabu=-1"),
        ({"patience": 0}, "patience=0"),
        ({"restarts": 1.5}, "restarts=1.5"),
        ({"perturb": 0}, "perturb=0"),
        ({"seconds": 0}, "seconds=0"),
        ({"seconds": math.inf}, "seconds=inf"),
        ({"seconds": 1, "restarts": 3}, "choose one of the two"),
        ({"start": [2, 1, 0, 0]}, "directed cycle"),
        ({"start": [0, 1]}, "start has shape"),
        ({"start": [14, 0, 0, 0]}, "too many parents"),
        ({"start": [0, 0, 0, 1]}, "constraints"),
    ],
)
def test_odd_options_are_refused(options, message):
    table = random_table(2, 4, k=2, forbidden=[(0, 3)])
    with pytest.raises(ValueError, match=message):
        climb(table, **options)


def test_other_tables_and_generators_are_refused():
    with pytest.raises(ValueError, match="pass a ScoreTable"):
        climb_perturbed(
            bn.LazyScores(random_data(1, 3), bn.BDeu()), None, rng=np.random.default_rng(1)
        )


def test_a_result_is_frozen_and_survives_pickling():
    found = climb(random_table(1, 5), restarts=4)
    other = pickle.loads(pickle.dumps(found))
    assert repr(other) == repr(found)
    assert np.array_equal(other.path, found.path)
    for result in (found, other):
        with pytest.raises(ValueError, match="read-only"):
            result.dag[0] = 1
