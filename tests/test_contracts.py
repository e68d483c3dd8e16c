"""What every sampler promises: one signature, the same draws anywhere, nothing touched."""

import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import bnlab as bn
from bnlab import kernels
from bnlab.sampling import Moves, OrderWalker, direct

SAMPLERS = [bn.sample_orders, bn.sample_dags]


@pytest.fixture(scope="module")
def posterior():
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, size=(30, 5)))
    return bn.order_posterior(bn.score_families(data, bn.BDeu()))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_one_calling_convention(sampler):
    """f(target, /, *, draws, rng, progress=None, executor=None)."""
    parameters = list(inspect.signature(sampler).parameters.values())
    assert parameters[0].kind is inspect.Parameter.POSITIONAL_ONLY
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters[1:])
    by_name = {p.name: p.default for p in parameters[1:]}
    assert by_name["draws"] is by_name["rng"] is inspect.Parameter.empty
    assert by_name["progress"] is by_name["executor"] is None


def draw(sampler, posterior, executor=None):
    return sampler(posterior, draws=1000, rng=np.random.default_rng(9), executor=executor)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("block", [1, 37, 1000, 4096])
def test_identical_draws_for_any_block_size(sampler, block, posterior, monkeypatch):
    plain = draw(sampler, posterior)
    monkeypatch.setattr(direct, "BLOCK_DRAWS", block)
    again = draw(sampler, posterior)
    assert (again.values == plain.values).all()
    assert (again.log_target == plain.log_target).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_identical_draws_on_threads_and_processes(sampler, posterior, monkeypatch):
    plain = draw(sampler, posterior)
    monkeypatch.setattr(direct, "BLOCK_DRAWS", 100)
    with ThreadPoolExecutor(3) as executor:
        assert (draw(sampler, posterior, executor).values == plain.values).all()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert (draw(sampler, posterior, executor).values == plain.values).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_identical_draws_on_dask(sampler, posterior, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    plain = draw(sampler, posterior)
    monkeypatch.setattr(direct, "BLOCK_DRAWS", 250)
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        assert (draw(sampler, posterior, client.get_executor()).values == plain.values).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_generator_is_the_only_randomness(sampler, posterior):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = draw(sampler, posterior), draw(sampler, posterior)
    assert (first.values == second.values).all()
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    other = sampler(posterior, draws=1000, rng=np.random.default_rng(10))
    assert (other.values != first.values).any()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_longer_run_starts_like_a_shorter_one(sampler, posterior):
    short = sampler(posterior, draws=10, rng=np.random.default_rng(4))
    long = sampler(posterior, draws=1000, rng=np.random.default_rng(4))
    assert (long.values[:, :10] == short.values).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_inputs_are_unchanged_and_the_run_is_on_record(sampler, posterior):
    edges, alpha = posterior.edges.copy(), posterior._alpha.copy()
    draws = draw(sampler, posterior)
    assert (posterior.edges == edges).all()
    assert (posterior._alpha == alpha).all()
    assert draws.run.settings["draws"] == 1000
    assert "PCG64" in draws.run.seed
    assert set(draws.run.versions) == {"bnlab", "numba", "numpy", "python"}
    assert draws.prior == "order-modular"
    assert draws.names == posterior.table.names
    with pytest.raises(ValueError, match="read-only"):
        draws.values[0, 0, 0] = 1


def test_results_survive_pickling(posterior):
    copy = pickle.loads(pickle.dumps(posterior))
    assert (copy.edges == posterior.edges).all()
    draws = bn.sample_dags(posterior, draws=20, rng=np.random.default_rng(0))
    again = bn.sample_dags(copy, draws=20, rng=np.random.default_rng(0))
    assert (again.values == draws.values).all()
    assert (pickle.loads(pickle.dumps(draws)).values == draws.values).all()


MODULES = [
    kernels.counting,
    kernels.dags,
    kernels.draws,
    kernels.logspace,
    kernels.subsets,
    kernels.walks,
]
KERNELS = [
    function
    for module in MODULES
    for function in vars(module).values()
    if hasattr(function, "py_func") and function.py_func.__module__ == module.__name__
]


def uncompiled(monkeypatch):
    """Swap every kernel, wherever it is called, for the Python function it was compiled from."""
    swaps = {id(function): function.py_func for function in KERNELS}
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if id(value) in swaps:
                monkeypatch.setattr(module, name, swaps[id(value)])


def test_compiled_kernels_equal_their_python_source(monkeypatch):
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 3, size=(30, 4)))
    dags = bn.graphs.all_dags(3)

    def everything():
        table = bn.score_families(data, bn.BDeu(), max_parents=2)
        orders = bn.sample_orders(bn.order_posterior(table), draws=20, rng=np.random.default_rng(0))
        return (
            table.log_score,
            bn.order_posterior(table).edges,
            bn.features.edges(orders, table=table),
            orders.values,
            bn.sample_dags(
                bn.order_posterior(table), draws=20, rng=np.random.default_rng(0)
            ).values,
            bn.graphs.ancestors(dags),
            bn.graphs.near_ancestors(dags, max_length=2),
            bn.graphs.all_dags(3),
            *chains(table),
        )

    def chains(table):
        order, moves = np.arange(4), Moves(1, 1, 1)
        for dense in (True, False):
            walker, rng = OrderWalker.of(table, dense=dense), np.random.default_rng(0)
            yield walker.walk(order, np.linspace(0, 1, 60), 2, moves, rng).orders

    compiled = everything()
    with monkeypatch.context() as patch:
        uncompiled(patch)
        plain = everything()
    for fast, slow in zip(compiled, plain, strict=True):
        assert fast == pytest.approx(slow, abs=1e-12)
