"""Coupled chains (MC3): what is accepted at each temperature, and traces up the ladder."""

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.palettes import Plasma256
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.plots.canvas import CYCLE, INK, canvas, legend_above
from bnlab.plots.edges import Columns
from bnlab.plots.traces import traces

Floats = NDArray[np.float64]

MOST_LINES = 5
COLD_TO_HOT = (0, 190)  # of Plasma256: dark blue to orange, both plain on white
BETA = "inverse temperature β: uniform at 0, posterior at 1"


def tempered_moves_data(betas: ArrayLike, acceptance: ArrayLike, /) -> Columns:
    """Columns of the source of the moves in `tempered_acceptance`: one row a temperature.

    Parameters
    ----------
    betas : (r + 1,) inverse temperatures
    acceptance : (chains, r + 1) accepted share of the moves

    Returns
    -------
    dict
        Columns `beta`, `rate` (mean over chains), `low` and `high` (least and most of a chain).

    Examples
    --------
    >>> tempered_moves_data([0, 1], [[1.0, 0.2], [1.0, 0.4]])["low"]
    [1.0, 0.2]
    """
    x = np.asarray(betas, np.float64)
    rates = _rates(acceptance, x.size, "acceptance")
    return {"beta": x.tolist(), **_summary(rates)}


def tempered_exchanges_data(betas: ArrayLike, acceptance: ArrayLike, /) -> Columns:
    """Columns of the source of the exchanges in `tempered_acceptance`: one row a pair.

    Parameters
    ----------
    betas : (r + 1,) inverse temperatures
    acceptance : (chains, r) accepted share of the exchanges of each with the next

    Returns
    -------
    dict
        Columns `left` and `right` (the two betas), `rate`, `low` and `high` as for the moves.

    Examples
    --------
    >>> tempered_exchanges_data([0, 1], [[0.25], [0.75]])["rate"]
    [0.5]
    """
    x = np.asarray(betas, np.float64)
    rates = _rates(acceptance, x.size - 1, "acceptance_exchange")
    return {"left": x[:-1].tolist(), "right": x[1:].tolist(), **_summary(rates)}


def tempered_acceptance(
    betas: ArrayLike,
    acceptance: ArrayLike,
    acceptance_exchange: ArrayLike,
    /,
    *,
    name: str = "tempered_acceptance",
    title: str = "Accepted shares by temperature",
    alt: str = "Accepted share of moves at each inverse temperature, and of exchanges between two",
) -> figure:
    """A dot for the moves at each temperature, a bar for the exchanges from each to the next.

    Vertical lines go from the least to the most of a chain. Sources: `name` holds
    `tempered_moves_data`, `name` + "_exchanges" holds `tempered_exchanges_data`.

    Parameters
    ----------
    betas, acceptance, acceptance_exchange : stats "beta", "acceptance" and "acceptance_exchange" of
        `sample_orders` with a schedule

    Examples
    --------
    >>> picture = tempered_acceptance([0, 1], [[1.0, 0.2]], [[0.5]])
    >>> picture.select_one({"name": "tempered_acceptance_exchanges"}).data["rate"]
    [0.5]
    """
    picture = canvas(
        title=title,
        x_label=BETA,
        y_label="accepted share",
        alt=alt,
        width=480,
        height=360,
        x_range=Range1d(-0.03, 1.03),
        y_range=Range1d(-0.02, 1.04),
    )
    moves = ColumnDataSource(data=tempered_moves_data(betas, acceptance), name=name)
    exchanges = ColumnDataSource(
        data=tempered_exchanges_data(betas, acceptance_exchange), name=f"{name}_exchanges"
    )
    bars = picture.segment(
        "left",
        "rate",
        "right",
        "rate",
        source=exchanges,
        line_color=CYCLE[5],
        line_width=5,
        legend_label="exchanges with the next",
    )
    picture.segment("beta", "low", "beta", "high", source=moves, line_color=INK, line_width=1.5)
    dots = picture.scatter(
        "beta",
        "rate",
        source=moves,
        size=9,
        fill_color=CYCLE[0],
        line_color="#ffffff",
        legend_label="moves",
    )
    spread = ("accepted", "@rate{0.000} (chains: @low{0.000} to @high{0.000})")
    for renderer, place in ((dots, "@beta{0.000}"), (bars, "@left{0.000} to @right{0.000}")):
        picture.add_tools(HoverTool(renderers=[renderer], tooltips=[("β", place), spread]))
    legend_above(picture)
    picture.axis.minor_tick_line_color = None
    return picture


def tempered_lines(betas: ArrayLike, tempered: ArrayLike, /) -> dict[str, Floats]:
    """The lines of `tempered_traces`, cold first: label -> (T,) ln weights, for `traces_data`.

    Of more than five temperatures, five are shown: the ends and those evenly between them.

    Parameters
    ----------
    betas : (r + 1,) inverse temperatures, rising
    tempered : (T, r + 1) ln weights of one chain, nats, as in traces "tempered"

    Examples
    --------
    >>> tempered_lines([0, 1], [[-9.0, -5.0], [-8.0, -4.0]])
    {'β = 1': array([-5., -4.]), 'β = 0': array([-9., -8.])}
    """
    x, values = np.asarray(betas, np.float64), np.asarray(tempered, np.float64)
    if values.ndim != 2 or values.shape[1] != x.size:
        raise ValueError(
            f"tempered has shape {values.shape}, but there are {x.size} temperatures: give the "
            "(draws, temperatures) of one chain"
        )
    rungs = np.linspace(x.size - 1, 0, min(x.size, MOST_LINES)).round().astype(np.int64)
    return {f"β = {x[i]:.3g}": values[:, i] for i in rungs}


def tempered_traces(
    places: ArrayLike,
    betas: ArrayLike,
    tempered: ArrayLike,
    /,
    *,
    band: tuple[float, float] | None = None,
    x_label: str = "draws",
    y_range: tuple[float, float] | None = None,
    name: str = "tempered",
    title: str = "Trace at each temperature",
    alt: str = "Log weight of the order at several temperatures, draw by draw",
) -> figure:
    """A line for each of up to five temperatures: where neighbours overlap, states are exchanged.

    The source `name` holds `traces_data(places, tempered_lines(betas, tempered))`.

    Parameters
    ----------
    places : (T,) what the horizontal axis shows
    betas, tempered : as in `tempered_lines`
    band, x_label, y_range : as in `traces`

    Examples
    --------
    >>> picture = tempered_traces([1, 2], [0, 1], [[-9.0, -5.0], [-8.0, -4.0]])
    >>> picture.select_one({"name": "tempered"}).data["β = 1"]
    [-5.0, -4.0]
    """
    lines = tempered_lines(betas, tempered)
    shades = np.linspace(*COLD_TO_HOT, len(lines)).astype(np.int64)
    return traces(
        places,
        lines,
        colours=[Plasma256[i] for i in shades],
        band=band,
        x_label=x_label,
        y_range=y_range,
        name=name,
        title=title,
        alt=alt,
    )


def _rates(values: ArrayLike, size: int, what: str) -> Floats:
    out = np.asarray(values, np.float64)
    if out.ndim != 2 or out.shape[1] != size:
        raise ValueError(f"{what} has shape {out.shape}, but (chains, {size}) is needed")
    return out


def _summary(rates: Floats) -> Columns:
    mean, low, high = rates.mean(axis=0), rates.min(axis=0), rates.max(axis=0)
    return {"rate": mean.tolist(), "low": low.tolist(), "high": high.tolist()}
