"""Exact counts of linear extensions, and uniform draws, by recursion over components."""

import itertools
import math
import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs, memory
from bnlab.checks import check_counts, check_generator, checked
from bnlab.kernels import posets as kernels
from bnlab.running import Executor, workers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_STATES = 8_000_000
FIRST_STATES = 1 << 15
BLOCK_DAGS = 4096

# The ten largest primes below 2**31; their product exceeds 63!.
PRIMES = (
    2147483647,
    2147483629,
    2147483587,
    2147483579,
    2147483563,
    2147483549,
    2147483543,
    2147483497,
    2147483489,
    2147483477,
)


class Recursion(NamedTuple):
    """A recursion: density is l / n!, or -1 before the end.

    poset and label (n,) as in `kernels.posets.arrange`; `reversed` when the order was turned upside
    down; keys, values: the table of the densities of `states` sets.
    """

    poset: kernels.Poset
    label: Ints
    reversed: bool
    keys: Ints
    values: Floats
    states: int
    density: float


@checked
def count_linear_extensions(dag: ArrayLike, /, *, max_states: int = MAX_STATES) -> int:
    """Count linear extensions exactly, l(G): node orders with parents before children.

    A memoised recursion over the connected components of the elements that remain
    [KangasEtAl2016], once in floating point and once modulo primes; counting is #P-complete
    [BrightwellWinkler1991], and time and memory grow with the number of components met.

    Parameters
    ----------
    dag : parent masks (n,), n <= 63
    max_states : how many components to keep at most, 32 bytes each and 4 more for each 9 digits

    Returns
    -------
    int
        A Python integer of any size, exact.

    Raises
    ------
    ValueError
        If `dag` is no DAG, or more than `max_states` components are met.

    Examples
    --------
    >>> count_linear_extensions([0, 1, 1])
    2
    >>> count_linear_extensions(np.zeros(25, int))
    15511210043330985984000000
    """
    check_counts(max_states=max_states)
    recursion = solve(_before(dag), max_states)
    n = recursion.label.size
    bound = 2 * recursion.density * math.factorial(n)
    products = itertools.accumulate(PRIMES, operator.mul)
    primes = PRIMES[: 1 + sum(product < bound for product in products)]
    rows = n + 2 + recursion.states
    memory.require(
        rows * len(primes) * 8 + recursion.keys.size * 16,
        task=f"an exact count over {recursion.states:,} components",
        remedy="use linear_extensions.log_count, or estimate_linear_extensions",
    )
    states = np.sort(recursion.keys[recursion.keys > 0])
    keys, ranks = np.zeros_like(recursion.keys), np.empty_like(recursion.keys)
    kernels.index(states, keys, ranks)
    out = np.empty((rows, len(primes)), np.int64)
    kernels.residues(recursion.poset, states, keys, ranks, np.array(primes), out)
    return from_residues([math.factorial(n) * int(r) for r in out[-1]], primes)


@checked
def log_count(
    dags: ArrayLike, /, *, max_states: int = MAX_STATES, executor: Executor | None = None
) -> Floats:
    """Return ln l(G) of many DAGs (..., n), float64 (...) in nats; absolute error below 1e-12.

    DAGs of the same transitive closure are counted once.

    Parameters
    ----------
    dags : parent masks (..., n), n <= 63
    max_states : how many components to keep at most for a DAG, 32 bytes each
    executor : where blocks of DAGs are counted; threads by default

    Raises
    ------
    ValueError
        If one of `dags` is no DAG, or more than `max_states` components are met.

    Examples
    --------
    >>> np.exp(log_count([[0, 0, 0], [0, 1, 1]])).round(9)
    array([6., 2.])
    """
    check_counts(max_states=max_states)
    above = graphs.ancestors(dags)
    n = above.shape[-1]
    distinct, which = np.unique(above.reshape(-1, n), axis=0, return_inverse=True)
    blocks = [distinct[i : i + BLOCK_DAGS] for i in range(0, len(distinct), BLOCK_DAGS)]
    with workers(executor, max(1, len(blocks))) as chosen:
        parts = list(chosen.map(_log_densities, blocks, [max_states] * len(blocks)))
    logs = np.concatenate([*parts, np.empty(0)]) + math.lgamma(n + 1)
    out: Floats = logs[which].reshape(above.shape[:-1])
    return out


@checked
def sample_linear_extensions(
    dag: ArrayLike, /, *, draws: int, rng: np.random.Generator, max_states: int = MAX_STATES
) -> Ints:
    """Draw independent uniform linear extensions of a DAG: node orders, parents before children.

    The recursion of `count_linear_extensions` is walked from the whole set down; unconnected
    components interleave at random.

    Parameters
    ----------
    dag : parent masks (n,), n <= 63
    draws : number of orders, at least 1
    rng : the only source of randomness
    max_states : how many components to keep at most, 32 bytes each

    Returns
    -------
    int64 (draws, n)
        Node orders, first node first.

    Raises
    ------
    ValueError
        If `dag` is no DAG, an option is out of its range, or more than `max_states` components
        are met.

    Examples
    --------
    >>> sample_linear_extensions([0, 1, 1], draws=3, rng=np.random.default_rng(0))
    array([[0, 1, 2],
           [0, 2, 1],
           [0, 1, 2]])
    """
    check_counts(draws=draws, max_states=max_states)
    check_generator(rng)
    recursion = solve(_before(dag), max_states)
    n = recursion.label.size
    memory.require(
        draws * n * 40, task=f"{draws:,} linear extensions", remedy="draw fewer at a time"
    )
    times = np.empty((draws, n))
    uniforms = rng.random((draws, 2 * n))
    kernels.extensions(recursion.poset, recursion.keys, recursion.values, uniforms, times)
    times = times[:, recursion.label]
    return np.argsort(-times if recursion.reversed else times, axis=1)


def solve(above: Ints, max_states: int, /) -> Recursion:
    """Run the recursion on masks `above` (n,) of all ancestors of each element.

    Taking elements from the front or from the back can make all the difference, and neither is
    always better: both are tried in turn, with ever more room. What one attempt has found, the
    next keeps.
    """
    n, room = above.size, min(FIRST_STATES, max_states)
    attempts = [_start(above, False), _start(_reverse(above), True)]
    while True:
        for i, start in enumerate(attempts):
            # The front is the better bet for sparse DAGs, whose nodes have few parents.
            share = room if i == 0 or room == max_states else room // 4
            density, keys, values, states = kernels.density(
                start.poset, start.keys, start.values, start.states, max(start.states, share)
            )
            attempts[i] = start._replace(keys=keys, values=values, states=states, density=density)
            if density > 0:
                return attempts[i]
        if room == max_states:
            raise ValueError(
                f"the {n} nodes have more than max_states={max_states:,} components to count: "
                "raise it (32 bytes each), or use linear_extensions.estimate_linear_extensions"
            )
        room = min(8 * room, max_states)


def from_residues(values: list[int], primes: tuple[int, ...], /) -> int:
    """The number below the product of the primes with these residues (Chinese remainders)."""
    number, modulus = 0, 1
    for value, prime in zip(values, primes, strict=True):
        number += modulus * ((value - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number


def arranged(above: Ints, /) -> tuple[kernels.Poset, Ints]:
    """The poset of ancestor masks (n,) in the form of the kernels, and labels (n,)."""
    n = above.size
    poset = kernels.Poset(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))
    label = np.empty(n, np.int64)
    kernels.arrange(above, label, poset)
    return poset, label


def _start(above: Ints, upside_down: bool) -> Recursion:
    slots = kernels.FIRST_SLOTS
    poset, label = arranged(above)
    keys, values = np.zeros(slots, np.int64), np.empty(slots)
    return Recursion(poset, label, upside_down, keys, values, 0, 0.0)


def _before(dag: ArrayLike) -> Ints:
    return graphs.ancestors(graphs.check_dag(dag))


def _reverse(above: Ints) -> Ints:
    """Masks (n,) of all descendants."""
    nodes = np.arange(above.size, dtype=np.int64)
    out: Ints = ((above[None, :] >> nodes[:, None] & 1) << nodes).sum(axis=1)
    return out


def _log_densities(above: Ints, max_states: int) -> Floats:
    """ln f of posets (N, n): from the front in one go, and those that ask for more one by one."""
    out = np.empty(len(above))
    kernels.log_densities(above, min(FIRST_STATES, max_states), out)
    for i in np.flatnonzero(np.isnan(out)):
        out[i] = math.log(solve(above[i], max_states).density)
    return out
