"""Greedy search for structures with hidden nodes."""

import itertools
import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from bnlab import Stopped
from bnlab.hidden import (
    SMC,
    Changes,
    Fitted,
    HiddenModel,
    Simulated,
    bipartite_structures,
    exact_evidence,
    score,
    search_structures,
)
from bnlab.hidden.search import in_order


class Exact:
    """The exact evidence of each part, and how often it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, model, data, /, *, rng):
        self.asked.append((tuple(model.parents.tolist()), tuple(model.arities), data.tobytes()))
        return exact_evidence(model, data).log_value


def empty(arities, strength=1.0):
    return HiddenModel([0] * len(arities), arities, hidden=[], strength=strength)


def rows_from(model, m, rng, sharpness=0.2):
    """Rows of the observed nodes, whose parents come first, from clear-cut tables."""
    states = np.zeros((m, model.n), int)
    for v in range(model.n):
        row = np.zeros(m, int)
        for u in range(v):
            if model.parents[v] >> u & 1:
                row = row * model.arities[u] + states[:, u]
        flat = model.parents[v] == 0
        table = rng.dirichlet([50 if flat else sharpness] * model.arities[v], model.rows(v))
        states[:, v] = (rng.random(m)[:, None] > table[row].cumsum(axis=1)).sum(axis=1)
    return states[:, list(model.observed)]


def same(one, other):
    one, other = in_order(one), in_order(other)
    return (one.parents.tolist(), one.arities.tolist(), one.hidden) == (
        other.parents.tolist(),
        other.arities.tolist(),
        other.hidden,
    )


@pytest.mark.slow
@pytest.mark.parametrize("states", [2, 3])
def test_finds_a_hidden_cause_and_its_number_of_states(states):
    truth = HiddenModel([0, 1, 1, 1, 1, 0], [states, 4, 4, 4, 4, 3], hidden=[0])
    data = rows_from(truth, 1000, np.random.default_rng(4))
    found = search_structures(empty([4, 4, 4, 4, 3]), data, rng=np.random.default_rng(1))
    assert same(found.model, truth)


def test_finds_two_hidden_causes():
    truth = HiddenModel([0, 0, 1, 1, 1, 2, 2, 2], [2, 3, 4, 4, 4, 4, 4, 4], hidden=[0, 1])
    data = rows_from(truth, 1500, np.random.default_rng(8))
    found = search_structures(
        empty([4] * 6),
        data,
        rng=np.random.default_rng(1),
        component_score=Fitted("bic", restarts=5),
    )
    assert same(found.model, truth)


def test_finds_edges_between_observed_nodes():
    truth = HiddenModel([0, 1, 3, 0], [3, 3, 3, 3], hidden=[])
    data = rows_from(truth, 800, np.random.default_rng(2))
    changes = Changes(max_hidden=0, edges=("observed-observed",))
    found = search_structures(
        empty([3] * 4), data, rng=np.random.default_rng(1), component_score=Exact(), changes=changes
    )
    best = max(
        (exact_evidence(HiddenModel(dag, [3] * 4, hidden=[]), data).log_value, dag)
        for dag in itertools.product([0, 2, 4, 6], [0, 1, 4, 5], [0, 1, 2, 3], [0])
        if acyclic(dag)
    )
    assert found.log_value == pytest.approx(best[0])


def acyclic(dag):
    try:
        HiddenModel(dag, [2] * len(dag), hidden=[])
    except ValueError:
        return False
    return True


def test_each_step_is_the_best_change_and_each_part_is_scored_once():
    data = rows_from(
        HiddenModel([0, 1, 1, 1], [2, 3, 3, 3], hidden=[0]), 5, np.random.default_rng(5)
    )
    component_score, changes = Exact(), Changes(states=(2, 3))
    with ThreadPoolExecutor(1) as executor:
        found = search_structures(
            empty([3] * 3, 0.5),
            data,
            rng=np.random.default_rng(1),
            component_score=component_score,
            changes=changes,
            executor=executor,
        )
    assert len(component_score.asked) == len(set(component_score.asked)) == found.scored
    assert (np.diff(found.trace) > 0).all()
    assert len(found.path) == found.trace.size
    for model, value in zip(found.path, found.trace, strict=True):
        assert value == pytest.approx(exact_evidence(model, data).log_value)
        around = [exact_evidence(other, data).log_value for other in changes.of(model)]
        assert max(around) <= (found.trace[-1] if model is found.model else math.inf) + 1e-6
    assert found.model is found.path[-1]


@pytest.mark.slow
def test_changes_reach_all_bipartite_structures_and_no_others():
    changes = Changes(states=(2,), max_hidden=2, max_parents=2)
    seen, fresh = {}, [empty([3] * 4)]
    while fresh:
        for model in fresh:
            seen[tuple(model.parents.tolist()), model.hidden] = model
        nearby = [other for model in fresh for other in changes.of(model)]
        fresh = [o for o in nearby if (tuple(o.parents.tolist()), o.hidden) not in seen]
    all_of_them = {
        (tuple(model.parents.tolist()), model.hidden)
        for model in (
            in_order(HiddenModel(parents, [2, 2, 3, 3, 3, 3], hidden=[0, 1]))
            for parents in bipartite_structures()
        )
    }
    assert seen.keys() == all_of_them


def test_changes_keep_to_what_is_allowed():
    changes = Changes(
        states=(2, 3),
        max_hidden=2,
        max_parents=2,
        edges=("hidden-observed", "observed-observed", "observed-hidden", "hidden-hidden"),
    )
    model = HiddenModel([0, 1, 3, 4], [2, 3, 3, 3], hidden=[0])
    for _ in range(3):
        others = changes.of(model)
        for other in others:
            assert len(other.hidden) <= 2
            assert max(int(mask).bit_count() for mask in other.parents) <= 2
            assert set(other.arities[list(other.hidden)]) <= {2, 3}
            assert other.arities[list(other.observed)].tolist() == [3, 3, 3]
            assert any(same(model, back) for back in changes.of(other)) or other.n != model.n
        model = others[-1]


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
@pytest.mark.parametrize("component_score", [Fitted("cs", 1), Simulated(SMC(8), 2)])
def test_searches_are_the_same_for_any_executor(component_score, pool):
    data = rows_from(
        HiddenModel([0, 1, 1, 1], [2, 4, 4, 4], hidden=[0]), 60, np.random.default_rng(5)
    )

    def search(executor):
        rng = np.random.default_rng(3)
        return search_structures(
            empty([4] * 3), data, rng=rng, component_score=component_score, executor=executor
        )

    with pool(2) as executor:
        there = search(executor)
    here = search(None)
    assert (there.trace == here.trace).all()
    assert same(there.model, here.model)


def test_missing_cells_are_searched_with():
    truth = HiddenModel([0, 1, 1, 1], [2, 4, 4, 4], hidden=[0])
    data = rows_from(truth, 600, np.random.default_rng(4))
    data[np.random.default_rng(1).random(data.shape) < 0.1] = -1
    found = search_structures(empty([4] * 3), data, rng=np.random.default_rng(1))
    assert same(found.model, truth)
    value = score(found.model, data, ["vb"], rng=np.random.default_rng(2))["vb"].log_value
    assert value == pytest.approx(found.log_value, abs=1)


def test_stops_with_the_steps_done():
    data = rows_from(
        HiddenModel([0, 1, 1, 1], [2, 4, 4, 4], hidden=[0]), 200, np.random.default_rng(5)
    )
    seen = []

    def progress(done, total, _):
        seen.append((done, total))
        return done < 20

    found = search_structures(empty([4] * 3), data, rng=np.random.default_rng(1), progress=progress)
    assert found.run.stopped
    assert seen[-1][0] == 20
    assert all(done <= total for done, total in seen)
    assert found.trace.size == len(found.path)
    assert "stopped early" in repr(found)
    with pytest.raises(Stopped, match="before the start was scored"):
        search_structures(
            empty([4] * 3), data, rng=np.random.default_rng(1), progress=lambda *_: False
        )


def test_an_interrupt_keeps_the_steps_done():
    class Interrupted(Exact):
        def __call__(self, model, data, /, *, rng):
            if model.hidden:
                raise KeyboardInterrupt
            return super().__call__(model, data, rng=rng)

    found = search_structures(
        empty([3] * 3), [[0, 0, 0]], rng=np.random.default_rng(1), component_score=Interrupted()
    )
    assert found.run.stopped
    assert found.trace.size == 1


def test_errors_name_the_value_and_the_remedy():
    rng = np.random.default_rng(1)
    for make, message in [
        (lambda: Changes(states=(1,)), r"states=\(1,\)"),
        (lambda: Changes(children=(0,)), r"children=\(0,\)"),
        (lambda: Changes(max_hidden=-1), "max_hidden=-1"),
        (lambda: Changes(max_parents=0), "max_parents=0"),
        (lambda: Changes(edges=("up",)), 'choose "hidden-observed"'),
        (lambda: Fitted("aic"), "name='aic'"),
        (lambda: Simulated(runs=0), "runs=0"),
        (lambda: search_structures(empty([2, 2]), [[0, 0]], rng=rng, max_steps=0), "max_steps=0"),
        (lambda: search_structures(empty([2, 2]), [[0, 2]], rng=rng), "code 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
