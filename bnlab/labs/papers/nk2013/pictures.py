"""Figures 2 and 3, drawn from the samplers of a page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab import plots
from bnlab.labs.papers.nk2013.cases import Case
from bnlab.labs.papers.nk2013.curves import EDGE_POINTS, evidence, lower_bounds, seconds
from bnlab.labs.papers.nk2013.samplers import Sampler

Floats = NDArray[np.float64]

SHOWN = (8.0, 3.0)  # nats below and above the largest of the last medians, or the exact value
NAMES = {"AIS": "AIS", "MC3": "MC³"}


def medians(values: Floats, /) -> Floats:
    """The median over the runs, (RUNS, counts) to (counts,).

    Examples
    --------
    >>> medians(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]))
    array([3., 4.])
    """
    out: Floats = np.median(values, axis=0)
    return out


def medium(samplers: Sequence[Sampler], /) -> Sampler:
    """AIS with the middle number of steps, of which the paper shows the lower bound.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> medium([annealed(example(), r, 16) for r in (2, 4, 8)]).r
    4
    """
    steps = [sampler for sampler in samplers if sampler.method == "AIS"]
    return steps[(len(steps) - 1) // 2 if len(steps) < 3 else 1]


def figure_2(
    case: Case,
    samplers: Sequence[Sampler],
    levels: Mapping[str, float] | None = None,
    /,
    *,
    bound: str = "AISL",
    what: str = "Evidence",
) -> Any:
    """Medians of nine runs against time, and the lower bound of AIS with the medium r.

    Parameters
    ----------
    levels : label -> ln p(D), horizontal lines; the first one sets the middle of the axis
    bound : the name of the lower bound's curve
    what : begins the title

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013 import cases
    >>> from bnlab.labs.papers.nk2013.samplers import annealed
    >>> alarm = cases.case("ALARM")
    >>> picture = figure_2(alarm, [annealed(alarm.table, r, 40) for r in (5, 10, 20)])
    >>> picture.select_one({"name": "curves"}).data["label"]
    ['AIS r = 5', 'AIS r = 10', 'AIS r = 20', 'AISL r = 10']
    """
    # Colours go by place: the bound keeps its own where no MC3 comes before it.
    groups: dict[str, dict[str, tuple[Floats, Floats]]] = {name: {} for name in NAMES.values()}
    last = []
    for sampler in samplers:
        median = medians(evidence(sampler, case.table))
        curve = {f"r = {sampler.r:,}": (seconds(sampler), median)}
        groups[NAMES[sampler.method]].update(curve)
        if sampler.method == "AIS":
            last.append(float(median[-1]))
    chosen = medium(samplers)
    bounds = lower_bounds(chosen, case.table)
    groups[bound] = {f"r = {chosen.r:,}": (seconds(chosen), bounds)}
    middle = next(iter(levels.values())) if levels else max(last)
    title = f"{what} of {case.label}"
    return plots.time_curves(
        groups,
        levels,
        y_label="ln p(D), nats",
        y_range=(middle - SHOWN[0], middle + SHOWN[1]),
        title=title,
        alt=f"{title}: medians of nine runs of each sampler and a lower bound, against time",
    )


def figure_3_right(
    curves: Sequence[tuple[str, Sampler, Floats]], /, *, title: str, y_label: str
) -> Any:
    """Medians of nine runs' largest differences of edge probabilities, on logarithmic axes.

    Parameters
    ----------
    curves : label, sampler and its (RUNS, counts) differences; AIS and MC3 have their colours

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.curves import edge_errors
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> sampler = annealed(example(), 4, 40)
    >>> errors = edge_errors(sampler, example(), np.eye(2))
    >>> figure_3_right([("", sampler, errors)], title="Edges", y_label="error").title.text
    'Edges'
    """
    groups: dict[str, dict[str, tuple[Floats, Floats]]] = {name: {} for name in NAMES.values()}
    for label, sampler, values in curves:
        setting = f"r = {sampler.r:,} {label}".strip()
        curve = {setting: (seconds(sampler, EDGE_POINTS), medians(values))}
        groups[NAMES[sampler.method]].update(curve)
    return plots.time_curves(
        groups,
        y_label=y_label,
        y_range=(0.03, 1.2),
        y_axis_type="log",
        title=title,
        alt=f"{title}: medians of nine runs of AIS and MC3, against time",
    )
