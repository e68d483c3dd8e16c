"""What the methods return: estimates and draws, each with the record of its run."""

import importlib.metadata
import platform
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bnlab._version import __version__
from bnlab.checks import Natural, frozen, real
from bnlab.graphs import to_edges
from bnlab.records import Columns, Record as Record, Tabular, WithDag, read_only as read_only

Kind = Literal["exact", "unbiased", "lower_bound", "upper_bound", "asymptotic", "plug_in"]
Over = Literal["orders", "dags"]
PriorKind = Literal["order-modular", "structure-modular"]
Interval = Literal["Hoeffding", "asymptotic", "sound", "none"]

MOST_RHAT, LEAST_ESS = 1.01, 400  # of chains that are to be trusted [VehtariEtAl2021]
ROUNDING = 1e-7  # by which a sum over some DAGs may exceed the sum over all, relatively


@cache
def package_versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages whose arithmetic a result depends on."""
    versions = {name: importlib.metadata.version(name) for name in ("numba", "numpy")}
    own = {"python": platform.python_version(), "bnlab": __version__}
    return MappingProxyType(own | versions)


def mass_of(
    log_weight: NDArray[np.float64], log_z: float | None, /
) -> dict[str, NDArray[np.float64]]:
    """With log_z, stats of distinct DAGs: it and "mass", Delta of [HeTianWu2016, eq. 26]."""
    if log_z is None:
        return {}
    log_sum = float(np.logaddexp.reduce(log_weight, axis=None))
    if not log_sum - real(log_z) <= ROUNDING:  # nan, too
        raise ValueError(
            f"log_z={log_z}: the {log_weight.size} distinct DAGs alone sum to {log_sum}. Give ln "
            "of the sum over all DAGs of the same score table and prior"
        )
    return {
        "mass": np.array([min(1.0, np.exp(log_sum - log_z))]),
        "log_z": np.array([float(log_z)]),
    }


def agree(rhat: Any, ess: Any, /) -> Any:
    """Tell whether chains are to be trusted: R-hat at most 1.01, not nan, and ESS at least 400."""
    return (rhat <= MOST_RHAT) & (ess >= LEAST_ESS)


def told_of_chains(rhat: float | None, ess: float | None, /) -> str:
    """Tell how far chains are to be trusted, at the end of a repr; nothing without chains."""
    if rhat is None or ess is None:
        return ""
    if rhat != rhat:
        return "; no R-hat, which takes 2 chains of 4 draws: not to be trusted, run several chains"
    advice = "" if agree(rhat, ess) else ": not to be trusted, run longer"
    return f"; R-hat {rhat:.3f}, ESS {ess:.0f}{advice}"


@frozen()
class Run(Record):
    """How a result came about: enough to repeat it.

    Attributes
    ----------
    method : str
    settings : mapping of str to plain values
    seed : str, the state of the generator before the run ("" where no randomness was used)
    seconds : float, wall time
    versions : mapping of package name to version
    stopped : bool, whether the run was stopped before its end

    Examples
    --------
    >>> Run("exact DP", seconds=0.25)
    Run(exact DP, 0.25 s)
    """

    method: str
    settings: Mapping[str, object] = field(default_factory=dict)
    seed: str = ""
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=package_versions)
    stopped: bool = False

    def __repr__(self) -> str:
        stopped = ", stopped early" if self.stopped else ""
        return f"Run({self.method}, {self.seconds:.3g} s{stopped})"


@frozen()
class Estimate(Record):
    """An estimate of, or a bound on, a logarithm such as ln p(D), in nats.

    Attributes
    ----------
    log_value : float, nats
    stderr : float, standard error of `log_value` in nats; 0 for exact values and bounds
    kind : "exact", "unbiased" (of the value, not of its logarithm), "lower_bound", "upper_bound",
        "asymptotic" or "plug_in"
    confidence : float, the probability that a bound holds; 1 where it is certain
    trace : float64 array, how the estimate grew; empty where there is nothing to show
    run : Run
    rhat, ess : float, as of `FeatureEstimate`, the worst of any temperature; None without chains

    Examples
    --------
    >>> Estimate(-1432.08, stderr=0.03, kind="unbiased", run=Run("AIS", seconds=2.1))
    log p = -1432.08 +/- 0.03 (AIS, unbiased, 2.1 s)
    """

    log_value: float
    stderr: float
    kind: Kind
    confidence: float = 1.0
    trace: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    run: Run = field(default_factory=lambda: Run(""))
    rhat: float | None = None
    ess: float | None = None

    @property
    def trusted(self) -> bool:
        """False of chains whose R-hat is above 1.01 or unknown, or whose ESS is below 400."""
        return self.rhat is None or bool(agree(self.rhat, self.ess))

    def __repr__(self) -> str:
        simulated = self.stderr or self.kind == "unbiased"
        error = f" +/- {self.stderr:.2f}" if simulated else ""
        return (
            f"log p = {self.log_value:.2f}{error} ({self.run.method}, {self.kind}, "
            f"{self.run.seconds:.2g} s{told_of_chains(self.rhat, self.ess)})"
        )


@frozen(eq=True)
class FeatureEstimate:
    """The posterior probability of a structural feature, estimated from draws.

    Attributes
    ----------
    value : float
    stderr : float, standard error; inf where there is no error bar
    low, high : float, an interval that holds the posterior with probability `confidence`
    confidence : float
    draws : int
    prior : "order-modular" or "structure-modular", which posterior it belongs to
    interval : "Hoeffding" (whatever the posterior [HeTianWu2016, Corollary 4 (iv)]), "asymptotic"
        (in the limit of many draws), "sound" (certain, from distinct DAGs of known posterior mass
        [HeTianWu2016, eq. 26]), or "none" (all of 0..1: fewer than two groups of draws count)
    groups : float, how many independent groups of equal weight the draws are worth
    rhat, ess : float, `diagnostics.rhat` and `ess` of chains: the worse of the feature's and of
        ln p of the draws. nan where there is no R-hat (one chain); None without chains

    Examples
    --------
    >>> FeatureEstimate(
    ...     0.25, 0.004, 0.24, 0.26, 0.95, 10_000, "order-modular", "Hoeffding", 10_000
    ... )
    p = 0.2500 +/- 0.0040, in [0.2400, 0.2600] with probability 0.95 (10000 draws)
    """

    value: float
    stderr: float
    low: float
    high: float
    confidence: float
    draws: int
    prior: PriorKind
    interval: Interval
    groups: float
    rhat: float | None = None
    ess: float | None = None

    @property
    def trusted(self) -> bool:
        """Whether the interval holds what it promises, as far as can be told.

        False without an error bar, and of chains whose R-hat is above 1.01 or unknown, or whose ESS
        is below 400.
        """
        agreed = self.rhat is None or bool(agree(self.rhat, self.ess))
        return agreed and self.interval != "none"

    def __repr__(self) -> str:
        if self.interval == "sound":
            return (
                f"p = {self.value:.4f}, in [{self.low:.4f}, {self.high:.4f}] for certain "
                f"({self.draws} distinct DAGs)"
            )
        draws = f"{self.draws} draws"
        if self.interval != "Hoeffding":
            draws += f" worth {self.groups:.1f} groups"
        draws += told_of_chains(self.rhat, self.ess)
        if self.interval == "none":
            return f"p = {self.value:.4f}, no error bar ({draws})"
        about = "about " if self.interval == "asymptotic" else ""
        return (
            f"p = {self.value:.4f} +/- {self.stderr:.4f}, in [{self.low:.4f}, {self.high:.4f}] "
            f"with probability {about}{self.confidence:g} ({draws})"
        )


@frozen()
class Draws(Record):
    """Orders or DAGs drawn from a posterior.

    Attributes
    ----------
    values : int64 (chains, draws, n); a row is a node order, or the parent masks of a DAG
    log_weight : float64 (chains, draws), nats; zeros for exact sampling and MCMC
    log_target : float64 (chains, draws), nats; the log of the unnormalised posterior of the row
    over : "orders" or "dags", what the rows are
    prior : "order-modular" or "structure-modular", which posterior they come from
    names : the n variable names
    independent : bool, whether the rows are independent draws from that very posterior, so that
        Hoeffding's inequality holds
    stats : mapping of name to array, what the sampler has to tell of the run
    traces : mapping of name to array (chains, draws, ...), what it has to tell of each draw. Draws
        of one "group" depend on each other, and groups are independent; without that trace, each
        draw is a group if `independent`, and each chain is if not
    run : Run

    Examples
    --------
    >>> Draws(np.zeros((1, 4, 3), np.int64), np.zeros((1, 4)), np.zeros((1, 4)), "dags",
    ...       "order-modular", ("a", "b", "c"))
    Draws(4 dags of 3 variables, order-modular)
    """

    values: NDArray[np.int64]
    log_weight: NDArray[np.float64]
    log_target: NDArray[np.float64]
    over: Over
    prior: PriorKind
    names: tuple[str, ...]
    independent: bool = False
    stats: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    traces: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    run: Run = field(default_factory=lambda: Run(""))

    def __post_init__(self) -> None:
        if self.values.ndim != 3 or not (
            self.values.shape[:2] == self.log_weight.shape == self.log_target.shape
        ):
            raise ValueError(
                f"values {self.values.shape} are (chains, draws, n); log_weight "
                f"{self.log_weight.shape} and log_target {self.log_target.shape} (chains, draws)"
            )
        n = self.values.shape[2]
        top = n - 1 if self.over == "orders" else 2**n - 1
        if n > 63 or (self.values.size and not 0 <= self.values.min() <= self.values.max() <= top):
            raise ValueError(f"values: {self.over} of {n} variables hold integers 0..{top}")
        for name, trace in self.traces.items():
            if trace.shape[:2] != self.log_weight.shape:
                raise ValueError(
                    f"traces[{name!r}] {trace.shape} does not begin with (chains, draws) = "
                    f"{self.log_weight.shape}"
                )
        Record.__post_init__(self)

    def prefix(self, draws: Natural, /) -> "Draws":
        """Return the first `draws` draws of each chain: prefixes of one set are nested.

        Examples
        --------
        >>> zeros = np.zeros((1, 4))
        >>> empty = np.zeros((1, 4, 2), int)
        >>> Draws(empty, zeros, zeros, "dags", "order-modular", ("a", "b")).prefix(3)
        Draws(3 dags of 2 variables, order-modular)
        """
        if not 1 <= draws <= self.values.shape[1]:
            raise ValueError(f"draws={draws}: there are 1 to {self.values.shape[1]} to take")
        log_weight, stats = self.log_weight[:, :draws], self.stats
        if "mass" in stats:
            stats = {**stats, **mass_of(log_weight, float(stats["log_z"][0]))}
        return replace(with_arrays(self, lambda array: array[:, :draws]), stats=stats)

    @property
    def groups(self) -> NDArray[np.int64]:
        """int64 (chains, draws): equal numbers for draws that depend on each other.

        Examples
        --------
        >>> zeros = np.zeros((2, 3))
        >>> Draws(np.zeros((2, 3, 1), int), zeros, zeros, "orders", "order-modular", ("a",)).groups
        array([[0, 0, 0],
               [1, 1, 1]])
        """
        if "group" in self.traces:
            return self.traces["group"]
        shape = self.log_weight.shape
        if self.independent:
            return np.arange(self.log_weight.size).reshape(shape)
        return np.repeat(np.arange(shape[0]), shape[1]).reshape(shape)

    def __repr__(self) -> str:
        chains, draws, n = self.values.shape
        each = f"{chains} x {draws}" if chains > 1 else f"{draws}"
        stopped = ", stopped early" if self.run.stopped else ""
        return f"Draws({each} {self.over} of {n} variables, {self.prior}{stopped})"


DagDraws = Annotated[Draws, "dags"]
OrderDraws = Annotated[Draws, "orders"]


def with_arrays(draws: Draws, change: Callable[[NDArray[Any]], NDArray[Any]], /) -> Draws:
    """Return the draws with each of their arrays (chains, draws, ...) changed."""
    return replace(
        draws,
        values=change(draws.values),
        log_weight=change(draws.log_weight),
        log_target=change(draws.log_target),
        traces={name: change(trace) for name, trace in draws.traces.items()},
    )


@frozen()
class BestDags(Tabular, WithDag):
    """Distinct DAGs of high posterior probability: the k best, or those that a search met.

    `k_best_dags`, `map_dag`, `occams_window` and `shotgun_search` make them.

    Attributes
    ----------
    dags : int64 (k, n) parent masks, all distinct, best first
    log_target : float64 (k,), nats; ln of prior factor times likelihood
    log_weight : float64 (k,), nats, decreasing; ln of the posterior up to a constant: log_target,
        plus ln of the number of orders that the DAG is consistent with if `prior` is order-modular
    prior : "structure-modular" or "order-modular", which posterior they are the best of
    names : the n variable names
    run : Run
    trace : float64 (chains, T), nats, how a search went: see there

    Examples
    --------
    >>> zeros = np.zeros(1)
    >>> BestDags(np.zeros((1, 2), np.int64), zeros, zeros, "structure-modular", ("a", "b"))
    BestDags(1 of 2 variables, structure-modular, ln weight 0.0000 to 0.0000)
    """

    dags: NDArray[np.int64]
    log_target: NDArray[np.float64]
    log_weight: NDArray[np.float64]
    prior: PriorKind
    names: tuple[str, ...]
    run: Run = field(default_factory=lambda: Run(""))
    trace: NDArray[np.float64] = field(default_factory=lambda: np.empty((1, 0)))

    def __repr__(self) -> str:
        stopped = ", stopped early" if self.run.stopped else ""
        return (
            f"BestDags({len(self.dags)} of {len(self.names)} variables, {self.prior}, "
            f"ln weight {self.log_weight[0]:.4f} to {self.log_weight[-1]:.4f}{stopped})"
        )

    @property
    def dag(self) -> NDArray[np.int64]:
        """The best DAG (n,)."""
        return np.asarray(self.dags[0])

    def _columns(self) -> Columns:
        edges = [
            ", ".join(f"{self.names[u]} → {self.names[v]}" for u, v in to_edges(dag))
            for dag in self.dags
        ]
        numbers = {"log_target": self.log_target.tolist(), "log_weight": self.log_weight.tolist()}
        return {"rank": list(range(1, len(edges) + 1)), **numbers, "edges": edges}

    @property
    def log_mass(self) -> float:
        """ln of the sum of exp(log_weight), nats: a lower bound on log_z of the posterior."""
        return float(np.logaddexp.reduce(self.log_weight))

    def as_draws(self, *, log_z: float | None = None) -> Draws:
        """Return the DAGs as one group of weighted draws: averaging over them [TianHeRam2010].

        Given log_z, nats, that of the DagPosterior or OrderPosterior under the same prior,
        stats["mass"] (1,) is Delta, the posterior probability of all these DAGs together, and
        intervals of features are certain, as after `reweight_unique`.

        Raises
        ------
        ValueError
            If log_z is less than `log_mass`.

        Examples
        --------
        >>> from bnlab import BDeu, Data, features, k_best_dags, score_families
        >>> best = k_best_dags(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()), 2)
        >>> features.probability(best.as_draws(log_z=-2.549445), features.edge(0, 1))
        p = 0.5000, in [0.4000, 0.6000] for certain (2 distinct DAGs)
        """
        weights = self.log_weight[None]
        return Draws(
            *(self.dags[None], weights, self.log_target[None], "dags", self.prior, self.names),
            stats=mass_of(weights, log_z),
            traces={"group": np.zeros(weights.shape, np.int64)},
            run=self.run,
        )
