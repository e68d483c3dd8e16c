"""Lab 15 without a browser: its books, its formulas, its widgets and its checks."""

import math
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from bokeh.embed import json_item

import bnlab as bn
from bnlab import plots
from bnlab.labs import scaling_out as lab
from bnlab.sampling import OrderWalker


@pytest.mark.slow
def test_the_lab_needs_no_cluster_to_be_imported() -> None:
    names = {"distributed", "ipyparallel", "mpi4py"}
    code = f"import sys, bnlab.labs.scaling_out; print(*({names!r} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_a_fingerprint_sees_one_bit() -> None:
    draws = bn.sample_orders(lab.wine(), draws=5, rng=np.random.default_rng(1))
    changed = np.nextafter(draws.log_target, 0)
    other = bn.Draws(
        draws.values, draws.log_weight, changed, draws.over, draws.prior, draws.names, run=draws.run
    )
    assert lab.fingerprint(draws) != lab.fingerprint(other)


def test_the_ledger_counts_what_is_pickled() -> None:
    ledger = lab.Ledger()
    assert "no jobs" in repr(ledger)
    rng, method = np.random.default_rng(1), bn.AIS(bn.Linear(500_000))
    draws = bn.anneal_orders(lab.wine(), runs=3, method=method, rng=rng, executor=ledger)
    same = bn.anneal_orders(lab.wine(), runs=3, method=method, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(draws.log_weight, same.log_weight)
    assert ledger.jobs == 3
    walker = len(pickle.dumps(OrderWalker.of(lab.wine())))
    assert all(walker < sent < walker + 4_010_000 for sent in ledger.sent)  # and temperatures
    assert min(ledger.seconds) > 0
    assert repr(ledger).startswith("jobs: 3; each ")


def test_a_parcel_is_as_large_as_the_plan_says() -> None:
    def expected(n):  # ln of the weight of each family of up to three parents
        return 8 * n * sum(math.comb(n - 1, size) for size in range(4))

    pickled = pickle.dumps(OrderWalker.of(lab.wine()))
    assert len(pickled) == pytest.approx(expected(13), abs=500)
    assert round(expected(58) / 1e6) == 14


def test_walls_by_hand() -> None:
    load = lab.Load(jobs=10, seconds=3.0, once=1.0, send=0.5)
    assert load.wall(1) == 1.0 + 0.5 + 10 * 3.0  # once the first has been sent
    assert load.wall(4) == 1.0 + 2 * 0.5 + 3 * 3.0  # the second core does three
    assert load.wall(1000) == 1.0 + 10 * 0.5 + 3.0  # the last parcel, and its job
    assert load.speed_up(1) == pytest.approx(31 / 31.5)
    assert load.cost(4) == 44.0
    assert all(load.speed_up(p) <= lab.amdahl(1 / 31, p) + 1e-12 for p in range(1, 50))


def test_words_for_times_and_sizes() -> None:
    assert [lab.spoken(t) for t in (0.21, 3599, 3601, 1e5, 1e9, 1.67e11)] == [
        "0.21 seconds",
        "60 minutes",
        "1 hour",
        "28 hours",
        "32 years",
        "5,300 years",
    ]
    assert [lab.sized(b) for b in (500, 275e3, 1.3e12, 7e19)] == [
        "0.5 kB",
        "275 kB",
        "1.3 TB",
        "70 EB",
    ]


def test_speed_up_follows_its_sliders() -> None:
    speed = lab.SpeedUp()
    speed.jobs.value, speed.serial.value, speed.parcel.value = 20, 0.0, 0.0
    lines = speed.speed.source("speed").data
    assert lines["label"] == ["ideal", "Amdahl's law", "these jobs"]
    assert lines["ys"][0] == lines["ys"][1] == list(map(float, lab.CORES))
    assert lines["ys"][2][:6] == [1, 2, 4, pytest.approx(20 / 3), 10, 20]
    assert speed.cost.source("cost").data["ys"][2][-1] == pytest.approx(4096 / 20)
    assert speed.speed.source("speed_points").data["x"] == [32]
    assert "20 jobs of 1.8e+02 s" in speed.speed.caption


@pytest.mark.slow
def test_the_package_makes_the_jobs_of_the_plan() -> None:
    from bnlab.annealing.runs import _block_size

    walker = OrderWalker.of(bn.score_families(lab.letters(), bn.BDeu(1.0), max_parents=3))
    assert _block_size(walker, 1600, 576_000, lab.Ledger()) == 4132
    assert math.ceil(576_000 / 4132) == 140


@pytest.mark.slow
def test_pictures_can_be_drawn() -> None:
    assert json_item(lab.SpeedUp().speed.figure._model)["doc"]


def test_core_curves_refuse_what_they_cannot_show() -> None:
    look = {"y": plots.Axis("y", (1, 9)), "name": "n", "title": "t"}
    with pytest.raises(ValueError, match="'x' has 1 numbers of cores and 2 values"):
        plots.core_curves([1], {"x": [1, 2]}, ("p", 1, 1), **look)
    with pytest.raises(ValueError, match="'x' holds 0"):
        plots.core_curves([1], {}, ("x", 1, 0), **look)


@pytest.mark.slow
def test_a_killed_worker_costs_its_own_job(tmp_path: Path) -> None:
    """The pool breaks; the same call goes on from the file, to the same draws."""
    table = bn.score_families(bn.load_dataset("coronary"), bn.BDeu())
    method, file = bn.AIS(bn.Linear(500_000)), tmp_path / "runs.npz"
    whole = bn.anneal_orders(table, runs=40, method=method, rng=np.random.default_rng(7))

    def kill(*_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(victim, getattr(signal, "SIGKILL", signal.SIGTERM))

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        victim = executor.submit(os.getpid).result()
        with pytest.raises(BrokenProcessPool):
            bn.anneal_orders(
                table,
                runs=40,
                method=method,
                rng=np.random.default_rng(7),
                checkpoint=file,
                progress=kill,
                executor=executor,
            )
    told: list[int] = []
    resumed = bn.anneal_orders(
        table,
        runs=40,
        method=method,
        rng=np.random.default_rng(7),
        checkpoint=file,
        progress=lambda done, total, _: told.append(done),
    )
    assert told[0] > 1  # some were kept
    assert lab.fingerprint(resumed) == lab.fingerprint(whole)


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    class Forwards:
        def map(self, function, jobs):
            return map(function, jobs)

    class Unsorted:
        def map(self, function, jobs):
            return [function(job) for job in reversed(list(jobs))]

    assert not lab.check_executor(Forwards)
    assert not lab.check_executor(Unsorted)
    assert not lab.check_executor(lambda: None)

    def needed(sigma, error, seconds, deadline):
        runs = math.ceil((math.exp(sigma**2) - 1) / error**2)
        each = math.floor(deadline / seconds)
        return math.ceil(runs / each) if each else None

    assert lab.check_cores(needed)
    assert not lab.check_cores(lambda *how: 1)
    assert not lab.check_cores(lambda *how: None)
    assert not lab.check_cores(  # work divided evenly, though a run cannot be
        lambda sigma, error, seconds, deadline: (
            math.ceil(math.expm1(sigma**2) / error**2 * seconds / deadline)
            if deadline >= seconds
            else None
        )
    )
    assert not lab.check_cores(lambda sigma, *how: needed(sigma, *how[:2], max(how[1:])))

    def plan(scatter, least):  # so many steps that σ is `scatter`
        def runs_and_steps(sigma, steps, error):
            longer = math.ceil(steps * (sigma / scatter) ** 2)
            return max(least, math.ceil(math.expm1(sigma**2 * steps / longer) / error**2)), longer

        return runs_and_steps

    assert lab.check_plan(plan(0.5, 100))
    assert not lab.check_plan(plan(1.0, 100))  # too many short runs
    assert not lab.check_plan(plan(0.02, 1))  # too few
    assert not lab.check_plan(lambda sigma, steps, error: (10_000, steps))
    assert not lab.check_plan(lambda sigma, steps, error: (20, 540_000 * 80))
    assert not lab.check_plan(plan(0.02, 100))  # long, but a hundred of them
    assert capsys.readouterr().out.count("not yet") == 12
