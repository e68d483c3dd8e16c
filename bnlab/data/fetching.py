"""Files that are too large for the package: looked for on disk, else downloaded and checked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DATA_DIR_VARIABLE = "BNLAB_DATA_DIR"


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
