"""Files written whole, and compressed ones that are too large."""

import errno
import gzip
import os
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import bnlab as bn
from bnlab import files, memory
from bnlab.errors import InputError, Setting


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


def test_a_shortened_message_keeps_its_settings():
    long = Setting("discretize", {"x" * 1000: 3})
    with pytest.raises(InputError) as raised, files.told_briefly():
        raise InputError("place " + "x\n" * 10**6, Setting("drop", ("a",)), " or ", long, "!" * 999)
    first, *between, last = raised.value.args
    assert between == [Setting("drop", ("a",)), " or ", Setting("discretize")]
    assert first.startswith("place x\\nx") and last.endswith("!!") and " ... " in first
    assert str(raised.value).isprintable() and len(str(raised.value)) < 900


def test_threads_may_write_to_one_place(tmp_path):
    target, contents = tmp_path / "run.ckpt", [bytes([i]) * 100_000 for i in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(files.write_whole, target), contents * 20))
    assert target.read_bytes() in contents
    assert os.listdir(tmp_path) == ["run.ckpt"]


# Places that are no plain file


@pytest.mark.parametrize("target", ["there.csv", "new.csv"])
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path, target):
    (tmp_path / "there.csv").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    middle, link = tmp_path / "folder" / "middle.csv", tmp_path / "link.csv"
    middle.symlink_to(Path("..", target))
    link.symlink_to(middle)
    files.write_whole(link, b"new")
    assert link.is_symlink() and middle.is_symlink()
    assert (tmp_path / target).read_bytes() == b"new"
    assert len(list(tmp_path.rglob("*"))) == 4 + (target == "new.csv")


def test_a_loop_of_links_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("a", "b")
    os.symlink("b", "a")
    with pytest.raises(OSError, match=r"Too many levels of symbolic links.*'a'"):
        files.write_whole("a", b"new")
    with pytest.raises(ValueError, match="a: nothing can be written there"):
        files.check_place("a")
    assert sorted(os.listdir()) == ["a", "b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    files.check_place(pipe)
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit(pipe.read_bytes)
        files.write_whole(pipe, b"new" * 100_000)
        assert read.result(60) == b"new" * 100_000
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_written_to_and_a_full_one_named(tmp_path):
    files.write_whole(os.devnull, b"new")
    assert Path(os.devnull).is_char_device()
    link = tmp_path / "full.csv"
    link.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left.*make room there.*full\.csv") as raised:
        files.write_whole(link, b"new")
    assert raised.value.filename == str(link)
    assert Path("/dev/full").is_char_device() and link.is_symlink()


STDOUT = "from bnlab.files import write_whole; write_whole('/dev/stdout', b'page')"


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
def test_stdout_goes_on_where_it_is(tmp_path):
    """In a log that something else has written to, or in a pipe."""
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    with log.open("ab") as stdout:
        subprocess.run([sys.executable, "-c", STDOUT], stdout=stdout, check=True)
    assert log.read_bytes() == b"before\npage"
    piped = subprocess.run([sys.executable, "-c", STDOUT], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"page"


def test_a_full_disk_is_named_and_nothing_half_written_stays(tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_bytes(b"old")

    def full(path, content):
        with path.open("wb") as file:
            file.write(content[:2])
        raise OSError(errno.ENOSPC, "No space left on device")  # as write(2), without a name

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space left on device; make room there, or") as raised:
        files.write_whole(target, b"new page")
    assert (raised.value.filename, raised.value.errno) == (str(target), errno.ENOSPC)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.skipif(os.name == "nt", reason="there are no mode bits")
def test_permissions_stay(tmp_path):
    target = tmp_path / "page.html"
    umask = os.umask(0o027)
    try:
        files.write_whole(target, b"new")
        assert target.stat().st_mode & 0o777 == 0o640
        for mode in (0o600, 0o664, 0o755):
            target.chmod(mode)
            files.write_whole(target, b"again")
            assert target.stat().st_mode & 0o777 == mode
    finally:
        os.umask(umask)


def refused(path, content):
    """Whether a file that is there is refused, beforehand too, and stays."""
    with pytest.raises(ValueError, match="nothing can be written there"):
        files.check_place(path)
    with pytest.raises(PermissionError) as raised:
        files.write_whole(path, b"new")
    assert raised.value.filename == str(path)
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


def as_somebody(work):
    """Do the work in a process that is not root, whose exit code says whether it succeeded."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgid(65533)
                os.setuid(65534)
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no mode bits")
@pytest.mark.parametrize("folder_mode", [0o777, 0o1777, 0o555], ids=["open", "sticky", "closed"])
@pytest.mark.parametrize("mode", [0o444, 0o666], ids=["read-only", "writable"])
def test_a_file_that_may_not_be_written_is_not_replaced(folder_mode, mode):
    """It may lie in a folder in which anybody may put another one in its place."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        os.chmod(top, 0o755)
        folder = Path(top, "folder")
        folder.mkdir()
        path = folder / "page.html"
        path.write_bytes(b"old")
        path.chmod(mode)
        folder.chmod(folder_mode)
        ours = os.geteuid() != 0  # then both are of whoever runs the test
        if mode == 0o666 and (folder_mode == 0o777 or (ours and folder_mode == 0o1777)):
            as_somebody(lambda: (files.check_place(path), files.write_whole(path, b"new")))
            assert path.read_bytes() == b"new"
            assert path.stat().st_mode & 0o777 == mode
        else:
            as_somebody(lambda: refused(path, b"old"))
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="for root alone")
def test_root_leaves_a_file_to_its_owner(tmp_path):
    target = tmp_path / "page.html"
    target.write_bytes(b"old")
    os.chown(target, 65534, 65533)
    files.write_whole(target, b"new")
    assert (target.stat().st_uid, target.stat().st_gid) == (65534, 65533)


@pytest.mark.parametrize("exist", [True, False])
def test_two_outputs_are_two_places(tmp_path, monkeypatch, exist):
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder")
    os.symlink("folder", "way")
    os.symlink("folder/a.csv", "link.csv")
    if exist:
        Path("folder", "a.csv").touch()
    for other in ("folder/../folder/a.csv", "way/a.csv", "link.csv", tmp_path / "folder/a.csv"):
        with pytest.raises(ValueError, match=r"folder/a\.csv are one place; name a file for each"):
            files.check_places(["b.csv", "folder/a.csv", other])
        with pytest.raises(ValueError, match="is a file to be read"):
            files.check_places(["b.csv", other], ["folder/a.csv"])
    files.check_places(["folder/a.csv", "way/b.csv", "a.csv"], ["c.csv"])
