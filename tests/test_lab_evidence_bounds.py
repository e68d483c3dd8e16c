"""Lab 08 without a browser: its widget and its checks."""

import asyncio
import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import bnlab as bn
from bnlab import plots
from bnlab.labs import evidence_bounds as lab
from bnlab.labs.annealed_importance_sampling import GAME, posterior


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lower has shape \(1,\), but 2 values"):
        plots.evidence_bounds([10, 100], [-3], [2, 1])


def test_bounds_are_by_the_package_and_counts_its_moves() -> None:
    told = []

    def tell(done: int, total: int, found: list) -> bool:
        told.append((done, total, len(found)))
        return True

    found = lab.Bounds(stops=[100, 1000]).compute(tell, 400, 9)
    again = np.random.default_rng(lab.SEED)
    exact, method = posterior(GAME, 400), bn.AIS(bn.Linear(100))
    lower = bn.estimate_lower_bound(exact.table, runs=9, rng=again, method=method)
    upper = bn.estimate_upper_bound(exact, runs=9, rng=again, method=method)
    steps, low, high = found[0]
    assert steps == 100
    assert low == pytest.approx(lower.log_value - exact.log_evidence)
    assert high == pytest.approx(upper.log_value - exact.log_evidence)
    assert told[-1] == (2 * 9 * 1100, 2 * 9 * 1100, 1)
    assert all(later[0] >= now[0] for now, later in pairwise(told))


def test_stopped_bounds_keep_what_is_complete() -> None:
    def stop(done: int, total: int, found: list) -> bool:
        return not found

    found = lab.Bounds(stops=[10, 100, 1000]).compute(stop, 400, 9)
    assert [steps for steps, _, _ in found] == [10, 100]  # one block of runs: too late to stop it
    long = lab.Bounds(stops=[500_000]).compute(lambda *_: False, 400, 9)
    assert long == []


def test_bounds_hold_the_exact_value_and_close() -> None:
    bounds = lab.Bounds(stops=[30, 3000])
    bounds.rows.value = 400
    assert np.isnan(bounds.bounds.source("bounds").data["lower"]).all()
    bounds.runner.run_now()
    data = bounds.bounds.source("bounds").data
    assert max(data["lower"]) < 0 < min(data["upper"])
    gap = bounds.gap.source("gap").data["gap"]
    assert lab.LEAST_GAP < gap[1] < gap[0]
    assert "400 rows, 27 runs for each bound. At 3,000 steps" in bounds.bounds.caption
    bounds.runs.value = 9
    assert bounds.found == []
    assert "For the earlier setting (rows 400, runs of each bound 27)" in (
        bounds.gap.children[1].value
    )


def test_bounds_of_older_settings_are_not_shown() -> None:
    bounds = lab.Bounds(stops=[10, 100_000])

    async def click_then_move() -> None:
        bounds.runner.run_button.click()
        await asyncio.sleep(0.01)
        bounds.rows.value = 100
        await bounds.runner.task

    asyncio.run(click_then_move())
    assert bounds.runner.status.value.startswith("stopped at")
    assert bounds.found == []
    assert bounds.bounds.caption.startswith("Press Run")


def test_check_of_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    def ratio(up_a, down_a, up_b, down_b, delta, bins, share=4):
        split = {"delta": delta / share, "bins": bins}
        low = bn.lower_bound(up_a, **split).log_value - bn.upper_bound(down_b, **split).log_value
        return low, bn.upper_bound(down_a, **split).log_value - bn.lower_bound(
            up_b, **split
        ).log_value

    assert not lab.check_ratio(lambda *given: (None, None))
    assert not lab.check_ratio(lambda *given: (-5, 5))
    assert not lab.check_ratio(lambda *given: ratio(*given, share=1))
    assert not lab.check_ratio(lambda *given: ratio(*given[:4], 0.05, 9))
    assert lab.check_ratio(ratio)
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_reverse_runs(capsys: pytest.CaptureFixture[str]) -> None:
    def reverse(order, betas, log_p, move, at=0, first=True):
        log_w = math.lgamma(len(order) + 1)
        for pair in pairwise(betas[::-1]):
            weighed, order = order, move(order, pair[at])
            log_w += (pair[0] - pair[1]) * log_p(order if first else weighed)
        return log_w

    assert not lab.check_reverse(lambda *given: None)
    assert not lab.check_reverse(lambda *given: reverse(*given, at=1))
    assert not lab.check_reverse(lambda *given: reverse(*given, first=False))
    assert not lab.check_reverse(lambda *given: reverse(*given) - math.lgamma(4))
    assert lab.check_reverse(reverse)
    assert capsys.readouterr().out.count("not yet") == 4
    assert lab.right_reverse(reverse) is reverse
    for wrong in (None, partial(reverse, at=1), partial(reverse, first=False)):
        assert lab.right_reverse(wrong) is lab.reverse


def test_check_of_weights_whose_bound_fails(capsys: pytest.CaptureFixture[str]) -> None:
    c = 1.001 * 0.05 ** (-1 / 9)
    assert not lab.check_tight(lambda rng, size: np.ones(3))
    assert not lab.check_tight(lambda rng, size: rng.normal(1, 1, size))
    assert not lab.check_tight(lambda rng, size: rng.exponential(2, size))
    assert not lab.check_tight(lambda rng, size: rng.exponential(1, size))
    assert lab.check_tight(lambda rng, size: c * (rng.random(size) < 1 / c))
    assert capsys.readouterr().out.count("not yet") == 4
    assert pytest.approx(2 * math.log(20) / 9) == lab.LEAST_GAP
