"""Lab 11 without a browser: its chains, its widget and its checks."""

from functools import cache

import networkx as nx
import numpy as np
import pytest

import bnlab as bn
from bnlab import plots
from bnlab.labs import structure_mcmc as lab
from bnlab.sampling.partition_mcmc import PartitionWalker

THIN = {"small steps": 1500, "mixture": 280, "jumps": 60}


@cache
def walked():
    """Chains of each kind by data set, and the exact posteriors, as the lab makes them."""
    runs, exact = {}, {}
    for name in ("wine", "tic_tac_toe"):
        table = bn.score_families(bn.load_dataset(name), bn.BDeu(1.0), max_parents=3)
        exact[name], edges = bn.dag_posterior(table), bn.order_posterior(table).edges
        kernels = {"small steps": bn.Local(), "mixture": bn.Hybrid(edges, 0.9)}
        kernels["jumps"] = bn.Global(edges)
        how = {"draws": 100, "chains": 64, "burn_in": 0}
        for walk, thin in THIN.items():
            how |= {"thin": thin, "rng": np.random.default_rng(1)}
            runs[name, walk] = bn.sample_structures(table, kernel=kernels[walk], **how)
    return runs, exact


def errors_of(run, exact):
    chains = [bn.graphs.to_adjacency(chain[50:]).mean(axis=0) for chain in run.values]
    return np.array([np.abs(edges - exact.edges).sum() for edges in chains])


@pytest.mark.slow
def test_small_steps_err_most_on_wine_and_jumps_on_tic_tac_toe() -> None:
    runs, exact = walked()
    error = {key: errors_of(run, exact[key[0]]).mean() for key, run in runs.items()}
    assert (
        max(error["wine", "mixture"], error["wine", "jumps"]) < 0.4 * error["wine", "small steps"]
    )
    others = error["tic_tac_toe", "small steps"], error["tic_tac_toe", "mixture"]
    assert max(others) < error["tic_tac_toe", "jumps"] - 2
    accepted = {name: runs[name, "jumps"].stats["acceptance_global"].mean() for name in exact}
    assert accepted["wine"] > 0.1
    assert accepted["tic_tac_toe"] < 0.01


@pytest.mark.slow
def test_partitions_and_reversals_err_least_on_tic_tac_toe_from_the_same_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither alone does; other walks than the lab's."""
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu(1.0), max_parents=3)
    exact, edges = bn.dag_posterior(table), bn.order_posterior(table).edges
    how = {"draws": 100, "chains": 16, "burn_in": 0, "rng": np.random.default_rng(3)}
    partitions = bn.sample_partitions(table, thin=250, **how)
    kernels = {"mixture": bn.Hybrid(edges, 0.9), "jumps": bn.Global(edges)}
    kernels |= {"small steps": bn.Local(), "edge reversal": bn.EdgeReversal()}
    runs = {
        walk: bn.sample_structures(
            table, kernel=J, thin=10 * THIN.get(walk, 250), start=partitions.values[:, 0], **how
        )
        for walk, J in kernels.items()
    }
    walk, never = PartitionWalker.walk, np.array([0.25, 0.5, 0.75, 1.0])
    monkeypatch.setattr(PartitionWalker, "walk", lambda self, *given: walk(self, *given, never))
    runs["no reversals"] = bn.sample_partitions(table, thin=250, **how)
    error = errors_of(partitions, exact).mean()
    for run in runs.values():
        assert error < 0.7 * errors_of(run, exact).mean()


def test_stuck_follows_its_controls() -> None:
    runs, exact = walked()
    stuck = lab.Stuck(runs, exact)
    name = "tic_tac_toe"
    for walk in THIN:
        stuck.walk.value = walk
        stuck.data.value = name
        shown = stuck.errors.source("chain_errors").data
        errors = [errors_of(runs[name, each], exact[name]) for each in stuck.walk.options]
        np.testing.assert_allclose(shown["error"], np.ravel(errors))
        dark = np.flatnonzero(np.array(shown["alpha"]) > 0.5)
        place = stuck.walk.options.index(walk)
        np.testing.assert_array_equal(dark, np.arange(64 * place, 64 * place + 64))
        trace = stuck.trace.source("stuck").data
        worst = runs[name, walk].log_target[errors[place].argmax()]
        np.testing.assert_allclose(trace["most SAD"], worst, atol=0.001)
        least, most = errors[place].min(), errors[place].max()
        assert stuck.errors.caption.startswith(f"{name}, {walk}: SAD {least:.2f} to {most:.2f}")


def test_what_does_not_fit_is_refused() -> None:
    look = {"x": plots.Axis("share"), "y": plots.Axis("SAD", (1, 9)), "title": "t"}
    with pytest.raises(ValueError, match=r"shape \(2,\), but there are 2 settings"):
        plots.chain_errors(["a", "b"], [1, 2], "a", **look)
    with pytest.raises(ValueError, match="'c' is not among the settings"):
        plots.chain_errors(["a", "b"], [[1], [2]], "c", **look)


def test_check_of_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_accept(lambda ratio, there, back: min(1, ratio))
    assert not lab.check_accept(lambda ratio, there, back: min(1, ratio * there / back))
    assert not lab.check_accept(lambda ratio, there, back: min(1, ratio) * back / there)
    assert not lab.check_accept(lambda ratio, there, back: ratio * back / (ratio * back + there))
    assert not lab.check_accept(lambda ratio, there, back: back > 0 and min(1, ratio))
    assert lab.check_accept(lambda ratio, there, back: min(1, ratio * back / there))
    assert capsys.readouterr().out.count("not yet") == 5


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

    def steps(table, rng):
        return bn.sample_structures(table, draws=1250, chains=4, burn_in=10_000, rng=rng)

    assert not lab.check_sampler(lambda *given: None)
    assert not lab.check_sampler(exact)
    assert not lab.check_sampler(partitions(626))
    assert not lab.check_sampler(steps)
    assert lab.check_sampler(partitions(625))
    assert capsys.readouterr().out.count("not yet") == 4
