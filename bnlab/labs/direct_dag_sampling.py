"""The views and the checks of notebooks/05_direct_dag_sampling.ipynb.

Independent DAGs from the exact order-modular posterior: how they pile up into probabilities, what
can be asked of them, and what they tell of the posterior that counts each DAG once.
"""

from collections.abc import Callable
from functools import cache
from math import exp, sqrt
from numbers import Integral
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import features, graphs, hoeffding_margin, plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.exact import order_paths
from bnlab.labs.board import (
    OWN,
    Case,
    check,
    choice,
    dataset_choice,
    k2_posterior as posterior,
    rows,
    setup as setup,
    size_slider,
)
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.htw2016.printed import TABLE_1
from bnlab.papers.htw2016.study import repeated_edges as repeated_edges

PUBLISHED = {key: TABLE_1[key] for key in TABLE_1 if key[0] in ("tic_tac_toe", "wine")}
"""Mean and standard deviation of the SAD over 15 runs of 20,000 draws [HeTianWu2016, Table 1]."""

SEED = 2016
DRAWS = 20_000
RUNS = 15
DELTA = 0.05
DATASETS = ("tic-tac-toe", "wine", "coronary")
MOST_BARS = 12
MOST_ASKED = 4
STOPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, DRAWS)

Found = dict[tuple[str, str], list[float]]
"""(data set, method) -> SAD of each run."""


@cache
def dag_posterior(case: Case) -> bn.DagPosterior:
    """Return the exact posterior of the same table with each DAG counted once."""
    return bn.dag_posterior(posterior(case).table)


class Pile(View):
    """Draws piling up into edge probabilities, and their error beside Hoeffding's bound.

    Controls `dataset` and `drawn`, the number of DAGs, nested prefixes of one set; panels `bars`
    and `curve`.
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
        so_far = np.where(np.array(STOPS) <= drawn, (largest, mean), np.nan)
        at_once = f"Hoeffding, all {pairs} edges at once"
        bounds = {at_once: DELTA / pairs, "Hoeffding, one edge": DELTA}
        curve = plots.error_curve(
            STOPS,
            {"largest error": so_far[0], "mean error": so_far[1]},
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

    Controls `start`, `via` and `end`; panel `bars`.

    Parameters
    ----------
    draws : independent DAGs, from `bn.sample_dags`
    edges : (n, n) exact edge probabilities, for comparison
    start, via, end : names of the variables to begin with; the first three if not given
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
        caption, differ = "Choose three different variables.", len({u, w, v}) == 3
        asked = _asked(u, w, v) if differ else _asked(0, 1, 2)
        shares, exact = np.full((2, len(asked)), np.nan).tolist()
        if differ:
            values = asked.values()
            shares = [features.probability(self._draws, feature).value for feature in values]
            exact[0] = float(self._edges[u, v])
            caption = (
                f"{start} ⇝ {via} ⇝ {end}: {shares[4]:.3f}; the product of its two parts would be "
                f"{shares[-2] * shares[-1]:.3f}. Whiskers: Hoeffding with {size:,} networks, ± "
                f"{spread:.2g}. The exact posterior knows the edge (diamond) only."
            )
        picture = plots.share_bars(
            shares,
            exact,
            list(asked),
            margin=spread,
            name="answers",
            title="Share of the networks in which it holds",
            alt="Bars of the probabilities of an edge, of paths and of combined paths",
        )
        return {"bars": (picture, caption)}


def _asked(u: int, w: int, v: int) -> dict[str, features.Feature]:
    """Return what is asked of three variables: from u, via w, to v."""
    edge, path = features.edge(u, v), features.path(u, v)
    to, on = features.path(u, w), features.path(w, v)
    return {
        "edge from → to": edge,
        "path of at most 2 edges": features.limited_path(u, v, max_length=2),
        "path from ⇝ to": path,
        "path, but no edge": features.combined(path, absent=[edge]),
        "from ⇝ via and via ⇝ to": features.combined(to, on),
        "from ⇝ to, not from ⇝ via": features.combined(path, absent=[to]),
        "from ⇝ via": to,
        "via ⇝ to": on,
    }


class Certain(View):
    """The interval that is certain, closing as distinct DAGs come in [HeTianWu2016, eq. 26].

    Controls `dataset`, `question` and `drawn`, the number of DAGs, nested prefixes of one set;
    panel `panel`.
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


class TableOne(Experiment):
    """Table 1 on tic-tac-toe and wine, run again beside the printed numbers; other seeds each time.

    On a table of your own there are no printed numbers.

    Panel `panel`; `found` is (data set, method) -> SAD of each run.
    """

    def __init__(
        self, data: bn.Data | None = None, *, runs: int = RUNS, draws: int = DRAWS
    ) -> None:
        self._rng, self._runs, self._draws = np.random.default_rng(SEED), runs, draws
        self._cases: dict[str, Case] = {name: name for name, _ in PUBLISHED}
        self._printed = PUBLISHED
        if data is not None:
            self._cases = {OWN: data}
            self._printed = {(OWN, method): (np.nan, np.nan) for method in ("DOS", "DDS")}
        nothing: Found = {key: [] for key in self._printed}
        super().__init__(nothing=nothing, label="Run again", unit="runs")

    def compute(self, progress: Progress, /) -> Found:
        """Return the errors of fresh runs of DOS and DDS."""
        found: Found = {key: [] for key in self._printed}
        for done, stream in enumerate(self._rng.spawn(self._runs), start=1):
            for name, case in self._cases.items():
                exact = posterior(case)
                for_orders, for_dags = stream.spawn(2)
                orders = bn.sample_orders(exact, draws=self._draws, rng=for_orders)
                dags = bn.sample_dags(exact, draws=self._draws, rng=for_dags)
                by_orders, by_dags = features.edges(orders, table=exact.table), features.edges(dags)
                for method, edges in (("DOS", by_orders), ("DDS", by_dags)):
                    sad = bn.diagnostics.sad(edges, exact.edges)
                    found = {**found, (name, method): [*found[name, method], sad]}
            if not progress(done, self._runs, found):
                break
        return found

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


def check_draws_for_all(function: Callable[[float, float, int], Any]) -> bool:
    """Exercise 1: `function(eps, delta, count)` draws put `count` probabilities within eps."""

    def misses(draws: float, eps: float, count: int) -> float:
        return 2 * count * exp(-2 * draws * eps**2)

    return check(
        "Exercise 1",
        "return a whole number of draws, at least 1",
        lambda: isinstance(function(0.1, 0.05, 10), Integral) and function(0.1, 0.05, 10) >= 1,
        "one probability is the case that bn.hoeffding_draws knows",
        lambda: function(0.03, 0.01, 1) == bn.hoeffding_draws(0.03, 0.01),
        "more probabilities need more draws",
        lambda: function(0.02, 0.05, 156) > function(0.02, 0.05, 90) > function(0.02, 0.05, 1),
        "it is a waste to draw afresh for each: one set of draws serves them all",
        lambda: function(0.02, 0.05, 156) < 4 * function(0.02, 0.05, 1),
        "each may miss with probability at most delta / count, so that all together "
        "miss with probability at most delta",
        lambda: misses(function(0.02, 0.05, 156), 0.02, 156) <= 0.05,
        "one draw less would do as well",
        lambda: misses(function(0.02, 0.05, 156) - 1, 0.02, 156) > 0.05,
    )


def check_common_cause(function: Callable[[Ints, int, int], Any]) -> bool:
    """Exercise 2: `function(dags, u, v)` says in which DAGs a third variable leads to both."""
    dags = graphs.all_dags(4)
    reach = graphs.to_adjacency(graphs.ancestors(dags))
    truth = np.array([any(r[w, 0] and r[w, 1] for w in range(4)) for r in reach])

    def result(u: int, v: int) -> Bools:
        return np.asarray(function(dags.copy(), u, v), bool)

    def of(*masks: int) -> bool:
        return bool(np.asarray(function(np.array([masks]), 0, 1)).all())

    return check(
        "Exercise 2",
        "return one truth value a DAG",
        lambda: result(0, 1).shape == (len(dags),),
        "the fork 0 ← 2 → 1 (masks 4, 4, 0) has a common cause",
        lambda: of(4, 4, 0),
        "0 → 1 alone (masks 0, 1, 0) has none: 0 does not lead to itself",
        lambda: not of(0, 1, 0),
        "a cause may act through others: 2 → 3 → 1 and 2 → 0 (masks 4, 8, 0, 4)",
        lambda: of(4, 8, 0, 4),
        "u and v can change places",
        lambda: np.array_equal(result(0, 1), result(1, 0)),
        "your answer differs from a search of every DAG on 4 nodes",
        lambda: np.array_equal(result(0, 1), truth),
    )


def check_certain(function: Callable[[Ints, Floats, Bools, float], tuple[float, float]]) -> bool:
    """Exercise 3: `function(dags, log_target, has, log_z)` is the interval of IW-DDS."""
    path, log_z = bn.features.path(0, 3), dag_posterior("coronary").log_z
    draws = bn.sample_dags(posterior("coronary"), draws=300, rng=np.random.default_rng(SEED))
    dags, log_target, each = draws.values[0], draws.log_target[0], np.arange(300)
    has = np.asarray(path(dags), bool)
    expected = bn.features.probability(bn.reweight_unique(draws, log_z=log_z), path)
    few = bn.load_dataset("coronary").select(draws.names[:3])
    three = bn.score_families(few, bn.K2(), max_parents=2, prior=bn.Fair())

    def result(rows: Ints) -> Floats:
        return np.asarray(function(dags[rows], log_target[rows], has[rows], log_z), float)

    def of_all_dags() -> tuple[float, float]:
        everything = graphs.all_dags(3)
        log_targets = three.log_target(everything)
        yes = np.asarray(bn.features.edge(0, 1)(everything), bool)
        return function(everything, log_targets, yes, float(np.logaddexp.reduce(log_targets)))

    return check(
        "Exercise 3",
        "return two numbers, low and high",
        lambda: result(each).shape == (2,),
        "one network alone: its own posterior probability counts, exp(log_target - log_z)",
        lambda: np.allclose(np.diff(result(np.array([0]))), 1 - exp(log_target[0] - log_z)),
        "a network that is drawn twice counts once",
        lambda: np.allclose(result(np.zeros(2, int)), result(np.array([0]))),
        "nothing is left open once every network was drawn",
        lambda: np.ptp(of_all_dags()) < 1e-9,
        "and then the answer is the exact probability",
        lambda: np.isclose(of_all_dags()[0], bn.dag_posterior(three).edges[0, 1]),
        "300 draws: low and high differ from those of bn.features.probability",
        lambda: np.allclose(result(each), (expected.low, expected.high)),
    )


def check_interval(function: Callable[[Bools, float], tuple[float, float]]) -> bool:
    """Exercise 4: `function(hits, delta)` is an interval narrower than Hoeffding's, as safe."""
    size, runs, delta = 1000, 4000, 0.05

    @cache
    def interval(count: int) -> tuple[float, float]:
        low, high = function(np.arange(size) < count, delta)
        return float(low), float(high)

    def miss_rate(p: float) -> float:
        counts = np.random.default_rng(SEED).binomial(size, p, runs)
        return float(np.mean([not interval(k)[0] <= p <= interval(k)[1] for k in counts.tolist()]))

    def width(count: int) -> float:
        return interval(count)[1] - interval(count)[0]

    allowed = delta + 3 * sqrt(delta * (1 - delta) / runs)
    return check(
        "Exercise 4",
        "return two numbers, low and high",
        lambda: np.shape(function(np.arange(size) < 10, delta)) == (2,),
        "low and high lie in [0, 1] and the share of hits between them",
        lambda: all(
            0 <= interval(k)[0] <= k / size <= interval(k)[1] <= 1
            for k in (0, 1, 10, 500, 999, 1000)
        ),
        "10 hits in 1,000 draws: make the interval less than half as wide as Hoeffding's",
        lambda: width(10) < 0.5 * (0.01 + hoeffding_margin(size, delta)),
        "500 hits in 1,000 draws: no wider than Hoeffding's, up to a thousandth",
        lambda: width(500) <= 2 * hoeffding_margin(size, delta) + 0.001,
        "it misses a probability of 1/2 too often",
        lambda: miss_rate(0.5) <= allowed,
        "it misses small or large probabilities (0.001, 0.003, 0.01, 0.1, 0.98) too often",
        lambda: all(miss_rate(p) <= allowed for p in (0.001, 0.003, 0.01, 0.1, 0.98)),
    )
