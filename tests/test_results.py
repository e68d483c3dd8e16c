"""Results say in one line what they are; runs are on record; memory is asked before it is taken."""

import numpy as np
import pytest

import bnlab as bn
from bnlab import memory
from bnlab.results import Run


def test_an_estimate_reads_as_one_line():
    estimate = bn.Estimate(
        -1432.083, stderr=0.031, kind="unbiased", run=Run("AIS, 64 chains", seconds=2.13)
    )
    assert repr(estimate) == "log p = -1432.08 +/- 0.03 (AIS, 64 chains, unbiased, 2.1 s)"


def test_every_result_is_frozen():
    estimate = bn.Estimate(-1.0, stderr=0.0, kind="exact")
    with pytest.raises(AttributeError):
        estimate.log_value = 0.0
    assert set(estimate.run.versions) == {"bnlab", "numba", "numpy", "python"}


def test_draws_of_several_chains_say_so():
    draws = bn.Draws(
        np.zeros((2, 5, 3), np.int64),
        np.zeros((2, 5)),
        np.zeros((2, 5)),
        "orders",
        "order-modular",
        ("a", "b", "c"),
    )
    assert repr(draws) == "Draws(2 x 5 orders of 3 variables, order-modular)"


def test_memory_is_refused_with_both_numbers_and_the_remedy(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    memory.require(1000, task="this", remedy="less")
    with pytest.raises(ValueError) as error:
        memory.require(1001, task="this", remedy="take less")
    assert str(error.value) == (
        "this needs 1,001 bytes (0.0 GB); this machine has 1,000 bytes (0.0 GB) free: take less"
    )


def test_without_an_answer_from_the_system_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    memory.require(10**18, task="this", remedy="less")


def test_the_smaller_of_machine_and_container_counts(monkeypatch):
    monkeypatch.setattr(memory, "_machine_free", lambda: 500)
    monkeypatch.setattr(memory, "_container_free", lambda: 300)
    assert memory.free_bytes() == 300
    monkeypatch.setattr(memory, "_container_free", lambda: None)
    assert memory.free_bytes() == 500


def test_this_machine_has_some_memory():
    free = memory.free_bytes()
    assert free is None or 10**7 < free < 10**14
