"""The wall: what a caller gives is checked once, where it comes in, against what is asked for.

The annotations of a public function say what it takes. `checked` holds the arguments against them,
so that one fault has one wording, whichever function finds it. What cannot be said by a type (a
range, a shape, a graph without cycles) the functions check themselves.
"""

import inspect
import math
import operator
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, update_wrapper
from itertools import chain, repeat
from numbers import Real
from typing import Annotated, Any, Literal, SupportsIndex, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.errors import InputError, Setting
from bnlab.files import told_briefly

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Thing = TypeVar("Thing", bound=Callable[..., Any])
Class = TypeVar("Class")

MAX_INTEGER = 2**63 - 1
MAX_NAME = 255  # bytes of a file's name
MAX_SHOWN = 60  # characters of a value
MAX_LOOKED_AT = 100_000  # elements of a list


@dataclass(frozen=True)
class Range:
    """What Annotated[float, Range(0, 1)] takes: an end with a square bracket is in it, too."""

    low: float
    high: float
    ends: str = "()"
    advice: str = ""

    def __contains__(self, number: float) -> bool:
        at_low = number == self.low and self.ends[0] == "["
        at_high = number == self.high and self.ends[1] == "]"
        return at_low or at_high or self.low < number < self.high

    def __str__(self) -> str:
        return f"{self.ends[0]}{self.low:g}, {self.high:g}{self.ends[1]}{self.advice}"


# Integers, with the least and the largest that each may be.
Natural = Annotated[int, 0]
Count = Annotated[int, 1]
Several = Annotated[int, 2]
Share = Annotated[float, Range(0, 1)]
Positive = Annotated[float, Range(0, math.inf)]

# NumPy 2.5 made names of their own of ArrayLike and NDArray, which were abbreviations before.
_ARRAY_LIKE = frozenset(get_args(ArrayLike) or [ArrayLike])

# What people call an instance, where that is not its class, and where one comes from.
_CALLED = {"Score": "score", "Prior": "prior", "Executor": "executor"}
_REMEDIES = {
    "AIS": "only runs of AIS() will do",
    "BayesNet": "make one (load_network, read_bif)",
    "Data": "make it a Data (read_csv, from_frame, from_arrays)",
    "DataFrame": "give a pandas DataFrame",
    "DiGraph": "give a networkx DiGraph, not an undirected graph",
    "Draws": "draw some (sample_dags, ...); of BestDags, pass as_draws()",
    "Executor": "pass one that has map, such as concurrent.futures.ThreadPoolExecutor()",
    "GaussianNet": "make one (GaussianNet.fit, GaussianNet.random_coefficients)",
    "HiddenModel": "pass a HiddenModel(parents, arities, hidden=...)",
    "Moves": "pass Moves(swap=1, adjacent=1)",
    "OrderPosterior": "make one (order_posterior)",
    "DagPosterior": "make one (dag_posterior)",
    "Prior": "pass an instance, such as Fair()",
    "Schedule": "pass an instance, such as Linear(steps=100)",
    "Score": "pass an instance, such as BDeu(ess=1.0)",
    "ScoreTable": "pass a ScoreTable (of score_families, or a posterior's table)",
}


class _Refused(Exception):
    """Why a value does not do, without its name."""


def checked(thing: Thing, /) -> Thing:
    """A function, or a class and its methods, whose arguments are held against annotations."""
    if not inspect.isclass(thing):
        return _wrapped(thing) if inspect.isfunction(thing) else thing
    for name, member in list(vars(thing).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(member, classmethod):
            setattr(thing, name, classmethod(_wrapped(member.__func__)))
        elif inspect.isfunction(member):
            setattr(thing, name, _wrapped(member))
    return thing


@typing.dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = False, repr: bool = True) -> Callable[[type[Class]], type[Class]]:
    """Make a class a frozen dataclass with slots, whose arguments are `checked`."""
    return lambda kind: checked(dataclass(frozen=True, slots=True, eq=eq, repr=repr)(kind))


def shown(value: object, /) -> str:
    """Return a value for a message: one short line."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None or isinstance(value, str | bytes | Real | complex | list | tuple | set | dict):
        try:
            text = " ".join(repr(value).split())
        except Exception:
            text = type(value).__name__
        return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
    shape = f" {value.shape}" if isinstance(value, np.ndarray) else ""
    return f"{type(value).__name__}{shape}"


def check_counts(*, least: int = 1, **counts: int) -> tuple[int, ...]:
    """Return the counts as Python's integers, or raise a ValueError for the first below `least`."""
    return tuple(conforming(name, count, Annotated[int, least]) for name, count in counts.items())


def real(value: object, /) -> float:
    """Return a number as a float; nan, which lies in no range, for what is no real number."""
    if isinstance(value, Real) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return float(value)
    return math.nan


def _wrapped(function: Callable[..., Any]) -> Any:
    plain = inspect.unwrap(function)
    code = plain.__code__
    names = code.co_varnames[: code.co_argcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & 4 else ""

    @cache
    def hints() -> dict[str, Any]:
        return {name: _hint(function, name) for name in function.__annotations__}

    def held(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        known = hints()
        for name in kwargs:
            if name in known:
                kwargs[name] = conforming(name, kwargs[name], known[name])
        return tuple(
            conforming(name, value, known[name]) if name in known else value
            for name, value in zip(chain(names, repeat(rest)), args, strict=False)
        )

    too_much = f"{plain.__qualname__}: memory does not suffice; ask for less at once"
    briefly = told_briefly

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            with briefly():
                return function(*held(args, kwargs), **kwargs)
        except MemoryError as error:
            raise MemoryError(too_much) from error

    # It gets the globals of the function's module, where doctest looks for it.
    code, names_of, inner = wrapper.__code__, plain.__globals__, wrapper.__closure__
    made: Any = update_wrapper(types.FunctionType(code, names_of, closure=inner), function)
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    made.__signature__ = signature.replace(
        parameters=[one.replace(annotation=_Spelled(one.annotation)) for one in parameters],
        return_annotation=_Spelled(signature.return_annotation),
    )
    return made


class _Spelled(str):
    """An annotation as `help` shows it: in the words that it was written with."""

    def __new__(cls, hint: Any) -> Any:
        return hint if hint is inspect.Signature.empty else super().__new__(cls, _spelled(hint))

    def __repr__(self) -> str:
        return str(self)


def _spelled(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _spelled(args[0])
    if origin is Union or origin is types.UnionType:
        kinds = [arg for arg in args if arg not in _ARRAY_LIKE or not _ARRAY_LIKE <= {*args}]
        names = [*map(_spelled, kinds), *["ArrayLike"] * (len(kinds) < len(args))]
        return " | ".join(sorted(names, key="None".__eq__))
    if origin in (np.ndarray, NDArray):
        return f"NDArray[{_spelled(_scalar(hint))}]"
    if origin is Callable or hint in (None, type(None)):
        return "None" if origin is None else "Callable"
    if origin is None:
        return "..." if hint is ... else getattr(hint, "__name__", str(hint))
    if origin is Literal:
        return " | ".join(map(repr, args))
    return f"{origin.__name__}[{', '.join(map(_spelled, args))}]"


def _scalar(hint: Any) -> Any:
    """What an array holds, of `NDArray[scalar]`."""
    return (*get_args(get_args(hint)[-1]), get_args(hint)[-1])[0]


def _hint(function: Callable[..., Any], name: str) -> Any:
    hint = function.__annotations__[name]
    try:
        return eval(hint, vars(sys.modules[function.__module__])) if isinstance(hint, str) else hint
    except (NameError, AttributeError):  # of a library that is imported when it is needed
        return Any


def conforming(name: str, value: Any, hint: Any, /) -> Any:
    """Return a value as what an annotation says, or refuse it by its name."""
    try:
        return _as(value, hint)
    except _Refused as refused:
        short = type(value) is float or (type(value) is int and abs(value) <= MAX_INTEGER)
        given = Setting(name, value) if short else f"{name}={shown(value)}"
        raise InputError(given, str(refused)) from None


def _as(value: Any, hint: Any) -> Any:
    """The value as what the annotation says, or `_Refused`."""
    if type(value) is hint and hint not in _BASICS:
        return _within(value, ())
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise _Refused(" is masked in places: leave these out, or fill them")
    if hint in _BASICS:
        return _BASICS[hint](value)
    origin = get_origin(hint)
    if origin is Annotated:  # a number, Data with measurements or gaps, or Draws over something
        plain, said = hint.__origin__, hint.__metadata__
        if plain in (int, float):
            return _as_integer(value, *said) if plain is int else _as_float(value, *said)
        return _within(value, said) if type(value) is plain else _as(value, plain)
    if origin is Union or origin is types.UnionType:
        return _as_one_of(value, get_args(hint))
    if origin in (np.ndarray, NDArray):
        return _as_array(value, _scalar(hint))
    if origin is Literal:
        if not any(type(value) is type(choice) and value == choice for choice in get_args(hint)):
            *most, last = (
                f'"{choice}"' if isinstance(choice, str) else str(choice)
                for choice in get_args(hint)
            )
            raise _Refused(f": choose {', '.join(most)}{' or ' * bool(most)}{last}")
        return value
    if origin is Callable:
        if not callable(value) or isinstance(value, type):
            raise _Refused(": pass a function")
        return value
    if origin in (tuple, list, Collection, Sequence, Iterable):
        return _as_list(value, origin, get_args(hint))
    if origin in (Mapping, dict):
        return _as_mapping(value, *get_args(hint))
    if origin is os.PathLike:
        return _as_path(value)
    if inspect.isclass(hint) and hint is not Any and not _is(value, hint):
        called = _CALLED.get(hint.__name__, hint.__name__)
        remedy = _REMEDIES.get(hint.__name__, f"give a {hint.__name__}")
        raise _Refused(f" is no {called}: {remedy}")
    return value


def _within(value: Any, allowed: tuple[object, ...]) -> Any:
    """The value, unless it is Data with other cells, or Draws over something else, than allowed."""
    over = getattr(value, "over", None)
    if over and allowed and over not in allowed:
        raise _Refused(f" is over {over}: draw {allowed[0]} (sample_{allowed[0]})")
    for kind, why in getattr(value, "beyond_states", {}).items():
        if kind not in allowed:
            raise _Refused(why)
    return value


def _is(value: Any, kind: type) -> bool:
    if getattr(kind, "_is_protocol", False):
        members = [name for name in vars(kind) if name == "__call__" or not name.startswith("_")]
        lone = not isinstance(value, type) and not hasattr(value, "__len__")  # as frames have
        return lone and all(hasattr(value, name) for name in members)
    return isinstance(value, kind)


def _as_one_of(value: Any, hints: tuple[Any, ...]) -> Any:
    if value is None and type(None) in hints:
        return None
    kinds = [hint for hint in hints if hint is not type(None)]
    if any(get_origin(kind) is os.PathLike for kind in kinds):
        return _as_path(value)
    if _ARRAY_LIKE <= set(hints):
        kinds = [*(kind for kind in kinds if kind not in _ARRAY_LIKE), ArrayLike]
    plain = [kind.__origin__ if get_origin(kind) is Annotated else kind for kind in kinds]
    reasons = []
    for kind, itself in zip(kinds, plain, strict=True):
        if type(value) is itself:
            return _as(value, kind)
        try:
            return _as(value, kind)
        except _Refused as refused:
            reasons.append(str(refused))
    called = getattr(plain[-1], "__name__", "") in _CALLED  # Score, and what may stand for one
    if all(inspect.isclass(kind) for kind in plain) and len(plain) > 1 and not called:
        names = [f"a{'n' * (kind.__name__[0] in 'AEIOU')} {kind.__name__}" for kind in plain]
        raise _Refused(f": pass {' or '.join(names)}")
    raise _Refused(reasons[-1])


def _as_array(value: Any, dtype: Any) -> NDArray[Any]:
    array = _as_numbers(value)
    if dtype in (Any, np.generic) or array.dtype == dtype:
        return array
    kinds = {"b": "b", "i": "iub", "u": "iub"}.get(np.dtype(dtype).kind, "iubf")
    if array.dtype.kind in kinds or not array.size:
        converted: NDArray[Any] = array.astype(dtype)
        lost = (converted != array) | ((converted < 0) != (array < 0))
        if kinds == "iubf" or not lost.any():
            return converted
    what = "True and False" if kinds == "b" else f"numbers that are {np.dtype(dtype)}"
    raise _Refused(f": give an array of {what}")


def _as_array_like(value: Any) -> Any:
    _as_numbers(value)
    return value


def _as_numbers(value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(None if isinstance(value, bytes | bytearray | memoryview) else value)
    except Exception:
        raise _Refused(" is ragged, or no array: give a rectangular array of numbers") from None
    if array.dtype.kind not in "biuf" and array.size:
        raise _Refused(": give an array of numbers (read_csv and from_frame take labels)")
    return array if array.size else array.astype(np.float64)


def _as_integer(value: Any, least: int = -MAX_INTEGER, most: int = MAX_INTEGER) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise _Refused(": give an integer") from None
    if number > most:
        raise _Refused(f": give an integer of at most {most}")
    if number < least:
        raise _Refused(f": give an integer of at least {least}")
    return number


def _as_float(value: Any, within: Range | None = None) -> Any:
    if not isinstance(value, Real) and not (isinstance(value, np.ndarray) and not value.ndim):
        raise _Refused(": give a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _Refused(": give a number that is a double") from None
    if within is not None and number not in within:
        raise _Refused(f" is outside {within}")
    return number if isinstance(value, np.ndarray) else value


def _as_generator(value: Any) -> np.random.Generator:
    if not isinstance(value, np.random.Generator):
        raise _Refused(" is no generator: pass numpy.random.default_rng(seed)")
    if not hasattr(value.bit_generator.seed_seq, "spawn"):
        raise _Refused(" has no seeds for chains: pass numpy.random.default_rng(seed)")
    return value


def _as_bool(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _Refused(": give True or False")
    return bool(value)


def _as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Refused(": give a string")
    return value


def _as_list(value: Any, origin: Any, hints: tuple[Any, ...]) -> Any:
    unordered = isinstance(value, set | frozenset) and origin in (Sequence, list, tuple)
    single = unordered or isinstance(value, str | bytes | bytearray | Mapping | type)
    single = single or hasattr(value, "columns")  # a frame would be the list of its names
    sized = hasattr(value, "__len__")
    lone = single or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0
    if lone or not (sized or origin is Iterable):
        strings = f"of strings is needed, as [{shown(value)}]"
        raise _Refused(f": a list {strings if isinstance(value, str) else 'is needed'}")
    if not sized:
        value = list(value)  # it can be gone through but once
    if origin is tuple and hints[-1:] != (...,):
        if len(value) != len(hints):
            raise _Refused(f": give {len(hints)} elements")
        return tuple(map(_element, value, hints))
    if len(value) > MAX_LOOKED_AT:
        return tuple(value) if origin is tuple else value
    elements = [_element(element, hints[0]) for element in value]
    if origin is tuple or type(value) is tuple:
        return tuple(elements)
    return elements if type(value) is list else value


def _element(value: Any, hint: Any) -> Any:
    try:
        return _as(value, hint)
    except _Refused as refused:
        raise _Refused(f", of which {shown(value)}{refused}") from None


def _as_mapping(value: Any, key: Any, hint: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _Refused(": give a dict")
    for name, element in value.items():
        _element(name, key)
        _element(element, hint)
    return value


def _as_path(value: Any) -> Any:
    try:
        parts = os.fsencode(value).split(b"/")  # TypeError for no path
    except (TypeError, UnicodeEncodeError):
        raise _Refused(": give the path of a file") from None
    if isinstance(value, bytes) or "\0" in str(value) or max(map(len, parts)) > MAX_NAME:
        raise _Refused(": give the path of a file")
    return value


_BASICS: dict[Any, Callable[[Any], Any]] = {
    int: _as_integer,
    SupportsIndex: _as_integer,
    float: _as_float,
    bool: _as_bool,
    str: _as_text,
    np.random.Generator: _as_generator,
    ArrayLike: _as_array_like,
}
