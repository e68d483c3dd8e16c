"""How often estimates missed by more than they may: a count of events by their rate."""

import numpy as np
from bokeh.models import ColumnDataSource, LegendItem, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.plots.canvas import CYCLE, INK, WIDTH, canvas, legend_below
from bnlab.plots.edges import Columns


def rate_histogram_data(rates: ArrayLike, allowed: float, /, *, bins: int = 24) -> Columns:
    """Columns of the source of `rate_histogram`: `left`, `right` and `count` of each bin.

    Bins begin at 0 and reach past the rate allowed and the largest of all.

    Examples
    --------
    >>> rate_histogram_data([0.0, 0.01, 0.01], 0.05, bins=3)["count"]
    [3, 0, 0]
    """
    counts, ends = _binned(rates, allowed, bins)
    return {"left": ends[:-1].tolist(), "right": ends[1:].tolist(), "count": counts.tolist()}


def rate_histogram(
    rates: ArrayLike,
    allowed: float,
    /,
    *,
    bins: int = 24,
    name: str = "rates",
    y_label: str = "edges",
    title: str,
    alt: str,
) -> figure:
    """Histogram of rates, with a line at the rate allowed; source `name` as above.

    Parameters
    ----------
    rates : any shape, within 0..1
    allowed : the rate that none may exceed
    y_label : what is counted

    Examples
    --------
    >>> picture = rate_histogram([0.0, 0.01], 0.05, title="Misses", alt="Rates of two edges")
    >>> sum(picture.select_one({"name": "rates"}).data["count"])
    2
    """
    counts, ends = _binned(rates, allowed, bins)
    picture = canvas(
        title=title,
        x_label="share of runs that miss",
        y_label=y_label,
        alt=alt,
        width=WIDTH + 60,
        height=300,
        x_range=Range1d(0, ends[-1]),
        y_range=Range1d(0, 1.1 * max(int(counts.max()), 1)),
    )
    source = ColumnDataSource(data=rate_histogram_data(rates, allowed, bins=bins), name=name)
    bars = picture.quad(
        left="left",
        right="right",
        bottom=0,
        top="count",
        source=source,
        fill_color=CYCLE[0],
        fill_alpha=0.6,
        line_color="#ffffff",
    )
    limit = picture.vspan(x=[allowed], line_color=INK, line_width=2, line_dash="dashed")
    items = [
        LegendItem(label=y_label, renderers=[bars]),
        LegendItem(label=f"allowed: {allowed:g}", renderers=[limit]),
    ]
    legend_below(picture, items, columns=2)
    return picture


def _binned(
    rates: ArrayLike, allowed: float, bins: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    values = np.asarray(rates, np.float64).ravel()
    reach = 1.1 * max(allowed, float(values.max(initial=0.0)))
    return np.histogram(values, bins=bins, range=(0, reach))
