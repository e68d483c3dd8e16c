"""`bnlab labs`: the labs in a folder of the user's, without answers, open in JupyterLab."""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from bnlab.cli.terminal import DONE, FAILED, Failure, need
from bnlab.files import write_whole

FIRST = "00_start_here.ipynb"
RECORD = ".bnlab-labs.json"  # what was copied: a file that still is so may be replaced
KINDS = ("*.ipynb", "*.md", "papers/*.ipynb")  # with the pictures that they show


def add_options(one: argparse.ArgumentParser, /) -> None:
    """The options of this command."""
    one.add_argument(
        "folder", nargs="?", type=Path, default=Path("bnlab-labs"), help="default: ./bnlab-labs"
    )
    one.add_argument("--fresh", action="store_true", help="copy to a new folder beside an old one")
    one.add_argument("--no-open", action="store_true", help="copy, and do not start JupyterLab")


def run(options: argparse.Namespace, /) -> int:
    """Copy, say what was kept, and open JupyterLab."""
    if not options.no_open:
        need("jupyterlab", "opening the labs")
    folder = _unused(options.folder) if options.fresh else options.folder
    source = shipped()
    if not (folder.is_dir() and folder.samefile(source)):
        try:
            copied, kept = copy_to(source, folder)
        except PermissionError as error:
            raise Failure(
                f"{folder}: {error.strerror}; name a folder of yours: bnlab labs FOLDER"
            ) from error
        print(f"{folder}: {copied} files copied")
        if kept:
            print(f"kept as you have changed them: {', '.join(kept)} (--fresh copies all anew)")
    if options.no_open:
        return DONE
    typed = options.typed
    return _jupyter(folder, typed[typed.index("--") + 1 :] if "--" in typed else [])


def shipped() -> Path:
    """The folder of the labs: beside the package in a clone, else among the installed files."""
    clone = Path(__file__).resolve().parents[2] / "notebooks"
    if (clone / FIRST).is_file():
        return clone
    try:
        listed = files("bnlab") or []
    except PackageNotFoundError:
        listed = []
    for file in listed:
        if file.name == FIRST and Path(str(file.locate())).is_file():
            return Path(str(file.locate())).resolve().parent
    raise Failure("the labs are not installed: pip install --force-reinstall bnlab, or use a clone")


def copy_to(source: Path, folder: Path, /) -> tuple[int, list[str]]:
    """Copy what is new or still as it was copied; the number of files, and the names of others."""
    record = _record(folder)
    copied, kept = 0, []
    try:
        for name, content in sorted(_contents(source).items()):
            target, digest = folder / name, hashlib.sha256(content).hexdigest()
            here = hashlib.sha256(target.read_bytes()).hexdigest() if target.exists() else None
            if here not in (None, digest, record.get(name)):
                kept.append(name)
                continue
            if here != digest:
                target.parent.mkdir(parents=True, exist_ok=True)
                write_whole(target, content)
                copied += 1
            record[name] = digest
    finally:
        if folder.is_dir():
            write_whole(folder / RECORD, json.dumps(record, indent=1).encode())
    return copied, kept


def _contents(source: Path) -> dict[str, bytes]:
    """What each copy holds: of a notebook the students' copy."""
    from bnlab.course.copies import pictures_in, student_copy, written

    found = {}
    for path in (path for kind in KINDS for path in source.glob(kind)):
        content = path.read_bytes()
        if path.suffix == ".ipynb":
            content = written(student_copy(json.loads(content)))
        found[path] = content
        for picture in pictures_in(content.decode()):
            found[path.parent / picture] = (path.parent / picture).read_bytes()
    return {path.relative_to(source).as_posix(): content for path, content in found.items()}


def _record(folder: Path) -> dict[str, str]:
    """What this command has copied before; a record that somebody has spoilt counts for nothing."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    known = isinstance(found, dict)
    return {str(name): str(digest) for name, digest in found.items()} if known else {}


def _unused(folder: Path) -> Path:
    """The folder, or the first of folder-2, folder-3, ... that is not there."""
    tried, number = folder, 1
    while tried.exists():
        number += 1
        tried = folder.with_name(f"{folder.name}-{number}")
    return tried


def _jupyter(folder: Path, options: list[str]) -> int:
    """Run JupyterLab until it ends; Ctrl-C is for JupyterLab, which asks before it shuts down."""
    command = [sys.executable, "-m", "jupyterlab", FIRST, *options]
    # Pictures without a network, too: BokehJS comes from the installed package.
    variables = {"BOKEH_RESOURCES": "inline", **os.environ}
    with subprocess.Popen(command, cwd=folder, env=variables) as lab:
        while True:
            try:
                return DONE if lab.wait() == 0 else FAILED
            except KeyboardInterrupt:
                continue
