"""The evidence of networks with hidden nodes by particles and by annealing."""

import itertools
import math
import pickle

import numpy as np
import oracles
import pytest

from bnlab.hidden import (
    AIS,
    SMC,
    CompletionGibbs,
    HiddenModel,
    JointDirichlet,
    RowDirichlet,
    TemperedGibbs,
    Warped,
    anneal,
    bipartite_structures,
    estimate_evidence,
    exact_evidence,
    score,
)
from bnlab.hidden.samplers import open_model
from bnlab.kernels import latent_particles, latent_walks
from bnlab.weights import betas_of

ARITIES = [2, 2, 5, 5, 5, 5]
METHODS = {
    "smc": (SMC(8), 1000),
    "rows": (AIS(Warped(400), RowDirichlet()), 400),
    "gibbs": (AIS(Warped(60), TemperedGibbs()), 600),
    "completions": (AIS(Warped(40), CompletionGibbs()), 600),
}
MOVES = [JointDirichlet(20.0), RowDirichlet(), TemperedGibbs(), CompletionGibbs()]
SMALL = HiddenModel([0, 1, 1], [2, 3, 2], hidden=[0], strength=0.7)
FEW = np.array([[0, 0], [2, 1], [2, 1], [1, 0]])


def agree(log_values, log_truth, times=4.0):
    """Whether the mean of exp(log_values) is within so many standard errors of the truth."""
    relative = np.exp(np.asarray(log_values) - log_truth)
    return abs(relative.mean() - 1) <= times * relative.std(ddof=1) / math.sqrt(relative.size)


def name_of(case):
    return type(case).__name__


@pytest.mark.quick("3-1.0", "120-3.0")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("strength", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("which", [3, 50, 120])
def test_mean_of_estimates_is_the_sum_over_completions(which, strength, method):
    model = HiddenModel(bipartite_structures()[which], ARITIES, hidden=[0, 1], strength=strength)
    data = np.random.default_rng(which).integers(0, 5, (6, 4))
    chosen, runs = METHODS[method]
    found = estimate_evidence(model, data, runs=runs, rng=np.random.default_rng(1), method=chosen)
    error = math.expm1(found.log_value - exact_evidence(model, data).log_value)
    assert abs(error) <= 4 * found.stderr + 1e-9
    assert found.stderr < 0.3


@pytest.mark.parametrize("strength", [1e4, 1e8])
def test_strong_priors_keep_their_digits(strength):
    """ln p = m J ln(1/2) but for a term in 1 / strength, which one observed node has in full."""
    rows = np.array([[0, 1]] * 40 + [[1, 1]] * 3)
    model = HiddenModel([0, 1, 1], [2, 2, 2], hidden=[0], strength=strength)
    alone = HiddenModel([0, 0], [2, 2], hidden=[], strength=strength)

    def rising(a, count):
        return math.fsum(math.log(a + i) for i in range(count))

    expected = sum(
        rising(strength, k) + rising(strength, 43 - k) - rising(2 * strength, 43) for k in (3, 0)
    )
    assert exact_evidence(alone, rows).log_value == pytest.approx(expected, abs=1e-12)
    exact = exact_evidence(model, rows).log_value
    assert exact == pytest.approx(86 * math.log(0.5), abs=1e3 / strength + 1e-12)
    rng = np.random.default_rng(1)
    for bound in score(model, rows, ["cs", "vb"], rng=rng).values():
        assert exact - 100 / strength <= bound.log_value <= exact + 1e-11


@pytest.mark.parametrize("method", METHODS)
def test_missing_cells_are_summed_over(method):
    model = HiddenModel([0, 1, 1, 2], [2, 3, 2, 2], hidden=[0], strength=0.8)
    data = np.array([[0, 1, -1], [2, 0, 0], [-1, 0, 1], [1, -1, -1], [1, 1, 1]])
    chosen, runs = METHODS[method]
    found = estimate_evidence(model, data, runs=runs, rng=np.random.default_rng(2), method=chosen)
    error = math.expm1(found.log_value - exact_evidence(model, data).log_value)
    assert abs(error) <= 4 * found.stderr


def test_missing_cells_without_hidden_nodes():
    model = HiddenModel([0, 1, 2], [2, 3, 2], hidden=[])
    data = np.array([[0, 2, 1], [1, -1, 0], [-1, 1, 1], [0, 0, 0]])
    found = estimate_evidence(model, data, runs=500, rng=np.random.default_rng(2))
    error = math.expm1(found.log_value - exact_evidence(model, data).log_value)
    assert abs(error) <= 4 * found.stderr


def test_what_no_row_leaves_open_is_exact():
    model = HiddenModel([0, 0, 2], [2, 3, 2], hidden=[0])
    data = [[0, 1], [2, 0], [1, 1]]
    found = [
        estimate_evidence(model, data, runs=3, rng=np.random.default_rng(1), method=method)
        for method in ("smc", "ais")
    ]
    exact = exact_evidence(model, data).log_value
    assert [each.log_value for each in found] == pytest.approx([exact] * 2)
    assert [each.stderr for each in found] == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("particles", [1, 2, 30])
def test_particles_on_a_latent_class_of_sixty_rows(particles):
    model = HiddenModel([0, 1], [2, 5], hidden=[0])
    data = np.random.default_rng(5).choice(5, (60, 1), p=[0.5, 0.2, 0.1, 0.1, 0.1])
    found = estimate_evidence(
        model, data, runs=1500, rng=np.random.default_rng(1), method=SMC(particles)
    )
    error = math.expm1(found.log_value - exact_evidence(model, data).log_value)
    assert abs(error) <= 4 * found.stderr


def posterior_draws(model, data, count, rng):
    """Exact draws of tables, by listing all completions of rows without missing cells."""
    parents, arities = model.parents.tolist(), model.arities.tolist()
    hidden = list(model.hidden)
    ranges = itertools.product(*[range(arities[v]) for v in hidden])
    every = list(itertools.product(list(ranges), repeat=len(data)))
    rows = np.empty((len(every), len(data), model.n), int)
    rows[:, :, list(model.observed)] = data
    rows[:, :, hidden] = np.array(every)
    logs = [
        oracles.log_completed(parents, arities, [tuple(r) for r in each.tolist()], model.strength)
        for each in rows
    ]
    weights = np.exp(np.array(logs) - oracles.log_sum(logs))
    tables = [[] for _ in range(model.n)]
    for which in rng.choice(len(every), count, p=weights / weights.sum()):
        for v in range(model.n):
            counts = np.full((model.rows(v), arities[v]), model.strength)
            for row in rows[which]:
                index = 0
                for u in oracles.members(parents[v]):
                    index = index * arities[u] + row[u]
                counts[index, row[v]] += 1
            tables[v].append([rng.dirichlet(line) for line in counts])
    return [np.array(table) for table in tables]


@pytest.mark.quick("JointDirichlet", "TemperedGibbs")
@pytest.mark.parametrize("moves", MOVES, ids=name_of)
def test_reverse_runs_from_exact_draws_give_the_inverse(moves):
    rng = np.random.default_rng(4)
    start = posterior_draws(SMALL, FEW, 2000, rng)
    found = anneal(
        SMALL, FEW, runs=2000, rng=rng, method=AIS(Warped(40), moves), start=start, reverse=True
    )
    assert agree(-found.log_weight, -exact_evidence(SMALL, FEW).log_value)


@pytest.mark.quick("TemperedGibbs")
@pytest.mark.parametrize("moves", MOVES[1:], ids=name_of)
def test_weighted_ends_are_draws_from_the_posterior(moves):
    rng = np.random.default_rng(6)
    start = posterior_draws(SMALL, FEW, 4000, rng)
    found = anneal(SMALL, FEW, runs=4000, rng=rng, method=AIS(Warped(100), moves))
    weight = np.exp(found.log_weight - found.log_weight.max())
    weight /= weight.sum()
    size = 1 / (weight**2).sum()
    for exact, ours in zip(start, found.tables, strict=True):
        mean, spread = exact.mean(axis=0), exact.std(axis=0)
        weighted = np.tensordot(weight, ours, axes=1)
        # the last move is at the last temperature below 1
        assert (abs(weighted - mean) < 4.5 * spread * math.sqrt(1 / size + 1 / 4000) + 0.002).all()


@pytest.mark.parametrize("power", [0.4, 1.0])
def test_a_sweep_leaves_the_law_of_completions_as_it_is(power):
    walked = open_model(SMALL, FEW[:3]).components[0]
    rows, tables, order = walked.rows, walked.tables, walked.order
    every = list(itertools.product([0, 1], repeat=3))

    def counted(states):
        counts, totals = np.zeros(walked.cells.size), np.zeros(tables[0].size)
        for r, state in zip(order, states, strict=True):
            latent_particles.add(rows, r, state, 1.0, counts, totals)
        return counts, totals

    law = np.array([latent_particles.log_completed(tables, *counted(z)) for z in every])
    law = np.exp(power * law)
    law /= law.sum()
    rng = np.random.default_rng(3)
    tally = np.zeros(8)
    for which in rng.choice(8, 20_000, p=law):
        states = np.array(every[which], np.int32)
        counts, totals = counted(states)
        latent_particles.sweep(order, rows, tables, power, states, counts, totals, rng)
        tally[every.index(tuple(states.tolist()))] += 1
        assert counts.sum() == 9
    expected = 20_000 * law
    assert ((tally - expected) ** 2 / expected).sum() < 29  # chi-square of 7, p = 1.5e-4


@pytest.mark.quick("gibbs", "rows")
@pytest.mark.parametrize("moves", ["joint", "rows", "gibbs"])
def test_walks_on_tables_leave_the_joint_law_as_it_is(moves):
    """Tables from the prior, data from the tables, moves given the data: still the prior."""
    model = HiddenModel([0, 1], [2, 3], hidden=[0], strength=1.5)
    rng = np.random.default_rng(8)
    before, after = [], []
    for _ in range(1000):
        theta = [rng.dirichlet([1.5] * 2, 1), rng.dirichlet([1.5] * 3, 2)]
        states = rng.choice(2, 4, p=theta[0][0])
        data = np.array([[rng.choice(3, p=theta[1][s])] for s in states])
        walked = open_model(model, data).components[0]
        log_theta = np.log(np.concatenate([table.ravel() for table in theta]))
        before.append([*np.exp(log_theta), *stats_of(log_theta, walked)])
        problem = (walked.completions.listed, walked.base, 1.5)
        record = (np.zeros(7, np.int64), np.zeros(1), np.zeros((1, 2), np.int64))
        betas = np.ones(8)
        blocks = np.array([[0, 3]]) if moves == "joint" else np.array([[0, 1], [1, 2], [2, 3]])
        if moves == "gibbs":
            plan = (betas, 1.0, walked.ranges)
            latent_walks.anneal_gibbs(log_theta, problem, plan, rng, record)
        else:
            width = (0.0, 12.0, 0.0) if moves == "joint" else (1.5, 0.0, 1.2)
            plan = (betas, width, walked.ranges, blocks)
            latent_walks.anneal_tables(log_theta, problem, plan, rng, record)
        after.append([*np.exp(log_theta), *stats_of(log_theta, walked)])
    before, after = np.array(before), np.array(after)
    assert (before != after).any()
    for power in (1, 2):
        change = after**power - before**power
        assert (abs(change.mean(axis=0)) < 4 * change.std(axis=0) / math.sqrt(1000)).all()


def stats_of(log_theta, walked):
    tables = (log_theta, np.exp(log_theta))
    value = latent_walks.log_likelihood(tables, walked.completions.listed, walked.base)
    return [value, value * log_theta[2]]


def test_log_likelihood_is_that_of_the_rows():
    rng = np.random.default_rng(9)
    data = rng.integers(0, 5, (40, 4))
    model = HiddenModel([0, 0, 1, 3, 3, 2], ARITIES, hidden=[0, 1])
    walked = open_model(model, data, joint=True).components[0]
    log_theta = np.zeros(walked.cells.size)
    latent_walks.draw_tables(np.ones(log_theta.size), walked.ranges, rng, log_theta)
    from_values = latent_walks.log_likelihood(
        (log_theta, np.exp(log_theta)), walked.completions.listed, walked.base
    )
    from_logs = latent_walks.log_likelihood(
        (log_theta, np.zeros(log_theta.size)), walked.completions.listed, walked.base
    )
    assert from_values == pytest.approx(from_logs, abs=1e-9)
    y = data
    theta = np.exp(log_theta)
    s1, s2, a, b, c, d = np.split(theta, [2, 4, 14, 34, 54])
    total = 0.0
    for row in y:
        total += math.log(
            sum(
                s1[i] * s2[j] * a[5 * i + row[0]] * d[5 * j + row[3]]
                * b[10 * i + 5 * j + row[1]] * c[10 * i + 5 * j + row[2]]
                for i in range(2)
                for j in range(2)
            )
        )  # fmt: skip
    assert from_values == pytest.approx(total)


def test_predictions_in_logs_are_the_same():
    walked = open_model(SMALL, FEW).components[0]
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, walked.cells.size).astype(float)
    totals = np.add.reduceat(counts, walked.completions.first[:-1])
    shares = np.empty((2, 2))
    arguments = (walked.rows, 1, walked.tables, counts, totals)
    total = latent_particles.predict(*arguments, shares[0])
    scale, rest = latent_particles.predict_in_logs(*arguments, shares[1])
    assert scale + math.log(rest) == pytest.approx(math.log(total))
    assert shares[0] / total == pytest.approx(shares[1] / rest)


def test_predictions_whose_products_leave_the_range_of_numbers():
    cells = np.arange(4, dtype=np.uint32)
    factors, tables = np.array([[0, 1]], np.uint32), (np.full(4, 2.0), 1.0)
    counts, totals = np.array([1e150, 1e140] * 2), np.array([1e160, 1e150] * 2)
    shares = np.empty(2)
    rows = (cells, cells, factors, np.array([0]), np.array([2]))
    assert latent_particles.predict(rows, 0, tables, counts, totals, shares) == -1
    scale, total = latent_particles.predict_in_logs(rows, 0, tables, counts, totals, shares)
    assert shares / total == pytest.approx([0.5, 0.5])
    assert scale + math.log(total) == pytest.approx(math.log(2) - 20 * math.log(10))


def test_many_rows_of_many_columns_have_a_finite_likelihood():
    data = np.random.default_rng(3).integers(0, 500, (1100, 62))
    model = HiddenModel([0] + [1] * 62, [2] + [500] * 62, hidden=[0])
    walked = open_model(model, data, joint=True).components[0]
    log_theta = np.log(np.repeat([0.5, 0.002], [2, walked.cells.size - 2]))
    found = latent_walks.log_likelihood(
        (log_theta, np.exp(log_theta)), walked.completions.listed, walked.base
    )
    assert found == pytest.approx(data.size * math.log(0.002))


def test_resampling_copies_by_weight():
    rng = np.random.default_rng(2)
    weight = np.array([0.0, 5.0, 0.5, 1.0, 0.25, 3.25])
    taken = np.zeros(6)
    for _ in range(4000):
        log_weight = np.log(np.maximum(weight, 1e-300))
        counts = np.arange(6.0)[:, None].copy()
        states, totals = counts.astype(np.int32), counts.copy()
        latent_particles.resample(log_weight, states, counts, totals, rng)
        copies = np.bincount(counts[:, 0].astype(int), minlength=6)
        assert (states == counts).all() and (log_weight == 0).all()
        assert (abs(copies - 0.6 * weight) < 1).all()
        taken += copies
    assert taken / 4000 == pytest.approx(0.6 * weight, abs=0.04)


@pytest.mark.parametrize("moves", MOVES, ids=name_of)
def test_walks_near_the_edge_of_the_simplex_stay_finite(moves):
    model = HiddenModel([0, 1, 1], [2, 3, 2], hidden=[0], strength=0.01)
    found = anneal(
        model, FEW, runs=20, rng=np.random.default_rng(1), method=AIS(Warped(300), moves)
    )
    assert np.isfinite(found.log_weight).all()
    for table in found.tables:
        assert table.sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))


@pytest.mark.parametrize("moves", MOVES, ids=name_of)
def test_weights_are_sums_of_ratios_in_either_direction(moves):
    theta = [[[0.4, 0.6]], [[0.2, 0.3, 0.5]] * 2, [[0.9, 0.1], [0.5, 0.5]]]
    for reverse in (False, True):
        found = anneal(
            SMALL,
            FEW,
            runs=3,
            rng=np.random.default_rng(1),
            method=AIS(Warped(450), moves),
            start=theta,
            reverse=reverse,
        )
        assert found.log_ratio.shape == (3, 200)
        assert found.acceptance.shape == (200,)
        assert found.betas[0] == 0
        assert found.log_weight == pytest.approx(found.log_start + found.log_ratio.sum(axis=1))
        assert [table.shape for table in found.tables] == [(3, 1, 2), (3, 2, 3), (3, 2, 2)]
        again = pickle.loads(pickle.dumps(found))
        assert (again.log_weight == found.log_weight).all()
        assert not again.tables[0].flags.writeable


def test_inputs_and_global_generators_stay_as_they_are():
    data, rng = FEW.copy(), np.random.default_rng(1)
    start = [np.full((1, 2), 0.5), np.full((2, 3), 1 / 3), np.full((2, 2), 0.5)]
    kept = [table.copy() for table in start]
    legacy = np.random.get_state()[1].copy()  # noqa: NPY002
    anneal(SMALL, data, runs=2, rng=rng, method=AIS(Warped(9)), start=start)
    assert (data == FEW).all()
    assert all((a == b).all() for a, b in zip(start, kept, strict=True))
    assert (np.random.get_state()[1] == legacy).all()  # noqa: NPY002


def test_errors_name_the_value_and_the_remedy():
    rng = np.random.default_rng(1)
    ok = [[[0.5, 0.5]], [[0.2, 0.3, 0.5]] * 2, [[0.5, 0.5]] * 2]
    for arguments, message in [
        ({"runs": 0}, "runs=0"),
        ({"rng": 1}, "rng=1"),
        ({"reverse": True}, "reverse=True needs start="),
        ({"start": ok[:2]}, "2 tables: give one for each of 3"),
        (
            {"start": [ok[1], *ok[1:]]},
            r"node 0: its table is \(1, 2\), or \(2, 1, 2\) .*, not \(2, 3\)",
        ),
        ({"start": [[[0.5, 0.9]], *ok[1:]]}, "node 0: rows of its table are probabilities"),
    ]:
        with pytest.raises(ValueError, match=message):
            anneal(SMALL, FEW, **{"runs": 2, "rng": rng, **arguments})
    with pytest.raises(ValueError, match="method='mcmc'"):
        estimate_evidence(SMALL, FEW, runs=2, rng=rng, method="mcmc")
    for make, message in [
        (lambda: SMC(0), "particles=0"),
        (lambda: Warped(0), "steps=0"),
        (lambda: Warped(5, e=0), "e=0"),
        (lambda: JointDirichlet(0), "strength=0"),
        (lambda: RowDirichlet(math.inf), "growth=inf"),
        (lambda: betas_of(Falling()), "rise from 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
    wide = HiddenModel([0, *[1 << v for v in range(15)]], [2] * 16, hidden=[])
    with pytest.raises(ValueError, match="16,384 joint states"):
        estimate_evidence(wide, np.full((1, 16), -1), runs=2, rng=rng)


class Falling:
    betas = np.array([0.0, 0.5, 0.4, 1.0])


def test_the_thesis_schedule():
    betas = Warped(16384).betas
    k = np.arange(16385) / 16384
    assert betas == pytest.approx(0.2 * k / (1 - k + 0.2))
    assert Warped(100, e=1e6).betas == pytest.approx(np.linspace(0, 1, 101), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "printed"), [(10, 0.357), (640, 0.448), (2560, 0.61), (10240, 0.79)])
def test_rejections_of_the_joint_proposal_are_near_print(m, printed):
    """[Beal2003, Table 6.4], which averages over one batch of structures."""
    model = HiddenModel([0, 0, 1, 3, 3, 2], ARITIES, hidden=[0, 1])
    rejected = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        theta = [rng.dirichlet([1] * ARITIES[v], model.rows(v)) for v in range(6)]
        s = [rng.choice(2, m, p=theta[h][0]) for h in range(2)]
        rows = [s[0], 2 * s[0] + s[1], 2 * s[0] + s[1], s[1]]
        data = np.stack(
            [[rng.choice(5, p=theta[v + 2][r]) for r in rows[v]] for v in range(4)], axis=1
        )
        method = AIS(Warped(16384), JointDirichlet())
        rejected.append(
            1 - np.nanmean(anneal(model, data, runs=1, rng=rng, method=method).acceptance)
        )
    assert np.mean(rejected) == pytest.approx(printed, abs=0.06)
