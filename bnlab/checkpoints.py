"""What a long run keeps on disk, so that a killed one goes on where it was.

A checkpoint is one compressed file that is replaced whole: it holds arrays, and the identity of the
run they belong to. A file that is damaged, or that belongs to another run, is refused and left as
it is.
"""

import hashlib
import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab.files import write_whole
from bnlab.runs import Executor, Progress, collect, goes_on, workers

Arrays = dict[str, NDArray[Any]]

MAGIC = b"bnlab checkpoint 2\n"
EVERY_SECONDS = 10.0
SAVING_SHARE = 0.05  # of a run's time, at most, goes into writing checkpoints
IDENTITY = "__identity__"
MANY_PARTS = 100  # are put together, since together they may take less memory


class Checkpoint:
    """The file of one run: what it is called, what it must be, when it is due again.

    Parameters
    ----------
    path : where the file is, or will be
    identity : plain values that make this run what it is: method, settings, seed, target. A file
        with another identity is refused.

    Examples
    --------
    >>> import tempfile
    >>> checkpoint = Checkpoint(Path(tempfile.mkdtemp(), "run.ckpt"), {"seed": 1})
    >>> checkpoint.save({"draws": np.arange(3)})
    >>> checkpoint.load()["draws"]
    array([0, 1, 2])
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, object], /) -> None:
        self._path = Path(path)
        self._identity = json.loads(json.dumps(dict(identity)))
        self._due = time.monotonic() + EVERY_SECONDS
        other = self._path.exists() and not self._path.is_file()
        if other or not self._path.parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r}: name a file in a folder that exists")
        try:
            tempfile.TemporaryFile(dir=self._path.parent).close()
        except OSError as error:
            raise ValueError(
                f"checkpoint={str(path)!r}: nothing can be written there ({error.strerror}). Name "
                "a file in a folder of yours"
            ) from error

    def load(self) -> Arrays | None:
        """The arrays saved last; None where there is no file yet.

        Raises
        ------
        ValueError
            If the file is damaged, or is the checkpoint of another run. It stays as it is.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        digest, body = content[len(MAGIC) :][:32], content[len(MAGIC) + 32 :]
        if not content.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
            raise ValueError(
                f"{self._path} is damaged, or no checkpoint of this version. It was left as it is: "
                "move it away to begin anew, or name another file"
            )
        with np.load(io.BytesIO(body), allow_pickle=False) as members:
            arrays = {name: members[name] for name in members.files}
        self._check(json.loads(arrays.pop(IDENTITY).tobytes()))
        return arrays

    def save(self, arrays: Mapping[str, NDArray[Any]], /) -> None:
        """Replace the file, whole."""
        begun = time.monotonic()
        identity = np.frombuffer(json.dumps(self._identity).encode(), np.uint8)
        buffer = io.BytesIO()
        members: dict[str, Any] = {**arrays, IDENTITY: identity}
        np.savez_compressed(buffer, allow_pickle=False, **members)
        body = buffer.getvalue()
        write_whole(self._path, MAGIC + hashlib.sha256(body).digest() + body)
        now = time.monotonic()
        self._due = now + max(EVERY_SECONDS, (now - begun) / SAVING_SHARE)

    @property
    def due(self) -> bool:
        """Whether it is time to save again: every 10 seconds, or rarer where saving takes long."""
        return time.monotonic() >= self._due

    def _check(self, found: Mapping[str, object]) -> None:
        for name in [*self._identity, *found]:
            ours, theirs = self._identity.get(name), found.get(name)
            if ours != theirs:
                raise ValueError(
                    f"{self._path} is the checkpoint of another run: its {name} is {theirs!r}, "
                    f"here it is {ours!r}. It was left as it is: name another file, or repeat the "
                    "call that it belongs to"
                )


def end_to_end(parts: Sequence[Arrays], /) -> Arrays:
    """The arrays of all parts, by name, one after the other.

    Examples
    --------
    >>> end_to_end([{"log_p": np.zeros(2)}, {"log_p": np.ones(1)}])["log_p"]
    array([0., 0., 1.])
    """
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Finished:
    """Arrays (runs, ...) of the independent runs done so far, by name, as blocks of runs come in.

    Parameters
    ----------
    path : the file that keeps them; None for none
    identity : see `Checkpoint`
    join : how the arrays of blocks are put together

    Examples
    --------
    >>> finished = Finished()
    >>> jobs = [np.arange(3.0), np.arange(2.0)]
    >>> finished.go_on(lambda job: {"log_p": job}, jobs, 5, None, None)["log_p"]
    array([0., 1., 2., 0., 1.])
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        identity: Mapping[str, object] | None = None,
        /,
        join: Callable[[Sequence[Arrays]], Arrays] = end_to_end,
    ) -> None:
        self._file = None if path is None else Checkpoint(path, identity or {})
        saved = None if self._file is None else self._file.load()
        self._parts = [] if saved is None else [saved]
        self._join = join

    @property
    def count(self) -> int:
        """How many runs."""
        return sum(map(_length, self._parts))

    def go_on(
        self,
        work: Callable[[Any], Arrays],
        jobs: Sequence[Any],
        total: int,
        progress: Progress | None,
        executor: Executor | None,
        /,
    ) -> Arrays:
        """Add the runs of the jobs, in blocks; all of them up to a stop."""
        if jobs:
            tell = partial(self._tell, progress)
            try:
                with workers(executor, len(jobs)) as chosen:
                    collect(chosen.map(work, jobs), self._parts, _length, total, tell)
            finally:
                self._save()
        return self._join(self._parts)

    def _tell(self, progress: Progress | None, done: int, total: int, _: object) -> bool:
        if len(self._parts) > MANY_PARTS:
            self._parts[:] = [self._join(self._parts)]
        if self._file is not None and self._file.due:
            self._save()
        return goes_on(progress, done, total)

    def _save(self) -> None:
        if self._file is not None and self._parts:
            self._file.save(self._join(self._parts))


def _length(part: Arrays) -> int:
    return len(next(iter(part.values())))


def fingerprint(*arrays: NDArray[Any]) -> str:
    """A digest of arrays: equal for equal ones.

    Examples
    --------
    >>> fingerprint(np.zeros(2)) == fingerprint(np.zeros(3))
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def generator_states(rngs: Sequence[np.random.Generator], /) -> NDArray[np.uint8]:
    """The states of generators as bytes, of any bit generator of NumPy.

    Examples
    --------
    >>> rng, other = np.random.default_rng(1), np.random.default_rng(2)
    >>> restore_generators([other], generator_states([rng]))
    >>> bool(rng.random() == other.random())
    True
    """
    states = [rng.bit_generator.state for rng in rngs]
    return np.frombuffer(json.dumps(states, default=_plain).encode(), np.uint8)


def restore_generators(rngs: Sequence[np.random.Generator], states: NDArray[np.uint8], /) -> None:
    """Put generators into saved states.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> states, first = generator_states([rng]), rng.random()
    >>> restore_generators([rng], states)
    >>> bool(rng.random() == first)
    True
    """
    for rng, state in zip(rngs, json.loads(states.tobytes(), object_hook=_array), strict=True):
        rng.bit_generator.state = state


def _plain(value: Any) -> Any:
    """What JSON does not know: the arrays and NumPy integers in some states."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "values": value.tolist()}
    return value.item()


def _array(value: dict[str, Any]) -> Any:
    return np.array(value["values"], value["dtype"]) if "dtype" in value else value
