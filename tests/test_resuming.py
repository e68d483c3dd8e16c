"""Checkpoints of everything that keeps one: the end is the same, and other files are refused."""

from functools import cache

import numpy as np
import pytest
from calls import RESUMED, SMALLEST_BLOCKS, arrays, differing, five, latent, table
from stopping import Stop, outcome

import bnlab as bn

OTHER_TARGETS = {five: lambda: table(5, 4), latent: lambda: latent(4)}

every = pytest.mark.parametrize("name", RESUMED)


@cache
def uninterrupted(name):
    return RESUMED[name]()


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Where the checkpoint is; everything is made of many steps."""
    for setting, value in SMALLEST_BLOCKS.items():
        monkeypatch.setattr(setting, value)
    return tmp_path / "run.ckpt"


def assert_same(found, expected):
    assert differing(arrays(found), arrays(expected)) == set()
    for run, other in zip(runs(found), runs(expected), strict=True):
        assert (run.settings, run.seed, run.stopped) == (other.settings, other.seed, False)


def runs(result):
    results = result if isinstance(result, list) else [result]
    return [each.run for each in results if hasattr(each, "run")]


def no_work(done, total, snapshot):
    assert done == total, "work has begun"


@pytest.mark.quick("interrupts")
@every
@pytest.mark.parametrize(("how", "share"), [("returns False", 0.05), ("interrupts", 0.6)])
def test_a_stopped_run_goes_on_to_the_same_end(name, how, share, path):
    """Not from the beginning; and a finished one returns at once what it has."""
    call, stop, told = RESUMED[name], Stop(how, share), []
    whole = uninterrupted(name)
    outcome(call, stop, checkpoint=path)
    again = call(checkpoint=path, progress=lambda *report: told.append(report))
    assert told[0][0] >= stop.told[-1][0]
    assert_same(again, whole)
    finished = path.read_bytes()
    assert_same(call(checkpoint=path, progress=no_work), whole)
    assert path.read_bytes() == finished or call.sampler is bn.hill_climb  # makes its path anew
    assert [file.name for file in path.parent.iterdir()] == ["run.ckpt"]


@every
def test_what_was_made_is_kept_when_progress_fails(name, path):
    failing, told = Stop("fails"), []
    with pytest.raises(RuntimeError, match="the screen is gone"):
        RESUMED[name](checkpoint=path, progress=failing)
    again = RESUMED[name](checkpoint=path, progress=lambda *report: told.append(report))
    assert told[0][0] >= failing.told[-1][0]
    assert_same(again, uninterrupted(name))


@every
def test_the_file_of_another_run_is_refused_and_stays(name, path):
    call = RESUMED[name]
    count = {"count": np.int64(call.usual)} if call.count else {}  # counts of numpy are counts
    call(**count, checkpoint=path)
    content = path.read_bytes()
    others = [({"seed": 10}, "seed is")] if call.takes("rng") else []
    if call.count:
        more = f"[a-z]+ is {call.usual}, here it is {call.usual + 1}"
        others.append(({"count": call.usual + 1}, more))
    if call.target in OTHER_TARGETS:
        others.append(({"target": OTHER_TARGETS[call.target]()}, "(table|data) is"))
    for other, match in others:
        with pytest.raises(ValueError, match=f"checkpoint of another run: its {match}"):
            call(checkpoint=path, progress=no_work, **other)
        assert path.read_bytes() == content
    path.write_bytes(content[:-1])
    with pytest.raises(ValueError, match="is damaged"):
        call(checkpoint=path, progress=no_work)
    assert path.read_bytes() == content[:-1]
