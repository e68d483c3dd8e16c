"""`GaussianNet`: a DAG with linear regressions, to sample from and to score with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checks import Floats, Ints, Natural, frozen, real
from bnlab.data import Data
from bnlab.data.table import counted
from bnlab.data.validation import check_names
from bnlab.graphs import check_dag, members, to_adjacency, topological_order
from bnlab.networks.bayesnet import check_columns, dag_over
from bnlab.records import WithDag
from bnlab.scores import AnyData, BGe, score_parts
from bnlab.scores.local import regression, units_of, wishart_prior


@frozen(repr=False)
class GaussianNet(WithDag):
    """A linear-Gaussian network over n measured variables, checked once and read-only from then on.

    Given its parents x_v is Normal with variance `variances[v]` and mean `intercepts[v]` + the sum
    over parents u of `coefficients[u, v]` x_u [GeigerHeckerman2002].

    Attributes
    ----------
    dag : (n,) int64 parent masks, acyclic.
    names : n distinct names.
    intercepts : (n,) float64, in units of the variable.
    coefficients : (n, n) float64, of u in the mean of v; 0 where there is no edge u -> v.
    variances : (n,) float64, of the residuals, positive.

    Raises
    ------
    ValueError
        Naming the variable and what is wrong with it.

    Examples
    --------
    >>> GaussianNet([0, 1, 1], ("x", "y", "z"), [5, 0, 0], [[0, 2, -1]] + [[0] * 3] * 2, [1, 1, 1])
    GaussianNet: 3 nodes, 2 edges, 8 free parameters
    """

    dag: Ints
    names: tuple[str, ...]
    intercepts: Floats
    coefficients: Floats
    variances: Floats

    def __post_init__(self) -> None:
        dag = np.array(check_dag(self.dag))
        n = dag.size
        self._set(dag=dag, names=check_names(self.names, n))
        wants = {
            "intercepts": ((n,), True, "finite"),
            "coefficients": ((n, n), to_adjacency(dag), "finite, and 0 where the DAG has no edge"),
            "variances": ((n,), True, "finite and positive"),
        }
        for field, (shape, free, wanted) in wants.items():
            given = np.array(getattr(self, field), np.float64)
            if given.shape != shape:
                raise ValueError(f"{field} has shape {given.shape}; {n} variables ask for {shape}")
            fits = np.isfinite(given) & (free | (given == 0))
            for place in np.argwhere(~(fits & (given > 0) if field == "variances" else fits)):
                name, value = self.names[place[-1]], given[tuple(place)]
                raise ValueError(f"{field} of {name!r}: {value} is wrong; they are {wanted}")
            self._set(**{field: given})

    def __repr__(self) -> str:
        edges = int(np.bitwise_count(self.dag).sum())
        return f"GaussianNet: {self.n} nodes, {edges} edges, {2 * self.n + edges} free parameters"

    @classmethod
    def random_coefficients(
        cls,
        dag: ArrayLike,
        rng: np.random.Generator,
        *,
        least: float = 0.4,
        most: float = 1.2,
        names: Sequence[str] | None = None,
    ) -> GaussianNet:
        """Make the network of `dag` with coefficients of random size and sign.

        Intercepts are 0 and residual variances 1.

        Parameters
        ----------
        dag : (n,) parent masks.
        least, most : coefficients are uniform between these, then as often negative as positive;
            0 <= least <= most <= 1e6.
        names : by default x0, x1, ...

        Examples
        --------
        >>> GaussianNet.random_coefficients([0, 1, 3], np.random.default_rng(1))
        GaussianNet: 3 nodes, 3 edges, 9 free parameters
        """
        if not 0 <= real(least) <= real(most) <= 1e6:
            raise ValueError(f"least={least}, most={most}: 0 <= least <= most <= 1e6 is needed")
        masks = check_dag(dag)
        n = masks.size
        named = check_names([f"x{v}" for v in range(n)] if names is None else names, n)
        sizes = rng.uniform(least, most, size=(n, n)) * rng.choice([-1, 1], size=(n, n))
        return cls(masks, named, np.zeros(n), sizes * to_adjacency(masks), np.ones(n))

    @classmethod
    def fit(cls, dag: ArrayLike, data: AnyData, *, score: BGe = BGe()) -> GaussianNet:
        """Make the network of `dag` with the posterior means of its parameters given data.

        With R = T + the scatter of a family's rows about the prior mean, the coefficients are
        R_UU^-1 R_Uv, and the residual variance is (R_vv - R_vU R_UU^-1 R_Uv) / (rows + alpha_w - n
        + |U| - 1): the prior of BGe [GeigerHeckerman2002; KuipersMoffaHeckerman2014], in the units
        of data. Rows in which v was set by an intervention are not counted for v.

        Parameters
        ----------
        dag : (n,) parent masks over the variables of data.
        data : Data, all variables measured.
        score : BGe, whose prior is taken.

        Raises
        ------
        ValueError
            If variables have states, or the DAG is not over those of data.

        Examples
        --------
        >>> data = Data.from_arrays([[1.0, 2.0], [2.0, 4.5], [3.0, 5.5]])
        >>> GaussianNet.fit([0, 1], data).coefficients.round(3)
        array([[0. , 1.4],
               [0. , 0. ]])
        """
        masks = dag_over(data, dag)
        score_parts(data, score)
        units, prior = units_of(score, data), wishart_prior(score, data)
        columns = units.columns(data.measurements)
        intercepts, variances = np.empty(data.n), np.empty(data.n)
        coefficients, known = np.zeros((data.n, data.n)), counted(data)
        for v, mask in enumerate(masks):
            parents = members(mask)
            fitted = regression(columns[[*parents, v]][:, known[v]], prior)
            coefficients[parents, v] = fitted.coefficients
            intercepts[v] = fitted.mean[-1] - fitted.coefficients @ fitted.mean[:-1]
            variances[v] = fitted.scatter / (fitted.degrees - 2)
        coefficients *= units.scale / units.scale[:, None]
        intercepts = units.center + units.scale * intercepts - units.center @ coefficients
        return cls(masks, data.names, intercepts, coefficients, units.scale**2 * variances)

    def sample(self, m: Natural, rng: np.random.Generator) -> Data:
        """Draw m independent rows, parents first.

        Equally seeded generators give nested samples: those of m = 100 begin those of m = 200.

        Examples
        --------
        >>> net = GaussianNet.random_coefficients([0, 1], np.random.default_rng(1))
        >>> net.sample(5, np.random.default_rng(2))
        Data: 5 rows, 2 variables measured (x0, x1)
        """
        memory.require(m * self.n * 48, task=f"{m:,} rows", remedy="sample fewer at a time")
        values = rng.standard_normal((m, self.n)) * np.sqrt(self.variances)
        for v in topological_order(self.dag):
            values[:, v] += self.intercepts[v] + (values * self.coefficients[:, v]).sum(axis=1)
        none, states = np.zeros(self.n, np.int64), np.zeros((m, self.n), np.int32)
        return Data(states, none, self.names, ((),) * self.n, measurements=values)

    def log_likelihood(self, data: AnyData) -> Floats:
        """Return the log density (m,) of each row, in nats a unit of every variable.

        A variable that was intervened on contributes no factor: its value was set, not drawn.

        Raises
        ------
        ValueError
            Unless `data` has the variables of the network, in its order and measured.

        Examples
        --------
        >>> net = GaussianNet.random_coefficients([0], np.random.default_rng(1))
        >>> net.log_likelihood(Data.from_arrays([[0.0], [1.0]])).round(3)
        array([-0.919, -1.419])
        """
        check_columns(self.names, data)
        if data.measurements is None or not data.measured.all():
            name = data.names[int((~data.measured).argmax())]
            raise ValueError(f"variable {name!r} has states; the network is of measurements")
        off = data.measurements - self.intercepts - data.measurements @ self.coefficients
        terms = -0.5 * (off**2 / self.variances + np.log(2 * math.pi * self.variances))
        if data.intervened is not None:
            terms[data.intervened] = 0.0
        return np.asarray(terms.sum(axis=1))
