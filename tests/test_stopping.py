"""Stop, Ctrl-C and kernel interrupts: what is at hand is returned and says so, everywhere."""

import inspect
import subprocess
import sys
from types import ModuleType

import calls
import numpy as np
import pytest
from calls import ALL
from stopping import Stop, outcome

import bnlab as bn

NAMED = [getattr(bn, name) for name in bn.__all__]
PUBLIC = [bn, *(module for module in NAMED if isinstance(module, ModuleType))]
WITH_PROGRESS = {
    function
    for module in PUBLIC
    for name in getattr(module, "__all__", vars(module))
    if inspect.isfunction(function := getattr(module, name))
    and function.__module__.startswith(module.__name__)
    and "progress" in inspect.signature(function).parameters
}


def test_every_function_with_progress_is_stopped_here():
    assert WITH_PROGRESS == {call.sampler for call in ALL.values()}


SHARES = {"GES": 0.05}  # the steps that there may be at most are many more than those made
TOTAL_GROWS = {"Occam's window"}  # with what the search meets
PASSES = {"best DAGs", *SHARES, *TOTAL_GROWS}  # several, or one that may end before its total


@pytest.mark.parametrize("name", ALL)
def test_what_is_stopped_returns_what_it_has(name, monkeypatch):
    for setting, value in calls.SMALL_BLOCKS.items():
        monkeypatch.setattr(setting, value)
    monkeypatch.setattr("bnlab.linear_extensions.estimating.BATCH_NUMBERS", 1)
    monkeypatch.setattr("bnlab.search.sets.ROUND", 20)
    monkeypatch.setattr("bnlab.search.sets.BLOCK", 9)
    call, share = ALL[name], SHARES.get(name, 0.6)
    told = []
    whole = calls.arrays(call(progress=lambda done, total, snapshot: told.append((done, total))))
    if name not in PASSES:
        assert told == sorted(told) and told[-1][0] == told[-1][1]
    stop, interrupt = Stop("returns False", share), Stop("interrupts", share)
    stopped, interrupted = outcome(call, stop), outcome(call, interrupt)
    assert stop.told[-1][0] < stop.told[-1][1] or name in TOTAL_GROWS
    if isinstance(stopped, bn.Stopped):  # nothing to return: Ctrl-C is passed on
        assert str(stopped).startswith("stopped ")
        assert isinstance(interrupted, KeyboardInterrupt | bn.Stopped)
        return
    for result in (stopped, interrupted):
        assert result.run.stopped
        assert "stopped early" in repr(result) or "stopped early" in repr(result.run)
    parts = calls.arrays(stopped)
    assert name in TOTAL_GROWS or not calls.differing(parts, calls.arrays(interrupted))
    for key, axis in call.nested.items():
        kept = parts[key].shape[axis]
        assert 0 < kept < whole[key].shape[axis]
        assert np.array_equal(np.take(whole[key], range(kept), axis), parts[key])
        if call.count == "runs":
            assert stop.told[-1] == (kept, call.usual)
        elif call.options.items() >= calls.CHAINS.items():
            done, total = (20 + stopped.run.settings["thin"] * n for n in (kept, call.usual))
            assert stop.told[-1][0] * total == stop.told[-1][1] * done


@pytest.mark.parametrize("name", [name for name, call in ALL.items() if "chains" in call.options])
def test_stopping_during_the_burn_in_leaves_nothing(name):
    with pytest.raises(bn.Stopped, match="burn-in"):
        ALL[name](burn_in=10**6, progress=lambda *_: False)


# A real signal, while compiled code runs

INTERRUPTED = """
import os, signal, threading
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

for name, call in CALLS.items():
    told.clear()
    call(1)  # compiled
    try:
        result = call(1_000_000, progress=progress)
    except KeyboardInterrupt:
        end = "nothing"
    else:
        end = "stopped" if result.run.stopped else "whole"
        assert np.isfinite(getattr(result, "log_target", 0.0)).all()
    call(1)  # all is well
    print(name, end, sep=": ", flush=True)
"""


@pytest.fixture(scope="module")
def interrupted():
    """What a process tells of calls that it interrupts, one after the other."""
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300
    )


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
def test_a_signal_stops_compiled_code(name, end, interrupted):
    assert interrupted.returncode == 0, interrupted.stderr
    assert f"{name}: {end}" in interrupted.stdout.splitlines()
