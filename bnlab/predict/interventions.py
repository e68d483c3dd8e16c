"""What if variables were set: p(y | do(x)) averaged over weighted DAGs and over their tables."""

import math
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from bnlab import memory
from bnlab.checks import Bools, Count, Floats, Ints, Share, checked, frozen, real, shown
from bnlab.data import Data
from bnlab.data.table import node_number
from bnlab.exact import DagPosterior, OrderPosterior
from bnlab.features.intervals import mass_known, means_of, weights_of
from bnlab.graphs import ancestors, check_dags, members
from bnlab.networks.bayesnet import dirichlet_parameters
from bnlab.predict.tables import MAX_STATES, Part, eliminate, nodes_of, plan_of, typed_row
from bnlab.records import Columns, Tabular, check_alike
from bnlab.results import ROUNDING, DagDraws, Draws, Kind, PriorKind, Run, told_of_chains
from bnlab.running import Clock, Progress, Steps, seed_of
from bnlab.scores import AnyData, BDeu, BGe, Score, score_parts
from bnlab.scores.local import check_pseudo_counts, regression, units_of, wishart_prior

BLOCK_CELLS = 1 << 20  # of drawn tables in memory at a time
MOST_SHOWN = 4  # levels in a repr
ANY_DELTA = 0.05  # for intervals that nobody looks at

Setting = Mapping[str, str | float]


@frozen()
class Effects(Tabular):
    """p(y | do(x)) for each of r levels of y, or how far two settings of x are apart in it.

    Make one with `effects`. Of measurements r is 1, and all numbers are of the mean of y.

    Attributes
    ----------
    on, levels : name of y, and its r levels; none if it is measured
    do, against : what x is set to, by name; `against` is empty without a second setting, and with
        it all numbers are those of `do` less those of `against`
    mean : float64 (r,), over DAGs and tables, up to `stderr`
    between, within : float64 (r,), standard deviations, between DAGs of the mean given the DAG,
        and given the DAG, as root mean square over DAGs
    low, high : float64 (r,), central intervals of posterior probability `confidence` each
    unaffected : float, posterior probability that no directed path leads from x to y (of
        measurements, that y is a parent of x)
    stderr : float64 (r,), standard error of `mean` from the draws of DAGs, as that of
        `features.probability`: 0 if all DAGs are there, inf where it is not known
    kind : "exact" (all DAGs are there), "unbiased" (independent draws) or "asymptotic"
    prior : "order-modular" or "structure-modular", which posterior it belongs to
    means, weights : float64 (P, r) and (P,), means given DAGs that decide alike, and probabilities
    draws : float64 (tables, r), with DAG and tables drawn from the posterior
    rhat, ess : float, of chains, the worst of any level; else None
    run : Run

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [1, 1], [1, 1]] * 9)
    >>> dag = Draws(np.array([[[0, 1]]]), *np.zeros((2, 1, 1)), "dags", "order-modular", data.names)
    >>> effects(dag, data, do={"x0": 1}, on="x1", rng=np.random.default_rng(2)).mean.round(3)
    array([0.014, 0.986])
    """

    on: str
    levels: tuple[str, ...]
    do: Mapping[str, str]
    against: Mapping[str, str]
    mean: Floats
    between: Floats
    within: Floats
    low: Floats
    high: Floats
    confidence: float
    unaffected: float
    stderr: Floats
    kind: Kind
    prior: PriorKind
    means: Floats
    weights: Floats
    draws: Floats
    run: Run
    rhat: float | None = None
    ess: float | None = None

    def __repr__(self) -> str:
        asked = " - ".join(self._asked(setting) for setting in (self.do, self.against) if setting)
        levels = [f"{level} " for level in self.levels[:MOST_SHOWN]] or [""]
        rows = zip(levels, self.mean, self.low, self.high, strict=False)
        told = [f"{level}{mean:.3g} in [{low:.3g}, {high:.3g}]" for level, mean, low, high in rows]
        more = ", ..." if len(self.levels) > MOST_SHOWN else ""
        return (
            f"{asked}: {', '.join(told)}{more} with probability {self.confidence:g} ({self.prior}, "
            f"{self.kind}{told_of_chains(self.rhat, self.ess)})"
        )

    def _columns(self) -> Columns:
        told = ("mean", "stderr", "between", "within", "low", "high")
        numbers = {name: getattr(self, name).tolist() for name in told}
        return {"level": list(self.levels) or ["mean"], **numbers}

    def _asked(self, setting: Mapping[str, str]) -> str:
        settings = ", ".join(f"{name}={label}" for name, label in setting.items())
        return f"{'p' if self.levels else 'E'}({self.on} | do({settings}))"


@checked
def effects(
    draws: DagDraws | OrderPosterior | DagPosterior,
    data: AnyData,
    /,
    *,
    do: Setting,
    on: int | str,
    against: Setting | None = None,
    score: Score | BGe | None = None,
    tables: Count = 2000,
    delta: Share = 0.05,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Effects:
    """Estimate p(y | do(x), D): what y would be if the variables x were set, averaged over DAGs.

    Given a DAG and its tables, p(y | do(x)) sums the product of the tables of all variables but x
    over the others (truncated factorisation [Pearl2009, sec. 3.2]), by elimination among ancestors
    of y. Tables are independent, and each enters once: the mean given the DAG is that product of
    posterior mean tables, exact, and `mean` is its average over the DAGs. The spread given a DAG
    and the intervals come from tables that are drawn.

    Of measurements, for one x: the difference of the settings times the coefficient of x in the
    regression of y on x and its parents, Student t; it is 0 if y is one of them [PensarEtAl2020].
    Mean and spread are exact. Nothing else that the DAG says enters into the regression.

    Setting is causal only if the DAGs are: no hidden common causes, and what the data cannot orient
    is averaged over, not known.

    Parameters
    ----------
    draws : Draws over "dags": independent, weighted, or along chains. Of measurements a posterior,
        of which the parent sets of x are taken
    data : Data, what was scored; rows in which v was set say nothing of v's table
    do : by name, what variables are set to: labels, numbers as in `predict.typed_row`, or
        measurements
    on : y, a name or number, not in `do`
    against : another setting of the same variables, which is subtracted: the average causal effect.
        Measurements need it
    score : the score of the draws: BDeu, the default, or K2; BGe of measurements
    tables : how many times a DAG and its tables are drawn
    delta : probability outside the intervals, 0 < delta < 1
    rng : draws DAGs and tables
    progress : called as progress(done, total, None) after each part; False stops

    Raises
    ------
    ValueError
        If draws, data and score do not fit, a variable or level is unknown, y is set, nothing is,
        settings are of other variables, or summing takes more than 4 million joint states.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import order_posterior, sample_dags, score_families
    >>> data = Data.from_arrays([[0, 0], [1, 1], [1, 1]] * 9, names=["rain", "wet"])
    >>> posterior = order_posterior(score_families(data, BDeu(), forbidden=[("wet", "rain")]))
    >>> dags = sample_dags(posterior, draws=100, rng=np.random.default_rng(1))
    >>> found = effects(dags, data, do={"rain": 1}, on="wet", rng=np.random.default_rng(2))
    >>> found.levels, found.mean.round(3), found.unaffected
    (('0', '1'), array([0.014, 0.986]), 0.0)
    """
    clock, seed = Clock(), seed_of(rng)
    settings = [do] if against is None else [do, against]
    y = target_of(data, settings, on)
    dags = draws.values.size if isinstance(draws, Draws) else 0
    memory.require(
        32 * max(1, int(data.arities[y])) * (tables + dags // data.n) + 40 * dags,
        task=f"effects on {data.names[y]!r}",
        remedy="take fewer draws (Draws.prefix, tables=)",
    )
    score = score or (BGe() if data.measured.all() else BDeu())
    score_parts(data, score)
    if isinstance(draws, Draws) and not isinstance(score, BGe):
        check_alike("the draws", draws.names, "the data", data.names)
        found = Given(data, score, settings, y).found(draws, tables, rng, progress)
    elif not isinstance(draws, Draws) and isinstance(score, BGe):
        check_alike("the scores", draws.table.names, "the data", data.names)
        found = _of_measured(draws, data, settings, y, score, tables, rng)
    else:
        raise ValueError(
            "effects among states take draws of DAGs (sample_dags), those among measurements a "
            "posterior of BGe scores (order_posterior, dag_posterior)"
        )
    weights, means = found["weights"], found["means"]
    mean = weights @ means
    low, high = np.quantile(found["draws"], [delta / 2, 1 - delta / 2], axis=0)
    asked = {"score": repr(score), "tables": tables, "delta": delta}
    return Effects(
        on=data.names[y],
        levels=data.levels[y],
        mean=mean,
        between=np.sqrt(weights @ (means - mean) ** 2),
        low=low,
        high=high,
        confidence=1 - delta,
        prior=draws.prior,
        run=Run("truncated factorisation", asked, seed, clock.seconds, stopped=draws.run.stopped),
        **found,
    )


def target_of(data: Data, settings: list[Setting], on: int | str, /) -> int:
    """The node that is asked about, if the question makes sense."""
    y, (do, *others) = node_number(data.names, on), settings
    if not do:
        raise ValueError("do={} sets nothing: name a variable and its level, as do={'x': 'yes'}")
    if others and others[0].keys() != do.keys():
        raise ValueError(
            f"do sets {', '.join(do)}, and against sets {', '.join(others[0])}: effects are "
            "differences between two settings of the same variables"
        )
    if y in [data.index(name) for name in do]:
        raise ValueError(f"on={shown(on)} is set by do: ask about a variable that is not")
    return y


def _of_measured(
    posterior: OrderPosterior | DagPosterior,
    data: Data,
    settings: list[Setting],
    y: int,
    score: BGe,
    tables: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """What measurements have to say of `Effects`: of parent sets, and last of those with y."""
    name, *more = settings[0]
    values = [real(setting[name]) for setting in settings]
    if more or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(
            f"do={shown(dict(settings[0]))}: effects on measurements are of one variable, set to "
            "one number against= another"
        )
    x, units, prior = data.index(name), units_of(score, data), wishart_prior(score, data)
    columns = units.columns(data.measurements)
    if data.intervened is not None:
        columns = columns[:, ~np.delete(data.intervened, x, axis=1).any(axis=1)]
    masks, p = posterior.table.parents[x], posterior.families[x]
    given = (p > 0) & (masks >> y & 1 == 0)
    weights = np.append(p[given], 1 - min(1.0, p[given].sum()))
    location, scale, degrees = np.zeros((3, weights.size))
    degrees[-1] = 3.0  # of what has no width
    for i, mask in enumerate(masks[given]):
        fitted = regression(columns[[*members(mask), x, y]], prior)
        location[i], degrees[i] = fitted.coefficients[-1], fitted.degrees
        scale[i] = math.sqrt(fitted.scatter / fitted.degrees) / fitted.factor[-1, -1]
    step = (values[0] - values[1]) * units.scale[y] / units.scale[x]
    parts = rng.choice(weights.size, tables, p=weights / weights.sum())
    drawn = location[parts] + scale[parts] * rng.standard_t(degrees[parts])
    return {
        "do": {name: f"{values[0]:g}"},
        "against": {name: f"{values[1]:g}"},
        "weights": weights,
        "means": step * location[:, None],
        "within": abs(step) * np.sqrt([weights @ (scale**2 / (1 - 2 / degrees))]),
        "draws": step * drawn[:, None],
        "unaffected": float(weights[-1]),
        "stderr": np.zeros(1),
        "kind": "exact",
    }


class Given:
    """p(y | do(x)) given a DAG, with its mean tables and with tables that are drawn."""

    def __init__(self, data: Data, score: Score, settings: list[Setting], y: int) -> None:
        check_pseudo_counts(score)
        self._data, self._y, self._arities = data, y, tuple(data.arities.tolist())
        self._settings: list[dict[int, int]] = []
        for setting in settings:
            codes = typed_row(data, setting)
            states = {v: int(codes[v]) for v in map(data.index, setting)}
            for v, state in states.items():
                if state < 0:  # missing
                    name, known = data.names[v], ", ".join(data.levels[v])
                    raise ValueError(f"{name!r} is set to a missing cell: choose one of {known}")
            self._settings.append(states)
        self._held = np.int64(sum(1 << v for v in self._settings[0]))
        self._dirichlet = cache(partial(_dirichlet, data, score))

    def found(
        self, draws: Draws, tables: int, rng: np.random.Generator, progress: Progress | None
    ) -> dict[str, Any]:
        """What tables of states have to say of `Effects`."""
        weights = weights_of(draws)
        parts, which, reached = self._parts(draws, weights)
        shares = np.bincount(which, weights)
        # Systematically: each part gets floor or ceil of its share of the draws.
        points, ends = (np.arange(tables) + rng.random()) / tables, shares.cumsum()
        counts = np.bincount(np.searchsorted(ends / ends[-1], points), minlength=shares.size)
        plans, steps, values = [self._plan(part) for part in parts], Steps(progress, len(parts)), []
        for part, plan, count in zip(parts, plans, counts.tolist(), strict=True):
            values.append(self._values(part, *plan, count, rng))
            steps.tick()
        means = np.array([rows[0] for rows in values])
        drawn = np.concatenate([rows[1:] for rows in values])
        # `means_of` takes what lies within 0..1; differences lie within -1..1.
        wide, data = len(self._settings), self._data
        of_draws = means_of(draws, ((wide - 1 + means) / wide)[which], ANY_DELTA)
        mass, independent = mass_known(draws), draws.independent and not np.ptp(draws.log_weight)
        exact = mass is not None and mass >= 1 - ROUNDING
        do, *against = [
            {data.names[v]: data.levels[v][code] for v, code in states.items()}
            for states in self._settings
        ]
        return {
            "do": do,
            "against": against[0] if against else {},
            "weights": shares,
            "means": means,
            "within": np.sqrt(((drawn - np.repeat(means, counts, axis=0)) ** 2).mean(axis=0)),
            "draws": drawn,
            "unaffected": min(1.0, float(weights[~reached].sum())),
            "stderr": np.zeros(means.shape[1]) if exact else wide * of_draws.stderr,
            "kind": "exact" if exact else "unbiased" if independent else "asymptotic",
            "rhat": None if of_draws.rhat is None else float(of_draws.rhat.max()),
            "ess": None if of_draws.ess is None else float(of_draws.ess.min()),
        }

    def _parts(self, draws: Draws, weights: Floats) -> tuple[list[Part], Ints, Bools]:
        """The families that decide about y, which of them each draw has, whether x leads to y."""
        dags = draws.values.reshape(-1, self._data.n).copy()
        dags[weights == 0] = 0
        check_dags(dags)
        dags[:, list(self._settings[0])] = 0
        above = ancestors(dags)[:, self._y] | np.int64(1 << self._y)
        inside = (above & ~self._held)[:, None] >> np.arange(self._data.n) & 1 == 1
        keys, which = np.unique(np.where(inside, dags, -1), axis=0, return_inverse=True)
        parts = [tuple((v, up) for v, up in enumerate(row) if up >= 0) for row in keys.tolist()]
        return parts, which.ravel(), above & self._held != 0

    def _plan(self, part: Part) -> tuple[list[int], int]:
        """In which order its variables are summed out, and how many draws fit in memory."""
        arities, others = self._arities, sum(1 << v for v, _ in part) & ~(1 << self._y)
        order, states = plan_of(part, others, arities)
        cells = [math.prod([arities[u] for u in nodes_of(up | 1 << v)]) for v, up in part]
        largest = max(states * arities[self._y], *cells)
        if largest > MAX_STATES:
            raise ValueError(
                f"p({self._data.names[self._y]} | do) takes a table of {largest:,} joint states in "
                f"one of the DAGs; at most {MAX_STATES:,} are handled. Give DAGs of fewer parents"
            )
        return order, max(1, BLOCK_CELLS // (largest + sum(cells)))

    def _values(
        self, part: Part, order: list[int], block: int, count: int, rng: np.random.Generator
    ) -> Floats:
        """(1 + count, r): the exact mean, then draws; of two settings, the differences."""
        alphas = [self._dirichlet(*family) for family in part]
        means = [np.log(alpha / alpha.sum(axis=axis, keepdims=True)) for alpha, axis in alphas]
        out = [self._summed(part, order, [mean[None] for mean in means])]
        for start in range(0, count, block):
            size = min(block, count - start)
            drawn = [_log_dirichlet(alpha, axis, size, rng) for alpha, axis in alphas]
            out.append(self._summed(part, order, drawn))
        return np.concatenate(out)

    def _summed(self, part: Part, order: list[int], tables: list[Floats]) -> Floats:
        found = []
        for states in self._settings:
            factors = []
            for (v, parents), table in zip(part, tables, strict=True):
                family = parents | 1 << v
                at = (slice(None), *(states.get(u, slice(None)) for u in nodes_of(family)))
                factors.append((family & ~int(self._held), table[at]))
            found.append(np.exp(eliminate(factors, order, self._arities)))
        return found[0] if len(found) == 1 else found[0] - found[1]


def _dirichlet(data: Data, score: Score, v: int, parents: int) -> tuple[Floats, int]:
    """Parameters after the data, an axis for each of the family, and which is that of v."""
    alpha = dirichlet_parameters(data, v, parents, score)
    axis = (parents & ((1 << v) - 1)).bit_count()
    shape = data.arities[[*members(parents), v]]
    return np.moveaxis(alpha.reshape(shape), -1, axis), axis


def _log_dirichlet(alpha: Floats, axis: int, size: int, rng: np.random.Generator) -> Floats:
    """ln of rows (size, ...) from Dirichlet distributions along an axis of alpha."""
    shape = (size, *alpha.shape)
    log_gamma = np.log(rng.standard_gamma(alpha + 1, shape)) - rng.exponential(size=shape) / alpha
    log_gamma -= log_gamma.max(axis=1 + axis, keepdims=True)
    return np.asarray(log_gamma - np.log(np.exp(log_gamma).sum(axis=1 + axis, keepdims=True)))
