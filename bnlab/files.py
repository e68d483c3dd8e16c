"""Files that are written whole or not at all; what those that are read have in common."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MESSAGE_LENGTH = 800
# Possessive: a long row of digits that is no number would otherwise take quadratic time.
NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?", re.ASCII)


def write_whole(path: str | os.PathLike[str], content: bytes, /) -> None:
    """Write `content` beside its place and move it there: a reader never sees half a file.

    Nor does one after a loss of power: the content is on the disk before it is in its place.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "small.txt")
    >>> write_whole(target, b"done")
    >>> target.read_bytes()
    b'done'
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


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
