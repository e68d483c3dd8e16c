"""What is known of edges before the data: in every DAG, in none, by time, or believed in."""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from bnlab.checks import Ints, checked, conforming, real, shown
from bnlab.data import AnyCells, Data
from bnlab.data.table import node_number
from bnlab.errors import InputError, Setting, parts_of
from bnlab.files import read_whole
from bnlab.graphs import members
from bnlab.kernels import dags as kernels
from bnlab.priors import EdgeBeliefs

Node = int | str
Edges = Iterable[tuple[Node, Node]]
Tiers = Iterable[Iterable[Node]]
Candidates = Mapping[Node, Iterable[Node]] | None
FORMS = {"tiers": list[list[str]], "beliefs": dict[str, float]}
FORMS |= dict.fromkeys(("required", "forbidden"), list[str])


@checked
def read_knowledge(path: str | os.PathLike[str], data: AnyCells, /) -> dict[str, Any]:
    """Read what is known of the edges of data from a TOML file.

    Each of its four keys may be missing. Names of variables stand in quotes::

        tiers = [["age", "sex"], ["smoking"], ["cancer"]]  # the earliest first
        required = ["smoking -> cancer"]
        forbidden = ["age -> sex", "sex -> age"]
        beliefs = {strength = 5, "age -> smoking" = 0.8}

    Beliefs lie between 0 (surely absent) and 1 (surely there), and 0.5 says nothing: a DAG with an
    edge of belief b weighs exp(strength (2 b - 1)) times as much as without it. What is returned
    are arguments of `score_families` and `reports.analyse`: "tiers", "required" and "forbidden" by
    name, and as "prior" the `EdgeBeliefs`.

    Raises
    ------
    ValueError
        That names the file, for what is no TOML, no edge, no variable or no belief.
    FileNotFoundError
        When there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "known.toml"
    >>> _ = path.write_text('required = ["rain -> wet"]')
    >>> read_knowledge(path, Data.from_arrays([[0, 1], [1, 0]], names=["rain", "wet"]))
    {'required': (('rain', 'wet'),)}
    """
    raw = read_whole(path)
    try:
        said = tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        example = 'names and edges stand in quotes, as required = ["rain -> wet"]'
        raise ValueError(f"{path}: not TOML in UTF-8 ({error}); {example}") from error
    found = dict[str, Any]()
    try:
        for key, value in said.items():
            if key not in FORMS:
                raise ValueError(f"{shown(key)} is none of {', '.join(FORMS)}")
            given = conforming(key, value, FORMS[key])
            if key == "beliefs":
                found["prior"] = _beliefs(given, data)
            else:
                edges = given if key == "tiers" else [_edge(text) for text in given]
                found[key] = by_name(data.names, **{key: edges})[key]
    except ValueError as error:
        raise InputError(f"{path}: ", *parts_of(error)) from error
    return found


def by_name(
    names: Sequence[str], /, *, required: Edges = (), forbidden: Edges = (), tiers: Tiers = ()
) -> dict[str, Any]:
    """The arguments as tuples of names; a ValueError for what is no edge or no tiers."""
    edges = {"required": _edges(names, required), "forbidden": _edges(names, forbidden)}
    found = {key: tuple((names[u], names[v]) for u, v in pairs) for key, pairs in edges.items()}
    return {**found, "tiers": _tiers(names, tiers)}


def edge_masks(
    data: Data,
    max_parents: int,
    /,
    *,
    candidates: Candidates = None,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Tiers = (),
) -> tuple[Ints, Ints]:
    """Masks (n,) of the parents that each variable may and must have; contradictions refused."""
    names, demanded = data.names, np.zeros(data.n, np.int64)
    barred = _barred(data, candidates, forbidden, tiers)
    asked = _edges(names, required)
    for u, v in asked:
        demanded[v] |= 1 << u
        if (u, v) in barred:
            raise ValueError(f"edge {names[u]} -> {names[v]} is required, yet {barred[u, v]}")
    if asked and kernels.topological_order(demanded, np.empty(data.n, np.int64)) < data.n:
        from networkx import DiGraph, find_cycle  # which takes long to load

        cycle = [names[u] for u, _ in find_cycle(DiGraph(asked))]
        path = " -> ".join([*cycle, cycle[0]])
        raise ValueError(f"the required edges make a cycle {path}: leave one of them out")
    for v, mask in enumerate(demanded):
        parents = [names[u] for u in members(mask)]
        if len(parents) > max_parents:
            raise InputError(
                f"the required edges give {names[v]} the parents {', '.join(parents)}: raise ",
                Setting("max_parents", max_parents),
                f" to {len(parents)}",
            )
    allowed = np.array([((1 << data.n) - 1) & ~(1 << v) for v in range(data.n)], np.int64)
    for u, v in barred:
        allowed[v] &= ~(1 << u)
    return allowed, demanded


def _barred(
    data: Data, candidates: Candidates, forbidden: Edges, tiers: Tiers
) -> dict[tuple[int, int], str]:
    """The edges that cannot be, and why not."""
    names, found = data.names, dict[tuple[int, int], str]()
    if not isinstance(candidates, Mapping | None):
        raise ValueError(f"candidates={shown(candidates)}: map a variable to a list of parents")
    for child, parents in (candidates or {}).items():
        v = node_number(names, child)
        if isinstance(parents, str) or not isinstance(parents, Iterable):
            raise ValueError(f"candidates of {names[v]!r}: give a list, [{parents!r}]")
        others = set(range(data.n)) - {node_number(names, u) for u in parents}
        found |= {(u, v): f"{names[u]} is none of the candidates of {names[v]}" for u in others}
    why = "measured columns cannot be parents of columns with states: cut them (discretize=)"
    for v in np.flatnonzero(~data.measured).tolist():
        found |= {(u, v): why for u in np.flatnonzero(data.measured).tolist()}
    placed = [(names.index(x), i) for i, tier in enumerate(_tiers(names, tiers), 1) for x in tier]
    found |= {
        (u, v): f"{names[u]} stands in tier {late}, {names[v]} in the earlier tier {early}"
        for u, late in placed
        for v, early in placed
        if late > early
    }
    return found | dict.fromkeys(_edges(names, forbidden), "it is forbidden too: keep one of them")


def _tiers(names: Sequence[str], tiers: Tiers) -> tuple[tuple[str, ...], ...]:
    """Tiers by name."""
    if isinstance(tiers, str) or not isinstance(tiers, Iterable):
        raise ValueError(f"tiers={shown(tiers)}: give a list of lists of variables")
    found = list[tuple[str, ...]]()
    for tier in tiers:
        if isinstance(tier, str) or not isinstance(tier, Iterable):
            raise ValueError(f"tiers: {shown(tier)} is no list of variables: write [{tier!r}]")
        found.append(tuple(names[node_number(names, node)] for node in tier))
        if twice := {name for earlier in found[:-1] for name in earlier}.intersection(found[-1]):
            raise ValueError(f"tiers: {min(twice)!r} stands in two of them: choose one")
    return tuple(found)


def _edges(names: Sequence[str], edges: Edges) -> list[tuple[int, int]]:
    out = []
    if not isinstance(edges, Iterable):
        raise ValueError(f"{shown(edges)}: give a list of pairs (parent, child)")
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sized) or len(edge) != 2:
            raise ValueError(f"{shown(edge)} is no edge: give a list of pairs (parent, child)")
        u, v = (node_number(names, node) for node in edge)
        if u == v:
            raise ValueError(f"edge {names[u]} -> {names[v]} is a loop")
        out.append((u, v))
    return out


def _beliefs(said: dict[str, float], data: Data) -> EdgeBeliefs:
    matrix = np.full((data.n, data.n), 0.5)
    for text, belief in said.items():
        if text != "strength":
            ((u, v),) = _edges(data.names, [_edge(text)])
            if not 0 <= real(belief) <= 1:
                raise ValueError(f"belief {shown(belief)} in {text}: give a number from 0 to 1")
            matrix[u, v] = belief
    return EdgeBeliefs(matrix, said.get("strength", 1.0))


def _edge(text: str) -> tuple[str, str]:
    ends = [name.strip() for name in text.replace("→", "->").split("->")]
    if len(ends) != 2 or not all(ends):
        raise ValueError(f'{shown(text)} is no edge: write "PARENT -> CHILD"')
    return ends[0], ends[1]
