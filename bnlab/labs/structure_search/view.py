"""Classes, climbs, a clock, known networks and averages: searches compared."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import ipywidgets as widgets
import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import DATASETS, Case, choice, dataset_choice, size_slider, title
from bnlab.labs.structure_search import compared
from bnlab.labs.structure_search.compared import CHANGES, NETWORKS, ROWS, SEARCHES
from bnlab.labs.view import Board, Experiment, Progress, View

DRAWN = 8  # members of a class, at most
WALKS: Mapping[str, int] = {"plain climb": 0, "with a tabu list of 5": 5}
SHOWN_STEPS = 40
KINDS = ("add", "delete", "reverse")
TIMES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # seconds
SOME_CHANGES = (2, 4, 8, 16, 32)
RECOVERED = ("hill climbing", "GES")
FIRST_DRAWN = 12
MOST_PAIRS = 10


def _step_slider(label: str, value: int, low: int, high: int, width: str = "460px") -> Any:
    slider = widgets.IntSlider(value, low, high, description=label, continuous_update=False)
    slider.style.description_width = "initial"
    slider.layout.width = width
    return slider


def _dags_on(count: int, noun: str, plural: str = "s") -> str:
    return f"{count} {noun}{plural * (count != 1)}"


class Plateaus(View):
    """Four variables of the coronary data: 543 DAGs on 185 plateaus, one at a time.

    Control `rank`, 1 for the class of highest score; panel `panel`.

    Parameters
    ----------
    data : a table of your own, of which the first four variables are taken
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "coronary" if data is None else data
        count = len(compared.classes(self._case)[0])
        super().__init__(rank=_step_slider("class, from the best", 1, 1, count))

    def draw(self, rank: int) -> Board:
        """The members of one class, and the class."""
        scores, groups = compared.classes(self._case)
        members, shown = groups[rank - 1], groups[rank - 1][:DRAWN]
        own, whole = bn.graphs.to_adjacency(shown), bn.graphs.cpdag(shown[0])
        picture = plots.graph_gallery(
            np.concatenate([own, whole[None]]),
            compared.names(self._case)[:4],
            [*[f"{scores[rank - 1]:.3f}"] * len(shown), "the class"],
            np.concatenate([own & ~whole.T, (whole & ~whole.T)[None]]),
            across=3,
            title=f"Class {rank} of {len(scores)}: ln p(D | G) of each member, nats",
            alt="Drawings of the DAGs of one class and of the class, directions in common marked",
        )
        caption = (
            f"{_dags_on(len(members), 'DAG')} with this score, {scores[0] - scores[rank - 1]:.2f} "
            f"nats below the best; "
            f"{_dags_on(len(bn.graphs.v_structures(members[0])), 'v-structure')}. Marked: the "
            "directions that all members share."
        )
        if len(members) > DRAWN:
            caption += f" Drawn are {DRAWN} of them."
        return {"panel": (picture, caption)}


class Steps(View):
    """Hill climbing from the empty network, step by step, with the gains of all next moves.

    Controls `dataset`, `walk` and `step`, the number of steps made; panels `net` and `gains`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        dataset = dataset_choice(DATASETS, data)
        walk = choice("search", list(WALKS))
        last = _last_step(dataset.value, walk.value)
        step = _step_slider("steps made", 0, 0, last, "420px")
        super().__init__(dataset=dataset, walk=walk, step=step)

    def settle(self, moved: str) -> None:
        """Begin another climb at its start."""
        dataset, walk, step = self.controls.values()
        if moved != "step":
            step.value, step.max = 0, _last_step(dataset.value, walk.value)

    def draw(self, dataset: Case, walk: str, step: int) -> Board:
        """The network so far, and what each next move gains."""
        climb, labels = climbed(dataset, WALKS[walk]), compared.names(dataset)
        gains = move_gains(compared.table(dataset), climb.path[step])
        moves, now = gains[np.isfinite(gains)], float(climb.trace[step])
        last = "The empty network."
        if step:
            kind, u, v = climb.steps[step - 1]
            gain = climb.trace[step] - climb.trace[step - 1]
            last = f"Step {step}: {KINDS[kind]} {labels[u]} → {labels[v]}, {gain:+.2f} nats."
        net = plots.network(
            bn.graphs.to_adjacency(climb.path[step]).astype(float),
            labels,
            _places(dataset),
            name="climbed",
            title="The network so far",
            alt="The network after the steps made so far",
        )
        return {
            "net": (
                net,
                f"{last} ln p(G, D) = {now:.2f}, {compared.below(dataset, now):.2f} nats below the "
                "exact best.",
            ),
            "gains": (
                plots.move_gains(gains, labels),
                f"{moves.size} moves: {(moves > 1e-7).sum()} gain, "
                f"{(np.abs(moves) <= 1e-7).sum()} change nothing, {(moves < -1e-7).sum()} lose.",
            ),
        }


def move_gains(scores: bn.ScoreTable, dag: Ints, /) -> Floats:
    """What each next move gains, (n, n) nats: [u, v] is for the pair u, v.

    Where u -> v is there, of taking it away; where v -> u is there, of turning it round; else of
    adding u -> v. nan where that closes a cycle or makes too many parents, and for u = v.
    """
    gains = np.full((dag.size, dag.size), np.nan)
    now = scores.log_target(dag[None])[0]
    for u, v in np.argwhere(~np.eye(dag.size, dtype=bool)):
        after = dag.copy()
        after[u] &= ~(np.int64(1) << v)
        closes = bn.graphs.ancestors(after)[u] >> v & 1  # a path from v to u
        if dag[v] >> u & 1 or not closes:
            after[v] ^= np.int64(1) << u
            gains[u, v] = scores.log_target(after[None])[0] - now
    gains[np.isinf(gains)] = np.nan
    return gains


@cache
def climbed(case: Case, tabu: int) -> bn.Climb:
    """Return the climb from the empty network, as shown by `Steps`."""
    return bn.hill_climb(compared.table(case), tabu=tabu, rng=np.random.default_rng(0))


def _last_step(case: Case, walk: str) -> int:
    return min(SHOWN_STEPS, len(climbed(case, WALKS[walk]).steps))


@cache
def _places(case: Case) -> Floats:
    end = climbed(case, 0).dag
    return plots.network_positions(bn.graphs.to_adjacency(end).astype(float))


class Clock(Experiment):
    """Four ways out of local optima: the share of searches that are there, against time.

    Controls `dataset` and `changes` to the perturbed network; panel `panel`; `found` is method ->
    (seconds until the best network, seconds in all) of each search.

    Parameters
    ----------
    data : a table of your own, in the place of the data sets
    climbs : method -> climbs of a search
    searches : of each method
    """

    def __init__(
        self,
        data: bn.Data | None = None,
        *,
        climbs: Mapping[str, int] = compared.CLIMBS,
        searches: int = SEARCHES,
    ) -> None:
        self._climbs, self._searches = climbs, searches
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "tic-tac-toe"),
            changes=size_slider("changes to a perturbed network", SOME_CHANGES, CHANGES),
            nothing={method: [] for method in climbs},
            unit="searches by each method",
        )

    def compute(self, progress: Progress, /, dataset: Case, changes: int) -> compared.Found:
        """Return the times of searches by every method in turn.

        The seconds until the best network are the search's own, in proportion to its climbs.
        """
        found: compared.Found = {method: [] for method in self._climbs}
        rngs = np.random.default_rng(compared.SEED).spawn(self._searches)
        for done, rng in enumerate(rngs, start=1):
            for method, count in self._climbs.items():
                climb = compared.search(dataset, method, count, rng.spawn(1)[0], changes=changes)
                share = compared.first_hit(dataset, climb) / len(climb.ends)
                times = share * climb.run.seconds, climb.run.seconds
                found = {**found, method: [*found[method], times]}
            if not progress(done, self._searches, found):
                break
        return found

    def draw(self, found: compared.Found, dataset: Case, changes: int) -> Board:
        """The share of searches that are at the exact best by each time."""
        by, runs = compared.shares(found, TIMES), len(next(iter(found.values())))
        picture = plots.time_curves(
            {method: {"": (TIMES, by[method])} for method in self._climbs},
            y_label="share of searches at the best network",
            y_range=(-0.03, 1.03),
            x_label="time of the search (seconds)",
            name="reached",
            title="Who has reached the exact best by when",
            alt="Share of searches that have reached the best network against time, four methods",
        )
        caption = f"Press Run: {self._searches} searches by each method, one after the other."
        if runs:
            rates = [
                f"{method} {1e3 * np.median([end for _, end in done]) / self._climbs[method]:.2g}"
                for method, done in found.items()
            ]
            caption = (
                f"{title(dataset)}, {runs} searches. Milliseconds a climb: {', '.join(rates)}."
            )
        return {"panel": (picture, caption)}


class Recovery(View):
    """How far searches end from the class of a known network, as rows are added.

    Controls `network`, `rows` and `which`, the number of the data set drawn; panels `curves` and
    `gallery`.

    Parameters
    ----------
    net : a network of your own, in the place of those on the list
    """

    beside = (("curves",), ("gallery",))

    def __init__(self, net: bn.BayesNet | None = None) -> None:
        network = dataset_choice(list(NETWORKS), net, label="network")
        for each in NETWORKS if net is None else (net,):  # now, so that controls answer at once
            compared.distances(each)
        count = len(compared.truths(network.value))
        which = _step_slider("data set drawn", min(FIRST_DRAWN, count), 1, count, "300px")
        super().__init__(network=network, rows=size_slider("rows", ROWS, ROWS[-1]), which=which)

    def settle(self, moved: str) -> None:
        """Offer the data sets of another network."""
        if moved == "network":
            self.controls["which"].max = len(compared.truths(self.controls["network"].value))

    def draw(self, network: str | bn.BayesNet, rows: int, which: int) -> Board:
        """Mean distances of the classes, and those found in one data set."""
        off, net = compared.distances(network), compared.truths(network)[which - 1]
        true, dags = bn.graphs.cpdag(net.dag), compared.found_dags(network, which - 1, rows)
        others = {search: bn.graphs.cpdag(dags[search]) for search in RECOVERED}
        graphs = np.array([true, *others.values()])
        curves = plots.time_curves(
            {search: {"": (ROWS, values.mean(axis=0))} for search, values in off.items()},
            y_label="pairs joined in another way (mean)",
            y_range=(-0.3, 9.3),
            x_label="rows",
            name="distance",
            title="Distance of the class found from the true one",
            alt="Mean structural Hamming distance of four searches against the number of rows",
        )
        gallery = plots.graph_gallery(
            graphs,
            [label if len(label) <= 8 else label[:7] + "…" for label in net.names],
            [
                "the true class",
                *(f"{name}: {compared.apart(g, true)} off" for name, g in others.items()),
            ],
            graphs != true,
            across=3,
            title=f"Data set {which}, {rows:,} rows (marked: not as in the true class)",
            alt="The true class and those found by hill climbing and GES, differences marked",
        )
        means = [f"{search} {d[:, ROWS.index(rows)].mean():.2f}" for search, d in off.items()]
        named = network if isinstance(network, str) else "your network"
        return {
            "curves": (curves, f"{named}: mean of {len(compared.truths(network))} data sets."),
            "gallery": (gallery, f"Mean of all data sets at these rows: {', '.join(means)}."),
        }


class Averages(View):
    """The k best networks together, beside the exact average over all.

    Controls `dataset` and `count`, k; panels `heat` and `pairs`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        for case in DATASETS if data is None else (data,):  # now, so that the slider answers
            for k in compared.COUNTS:
                compared.average(case, k)
        super().__init__(
            dataset=dataset_choice(DATASETS, data),
            count=size_slider("the k best networks, k", compared.COUNTS),
        )

    def draw(self, dataset: Case, count: int) -> Board:
        """The edges by the k best, and the pairs that the winner gets most wrong."""
        here, labels = compared.average(dataset, count), compared.names(dataset)
        true, best = compared.exact(dataset).edges, compared.average(dataset, 1).edges
        order = np.argsort(-np.abs(best - true).round(9), axis=None, kind="stable")[:MOST_PAIRS]
        pairs = plots.answer_pairs(
            here.edges.ravel()[order],
            true.ravel()[order],
            [f"{labels[i // len(labels)]} → {labels[i % len(labels)]}" for i in order],
            posteriors=("the k best", "all DAGs, exact"),
            title="Edges that the winner gets most wrong",
            x_label="probability of the edge",
            alt="Ten edges: their probabilities by the k best networks and by all of them",
        )
        heading, sad = "Edges, by the k best networks", bn.diagnostics.sad(here.edges, true)
        many = f"{count:,} networks of {_dags_on(here.classes, 'class', 'es')}"
        if count == 1:
            many = "The best network alone"
        return {
            "heat": (
                plots.heat_map(here.edges, labels, name="averaged", title=heading),
                f"{title(dataset)}. {many}: {here.mass:.1%} of the posterior probability.",
            ),
            "pairs": (pairs, f"SAD of all edges from the exact ones: {sad:.2f}."),
        }
