"""Lab 11 without a browser: its chains, its widget and its checks."""

from functools import cache

import networkx as nx
import numpy as np
import pytest

import bnlab as bn
from bnlab import plots
from bnlab.labs import structure_mcmc as lab

THIN = {"mixture": 200, "jumps": 50, "reversals": 150, "partitions": 20}
SMALL = {20: 400, 50: 800, 178: 1600}


def greedy_dag(table, order):
    """Each node with its best parents among those before it, as in the lab."""
    dag, before = [0] * len(order), 0
    for v in order.tolist():
        families = zip(table.log_phi[v], table.parents[v].tolist(), strict=True)
        dag[v] = max(family for family in families if not family[1] & ~before)[1]
        before |= 1 << v
    return dag


@cache
def walked():
    """Chains of each kind by rows, and the exact posteriors, as the lab makes them."""
    wine = bn.load_dataset("wine").shuffled(np.random.default_rng(2007))
    runs, exact = {}, {}
    for m, steps in SMALL.items():
        table = bn.score_families(wine.prefix(m), bn.BDeu(1.0), max_parents=3)
        exact[m], edges = bn.dag_posterior(table), bn.order_posterior(table).edges
        rng, how = np.random.default_rng(1), {"draws": 100, "chains": 64, "burn_in": 0}
        starts = [greedy_dag(table, rng.permutation(13)) for _ in range(64)]
        kernels = {"mixture": bn.Hybrid(edges, 0.9), "jumps": bn.Global(edges)}
        kernels |= {"reversals": bn.EdgeReversal(1 / 15), "small steps": bn.Hybrid(edges, 1.0)}
        for walk, kernel in kernels.items():
            how |= {"kernel": kernel, "thin": THIN.get(walk, steps)}
            runs[m, walk] = bn.sample_structures(table, start=starts, rng=rng, **how)
            child = np.random.default_rng(1)
            runs[m, f"{walk} from no edges"] = bn.sample_structures(table, rng=child, **how)
        how |= {"thin": THIN["partitions"]}
        del how["kernel"]
        runs[m, "partitions"] = bn.sample_partitions(table, rng=rng, **how)
    return runs, exact


def errors_of(run, exact):
    chains = [bn.graphs.to_adjacency(chain[50:]).mean(axis=0) for chain in run.values]
    return np.array([np.abs(edges - exact.edges).sum() for edges in chains])


@pytest.mark.slow
def test_reversals_win_from_greedy_dags_and_a_mixture_from_no_edges_where_jumps_get_stuck() -> None:
    runs, exact = walked()
    error = {key: errors_of(run, exact[key[0]]).mean() for key, run in runs.items()}
    for m in (20, 178):
        assert min([*THIN, "small steps"], key=lambda walk: error[m, walk]) == "reversals"
    assert error[20, "partitions"] < error[20, "small steps"]
    assert error[178, "partitions"] < error[178, "small steps"]
    assert error[20, "jumps"] > exact[20].edges.sum()
    assert error[178, "jumps from no edges"] < 0.5 * error[178, "jumps"]
    assert error[178, "mixture from no edges"] < 0.8 * error[178, "reversals"]
    late = runs[178, "jumps"].values[:, 50:]
    assert (late == late[:, :1]).all((1, 2)).mean() > 0.1


@pytest.mark.slow
def test_on_tic_tac_toe_partitions_err_less_than_reversals() -> None:
    boards = bn.load_dataset("tic_tac_toe").shuffled(np.random.default_rng(2007))
    table, how = (
        bn.score_families(boards, bn.BDeu(1.0), max_parents=3),
        {"draws": 1000, "chains": 8},
    )
    exact = bn.dag_posterior(table).edges
    walks = [
        bn.sample_structures(
            table, kernel=bn.EdgeReversal(), thin=48, rng=np.random.default_rng(1), **how
        ),
        bn.sample_partitions(table, thin=6, rng=np.random.default_rng(1), **how),
    ]
    shares = [bn.graphs.to_adjacency(run.values).mean(axis=1) for run in walks]
    reversals, partitions = (np.abs(each - exact).sum((1, 2)).mean() for each in shares)
    assert partitions < 0.7 * reversals


def test_stuck_follows_its_controls() -> None:
    runs, exact = walked()
    stuck = lab.Stuck(runs, exact)
    for walk in ("jumps", "partitions"):
        stuck.walk.value = walk
        stuck.rows.value = 50
        shown = stuck.errors.source("chain_errors").data
        errors = [errors_of(runs[m, walk], exact[m]) for m in exact]
        np.testing.assert_allclose(shown["error"], np.ravel(errors))
        assert [alpha > 0.5 for alpha in shown["alpha"][63:129]] == [False] + [True] * 64 + [False]
        trace = stuck.trace.source("stuck").data
        worst = runs[50, walk].log_target[errors[1].argmax()]
        np.testing.assert_allclose(trace["most SAD"], worst, atol=0.001)
        assert stuck.errors.caption.startswith(f"{walk}, 50 rows: SAD {errors[1].min():.2f} to ")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\), but there are 2 settings"):
        plots.chain_errors([0, 1], [1, 2], 1, x_label="share", y_range=(1, 9))
    with pytest.raises(ValueError, match=r"0\.5 is not among the settings"):
        plots.chain_errors([0, 1], [[1], [2]], 0.5, x_label="share", y_range=(1, 9))


def test_check_of_the_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_accept(lambda ratio, there, back: min(1, ratio))
    assert not lab.check_accept(lambda ratio, there, back: min(1, ratio * there / back))
    assert not lab.check_accept(lambda ratio, there, back: min(1, ratio) * back / there)
    assert not lab.check_accept(lambda ratio, there, back: ratio * back / (ratio * back + there))
    assert not lab.check_accept(lambda ratio, there, back: back > 0 and min(1, ratio))
    assert lab.check_accept(lambda ratio, there, back: min(1, ratio * back / there))
    assert capsys.readouterr().out.count("not yet") == 5


@pytest.mark.slow
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


def test_check_of_parents_drawn_anew(capsys: pytest.CaptureFixture[str]) -> None:
    def anew(dag, log_phi, *, nodes=(0, 1, 2), acyclic=True, power=1.0, stay=True):
        chances = {}
        for v in nodes:
            ways = [(*dag[:v], P, *dag[v + 1 :]) for P in log_phi[v]]
            ways = [G for G in ways if (not acyclic or is_dag(G)) and (stay or G != dag)]
            w = [np.exp(power * sum(log_phi[u][P] for u, P in enumerate(G))) for G in ways]
            for G, chance in zip(ways, w, strict=True):
                chances[G] = chances.get(G, 0) + chance / sum(w) / len(nodes)
        return chances

    def is_dag(G):
        edges = [(u, v) for v, P in enumerate(G) for u in P]
        return nx.is_directed_acyclic_graph(nx.DiGraph(edges))

    check = lab.check_parents_anew
    assert not check(lambda dag, log_phi: None)
    assert not check(lambda dag, log_phi: {G: 2 * p for G, p in anew(dag, log_phi).items()})
    for wrong in {"nodes": (0, 1)}, {"acyclic": False}, {"power": 0.0}, {"stay": False}:
        assert not check(lambda dag, log_phi, wrong=wrong: anew(dag, log_phi, **wrong))
    assert check(anew)
    assert capsys.readouterr().out.count("not yet") == 6


@pytest.mark.slow
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
