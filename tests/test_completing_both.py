"""Missing states and measurements of one table, against enumeration of states and quadrature."""

import itertools
import math

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.scores.local import Units

NAN = math.nan


def table_of(rng, arities, m, gaps, *, held=None):
    """Columns that depend on each other in odd units, with gaps [(row, variable)]."""
    n = len(arities)
    measured = np.equal(arities, 0)
    values = rng.standard_normal((m, n))
    for v in range(n):
        values[:, v] += 1.5 * values[:, v - 1] if v else 0.0
        if not measured[v]:
            cuts = np.quantile(values[:, v], np.arange(1, arities[v]) / arities[v])
            values[:, v] = np.searchsorted(cuts, values[:, v])
    values[:, measured] = 10.0 + 3.0 * values[:, measured]
    for row, v in gaps:
        values[row, v] = NAN if measured[v] else -1
    return bn.Data.from_arrays(values, arities, intervened=held, missing="keep")


def units(data):
    """Center and scale (n,) of observed measurements; 0 and 1 of states."""
    center, scale, known = np.zeros(data.n), np.ones(data.n), data.measurements[:, data.measured]
    center[data.measured] = np.nanmean(known, axis=0)
    scale[data.measured] = np.nanstd(known, axis=0, ddof=1)
    return center, scale


def log_weights(codes, tables, arities, dags, held, alpha_mu=1.0):
    """Scores (dags, tables) given states (m, n) and measurements (tables, m, n)."""
    prior = alpha_mu, alpha_mu + 1, alpha_mu * alpha_mu / (alpha_mu + 1)
    out = np.zeros((len(dags), len(tables)))
    for v, mask in sorted({(v, dag[v]) for dag in dags for v in range(len(arities))}):
        parents, counted = oracles.members(mask), ~held[:, v]
        with_states = [u for u in parents if arities[u]]
        if arities[v]:
            family = oracles.bdeu(codes[counted], arities, v, parents)
        else:
            numbers, family = [u for u in parents if not arities[u]], 0.0
            for state in np.unique(codes[counted][:, with_states], axis=0):
                same = counted & (codes[:, with_states] == state).all(axis=1)
                family = family + oracles.bge_marginal(tables[:, same][..., [*numbers, v]], *prior)
                family = family - oracles.bge_marginal(tables[:, same][..., numbers], *prior)
        out[[dag[v] == mask for dag in dags]] += family
    return out


def allowed_dags(arities):
    """The DAGs in which no variable with states has a measured parent."""
    measured = sum(1 << v for v, arity in enumerate(arities) if not arity)
    return [
        dag
        for dag in oracles.all_dags(len(arities))
        if not any(arity and mask & measured for arity, mask in zip(arities, dag, strict=True))
    ]


def exactly(data, points=41):
    """(edges, mean of each cell): states enumerated, measurements by the trapezoidal rule."""
    gaps, n, arities = data.missing, data.n, [int(arity) for arity in data.arities]
    held = np.zeros(gaps.shape, bool) if data.intervened is None else data.intervened
    dags, (center, scale) = allowed_dags(arities), units(data)
    whole = np.where(data.measured, (data.measurements - center) / scale, 0.0)
    of_numbers = gaps & data.measured
    grid = itertools.product(np.linspace(-5, 5, points), repeat=int(of_numbers.sum()))
    cells = np.array(list(grid))
    tables = np.repeat(whole[None], len(cells), axis=0)
    tables[:, of_numbers] = np.sinh(cells)
    codes = np.where(data.measured, 0, data.values)
    weights, means = [], []
    for filled in oracles.fillings(codes, arities):
        log_p = log_weights(filled, tables, arities, dags, held)
        weights.append(log_p + np.log(np.cosh(cells)).sum(axis=1))
        means.append(np.where(data.measured, tables, filled)[:, gaps])
    shares = np.exp(np.array(weights) - np.max(weights))
    shares /= shares.sum()
    adjacency = np.array([[[dag[v] >> u & 1 for v in range(n)] for u in range(n)] for dag in dags])
    edges = np.tensordot(shares.sum(axis=(0, 2)), adjacency, 1)
    return edges, np.einsum("st,stc->c", shares.sum(axis=1), np.array(means))


HELD = np.zeros((9, 3), bool)
HELD[[1, 4, 6], [0, 1, 2]] = True
CASES = {
    "a state and a measurement": (([3, 0], 8, [(3, 1), (3, 0), (5, 0)]), {}),
    "2 states, 1 measurement": (([2, 3, 0], 9, [(1, 0), (1, 1), (1, 2), (4, 1)]), {}),
    "1 state, 2 measurements": (([0, 2, 0], 9, [(2, 1), (2, 2), (6, 1), (7, 0)]), {}),
    "interventions": (([2, 0, 0], 9, [(1, 1), (4, 0), (6, 0), (6, 1)]), {"held": HELD}),
}


@pytest.mark.quick("2 states, 1 measurement-0", "interventions-25")
@pytest.mark.parametrize("moves", [0, 25])
@pytest.mark.parametrize("name", CASES)
def test_edges_and_cells_are_those_of_the_sum_over_states_and_the_integral(name, moves):
    shape, held = CASES[name]
    data = table_of(np.random.default_rng(6), *shape, **held)
    edges, means = exactly(data)
    rng = np.random.default_rng(3)
    score = bn.ConditionalGaussian()
    found = bn.complete(data, score, draws=150, burn_in=30, rng=rng, moves=moves)
    assert found.edges.std() > 0.03
    assert (np.abs(found.edges - edges) <= 4 * found.stderr + 1e-6).all()
    center, scale = units(data)
    for i, (_, v) in enumerate(np.argwhere(data.missing)):
        drawn = found.cells[:, :, i]
        error = drawn.std() / math.sqrt(bn.diagnostics.ess(drawn))
        assert abs(drawn.mean() - center[v] - means[i] * scale[v]) <= 4 * error


def test_quadrature_has_converged():
    data = table_of(np.random.default_rng(6), *CASES["a state and a measurement"][0])
    for few, many in zip(exactly(data), exactly(data, points=121), strict=True):
        assert few == pytest.approx(many, abs=1e-5)


def test_what_is_averaged_belongs_together():
    data = table_of(np.random.default_rng(2), [2, 0, 3], 12, [(0, 0), (0, 1), (5, 2), (7, 1)])
    rng = np.random.default_rng(3)
    lengths = {"draws": 5, "burn_in": 10, "chains": 2}
    found = bn.complete(data, bn.ConditionalGaussian(), rng=rng, **lengths)
    known = data.measurements[~data.missing[:, 1], 1]
    center, scale = known.mean(), known.std(ddof=1)
    dags = allowed_dags([2, 0, 3])
    adjacency = bn.graphs.to_adjacency(dags)
    for i, table in enumerate(found):
        assert not table.missing.any()
        states = table.values[:, [0, 2]]
        assert (states == data.values[:, [0, 2]])[~data.missing[:, [0, 2]]].all()
        assert (table.measurements[:, 1] == data.measurements[:, 1])[~data.missing[:, 1]].all()
        numbers = np.zeros((1, 12, 3))
        numbers[0, :, 1] = (table.measurements[:, 1] - center) / scale
        held = np.zeros((12, 3), bool)
        weights = log_weights(table.values, numbers, [2, 0, 3], dags, held)[:, 0]
        shares = np.exp(weights - oracles.log_sum(weights))
        c, t = divmod(i, 5)
        assert found.given[c, t] == pytest.approx(np.tensordot(shares, adjacency, 1), abs=1e-9)
        drawn = dags.index(tuple(found.dags.values[c, t]))
        assert found.dags.log_target[c, t] == pytest.approx(weights[drawn], abs=1e-8)


def test_a_table_of_one_kind_is_completed_as_by_its_own_score():
    states = bn.Data.from_arrays([[0, 1], [1, -1], [0, 0], [-1, 1]], missing="keep")
    numbers = bn.Data.from_arrays([[0.5, 1.0], [1.5, NAN], [0.2, 0.1], [NAN, 1.1]], missing="keep")
    for data, score in ((states, bn.BDeu()), (numbers, bn.BGe())):
        one, other = (
            bn.complete(data, each, draws=20, burn_in=5, rng=np.random.default_rng(1))
            for each in (score, bn.ConditionalGaussian())
        )
        assert (one.cells == other.cells).all()
        assert one.edges == pytest.approx(other.edges, abs=1e-12)


# Calibration


@pytest.mark.slow
def test_the_truth_is_ranked_evenly_among_draws_given_what_is_left_of_it(monkeypatch):
    """Simulation-based calibration: DAG, tables, regressions, rows, gaps by an observed cell.

    Units are held fixed: those of data that are not simulated would not be the prior's.
    """
    arities, m, kept, repeats, alpha_mu, ess = [2, 2, 0, 0], 12, 9, 150, 1.0, 4.0
    n, fixed = len(arities), Units(np.zeros(4), np.ones(4))
    monkeypatch.setattr("bnlab.sampling.completing.units_of", lambda score, data: fixed)
    rng, dags, t = np.random.default_rng(13), allowed_dags(arities), 0.5
    score = bn.ConditionalGaussian(bn.BDeu(ess))
    ranks = {name: np.zeros(kept + 1) for name in ("edges", "states", "numbers")}
    for i in rng.integers(0, len(dags), repeats):
        dag, values = dags[i], np.zeros((m, n))
        for v in bn.graphs.topological_order(np.array(dag)):
            states = [u for u in oracles.members(dag[v]) if arities[u]]
            numbers = [u for u in oracles.members(dag[v]) if not arities[u]]
            for state in itertools.product([0, 1], repeat=len(states)):
                rows = (values[:, states] == state).all(axis=1)
                if arities[v]:
                    p = rng.beta(*[ess / 2 ** (len(states) + 1)] * 2)
                    values[rows, v] = rng.random(int(rows.sum())) < p
                    continue
                variance = t / rng.chisquare(alpha_mu + 2 + len(numbers))
                slopes = rng.normal(0, math.sqrt(variance / t), len(numbers))
                height = rng.normal(0, math.sqrt(variance / alpha_mu))
                noise = rng.normal(0, math.sqrt(variance), int(rows.sum()))
                values[rows, v] = height + values[rows][:, numbers] @ slopes + noise
        likely = np.where(values[:, :1] > 0, 0.5, 0.1)  # x0 is always observed
        gaps = (rng.random((m, n)) < likely) & (np.arange(n) > 0)
        gaps[0, 1:3], gaps[1:3] = True, False
        values[1:3, :2] = np.eye(2)  # both states, so that no column is constant
        lost = np.where(gaps, np.where(np.equal(arities, 0), NAN, -1), values)
        data = bn.Data.from_arrays(lost, arities, missing="keep")
        found = bn.complete(
            data, score, draws=kept, thin=3, burn_in=12, chains=1, rng=rng.spawn(1)[0]
        )
        measured = np.equal(arities, 0)[np.argwhere(data.missing)[:, 1]]
        drawn = {
            "edges": (
                np.bitwise_count(np.array(dag)).sum(),
                np.bitwise_count(found.dags.values[0]).sum(axis=1),
            ),
            "states": (values[gaps][~measured].sum(), found.cells[0][:, ~measured].sum(axis=1)),
            "numbers": (values[gaps][measured].sum(), found.cells[0][:, measured].sum(axis=1)),
        }
        for name, (true, others) in drawn.items():
            below, equal = (others < true - 1e-9).sum(), (np.abs(others - true) <= 1e-9).sum()
            ranks[name][below + rng.integers(0, equal + 1)] += 1
    for counts in ranks.values():
        assert oracles.chi_square(counts, np.full(kept + 1, repeats / (kept + 1))) > 1e-3
