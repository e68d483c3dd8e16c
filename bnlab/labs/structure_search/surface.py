"""The scores of all networks: classes that score alike, climbs, the best, and averages."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import (
    DATASETS,
    Case,
    bdeu_table,
    choice,
    dataset_choice,
    rows,
    size_slider,
    step_slider,
    title,
)
from bnlab.labs.view import Board, View

SEED = 2022
MAX_PARENTS = 3
BDEU = bn.BDeu(1.0)
MARGIN = 1e-6  # nats; scores nearer than this are one score, summed in another order
COUNTS = (1, 3, 10, 30, 100, 300, 1000)  # the k best networks
SQUARES = ("a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1", "won")

data, table = rows, bdeu_table
"""As the lab calls them: all rows of a case, and its BDeu scores with up to three parents."""

DRAWN = 8  # members of a class, at most
WALKS: Mapping[str, int] = {"plain climb": 0, "with a tabu list of 5": 5}
SHOWN_STEPS = 40
KINDS = ("add", "delete", "reverse")
MOST_PAIRS = 10


def scored(chosen: bn.Data, score: bn.Score = BDEU, /) -> bn.ScoreTable:
    """The scores of families of up to three parents, BDeu with ess 1 by default; each DAG alike."""
    return bn.score_families(chosen, score, max_parents=MAX_PARENTS)


@cache
def best(case: Case) -> bn.BestDags:
    """The network of highest score of a case, by the exact dynamic program."""
    return bn.map_dag(table(case))


def below(case: Case, log_target: float, /) -> float:
    """How many nats a score is below the best there is; 0 within rounding."""
    gap = float(best(case).log_target[0] - log_target)
    return gap if gap > MARGIN else 0.0


def names(case: Case, /) -> tuple[str, ...]:
    """Return the names of the variables, squares of the board as in chess."""
    return SQUARES if case == "tic-tac-toe" else data(case).names


@cache
def classes(case: Case, first: int = 4) -> tuple[Floats, tuple[Ints, ...]]:
    """The Markov equivalence classes of the first variables, best first: scores and members.

    Returns
    -------
    tuple
        (C,) nats, and C arrays (members, n).
    """
    few = data(case).select(data(case).names[:first])
    dags = bn.graphs.all_dags(first)
    log_target = bn.score_families(few, bn.BDeu(1.0)).log_target(dags)
    _, number = np.unique(bn.graphs.cpdag(dags), axis=0, return_inverse=True)
    groups = [np.flatnonzero(number == c) for c in range(number.max() + 1)]
    groups.sort(key=lambda group: (-round(float(log_target[group[0]]), 6), group[0]))
    return log_target[[group[0] for group in groups]], tuple(dags[group] for group in groups)


class Average(NamedTuple):
    """An average over the k best networks."""

    edges: Floats  # (n, n) probabilities
    mass: float  # the posterior probability of the k networks together
    classes: int  # how many Markov equivalence classes they are of


@cache
def exact(case: Case) -> bn.DagPosterior:
    """The exact structure-modular posterior of a case."""
    return bn.dag_posterior(table(case))


@cache
def _listed(case: Case) -> bn.BestDags:
    return bn.k_best_dags(table(case), COUNTS[-1])


@cache
def average(case: Case, k: int) -> Average:
    """The k best networks of a case, weighed by their probabilities."""
    first = _first(_listed(case), k)
    draws = first.as_draws(log_z=exact(case).log_z)
    edges: Floats = bn.features.edges(draws)
    return Average(edges, float(draws.stats["mass"][0]), count_classes(first.dags))


def count_classes(dags: Ints, /) -> int:
    """How many Markov equivalence classes DAGs (k, n) are of."""
    return len(np.unique(bn.graphs.cpdag(dags), axis=0))


def close_calls(case: Case, score: bn.Score, factor: float = 3.0, most: int = 250) -> bn.BestDags:
    """All DAGs within a Bayes factor of the best one, under a score of a case.

    Raises
    ------
    ValueError
        If there are more than `most`.
    """
    listed = bn.k_best_dags(scored(data(case), score), most)
    count = int((listed.log_target > listed.log_target[0] - np.log(factor)).sum())
    if count == most:
        raise ValueError(f"more than {most} DAGs within a factor of {factor:g}: raise most")
    return _first(listed, count)


def _first(listed: bn.BestDags, count: int) -> bn.BestDags:
    columns = ("dags", "log_target", "log_weight")
    return replace(listed, **{name: getattr(listed, name)[:count] for name in columns})


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
        count = len(classes(self._case)[0])
        super().__init__(rank=step_slider("class, from the best", 1, 1, count))

    def draw(self, rank: int) -> Board:
        """The members of one class, and the class."""
        scores, groups = classes(self._case)
        members, shown = groups[rank - 1], groups[rank - 1][:DRAWN]
        own, whole = bn.graphs.to_adjacency(shown), bn.graphs.cpdag(shown[0])
        picture = plots.graph_gallery(
            np.concatenate([own, whole[None]]),
            names(self._case)[:4],
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
        step = step_slider("steps made", 0, 0, last, "420px")
        super().__init__(dataset=dataset, walk=walk, step=step)

    def settle(self, moved: str) -> None:
        """Begin another climb at its start."""
        dataset, walk, step = self.controls.values()
        if moved != "step":
            step.value, step.max = 0, _last_step(dataset.value, walk.value)

    def draw(self, dataset: Case, walk: str, step: int) -> Board:
        """The network so far, and what each next move gains."""
        climb, labels = climbed(dataset, WALKS[walk]), names(dataset)
        gains = move_gains(table(dataset), climb.path[step])
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
                f"{last} ln p(G, D) = {now:.2f}, {below(dataset, now):.2f} nats below the "
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
    return bn.hill_climb(table(case), tabu=tabu, rng=np.random.default_rng(0))


def _last_step(case: Case, walk: str) -> int:
    return min(SHOWN_STEPS, len(climbed(case, WALKS[walk]).steps))


@cache
def _places(case: Case) -> Floats:
    end = climbed(case, 0).dag
    return plots.network_positions(bn.graphs.to_adjacency(end).astype(float))


class Averages(View):
    """The k best networks together, beside the exact average over all.

    Controls `dataset` and `count`, k; panels `heat` and `pairs`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        for case in DATASETS if data is None else (data,):  # now, so that the slider answers
            for k in COUNTS:
                average(case, k)
        super().__init__(
            dataset=dataset_choice(DATASETS, data),
            count=size_slider("the k best networks, k", COUNTS),
        )

    def draw(self, dataset: Case, count: int) -> Board:
        """The edges by the k best, and the pairs that the winner gets most wrong."""
        here, labels = average(dataset, count), names(dataset)
        true, best = exact(dataset).edges, average(dataset, 1).edges
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
