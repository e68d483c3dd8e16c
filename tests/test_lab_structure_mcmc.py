"""Lab 11 without a browser: its chains, its widget and its checks."""

from functools import cache
from itertools import combinations

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
