"""What papers share: long runs stored by name, random numbers, DAGs, chains, weights."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints

Array = NDArray[Any]
Arrays = Mapping[str, Array]


@cache
def stored(paper: str, /) -> Arrays:
    """Return the stored arrays of a paper, such as "em2007".

    `benchmarks/stored.py` computes and writes them again.
    """
    with as_file(files("bnlab.papers") / paper / "long.npz") as path, np.load(path) as kept:
        return MappingProxyType({name: kept[name] for name in kept.files})


@cache
def printed(paper: str, /) -> Mapping[str, Any]:
    """Return the numbers that a paper prints, from its `printed.toml`."""
    text = files("bnlab.papers").joinpath(paper, "printed.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def streams(seed: int, /) -> Callable[..., np.random.Generator]:
    """Return a function that gives random numbers of their own for each key."""

    def stream(*key: int) -> np.random.Generator:
        return np.random.default_rng([seed, *key])

    return stream


def random_dag(n: int, rng: np.random.Generator, /, max_parents: int = 3) -> Ints:
    """Draw a DAG: a random order of nodes, each with a uniform number of parents before it."""
    dag, order = np.zeros(n, np.int64), rng.permutation(n)
    for place, v in enumerate(order):
        count = rng.integers(0, min(place, max_parents) + 1)
        dag[v] = (np.int64(1) << rng.choice(order[:place], count, replace=False)).sum()
    return graphs.check_dag(dag)


def taken(draws: bn.Draws, where: Any, /) -> bn.Draws:
    """Return the draws that an index, or two, for chains and draws, take of them."""
    return replace(
        draws,
        values=draws.values[where],
        log_weight=draws.log_weight[where],
        log_target=draws.log_target[where],
        traces={name: trace[where] for name, trace in draws.traces.items()},
    )


def chain(draws: bn.Draws, c: int, first: int = 0, /) -> bn.Draws:
    """Return one of the chains, alone and without its stats, from draw `first` on."""
    return replace(taken(draws, np.s_[c : c + 1, first:]), stats={})


def normalised(log_weights: Floats, /) -> Floats:
    """Return weights that add up to 1."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())
