"""Greedy search for structures with hidden nodes, around scores that add up over components."""

import itertools
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bnlab import graphs
from bnlab.checkpoints import Arrays, Checkpoint, Kept, check
from bnlab.checks import Count, Floats, Ints, Natural, checked, frozen
from bnlab.data import Gapped
from bnlab.hidden.evidence import DEFAULT, estimate_evidence
from bnlab.hidden.model import HiddenModel, codes, components, identity_of, key_of, restricted
from bnlab.hidden.samplers import AIS, SMC
from bnlab.hidden.scoring import Score, score
from bnlab.results import Record, Run
from bnlab.running import Clock, Executor, Here, Progress, Stopped, Work, run_steps, seed_of, spread

Edge = Literal["hidden-observed", "observed-observed", "observed-hidden", "hidden-hidden"]

LEAST_GAIN = 1e-6  # nats; less is rounding


class ComponentScore(Protocol):
    """The score, in nats, of a component on its columns; those of a structure's components add up.

    Examples
    --------
    >>> component_score: ComponentScore = Fitted("bic")
    """

    def __call__(self, model: HiddenModel, data: Ints, /, *, rng: np.random.Generator) -> float:
        """The score of one component."""
        ...


@frozen(eq=True)
class Fitted:
    """A score by EM or variational EM, from `score`.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> round(Fitted()(model, np.array([[0], [1], [2]]), rng=np.random.default_rng(1)), 4)
    -4.7751
    """

    name: Score = "vb"
    restarts: Count = 3

    def __call__(self, model: HiddenModel, data: Ints, /, *, rng: np.random.Generator) -> float:
        """The score of one component."""
        found = score(model, data, [self.name], restarts=self.restarts, rng=rng, executor=Here())
        return found[self.name].log_value


@frozen(eq=True)
class Simulated:
    """The evidence by `estimate_evidence`; its noise must be small beside the gains looked for.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> round(Simulated()(model, np.array([[0], [1]]), rng=np.random.default_rng(1)), 1)
    -2.4
    """

    method: AIS | SMC = DEFAULT
    runs: Count = 2

    def __call__(self, model: HiddenModel, data: Ints, /, *, rng: np.random.Generator) -> float:
        """The score of one component."""
        return estimate_evidence(
            model, data, runs=self.runs, rng=rng, method=self.method, executor=Here()
        ).log_value


@frozen(eq=True)
class Changes:
    """What a step of the search may do to a structure.

    One edge comes, goes or turns round; a hidden node goes; it takes another number of states; or a
    new one comes as common parent of a few observed nodes.

    Attributes
    ----------
    states : numbers of states that hidden nodes may take
    children : numbers of observed nodes that a new hidden node may begin with
    max_hidden : hidden nodes, at most; 0 or more
    max_parents : of any node, at most
    edges : which kinds of edges there may be

    Examples
    --------
    >>> start = HiddenModel([0, 0], [2, 3], hidden=[])
    >>> [model.parents.tolist() for model in Changes(states=(2,)).of(start)]
    [[0, 1, 1]]
    """

    states: tuple[int, ...] = (2, 3, 4)
    children: tuple[int, ...] = (2, 3)
    max_hidden: Natural = 2
    max_parents: Count = 3
    edges: tuple[Edge, ...] = ("hidden-observed",)

    def __post_init__(self) -> None:
        if not self.states or any(states < 2 for states in self.states):
            raise ValueError(f"states={self.states}: hidden nodes have at least 2 states")
        if any(children < 1 for children in self.children):
            raise ValueError(f"children={self.children}: new hidden nodes have at least one")

    def of(self, model: HiddenModel, /) -> list[HiddenModel]:
        """List each structure one change away once, hidden nodes first, whatever the names."""
        found: dict[object, HiddenModel] = {}
        for changed in self._each(in_order(model)):
            ordered = in_order(changed)
            found.setdefault(key_of(ordered), ordered)
        found.pop(key_of(in_order(model)), None)
        return list(found.values())

    def _each(self, model: HiddenModel) -> Iterator[HiddenModel]:
        h, masks = len(model.hidden), model.parents.tolist()

        def made(masks: ArrayLike, arities: ArrayLike, hidden: int = h) -> HiddenModel:
            return HiddenModel(masks, arities, hidden=range(hidden), strength=model.strength)

        for other in self._other_edges(h, masks):
            yield made(other, model.arities)
        for v in range(h):
            yield restricted(model, [u for u in range(model.n) if u != v])
            for states in self.states:
                yield made(masks, np.where(np.arange(model.n) == v, states, model.arities))
        if h < self.max_hidden:
            free = [v for v in range(h, model.n) if masks[v].bit_count() < self.max_parents]
            for states, many in itertools.product(self.states, self.children):
                for children in itertools.combinations(free, many):
                    below = model.parents << 1  # the new node is the first
                    below[list(children)] |= 1
                    yield made(np.append(0, below), np.append(states, model.arities), h + 1)

    def _other_edges(self, h: int, masks: list[int]) -> Iterator[list[int]]:
        for u, v in itertools.permutations(range(len(masks)), 2):
            kind = "-".join("hidden" if w < h else "observed" for w in (u, v))
            other = list(masks)
            if masks[v] >> u & 1:
                other[v] ^= 1 << u
                yield other
            elif masks[v].bit_count() < self.max_parents and kind in self.edges:
                other[u] &= ~(1 << v)  # turned round, if it was there
                if not graphs.ancestors(other)[u] >> v & 1:
                    other[v] |= 1 << u
                    yield other


@frozen()
class Search(Record):
    """Where a greedy search went.

    Attributes
    ----------
    model : HiddenModel, the best found; hidden nodes first, observed ones in their order
    log_value : float, its score in nats
    trace : float64 (steps + 1,), the score at the start and after each step
    path : the structures at the start and after each step
    scored : how many distinct components were scored
    run : Run

    Examples
    --------
    >>> start = HiddenModel([0, 0], [2, 2], hidden=[])
    >>> search_structures(start, [[0, 0], [1, 1]], rng=np.random.default_rng(1))
    Search(HiddenModel(0 hidden and 2 observed nodes, 2 free parameters), -3.58 after 0 steps)
    """

    model: HiddenModel
    log_value: float
    trace: Floats
    path: tuple[HiddenModel, ...]
    scored: int
    run: Run

    def __repr__(self) -> str:
        stopped = ", stopped early" if self.run.stopped else ""
        steps = self.trace.size - 1
        return f"Search({self.model!r}, {self.log_value:.2f} after {steps} steps{stopped})"


BOUND, CHANGES = Fitted(), Changes()


@checked
def search_structures(
    start: HiddenModel,
    data: Gapped | ArrayLike,
    /,
    *,
    rng: np.random.Generator,
    component_score: ComponentScore = BOUND,
    changes: Changes = CHANGES,
    max_steps: Count = 100,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Search:
    """Climb from structure to structure, always by the change that gains most.

    As structural EM [Friedman1998] the search adds and removes edges, and beyond it hidden nodes
    and their states, but each structure is scored by itself: only the components that a change
    touches are, and each distinct one once. The score of a component does not change once it is
    known, so that the climb ends even where scores are noisy.

    Parameters
    ----------
    start : HiddenModel to begin with, such as one without edges and hidden nodes
    data : as in `complete`
    rng : the only source of randomness; equal states give equal searches for any executor
    component_score : Fitted("vb"), any of the scores of `score`; Simulated(SMC()); or what else
        says the nats of a component. Without the alias term, which does not add up over components
    changes : Changes
    max_steps : after which the search ends in any case
    checkpoint : a file for the scores of components, saved every 10 seconds or so, at a stop and at
        the end. If it is there, the same call, or one with more steps, scores none of them again.
        `component_score` is known there by its repr
    progress : progress(done, total, None) after each component, of those known to be wanted so far;
        False stops with the steps done
    executor : where components are scored; threads by default

    Raises
    ------
    ValueError
        If an option is out of range, or the checkpoint is damaged or belongs to another search.
    Stopped
        If `progress` returned False before the start was scored.

    Examples
    --------
    >>> start = HiddenModel([0, 0, 0], [2, 2, 2], hidden=[])
    >>> data = [[0, 0, 0]] * 15 + [[1, 1, 1]] * 15
    >>> search_structures(start, data, rng=np.random.default_rng(1)).model.parents
    array([0, 1, 1, 1])
    """
    clock, seed = Clock(), seed_of(rng)
    settings = {"component_score": repr(component_score), "changes": repr(changes)}
    identity = identity_of("greedy search", [start], data, **settings, seed=seed)
    values = codes(start, data)
    climb = _Climb(in_order(start), changes, max_steps, component_score, values, rng, executor)
    run_steps(climb, Checkpoint.at(checkpoint, identity), progress)
    if not climb.begun:
        raise Stopped("stopped before the start was scored")
    path, trace = zip(*climb.path, strict=True)
    told, stopped = {**settings, "max_steps": max_steps}, not climb.finished
    run = Run("greedy search", told, seed, clock.seconds, stopped=stopped)
    return Search(path[-1], trace[-1], np.array(trace), path, climb.count, run)


@dataclass(eq=False)
class _Climb(Work):
    """A climb, and the scores of components: worked out when first wanted, or as saved."""

    start: HiddenModel
    changes: Changes
    max_steps: int
    score_of: ComponentScore
    data: Ints
    rng: np.random.Generator
    executor: Executor | None
    path: list[tuple[HiddenModel, float]] = field(default_factory=list)
    finished: bool = False
    places: dict[object, int] = field(default_factory=dict)  # of components, as they were wanted
    scores: list[float] = field(default_factory=list)  # of those at the first places

    @property
    def begun(self) -> bool:
        return bool(self.path)

    @property
    def count(self) -> int:
        """Components that were wanted and have a score."""
        return min(len(self.places), len(self.scores))

    def steps(self) -> Generator[tuple[int, int], None, None]:
        yield from self._score([self.start])
        self.path.append((self.start, self._of(self.start)))
        for _ in range(self.max_steps):
            model, score = self.path[-1]
            others = self.changes.of(model)
            yield from self._score(others)
            values = [self._of(other) for other in others]
            if not values or not max(values) > score + LEAST_GAIN:
                break
            best = int(np.argmax(values))
            self.path.append((others[best], values[best]))
        self.finished = True

    def arrays(self) -> Arrays:
        return {"scores": np.array(self.scores, float)}

    def restore(self, saved: Arrays) -> None:
        check(saved, {"scores": Kept(np.float64, ("components",))})
        self.scores = saved["scores"].tolist()

    def _of(self, model: HiddenModel) -> float:
        return sum(self.scores[self.places[one.key]] for one in components(model))

    def _score(self, models: Iterable[HiddenModel]) -> Generator[tuple[int, int], None, None]:
        """Score the components of models that are new."""
        wanted = list[tuple[HiddenModel, Ints]]()
        for model in models:
            for one in components(model):
                if (key := one.key) not in self.places:
                    self.places[key] = len(self.places)
                    wanted.append((one.model, self.data[:, one.columns]))
        rngs = self.rng.spawn(len(wanted))
        jobs = [(self.score_of, *each, rng) for each, rng in zip(wanted, rngs, strict=True)]
        left = jobs[max(0, len(jobs) + len(self.scores) - len(self.places)) :]
        with closing(spread(_score_one, left, self.executor)) as scores:
            for score in scores:
                self.scores.append(score)
                yield len(self.scores), len(self.places)


def _score_one(job: tuple[ComponentScore, HiddenModel, Ints, np.random.Generator]) -> float:
    component_score, model, columns, rng = job
    return component_score(model, columns, rng=rng)


def in_order(model: HiddenModel, /) -> HiddenModel:
    """The same structure with hidden nodes first, by states and children, and without idle ones."""
    children = [[v for v in model.observed if model.parents[v] >> u & 1] for u in range(model.n)]
    used = [v for v in model.hidden if (model.parents >> v & 1).any()]
    used.sort(key=lambda v: (int(model.arities[v]), children[v], v))
    ordered = restricted(model, [*used, *model.observed])
    return ordered if len(used) == len(model.hidden) else in_order(ordered)
