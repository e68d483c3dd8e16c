"""Files: written whole or not at all, read once, and looked for on disk or downloaded."""

import errno
import glob
import gzip
import hashlib
import io
import os
import re
import stat
import tempfile
import time
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import Any

from bnlab import memory
from bnlab.errors import Note, Part, Setting

MESSAGE_LENGTH, SETTING_LENGTH = 800, 200  # letters
ABANDONED = 600.0  # seconds after which nobody is still writing a file that nobody has touched
CHUNK = 2**20
GZIP = b"\x1f\x8b"  # how such a file begins
READING = 6  # bytes that a byte of text takes at least: twice as it is, and four to be cut up
REMEDIES = dict.fromkeys(
    (errno.ENOSPC, errno.EDQUOT), "; make room there, or name a file on another disk"
)
DATA_DIR_VARIABLE = "BNLAB_DATA_DIR"
# Possessive: a long row of digits that is no number would otherwise take quadratic time.
NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?", re.ASCII)

PathLike = str | os.PathLike[str]
Parts = tuple[Part, ...]


def write_whole(path: PathLike, content: bytes, /) -> None:
    """Write `content` beside its place and move it there: a reader never sees half a file.

    Nor does one after a loss of power. What a killed process left beside its place is removed by a
    save ten minutes later. A link stays, and the file that it leads to is replaced; permissions and
    owner stay. What is no file, such as a pipe or /dev/stdout, is written to directly. An OSError
    names `path` and the reason.
    """
    try:
        target = place_of(path)
        if target is None:
            with open(path, "wb", opener=lambda name, _: os.open(name, _straight(name))) as stream:
                stream.write(content)
        else:
            _replace(target, content)
    except OSError as error:
        reason = f"{error.strerror or error}{REMEDIES.get(error.errno or 0, '')}"
        raise OSError(error.errno, reason, os.fspath(path)) from error


def place_of(path: PathLike, /) -> Path | None:
    """The file that a path leads to through its links; None where it leads to no file."""
    place = Path.cwd() / path
    try:
        kind = os.stat(place).st_mode  # raises for a loop of links
    except FileNotFoundError:  # there is nothing yet, perhaps where a link leads to
        kind = stat.S_IFREG
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        return None
    while place.is_symlink():
        folder = place.parent.resolve()
        if folder.is_relative_to("/proc"):  # an open file of a process, such as stdout
            return None
        place = folder / place.readlink()
    return place.parent.resolve() / place.name


def check_place(path: PathLike, /) -> None:
    """Raise a ValueError, before any work, where `write_whole` would fail."""
    try:
        place = place_of(path)
        if place is not None and (place.is_dir() or not place.parent.is_dir()):
            raise ValueError(f"{path}: no place for a file; make the folder first, or name a file")
        _check_permission(place or Path(path))
        if place is not None:
            tempfile.TemporaryFile(dir=place.parent).close()
    except OSError as error:
        raise ValueError(
            f"{path}: nothing can be written there ({error.strerror}). Name a file in a folder of "
            "yours"
        ) from error


def check_places(outputs: Sequence[PathLike], read: Sequence[PathLike] = (), /) -> None:
    """`check_place` of all outputs, which must differ from each other and from what is read."""
    for i, path in enumerate(outputs):
        if any(_same(path, source) for source in read):
            raise ValueError(f"{path} is a file to be read; give the output another name")
        for other in outputs[:i]:
            if _same(path, other):
                raise ValueError(f"{path} and {other} are one place; name a file for each")
        check_place(path)


def _same(path: PathLike, other: PathLike) -> bool:
    """Whether both lead to one place, which need not be there yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return place_of(path) == place_of(other) is not None


def _check_permission(target: Path) -> os.stat_result | None:
    """What is known of the file that is there, if any; a PermissionError if it must stay."""
    if not target.exists():
        return None
    here, folder = target.stat(), target.parent.stat()
    held = bool(folder.st_mode & stat.S_ISVTX)  # as in /tmp, where files are their owners'
    if held and hasattr(os, "geteuid"):
        held = os.geteuid() not in (0, here.st_uid, folder.st_uid) and stat.S_ISREG(here.st_mode)
    if held or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "a file that you may not write", str(target))
    return here


def _replace(target: Path, content: bytes) -> None:
    before = _check_permission(target)
    # Of this thread: two may write to one place.
    partial = target.with_name(f".{target.name}.{os.getpid()}{get_ident()}.partial")
    _remove_abandoned(target)
    try:
        partial.touch(0o666 if before is None else 0o600)
        partial.write_bytes(content)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        if before is not None:
            for owner in (before.st_uid, -1) if hasattr(os, "chown") else ():
                with suppress(OSError):  # only root may give files away
                    os.chown(partial, owner, before.st_gid)
            partial.chmod(stat.S_IMODE(before.st_mode))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _straight(path: str) -> int:
    """How what is no file is opened: nothing is made or cut off, and a log goes on at its end."""
    return os.O_WRONLY | (os.O_APPEND if Path(path).is_file() else 0)


def _remove_abandoned(target: Path) -> None:
    """Young ones stay: another process, here or on another machine, may be writing them."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        with suppress(OSError):  # another process was faster
            old = time.time() - path.stat().st_mtime > ABANDONED
            if old and path.suffixes[-2].removeprefix(".").isdecimal():
                path.unlink()


def write_text(path: PathLike, text: str, /) -> None:
    """Write text whole, as UTF-8, gzipped if the name ends in .gz: equal texts as equal bytes."""
    check_place(path)
    raw = text.encode()
    write_whole(path, gzip.compress(raw, mtime=0) if Path(path).suffix == ".gz" else raw)


def read_whole(path: PathLike, /) -> bytes:
    """The content of a file; FileNotFoundError if there is none, ValueError if it is a folder."""
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    return Path(path).read_bytes()


def unpacked(path: PathLike, /) -> bytes:
    """The content of a file or pipe, read once; decompressed if gzipped, whatever its name."""
    raw = read_whole(path)
    return decompressed(raw, str(path)) if raw.startswith(GZIP) else raw


def lasts(path: PathLike, /) -> bool:
    """Whether a path leads to a file that can be read again, not to a pipe or standard input."""
    lent = Path(path).absolute().as_posix().startswith(("/dev/stdin", "/dev/fd/", "/proc/"))
    return Path(path).is_file() and not lent


def decompressed(packed: bytes, source: str, /) -> bytes:
    """The content of a gzip file, measured before memory is taken; ValueError if it is no such."""
    size = 0
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            while part := file.read(CHUNK):
                size += len(part)
                memory.require(
                    READING * size,
                    task=f"{source}: reading the first {size:,} bytes of text",
                    remedy="decompress it and keep a part",
                )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{source}: not a complete gzip file ({error})") from error
    return gzip.decompress(packed)


@cache
def packaged(name: str, /) -> Mapping[str, Any]:
    """What a file in TOML says that is part of the package, such as "data/known/datasets.toml"."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file pinned by address and content."""

    name: str  # its path in a data folder and in the cache
    url: str
    sha256: str
    twins: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of files with the same table


def fetch(file: RemoteFile) -> Path:
    """Where `file` lies: in the folder BNLAB_DATA_DIR, in pooch's cache, or from now on there."""
    local = _in_data_folder(file)
    if local is not None:
        return local
    by_hand = (
        f"into a folder of your own as {file.name}, with the environment variable "
        f"{DATA_DIR_VARIABLE} naming that folder"
    )
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{file.name} has to be downloaded, which needs pooch: pip install bnlab[data]. Or get "
            f"{file.url} elsewhere and put it {by_hand}"
        ) from error
    target = Path(pooch.os_cache("bnlab")) / file.name
    logger = pooch.get_logger()
    level = logger.level
    # pooch prints a line before it tries; what goes wrong is told by the exception alone.
    logger.setLevel("WARNING")
    try:
        found = pooch.retrieve(
            file.url, known_hash=f"sha256:{file.sha256}", fname=target.name, path=target.parent
        )
    except OSError as error:
        if not _writable(target.parent):
            raise FileNotFoundError(
                f"{file.name} has to be downloaded, but the cache folder {target.parent} cannot be "
                f"written. Make it writable, or get {file.url} elsewhere and put it {by_hand}"
            ) from error
        raise FileNotFoundError(
            f"{file.name} is not on this machine and could not be downloaded "
            f"({type(error).__name__}). When online again it is fetched by itself; or get "
            f"{file.url} elsewhere and put it as {target}, or {by_hand}"
        ) from error
    finally:
        logger.setLevel(level)
    return Path(found)


def _in_data_folder(file: RemoteFile) -> Path | None:
    folder = os.environ.get(DATA_DIR_VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise ValueError(f"{DATA_DIR_VARIABLE}={folder} is no folder; correct or unset it")
    for name, sha256 in {file.name: file.sha256, **file.twins}.items():
        path = Path(folder) / name
        if path.is_file():
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            if found != sha256:
                raise ValueError(
                    f"{path} has SHA-256 {found}, not {sha256}: it is another version. Replace it "
                    f"by {file.url}"
                )
            return path
    return None


def _writable(folder: Path) -> bool:
    """Whether files can be put into `folder`, which need not exist yet."""
    while not os.path.lexists(folder):
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


@contextmanager
def told_briefly() -> Iterator[None]:
    """Keep what an error quotes to one printable line of moderate length."""
    try:
        yield
    except (ValueError, TypeError) as error:
        parts = error.args
        if all(isinstance(part, Part) for part in parts) and (told := _brief(parts)) != parts:
            error.args = told
        raise


def brief(text: str, /) -> Note:
    """Return one printable line of moderate length."""
    return Note(*_brief(Note(text).parts))


def _brief(parts: Parts) -> Parts:
    """The same of a message in parts. A setting is kept whole, or loses its value."""
    printable = [
        "".join(c if c.isprintable() else repr(c)[1:-1] for c in part)
        if isinstance(part, str)
        else Setting(part.name)
        if len(str(part)) > SETTING_LENGTH
        else part
        for part in _shortened(parts)
    ]
    return _shortened(tuple(printable))


def _shortened(parts: Parts) -> Parts:
    """Of each text its beginning, with the place, and its end, with the remedy."""
    texts = [part for part in parts if isinstance(part, str)]
    if sum(map(len, texts)) <= MESSAGE_LENGTH:
        return parts
    short = [text for text in texts if len(text) <= MESSAGE_LENGTH // len(texts)]
    most = (MESSAGE_LENGTH - sum(map(len, short))) // (len(texts) - len(short))
    return tuple(
        f"{part[: most // 2]} ... {part[-most // 2 + 5 :]}"
        if isinstance(part, str) and len(part) > most
        else part
        for part in parts
    )
