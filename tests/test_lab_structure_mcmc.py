"""Lab 11 without a browser: its chains, its widget and its checks."""

from functools import cache

import networkx as nx
import numpy as np
import pytest

import bnlab as bn
from bnlab import plots
from bnlab.labs import structure_mcmc as lab


@cache
def walked():
    """Chains of each kind by rows, and the exact posteriors, as the lab makes them."""
    wine = bn.load_dataset("wine").shuffled(np.random.default_rng(2007))
    runs, exact = {}, {}
    for m in (20, 50, 178):
        table = bn.score_families(wine.prefix(m), bn.BDeu(1.0), max_parents=3)
        exact[m], edges = bn.dag_posterior(table), bn.order_posterior(table).edges
        for share in (1.0, 0.0, 0.9):
            how = {"kernel": bn.Hybrid(edges, share), "rng": np.random.default_rng(1)}
            how |= {"draws": 100, "chains": 64, "burn_in": 0}
            runs[m, share] = bn.sample_structures(table, **how)
    return runs, exact


def errors_of(run, exact):
    chains = [bn.graphs.to_adjacency(chain[50:]).mean(axis=0) for chain in run.values]
    return np.array([np.abs(edges - exact.edges).sum() for edges in chains])


@pytest.mark.slow
def test_local_chains_are_slow_on_all_rows_jumps_fail_on_few_and_a_mixture_does_neither() -> None:
    runs, exact = walked()
    local, jumps, mixed = (
        np.array([errors_of(runs[m, share], exact[m]).mean() for m in exact])
        for share in (1.0, 0.0, 0.9)
    )
    assert jumps[0] - local[0] > 3
    assert local[-1] > 5 > 2 > jumps[-1]
    assert (mixed < 1.1 * np.minimum(local, jumps)).all()


def test_stuck_follows_its_controls() -> None:
    runs, exact = walked()
    stuck = lab.Stuck(runs, exact)
    stuck.share.value = 0.0
    stuck.rows.value = 50
    shown = stuck.errors.source("chain_errors").data
    errors = [errors_of(runs[m, 0.0], exact[m]) for m in exact]
    np.testing.assert_allclose(shown["error"], np.ravel(errors))
    assert [alpha > 0.5 for alpha in shown["alpha"][63:129]] == [False] + [True] * 64 + [False]
    trace = stuck.trace.source("stuck").data
    np.testing.assert_allclose(trace["chain 1"], runs[50, 0.0].log_target[0], atol=0.001)
    assert "of the jumps accepted" in stuck.trace.caption


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
