"""The samplers' settings, and what they walk on: components with the tables that are open."""

import math
from dataclasses import field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Count, Floats, Ints, Positive, frozen
from bnlab.data import Gapped
from bnlab.hidden.completions import Completions, counted, table_rows
from bnlab.hidden.model import HiddenModel, codes, components, layout, whole
from bnlab.kernels import latent, latent_particles
from bnlab.weights import Schedule, Warped

MAX_STATES = 1 << 14
Unsigned = NDArray[np.uint32]
Rows = tuple[Unsigned, Unsigned, Unsigned, Ints, Ints]


@frozen(eq=True)
class JointDirichlet:
    """All table rows are proposed at once, each around itself [Beal2003, eq. 6.59].

    Attributes
    ----------
    strength : sum of the parameters of each row's Dirichlet, the same at all temperatures. The
        thesis does not print its own: with the default, 43, 61 and 80 % of the proposals are
        rejected for 640, 2560 and 10240 rows, on the mean of its 136 structures; 42, 59 and 79 % in
        its Table 6.4

    Examples
    --------
    >>> JointDirichlet()
    JointDirichlet(strength=2000.0)
    """

    strength: Positive = 2000.0


@frozen(eq=True)
class RowDirichlet:
    """Each step proposes one table row, the rows in turn, from a Dirichlet that follows the walk.

    Its parameters are lambda + growth * beta * m * theta for m rows of data: the prior at beta = 0,
    and narrower as the posterior is [Beal2003, sec. 6.5.1].

    Examples
    --------
    >>> RowDirichlet()
    RowDirichlet(growth=0.3)
    """

    growth: Positive = 0.3


@frozen(eq=True)
class TemperedGibbs:
    """Tables given completions, completions given tables, on the path p(theta) p(y, s|theta)**beta.

    Examples
    --------
    >>> TemperedGibbs()
    TemperedGibbs()
    """


@frozen(eq=True)
class CompletionGibbs:
    """Each row's completion given all others in turn, on the path p(y, s)**beta, tables integrated.

    A step is a sweep over all rows of data; suggested by Neal [Beal2003, sec. 6.6].

    Examples
    --------
    >>> CompletionGibbs()
    CompletionGibbs()
    """


Moves = JointDirichlet | RowDirichlet | TemperedGibbs | CompletionGibbs


@frozen(eq=True)
class AIS:
    """Annealed importance sampling [Neal2001]: one move at each step of a schedule.

    Attributes
    ----------
    schedule : Warped, or anything with `betas` from 0 to 1
    moves : JointDirichlet (the thesis'), RowDirichlet, TemperedGibbs or CompletionGibbs

    Examples
    --------
    >>> AIS(Warped(500)).schedule.betas.size
    501
    """

    schedule: Schedule = field(default_factory=lambda: Warped(16384))
    moves: Moves = field(default_factory=RowDirichlet)


@frozen(eq=True)
class SMC:
    """Particles that complete the rows of data one by one, tables integrated out.

    Attributes
    ----------
    particles : at least 1

    Examples
    --------
    >>> SMC(500)
    SMC(particles=500)
    """

    particles: Count = 256


class OpenComponent(NamedTuple):
    """A component whose tables, or whose rows' completions, are walked on."""

    completions: Completions
    base: Floats  # (cells,), the counts that a walk on tables weighs besides the rows
    ranges: Ints  # (W, 2), first and last + 1 cell of the table rows that move
    cells: Ints  # (cells,), their places among all cells of the model
    strength: float

    @property
    def log_completions(self) -> float:
        """Ln of the number of completions of the data."""
        return float(self.completions.listed.weight @ np.log(self.completions.listed.states))

    @property
    def moving(self) -> Ints:
        """int64, the cells of the table rows that move."""
        return np.concatenate([np.arange(lo, hi) for lo, hi in self.ranges])

    @property
    def order(self) -> Ints:
        """int64 (m,), the distinct row of each row of data."""
        weight = self.completions.listed.weight
        return np.repeat(np.arange(weight.size), weight.astype(np.int64))

    @property
    def rows(self) -> Rows:
        """(cells, of_table, factors, start, size), see `kernels.latent_particles`."""
        shapes, cells, factors, *_ = self.completions.listed
        row_of, _ = table_rows(self.completions.first)
        sizes = shapes[:, 0] * shapes[:, 1]
        start = np.repeat(np.cumsum(sizes) - sizes, shapes[:, 2])
        of_table = row_of.astype(np.uint32)[cells]
        return cells, of_table, factors, start, self.completions.listed.states

    @property
    def tables(self) -> tuple[Floats, float]:
        """(prior, strength), see `kernels.latent_particles`."""
        _, states = table_rows(self.completions.first)
        return (self.strength * states).astype(np.float64), self.strength


class OpenModel(NamedTuple):
    """The open components of a model, and what stays outside of them."""

    components: list[OpenComponent]
    known: float  # ln evidence, nats, of tables that no row leaves open and no component walks on
    base: Floats  # (cells,), counts of all tables that no row leaves open
    first: Ints  # (T + 1,), table row t has the cells first[t]..first[t + 1] - 1
    strength: float


def open_model(
    model: HiddenModel, data: Gapped | ArrayLike, /, *, joint: bool = False
) -> OpenModel:
    """The components that have open tables; or the whole model as one, with all of its tables."""
    places, rows = layout(model), codes(model, data)
    base, known, found = np.zeros(places.first[-1]), 0.0, list[OpenComponent]()
    for component in [whole(model)] if joint else components(model):
        completions = counted(component.model, rows[:, component.columns], None, MAX_STATES)
        if completions.forest is not None:
            raise ValueError(
                f"{completions.forest.weight.sum():.0f} rows leave nodes open with more than "
                f"{MAX_STATES:,} joint states, which sampling would have to list: leave out the "
                "rows with most missing cells, or give hidden nodes fewer states; fit_vb and score "
                "handle them"
            )
        cells = np.concatenate([np.arange(*places.starts[v : v + 2]) for v in component.nodes])
        base[cells] = completions.base
        first = completions.first
        if joint:
            read, held = np.arange(first.size - 1), completions.base
        else:
            known += latent.log_dirichlet(completions.base, first, model.strength)
            read = np.unique(table_rows(first)[0][completions.listed.cells])
            held = np.zeros(cells.size)
        if joint or completions.listed.factors.shape[1]:
            ranges = np.stack([first[read], first[read + 1]], axis=1)
            found.append(OpenComponent(completions, held, ranges, cells, model.strength))
    return OpenModel(found, float(known), base, places.first, model.strength)


def filtered(found: OpenModel, particles: int, rngs: list[np.random.Generator], /) -> Floats:
    """Ln of an unbiased estimate of p(data) for each generator: a product over components."""
    each = [[_filter(component, particles, rng) for component in found.components] for rng in rngs]
    return np.array([found.known + math.fsum(log_p) for log_p in each])


def _filter(component: OpenComponent, particles: int, rng: np.random.Generator) -> float:
    """The part of one component, its rows taken in random order."""
    rows, tables = component.rows, component.tables
    order = rng.permutation(component.order)
    order = order[np.argsort(component.completions.listed.states[order] > 1, kind="stable")]
    states = np.empty((particles, order.size), np.int32)
    counts = np.zeros((particles, component.cells.size))
    totals = np.zeros((particles, len(component.completions.first) - 1))
    clouds = states, counts, totals
    return float(latent_particles.filter_rows(order, rows, tables, clouds, rng))
