"""Walks on DAGs: every kernel against its transition matrix, written out in plain Python."""

import itertools
import math
import re

import numpy as np
import oracles
import pytest
from tables import uncompiled

import bnlab as bn
from bnlab.kernels import bits, counting, dag_jumps, dag_walks as moves, dags, families
from bnlab.sampling.structure_mcmc import StructureWalker

EDGES = [
    [0.0, 0.5, 0.3, 0.1],
    [0.2, 0.0, 0.25, 0.4],
    [0.05, 0.3, 0.0, 0.2],
    [0.0, 0.35, 0.15, 0.0],
]


def edges(n):
    return np.array(EDGES)[:n, :n]


def kernels(n):
    return {
        "local": bn.Local(),
        "global": bn.Global(edges(n)),
        "hybrid": bn.Hybrid(edges(n), local=0.4),
        "gibbs": bn.Gibbs(),
        "reversal": bn.EdgeReversal(share=0.3),
    }


KERNELS = pytest.mark.parametrize("name", kernels(3))


def small_table(n=3, m=12, seed=0, arity=2, k=2, **options):
    data = bn.Data.from_arrays(np.random.default_rng(seed).integers(0, arity, size=(m, n)))
    return bn.score_families(data, bn.BDeu(), max_parents=k, **options)


# Transition matrices: {dag: {dag: probability}}, by what a move is said to do


def weight(log_phi, dag):
    """Prior factor times likelihood, 0 for what is no DAG or is forbidden."""
    if not oracles.is_acyclic(dag):
        return 0.0
    return math.prod(math.exp(log_phi[v].get(p, -math.inf)) for v, p in enumerate(dag))


def changed(dag, **parents):
    return tuple(parents.get(f"v{v}", p) for v, p in enumerate(dag))


def local_proposals(log_phi, dag):
    """[(DAG, probability there, probability back)], among them what is no DAG."""
    n, out = len(dag), []
    for u, v in itertools.permutations(range(n), 2):
        if dag[u] >> v & 1:
            other = changed(dag, **{f"v{u}": dag[u] ^ 1 << v, f"v{v}": dag[v] ^ 1 << u})
        else:
            other = changed(dag, **{f"v{v}": dag[v] ^ 1 << u})
        out.append((other, 1 / (n * (n - 1)), 1 / (n * (n - 1))))
    return out


def global_chance(chances, dag):
    """Product over pairs of the probability of u -> v, v -> u or neither."""
    q = 1.0
    for u, v in itertools.combinations(range(len(dag)), 2):
        if dag[v] >> u & 1:
            q *= chances[u][v]
        elif dag[u] >> v & 1:
            q *= chances[v][u]
        else:
            q *= 1 - chances[u][v] - chances[v][u]
    return q


def global_proposals(log_phi, dag):
    chances = edges(len(dag)).clip(1e-4)
    np.fill_diagonal(chances, 0)
    for u, v in itertools.combinations(range(len(dag)), 2):
        total = chances[u, v] + chances[v, u] + 1 - edges(len(dag))[u, v] - edges(len(dag))[v, u]
        chances[u, v], chances[v, u] = chances[u, v] / total, chances[v, u] / total
    back = global_chance(chances, dag)
    return [(o, global_chance(chances, o), back) for o in oracles.all_dags(len(dag))]


def parents_drawn(log_phi, dag, v, needed):
    """{parents of v: probability} in proportion to beta, those with `needed` and no cycle."""
    weights = {
        mask: math.exp(b)
        for mask, b in log_phi[v].items()
        if mask & needed == needed and oracles.is_acyclic(changed(dag, **{f"v{v}": mask}))
    }
    return {mask: w / sum(weights.values()) for mask, w in weights.items()}


def reversal_paths(log_phi, dag, u, v):
    """{DAG: probability} after u -> v was chosen: u gets parents with v, then v gets others."""
    out = {}
    orphans = changed(dag, **{f"v{u}": 0, f"v{v}": 0})
    for new_u, p in parents_drawn(log_phi, orphans, u, 1 << v).items():
        half = changed(orphans, **{f"v{u}": new_u})
        for new_v, q in parents_drawn(log_phi, half, v, 0).items():
            out[changed(half, **{f"v{v}": new_v})] = p * q
    return out


def reversal_proposals(log_phi, dag):
    """Each edge has its own way there, and back by the edge turned round."""
    out = []
    chosen = [(u, v) for v in range(len(dag)) for u in oracles.members(dag[v])]
    for u, v in chosen:
        for other, p in reversal_paths(log_phi, dag, u, v).items():
            edges_then = sum(len(oracles.members(mask)) for mask in other)
            back = reversal_paths(log_phi, other, v, u)[dag] / edges_then
            out.append((other, p / len(chosen), back))
    return out


def metropolis(log_phi, proposals):
    """The matrix of a kernel: each proposal accepted by min(1, its ratio), else the DAG stays."""
    dags = list(oracles.all_dags(len(log_phi)))
    matrix = np.zeros((len(dags), len(dags)))
    for i, dag in enumerate(dags):
        if weight(log_phi, dag) == 0:
            matrix[i, i] = 1
            continue
        for other, there, back in proposals(log_phi, dag):
            ratio = weight(log_phi, other) * back / (weight(log_phi, dag) * there)
            if ratio > 0:
                matrix[i, dags.index(other)] += there * min(1.0, ratio)
        matrix[i, i] += 1 - matrix[i].sum()
    return matrix


def gibbs_matrix(log_phi):
    """A random pair drawn anew among its three ways."""
    dags = list(oracles.all_dags(len(log_phi)))
    n, matrix = len(log_phi), np.zeros((len(dags), len(dags)))
    for i, dag in enumerate(dags):
        if weight(log_phi, dag) == 0:
            matrix[i, i] = 1
            continue
        for u, v in itertools.combinations(range(n), 2):
            apart = changed(dag, **{f"v{u}": dag[u] & ~(1 << v), f"v{v}": dag[v] & ~(1 << u)})
            forth = changed(apart, **{f"v{v}": apart[v] | 1 << u})
            back = changed(apart, **{f"v{u}": apart[u] | 1 << v})
            weights = {way: weight(log_phi, way) for way in (apart, forth, back)}
            for way, w in weights.items():
                if w > 0:
                    p = w / sum(weights.values()) / math.comb(n, 2)
                    matrix[i, dags.index(way)] += p
    return matrix


def transition_matrix(log_phi, name):
    if name == "gibbs":
        return gibbs_matrix(log_phi)
    local = metropolis(log_phi, local_proposals)
    if name == "local":
        return local
    other = metropolis(log_phi, reversal_proposals if name == "reversal" else global_proposals)
    share = {"global": 1.0, "hybrid": 0.6, "reversal": 0.3}[name]
    return share * other + (1 - share) * local


def test_local_moves_one_by_one_have_the_law_of_those_that_are_skipped():
    """The walk above skips them where there are no others."""
    table = small_table()
    matrix = transition_matrix(oracles.families_of(table), "local")
    number = {dag: i for i, dag in enumerate(oracles.all_dags(3))}
    walker, rng = StructureWalker.of(table, bn.Local()), np.random.default_rng(1)
    for dag, i in number.items():
        counts = np.zeros(25)
        for _ in range(1000):
            at = np.array(dag)
            walker.step(at, 1, rng)
            counts[number[tuple(at.tolist())]] += 1
        assert counts == pytest.approx(1000 * matrix[i], abs=5 * math.sqrt(250))


@pytest.mark.parametrize("n", [2, 6, 63])
def test_rates_after_many_changes_are_those_of_the_dag(n):
    """Each is renewed by a change that it depends on; a forgotten one would stay as it was."""
    table = small_table(n=n, m=9, k=min(3, n - 1) if n < 63 else 2, seed=n)
    walker, rng = StructureWalker.of(table, bn.Local()), np.random.default_rng(1)
    dag = np.zeros(n, np.int64)
    state = (dag, *moves.start(dag, walker.source))
    rates = dag_jumps.begin(state, walker.source)
    for _ in range(400):
        dag_jumps.jump(state, walker.source, rates, rng)
        anew = (dag.copy(), *moves.start(dag, walker.source))
        again = dag_jumps.begin(anew, walker.source)
        assert (state[1] == anew[1]).all()
        assert (state[2] == anew[2]).all()
        for kept, fresh in zip(rates[:2], again[:2], strict=True):
            assert (kept == fresh).all()


@pytest.mark.parametrize(("probability", "mean"), [(1.0, 0.0), (0.25, 3.0), (1e-3, 999.0)])
def test_waiting_times(probability, mean):
    rng = np.random.default_rng(0)
    times = [dag_jumps.wait(probability, rng) for _ in range(20_000)]
    assert np.mean(times) == pytest.approx(mean, rel=0.03)
    assert np.mean(np.array(times) == 0) == pytest.approx(probability, abs=0.02)
    assert dag_jumps.wait(0.0, rng) == dag_jumps.NEVER
    assert 0 <= dag_jumps.wait(1e-300, rng) <= dag_jumps.NEVER


@np.errstate(over="ignore")  # products in `bits.popcount`
@pytest.mark.parametrize("name", kernels(4))
def test_compiled_moves_equal_their_python_source(name, monkeypatch):
    walker = StructureWalker.of(small_table(n=4, m=8, k=3), kernels(4)[name])

    def walk():
        rng = np.random.default_rng(1)
        step = walker.step(np.zeros(4, np.int64), 100, rng)
        return *step, *walker.walk(np.array([0, 0, 0, 0, -1]), 20, 100, 3, rng)

    compiled = walk()
    uncompiled(monkeypatch, bits, counting, families, dags, moves, dag_jumps)
    for fast, slow in zip(compiled, walk(), strict=True):
        assert fast == pytest.approx(slow, abs=1e-12)


def exact(table, log_prior=None):
    """{dag: probability} over all DAGs."""
    log_phi = oracles.families_of(table)
    weights = {
        dag: weight(log_phi, dag) * math.exp(log_prior(np.array(dag)) if log_prior else 0.0)
        for dag in oracles.all_dags(table.n)
    }
    total = math.fsum(weights.values())
    return {dag: w / total for dag, w in weights.items()}


@KERNELS
def test_the_written_out_kernels_keep_the_posterior(name):
    table = small_table()
    matrix, p = (
        transition_matrix(oracles.families_of(table), name),
        np.array([*exact(table).values()]),
    )
    assert matrix.min() >= 0
    assert matrix.sum(axis=1) == pytest.approx(1)
    flow = p[:, None] * matrix
    assert flow == pytest.approx(flow.T, abs=1e-14)


@KERNELS
@pytest.mark.parametrize("k", [1, 2])
def test_the_walk_moves_as_its_transition_matrix_says(name, k):
    table = small_table(k=k)
    matrix = transition_matrix(oracles.families_of(table), name)
    number = {dag: i for i, dag in enumerate(oracles.all_dags(3))}
    walker = StructureWalker.of(table, kernels(3)[name])
    kept, *_ = walker.walk(np.array([0, 0, 0, -1]), 0, 200_000, 1, np.random.default_rng(1))
    at = np.array([number[tuple(dag)] for dag in kept.tolist()])
    counts = np.zeros(matrix.shape)
    np.add.at(counts, (at[:-1], at[1:]), 1)
    times = counts.sum(axis=1)
    assert (times[np.array([*exact(table).values()]) > 0] > 300).all()
    assert (counts[matrix == 0] == 0).all()
    assert oracles.chi_square(counts.ravel(), (times[:, None] * matrix).ravel()) > 1e-3


# Chains as users call them


def counts_of(draws, dags):
    """How often each of `dags` was drawn."""
    number = {dag: i for i, dag in enumerate(dags)}
    at = [number[tuple(dag)] for dag in draws.values.reshape(-1, draws.values.shape[2]).tolist()]
    return np.bincount(at, minlength=len(dags))


@pytest.mark.quick("hybrid", "gibbs", "reversal")
@KERNELS
def test_draws_pass_a_chi_square_test_over_all_543_dags(name):
    table = small_table(n=4, m=8, seed=5, k=3)
    p = exact(table)
    kernel = kernels(4)[name]
    if name == "global":  # the other edges leave some DAGs too rarely
        kernel = bn.Global(bn.order_posterior(table).edges)
    draws = bn.sample_structures(
        table, draws=8000, thin=150, burn_in=2000, kernel=kernel, rng=np.random.default_rng(2)
    )
    counts = counts_of(draws, list(p))
    assert max(p.values()) < 0.1
    assert oracles.chi_square(counts, counts.sum() * np.array(list(p.values()))) > 1e-4


def few_edges(dag):
    """No product of factors of nodes: the square of the number of edges."""
    return -0.3 * int(np.bitwise_count(dag).sum()) ** 2


def must_lead(dag):
    """0 -> ... -> 2, or the DAG is impossible."""
    return 0.0 if bn.graphs.ancestors(dag)[2] & 1 else -math.inf


@pytest.mark.quick("must_lead-global", "must_lead-local", "few_edges")
@KERNELS
@pytest.mark.parametrize("log_prior", [few_edges, must_lead])
def test_a_prior_that_is_no_product(name, log_prior):
    table = small_table()
    p = exact(table, log_prior)
    draws = bn.sample_structures(
        table,
        draws=1500,
        thin=6,
        burn_in=200,
        kernel=kernels(3)[name],
        log_prior=log_prior,
        rng=np.random.default_rng(3),
    )
    thinned = draws.values[:, ::5].reshape(-1, 3)
    counts = np.array([(thinned == dag).all(axis=1).sum() for dag in p])
    assert oracles.chi_square(counts, counts.sum() * np.array(list(p.values()))) > 1e-4
    extra = np.array([log_prior(dag) for dag in draws.values.reshape(-1, 3)])
    expected = table.log_target(draws.values) + extra.reshape(draws.log_target.shape)
    assert draws.log_target == pytest.approx(expected, abs=1e-12)
    assert draws.stats["acceptance_prior"].shape == (4,)


def test_the_name_and_the_acceptance_of_a_prior_are_on_record():
    options = {"draws": 50, "thin": 100, "rng": np.random.default_rng(0)}
    draws = bn.sample_structures(small_table(), log_prior=few_edges, **options)
    assert draws.run.settings["log_prior"] == "few_edges"
    assert (draws.stats["acceptance_prior"] > 0).all()
    assert draws.run.settings["burn_in"] == 100_000


def test_a_first_dag_that_the_prior_allows_is_looked_for():
    options = {"draws": 5, "burn_in": 0, "log_prior": must_lead}
    draws = bn.sample_structures(small_table(), rng=np.random.default_rng(0), **options)
    assert (bn.graphs.ancestors(draws.values)[..., 2] & 1).all()
    with pytest.raises(ValueError, match=r"-inf at the first DAG, \[0, 0, 0\]: pass start="):
        bn.sample_structures(
            small_table(), start=[0, 0, 0], rng=np.random.default_rng(0), **options
        )
    options["log_prior"] = lambda dag: -math.inf
    with pytest.raises(ValueError, match=r"and 10,000 later ones.*pass start="):
        bn.sample_structures(small_table(), rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e16, -1e16])
def test_a_prior_that_is_no_number_is_named(value):
    def log_prior(dag):
        return value if dag.any() else 0.0

    with pytest.raises(ValueError, match=re.escape(f"log_prior={value} for the DAG")):
        bn.sample_structures(
            small_table(), draws=5, log_prior=log_prior, rng=np.random.default_rng(0)
        )


def test_an_error_in_the_prior_comes_through():
    def log_prior(dag):
        return 0.0 if not dag.any() else {}["missing"]

    with pytest.raises(KeyError, match="missing"):
        bn.sample_structures(
            small_table(), draws=5, log_prior=log_prior, rng=np.random.default_rng(0)
        )


def test_the_prior_cannot_change_the_dag():
    def log_prior(dag):
        dag[0] = 1
        return 0.0

    with pytest.raises(ValueError, match="read-only"):
        bn.sample_structures(
            small_table(), draws=5, log_prior=log_prior, rng=np.random.default_rng(0)
        )


# Constraints, sizes, starts


@pytest.mark.parametrize("name", kernels(4))
def test_constraints_and_the_number_of_parents_are_kept(name):
    table = small_table(n=4, k=2, required=[(0, 1), (1, 2)], forbidden=[(3, 2)])
    draws = bn.sample_structures(
        table, draws=200, burn_in=50, thin=3, kernel=kernels(4)[name], rng=np.random.default_rng(4)
    )
    assert np.isfinite(draws.log_target).all()
    assert draws.log_target == pytest.approx(table.log_target(draws.values), abs=1e-12)
    assert np.bitwise_count(draws.values).max() <= 2
    assert len(np.unique(draws.values.reshape(-1, 4), axis=0)) > 3


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("kernel", [bn.Local(), bn.Gibbs(), bn.EdgeReversal(), bn.Global])
def test_few_variables(n, kernel):
    table = small_table(n=n, k=n - 1)
    kernel = bn.Global(np.full((n, n), 0.3)) if kernel is bn.Global else kernel
    draws = bn.sample_structures(
        table, draws=4000, burn_in=10, thin=8, kernel=kernel, rng=np.random.default_rng(0)
    )
    p = exact(table)
    counts = counts_of(draws, list(p))
    assert counts / counts.sum() == pytest.approx(np.array(list(p.values())), abs=0.03)


@pytest.mark.parametrize("kernel", [bn.Local(), bn.Gibbs(), bn.EdgeReversal(), bn.Global])
@pytest.mark.parametrize("n", [40, 63])
def test_many_variables(n, kernel):
    table = small_table(n=n, m=30)
    kernel = bn.Global(np.full((n, n), 0.002)) if kernel is bn.Global else kernel
    draws = bn.sample_structures(
        table, draws=20, burn_in=2000, thin=50, kernel=kernel, rng=np.random.default_rng(n)
    )
    expected = table.log_target(draws.values)  # and they are DAGs
    assert draws.log_target == pytest.approx(expected, abs=1e-9)
    assert len(np.unique(draws.values.reshape(-1, n), axis=0)) > 4


def test_where_the_chains_start():
    table = small_table(n=4)
    options = {"draws": 1, "burn_in": 0, "thin": 1, "chains": 3, "rng": np.random.default_rng(0)}
    starts = np.array([[0, 1, 2, 4], [0, 0, 0, 0], [2, 0, 0, 2]])
    for start in (starts, starts[0]):
        first = bn.sample_structures(table, start=start, **options).values[:, 0]
        edges_changed = np.bitwise_count(first ^ start).sum(axis=1)
        assert (edges_changed <= 2).all()
    assert (starts == [[0, 1, 2, 4], [0, 0, 0, 0], [2, 0, 0, 2]]).all()


def test_interventions_change_nothing_but_the_table():
    rng = np.random.default_rng(7)
    values = rng.integers(0, 2, size=(12, 3))
    intervened = rng.random((12, 3)) < 0.3
    data = bn.Data.from_arrays(values, intervened=intervened)
    table = bn.score_families(data, bn.BDeu(), max_parents=2)
    p = exact(table)
    draws = bn.sample_structures(table, draws=5000, thin=30, rng=rng)
    counts = counts_of(draws, list(p))
    assert oracles.chi_square(counts, counts.sum() * np.array(list(p.values()))) > 1e-4


def test_edges_agree_with_all_29281_dags():
    table = small_table(n=5, m=40, seed=9, k=4)
    dags = bn.graphs.all_dags(5)
    p = np.exp(table.log_target(dags) - np.logaddexp.reduce(table.log_target(dags)))
    expected = (p[:, None, None] * bn.graphs.to_adjacency(dags)).sum(axis=0)
    proposal = bn.order_posterior(table).edges
    for kernel in (bn.Local(), bn.Hybrid(proposal), bn.EdgeReversal()):
        draws = bn.sample_structures(table, draws=4000, kernel=kernel, rng=np.random.default_rng(1))
        assert bn.features.edges(draws) == pytest.approx(expected, abs=0.02)


@pytest.mark.quick("gibbs", "hybrid")
@pytest.mark.parametrize("name", ["local", "hybrid", "gibbs", "reversal"])
def test_edges_and_paths_agree_with_the_exact_posterior_of_ten_variables(name):
    table = small_table(n=10, m=60, k=3, seed=2)
    exactly = bn.dag_posterior(table)
    kernel, thin = {
        "local": (bn.Local(), 1000),
        "hybrid": (bn.Hybrid(exactly.edges), 60),
        "gibbs": (bn.Gibbs(), 300),
        "reversal": (bn.EdgeReversal(), 300),
    }[name]
    draws = bn.sample_structures(
        table, draws=2500, thin=thin, kernel=kernel, rng=np.random.default_rng(1)
    )
    assert bn.features.edges(draws) == pytest.approx(exactly.edges, abs=0.03)
    assert bn.features.paths(draws) == pytest.approx(exactly.ancestors, abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": bn.Local}, "the class Local: pass a Local or a Global"),
        ({"kernel": bn.Global(np.zeros((4, 4)))}, "for a table of 3 variables"),
        ({"log_prior": 1.0}, "log_prior=1.0: pass a function"),
        ({"start": [0, 0]}, r"start has shape \(2,\)"),
        ({"start": np.zeros((3, 3), int)}, r"start has shape \(3, 3\)"),
        ({"start": [2, 1, 0]}, "directed cycle"),
        ({"start": [0, 0, 3]}, "too many parents"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    options = {"draws": 5, "rng": np.random.default_rng(0), **options}
    with pytest.raises(ValueError, match=message):
        bn.sample_structures(small_table(k=1), **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bn.Global([0.1, 0.2]), r"got shape \(2,\)"),
        (lambda: bn.Global([[0, 0.7], [0.6, 0]]), r"edges\[0, 1\] = 0.7 and edges\[1, 0\] = 0.6"),
        (lambda: bn.Hybrid([[0, -0.1], [0.6, 0]]), r"edges\[0, 1\] = -0.1"),
        (lambda: bn.Hybrid([[0, 0.1], [0.6, 0]], local=1.5), "local=1.5"),
        (lambda: bn.EdgeReversal(share=1.0), "share=1.0"),
    ],
)
def test_kernels_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_global_proposals_are_clipped():
    chances = bn.Global([[0, 1.0], [0.0, 0]]).chances
    assert chances[0, 1] == pytest.approx(1 / (1 + 3e-4), abs=1e-3)
    assert chances[1, 0] == pytest.approx(1e-4, rel=1e-3)
    assert 1 - chances.sum() == pytest.approx(1e-4, rel=1e-3)


def test_draws_that_do_not_fit_into_memory_are_refused():
    with pytest.raises(ValueError, match=r"walking on DAGs needs .* keep fewer draws"):
        bn.sample_structures(small_table(), draws=10**13, rng=np.random.default_rng(0))
