"""Draws piling up, questions, certain intervals, and Table 1."""

from functools import cache

import numpy as np

import bnlab as bn
from bnlab import features, hoeffding_margin, plots
from bnlab.checks import Floats
from bnlab.exact import order_paths
from bnlab.labs.board import choice, size_slider
from bnlab.labs.datasets import OWN, Case, dataset_choice, k2_posterior as posterior, rows
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.htw2016.printed import TABLE_1

PUBLISHED = {key: TABLE_1[key] for key in TABLE_1 if key[0] in ("tic_tac_toe", "wine")}
"""Mean and standard deviation of the SAD over 15 runs of 20,000 draws [HeTianWu2016, Table 1]."""

SEED = 2016
DRAWS = 20_000
RUNS = 15
DELTA = 0.05
DATASETS = ("tic-tac-toe", "wine", "coronary")
MOST_BARS = 12
MOST_ASKED = 4
ASKED = (
    "edge from → to",
    "path of at most 2 edges",
    "path from ⇝ to",
    "path, but no edge",
    "from ⇝ via and via ⇝ to",
    "from ⇝ to, not from ⇝ via",
    "from ⇝ via",
    "via ⇝ to",
)
STOPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, DRAWS)

Found = dict[tuple[str, str], list[float]]
"""(data set, method) -> SAD of each run."""


@cache
def dag_posterior(case: Case) -> bn.DagPosterior:
    """Return the exact posterior of the same table with each DAG counted once."""
    return bn.dag_posterior(posterior(case).table)


class Pile(View):
    """Draws piling up into edge probabilities, and their error beside Hoeffding's bound.

    Attributes
    ----------
    dataset, drawn : the controls; `drawn.value` DAGs are used, nested prefixes of one set
    bars, curve : the two `Panel`s, with sources "shares" and "measured"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        super().__init__(
            dataset=dataset_choice(DATASETS, data),
            drawn=size_slider("networks drawn", STOPS, 100),
        )

    def draw(self, dataset: Case, drawn: int) -> Board:
        """The edges least sure, and the errors of all so far."""
        exact, estimates, place = posterior(dataset).edges, _estimates(dataset), STOPS.index(drawn)
        off = ~np.eye(len(exact), dtype=bool)
        p, pairs = np.where(off, exact, 0.0), int(off.sum())
        unsure = np.argsort(-(p * (1 - p)), axis=None, kind="stable")[:MOST_BARS]
        ranked = unsure[np.argsort(-p.ravel()[unsure], kind="stable")]
        u, v = np.unravel_index(ranked, p.shape)
        labels = [_arrow(dataset, "→", *pair) for pair in zip(u, v, strict=True)]
        errors, spread = np.abs(estimates - exact)[:, off], hoeffding_margin(drawn, DELTA)
        largest, mean = errors.max(axis=1), errors.mean(axis=1)
        lines = {"largest error": largest, "mean error": mean}
        at_once = f"Hoeffding, all {pairs} edges at once"
        bounds = {at_once: DELTA / pairs, "Hoeffding, one edge": DELTA}
        curve = plots.error_curve(
            STOPS,
            {
                name: np.where(np.array(STOPS) <= drawn, line, np.nan)
                for name, line in lines.items()
            },
            {name: [hoeffding_margin(m, delta) for m in STOPS] for name, delta in bounds.items()},
            y_range=(3e-4, 3.0),
            title=f"Error of the {pairs} edge probabilities",
        )
        return {
            "bars": (
                plots.share_bars(estimates[place][u, v], exact[u, v], labels, margin=spread),
                f"Bars: share of {drawn:,} networks that have the edge, for the {len(labels)} "
                f"edges least sure. Whiskers: Hoeffding, ± {spread:.2g}. Diamonds: exact.",
            ),
            "curve": (
                curve,
                f"After {drawn:,} networks: largest error {largest[place]:.2g}, mean error "
                f"{mean[place]:.2g}. Each bound holds with probability {1 - DELTA:.2f} at a number "
                "of draws fixed in advance.",
            ),
        }


def _arrow(case: Case, arrow: str, u: int, v: int) -> str:
    return f" {arrow} ".join(rows(case).names[i].removesuffix("-square") for i in (u, v))


@cache
def _draws(case: Case) -> bn.Draws:
    return bn.sample_dags(posterior(case), draws=STOPS[-1], rng=np.random.default_rng(SEED))


@cache
def _estimates(case: Case) -> Floats:
    """Return the edges by the first DAGs, (stops, n, n)."""
    return np.array([features.edges(_draws(case).prefix(size)) for size in STOPS])


class Questions(View):
    """Questions about three variables, put to the same draws: edges, paths, combined paths.

    Parameters
    ----------
    draws : independent DAGs, from `bn.sample_dags`
    edges : (n, n) exact edge probabilities, for comparison
    start, via, end : names of the variables to begin with; the first three if not given

    Attributes
    ----------
    start, via, end : the three lists of variables
    bars : the `Panel`, with the source "answers"
    """

    def __init__(
        self,
        draws: bn.Draws,
        edges: Floats,
        *,
        start: str | None = None,
        via: str | None = None,
        end: str | None = None,
    ) -> None:
        self._draws, self._edges, names = draws, edges, draws.names
        super().__init__(
            start=choice("from", names, start or names[0]),
            via=choice("via", names, via or names[1]),
            end=choice("to", names, end or names[2]),
        )

    def draw(self, start: str, via: str, end: str) -> Board:
        """The answers for three different variables."""
        u, w, v = (self._draws.names.index(name) for name in (start, via, end))
        size = self._draws.values.shape[1]
        spread = hoeffding_margin(size, DELTA)
        shares, exact = np.full((2, len(ASKED)), np.nan).tolist()
        caption = "Choose three different variables."
        if len({u, w, v}) == 3:
            edge, path = features.edge(u, v), features.path(u, v)
            to, on = features.path(u, w), features.path(w, v)
            asked = (
                edge,
                features.limited_path(u, v, max_length=2),
                path,
                features.combined(path, absent=[edge]),
                features.combined(to, on),
                features.combined(path, absent=[to]),
                to,
                on,
            )
            shares = [features.probability(self._draws, feature).value for feature in asked]
            exact[0] = float(self._edges[u, v])
            caption = (
                f"{start} ⇝ {via} ⇝ {end}: {shares[4]:.3f}; the product of its two parts would be "
                f"{shares[-2] * shares[-1]:.3f}. Whiskers: Hoeffding with {size:,} networks, ± "
                f"{spread:.2g}. The exact posterior knows the edge (diamond) only."
            )
        picture = plots.share_bars(
            shares,
            exact,
            list(ASKED),
            margin=spread,
            name="answers",
            title="Share of the networks in which it holds",
            alt="Bars of the probabilities of an edge, of paths and of combined paths",
        )
        return {"bars": (picture, caption)}


class Certain(View):
    """The interval that is certain, closing as distinct DAGs come in [HeTianWu2016, eq. 26].

    Attributes
    ----------
    dataset, question, drawn : the controls; `drawn.value` DAGs, nested prefixes of one set
    panel : the `Panel`, with the sources "closing" and "closing_levels"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        dataset = dataset_choice(DATASETS, data)
        super().__init__(
            dataset=dataset,
            question=choice("question", list(_questions(dataset.value))),
            drawn=size_slider("networks drawn", STOPS, 200),
        )

    def settle(self, moved: str) -> None:
        """Offer the questions about another data set, and ask the first."""
        if moved == "dataset":
            self.controls["question"].options = list(_questions(self.controls["dataset"].value))

    def draw(self, dataset: Case, question: str, drawn: int) -> Board:
        """What the distinct networks so far leave open."""
        truth, other = _questions(dataset)[question][1:]
        shown = STOPS.index(drawn) + 1
        every, weighed = _answers(dataset, question)
        distinct, sound, now = _distinct(dataset)[shown - 1], every[:shown], every[shown - 1]
        picture = plots.closing(
            STOPS[:shown],
            [each.low for each in sound],
            [each.high for each in sound],
            {"IW-DDS": [each.value for each in sound], "weighed by 1/l(G)": weighed[:shown]},
            {"each network once, exact": truth, "each of its orders once, exact": other},
            most=STOPS[-1],
        )
        return {
            "panel": (
                picture,
                f"{question}: {drawn:,} networks, {distinct.values.shape[1]:,} distinct, with Δ = "
                f"{distinct.stats['mass'].item():.3f} of the posterior. For certain {now.low:.3f} "
                f"to {now.high:.3f}. IW-DDS says {now.value:.3f}, weights 1/l(G) say "
                f"{weighed[shown - 1]:.3f}; exact is {truth:.3f}.",
            )
        }


@cache
def _distinct(case: Case) -> list[bn.Draws]:
    log_z = dag_posterior(case).log_z
    return [bn.reweight_unique(_draws(case).prefix(size), log_z=log_z) for size in STOPS]


@cache
def _questions(case: Case) -> dict[str, tuple[features.Feature, float, float]]:
    """Return question -> feature, its exact structure-modular and order-modular probabilities.

    The edges and the paths about which the two posteriors differ most.
    """
    by_orders, exact = posterior(case), dag_posterior(case)
    out = {}
    for arrow, feature, truth, other in (
        ("→", features.edge, exact.edges, by_orders.edges),
        ("⇝", features.path, exact.ancestors, order_paths(by_orders)),
    ):
        for place in np.argsort(-np.abs(truth - other), axis=None, kind="stable")[:MOST_ASKED]:
            u, v = divmod(int(place), exact.table.n)
            out[_arrow(case, arrow, u, v)] = feature(u, v), float(truth[u, v]), float(other[u, v])
    return out


@cache
def _answers(case: Case, question: str) -> tuple[list[bn.FeatureEstimate], list[float]]:
    """Return the answer by the distinct DAGs at each stop, and that by weights of 1 / l(G)."""
    feature = _questions(case)[question][0]
    corrected = bn.reweight_by_extensions(_draws(case))
    sound = [features.probability(distinct, feature) for distinct in _distinct(case)]
    return sound, [features.probability(corrected.prefix(size), feature).value for size in STOPS]


def table_one(
    *,
    rng: np.random.Generator,
    data: bn.Data | None = None,
    runs: int = RUNS,
    draws: int = DRAWS,
    progress: Progress | None = None,
) -> Found:
    """Return the SAD of each run of DOS and DDS on tic-tac-toe and wine [HeTianWu2016, Table 1].

    A table of the reader's own, `data`, stands in the place of the two. `progress(done, total, the
    runs so far)` is called after each run; False stops.
    """
    cases: dict[str, Case] = {name: name for name, method in PUBLISHED if method == "DDS"}
    found: Found = {key: [] for key in PUBLISHED}
    if data is not None:
        cases, found = {OWN: data}, {(OWN, "DOS"): [], (OWN, "DDS"): []}
    for done, stream in enumerate(rng.spawn(runs), start=1):
        for name, case in cases.items():
            exact = posterior(case)
            for_orders, for_dags = stream.spawn(2)
            orders = bn.sample_orders(exact, draws=draws, rng=for_orders)
            dags = bn.sample_dags(exact, draws=draws, rng=for_dags)
            by_orders, by_dags = features.edges(orders, table=exact.table), features.edges(dags)
            for method, edges in (("DOS", by_orders), ("DDS", by_dags)):
                sad = bn.diagnostics.sad(edges, exact.edges)
                found = {**found, (name, method): [*found[name, method], sad]}
        if progress is not None and progress(done, runs, found) is False:
            break
    return found


class TableOne(Experiment):
    """Table 1 on tic-tac-toe and wine, run again beside the printed numbers; other seeds each time.

    On a table of your own there are no printed numbers.

    Attributes
    ----------
    found : (data set, method) -> SAD of each run, as `table_one` returns
    panel : the `Panel`, with the sources "published" and "published_runs"
    """

    def __init__(
        self, data: bn.Data | None = None, *, runs: int = RUNS, draws: int = DRAWS
    ) -> None:
        self._rng, self._runs, self._draws = np.random.default_rng(SEED), runs, draws
        self._data, self._printed = data, PUBLISHED
        if data is not None:
            self._printed = {(OWN, method): (np.nan, np.nan) for method in ("DOS", "DDS")}
        nothing: Found = {key: [] for key in self._printed}
        super().__init__(nothing=nothing, label="Run again", unit="runs")

    def compute(self, progress: Progress, /) -> Found:
        """Return the errors of fresh runs."""
        return table_one(
            rng=self._rng, data=self._data, runs=self._runs, draws=self._draws, progress=progress
        )

    def draw(self, found: Found) -> Board:
        """Our errors beside the printed ones."""
        done = len(next(reversed(found.values())))
        picture = plots.published(
            list(self._printed.values()),
            list(found.values()),
            [f"{name.replace('_', '-')}, {method}" for name, method in found],
        )
        caption = (
            f"{done} runs of DOS and DDS on each data set. PO-MCMC, a Markov chain over partial "
            "orders, is as printed."
        )
        return {"panel": (picture, caption if done else "Not run yet.")}
