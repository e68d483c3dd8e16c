"""Bayesian networks as the text of BIF files; `bnlab.networks.bif` reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnlab.graphs import members

_PLAIN = re.compile(r"[\w.<>=+/-]+")


def bif_text(
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    dag: NDArray[np.int64],
    tables: Sequence[NDArray[np.float64]],
) -> str:
    """The parts of a `BayesNet` as BIF.

    Examples
    --------
    >>> text = bif_text(["a"], [["no", "yes"]], np.array([0]), [np.array([[0.25, 0.75]])])
    >>> text.splitlines()[-2]
    '  table 0.25, 0.75;'
    """
    names = [_quoted(name) for name in names]
    levels = [[_quoted(label) for label in labels] for labels in levels]
    lines = ["network unknown {", "}"]
    for name, labels in zip(names, levels, strict=True):
        states = ", ".join(labels)
        lines += [f"variable {name} {{", f"  type discrete [ {len(labels)} ] {{ {states} }};", "}"]
    for v, table in enumerate(tables):
        parents = members(dag[v])
        rows = [", ".join(repr(float(p)) for p in row) for row in table]
        if parents:
            given = ", ".join(names[p] for p in parents)
            lines.append(f"probability ( {names[v]} | {given} ) {{")
            for states_of, row in zip(
                np.ndindex(*(len(levels[p]) for p in parents)), rows, strict=True
            ):
                labels = [levels[p][state] for p, state in zip(parents, states_of, strict=True)]
                lines.append(f"  ({', '.join(labels)}) {row};")
        else:
            lines += [f"probability ( {names[v]} ) {{", f"  table {rows[0]};"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(label: str) -> str:
    if '"' in label or "\n" in label or "\r" in label:
        raise ValueError(f"BIF cannot hold {label!r} (quotation mark or line break): rename it")
    plain = _PLAIN.fullmatch(label) and "//" not in label
    return label if plain else f'"{label}"'
