"""Lab 10 without a browser: its simulated rows, its widgets and its checks."""

from functools import partial
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from bnlab.hidden import AIS, RowDirichlet, Warped, exact_evidence
from bnlab.labs import hidden_annealing as lab
from bnlab.labs.hidden_annealing import (
    LOOP_ROWS,
    LOOP_RUNS,
    MOVES,
    PARTS,
    SEED,
    SIDE_RUNS,
    THESIS,
    loop,
)
from bnlab.labs.hidden_scores import structures
from bnlab.papers.beal2003.study import both_ways

ROWWISE = RowDirichlet()


def go_on(*_: object) -> bool:
    return True


@pytest.mark.slow
def test_gold_is_above_the_bound_without_its_alias_term() -> None:
    found = lab.gold(10)
    aliases = np.log([model.aliases for model in structures()])
    assert (lab.scored(10)["VB"] - aliases <= found + 1.5).all()
    apart = exact_evidence(structures()[0], lab.rows(10))  # nothing hidden has a child
    assert found[0] == pytest.approx(apart.log_value)


def test_simulated_tables_are_those_that_made_the_rows() -> None:
    problem = lab.simulated(8)
    exact = exact_evidence(lab.true_model(), problem.data)
    assert (problem.reference_is, problem.reference) == ("exact", exact.log_value)
    assert lab.simulated(80).reference_is == "SMC"


def test_bands_are_means_and_bounds_of_runs_both_ways() -> None:
    band = lab.Sides(stops=[100]).compute(go_on, 8, THESIS)[0]
    problem, rng = lab.simulated(8), np.random.default_rng([SEED, 8, SIDE_RUNS])
    how = {"method": AIS(Warped(100)), "runs": 20, "rng": rng}
    up, back = both_ways(problem.data, problem.tables, **how)
    assert band.upward == pytest.approx(up.log_weight.mean() - problem.reference)
    assert band.reverse == pytest.approx(back.log_weight.mean() - problem.reference)
    assert band.low == pytest.approx(
        np.logaddexp.reduce(up.log_weight - problem.reference) - np.log(20) + np.log(0.05)
    )
    assert band.low < 0 < band.high


def test_a_stopped_band_keeps_what_is_complete() -> None:
    told = []

    def stop(done: int, total: int, found: list) -> bool:
        told.append((done, total))
        return not found

    found = lab.Sides(stops=[10, 2000]).compute(stop, 8, THESIS)
    assert [band.steps for band in found] == [10]
    assert told[-1][1] == 2 * 20 * 2010
    assert lab.Sides(stops=[2000, 3000]).compute(lambda *_: False, 8, THESIS) == []


@pytest.mark.parametrize("steps", [64, 256])
def test_parts_of_the_schedule_add_up(steps: int) -> None:
    problem, method = lab.simulated(8), AIS(Warped(steps), ROWWISE)
    rng = np.random.default_rng([SEED, 8, steps])
    up, back = both_ways(problem.data, problem.tables, method=method, runs=3, rng=rng)
    found = loop(8, steps, 0.2, ROWWISE, 3)
    assert found.upward.sum() == pytest.approx(up.log_ratio.sum(axis=1).mean())
    assert found.reverse.sum() == pytest.approx(back.log_ratio.sum(axis=1).mean())
    assert found.betas.size == PARTS + 1
    assert (found.betas[0], found.betas[-1]) == (0, 1)
    assert ((found.acceptance > 0) & (found.acceptance <= 1)).all()


@pytest.mark.slow
def test_slopes_of_parts_are_of_one_magnitude() -> None:
    """Ratios over widths are mean log likelihoods, whatever the parts' widths."""
    found = loop(LOOP_ROWS, 256, 0.2, ROWWISE, LOOP_RUNS)
    slopes = found.reverse / np.diff(found.betas)
    assert (np.diff(slopes) > -20).all()
    assert 0.8 < slopes[0] / slopes[-1] < 1.3


@pytest.mark.slow
def test_sides_close() -> None:
    sides = lab.Sides(stops=[16, 1024])
    sides.runner.run_now()
    data = sides.band.source("band").data
    assert max(data["upward, mean"]) < 0 < min(data["reverse, mean"])
    width = sides.width.source("width").data["width"]
    assert width[1] < width[0] / 3
    assert "r = 1,024" in sides.width.caption
    sides.shape.value = "linear"
    assert sides.found == []


@pytest.mark.slow
def test_loops_answer_from_runs_made_before() -> None:
    loops = lab.Loops()
    loops.steps.value = 64
    loops.shape.value = "linear"
    loops.moves.value = "all lines at once (thesis)"
    expected = loop(LOOP_ROWS, 64, 1e9, MOVES[loops.moves.value], LOOP_RUNS)
    accepted = loops.acceptance.source("acceptance_path").data
    np.testing.assert_allclose(accepted["rate"], expected.acceptance)
    width = np.diff(expected.betas)
    np.testing.assert_allclose(
        loops.ratios.source("ratios").data["upward"], expected.upward / width
    )
    gap = (expected.reverse - expected.upward).sum()
    assert loops.ratios.caption.startswith(f"Reverse − upward: {gap:.1f} nats")


def test_check_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    def log_likelihood(theta, rows):
        y1, y2 = np.transpose(rows)
        return np.log((theta[0].T * theta[1][:, y1] * theta[2][:, y2]).sum(axis=0)).sum()

    def move(theta, v, j, beta, rows, rng):
        there = [table.copy() for table in theta]
        there[v][j] = rng.dirichlet(np.ones(len(theta[v][j])))
        log_a = beta * (log_likelihood(there, rows) - log_likelihood(theta, rows))
        return there if -rng.standard_exponential() < log_a else theta

    def run(theta, betas, rows, rng, *, early=False, kept=True, late=False, size=1):
        log_w = 0.0
        for i, (before, beta) in enumerate(pairwise(betas)):
            old = theta
            moved = move(old, *lab.LINES[i % 5], before if early else beta, rows, rng)
            theta = moved if kept else old
            log_w += (beta - before) ** size * log_likelihood(moved if late else old, rows)
        return log_w

    wrong = {"early": True}, {"kept": False}, {"late": True}, {"size": 2}, {"size": 0}
    for how in wrong:
        assert not lab.check_anneal(partial(run, **how))
        assert lab.right_anneal(partial(run, **how), log_likelihood, move) is not run
    ours = lab.right_anneal(lambda *given: None, log_likelihood, move)
    assert lab.right_anneal(run, log_likelihood, move) is run
    assert not lab.check_anneal(lambda *given: None)
    assert lab.check_anneal(ours)
    assert lab.check_anneal(run)
    assert capsys.readouterr().out.count("not yet") == 6


def test_check_of_noisy_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    def noisy(values, number, sd, repeats, rng):
        noise = sd * rng.normal(size=(repeats, values.size))
        return values + noise

    def right(values, number, sd, repeats, rng):
        found = noisy(values, number, sd, repeats, rng)
        return 1 + (found > found[:, [number]]).sum(axis=1)

    def truth_without_noise(values, number, sd, repeats, rng):
        found = noisy(values, number, sd, repeats, rng)
        found[:, number] = values[number]
        return 1 + (found > found[:, [number]]).sum(axis=1)

    assert not lab.check_noisy_ranks(lambda *given: None)
    assert not lab.check_noisy_ranks(lambda v, number, sd, repeats, rng: np.ones(repeats))
    assert not lab.check_noisy_ranks(truth_without_noise)
    assert lab.check_noisy_ranks(right)
    assert capsys.readouterr().out.count("not yet") == 3


@pytest.mark.slow
def test_check_of_annealed_completions(capsys: pytest.CaptureFixture[str]) -> None:
    def walk(log_p, betas, rng, *, weigh_late=False, terms=32, hot=False):
        states, log_w = tuple(rng.integers(0, 2, 5).tolist()), log(terms)
        for before, beta in pairwise(betas):
            log_w += 0 if weigh_late else (beta - before) * log_p[states]
            for i in range(5):
                zero, one = ((*states[:i], h, *states[i + 1 :]) for h in (0, 1))
                odds = exp(min((0 if hot else beta) * (log_p[one] - log_p[zero]), 500))
                states = one if rng.random() < odds / (1 + odds) else zero
            log_w += (beta - before) * log_p[states] if weigh_late else 0
        return log_w

    assert not lab.check_completions(lambda log_p, betas, rng: None)
    assert not lab.check_completions(lambda *given: walk(*given, terms=1))
    assert not lab.check_completions(lambda *given: walk(*given, weigh_late=True))
    assert not lab.check_completions(lambda *given: walk(*given, hot=True))
    assert lab.check_completions(walk)
    assert capsys.readouterr().out.count("not yet") == 4


def test_five_published_runs_are_there() -> None:
    assert all(len(five) == 5 for five in lab.PUBLISHED_RUNS.values())
