"""Tables and figures of section 4 of [HeTianWu2016]: published values beside the long runs."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from bokeh.layouts import gridplot

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.papers.htw2016 import study
from bnlab.papers.htw2016.study import FEATURE_SIZES, FEATURES, MEANINGS, SAMPLERS, beaten, errors
from bnlab.papers.page import Page, Rows, stored
from bnlab.plots.canvas import entries, legend
from bnlab.plots.drawing import data_source
from bnlab.plots.looks import COLOURS, INK, Axis

page = Page()

SHOWN = ("tic_tac_toe", "wine", "zoo")  # german's PO-MCMC needs another scale
SMALL = ("tic_tac_toe", "wine")  # whose sums over all DAGs take a second
FEW = ("iris", "coronary")  # where all DAGs can be listed
COMPARED = ("data", "method", "print", "sd of print", "ours", "sd of ours", "runs", "within 2 sd")


def _compared(key: study.Key, known: study.Pair, runs: Sequence[float]) -> Sequence[Any]:
    ours = study.spread(runs)
    return (*key, *known, *ours, len(runs), study.verdict(known, ours[0]))


@page.table("table_1", *COMPARED, form=".4f")
def table_1() -> Rows:
    """Table 1: edges under the order-modular prior. Sum of absolute errors; K2 score, Fair prior.
    Ours: the long runs kept with the package."""
    for key, known in study.TABLE_1.items():
        yield _compared(key, known, study.sads(*key))


@page.figure("figure_table_1")
def figure_table_1() -> Any:
    """Table 1 as a picture. Bars: printed mean and two standard deviations; below each, our
    runs."""
    keys = [key for key in study.TABLE_1 if key[0] in SHOWN]
    return plots.published(
        [study.TABLE_1[key] for key in keys],
        [study.sads(*key) for key in keys],
        [f"{name.replace('_', '-')}, {method}" for name, method in keys],
        title="Table 1: published mean ± 2 sd, and our runs",
    )


@page.table("tables_2_4", "data", "method", "print", "ours", "print / ours", form=",.2f")
def seconds() -> Rows:
    """Tables 2 and 4: seconds of one run. With the dynamic program. Print: the authors' machine of
    the time."""
    for (name, method), published in {**study.TABLE_2, **study.TABLE_4}.items():
        by_k2, by_bdeu, _ = stored("htw2016")["seconds"][study.NAMES.index(name)].tolist()
        before = {"DOS": by_k2, "DDS": by_k2, "DP+MCMC": by_bdeu, "IW-DDS": by_bdeu}
        ours = float(np.mean([t.seconds for t in study.stored_trials(name, method)]))
        ours += before.get(method, 0.0)
        yield name, method, published, ours, published / ours


@page.table("table_3_dp", "data", "print", "ours", form=".4f")
def bias(names: Sequence[str] = SMALL) -> Rows:
    """Table 3, DP: what the order-modular prior costs. Sum of absolute differences of exact edges
    under the two priors, computed just now."""
    for name in names:
        gap = bn.diagnostics.sad(study.case(name).by_bdeu.edges, study.dags(name).edges)
        yield name, study.TABLE_3_DP[name], gap


@page.table("table_3", *COMPARED, form=".4f")
def table_3() -> Rows:
    """Table 3: edges with every DAG counted once. Sum of absolute errors; BDeu. Ours: the long runs
    kept with the package."""
    for name in study.NAMES:
        yield _compared((name, "DP"), (study.TABLE_3_DP[name], 0.0), [study.stored_bias(name)])
        for method in study.BY_DAGS:
            key = name, method
            yield _compared(key, study.TABLE_3[key], study.sads(*key))


@page.table("table_3_mass", *COMPARED, form=".3e")
def table_3_mass() -> Rows:
    """Table 3, Δ: posterior probability of the DAGs found. Of the k best DAGs, and of the distinct
    DAGs that IW-DDS has drawn."""
    for key, known in study.TABLE_3_MASS.items():
        yield _compared(key, known, [trial.mass for trial in study.stored_trials(*key)])


@page.table(
    "corrections", "data", "DP", "IW-DDS", "sd of IW-DDS", "1/l(G)", "sd of 1/l(G)", form=".4f"
)
def corrections() -> Rows:
    """Two corrections of the order-modular prior. Sum of absolute errors of IW-DDS and of weights
    1/l(G), which is not in the paper."""
    for name in study.NAMES:
        weighed, counted = (study.spread(study.sads(name, by)) for by in ("IW-DDS", "1/l(G)"))
        yield (name, study.stored_bias(name), *weighed, *counted)


@cache
def found(name: str) -> dict[str, dict[str, Floats]]:
    """Return errors of edges and of five features by the three samplers."""
    return {sampler: errors(name, sampler) for sampler in SAMPLERS}


@page.figure(
    "figures_{name}_{half}", each=[{"name": name, "half": half} for name in FEW for half in (1, 2)]
)
def figure_features(name: str, half: int) -> Any:
    """Section 4.3: {name}, edges and features, {half} of 2. Sum of absolute errors against draws,
    or ten times k; made just now."""
    cells = []
    for feature in FEATURES[3 * half - 3 : 3 * half]:
        picture = plots.error_curve(
            FEATURE_SIZES,
            {method: values[feature].mean(axis=0) for method, values in found(name).items()},
            {},
            x=Axis("DAGs drawn, or ten times k"),
            y=Axis("SAD"),
            name=f"sad_{feature}",
            title=f"{name}, {feature}: {MEANINGS[feature]}",
            alt=f"SAD of {MEANINGS[feature]} on {name} against the number of DAGs, for each method",
        )
        picture.width, picture.height = 330, 300
        cells.append(picture)
    return gridplot(cells, ncols=3, toolbar_location=None)


@page.table("section_4_3", "data", "closer than", *FEATURES)
def wins() -> Rows:
    """Section 4.3: where IW-DDS is closer. At how many of the five sizes, for edges and for the
    features f1 to f5."""
    for name in FEW:
        for other in SAMPLERS[1:]:
            count = beaten(found(name)[SAMPLERS[0]], found(name)[other])
            yield (name, other, *(count[feature] for feature in FEATURES))


@page.table("section_4_4", "eps", "draws", "allowed", "worst edge", "mean", "never missed", "edges")
def guarantee() -> Rows:
    """Section 4.4: the guarantee. Share of runs in which an edge of tic-tac-toe is off by eps or
    more."""
    for eps, delta in study.SETTINGS.items():
        rates = study.stored_rates(eps)[-1]
        never = int((rates == 0).sum())
        yield eps, study.draws_for(eps), delta, rates.max(), rates.mean(), never, rates.size


@page.figure("figure_rates")
def rates() -> Any:
    """Section 4.4: by edges. Most edges are never missed."""
    values, allowed = study.stored_rates(0.02)[-1], study.SETTINGS[0.02]
    reach = 1.1 * max(allowed, values.max())
    counts, ends = np.histogram(values, bins=24, range=(0, reach))
    picture = plots.canvas(
        "90 edges of tic-tac-toe, ε = 0.02, 4,612 draws",
        "Histogram of the share of experiments that miss an edge, far left of the line at 0.05",
        Axis("share of runs that miss", (0, reach)),
        Axis("edges", (0, 1.1 * counts.max())),
        size=(480, 300),
    )
    data = {"left": ends[:-1].tolist(), "right": ends[1:].tolist(), "count": counts.tolist()}
    look = {"fill_color": COLOURS[0], "fill_alpha": 0.6, "line_color": "#ffffff"}
    source = data_source(data, name="rates")
    bars = picture.quad("left", "right", top="count", bottom=0, source=source, **look)
    limit = picture.vspan(x=[allowed], line_color=INK, line_width=2, line_dash="dashed")
    legend(picture, entries({"edges": bars, f"allowed: {allowed:g}": limit}), columns=2)
    return picture


@page.figure("figure_bound")
def bound() -> Any:
    """Section 4.4: by draws. The bound is far above what happens."""
    hoeffding = np.minimum(1, 2 * np.exp(-2 * np.array(study.CURVE) * 0.02**2))
    measured = {
        "worst edge": study.stored_rates(0.02).max(axis=1),
        "mean over edges": study.stored_rates(0.02).mean(axis=1),
    }
    return plots.error_curve(
        study.CURVE,
        measured,
        {"Hoeffding: 2 exp(−2 T ε²)": hoeffding},
        y=Axis("share of runs"),
        title="Share of 1,000 runs that miss by 0.02 or more",
    )
