"""Evidence of many structures, bounds from both sides, and checkpoints, with hidden variables."""

import itertools
import math

import numpy as np
import pytest

from bnlab import Stopped
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
    estimate_lower_bound,
    estimate_structures,
    estimate_upper_bound,
    exact_evidence,
)

ARITIES = [2, 2, 5, 5, 5, 5]
SMALL = HiddenModel([0, 1, 1], [2, 3, 2], hidden=[0], strength=0.7)
FEW = np.array([[0, 0], [2, 1], [2, 1], [1, 0]])
MOVES = [JointDirichlet(20.0), RowDirichlet(), TemperedGibbs(), CompletionGibbs()]
SHORT = AIS(Warped(30))


def name_of(case):
    return type(case).__name__


def simulated(model, m, rng):
    """Tables from the prior, and rows from the tables."""
    tables = [
        rng.dirichlet([model.strength] * model.arities[v], model.rows(v)) for v in range(model.n)
    ]
    states = np.zeros((m, model.n), int)
    for v, i in itertools.product(range(model.n), range(m)):
        row = 0
        for u in range(v):
            if model.parents[v] >> u & 1:
                row = row * model.arities[u] + states[i, u]
        states[i, v] = rng.choice(model.arities[v], p=tables[v][row])
    return tables, states[:, list(model.observed)]


@pytest.mark.quick("method0", "method1")
@pytest.mark.parametrize("method", [SMC(8), AIS(Warped(200)), AIS(Warped(40), CompletionGibbs())])
def test_estimates_of_structures_average_to_the_evidence(method):
    models = [
        HiddenModel(bipartite_structures()[i], ARITIES, hidden=[0, 1]) for i in (0, 4, 21, 77, 135)
    ]
    data = np.random.default_rng(2).integers(0, 5, (5, 4))
    rng = np.random.default_rng(3)
    found = estimate_structures(models, data, runs=400, rng=rng, method=method)
    for model, each in zip(models, found, strict=True):
        error = math.expm1(each.log_value - exact_evidence(model, data).log_value)
        assert abs(error) <= 4 * each.stderr + 1e-9
        assert each.trace.shape == (400,)
        assert each.trace[-1] == pytest.approx(each.log_value)


def test_parts_that_structures_share_are_estimated_once():
    first = HiddenModel([0, 0, 1, 1, 2], [2, 2, 3, 3, 3], hidden=[0, 1])
    second = HiddenModel([0, 0, 1, 1, 0], [2, 2, 3, 3, 3], hidden=[0, 1])
    data = np.random.default_rng(2).integers(0, 3, (6, 3))
    seen = []
    one, two = estimate_structures(
        [first, second],
        data,
        runs=4,
        rng=np.random.default_rng(1),
        method=SMC(4),
        progress=lambda done, total, _: seen.append((done, total)),
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
    # a hidden node with one child: what is left of the difference is the child's two parts
    rest = [HiddenModel([0, 1], [2, 3], hidden=[0]), HiddenModel([0], [3], hidden=[])]
    a, b = (exact_evidence(model, data[:, 2:]).log_value for model in rest)
    assert one.log_value - two.log_value == pytest.approx(a - b, abs=0.5)


def test_walks_on_all_tables_take_structures_whole():
    seen = []
    models = [HiddenModel([0, 1, p], [2, 2, 2], hidden=[0]) for p in (0, 1)]
    estimate_structures(
        models,
        FEW[:, ::-1] % 2,
        runs=2,
        rng=np.random.default_rng(1),
        method=AIS(Warped(5), JointDirichlet()),
        progress=lambda done, total, _: seen.append(total),
    )
    assert seen == [2, 2]


@pytest.mark.quick("1-method0", "5-method1")
@pytest.mark.parametrize("method", [SMC(2), AIS(Warped(20)), AIS(Warped(5), TemperedGibbs())])
@pytest.mark.parametrize("bins", [1, 5])
def test_lower_bounds_fail_no_more_often_than_they_may(bins, method):
    truth = exact_evidence(SMALL, FEW).log_value
    values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = estimate_lower_bound(
            SMALL, FEW, runs=bins, rng=rng, method=method, delta=0.5, bins=bins
        )
        assert (found.kind, found.confidence) == ("lower_bound", 0.5)
        values.append(found.log_value)
    assert np.mean(np.array(values) > truth) < 0.5


def test_a_lower_bound_of_one_bin_is_the_estimate_less_its_price():
    options = {"runs": 20, "method": SMC(4)}
    estimate = estimate_evidence(SMALL, FEW, rng=np.random.default_rng(1), **options)
    found = estimate_lower_bound(
        SMALL, FEW, rng=np.random.default_rng(1), delta=0.1, bins=1, **options
    )
    assert found.log_value == pytest.approx(estimate.log_value - math.log(10))


@pytest.mark.quick("TemperedGibbs")
@pytest.mark.parametrize("moves", MOVES, ids=name_of)
def test_upper_bounds_from_simulating_tables_fail_no_more_often_than_they_may(moves):
    high = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tables, data = simulated(SMALL, 5, rng)
        found = estimate_upper_bound(
            SMALL, data, start=tables, runs=3, rng=rng, method=AIS(Warped(20), moves), delta=0.5
        )
        assert (found.kind, found.confidence) == ("upper_bound", 0.5)
        high.append(found.log_value - exact_evidence(SMALL, data).log_value)
    assert np.mean(np.array(high) < 0) < 0.5


@pytest.mark.quick("8", "80")
@pytest.mark.parametrize("m", [8, 80, 480])
def test_forward_and_reverse_runs_hold_the_truth_between_them(m):
    """Means of logs are below the truth upward and above it in reverse [GrosseEtAl2015]."""
    model = HiddenModel([0, 0, 1, 3, 3, 2], ARITIES, hidden=[0, 1])
    low, high = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tables, data = simulated(model, m, rng)
        if m == 8:
            truth = exact_evidence(model, data).log_value
        else:
            truth = estimate_evidence(model, data, runs=4, rng=rng, method=SMC(256)).log_value
        method = AIS(Warped(2000), RowDirichlet())
        up = anneal(model, data, runs=6, rng=rng, method=method)
        down = anneal(model, data, runs=6, rng=rng, method=method, start=tables, reverse=True)
        low.append(up.log_weight.mean() - truth)
        high.append(down.log_weight.mean() - truth)
    assert np.mean(low) < 0 < np.mean(high)


def test_parts_of_other_structures_or_by_another_method_are_refused(tmp_path):
    models = [HiddenModel(bipartite_structures()[i], ARITIES, hidden=[0, 1]) for i in (0, 4, 21)]

    def run(method=SHORT, of=models):
        rng, path = np.random.default_rng(7), tmp_path / "parts"
        estimate_structures(of, [[0] * 4], runs=3, rng=rng, method=method, checkpoint=path)

    run()
    for other in ({"method": SMC(3)}, {"of": models[:2]}):
        with pytest.raises(ValueError, match="checkpoint of another run"):
            run(**other)


@pytest.mark.parametrize("what", ["data", "model", "start", "seed", "moves"])
def test_a_checkpoint_of_another_run_is_refused(what, tmp_path):
    start = [[[0.4, 0.6]], [[0.2, 0.3, 0.5]] * 2, [[0.9, 0.1]] * 2]
    given = {"model": SMALL, "data": FEW, "start": start, "seed": 1, "moves": RowDirichlet()}
    other = {
        "model": HiddenModel([0, 1, 1], [2, 3, 2], hidden=[0], strength=0.8),
        "data": FEW[:3],
        "start": [start[0], start[1], [[0.8, 0.2]] * 2],
        "seed": 2,
        "moves": TemperedGibbs(),
    }

    def run(model, data, start, seed, moves):
        anneal(
            model,
            data,
            runs=2,
            rng=np.random.default_rng(seed),
            method=AIS(Warped(3), moves),
            start=start,
            checkpoint=tmp_path / "runs",
        )

    run(**given)
    with pytest.raises(ValueError, match="checkpoint of another run"):
        run(**{**given, what: other[what]})


def test_bounds_check_what_they_are_given():
    rng = np.random.default_rng(1)
    start = [[[0.4, 0.6]], [[0.2, 0.3, 0.5]] * 2, [[0.9, 0.1]] * 2]
    with pytest.raises(ValueError, match="runs=3 cannot fill bins=9"):
        estimate_lower_bound(SMALL, FEW, runs=3, rng=rng)
    with pytest.raises(ValueError, match="delta=0"):
        estimate_upper_bound(SMALL, FEW, runs=3, rng=rng, start=start, delta=0)
    with pytest.raises(ValueError, match="bins=2: all runs depend on the one start"):
        estimate_upper_bound(SMALL, FEW, runs=3, rng=rng, start=start, bins=2)
    with pytest.raises(ValueError, match="only runs of AIS"):
        estimate_upper_bound(SMALL, FEW, runs=3, rng=rng, start=start, method=SMC())
    with pytest.raises(ValueError, match="method='mcmc'"):
        estimate_structures([SMALL], FEW, runs=2, rng=rng, method="mcmc")
    with pytest.raises(Stopped, match="stopped after 1 runs"):
        estimate_lower_bound(
            SMALL, FEW, runs=9, rng=rng, method=SHORT, progress=lambda done, total, _: False
        )
