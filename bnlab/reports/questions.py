"""What a report says of setting a variable: "what if"."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from bnlab.data import Data
from bnlab.pages import Cell, Table, render
from bnlab.predict import Effects, typed_row
from bnlab.reports.analysis import Analysis

MOST_ANSWERS = 6  # levels of what is looked at


def what_if_section(analysis: Analysis, /) -> Markup:
    """The question, what it takes for granted, and the answer in words and in a table."""
    found = analysis.what_if
    return render(
        "report.html",
        "whatif",
        found=found,
        holes=analysis.completions is not None,
        searched=analysis.plan.posterior is None,
        told=[told(one) for one in found],
        answers=_answers(found, analysis.data) if found else None,
    )


def told(one: Effects, /) -> str:
    """Return the answer to one setting: its likeliest level."""
    y = int(one.mean.argmax())
    return (
        f"If we set {_setting(one)}, then {one.on} is {one.levels[y]} with probability "
        f"{one.mean[y]:.2f} ({one.low[y]:.2f} to {one.high[y]:.2f})."
    )


def _setting(one: Effects) -> str:
    return " and ".join(f"{name} to {level}" for name, level in one.do.items())


def _answers(found: tuple[Effects, ...], data: Data) -> Table:
    rows: list[list[Cell]] = []
    for one in found:
        codes = typed_row(data, one.do)
        where = (data.values == codes)[:, codes >= 0].all(axis=1)
        seen = data.values[where, data.index(one.on)]
        shares = np.bincount(seen[seen >= 0], minlength=len(one.levels)) / max(1, (seen >= 0).sum())
        for y in np.sort(np.argsort(-one.mean, kind="stable")[:MOST_ANSWERS]).tolist():
            told = (one.mean, one.low, one.high, one.between, one.within)
            numbers: list[Cell] = [float(column[y]) for column in told]
            share: Cell = float(shares[y]) if seen.size else "no such row"
            rows.append([_setting(one), one.levels[y], *numbers, share])
    heads = ["if we set", f"then {found[0].on} is", "probability", "low", "high"]
    heads += ["spread between networks", "spread within", "seen in such rows"]
    return Table(f"What setting does to {found[0].on}, on average over all networks.", heads, rows)
