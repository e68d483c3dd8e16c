"""Checkpoint files for resuming interrupted runs.

A checkpoint is one compressed file that is replaced whole: it holds arrays, and the identity of the
run they belong to. A file that is damaged, or that belongs to another run, is refused and left as
it is.
"""

import hashlib
import io
import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bnlab._version import __version__
from bnlab.errors import InputError, Setting
from bnlab.files import brief, check_place, write_whole
from bnlab.graphs import check_dags

Arrays = dict[str, NDArray[Any]]

MAGIC = b"bnlab checkpoint 2\n"
EVERY_SECONDS = 10.0
SAVING_SHARE = 0.05  # of a run's time, at most, goes into writing checkpoints
IDENTITY = "__identity__"
FOLDER: ContextVar[str | None] = ContextVar("FOLDER", default=None)  # of runs that name no file
MOST_NATS, MOST_COUNTED, MOST_SECONDS = 1e15, 2**53, 1e12
# What reading what is no array of ours, or no state of a generator, may end with.
AMISS = (ValueError, KeyError, TypeError, IndexError, OverflowError, AttributeError)


class Kept(NamedTuple):
    """What a checkpoint must hold under one name."""

    dtype: DTypeLike
    shape: tuple[int | str, ...]  # a name stands for the same length wherever it stands
    low: float = -math.inf  # the least value; nan lies nowhere
    high: float = math.inf
    holds: Callable[[NDArray[Any]], object] | None = None  # what else must be true of the array


def nats(*shape: int | str) -> Kept:
    """Logarithms of weights, none of them infinite."""
    return Kept(np.float64, shape, -MOST_NATS, MOST_NATS)


def counts(*shape: int | str) -> Kept:
    """Numbers of things, from 0."""
    return Kept(np.int64, shape, 0, MOST_COUNTED)


def tallies(*shape: int | str) -> Kept:
    """Numbers (..., 2) of moves: those tried, and of these the accepted ones."""
    return counts(*shape)._replace(holds=lambda a: (a[..., 1] <= a[..., 0]).all())


def orders_of(n: int, *shape: int | str) -> Kept:
    """Orders (..., n) of n nodes."""
    return Kept(np.int64, (*shape, n), 0, n - 1, lambda a: (np.sort(a) == np.arange(n)).all())


def dags_of(n: int, *shape: int | str) -> Kept:
    """DAGs (..., n) of n nodes, as parent masks."""
    return Kept(np.int64, (*shape, n), 0, holds=lambda a: check_dags(a).size == a.size)


def alike(found: ArrayLike, expected: ArrayLike, /) -> bool:
    """Whether logarithms, in nats, are the same up to rounding."""
    return np.allclose(found, expected, rtol=1e-9, atol=1e-6)


GENERATORS = Kept(np.uint8, ("bytes",))
SECONDS = Kept(np.float64, (), 0, MOST_SECONDS)


def check(arrays: Arrays, /, kept: Mapping[str, Kept], **most: int) -> None:
    """Raise a ValueError for arrays that are not as they must be; lengths are `most` at most."""
    if arrays.keys() != kept.keys():
        raise ValueError(f"it holds {', '.join(arrays)}, and should hold {', '.join(kept)}")
    lengths: dict[str, int] = {}
    for name, (dtype, shape, low, high, holds) in kept.items():
        array = arrays[name]
        fits = array.dtype == dtype and array.ndim == len(shape)
        for length, wanted in zip(array.shape, shape, strict=False):
            if isinstance(wanted, str):
                fits &= length == lengths.setdefault(wanted, length) <= most.get(wanted, length)
            else:
                fits &= length == wanted
        if not fits:
            should = f"{np.dtype(dtype)} ({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
            limits = " and ".join(f"{limited} <= {n}" for limited, n in most.items())
            raise ValueError(
                f"{name} is {array.dtype} {array.shape}, and should be {should}"
                + (f" with {limits}" if limits else "")
            )
        amiss = (array < low) | (array > high)
        if holds is None:  # else that says where nan may stand
            amiss |= array != array
        if amiss.any():
            raise ValueError(f"{name} has values outside {low} to {high}")
        if holds is not None and not holds(array):
            raise ValueError(f"{name} has values that cannot be")


class Checkpoint:
    """The file of one run, and its identity, without which a file there is refused."""

    @classmethod
    def at(
        cls, path: str | os.PathLike[str] | None, identity: Mapping[str, object], /
    ) -> "Checkpoint | None":
        """Return the checkpoint at a path; without one that in FOLDER, or None."""
        if path is None and (folder := FOLDER.get()) is not None:
            named = json.dumps(dict(identity), default=_digest).encode()
            path = Path(folder, hashlib.sha256(named).hexdigest())
        return None if path is None else cls(path, identity)

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, object], /) -> None:
        self._path = Path(path)
        self._identity = json.loads(json.dumps(dict(identity), default=_digest))
        self._due = time.monotonic() + EVERY_SECONDS
        other = self._path.exists() and not self._path.is_file()
        if other or not self._path.parent.is_dir():
            raise InputError(
                Setting("checkpoint", str(path)), ": name a file in a folder that exists"
            )
        try:
            check_place(path)
        except ValueError as error:
            raise ValueError(f"checkpoint: {error}") from error

    def load(self, restore: Callable[[Arrays], Any] = dict, /) -> Any:
        """What `restore` makes of the arrays saved last; None where there is no file yet."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        digest, body = content[len(MAGIC) :][:32], content[len(MAGIC) + 32 :]
        if not content.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
            raise self._refused("is damaged, or no checkpoint of this version")
        try:
            with np.load(io.BytesIO(body), allow_pickle=False) as members:
                arrays = {name: members[name] for name in members.files}
            identity = dict(json.loads(arrays.pop(IDENTITY).tobytes()))
        except AMISS as error:
            raise self._refused(f"does not hold what this run saves ({error})") from error
        self._check(identity)
        try:
            return restore(arrays)
        except AMISS as error:
            raise self._refused(f"does not hold what this run saves ({error})") from error

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

    def _refused(self, why: str) -> ValueError:
        remedy = "move it away to begin anew, or name another file"
        return ValueError(brief(f"{self._path} {why}. It was left as it is: {remedy}"))

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
    """The arrays of all parts, by name, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def identity(method: str, /, **parts: object) -> dict[str, object]:
    """Return what identifies a run in its checkpoint; digests are taken when there is one."""
    return {"bnlab": __version__, "method": method, **parts}


def fingerprint(*arrays: NDArray[Any]) -> str:
    """A digest of arrays: equal for equal ones."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def generator_states(rngs: Sequence[np.random.Generator], /) -> NDArray[np.uint8]:
    """The states of generators as bytes, of any bit generator of NumPy."""
    states = [rng.bit_generator.state for rng in rngs]  # some hold arrays, or NumPy integers
    return np.frombuffer(json.dumps(states, default=methodcaller("tolist")).encode(), np.uint8)


def restore_generators(rngs: Sequence[np.random.Generator], states: NDArray[np.uint8], /) -> None:
    """Put generators into saved states."""
    for rng, state in zip(rngs, json.loads(states.tobytes()), strict=True):
        rng.bit_generator.state = state


def _digest(part: Any) -> str:
    """What stands for an array, a table or scores in an identity."""
    return fingerprint(part) if isinstance(part, np.ndarray) else str(part.fingerprint)
