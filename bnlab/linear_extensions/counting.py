"""Exact counts of linear extensions, uniform draws, and draws of DAGs weighed by the counts."""

import itertools
import math
import operator
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import graphs, memory
from bnlab.checks import Count, Floats, Ints, checked, frozen
from bnlab.diagnostics import weights_ess
from bnlab.kernels import posets as kernels
from bnlab.results import DagDraws, Draws, package_versions
from bnlab.running import Clock, Executor, workers

MAX_STATES = 8_000_000
FIRST_STATES = 1 << 15
BLOCK_DAGS = 4096
MAX_IDEALS = 5_000_000

# The ten largest primes below 2**31; their product exceeds 63!.
PRIMES = tuple(2**31 - gap for gap in (1, 19, 61, 69, 85, 99, 105, 151, 159, 171))


class Recursion(NamedTuple):
    """A recursion, finished or not."""

    poset: kernels.Poset
    label: Ints  # (n,), as in `kernels.posets.arrange`
    reversed: bool  # whether the order was turned upside down
    keys: Ints  # as values, the table of the densities of `states` sets
    values: Floats
    states: int
    density: float  # l / n!, or -1 before the end


@checked
def count_linear_extensions(dag: ArrayLike, /, *, max_states: Count = MAX_STATES) -> int:
    """Count linear extensions exactly, ℓ(G): node orders with parents before children.

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
    recursion = solve(graphs.ancestors(graphs.check_dag(dag)), max_states)
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
    slots = np.flatnonzero(recursion.keys)
    slots = slots[np.argsort(recursion.keys[slots])]
    states, ranks = recursion.keys[slots], np.empty_like(recursion.keys)
    ranks[slots] = np.arange(slots.size)
    out = np.empty((rows, len(primes)), np.int64)
    kernels.residues(recursion.poset, states, recursion.keys, ranks, np.array(primes), out)
    return from_residues([math.factorial(n) * int(r) for r in out[-1]], primes)


@checked
def log_count(
    dags: ArrayLike, /, *, max_states: Count = MAX_STATES, executor: Executor | None = None
) -> Floats:
    """Return ln ℓ(G) of many DAGs (..., n), float64 (...) in nats; absolute error below 1e-12.

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
    above = graphs.ancestors(dags)
    n = above.shape[-1]
    distinct, which = np.unique(above.reshape(-1, n), axis=0, return_inverse=True)
    blocks = [distinct[i : i + BLOCK_DAGS] for i in range(0, len(distinct), BLOCK_DAGS)]
    with workers(executor, max(1, len(blocks))) as chosen:
        parts = list(chosen.map(_log_densities, blocks, [max_states] * len(blocks)))
    logs = np.concatenate([*parts, np.empty(0)]) + math.lgamma(n + 1)
    return np.asarray(logs[which].reshape(above.shape[:-1]))


@checked
def sample_linear_extensions(
    dag: ArrayLike, /, *, draws: Count, rng: np.random.Generator, max_states: Count = MAX_STATES
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
    recursion = solve(graphs.ancestors(graphs.check_dag(dag)), max_states)
    n = recursion.label.size
    memory.require(
        draws * n * 40, task=f"{draws:,} linear extensions", remedy="draw fewer at a time"
    )
    times = np.empty((draws, n))
    uniforms = rng.random((draws, 2 * n))
    kernels.extensions(recursion.poset, recursion.keys, recursion.values, uniforms, times)
    times = times[:, recursion.label]
    return np.argsort(-times if recursion.reversed else times, axis=1)


@checked
def reweight_by_extensions(
    draws: DagDraws, /, *, max_states: Count = MAX_STATES, executor: Executor | None = None
) -> Draws:
    """Weigh each DAG by 1 / ℓ(G), one over its number of linear extensions.

    The bias correction of [NiinimakiKoivisto2013, sec. 3.2].
    The order-modular prior is rho(G) ℓ(G); the weights leave rho(G), the structure-modular prior.
    Weighted averages over the draws then estimate structure-modular posterior probabilities, and
    posterior.log_z + ln(mean(exp(log_weight))) estimates ln of the sum over DAGs of q(G) p(D | G).

    Parameters
    ----------
    draws : Draws over "dags", order-modular
    max_states : how many components to keep at most for a DAG, as in `count_linear_extensions`
    executor : where blocks of DAGs are counted; threads by default

    Returns
    -------
    Draws
        The same DAGs, log_weight (chains, draws) less ln ℓ(G), structure-modular, not independent
        draws from that posterior. traces has "log_extensions" (chains, draws), ln ℓ(G) in nats;
        stats has "effective_sample_size" (chains,), (sum w)**2 / sum w**2, 0 without any weight.

    Raises
    ------
    ValueError
        If the draws are orders, or structure-modular already, or a DAG cannot be counted.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=5, rng=np.random.default_rng(1))
    >>> reweight_by_extensions(draws)
    Draws(5 dags of 2 variables, structure-modular)
    """
    if draws.prior != "order-modular":
        raise ValueError(
            f"the draws are {draws.prior}: 1 / l(G) corrects order-modular draws, and only once"
        )
    clock = Clock()
    log_extensions = log_count(draws.values, max_states=max_states, executor=executor)
    log_weight = draws.log_weight - log_extensions
    sizes = [weights_ess(chain) if math.isfinite(chain.max()) else 0.0 for chain in log_weight]
    traces = {**draws.traces, "log_extensions": log_extensions}
    if draws.independent:  # which weighted draws are not said to be
        traces["group"] = draws.groups
    # The mass of distinct DAGs is one under the other prior.
    stats = {name: value for name, value in draws.stats.items() if name not in ("mass", "log_z")}
    method, seconds = f"{draws.run.method} / l(G)".strip(), draws.run.seconds + clock.seconds
    return replace(
        draws,
        log_weight=log_weight,
        prior="structure-modular",
        independent=False,
        stats={**stats, "effective_sample_size": np.array(sizes)},
        traces=traces,
        run=replace(draws.run, method=method, seconds=seconds, versions=package_versions()),
    )


def solve(above: Ints, max_states: int, /) -> Recursion:
    """Run the recursion on masks `above` (n,) of all ancestors of each element."""
    # From the front or from the back can make all the difference: both are tried in turn, with
    # ever more room, and keep what they have found.
    n, room = above.size, min(FIRST_STATES, max_states)
    below = graphs.from_adjacency(graphs.to_adjacency(above).T)  # each one's descendants
    attempts = [_start(above, False), _start(below, True)]
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
    modulus, number = math.prod(primes), 0
    for value, prime in zip(values, primes, strict=True):
        others = modulus // prime
        number += value * others * pow(others, -1, prime)
    return number % modulus


def _start(above: Ints, upside_down: bool) -> Recursion:
    slots = kernels.FIRST_SLOTS
    poset, label = kernels.arrange(above)
    keys, values = np.zeros(slots, np.int64), np.empty(slots)
    return Recursion(poset, label, upside_down, keys, values, 0, 0.0)


def _log_densities(above: Ints, max_states: int) -> Floats:
    """ln f of posets (N, n): from the front in one go, and those that ask for more one by one."""
    out = np.empty(len(above))
    kernels.log_densities(above, min(FIRST_STATES, max_states), out)
    for i in np.flatnonzero(np.isnan(out)):
        out[i] = math.log(solve(above[i], max_states).density)
    return out


@frozen()
class IdealLattice:
    """The ideals of a DAG by size: the sets of nodes that hold all parents of their members.

    Attributes
    ----------
    levels : int64 (I_s,) for s = 0..n, the masks of the ideals of s nodes, ascending
    counts : float64 (I_s,) for s = 0..n, the number of linear extensions of each ideal

    Examples
    --------
    >>> ideal_lattice([0, 0])
    IdealLattice(4 ideals of 2 nodes, 2 linear extensions)
    """

    levels: tuple[Ints, ...]
    counts: tuple[Floats, ...]

    @property
    def size(self) -> int:
        """Number of ideals.

        Examples
        --------
        >>> ideal_lattice([0, 1, 2]).size
        4
        """
        return sum(level.size for level in self.levels)

    def __repr__(self) -> str:
        return (
            f"IdealLattice({self.size} ideals of {len(self.levels) - 1} nodes, "
            f"{self.counts[-1][0]:.6g} linear extensions)"
        )


@checked
def ideal_lattice(dag: ArrayLike, /, *, max_ideals: Count = MAX_IDEALS) -> IdealLattice:
    """List all ideals of a DAG, with their linear extensions [NiinimakiKoivisto2013, sec. 3.3].

    l(I) = sum over the maximal elements v of I of l(I - v), l(empty set) = 1.

    Parameters
    ----------
    dag : parent masks (n,), n <= 63
    max_ideals : how many ideals to make at most, 16 bytes each

    Raises
    ------
    ValueError
        If `dag` is no DAG, or has more ideals.

    Examples
    --------
    >>> ideal_lattice([0, 1, 1]).counts
    (array([1.]), array([1.]), array([1., 1.]), array([2.]))
    """
    levels, counts = zip(*_levels(dag, np.ones(1), max_ideals), strict=True)
    return IdealLattice(levels, counts)


@checked
def count_by_ideals(dag: ArrayLike, /, *, max_ideals: Count = MAX_IDEALS) -> int:
    """Count linear extensions exactly by the same sums, in integers of any size.

    Slower than `count_linear_extensions`, by far for more than 30 nodes; kept to compare with.

    Examples
    --------
    >>> count_by_ideals([0, 1, 1])
    2
    """
    ((_, counts),) = deque(_levels(dag, np.ones(1, object), max_ideals), maxlen=1)
    return int(counts[0])


def _levels(
    dag: ArrayLike, counts: NDArray[Any], max_ideals: int
) -> Iterator[tuple[Ints, NDArray[Any]]]:
    """The ideals of 0..n nodes, ascending, with their counts, of which the first are given."""
    above, ideals, made = graphs.ancestors(graphs.check_dag(dag)), np.zeros(1, np.int64), 1
    bits = np.int64(1) << np.arange(above.size, dtype=np.int64)
    yield ideals, counts
    for size in range(1, above.size + 1):
        fits = [np.flatnonzero(ideals & b == a) for a, b in zip(above, above | bits, strict=True)]
        which = np.concatenate(fits)
        count = which.size // size  # that there are at least
        if made + count <= max_ideals:
            larger = ideals[which] | np.repeat(bits, [fit.size for fit in fits])
            ranking = np.argsort(larger, kind="stable")
            larger = larger[ranking]
            starts = np.flatnonzero(np.append(True, larger[1:] != larger[:-1]))
            ideals, counts = larger[starts], np.add.reduceat(counts[which[ranking]], starts)
            count = ideals.size
        made += count
        if made > max_ideals:
            raise ValueError(
                f"the DAG has more than max_ideals={max_ideals:,} ideals: raise it (16 bytes "
                "each), or use count_linear_extensions, which needs far fewer sets"
            )
        yield ideals, counts
