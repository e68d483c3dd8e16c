"""Files written whole, and compressed ones that are too large."""

import gzip
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import bnlab as bn
from bnlab import files, memory


def aged(path: Path, seconds: float) -> Path:
    path.write_bytes(b"half")
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def test_a_save_removes_what_a_killed_one_left(tmp_path):
    left = aged(tmp_path / ".run [1].ckpt.17.partial", 700)
    files.write_whole(tmp_path / "run [1].ckpt", b"whole")
    assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run [1].ckpt"]


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        (".run.ckpt.17.partial", 500),  # another process may be writing it
        (".other.ckpt.17.partial", 700),
        (".run.ckpt.mine.partial", 700),
    ],
    ids=["young", "of another file", "not ours"],
)
def test_a_save_leaves_the_files_of_others(tmp_path, name, seconds):
    left = aged(tmp_path / name, seconds)
    files.write_whole(tmp_path / "run.ckpt", b"whole")
    assert left.read_bytes() == b"half"


def test_a_text_that_does_not_fit_is_not_decompressed(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0,1\n" * 10**7))
    monkeypatch.setattr(memory, "free_bytes", lambda: 20 * 10**6)
    monkeypatch.setattr(gzip, "decompress", None)
    with pytest.raises(
        ValueError, match=r"bomb\.csv\.gz: reading the first 4,\d+,\d+ bytes of text needs"
    ):
        bn.read_csv(path)


def test_free_memory_unknown_is_no_limit(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert files.decompressed(gzip.compress(b"a" * 3_000_000), "a.gz") == b"a" * 3_000_000


def test_threads_may_write_to_one_place(tmp_path):
    target, contents = tmp_path / "run.ckpt", [bytes([i]) * 100_000 for i in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(files.write_whole, target), contents * 20))
    assert target.read_bytes() in contents
    assert os.listdir(tmp_path) == ["run.ckpt"]
