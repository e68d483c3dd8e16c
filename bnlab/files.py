"""Files that are written whole or not at all; what those that are read have in common."""

import glob
import gzip
import io
import os
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

from bnlab import memory

MESSAGE_LENGTH = 800
ABANDONED = 600.0  # seconds after which nobody is still writing a file that nobody has touched
CHUNK = 2**20
READING = 6  # bytes that a byte of text takes at least: twice as it is, and four to be cut up
# Possessive: a long row of digits that is no number would otherwise take quadratic time.
NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?", re.ASCII)


def write_whole(path: str | os.PathLike[str], content: bytes, /) -> None:
    """Write `content` beside its place and move it there: a reader never sees half a file.

    Nor does one after a loss of power: the content is on the disk before it is in its place. What a
    killed process left beside its place is removed by a save ten minutes later.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "small.txt")
    >>> write_whole(target, b"done")
    >>> target.read_bytes()
    b'done'
    """
    target = Path(path)
    # Of this thread: two may write to one place.
    partial = target.with_name(f".{target.name}.{os.getpid()}{get_ident()}.partial")
    _remove_abandoned(target)
    try:
        partial.write_bytes(content)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(target: Path) -> None:
    """Young ones stay: another process, here or on another machine, may be writing them."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        with suppress(OSError):  # another process was faster
            old = time.time() - path.stat().st_mtime > ABANDONED
            if old and path.suffixes[-2].removeprefix(".").isdecimal():
                path.unlink()


def write_text(path: str | os.PathLike[str], text: str, /) -> None:
    """Write text whole, as UTF-8, gzipped if the name ends in .gz: equal texts as equal bytes.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "small.txt.gz")
    >>> write_text(target, "a,b")
    >>> decompressed(target.read_bytes(), "small")
    b'a,b'
    """
    raw = text.encode()
    write_whole(path, gzip.compress(raw, mtime=0) if Path(path).suffix == ".gz" else raw)


def read_whole(path: str | os.PathLike[str], /) -> bytes:
    """The content of a file; FileNotFoundError if there is none, ValueError if it is a folder.

    Examples
    --------
    >>> read_whole(".")
    Traceback (most recent call last):
    ...
    ValueError: . is a folder; name a file in it
    """
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    return Path(path).read_bytes()


def decompressed(packed: bytes, source: str, /) -> bytes:
    """The content of a gzip file, which is measured before memory is taken.

    Raises
    ------
    ValueError
        If it is no complete gzip file, or if there is not the memory to read its content.

    Examples
    --------
    >>> decompressed(gzip.compress(b"a,b"), "small.csv.gz")
    b'a,b'
    """
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


@contextmanager
def told_briefly() -> Iterator[None]:
    """Keep what a ValueError quotes from a file to one printable line of moderate length.

    Examples
    --------
    >>> with told_briefly():
    ...     raise ValueError("a cell with a" + chr(10) + "line break")
    Traceback (most recent call last):
    ...
    ValueError: a cell with a\\nline break
    """
    try:
        yield
    except ValueError as error:
        if brief(str(error)) == str(error):
            raise
        raise ValueError(brief(str(error))) from None


def brief(text: str, /) -> str:
    """One printable line of moderate length.

    Examples
    --------
    >>> brief("tab" + chr(9) + "é")
    'tab\\\\té'
    """
    return _shortened("".join(c if c.isprintable() else repr(c)[1:-1] for c in _shortened(text)))


def _shortened(text: str) -> str:
    """Its beginning, with the place, and its end, with the remedy."""
    if len(text) <= MESSAGE_LENGTH:
        return text
    return f"{text[: MESSAGE_LENGTH // 2]} ... {text[-MESSAGE_LENGTH // 2 + 5 :]}"
