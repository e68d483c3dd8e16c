"""What every sampler promises: one signature, the same draws anywhere, nothing touched."""

import inspect
import pickle
from dataclasses import replace
from types import ModuleType

import calls
import numpy as np
import pytest
from calls import ALL, CALLS, CHAINS, five
from tables import requiring

import bnlab as bn
from bnlab import kernels, reports
from bnlab.sampling import OrderWalker, independent

LOADED = [getattr(bn, name) for name in bn.__all__]  # a name is loaded when it is asked for
PUBLIC = [bn, reports, *(module for module in LOADED if isinstance(module, ModuleType))]
RANDOM = {
    f"{module.__name__}.{name}": function
    for module in PUBLIC
    for name in getattr(module, "__all__", vars(module))
    if inspect.isfunction(function := getattr(module, name))
    and function.__module__.startswith(module.__name__)
    and "rng" in inspect.signature(function).parameters
    and function is not bn.random_network  # a network, not draws from a target
}
ELSEWHERE = {reports.analyse}  # tests/test_reports_analysis.py
SAMPLERS = {call.sampler for call in CALLS.values()}
KNOWN = ELSEWHERE | {call.sampler for call in ALL.values()}
DRAWING = [name for name, call in CALLS.items() if "estimate" not in call.sampler.__name__]


@pytest.mark.parametrize("name", RANDOM)
def test_one_calling_convention(name):
    """f(target, /, *, draws or runs, ..., rng, ..., progress=None, executor=None).

    With hidden variables the target is a model and data.
    """
    function = RANDOM[name]
    parameters = inspect.signature(function).parameters.values()
    others = [p for p in parameters if p.kind is not inspect.Parameter.POSITIONAL_ONLY]
    assert len(others) < len(parameters)
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in others)
    defaults = {p.name: p.default for p in others}
    for needed in {"rng"} | defaults.keys() & {"draws", "runs"}:
        assert defaults[needed] is inspect.Parameter.empty
    for option in defaults.keys() & {"checkpoint", "progress", "executor"}:
        assert defaults[option] is None
    if function in SAMPLERS:
        assert defaults.keys() >= {"progress", "executor"}
        assert len(defaults.keys() & {"draws", "runs"}) == 1
    elif function not in KNOWN:
        assert "executor" not in defaults  # or it belongs to ALL


@pytest.fixture
def small_blocks(monkeypatch):
    for setting, value in calls.SMALL_BLOCKS.items():
        monkeypatch.setattr(setting, value)


@pytest.mark.parametrize("name", ALL)
def test_the_generator_is_the_only_randomness(name):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (calls.arrays(ALL[name]()) for _ in range(2))
    assert calls.differing(first, second) == set()
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    if name in CALLS:
        assert calls.differing(first, calls.arrays(CALLS[name](seed=10)))


@pytest.mark.parametrize("name", [n for n, call in ALL.items() if call.count and call.nested])
def test_a_longer_run_starts_like_a_shorter_one(name, small_blocks):
    call = ALL[name]
    short, long = calls.arrays(call(4)), calls.arrays(call(30))
    for key, axis in call.nested.items():
        kept = short[key].shape[axis]
        assert kept == 4 + (call.count == "restarts" and key in calls.ENDS)
        assert np.array_equal(np.take(long[key], range(kept), axis), short[key])


@pytest.mark.parametrize("name", [name for name in DRAWING if "chains" in CALLS[name].options])
def test_fewer_chains_are_the_first_ones(name):
    few = replace(CALLS[name], options=CALLS[name].options | {"chains": 2})()
    assert np.array_equal(few.values, CALLS[name]().values[:2])


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_unchanged_and_the_run_is_on_record(name):
    call = CALLS[name]
    target = call.target()
    before = pickle.dumps(target)
    result = call(target=target)
    assert pickle.dumps(target) == before
    assert call.usual in result.run.settings.values()
    assert "PCG64" in result.run.seed
    assert set(result.run.versions) == {"bnlab", "numba", "numpy", "python"}
    assert not result.run.stopped


@pytest.mark.parametrize("name", DRAWING)
def test_draws_say_what_they_are_and_cannot_be_changed(name):
    draws = CALLS[name]()
    assert draws.prior == CALLS[name].prior
    assert draws.names == tuple(f"x{v}" for v in range(draws.values.shape[2]))
    assert draws.groups.shape == draws.log_weight.shape == draws.values.shape[:2]
    with pytest.raises(ValueError, match="read-only"):
        draws.values[0, 0, 0] = 1


@pytest.mark.parametrize("name", CALLS)
def test_settings_are_checked(name):
    call = CALLS[name]
    wrong = [(call.count, count) for count in (0, -1, 2.5)]
    if CHAINS.keys() <= call.options.keys():
        wrong += [("chains", 0), ("burn_in", -1), ("thin", 0), ("thin", 1.5)]
    for option, value in wrong:
        with pytest.raises(ValueError, match=f"{option}={value}"):
            options = {**call.options, call.count: call.usual, option: value}
            replace(call, options=options, count="")()


@pytest.mark.parametrize("name", [name for name, call in ALL.items() if call.takes("rng")])
@pytest.mark.parametrize("rng", [7, np.random], ids=["a number", "a module"])
def test_what_is_no_generator_is_refused(name, rng):
    with pytest.raises(ValueError, match=r"^rng=.* is no generator"):
        ALL[name](rng=rng)


@pytest.mark.parametrize("name", [name for name, call in ALL.items() if call.target is five])
def test_what_is_no_table_is_refused(name):
    for wrong in (calls.data(5), np.zeros(3), None):
        with pytest.raises(ValueError, match="ScoreTable"):
            ALL[name](target=(wrong,))


@pytest.mark.parametrize("name", [name for name, call in ALL.items() if call.target is five])
def test_constraints_that_leave_no_dag_are_refused(name):
    cycle = requiring(calls.table(5), (0, 1), (1, 2), (2, 0))
    with pytest.raises(ValueError, match="leave no DAG"):
        ALL[name](target=cycle)


@pytest.mark.parametrize("name", DRAWING)
def test_memory_is_checked_before_it_is_taken(name, monkeypatch):
    target = CALLS[name].target()
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 100)
    with pytest.raises(ValueError, match=r"needs .* (bytes|B)"):
        CALLS[name](target=target)


@pytest.mark.parametrize("name", CALLS)
def test_counts_may_be_integers_of_few_bits(name):
    call = CALLS[name]
    small = {option: np.int8(call.options[option]) for option in CHAINS if option in call.options}
    few = replace(call, options={**call.options, **small})
    assert not calls.differing(calls.arrays(few(np.int8(call.usual))), calls.arrays(call()))


@pytest.mark.parametrize("name", ["exact orders", "exact DAGs", "exact DAGs by layers"])
@pytest.mark.parametrize("block", [1, 37, 4096])
def test_identical_draws_for_any_block_size(name, block, monkeypatch):
    plain = CALLS[name](1000)
    monkeypatch.setattr(independent, "BLOCK_DRAWS", block)
    again = CALLS[name](1000)
    assert (again.values == plain.values).all()
    assert (again.log_target == plain.log_target).all()


def test_results_survive_pickling():
    posterior = calls.posterior()
    copy = pickle.loads(pickle.dumps(posterior))
    assert (copy.edges == posterior.edges).all()
    draws = bn.sample_dags(posterior, draws=20, rng=np.random.default_rng(0))
    again = bn.sample_dags(copy, draws=20, rng=np.random.default_rng(0))
    assert (again.values == draws.values).all()
    assert (pickle.loads(pickle.dumps(draws)).values == draws.values).all()


MODULES = [
    kernels.best_dags,
    kernels.bits,
    kernels.counting,
    kernels.dag_dp,
    kernels.dag_jumps,
    kernels.dag_walks,
    kernels.dags,
    kernels.families,
    kernels.order_dp,
    kernels.order_walks,
    kernels.partition_walks,
]
"""Those that score, solve and sample; the others have tests of this kind of their own."""
KERNELS = {
    f"{module.__name__}.{name}": function
    for module in MODULES
    for name, function in vars(module).items()
    if hasattr(function, "py_func") and function.py_func.__module__ == module.__name__
}


def uncompiled(patch):
    """Swap every kernel, wherever it is called, for the Python function it was compiled from.

    Returns the set of names of kernels, into which each is put as it is called.
    """
    called, swaps = set(), {}

    def recording(name, function):
        def call(*arguments):
            called.add(name)
            return function(*arguments)

        return call

    for name, kernel in KERNELS.items():
        swaps[id(kernel)] = recording(name, kernel.py_func)
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if id(value) in swaps:
                patch.setattr(module, name, swaps[id(value)])
    return called


@np.errstate(over="ignore")  # products in `bits.popcount`
def test_compiled_kernels_equal_their_python_source(monkeypatch):
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 3, size=(30, 5)))
    dags = bn.graphs.all_dags(3)

    def everything():
        table = bn.score_families(data, bn.BDeu(), required=[(0, 1)])
        yield table.log_score
        yield table.log_target([[0, 1, 1, 0, 0]])
        yield bn.graphs.ancestors(dags)
        yield bn.graphs.near_ancestors(dags, max_length=2)
        yield bn.graphs.markov_blankets(dags)
        yield bn.graphs.all_dags(3)
        cpdags = bn.graphs.cpdag(dags)
        yield cpdags
        yield from map(bn.graphs.consistent_extension, cpdags)
        yield bn.order_posterior(table).edges
        yield bn.exact.order_paths(bn.order_posterior(table))
        yield bn.map_dag(table).dags
        yield bn.chow_liu(data)
        yield bn.k_best_dags(table, 50).log_weight
        orders = bn.sample_orders(bn.order_posterior(table), draws=9, rng=np.random.default_rng(0))
        yield bn.features.edges(orders, table=table)
        yield bn.features.paths(CALLS["exact DAGs"](9))
        yield bn.features.modular_probability(orders, lambda v, sets: sets < 9, table=table).value
        for cells in (1 << 20, 0):  # families of more are compared row by row
            monkeypatch.setattr("bnlab.predict.tables.DENSE_CELLS", cells)
            yield bn.predict.plug_in_log_density([0, 1, 3, 0, 0], data, data)
        for most in (22, 0):  # variables for which a walk uses a dense table
            monkeypatch.setattr("bnlab.sampling.order_target.MAX_DENSE_NODES", most)
            yield OrderWalker.of(table).log_weights(np.array([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]))
            for name, call in CALLS.items():
                if "24" not in name:  # they take too long
                    yield from calls.arrays(call(9)).values()
        averaged = calls.OTHERS["cuts"](9)
        yield averaged.given
        yield averaged.choices

    compiled = list(everything())
    with monkeypatch.context() as patch:
        called = uncompiled(patch)
        plain = list(everything())
    for fast, slow in zip(compiled, plain, strict=True):
        assert fast == pytest.approx(slow, abs=1e-12)
    assert called == set(KERNELS)
