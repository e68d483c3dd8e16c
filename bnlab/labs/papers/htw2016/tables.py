"""Tables 1 to 4, print beside ours: as rows, and as lines of text."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bnlab.labs.papers.htw2016.long_runs import Kept
from bnlab.labs.papers.htw2016.printed import (
    NAMES,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_3_DP,
    TABLE_3_MASS,
    TABLE_4,
)

Pair = tuple[float, float]


def spread(values: Sequence[float], /) -> Pair:
    """Mean and standard deviation over runs; 0 of a single run.

    Examples
    --------
    >>> spread([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.mean(values)), sd


def verdict(printed: Pair, ours: Pair, /) -> str:
    """Whether our mean lies within two printed standard deviations of the printed mean.

    What has none (a single run) agrees if it does to four digits.

    Examples
    --------
    >>> verdict((0.5, 0.1), (0.65, 0.1)), verdict((0.5, 0.1), (0.2, 0.1))
    ('yes', 'below')
    """
    (mean, sd), value = printed, ours[0]
    if abs(value - mean) <= (2 * sd or 1e-3 * abs(mean)):
        return "yes"
    return "below" if value < mean else "above"


class Row(NamedTuple):
    """A line of Tables 1 and 3: print and our runs, each as mean and standard deviation."""

    data: str
    method: str
    printed: Pair
    ours: Pair
    runs: int
    agrees: str  # `verdict`


class Time(NamedTuple):
    """A line of Tables 2 and 4: seconds of a run with its dynamic program."""

    data: str
    method: str
    printed: float
    ours: float


def rows_1(kept: Kept, /) -> list[Row]:
    """SAD of the three methods for the order-modular posterior.

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.long_runs import kept
    >>> rows_1(kept())[1].agrees
    'yes'
    """
    return _rows(TABLE_1, {key: [t.sad for t in kept.trials[key]] for key in TABLE_1})


def rows_3(kept: Kept, /) -> list[Row]:
    """SAD of the three methods for the structure-modular posterior, and of DP.

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.long_runs import kept
    >>> rows_3(kept())[0].method
    'DP'
    """
    printed: dict[tuple[str, str], Pair] = {}
    found: dict[tuple[str, str], Sequence[float]] = {}
    for name in NAMES:
        printed[name, "DP"], found[name, "DP"] = (TABLE_3_DP[name], 0.0), [kept.bias[name]]
        for key in (key for key in TABLE_3 if key[0] == name):
            printed[key], found[key] = TABLE_3[key], [t.sad for t in kept.trials[key]]
    return _rows(printed, found)


def rows_3_mass(kept: Kept, /) -> list[Row]:
    """Delta of the k best and of IW-DDS.

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.long_runs import kept
    >>> len(rows_3_mass(kept())) == len(TABLE_3_MASS)
    True
    """
    return _rows(TABLE_3_MASS, {key: [t.mass for t in kept.trials[key]] for key in TABLE_3_MASS})


def rows_times(kept: Kept, /) -> list[Time]:
    """Seconds as printed in Tables 2 and 4, and ours.

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.long_runs import kept
    >>> all(row.ours < row.printed for row in rows_times(kept()))
    True
    """
    out = []
    for (name, method), printed in {**TABLE_2, **TABLE_4}.items():
        by_k2, by_bdeu, _ = kept.seconds[name]
        before = {"DOS": by_k2, "DDS": by_k2, "DP+MCMC": by_bdeu, "IW-DDS": by_bdeu}
        each = float(np.mean([t.seconds for t in kept.trials[name, method]]))
        out.append(Time(name, method, printed, each + before.get(method, 0.0)))
    return out


def table_1(kept: Kept, /) -> str:
    """`rows_1` as text.

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.long_runs import kept
    >>> print(table_1(kept()).splitlines()[1])
    tic_tac_toe  PO-MCMC 0.5174 (0.1280)        0.2279 (0.0716)          15 below
    """
    return _text(rows_1(kept))


def table_3(kept: Kept, /) -> str:
    """`rows_3` as text."""
    return _text(rows_3(kept))


def table_3_mass(kept: Kept, /) -> str:
    """`rows_3_mass` as text."""
    return _text(rows_3_mass(kept), digits=".3e")


def times(kept: Kept, /) -> str:
    """`rows_times` as text."""
    lines = [f"{'':12s} {'':8s} {'printed':>10s} {'ours':>9s} {'printed / ours':>15s}"]
    for name, method, printed, ours in rows_times(kept):
        lines.append(f"{name:12s} {method:8s} {printed:10,.2f} {ours:9.2f} {printed / ours:15,.0f}")
    return "\n".join(lines)


def _rows(
    printed: Mapping[tuple[str, str], Pair], found: Mapping[tuple[str, str], Sequence[float]]
) -> list[Row]:
    out = []
    for (name, method), known in printed.items():
        runs = found[name, method]
        ours = spread(runs)
        out.append(Row(name, method, known, ours, len(runs), verdict(known, ours)))
    return out


def _text(rows: Sequence[Row], *, digits: str = ".4f") -> str:
    lines = [f"{'':12s} {'':8s}{'printed':22s} {'ours':22s} runs within 2 sd"]
    for row in rows:
        columns = " ".join(f"{_pair(pair, digits):22s}" for pair in (row.printed, row.ours))
        lines.append(f"{row.data:12s} {row.method:8s}{columns} {row.runs:4d} {row.agrees}")
    return "\n".join(lines)


def _pair(values: Pair, digits: str) -> str:
    """Mean (sd), or the mean alone of what has no sd."""
    mean, sd = (format(value, digits) for value in values)
    return f"{mean} ({sd})" if values[1] else mean
