"""Lab 11 without a browser: its race, its pictures, its widgets and its checks."""

from itertools import islice, pairwise

import numpy as np
import pytest
from clicking import run_then_move

import bnlab as bn
from bnlab import plots
from bnlab.labs import dag_space as lab
from bnlab.labs.dag_space.race import SHARES, chains, distinct_draws, exact_draws, share_errors
from bnlab.labs.modular_priors import space
from bnlab.papers.em2007.cases import proposal


def fast_race(**changes) -> dict:
    return lab.race("coronary", **{"stops": [0.01, 0.03], **changes})


def test_every_sampler_races_and_gets_closer() -> None:
    found = lab.race("coronary", stops=[0.05, 0.5])
    assert list(found) == list(lab.RACERS)
    for label, points in found.items():
        seconds, errors = zip(*points, strict=True)
        assert seconds[0] >= 0.05, label
        assert len(errors[0]) == (1 if label in ("IW-DDS", "exact draws") else 4)
        assert np.mean(errors[-1]) < 4, label


def test_independent_draws_beat_the_walks() -> None:
    found = lab.race("tic-tac-toe", stops=[1.0], samplers=["local", "global", "IW-DDS"])
    local, everywhere, unique = (np.mean(points[-1][1]) for points in found.values())
    assert unique < 1 < min(local, everywhere)


def test_the_race_stops_with_what_it_has() -> None:
    told = []

    def stop(done: int, total: int, found: dict) -> bool:
        told.append((done, total))
        return not found["Gibbs"]

    found = fast_race(stops=[0.01, 5.0], samplers=["local", "Gibbs"], progress=stop)
    assert [len(points) for points in found.values()] == [1, 1]
    assert told[-1][1] == 10_000  # ms
    assert all(now[0] <= later[0] for now, later in pairwise(told))


@pytest.mark.parametrize("make", [exact_draws, distinct_draws])
def test_independent_racers_go_to_the_exact_edges(make) -> None:
    where = lab.target("coronary")
    *_, edges = islice(make(where), 9)
    assert where.sad(edges()[0]) < 0.2


def test_chains_of_the_race_leave_their_first_half_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(chains.__globals__, "ROUND_SECONDS", 0)  # rounds do not grow

    class Counter:
        """A walker on two nodes that has the edge 0 -> 1 from its fourth record on."""

        def walk(self, state, lead, records, thin, rng):
            state += np.arange(1, records + 1)[-1:]
            done = state[0] - records + np.arange(records)
            return (np.array([[0, int(t >= 3)] for t in done]),)

    racer = chains(Counter(), [np.zeros(1, np.int64)], 1)
    for expected in (0, 1):
        *_, edges = islice(racer, 3)
        assert edges()[0][0, 1] == expected


def test_the_proposal_is_a_distribution_over_graphs() -> None:
    edges = lab.target("coronary").orders.edges[:3, :3]
    chances = bn.Global(edges).chances
    q = np.exp(proposal(space(3).dags, chances, absent=True))
    cycles = np.array([[4, 1, 2], [2, 4, 1]])  # 2 -> 0 -> 1 -> 2 and back
    assert q.sum() + np.exp(proposal(cycles, chances, absent=True)).sum() == pytest.approx(1)


def test_stays_are_those_of_the_global_walk() -> None:
    (half,) = lab.stays("coronary", [0.5])
    draws = lab.hybrid("coronary", 0.0)
    assert 1 / draws.stats["acceptance_global"].mean() < 5 * half
    assert lab.stays("tic-tac-toe", [0.5])[0] > 1e6


def test_local_walks_are_stuck_on_wine_and_mixed_ones_are_not() -> None:
    errors = share_errors("wine")
    assert errors[SHARES.index(1.0)].mean() > 4 > errors[SHARES.index(0.1)].max()


def test_shares_follow_their_controls() -> None:
    shares = lab.Shares()
    shares.share.value = 0.0
    shown = shares.errors.source("chain_errors").data
    np.testing.assert_allclose(shown["error"], share_errors("wine").ravel())
    assert [alpha > 0.5 for alpha in shown["alpha"][:9]] == [True] * 8 + [False]
    shares.dataset.value = "tic-tac-toe"
    draws = lab.hybrid("tic-tac-toe", 0.0)
    trace = shares.trace.source("hybrid_trace").data
    np.testing.assert_allclose(trace["chain 1"], draws.log_target[0], atol=0.001)
    assert "global moves accepted" in shares.trace.caption


def test_priors_by_enumeration_are_those_of_the_package() -> None:
    table = lab.five_table(100)
    np.testing.assert_allclose(
        lab.believed("each DAG alike", 100), bn.dag_posterior(table).edges, atol=1e-9
    )
    np.testing.assert_allclose(
        lab.believed("order-modular", 100), bn.order_posterior(table).edges, atol=1e-9
    )
    fair = bn.score_families(lab.five().prefix(100), bn.BDeu(1.0), max_parents=4, prior=bn.Fair())
    np.testing.assert_allclose(lab.believed("Fair", 100), bn.dag_posterior(fair).edges, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "log_prior"),
    [("no path M. Work → Smoking", lab.no_path), ("at most 4 edges", lab.few_edges)],
)
def test_walks_agree_with_priors_of_any_form(name: str, log_prior) -> None:
    draws = bn.sample_structures(
        lab.five_table(200),
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
    gaps = np.abs(edges - lab.believed("each DAG alike", 1841))
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


def test_doing_follows_its_controls() -> None:
    doing = lab.Doing()
    doing.which.value = "D"
    doing.rows.value = 80
    off = ~np.eye(4, dtype=bool)
    for name, told in (("told", True), ("untold", False)):
        panel = getattr(doing, name)
        expected = lab.directed(3, 80, told=told)[off]
        np.testing.assert_allclose(panel.source(name).data["probability"], expected)


def test_the_race_widget_runs_and_clears() -> None:
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
    race.share.value = 0.9
    assert race.panel.source("race").data["y"] == []
    assert race.panel.caption.startswith("Press Run")


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


def test_check_of_acceptance(capsys: pytest.CaptureFixture[str]) -> None:
    def right(log_w, log_w_new, here, there):
        return np.exp(min(0.0, log_w_new - log_w + np.log(here / there)))

    def naive(log_w, log_w_new, here, there):
        return min(1.0, np.exp(log_w_new) * here / max(np.exp(log_w) * there, 1e-300))

    assert not lab.check_acceptance(lambda *given: None)
    assert not lab.check_acceptance(lambda a, b, here, there: right(a, b, there, here))
    assert not lab.check_acceptance(lambda a, b, here, there: np.exp(min(0.0, b - a)))
    assert not lab.check_acceptance(naive)
    assert lab.check_acceptance(right)
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_detours(capsys: pytest.CaptureFixture[str]) -> None:
    def detours(dag):
        return int(np.bitwise_count(bn.graphs.ancestors(dag) & ~dag).sum())

    assert not lab.check_detours(lambda dag: None)
    assert not lab.check_detours(lambda dag: detours(dag))
    assert not lab.check_detours(lambda dag: -float(np.bitwise_count(dag).sum()))
    assert lab.check_detours(lambda dag: -float(detours(dag)))
    assert capsys.readouterr().out.count("not yet") == 3


def test_check_of_samplers(capsys: pytest.CaptureFixture[str]) -> None:
    def unique(draws):
        return lambda dags, orders, rng: bn.reweight_unique(
            bn.sample_dags(orders, draws=draws, rng=rng)
        )

    assert not lab.check_sampler(lambda *given: None)
    assert not lab.check_sampler(
        lambda dags, orders, rng: bn.sample_dags(orders, draws=5000, rng=rng)
    )
    assert not lab.check_sampler(
        lambda dags, orders, rng: bn.sample_dags(dags, draws=5001, rng=rng)
    )
    assert not lab.check_sampler(unique(50))
    assert lab.check_sampler(unique(5000))
    assert capsys.readouterr().out.count("not yet") == 4
