"""Bad calls: nonsense in the place of good values, made in a child process that may crash.

As a program it tells what became of so many calls of each callable of `test_bad_input.GOOD`:
python tests/nonsense.py 200 [part of a name ...]
"""

import collections
import copy
import dataclasses
import datetime
import decimal
import fractions
import json
import math
import os
import re
import signal
import sys
import tempfile
import time
import types
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse
from fuzzing import Dice

import bnlab as bn
from bnlab.running import Stopped

SECONDS, MEMORY = 30, 2 * 10**9
ALLOWED = (ValueError, TypeError, Stopped, FileNotFoundError, MemoryError)
# What Python, NumPy and numba say; in the place of it stand the package's own words.
RAW = re.compile(
    r"has no attribute|object is not|is not iterable|not subscriptable|unsupported operand|"
    r"bad operand|cannot convert|cannot be (interpreted|safely)|could not |too large to convert|"
    r"not supported between|must be real number|must be a? ?real|must be str|invalid literal|"
    r"inhomogeneous|ufunc|numba|njit|out of bounds|out of range|takes .* positional|"
    r"unexpected keyword|required (positional|keyword)|unpack|NoneType|unhashable|array element|"
    r"could not be broadcast|only integer|only length-1|Cannot cast|cannot cast|zero-size|"
    r"truth value of an array|"
    r"expected str|null (byte|character)|shape mismatch|shapes? .* not aligned|matmul|"
    r"Unable to allocate|division by zero|math domain|recursion|object cannot be|must match|"
    r"Exceeds the limit|not a sequence|argument must|arg \d|expected \d|codec can't|"
    r"not JSON|has no len|an integer is required|must be an? (integer|string|sequence|mapping)"
)


class Plain:
    """Nothing that anything asks for."""

    def __repr__(self) -> str:
        return "Plain()"


def _structured() -> np.ndarray:
    return np.zeros(3, [("a", int), ("b", float)])


# Good for nothing: whoever takes one of these as it is has not looked at it.
ALIEN: list[Callable[[], Any]] = [
    Plain,
    lambda: Plain,
    lambda: object(),
    lambda: b"bytes",
    lambda: bytearray(b"x"),
    lambda: 1j,
    lambda: {1, 2},
    lambda: frozenset("ab"),
    lambda: iter(Plain, 1),
    lambda: Ellipsis,
    lambda: NotImplemented,
    lambda: ValueError("x"),
    lambda: types.SimpleNamespace(n=3),
    lambda: np.array(None),
    lambda: np.array([None, Plain()]),
    lambda: np.array(1j),
    lambda: np.full(5, 1j),
    _structured,
    lambda: np.array(["2020-01-01"], "datetime64[D]"),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.timedelta64(3, "s"),
    lambda: datetime.date(2020, 1, 1),
    lambda: [[0, 1], ["x"]],
    lambda: [Plain()],
    lambda: {"a": Plain()},
    lambda: {Plain(): 1},
    lambda: scipy.sparse.eye(3).tocsr(),
    lambda: np.ma.masked_equal([0, 1, 2, 3, 4], 2),
    lambda: np.random,
    lambda: np.random.RandomState(1),
    lambda: pd.DataFrame({"a": ["x", "y"], "b": [Plain(), None]}),
    lambda: np.dtype(int),
    lambda: bn.Data,
    lambda: bn.ScoreTable,
    lambda: bn.BDeu,
    lambda: bn.Linear,
    lambda: [b"x", 1j],
]
# Good here or there.
ANY: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: False,
    lambda: "",
    lambda: "abc",
    lambda: "0",
    lambda: "a\nb",
    lambda: "\0",
    lambda: "x" * 5000,
    lambda: "no/such/folder/file.csv",
    lambda: ".",
    lambda: "é\u202e🏳️‍🌈",
    lambda: "\ud800",
    lambda: 0,
    lambda: -1,
    lambda: 1,
    lambda: 2,
    lambda: 7,
    lambda: 63,
    lambda: 64,
    lambda: 10**5,
    lambda: 10**9,
    lambda: 2**31,
    lambda: 2**63 - 1,
    lambda: 2**63,
    lambda: -(2**63),
    lambda: 10**30,
    lambda: -(10**30),
    lambda: 10**400,
    lambda: 0.5,
    lambda: -0.5,
    lambda: 1.0,
    lambda: 1e-300,
    lambda: 5e-324,
    lambda: 1e308,
    lambda: -1e308,
    lambda: math.nan,
    lambda: math.inf,
    lambda: -math.inf,
    lambda: np.float32("nan"),
    lambda: np.int8(-128),
    lambda: np.int8(127),
    lambda: np.uint64(2**64 - 1),
    lambda: np.bool_(True),
    lambda: np.str_("abc"),
    lambda: np.array(3),
    lambda: np.array(0.5),
    lambda: decimal.Decimal("0.5"),
    lambda: fractions.Fraction(1, 3),
    lambda: fractions.Fraction(10**400, 3),
    lambda: [],
    lambda: (),
    lambda: {},
    lambda: set(),
    lambda: [0],
    lambda: [None],
    lambda: ["a"],
    lambda: [""],
    lambda: [math.nan, 1.0],
    lambda: [-1, 0, 1],
    lambda: [10**30],
    lambda: [0.5, 1.5],
    lambda: [[]],
    lambda: [[[0]]],
    lambda: [(0, 1)],
    lambda: [(0, 9)],
    lambda: {"a": 1},
    lambda: {0: [1]},
    lambda: {0: None},
    lambda: range(5),
    lambda: (x for x in [1, 2]),
    lambda: iter([]),
    lambda: lambda *a, **k: None,
    lambda: lambda *a, **k: "x",
    lambda: lambda *a, **k: math.nan,
    lambda: np.zeros(0),
    lambda: np.zeros(5),
    lambda: np.zeros((5, 5), int),
    lambda: np.ones((5, 5), int),
    lambda: np.zeros((2, 3, 5), int),
    lambda: np.zeros((0, 5), int),
    lambda: np.zeros((5, 0), int),
    lambda: np.full(5, -1),
    lambda: np.full(5, 2**62),
    lambda: np.full(5, math.nan),
    lambda: np.full((5, 5), math.nan),
    lambda: np.full((5, 5), math.inf),
    lambda: np.array([2, 4, 1, 0, 0]),
    lambda: np.array([1, 0, 0, 0, 0]),
    lambda: np.array([127] * 5, np.int8),
    lambda: np.array(["a", "b"]),
    lambda: np.array([0.5, 1.5]),
    lambda: np.arange(5),
    lambda: np.arange(5, dtype=np.uint64) + np.uint64(2**63),
    lambda: np.zeros(100),
    lambda: np.zeros((70, 70), int),
    lambda: pd.Series([0, 1, 2]),
    lambda: pd.DataFrame({"a": [0, 1], "b": [1, 0]}),
    lambda: nx.DiGraph([(0, 1), (1, 0)]),
    lambda: np.random.default_rng(1),
    lambda: bn.BDeu(),
    lambda: bn.Uniform(),
    lambda: bn.Linear(3),
    lambda: bn.Moves(),
    lambda: bn.AIS(bn.Linear(3)),
    lambda: bn.SMC(particles=3),
    lambda: bn.EqualWidth(2),
    lambda: bn.Run("x"),
    lambda: bn.Estimate(0.0, 0.0, "exact"),
    lambda: bn.Data.from_arrays([[0, 1], [1, 0]]),
    lambda: bn.hidden.HiddenModel([0, 1], [2, 2], hidden=[0]),
]


def nonsense(good: Any, dice: Dice) -> tuple[Any, bool]:
    """A value in the place of a good one, and whether it is good for nothing."""
    kind = dice.below(10)
    if kind < 3:
        return dice.pick(ALIEN)(), True
    if kind < 6 or good is None:
        value = dice.pick(ANY)()
        return (None if hasattr(value, "map") else value), False  # as an executor has
    return spoilt(good, dice), False


def spoilt(good: Any, dice: Dice) -> Any:
    """A value much like a good one."""
    if isinstance(good, np.ndarray):
        return _spoilt_array(good, dice)
    if isinstance(good, list | tuple):
        return _spoilt_list(good, dice)
    if isinstance(good, dict):
        return _spoilt_dict(good, dice)
    if isinstance(good, bool):
        return dice.pick(["yes", "", 2, None, 0.0, [True], np.zeros(2, bool)])
    if isinstance(good, int | float | np.number):
        return dice.pick(
            [
                -good,
                -good - 1,
                good + 0.5,
                good * 10**9,
                good * 1e300,
                [good],
                (good,),
                str(good),
                np.full(2, good),
                complex(good),
                good + 10**18,
                good + 63,
            ]
        )
    if isinstance(good, str):
        return dice.pick(
            [
                good + "x",
                good.upper() + " ",
                good.encode(),
                [good],
                (good, good),
                {good},
                good[:-1],
                {good: 1},
                good + "\n",
            ]
        )
    if dataclasses.is_dataclass(good) and not isinstance(good, type):
        return _spoilt_record(good, dice)
    if callable(good):
        return dice.pick(ANY)() if dice.one_in(2) else (lambda *a, **k: dice.pick(ANY)())
    return dice.pick(ANY)()


def _spoilt_array(good: np.ndarray, dice: Dice) -> Any:
    return dice.pick(
        [
            lambda: good[:-1],
            lambda: good[1:],
            lambda: good[None],
            lambda: good[..., None],
            lambda: good.T[:-1],
            lambda: np.concatenate([good, good]),
            lambda: good.astype(object),
            lambda: good.astype(str),
            lambda: good.astype(complex),
            lambda: good.astype(float) + 0.5,
            lambda: np.full(good.shape, math.nan),
            lambda: np.full(good.shape, -math.inf),
            lambda: np.full(good.shape, math.inf),
            lambda: -good.astype(float) - 1,
            lambda: np.full(good.shape, -1),
            lambda: np.full(good.shape, 2**62),
            lambda: np.full(good.shape, 127, np.int8),
            lambda: np.full(good.shape, 2**64 - 1, np.uint64),
            lambda: np.random.default_rng(dice.below(99)).integers(0, 40, good.shape),
            lambda: np.random.default_rng(dice.below(99)).integers(-9, 2**40, good.shape),
            lambda: (
                np.random.default_rng(dice.below(99)).permutation(good.ravel()).reshape(good.shape)
            ),
            lambda: np.ma.masked_equal(good, good.flat[0]) if good.size else good[None],
            lambda: good.astype("datetime64[s]") if good.dtype.kind == "i" else good[None, None],
            lambda: [*good.tolist(), None],
            lambda: [good, good],
            lambda: np.zeros((0, *good.shape[1:]), good.dtype),
            lambda: np.zeros((*good.shape[:-1], 0), good.dtype),
            lambda: pd.Series(good.ravel()),
            lambda: _one_changed(good, dice, math.nan),
            lambda: _one_changed(good, dice, -1),
            lambda: _one_changed(good, dice, 10**6),
            lambda: _one_changed(good, dice, 0.5),
        ]
    )()


def _one_changed(good: np.ndarray, dice: Dice, value: float) -> np.ndarray:
    changed = good.astype(float) if isinstance(value, float) else good.copy()
    if changed.size and changed.dtype.kind in "if":
        changed.flat[dice.below(changed.size)] = value
    return changed


def _spoilt_list(good: Any, dice: Dice) -> Any:
    made = list(good)
    place = dice.below(len(made)) if made else 0
    if made and dice.one_in(2):
        made[place] = nonsense(made[place], dice)[0]
    else:
        made = dice.pick([made[:-1], made + made, [*made, None], [made], made[::-1], ["x", *made]])
    return dice.pick([list, tuple, list])(made)


def _spoilt_dict(good: dict[Any, Any], dice: Dice) -> Any:
    if not good or dice.one_in(3):
        return dice.pick(
            [{None: 1}, {"x": 3}, {1: "x"}, list(good.items()), {(): []}, {0: Plain()}]
        )
    key = dice.pick(list(good))
    return {**good, key: nonsense(good[key], dice)[0]}


def _spoilt_record(good: Any, dice: Dice) -> Any:
    """A copy with another field, past the constructor: whatever made it, it is what it is."""
    if dice.one_in(4):
        return dice.pick([type(good), [good], (good, good), {"x": good}])
    changed = copy.copy(good)
    names = [field.name for field in dataclasses.fields(good) if field.init]
    if not names:
        return type(good)
    name = dice.pick(names)
    try:
        return dataclasses.replace(good, **{name: nonsense(getattr(good, name), dice)[0]})
    except Exception:
        return dice.pick([None, type(changed)])


def fingerprint(value: Any, depth: int = 4) -> Any:
    """What a refused call must leave as it was."""
    if isinstance(value, np.ndarray):
        plain = value.dtype.kind not in "OM"
        return value.shape, zlib.crc32(np.ascontiguousarray(value).tobytes()) if plain else 0
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    if depth and isinstance(value, list | tuple):
        return [fingerprint(item, depth - 1) for item in value[:50]]
    if depth and isinstance(value, dict):
        return [fingerprint(item, depth - 1) for item in value.values()]
    if depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return [fingerprint(getattr(value, name, None), depth - 1) for name in names]
    return None


Case = tuple[str, str, Any, bool]  # the parameter, and what stands in its place


def _is_run(value: Any) -> bool:
    """Whether a call got as far as a function of the caller's."""
    return callable(value) or (isinstance(value, dict) and any(map(callable, value.values())))


def verdict(call: Callable[[], Any], arguments: dict[str, Any], case: Case) -> str:
    """What is wrong with a call, or nothing: "kind: details"."""
    before = fingerprint(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call()
    except ALLOWED as error:
        text = str(error)
        what = type(error).__name__
        if not text or len(text) > 1000 or "\n" in text:
            return f"not one line: {what}: {text[:300]!r}"
        if RAW.search(re.sub("'(numpy|numba)'", "", text)):  # keys of Run.versions
            return f"raw text: {what}: {text[:300]}"
        if fingerprint(arguments) != before and not _is_run(case[2]):
            return f"changed an argument: {what}: {text[:300]}"
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]!r}"
    return "accepted" if case[3] else ""


def cases(name: str, good: dict[str, Any], count: int, seed: int) -> Iterator[Case]:
    """So many bad calls of a callable, parameter by parameter."""
    dice = Dice(seed, zlib.crc32(name.encode()))
    parameters = [parameter for parameter in good if parameter != "self"]
    for number in range(count):
        parameter = parameters[number % len(parameters)]
        value, alien = nonsense(good[parameter], dice)
        yield name, parameter, value, alien


def shown(value: Any) -> str:
    try:
        return " ".join(repr(value).split())[:100]
    except Exception:
        return type(value).__name__


def failures(
    name: str,
    good: Callable[[], dict[str, Any]],
    made: Callable[[str, dict[str, Any]], Any],
    count: int,
    seed: int = 1,
) -> list[tuple[str, str, str]]:
    """(parameter, value, what is wrong) of the calls that went wrong or crashed."""
    found: list[tuple[str, str, str]] = []
    first = 0
    while first < count:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if not child:
            os.close(reading)
            _work(name, good, made, count, seed, first, writing)
        os.close(writing)
        with os.fdopen(reading) as stream:
            lines = stream.readlines()
        _, status = os.waitpid(child, 0)
        last: list[Any] = []
        for line in lines:
            last = json.loads(line)
            if len(last) == 4:
                found.append((last[1], last[2], last[3]))
        if lines and last[0] == "end":
            return found
        if not last:
            return [*found, ("", "", f"the child ended with status {status}")]
        late = status in (signal.SIGPROF, signal.SIGALRM)
        what = "late" if late else f"crash: status {status}"
        found.append((last[1], last[2], what))
        first = last[0] + 1
    return found


def _work(name: str, good: Any, made: Any, count: int, seed: int, first: int, writing: int) -> None:
    import resource  # which not every system has

    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm") as sizes:
            used = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        sys.stdout = sys.stderr = open(os.devnull, "w")
        out = os.fdopen(writing, "w", buffering=1)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            arguments = good()
            for number, case in enumerate(cases(name, arguments, count, seed)):
                if number < first:
                    continue
                parameter, value = case[1], case[2]
                text = shown(value)
                out.write(json.dumps([number, parameter, text]) + "\n")
                changed = good() | {parameter: value}
                others = {key: one for key, one in changed.items() if key != parameter}
                signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of work, on a busy machine too
                signal.alarm(20 * SECONDS)  # asleep for ever
                wrong = verdict(lambda: made(name, changed), others, case)  # noqa: B023
                if wrong:
                    out.write(json.dumps([number, parameter, text, wrong]) + "\n")
            out.write(json.dumps(["end"]) + "\n")
            out.close()
    except BaseException as error:
        line = json.dumps([count, "", "", f"the child itself: {error!r}"])
        os.write(writing, f"{line}\n".encode())
    finally:
        os._exit(0)


def main(count: int, parts: list[str]) -> None:
    from test_bad_input import GOOD, arguments_of, made

    kinds: collections.Counter[str] = collections.Counter()
    calls = 0
    for name in GOOD:
        if parts and not any(part in name for part in parts):
            continue
        start = time.perf_counter()
        found = failures(name, partial(arguments_of, name), made, count)
        calls += count
        kinds.update(wrong.partition(":")[0] for _, _, wrong in found)
        print(f"{name}: {len(found)} of {count} in {time.perf_counter() - start:.1f} s", flush=True)
        for parameter, value, wrong in found:
            print(f"   {parameter}={value}  ->  {wrong}")
    print(f"{sum(kinds.values())} of {calls}: {dict(kinds.most_common())}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
