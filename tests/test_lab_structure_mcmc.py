"""Lab 11 without a browser: its race, its pictures, its widgets and its checks."""

from itertools import combinations, islice, pairwise

import numpy as np
import pytest
from clicking import run_then_move

import bnlab as bn
from bnlab import plots
from bnlab.labs import structure_mcmc as lab
from bnlab.labs.structure_mcmc import view


def fast_race(**changes) -> dict:
    return lab.race("coronary", **{"stops": [0.01, 0.03], **changes})


def test_every_sampler_races_and_gets_closer() -> None:
    found = lab.race("coronary", stops=[0.05, 0.5])
    assert tuple(found) == lab.RACERS
    for label, points in found.items():
        seconds, errors = zip(*points, strict=True)
        assert seconds[0] >= 0.05, label
        assert len(errors[0]) == 4
        assert np.mean(errors[-1]) < 4, label


@pytest.mark.parametrize("reversals", [True, False])
def test_partitions_go_to_the_same_posterior(reversals) -> None:
    where, rng = lab.target("coronary", 10), np.random.default_rng(1)
    how = {"draws": 5000, "thin": 30, "chains": 4}
    drawn = lab.partitions(where, rng, reversals=reversals, **how)
    assert where.sad(bn.features.edges(drawn)) < 0.5
    np.testing.assert_allclose(drawn.log_target, where.table.log_target(drawn.values))


def test_orders_and_partitions_come_nearer_on_tic_tac_toe() -> None:
    found = lab.race("tic-tac-toe", stops=[1.0])
    *others, partitions, orders, weighted = (np.mean(each[-1][1]) for each in found.values())
    assert max(weighted, orders) < partitions < 8 < min(others)


def test_dags_are_in_a_mode_and_orders_allow_it() -> None:
    dags, names = np.zeros((1, 2, 10), np.int64), tuple("abcdefghij")
    dags[0, 0, [9, 4]] = 0b111, 0b1100000001
    orders = np.array([[[0, 1, 2, 9, 8, 4, 3, 5, 6, 7], [4, 9, 0, 1, 2, 8, 3, 5, 6, 7]]])
    even = np.zeros((1, 2))
    for values, over in (dags, "dags"), (orders, "orders"):
        prior = "structure-modular" if over == "dags" else "order-modular"
        found = lab.in_modes(bn.Draws(values, even, even, over, prior, names))
        assert found[0].tolist() == [[True] + [False] * 7, [False] * 8]


def test_racing_weights_tend_to_the_exact_edges() -> None:
    where = lab.target("coronary", 50)
    assert where.sad(where.orders.edges) > 0.5
    for edges in islice(lab.racer("weighted draws", where), 300, 301):
        assert max(map(where.sad, edges())) < 0.15


def test_jumps_are_refused_that_close_a_cycle_or_need_four_parents() -> None:
    pair = np.array([[0, 0.5], [0.5, 0]])
    assert lab.refused(bn.Global(pair)) == (0, 0)
    ring, fan = np.zeros((3, 3)), np.zeros((5, 5))
    ring[[0, 1, 2], [1, 2, 0]] = fan[:4, 4] = 1  # clipped: hardly less
    assert lab.refused(bn.Global(ring))[0] > 0.99
    cyclic, refused = lab.refused(bn.Global(fan))
    assert cyclic < 0.01 and refused > 0.99


def test_racing_orders_tend_to_order_modular_edges() -> None:
    where = lab.target("coronary", 50)
    for chain in islice(lab.racer("orders", where), 40, 41):
        for edges in chain():
            assert bn.diagnostics.sad(edges, where.orders.edges) < 0.1


def test_the_race_stops_with_what_it_has() -> None:
    told = []

    def stop(done: int, total: int, found: dict) -> bool:
        told.append((done, total))
        return not found["global"]

    found = fast_race(stops=[0.01, 5.0], samplers=["local", "global"], progress=stop)
    assert [len(points) for points in found.values()] == [1, 1]
    assert told[-1][1] == 10_000  # ms
    assert all(now[0] <= later[0] for now, later in pairwise(told))


def test_chains_of_the_race_leave_their_first_half_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "ROUND_SECONDS", 0)  # rounds do not grow

    class Counter:
        """A walker on two nodes that has the edge 0 -> 1 from its fourth record on."""

        def walk(self, state, lead, records, thin, rng):
            state += np.arange(1, records + 1)[-1:]
            done = state[0] - records + np.arange(records)
            return (np.array([[0, int(t >= 3)] for t in done]),)

    def edges_of(dags):
        return bn.graphs.to_adjacency(dags).mean(axis=0)

    racer = lab.chains(Counter(), [np.zeros(1, np.int64)], 1, edges_of)
    for expected in (0, 1):
        *_, edges = islice(racer, 3)
        assert edges()[0][0, 1] == expected


def test_local_chains_are_slow_on_all_rows_jumps_fail_on_few_and_a_mixture_does_neither() -> None:
    local, jumps, mixed, mostly_jumps = (
        np.array([np.mean(lab.walked("wine", m, share)[1]) for m in lab.sizes("wine")])
        for share in (1.0, 0.0, 0.9, 0.1)
    )
    assert jumps[0] - local[0] > 3 and mostly_jumps[0] - local[0] > 5
    assert local[-1] > 5 > 2 > jumps[-1]
    assert (mixed < 1.1 * np.minimum(local, jumps)).all()
    assert len(lab.walked("wine", 178, 1.0)[1]) == lab.WALKS


def test_ten_times_the_local_moves_help_on_coronary_and_hardly_on_wine() -> None:
    falls = {}
    for name in ("coronary", "wine"):
        where, errors = lab.target(name), []
        for draws in (1000, 10_000):
            how = {"draws": draws, "thin": 15, "chains": 64, "burn_in": 0}
            walked = bn.sample_structures(where.table, rng=np.random.default_rng(2), **how)
            errors.append(np.mean(lab.chain_errors(walked, where)))
        falls[name] = errors[0] / errors[1]
    assert falls["wine"] < 2 < falls["coronary"]


def test_stuck_follows_its_controls() -> None:
    stuck = lab.Stuck()
    stuck.share.value = 0.0
    stuck.rows.value = 50
    shown = stuck.errors.source("chain_errors").data
    errors = [lab.walked("wine", m, 0.0)[1] for m in lab.sizes("wine")]
    np.testing.assert_allclose(shown["error"], np.ravel(errors))
    assert [alpha > 0.5 for alpha in shown["alpha"][63:129]] == [False] + [True] * 64 + [False]
    trace = stuck.trace.source("stuck").data
    draws, _ = lab.walked("wine", 50, 0.0)
    np.testing.assert_allclose(trace["chain 1"], draws.log_target[0], atol=0.001)
    assert "global moves accepted" in stuck.trace.caption


def test_a_table_of_your_own_has_all_its_rows_as_the_last_stop() -> None:
    data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    assert lab.sizes(data) == (20, 50, 60)
    assert "60 rows" in lab.Stuck(data).errors.caption


def test_the_race_widget_runs_and_turns_grey() -> None:
    race = lab.Race(stops=[0.01, 0.02])
    race.dataset.value = "coronary"
    race.runner.run_now()
    data = race.panel.source("race").data
    assert set(data["label"]) == set(lab.RACERS)
    assert all(
        low <= mean <= high
        for low, mean, high in zip(data["low"], data["y"], data["high"], strict=True)
    )
    assert "Least error so far" in race.panel.caption
    race.dataset.value = "wine"
    assert not any(race.found.values())
    assert "For the earlier setting (data set coronary)" in race.panel.children[1].value


def test_a_race_of_older_settings_is_stopped_and_not_shown() -> None:
    race = lab.Race(stops=[0.01, 100.0])
    race.dataset.value = "coronary"
    run_then_move(race, race.dataset, "wine", seconds=0.3)
    assert not any(race.found.values())


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="9 samplers, but 8 colours"):
        plots.race({str(i): [] for i in range(9)}, (0.1, 1))
    with pytest.raises(ValueError, match=r"shape \(2,\), but there are 2 settings"):
        plots.chain_errors([0, 1], [1, 2], 1, x_label="share", y_range=(1, 9))
    with pytest.raises(ValueError, match=r"0\.5 is not among the settings"):
        plots.chain_errors([0, 1], [[1], [2]], 0.5, x_label="share", y_range=(1, 9))


def test_check_of_repairs(capsys: pytest.CaptureFixture[str]) -> None:
    def weighted(power):
        def repair(visited, neighbours):
            weight = {}
            for dag in visited:
                weight[dag] = weight.get(dag, 0) + neighbours(dag) ** power
            return {dag: w / sum(weight.values()) for dag, w in weight.items()}

        return repair

    assert not lab.check_repair(lambda *given: None)
    assert not lab.check_repair(weighted(0))
    assert not lab.check_repair(weighted(1))
    assert not lab.check_repair(weighted(-0.5))
    assert lab.check_repair(weighted(-1))
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_relocations(capsys: pytest.CaptureFixture[str]) -> None:
    def relocate(A, *, own=True, itself=False):
        near = set()
        for v in frozenset().union(*A):
            rest = [layer - {v} for layer in A]
            for i in range(own * (len(A) + 1)):
                near.add(tuple(filter(None, [*rest[:i], frozenset([v]), *rest[i:]])))
            for i, layer in enumerate(A):
                near.add(tuple(filter(None, [*rest[:i], layer | {v}, *rest[i + 1 :]])))
        near = near if itself else near - {A}
        return dict.fromkeys(near, 1 / len(near)) if near else {A: 1.0}

    def split_or_join(A):
        near = [(*A[:i], A[i] | A[i + 1], *A[i + 2 :]) for i in range(len(A) - 1)]
        for i, layer in enumerate(A):
            for size in range(1, len(layer)):
                for front in map(frozenset, combinations(sorted(layer), size)):
                    near.append((*A[:i], front, layer - front, *A[i + 1 :]))
        return dict.fromkeys(near, 1 / len(near))

    assert not lab.check_relocate(lambda A: None)
    assert not lab.check_relocate(lambda A: relocate(A, own=False))
    assert not lab.check_relocate(lambda A: relocate(A, itself=True))
    assert not lab.check_relocate(lambda A: dict.fromkeys(relocate(A), 1.0))
    assert not lab.check_relocate(split_or_join)
    assert lab.check_relocate(relocate)
    assert capsys.readouterr().out.count("not yet") == 5


def test_check_of_samplers(capsys: pytest.CaptureFixture[str]) -> None:
    def partitions(draws, thin=200):
        return lambda table, rng: bn.sample_partitions(
            table, draws=draws, chains=8, burn_in=20_000, thin=thin, rng=rng
        )

    def exact(table, rng):
        return bn.sample_dags(bn.dag_posterior(table), draws=5000, rng=rng)

    assert not lab.check_sampler(lambda *given: None)
    assert not lab.check_sampler(exact)
    assert not lab.check_sampler(partitions(626))
    assert not lab.check_sampler(partitions(10))
    assert lab.check_sampler(partitions(625))
    assert capsys.readouterr().out.count("not yet") == 4
