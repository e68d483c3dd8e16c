"""What a report says of setting a variable: "what if"."""

from __future__ import annotations

import re

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bnlab.checks import Floats
from bnlab.data import Data
from bnlab.pages import Cell, Table, render
from bnlab.predict import Effects, typed_row
from bnlab.reports.analysis import Analysis
from bnlab.reports.assumptions import MOST_NAMED, in_number, in_words
from bnlab.reports.pictures import EVEN_ODDS
from bnlab.reports.setting import COMPLETED, from_missing

MOST_ANSWERS = 6  # levels of what is looked at


def what_if_section(analysis: Analysis, /) -> Markup:
    """The question, what it takes for granted, and the answer in words and in a table."""
    found, names, ways, share = analysis.what_if, analysis.data.names, 0, np.nan
    others = [name for name in names if found and name not in (*found[0].do, found[0].on)]
    if found and analysis.completions is not None:
        ways = min(COMPLETED, len(analysis.completions))
        share = float(from_missing(found[0], ways)[found[0].mean.argmax()])
    return render(
        "report.html",
        "whatif",
        found=found,
        others=in_words(others, MOST_NAMED) if others else "",
        ways=ways,
        share=None if np.isnan(share) else in_number(share),
        searched=analysis.plan.posterior is None,
        told=[told(one, analysis.data) for one in found],
        answers=_answers(found, analysis.data) if found else None,
    )


def told(one: Effects, data: Data, /) -> str:
    """Return the answer to one setting: its likeliest level, beside the share of all rows."""
    y, nothing = int(one.mean.argmax()), ""
    if one.unaffected >= EVEN_ODDS:
        what = " and ".join(one.do)
        nothing = f": setting {what} probably changes nothing ({one.unaffected:.2f})"
    sentence = (
        f"If we set {_setting(one)}, then {one.on} is {one.levels[y]} with probability "
        f"{one.mean[y]:.2f} ({one.low[y]:.2f} to {one.high[y]:.2f}), against "
        f"{shares(one, data)[y]:.2f} in all rows{nothing}."
    )
    return re.sub(r"\(([^\s(]+), (\S+)\]", r"\g<0> (above \1, up to \2)", sentence, count=1)


def shares(one: Effects, data: Data, where: NDArray[np.bool_] | None = None, /) -> Floats:
    """Return the share of each level of `on` among the rows that say it; nan of none."""
    seen = data.values[:, data.index(one.on)]
    counts = np.bincount(seen[(seen >= 0) & (where is None or where)], minlength=len(one.levels))
    return counts / (counts.sum() or np.nan)


def _setting(one: Effects) -> str:
    return " and ".join(f"{name} to {level}" for name, level in one.do.items())


def _answers(found: tuple[Effects, ...], data: Data) -> Table:
    rows: list[list[Cell]] = []
    for one in found:
        codes = typed_row(data, one.do)
        where = (data.values == codes)[:, codes >= 0].all(axis=1)
        such, of_all = shares(one, data, where), shares(one, data)
        for y in np.sort(np.argsort(-one.mean, kind="stable")[:MOST_ANSWERS]).tolist():
            told = (one.mean, one.low, one.high, one.between, one.within, of_all)
            numbers: list[Cell] = [float(column[y]) for column in told]
            share: Cell = float(such[y]) if such[y] >= 0 else "no such row"
            rows.append([_setting(one), one.levels[y], *numbers, share])
    heads = ["if we set", f"then {found[0].on} is", "probability", "low", "high"]
    heads += ["spread between networks", "spread within", "in all rows", "seen in such rows"]
    return Table(f"What setting does to {found[0].on}, on average over all networks.", heads, rows)
