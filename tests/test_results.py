"""Results say in one line what they are; runs are on record; memory is asked before it is taken."""

import copy
import pickle
from operator import attrgetter

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


@pytest.mark.parametrize("kind", ["exact", "lower_bound", "upper_bound"])
def test_exact_values_and_bounds_tell_no_standard_error(kind):
    estimate = bn.Estimate(-1432.08, 0.0, kind, run=Run("sum", seconds=2.1))
    assert repr(estimate) == f"log p = -1432.08 (sum, {kind}, 2.1 s)"


def test_every_result_is_frozen():
    estimate = bn.Estimate(-1.0, stderr=0.0, kind="exact")
    with pytest.raises(AttributeError):
        estimate.log_value = 0.0
    assert set(estimate.run.versions) == {"bnlab", "numba", "numpy", "python"}


def test_records_compare_by_identity():
    """Fields are arrays; == would have no single answer."""
    one, other = (bn.Estimate(-1.0, stderr=0.0, kind="exact") for _ in range(2))
    assert one == one
    assert one != other
    assert len({one, other}) == 2


def test_draws_leave_the_callers_arrays_writable():
    values, zeros = np.zeros((1, 4, 2), np.int64), np.zeros((1, 4))
    draws = bn.Draws(values, zeros, zeros, "dags", "order-modular", ("a", "b"))
    values[0, 0, 0] = 1
    assert not draws.values.flags.writeable
    with pytest.raises(ValueError, match=r"values \(4, 2\) are \(chains, draws, n\)"):
        bn.Draws(values[0], zeros, zeros, "dags", "order-modular", ("a", "b"))


NAMES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A fake tree of control groups, in which group(version, path, ...) makes one."""
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")

    def make(version, path, limit, used, cached=0):
        names, folder = NAMES[version], tmp_path / ("memory" if version == 1 else ".") / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / names[0]).write_text(f"{limit}\n")
        (folder / names[1]).write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 400\n{names[2]} {cached}\n")

    make.own = (tmp_path / "own").write_text
    return make


def test_cached_files_of_a_container_count_as_free(group):
    group(2, ".", 1000, 900, cached=500)
    assert memory._groups_free() == 600
    group(2, ".", "max", 900)
    assert memory._groups_free() is None


@pytest.mark.parametrize(
    ("version", "own"),
    [
        (2, "0::/user.slice/run.scope\n"),
        (1, "7:blkio:/\n4:memory:/user.slice/run.scope\n0::/\n"),
        (1, "5:cpuset,memory:/user.slice/run.scope\n"),
    ],
)
@pytest.mark.parametrize("tightest", ["user.slice/run.scope", "user.slice", "."])
def test_the_groups_of_a_process_and_all_above_count(version, own, tightest, group):
    group.own(own)
    for path in ("user.slice/run.scope", "user.slice", "."):
        group(version, path, 1000 if path == tightest else 9000, 300, cached=100)
    group(version, "user.slice/other.scope", 10, 10)
    assert memory._groups_free() == 800


@pytest.mark.parametrize("own", ["0::/docker/abc\n", "0::/../../abc\n", "no group at all\n", None])
def test_a_container_sees_its_own_group_at_the_root(own, group):
    if own:
        group.own(own)
    group(2, ".", 1000, 300)
    assert memory._groups_free() == 700


def test_both_versions_count(group):
    group.own("4:memory:/a\n0::/b\n")
    group(1, "a", 1000, 300)
    group(2, "b", 800, 300)
    assert memory._groups_free() == 500
    group(1, "a", 400, 500)
    assert memory._groups_free() == 0


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
    monkeypatch.setattr(memory, "FRESH", 1e-9)
    monkeypatch.setattr(memory, "_machine_free", lambda: 500)
    monkeypatch.setattr(memory, "_groups_free", lambda: 300)
    assert memory.free_bytes() == 300
    monkeypatch.setattr(memory, "_groups_free", lambda: None)
    assert memory.free_bytes() == 500


def test_this_machine_has_some_memory():
    free = memory.free_bytes()
    assert free is None or 10**7 < free < 10**14


def test_copies_and_pickles_stay_read_only():
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(20, 3)))
    prior = bn.EdgeBeliefs(np.full((3, 3), 0.5))
    table = bn.score_families(data, bn.BDeu(), prior=prior)
    posterior = bn.order_posterior(table)
    draws = bn.sample_dags(posterior, draws=5, rng=np.random.default_rng(0))
    for record, names in (
        (prior, ["beliefs"]),
        (table, ["parents", "log_score", "log_prior"]),
        (posterior, ["edges", "families", "sums.alpha", "sums.g"]),
        (draws, ["values", "log_weight", "log_target"]),
    ):
        for twin in (copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
            for array in map(attrgetter, names):
                assert (array(twin) == array(record)).all()
                assert not array(twin).flags.writeable
