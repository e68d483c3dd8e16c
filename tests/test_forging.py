"""Checkpoints with a valid digest whose arrays no run has saved: they are refused, and stay."""

import math

import calls
import numpy as np
import pytest
from calls import RESUMED, arrays

import bnlab as bn
from bnlab.checkpoints import IDENTITY, Checkpoint

COUNT = 12
QUICK = ("chains", "partitions", "local moves", "AIS", "climbs", "paths")
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RESUMED]
FORGERIES = {
    "truncated": lambda a: a[: len(a) // 2],
    "empty": lambda a: a[:0],
    "of other numbers": lambda a: a.astype(np.float32 if a.dtype.kind == "f" else np.int32),
    "text": lambda a: a.astype(str),
    "negative": lambda a: -a - (a.dtype.kind == "i"),
    "huge": lambda a: np.full_like(a, 1e300 if a.dtype.kind == "f" else np.iinfo(a.dtype).max),
    "nan": lambda a: np.full(a.shape, math.nan),
    "of one more axis": lambda a: a[None],
}
# Nothing of the file tells what these were: any number would do as well.
PLAUSIBLE = {
    *((f"record {i}", "negative") for i in (1, 2)),
    ("log_w", "negative"),
    ("log_target", "negative"),
    ("log_p", "negative"),
    ("log_ratio", "negative"),
    ("log_density", "negative"),
    ("log_density", "huge"),
    ("scores", "negative"),
    ("scores", "huge"),
}

# Here a table says what the DAGs weigh.
WEIGHED = "record 1", "negative"
CHECKED = {"partitions", *calls.STRUCTURES} - {"a prior of your own"}


@pytest.fixture
def quick(monkeypatch):
    """Small blocks, each of them saved."""
    for setting, value in calls.SMALLEST_BLOCKS.items():
        monkeypatch.setattr(setting, value)
    monkeypatch.setattr("bnlab.checkpoints.EVERY_SECONDS", 0.0)
    monkeypatch.setattr("bnlab.checkpoints.SAVING_SHARE", math.inf)


def stopped(call, path):
    """Save what a part of the call does, or else all of it."""
    try:
        call(COUNT, checkpoint=path, progress=lambda done, total, _: done < 0.5 * total)
    except bn.Stopped:
        pass


def saved(path):
    """The identity and the arrays of a checkpoint."""
    found = {}

    def keep(arrays):
        found.update(arrays)

    checkpoint = Checkpoint(path, {})
    checkpoint._check = lambda identity: found.__setitem__(IDENTITY, identity)
    checkpoint.load(keep)
    return found.pop(IDENTITY), found


def forged(name, array):
    """The array as it may be forged, by the kind of forgery."""
    for kind, forge in FORGERIES.items():
        if array.ndim == 0 and kind in ("truncated", "empty"):
            continue
        if array.dtype == bool and kind in ("negative", "huge"):
            continue
        other = forge(array)
        if other.dtype != array.dtype or not np.array_equal(other, array, equal_nan=True):
            yield kind, other


@pytest.mark.parametrize("name", EACH)
def test_what_no_run_saves_is_refused(name, tmp_path, quick):
    call, path = RESUMED[name], tmp_path / "run.ckpt"
    whole = arrays(call(COUNT))
    stopped(call, path)
    identity, kept = saved(path)
    file = Checkpoint(path, identity)
    kinds = {
        (key, kind): {**kept, key: other} for key in kept for kind, other in forged(key, kept[key])
    }
    kinds |= {(key, "missing"): {k: a for k, a in kept.items() if k != key} for key in kept}
    kinds["more", "additional"] = {**kept, "more": np.zeros(3)}
    accepted = []
    for what, arrays_of_it in kinds.items():
        file.save(arrays_of_it)
        content = path.read_bytes()
        try:
            found = call(COUNT, checkpoint=path)
        except ValueError as error:
            assert "run.ckpt does not hold what this run saves" in str(error), (what, error)
            assert "\n" not in str(error)
            assert path.read_bytes() == content, what
        else:
            if calls.differing(arrays(found), whole):
                accepted.append(what)
    assert {*accepted} <= PLAUSIBLE - ({WEIGHED} if name in CHECKED else set()), accepted
    file.save(kept)
    assert not calls.differing(arrays(call(COUNT, checkpoint=path)), whole)
