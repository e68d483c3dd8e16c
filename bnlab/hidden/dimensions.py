"""How many free parameters of a model the observed nodes can tell."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import check_counts, check_generator, checked
from bnlab.data import Data
from bnlab.hidden.completions import Completions, cells_of_rows, complete
from bnlab.hidden.fitting import flat_tables, random_tables
from bnlab.hidden.model import HiddenModel, parts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_CONFIGURATIONS = 20_000
ROUNDING = 1e-9  # singular values below this share of the largest are zeros


class Dimensions(NamedTuple):
    """Estimated degrees of freedom, of the observed nodes' distribution and of all nodes'.

    Examples
    --------
    >>> Dimensions(observed=2, completed=5)
    Dimensions(observed=2, completed=5)
    """

    observed: int
    completed: int


@checked
def dimension(model: HiddenModel, /, *, rng: np.random.Generator) -> int:
    """Return the rank of the Jacobian of ln p(observed nodes) in the free parameters.

    At tables drawn at random it is, with probability 1, the dimension of the set of distributions
    that the observed nodes can have [GeigerHeckermanMeek1996], at most `free_parameters`.

    Parameters
    ----------
    model : HiddenModel
    rng : draws the tables and, beyond 20,000 joint states of the observed nodes, which to look at

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> dimension(HiddenModel([0, 1], [3, 5], hidden=[0]), rng=rng)  # not 2 + 3 * 4
    4
    """
    check_generator(rng)
    # Hidden nodes without children would leave rounding errors for the rank to count.
    return sum(_dimension_of_part(part.model, rng) for part in parts(model))


def _dimension_of_part(model: HiddenModel, rng: np.random.Generator) -> int:
    completions = complete(model, _joint_states(model, rng))
    theta = random_tables(completions, 1.0, rng)
    cells = cells_of_rows(completions)
    products = theta[cells].prod(axis=1)
    shares = products / products.sum(axis=1, keepdims=True)
    scores = np.zeros((len(cells), theta.size))  # expected counts of each row's completions
    for j in range(cells.shape[1]):
        np.add.at(scores, (np.arange(len(cells))[:, None], cells[:, j]), shares)
    scores /= theta
    # Along the simplex: what moves a table row and keeps its sum.
    rows = np.repeat(np.arange(completions.first.size - 1), np.diff(completions.first))
    last = completions.first[1:][rows] - 1
    tangent = scores - scores[:, last]
    return _closed(model, completions) + _rank(tangent, ROUNDING)


@checked
def perturbation_dimensions(
    model: HiddenModel,
    data: Data | ArrayLike,
    theta: Sequence[Floats],
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    eps: float = 1e-5,
    tolerance: float = 1e-4,
) -> Dimensions:
    """Return the ranks of matrices of perturbed log likelihoods [Beal2003, Algorithm 6.2].

    Entry (i, r) is the change of ln p(row i) at the r-th random perturbation of theta: of the
    distinct rows as observed, and completed at random. (The algorithm takes the values themselves,
    whose rank is 1 more.) Singular values below `tolerance` times the largest count as zeros: the
    curvature of ln p leaves some of the order of eps. Unlike `dimension` it knows only the rows of
    the data, and needs more draws and distinct rows than there are parameters.

    Parameters
    ----------
    model, data : as in `complete`
    theta : tables, as in `Fit.theta`; cells near 0 are first raised to 10 eps
    draws : number of perturbations
    rng : the only source of randomness
    eps : relative size of a perturbation
    tolerance : what counts as zero

    Examples
    --------
    >>> model, rng = HiddenModel([0, 1], [2, 3], hidden=[0]), np.random.default_rng(0)
    >>> theta = [np.array([[0.4, 0.6]]), np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])]
    >>> perturbation_dimensions(model, [[0], [1], [2]], theta, draws=50, rng=rng).observed
    2
    """
    check_counts(draws=draws)
    check_generator(rng)
    if not 0 < eps <= 0.01:
        raise ValueError(f"eps={eps:g}: a small number is needed, above 0 and up to 0.01")
    completions = complete(model, data)
    starts = completions.first[:-1]
    rows = np.repeat(np.arange(starts.size), np.diff(completions.first))
    base = np.maximum(flat_tables(model, theta), 10 * eps)
    base /= np.add.reduceat(base, starts)[rows]
    cells = cells_of_rows(completions)
    closed = _closed(model, completions)
    if not cells.size:  # no table is open
        return Dimensions(closed, closed)
    states = np.repeat(completions.listed.shapes[:, 0], completions.listed.shapes[:, 2])
    memory.require(
        draws * 32 * len(cells), task=f"{draws:,} perturbations", remedy="draw fewer of them"
    )
    filled = cells[np.arange(len(cells)), :, rng.integers(0, states)]

    def log_p(tables: Floats) -> tuple[Floats, Floats]:
        products = np.where(cells[:, 0] >= 0, tables[cells].prod(axis=1), 0.0)
        return np.log(products.sum(axis=1)), np.log(tables[filled]).sum(axis=1)

    changes = []
    for _ in range(draws):
        noise = rng.standard_normal(base.size)
        noise -= np.add.reduceat(noise * base, starts)[rows]
        changes.append(np.subtract(log_p(base * (1 + eps * noise)), log_p(base)))
    seen, whole = (_rank(np.array(of_kind), tolerance) for of_kind in zip(*changes, strict=True))
    return Dimensions(closed + seen, closed + whole)


def _joint_states(model: HiddenModel, rng: np.random.Generator) -> Ints:
    """Joint states (R, observed) of the observed nodes: all, or so many at random."""
    arities = [int(model.arities[v]) for v in model.observed]
    if math.prod(arities) <= MAX_CONFIGURATIONS:
        return np.array(list(itertools.product(*map(range, arities))))
    return rng.integers(0, arities, (MAX_CONFIGURATIONS, len(arities)))


def _closed(model: HiddenModel, completions: Completions) -> int:
    """Free parameters of the tables that only observed nodes take part in."""
    in_use = np.zeros(completions.base.size, bool)
    in_use[completions.listed.cells] = True
    open_rows = np.add.reduceat(in_use, completions.first[:-1]) > 0
    sizes = np.diff(completions.first)
    return int((sizes - 1)[~open_rows].sum())


def _rank(matrix: Floats, tolerance: float) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > tolerance * values.max(initial=0.0)).sum())
