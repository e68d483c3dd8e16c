"""Figures of the page: Table 1 as a picture, and the small multiples of section 4.3."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.layouts import gridplot
from numpy.typing import NDArray

from bnlab import plots
from bnlab.labs.papers.htw2016.long_runs import Kept
from bnlab.labs.papers.htw2016.nonmodular import FEATURES, MEANINGS, SIZES
from bnlab.labs.papers.htw2016.printed import TABLE_1

Floats = NDArray[np.float64]

SHOWN = ("tic_tac_toe", "wine", "zoo")  # german's PO-MCMC needs another scale


def figure_table_1(kept: Kept, /) -> Any:
    """Printed means and 15 runs of ours, of the data sets that share a scale.

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.long_runs import kept
    >>> figure_table_1(kept()).title.text
    'Table 1: published mean ± 2 sd, and our runs'
    """
    keys = [key for key in TABLE_1 if key[0] in SHOWN]
    return plots.published(
        [TABLE_1[key] for key in keys],
        [[trial.sad for trial in kept.trials[key]] for key in keys],
        [f"{name.replace('_', '-')}, {method}" for name, method in keys],
        x_label="SAD: sum of absolute errors over all edges",
        title="Table 1: published mean ± 2 sd, and our runs",
    )


def figure_features(
    name: str,
    found: Mapping[str, Mapping[str, Floats]],
    features: Sequence[str] = FEATURES,
    /,
) -> Any:
    """SAD of the edges and of f1 to f5 against draws, a small picture each, a line for each method.

    Parameters
    ----------
    name : of the data set, for the titles
    found : method -> feature -> SAD (runs, sizes), as `errors` gives
    features : those to show, three in a row; their sources are called sad_edge, sad_f1 and so on

    Examples
    --------
    >>> from bnlab.labs.papers.htw2016.nonmodular import errors
    >>> grid = figure_features("iris", {"IW-DDS": errors("iris", "IW-DDS", runs=2)})
    >>> grid.select_one({"name": "sad_f5"}).data["draws"]
    [100.0, 300.0, 1000.0, 3000.0, 10000.0]
    """
    cells = []
    for feature in features:
        picture = plots.error_curve(
            SIZES,
            {method: values[feature].mean(axis=0) for method, values in found.items()},
            {},
            x_label="DAGs drawn, or ten times k",
            y_label="SAD",
            name=f"sad_{feature}",
            title=f"{name}, {feature}: {MEANINGS[feature]}",
            alt=f"SAD of {MEANINGS[feature]} on {name} against the number of DAGs, for each method",
        )
        picture.width, picture.height = 330, 300
        cells.append(picture)
    return gridplot(cells, ncols=3, toolbar_location=None)
