"""Files that are either written whole or not at all."""

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes, /) -> None:
    """Write `content` beside its place and move it there: a reader never sees half a file.

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
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
