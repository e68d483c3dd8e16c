"""The views and the checks of notebooks/13_structure_search.ipynb.

Searches for one good DAG, the classes of DAGs that score alike, and what the best one alone hides.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs import board
from bnlab.labs.board import (
    DATASETS,
    Case,
    bdeu_table as table,
    dag_posterior as exact,
    parent_sets,
    rows as data,
    setup as setup,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.structure_mcmc import Dag
from bnlab.labs.view import Board, View
from bnlab.search.climbs import KINDS

SEED = 2022
MARGIN = 1e-6  # nats; scores nearer than this are one score, summed in another order
COUNTS = (1, 3, 10, 30, 100, 300, 1000)  # the k best DAGs
MOST_MEMBERS = 60  # of a class, in the widget
WALKS: Mapping[str, int] = {"plain climb": 0, "with a tabu list of 10": 10}
SHOWN_STEPS, SEEDS, MOST_PAIRS = 40, 3, 10
Score = Callable[[int, Iterable[int]], float]
DELETING = 32  # the number of a network on which GES deletes


@cache
def best(case: Case) -> bn.BestDags:
    """The DAG of highest score of a case, by the exact dynamic program."""
    return bn.map_dag(table(case))


def below(case: Case, log_target: float, /) -> float:
    """How many nats a score is below the best there is; 0 within rounding."""
    gap = float(best(case).log_target[0] - log_target)
    return gap if gap > MARGIN else 0.0


def names(case: Case, /) -> tuple[str, ...]:
    """Return the variables' numbers and names; of the squares of the board the numbers alone."""
    told = [f"{v} {name}" for v, name in enumerate(data(case).names)]
    return (*"012345678", "9 x won") if case == "tic-tac-toe" else tuple(told)


@cache
def classes(case: Case) -> tuple[tuple[Ints, ...], ...]:
    """Members of each class that the insertions of GES pass on a case, the first few of each."""
    search = bn.ges(table(case))
    grown = 1 + sum(step.kind == "insert" for step in search.steps)
    return tuple(tuple(_members(dag)) for dag in search.dags[:grown])


def _members(dag: Ints) -> list[Ints]:
    found = [dag]
    for here in found:  # which grows
        for u, v in bn.graphs.to_edges(here):
            other = _changed(here, "reverse", u, v)
            covered = here[v] == here[u] | 1 << u  # reversed, it stays in the class
            if covered and not (np.array(found) == other).all(axis=1).any():
                found.append(other)
        if len(found) >= MOST_MEMBERS:
            break
    return found[:MOST_MEMBERS]


@cache
def additions(case: Case, edges: int) -> Floats:
    """What each edge gains that can be added to each member of a class, nats; nan if it cannot."""
    joined = bn.graphs.to_adjacency(np.array(classes(case)[edges])).astype(bool)
    gains = [move_gains(table(case), dag) for dag in classes(case)[edges]]
    return np.where(joined | joined.swapaxes(1, 2), np.nan, gains)


@cache
def average(case: Case, k: int) -> tuple[Floats, float, int]:
    """Edges (n, n) by the k best DAGs, their posterior mass, and the number of their classes."""
    draws = _listed(case).prefix(k)
    classes = len(np.unique(bn.graphs.cpdag(draws.values[0]), axis=0))
    return bn.features.edges(draws), float(draws.stats["mass"][0]), classes


@cache
def _listed(case: Case) -> bn.Draws:
    return bn.k_best_dags(table(case), COUNTS[-1]).as_draws(log_z=exact(case).log_z)


class Members(View):
    """The members of a class on the way of GES, and what an edge added to each of them gains."""

    stepped = "member"

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "coronary" if data is None else data
        passed = classes(self._case)
        last = len(passed) - 1
        edges = board.step_slider("edges inserted", min(5, last), 0, last, "420px")
        member = board.step_slider("member", 1, 1, len(passed[edges.value]), "420px")
        super().__init__(edges=edges, member=member)

    def settle(self, moved: str) -> None:
        """Begin another class with its first member."""
        edges, member = self.controls.values()
        if moved == "edges":
            member.value, member.max = 1, len(classes(self._case)[edges.value])

    def draw(self, edges: int, member: int) -> Board:
        """One member, and the gains of the edges that can be added to it."""
        group, gains = classes(self._case)[edges], additions(self._case, edges)
        dag, shown, labels = group[member - 1], gains[member - 1], names(self._case)
        most, whole = np.nanmax(gains, axis=(1, 2), initial=-np.inf), bn.graphs.cpdag(dag)
        heading, loose = f"Member {member} of {len(group)}", whole & whole.T
        both, marked = [whole, bn.graphs.to_adjacency(dag)], [loose, loose]
        told, alt = ["CPDAG", heading], "The CPDAG of a class, and one member"
        look: dict[str, Any] = {"across": 1, "name": "member", "title": "Class and member"}
        net = plots.graph_gallery(both, labels, told, marked, alt=alt, **look)
        return {
            "net": (net, f"{edges} edges, {loose.sum() // 2} of them undirected in the class."),
            "gains": (
                plots.move_gains(shown, labels, title="What each added edge gains (nats)"),
                f"Best addition to this member: {most[member - 1]:+.2f} nats. "
                f"To any member: {most.max():+.2f} nats.",
            ),
        }


class Steps(View):
    """Hill climbing from the empty DAG, move by move, with the gains of all next moves."""

    def __init__(self, data: bn.Data | None = None) -> None:
        dataset = board.dataset_choice(DATASETS, data)
        walk = board.choice("search", list(WALKS))
        for case in DATASETS if data is None else (data,):  # now, so that the lists answer
            best(case)
            _places(case)
            for tabu in WALKS.values():
                climbed(case, tabu)
        step = board.step_slider("moves made", 0, 0, _last(dataset.value, walk.value), "420px")
        super().__init__(dataset=dataset, walk=walk, step=step)

    def settle(self, moved: str) -> None:
        """Begin another climb at its start."""
        dataset, walk, step = self.controls.values()
        if moved != "step":
            step.value, step.max = 0, _last(dataset.value, walk.value)

    def draw(self, dataset: Case, walk: str, step: int) -> Board:
        """The DAG so far, and what each next move gains."""
        climb, labels = climbed(dataset, WALKS[walk]), names(dataset)
        gains = move_gains(table(dataset), climb.path[step])
        moves, now = gains[np.isfinite(gains)], float(climb.trace[step])
        last = "The empty DAG."
        if step:
            (kind, u, v), gain = climb.steps[step - 1], now - climb.trace[step - 1]
            last = f"Move {step}: {KINDS[kind]} {labels[u]} → {labels[v]}, {gain:+.2f} nats."
        heading, alt = "The DAG so far", "The DAG after these moves"
        net = _network(dataset, climb.path[step], "climbed", heading, alt)
        return {
            "net": (net, f"{last} {below(dataset, now):.2f} nats below the exact best."),
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
    u, v = np.nonzero(~np.eye(dag.size, dtype=bool))
    after, each = np.repeat(dag[None], u.size, axis=0), np.arange(u.size)
    after[each, u] &= ~(np.int64(1) << v)
    closes = bn.graphs.ancestors(after)[each, u] >> v & 1  # a path from v to u
    after[each, v] ^= np.int64(1) << u
    free = (dag[v] >> u & 1 | ~closes & 1).astype(bool)
    before, *scored = scores.log_target([dag, *after[free]])
    gains[u[free], v[free]] = np.array(scored) - before
    gains[np.isinf(gains)] = np.nan
    return gains


@cache
def climbed(case: Case, tabu: int) -> bn.Climb:
    """Return the climb from the empty DAG, as shown by `Steps`."""
    return bn.hill_climb(table(case), tabu=tabu, rng=np.random.default_rng(0))


def _last(case: Case, walk: str) -> int:
    return min(SHOWN_STEPS, len(climbed(case, WALKS[walk]).steps))


@cache
def _places(case: Case) -> Floats:
    return plots.network_positions(bn.graphs.to_adjacency(climbed(case, 0).dag))


def _network(case: Case, dag: Ints, name: str, title: str, alt: str) -> Any:
    edges = bn.graphs.to_adjacency(dag)
    return plots.network(edges, names(case), _places(case), name=name, title=title, alt=alt)


class Averages(View):
    """The k best DAGs together, beside the exact average over all."""

    def __init__(self, data: bn.Data | None = None) -> None:
        for case in DATASETS if data is None else (data,):  # now, so that the slider answers
            for k in COUNTS:
                average(case, k)
        super().__init__(
            dataset=board.dataset_choice(DATASETS, data),
            count=board.size_slider("the k best DAGs, k", COUNTS),
        )

    def draw(self, dataset: Case, count: int) -> Board:
        """The edges by the k best, and the edges that the best gets most wrong."""
        (edges, mass, of_classes), labels = average(dataset, count), names(dataset)
        true, best = exact(dataset).edges, average(dataset, 1)[0]
        order = np.argsort(-np.abs(best - true).round(9), axis=None, kind="stable")[:MOST_PAIRS]
        pairs = plots.answer_pairs(
            edges.ravel()[order],
            true.ravel()[order],
            [f"{labels[i // len(labels)]} → {labels[i % len(labels)]}" for i in order],
            posteriors=("the k best", "all DAGs, exact"),
            title="Edges that the best DAG gets most wrong",
            x_label="probability of the edge",
            alt="Ten edges: their probabilities by the k best DAGs and by all of them",
        )
        heading, sad = "Edges, by the k best DAGs", bn.diagnostics.sad(edges, true)
        many = f"Best DAGs: {count:,}, of classes: {of_classes}"
        return {
            "heat": (
                plots.heat_map(edges, labels, name="averaged", title=heading),
                f"{board.title(dataset)}. {many}: {mass:.1%} of the posterior probability.",
            ),
            "pairs": (pairs, f"SAD of all edges from the exact ones: {sad:.2f}."),
        }


@cache
def truths() -> tuple[bn.BayesNet, ...]:
    """Forty random networks: in a random order, 7 binary nodes take 0 to 3 parents each."""
    out = []
    for rng in np.random.default_rng(SEED).spawn(40):
        order, dag = rng.permutation(7), np.zeros(7, np.int64)
        for place, v in enumerate(order):
            count = min(place, int(rng.integers(0, 4)))
            dag[v] = (np.int64(1) << rng.choice(order[:place], size=count, replace=False)).sum()
        out.append(bn.BayesNet.random_tables(dag, [2] * 7, rng))
    return tuple(out)


def _changed(dag: Ints, kind: str, u: int, v: int) -> Ints:
    new = dag.copy()
    new[v] ^= np.int64(1) << u  # there now, or gone
    new[u] |= np.int64(kind == "reverse") << v
    return new


@cache
def _four() -> bn.ScoreTable:
    """Four variables of coronary, all families."""
    return bn.score_families(data("coronary").select(data("coronary").names[:4]), bn.BDeu(1.0))


def scorer(scores: bn.ScoreTable, /) -> Score:
    """Return score(v, P): ln of the weight of v with the parents P, -inf if not in the table."""
    rows = zip(scores.parents.tolist(), scores.log_phi.tolist(), strict=True)
    log_phi = [dict(zip(masks, weights, strict=True)) for masks, weights in rows]
    return lambda v, P: log_phi[v].get(sum(1 << int(u) for u in set(P)), -np.inf)


def moves(dag: Dag, /) -> Iterator[tuple[tuple[int, int], Dag]]:
    """Yield each pair (u, v) whose move leads to a DAG, and that DAG, as parent sets.

    The move deletes u -> v where it is there, reverses v -> u where that is, else adds u -> v.
    """
    for u, v in permutations(range(len(dag)), 2):
        new, left = list(dag), set(range(len(dag)))
        new[u], new[v] = dag[u] - {v}, dag[v] ^ {u}
        while roots := {w for w in left if not new[w] & left}:
            left -= roots
        if not left:
            yield (u, v), tuple(new)


def _gain(score: Score, dag: Dag, new: Dag) -> float:
    """What a move gains, by the families that it changes."""
    changed = [v for v, parents in enumerate(new) if parents != dag[v]]
    return sum(score(v, new[v]) - score(v, dag[v]) for v in changed)


def _is_gain(function: Callable[..., Any]) -> bool:
    """Whether a function is what a move gains, for all moves from sixty DAGs."""
    four = scorer(_four())
    some = np.random.default_rng(SEED).permutation(bn.graphs.all_dags(4))[:60].tolist()
    ways = [(four, dag, new) for dag in map(parent_sets, some) for _, new in moves(dag)]
    return all(np.isclose(float(function(*way)), _gain(*way)) for way in ways)


def right_gain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The student's function if it is what a move gains, else the lab's."""
    return board.if_right(function, _is_gain, _gain)


@board.exercise(properties=7)
def check_gain(function: Callable[..., Any]) -> board.Told:
    """Exercise 1: `function(score, dag, new)` is what the move from `dag` to `new` gains."""
    chain = tuple(map(frozenset[int], ((), (0,), (1,), ())))  # 0 -> 1 -> 2, and 3
    four, ways = scorer(_four()), dict(moves(chain))

    def result(u: int, v: int) -> tuple[float, int]:
        asked = []  # the nodes whose scores the answer needs

        def score(w: int, parents: Iterable[int]) -> float:
            asked.append(w)
            return four(w, parents)

        return float(function(score, chain, ways[u, v])), len(asked)

    def right(u: int, v: int) -> bool:
        return bool(np.isclose(result(u, v)[0], _gain(four, chain, ways[u, v])))

    yield "return a number, for adding 0 -> 3"
    yield np.isfinite(result(0, 3)[0])
    yield "adding 0 -> 3, or 0 -> 2, which has a parent already: the new score less the old one"
    yield right(0, 3) and right(0, 2)
    yield "deleting 1 -> 2"
    yield right(1, 2)
    yield "reversing 1 -> 2 changes two families"
    yield right(2, 1)
    yield "ask for two scores to add or delete: all other families cancel"
    yield result(0, 2)[1] <= 2 and result(1, 2)[1] <= 2
    yield "ask for four scores to reverse"
    yield result(2, 1)[1] <= 4
    yield "any move from any DAG must do"
    yield _is_gain(function)


def _deleted(C: Bools, x: int, y: int, H: Any) -> Bools:
    D = C.copy()
    D[x, y] = D[y, x] = False
    D[list(H), y] = D[list(H), x] = False
    return bn.graphs.cpdag(bn.graphs.consistent_extension(D))


@board.exercise(properties=6)
def check_deletes(function: Callable[..., Any]) -> board.Told:
    """Exercise 2: `function(C, score)` gives the deletions of GES, (gain, x, y, H) each."""
    four = scorer(_four())

    def result(*parents: int) -> list[tuple[int, int, frozenset[int]]]:
        found = function(bn.graphs.cpdag(parents), four)
        return sorted(((x, y, frozenset(H)) for _, x, y, H in found), key=repr)

    def listed() -> bool:
        ways, mine = {}, {}
        for dag in bn.graphs.all_dags(4):
            here = bn.graphs.cpdag(dag)
            for u, v in bn.graphs.to_edges(dag):
                less = _changed(dag, "delete", u, v)
                before, after = _four().log_target([dag, less])
                ways[here.tobytes(), bn.graphs.cpdag(less).tobytes()] = after - before
            for gain, x, y, H in function(here, four):
                way = here.tobytes(), _deleted(here, x, y, H).tobytes()
                if not np.isclose(gain, ways.setdefault(way, gain)):
                    return False
                mine[way] = gain
        return len(ways) == 756 and all(np.isclose(mine[way], ways[way]) for way in ways)

    none: frozenset[int] = frozenset()
    yield "no edges, nothing to delete"
    yield result(0, 0, 0, 0) == []
    yield "0 - 1 can be deleted as (0, 1) and as (1, 0), with H empty"
    yield result(0, 1, 0, 0) == [(0, 1, none), (1, 0, none)]
    yield "of 0 -> 2 <- 1, only (0, 2) and (1, 2)"
    yield result(0, 0, 3, 0) == [(0, 2, none), (1, 2, none)]
    yield "of three nodes joined in pairs, each of six (x, y) with two sets H"
    yield len(set(result(0, 1, 3, 0))) == 12
    yield "on four variables, the ways and the gains of the list of all members"
    yield listed()
    yield "a network on which the insertions go too far: the deletions of bn.ges"
    rows = truths()[DELETING].sample(10_000, np.random.default_rng([SEED, DELETING]))
    scores = bn.score_families(rows, bn.BDeu(1.0), max_parents=6)
    search = bn.ges(scores)
    theirs = [step.gain for step in search.steps if step.kind == "delete"]
    gains: list[float] = []
    C = bn.graphs.cpdag(search.dags[len(search.steps) - len(theirs)])
    while True:
        gain, x, y, H = max(function(C, scorer(scores)), key=lambda each: round(each[0], 6))
        if gain < MARGIN:
            break
        C, gains = _deleted(C, x, y, H), [*gains, gain]
    yield np.allclose(gains, theirs)


@board.exercise(properties=4)
def check_search(function: Callable[[bn.ScoreTable, np.random.Generator], Any]) -> board.Told:
    """Exercise 3: `function(table, rng)` finds the best DAG, and good ones of 37 variables."""

    def found(scores: bn.ScoreTable, seed: int) -> float:
        dag = np.asarray(function(scores, np.random.default_rng(seed)), np.int64)
        return float(scores.log_target(dag[None])[0])

    @cache
    def gap(name: str) -> float:
        return max(below(name, found(table(name), seed)) for seed in range(SEEDS))

    best = f"the best DAG, for {SEEDS} seeds of 3"
    yield "return the parent masks of a DAG"
    yield np.isfinite(gap("wine"))
    yield f"wine and coronary: {best}"
    yield gap("wine") == gap("coronary") == 0
    yield f"tic-tac-toe: {best}"
    yield gap("tic-tac-toe") == 0
    yield "37 variables, where nothing is exact: better than GES"
    net = bn.random_network("alarm", np.random.default_rng(SEED))
    alarm = net.sample(1000, np.random.default_rng(SEED))
    scores = bn.score_families(alarm, bn.BDeu(1.0), max_parents=3)
    yield found(scores, SEED) > bn.ges(scores).log_target + MARGIN
