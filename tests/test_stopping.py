"""Stop, Ctrl-C and kernel interrupts: what is at hand is returned and says so, everywhere."""

import inspect
import subprocess
import sys
from types import ModuleType

import calls
import numpy as np
import pytest
from calls import CALLS
from stopping import Stop

import bnlab as bn

NAMED = [getattr(bn, name) for name in bn.__all__]
PUBLIC = [bn, *(module for module in NAMED if isinstance(module, ModuleType))]
WITH_PROGRESS = {
    function
    for module in PUBLIC
    for name in getattr(module, "__all__", [])
    if inspect.isfunction(function := getattr(module, name))
    and "progress" in inspect.signature(function).parameters
}


def rng():
    return np.random.default_rng(1)


def rows(m=40, n=5):
    return bn.Data.from_arrays(np.random.default_rng(2).integers(0, 2, (m, n)))


def even(train, test):
    return np.zeros(test.m)


def coronary():
    return bn.score_families(bn.load_dataset("coronary"), bn.BDeu())


def perturbed(share, generator):
    return bn.score_families(bn.resampled(rows(), share, rng=generator), bn.BDeu(), max_parents=2)


MODEL, SEEN = calls.latent()
CHAIN = bn.hidden.HiddenModel([0, 0, 0], [2, 2, 2], hidden=[])
BIPARTITE = [
    bn.hidden.HiddenModel(p, [2] * 6, hidden=[0, 1]) for p in bn.hidden.bipartite_structures()[:9]
]
CODES = np.random.default_rng(2).integers(0, 2, (9, 4))
POSET = [0, 0, 0, 0, 1, 3, 6, 12, 8, 48, 96, 192]
OTHERS = {
    bn.climb_perturbed: lambda **o: bn.climb_perturbed(
        bn.score_families(rows(), bn.BDeu(), max_parents=2), perturbed, rng=rng(), **o
    ),
    bn.dag_posterior: lambda **o: bn.dag_posterior(calls.five(), **o),
    bn.ellis_wong_dags: lambda **o: bn.ellis_wong_dags(
        calls.orders(), table=calls.five(), eps=0.1, rng=rng(), **o
    ),
    bn.fit_tree_mixture: lambda **o: bn.fit_tree_mixture(rows(), components=2, rng=rng(), **o),
    bn.ges: lambda **o: bn.ges(coronary(), **o),
    bn.hill_climb: lambda **o: bn.hill_climb(calls.five(), restarts=40, rng=rng(), **o),
    bn.k_best_dags: lambda **o: bn.k_best_dags(calls.five(), 9, **o),
    bn.map_dag: lambda **o: bn.map_dag(calls.five(), **o),
    bn.occams_window: lambda **o: bn.occams_window(calls.five(), factor=1e6, **o),
    bn.order_posterior: lambda **o: bn.order_posterior(calls.five(), **o),
    bn.shotgun_search: lambda **o: bn.shotgun_search(calls.five(), steps=4000, rng=rng(), **o),
    bn.exact.order_paths: lambda **o: bn.exact.order_paths(calls.posterior(), **o),
    bn.hidden.anneal: lambda **o: bn.hidden.anneal(
        MODEL, SEEN, runs=9, rng=rng(), **calls.LATENT_AIS, **o
    ),
    bn.hidden.estimate_structures: lambda **o: bn.hidden.estimate_structures(
        BIPARTITE, CODES, runs=2, rng=rng(), **calls.LATENT_AIS, **o
    ),
    bn.hidden.fit_em: lambda **o: bn.hidden.fit_em(MODEL, SEEN, restarts=9, rng=rng(), **o),
    bn.hidden.fit_vb: lambda **o: bn.hidden.fit_vb(MODEL, SEEN, restarts=9, rng=rng(), **o),
    bn.hidden.score: lambda **o: bn.hidden.score(CHAIN, CODES[:, :3], ["vb"], rng=rng(), **o),
    bn.hidden.score_structures: lambda **o: bn.hidden.score_structures(
        BIPARTITE, CODES, ["vb"], rng=rng(), **o
    ),
    bn.hidden.search_structures: lambda **o: bn.hidden.search_structures(
        CHAIN, CODES[:, :3], rng=rng(), **o
    ),
    bn.linear_extensions.estimate_linear_extensions: lambda **o: (
        bn.linear_extensions.estimate_linear_extensions(
            POSET, eps=0.1, delta=0.1, rng=rng(), max_states=1, **o
        )
    ),
    bn.predict.cross_validate: lambda **o: bn.predict.cross_validate(
        rows(), {"even": even}, rng=rng(), **o
    ),
    bn.predict.exact_log_density: lambda **o: bn.predict.exact_log_density(
        rows(), rows().values[:9], **o
    ),
}
TASKS = {**CALLS, **{function.__name__: task for function, task in OTHERS.items()}}


def test_every_function_with_progress_is_stopped_here():
    assert WITH_PROGRESS == OTHERS.keys() | {call.sampler for call in CALLS.values()}


SHARES = {"ges": 0.05}  # the steps that there may be at most are many more than those made
TOTAL_GROWS = {"occams_window"}  # with what the search meets


def outcome(task, stop):
    """The result, or the exception that was raised instead."""
    try:
        return task(progress=stop)
    except (bn.Stopped, KeyboardInterrupt) as raised:
        return raised


@pytest.mark.parametrize("name", TASKS)
def test_what_is_stopped_returns_what_it_has(name, monkeypatch):
    for setting, value in calls.SMALL_BLOCKS.items():
        monkeypatch.setattr(setting, value)
    monkeypatch.setattr("bnlab.linear_extensions.estimating.BATCH_NUMBERS", 1)
    monkeypatch.setattr("bnlab.search.windows.BLOCK", 9)
    share = SHARES.get(name, 0.6)
    stop, interrupt = Stop("returns False", share), Stop("interrupts", share)
    stopped, interrupted = outcome(TASKS[name], stop), outcome(TASKS[name], interrupt)
    assert stop.told[-1][0] < stop.told[-1][1] or name in TOTAL_GROWS
    if isinstance(stopped, bn.Stopped):  # nothing to return: Ctrl-C is passed on
        assert str(stopped).startswith("stopped ")
        assert isinstance(interrupted, KeyboardInterrupt | bn.Stopped)
        return
    for result in (stopped, interrupted):
        assert result.run.stopped
        assert "stopped early" in repr(result) or "stopped early" in repr(result.run)
    if isinstance(stopped, bn.Draws | bn.Estimate):
        assert not calls.differing(calls.arrays(stopped), calls.arrays(interrupted))
    call, whole = TASKS[name], calls.arrays(TASKS[name]()) if name in CALLS else {}
    for key, axis in getattr(call, "nested", {}).items():
        part = calls.arrays(stopped)[key]
        assert 0 < part.shape[axis] < whole[key].shape[axis]
        assert np.array_equal(np.take(whole[key], range(part.shape[axis]), axis), part)


# A real signal, while compiled code runs

INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
import bnlab as bn
from bnlab import hidden

def table(n):
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, (60, n)))
    return bn.score_families(data, bn.BDeu(), max_parents=3)

told, rng, small, large = [], np.random.default_rng(1), table(8), table(21)
model = hidden.HiddenModel([0, 1, 1, 1, 1], [3] * 5, hidden=[0])
rows = np.random.default_rng(2).integers(0, 3, (40, 4))
CHAINS = {"burn_in": 9, "rng": rng}
AIS = bn.AIS(bn.Linear(5000))
CALLS = {
    "orders": lambda n, **o: bn.sample_orders(small, draws=n, **CHAINS, **o),
    "DAGs": lambda n, **o: bn.sample_structures(small, draws=n, **CHAINS, **o),
    "DAGs, one more prior": lambda n, **o: bn.sample_structures(
        small, draws=n, log_prior=lambda dag: 0.0, **CHAINS, **o
    ),
    "partitions": lambda n, **o: bn.sample_partitions(small, draws=n, **CHAINS, **o),
    "AIS": lambda n, **o: bn.anneal_orders(small, runs=1 + n // 50, rng=rng, method=AIS, **o),
    "hidden SMC": lambda n, **o: hidden.estimate_evidence(
        model, rows, runs=1 + n // 50, rng=rng, **o
    ),
    "hill climbing": lambda n, **o: bn.hill_climb(small, restarts=n, rng=rng, **o),
    "shotgun": lambda n, **o: bn.shotgun_search(small, steps=n, rng=rng, patience=10**9, **o),
    "exact": lambda n, **o: bn.order_posterior(large if n > 1 else small, **o),
}

def progress(done, total, snapshot):
    told.append(done)
    if len(told) == 4:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

call = CALLS[sys.argv[1]]
call(1)  # compiled
try:
    result = call(1_000_000, progress=progress)
except KeyboardInterrupt:
    print("nothing")
else:
    print("stopped" if result.run.stopped else "whole")
    assert np.isfinite(getattr(result, "log_target", 0.0)).all()
call(1)  # all is well
print("well")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("orders", "stopped"),
        ("DAGs", "stopped"),
        ("DAGs, one more prior", "stopped"),
        ("partitions", "stopped"),
        ("AIS", "stopped"),
        ("hidden SMC", "stopped"),
        ("hill climbing", "stopped"),
        ("shotgun", "stopped"),
        ("exact", "nothing"),
    ],
)
def test_a_signal_stops_compiled_code(name, end):
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, name], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:2] == [end, "well"]
