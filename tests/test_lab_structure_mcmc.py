"""Lab 11 without a browser: its chains, its widget and its checks."""

from functools import cache
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
import stills

import bnlab as bn
from bnlab.labs import structure_mcmc as lab


@cache
def in_the_lab():
    """What the lab runs: eight chains of each kind on tic-tac-toe; and the exact posterior."""
    return stills.run("11_structure_mcmc", stills.RACED)


def walked():
    names = in_the_lab()
    return names["runs"], names["exact"], names["corners"]


def errors_of(run, exact):
    chains = [bn.graphs.to_adjacency(chain[50:]).mean(axis=0) for chain in run.values]
    return np.array([bn.diagnostics.sad(edges, exact.edges) for edges in chains])


@cache
def exact_draws():
    rng = np.random.default_rng(lab.SEED)
    return bn.sample_dags(in_the_lab()["exact"], draws=20_000, rng=rng)


def lowest():
    """What 2.5 % of exact draws are below in ln p̃."""
    return np.quantile(exact_draws().log_target, 0.025)


def modes_met(dags, log_p, low):
    """In how many modes of tic-tac-toe each chain is: corners of probable DAGs."""
    found = []
    for chain, its_log_p in zip(dags.tolist(), log_p, strict=True):
        probable = [dag for dag, each in zip(chain, its_log_p, strict=True) if each >= low]
        found.append(len({v for dag in probable for v in (0, 2, 6, 8) if dag[v] >> 4 & 1}))
    return np.array(found)


@pytest.mark.slow
def test_only_both_moves_together_find_all_modes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs, exact, corners = walked()
    capsys.readouterr()
    found = lab.compare(runs, exact, corners)
    low = lowest()
    for kind, run in runs.items():
        each = modes_met(run.values[:, 50:], run.log_target[:, 50:], low)
        assert found[kind] == each.mean()
        assert (each.max() > 2) == (kind == "both")
    assert found["exact draws"] == 4
    table = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    shown = {" ".join(line[:-3]): [float(cell) for cell in line[-3:]] for line in table}
    assert list(shown) == [*runs, "exact draws"]
    for kind in runs:
        met, worst, off = shown[kind]
        assert off == pytest.approx(errors_of(runs[kind], exact).mean(), abs=0.0051)
        assert met == pytest.approx(found[kind], abs=0.0051)
        assert (worst == np.inf) == (kind == "DAG walk")
    assert found["DAG walk"] == 1 and 1 < found["partition walk"] <= 2 and found["both"] > 3
    error = {kind: errors_of(run, exact) for kind, run in runs.items()}
    assert error["DAG walk"].min() > 11
    assert error["both"].mean() < 0.5 * min(error["DAG walk"].min(), error["partition walk"].mean())


def crossings(run, low):
    """(pair of corners, DAG before, DAG after) of each way from mode to mode, chain by chain."""
    for dags, log_p in zip(run.values, run.log_target, strict=True):
        found, last = [], None
        for t in np.flatnonzero(log_p >= low):
            (corner,) = (v for v in (0, 2, 6, 8) if dags[t, v] >> 4 & 1)
            if last is not None and last[0] != corner:
                found.append((frozenset({last[0], corner}), dags[last[1]], dags[t]))
            last = corner, t
        yield found


@pytest.mark.slow
def test_swaps_lead_to_mirror_images_and_reversals_to_other_swaps() -> None:
    table, low = in_the_lab()["boards"], lowest()
    board = np.arange(9).reshape(3, 3)
    mirrors = [board[::-1].ravel(), board[:, ::-1].ravel()]
    how = {"draws": 30_000, "chains": 2, "burn_in": 12_500, "thin": 1}
    for reversals, pairs in ((0.1, {3, 4}), (0.0, {1})):
        rng = np.random.default_rng(5)
        run = bn.sample_partitions(table, reversals=reversals, rng=rng, **how)
        for found in crossings(run, low):
            assert len({pair for pair, *_ in found}) in pairs
            assert len(found) >= 10
            for pair, before, after in found:
                layers, then = bn.graphs.layers(before), bn.graphs.layers(after)
                assert set(np.flatnonzero(layers != then).tolist()) == pair  # a swap
                assert any((layers[mirror] == then[:9]).all() for mirror in mirrors)
                changed = bn.graphs.to_adjacency(before) != bn.graphs.to_adjacency(after)
                assert 12 <= np.triu(changed | changed.T).sum() <= 16  # pairs of nodes


@pytest.mark.slow
def test_probable_dags_of_two_modes_differ_in_the_parents_of_at_least_four_nodes() -> None:
    drawn = exact_draws()
    probable = np.unique(drawn.values[0, drawn.log_target[0] >= lowest()], axis=0)
    corners = bn.graphs.to_adjacency(probable)[:, 4][:, [0, 2, 6, 8]]
    assert (corners.sum(axis=1) == 1).all()
    modes = [probable[corner] for corner in corners.T.astype(bool)]
    apart = [(a != b[:, None]).sum(axis=2).min() for a, b in combinations(modes, 2)]
    assert min(apart) == 4


@cache
def three_boards():
    return stills.run("11_structure_mcmc", (*stills.BOARDS, "boards ="))


def test_reversals_lead_from_one_free_swap_to_another_within_a_class() -> None:
    names, best = three_boards(), exact_draws().log_target.max()
    log_phi = lab.families(names["boards"])
    boards = [names[board] for board in ("first", "second", "third")]
    assert [lab.log_target(dag, log_phi) for dag in boards] == pytest.approx([best] * 3, abs=1e-6)
    masks = [[sum(1 << u for u in P) for P in dag] for dag in boards]
    assert bn.graphs.markov_equivalent(masks[0], masks).all()


def relocated(A, v):
    """The partitions in which one node stands elsewhere, or again where it was; some have ∅."""
    rest = [layer - {v} for layer in A]
    for i in range(len(rest) + 1):
        yield (*rest[:i], frozenset({v}), *rest[i:])
    for i, layer in enumerate(rest):
        yield (*rest[:i], layer | {v}, *rest[i + 1 :])


def test_relocations_put_one_node_elsewhere_and_swaps_exchange_two() -> None:
    cells = ("workers =", "def layers", "parts =", "def swapped", "def relocate")
    names = stills.run("11_structure_mcmc", cells)
    everything = {
        tuple(frozenset(v for v in range(3) if layer[v] == k) for k in range(max(layer) + 1))
        for layer in product(range(3), repeat=3)
        if set(layer) == set(range(max(layer) + 1))
    }
    assert len(everything) == 13 and everything == set(names["parts"])

    def exchanged(A, u, v):
        return tuple(frozenset({u: v, v: u}.get(w, w) for w in layer) for layer in A)

    for A in everything:
        near = {exchanged(A, u, v) for u, v in combinations(range(3), 2)} - {A}
        assert names["swap"](A) == dict.fromkeys(near, 1 / len(near) if near else 0)
        chances = dict.fromkeys(everything, 0.0)
        for v in range(3):
            near = {tuple(filter(None, B)) for B in relocated(A, v)} - {A}
            for B in near:
                chances[B] += 1 / 3 / len(near)
        assert names["relocate"](A) == pytest.approx({B: c for B, c in chances.items() if c})


def test_stuck_follows_its_control() -> None:
    runs, exact, corners = walked()
    stuck, low = lab.Stuck(runs, exact, corners, "both"), lowest()
    for walk, run in runs.items():
        stuck.walk.value = walk
        shown = stuck.modes.source("modes").data
        marks = set(zip(shown["chain"], shown["draw"], shown["mode"], strict=True))
        assert marks == {
            (f"walk {c + 1}", t + 1, corner)
            for c, t in np.argwhere(run.log_target >= low).tolist()
            for corner, (_, v) in corners.items()
            if run.values[c, t, v] >> 4 & 1
        }
        met = modes_met(run.values[:, 50:], run.log_target[:, 50:], low).mean()
        assert stuck.modes.caption.startswith(f"{walk}: {met:.2f} modes met")
        trace = stuck.trace.source("stuck").data
        np.testing.assert_allclose(trace["walk 2"], run.log_target[1], atol=0.001)


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
    def reversals(draws):
        return lambda table, rng: bn.sample_structures(
            table,
            kernel=bn.EdgeReversal(),
            draws=draws,
            chains=8,
            burn_in=100_000,
            thin=1500,
            rng=rng,
        )

    def exact(table, rng):
        return bn.sample_dags(bn.dag_posterior(table), draws=5000, rng=rng)

    def partitions(table, rng):
        return bn.sample_partitions(table, draws=625, chains=8, rng=rng)

    def steps(table, rng):
        return bn.sample_structures(table, draws=1250, chains=4, burn_in=10_000, rng=rng)

    assert not lab.check_sampler(lambda *given: None)
    for wrong in (exact, partitions, reversals(626), steps):
        assert not lab.check_sampler(wrong)
    assert lab.check_sampler(reversals(625))
    assert capsys.readouterr().out.count("not yet") == 5
